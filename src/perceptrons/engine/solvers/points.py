"""Rows behind inner products: as numbers, in the space of a kernel, or as a factor of kernel values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ..._sparse import is_sparse

if TYPE_CHECKING:
    from ..._types import AnyMatrix, Collection, Matrix
    from ...kernels import Kernel

RESIDUAL, KERNEL_RESIDUAL = 1e-12, 1e-7
"""Weights with a residual of at most this, times R, may be a proof that no separator exists: they are then
checked in whole numbers. Floats alone prove nothing. In the space of a kernel the square of the residual is
computed, so that half of its digits are rounding."""

COLUMNS = 64  # of kernel values, that a factor takes in at a time
ROOM = 4 << 30  # bytes that kernel values or their factor may take


class Points(Protocol):
    """Rows known by their inner products."""

    n: int
    radius: float  #: the length of the longest row, as given
    nought: float  #: a residual of at most this may be 0

    def block(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Inner products of some rows with others."""

    def scores(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """<w, x> of every row, for w = the sum of coef x over ``rows``."""

    def norm2(self, rows: np.ndarray, coef: np.ndarray) -> float:
        """||w||^2."""


class LinearPoints:
    """Rows of numbers. Dense ones are taken from their mean where the bias is free: it changes b alone."""

    def __init__(self, X: Matrix, squares: np.ndarray, free: bool):
        self.X = X
        self.n = int(X.shape[0])
        self.radius = float(np.sqrt(squares.max()))
        self.nought = RESIDUAL * self.radius
        self.center: np.ndarray | None = None
        self.origin: np.ndarray | None = None  # what is already subtracted
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # coefficients and their w
        if free and not is_sparse(X):
            self.center = X.sum(axis=0) / len(X)
            if X.size <= 1 << 16:
                self.settle()

    def settle(self) -> None:
        """Subtract the mean once and for all, in a copy of the rows."""
        if self.center is not None:
            self.X, self.origin, self.center = self.X - self.center, self.center, None

    def _rows(self, rows: np.ndarray) -> Matrix:
        return self.X[rows] if self.center is None else self.X[rows] - self.center

    def weights(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """w itself."""
        if self._last is None or self._last[0] is not coef:
            self._last = (coef, np.asarray(self._rows(rows).T @ coef))
        return self._last[1]

    def block(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        rows = self._rows(left)
        product: AnyMatrix = rows @ (rows if right is left else self._rows(right)).T
        values: np.ndarray = product.toarray() if is_sparse(product) else product
        return values

    def scores(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        w = self.weights(rows, coef)
        s = np.asarray(self.X @ w)
        return s if self.center is None else s - self.center @ w

    def norm2(self, rows: np.ndarray, coef: np.ndarray) -> float:
        w = self.weights(rows, coef)
        return float(w @ w)

    def intercept(self, w: np.ndarray, b: float) -> float:
        """b for the rows as they were given."""
        origin = self.origin if self.center is None else self.center
        return b if origin is None else b - float(w @ origin)


class KernelPoints:
    """Objects in the space of a kernel: values with all objects are kept for each row worked on."""

    def __init__(self, kernel: Kernel, objects: Collection, squares: np.ndarray, e: int = 0):
        """``squares`` is k(x, x); all values are multiplied by 4^-e."""
        self.kernel, self.objects, self.e = kernel, objects, e
        self.n = len(objects)
        squares = np.ldexp(squares, -2 * e) if e else squares
        self.diagonal = squares
        self.radius = float(np.sqrt(squares.max()))
        self.nought = KERNEL_RESIDUAL * self.radius
        self.position = np.full(self.n, -1)
        self.columns = np.empty((self.n, 0), order="F")
        self.used = 0

    def _values(self, rows: np.ndarray) -> np.ndarray:
        """Where the columns of these rows are; new ones are computed."""
        new = rows[self.position[rows] < 0]
        if len(new):
            total = self.used + len(new)
            fits(self.n, total, "Values of a kernel")
            values = self.fresh(new)
            if total > self.columns.shape[1]:
                larger = np.empty((self.n, min(self.n, 2 * total)), order="F")
                larger[:, : self.used] = self.columns[:, : self.used]
                self.columns = larger
            self.columns[:, self.used : total] = values
            self.position[new] = np.arange(self.used, total)
            self.used = total
        at: np.ndarray = self.position[rows]
        return at

    def fresh(self, rows: np.ndarray) -> np.ndarray:
        """Values of all objects with these, computed and not kept."""
        values = np.asarray(self.kernel.matrix(self.objects, self.objects[rows]), np.float64)
        if not np.isfinite(values).all():
            raise ValueError("A kernel value is not finite: scale the data.")
        return np.asarray(np.ldexp(values, -2 * self.e)) if self.e else values

    def block(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        values: np.ndarray = self.columns_of(right)[left]
        return values

    def columns_of(self, rows: np.ndarray) -> np.ndarray:
        """Values of all objects with these."""
        at = self._values(rows)  # first: it may replace the columns
        values: np.ndarray = self.columns[:, at]
        return values

    def scores(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        s: np.ndarray = self.columns_of(rows) @ coef
        return s

    def norm2(self, rows: np.ndarray, coef: np.ndarray) -> float:
        return max(0.0, float(coef @ self.block(rows, rows) @ coef))


def factored(points: KernelPoints) -> LinearPoints:
    r"""Vectors with the same inner products, up to rounding: the rows of a pivoted Cholesky factor.

    :math:`K = LL^\top` with as many columns in L as K has rank. The columns of K that become pivots are
    computed a few at a time, those of the objects with the largest :math:`K_{ii} - \|L_i\|^2` left, and
    none is kept: memory is n times the rank.
    """
    n, left = points.n, points.diagonal.copy()
    least = 1e-14 * n * points.radius**2
    L, rank = np.empty((n, COLUMNS)), 0
    while rank < n and left.max() > least:
        size = min(COLUMNS, n - rank)
        chosen = np.argpartition(left, n - size)[n - size :]
        K = points.fresh(chosen) - L[:, :rank] @ L[chosen, :rank].T
        # a pivot far below the largest one left would be divided by its own rounding: it waits
        T, order, k, _ = dpstrf(K[chosen], lower=1, tol=max(least, 0.01 * left.max()))
        if k == 0:
            break
        order = order[:k] - 1
        if rank + k > L.shape[1]:
            fits(n, rank + k, "The factor of a kernel")
            L, narrow = np.empty((n, max(rank + k, min(n, 2 * rank, ROOM // (8 * n))))), L
            L[:, :rank] = narrow[:, :rank]
        L[:, rank : rank + k] = solve_triangular(T[:k, :k], K[:, order].T, lower=True).T
        left -= np.square(L[:, rank : rank + k]).sum(axis=1)
        left[chosen[order]] = 0.0
        rank += k
    found = LinearPoints(np.ascontiguousarray(L[:, : max(1, rank)]), points.diagonal, False)
    found.nought = points.nought
    return found


def fits(n: int, columns: int, what: str) -> None:
    """Refuse to keep so many numbers."""
    if 8 * n * columns > ROOM:
        raise MemoryError(
            f"{what} for {n:,} objects would take more than {ROOM / 2**30:.3g} GB. Take fewer objects, or "
            "learn online: KernelClassifier, BudgetKernelPerceptron."
        )
