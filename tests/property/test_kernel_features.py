"""A kernel learner makes the updates of a linear learner on the features that its kernel stands for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from property.learners import close, pick
from strategies import multiclass_samples, orders, samples

import perceptrons as pc
from perceptrons import kernels, reference

BLOCKS = st.sampled_from([1, 3, 7, "auto"])
LEARNERS = pytest.mark.parametrize("learner", pick("perceptron", "PA-I", "ROMMA"), ids=str)


def same_updates(learner: Any, kernel: Any, X: Any, Phi: np.ndarray, y: Any, order: Any, size: Any) -> None:
    """``Phi`` holds the features of the objects X."""
    run = learner.run(Phi, y, order)
    assume(not learner.hangs_on_rounding(run, Phi, y, order, relative=1e-7))
    options = {"rule": learner.make()._rule(), "log_updates": True, "fit_intercept": False}
    primal = pc.OnlineClassifier(**options).fit(Phi, y, order=order)
    dual = pc.KernelClassifier(kernel=kernel, block_size=size, **options).fit(X, y, order=order)
    assert np.array_equal(dual.update_log_[["epoch", "row"]], primal.update_log_[["epoch", "row"]])
    assert close(dual.update_log_["step"], primal.update_log_["step"], 1e-6)
    assert close(dual.decision_function(X), primal.decision_function(Phi), 1e-6)
    assert close(dual.dual_coef_ @ Phi[dual.support_], primal.coef_, 1e-6)
    assert close(dual.radius_, primal.radius_)


@LEARNERS
@given(
    samples(max_features=3, max_epochs=2),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.sampled_from([0.5, 1.0]),
    BLOCKS,
)
def test_weighted_monomials(learner, sample, degree, coef0, gamma, size):
    X, y, order = sample
    Phi = np.stack([reference.monomials(x, degree, coef0, gamma) for x in X])
    same_updates(learner, kernels.Polynomial(degree, coef0, gamma), X, Phi, y, order, size)


@LEARNERS
@given(samples(max_features=4, max_epochs=2), BLOCKS)
def test_products_over_all_subsets(learner, sample, size):
    X, y, order = sample
    Phi = np.stack([reference.subset_products(x) for x in X])
    same_updates(learner, kernels.AllSubsets(), X, Phi, y, order, size)


@given(multiclass_samples(max_features=3, max_epochs=2), st.sampled_from(["joint", "ovr"]), BLOCKS)
def test_prototypes_of_monomials(sample, multiclass, size):
    """All that is summed is exact but the roots of 2: prototypes agree unless they are close."""
    X, y, n_classes, order = sample
    Phi = np.stack([reference.monomials(x) for x in X])
    options = {"multiclass": multiclass, "log_updates": True, "fit_intercept": False}
    for r in range(n_classes):
        [one] = pick("perceptron")
        y_r = np.where(y == r, 1, -1)
        assume(multiclass == "joint" or not hangs(one, Phi, y_r, order))
    if multiclass == "joint":
        run = reference.multiclass_perceptron(Phi, y, order)
        assume(not close_prototypes(run, Phi))
    primal = pc.Perceptron(**options).fit(Phi, y, order=order)
    dual = pc.KernelPerceptron(block_size=size, **options).fit(X, y, order=order)
    assert np.array_equal(dual.update_log_["row"], primal.update_log_["row"])
    assert close(dual.decision_function(X), primal.decision_function(Phi))


def hangs(learner, Phi, y, order):
    return learner.hangs_on_rounding(learner.run(Phi, y, order), Phi, y, order, relative=1e-9)


def close_prototypes(run, Phi):
    """Whether two prototypes ever score alike on some row, but for rounding."""
    for W in run.vectors:
        for r in range(len(W)):
            for s in range(r):
                score, size = Phi @ (W[r] - W[s]), np.abs(Phi) @ (np.abs(W[r]) + np.abs(W[s]))
                if np.any((np.abs(score) < 1e-9 * size) & (size > 0.0)):
                    return True
    return False


# -------------------------------------------------------------------------------------- strings

words = st.lists(st.text("ab", max_size=8), min_size=3, max_size=10)


def spectrum_features(s: Any, p: int, mode: str) -> dict[Any, float]:
    """The features of a string, by name; min(n, m) counts the k with n >= k and m >= k."""
    counts = Counter(s[i : i + p] for i in range(len(s) - p + 1))
    if mode == "multiset":
        return {u: float(n) for u, n in counts.items()}
    if mode == "set":
        return dict.fromkeys(counts, 1.0)
    return {(u, k): 1.0 for u, n in counts.items() for k in range(1, n + 1)}


def spectrum_matrix(strings: list[Any], p: int, mode: str) -> np.ndarray:
    features = [spectrum_features(s, p, mode) for s in strings]
    names = list(dict.fromkeys(name for found in features for name in found))
    counts = [[f.get(name, 0.0) for name in names] for f in features]
    return np.array(counts).reshape(len(strings), len(names))


@pytest.mark.parametrize("mode", ["multiset", "set", "min"])
@settings(max_examples=10)  # each of them trains eight models
@given(words, st.integers(1, 3), BLOCKS, st.data())
def test_substrings(mode, strings, p, size, data):
    """Counts are integers: nothing is rounded, in training or after."""
    Phi = spectrum_matrix(strings, p, mode)
    kernel = kernels.Spectrum(p, mode)
    assert np.array_equal(kernel(strings), Phi @ Phi.T)
    assert np.array_equal(kernel(strings), reference.gram(reference.spectrum_kernel(p, mode), strings))
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(strings), max_size=len(strings))))
    assume(len(set(y)) >= 2)
    order = data.draw(orders(len(y)), label="order")
    Phi = np.hstack([Phi, np.zeros((len(Phi), 1))])  # one column at least
    for multiclass in ("joint", "ovr"):
        options = {"log_updates": True, "multiclass": multiclass, "fit_intercept": False}
        primal = pc.Perceptron(**options).fit(Phi, y, order=order)
        dual = pc.KernelPerceptron(kernel=kernel, block_size=size, **options).fit(strings, y, order=order)
        assert np.array_equal(dual.update_log_, primal.update_log_)
        assert np.array_equal(dual.decision_function(strings), primal.decision_function(Phi))
        pieces = pc.KernelPerceptron(kernel=kernel, **options)
        for epoch in order:
            for i in epoch:  # every string may bring substrings that are new
                pieces.partial_fit([strings[i]], [y[i]], classes=np.unique(y))
        assert pieces.n_updates_ == primal.n_updates_
        assert np.array_equal(pieces.decision_function(strings), primal.decision_function(Phi))
        single = pc.KernelPerceptron(kernel=kernel, **options)
        single.partial_fit(strings[:1], y[:1], classes=np.unique(y), sample_weight=[0.0])
        for i in (i for epoch in order for i in epoch):
            single.learn_one(strings[i], y[i])
        assert np.array_equal(single.decision_function(strings), primal.decision_function(Phi))


@given(words, st.integers(1, 3), st.sampled_from(["multiset", "set", "min"]))
def test_substrings_that_training_has_not_seen(strings, p, mode):
    """They have no weight, and count in the length of a normalised string all the same."""
    train = ["abab", "bbba"]
    kernel = kernels.Normalized(kernels.Spectrum(p, mode))
    model = pc.KernelPerceptron(kernel=kernel, shuffle=False, max_iter=1).fit(train, [0, 1])
    new = [s + "xyz" for s in strings]
    k = reference.normalized_kernel(reference.spectrum_kernel(p, mode))
    expected = reference.gram(k, new, [train[i] for i in model.support_]) @ model.dual_coef_[0]
    assert close(model.decision_function(new), expected)
    assert model.score_one(new[0]) == model.decision_function(new)[0]
