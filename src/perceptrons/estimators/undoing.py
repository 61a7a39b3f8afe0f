"""A call that learns happens as a whole, or not at all, whatever interrupts it.

An interruption (Ctrl-C, a signal handler that raises) arrives between two instructions of Python, never
within a compiled loop. So a pass over the rows has happened or it has not, and the counts of examples tell
which.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


class whole_call:
    """Context of a call that learns rows in one pass; an error that is not the pass's own undoes it.

    An error with a ``log`` comes from the pass, and what it learned before is kept, as documented. After any
    other, a pass that has happened is finished by :attr:`finish`, and otherwise the model is put back.
    A model that keeps a log of updates is always put back: the log of a pass may be lost on its way.
    """

    __slots__ = ("before", "counts", "finish", "history", "journals", "model", "names", "widths")

    def __init__(self, model: Any):
        self.model = model
        self.before = dict(vars(model))
        self.history = len(self.before.get("history_", ()))
        self.names = len(self.before.get("_names") or ())
        self.widths = [learner.n_features for learner in _learners(self.before.get("_space"))]
        self.counts: Any = None
        self.finish: Callable[[], None] | None = None
        self.journals: Any = None

    def __enter__(self) -> whole_call:
        return self

    def begin(self, finish: Callable[[], None]) -> None:
        """The pass begins now; ``finish`` completes the records of a pass, however often it is called."""
        space, journals = self.model._space, self.model._journals
        if journals and space is self.before.get("_space"):  # else it is a copy or a fresh one already
            self.before.update(_space=twin(space), _journals=[twin_of_journal(j) for j in journals])
        self.counts = (space, space.counts())
        self.finish = finish

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or hasattr(error, "log"):
            return
        if self.counts is not None:
            space, counts = self.counts
            if not self.model._journals and space.counts() != counts:
                assert self.finish is not None
                self.finish()
                return
        self._put_back()

    def _put_back(self) -> None:
        attributes = vars(self.model)
        attributes.update(self.before)
        for name in attributes.keys() - self.before.keys():
            del attributes[name]
        learners = _learners(self.before.get("_space"))
        for learner, width in zip(learners, self.widths, strict=True):
            learner.n_features = width  # room for further features is left, with weights of 0
        del attributes.get("history_", [])[self.history :]
        names = attributes.get("_names") or {}
        while len(names) > self.names:
            names.popitem()  # the last one that came


def _learners(space: Any) -> list[Any]:
    if space is None:
        return []
    return list(space.learners) if hasattr(space, "learners") else [space]


def twin(space: Any) -> Any:
    """A space of its own with the same weights; what does not change is shared."""
    made = copy.copy(space)
    for name, value in vars(space).items():
        if isinstance(value, np.ndarray) and value.flags.writeable:
            setattr(made, name, value.copy())
    if hasattr(space, "learners"):
        made.learners = [twin(learner) for learner in space.learners]
    if hasattr(space, "inner"):
        made.inner, made.support = twin(space.inner), copy.copy(space.support)
    return made


def twin_of_journal(journal: Any) -> Any:
    """A log of its own with the same updates."""
    made = copy.copy(journal)
    made._pieces = {name: list(pieces) for name, pieces in journal._pieces.items()}
    made._pieces["alpha"] = [piece.copy() for piece in made._pieces["alpha"]]
    return made
