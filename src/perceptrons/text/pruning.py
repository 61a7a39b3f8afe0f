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


class Ranking(NamedTuple):
    """The weights of a model that are not 0, the most important first."""

    n_columns: int
    keys: np.ndarray  #: column * classes + class
    weights: np.ndarray
    bias: np.ndarray  #: of each class: the weight of the constant coordinate
    df: np.ndarray | None  #: texts with each column, and the number of texts

    def __len__(self) -> int:
        return len(self.keys)


def ranking(model: TextClassifierSpec) -> Ranking:
    """The weights that the model predicts with, in the order of their importance."""
    n_columns, df = model._space.n_features, _counts(model)
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
    if df is not None:
        columns = keys // len(bias)
        importance *= idf_of(df, columns) * np.sqrt(df[columns])
    order = np.argsort(-importance, kind="stable")
    return Ranking(n_columns, keys[order], weights[order], bias, df)


def _counts(model: TextClassifierSpec) -> np.ndarray | None:
    """How many texts have each column, and how many there were; None where the model has not counted."""
    df = getattr(model._space, "df", None)
    return None if df is None else df.copy()


def idf_of(df: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The idf of columns by the present counts."""
    return np.asarray(1.0 + log(1.0 + float(df[-1])) - np.log1p(df[columns].astype(np.float64)))


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
    idf, steps = _idfs(ranked.df, np.unique(keys // n_classes))
    return WeightTable(
        ranked.n_columns, gaps_of(keys), codes.astype(np.int8), scales, ranked.bias.copy(), steps, idf
    )


def _idfs(df: np.ndarray | None, kept: np.ndarray) -> tuple[Idf | None, np.ndarray]:
    """The idf of these columns in steps, and one for all others."""
    if df is None:
        return None, np.empty(0, np.uint8)
    top = 1.0 + log(1.0 + float(df[-1]))
    step = (top - 1.0) / MOST_STEPS
    steps = np.rint((top - idf_of(df, kept)) / step) if step else np.zeros(len(kept))
    return Idf(top, step, _rest(df, kept, top)), steps.astype(np.uint8)


def _rest(df: np.ndarray, kept: np.ndarray, top: float) -> float:
    """One idf for all columns but these: its square is the mean of theirs over the entries of a new text.

    Columns that were never seen are among them. In a new text they are as frequent as those that were seen
    least in the texts so far, which is the estimate of Good and Turing.
    """
    texts = df[:-1].astype(np.float64)
    seen = texts[texts > 0.0]
    unseen = seen.min() * np.count_nonzero(seen == seen.min()) if len(seen) else 1.0
    texts[kept] = 0.0
    others = np.flatnonzero(texts)
    squares = texts[others] @ np.square(idf_of(df, others)) + unseen * top**2
    return float(np.sqrt(squares / (texts[others].sum() + unseen)))
