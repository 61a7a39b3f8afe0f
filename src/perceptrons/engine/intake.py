"""From arrays to row records: the one place where indices and values are checked.

Compiled loops trust what comes out of here: indices in range, no feature twice in a row, every value
finite, memory aligned and contiguous. All arrays are handed on read-only, so that a memory map and an
array of one's own run the same compiled code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._sparse import CsrRows, as_scipy, is_sparse
from ..rows import Csr, Dense, sum_of_squares
from .compiler import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._types import AnyMatrix, Floats, Matrix, Reals, SparseMatrix, Unsigned

EMPTY = np.empty(0)
EMPTY.flags.writeable = False


def frozen(a: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> np.ndarray:
    """A read-only, aligned, C-contiguous view of ``a``, or a copy where there is none."""
    a = np.require(a, dtype, ["C", "A"]).view(np.ndarray)
    a.flags.writeable = False
    return a


def held_exactly(given: Any, dtype: np.dtype) -> bool:
    """Whether floats of this type hold every number that was given: False where that is not certain.

    Whole numbers beyond 2^53 and wider floats are rounded by conversion. ``given`` is what the user gave: an
    array, a sparse matrix, a data frame, a dict of values, lists.
    """
    if is_sparse(given):
        given = given.data if given.format in ("csr", "csc", "coo", "bsr") else given.tocoo().data
    if isinstance(given, np.ndarray) and given.dtype == dtype:
        return True
    if hasattr(given, "columns") and hasattr(given, "iloc"):  # a data frame: columns of several types
        return all(held_exactly(given.iloc[:, j].to_numpy(), dtype) for j in range(given.shape[1]))
    if isinstance(given, dict):
        given = np.asarray(list(given.values()), object)
    a = np.asarray(given)
    if a.dtype.kind in "iu":
        most = 2 ** (np.finfo(dtype).nmant + 1)
        return bool(np.all((a <= most) & (a >= -most)))
    if a.dtype.kind in "bf":
        with np.errstate(over="ignore"):
            return a.dtype.itemsize <= dtype.itemsize or bool(np.all(a.astype(dtype).astype(a.dtype) == a))
    try:
        return all(x == float(dtype.type(x)) for x in a.ravel().tolist())
    except (TypeError, ValueError, OverflowError):
        return False


def survey_indices(indices: np.ndarray, indptr: np.ndarray) -> tuple[int, bool]:
    """(highest, whether each row ascends); a negative index counts as a very high one."""
    used = unsigned(indices[: indptr[-1]])
    if not len(used):
        return -1, True
    n_descents, highest = survey(frozen(used), frozen(indptr, np.int64).view(np.uint64))
    return int(highest), n_descents == 0


def unsigned(indices: np.ndarray) -> np.ndarray:
    """The same bits, read as numbers that cannot be negative."""
    return indices.view(indices.dtype.str.replace("i", "u"))


@compiled
def survey(a: Unsigned, indptr: Unsigned) -> tuple[int, int]:
    """(entries of a row that are not larger than the one before, the highest entry); there is an entry.

    Descents are counted over all rows at once, and those that merely fall between two rows taken off again.
    """
    before, after = a[:-1], a[1:]
    n, highest = 0, a[0]
    for p in range(before.shape[0]):
        n += after[p] <= before[p]
        highest = max(highest, after[p])
    for i in range(indptr.shape[0] - 1):
        p = indptr[i]
        if 0 < p < indptr[i + 1]:
            n -= a[p] <= a[p - np.uint64(1)]
    return n, highest


@compiled
def square_rows_dense(X: Reals, bias2: float, out: Floats) -> None:
    for i in range(out.shape[0]):
        out[i] = sum_of_squares(X[i], np.uint64(0), np.uint64(X.shape[1])) + bias2


@compiled
def square_rows_csr(data: Reals, indptr: Unsigned, bias2: float, out: Floats) -> None:
    for i in range(out.shape[0]):
        out[i] = sum_of_squares(data, indptr[i], indptr[i + 1]) + bias2


def checked_csr(X: AnyMatrix) -> SparseMatrix:
    """X as CSR whose structure can be trusted; raises ValueError that names the row.

    Duplicate or unsorted entries are put in order in a copy. Other formats are checked before they are
    converted, because conversion does not check.
    """
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; got a sparse array of shape {X.shape}.")
    if isinstance(X, CsrRows):  # the readers do not put columns in order
        pointers, found = frozen(X.indptr, np.int64), frozen(X.indices)
        _check_pointers(pointers, min(len(found), len(X.data)))
        highest, ascending = survey_indices(found, pointers)
        if highest < X.shape[1] and ascending:
            return cast("SparseMatrix", X)
        X = as_scipy(X)
    import scipy.sparse as sp

    if X.format != "csr":
        _check_other_format(X)
        X = X.tocsr()
    if type(X) not in (sp.csr_array, sp.csr_matrix):  # a class of the user's may show other arrays later
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    n_features = X.shape[1]
    indices, indptr = np.asarray(X.indices), np.asarray(X.indptr)
    _check_kinds(X.shape[0], indices, indptr)
    if not (indices.dtype.isnative and X.data.dtype.isnative):
        indices = indices.astype(indices.dtype.newbyteorder("="))
        data = X.data.astype(X.data.dtype.newbyteorder("="))
        X = sp.csr_array((data, indices, indptr.astype(np.int64)), shape=X.shape)
        indices, indptr = X.indices, X.indptr
    pointers, found = frozen(indptr, np.int64), frozen(indices)
    _check_pointers(pointers, min(indices.shape[0], X.data.shape[0]))
    highest, ascending = survey_indices(found, pointers)
    if highest >= n_features:
        _refuse_index(found, pointers, n_features)
    if len(X.data) > pointers[-1] or len(found) > pointers[-1]:  # no row has what lies beyond
        used = slice(0, pointers[-1])
        X = sp.csr_array((X.data[used], indices[used], indptr), shape=X.shape)
        indices = X.indices
    if not ascending:
        X = sp.csr_array((X.data, indices, indptr), shape=X.shape, copy=True)
        X.sum_duplicates()
    checked: SparseMatrix = X
    return checked


def _check_kinds(n_rows: int, indices: np.ndarray, indptr: np.ndarray) -> None:
    if indptr.shape != (n_rows + 1,) or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ValueError(
            f"X is a broken CSR matrix: indptr must hold {n_rows + 1} integers; got "
            f"{indptr.shape} of type {indptr.dtype}, and indices of type {indices.dtype}."
        )


def _check_pointers(pointers: np.ndarray, n_stored: int) -> None:
    """Refuse pointers that do not ascend from 0 to at most ``n_stored``."""
    if pointers[0] == 0 and pointers[-1] <= n_stored and (pointers[1:] >= pointers[:-1]).all():
        return
    wrong = np.append(pointers[1:] < pointers[:-1], False) | (pointers < 0) | (pointers > n_stored)
    row = int(np.argmax(wrong))
    raise ValueError(
        f"X is a broken CSR matrix: indptr is not an ascending sequence from 0 to at most "
        f"{n_stored} at row {row}."
    )


def check_again(X: Any, rows: object = None) -> None:
    """Refuse a CSR matrix, or the record of one, that user code has broken since it was checked.

    Values may change: no loop relies on them. So may dense rows.
    """
    while hasattr(X, "parts") or hasattr(X, "X"):  # as prepared for a kernel, or for a kernel of several
        for part in getattr(X, "parts", [])[1:]:
            check_again(part)
        X = X.parts[0] if hasattr(X, "parts") else X.X
    try:
        if is_sparse(X):
            indices, indptr = np.asarray(X.indices), np.asarray(X.indptr)
            _check_kinds(X.shape[0], indices, indptr)
            _check_pointers(indptr, min(len(indices), len(X.data)))
            _check_indices(indices, indptr, X.shape[1])
        if isinstance(rows, Csr):
            pointers = rows.indptr.view(np.int64)
            _check_pointers(pointers, min(len(rows.indices), len(rows.data)))
            if not np.shares_memory(rows.indices, X.indices):
                _check_indices(rows.indices, pointers, X.shape[1])
    except ValueError as error:
        raise ValueError(f"X was changed while it was read. {error}") from None


def _check_indices(indices: np.ndarray, indptr: np.ndarray, n_features: int) -> None:
    used = unsigned(indices[: indptr[-1]])
    if len(used) and used.max() >= n_features:
        _refuse_index(indices, indptr, n_features)


def _check_other_format(X: AnyMatrix) -> None:
    """Refuse indices that scipy's conversion to CSR would follow out of bounds."""
    try:
        if X.format == "coo":
            for axis, (found, size) in enumerate(zip(X.coords, X.shape, strict=True)):
                if len(found) and (found.min() < 0 or found.max() >= size):
                    bad = found[(found < 0) | (found >= size)][0]
                    kind = "column" if axis else "row"
                    raise ValueError(f"an entry has {kind} index {bad}, outside 0..{size - 1}.")
        elif hasattr(X, "check_format"):
            X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"X is a broken {X.format.upper()} matrix: {error}") from error


def _refuse_index(indices: np.ndarray, indptr: np.ndarray, n_features: int) -> None:
    used = indices[: indptr[-1]]
    at = int(np.flatnonzero((used < 0) | (used >= n_features))[0])
    row = int(np.searchsorted(indptr, at, side="right")) - 1
    raise ValueError(
        f"X is a broken CSR matrix: row {row} has column index {used[at]}, outside 0..{n_features - 1}."
    )


#: A squared length below this has lost digits to underflow.
LEAST_SQUARE = float(np.finfo(np.float64).tiny)


def make_rows(X: Matrix, bias: float, unit: bool, learn: bool = False) -> Dense | Csr:
    """The record of a dense float array or of a CSR matrix that :func:`checked_csr` has passed.

    Raises ValueError on NaN, infinity, and rows whose squared length overflows; where the rows are to be
    learned, on non-zero rows whose squared length underflows, too: they would be taken for zero.
    """
    sq = np.empty(X.shape[0])
    rows: Dense | Csr
    if is_sparse(X):
        data = frozen(X.data, X.data.dtype.newbyteorder("="))
        indices, indptr = frozen(X.indices), frozen(X.indptr, np.int64)
        pointers = indptr.view(np.uint64)
        _check_pointers(indptr, min(len(indices), len(data)))  # labels and weights have been read since
        square_rows_csr(data, pointers, bias * bias, sq)
        rows = Csr(data, unsigned(indices), pointers, frozen(sq), float(bias), bool(unit))
    else:
        dense = frozen(X)
        square_rows_dense(dense, bias * bias, sq)
        rows = Dense(dense, frozen(sq), float(bias), bool(unit))
    if not np.isfinite(sq).all():
        row = int(np.flatnonzero(~np.isfinite(sq))[0])
        values = X[[row]].data if is_sparse(X) else X[row]
        found = "NaN" if np.isnan(values).any() else "infinity"
        if np.isfinite(values).all():
            raise ValueError(
                f"Row {row} of X is too large: its squared length overflows (largest value "
                f"{np.abs(values).max():.3g}). Scale the data."
            )
        raise ValueError(f"Input X contains {found} (row {row}).")
    if learn and bias == 0.0:
        _refuse_vanishing(X, sq)
    return rows


def _refuse_vanishing(X: Matrix, sq: np.ndarray) -> None:
    for row in np.flatnonzero(sq < LEAST_SQUARE).tolist():
        values = X[[row]].data if is_sparse(X) else X[row]
        if np.any(values):
            raise ValueError(
                f"Row {row} of X is too small: its squared length underflows (largest value "
                f"{np.abs(values).max():.3g}). Scale the data."
            )
