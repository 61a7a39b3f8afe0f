"""The batch perceptron: a clean pass after at most floor((R/gamma)^2) + 1 of them; else it cycles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import separable
from theorems.play import length, margins

from perceptrons import Perceptron, datasets, theory


@pytest.mark.parametrize("shuffle", [False, True])
@given(separable(), st.integers(0, 1000))
def test_a_clean_pass_comes_in_time(shuffle, data, seed):
    X, y, _, gamma = data
    allowed = theory.passes(theory.radius(X), gamma)
    assume(allowed <= 20_000)
    model = Perceptron(fit_intercept=False, shuffle=shuffle, random_state=seed, max_iter=allowed).fit(X, y)
    assert model.stop_reason_ == "clean pass"
    assert model.n_iter_ <= allowed
    assert model.n_updates_ <= theory.novikoff(model.radius_, gamma)
    assert all(record["updates"] > 0 for record in model.history_[:-1])
    assert model.history_[-1]["updates"] == 0
    assert np.all(margins(model, X, y) > 0.0)  # a strict separation
    assert model.margin_bounds_[0] > 0.0
    endless = Perceptron(fit_intercept=False, shuffle=shuffle, random_state=seed, max_iter=None).fit(X, y)
    assert np.array_equal(endless.coef_, model.coef_)


@given(separable())
def test_under_the_rule_by_prediction_a_clean_pass_may_leave_ties(data):
    """All that it proves is that no row is predicted wrongly."""
    X, y, _, gamma = data
    allowed = theory.passes(theory.radius(X), gamma)
    assume(allowed <= 20_000)
    model = Perceptron(fit_intercept=False, mistake="prediction", max_iter=allowed, random_state=0).fit(X, y)
    assert model.stop_reason_ == "clean pass"
    assert np.array_equal(model.predict(X), y)
    assert np.all(margins(model, X, y) >= 0.0)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_data_that_cannot_be_separated_keep_the_weights_in_a_ball(fit_intercept):
    """The cycling theorem, on three sets of rows; with few decimals the run is even periodic."""
    xor = datasets.xor()
    contradiction = np.array([[1.0, 0.5], [1.0, 0.5], [-0.25, 1.0]]), np.array([1, -1, 1])
    rng = np.random.default_rng(0)
    noise = rng.integers(-8, 9, size=(12, 3)) / 8.0, np.where(rng.random(12) < 0.5, -1, 1)
    for X, y in ((xor.X, xor.y), contradiction, noise):
        model = Perceptron(fit_intercept=fit_intercept, shuffle=False, warm_start=True, max_iter=500)
        early, late = (longest_within(model, X, y, epochs=100) for _ in range(2))
        assert late <= early
        model.fit(X, y)
        assert model.stop_reason_ == "max_iter"
        assert length(model) <= early
        assert model.margin_bounds_[0] <= 0.0


def longest_within(model, X, y, epochs):
    """The largest ||w|| after any of the next epochs."""
    return max(length(model.fit(X, y, order=[range(len(y))])) for _ in range(epochs))


def test_a_zero_row_is_told_at_once():
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.5]]), np.array([1, 1, -1])
    model = Perceptron(fit_intercept=False, max_iter=None).fit(X, y)
    assert model.stop_reason_ == "not separable: row 1 is the zero vector"
