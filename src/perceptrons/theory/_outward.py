r"""Scores, lengths and combinations of rows in floats, between bounds on all that rounding may have changed.

A product of n terms is off by at most :math:`(n + 2)u\sum|a_ib_i|`, whatever the order of summation, plus
what underflow loses; u = :math:`2^{-53}`. Numbers near the ends of their range are first multiplied by powers
of 2, which rounds nothing. Where these bounds leave too much room, few rows are looked at again in whole
numbers.

Rows are float64, or integers of any length in an object or integer array; then the floats are their
roundings, and the bounds hold for the integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse, with_values
from .._types import Floats, Ints, Matrix
from . import _rational as rational

WIDE = 250  # exponents of 2 up to which rows are taken as they are
ENTRIES = 200_000  # so many numbers are computed in whole numbers, where the bounds of floats are too wide
ROOM = 1e-9  # relative distance of two bounds that is not worth the work
FEW = 256  # numbers for which nothing needs to be estimated


def values(X: Matrix) -> np.ndarray:
    """The stored numbers of an array or a sparse matrix."""
    return X.data if is_sparse(X) else X


def sizes(X: Matrix) -> Matrix:
    """The absolute value of every entry."""
    return abs(X) if is_sparse(X) else np.abs(X)


def exponent(a: npt.ArrayLike) -> int:
    """e with 2^(e-1) <= max|a| < 2^e; 0 if there is nothing but 0."""
    largest = max((abs(float(v)) for v in (np.max(a, initial=0), np.min(a, initial=0))), default=0.0)
    return math.frexp(largest)[1]


def float64_rounds(X: Any) -> bool:
    """Whether X, of any type, holds integers that are no float64.

    >>> float64_rounds(np.array([[2**53 + 1]])), float64_rounds(np.array([[2**53]]))
    (True, False)
    """
    taken = hasattr(X, "dtype") or hasattr(X, "__array__") or isinstance(X, (list, tuple))
    k = np.asarray(values(X)) if taken else np.empty(0)
    if k.dtype.kind not in "iuO" or k.size == 0:
        return False
    if k.dtype == object:
        return any(type(v) is int and abs(v) > 2**53 and _is_rounded(v) for v in k.ravel().tolist())
    if max(int(k.max()), -int(k.min())) <= 2**53:
        return False
    return any(map(_is_rounded, k[np.abs(k.astype(np.float64)) >= 2.0**53].tolist()))


def _is_rounded(k: int) -> bool:
    try:
        return int(float(k)) != k
    except OverflowError:
        return False  # beyond all floats: other messages tell


def floats(X: Matrix) -> Matrix:
    """Rows as float64; integers are rounded."""
    if values(X).dtype == np.float64:
        return X
    if is_sparse(X):
        return with_values(X, rational.floats(X.data))
    return rational.floats(X)


def scaled(X: Matrix) -> tuple[Matrix, int]:
    """(rows times 2^-e as float64, e); e is 0 unless the largest entry is near the ends of the range."""
    X = floats(X)
    e = exponent(values(X))
    if abs(e) <= WIDE:
        return X, 0
    with np.errstate(under="ignore"):
        if is_sparse(X):
            return with_values(X, np.ldexp(X.data, -e)), e
        return np.ldexp(X, -e), e


def times_power(value: float, e: int, up: bool) -> float:
    """value 2^e, rounded up or down where it cannot be stored."""
    try:
        found = math.ldexp(value, e)
    except OverflowError:
        found = math.copysign(math.inf, value)
    if math.isinf(found) and not math.isinf(value):
        return found if up == (value > 0.0) else math.copysign(rational.LARGEST, value)
    if abs(found) < rational.TINY and math.ldexp(found, -e) != value:
        back = math.ldexp(found, -e)
        if up and back < value:
            return math.nextafter(found, math.inf)
        if not up and back > value:
            return math.nextafter(found, -math.inf)
    return found


class FloatRange(NamedTuple):
    """Two floats with a number between them."""

    low: float
    high: float

    @property
    def narrow(self) -> bool:
        return self.high - self.low <= ROOM * max(abs(self.low), abs(self.high))


# ---------------------------------------------------------------------------------------------- lengths


def norm(v: np.ndarray) -> FloatRange:
    """The Euclidean length.

    >>> norm(np.array([3e-200, 4e-200])).low < 5e-200 < norm(np.array([3e-200, 4e-200])).high
    True
    """
    v = np.ravel(v)
    e = exponent(v)
    with np.errstate(under="ignore"):
        u = np.ldexp(v, -e)
    size = math.sqrt(float(np.dot(u, u)))
    if size == 0.0:
        return FloatRange(0.0, 0.0)
    error = (v.size + 8) * rational.UNIT
    return FloatRange(times_power(size * (1.0 - error), e, False), times_power(size * (1.0 + error), e, True))


def row_norms(X: Matrix) -> Floats:
    """The Euclidean length of each row, to the nearest float or so, whatever its size."""
    X = floats(X)
    if is_sparse(X):
        largest = np.zeros(X.shape[0])
        np.maximum.at(largest, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), np.abs(X.data))
    else:
        largest = np.max(np.abs(X), axis=1, initial=0.0)
    e = np.frexp(largest)[1]
    far = np.abs(e) > WIDE
    if not np.any(far):
        e = np.zeros_like(e)
    with np.errstate(under="ignore", over="ignore"):
        if is_sparse(X):
            data = np.ldexp(X.data, -np.repeat(e, np.diff(X.indptr)))
            square = with_values(X, data * data).sum(axis=1)
            return np.ldexp(np.sqrt(np.asarray(square, dtype=np.float64).ravel()), e)
        return np.asarray(np.ldexp(np.linalg.norm(np.ldexp(X, -e[:, None]), axis=1), e))


# ------------------------------------------------------------------------------------ whole numbers, by row


def row(X: Matrix, i: int) -> tuple[np.ndarray, np.ndarray]:
    """The entries of a row that may differ from 0, and where they are."""
    if is_sparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        return X.data[part], X.indices[part]
    at = np.flatnonzero(X[i])
    return X[i, at], at


def exact_score(w: np.ndarray, b: float, X: Matrix, i: int) -> Fraction:
    """<w, x> + b of one row."""
    entries, at = row(X, i)
    k, left = rational.whole(w[at])
    m, right = rational.whole(entries)
    total = sum(int(p) * int(q) for p, q in zip(k.tolist(), m.tolist()))
    return Fraction(total) / Fraction(2) ** (int(left) + int(right)) + Fraction(b)


def exact_norm2(w: np.ndarray) -> Fraction:
    """||w||^2."""
    k, shift = rational.whole(w)
    return Fraction(sum(int(v) ** 2 for v in k.tolist())) / Fraction(4) ** int(shift)


# ----------------------------------------------------------------------------------------------- margins


class Scores(NamedTuple):
    """<w, x> + b of every row, in units of 2^e, and how far rounding may have moved it."""

    values: Floats
    error: Floats
    e: int


def scores(w: np.ndarray, b: float, X: Matrix) -> Scores:
    """Scores of all rows; a value or its error is infinite or NaN where b is far too large.

    Where columns or weights are near the ends of the range, powers of 2 are moved from the one to the other.
    """
    rows, v, e = floats(X), w, 0
    columns = column_exponents(rows)
    if max(np.max(np.abs(columns), initial=0), np.max(np.abs(np.frexp(w)[1]), initial=0)) > WIDE:
        with np.errstate(over="ignore", under="ignore"):
            k, power = np.frexp(w)
            power = np.where(k == 0.0, -(10**6), power.astype(np.int64) + columns)
            e = int(np.max(power, initial=-(10**6)))
            v = np.ldexp(k, np.maximum(power - e, -2000))
            if is_sparse(rows):
                data = np.ldexp(rows.data, -columns[rows.indices])
                rows = with_values(rows, data)
            else:
                rows = np.ldexp(rows, -columns)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        offset = float(np.ldexp(b, -e))
        s = np.asarray(rows @ v, dtype=np.float64).ravel() + offset
        size = np.asarray(abs(rows) @ np.abs(v), dtype=np.float64).ravel() + abs(offset)
        terms = np.diff(rows.indptr) if is_sparse(rows) else rows.shape[1]
        error = 1.01 * (terms + 4) * rational.UNIT * size + (terms + 4) * rational.TINY
    return Scores(s, error, e)


def column_exponents(X: Matrix) -> Ints:
    """The exponent of 2 above the largest entry of each column; 0 for one of zeros."""
    if is_sparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
    else:
        largest = np.max(np.abs(X), axis=0, initial=0.0)
    return np.frexp(largest)[1].astype(np.int64)


def least(s: Scores, exact: Callable[[int], Fraction], chosen: np.ndarray, room: float = ROOM) -> FloatRange:
    """The smallest of the chosen scores, in units of 2^e; ``exact(i)`` is the score of row i as a fraction.

    ``room``: the distance of both ends up to which whole numbers are not used, relative to the size.
    """
    m, error = s.values[chosen], s.error[chosen]
    with np.errstate(invalid="ignore"):
        lows, highs = m - error, m + error
    unknown = ~np.isfinite(lows) | ~np.isfinite(highs)
    high = float(np.min(highs[~unknown], initial=math.inf))
    doubtful = np.flatnonzero(unknown | (lows < high - room * abs(high)))
    low = float(np.min(np.delete(lows, doubtful), initial=math.inf))
    if doubtful.size == 0:
        return FloatRange(low, high)
    unit = Fraction(2) ** s.e
    sharp = [exact(int(chosen[i])) / unit for i in doubtful]
    high = min(float(np.min(np.delete(highs, doubtful), initial=math.inf)), rational.above(min(sharp)))
    return FloatRange(min(low, rational.below(min(sharp))), high)


def wrong_row(w: np.ndarray, b: float, X: Matrix, y: np.ndarray) -> int | None:
    """The first row with y(<w, x> + b) <= 0, whatever rounding does; None if there is none."""
    s = scores(w, b, X)
    for i in np.flatnonzero(~(y * s.values > s.error)).tolist():
        if int(y[i]) * exact_score(w, b, X, i) <= 0:
            return i
    return None


def margin(w: np.ndarray, b: float, X: Matrix, y: np.ndarray) -> FloatRange:
    r"""Bounds on :math:`\min_i y_i(\langle w, x_i\rangle + b)/\|w\|`.

    Infinite for w = 0 and b on the right side.
    """
    if values(X).size <= FEW:
        return _exactly(min(int(y[i]) * exact_score(w, b, X, i) for i in range(len(y))), w)
    s = scores(w, b, X)
    signed = Scores(y * s.values, s.error, s.e)
    found = least(signed, lambda i: int(y[i]) * exact_score(w, b, X, i), np.arange(len(y)))
    return _divided(found, w, s.e)


def free_margin(w: np.ndarray, X: Matrix, y: np.ndarray) -> FloatRange:
    """Bounds on the margin of w with the best b: half the gap between the classes' scores, over ||w||."""
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    s = scores(w, 0.0, X)
    if values(X).size > FEW:
        left = least(s, lambda i: exact_score(w, 0.0, X, i), plus)
        right = least(Scores(-s.values, s.error, s.e), lambda i: -exact_score(w, 0.0, X, i), minus)
        found = FloatRange(
            math.nextafter((left.low + right.low) / 2.0, -math.inf),
            math.nextafter((left.high + right.high) / 2.0, math.inf),
        )
        if found.narrow or values(X).size > ENTRIES:
            return _divided(found, w, s.e)
    lowest = min(exact_score(w, 0.0, X, int(i)) for i in plus)
    return _exactly((lowest - max(exact_score(w, 0.0, X, int(i)) for i in minus)) / 2, w)


def _exactly(m: Fraction, w: np.ndarray) -> FloatRange:
    """m over ||w||, rounded once, outwards."""
    norm2 = exact_norm2(w)
    if norm2 == 0:
        return FloatRange(*(2 * [math.inf if m > 0 else -math.inf]))
    square = m * m / norm2
    ends = (
        rational.root_below(square.numerator, square.denominator),
        rational.root_above(square.numerator, square.denominator),
    )
    return FloatRange(*ends) if m >= 0 else FloatRange(-ends[1], -ends[0])


def _divided(m: FloatRange, w: np.ndarray, e: int) -> FloatRange:
    """m 2^e over ||w||, outwards."""
    c = exponent(w)
    with np.errstate(under="ignore"):
        size = norm(np.ldexp(w, -c))
    if size.high == 0.0:
        return FloatRange(*(math.copysign(math.inf, v) if v else -math.inf for v in m))
    low = math.nextafter(m.low / (size.high if m.low > 0.0 else size.low), -math.inf)
    high = math.nextafter(m.high / (size.low if m.high > 0.0 else size.high), math.inf)
    if m.low > 0.0:
        low = max(low, 0.0)
    return FloatRange(times_power(low, e - c, False), times_power(high, e - c, True))


# ------------------------------------------------------------------------------------------ combinations


def combined(lam: np.ndarray, X: Matrix, y: np.ndarray, free: bool) -> FloatRange:
    r"""Bounds on :math:`\|\sum\lambda_iy_ix_i\|`, weights scaled to sum 1, or with ``free`` to 1/2 a class.

    Infinite where there is no weight, or none in a class.
    """
    if not np.any(lam > 0) or (free and not (np.any(lam[y > 0] > 0) and np.any(lam[y < 0] > 0))):
        return FloatRange(math.inf, math.inf)
    rows = np.flatnonzero(lam)
    part, c, signs = (X, lam, y) if len(rows) == len(lam) else (X[rows], lam[rows], y[rows])
    if values(part).size > FEW:
        found = _combined_floats(c, part, signs, free)
        if found.narrow or values(part).size > ENTRIES:
            return found
    square = exact_combined2(c, part, signs, free)
    return FloatRange(
        rational.root_below(square.numerator, square.denominator),
        rational.root_above(square.numerator, square.denominator),
    )


def _combined_floats(lam: np.ndarray, X: Matrix, y: np.ndarray, free: bool) -> FloatRange:
    rows, e = scaled(X)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        weights = np.ldexp(lam, -exponent(lam))
        if free:
            for group in (y > 0, y < 0):
                weights = np.where(group, weights / (2.0 * weights[group].sum()), weights)
        else:
            weights = weights / weights.sum()
        total = np.asarray(rows.T @ (weights * y), dtype=np.float64).ravel()
        size = np.asarray(sizes(rows).T @ weights, dtype=np.float64).ravel()
        k = len(lam)
        error = 1.01 * (2 * k + 10) * rational.UNIT * size + (k + 4) * rational.TINY
        high, low = norm(np.abs(total) + error).high, norm(np.maximum(np.abs(total) - error, 0.0)).low
    if not math.isfinite(high):
        return FloatRange(0.0, math.inf)
    return FloatRange(times_power(low, e, False), times_power(high, e, True))


def exact_combined2(lam: np.ndarray, X: Matrix, y: np.ndarray, free: bool) -> Fraction:
    r"""The square of :math:`\|\sum\lambda_iy_ix_i\|`, weights scaled as in :func:`combined`."""
    k, _ = rational.whole(lam)
    c = k.astype(object)
    plus, minus = (int(np.sum(c[group], initial=0)) for group in (y > 0, y < 0))
    factors = (minus, plus, 2 * plus * minus) if free else (1, 1, plus + minus)
    signed = np.array([factors[0] * v if s > 0 else -factors[1] * v for v, s in zip(c, y)], dtype=object)
    sums, shift = column_sums(signed, np.arange(len(c)), X)
    return Fraction(sum(v * v for v in sums), factors[2] ** 2) / Fraction(4) ** shift


def column_sums(c: np.ndarray, rows: np.ndarray, X: Matrix) -> tuple[list[int], int]:
    """The sums of c_i x_i over some rows: whole numbers, and the shift that they share."""
    if is_sparse(X):
        part = X[rows].tocsc()
        k, shift = rational.whole(part.data)
        k = k.astype(object) * c[part.indices]
        return [int(k[a:b].sum()) for a, b in pairwise(part.indptr.tolist()) if b > a], int(shift)
    part = X[rows]
    part = part[:, np.any(part != 0, axis=0)]
    k, shift = rational.whole(part)
    return [int(v) for v in c @ k.astype(object)] if k.size else [], int(shift)
