"""The labels of texts by their scores: all above a threshold, or the best ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import checks
from ..core.one_row import python_label
from ..io import Texts

if TYPE_CHECKING:
    from .._types import Label
    from .hashing import AnyTexts
    from .learner import TextClassifierSpec

#: Scores that are held at a time.
_SCORES = 1 << 22


def check(k: int | None, threshold: float | None) -> None:
    """Refuse what no number of labels, or no threshold, can be."""
    checks.whole("k", k, none=True)
    if threshold is not None:
        found = checks.numbers("threshold", threshold)
        if found.ndim:
            raise ValueError(f"threshold must be one number; got threshold={threshold!r}.")


def best_labels(
    model: TextClassifierSpec, X: AnyTexts, k: int | None, threshold: float | None
) -> list[list[Label]]:
    """The labels of each text, the highest score first; of equal ones, the smaller label."""
    if threshold is None:
        threshold = 0.0 if k is None else -np.inf
    labels = _labels(model)
    return [[labels[r] for r in best(row, k, threshold)] for row in rows_of_scores(model, X)]


def ranked_and_predicted(
    model: TextClassifierSpec, X: AnyTexts, k: int
) -> tuple[list[list[Label]], list[list[Label]]]:
    """The k best labels of each text, and those with a score above 0."""
    labels, ranked, predicted = _labels(model), [], []
    for row in rows_of_scores(model, X):
        ranked.append([labels[r] for r in best(row, k, -np.inf)])
        predicted.append([labels[r] for r in best(row, None, 0.0)])
    return ranked, predicted


def _labels(model: TextClassifierSpec) -> list[Label]:
    return [python_label(one) for one in model.classes_.tolist()]


def rows_of_scores(model: TextClassifierSpec, X: AnyTexts) -> Iterator[np.ndarray]:
    """The scores of the labels, text by text."""
    for scores in pieces(model, X):
        if scores.ndim == 1:  # two classes, or one
            several = len(model.classes_) > 1
            scores = np.column_stack([-scores, scores]) if several else scores[:, None]
        yield from scores


def best(scores: np.ndarray, k: int | None, threshold: float) -> list[int]:
    """The places of the k largest scores above the threshold, the largest first; None: of all."""
    there = np.flatnonzero(scores > threshold)
    if k is not None and len(there) > k:
        kth = np.partition(scores[there], len(there) - k)[len(there) - k]
        there = there[scores[there] >= kth]
    order = there[np.argsort(-scores[there], kind="stable")]
    chosen: list[int] = order[:k].tolist()
    return chosen


def pieces(model: TextClassifierSpec, X: Any) -> Iterator[np.ndarray]:
    """The scores of the texts, some texts at a time."""
    n = max(1, _SCORES // max(1, len(model.classes_)))
    if hasattr(X, "recipe"):  # hashed already
        for a in range(0, len(X), n):
            yield model.decision_function(X._replace(X=X.X[a : a + n]))
        return
    texts = model._texts(X)
    for a in range(0, len(texts), n):
        part = Texts(texts.buffer, texts.starts[a : a + n], texts.stops[a : a + n])
        yield model.decision_function(part)
