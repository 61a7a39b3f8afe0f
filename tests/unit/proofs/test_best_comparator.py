"""The comparator with the smallest hinge bound: paper cases, both ends of its bracket, sizes and scales."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from perceptrons import MaxMargin, Perceptron, datasets, proofs, theory
from perceptrons.proofs import best_comparator


def augmented(X, fit_intercept=True):
    return np.column_stack([X, np.ones(len(X))]) if fit_intercept else np.asarray(X, float)


def objective(u, Z, y, R):
    return R**2 * (u @ u) + 2.0 * theory.risk(u, Z, y, loss="hinge")


def test_one_row_by_hand():
    """u = c (1, 0) on the row (1, 0): c^2 + 2 max(0, 1 - c) is least at c = 1."""
    found = best_comparator([[1.0, 0.0]], [1], fit_intercept=False)
    assert np.allclose(found.w, [1, 0]) and found.b == 0.0
    assert found.low <= 1.0 <= found.objective and found.objective - found.low < 1e-9
    assert found.bound <= found.objective and found.rows == 1


def test_two_rows_by_hand():
    """Rows (2) and (-1) of two classes, R = 2: 4c^2 + 2max(0, 1 - 2c) + 2max(0, 1 - c), least at c = 1/2."""
    found = best_comparator([[2.0], [-1.0]], [1, -1], fit_intercept=False)
    assert np.allclose(found.w, [0.5]) and math.isclose(found.hinge, 0.5, rel_tol=1e-4)
    assert found.low <= 2.0 <= found.objective and found.objective - found.low < 1e-4
    assert str(found).endswith("says nothing") == (found.bound >= 2)


def test_xor_and_rows_of_zeros_leave_u_at_zero():
    toy = datasets.xor()
    found = best_comparator(toy.X, toy.y)
    assert (found.norm2, found.hinge, found.objective) == (0.0, 4.0, 8.0) and found.low > 8.0 - 1e-9
    assert "says nothing" in str(found)
    zeros = best_comparator(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False)
    assert zeros.bracket == (6.0, 6.0) and zeros.radius == 0.0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["four_points", "clouds_near", "clouds_far", "overlapping_clouds", "rings"])
def test_it_is_the_least_objective(name, fit_intercept):
    X, y, *_ = getattr(datasets, name)()
    Z = augmented(X, fit_intercept)
    found = best_comparator(X, y, fit_intercept=fit_intercept)
    R = found.radius
    assert math.isclose(R, theory.radius(Z), rel_tol=1e-12) and found.radius >= theory.radius(Z)
    assert found.objective >= objective(found.u, Z, y, R) * (1 - 1e-12)
    assert found.objective - found.low <= 1e-5 * found.objective
    others = minimize(objective, found.u + 1e-3, (Z, y, R), method="Nelder-Mead", options={"maxiter": 300})
    assert found.low <= others.fun
    by_hand = MaxMargin(C=1.0 / R**2, fit_intercept=False).fit(Z, y).coef_[0]
    assert math.isclose(objective(by_hand, Z, y, R), found.objective, rel_tol=1e-4)
    assert found.bound == pytest.approx(theory.hinge_tight(R, math.sqrt(found.norm2), found.hinge))


@pytest.mark.parametrize("power", [-120, -30, 0, 30, 120])
def test_scale_is_no_matter_without_an_intercept(power):
    """u scales with the rows, and the objective stays."""
    X, y, *_ = datasets.overlapping_clouds()
    plain = best_comparator(X, y, fit_intercept=False)
    moved = best_comparator(np.ldexp(X, power), y, fit_intercept=False)
    assert math.isclose(moved.objective, plain.objective, rel_tol=1e-4)
    assert math.isclose(moved.low, plain.low, rel_tol=1e-4)


def test_sparse_rows_labels_of_any_kind_and_one_class():
    X, y, *_ = datasets.overlapping_clouds()
    dense = best_comparator(X, y)
    thin = best_comparator(sp.csr_array(X), np.where(y > 0, "yes", "no"))
    assert math.isclose(dense.objective, thin.objective, rel_tol=1e-4) and np.allclose(
        dense.w, thin.w, atol=1e-4
    )
    for label, sign in ((0, -1.0), (1, 1.0)):
        alone = best_comparator([[1.0, 2.0], [2.0, 1.0]], [label, label])
        assert np.sign(alone.b) == sign and alone.bound < 2.0 and alone.objective - alone.low < 1e-4
        assert "at most 1 mistake in one pass over 2 rows" in str(alone)


def test_on_separable_rows_it_is_at_most_novikoffs_bound():
    rng = np.random.default_rng(0)
    for _ in range(5):
        made = proofs.separable(60, 4, margin=0.2, random_state=int(rng.integers(1000)))
        found = best_comparator(made.X, made.y, fit_intercept=False)
        assert found.low <= theory.novikoff(theory.radius(made.X), 0.2)


def test_a_solver_without_time_leaves_a_true_statement():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = np.where(X[:, 0] + rng.normal(size=3000) > 0, 1, -1)
    quick = best_comparator(X, y, max_time=1e-9)
    assert quick.low <= quick.objective <= 6000.0
    mistakes = Perceptron(max_iter=1, shuffle=False).fit(X, y).n_mistakes_
    assert mistakes <= quick.bound


def test_what_is_refused():
    with pytest.raises(ValueError, match="max_time"):
        best_comparator([[1.0]], [1], max_time=0)
    with pytest.raises(ValueError, match="one or two labels"):
        best_comparator([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(ValueError, match="overflow"):
        best_comparator([[1e200, 0.0], [0.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        best_comparator([[np.nan]], [1])
