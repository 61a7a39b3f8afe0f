"""What a run tells about itself: counters, the longest row, the bracket around the best margin, the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..engine.journal import Journal
from . import progressive
from .classifier import Classifier
from .parameters import spec


def one_or_all(brackets: list[Any] | None) -> Any:
    """The bracket of a single learner, or the list of those of several."""
    return brackets[0] if brackets is not None and len(brackets) == 1 else brackets


@spec
class RunAttributes(Classifier):
    """Attributes of learners that go from row to row, all of them read from the space and the log."""

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
        _progressive: Any = None

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

    @property
    def progressive_rows_(self) -> int:
        """Rows of ``partial_fit`` and ``learn_one`` that were counted."""
        return int(self._progressive_tally("progressive_rows_")[0])

    @property
    def progressive_errors_(self) -> int:
        """Those of them whose label ``predict`` would have got wrong before they were learned."""
        return int(self._progressive_tally("progressive_errors_")[1])

    def _progressive_tally(self, name: str) -> np.ndarray:
        self._fitted(name)
        why = progressive.silence(self)
        if why is not None:
            raise AttributeError(f"{name} is not there: {why}.")
        return progressive.now(self)
