"""tests/exact.py against answers by hand, brute force, and solvers in floats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import exact
import numpy as np
import pytest
from ill_conditioned import GENERATORS, draw
from scipy import optimize, sparse
from strategies import best_l1_margin, best_margin


def fractions(rows):
    return [[Fraction(v) for v in row] for row in rows]


def grids(n_cases, seed, largest=3):
    """Small integer rows: every degenerate position occurs."""
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        shape = rng.integers(1, 7), rng.integers(1, 4)
        yield fractions(rng.integers(-largest, largest, shape, endpoint=True).tolist())


def nearest_by_force(rows):
    """The squared distance of the hull: the shortest points of affinely independent parts."""
    squares = []
    for size in range(1, len(rows[0]) + 2):
        for part in itertools.combinations(range(len(rows)), min(size, len(rows))):
            try:
                weights = exact.affine_weights(rows, list(part))
            except StopIteration:  # no pivot: dependent
                continue
            if min(weights.values()) >= 0:
                squares.append(sum(v * v for v in exact.combined(rows, weights)))
    return min(squares)


def test_by_hand():
    best = exact.best_margin(fractions([[3, 0], [0, 4]]))
    assert best.square == Fraction(144, 25) and best.separable  # the height of a triangle with sides 3, 4, 5
    assert best.weights == [Fraction(16, 25), Fraction(9, 25)]
    assert exact.best_margin(fractions([[1, 0], [-2, 0]])).weights == [Fraction(2, 3), Fraction(1, 3)]
    free = exact.best_free_margin([[0, 0], [3, 4]], [-1, 1])
    assert free.square == Fraction(25, 4)
    assert exact.best_free_margin([[0, 0], [3, 4]], [1, 1]) is None


def test_whether_a_bracket_holds():
    best = exact.best_margin(fractions([[3, 0], [0, 4]]))  # 2.4, which is no float
    assert best.at_least(math.nextafter(2.4, 0)) and best.at_most(math.nextafter(2.4, 3))
    assert best.at_least(2.4) != best.at_most(2.4)
    assert best.at_least(None) and best.at_least(-math.inf) and best.at_most(math.inf)
    assert not best.at_least(2.5) and not best.at_most(2.3)
    assert not best.at_least(math.nan) and not best.at_most(math.nan) and not best.at_least(math.inf)
    none = exact.best_margin(fractions([[1], [-1]]))
    assert not none.at_least(5e-324) and none.at_most(0.0)


def test_the_nearest_point_by_brute_force():
    for rows in grids(300, seed=0):
        best = exact.best_margin(rows)
        assert best.square == nearest_by_force(rows)


def test_both_witnesses():
    for rows in grids(500, seed=1):
        best = exact.best_margin(rows)
        total = [sum(a * row[j] for a, row in zip(best.weights, rows)) for j in range(len(rows[0]))]
        assert min(best.weights) >= 0 and sum(best.weights) == 1
        assert sum(v * v for v in total) == best.square
        if best.separable:  # this w has the margin that the weights say is the largest
            low, norm2 = exact.margin_of(best.direction, rows)
            assert low > 0 and low * low == best.square * norm2
        else:
            assert best.square == 0


def test_against_least_squares_in_floats():
    rng = np.random.default_rng(2)
    for _ in range(200):
        X = rng.normal(size=(rng.integers(1, 9), rng.integers(1, 5)))
        y = rng.choice([-1, 1], len(X))
        found = float(exact.best_margin(exact.signed(exact.rows_of(X), y)))
        assert math.isclose(found, best_margin(X, y), rel_tol=1e-6, abs_tol=1e-7)


def test_a_free_offset_against_a_linear_program():
    rng = np.random.default_rng(3)
    for _ in range(200):
        X = rng.integers(-3, 4, (rng.integers(2, 9), rng.integers(1, 4))).astype(float)
        y = np.where(np.arange(len(X)) % 2, 1, -1)
        Z = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
        other = optimize.linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None))
        free = exact.best_free_margin(X, y)
        assert free.separable == (other.status == 0)
        rows = exact.signed(exact.augmented(X, 1.0), y)
        assert free.separable == exact.best_margin(rows).separable  # the same question, another margin


def test_l1_margins():
    assert exact.best_l1_margin(fractions([[3, 1], [1, 3]])).value == 2
    for rows in grids(200, seed=4):
        X = np.array([[float(v) for v in row] for row in rows])
        found = exact.best_l1_margin(rows)
        assert math.isclose(found.value, max(0.0, best_l1_margin(X, np.ones(len(X)))), abs_tol=1e-7)
        assert (found.value > 0) == exact.best_margin(rows).separable


def test_unit_rows():
    rng = np.random.default_rng(5)
    for scale in (1.0, 1e-150, 1e150):
        X = rng.normal(size=(4, 2)) + np.array([3.0, 0.0])
        found = exact.best_unit_margin(exact.rows_of(X * scale))
        lengths = np.linalg.norm(X, axis=1)
        assert math.isclose(float(found), best_margin(X / lengths[:, None], np.ones(4)), rel_tol=1e-7)
        assert 0 < found.slack < Fraction(1, 10**60)
        assert found.at_least(float(found)) or found.at_most(float(found))
    assert not exact.best_unit_margin(fractions([[1], [-3]])).separable


def test_difference_rows():
    rows = exact.difference_rows(fractions([[2, 1]]), [1], 3)
    assert rows == fractions([[-2, -1, 2, 1, 0, 0], [0, 0, 2, 1, -2, -1]])


def test_rows_of_every_storage():
    X = np.array([[2**60 + 1, 0], [-3, 7]])
    assert exact.rows_of(X)[0][0] == 2**60 + 1  # no float is this number
    assert exact.rows_of(sparse.csr_array(X)) == exact.rows_of(X)
    assert exact.rows_of(np.array([[5e-324]]))[0][0] == Fraction(1, 2**1074)
    assert exact.augmented([[1.0]], 0.5) == fractions([[1, 0.5]]) and exact.augmented([[1.0]], 0) == [[1]]


def test_the_root_of_any_size():
    for value in (1.0, 3e-300, 7e307, 5e-324):
        assert math.isclose(exact.root(Fraction(value) ** 2), value)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_gives_finite_rows_and_labels(name):
    rng = np.random.default_rng(6)
    for _ in range(30):
        case = draw(rng, name)
        n, d = case.X.shape
        assert 1 <= n <= 10 and 1 <= d <= 4 and case.y.shape == (n,) and set(case.y.tolist()) <= {-1, 1}
        values = case.X.data if sparse.issparse(case.X) else case.X
        assert np.isfinite(values).all() and values.dtype in (np.float64, np.float32, np.int64)
