"""Seeded games between learners and rows: the data, the two ways of serving them, what is read off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from strategies import begin, best_l1_margin, best_margin
from theorems.play import lead, length, margins, worst_rows

import perceptrons as pc
from perceptrons import proofs, theory

ROUNDS = 300  # rows served


def perceptron(**params: Any) -> Any:
    return pc.Perceptron(fit_intercept=False, **params)


def rows(seed: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Separable rows, R and the best margin."""
    data = proofs.separable(30, 5, 0.1, random_state=seed)
    gamma = best_margin(data.X, data.y) * (1.0 - 1e-9)
    return data.X, data.y, theory.radius(data.X), gamma


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 that no plane separates."""
    data = proofs.noisy(40, 3, 12.0, random_state=seed)
    return data.X / np.linalg.norm(data.X, axis=1, keepdims=True), data.y


def play(model: Any, X: Any, y: Any, how: str, seed: int, limit: int = ROUNDS, **worst: Any) -> Any:
    """The model after the game; ``served`` on it are the rows, in order."""
    begin(model, X, np.unique(y))
    if how == "worst":
        model.served = list(worst_rows(model, X, y, limit=limit, **worst))
        return model
    model.served = np.random.default_rng(seed).integers(0, len(y), limit).tolist()
    for i in model.served:
        model.learn_one(X[i], y[i])
    return model


def clean(model: Any, seed: int, X: Any, y: Any) -> Any:
    """The model after a clean pass."""
    model.set_params(max_iter=None, random_state=seed).fit(X, y)
    assert model.stop_reason_ == "clean pass"
    return model


def reached(model: Any, X: Any, y: Any) -> float:
    """Its geometric margin."""
    return float(np.min(margins(model, X, y))) / length(model)


def mistaken(X: Any, y: Any, how: str, seed: int) -> tuple[Any, list[int]]:
    """A perceptron on noise, and the rows it was mistaken on."""
    model = begin(pc.Perceptron(fit_intercept=False), X)
    wrong = []
    rng = np.random.default_rng(seed)
    served = worst_rows(model, X, y, limit=60) if how == "worst" else in_random_order(model, X, y, rng)
    before = 0
    for i in served:
        if model.n_mistakes_ > before:
            wrong.append(int(i))
        before = model.n_mistakes_
    return model, wrong


def in_random_order(model: Any, X: Any, y: Any, rng: Any) -> Iterator[int]:
    for i in rng.integers(0, len(y), 120):
        model.learn_one(X[i], y[i])
        yield i


def comparators(X: Any, y: Any, w: Any) -> list[np.ndarray]:
    """Multiples of the last weights and of the mean of y x."""
    mean = (y[:, None] * X).mean(axis=0)
    return [c * v for v in (w, mean / np.linalg.norm(mean)) for c in np.geomspace(0.01, 10.0, 25)]


def disjunction(model: Any, how: str, seed: int, k: int = 1, r: int = 3, n: int = 8) -> Any:
    """All 0/1 rows, at least k of the first r: in random order, or the mistaken row that scores nearest."""
    X = np.array(list(product([0.0, 1.0], repeat=n)))
    y = np.where(X[:, :r].sum(axis=1) >= k, 1, -1)
    begin(model, X)
    for i in np.random.default_rng(seed).permutation(len(X)) if how == "random" else _nearest(model, X, y):
        model.learn_one(X[i], y[i])
    return model


def _nearest(model: Any, X: Any, y: Any) -> Iterator[int]:
    while len(wrong := np.flatnonzero(model.predict(X) != y)):
        yield wrong[np.argmin(np.abs(model.decision_function(X[wrong])))]


def l1_rows(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Signs of which one decides; their L1 margin is 1, their largest entry 1."""
    X = np.random.default_rng(seed).choice([-1.0, 1.0], size=(60, 20))
    y = X[:, 0].astype(int)
    gamma = best_l1_margin(X, y)
    assert gamma == pytest.approx(1.0)
    return X, y, 1.0 - 1e-9


def classes(seed: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Rows of three classes around the vertices of a triangle, with prototypes of Frobenius norm 1."""
    rng = np.random.default_rng(seed)
    V = np.eye(3)
    y = np.arange(30) % 3
    X = V[y] + rng.uniform(-0.45, 0.45, size=(30, 3))
    U = (V - 1.0 / 3.0) / np.linalg.norm(V - 1.0 / 3.0)
    return X, y, theory.radius(X), float(lead(U, X, y).min()) * (1.0 - 1e-9)


def unit_rows(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    X, y, _, _ = rows(seed)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X, y, best_margin(X, y) * (1.0 - 1e-9)
