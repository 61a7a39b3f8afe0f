"""The theorems of linear learners hold in the space of a kernel, with R^2 = max k(x, x)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from strategies import best_margin, for_each_learner, orders, samples

from perceptrons import BudgetKernelPerceptron, KernelClassifier, KernelPerceptron, kernels, rules, theory

KERNELS = {
    "polynomial": kernels.Polynomial(2),
    "cubic": kernels.Polynomial(3, coef0=0.5),
    "gaussian": kernels.Gaussian(0.5),
    "all subsets": kernels.AllSubsets(),
    "normalised": kernels.Normalized(kernels.Polynomial(2)),
}
EVERY_KERNEL = pytest.mark.parametrize("name", KERNELS)
SLACK = 1.0 + 1e-6


def in_coordinates(G: np.ndarray) -> np.ndarray:
    """Rows with G as their inner products."""
    values, vectors = np.linalg.eigh(G)
    kept = values > 1e-10 * max(1.0, values[-1])
    return vectors[:, kept] * np.sqrt(values[kept])


def best_kernel_margin(G: np.ndarray, y: np.ndarray) -> float:
    """gamma* in the space of the kernel, by non-negative least squares on coordinates of it."""
    rows = in_coordinates(G)
    return best_margin(rows, y) if rows.shape[1] else 0.0


def test_the_best_margin_is_that_of_a_support_vector_machine():
    """Without an intercept: a second copy of all rows, with the opposite label, forces it to 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.7, 1, -1)
    for kernel in (kernels.Gaussian(1.0), kernels.Polynomial(2)):
        G = kernel(X)
        both = np.block([[G, -G], [-G, G]])
        machine = SVC(C=1e9, kernel="precomputed", tol=1e-8).fit(both, np.append(y, -y))
        a = np.zeros(40)
        a[machine.support_] = machine.dual_coef_[0]
        margin = 1.0 / np.sqrt(a @ both @ a)
        assert abs(machine.intercept_[0]) < 1e-6
        assert np.isclose(best_kernel_margin(G, y), margin, rtol=1e-5)


# ------------------------------------------------------------------------------------- Novikoff


@st.composite
def separable_by(draw, kernel: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, list[list[int]]]:
    """Rows, labels, the kernel matrix, the best margin and an order of visiting."""
    X, y, _ = draw(samples(max_rows=12, max_features=3))
    G = kernel(X)
    gamma = best_kernel_margin(G, y)
    assume(gamma > 1e-3 * np.sqrt(G.diagonal().max()))
    return X, y, G, gamma, draw(orders(len(y), max_epochs=30))


@EVERY_KERNEL
@given(st.data())
def test_at_most_r_over_gamma_squared_updates(name, data):
    X, y, G, gamma, order = data.draw(separable_by(KERNELS[name]))
    model = KernelPerceptron(kernel=KERNELS[name], block_size=4).fit(X, y, order=order)
    assert np.isclose(model.radius_**2, G.diagonal().max())
    assert model.n_errors_ <= model.n_mistakes_ == model.n_updates_
    assert model.n_updates_ <= theory.novikoff(model.radius_, gamma) * SLACK
    assert model.n_support_ <= model.n_updates_
    assert np.abs(model.dual_coef_).sum() <= model.n_updates_


# a cubic kernel seldom has a margin that a perceptron reaches in 3,000 updates
@EVERY_KERNEL
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data(), st.integers(0, 99))
def test_a_clean_pass_brackets_the_best_margin(name, data, seed):
    X, y, G, gamma, _ = data.draw(separable_by(KERNELS[name]))
    assume(theory.novikoff(np.sqrt(G.diagonal().max()), gamma) < 3000)
    model = KernelPerceptron(kernel=KERNELS[name], max_iter=None, random_state=seed).fit(X, y)
    assert model.stop_reason_ == "clean pass"
    assert model.margin_bounds_ == (None, np.inf)  # kernel values are rounded: certify asks by how much
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    length = np.sqrt(a @ G @ a)
    low, up = np.min(y * (G @ a)) / length, model._space.learners[0].guess()
    assert np.isclose(up, length / model.n_updates_)
    assert 0.0 < low <= gamma * SLACK
    assert gamma <= up * SLACK
    assert model.n_updates_ <= theory.novikoff(model.radius_, low) * SLACK


@EVERY_KERNEL
@for_each_learner
@given(samples(max_rows=8, max_features=3))
def test_no_margin_is_beyond_the_upper_end_at_any_time(name, sample):
    """Separable or not; for the perceptron, PA-I and ROMMA, after every row, with and without a constant."""
    X, y, order = sample
    for rule in (rules.Perceptron(), rules.PA1(C=0.5), rules.ROMMA()):
        for B in (0.0, 0.5):
            G = KERNELS[name](X) + B * B
            best = best_kernel_margin(G, y)
            options = {"fit_intercept": B > 0.0, "intercept_scaling": B or 1.0}
            model = KernelClassifier(rule=rule, kernel=KERNELS[name], **options)
            model.partial_fit(X[:1], y[:1], classes=[-1, 1], sample_weight=[0.0])
            for i in order[0]:
                model.learn_one(X[i], y[i])
                assert best <= model._space.learners[0].guess() * SLACK + 1e-6
            assert np.isclose(model.radius_**2, max(G[i, i] for i in order[0]))


# --------------------------------------------------------------------------------------- ROMMA


@EVERY_KERNEL
@given(st.data())
def test_romma_is_as_short_as_the_best_separator(name, data):
    """||w|| <= 1/gamma*, so 1/||w|| is an upper bound of the margin, and errors obey R^2/gamma^2."""
    X, y, G, gamma, order = data.draw(separable_by(KERNELS[name]))
    for rule in (rules.ROMMA(), rules.AggressiveROMMA(delta=0.25)):
        model = KernelClassifier(rule=rule, kernel=KERNELS[name], block_size=5).fit(X, y, order=order)
        a = np.zeros(len(y))
        a[model.support_] = model.dual_coef_[0]
        length = np.sqrt(max(0.0, a @ G @ a))
        assert length <= 1.0 / gamma * (1.0 + 1e-4)
        assert model._space.learners[0].guess() * (1.0 + 1e-4) >= gamma
        assert model.n_errors_ <= theory.romma(model.radius_, gamma) * SLACK


# ------------------------------------------------------------------------------------- budgets


@EVERY_KERNEL
@pytest.mark.parametrize("policy", ["random", "oldest", "forgetron", "projectron"])
@for_each_learner
@given(samples(max_rows=12, max_features=3), st.integers(1, 5))
def test_a_budget_is_kept_and_its_bracket_holds(policy, name, sample, budget):
    X, y, order = sample
    kernel = KERNELS[name]
    model = BudgetKernelPerceptron(kernel=kernel, budget=budget, policy=policy, random_state=0)
    model.fit(X, y, order=order)
    assert model.n_support_ == len(model.support_) == model.dual_coef_.shape[1] <= budget
    a, support = model.dual_coef_[0], model.support_
    if len(a) and (y[support] * a >= 0.0).all() and a.any():  # projections may turn a sign
        G = kernel(X)
        length = np.sqrt(max(0.0, a @ G[np.ix_(support, support)] @ a))
        assert best_kernel_margin(G, y) <= length / np.abs(a).sum() * SLACK + 1e-6
    assert model.margin_bounds_ == (None, np.inf)
    scores = kernel(X, np.asarray(model.support_vectors_)) @ model.dual_coef_[0]
    assert np.allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)


@EVERY_KERNEL
@given(samples(max_rows=12, max_features=3))
def test_a_projectron_that_closes_no_distance_needs_no_more_rows_than_dimensions(name, sample):
    X, y, order = sample
    kernel = KERNELS[name]
    model = BudgetKernelPerceptron(kernel=kernel, budget=None, policy="projectron", eta=0.0)
    model.fit(X, y, order=order)
    assert model.n_support_ <= np.linalg.matrix_rank(kernel(X), hermitian=True)
