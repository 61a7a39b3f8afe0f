"""Sparse matrices, for every package: what is one, and how to read few rows of a wide one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Matrix, MatrixLike

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import TypeIs

    from ._types import SparseMatrix


class CsrRows:
    """CSR rows as the readers of files make them: the arrays of a ``scipy.sparse.csr_array``, without SciPy.

    SciPy takes longer to import than a small file to learn. A learner reads the arrays; for any other
    operation there is :func:`as_scipy`.
    """

    __slots__ = ("data", "indices", "indptr", "shape")
    format, ndim = "csr", 2

    def __init__(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]):
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self.indptr[-1])

    def __getitem__(self, rows: slice | np.ndarray | list[int]) -> CsrRows:
        """Some rows."""
        chosen = np.arange(self.shape[0])[rows]
        lengths = np.diff(self.indptr)[chosen]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(self.indptr.dtype)
        entries = np.repeat(self.indptr[:-1][chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return CsrRows(self.data[entries], self.indices[entries], indptr, (len(chosen), self.shape[1]))

    def astype(self, dtype: npt.DTypeLike) -> CsrRows:
        """The same rows with values of another type."""
        return CsrRows(self.data.astype(dtype), self.indices, self.indptr, self.shape)


def is_sparse(X: object) -> TypeIs[SparseMatrix]:
    """Whether X is CSR rows or one of SciPy's sparse containers; SciPy is not imported to find out."""
    if isinstance(X, CsrRows):
        return True
    scipy = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(X))


def as_scipy(X: Any) -> Any:
    """X, as a ``scipy.sparse.csr_array`` if it is :class:`CsrRows`; the arrays are shared."""
    if not isinstance(X, CsrRows):
        return X
    import scipy.sparse as sp

    return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


def as_floats(X: MatrixLike) -> Matrix:
    """Rows as float64: a CSR array, or an array."""
    if not is_sparse(X):
        return np.asarray(X, dtype=np.float64)
    import scipy.sparse as sp

    given: Any = as_scipy(X)  # SciPy's types do not have this call
    return sp.csr_array(given, dtype=np.float64)


def with_values(X: SparseMatrix, data: np.ndarray) -> SparseMatrix:
    """A CSR array with entries where X has them."""
    import scipy.sparse as sp

    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def columns_in_use(X: Matrix) -> np.ndarray | None:
    """The columns that a CSR matrix has entries in, ascending; None where the matrix is not much wider."""
    if not is_sparse(X) or 8 * X.nnz >= X.shape[1]:  # sorting an entry costs as much as copying 8 weights
        return None
    return np.unique(X.indices)


def narrowed(X: Matrix, columns: np.ndarray) -> Matrix:
    """Some columns of a matrix, ascending: of CSR at the cost of its entries, however wide it is.

    scipy's own indexing and products take a time that grows with the width.
    """
    if not is_sparse(X):
        return X[:, columns]
    import scipy.sparse as sp

    places = np.searchsorted(columns, X.indices)
    kept = columns[np.minimum(places, len(columns) - 1)] == X.indices if len(columns) else places < 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return sp.csr_array((X.data[kept], places[kept], before[X.indptr]), shape=(X.shape[0], len(columns)))
