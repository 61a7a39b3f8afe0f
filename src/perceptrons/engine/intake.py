"""From arrays to row records: the one place where indices and values are checked.

Compiled loops trust what comes out of here: indices in range, no feature twice in a row, every value
finite, memory aligned and contiguous. All arrays are handed on read-only, so that a memory map and an
array of one's own run the same compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..rows import Csr, Dense
from .compiler import compiled

_OK, _BAD_POINTERS, _BAD_INDEX, _NOT_CANONICAL = 0, 1, 2, 3
EMPTY = np.empty(0)
EMPTY.flags.writeable = False


def frozen(a: Any, dtype: Any = None) -> np.ndarray:
    """A read-only, aligned, C-contiguous view of ``a``, or a copy where there is none."""
    a = np.require(a, dtype, ["C", "A"]).view(np.ndarray)
    a.flags.writeable = False
    return a


@compiled
def check_csr(indices, indptr, n_features, n_stored):
    """Check a CSR structure; answers a code and the row it was found in."""
    if indptr[0] != 0:
        return _BAD_POINTERS, 0
    canonical = True
    for i in range(indptr.shape[0] - 1):
        start, stop = indptr[i], indptr[i + 1]
        if start > stop or stop > n_stored:
            return _BAD_POINTERS, i
        previous = -1
        for p in range(start, stop):
            j = np.int64(indices[p])
            if j < 0 or j >= n_features:
                return _BAD_INDEX, i
            canonical = canonical and j > previous
            previous = j
    return (_OK, 0) if canonical else (_NOT_CANONICAL, 0)


@compiled
def square_rows_dense(X, bias2, out):
    for i in range(X.shape[0]):
        x = X[i]
        total = 0.0
        for j in range(x.shape[0]):
            total += np.float64(x[j]) * np.float64(x[j])
        out[i] = total + bias2


@compiled
def square_rows_csr(data, indptr, bias2, out):
    for i in range(out.shape[0]):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[p]) * np.float64(data[p])
        out[i] = total + bias2


def checked_csr(X: Any) -> Any:
    """X as CSR whose structure can be trusted; raises ValueError that names the row.

    Duplicate or unsorted entries are put in order in a copy. Formats other than CSR are checked by scipy
    before they are converted, because conversion does not check.
    """
    if X.format != "csr":
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        X = X.tocsr()
    n_rows, n_features = X.shape
    indices, indptr = np.asarray(X.indices), np.asarray(X.indptr)
    if indptr.shape != (n_rows + 1,) or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ValueError(
            f"X is a broken CSR matrix: indptr must hold {n_rows + 1} integers; got "
            f"{indptr.shape} of type {indptr.dtype}."
        )
    n_stored = min(indices.shape[0], X.data.shape[0])
    code, row = check_csr(frozen(indices), frozen(indptr, np.int64), n_features, n_stored)
    if code == _BAD_POINTERS:
        raise ValueError(
            f"X is a broken CSR matrix: indptr is not an ascending sequence from 0 to at most "
            f"{n_stored} at row {row}."
        )
    if code == _BAD_INDEX:
        found = indices[indptr[row] : indptr[row + 1]]
        bad = found[(found < 0) | (found >= n_features)][0]
        raise ValueError(
            f"X is a broken CSR matrix: row {row} has column index {bad}, outside 0..{n_features - 1}."
        )
    if code == _NOT_CANONICAL:
        X = sp.csr_array((X.data, indices, indptr), shape=X.shape, copy=True)
        X.sum_duplicates()
    return X


def make_rows(X: Any, bias: float, unit: bool) -> Dense | Csr:
    """The record of a dense float array or of a CSR matrix that :func:`checked_csr` has passed.

    Raises ValueError on NaN, infinity, and rows whose squared length overflows.
    """
    sq = np.empty(X.shape[0])
    rows: Dense | Csr
    if sp.issparse(X):
        data = frozen(X.data, X.data.dtype.newbyteorder("="))
        indices, indptr = frozen(X.indices), frozen(X.indptr, np.int64)
        square_rows_csr(data, indptr.view(np.uint64), bias * bias, sq)
        unsigned = indices.view(indices.dtype.str.replace("i", "u"))
        rows = Csr(data, unsigned, indptr.view(np.uint64), frozen(sq), float(bias), bool(unit))
    else:
        dense = frozen(X)
        square_rows_dense(dense, bias * bias, sq)
        rows = Dense(dense, frozen(sq), float(bias), bool(unit))
    if not np.isfinite(sq).all():
        row = int(np.flatnonzero(~np.isfinite(sq))[0])
        values = X[[row]].data if sp.issparse(X) else X[row]
        found = "NaN" if np.isnan(values).any() else "infinity"
        if np.isfinite(values).all():
            raise ValueError(
                f"Row {row} of X is too large: its squared length overflows (largest value "
                f"{np.abs(values).max():.3g}). Scale the data."
            )
        raise ValueError(f"Input X contains {found} (row {row}).")
    return rows
