"""Comparators that a solver finds: the maximum-margin and the soft-margin separator in a learner's space.

Any vector is a valid comparator, so nothing rests on how well the solver has done.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ...certificates.evidence import Evidence, Vector
from ...core.solved import NotSeparableError
from ...estimators.maximum_margin import MaxMargin
from .._gordan import with_column

GRAM_LIMIT = 5_000  # rows whose kernel matrix is computed


class Solution(NamedTuple):
    """The separator of one learner, or why there is none."""

    vector: Vector | None
    said: str = ""  #: a note for the reader
    alpha: np.ndarray | None = None  #: the dual solution: weights of at least 0, one per row


def widest(e: Evidence, signs: np.ndarray, C: float, max_time: float) -> Solution:
    r"""u that minimises :math:`\tfrac12R^2\|u\|^2 + C\sum\max(0, 1 - y\langle u, x\rangle)`, by MaxMargin.

    R is the length of the longest row. With C the number of visits to each row twice this minimum is the
    least hinge bound :math:`R^2\|u\|^2 + 2H(u)`; ``C=inf`` gives the maximum margin.
    """
    if len(np.unique(signs)) < 2:
        return Solution(None, "one class only")
    if e.space.kernel is not None and e.n_rows > GRAM_LIMIT:
        return Solution(None, f"the kernel matrix of more than {GRAM_LIMIT} rows is not computed")
    R = math.sqrt(max(float(np.max(e.q)), np.finfo(float).tiny))
    free = e.space.free and e.space.bias > 0.0
    solver = MaxMargin(C=C, fit_intercept=free, max_time=max_time)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # undecided: said below
            if e.space.kernel is not None:
                vector = _by_kernel(solver, e, signs, R)
            else:
                vector = _by_rows(solver, e, signs, R)
    except NotSeparableError:
        return Solution(None, "nothing separates")
    except (ValueError, ArithmeticError) as error:  # rows out of its range
        return Solution(None, f"the solver refused the rows ({str(error).splitlines()[0][:200]})")
    numbers = [part for part in (vector.weights, vector.coefficients, vector.offset) if part is not None]
    if not all(np.isfinite(part).all() for part in numbers):
        return Solution(None, "the separator is beyond the range of floats")
    if math.isinf(C) and not solver.margin_ > 0.0:
        return Solution(None, "no separator was found")
    stopped = solver.stop_reason_
    said = "" if stopped in ("gap closed", "rounding") else f"stopped by {stopped}, gap {solver.gap_:.1g}"
    alpha = np.zeros(e.n_rows)
    alpha[np.asarray(solver.support_)] = np.abs(np.asarray(solver.dual_coef_, float)[0])
    return Solution(vector, said, alpha)


def _by_rows(solver: MaxMargin, e: Evidence, signs: np.ndarray, R: float) -> Vector:
    X: Any = e.X
    if e.space.bias and not e.space.free:
        X = with_column(X, e.space.bias)
    scale = 1.0 / R
    if e.space.unit:
        X = sparse.diags_array(1.0 / np.where(e.q > 0.0, np.sqrt(e.q), 1.0)) @ X
        scale = 1.0
    solver.fit(X * scale, signs)
    w = solver.coef_[0] * scale
    if e.space.free or not e.space.bias:
        w = np.append(w, solver.intercept_[0] / (e.space.bias or 1.0))
    return Vector(w[None, :])


def _by_kernel(solver: MaxMargin, e: Evidence, signs: np.ndarray, R: float) -> Vector:
    K = e.kernel_values(None, np.arange(e.n_rows)) / R**2
    solver.set_params(kernel="precomputed").fit(K, signs)
    offset = np.asarray(solver.intercept_, float) if e.space.free else None
    return Vector(None, np.asarray(solver.support_, np.int64), solver.dual_coef_ / R**2, offset)


def joined(vectors: list[Vector]) -> Vector:
    """One vector a learner, side by side."""
    weights = [v.weights for v in vectors if v.weights is not None]
    if weights:  # all of them have weights, or none
        return Vector(np.vstack(weights))
    rows = np.unique(np.concatenate([np.asarray(v.rows) for v in vectors]))
    merged = np.zeros((len(vectors), len(rows)))
    for r, v in enumerate(vectors):
        assert v.coefficients is not None
        merged[r, np.searchsorted(rows, np.asarray(v.rows))] = v.coefficients[0]
    offsets = [v.offset for v in vectors if v.offset is not None]
    return Vector(None, rows, merged, np.concatenate(offsets) if offsets else None)
