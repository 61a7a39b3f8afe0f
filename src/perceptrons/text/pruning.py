r"""Which weights of a model of texts matter most, and a table of the first n of them.

A weight adds :math:`w_j \mathrm{tf}_j\,\mathrm{idf}_j` to the score of a text that has its column, before the
score is divided by the length of the row. So weights are ordered by
:math:`|w_j|\,\mathrm{idf}_j \sqrt{\mathrm{df}_j}`, the size of what all texts together lose without it; a
model that has counted no texts orders them by :math:`|w_j|`.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from .learner import TextClassifierSpec
from .weight_table import MOST_CODE, MOST_STEPS, Idf, WeightTable, gaps_of

_AT_A_TIME = 1 << 22  # weights that are looked at together


class DocumentCounts(NamedTuple):
    """In how many texts each column has occurred, and sums over all of their entries."""

    df: np.ndarray  #: texts with each column, and then the number of texts
    entries: float  #: of a part of the texts that columns never seen have in proportion
    squares: float  #: of their idf

    @property
    def top(self) -> float:
        """The idf of a column that was never seen."""
        return 1.0 + log(1.0 + float(self.df[-1]))

    def idf(self, columns: np.ndarray) -> np.ndarray:
        """The idf of columns by these counts."""
        return np.asarray(self.top - np.log1p(self.df[columns].astype(np.float64)))

    def rest(self, kept: np.ndarray) -> float:
        """One idf for all columns but these: its square is the mean over the entries of a new text."""
        texts = self.df[kept].astype(np.float64)
        squares = self.squares - texts @ np.square(self.idf(kept))
        return float(np.sqrt(max(squares, 1.0) / max(self.entries - texts.sum(), 1.0)))


class Ranking(NamedTuple):
    """The weights of a model that are not 0, the most important first."""

    n_columns: int
    keys: np.ndarray  #: column * classes + class
    weights: np.ndarray
    bias: np.ndarray  #: of each class: the weight of the constant coordinate
    counts: DocumentCounts | None

    def __len__(self) -> int:
        return len(self.keys)


def ranking(model: TextClassifierSpec) -> Ranking:
    """The weights that the model predicts with, in the order of their importance."""
    n_columns, counts = model._space.n_features, _counts(model)
    bias = model._weights(np.empty(0, np.int64))[:, -1].astype(np.float64)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    step = max(1, _AT_A_TIME // len(bias))
    for first in range(0, n_columns, step):
        columns = np.arange(first, min(n_columns, first + step))
        w = model._weights(columns)[:, :-1].T
        column, code = np.nonzero(w)
        found.append((columns[column] * len(bias) + code, w[column, code].astype(np.float64)))
    keys, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    importance = np.abs(weights)
    if counts is not None:
        columns = keys // len(bias)
        importance *= counts.idf(columns) * np.sqrt(counts.df[columns])
    order = np.argsort(-importance, kind="stable")
    return Ranking(n_columns, keys[order], weights[order], bias, counts)


def _counts(model: TextClassifierSpec) -> DocumentCounts | None:
    """The counts of a model; None where it has not counted.

    In a new text columns that were never seen are as frequent as those that were seen least in the texts so
    far, which is the estimate of Good and Turing. They are added to the sums.
    """
    if model._space.df is None:
        return None
    found = DocumentCounts(model._space.df.copy(), 0.0, 0.0)
    seen = np.flatnonzero(found.df[:-1])
    texts = found.df[seen].astype(np.float64)
    unseen = texts.min() * np.count_nonzero(texts == texts.min()) if len(texts) else 1.0
    squares = texts @ np.square(found.idf(seen)) + unseen * found.top**2
    return found._replace(entries=float(texts.sum() + unseen), squares=float(squares))


def table_of(ranked: Ranking, n: int) -> WeightTable:
    """A table of the n weights that matter most; a weight that is rounded to 0 is left out, too."""
    order = np.argsort(ranked.keys[:n])
    keys, weights = ranked.keys[:n][order], ranked.weights[:n][order]
    n_classes = len(ranked.bias)
    classes = keys % n_classes
    scales = np.zeros(n_classes)
    np.maximum.at(scales, classes, np.abs(weights))
    scales /= MOST_CODE
    codes = np.rint(weights / np.where(scales > 0.0, scales, 1.0)[classes])
    keys, codes = keys[codes != 0.0], codes[codes != 0.0]
    columns = keys // n_classes
    idf, steps = _idfs(ranked.counts, columns[np.diff(columns, prepend=-1) > 0])
    return WeightTable(
        ranked.n_columns, gaps_of(keys), codes.astype(np.int8), scales, ranked.bias.copy(), steps, idf
    )


def _idfs(counts: DocumentCounts | None, kept: np.ndarray) -> tuple[Idf | None, np.ndarray]:
    """The idf of these columns in steps, and one for all others."""
    if counts is None:
        return None, np.empty(0, np.uint8)
    top = counts.top
    step = (top - 1.0) / MOST_STEPS
    steps = np.rint((top - counts.idf(kept)) / step) if step else np.zeros(len(kept))
    return Idf(top, step, counts.rest(kept)), steps.astype(np.uint8)
