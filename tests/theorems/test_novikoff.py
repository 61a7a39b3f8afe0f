"""Novikoff: the perceptron makes at most (R/gamma)^2 mistakes on separable data, in any order, for ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, best_margin, dyadic, orders, samples, separable
from theorems.play import length, margins, worst_rows

from perceptrons import Perceptron, theory

MISTAKE = pytest.mark.parametrize("mistake", ["margin", "prediction"])
scales = st.sampled_from([0.25, 1.0, 4.0])


@MISTAKE
@given(separable(), st.data(), st.one_of(st.none(), scales))
def test_at_most_r_over_gamma_squared_mistakes(mistake, data, draw, bias):
    """A constant coordinate B makes R larger; (u, 0) keeps its margin."""
    X, y, _, gamma = data
    frame = {"fit_intercept": False} if bias is None else {"intercept_scaling": bias}
    model = Perceptron(mistake=mistake, **frame).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert np.isclose(model.radius_, np.hypot(theory.radius(X), bias or 0.0))
    assert model.n_errors_ <= model.n_mistakes_ == model.n_updates_ <= theory.novikoff(model.radius_, gamma)


@MISTAKE
@given(separable())
def test_even_against_an_adversary(mistake, data):
    X, y, _, gamma = data
    model = begin(Perceptron(mistake=mistake, fit_intercept=False), X)
    for _ in worst_rows(model, X, y, limit=400):
        assert model.n_updates_ <= theory.novikoff(theory.radius(X), gamma)
    if mistake == "margin":
        assert model.n_updates_ == 400 or np.all(margins(model, X, y) > 0.0)


@given(separable(), st.data())
def test_rows_of_length_one_have_a_bound_that_is_never_larger(data, draw):
    X, y, u, gamma = data
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    gamma_n = np.min(y * (unit @ u)) * (1.0 - 1e-10)
    model = Perceptron(row_norm="l2", fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert model.radius_ == 1.0
    assert model.n_updates_ <= theory.novikoff(1.0, gamma_n)
    assert theory.novikoff(1.0, gamma_n) <= theory.novikoff(theory.radius(X), gamma) * (1.0 + 1e-9)


@given(separable(), st.data(), scales)
def test_from_another_start(data, draw, eta):
    X, y, _, gamma = data
    w0 = np.array(draw.draw(st.lists(dyadic(), min_size=X.shape[1], max_size=X.shape[1]), label="w0"))
    model = Perceptron(learning_rate=eta, fit_intercept=False)
    model.fit(X, y, coef_init=w0, order=draw.draw(orders(len(y), max_epochs=30)))
    bound = theory.novikoff_from(theory.radius(X), gamma, np.linalg.norm(w0), eta)
    assert model.n_updates_ <= bound


@given(separable(), st.data(), scales)
def test_from_another_start_against_an_adversary(data, draw, eta):
    X, y, u, gamma = data
    drawn = np.array(draw.draw(st.lists(dyadic(), min_size=X.shape[1], max_size=X.shape[1]), label="w0"))
    R = theory.radius(X)
    for w0 in (drawn, -4.0 * u):  # the second points the wrong way, and has to be unlearned
        bound = theory.novikoff_from(R, gamma, np.linalg.norm(w0), eta)
        model = Perceptron(learning_rate=eta, fit_intercept=False, warm_start=True)
        w = w0
        for updates in range(60):
            assert updates <= bound * (1.0 + 1e-9)
            m = y * (X @ w)
            if np.all(m > 0.0):
                break
            i = int(np.argmax(np.where(m <= 0.0, m, -np.inf)))
            rows = [i, int(np.flatnonzero(y != y[i])[0])]  # fit wants both labels; only i is visited
            w = model.fit(X[rows], y[rows], coef_init=w, order=[[0]]).coef_[0].copy()


def test_a_bad_start_costs_more_than_the_bound_from_zero():
    """So the term 2||w0||/(eta gamma) cannot be left out: R^2/gamma^2 = 1 here, and 4 updates are needed."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, -1])
    model = Perceptron(fit_intercept=False, max_iter=None, shuffle=False).fit(X, y, coef_init=[-3.0, 0.0])
    assert theory.novikoff(1.0, 1.0) == 1.0
    assert 1 < model.n_updates_ == 4 <= theory.novikoff_from(1.0, 1.0, w0_norm=3.0)


@given(st.one_of(samples(), separable()))
def test_what_can_be_checked_at_every_moment(sample):
    """||w||^2 <= Q <= k R^2; no separator has a margin beyond ||w||/k, nor beyond R/sqrt(k)."""
    X, y = sample[:2]
    best, R = best_margin(X, y), theory.radius(X)
    model, Q = begin(Perceptron(fit_intercept=False), X), 0.0
    for i in worst_rows(model, X, y):
        Q += X[i] @ X[i]
        k = model.n_updates_
        assert length(model) ** 2 <= Q * (1.0 + 1e-12)
        assert k * R**2 * (1.0 + 1e-12) >= Q
        assert best <= theory.gamma_up(length(model), k) * (1.0 + 1e-9) + 1e-9
        assert best <= R / np.sqrt(k) * (1.0 + 1e-9) + 1e-9


@given(separable(), st.data())
def test_a_separating_w_certifies_its_own_bound(data, draw):
    X, y, _, _ = data
    model = Perceptron(fit_intercept=False).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    low, up = model.margin_bounds_
    if low > 0.0:
        assert low <= up * (1.0 + 1e-12)
        assert model.n_updates_ <= theory.novikoff(model.radius_, low) * (1.0 + 1e-12)


@pytest.mark.parametrize("n", [1, 4, 9, 30])
def test_the_bound_is_attained(n):
    """Unit vectors: every one is a mistake, and u = (1, ..., 1)/sqrt(n) has margin 1/sqrt(n)."""
    X, y = np.eye(n), np.where(np.arange(n) % 2, -1, 1)
    model = begin(Perceptron(fit_intercept=False), X)
    assert sum(1 for _ in worst_rows(model, X, y)) == n
    assert np.isclose(theory.novikoff(1.0, 1.0 / np.sqrt(n)), n)
