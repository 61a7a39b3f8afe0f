"""Pickle, load, continue = no interruption, in every space and for every readout."""

from __future__ import annotations

import copy
import pickle
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.learners import FIRST_ORDER, JOINT, POTENTIAL, SECOND_ORDER, frames, half_steps, pick
from strategies import disjunctions, for_each_learner, multiclass_samples, samples
from uncompiled import uncompiled

from perceptrons import OnlineClassifier, Perceptron

READOUTS = ["last", "average", "vote", "random"]
JOINT_BY_NAME = {learner.name: learner for learner in JOINT}
#: Learners whose loops are compiled here; the others run as plain Python.
COMPILED = {"perceptron", "AROW, diagonal", "balanced Winnow", "perceptron, top", "elimination, all"}


def through_a_pickle(model):
    return pickle.loads(pickle.dumps(model))


def goes_on_as_if_nothing_happened(model, X, y, visits, cut, interrupt=through_a_pickle):
    """Two copies of a learner, one of them interrupted after ``cut`` rows, end up the same to the bit."""
    labels = np.unique(y)
    other = copy.deepcopy(model)
    for t, i in enumerate(visits):
        if t == cut and t > 0:
            other = interrupt(other)
        for learner in (model, other):
            if t == 0:
                learner.partial_fit(X[[i]], y[[i]], classes=labels)
            else:
                learner.learn_one(X[i], y[i])
    assert np.array_equal(model.decision_function(X), other.decision_function(X))
    assert np.array_equal(model.coef_, other.coef_)
    assert np.array_equal(model.intercept_, other.intercept_)
    assert (model.n_updates_, model.n_mistakes_, model.n_errors_) == (
        other.n_updates_,
        other.n_mistakes_,
        other.n_errors_,
    )
    assert model.margin_bounds_ == other.margin_bounds_
    assert model.radius_ == other.radius_
    if model.log_updates:
        assert np.array_equal(model.update_log_, other.update_log_)


cuts = st.integers(0, 30)


@pytest.mark.parametrize("learner", FIRST_ORDER + SECOND_ORDER + POTENTIAL, ids=str)
@for_each_learner
@given(samples(), frames(), cuts)
def test_two_classes(learner, sample, frame, cut):
    X, y, order = sample
    visits = list(chain.from_iterable(order))
    with uncompiled(learner.name not in COMPILED):
        goes_on_as_if_nothing_happened(learner.make(frame, log_updates=True), X, y, visits, cut % len(visits))


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("learner", pick("perceptron", "ROMMA"), ids=str)
@for_each_learner
@given(samples(), frames(), cuts)
def test_readouts(learner, readout, sample, frame, cut):
    X, y, order = sample
    visits = list(chain.from_iterable(order))
    with uncompiled(learner.name not in COMPILED):
        model = learner.make(frame, readout=readout, random_state=0)
        goes_on_as_if_nothing_happened(model, X, y, visits, cut % len(visits))


@pytest.mark.parametrize("name", ["perceptron, top", "PA-I, exact", "ROMMA"])
@given(multiclass_samples(), st.sampled_from(READOUTS[:1] + READOUTS[2:]), cuts)
def test_many_classes(name, sample, readout, cut):
    X, y, _, order = sample
    visits = list(chain.from_iterable(order))
    with uncompiled(name not in COMPILED):
        model = JOINT_BY_NAME[name].make(readout=readout, random_state=0)
        goes_on_as_if_nothing_happened(model, X, y, visits, cut % len(visits))


@pytest.mark.parametrize("learner", pick("perceptron", "AROW, diagonal"), ids=str)
@given(multiclass_samples(), cuts)
def test_one_against_the_rest(learner, sample, cut):
    X, y, _, order = sample
    visits = list(chain.from_iterable(order))
    choice = {"multiclass": "ovr"} if learner.name == "perceptron" else {}
    goes_on_as_if_nothing_happened(learner.make(**choice), X, y, visits, cut % len(visits))


@pytest.mark.parametrize("learner", pick("Winnow1", "Winnow2", "elimination, all"), ids=str)
@given(disjunctions(negations=True), cuts)
def test_disjunctions(learner, target, cut):
    X, y, _ = target
    with uncompiled(learner.name not in COMPILED):
        goes_on_as_if_nothing_happened(learner.make(), X, y, list(range(len(y))) * 2, cut % (2 * len(y)))


@pytest.mark.uncompiled
@given(samples(), cuts)
def test_a_rule_of_ones_own(sample, cut):
    X, y, order = sample
    visits = list(chain.from_iterable(order))
    goes_on_as_if_nothing_happened(
        OnlineClassifier(rule=half_steps), X, y, visits, cut % len(visits), copy.deepcopy
    )


@given(samples(), frames(), st.integers(0, 2))
def test_an_interrupted_fit_goes_on_by_a_warm_start(sample, frame, n_first):
    X, y, order = sample
    whole = Perceptron(**frame.of_estimator()).fit(X, y, order=order)
    part = Perceptron(warm_start=True, **frame.of_estimator()).fit(X, y, order=order[:n_first])
    rest = through_a_pickle(part).fit(X, y, order=order[n_first:])
    assert np.array_equal(whole.coef_, rest.coef_)
    assert np.array_equal(whole.intercept_, rest.intercept_)
    assert whole.n_updates_ == rest.n_updates_
