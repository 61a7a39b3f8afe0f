r"""Scores of rows at their first visits, before each was learned: what probabilities are fitted to.

A score of a row that was learned says little about rows that were not: it is too sure of itself. The score of
a row when it is met for the first time is one of a new row. It belongs to the weights of that moment, which
are those of fewer rows than the model has learned in the end; so later visits count more, visit number t of n
with weight :math:`(2t - 1)/n`.

The sample is bounded. Visit t is kept if the first m bits of a hash of t are 0; m begins at 0 and grows
when more visits are kept than fit. So which visits are kept depends on their number alone: not on the rows,
nor on how they were cut into calls. A sample is never written to; a call that learns replaces it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST, LEAST, SCORES = 8192, 1024, 1 << 19  #: rows at most; rows in any case; scores at most
_LEVELS = 63


class FirstVisits(NamedTuple):
    """A sample of the first visits so far."""

    n: int  #: first visits so far
    level: int  #: m
    number: np.ndarray  #: int64, (kept,): which visits are kept, from 0, ascending
    scores: np.ndarray  #: float64, (kept, columns); NaN: there was no score
    outcomes: np.ndarray  #: bool, (kept, columns): whether the row was of the class
    weights: np.ndarray  #: float64, (kept,): weights of the rows, positive
    readout: str  #: whose scores they are

    def plus(self, scores: np.ndarray, outcomes: np.ndarray, weights: np.ndarray) -> FirstVisits:
        """This sample after further visits; rows without any score are none."""
        there = ~np.isnan(scores).all(axis=1)
        number = self.n + np.arange(np.count_nonzero(there), dtype=np.int64)
        kept = _kept(number, self.level)
        rows = np.flatnonzero(there)[kept]
        if not len(rows):
            return self._replace(n=self.n + len(number))
        return self._replace(
            n=self.n + len(number),
            number=np.concatenate([self.number, number[kept]]),
            scores=np.concatenate([self.scores, scores[rows]]),
            outcomes=np.concatenate([self.outcomes, outcomes[rows]]),
            weights=np.concatenate([self.weights, weights[rows]]),
        )._bounded()

    def _bounded(self) -> FirstVisits:
        """As many of the visits as fit."""
        level, there = self.level, np.ones(len(self.number), bool)
        while np.count_nonzero(there) > capacity(self.scores.shape[1]) and level < _LEVELS:
            level += 1
            there = _kept(self.number, level)
        if level == self.level:
            return self
        cut = {name: getattr(self, name)[there] for name in ("number", "scores", "outcomes", "weights")}
        return self._replace(level=level, **cut)

    def counting_weights(self) -> np.ndarray:
        """The weight of each visit in a fit: that of its row, times one that grows with its number."""
        with np.errstate(under="ignore"):
            own = self.weights / (np.max(self.weights, initial=0.0) or 1.0)  # their products may overflow
            found: np.ndarray = own * ((2.0 * self.number + 1.0) / max(1, self.n))
        return found

    # ------------------------------------------------------------ when a class is added

    def exchanged(self) -> FirstVisits:
        """The two classes have changed places."""
        return self._replace(scores=0.0 - self.scores, outcomes=~self.outcomes)

    def spread(self, factor: float) -> FirstVisits:
        """One column for two classes becomes two: w becomes (-factor w, factor w)."""
        s, outcome = factor * self.scores, self.outcomes
        return self._replace(scores=np.hstack([0.0 - s, s]), outcomes=np.hstack([~outcome, outcome]))

    def with_class(self, code: int, score: float) -> FirstVisits:
        """A further class, which scored ``score`` so far."""
        scores = np.insert(self.scores, code, score, axis=1)
        return self._replace(scores=scores, outcomes=np.insert(self.outcomes, code, False, axis=1))._bounded()


def none_yet(columns: int, readout: str) -> FirstVisits:
    """The sample before the first row."""
    empty = np.empty((0, columns))
    return FirstVisits(0, 0, np.empty(0, np.int64), empty, empty.astype(bool), np.empty(0), readout)


def capacity(columns: int) -> int:
    """Visits that are kept at most, of this many scores each."""
    return max(LEAST, min(MOST, SCORES // max(1, columns)))


def _kept(number: np.ndarray, level: int) -> np.ndarray:
    """Whether each visit is kept at a level."""
    if not level:
        return np.ones(len(number), bool)
    h = number.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)  # the splitmix64 generator, by its number
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: np.ndarray = ((h ^ (h >> np.uint64(31))) >> np.uint64(64 - level)) == 0
    return found


def outcomes(codes: np.ndarray, columns: int) -> np.ndarray:
    """(rows, columns): whether each row is of the class of each column; a single one is the second class.

    ``codes`` are class codes, or an indicator matrix of several labels a row.
    """
    if codes.ndim == 2:
        return np.asarray(codes != 0)
    found: np.ndarray = codes[:, None] == (np.ones(1, np.int64) if columns == 1 else np.arange(columns))
    return found
