"""The second-order perceptron: mistakes against the spread of the mistaken rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, dyadic, orders, samples, separable
from theorems.play import rows_of, worst_rows

from perceptrons import SecondOrderPerceptron, theory

RIDGES = pytest.mark.parametrize("a", [0.1, 1.0, 10.0])


def bound(X, y, u, gamma, a):
    """For the mistakes X, y, and what u misses of the margin on them."""
    uSu, logdet = theory.second_order_terms(X, u, a)
    TD = float(np.maximum(0.0, gamma - y * (X @ u)).sum())
    return theory.second_order(a, gamma, uSu, logdet, TD) * (1.0 + 1e-9)


@RIDGES
@given(separable(), st.data())
def test_separable_rows(a, data, draw):
    X, y, u, gamma = data
    model = SecondOrderPerceptron(a=a, fit_intercept=False, log_updates=True)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    rows = rows_of(model)
    assert model.n_mistakes_ == len(rows) <= bound(X[rows], y[rows], u, gamma, a)
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    own = np.min(y * (X @ w))
    if own > 0.0:  # the last w, where it separates, is a comparator as well
        assert len(rows) <= bound(X[rows], y[rows], w, own, a)


@RIDGES
@given(st.one_of(samples(), separable()), st.data())
def test_worst_sequences_of_any_rows(a, sample, draw):
    X, y = sample[:2]
    model = begin(SecondOrderPerceptron(a=a, fit_intercept=False), X)
    rows = list(worst_rows(model, X, y, limit=40))
    assert model.n_mistakes_ == len(rows)
    n = X.shape[1]
    u = np.array(draw.draw(st.lists(dyadic(), min_size=n, max_size=n), label="u"))
    assume(u.any())
    u = u / np.linalg.norm(u)
    for gamma in (0.1, 1.0, 5.0):
        assert len(rows) <= bound(X[rows], y[rows], u, gamma, a)


@RIDGES
@given(samples())
def test_the_covariance_is_the_inverse_of_the_correlations(a, sample):
    """Sigma = (aI + sum xx')^{-1} over the mistakes, and w = Sigma sum y x."""
    X, y, order = sample
    model = SecondOrderPerceptron(a=a, fit_intercept=False, log_updates=True).fit(X, y, order=order)
    rows, n = rows_of(model), X.shape[1]
    A = a * np.eye(n) + X[rows].T @ X[rows]
    sigma = model.covariance_[0][:n, :n]
    assert np.allclose(sigma @ A, np.eye(n), atol=1e-7)
    assert np.allclose(A @ model.coef_[0], X[rows].T @ y[rows], atol=1e-7)
