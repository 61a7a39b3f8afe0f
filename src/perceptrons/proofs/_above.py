"""Lengths, hinge sums and L1 margins rounded outwards: what `advise` and `errors_and_hinge` state holds.

Rows that were rounded when they were made are within a distance ``off`` of the rows that are meant.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .. import theory
from .._sparse import is_sparse
from .._types import Matrix
from ..theory import _outward as outward
from ..theory import _rational as rational

UNIT = rational.UNIT
MANY = 4096  # entries up to which a hinge sum is taken in fractions


def radius(X: Matrix, bias: float = 0.0) -> float:
    """At least the length of every row (x, B); infinite where that is no float."""
    with np.errstate(over="ignore"):
        longest = float(np.max(np.hypot(outward.row_norms(X), bias), initial=0.0))
    return float(longest * (1.0 + (X.shape[1] + 16) * 2.0 * UNIT))


def norm(w: np.ndarray) -> float:
    """At least the length of w; infinite for what is not a number."""
    return outward.norm(w).high if np.all(np.isfinite(w)) else math.inf


def hinge_sum(w: np.ndarray, Z: Matrix, y: np.ndarray, off: float = 0.0) -> float:
    """At least the sum of max(0, 1 - y<w, x>) over the rows; infinite where it cannot be said."""
    if not np.all(np.isfinite(w)):
        return math.inf
    n = len(y)
    if outward.values(Z).size <= MANY:
        total = Fraction(0)
        for i in range(n):
            total += max(Fraction(0), 1 - int(y[i]) * outward.exact_score(w, 0.0, Z, i))
        found = rational.above(total)
    else:
        s = outward.scores(w, 0.0, Z)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            missed = np.maximum(0.0, 1.0 - np.ldexp(y * s.values - s.error, s.e))
            found = float(np.sum(missed)) * (1.0 + (n + 8) * UNIT) + (n + 8) * UNIT
    if off:
        found = math.nextafter((found + n * off * norm(w)) * (1.0 + 8.0 * UNIT), math.inf)
    return math.inf if math.isnan(found) else found


def hinge_bound(
    w: np.ndarray, Z: Matrix, y: np.ndarray, R: float, off: float = 0.0, tight: bool = False
) -> float:
    """At least what the hinge bound allows a perceptron in one pass, for the comparator w."""
    length, H = norm(w), hinge_sum(w, Z, y, off)
    if not (math.isfinite(R) and math.isfinite(length) and math.isfinite(H)):
        return math.inf
    return (theory.hinge_tight if tight else theory.hinge)(R, length, H)


def l1_margin(u: np.ndarray, lam: np.ndarray, Z: Matrix, y: np.ndarray) -> tuple[float, float]:
    """(low, up) around the best margin of weights with absolute sum 1, from some weights of both sides.

    ``low`` is not positive where u does not separate the rows.
    """
    low, up = -math.inf, math.inf
    if np.all(np.isfinite(u)) and np.any(u):
        s = outward.scores(u, 0.0, Z)
        c = outward.exponent(u)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            least = float(np.min(y * s.values - s.error))
            size = float(np.sum(np.abs(np.ldexp(u, -c)))) * (1.0 + (u.size + 8) * UNIT)
        if least > 0.0:
            low = max(0.0, outward.times_power(math.nextafter(least / size, 0.0), s.e - c, False))
    if np.all(np.isfinite(lam) & (lam >= 0.0)) and np.any(lam):
        rows, e = outward.scaled(Z)
        k = len(lam)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            weights = np.ldexp(lam, -outward.exponent(lam))
            total = np.abs(np.asarray(rows.T @ (weights * y), dtype=float)).ravel()
            sizes = np.asarray(outward.sizes(rows).T @ weights, dtype=float).ravel()
            above = float(np.max(total + 1.01 * (k + 8) * UNIT * sizes + (k + 8) * rational.TINY))
            mass = float(np.sum(weights)) * (1.0 - (k + 8) * UNIT)
        if math.isfinite(above) and mass > 0.0:
            up = outward.times_power(math.nextafter(above / mass, math.inf), e, True)
    return low, up


def largest(Z: Matrix) -> float:
    """The largest absolute value of an entry."""
    return float(np.max(np.abs(Z.data if is_sparse(Z) else Z), initial=0.0))
