"""Progressive errors: what the readout in force would have said of each row before it was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.loops import linear
from ..engine.predictions import Predictions
from . import checks
from .parameters import spec
from .run_attributes import RunAttributes
from .writing import one_writer


@spec
class Progressive(RunAttributes):
    """Counts wrong predictions of the readout in force, each made before its row was learned.

    ``n_errors_`` counts those of the last w, which theorems are about; here the average predicts where it is
    the readout, and one learner per class predicts by the largest score. A label that has neither occurred
    nor been declared by ``classes`` cannot be predicted: its first row is an error, and so is the first row
    of all. ``fit`` counts nothing.
    """

    if TYPE_CHECKING:  # what fitting sets
        _progressive: Any = None

    def set_progressive(self, *, partial_fit: bool | None = None, learn_one: bool | None = None) -> Any:
        """Say which calls count progressive errors: a setting of this object, neither stored nor cloned.

        Parameters
        ----------
        partial_fit : bool, optional
            True at first. The last w of one learner costs nothing to count; an average costs one more product
            per row.
        learn_one : bool, optional
            False at first: then rows learned one at a time are counted only where that costs nothing, which
            is for the last w of one learner, not for an average nor for one learner per class.

        Returns
        -------
        self
        """
        for name, value in (("partial_fit", partial_fit), ("learn_one", learn_one)):
            if value is not None:
                checks.flag(name, value)
        with one_writer(self):  # the fast way of learning single rows is made anew
            asked = dict(vars(self).get("_counting", {}))
            given = {"partial_fit": partial_fit, "learn_one": learn_one}
            self._counting = asked | {name: value for name, value in given.items() if value is not None}
        return self

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
        why = self._progressive_silence()
        if why is not None:
            raise AttributeError(f"{name} is not there: {why}.")
        return self._progressive_now()

    # ------------------------------------------------------------ what is counted, and how

    def _progressive_silence(self) -> str | None:
        """Why progressive errors are not reported; None where they are."""
        if self._reading.logged:
            return f"progressive errors are not counted for readout={self._readout!r}"
        if "_space" in vars(self) and self._space.device != "cpu":
            return "progressive errors are not counted on a GPU"
        return None

    def _by_last_errors(self) -> bool:
        """Whether the space's own count of errors is that of the readout."""
        return self._readout == "last" and len(self._space.learners) == 1

    def _counts_single(self) -> bool:
        """Whether rows that are learned one at a time are counted."""
        if self._progressive_silence() is not None:
            return False
        asked = vars(self).get("_counting", {}).get("learn_one")
        return self._by_last_errors() if asked is None else bool(asked)

    def _known_since(self, known: np.ndarray, codes: np.ndarray, fresh: bool) -> np.ndarray:
        """From which row of a pass on each class is predicted, where those in ``known`` were known before it.

        ``fresh``: the model has learned nothing yet, and so it predicts nothing.
        """
        since = np.full(len(self.classes_), int(fresh), np.int64)
        if len(known) == len(since):
            return since
        new = ~np.isin(self.classes_, known)
        if len(since) == 1:
            since[0] = 1  # its codes are those of +1
            return since
        found, first = np.unique(codes, return_index=True)
        since[found[new[found]]] = first[new[found]] + 1
        return since

    def _predictions(self, since: np.ndarray, n_rows: int) -> Predictions | None:
        """What a pass of ``partial_fit`` is to fill; None where nothing is counted."""
        asked = vars(self).get("_counting", {}).get("partial_fit", True)
        if not asked or self._progressive_silence() is not None:
            return None
        return Predictions(n_rows, since, self._reading.unit_last)

    def _tally(self, heard: Predictions | None, codes: np.ndarray) -> dict[str, int]:
        """Add the counts of a pass; answers them as its record shows them."""
        if heard is None:
            return {}
        rows, errors = heard.counts(codes)
        if not heard.reported:
            return {}
        self._add_to_tally(rows, errors)
        return {"progressive_rows": rows, "progressive_errors": errors}

    def _progressive_now(self) -> np.ndarray:
        """Rows and errors so far; a model of an older file has none."""
        return self.__dict__.setdefault("_progressive", np.zeros(2))

    def _add_to_tally(self, rows: int, errors: int) -> None:
        more = np.asarray([rows, errors], np.float64)
        self._progressive = self._progressive_now() + more  # another array, so that it can be undone

    def _single(self, since: np.ndarray) -> Predictions | None:
        """What a pass over a single row is to fill, where its own count of errors does not tell."""
        if not self._counts_single() or self._by_last_errors():
            return None
        return Predictions(1, since, self._reading.unit_last)

    def _tally_single(
        self, heard: Predictions | None, codes: np.ndarray, since: np.ndarray, new: Any
    ) -> None:
        """Add a single row; ``new`` are the counts that came with it."""
        if heard is not None:
            self._tally(heard, codes)
        elif self._counts_single() and new.examples:
            wrong = new.errors if len(since) > 1 else 0  # the only class that is known is predicted
            self._add_to_tally(1, 1 if since.any() else wrong)

    def _count_on(self, row_buffer: np.ndarray) -> None:
        """Have the fast way of learning single rows count in its row buffer."""
        if not self._counts_single():
            return
        if len(self.classes_) == 1:
            row_buffer[linear.BUFFER_COUNT] = linear.ALWAYS_RIGHT
        else:
            row_buffer[linear.BUFFER_COUNT] = linear.BY_LAST if self._by_last_errors() else linear.BY_READOUT
        tally = row_buffer[linear.BUFFER_TALLY :]
        tally[:] = self._progressive_now()
        self._progressive = tally
