"""A linear kernel makes the linear learner: any rule, any readout, any block size, any part in the cache."""

from __future__ import annotations

from itertools import chain
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import FIRST_ORDER, JOINT, Frame, Learner, close, pick
from strategies import for_each_learner, multiclass_samples, samples
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.engine.blocks import Blocks

#: Learners whose loops are compiled here; the others run as plain Python.
COMPILED = {"perceptron", "ROMMA", "perceptron, top"}
SHEET = 3  # support rows to a sheet of the cache, so that small data fill several


def some_sheets(n: int) -> Any:
    """Kernel values in sheets of a few support rows each."""
    return mock.patch.object(Blocks, "sheet", n)


@st.composite
def storages(draw, n_rows: int) -> dict[str, Any]:
    """A block size, and a cache that holds nothing, some sheets, or everything."""
    size = draw(st.sampled_from([1, 2, 3, 7, "auto"]))
    one_sheet = 8 * n_rows * SHEET / 1e6
    return {
        "block_size": size,
        "cache_mb": draw(st.sampled_from([0.0, 1.01 * one_sheet, 2.01 * one_sheet, 1000.0])),
    }


def intercepts() -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from(
        [{"fit_intercept": False}, {"fit_intercept": True}, {"fit_intercept": True, "intercept_scaling": 0.5}]
    )


def same_run(kernel: Any, linear: Any, X: np.ndarray, tol: float = 1e-9) -> None:
    """Both have made the same updates, and score alike."""
    ours, theirs = kernel.update_log_, linear.update_log_
    assert ours.dtype == theirs.dtype
    for field in ours.dtype.names:
        if field == "step":
            assert close(ours[field], theirs[field], tol)
        else:
            assert np.array_equal(ours[field], theirs[field])
    assert [dict(h) for h in kernel.history_] == [dict(h) for h in linear.history_]
    assert (kernel.n_updates_, kernel.n_mistakes_, kernel.n_errors_) == (
        linear.n_updates_,
        linear.n_mistakes_,
        linear.n_errors_,
    )
    assert kernel.stop_reason_ == linear.stop_reason_
    assert close(kernel.radius_, linear.radius_)
    assert same_bounds(upper(kernel), upper(linear), tol)
    assert close(kernel.decision_function(X), linear.decision_function(X), tol)
    assert close(kernel.decision_function(sp.csr_array(X)), linear.decision_function(X), tol)


def upper(model: Any) -> np.ndarray:
    """||w|| / sum of the steps, or that of each learner, as the loop has kept them."""
    return np.array([learner.guess() for learner in model._space.learners])


def same_bounds(a: np.ndarray, b: np.ndarray, tol: float = 1e-9) -> bool:
    known = np.isfinite(a)
    return np.array_equal(known, np.isfinite(b)) and close(a[known], b[known], tol)


def w_is_the_combination_it_says(kernel: Any, linear: Any, X: np.ndarray, tol: float = 1e-9) -> None:
    """w = sum of a_i x_i over the support rows."""
    w = kernel.dual_coef_ @ X[kernel.support_]
    assert close(w, linear.coef_, tol)
    assert np.array_equal(kernel.support_vectors_, X[kernel.support_])
    assert kernel.n_support_ == len(kernel.support_) == len(set(kernel.support_.tolist()))
    assert kernel.n_support_ <= kernel.n_updates_


# ---------------------------------------------------------------------------------- every rule


def rule_of(learner: Learner) -> tuple[Any, dict[str, Any]]:
    made = learner.make()
    return made._rule(), {"mistake": made.mistake} if hasattr(made, "mistake") else {}


def test_every_rule_is_compared():
    compared = {type(rule_of(learner)[0]) for learner in FIRST_ORDER} | {rules.NormMinimising}
    assert compared == set(rules.FIRST_ORDER)


@pytest.mark.parametrize("learner", FIRST_ORDER, ids=str)
@for_each_learner
@given(samples(), intercepts(), st.data())
def test_two_classes(learner, sample, intercept, data):
    with uncompiled(learner.name not in COMPILED):
        X, y, order = sample
        frame = Frame(intercept.get("intercept_scaling", 1.0) if intercept["fit_intercept"] else None)
        run = learner.run(X, y, order, frame)
        assume(not learner.hangs_on_rounding(run, X, y, order))
        rule, mistake = rule_of(learner)
        options = {"rule": rule, "log_updates": True, **mistake, **intercept}
        linear = pc.OnlineClassifier(**options).fit(X, y, order=order)
        with some_sheets(SHEET):
            storage = data.draw(storages(len(y)))
            kernel = pc.KernelClassifier(kernel="linear", **storage, **options).fit(X, y, order=order)
            sparse = pc.KernelClassifier(kernel="linear", **storage, **options)
            sparse.fit(sp.csr_array(X), y, order=order)
        same_run(kernel, linear, X, learner.tol)
        same_run(sparse, linear, X, learner.tol)
        w_is_the_combination_it_says(kernel, linear, X, learner.tol)


TOP = [learner for learner in JOINT if ", exact" not in learner.name]


@pytest.mark.parametrize("learner", TOP, ids=str)
@for_each_learner
@given(multiclass_samples(), intercepts(), st.data())
def test_prototypes(learner, sample, intercept, data):
    with uncompiled(learner.name not in COMPILED):
        X, y, _, order = sample
        frame = Frame(intercept.get("intercept_scaling", 1.0) if intercept["fit_intercept"] else None)
        run = learner.run(X, y, order, frame)
        assume(not learner.hangs_on_rounding(run, X, y, order))
        linear = learner.make(log_updates=True, **intercept).fit(X, y, order=order)
        options = {"log_updates": True, "kernel": "linear", **intercept}
        with some_sheets(SHEET):
            options |= data.draw(storages(len(y)))
            if learner.estimator is pc.Perceptron:
                kernel = pc.KernelPerceptron(**options, **learner.params)
            else:
                kernel = pc.KernelClassifier(rule=linear._rule(), **options)
            kernel.fit(X, y, order=order)
        same_run(kernel, linear, X, learner.tol)
        w_is_the_combination_it_says(kernel, linear, X, learner.tol)


@pytest.mark.parametrize("learner", pick("perceptron", "PA-I", "ROMMA", "ALMA"), ids=str)
@given(multiclass_samples(), intercepts(), st.data())
def test_one_against_the_rest(learner, sample, intercept, data):
    with uncompiled(learner.name not in COMPILED):
        X, y, n_classes, order = sample
        frame = Frame(intercept.get("intercept_scaling", 1.0) if intercept["fit_intercept"] else None)
        for r in range(n_classes):
            y_r = np.where(y == r, 1, -1)
            assume(not learner.hangs_on_rounding(learner.run(X, y_r, order, frame), X, y_r, order))
        rule, _ = rule_of(learner)
        options = {"rule": rule, "multiclass": "ovr", "log_updates": True, **intercept}
        linear = pc.OnlineClassifier(**options).fit(X, y, order=order)
        with some_sheets(SHEET):
            options |= data.draw(storages(len(y)))
            kernel = pc.KernelClassifier(kernel="linear", **options).fit(X, y, order=order)
        same_run(kernel, linear, X, learner.tol)
        w_is_the_combination_it_says(kernel, linear, X, learner.tol)


@pytest.mark.uncompiled
@given(st.one_of(samples(), multiclass_samples()))
def test_a_rule_that_never_moves_from_zero(sample):
    X, y, order = sample[0], sample[1], sample[-1]
    model = pc.KernelClassifier(rule=rules.NormMinimising(), kernel="linear").fit(X, y, order=order)
    assert model.n_updates_ == model.n_support_ == 0
    assert not model.decision_function(X).any()
    assert model.support_vectors_.shape == (0, X.shape[1])


@rules.rule(weighted=True)
def own(m, q, state):
    """Half steps that shrink w by a quarter, each weighed."""
    if m > 0.25:
        return rules.NO_STEP
    return 0.75, 0.5 * state.c


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@given(st.one_of(samples(max_epochs=2), multiclass_samples(max_epochs=2)), st.data())
def test_a_rule_of_ones_own(multiclass, sample, data):
    """w shrinks by powers of 3/4, and a margin of 1/4 may hang on rounding: one pass is short enough."""
    with uncompiled(multiclass == "ovr"):
        X, y, order = sample[0], sample[1], sample[-1][:1]
        options = {"rule": own, "multiclass": multiclass, "log_updates": True, "fit_intercept": False}
        linear = pc.OnlineClassifier(**options).fit(X, y, order=order)
        options |= data.draw(storages(len(y)))
        kernel = pc.KernelClassifier(kernel="linear", **options).fit(X, y, order=order)
        same_run(kernel, linear, X)
        w_is_the_combination_it_says(kernel, linear, X)


# ---------------------------------------------------------------------- readouts, weights, ties


def weighings(n: int) -> st.SearchStrategy[Any]:
    """No weights, 0 and 1, or quarters; the first and the last rows count."""
    zeros = st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)
    quarters = st.lists(st.integers(0, 8).map(lambda k: k / 4.0), min_size=n, max_size=n)
    return st.one_of(st.none(), zeros, quarters)


READOUTS = ["last", "average", "vote", "random"]


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("readout", READOUTS)
@for_each_learner
@given(
    st.one_of(samples(), multiclass_samples()),
    intercepts(),
    st.sampled_from(["margin", "prediction"]),
    st.sampled_from(["joint", "ovr"]),
    st.booleans(),
    st.data(),
)
def test_readouts_of_the_perceptron(
    readout, normalized, sample, intercept, mistake, multiclass, include_initial, data
):
    """Nothing is rounded but lengths: dyadic rows, dyadic weights, steps of 1."""
    with uncompiled(normalized or readout in ("vote", "random")):
        X, y, order = sample[0], sample[1], sample[-1]
        c = data.draw(weighings(len(y)), label="weights")
        if c is not None:
            assume(len(np.unique(y[np.array(c) > 0.0])) >= 2)
        options = {
            "readout": readout,
            "normalized_votes": normalized,
            "include_initial": include_initial,
            "mistake": mistake,
            "multiclass": multiclass,
            "random_state": data.draw(st.integers(0, 9), label="seed"),
            "log_updates": True,
            **intercept,
        }
        linear = pc.Perceptron(**options).fit(X, y, sample_weight=c, order=order)
        with some_sheets(SHEET):
            options |= data.draw(storages(len(y)))
            kernel = pc.KernelPerceptron(kernel="linear", **options).fit(X, y, sample_weight=c, order=order)
        same_run(kernel, linear, X)
        if readout == "vote":
            assert np.array_equal(kernel.decision_function(X), linear.decision_function(X))
        elif kernel.n_support_:
            w_is_the_combination_it_says(kernel, linear, X)
        if readout == "random":
            assert kernel.random_step_ == linear.random_step_
        parts = pc.KernelPerceptron(kernel="linear", **options)
        for epoch in order:
            weights = None if c is None else np.array(c)[epoch]
            parts.partial_fit(X[epoch], y[epoch], classes=np.unique(y), sample_weight=weights)
        assert close(parts.decision_function(X), linear.decision_function(X))
        assert parts.n_updates_ == linear.n_updates_


@pytest.mark.uncompiled
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rule", [rules.ROMMA(), rules.PA1(C=0.5), own], ids=lambda r: str(r).split("(")[0])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_readouts_of_other_rules(rule, readout, multiclass, n_classes):
    """On noise no decision hangs on rounding."""
    with uncompiled(readout != "average" or multiclass == "ovr" or rule == rules.PA1(C=0.5)):
        rng = np.random.default_rng(7)
        X, y = rng.normal(size=(40, 4)), rng.integers(n_classes, size=40)
        for normalized in (False, True):
            options = {
                "rule": rule,
                "readout": readout,
                "normalized_votes": normalized,
                "include_initial": normalized,
                "multiclass": multiclass,
                "random_state": 3,
                "max_iter": 4,
                "log_updates": True,
            }
            linear = pc.OnlineClassifier(**options).fit(X, y)
            options |= {"kernel": "linear", "fit_intercept": True}
            with some_sheets(SHEET):
                for size in (5, "auto"):
                    kernel = pc.KernelClassifier(block_size=size, cache_mb=0.005, **options).fit(X, y)
                    same_run(kernel, linear, X, 1e-7)


@pytest.mark.uncompiled
@given(samples(), st.data())
def test_weights_of_rules_that_have_a_theory_of_them(sample, data):
    X, y, order = sample
    c = data.draw(weighings(len(y)), label="weights")
    assume(c is None or len(set(y[np.array(c) > 0.0])) == 2)
    rate = data.draw(st.sampled_from([0.5, 2.0, 4.0]), label="rate")
    options = {"learning_rate": rate, "class_weight": {-1: 0.5, 1: 2.0}, "log_updates": True}
    linear = pc.Perceptron(fit_intercept=False, **options).fit(X, y, sample_weight=c, order=order)
    kernel = pc.KernelPerceptron(kernel="linear", **options).fit(X, y, sample_weight=c, order=order)
    same_run(kernel, linear, X)


@pytest.mark.parametrize("fit_intercept", [False, True])
@given(samples(max_rows=20), st.integers(0, 9))
def test_shuffled_until_a_clean_pass(fit_intercept, sample, seed):
    """The same permutations, the same reason to stop, and the same lower end of the bracket."""
    X, y, _ = sample
    options = {"random_state": seed, "max_iter": 15, "log_updates": True, "fit_intercept": fit_intercept}
    linear = pc.Perceptron(**options).fit(X, y)
    with some_sheets(SHEET):
        kernel = pc.KernelPerceptron(kernel="linear", cache_mb=1e-3, block_size=4, **options).fit(X, y)
    same_run(kernel, linear, X)
    assert kernel.margin_bounds_ == (None, np.inf)  # nothing is claimed without certify
    assert close(upper(kernel), upper(linear))


@pytest.mark.uncompiled
@pytest.mark.parametrize("n_classes", [2, 3])
def test_early_stopping_holds_out_the_same_rows(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-64, 65, (60, 4)) / 16.0, rng.integers(n_classes, size=60)
    options = {"early_stopping": True, "random_state": 1, "n_iter_no_change": 2, "fit_intercept": False}
    linear = pc.Perceptron(**options, log_updates=True).fit(X, y)
    kernel = pc.KernelPerceptron(kernel="linear", **options, log_updates=True).fit(X, y)
    same_run(kernel, linear, X)
    assert kernel.stop_reason_ == "no improvement"


# ------------------------------------------------------------------------- a constant coordinate


@pytest.mark.uncompiled
@pytest.mark.parametrize("learner", pick("perceptron", "PA", "margin perceptron"), ids=str)
@given(samples(), st.sampled_from([0.5, 1.0, 2.0]), st.data())
def test_a_constant_coordinate_is_a_constant_in_the_kernel(learner, sample, B, data):
    """(x, B) under <x, z>  =  x under B^2 + <x, z>  =  an intercept of scaling B."""
    with uncompiled(learner.name not in COMPILED):
        X, y, order = sample
        run = learner.run(X, y, order, Frame(B))
        assume(not learner.hangs_on_rounding(run, X, y, order))
        rule, _ = rule_of(learner)
        options = {"rule": rule, "log_updates": True, **data.draw(storages(len(y)))}
        wide = np.hstack([X, np.full((len(X), 1), B)])
        plain = pc.KernelClassifier(kernel="linear", **options).fit(wide, y, order=order)
        shifted = kernels.Polynomial(degree=1, coef0=B * B)
        others = [
            pc.KernelClassifier(kernel=shifted, **options),
            pc.KernelClassifier(kernel="linear", fit_intercept=True, intercept_scaling=B, **options),
        ]
        for model in others:
            model.fit(X, y, order=order)
            assert np.array_equal(model.update_log_["row"], plain.update_log_["row"])
            assert np.array_equal(model.support_, plain.support_)
            assert close(model.dual_coef_, plain.dual_coef_)
            assert close(model.decision_function(X), plain.decision_function(wide))
            assert close(model.radius_, plain.radius_)
            assert same_bounds(upper(model), upper(plain))
        for readout in ("vote", "average"):
            models = [
                pc.KernelPerceptron(
                    readout=readout, kernel="linear", fit_intercept=True, intercept_scaling=B
                ),
                pc.KernelPerceptron(readout=readout, kernel=shifted),
            ]
            scores = [m.fit(X, y, order=order).decision_function(X) for m in models]
            assert close(*scores)


@given(samples())
def test_a_function_a_record_and_a_matrix_are_the_same_kernel(sample):
    X, y, order = sample
    options = {"log_updates": True, "block_size": 3}
    record = pc.KernelPerceptron(kernel="linear", **options).fit(X, y, order=order)
    function = pc.KernelPerceptron(kernel=lambda a, b: a @ b, **options).fit(X, y, order=order)
    matrix = pc.KernelPerceptron(kernel="precomputed", **options).fit(X @ X.T, y, order=order)
    for model in (function, matrix):
        assert np.array_equal(model.update_log_, record.update_log_)
        assert np.array_equal(model.support_, record.support_)
        assert np.array_equal(model.dual_coef_, record.dual_coef_)
    scores = record.decision_function(X)
    assert np.array_equal(function.decision_function(list(X)), scores)
    assert np.array_equal(matrix.decision_function(X @ X.T), scores)
    visits = list(chain.from_iterable(order))
    assert record.history_[0]["examples"] == len(order[0]) and len(visits) >= len(order[0])


@pytest.mark.uncompiled
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_average_of_a_rule_that_forgets_keeps_its_digits(n_classes, multiclass):
    """w shrinks by 3/4 at every update, some hundred times: by 10^-40 and more in all."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(40, 4)), rng.integers(n_classes, size=40)
    visits = [list(rng.permutation(40)) for _ in range(16)]
    options = {"rule": own, "multiclass": multiclass, "readout": "average", "fit_intercept": False}
    linear = pc.OnlineClassifier(**options)
    kernel = pc.KernelClassifier(kernel="linear", block_size=7, **options)
    linear.fit(X, y, order=visits)
    kernel.fit(X, y, order=visits)
    single = pc.OnlineClassifier(**options | {"readout": "last"})
    single.partial_fit(X[:1], y[:1], classes=range(n_classes), sample_weight=[0.0])
    total = 0.0
    for i in chain.from_iterable(visits):
        single.learn_one(X[i], y[i])
        total = total + single.coef_
    assert single.n_updates_ > 300
    assert close(linear.coef_, total / 640, 1e-11)
    assert close(kernel.dual_coef_ @ X[kernel.support_], total / 640, 1e-11)
