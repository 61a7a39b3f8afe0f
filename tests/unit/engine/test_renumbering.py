"""Slots for columns: numbers by first appearance, copies of weights, and where they are not used."""

from __future__ import annotations

import copy
import pickle
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import Perceptron, rules
from perceptrons.engine import intake, renumbering, spaces
from perceptrons.engine.loops import linear

#: columns 6 2 | | 2 4 6 | 0
X = sp.csr_array(
    (np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([2, 6, 2, 4, 6, 0]), np.array([0, 2, 2, 5, 6])),
    shape=(4, 8),
)
ORDER = intake.frozen(np.arange(4))


def rows_of(X):
    return intake.make_rows(X, 1.0, False)


def test_arrays_are_attributes_of_spaces():
    assert not hasattr(spaces.Linear, "v") and not hasattr(object.__new__(spaces.Linear), "v")


def test_columns_are_numbered_by_first_appearance():
    rows = rows_of(X)
    found = renumbering.by_first_appearance(rows, 8)
    assert found.slots.columns.tolist() == [2, 6, 4, 0]
    assert found.rows.indices.tolist() == [0, 1, 0, 2, 1, 3]
    assert found.rows.indices.dtype == rows.indices.dtype
    assert found.rows.data is rows.data and found.rows.indptr is rows.indptr and found.source is rows
    assert found.slots.packed(np.arange(9.0)).tolist() == [2.0, 6.0, 4.0, 0.0, 8.0]
    assert found.slots.packed(np.arange(18).reshape(9, 2)).tolist() == [
        [4, 5],
        [12, 13],
        [8, 9],
        [0, 1],
        [16, 17],
    ]


def test_no_entries_and_entries_that_no_row_has():
    none = renumbering.by_first_appearance(rows_of(sp.csr_array((3, 5))), 5)
    assert none.slots.columns.tolist() == [] and none.slots.packed(np.arange(6.0)).tolist() == [5.0]
    more = rows_of(X)._replace(indices=intake.frozen(np.array([2, 6, 2, 4, 6, 0, 7, 99], np.uint32)))
    found = renumbering.by_first_appearance(more, 8)
    assert found.slots.columns.tolist() == [2, 6, 4, 0] and found.rows.indices.max() < 4


def space():
    return spaces.Linear(rules.Perceptron(1.0), spaces.Frame(), 8)


def learn(space, rows):
    y = intake.frozen(np.array([1.0, -1.0, -1.0, 1.0]))
    space.run(rows, y, intake.EMPTY, ORDER, False)


def test_weights_are_read_by_column():
    rows = rows_of(X)
    slotted = renumbering.by_first_appearance(rows, 8)
    plain, other = space(), space()
    other.renumber(slotted)
    for _ in range(3):
        learn(plain, rows)
        learn(other, rows)
        assert vars(other)["v"].tobytes() != plain.v.tobytes()  # not up to date until it is read
        assert other.v.tobytes() == plain.v.tobytes() and other.v.any()
        assert other.in_slots.arrays["v"].tolist() == slotted.slots.packed(other.v).tolist()
    other.close()
    assert other.in_slots is None and other.v.tobytes() == plain.v.tobytes()


@pytest.mark.parametrize("change", ["rows", "weights"])
def test_other_rows_and_new_weights_end_it(change):
    rows = rows_of(X)
    plain, other = space(), space()
    other.renumber(renumbering.by_first_appearance(rows, 8))
    for one in (plain, other):
        learn(one, rows)
        if change == "weights":
            one.v = -one.v
        learn(one, rows_of(X) if change == "rows" else rows)
    assert other.in_slots is None and other.v.tobytes() == plain.v.tobytes()


def test_a_reader_in_the_middle_of_a_pass_does_no_harm():
    """Another thread may read the weights while the loop runs."""
    rows = rows_of(X)
    one = space()
    one.renumber(renumbering.by_first_appearance(rows, 8))
    with one._in_use(rows) as used:
        used.arrays["v"][0] = 1.0
        assert one.v.tolist() == [0, 0, 1.0, 0, 0, 0, 0, 0, 0]
        used.arrays["v"][1] = 2.0
    assert one.v.tolist() == [0, 0, 1.0, 0, 0, 0, 2.0, 0, 0]


def test_a_reading_that_is_interrupted_is_made_again():
    rows = rows_of(X)
    one = space()
    one.renumber(renumbering.by_first_appearance(rows, 8))
    learn(one, rows)
    with (
        mock.patch.object(renumbering.ColumnSlots, "unpack", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        one.close()
    assert one.v.any() and one.v.tolist() == one.copy().v.tolist()


def through_a_pickle(space):
    return pickle.loads(pickle.dumps(space))


def test_copies_of_a_space_are_by_column():
    rows = rows_of(X)
    one = space()
    one.renumber(renumbering.by_first_appearance(rows, 8))
    learn(one, rows)
    copies = (spaces.Linear.copy, copy.deepcopy, spaces.Linear._shallow_copy, through_a_pickle)
    for make in copies:
        learn(one, rows)
        made = make(one)
        assert made.in_slots is None and made.v.tolist() == one.v.tolist()
    assert "in_slots" not in one.stored() and one.in_slots is not None


def test_where_it_pays():
    wide, rows = 1 << 22, rows_of(sp.csr_array(X, dtype=np.float32))
    assert renumbering.pays(rows, wide, 1, None) and renumbering.pays(rows, wide, 1, 20)
    assert renumbering.pays(rows, wide, 1, 6) and not renumbering.pays(rows, wide, 1, 5)
    assert not renumbering.pays(rows, 1000, 1, None)
    assert renumbering.pays(rows, wide, 8, None) and not renumbering.pays(rows, wide, 9, None)
    assert renumbering.slotted(intake.make_rows(np.eye(3), 1.0, False), wide, 1, None) is None


def test_rows_of_a_file_stay_where_they_are(tmp_path, monkeypatch):
    """A copy of mapped rows would be read into memory as a whole."""
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name).astype(np.int32 if name != "data" else np.float64))
    parts = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr")]
    mapped = sp.csr_array(tuple(parts), shape=X.shape)
    assert renumbering.is_mapped(rows_of(mapped).indices) and not renumbering.is_mapped(rows_of(X).indices)
    monkeypatch.setattr(renumbering, "LEAST_BYTES", 0)
    assert renumbering.pays(rows_of(X), 8, 1, None) and not renumbering.pays(rows_of(mapped), 8, 1, None)


def test_the_same_compiled_loop(monkeypatch):
    """Rows in order are not packed, which would be another type of rows."""
    y = [0, 1, 1, 0]
    Perceptron(max_iter=4, shuffle=False).fit(X, y)
    known = set(linear.run.target().signatures)
    monkeypatch.setattr(renumbering, "pays", lambda *_: True)
    Perceptron(max_iter=4, shuffle=False).fit(X, y)
    assert set(linear.run.target().signatures) == known


@pytest.mark.parametrize("call", ["partial_fit", "learn_one"])
def test_pieces_are_not_renumbered(call, monkeypatch):
    def refuse(*_):
        raise AssertionError("renumbered")

    monkeypatch.setattr(renumbering, "by_first_appearance", refuse)
    monkeypatch.setattr(renumbering, "pays", lambda *_: True)
    model = Perceptron()
    if call == "partial_fit":
        model.partial_fit(X, [0, 1, 1, 0])
    else:
        model.learn_one(X[[0]].toarray()[0], 0)
    with pytest.raises(AssertionError, match="renumbered"):
        Perceptron().fit(X, [0, 1, 1, 0])


def test_few_columns_have_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(5)
    for n, width in ((0, 10), (1, 10), (500, 30), (500, 2**31 - 1)):
        X = sp.csr_array((np.ones(n), rng.integers(0, width, n), [0, n]), shape=(1, width))
        rows = intake.make_rows(X, 0.0, False)
        found = []
        for few in (0, 10**12) if width < 100 else (0,):
            monkeypatch.setattr(renumbering, "FEW", few)
            made = renumbering.by_first_appearance(rows, width)
            found.append((made.slots.columns.tolist(), made.rows.indices.tolist()))
        order = list(dict.fromkeys(rows.indices.tolist()))
        assert all(one == (order, [order.index(j) for j in rows.indices.tolist()]) for one in found)
