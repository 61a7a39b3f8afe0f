"""Proofs in whole numbers that no halfspace separates, from weights that floats suggest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from .._types import Matrix
from . import _lifting, _simplex
from . import _outward as outward
from . import _rational as rational
from .separability import Separability, claimed
from .weighted_rows import combination, exact_residual, integer_columns

SMALL = 10_000  # entries of a tableau in whole numbers
TINY = 1e-10  # a weight this small beside the largest may be rounding


def exact_proof(
    X: Matrix,
    y: np.ndarray,
    fit_intercept: bool,
    rows: np.ndarray,
    numerators: list[int],
    reason: str,
    seconds: float = 0.0,
) -> Separability | None:
    """The verdict "not separable" for whole-number weights of some rows; None if their combination is not 0.

    X and y are what :mod:`.weighted_rows` makes of them.
    """
    pairs = sorted((int(i), int(k)) for i, k in zip(rows, numerators) if k)
    if not pairs or min(k for _, k in pairs) < 0:
        return None
    at, n = np.array([i for i, _ in pairs]), tuple(k for _, k in pairs)
    if combination(n, at, X, y, fit_intercept) is not None:
        return None
    weights = np.array([rational.ratio(k, sum(n)) for k in n])
    lam = np.zeros(y.size)
    lam[at] = np.maximum(weights / weights.sum(), 5e-324)
    point = None
    if fit_intercept:
        point = np.asarray(outward.floats(X).T @ np.where(y > 0, 2.0 * lam, 0.0)).ravel()
    found = Separability(
        verdict="not separable",
        fit_intercept=fit_intercept,
        claim="",
        reason=reason,
        one_class=bool(np.all(y == y[0])),
        exact=True,
        weights=lam,
        residual=exact_residual(lam, X, y, fit_intercept),
        point=point,
        numerators=n,
        denominator=sum(n),
        bracket=(0.0, 0.0),
        seconds=seconds,
    )
    return replace(found, claim=claimed(found, y.size))


def meets(rows: int, fit_intercept: bool) -> str:
    """The reason of a proof among so many rows."""
    return f"among {rows} rows both hulls meet" if fit_intercept else f"{rows} rows have 0 in their hull"


def proof_near(
    X: Matrix, y: np.ndarray, fit_intercept: bool, weights: np.ndarray, late: Callable[[], bool]
) -> Separability | None:
    """The verdict "not separable" from weights that floats suggest, once they are found in whole numbers.

    Where that fails, small data have a simplex method in whole numbers. None: nothing is proved, in the time
    that ``late`` leaves. X is what :func:`.weighted_rows.as_rows` gives.
    """
    began = time.perf_counter()
    every = np.arange(len(y))
    tries = [(every[weights > TINY * weights.max()], False), (every[weights > 0.0], False)]
    if len(y) * (X.shape[1] + 2) <= SMALL:
        tries.append((every, True))
    try:
        for rows, whole in tries:
            columns, *_ = integer_columns(X, y, fit_intercept, rows)
            if whole:
                n, _ = _simplex.alternatives(columns.T, late)
            else:
                n = _lifting.null_weights(columns, weights[rows], late)
            if n is not None:
                seconds = time.perf_counter() - began
                return exact_proof(X, y, fit_intercept, rows, n, meets(rows.size, fit_intercept), seconds)
    except _lifting.OutOfTime:
        pass
    return None


def kernel_proof_near(
    K: np.ndarray,
    unit: Fraction | None,
    y: np.ndarray,
    fit_intercept: bool,
    weights: np.ndarray,
    rows: np.ndarray,
    late: Callable[[], bool],
) -> Separability | None:
    """The same for values K of a kernel between some rows.

    Floats: a statement about these values, as they are. Whole numbers: the kernel's own values over ``unit``,
    or 1 for the same object twice and 0 else (``unit`` is None).
    """
    k, _ = rational.whole(K)
    signs = y[rows].astype(np.int64)
    M = k * np.multiply.outer(signs, signs)
    if fit_intercept:
        M = np.vstack([M, signs[None, :].astype(M.dtype)])
    try:
        n = _lifting.null_weights(M, weights[rows], late)
    except _lifting.OutOfTime:
        return None
    if n is None:
        return None
    lam = np.zeros(y.size)
    lam[rows] = [rational.ratio(v, sum(n)) if v else 0.0 for v in n]
    c = rational.whole(lam[rows])[0].astype(object)
    k2, shift = rational.whole(K)
    square = Fraction(int((c * signs) @ k2.astype(object) @ (c * signs)), int(c.sum()) ** 2)
    square = max(square / Fraction(2) ** int(shift), Fraction(0)) * (unit or 1)
    computed = "" if K.dtype == object else ", by its values as computed"
    kept = tuple(int(v) for v in n if v)
    return Separability(
        verdict="not separable",
        fit_intercept=fit_intercept,
        claim=f"no hyperplane separates the {y.size} rows in the kernel's space{computed}",
        reason=meets(len(kept), fit_intercept),
        one_class=bool(np.all(y == y[0])),
        exact=True,
        weights=lam,
        residual=rational.root_above(square.numerator, square.denominator),
        numerators=kept,
        denominator=sum(kept),
        bracket=(0.0, 0.0),
    )
