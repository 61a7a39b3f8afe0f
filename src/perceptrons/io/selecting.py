"""Which rows a stream yields, and in which order: some held out, the others shuffled.

Both depend on the number of a row in its pass alone, so that a run that is resumed learns the same rows in
the same order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .records import Batch, some_rows


class Selection(NamedTuple):
    """Rows of every batch, and their order."""

    holdout: Fraction | None = None  #: the share of the rows that is held out
    tested: bool = False  #: yield the rows that are held out, and not the others
    seed: int | None = None  #: shuffle the rows within their batch, in each pass in another order

    def of(self, batch: Batch, number: int) -> Batch:
        """The rows of a batch in pass ``number``; it still ends where it ended."""
        if self.holdout is None and self.seed is None:
            return batch
        rows = np.arange(batch.n_rows)
        if self.holdout is not None:
            rows = np.flatnonzero(held_out(batch, self.holdout) == self.tested)
        if self.seed is not None:
            rows = np.random.default_rng([self.seed, number, batch.first_row]).permutation(rows)
        end = batch.first_row + batch.n_rows
        y, weights = (None if part is None else part[rows] for part in (batch.y, batch.weights))
        return Batch(some_rows(batch.X, rows), y, weights, end - len(rows), batch.place)


def held_out(batch: Batch, share: Fraction) -> np.ndarray:
    """Which rows of a batch are held out: with 1/10 those of number 9, 19, 29 …"""
    rows = batch.first_row + np.arange(batch.n_rows, dtype=np.int64)
    p, q = share.numerator, share.denominator
    return np.asarray(((rows + 1) * p) // q > (rows * p) // q)
