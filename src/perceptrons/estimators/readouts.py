"""Which of the weights a run went through predict, and what a run tells about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..engine.journal import Journal
from . import changing
from .checks import estimator
from .halfspace import Halfspace
from .run_records import online_fields


def one_or_all(brackets: list[Any] | None) -> Any:
    """The bracket of a single learner, or the list of those of several."""
    return brackets[0] if brackets is not None and len(brackets) == 1 else brackets


@estimator
class Readouts(Halfspace):
    """The last weights, their average, their vote, or one of them; counters and the margin bracket."""

    log_updates: bool = False
    max_log: int = 10_000_000

    #: what updates are logged in
    _journal: ClassVar[type[Journal]] = Journal

    if TYPE_CHECKING:  # what fitting sets; at run time these would be taken for parameters
        classes_: Any = None
        _space: Any = None
        _journals: Any = None
        _bounds: Any = None
        _steps: list[Any] | None = None
        _longest: float = 0.0
        random_step_: int = 0

    # learners that have only the last w keep these answers
    @property
    def _readout(self) -> str:
        return "last"

    @property
    def _unit_votes(self) -> bool:
        return False

    def _include_initial(self) -> bool:
        return False

    # ------------------------------------------------------------ the log of updates

    def _keeps_journal(self) -> bool:
        return self.log_updates or self._readout in ("vote", "random")

    def _new_journals(self, space: Any) -> list[Journal]:
        if not self._keeps_journal():
            return []
        return [self._journal(learner.columns, self.max_log) for learner in space.learners]

    def _examples(self, r: int = 0) -> int:
        """Examples seen by one learner."""
        return self._space.learners[r].counts().examples

    # ------------------------------------------------------------ scores and predictions

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        """(1 or n_classes, n_features + 1) for the readout in force, the bias coordinate last."""
        changing.check_readout(self)
        if self._readout == "average":
            w: np.ndarray = self._space.weights("average", columns)
            if self._include_initial():
                t = max(1, self._examples())
                w = w * (t / (t + 1.0))  # the initial vector is one more, of zeros
            return w
        w = self._one_vector(columns)
        return w / self._length() if self._unit_votes else w

    def _one_vector(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The last w, or the one that was drawn at random, in its own length."""
        if self._readout != "random":
            return np.asarray(self._space.weights("last", columns))
        d = self._space.n_features
        parts = [
            j.replay(self.random_step_, self._bias(), self._unit_rows(), d, columns) for j in self._journals
        ]
        return np.concatenate(parts)

    def _length(self) -> Any:
        """Length of the vector that predicts: of all prototypes together, or of each learner of one-vs-rest.

        It takes a look at all weights, so it is kept until the next row is learned.
        """
        space = self._space
        state = (self._readout, vars(self).get("random_step_"), space.counts(), space.n_classes)
        kept = space.length
        if kept is None or kept[0] != state:
            axis = 1 if len(space.learners) > 1 else None
            length = np.sqrt(np.sum(np.square(self._one_vector()), axis=axis, keepdims=True))
            kept = space.length = (state, np.maximum(length, np.finfo(float).tiny))
        return kept[1]

    def _scores(self, X: Any) -> np.ndarray:
        changing.check_readout(self)
        return super()._scores(X)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1 and len(self.classes_) == 2 and self._space.ties:
            return (scores >= 0.0).astype(np.int64)
        return super()._decide(scores)

    def _linear_scores(self, X: Any) -> np.ndarray:
        return self._votes(X) if self._readout == "vote" else super()._linear_scores(X)

    def _votes(self, X: Any) -> np.ndarray:
        self._rows(X)  # a vote would hide a value that is not finite
        parts = []
        for r, journal in enumerate(self._journals):
            counts = journal.counts(self._examples(r), self._include_initial())
            parts.append(journal.votes(X, self._bias(), self._unit_rows(), counts))
        return np.concatenate(parts, axis=1)

    # ------------------------------------------------------------ what follows from the space

    @property
    def n_mistakes_(self) -> int:
        """Rows met on the wrong side of the hyperplane, or on it."""
        return self._fitted("n_mistakes_").counts().mistakes

    @property
    def n_updates_(self) -> int:
        """Updates made."""
        return self._fitted("n_updates_").counts().updates

    @property
    def n_errors_(self) -> int:
        """Rows whose label was predicted wrongly when they were met."""
        return self._fitted("n_errors_").counts().errors

    @property
    def sum_sq_norms_(self) -> float:
        """Q, the squared lengths of the rows that were updated on, summed over the updates."""
        return self._fitted("sum_sq_norms_").sum_sq_norms()

    @property
    def radius_(self) -> float:
        """Length of the longest row."""
        longest = max(self._longest, self._fitted("radius_").longest())
        return float(longest > 0.0) if self._unit_rows() else longest

    @property
    def margin_bounds_(self) -> Any:
        """(gamma_low, gamma_up) around the best margin, in the learner's own space.

        Both are true whatever rounding did: no separator has a margin above gamma_up, and some has at least
        gamma_low. That is -inf where the last w does not separate the rows, None where they were not read
        again.
        """
        space = self._fitted("margin_bounds_")
        bounds = vars(self).get("_bounds")
        return one_or_all(space.bracket()) if bounds is None else bounds

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        weights = self._record_weights(evidence)
        return super()._record_fields(evidence) | online_fields(self, evidence) | weights

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        """The last w and, as evidence, its average where it is kept."""
        weights = {"last": np.asarray(self._space.weights("last"), float)}
        if evidence and self._keeps_average():
            weights["average"] = np.asarray(self._space.weights("average"), float)
        return {"weights": weights}

    def _keeps_average(self) -> bool:
        """Whether the space has the average of w, whatever the readout is now."""
        return False

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        """What the record of learner r has beside its counts."""
        return {}

    @property
    def update_log_(self) -> np.ndarray:
        """Updates in order: fields epoch, row, step; and code, the class, for one-vs-rest."""
        self._fitted("update_log_")
        if not self._journals:
            raise AttributeError("update_log_ needs log_updates=True, or readout 'vote' or 'random'.")
        fields = [("epoch", np.int64), ("row", np.int64), ("step", np.float64), ("code", np.int64)]
        parts = []
        for r, journal in enumerate(self._journals):
            part = np.zeros(len(journal), fields)
            part["epoch"], part["row"], part["code"] = journal.epoch, journal.row, r
            part["step"] = np.abs(journal.alpha).max(axis=1) if len(journal) else 0.0
            parts.append(part)
        if len(parts) == 1:
            return parts[0][["epoch", "row", "step"]]
        return np.concatenate(parts)
