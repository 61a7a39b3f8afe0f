"""A call that learns happens as a whole, or not at all, whatever interrupts it.

An interruption (Ctrl-C, a signal handler that raises) arrives between two instructions of Python, never
within a compiled loop. So a pass over the rows has happened or it has not, and the counts of examples tell
which. A long pass is made in parts (:mod:`perceptrons.engine.chunks`); what it may change is copied before it
begins, and put back if it is interrupted between two of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .._sparse import columns_in_use
from ..engine.spaces import Space


class whole_call:
    """Context of a call that learns rows in one pass; an error that is not the pass's own undoes it.

    An error with a ``log`` comes from the pass, and what it learned before is kept, as documented. After any
    other, a pass that has happened is finished by :attr:`finish`, and otherwise the model is put back.
    A model that keeps a log of updates is always put back: the log of a pass may be lost on its way.
    """

    __slots__ = ("before", "counts", "finish", "history", "model", "n_rows", "names", "restore", "widths")

    def __init__(self, model: Any):
        self.model = model
        made_writable(vars(model).get("_space"))
        self.before = dict(vars(model))
        self.history = len(self.before.get("history_", ()))
        self.names = len(self.before.get("_names") or ())
        self.widths = [learner.n_features for learner in _learners(self.before.get("_space"))]
        self.counts: Any = None
        self.finish: Callable[[], None] | None = None
        self.n_rows: int | None = None
        self.restore: Callable[[], None] | None = None

    def __enter__(self) -> whole_call:
        return self

    def begin(self, finish: Callable[[], None], X: Any) -> None:
        """The pass over X begins now; ``finish`` completes its records, however often it is called."""
        space, journals = self.model._space, self.model._journals
        if journals and self.before.get("_space") is not None:
            self._keep(space, journals, X)
        self.counts = (space, space.counts())
        self.finish = finish

    def _keep(self, space: Any, journals: Any, X: Any) -> None:
        """Log and weights change one after the other: keep both as they are."""
        if journals is self.before["_journals"]:
            self.before["_journals"] = [twin_of_journal(journal) for journal in journals]
        if restorable(space):
            self.restore = weights_before(space, columns_in_use(X))
        elif space is self.before["_space"]:  # else it is a copy already
            self.before["_space"] = twin(space)

    def in_parts(self, X: Any, n_rows: int) -> None:
        """The pass over X is made in parts; when it is complete each learner has counted ``n_rows`` more."""
        if not self.model._journals:  # else there is a copy already
            self.restore = weights_before(self.model._space, columns_in_use(X))
        self.n_rows = n_rows

    def _has_happened(self) -> bool:
        if self.counts is None or self.model._journals:
            return False
        space, before = self.counts
        if self.n_rows is None:
            return space.counts() != before
        return space.counts().examples - before.examples == self.n_rows * len(_learners(space))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or hasattr(error, "log"):
            return
        if self._has_happened():
            assert self.finish is not None
            self.finish()
            return
        self._put_back()

    def _put_back(self) -> None:
        if self.restore is not None:
            self.restore()
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


def made_writable(space: Any) -> None:
    """Copy the arrays of a space that cannot be written to, before it is: those of a file mapped to memory.

    ``joblib.load(..., mmap_mode="r")`` and the workers of ``joblib.Parallel`` have such models.
    """
    if space is None:
        return
    for name, value in vars(space).items():
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            setattr(space, name, np.array(value))
    for inner in (*getattr(space, "learners", ()), getattr(space, "inner", None)):
        made_writable(inner)


def restorable(space: Any) -> bool:
    """Whether the weights of some columns are all that a pass over them may change."""
    return all(isinstance(one, Space) and one.moves_columns_alone() for one in _learners(space))


def weights_before(space: Any, columns: np.ndarray | None) -> Callable[[], None]:
    """A function that puts the weights back as they are now, if only rows with these columns are learned."""
    saved: list[tuple[np.ndarray, Any, np.ndarray]] = []
    for learner in _learners(space):
        where: Any = slice(None)
        if columns is not None and learner.moves_columns_alone():
            where = np.append(columns, learner.v.shape[0] - 1)
        saved.append((learner.state, slice(None), learner.state.copy()))
        for name, a in vars(learner).items():
            if name != "state" and isinstance(a, np.ndarray) and a.flags.writeable:
                part = where if name in (*learner.arrays, "sigma") else slice(None)
                saved.append((a, part, a[part].copy()))

    def restore() -> None:
        for a, where, values in saved:
            a[where] = values

    return restore


def alike(space: Any) -> Any:
    """A space of its own with the very same arrays: enough where they are replaced, and not written to."""
    made = object.__new__(type(space))
    vars(made).update(vars(space))
    if hasattr(space, "learners"):
        made.learners = list(space.learners)
    return made


def twin(space: Any) -> Any:
    """A space of its own with the same weights; what does not change is shared."""
    made = alike(space)
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
    made._pieces = {name: list(pieces) for name, pieces in journal._pieces.items()}  # no piece is written to
    return made
