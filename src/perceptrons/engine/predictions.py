"""The class that the readout predicts for each row of a pass before the row is learned.

A loop writes the scores, or the class, of each row under the readout in force; here they become class codes,
which can be counted however the rows were cut into passes. A class is predicted only from the row after its
first one: a label that has not occurred cannot be predicted, unless it was declared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from .loops.multiclass import RecordedClasses
from .loops.tracks import RecordedScores

#: Codes of rows for which no class was known yet; and of rows that were not learned.
UNKNOWN, UNREAD = -1, -2


class Predictions:
    """The classes that the readout predicted for the rows of one pass, in the order of the pass.

    Parameters
    ----------
    n_rows : int
    since : ndarray of shape (n_classes,)
        The position in the pass from which each class is known: 0 for those known before it, one more than
        the position of its first row for a class that the pass brings.
    unit : bool
        The last w counts as w/||w||, which matters for one learner per class.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Class codes, UNKNOWN or UNREAD. Rows of weight 0, and those after a row that ended the pass, are
        UNREAD.
    reported : bool
        Whether the space that ran could report them.
    scores : ndarray of shape (n_rows, columns)
        The scores themselves, NaN for rows that were not learned; without columns unless :meth:`keep_scores`
        was called before the pass.
    """

    def __init__(self, n_rows: int, since: np.ndarray, unit: bool = False):
        self.since = np.ascontiguousarray(since, np.int64)
        self.unit = unit
        self.codes = np.full(n_rows, UNREAD)
        self.reported = True
        self.scores = np.empty((n_rows, 0))
        self._at = np.arange(n_rows)
        self._whole: Predictions | None = None
        self._best: np.ndarray | None = None
        self._offered = 0
        self._unread = np.zeros(n_rows, bool)
        self._lock = threading.Lock()
        self._given: dict[int, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self.codes)

    def keep_scores(self, columns: int) -> None:
        """Keep the scores of each row: one, or one for each of several classes."""
        self.scores = np.full((len(self), columns), np.nan)

    @property
    def keeps_scores(self) -> bool:
        """Whether the scores are kept."""
        return self.scores.shape[1] > 0

    def give(self, take: Callable[[], None], r: int = 0) -> None:
        """A loop gets an array for its scores; ``take`` reads it if an interruption ends the space's call."""
        self._given[r] = take

    def _take_up(self) -> None:
        for r in list(self._given):
            self._given[r]()
            self._given.pop(r, None)

    def settle(self) -> None:
        """Read what the loops have left; it changes nothing where they ended by themselves."""
        self._take_up()
        self._check_offers()

    def counts(self, codes: np.ndarray) -> tuple[int, int]:
        """(rows learned, wrong predictions among them), by the codes of the true classes."""
        self.settle()
        read = self.codes != UNREAD
        true = np.zeros_like(codes) if len(self.since) == 1 else codes  # a class alone is trained as +1
        return int(np.count_nonzero(read)), int(np.count_nonzero(read & (self.codes != true)))

    def _check_offers(self) -> None:
        if self._best is not None and self._offered < len(self.since):
            self.reported = False  # the scores of a class are lost by an interruption

    def part(self, rows: np.ndarray) -> Predictions:
        """For a run over some of the rows, by their positions; :meth:`hand_in` makes it count."""
        made = Predictions(len(rows), self.since, self.unit)
        made._at, made._whole = rows, self
        if self.keeps_scores:
            made.keep_scores(self.scores.shape[1])
        return made

    def hand_in(self) -> None:
        """Copy the codes, and the scores, of this part to the whole pass."""
        assert self._whole is not None
        self.settle()
        self._whole.codes[self._at] = self.codes
        self._whole.scores[self._at] = self.scores
        self._whole.reported = self._whole.reported and self.reported

    def known_from(self) -> np.ndarray:
        """(n_classes,): how many of these rows come before each class is known."""
        return np.ascontiguousarray(np.searchsorted(self._at, self.since), np.int64)

    # ------------------------------------------------------------ what spaces hand in

    def take(self, score: np.ndarray, done: bool, at: int, ties_up: bool = False) -> None:
        """Scores of two classes, NaN where there is none; a pass that is not done ended before row ``at``."""
        if not done:
            score[at:] = np.nan
        codes = (score >= 0.0 if ties_up else score > 0.0).astype(np.int64)
        if len(self.since) == 1 or self.since.any():
            known = self._at[:, None] >= self.since
            codes = np.where(known.all(axis=1) & (len(self.since) > 1), codes, np.argmax(known, axis=1))
            codes[~known.any(axis=1)] = UNKNOWN
        codes[np.isnan(score)] = UNREAD
        self.codes = codes
        if self.keeps_scores:
            self.scores[:, 0] = score
        self._given.clear()

    def take_classes(self, code: np.ndarray, done: bool, at: int) -> None:
        """Classes that a joint learner has predicted; it has written the scores itself."""
        if not done:
            code[at:] = UNREAD
            self.scores[at:] = np.nan
        self.codes = code
        self._given.clear()

    def take_scores(self, scores: np.ndarray, several: bool) -> None:
        """Scores of all learners, NaN where there are none: a column, or one for each of several classes."""
        if not several:
            self.take(scores[:, 0], True, len(self))
            return
        if self.keeps_scores:
            self.scores[:] = scores
        known = self._at[:, None] >= self.since
        self.codes = np.argmax(np.where(known, scores, -np.inf), axis=1)
        self.codes[~known.any(axis=1)] = UNKNOWN
        self.codes[np.isnan(scores).any(axis=1)] = UNREAD

    def of_class(self, r: int) -> OneClass:
        """Where the learner of class r, one of several against the rest, hands in its scores."""
        return OneClass(self, r)

    def offer(self, r: int, score: np.ndarray) -> None:
        """The scores of class r; the largest one wins, of equals the lowest class, in whatever order."""
        with self._lock:
            if self._best is None:
                self._best = np.full(len(self), -np.inf)
                self.codes[:] = UNKNOWN
            tie = (score == self._best) & ((self.codes == UNKNOWN) | (r < self.codes))
            better = (self._at >= self.since[r]) & ((score > self._best) | tie)
            self._best[better] = score[better]
            self.codes[better] = r
            self._offered += 1
            self._unread |= np.isnan(score)
            self.codes[self._unread] = UNREAD
            if self.keeps_scores:
                self.scores[:, r] = score
            self._given.pop(r, None)


class OneClass:
    """One learner's part in :class:`Predictions`."""

    def __init__(self, whole: Predictions, r: int):
        self.whole, self.r, self.unit = whole, r, whole.unit

    def __len__(self) -> int:
        return len(self.whole)

    def give(self, take: Callable[[], None]) -> None:
        self.whole.give(take, self.r)

    def take(self, score: np.ndarray, done: bool, at: int, ties_up: bool = False) -> None:
        if not done:
            score[at:] = np.nan
        self.whole.offer(self.r, score)


def scores_of(predictions: Predictions | OneClass | None, ties_up: bool = False) -> RecordedScores:
    """What a loop for two classes is given: an array for its scores, empty where none are kept."""
    if predictions is None:
        return RecordedScores(np.empty(0), False)
    score = np.full(len(predictions), np.nan)
    predictions.give(lambda: predictions.take(score, True, len(score), ties_up))
    return RecordedScores(score, predictions.unit)


def classes_of(predictions: Predictions | None, n_columns: int) -> RecordedClasses:
    """What a loop for several classes is given: an array for those it predicts, empty where none are kept."""
    if predictions is None:
        return RecordedClasses(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty((0, 0)))
    code = np.full(len(predictions), UNREAD)
    predictions.give(lambda: predictions.take_classes(code, True, len(code)))
    return RecordedClasses(code, predictions.known_from(), np.zeros(n_columns), predictions.scores)
