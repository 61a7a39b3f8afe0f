"""Rows in one piece: the entries of CSR rows, and where a fit has them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import AROW, ROMMA, Perceptron
from perceptrons import rows as verbs
from perceptrons.engine import intake, look_ahead, packing, prefetch, renumbering
from perceptrons.engine.compiler import compiled

SIZES = [("f4", "u4"), ("f8", "u4"), ("f8", "u8")]


@pytest.fixture(autouse=True)
def on_every_processor(monkeypatch):
    monkeypatch.setattr(packing, "helps", lambda: True)


def drawn(values, indices, n=40, width=30, seed=0):
    """CSR rows of all lengths from 0 on, odd and even."""
    X = sp.random_array((n, width), density=0.3, rng=np.random.default_rng(seed), format="csr")
    X = sp.vstack([sp.csr_array((1, width)), X, sp.csr_array((2, width))], format="csr")
    X.data -= 0.5
    rows = intake.make_rows(sp.csr_array(X, dtype=values), 0.5, False)
    return rows._replace(indices=intake.frozen(rows.indices, indices))


@compiled
def score_all(rows, order, w, out):
    for at in range(order.shape[0]):
        look_ahead.look_ahead(rows, order, at, True)
        out[at] = verbs.look(rows, order[at], w)


@compiled
def push_all(rows, order, w):
    for at in range(order.shape[0]):
        verbs.push(rows, order[at], 0.25 * (at + 1), w)


@pytest.mark.parametrize(("values", "indices"), SIZES)
def test_every_entry_of_every_row(values, indices):
    rows = drawn(values, indices)
    made = packing.packed(rows)
    assert made.data.dtype == values and made.indices.dtype == indices
    assert np.shares_memory(made.data, made.indices) and not made.data.flags.writeable
    ends = [0]
    for i in range(len(rows.sq)):
        for r in (rows, made):
            assert verbs.end(r, i) - verbs.begin(r, i) == rows.indptr[i + 1] - rows.indptr[i]
        found, wanted = (
            [
                (int(verbs.column(r, p)), float(verbs.value(r, i, p)))
                for p in range(verbs.begin(r, i), verbs.end(r, i))
            ]
            for r in (made, rows)
        )
        assert found == wanted
        n = int(rows.indptr[i + 1] - rows.indptr[i])
        start, first = int(verbs.packed_start(made, i)), int(verbs.packed_values(made, i))
        assert start >= ends[-1]  # no two rows share a number
        assert first * made.data.itemsize >= start * made.data.itemsize + n * made.indices.itemsize
        ends.append(first + n)
    assert ends[-1] <= len(made.data)


@pytest.mark.parametrize(("values", "indices"), SIZES)
def test_compiled_verbs_have_the_bits_of_csr_rows(values, indices):
    rows = drawn(values, indices, seed=1)
    n = len(rows.sq)
    order = np.random.default_rng(2).permutation(n)
    w = np.random.default_rng(3).standard_normal(31).astype(values)
    scores = []
    for r in (rows, packing.packed(rows)):
        out, v = np.empty(n), w.copy()
        score_all(r, order, w, out)
        push_all(r, order, v)
        scores.append((out.tobytes(), v.tobytes()))
    assert scores[0] == scores[1]


def test_no_rows_and_no_entries():
    for shape in ((0, 5), (3, 5)):
        made = packing.packed(intake.make_rows(sp.csr_array(shape), 1.0, False))
        assert [verbs.end(made, i) - verbs.begin(made, i) for i in range(shape[0])] == [0] * shape[0]


def test_values_smaller_than_indices_are_not_packed():
    assert not packing.can(drawn("f4", "u8")) and packing.can(drawn("f8", "u4"))


def test_where_it_pays(monkeypatch):
    rows = drawn("f4", "u4")
    assert not packing.pays(rows, None)
    monkeypatch.setattr(packing, "LEAST_BYTES", 0)
    assert packing.pays(rows, None) and packing.pays(rows, packing.LEAST_EPOCHS)
    assert not packing.pays(rows, packing.LEAST_EPOCHS - 1)
    assert renumbering.pays(rows, 30, 1, None, True) and not renumbering.pays(rows, 30, 1, None, False)
    monkeypatch.setattr(renumbering, "MOST_BYTES", packing.size(rows) - 1)  # X may not be copied whole
    assert not renumbering.pays(rows, 30, 1, None, True)
    monkeypatch.setattr(renumbering, "LEAST_BYTES", 0)  # its indices may
    found = renumbering.slotted(rows, 30, 1, None, True)
    assert isinstance(found.rows, verbs.Csr)


@pytest.mark.parametrize(
    ("model", "given", "used"),
    [
        (Perceptron(), {}, True),
        (Perceptron(shuffle=False), {}, False),
        (Perceptron(max_iter=3), {}, False),
        (Perceptron(), {"order": [[0, 1, 2]] * 20}, False),
        (ROMMA(), {}, False),  # its steps change all columns
        (AROW(), {}, False),
    ],
    ids=str,
)
def test_which_fits_have_it(model, given, used, monkeypatch):
    monkeypatch.setattr(packing, "LEAST_BYTES", 0)
    calls = []
    fill = packing.fill
    monkeypatch.setattr(packing, "fill", lambda *args: (calls.append(args), fill(*args))[1])
    X = sp.random_array((30, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    model.fit(X, np.arange(30) % 2, **given)
    assert bool(calls) == used


@pytest.mark.parametrize("kind", [prefetch.SAPPHIRE_RAPIDS, prefetch.ZEN_4, prefetch.ZEN_5])
def test_the_processor_decides_whether_there_is_a_copy(kind, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(packing, "processor", lambda: kind)
    monkeypatch.setattr(packing, "jit_disabled", lambda: False)
    monkeypatch.setattr(packing, "LEAST_BYTES", 0)
    assert packing.helps() == kind.in_one_piece == (kind is prefetch.ZEN_4)
    assert (renumbering.slotted(drawn("f4", "u4"), 30, 1, None, True) is None) != kind.in_one_piece
    monkeypatch.setattr(packing, "jit_disabled", lambda: True)
    assert not packing.helps()
