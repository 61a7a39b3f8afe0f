r"""Both sides of Gordan's alternative for some rows, as floats suggest them.

Either some direction v has :math:`\langle v, z_i\rangle > 0` for every row, or weights
:math:`\lambda \ge 0`, not all 0, have :math:`\sum\lambda_i z_i = 0`. Nothing that is found here is trusted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, sparse

from .._sparse import is_sparse
from .._types import Matrix

NNLS_COST = 6e-9  # seconds of non-negative least squares per d n min(d, n), measured
DENSE = 40_000_000  # entries of a dense matrix that may be built


class Suggestion(NamedTuple):
    """What a solver suggests for a part of the rows: weights, or a direction; neither is trusted."""

    weights: np.ndarray | None = None
    direction: np.ndarray | None = None


class ScaledRows(NamedTuple):
    """Rows (x - c)/s, and the way back from weights for them, up to a positive factor."""

    rows: Matrix
    centre: np.ndarray
    scale: np.ndarray  #: s times ``lift``
    lift: float = 1.0  #: 2^1000 where s underflows

    @classmethod
    def scaled(cls, X: Matrix, centre: bool) -> ScaledRows:
        d = X.shape[1]
        if is_sparse(X):
            s = powers(abs(X).max(axis=0).toarray().ravel())
            return cls(sparse.csr_array(X @ sparse.diags_array(1.0 / s)), np.zeros(d), s)
        s = powers(np.max(np.abs(X), axis=0))
        rows = X / s
        c = rows.mean(axis=0) if centre else np.zeros(d)
        rows -= c
        spread = powers(np.sqrt(np.mean(rows**2, axis=0)))
        rows /= spread
        lift = 1.0 if (s * spread).all() else 2.0**1000
        return cls(rows, c * s, (lift * s) * spread, lift)

    def back(self, v: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        w = v / self.scale
        return w, b / self.lift - float(self.centre @ w)


def powers(size: np.ndarray) -> np.ndarray:
    """The powers of 2 next to some sizes; 1 for 0."""
    return np.exp2(np.clip(np.round(np.log2(np.where(size > 0.0, size, 1.0))), -1000, 1000))


# ----------------------------------------------------------------------------------------- solvers


def least_squares(Z: Matrix, seconds: float) -> Suggestion | None:
    r"""Lawson and Hanson: :math:`\min_{u \ge 0}\|(Z^\top u, \mathbf 1^\top u) - (0, 1)\|`.

    A residual of 0 has u as weights; otherwise its first part separates the rows.
    """
    n, d = Z.shape
    if n * (d + 1) > DENSE or NNLS_COST * n * d * min(n, d) > seconds / 2.0:
        return None
    rows = Z.toarray() if is_sparse(Z) else Z
    E = np.vstack([rows.T, np.ones(n)])
    f = np.append(np.zeros(d), 1.0)
    try:
        u, _ = optimize.nnls(E, f, maxiter=max(100, 10 * n))
    except RuntimeError:
        return None
    r = E @ u - f
    v = r[:-1]
    if np.linalg.norm(r) > 1e-12 and np.min(rows @ v) > 0.0:
        return Suggestion(direction=v)
    return Suggestion(weights=u)


def linear_program(Z: Matrix, seconds: float) -> Suggestion | None:
    r"""HiGHS: the largest t with :math:`\langle v, z_i\rangle \ge t` and :math:`|v_j| \le 1`.

    Its multipliers are the weights with the least :math:`\|\sum\lambda_i z_i\|_1`.
    """
    n, d = Z.shape
    sides: Any = with_column(-Z, 1.0)  # SciPy's types have no sparse matrix here
    found = optimize.linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=sides,
        b_ub=np.zeros(n),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
        method="highs-ds",
        options={"time_limit": max(seconds, 0.1)},
    )
    if found.status != 0 or found.x is None:
        return None
    v = found.x[:-1]
    if np.min(Z @ v) > 0.0:
        return Suggestion(direction=v)
    return Suggestion(weights=np.maximum(-found.ineqlin.marginals, 0.0))


def with_column(rows: Matrix, value: float) -> Matrix:
    """The rows with one more entry, the same in all."""
    column = np.full((rows.shape[0], 1), value)
    if is_sparse(rows):
        return sparse.csr_array(sparse.hstack([rows, sparse.csr_array(column)], format="csr"))
    return np.hstack([rows, column])
