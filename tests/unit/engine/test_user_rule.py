"""A user's own rule: the same updates as ours, in every space, and errors that name it."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from comparing import same_state
from sklearn.base import clone
from zoo import X, attributes, y, y3

from perceptrons import MIRA, OnlineClassifier, PassiveAggressive, Perceptron, rules
from perceptrons.rules import NO_STEP, RuleError

C = 0.5


@rules.rule(weighted=True)
def capped(m, q, state):
    """PA-I again, by the user."""
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, min(C * state.c, loss / q)


@rules.rule
def whole(m, q, state):
    if m > 0:
        return 1, 0  # integers will do
    return 1, 1


@rules.rule
def shrinking(m, q, state):
    return 0.9, 1.0 / (state.t + state.k + state.N)


def learner(rule, **params):
    return OnlineClassifier(rule=rule, **({"shuffle": False} | params))


@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(np.asarray, id="dense"),
        pytest.param(sp.csr_array, id="csr", marks=pytest.mark.compiled_later),
    ],
)
def test_the_same_as_ours(labels, multiclass, kind):
    rows = kind(X)
    mine = learner(capped, multiclass=multiclass, log_updates=True).fit(rows, labels)
    ours = PassiveAggressive(C=C, shuffle=False, multiclass=multiclass, log_updates=True).fit(rows, labels)
    np.testing.assert_allclose(mine.coef_, ours.coef_, rtol=1e-14)
    np.testing.assert_array_equal(mine.update_log_["row"], ours.update_log_["row"])
    mine = learner(whole, multiclass=multiclass).fit(rows, labels)
    ours = Perceptron(shuffle=False, multiclass=multiclass).fit(rows, labels)
    np.testing.assert_array_equal(mine.coef_, ours.coef_)
    assert mine.n_mistakes_ == ours.n_mistakes_


def test_row_weights_reach_it():
    weights = np.arange(8.0)
    mine = learner(capped).fit(X, y, sample_weight=weights)
    ours = PassiveAggressive(C=C, shuffle=False).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(mine.coef_, ours.coef_, rtol=1e-14)
    with pytest.raises(ValueError, match="no theory of row weights"):
        learner(whole).fit(X, y, sample_weight=weights)


@pytest.mark.compiled_later
@pytest.mark.parametrize("readout", ["last", pytest.param("average", marks=pytest.mark.exhaustive), "vote"])
@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
def test_one_row_at_a_time(readout, labels):
    """The state (N, k, t) goes on from row to row."""
    one, block = learner(shrinking, readout=readout), learner(shrinking, readout=readout)
    block.partial_fit(X[:0:-1], labels[:0:-1], classes=np.unique(labels))
    one.partial_fit(X[:1], labels[:1], sample_weight=[0.0], classes=np.unique(labels))
    for x, label in zip(X[:0:-1], labels[:0:-1]):
        one.learn_one(x, label)
    np.testing.assert_allclose(one.coef_, block.coef_, rtol=1e-12)
    np.testing.assert_allclose(
        [one.score_one(np.ascontiguousarray(x)) for x in X], block.decision_function(X), rtol=1e-12
    )


def test_copies_and_pickles():
    model = learner(capped).fit(X, y)
    assert clone(model).rule is capped
    assert copy.deepcopy(model).rule is capped
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_a_function_that_numba_has_compiled_already():
    rule = rules.rule(numba.njit(lambda m, q, state: (1.0, 1.0) if m <= 0 else (1.0, 0.0)))
    np.testing.assert_array_equal(learner(rule).fit(X, y).coef_, Perceptron(shuffle=False).fit(X, y).coef_)


# ------------------------------------------------------------------------------------------ trouble


def uncompilable(m, q, state):
    return undefined_name(m), 0.0  # noqa: F821


def too_many(m, q, state):
    return 1.0, 0.0, 0.0


def nothing(m, q, state):
    pass


def words(m, q, state):
    return "keep", "tau"


def of_one_argument(m):
    return 1.0, 0.0


def of_strange_state(m, q, state):
    return 1.0, state.weight


@pytest.mark.parametrize(
    "function",
    [
        uncompilable,
        too_many,
        nothing,
        words,
        of_one_argument,
        of_strange_state,
        functools.partial(too_many, 1.0),
        max,
    ],
    ids=lambda f: getattr(f, "__name__", "partial"),
)
def test_a_rule_that_does_not_compile(function):
    rule = rules.rule(function)
    model = learner(whole).fit(X, y)
    before = attributes(model)
    model.set_params(rule=rule)
    with pytest.raises(
        RuleError, match=f"rule '{rule.__name__}' does not compile: .*numba's subset"
    ) as caught:
        model.fit(X, y)
    assert caught.value.__cause__ is not None
    same_state(before, attributes(model))
    fresh = learner(rule)
    with pytest.raises(RuleError, match="does not compile"):
        fresh.partial_fit(X, y)
    with pytest.raises(RuleError, match="does not compile"):
        fresh.learn_one(X[0], 1)
    assert not attributes(fresh)


@rules.rule
def raises_later(m, q, state):
    if state.k == 2:
        raise ZeroDivisionError("no third time")
    return (1.0, 1.0) if m <= 0 else (1.0, 0.0)


@rules.rule
def nan_later(m, q, state):
    if state.k == 2:
        return 1.0, np.nan
    return (1.0, 1.0) if m <= 0 else (1.0, 0.0)


@rules.rule
def infinite_keep(m, q, state):
    if state.k == 2:
        return np.inf, 1.0
    return (1.0, 1.0) if m <= 0 else (1.0, 0.0)


@rules.rule
def zero_divided(m, q, state):
    return 1.0, 1.0 / (2 - state.k) if m <= 0 else 0.0


ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-2.0, -1.0]])
LABELS = np.array([1, 0, 0, 1, 2])  # the first two rows are mistakes from w = 0


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (raises_later, "raised ZeroDivisionError: no third time"),
        (nan_later, r"returned \(1.0, nan\), not a finite \(keep, tau\)"),
        (infinite_keep, r"returned \(inf, 1.0\), not a finite"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("labels", [np.minimum(LABELS, 1), LABELS], ids=["binary", "three"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_a_rule_that_fails_on_the_way(rule, what, labels, multiclass):
    """The error names the rule, the row and what it saw; the model keeps its last finite weights."""
    params = {"fit_intercept": False, "multiclass": multiclass, "readout": "last"}
    model = learner(rule, **params)
    where = f"rule '{rule.__name__}' at row .* \\(m=.*, q=.*, State\\(.*k=2"
    with pytest.raises(RuleError, match=where + ".*" + what):
        model.fit(ROWS, labels)
    assert model.stop_reason_ == "failed"
    assert np.isfinite(model.coef_).all()
    if len(np.unique(labels)) == 2 or multiclass == "joint":
        assert model.n_updates_ == 2
        kept = learner(whole, **params).fit(ROWS, labels, order=[[0, 1]])
        np.testing.assert_array_equal(model.coef_, kept.coef_)
    with pytest.raises(RuleError, match=what):
        model.partial_fit(ROWS, labels)
    assert np.isfinite(model.coef_).all()


@pytest.mark.compiled_later
def test_a_rule_that_fails_in_learn_one():
    model = learner(nan_later, fit_intercept=False)
    labels = np.minimum(LABELS, 1)
    failed = 0
    for _ in range(3):
        for x, label in zip(ROWS, labels):
            before = model.coef_.copy() if model.__sklearn_is_fitted__() else None
            try:
                model.learn_one(x, label)
            except RuleError as error:
                assert "rule 'nan_later' at row 0" in str(error)
                np.testing.assert_array_equal(model.coef_, before)
                failed += 1
    assert failed > 2
    assert model.n_updates_ == 2


def test_a_huge_step_is_an_overflow_and_not_the_rules_fault():
    @rules.rule
    def huge(m, q, state):
        return 1.0, 1e200

    model = learner(huge)
    with pytest.raises(ArithmeticError, match="row 0: the update would overflow the weights"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, 0.0)


def test_what_is_no_rule_at_all():
    for thing in (lambda m, q, state: (1.0, 0.0), MIRA(), rules.AROW(), rules.PA1):
        with pytest.raises(RuleError, match=r"rule must be a first-order record .* under @rules.rule; got"):
            learner(thing).fit(X, y)
    with pytest.raises(ValueError, match="rule"):
        learner("no such rule").fit(X, y)


PLAIN = """
import numpy as np, pytest
from perceptrons import OnlineClassifier, rules
from perceptrons.rules import RuleError

X, y = np.eye(4), [0, 1, 0, 1]

@rules.rule
def three(m, q, state):
    return 1.0, 0.0, 0.0

@rules.rule
def words(m, q, state):
    return "keep", "tau"

@rules.rule
def broken(m, q, state):
    return 1.0, 1 / 0

@rules.rule
def half(m, q, state):
    return (1.0, 0.5) if m <= 0 else (1.0, 0.0)

for rule, what in ((three, "returned"), (words, "returned"), (broken, "raised ZeroDivisionError")):
    with pytest.raises(RuleError, match=f"rule '{rule.__name__}'.*{what}"):
        OnlineClassifier(rule=rule).fit(X, y)
print(OnlineClassifier(rule=half, shuffle=False, fit_intercept=False).fit(X, y).coef_.tolist())
"""


def test_without_a_compiler():
    """NUMBA_DISABLE_JIT=1: the same updates, and the same errors when the rule is run, not compiled."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[[-0.5, 0.5, -0.5, 0.5]]\n"
