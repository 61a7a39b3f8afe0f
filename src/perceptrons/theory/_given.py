"""Checks of the rows and labels given to ``certify`` and ``verify``: what is accepted and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._sparse import is_sparse
from .._types import Ints, Matrix, MatrixLike, SparseMatrix
from ._outward import float64_rounds


def label_list(y: Any) -> list[Any]:
    """Labels as Python's own objects, one per row."""
    return y.tolist() if hasattr(y, "tolist") else list(y)


def label_codes(classes: Any, y: Any) -> Ints:
    """The place of each label among the classes; ValueError names one that is not there.

    >>> label_codes(["ham", "spam"], ["spam", "ham"])
    array([1, 0])
    """
    places = {label: code for code, label in enumerate(label_list(classes))}
    labels = label_list(y)
    strange = next((label for label in labels if label not in places), None)
    if strange is not None:
        raise ValueError(f"y has a label {strange!r} that the model does not know.")
    return np.asarray([places[label] for label in labels], dtype=np.int64)


def numbers(X: MatrixLike) -> Matrix:
    """Rows as a CSR matrix or an array; ValueError in one line for anything else.

    Integers stay what they are, so that those beyond 2**53 are not rounded.

    >>> numbers([[1, 2], [3, 4]]).dtype.kind, numbers(np.array([[1, 2.5]], dtype=object)).dtype.kind
    ('i', 'f')
    """
    if is_sparse(X):
        return _unique(X if X.format == "csr" else X.tocsr())
    try:
        rows = np.asarray(X)
    except ValueError as error:
        raise ValueError("X must be a matrix of one row per example; its rows differ in length.") from error
    if rows.ndim == 1 and rows.size and isinstance(rows[0], Mapping):
        raise ValueError(
            "X must be a matrix; got rows as dicts. Give their columns in the order of the model: "
            "[[x.get(name, 0.0) for name in model.feature_names_in_] for x in X]."
        )
    if rows.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {rows.ndim} dimension(s).")
    if rows.dtype.kind not in "biufO":
        raise ValueError(f"X must hold numbers; got an array of {rows.dtype}.")
    if rows.dtype == object and not float64_rounds(rows):
        try:
            return rows.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"X must hold numbers that float64 can hold: {error}.") from error
    if rows.dtype.kind == "f" and (_wide(rows) or _mixed(X)):
        raise ValueError(
            "X has numbers that float64 rounds; a certificate is about float64 rows or integers. Give "
            "np.asarray(X, dtype=float)."
        )
    return rows


def _unique(X: SparseMatrix) -> SparseMatrix:
    """The matrix; integers that are summed could overflow."""
    if X.dtype.kind in "iu" and not X.has_canonical_format and float64_rounds(X):
        X = X.copy()
        X.sort_indices()
        X.has_canonical_format = False  # SciPy computes it again
        if any(np.any(np.diff(X.indices[a:b]) == 0) for a, b in zip(X.indptr[:-1], X.indptr[1:])):
            raise ValueError(
                "X has integers beyond 2**53 and some entry twice. Call X.sum_duplicates() first."
            )
    return X


def _wide(rows: np.ndarray) -> bool:
    """Whether floats of more than 64 bits would be rounded."""
    with np.errstate(over="ignore"):
        return rows.dtype.itemsize > 8 and bool(np.any(rows.astype(np.float64) != rows))


def _mixed(X: Any) -> bool:
    """Whether a table has integers that float64 rounds beside columns of floats."""
    if not (hasattr(X, "dtypes") and hasattr(X, "iloc")):
        return False
    return any(float64_rounds(X.iloc[:, j].to_numpy()) for j in range(X.shape[1]))
