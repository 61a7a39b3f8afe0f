"""Dense and CSR rows: the same verbs, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import rows as verbs
from perceptrons.engine import look_ahead
from perceptrons.engine.intake import make_rows

RNG = np.random.default_rng(0)
#: rows of 0 to 12 entries, so that every remainder of the unrolled sum occurs
WIDE = np.where(np.arange(12) < np.arange(13)[:, None], RNG.integers(-8, 9, (13, 12)), 0) / 4.0


def records(X: np.ndarray, bias: float, unit: bool) -> tuple[verbs.Dense, verbs.Csr]:
    return make_rows(X, bias, unit), make_rows(sp.csr_array(X), bias, unit)


@pytest.mark.parametrize("bias", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_verbs_agree(bias, unit, dtype):
    X = WIDE.astype(dtype)
    dense, csr = records(X, bias, unit)
    w = RNG.integers(-4, 5, 13).astype(dtype)
    for i, x in enumerate(X):
        full = np.append(x, bias).astype(float)
        length = np.sqrt(full @ full)
        if unit and length > 0.0:
            full = full / length
        for r in (dense, csr):
            assert verbs.look(r, i, w) == pytest.approx(full @ w, rel=1e-6 if dtype == np.float32 else 1e-14)
            assert verbs.sqnorm(r, i) == pytest.approx(full @ full, rel=1e-14)
            moved = w.copy()
            verbs.push(r, i, 2.0, moved)
            np.testing.assert_allclose(moved, w + 2.0 * full, atol=1e-6 if dtype == np.float32 else 1e-14)
            assert moved.dtype == dtype
        if not unit:  # quarters are exact
            assert verbs.look(dense, i, w) == verbs.look(csr, i, w)


def test_a_row_by_its_positions():
    X = np.array([[0.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    dense, csr = records(X, 0.0, False)
    for r, stored in ((dense, [(0, 0.0), (1, 2.0), (2, 0.0), (3, 3.0)]), (csr, [(1, 2.0), (3, 3.0)])):
        places = range(int(verbs.begin(r, 0)), int(verbs.end(r, 0)))
        assert [(verbs.column(r, p), verbs.value(r, 0, p)) for p in places] == stored
    assert verbs.begin(csr, 1) == verbs.end(csr, 1)
    assert verbs.dot(dense, 0, np.arange(5.0)) == verbs.dot(csr, 0, np.arange(5.0)) == 11.0


def test_unit_rows():
    dense, csr = records(np.array([[3.0, 4.0], [0.0, 0.0]]), 0.0, True)
    for r in (dense, csr):
        assert verbs.factor(r, 0) == 0.2
        assert verbs.sqnorm(r, 0) == 1.0
        assert verbs.factor(r, 1) == 1.0  # a zero row stays zero
        assert verbs.sqnorm(r, 1) == 0.0
        assert verbs.look(r, 1, np.ones(3)) == 0.0


def test_a_block_keeps_the_scores_of_its_later_rows():
    X = WIDE[:5]
    G = X @ X.T
    a = np.array([1.0, 0.0, -2.0, 0.0, 0.0, 0.0])  # coefficients of the five rows, and nothing for a bias
    block = verbs.Block(a[:5] @ G, G, np.arange(5, dtype=np.uint64), np.diag(G).copy(), 0.0, False)
    assert [verbs.look(block, i, a) for i in range(5)] == [(a[:5] @ G)[i] for i in range(5)]
    verbs.push(block, 1, 3.0, a)
    verbs.follow(block, 1, 3.0)
    assert a.tolist() == [1.0, 3.0, -2.0, 0.0, 0.0, 0.0]
    assert [verbs.look(block, i, a) for i in range(2, 5)] == [(a[:5] @ G)[i] for i in range(2, 5)]
    a *= 0.5
    verbs.scaled(block, 0.5)
    assert [verbs.look(block, i, a) for i in range(2, 5)] == [(a[:5] @ G)[i] for i in range(2, 5)]


def test_every_verb_knows_every_storage():
    # Near is one gathered row: there are no other rows to follow, to scale or to ask for
    sizes = (look_ahead.n_bytes, look_ahead.n_entries)
    ahead = (look_ahead.expect, look_ahead.expect_weights, look_ahead.announce)
    others = (verbs.follow, verbs.scaled, *sizes, *ahead)
    for stub, table in verbs.VERBS.items():
        near = set() if stub in others else {verbs.Near}
        assert set(table) == {verbs.Dense, verbs.Csr, verbs.Packed, verbs.Block} | near, stub
