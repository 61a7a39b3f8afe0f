"""Sparse matrices, for every room: what is one, and how to read few rows of a wide one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Matrix, MatrixLike

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ._types import SparseMatrix


def is_sparse(X: object) -> TypeIs[SparseMatrix]:
    """Whether X is one of scipy's sparse containers; scipy is not imported to find out."""
    scipy = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(X))


def as_floats(X: MatrixLike) -> Matrix:
    """Rows as float64: a CSR array, or an array."""
    if not is_sparse(X):
        return np.asarray(X, dtype=np.float64)
    import scipy.sparse as sp

    given: Any = X  # SciPy's types do not have this call
    return sp.csr_array(given, dtype=np.float64)


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
