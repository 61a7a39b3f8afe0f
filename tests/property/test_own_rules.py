"""A user's own rule equal to one of ours does what ours does, in every space that takes first-order rules."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import FIRST_ORDER, JOINT, close, frames, updates, weights
from strategies import multiclass_samples, samples

import perceptrons as pc
from perceptrons import OnlineClassifier, rules


@rules.rule(weighted=True)
def my_perceptron(m, q, state):
    if m > 0.0:
        return rules.NO_STEP
    return 1.0, state.c


@rules.rule
def my_pa(m, q, state):
    if 1.0 - m <= state.tol or q == 0.0:
        return rules.NO_STEP
    return 1.0, (1.0 - m) / q


@rules.rule
def my_margin_perceptron(m, q, state):
    if state.N > 0.0 and m / sqrt(state.N) >= 0.75 * 0.75:
        return rules.NO_STEP
    return 1.0, 1.0


@rules.rule(weighted=True)
def my_slowing_perceptron(m, q, state):
    if m > 0.0:
        return rules.NO_STEP
    return 1.0, state.c / (state.k + 1)


@rules.rule
def my_romma(m, q, state):
    if m > 0.0 or q == 0.0:
        return 1.0, 0.0
    if state.N == 0.0:
        return 0.0, 1.0 / q
    gap = q * state.N - m * m
    if gap <= state.tol * q * state.N:
        return 0.0, 0.0
    return (q * state.N - m) / gap, state.N * (1.0 - m) / gap


STORAGES = (np.asarray, sp.csr_array)


@given(st.one_of(samples(), multiclass_samples()), st.booleans(), st.sampled_from(["joint", "ovr"]))
def test_my_perceptron_is_the_perceptron_to_the_bit(sample, fit_intercept, multiclass):
    X, y, order = sample[0], sample[1], sample[-1]
    options = {"fit_intercept": fit_intercept, "multiclass": multiclass, "log_updates": True}
    for storage in STORAGES:
        mine = OnlineClassifier(rule=my_perceptron, **options).fit(storage(X), y, order=order)
        ours = pc.Perceptron(**options).fit(storage(X), y, order=order)
        assert updates(mine, len(order)) == updates(ours, len(order))
        assert np.array_equal(weights(mine), weights(ours))
        for count in ("n_updates_", "n_mistakes_", "n_errors_", "margin_bounds_", "history_"):
            assert getattr(mine, count) == getattr(ours, count)


RULES = {
    "perceptron, rate 1/updates": my_slowing_perceptron,
    "margin perceptron": my_margin_perceptron,
    "PA": my_pa,
    "PA, top": my_pa,
    "ROMMA": my_romma,
}


@pytest.mark.parametrize("learner", [one for one in FIRST_ORDER + JOINT if one.name in RULES], ids=str)
@given(st.data(), frames())
def test_my_rule_is_ours(learner, data, frame):
    """Both agree with the reference. To rounding only: a rule that is called is not fused with the loop."""
    sample = data.draw(multiclass_samples() if learner in JOINT else samples(), label="sample")
    X, y, order = sample[0], sample[1], sample[-1]
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    for storage in STORAGES:
        mine = OnlineClassifier(rule=RULES[learner.name], log_updates=True, **frame.of_estimator())
        mine.fit(storage(X), y, order=order)
        assert updates(mine, len(order)) == run.updates
        assert mine.n_errors_ == sum(run.errors)
        assert close(weights(mine), run.w, learner.tol)


@pytest.mark.parametrize("readout", ["average", "vote"])
@given(st.one_of(samples(), multiclass_samples()), st.sampled_from(["margin", "prediction"]))
def test_with_every_readout(readout, sample, mistake):
    X, y, order = sample[0], sample[1], sample[-1]
    mine = OnlineClassifier(rule=my_perceptron, readout=readout, mistake=mistake).fit(X, y, order=order)
    ours = pc.Perceptron(readout=readout, mistake=mistake).fit(X, y, order=order)
    assert np.array_equal(mine.decision_function(X), ours.decision_function(X))


@given(samples(), st.data())
def test_with_row_weights(sample, data):
    X, y, order = sample
    quarters = st.integers(1, 8).map(lambda k: k / 4.0)
    c = data.draw(st.lists(quarters, min_size=len(y), max_size=len(y)), label="weights")
    mine = OnlineClassifier(rule=my_perceptron).fit(X, y, sample_weight=c, order=order)
    ours = pc.Perceptron().fit(X, y, sample_weight=c, order=order)
    assert np.array_equal(weights(mine), weights(ours))


@given(samples())
def test_one_row_at_a_time(sample):
    X, y, order = sample
    mine, ours = OnlineClassifier(rule=my_perceptron), pc.Perceptron()
    for i in order[0]:
        mine.learn_one(X[i], y[i])
        ours.learn_one(X[i], y[i])
        assert mine.score_one(X[i]) == ours.score_one(X[i])
    assert mine.n_updates_ == ours.n_updates_
