"""The risk and its gradient, on paper cases and against their definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import RiskDescent, datasets, theory

LOSSES = pytest.mark.parametrize("loss", ["perceptron", "hinge"])
RNG = np.random.default_rng(0)
X = RNG.integers(-8, 9, (40, 3)) / 4.0
Y = RNG.choice([-1, 1], 40)


def test_paper_cases():
    points, y = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, -1, 1])
    # under w = (1, 1), b = 1 the margins are 3, -2, -1
    assert theory.risk([1, 1], points, y, 1.0) == 3.0
    assert theory.risk([1, 1], points, y, 1.0, loss="hinge") == 0 + 3 + 2
    gradient, derivative = theory.risk_gradient([1, 1], points, y, 1.0)
    assert gradient.tolist() == [1.0, 2.0] and derivative == 0.0  # -(-1)(0, 1) - (1)(-1, -1)
    assert theory.risk([0, 0], points, y) == 0.0  # and nothing is separated
    assert theory.risk([0, 0], points, y, loss="hinge") == 3.0


def test_a_row_on_the_crease_has_no_part_in_the_gradient():
    row, y = np.array([[1.0, 0.0]]), np.array([1])
    for w, loss in (([0, 5], "perceptron"), ([1, 5], "hinge")):
        gradient, derivative = theory.risk_gradient(w, row, y, loss=loss)
        assert theory.risk(w, row, y, loss=loss) == 0.0
        assert gradient.tolist() == [0.0, 0.0] and derivative == 0.0
    assert theory.risk_gradient([1, 5], row, y, -1e-9, loss="hinge")[1] == -1.0


@LOSSES
def test_it_is_a_subgradient_and_that_of_differences_off_the_creases(loss):
    for _ in range(20):
        w, b, other, offset = RNG.normal(size=3), RNG.normal(), RNG.normal(size=3), RNG.normal()
        gradient, derivative = theory.risk_gradient(w, X, Y, b, loss=loss)
        here = theory.risk(w, X, Y, b, loss=loss)
        linear = here + gradient @ (other - w) + derivative * (offset - b)
        assert theory.risk(other, X, Y, offset, loss=loss) >= linear - 1e-9
        h = 1e-7
        ahead = theory.risk(w + h * other, X, Y, b + h * offset, loss=loss)
        assert np.isclose((ahead - here) / h, gradient @ other + derivative * offset, atol=1e-4)


@LOSSES
def test_sparse_rows_and_the_order_of_rows_do_not_matter(loss):
    w, b = [0.5, -1.0, 0.25], 0.5
    expected = theory.risk(w, X, Y, b, loss=loss)
    gradient, derivative = theory.risk_gradient(w, X, Y, b, loss=loss)
    for rows in (sp.csr_array(X), sp.csc_array(X), sp.coo_matrix(X), X.tolist(), np.asfortranarray(X)):
        assert theory.risk(w, rows, Y, b, loss=loss) == expected
        found, slope = theory.risk_gradient(w, rows, Y, b, loss=loss)
        assert type(found) is np.ndarray and np.array_equal(found, gradient) and slope == derivative


@LOSSES
def test_steps_of_descent_follow_the_gradient(loss):
    model = RiskDescent(loss=loss, step=0.25, max_steps=12, keep_path=True).fit(X, Y)
    risks = [theory.risk(w[:-1], X, Y, w[-1], loss=loss) for w in model.path_]
    assert risks == model.risk_curve_
    for before, after in zip(model.path_, model.path_[1:]):
        gradient, derivative = theory.risk_gradient(before[:-1], X, Y, before[-1], loss=loss)
        assert np.array_equal(after, before - 0.25 * np.append(gradient, derivative))


def test_far_numbers():
    row, y = np.array([[1e300, 0.0]]), np.array([-1])
    assert theory.risk([1e300, 0], row, y) == np.inf
    assert theory.risk([1e-300, 0], row, y) == 1.0
    assert theory.risk([1e-200, 0], 1e-200 * row, y) == pytest.approx(1e-100)
    toy = datasets.xor()
    assert theory.risk([1, 0], toy.X, toy.y) == 2.0


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"loss must be one of 'perceptron', 'hinge'; got loss='log'"):
        theory.risk([1, 0, 0], X, Y, loss="log")
    with pytest.raises(ValueError, match=r"labels -1 and \+1"):
        theory.risk_gradient([1, 0, 0], X, (Y > 0).astype(int))
    with pytest.raises(ValueError, match="X must have shape"):
        theory.risk([1, 0], X, Y)
