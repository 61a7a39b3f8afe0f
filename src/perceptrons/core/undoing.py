"""A call that learns is completed, or has no effect, if it is interrupted.

An interruption (Ctrl-C, a signal handler that raises) arrives between two instructions of Python, never
within a compiled loop. So a pass over the rows has happened or it has not: the counts of examples show which.
A long pass is made in parts (:mod:`perceptrons.engine.chunks`). What it may change is copied before it
begins, and restored if it is interrupted between two parts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from .._sparse import columns_in_use

if TYPE_CHECKING:
    from .._types import AnyMatrix
    from ..engine.journal import Journal
    from ..engine.spaces import Counts, Space
    from .learner import Learner


class whole_call:
    """Context of a call that learns rows in one pass; an error that is not the pass's own undoes it.

    An error with a ``log`` was raised by the pass: the rows learned before it are kept, as documented. After
    any other error, a pass that has happened is completed by :attr:`finish`; otherwise the model is restored.
    A model that keeps a log of updates is always restored: an interruption may lose the log of the pass.
    """

    __slots__ = ("before", "counts", "finish", "history", "model", "n_rows", "names", "restore", "width")

    def __init__(self, model: Learner):
        self.model = model
        space = vars(model).get("_space")
        if space is not None:
            space.make_writable()
        self.before = dict(vars(model))
        self.history = len(self.before.get("history_", ()))
        self.names = len(self.before.get("_names") or ())
        self.width = 0 if space is None else space.n_features
        self.counts: tuple[Space, Counts] | None = None
        self.finish: Callable[[], None] | None = None
        self.n_rows: int | None = None
        self.restore: Callable[[], None] | None = None

    def __enter__(self) -> whole_call:
        return self

    def begin(self, finish: Callable[[], None], X: AnyMatrix) -> None:
        """The pass over X begins now; ``finish`` completes its records, however often it is called."""
        space, journals = self.model._space, self.model._journals
        if journals and self.before.get("_space") is not None:
            self._keep(space, journals, X)
        self.counts = (space, space.counts())
        self.finish = finish

    def _keep(self, space: Space, journals: list[Journal], X: AnyMatrix) -> None:
        """Log and weights change one after the other: keep both as they are."""
        if journals is self.before["_journals"]:
            self.before["_journals"] = [twin_of_journal(journal) for journal in journals]
        if space.moves_columns_alone():
            self.restore = space.restorer(columns_in_use(X))
        elif space is self.before["_space"]:  # else it is a copy already
            self.before["_space"] = space.copy()

    def in_parts(self, X: AnyMatrix, n_rows: int) -> None:
        """The pass over X is made in parts; when it is complete each learner has counted ``n_rows`` more."""
        if not self.model._journals:  # else there is a copy already
            self.restore = self.model._space.restorer(columns_in_use(X))
        self.n_rows = n_rows

    def in_pieces(self, X: AnyMatrix) -> None:
        """The rows of X are learned in pieces, with new classes between them: all are kept, or none."""
        if self.before.get("_space") is None:
            return
        space, journals = self.model._space, self.model._journals
        self.before["_journals"] = [twin_of_journal(journal) for journal in journals]
        self.restore = space.restorer(columns_in_use(X))

    def _has_happened(self) -> bool:
        if self.counts is None or self.model._journals:
            return False
        space, before = self.counts
        if self.n_rows is None:
            return space.counts() != before
        return space.counts().examples - before.examples == self.n_rows * len(space.learners)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
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
        space = self.before.get("_space")
        if space is not None:
            space.shrink(self.width)
        del attributes.get("history_", [])[self.history :]
        names = attributes.get("_names") or {}
        while len(names) > self.names:
            names.popitem()  # the last name that was added


def twin_of_journal(journal: Journal) -> Journal:
    """A copy of a log that can grow by itself."""
    made = copy.copy(journal)
    made._pieces = {name: list(pieces) for name, pieces in journal._pieces.items()}  # no piece is written to
    return made
