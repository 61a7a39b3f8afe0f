"""gamma_low <= gamma* <= gamma_up, for every learner that claims a bracket, at every moment.

gamma* is computed by other means: a least-squares or a linear programme over the rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from exhaustive import draws_many
from hypothesis import given
from hypothesis import strategies as st
from property.learners import FIRST_ORDER, JOINT, POTENTIAL, Frame, frames
from strategies import (
    begin,
    best_l1_margin,
    best_margin,
    class_pairs,
    for_each_learner,
    multiclass_samples,
    samples,
    separable,
    separable_multiclass,
)
from uncompiled import compiled

from perceptrons import BalancedWinnow, Perceptron, PNormPerceptron, RiskDescent, reference, theory

pytestmark = pytest.mark.uncompiled
#: A rule that rescales w has a loop of its own for single rows.
COMPILED = ("perceptron", "ROMMA") if draws_many() else ("perceptron",)

SLACK = 1e-7  # of gamma* by another solver


def holds(bounds, best):
    """The bracket contains the best margin; where nothing separates, it says nothing else."""
    low, up = bounds
    slack = SLACK * (1.0 + best)
    if low is not None:
        assert low <= up + slack
        assert low <= best + slack if best > 0.0 else low <= 0.0
    assert best <= up + slack


def brackets_on_the_way(make, X, y, order, best):
    """After every row, and after a fit of all epochs."""
    model = begin(make(), X, np.unique(y))
    for i in order[0]:
        model.learn_one(X[i], y[i])
        low, up = model.margin_bounds_
        assert low is None
        holds((low, up), best)
    holds(make().fit(X, y, order=order).margin_bounds_, best)


@pytest.mark.parametrize("learner", compiled(FIRST_ORDER, *COMPILED), ids=str)
@for_each_learner
@given(samples(), frames())
def test_any_two_classes(learner, sample, frame):
    X, y, order = sample
    best = best_margin(reference.rows(X, *frame), y)
    brackets_on_the_way(lambda: learner.make(frame), X, y, order, best)


@pytest.mark.parametrize("learner", compiled(FIRST_ORDER, *COMPILED), ids=str)
@for_each_learner
@given(separable(), st.integers(1, 4))
def test_two_separable_classes(learner, data, epochs):
    X, y, _, gamma = data
    best = best_margin(X, y)
    assert best >= gamma * (1.0 - 1e-9)
    order = [range(len(y))] * epochs
    brackets_on_the_way(lambda: learner.make(Frame()), X, y, order, best)


@pytest.mark.parametrize("learner", compiled(JOINT, "perceptron, top", "PA-I, exact"), ids=str)
@for_each_learner
@given(st.one_of(multiclass_samples(), separable_multiclass()))
def test_many_classes(learner, sample):
    X, y = sample[:2]
    best = best_margin(class_pairs(X, y, len(set(y))), np.ones(len(y) * (len(set(y)) - 1)))
    brackets_on_the_way(lambda: learner.make(Frame()), X, y, [range(len(y))] * 2, best)


@given(multiclass_samples())
def test_one_pair_for_each_class_against_the_rest(sample):
    X, y, n_classes, order = sample
    model = Perceptron(multiclass="ovr", fit_intercept=False).fit(X, y, order=order)
    for r in range(n_classes):
        holds(model.margin_bounds_[r], best_margin(X, np.where(y == r, 1, -1)))


@given(st.one_of(samples(), separable()), st.sampled_from([0.05, 0.25, 1.0]))
def test_balanced_winnow_brackets_the_l1_margin(sample, eta):
    X, y = sample[:2]
    best = max(0.0, best_l1_margin(X, y))
    make = lambda: BalancedWinnow(eta=eta, fit_intercept=False)  # noqa: E731 - a learner made anew
    brackets_on_the_way(make, X, y, [range(len(y))] * 3, best)


@pytest.mark.parametrize("p", [2.0, 3.0, 8.0])
@given(separable(), st.integers(1, 4))
def test_pnorm_brackets_the_margin_in_the_dual_norm(p, data, epochs):
    X, y, u, _ = data
    model = PNormPerceptron(p=p, fit_intercept=False).fit(X, y, order=[range(len(y))] * epochs)
    low, up = model.margin_bounds_
    known = np.min(y * (X @ u)) / np.linalg.norm(u, p / (p - 1.0))  # of u, scaled to unit q-norm
    assert low <= up * (1.0 + 1e-9)
    assert known <= up * (1.0 + 1e-9)
    w = model.coef_[0]
    margin = np.min(y * (X @ w)) / np.linalg.norm(w, p / (p - 1.0))
    assert np.isclose(low, margin) if margin > 1e-9 else low <= margin or low == -np.inf


@pytest.mark.parametrize("params", [{}, {"pick": "worst"}, {"batch_size": 2}, {"step": 0.25}])
@given(separable())
def test_descent_on_the_risk(params, data):
    X, y, _, _ = data
    holds(
        RiskDescent(fit_intercept=False, max_steps=30, **params).fit(X, y).margin_bounds_, best_margin(X, y)
    )


@given(separable())
def test_the_lower_end_is_the_margin_of_the_last_weights(data):
    X, y, _, _ = data
    model = Perceptron(max_iter=3, random_state=0, fit_intercept=False).fit(X, y)
    margin, low = theory.gamma_low(model.coef_, X, y), model.margin_bounds_[0]
    assert np.isclose(low, margin) if margin > 0.0 else low == -np.inf  # w does not separate
    assert np.isclose(model.margin_bounds_[1], theory.gamma_up(np.linalg.norm(model.coef_), model.n_updates_))


@pytest.mark.parametrize("learner", POTENTIAL, ids=str)
def test_nothing_is_claimed_before_the_first_update(learner):
    model = learner.make(Frame(None)).partial_fit([[0.0, 0.0]], [1], sample_weight=[0.0], classes=[-1, 1])
    assert model.margin_bounds_ == (None, np.inf)
