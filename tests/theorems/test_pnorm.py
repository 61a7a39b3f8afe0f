"""The p-norm perceptron: at most (p - 1) X_p^2 ||u||_q^2 / gamma^2 mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, orders, separable
from theorems.play import worst_rows

from perceptrons import PNormPerceptron, theory

NORMS = pytest.mark.parametrize("p", [2.0, 2.5, 4.0, 10.0])


def bound(p, X, y, u):
    gamma = float(np.min(y * (X @ u))) * (1.0 - 1e-10)
    X_p = float(np.max(np.linalg.norm(X, p, axis=1)))
    return theory.pnorm(p, X_p, float(np.linalg.norm(u, p / (p - 1.0))), gamma)


@NORMS
@given(separable(), st.data())
def test_random_sequences(p, data, draw):
    X, y, u, gamma = data
    model = PNormPerceptron(p=p, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert model.n_mistakes_ <= bound(p, X, y, u)
    if p == 2.0:
        assert np.isclose(bound(p, X, y, u), theory.novikoff(theory.radius(X), gamma))


@NORMS
@given(separable())
def test_worst_sequences(p, data):
    X, y, u, _ = data
    model = begin(PNormPerceptron(p=p, fit_intercept=False), X)
    M = bound(p, X, y, u)
    for _ in worst_rows(model, X, y, limit=200):
        assert model.n_mistakes_ <= M
    theta, q = model.theta_[0], p / (p - 1.0)
    w = model.coef_[0]  # the gradient of half the squared p-norm: dual norms meet
    assert np.isclose(np.linalg.norm(w, q), np.linalg.norm(theta, p))
    assert np.isclose(w @ theta, np.linalg.norm(theta, p) ** 2)


def test_a_large_p_has_the_order_of_winnow():
    """One relevant sign among n: p = 2 ln n needs O(log n) mistakes where p = 2 has a bound of n."""
    rng = np.random.default_rng(0)
    for n in (100, 1000):
        X = rng.choice([-1.0, 1.0], size=(400, n))
        y = X[:, 0].astype(int)
        p = 2.0 * np.log(n)
        model = PNormPerceptron(p=p, fit_intercept=False, max_iter=5, random_state=0).fit(X, y)
        X_p = n ** (1.0 / p)
        assert model.n_mistakes_ <= theory.pnorm(p, X_p, 1.0, 1.0) < 2.0 * np.e * np.log(n) < n
