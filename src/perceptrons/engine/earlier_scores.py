"""The score of each row under the w from before it was learned, for kernel learners: from the log of a block.

The loops keep the scores of the rows of a block under the w of the moment. The scores under earlier w, and
their sums for an average, follow from the scores at the start of the block, the updates, and the kernel
values within it.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from .loops.scalars import EXAMPLES, SCALE, SCALE_SUM, N

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._types import UpdateColumns


class EarlierScores:
    """Scores of the rows of one pass under the readout, before each was learned; NaN where it was not.

    ``readout`` is "last", "average", or "unit": the mean of w/||w||. ``unit``: the last w counts as w/||w||.
    """

    def __init__(self, n_rows: int, n_columns: int, readout: str, unit: bool):
        self.scores = np.full((n_rows, n_columns), np.nan)
        self.readout, self.unit = readout, unit
        self.position = 0  #: rows of the blocks so far

    def add(
        self,
        F: np.ndarray,
        sums: np.ndarray,
        G: np.ndarray,
        active: np.ndarray,
        states: list[tuple[np.ndarray, np.ndarray]],
        logs: Sequence[UpdateColumns],
    ) -> None:
        """A block has been resolved.

        Parameters
        ----------
        F, sums : ndarrays of shape (rows, columns)
            Scores under the stored weights, and under the stored sums, before the block.
        G : ndarray of shape (rows, rows)
            Kernel values.
        active : ndarray of bool
            Rows whose weight is not 0.
        states : list of (before, after)
            The scalars of each learner.
        logs : list
            Its updates.
        """
        out = self.scores[self.position : self.position + len(F)]
        self.position += len(F)
        width = F.shape[1] // len(states)  # prototypes are one learner with several columns
        for r, ((before, after), log) in enumerate(zip(states, logs, strict=True)):
            columns = slice(r * width, (r + 1) * width)
            f = before[SCALE] * F[:, columns]
            total = before[SCALE_SUM] * F[:, columns] + sums[:, columns]
            found = self._replayed(f, total, G, active, int(before[EXAMPLES]), float(before[N]), log)
            learned = active & (np.cumsum(active) <= after[EXAMPLES] - before[EXAMPLES])
            out[learned, columns] = found[learned]

    def _replayed(
        self,
        f: np.ndarray,
        total: np.ndarray,
        G: np.ndarray,
        active: np.ndarray,
        t: int,
        norm2: float,
        log: UpdateColumns,
    ) -> np.ndarray:
        """Scores of the rows, each under the readout of its moment; f and ``total`` are those of now."""
        out, n, begin = np.empty_like(f), len(f), 0
        for j, p in enumerate([*log.row.tolist(), n]):
            stretch = slice(begin, p + 1)  # the rows with this w
            passed = np.cumsum(active[stretch]) - active[stretch]
            out[stretch] = f[stretch] / (sqrt(norm2) if self.unit and norm2 > 0.0 else 1.0)
            pace = self._pace(norm2)
            if self.readout != "last":
                seen = np.maximum(1, t + passed)[:, None]
                out[stretch] = (total[stretch] + pace * passed[:, None] * f[stretch]) / seen
            if p == n:
                break
            keep, alpha, later = log.keep[j], log.alpha[j], slice(p + 1, n)
            norm2 = keep * keep * norm2 + 2.0 * keep * float(alpha @ f[p]) + G[p, p] * float(alpha @ alpha)
            total[later] += pace * int(passed[-1]) * f[later]
            f[later] = keep * f[later] + np.outer(G[p, later], alpha)
            total[later] += self._pace(norm2) * f[later]
            t += int(passed[-1]) + 1
            begin = p + 1
        return out

    def _pace(self, norm2: float) -> float:
        """What one example adds to the sum, in units of w."""
        if self.readout != "unit":
            return 1.0
        return 1.0 / sqrt(norm2) if norm2 > 0.0 else 0.0
