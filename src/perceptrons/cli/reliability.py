"""How far probabilities can be believed: a reliability table and the expected calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .printing import table

if TYPE_CHECKING:
    from .._types import JsonObject

BINS = 20
DEFINITION = (
    f"{BINS} bins of width {1.0 / BINS:g} by the highest probability of a row; a row is right if its label "
    "is the class with that probability (of equals, the first).\nThe error is the mean over the rows of "
    "|mean probability - share right| of their bin; every row counts once."
)


class Reliability:
    r"""The highest probability of each row, in bins, beside how often its class was the right one.

    The expected calibration error is :math:`\sum_b \frac{n_b}{n}|\bar p_b - a_b|`, with :math:`n_b` rows in
    bin b, their mean probability :math:`\bar p_b` and the share :math:`a_b` of those that were right.

    >>> found = Reliability()
    >>> found.add(np.array([[0.9, 0.1], [0.1, 0.9], [0.4, 0.6]]), np.array([0, 1, 0]))
    >>> round(found.error, 3)
    0.267
    """

    def __init__(self) -> None:
        self.rows = np.zeros(BINS, np.int64)
        self.probability, self.right = np.zeros(BINS), np.zeros(BINS, np.int64)

    def add(self, probabilities: np.ndarray, codes: np.ndarray) -> None:
        """Rows with the probabilities of their classes, and the codes of their labels (-1: none)."""
        highest = probabilities.max(axis=1)
        bins = np.minimum((highest * BINS).astype(np.int64), BINS - 1)
        right = probabilities.argmax(axis=1) == codes
        self.rows += np.bincount(bins, minlength=BINS)
        self.probability += np.bincount(bins, highest, BINS)
        self.right += np.bincount(bins[right], minlength=BINS)

    @property
    def error(self) -> float:
        """The expected calibration error."""
        n = int(self.rows.sum())
        return float(np.abs(self.probability - self.right).sum()) / n if n else 0.0

    def as_dict(self) -> JsonObject:
        """The error, its definition, and the bins that hold rows."""
        bins = [
            {
                "from": b / BINS,
                "to": (b + 1) / BINS,
                "rows": int(self.rows[b]),
                "probability": float(self.probability[b] / self.rows[b]),
                "right": float(self.right[b] / self.rows[b]),
            }
            for b in np.flatnonzero(self.rows).tolist()
        ]
        return {"error": self.error, "definition": DEFINITION.replace("\n", " "), "bins": bins}

    def __str__(self) -> str:
        rows = [
            [f"{one['from']:.2f} to {one['to']:.2f}", f"{one['rows']:,}"]
            + [f"{one[name]:.3f}" for name in ("probability", "right")]
            for one in self.as_dict()["bins"]
        ]
        head = f"expected calibration error {100.0 * self.error:.2f} points\n{DEFINITION}"
        return f"{head}\n\n{table(['probability', 'rows', 'mean', 'right'], rows)}"
