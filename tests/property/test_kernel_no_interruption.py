"""Kernel learners: dense = CSR = in pieces = row by row = pickled in the middle; classes come on the way."""

from __future__ import annotations

import copy
import pickle
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from property.learners import close, half_steps
from strategies import multiclass_samples, samples
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons import kernels, rules

READOUTS = ["last", "average", "vote", "random"]
#: Readouts and models whose loops are compiled here; the others run as plain Python.
COMPILED = {"last", "average", "perceptron, last", "own rule", "budget, projectron"}
any_sample = st.one_of(samples(), multiclass_samples())


def state(model: Any, X: Any) -> dict[str, Any]:
    """What a model has learned."""
    learners = model._space.learners
    uppers = [
        getattr(learner, "guess", learner.norm)() for learner in learners
    ]  # a budget has no sum of steps
    return {
        "scores": model.decision_function(X),
        "dual": model.dual_coef_,
        "support": model.support_,
        "counts": (model.n_updates_, model.n_mistakes_, model.n_errors_, model.n_support_),
        "radius": model.radius_,
        "upper": uppers,
    }


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    """To the bit, but for scores: a mean over the examples is no dyadic number, and sums have an order."""
    for name in a:
        if name in ("scores", "dual"):
            assert close(a[name], b[name], 1e-12), name
        else:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


# -------------------------------------------------------------------------------------- one pass


@pytest.mark.parametrize("readout", READOUTS)
@given(any_sample, st.sampled_from(["joint", "ovr"]), st.booleans(), st.data())
def test_all_ways_to_feed_the_perceptron_are_one(readout, sample, multiclass, fit_intercept, data):
    """(1 + <x, z>)^2 of dyadic rows is exact, so all make the same updates."""
    with uncompiled(readout not in COMPILED):
        X, y, order = sample[0], sample[1], sample[-1]
        visits = list(chain.from_iterable(order))
        rows, labels, classes = X[visits], y[visits], np.unique(y)
        options = {
            "readout": readout,
            "multiclass": multiclass,
            "fit_intercept": fit_intercept,
            "random_state": 1,
            "log_updates": True,
        }

        def make(**more: Any) -> Any:
            return pc.KernelPerceptron(**options, **more)

        whole = make().partial_fit(rows, labels, classes=classes)
        expected = state(whole, X)
        sparse = make(block_size=2).partial_fit(sp.csr_array(rows), labels, classes=classes)
        assert_same(state(sparse, X), expected)
        assert_same(state(sparse, sp.csr_array(X)), expected)
        cuts = data.draw(st.sets(st.integers(1, len(visits) - 1)), label="cuts")
        pieces = make(block_size=3)
        for a, b in pairwise([0, *sorted(cuts), len(visits)]):
            pieces.partial_fit(rows[a:b], labels[a:b], classes=classes)
        assert_same(state(pieces, X), expected)
        assert np.array_equal(pieces.support_vectors_, rows[pieces.support_])
        single = make()
        single.partial_fit(rows[:1], labels[:1], classes=classes)
        for x, label in zip(rows[1:], labels[1:]):
            single.learn_one(x, label)
        assert_same(state(single, X), expected)
        assert close(single.score_one(X[0]), expected["scores"][0], 1e-12)
        assert single.predict_one(X[0]) == whole.predict(X)[0]
        if multiclass == "joint" or len(classes) == 2:
            fit = make().fit(rows, labels, order=[range(len(visits))])
            assert_same(state(fit, X), expected)


@given(any_sample, st.sampled_from(["joint", "ovr"]))
def test_mixed_storages_and_precisions(sample, multiclass):
    """A model in float64 takes CSR, float32 and integers on its way, and keeps its precision."""
    X, y, _ = sample[0], sample[1], sample[-1]
    classes = np.unique(y)
    plain = pc.KernelPerceptron(multiclass=multiclass).partial_fit(X, y, classes=classes)
    mixed = pc.KernelPerceptron(multiclass=multiclass).partial_fit(X, y, classes=classes)
    whole = np.rint(X)
    for rows in (X, whole, X):
        plain.partial_fit(rows, y)
    mixed.partial_fit(X.astype(np.float32), y)  # dyadic numbers fit into float32
    mixed.partial_fit(whole.astype(np.int8), y)
    mixed.partial_fit(X, y)
    assert_same(state(mixed, X), state(plain, X))


# ------------------------------------------------------------------------- pickled in the middle


INTERRUPTIONS = {"pickle": lambda m: pickle.loads(pickle.dumps(m)), "deepcopy": copy.deepcopy}
MODELS = {
    "perceptron, last": lambda: pc.KernelPerceptron(log_updates=True),
    "perceptron, average": lambda: pc.KernelPerceptron(readout="average"),
    "perceptron, vote": lambda: pc.KernelPerceptron(readout="vote"),
    "perceptron, random": lambda: pc.KernelPerceptron(readout="random", random_state=0),
    "ROMMA": lambda: pc.KernelClassifier(rule=rules.ROMMA(), kernel=kernels.Gaussian(0.5)),
    "PA, one vs rest": lambda: pc.KernelClassifier(rule=rules.PA1(), multiclass="ovr"),
    "own rule": lambda: pc.KernelClassifier(rule=half_steps),
    **{
        f"budget, {policy}": lambda policy=policy: pc.BudgetKernelPerceptron(
            budget=3, policy=policy, random_state=5
        )
        for policy in ("random", "oldest", "forgetron", "projectron")
    },
}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=10)  # files between two rows: test_saved_and_continued
@given(any_sample, st.integers(1, 30))
def test_an_interruption_changes_nothing(name, sample, cut):
    with uncompiled(name not in COMPILED):
        X, y, order = sample[0], sample[1], sample[-1]
        visits = list(chain.from_iterable(order)) * 2
        cut = 1 + cut % (len(visits) - 1)
        whole = MODELS[name]()
        others = {how: MODELS[name]() for how in INTERRUPTIONS}
        for t, i in enumerate(visits):
            if t == cut:
                others = {how: INTERRUPTIONS[how](other) for how, other in others.items()}
            for model in (whole, *others.values()):
                if t == 0:
                    model.partial_fit(X[[i]], y[[i]], classes=np.unique(y))
                else:
                    model.learn_one(X[i], y[i])
        for how, other in others.items():
            assert_same(state(other, X), state(whole, X))
            assert np.array_equal(other.support_vectors_, whole.support_vectors_), how
            if whole.log_updates:
                assert np.array_equal(other.update_log_, whole.update_log_), how


@pytest.mark.parametrize("readout", READOUTS)
@given(any_sample, st.integers(0, 2), st.sampled_from(["joint", "ovr"]))
def test_an_interrupted_fit_goes_on_by_a_warm_start(readout, sample, n_first, multiclass):
    with uncompiled(readout not in COMPILED):
        X, y, order = sample[0], sample[1], sample[-1]
        options = {"readout": readout, "multiclass": multiclass, "random_state": 2}
        whole = pc.KernelPerceptron(**options).fit(X, y, order=order)
        part = pc.KernelPerceptron(warm_start=True, **options).fit(X, y, order=order[:n_first])
        rest = pickle.loads(pickle.dumps(part)).fit(X, y, order=order[n_first:])
        assert close(whole.decision_function(X), rest.decision_function(X), 1e-12)
        assert whole.n_updates_ == rest.n_updates_


# ------------------------------------------------------------------------ classes on the way

RNG = np.random.default_rng(3)
X = RNG.integers(-8, 9, (14, 3)) / 4.0


def stream(order: str) -> np.ndarray:
    """Labels in which the classes of ``order`` appear one after the other, and come back later."""
    first, rng = [0, 3, 6, 9], np.random.default_rng(0)
    labels = []
    for i in range(len(X)):
        known = sum(f <= i for f in first)
        labels.append(order[first.index(i)] if i in first else order[rng.integers(known)])
    return np.array(labels)


@pytest.mark.parametrize("rule", [rules.Perceptron(), rules.PA(), rules.ROMMA()], ids=str)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("readout", [*READOUTS, "unit average"])
@pytest.mark.parametrize("cut", [None, 1, 4, 14])
def test_one_to_four_classes(rule, multiclass, readout, cut):
    """After every piece the scores are those of the linear learner, which has its own blackboard.

    The perceptron meets the classes in three orders at every cut, other rules in one of them at each.
    """
    orders = ["abcd", "dcba", "bdac"]
    if rule != rules.Perceptron():
        orders = [orders[[None, 1, 4, 14].index(cut) % 3]]
    with uncompiled(rule != rules.Perceptron() or readout not in COMPILED):
        options = {
            "rule": rule,
            "multiclass": multiclass,
            "readout": readout.split()[-1],
            "normalized_votes": readout == "unit average",
            "random_state": 4,
            "fit_intercept": False,
            "log_updates": True,
        }
        for order in orders:
            labels = stream(order)
            linear, kernel = pc.OnlineClassifier(**options), pc.KernelClassifier(kernel="linear", **options)
            for start in range(0, len(X), cut or 1):
                piece = slice(start, start + (cut or 1))
                for model in (linear, kernel):
                    if cut is None:
                        model.learn_one(X[start], labels[start])
                    else:
                        model.partial_fit(X[piece], labels[piece])
                np.testing.assert_array_equal(kernel.classes_, linear.classes_)
                assert close(kernel.decision_function(X), linear.decision_function(X), 1e-8)
                assert kernel.n_updates_ == linear.n_updates_
            np.testing.assert_array_equal(kernel.update_log_["row"], linear.update_log_["row"])
            np.testing.assert_array_equal(kernel.predict(X), linear.predict(X))


@pytest.mark.parametrize("policy", ["random", "oldest", "forgetron", "projectron"])
@pytest.mark.parametrize("order", ["abc", "cba", "bac"])
def test_classes_on_the_way_under_a_budget_that_is_never_reached(policy, order):
    """Nothing is forgotten: the lists are those of the kernel perceptron against the rest."""
    with uncompiled(policy != "forgetron"):
        labels = stream(order + "d")[:9]
        budget = pc.BudgetKernelPerceptron(budget=50, policy=policy, eta=0.0, random_state=0)
        plain = pc.KernelPerceptron(multiclass="ovr")
        for x, label in zip(X, labels):
            budget.learn_one(x, label)
            plain.learn_one(x, label)
            np.testing.assert_array_equal(budget.classes_, plain.classes_)
            assert close(budget.decision_function(X), plain.decision_function(X), 1e-8)
            assert budget.n_updates_ == plain.n_updates_
        assert budget.predict(X).tolist() == plain.predict(X).tolist()


def test_support_is_numbered_over_all_calls():
    """Rows that were offered count, whether they were learned or not, in pieces, alone and by fit."""
    rows = RNG.normal(size=(30, 2))
    labels = np.where(rows[:, 0] * rows[:, 1] > 0, 1, 0)
    model = pc.KernelPerceptron().partial_fit(rows[:7], labels[:7], classes=[0, 1])
    model.learn_one(rows[7], labels[7])
    model.partial_fit(rows[8:20], labels[8:20])
    for i in range(20, 30):
        model.learn_one(rows[i], labels[i])
    whole = pc.KernelPerceptron().partial_fit(rows, labels, classes=[0, 1])
    assert np.array_equal(model.support_, whole.support_)
    assert np.array_equal(model.support_vectors_, rows[model.support_])
    after = pc.KernelPerceptron(shuffle=False, max_iter=2).fit(rows[:10], labels[:10])
    after.partial_fit(rows[10:], labels[10:])
    assert np.array_equal(after.support_vectors_, rows[after.support_])
    assert after.support_.max() >= 10
