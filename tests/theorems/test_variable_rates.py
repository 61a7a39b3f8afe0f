"""Steps of any sizes on separable data obey (sum eta)^2 / sum eta^2 <= (R/gamma)^2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, best_margin, orders, separable
from theorems.play import learn, worst_rows

from perceptrons import Perceptron, theory


@pytest.mark.parametrize("rate", ["updates", "examples"])
@given(separable(), st.data())
def test_random_sequences(rate, data, draw):
    X, y, _, gamma = data
    order = draw.draw(orders(len(y), max_epochs=20))
    model = Perceptron(learning_rate=rate, fit_intercept=False, log_updates=True).fit(X, y, order=order)
    steps, R = model.update_log_["step"], theory.radius(X)
    assert theory.variable_rate_left(steps) <= theory.variable_rate(R, gamma)
    H = theory.harmonic_left(len(steps))
    if rate == "updates":
        assert np.allclose(steps, 1.0 / np.arange(1, len(steps) + 1))
        assert theory.harmonic_sum(R, gamma) >= H
        assert model.n_updates_ <= theory.harmonic_updates(R, gamma)
    last = max(np.flatnonzero([record["updates"] for record in model.history_]), default=-1)
    if all(record["updates"] for record in model.history_[: last + 1]):  # every pass had an update
        assert theory.harmonic_sum(R, gamma, m=len(y)) >= H


@pytest.mark.parametrize("rate", ["updates", "examples"])
@given(separable())
def test_worst_sequences(rate, data):
    X, y, _, gamma = data
    model = begin(Perceptron(learning_rate=rate, fit_intercept=False), X)
    n = sum(1 for _ in worst_rows(model, X, y))
    steps = 1.0 / np.arange(1, n + 1)  # every example is an update
    assert model.n_updates_ == n
    assert theory.variable_rate_left(steps) <= theory.variable_rate(theory.radius(X), gamma)
    assert theory.harmonic_sum(theory.radius(X), gamma) >= steps.sum()


@given(separable(), st.lists(st.floats(0.01, 100.0), min_size=1, max_size=30))
def test_steps_given_by_row_weights(data, sizes):
    """Any positive steps at all: a row's weight is its step."""
    X, y, _, gamma = data
    model = begin(Perceptron(fit_intercept=False), X)
    steps = []
    for size in sizes:
        margin = y * (X @ model.coef_[0])
        wrong = np.flatnonzero(margin <= 0.0)
        if not len(wrong):
            break
        i = wrong[np.argmax(margin[wrong])]
        model.partial_fit(X[[i]], y[[i]], sample_weight=[size])
        steps.append(size)
    assert model.n_updates_ == len(steps)
    assert theory.variable_rate_left(steps) <= theory.variable_rate(theory.radius(X), gamma) * (1.0 + 1e-9)


def test_one_over_examples_has_no_bound_in_a_stream():
    """The counterexample: two positive rows. The second comes at t = 8, 16, 32, ..., wrong each time."""
    often, seldom = np.array([1.0, 0.3]), np.array([-0.5, 0.6])
    X, y = np.array([often, seldom]), np.array([1, 1])
    model = begin(Perceptron(learning_rate="examples", fit_intercept=False), X)
    t = 0
    for power in range(3, 15):
        learn(model, X, y, [0] * (2**power - 1 - t))
        t = 2**power
        before = model.n_mistakes_
        learn(model, X, y, [1])
        assert model.n_mistakes_ == before + 1  # wrong every time
    assert t == 2**14
    assert model.n_mistakes_ == 1 + 12  # the very first row, and the twelve
    assert np.isclose(theory.novikoff(theory.radius(X), best_margin(X, y)), 4.53, atol=0.01)
    constant = begin(Perceptron(fit_intercept=False), X)
    assert sum(1 for _ in worst_rows(constant, X, y)) <= 4
