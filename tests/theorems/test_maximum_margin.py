r"""What makes a hard or soft margin the best one: the conditions of Karush, Kuhn and Tucker, and the bracket.

:math:`w = \sum\alpha_iy_ix_i`, :math:`\sum\alpha_iy_i = 0` with a bias, :math:`\sum\alpha_i = \|w\|^2`, and
:math:`\gamma_{low} \le \gamma^* \le \gamma_{up}`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from sklearn.svm import SVC
from strategies import separable

from perceptrons import MaxMargin, theory


def objective(w, b, X, y, C):
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


def clouds(seed, n=80, d=5, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0
    y = np.where((X - 3.0) @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1, -1)
    y[:2] = [-1, 1]
    X[:, 0] += shift * y
    return X, y


@pytest.mark.parametrize("solver", ["active", "descent"])
@given(data=separable(), fit_intercept=st.booleans())
def test_conditions_of_the_optimum(solver, data, fit_intercept):
    X, y, _, gamma = data
    if fit_intercept and len(set(y)) == 1:
        return
    model = MaxMargin(fit_intercept=fit_intercept, solver=solver).fit(X, y)
    if len(set(y)) == 1:
        y = np.ones(len(y))
        X = X * data.y[:, None]  # one class is taken as +1
        model = MaxMargin(fit_intercept=False, solver=solver).fit(X, y)
    w, b, alpha = model.coef_[0], model.intercept_[0], model.dual_coef_[0] * y[model.support_]
    assert np.all(alpha > 0.0)
    assert np.allclose(model.dual_coef_[0] @ X[model.support_], w, rtol=1e-9, atol=1e-9 * np.linalg.norm(w))
    assert alpha.sum() == pytest.approx(w @ w, rel=1e-5)
    if fit_intercept:
        assert abs(model.dual_coef_.sum()) <= 1e-8 * alpha.sum()
    else:
        assert b == 0.0
    m = y * (X @ w + b)
    assert m.min() == pytest.approx(1.0, rel=1e-6)
    assert np.all(m[model.support_][alpha > 1e-3 * alpha.max()] <= 1.0 + 1e-2)
    low, up = model.margin_bounds_
    assert gamma <= up * (1.0 + 1e-9) and low <= up * (1.0 + 1e-12)
    assert model.gap_ <= 1e-6 and model.margin_ == pytest.approx(1.0 / np.linalg.norm(w), rel=1e-9)
    assert theory.gamma_low(w, X, y, free_bias=fit_intercept) == pytest.approx(low, rel=1e-6)
    weights = np.zeros(len(y))
    weights[model.support_] = alpha
    assert theory.gamma_up_from_weights(weights, X, y, free_bias=fit_intercept) >= low * (1.0 - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_hard_margin_is_that_of_a_large_C(seed):
    X, y = clouds(seed, shift=6.0)
    ours, theirs = MaxMargin().fit(X, y), SVC(kernel="linear", C=1e9, tol=1e-8).fit(X, y)
    assert ours.margin_ == pytest.approx(1.0 / np.linalg.norm(theirs.coef_), rel=1e-6)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    assert np.allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_soft_margin_is_no_worse_than_that_of_libsvm(seed, C):
    X, y = clouds(seed)
    ours, theirs = MaxMargin(C=C).fit(X, y), SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    best = objective(ours.coef_[0], ours.intercept_[0], X, y, C)
    other = objective(theirs.coef_[0], theirs.intercept_[0], X, y, C)
    assert best <= other * (1.0 + 1e-6) and best == pytest.approx(other, rel=1e-4)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-2, atol=1e-3)
    alpha = ours.dual_coef_[0] * y[ours.support_]
    assert np.all((alpha > 0.0) & (alpha <= C)) and abs(ours.dual_coef_.sum()) <= 1e-9 * C * len(y)
    dual = alpha.sum() - 0.5 * ours.coef_[0] @ ours.coef_[0]
    assert (best - dual) / best == pytest.approx(ours.gap_, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_least_hinge_bound_is_twice_the_objective_at_C_1(seed):
    r"""min over u of :math:`R^2\|u\|^2 + 2H(u)`: with R = 1 it is twice :math:`\tfrac12\|u\|^2 + H(u)`."""
    X, y = clouds(seed, n=30, d=3)
    X = np.column_stack([X, np.ones(len(X))])  # the bias of an online learner
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = MaxMargin(C=1.0, fit_intercept=False).fit(X, y).coef_[0]

    def bound(u):
        return theory.hinge(1.0, np.linalg.norm(u), np.maximum(0.0, 1.0 - y * (X @ u)).sum())

    assert bound(u) == pytest.approx(2.0 * objective(u, 0.0, X, y, 1.0))
    rng = np.random.default_rng(seed)
    for _ in range(50):
        assert bound(u) <= bound(u + rng.normal(scale=rng.choice([1e-3, 0.1, 1.0]), size=4)) + 1e-5
    assert bound(u) <= optimize.minimize(bound, u * 1.1, method="Nelder-Mead").fun + 1e-5


@given(st.integers(0, 10**6))
def test_classes_that_meet_have_a_proof_and_others_a_separator(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 30), rng.integers(1, 6)
    X = rng.integers(-8, 9, size=(n, d)) / 4.0  # ties, repeated rows, dependent ones
    y = np.where(rng.random(n) < 0.5, -1, 1)
    y[:2] = [-1, 1]
    fit_intercept = bool(rng.integers(2))
    try:
        model = MaxMargin(fit_intercept=fit_intercept).fit(X, y)
    except ValueError as error:
        assert error.certificate.check(X, y) is None
        assert error.certificate.residual <= 1e-8 * max(1.0, theory.radius(X))
    else:
        assert model.gap_ <= 1e-6 and np.all(y * model.decision_function(X) > 0.0)
