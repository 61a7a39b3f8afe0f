"""ROMMA: the shortest vector that keeps the last half-space and the new one; at most R^2/gamma^2 updates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, best_margin, class_pairs, orders, samples, separable, separable_multiclass
from theorems.play import lead, length, margins, worst_rows

from perceptrons import ROMMA, theory

SLACK = 1.0 + 1e-7
DELTAS = pytest.mark.parametrize("delta", [0.1, 0.5, 0.9])
KINDS = pytest.mark.parametrize(
    "params", [{}, {"aggressive": True, "delta": 0.25}, {"aggressive": True, "delta": 0.0}], ids=str
)


@given(separable(), st.data())
def test_plain(data, draw):
    X, y, _, gamma = data
    model = ROMMA(fit_intercept=False).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert model.n_updates_ <= theory.romma(theory.radius(X), gamma) * SLACK
    assert not model.infeasible_
    assert best_margin(X, y) <= 1.0 / length(model) * SLACK


@DELTAS
@given(separable(), st.data())
def test_aggressive(delta, data, draw):
    """A clean pass has margin (1 - delta) gamma*, and nobody told the learner gamma."""
    X, y, _, gamma = data
    model = ROMMA(aggressive=True, delta=delta, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    R = theory.radius(X)
    assert model.n_updates_ <= theory.romma_aggressive(R, gamma, delta) * SLACK
    assert model.n_errors_ <= theory.romma_aggressive_errors(R, gamma) * SLACK
    if model.stop_reason_ == "clean pass":
        reached = np.min(margins(model, X, y)) / length(model)
        assert reached >= theory.romma_margin(best_margin(X, y), delta) / SLACK


@KINDS
@given(separable())
def test_against_an_adversary(params, data):
    """Every update adds delta^2/R^2 to ||w||^2, which stays below 1/gamma*^2; errors obey R^2/gamma^2."""
    X, y, _, gamma = data
    aggressive, delta = params.get("aggressive", False), params.get("delta", 1.0)
    R, best = theory.radius(X), best_margin(X, y)
    model = begin(ROMMA(fit_intercept=False, **params), X)
    squared = 0.0
    bar = 1.0 - delta - 1e-9 if aggressive else 0.0
    for i in worst_rows(model, X, y, threshold=bar):
        before, squared = squared, length(model) ** 2
        assert squared * SLACK >= before + theory.romma_growth(R, delta)
        assert length(model) <= 1.0 / best * SLACK
        assert margins(model, X[[i]], y[[i]])[0] >= 1.0 - 1e-6
        assert model.n_errors_ <= theory.romma_aggressive_errors(R, gamma) * SLACK
        assert model.margin_bounds_[1] * SLACK >= best
    if delta:
        assert model.n_updates_ <= theory.romma_aggressive(R, gamma, delta) * SLACK


@KINDS
@given(samples(), st.integers(0, 2**32 - 1))
def test_a_step_is_the_shortest_vector_of_both_half_spaces(params, sample, seed):
    """min ||v|| with y<v, x> >= 1 and <v, w> >= ||w||^2: feasible, and no feasible vector is shorter."""
    X, y, order = sample
    rng = np.random.default_rng(seed)
    model = begin(ROMMA(fit_intercept=False, **params), X)
    w = np.zeros(X.shape[1])
    for i in order[0]:
        updates = model.n_updates_
        model.learn_one(X[i], y[i])
        old, w = w, model.coef_[0].copy()
        if model.n_updates_ == updates or np.linalg.norm(w) > 1e3:  # nearly infeasible: few digits left
            continue
        assert y[i] * (w @ X[i]) >= 1.0 - 1e-6
        assert w @ old >= old @ old - 1e-6 * (1.0 + w @ w)
        for scale in np.geomspace(1e-3, 1.0, 10):
            v = w + scale * rng.normal(size=w.shape)
            if y[i] * (v @ X[i]) >= 1.0 and v @ old >= old @ old:
                assert v @ v >= (w @ w) * (1.0 - 1e-6)


@given(samples(), st.booleans())
def test_infeasible_is_said_only_of_data_that_cannot_be_separated(sample, aggressive):
    X, y, order = sample
    model = ROMMA(aggressive=aggressive, delta=0.25, fit_intercept=False).fit(X, y, order=order)
    if model.infeasible_:
        assert best_margin(X, y) < 1e-6 * theory.radius(X)


def test_two_opposite_demands_are_infeasible():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]]), np.array([1, -1, 1])
    model = ROMMA(fit_intercept=False).fit(X, y, order=[[0, 1, 2]])
    assert model.infeasible_
    assert np.allclose(model.coef_, [[0.2, 0.4]])  # left as it was


@given(separable())
def test_the_bracket_closes(data):
    """Aggressive ROMMA ends with margins within 1 - delta of each other: low <= gamma* <= up."""
    X, y, _, _ = data
    best = best_margin(X, y)
    assume(theory.romma_aggressive(theory.radius(X), best, 0.1) < 20_000)
    model = ROMMA(aggressive=True, delta=0.1, fit_intercept=False, max_iter=None, random_state=0).fit(X, y)
    low, up = model.margin_bounds_
    assert low <= best * SLACK
    assert best <= up * SLACK
    assert low >= 0.9 * up / SLACK  # both are margins of the same w: y<w, x> >= 1 - delta, up <= 1/||w||


@pytest.mark.parametrize("params", [{}, {"aggressive": True, "delta": 0.5}], ids=str)
@given(separable_multiclass(), st.data())
def test_many_classes(params, data, draw):
    """A pair of classes is an example of squared length 2||x||^2; W is as short as the best prototypes."""
    X, y, _, delta = data
    n_classes = len(set(y))
    best = best_margin(class_pairs(X, y, n_classes), np.ones(len(y) * (n_classes - 1)))
    model = ROMMA(fit_intercept=False, **params)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    R = np.sqrt(2.0) * theory.radius(X)
    assert model.n_updates_ <= theory.romma_aggressive(R, delta, params.get("delta", 1.0)) * SLACK
    assert model.n_errors_ <= theory.romma(R, delta) * SLACK
    assert length(model) <= 1.0 / best * SLACK
    if params and model.stop_reason_ == "clean pass":
        assert np.min(lead(model.coef_, X, y)) / length(model) >= theory.romma_margin(best, 0.5) / SLACK
