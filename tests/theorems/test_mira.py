"""MIRA: at most R^2/((1-p) gamma)^2 updates, and a margin above p gamma/2 after a clean pass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, orders, separable
from theorems.play import length, margins, worst_rows

from perceptrons import MIRA, theory

SLACK = 1.0 + 1e-9
AGGRESSION = pytest.mark.parametrize("p", [0.0, 0.5, 0.9])
#: p of the geometric test, as a part of the margin; a bound is claimed below 1/2
PARTS = pytest.mark.parametrize("part", [0.0, 0.25, 0.45])


@AGGRESSION
@given(separable(), st.data())
def test_random_sequences(p, data, draw):
    X, y, _, gamma = data
    model = MIRA(p=p, fit_intercept=False).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    R = theory.radius(X)
    assert model.n_updates_ <= theory.mira(R, gamma, p)
    assert theory.mira_left(model.n_errors_, model.n_updates_, p) <= theory.novikoff(R, gamma)
    if model.stop_reason_ == "clean pass":
        assert np.all(margins(model, X, y) > p)
        assert np.min(margins(model, X, y)) / length(model) > theory.mira_margin(gamma, p) / SLACK


@AGGRESSION
@given(separable())
def test_worst_sequences(p, data):
    """On the way: ||w - u|| never grows, for every u with y<u, x> >= 1; so ||w|| <= 2/gamma."""
    X, y, u, gamma = data
    model = begin(MIRA(p=p, fit_intercept=False), X)
    target = u / gamma
    distance = np.linalg.norm(target)
    for _ in worst_rows(model, X, y, threshold=p):
        assert model.n_updates_ <= theory.mira(theory.radius(X), gamma, p)
        before, distance = distance, np.linalg.norm(model.coef_[0] - target)
        assert distance <= before * SLACK
        assert length(model) <= 2.0 / gamma * SLACK
    reached = margins(model, X, y)
    if np.all(reached > p):  # the adversary has no row left: as good as a clean pass
        assert np.min(reached) / length(model) > theory.mira_margin(gamma, p) / SLACK


@given(separable(), st.data())
def test_the_final_w_is_a_comparator_as_well(data, draw):
    """The run-time check: U (1-p)^2 <= R^2 ||u||^2 for the last w, scaled to functional margin 1."""
    X, y, _, _ = data
    p = 0.5
    model = MIRA(p=p, fit_intercept=False).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    smallest = np.min(margins(model, X, y))
    if smallest > 0.0:
        u_norm = length(model) / smallest
        assert model.n_updates_ * (1.0 - p) ** 2 <= theory.pa_separable(theory.radius(X), u_norm) * SLACK


@PARTS
@given(separable(), st.data())
def test_the_geometric_test(part, data, draw):
    X, y, _, gamma = data
    p = part * gamma
    model = MIRA(p=p, margin="geometric", fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert model.n_stalled_ == 0
    assert model.n_updates_ <= theory.mira_geometric(theory.radius(X), gamma, p)
    if model.stop_reason_ == "clean pass":
        assert np.min(margins(model, X, y)) / length(model) > p / SLACK


@PARTS
@given(separable())
def test_the_geometric_test_against_an_adversary(part, data):
    X, y, _, gamma = data
    p = part * gamma
    model = begin(MIRA(p=p, margin="geometric", fit_intercept=False), X)
    for _ in worst_rows(model, X, y, threshold=lambda: p * length(model)):
        assert model.n_updates_ <= theory.mira_geometric(theory.radius(X), gamma, p)
    assert model.n_stalled_ == 0


def test_beyond_the_best_margin_there_is_no_clean_pass():
    X, y = np.array([[1.0, 0.5], [-1.0, 0.5]]), np.array([1, -1])  # best margin 1
    model = MIRA(p=1.5, margin="geometric", fit_intercept=False, max_iter=50, shuffle=False).fit(X, y)
    assert model.stop_reason_ == "max_iter" or model.n_stalled_ > 0
    assert model.margin_bounds_[0] <= 1.0 + 1e-9
    assert theory.mira_geometric(theory.radius(X), 1.0, 1.5) == np.inf
