"""Weights of rows: 0 is as good as absent; the perceptron multiplies its step, PA its C; others refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.learners import (
    DISJUNCTIVE,
    FIRST_ORDER,
    JOINT,
    POTENTIAL,
    SECOND_ORDER,
    close,
    frames,
    pick,
    updates,
    weights,
)
from strategies import disjunctions, multiclass_samples, samples
from uncompiled import uncompiled

from perceptrons import MarginPerceptron, PassiveAggressive, Perceptron

dyadic_weights = st.integers(1, 16).map(lambda k: k / 8.0)

#: Learners whose loops are compiled here; the others run as plain Python.
COMPILED = {
    "perceptron",
    "AROW, diagonal",
    "balanced Winnow",
    "Winnow2",
    "elimination, all",
    "perceptron, top",
}


def presence(data, y):
    """Zeros and ones that leave some row of every label."""
    c = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(y), max_size=len(y)), label="weights"))
    c[np.unique(y, return_index=True)[1]] = 1
    return c


def zero_is_absent(make, X, y, order, c):
    weighted = make(log_updates=True).fit(X, y, sample_weight=c, order=order)
    without = [[i for i in epoch if c[i]] for epoch in order]
    plain = make(log_updates=True).fit(X, y, order=without)
    assert updates(weighted, len(order)) == updates(plain, len(order))
    assert np.array_equal(weights(weighted), weights(plain))
    assert weighted.n_errors_ == plain.n_errors_
    assert [record["examples"] for record in weighted.history_] == [len(epoch) for epoch in without]
    streamed = make().partial_fit(X, y, sample_weight=c, classes=np.unique(y))
    kept = make().partial_fit(X[c > 0], y[c > 0], classes=np.unique(y))
    assert np.array_equal(weights(streamed), weights(kept))


@pytest.mark.parametrize("learner", FIRST_ORDER + SECOND_ORDER + POTENTIAL, ids=str)
@given(samples(), frames(), st.data())
def test_a_row_of_weight_zero_is_absent(learner, sample, frame, data):
    X, y, order = sample
    with uncompiled(learner.name not in COMPILED):
        zero_is_absent(lambda **kw: learner.make(frame, **kw), X, y, order, presence(data, y))


@pytest.mark.parametrize("learner", DISJUNCTIVE, ids=str)
@given(disjunctions(), st.data())
def test_for_disjunctions_too(learner, target, data):
    X, y, _ = target
    with uncompiled(learner.name not in COMPILED):
        zero_is_absent(learner.make, X, y, [range(len(y))] * 2, presence(data, y))


@pytest.mark.parametrize("learner", [JOINT[0], JOINT[1], JOINT[-1]], ids=str)
@given(multiclass_samples(), frames(), st.data())
def test_for_many_classes_too(learner, sample, frame, data):
    X, y, _, order = sample
    with uncompiled(learner.name not in COMPILED):
        zero_is_absent(lambda **kw: learner.make(frame, **kw), X, y, order, presence(data, y))


@given(samples(), st.data())
def test_the_perceptron_multiplies_its_step(sample, data):
    X, y, order = sample
    c = np.array(data.draw(st.lists(dyadic_weights, min_size=len(y), max_size=len(y)), label="weights"))
    model = Perceptron(fit_intercept=False, log_updates=True).fit(X, y, sample_weight=c, order=order)
    w = np.zeros(X.shape[1])
    rows = []
    for i in (i for epoch in order for i in epoch):
        if y[i] * (w @ X[i]) <= 0.0:
            w = w + c[i] * y[i] * X[i]
            rows.append(i)
    assert model.update_log_["row"].tolist() == rows
    assert np.array_equal(weights(model), w)


@pytest.mark.uncompiled
@pytest.mark.parametrize("learning_rate", ["updates", "examples"])
@given(samples(), st.data())
def test_and_so_do_variable_rates(learning_rate, sample, data):
    X, y, order = sample
    c = np.array(data.draw(st.lists(dyadic_weights, min_size=len(y), max_size=len(y)), label="weights"))
    model = Perceptron(learning_rate=learning_rate, log_updates=True).fit(X, y, sample_weight=c, order=order)
    log = model.update_log_
    visits = [(e, i) for e, epoch in enumerate(order) for i in epoch]
    examples = [1 + visits.index((e, i)) for e, i in zip(log["epoch"], log["row"])]
    number = {"updates": np.arange(len(log)) + 1, "examples": np.array(examples, dtype=int)}
    assert close(log["step"], c[log["row"]] / number[learning_rate])


@pytest.mark.uncompiled
@pytest.mark.parametrize("make", [Perceptron, lambda **kw: MarginPerceptron(gamma=0.5, **kw)])
@given(samples(), st.integers(-3, 3).map(lambda e: 2.0**e))
def test_equal_weights_only_scale_w(make, sample, c):
    X, y, order = sample
    plain = make(log_updates=True).fit(X, y, order=order)
    model = make(log_updates=True).fit(X, y, sample_weight=np.full(len(y), c), order=order)
    assert updates(model, len(order)) == updates(plain, len(order))
    assert np.array_equal(weights(model), c * weights(plain))


@pytest.mark.uncompiled
@pytest.mark.parametrize("solver", ["top", "exact"])
@pytest.mark.parametrize("variant", ["I", "II"])
@given(st.one_of(samples(), multiclass_samples()), st.integers(-3, 3).map(lambda e: 2.0**e))
def test_pa_multiplies_c(variant, solver, sample, c):
    X, y, order = sample[0], sample[1], sample[-1]
    dear = PassiveAggressive(variant=variant, solver=solver, C=0.25 * c).fit(X, y, order=order)
    weighted = PassiveAggressive(variant=variant, solver=solver, C=0.25)
    weighted.fit(X, y, sample_weight=np.full(len(y), c), order=order)
    assert np.array_equal(weights(weighted), weights(dear))


@given(samples(), dyadic_weights, dyadic_weights)
def test_class_weights_are_row_weights(sample, minus, plus):
    X, y, order = sample
    by_class = Perceptron(class_weight={-1: minus, 1: plus}).fit(X, y, order=order)
    by_row = Perceptron().fit(X, y, sample_weight=np.where(y > 0, plus, minus), order=order)
    assert np.array_equal(weights(by_class), weights(by_row))


@pytest.mark.parametrize(
    "learner", pick("MIRA", "PA", "ROMMA", "ALMA", "AROW, full", "balanced Winnow"), ids=str
)
def test_rules_without_a_theory_of_weights_refuse_them(learner):
    X, y = np.eye(2), np.array([1, -1])
    with pytest.raises(ValueError, match="0 and 1 only"):
        learner.make().fit(X, y, sample_weight=[1.0, 2.0])
