"""Which of the weights of a run predict: the last, their average, their vote, or one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine import draws
from . import changing, checks

if TYPE_CHECKING:
    from .._types import AnyMatrix, Collection
    from ..engine.spaces import Dual, LinearSpace
    from .learner import Learner


class Readout:
    """The weights that predict, read from the space and the log of a model.

    A learner makes a readout from its parameters for each use; a readout stores nothing.
    """

    __slots__ = ("initial", "kind", "model", "unit")

    def __init__(self, model: Learner, kind: str = "last", unit: bool = False, initial: bool = False):
        self.model = model
        self.kind = kind  #: "last", "average", "vote" or "random"
        self.unit = unit  #: each vector counts as w/||w||
        self.initial = initial  #: the initial vector counts as one more

    @property
    def logged(self) -> bool:
        """Whether it needs the log of all updates."""
        return self.kind in ("vote", "random")

    @property
    def unit_last(self) -> bool:
        """Whether the last w/||w|| predicts."""
        return self.unit and self.kind == "last"

    def averaged(self, values: np.ndarray) -> np.ndarray:
        """Values of the average; where the initial vector counts, it is one more vector, of zeros."""
        if self.kind != "average" or not self.initial:
            return values
        t = max(1, self.model._examples())
        return values * (t / (t + 1.0))

    def weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        """(1 or n_classes, n_features + 1): the weights that predict, the bias coordinate last."""
        changing.check_readout(self.model)
        if self.kind == "average":
            return self.averaged(self._linear_space().weights("average", columns))
        w = self._one_vector(columns)
        return w / self._length() if self.unit else w

    def _linear_space(self) -> LinearSpace:
        return cast("LinearSpace", self.model._space)

    def _one_vector(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The last w, or the one that was drawn at random, in its own length."""
        model = self.model
        if self.kind != "random":
            return np.asarray(self._linear_space().weights("last", columns))
        bias, unit, d = model._bias(), model._unit_rows(), model._space.n_features
        parts = [journal.replay(model.random_step_, bias, unit, d, columns) for journal in model._journals]
        return np.concatenate(parts)

    def _length(self) -> np.ndarray:
        """Length of the vector that predicts: of all prototypes together, or of each learner of one-vs-rest.

        It reads all weights, so it is kept until the next row is learned.
        """
        space = self.model._space
        state = (self.kind, vars(self.model).get("random_step_"), space.counts(), space.n_classes)
        kept = space.length
        if kept is None or kept[0] != state:
            axis = 1 if len(space.learners) > 1 else None
            length = np.sqrt(np.sum(np.square(self._one_vector()), axis=axis, keepdims=True))
            kept = space.length = (state, np.maximum(length, np.finfo(float).tiny))
        return kept[1]

    def votes(self, X: AnyMatrix) -> np.ndarray:
        """(rows, 1 or n_classes): each vector votes as often as it survived an example."""
        model = self.model
        model._intake.rows(X)  # a vote would hide a value that is not finite
        counts = self._vote_counts()
        bias, unit = model._bias(), model._unit_rows()
        parts = [journal.votes(X, bias, unit, c) for journal, c in zip(model._journals, counts, strict=True)]
        return np.concatenate(parts, axis=1)

    def _vote_counts(self) -> list[np.ndarray]:
        """How many votes the vectors of each learner have."""
        logs = enumerate(self.model._journals)
        return [journal.counts(self.model._examples(r), self.initial) for r, journal in logs]

    def draw(self) -> int:
        """The number of a vector drawn at random."""
        drawn = draws.uniform(checks.generator(self.model.random_state))
        first = 0 if self.initial else 1
        return first + int(drawn * max(1, self.model._examples() + 1 - first))


class KernelReadout(Readout):
    """The weights that predict as combinations of support rows."""

    __slots__ = ()

    def _dual(self) -> Dual:
        return cast("Dual", self.model._space)

    def coefficients(self) -> np.ndarray:
        """(support rows, columns): those of the weights that predict."""
        changing.check_readout(self.model)
        space = self._dual()
        if self.kind == "random":
            n, step = len(space.support), self.model.random_step_
            parts = [journal.coefficients(step) for journal in self.model._journals]
            a = np.hstack([np.pad(part, ((0, n - len(part)), (0, 0))) for part in parts])
            return self._unit_length(a) if self.unit else a
        if self.kind == "average":
            return self.averaged(space.coefficients("average"))
        a = space.coefficients("last")
        return self._unit_length(a) if self.unit else a

    def _unit_length(self, a: np.ndarray) -> np.ndarray:
        """The coefficients of w/||w||, or 0: of all prototypes together, or of each learner."""
        space = self._dual()
        norm2 = np.sum(a * space.expand(space.support.rows, a), axis=0, keepdims=True)
        if space.joint:
            norm2 = norm2.sum(keepdims=True)
        unit: np.ndarray = a / np.sqrt(np.maximum(norm2, np.finfo(float).tiny))
        return unit

    def votes(self, X: Collection) -> np.ndarray:
        space, journals = self._dual(), self.model._journals
        counts = self._vote_counts()
        out = [np.zeros((len(X), journal.alpha.shape[1])) for journal in journals]
        n = len(space.support)
        known = space.values(X, np.ones(n, bool)) if n else [(slice(None), np.zeros((len(X), 1)))]
        for part, values in known:
            for journal, c, votes in zip(journals, counts, out, strict=True):
                journal.vote(values, c, votes[part])
        return np.concatenate(out, axis=1)
