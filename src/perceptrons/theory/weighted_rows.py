"""Labelled rows (x, 1) with weights of at least 0: the length of their sum, in floats and in fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from .._types import Floats, Matrix, MatrixLike
from . import _outward as outward
from . import _rational as rational
from ._outward import column_sums


def as_rows(X: MatrixLike) -> Matrix:
    """Rows as they are: float64, or whole numbers where float64 would round them.

    An array, or CSR with its entries in order, each once, none zero.
    """
    if is_sparse(X):
        from scipy import sparse

        made = sparse.csr_array(X, copy=True)
        if made.dtype.kind not in "iu" or not _rounds(made.data):
            made = made.astype(np.float64)
        made.sum_duplicates()
        made.eliminate_zeros()
        return made
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {array.ndim} dimension(s).")
    if array.dtype.kind == "O" and all(type(v) is int for v in array.flat) and _rounds(array):
        return array
    return array.astype(object) if array.dtype.kind in "iu" and _rounds(array) else array.astype(np.float64)


def _rounds(k: np.ndarray) -> bool:
    """Whether some of these integers are beyond the whole numbers that float64 has."""
    return bool(k.size) and max(int(k.max()), -int(k.min())) > 2**53


def signs(y: npt.ArrayLike) -> Floats:
    """Labels as -1 and +1, the larger one +1; a single one is +1, or -1 if it is a number up to 0.

    >>> signs(["ham", "spam"]), signs([0, 0])
    (array([-1.,  1.]), array([-1., -1.]))
    """
    y = np.asarray(y).ravel()
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) > 2:
        shown = ", ".join(repr(label) for label in labels[:3].tolist())
        raise ValueError(
            f"y must have one or two labels; got {len(labels)}: {shown}, ... Ask for one class against "
            "the rest: y == label."
        )
    if len(labels) == 1:
        negative = labels.dtype.kind in "biuf" and labels[0] <= 0
        return np.full(y.size, -1.0 if negative else 1.0)
    return np.where(codes.reshape(-1) == 1, 1.0, -1.0)


def float_residual(lam: np.ndarray, X: Matrix, y: np.ndarray, fit_intercept: bool) -> tuple[float, float]:
    """The residual in one product, and how far rounding may have moved it."""
    rows = np.flatnonzero(lam)
    (part, e), c = outward.scaled(X[rows]), lam[rows] * y[rows]
    s = np.asarray(part.T @ c).ravel()
    size = np.asarray(outward.sizes(part).T @ np.abs(c)).ravel()
    if fit_intercept:
        one = float(np.ldexp(1.0, -e))
        s, size = np.append(s, one * c.sum()), np.append(size, one)
    slack = 1.01 * (2 * rows.size + s.size + 16) * (rational.UNIT * outward.norm(size).high + rational.TINY)
    found = float(np.ldexp(outward.norm(s).high, e)), float(np.ldexp(slack, e))
    return found if all(map(math.isfinite, found)) else (exact_residual(lam, X, y, fit_intercept), 0.0)


def exact_residual(lam: np.ndarray, X: Matrix, y: np.ndarray, fit_intercept: bool) -> float:
    """The norm of the weighted rows over the sum of the weights; rounded once, up."""
    rows = np.flatnonzero(lam)
    k, _ = rational.whole(lam[rows])
    c = k.astype(object)
    total = int(c.sum())
    c = c * y[rows].astype(np.int64).astype(object)
    sums, shift = column_sums(c, rows, X)
    up, down = max(shift, 0), max(-shift, 0)  # x_i = whole numbers times 2^(down - up)
    square = sum(int(v) ** 2 for v in sums) << (2 * down)
    if fit_intercept:
        square += (int(c.sum()) << up) ** 2
    return rational.root_above(square, (total << up) ** 2)


def combination(
    n: Sequence[int], rows: np.ndarray, X: Matrix, y: np.ndarray, fit_intercept: bool
) -> str | None:
    """Whether whole numbers n weigh the rows y(x, 1) to 0 exactly; what is left, in words, if not."""
    c = np.empty(len(n), dtype=object)
    c[:] = [k if s > 0 else -k for k, s in zip(n, y[rows])]
    if fit_intercept and sum(c) != 0:
        return "the whole-number weights of the two classes do not sum to the same"
    sums, _ = column_sums(c, rows, X)
    if any(sums):
        return "the whole-number weights do not weigh the rows to 0"
    return None


def integer_columns(
    X: Matrix, y: np.ndarray, fit_intercept: bool, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(columns y(x, 1) of some rows times powers of 2, the features that they have, the exponents)."""
    part = X[rows]
    features: np.ndarray
    if is_sparse(part):
        features = np.unique(part.indices)
        block = part.tocsc()[:, features].toarray()
    else:
        features = np.flatnonzero(np.any(part != 0, axis=0))
        block = np.asarray(part)[:, features]
    k, shifts = rational.whole(block, axis=0)
    signs = y[rows].astype(np.int64)
    lines = k.T * signs
    if fit_intercept:
        lines = np.vstack([lines, signs[None, :].astype(lines.dtype)])
    return lines, features, np.asarray(shifts)
