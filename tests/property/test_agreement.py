"""Dense = CSR = rows one by one = `partial_fit` in any cut = the reference: same updates, same weights."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from exhaustive import draws_many
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from property.learners import (
    DISJUNCTIVE,
    FIRST_ORDER,
    FRACTIONAL,
    JOINT,
    POTENTIAL,
    SECOND_ORDER,
    at_zero,
    blackboard_weights,
    close,
    decision_values,
    frames,
    hangs_on_rounding,
    pick,
    updates,
    weights,
)
from strategies import UNIT, disjunctions, multiclass_samples, orders, samples
from uncompiled import uncompiled

from perceptrons import MIRA, reference, rules

#: Learners whose loops are compiled here: one of each family of loops, and a rule that rescales w.
#: The others run as plain Python; the golden cases compile the loop of every rule.
TWO_CLASSES = {"perceptron", "AROW, diagonal", "balanced Winnow"} | ({"ROMMA"} if draws_many() else set())
ZERO_ONE = {"Winnow2", "elimination, all"}
PROTOTYPES = {"perceptron, top", "PA-I, exact"} if draws_many() else {"perceptron, top"}


def has_learned(model: Any, run: reference.Run, tol: float) -> None:
    """The model has learned what the reference has."""
    assert model.n_updates_ == run.k
    assert model.n_mistakes_ == sum(run.mistakes)
    assert model.n_errors_ == sum(run.errors)
    assert close(weights(model), blackboard_weights(run), tol)


def all_ways_agree(learner, X, y, order, frame, run, data) -> None:
    """All ways to feed the learner agree with the run of the reference."""
    labels = np.unique(y)
    visits = list(chain.from_iterable(order))
    dense = learner.make(frame, log_updates=True).fit(X, y, order=order)
    has_learned(dense, run, learner.tol)
    assert updates(dense, len(order)) == run.updates
    assert [record["errors"] for record in dense.history_] == run.errors
    assert close(dense.decision_function(X), decision_values(run, X), learner.tol)
    sparse = learner.make(frame, log_updates=True).fit(sp.csr_array(X), y, order=order)
    has_learned(sparse, run, learner.tol)
    assert updates(sparse, len(order)) == run.updates
    assert close(sparse.decision_function(sp.csr_array(X)), decision_values(run, X), learner.tol)
    cuts = data.draw(st.sets(st.integers(1, len(visits) - 1)), label="cuts")
    pieces = [visits[a:b] for a, b in pairwise([0, *sorted(cuts), len(visits)])]
    parts = learner.make(frame, log_updates=True)
    for piece in pieces:
        parts.partial_fit(X[piece], y[piece], classes=labels)
    has_learned(parts, run, learner.tol)
    rows = [piece[i] for piece, part in zip(pieces, updates(parts, len(pieces))) for i in part]
    assert rows == list(chain.from_iterable(run.updates))
    single = learner.make(frame).partial_fit(X[visits[:1]], y[visits[:1]], classes=labels)
    for i in visits[1:]:
        single.learn_one(X[i], y[i])
    has_learned(single, run, learner.tol)
    assert close(single.score_one(X[0]), decision_values(run, X)[0], learner.tol)


def test_every_online_learner_of_the_rule_table_is_compared():
    compared = [
        rules.facts_of(learner.make()) for learner in FIRST_ORDER + SECOND_ORDER + POTENTIAL + DISJUNCTIVE
    ]
    own = {"UserRule", "NormMinimising"}  # in `test_own_rules`, and below
    table = [row for row in rules.TABLE.values() if row.family not in ("kernel", "batch")]
    assert {row.learner.class_name for row in compared} == {
        row.learner.class_name for row in table if row.name not in own
    }
    assert {row.name for row in compared if row.family == "first order"} == {
        row.name for row in table if row.family == "first order" and row.name not in own
    }


@pytest.mark.parametrize("learner", FIRST_ORDER + SECOND_ORDER + POTENTIAL, ids=str)
@given(samples(), frames(), st.data())
def test_two_classes(learner, sample, frame, data):
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    with uncompiled(learner.name not in TWO_CLASSES):
        all_ways_agree(learner, X, y, order, frame, run, data)


@pytest.mark.parametrize("learner", DISJUNCTIVE, ids=str)
@given(disjunctions(negations=True), st.data())
def test_disjunctions(learner, target, data):
    X, y, _ = target
    flips = data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)), label="noise")
    y = np.where(flips, -y, y)
    assume(len(set(y)) == 2)
    order = data.draw(orders(len(y)), label="order")
    run = learner.run(X, y, order)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    with uncompiled(learner.name not in ZERO_ONE):
        all_ways_agree(learner, X, y, order, None, run, data)


@pytest.mark.parametrize("learner", FRACTIONAL, ids=str)
@given(samples(), st.data())
def test_fractions(learner, sample, data):
    X, y, order = sample
    whole = hnp.arrays(np.int64, X.shape, elements=st.integers(0, UNIT))
    X = data.draw(whole, label="X") / UNIT
    run = learner.run(X, y, order)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    all_ways_agree(learner, X, y, order, None, run, data)


@pytest.mark.parametrize("learner", JOINT, ids=str)
@given(multiclass_samples(), frames(), st.data())
def test_many_classes(learner, sample, frame, data):
    X, y, _, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    with uncompiled(learner.name not in PROTOTYPES):
        all_ways_agree(learner, X, y, order, frame, run, data)


@pytest.mark.parametrize(
    "learner", pick("perceptron", "PA-I", "ROMMA", "ALMA", "AROW, diagonal", "balanced Winnow"), ids=str
)
@given(multiclass_samples(), frames())
def test_one_against_the_rest(learner, sample, frame):
    X, y, n_classes, order = sample
    against = [np.where(y == r, 1, -1) for r in range(n_classes)]
    runs = [learner.run(X, y_r, order, frame) for y_r in against]
    assume(not any(learner.hangs_on_rounding(run, X, y_r, order) for run, y_r in zip(runs, against)))
    choice = {"multiclass": "ovr"} if "multiclass" in learner.make().get_params() else {}

    def same_as_each(model):
        assert model.n_updates_ == sum(run.k for run in runs)
        assert model.n_mistakes_ == sum(sum(run.mistakes) for run in runs)
        assert model.n_errors_ == sum(sum(run.errors) for run in runs)
        assert close(weights(model), [run.w for run in runs], learner.tol)

    with uncompiled(learner.name not in TWO_CLASSES):
        dense = learner.make(frame, log_updates=True, **choice).fit(X, y, order=order)
        same_as_each(dense)
        log = dense.update_log_
        for r, run in enumerate(runs):
            assert log["row"][log["code"] == r].tolist() == list(chain.from_iterable(run.updates))
        same_as_each(learner.make(frame, **choice).fit(sp.csr_array(X), y, order=order))
        same_as_each(learner.make(frame, n_jobs=2, **choice).fit(X, y, order=order))
        visits = list(chain.from_iterable(order))
        single = learner.make(frame, **choice).partial_fit(X[visits[:1]], y[visits[:1]], classes=np.unique(y))
        for i in visits[1:]:
            single.learn_one(X[i], y[i])
        same_as_each(single)


@pytest.mark.parametrize(
    "learner",
    [one for one in FIRST_ORDER + SECOND_ORDER + POTENTIAL if "prediction" not in one.name],
    ids=str,
)
@given(samples(), frames())
def test_labels_may_appear_on_the_way(learner, sample, frame):
    """The first label is trained as +1; when the other comes, w is turned if need be."""
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    with uncompiled(learner.name not in TWO_CLASSES):
        model = learner.make(frame)
        for i in chain.from_iterable(order):
            model.learn_one(X[i], y[i])
        assert model.classes_.tolist() == [-1, 1]
        assert model.n_updates_ == run.k
        assert model.n_mistakes_ == sum(run.mistakes)
        assert close(weights(model), run.w, learner.tol)


@pytest.mark.uncompiled
@given(multiclass_samples(), st.integers(0, 2**32 - 1))
def test_the_norm_minimising_mira_of_2003(sample, seed):
    """It needs a start other than 0, which only `fit` can be given."""
    X, y, n_classes, order = sample
    W0 = np.random.default_rng(seed).integers(-16, 17, size=(n_classes, X.shape[1])) / 8.0
    run = reference.crammer_singer(X, y, order, W0=W0)
    assume(not hangs_on_rounding(run, X, y, order, at_zero, 1e-9, top=False))

    def make():
        return MIRA(variant="crammer_singer", fit_intercept=False, log_updates=True)

    for A in (X, sp.csr_array(X)):
        model = make().fit(A, y, coef_init=W0, order=order)
        has_learned(model, run, 1e-9)
        assert updates(model, len(order)) == run.updates
    parts = make().fit(X, y, coef_init=W0, order=order[:1])
    for epoch in order[1:]:
        parts.partial_fit(X[epoch], y[epoch])
    has_learned(parts, run, 1e-9)
    single = make().fit(X, y, coef_init=W0, order=[])
    for i in chain.from_iterable(order):
        single.learn_one(X[i], y[i])
    has_learned(single, run, 1e-9)
