"""Two ways to play against a learner: rows in a given order, or the worst row each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from strategies import adversarial_stream

WORST = 80  # rows that the adversary serves


def margins(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y<w, x> of every row."""
    return y * (X @ model.coef_[0] + model.intercept_[0])


def lead(W: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By how much the right class leads its best rival, on every row."""
    s = X @ W.T
    own = s[np.arange(len(y)), y]
    s[np.arange(len(y)), y] = -np.inf
    return own - s.max(axis=1)


def length(model: Any) -> float:
    """||w||, with the weight of the constant coordinate."""
    w = model.coef_
    if model.fit_intercept:
        w = np.hstack([w, model.intercept_[:, None] / model.intercept_scaling])
    return float(np.linalg.norm(w))


def learn(model: Any, X: np.ndarray, y: np.ndarray, rows: Iterable[int]) -> Any:
    """Rows one by one."""
    for i in rows:
        model.learn_one(X[i], y[i])
    return model


def worst_rows(
    model: Any,
    X: np.ndarray,
    y: np.ndarray,
    threshold: float | Callable[[], float] = 0.0,
    strict: bool = False,
    score: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    limit: int = WORST,
) -> Iterable[int]:
    """Train on the updating row that is nearest to its threshold, again and again; yields after each."""
    for i in adversarial_stream(score or (lambda X, y: margins(model, X, y)), X, y, threshold, strict, limit):
        model.learn_one(X[i], y[i])
        yield i


def hinge(u: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """max(0, 1 - y<u, x>) of every row."""
    return np.maximum(0.0, 1.0 - y * (X @ u))


def rows_of(model: Any) -> np.ndarray:
    """The rows of a fit that were updated on, in order."""
    return model.update_log_["row"]
