"""The fewest errors of any halfspace: known cases, against brute force, in degenerate positions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from perceptrons import Perceptron, datasets, proofs, theory
from perceptrons.proofs import errors_and_hinge, minimum_error_halfspace
from perceptrons.proofs._tables import up


def check(X, y):
    """The answer is consistent; its number of errors."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    errors, w, b, wrong = minimum_error_halfspace(X, y)
    side = X @ w + b
    assert np.all(side != 0)
    assert np.flatnonzero(np.sign(side) != np.where(y == y.max(), 1, -1)).tolist() == wrong.tolist()
    assert errors == len(wrong)
    return errors


def by_subsets(X, y):
    """The fewest rows to leave out so that a plane separates the others, by linear programming."""
    Z = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    for k in range(len(y) + 1):
        for left_out in itertools.combinations(range(len(y)), k):
            kept = np.delete(Z, left_out, axis=0)
            found = optimize.linprog(
                np.zeros(Z.shape[1]), -kept, -np.ones(len(kept)), bounds=[(None, None)] * Z.shape[1]
            )
            if found.status == 0:
                return k
    raise AssertionError


def test_known_cases():
    assert check(*datasets.xor()[:2]) == 1
    assert check(*datasets.four_points()[:2]) == 0
    assert check(*datasets.clouds_far()[:2]) == 0
    assert check([[0.0], [1.0], [2.0], [3.0], [4.0]], [1, -1, 1, -1, 1]) == 2
    assert check(np.zeros((5, 2)), [1, 1, -1, 1, -1]) == 2  # one point with both labels
    cube = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    assert check(cube, np.where(cube.sum(axis=1) % 2 == 1, 1, -1)) == 2  # parity of three


def test_repeated_corners_cost_as_often():
    data = proofs.xor(40, spread=0.0)
    assert check(data.X, data.y) == 10
    three = np.hstack([data.X, np.zeros((40, 1))])  # a plane within space
    assert check(three, data.y) == 10


@pytest.mark.parametrize("sizes", [(1e-300, 1e300), (1e150, 1e150), (1e-320, 1.0), (1e8, 1e-8)])
def test_columns_of_any_size(sizes):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 3.0]]) * sizes
    assert minimum_error_halfspace(X, [0, 1, 1, 0, 0]).errors == 1


def test_rows_nearer_than_the_rounding_of_a_plane():
    """Two labels 1e-12 apart: neither row lies on the other."""
    assert check([[1.0, 0.0], [1.0 + 1e-12, 0.0], [5.0, 1.0]], [0, 1, 1]) == 0
    X = np.array([[2**60], [2**60 + 1], [2**60 + 2], [2**60 + 3]])
    assert minimum_error_halfspace(X - 2**60, [0, 1, 0, 1]).errors == 1
    with pytest.raises(ValueError, match="The fewest errors are 1, and no float64 weights"):
        minimum_error_halfspace(X, [0, 1, 0, 1])


def test_one_label():
    assert minimum_error_halfspace([[1.0], [2.0]], [1, 1]).errors == 0
    assert minimum_error_halfspace([[1.0], [2.0]], [0, 0]).errors == 0
    assert minimum_error_halfspace([[1.0, 0.0]], ["a"]).errors == 0


@given(st.integers(1, 3), st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 9]))
def test_against_linear_programs(d, n, seed, values):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, d)).astype(float)  # repeated rows, rows on lines, on planes
    y = rng.choice([-1, 1], n)
    if len(set(y)) == 2:
        assert check(X, y) == by_subsets(X, y)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_direction_does_better(d):
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(40, d)), rng.choice([-1, 1], 40)
    fewest = check(X, y)
    for _ in range(500):
        s = np.sort(X @ (w := rng.normal(size=d)))
        cuts = np.concatenate([[s[0] - 1], (s[1:] + s[:-1]) / 2])
        errors = (np.where(X @ w > cuts[:, None], 1, -1) != y).sum(axis=1)
        assert min(errors.min(), 40 - errors.max()) >= fewest


def test_the_hinge_stands_above():
    toy = datasets.overlapping_clouds(60)
    both = errors_and_hinge(toy.X, toy.y)
    assert both.errors <= both.hinge_errors <= both.hinge + 1e-9
    assert both.errors == minimum_error_halfspace(toy.X, toy.y).errors
    missed = np.maximum(0, 1 - toy.y * (toy.X @ both.u + both.b)).sum()
    assert both.hinge == pytest.approx(missed)
    assert "every halfspace errs on" in str(both)
    rng = np.random.default_rng(0)
    for _ in range(200):  # nobody misses less
        u, b = rng.normal(size=2), rng.normal()
        assert np.maximum(0, 1 - toy.y * (toy.X @ u + b)).sum() >= both.hinge - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_hinge_bound_beside_it(seed):
    """No comparator has a smaller bound, and no order of one pass makes more mistakes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.choice([-1, 1], 30)
    X[:, 0] += 1.5 * y
    both = errors_and_hinge(X, y)
    Z = y[:, None] * np.hstack([X, np.ones((30, 1))])
    R = theory.radius(Z)

    def bound(u):
        return theory.hinge(R, float(np.linalg.norm(u)), float(np.maximum(0.0, 1.0 - Z @ u).sum()))

    assert both.bound <= bound(np.zeros(3)) == 60
    assert both.bound <= bound(np.append(both.u, both.b))
    best = optimize.minimize(bound, np.append(both.u, both.b) / 4.0, method="Nelder-Mead", tol=1e-10)
    assert both.bound == pytest.approx(best.fun, rel=1e-4)
    assert "NP-hard" in str(both) and f"at most {up(both.bound)}" in str(both)
    for _ in range(20):
        model = Perceptron(max_iter=1, random_state=rng.integers(1000)).fit(X, y)
        assert both.errors <= model.n_mistakes_ <= both.bound


def test_the_hinge_bound_of_one_label():
    both = errors_and_hinge([[1.0], [2.0]], [1, 1])
    assert both.errors == both.hinge_errors == 0 and both.hinge == pytest.approx(0.0)
    # R^2 = 5 and u = z_1/5 + 2 z_2/25 = (0.36, 0.28): 5 * 0.208, and z_1 misses 0.36
    assert both.bound == pytest.approx(1.04 + 0.72)


def test_what_is_too_large_is_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"at most 60 rows and 3 features; got 61 x 2.*NP-hard.*MaxMargin"):
        minimum_error_halfspace(np.zeros((61, 2)), np.ones(61))
    with pytest.raises(ValueError, match="got 5 x 4"):
        minimum_error_halfspace(np.zeros((5, 4)), np.ones(5))
    with pytest.raises(ValueError, match="at most two labels; got 3"):
        minimum_error_halfspace(np.zeros((3, 1)), [1, 2, 3])
    with pytest.raises(ValueError, match="one label per row"):
        minimum_error_halfspace(np.zeros((3, 1)), [1, 2])
    with pytest.raises(ValueError, match="finite"):
        minimum_error_halfspace([[np.nan]], [1])
