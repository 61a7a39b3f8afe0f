"""A user's own rule equal to one of ours does what ours does, in every space that takes first-order rules."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from property.learners import frames, updates, weights
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
    if state.N > 0.0 and m / sqrt(state.N) >= 0.375:
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


PAIRS = pytest.mark.parametrize(
    ("mine", "ours"),
    [
        (my_perceptron, pc.Perceptron()),
        (my_slowing_perceptron, pc.Perceptron(learning_rate="updates")),
        (my_margin_perceptron, pc.MarginPerceptron(gamma=0.75, eps=0.5)),
        (my_pa, pc.PassiveAggressive(variant="hard")),
        (my_romma, pc.ROMMA()),
    ],
    ids=["perceptron", "rate 1/updates", "margin perceptron", "PA", "ROMMA"],
)


def same(mine, ours, order):
    assert updates(mine, len(order)) == updates(ours, len(order))
    assert np.array_equal(weights(mine), weights(ours))
    assert (mine.n_updates_, mine.n_mistakes_, mine.n_errors_) == (
        ours.n_updates_,
        ours.n_mistakes_,
        ours.n_errors_,
    )
    assert mine.margin_bounds_ == ours.margin_bounds_


@PAIRS
@given(st.one_of(samples(), multiclass_samples()), frames(), st.sampled_from(["joint", "ovr"]))
def test_my_rule_is_ours(mine, ours, sample, frame, multiclass):
    X, y, order = sample[0], sample[1], sample[-1]
    options = {**frame.of_estimator(), "multiclass": multiclass, "log_updates": True}
    model = OnlineClassifier(rule=mine, **options)
    ours = type(ours)(**(ours.get_params() | options))
    same(model.fit(X, y, order=order), ours.fit(X, y, order=order), order)
    same(model.fit(sp.csr_array(X), y, order=order), ours.fit(sp.csr_array(X), y, order=order), order)


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
