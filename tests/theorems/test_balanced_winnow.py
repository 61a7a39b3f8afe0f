"""Balanced Winnow: at most 2 X^2 ln(2n) / gamma^2 mistakes for a margin gamma in the L1 norm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, best_l1_margin, dyadic, orders, samples, separable
from theorems.play import rows_of, worst_rows

from perceptrons import BalancedWinnow, theory

#: the rate, as a part of the largest one that has a bound
PARTS = pytest.mark.parametrize("part", [0.25, 0.5, 0.9])


def l1(data):
    """(X, y, L1 margin of the hidden target, largest entry)."""
    X, y, u, _ = data
    gamma = np.min(y * (X @ u)) / np.abs(u).sum() * (1.0 - 1e-10)
    return X, y, float(gamma), float(np.abs(X).max())


def bound(X_inf, gamma, n, eta, part):
    best = theory.balanced_winnow(X_inf, gamma, n)
    M = theory.balanced_winnow(X_inf, gamma, n, eta)
    assert best <= M * (1.0 + 1e-9)
    if part == 0.5:
        assert np.isclose(M, best)
    return M * (1.0 + 1e-9)


@PARTS
@given(separable(), st.data(), st.booleans())
def test_random_sequences(part, data, draw, fit_intercept):
    X, y, gamma, X_inf = l1(data)
    if fit_intercept:
        X_inf = max(X_inf, 1.0)  # the constant coordinate is an input as well
    eta = part * 2.0 * gamma / X_inf**2
    model = BalancedWinnow(eta=eta, fit_intercept=fit_intercept)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert model.n_mistakes_ <= bound(X_inf, gamma, X.shape[1] + fit_intercept, eta, part)


@PARTS
@given(separable())
def test_worst_sequences(part, data):
    X, y, gamma, X_inf = l1(data)
    eta = part * 2.0 * gamma / X_inf**2
    model = begin(BalancedWinnow(eta=eta, fit_intercept=False), X)
    for _ in worst_rows(model, X, y, limit=200):
        assert model.n_mistakes_ <= bound(X_inf, gamma, X.shape[1], eta, part)
        assert np.abs(model.coef_).sum() <= 1.0 + 1e-12


@PARTS
@given(samples(), st.data())
def test_any_data(part, sample, draw):
    """M (eta gamma - eta^2 X^2/2) <= ln(2n) + eta sum max(0, gamma - y<u, x>), for every u and gamma."""
    X, y, order = sample
    n, X_inf = X.shape[1], float(np.abs(X).max())
    u = np.array(draw.draw(st.lists(dyadic(), min_size=n, max_size=n), label="u"))
    assume(X_inf > 0.0 and np.abs(u).sum() > 0.0)
    u = u / np.abs(u).sum()
    gamma = draw.draw(st.sampled_from([0.125, 0.5, 2.0]), label="gamma")
    eta = part * 2.0 * gamma / X_inf**2
    model = BalancedWinnow(eta=eta, fit_intercept=False, log_updates=True).fit(X, y, order=order)
    rows = rows_of(model)
    TD = float(np.maximum(0.0, gamma - y[rows] * (X[rows] @ u)).sum())
    M = theory.balanced_winnow_total_distance(X_inf, gamma, n, eta, TD)
    assert model.n_mistakes_ <= M * (1.0 + 1e-9)


@PARTS
@given(samples(), st.data())
def test_any_data_against_an_adversary(part, sample, draw):
    X, y, _ = sample
    n, X_inf = X.shape[1], float(np.abs(X).max())
    u = np.array(draw.draw(st.lists(dyadic(), min_size=n, max_size=n), label="u"))
    assume(X_inf > 0.0 and np.abs(u).sum() > 0.0)
    u = u / np.abs(u).sum()
    gamma = draw.draw(st.sampled_from([0.125, 0.5, 2.0]), label="gamma")
    eta = part * 2.0 * gamma / X_inf**2
    model = begin(BalancedWinnow(eta=eta, fit_intercept=False), X)
    rows = list(worst_rows(model, X, y, limit=60))
    TD = float(np.maximum(0.0, gamma - y[rows] * (X[rows] @ u)).sum())
    M = theory.balanced_winnow_total_distance(X_inf, gamma, n, eta, TD)
    assert 0 < model.n_mistakes_ == len(rows) <= M * (1.0 + 1e-9)


@given(separable(), st.sampled_from([0.25, 1.0, 4.0]), st.data())
def test_a_guess_is_refuted_only_if_it_is_too_large(data, guess, draw):
    """More than 2X^2 ln(2n)/g^2 mistakes at the rate g/X^2 prove that no target has L1 margin g."""
    X, y, _, X_inf = l1(data)
    model = BalancedWinnow(eta=guess / X_inf**2, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    if model.n_mistakes_ > theory.balanced_winnow(X_inf, guess, X.shape[1]):
        assert best_l1_margin(X, y) < guess * (1.0 + 1e-9)


@given(separable())
def test_halving_the_guess_finds_the_margin_within_a_factor_of_two(data):
    """A guess is halved when it is refuted: one that stands is more than half of the best L1 margin."""
    X, y, _, X_inf = l1(data)
    best, n = best_l1_margin(X, y), X.shape[1]
    assume(theory.balanced_winnow(X_inf, best / 2.0, n) < 3000)
    guess = 2.0 * X_inf  # beyond any margin
    while True:
        model = begin(BalancedWinnow(eta=guess / X_inf**2, fit_intercept=False), X)
        allowed = theory.balanced_winnow(X_inf, guess, n)
        if sum(1 for _ in worst_rows(model, X, y, limit=int(allowed) + 1)) <= allowed:
            break
        assert best < guess  # it was refuted
        guess /= 2.0
    assert guess > best / 2.0 * (1.0 - 1e-9)
    assert np.all(y * (X @ model.coef_[0]) > 0.0)


def test_irrelevant_inputs_cost_their_logarithm():
    """The target is one of n signs: gamma = 1 and X = 1 for every n."""
    rng = np.random.default_rng(0)
    for n in (10, 100, 1000):
        X = rng.choice([-1.0, 1.0], size=(300, n))
        y = X[:, 0].astype(int)
        model = BalancedWinnow(eta=1.0, fit_intercept=False, max_iter=5, random_state=0).fit(X, y)
        assert model.n_mistakes_ <= theory.balanced_winnow(1.0, 1.0, n) < 16
