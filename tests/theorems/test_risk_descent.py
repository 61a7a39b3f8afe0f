"""Descent on the perceptron's risk halts on separable data, whatever the step size and the pick."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import samples, separable
from theorems.play import margins

from perceptrons import RiskDescent, theory

PICKS = pytest.mark.parametrize("pick", ["first", "worst", "random"])
step_sizes = st.sampled_from([0.0625, 0.5, 1.0, 8.0])


def risk(w, X, y, corner=0.0):
    return float(np.maximum(0.0, corner - y * (X @ w)).sum())


@given(separable(), step_sizes)
def test_full_batches(data, step):
    """sum |V| <= m R^2/gamma^2 + ||w_0||/(eps gamma), so the steps are no more."""
    X, y, _, gamma = data
    model = RiskDescent(step=step, fit_intercept=False, max_steps=200).fit(X, y)
    w0 = float(np.linalg.norm(X[0]))
    assert model.n_updates_ == sum(len(V) for V in model.steps_)
    assert model.n_updates_ <= theory.risk_descent_steps(len(y), theory.radius(X), gamma, w0, step)
    assert model.stop_reason_ == "no row in V" or len(model.steps_) == 200


@PICKS
@given(separable(), step_sizes)
def test_one_row_at_a_time(pick, data, step):
    X, y, _, gamma = data
    model = RiskDescent(pick=pick, step=step, fit_intercept=False, max_steps=200, random_state=0).fit(X, y)
    R, w0 = theory.radius(X), float(np.linalg.norm(X[0]))
    steps = len(model.steps_)
    assert all(len(rows) == 1 for rows in model.steps_)
    assert steps <= theory.single_point_steps(R, gamma, w0, step)
    if step == 1.0:
        assert steps + 1 <= theory.novikoff(R, gamma)  # the start was an update too
    assert model.stop_reason_ == "no row in V" or steps == 200


@pytest.mark.parametrize("batch_size", [1, 3])
@given(separable())
def test_small_batches(batch_size, data):
    """The argument of the full batch, for groups of b rows: sum |V| <= b R^2/gamma^2 + ||w_0||/gamma."""
    X, y, _, gamma = data
    model = RiskDescent(batch_size=batch_size, fit_intercept=False, max_steps=200).fit(X, y)
    w0 = float(np.linalg.norm(X[0]))
    assert all(len(rows) <= batch_size for rows in model.steps_)
    assert model.n_updates_ <= theory.risk_descent_steps(batch_size, theory.radius(X), gamma, w0)


@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
@given(st.one_of(samples(), separable()))
def test_with_line_search_the_risk_only_falls(loss, sample):
    X, y = sample[:2]
    if not X[0].any():
        X = np.vstack([np.ones(X.shape[1]), X])
        y = np.append(1, y)
    model = RiskDescent(loss=loss, step="line-search", fit_intercept=False, max_steps=60).fit(X, y)
    curve = model.risk_curve_
    assert all(later < earlier for earlier, later in pairwise(curve))
    assert np.isclose(curve[-1], risk(model.coef_[0], X, y, {"perceptron": 0.0, "hinge": 1.0}[loss]))
    assert np.linalg.norm(model.coef_) >= 0.5 * np.linalg.norm(X[0]) * (1.0 - 1e-12)  # never to w = 0


@given(separable(), step_sizes)
def test_where_it_halts_the_risk_is_zero_and_ties_are_told(data, step):
    X, y, _, _ = data
    model = RiskDescent(step=step, fit_intercept=False, max_steps=200).fit(X, y)
    if model.stop_reason_ == "no row in V":
        assert model.risk_curve_[-1] == 0.0
        assert np.all(margins(model, X, y) >= 0.0)
        assert model.on_boundary_ == int(np.sum(margins(model, X, y) == 0.0))
        assert (model.margin_bounds_[0] > 0.0) == (model.on_boundary_ == 0)


@given(samples())
def test_the_risk_that_is_recorded_is_the_risk(sample):
    X, y, _ = sample
    if not X[0].any():
        return  # w_0 = 0, where the risk is 0 for nothing
    model = RiskDescent(fit_intercept=False, max_steps=20).fit(X, y)
    w = y[0] * X[0]
    for V, before in zip(model.steps_, model.risk_curve_):
        assert np.isclose(risk(w, X, y), before)
        assert np.array_equal(V, np.flatnonzero(y * (X @ w) < 0.0))
        w = w + (y[V, None] * X[V]).sum(axis=0)
    assert np.array_equal(model.coef_[0], w)
