"""ALMA: at most (2/gamma^2)(2/alpha - 1)^2 + 8/alpha - 4 updates, then a margin of (1 - alpha) gamma."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, orders, samples, separable
from theorems.play import length, margins, worst_rows

from perceptrons import ALMA, theory

ALPHAS = pytest.mark.parametrize("alpha", [0.3, 0.7, 1.0])


def normalized_margin(X, y, u):
    return float(np.min(y * (X @ u) / np.linalg.norm(X, axis=1))) / float(np.linalg.norm(u))


@ALPHAS
@given(separable(), st.data())
def test_random_sequences(alpha, data, draw):
    X, y, u, _ = data
    gamma = normalized_margin(X, y, u) * (1.0 - 1e-10)
    model = ALMA(alpha=alpha, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=40)))
    assert model.n_updates_ <= theory.alma(gamma, alpha)
    assert length(model) <= 1.0 + 1e-12
    if model.stop_reason_ == "clean pass":
        assert normalized_margin(X, y, model.coef_[0]) >= theory.alma_margin(gamma, alpha) * (1.0 - 1e-9)


@ALPHAS
@given(separable())
def test_worst_sequences(alpha, data):
    X, y, u, _ = data
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    gamma = normalized_margin(X, y, u) * (1.0 - 1e-10)
    model = begin(ALMA(alpha=alpha, fit_intercept=False), X)
    band = lambda: (1.0 - alpha) * np.sqrt(8.0) / alpha / np.sqrt(model.n_updates_ + 1.0)  # noqa: E731
    for _ in worst_rows(model, X, y, threshold=band, limit=300):
        assert model.n_updates_ <= theory.alma(gamma, alpha)
        assert length(model) <= 1.0 + 1e-12
    if model.n_updates_ < 300 and np.all(margins(model, X, y) > band()):
        assert normalized_margin(X, y, model.coef_[0]) >= theory.alma_margin(gamma, alpha) * (1.0 - 1e-9)


@ALPHAS
@given(samples())
def test_the_weights_stay_in_the_unit_ball_on_any_data(alpha, sample):
    """All of them are scaled back, not only those of the row: three unit vectors would show it."""
    X, y, order = sample
    model = begin(ALMA(alpha=alpha, fit_intercept=False), X)
    for i in order[0]:
        model.learn_one(X[i], y[i])
        assert length(model) <= 1.0 + 1e-12
