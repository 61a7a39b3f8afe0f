"""From arrays to row records: what compiled loops may rely on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons.engine.intake import checked_csr, frozen, make_rows
from perceptrons.rows import Csr, Dense

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])


def test_frozen():
    a = np.arange(6.0).reshape(2, 3)
    view = frozen(a)
    assert np.shares_memory(view, a) and not view.flags.writeable and a.flags.writeable
    for odd in (a.T, a[::-1], a[:, ::2], np.asfortranarray(a)):
        flat = frozen(odd)
        np.testing.assert_array_equal(flat, odd)
        assert flat.flags.c_contiguous and flat.flags.aligned and not flat.flags.writeable
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64)
    assert not raw.flags.aligned and frozen(raw).flags.aligned
    assert frozen([1, 2], np.int64).dtype == np.int64
    assert type(frozen(np.ma.masked_array([1.0]))) is np.ndarray


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_records(bias):
    dense, csr = make_rows(X, bias, False), make_rows(sp.csr_array(X), bias, True)
    assert isinstance(dense, Dense) and isinstance(csr, Csr)
    for record in (dense, csr):
        np.testing.assert_array_equal(record.sq, [5.0 + bias**2, bias**2, 9.0 + bias**2])
        assert record.bias == bias
        arrays = [part for part in record if isinstance(part, np.ndarray)]
        assert not any(part.flags.writeable for part in arrays)
    assert csr.indices.dtype == np.uint32 and csr.indptr.dtype == np.uint64
    assert csr.unit and not dense.unit


def test_squares_are_double_whatever_the_data():
    record = make_rows(np.full((1, 2), 1e30, np.float32), 0.0, False)
    assert record.sq.dtype == np.float64
    assert record.sq[0] == pytest.approx(2e60, rel=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_values_are_checked(kind):
    for value, message in (
        (np.nan, r"Input X contains NaN \(row 2\)"),
        (-np.inf, r"Input X contains infinity \(row 2\)"),
        (1e200, r"Row 2 of X is too large: its squared length overflows \(largest value 1e\+200\)"),
    ):
        bad = X.copy()
        bad[2, 0] = value
        with pytest.raises(ValueError, match=message):
            make_rows(kind(bad), 1.0, False)


def test_a_good_matrix_is_passed_on_as_it_is():
    A = sp.csr_array(X)
    assert checked_csr(A) is A
    assert checked_csr(sp.csr_array((0, 3))).shape == (0, 3)
    assert checked_csr(sp.csr_array((3, 3))).nnz == 0


def test_disorder_is_put_right_in_a_copy():
    indices, data = np.array([2, 0, 2, 1], np.int32), np.array([1.0, 1.0, 1.0, 3.0])
    A = sp.csr_array((data, indices, np.array([0, 3, 3, 4], np.int32)), shape=(3, 3))
    B = checked_csr(A)
    np.testing.assert_array_equal(B.toarray(), X)
    assert B.has_canonical_format
    np.testing.assert_array_equal(A.indices, [2, 0, 2, 1])
    np.testing.assert_array_equal(A.data, data)
    assert checked_csr(B) is B


def test_descents_between_rows_are_none():
    A = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]))
    assert checked_csr(A) is A


def test_what_lies_beyond_the_last_pointer_is_nobodys():
    A = sp.csr_array(X)
    A.data = np.append(A.data, np.nan)
    A.indices = np.append(A.indices, np.int32(99))
    B = checked_csr(A)
    assert len(B.data) == len(B.indices) == 3
    np.testing.assert_array_equal(B.toarray(), X)


def test_other_formats_are_converted():
    for kind in (sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array, sp.lil_array, sp.dok_array):
        B = checked_csr(kind(X))
        assert B.format == "csr"
        np.testing.assert_array_equal(B.toarray(), X)
