"""Gordan: some halfspace separates the rows, or some weights bring them to 0; never both, never neither."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from strategies import best_margin, samples, separable

from perceptrons import Perceptron, separability

INTERCEPT = pytest.mark.parametrize("fit_intercept", [True, False])


def signed(X, y, fit_intercept):
    """The rows y(x, 1)."""
    return y[:, None] * (np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X)


def one_holds(X, y, fit_intercept):
    """The verdict, proved in fractions here, without the library's own check."""
    proof = separability(X, y, fit_intercept=fit_intercept)
    Z = [[Fraction(v) for v in row] for row in signed(X, y, fit_intercept).tolist()]
    assert proof.exact
    if proof.verdict == "separable":
        v = [Fraction(c) for c in (*proof.w.tolist(), *([proof.b] if fit_intercept else []))]
        assert all(sum(a * b for a, b in zip(z, v)) > 0 for z in Z)
    else:
        assert proof.verdict == "not separable"
        rows, n = proof.support.tolist(), proof.numerators
        assert min(n) > 0 and sum(n) == proof.denominator
        assert all(sum(k * Z[i][j] for i, k in zip(rows, n)) == 0 for j in range(len(Z[0])))
    return proof


@INTERCEPT
@given(samples())
def test_exactly_one_of_the_two(fit_intercept, sample):
    X, y, _ = sample
    proof = one_holds(X, y, fit_intercept)
    Z = signed(X, y, fit_intercept)
    # a linear program of another shape: z<v> >= 1 has a solution, or it has none
    other = optimize.linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None))
    assert (proof.verdict == "separable") == (other.status == 0)
    assert (proof.verdict == "separable") == (best_margin(Z, np.ones(len(Z))) > 0.0)


@given(separable(both_labels=False))
def test_what_a_direction_labels_is_separable(data):
    X, y, _, gamma = data
    proof = one_holds(X, y, False)
    assert proof.verdict == "separable" and proof.bracket[1] >= gamma


@INTERCEPT
@given(st.integers(0, 2**32 - 1))
def test_integer_grids(fit_intercept, seed):
    """Lattice points meet in lines, planes and copies: every degenerate case, on few numbers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (rng.integers(2, 12), rng.integers(1, 4))).astype(float)
    y = np.where(rng.random(len(X)) < 0.5, -1, 1)
    one_holds(X, y, fit_intercept)


def test_all_labellings_of_a_square():
    """Of the 16 labellings of four corners 14 are linear; the 2 others are exclusive or."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = [one_holds(X, np.array(y), True).verdict for y in itertools.product([-1, 1], repeat=4)]
    assert found.count("separable") == 14 and found.count("not separable") == 2


def test_all_labellings_of_points_in_general_position():
    """Cover: n points in general position have 2 sum_{k <= d} C(n-1, k) linear labellings: here 2(1+5+10)."""
    X = np.array([[0, 0], [1, 7], [2, 3], [4, 1], [5, 5], [7, 2]], dtype=float)
    found = [one_holds(X, np.array(y), True).verdict for y in itertools.product([-1, 1], repeat=6)]
    assert found.count("separable") == 32


@INTERCEPT
@given(samples(), st.data())
def test_the_verdict_hangs_on_nothing_else(fit_intercept, sample, draw):
    """Order of the rows, order of the columns, scale, names of the labels, storage, copies of rows."""
    X, y, _ = sample
    rows = draw.draw(st.permutations(range(len(y))), label="rows")
    columns = draw.draw(st.permutations(range(X.shape[1])), label="columns")
    scale = 2.0 ** np.array(
        draw.draw(st.lists(st.integers(-30, 30), min_size=X.shape[1], max_size=X.shape[1]))
    )
    verdict = separability(X, y, fit_intercept=fit_intercept).verdict
    for X2, y2 in [
        (X[rows], y[rows]),
        (X[:, columns], y),
        (X * scale, y),
        (X, -y),
        (X, np.where(y > 0, "ham", "spam")),
        (sparse.csr_array(X), y),
        (np.vstack([X, X]), np.append(y, y)),
        (X.astype(np.float32), y),
    ]:
        assert separability(X2, y2, fit_intercept=fit_intercept).verdict == verdict


@given(samples())
def test_a_perceptron_agrees(sample):
    """A clean pass and the weights of (b) exclude each other."""
    X, y, _ = sample
    run = Perceptron(max_iter=200, random_state=0).fit(X, y)
    if run.stop_reason_ == "clean pass":
        assert separability(X, y).verdict == "separable"


@given(samples())
def test_the_best_margin_is_in_the_bracket(sample):
    X, y, _ = sample
    low, up = separability(X, y, fit_intercept=False).bracket
    best = best_margin(X, y)
    assert low <= best * (1.0 + 1e-7) and best <= up * (1.0 + 1e-7) + 1e-12
