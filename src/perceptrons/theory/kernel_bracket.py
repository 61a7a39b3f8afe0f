r"""The bracket around the largest margin in the space of a kernel, true whatever was rounded.

With :math:`w = \sum\alpha_iy_i\varphi(x_i)`, :math:`\alpha \ge 0`, a score is a sum of kernel values and
:math:`\|w\|^2` a sum of scores. Each value comes with a bound on its error
(:mod:`perceptrons.theory.gram_error`); the sums add their own. Where that can be seen in the result, small
problems are summed again in fractions (:mod:`perceptrons.theory.enclosed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._types import Objects
from . import _outward as outward
from . import _rational as rational
from . import gram, gram_error
from .enclosed import Range, enclosed
from .enclosed import rational as is_rational
from .gram import Description
from .gram_error import EPS, TINY, Values

BLOCK = 1 << 20  # kernel values at a time
SMALL = 1e-10  # rounding of this size, relatively, is left alone
ENTRIES = 100_000  # so many products are summed in fractions, where rounding can be seen
NOUGHT = Fraction(0)


class KernelSpace(NamedTuple):
    """Where kernel values come from."""

    values: Callable[[slice, np.ndarray], Values]  #: of some rows with others, and bounds on their errors
    inner: Callable[[int, int], Range] | None  #: of two rows, between fractions; None: too much work
    width: int = 1  #: about so many products in each


class Sums(NamedTuple):
    """Scores of all rows and squared lengths, of w and of the weights scaled to sum 1 (1/2 in each class)."""

    scores: np.ndarray
    error: np.ndarray
    square: float
    square_error: float
    scaled: float
    scaled_error: float


def described(kernel: Description, X: Objects) -> KernelSpace:
    """Values by a description of the kernel, as in :mod:`perceptrons.theory.gram`; X: all objects."""
    table = gram.takes(kernel) == "table"

    def values(part: slice, rows: np.ndarray) -> Values:
        others = X[rows] if hasattr(X, "shape") else [X[i] for i in rows]
        places = np.arange(part.start, part.stop) if table else None
        return gram_error.values(kernel, X[part], others, rows, None, places)

    k = enclosed(kernel, X if table else None)
    known: dict[int, Any] = {}

    def row(i: int) -> Any:
        if i not in known:
            known[i] = as_fractions(X, i)
        return known[i]

    def inner(i: int, j: int) -> Range:
        assert k is not None
        return k(i, j) if table else k(row(i), row(j))

    width = X.shape[1] if hasattr(X, "shape") and not table else 1
    return KernelSpace(values, inner if k is not None else None, width)


def as_fractions(X: Objects, i: int) -> Any:
    """Row i by its entries, as fractions; what is not a row of numbers as it is."""
    if not hasattr(X, "shape"):
        return X[i]
    entries, at = outward.row(X, i)
    found: dict[int, Fraction] = {}
    for j, v in zip(at.tolist(), entries.tolist()):
        found[j] = found.get(j, NOUGHT) + Fraction(v)
    return found


def whole_values(
    kernel: Description, X: Objects, rows: np.ndarray
) -> tuple[np.ndarray, Fraction | None] | None:
    """(K, unit): the kernel's values between some rows are whole numbers times a unit; None: too much work.

    Where values are irrational, K is 1 for the same object twice and 0 else, and the unit None: a combination
    of length 0 there has length 0 in the space of every kernel.
    """
    space = described(kernel, X)
    if space.width * len(rows) ** 2 > ENTRIES:
        return None
    if not is_rational(kernel):
        objects = [as_fractions(X, i) for i in rows.tolist()]
        return np.array([[int(a == b) for b in objects] for a in objects], dtype=object), None
    assert space.inner is not None
    values = [[space.inner(i, j).low for j in rows.tolist()] for i in rows.tolist()]
    common = math.lcm(*(v.denominator for line in values for v in line))
    return np.array([[int(v * common) for v in line] for line in values], dtype=object), Fraction(1, common)


def as_given(matrix: Callable[[slice, np.ndarray], np.ndarray]) -> KernelSpace:
    """Values taken for what they are: those of a table, or of a function that has no description."""

    def values(part: slice, rows: np.ndarray) -> Values:
        K = matrix(part, rows)
        return Values(K, np.zeros(K.shape))

    def inner(i: int, j: int) -> Range:
        value = Fraction(float(matrix(slice(i, i + 1), np.array([j]))[0, 0]))
        return Range(value, value)

    return KernelSpace(values, inner)


def bracket(
    space: KernelSpace, y: np.ndarray, free: bool, rows: np.ndarray, alpha: np.ndarray
) -> tuple[float, float]:
    """(low, up) from weights of at least 0 on ``rows``; y is +-1. (-inf, inf) where nothing is proved.

    >>> X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    >>> low, up = bracket(described({"kind": "Linear"}, X), y, True, np.array([0, 1]), np.array([0.5, 0.5]))
    >>> low <= 1.0 <= up, up - low < 1e-13
    (True, True)
    """
    if not len(rows) or not np.all((alpha > 0.0) & np.isfinite(alpha)):
        return -math.inf, math.inf
    alpha = np.ldexp(alpha, -outward.exponent(alpha))
    with np.errstate(all="ignore"):  # what is not a number fails every comparison
        sums = _sums(space, y, free, rows, alpha)
        low, low_is_rough = _low(sums, y, free)
        up, up_is_rough = _up(sums)
    work = space.width * len(rows) * len(rows)
    if space.inner is None or work > ENTRIES or not (low_is_rough or up_is_rough):
        return low, up
    return _in_fractions(space, y, free, rows, alpha, sums, low, up)


def _sums(space: KernelSpace, y: np.ndarray, free: bool, rows: np.ndarray, alpha: np.ndarray) -> Sums:
    n, k = len(y), len(rows)
    c = alpha * y[rows]
    weights = np.full(k, float(alpha.sum()))
    if free:
        for side in (y[rows] > 0.0, y[rows] < 0.0):
            weights[side] = 2.0 * float(alpha[side].sum())
        if not (np.any(y[rows] > 0.0) and np.any(y[rows] < 0.0)):
            weights[:] = math.nan  # weights in one class alone bound nothing
    C = np.column_stack([c, c / weights])
    size = np.abs(C)
    S, E = np.empty((n, 2)), np.empty((n, 2))
    step = max(1, BLOCK // k)
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        K = space.values(part, rows)
        S[part] = K.value @ C
        terms = 2.0 * (k + 6) * EPS * (np.abs(K.value) @ size)  # weights scaled to sum 1 are off by k EPS
        E[part] = (K.error @ size) * (1.0 + (k + 4) * EPS) + terms + (k + 4) * TINY
    squares = np.sum(C * S[rows], axis=0)
    lost = np.sum(size * E[rows], axis=0) * 1.01
    lost += 2.0 * (k + 6) * EPS * np.sum(size * np.abs(S[rows]), axis=0) + (k + 4) * TINY
    return Sums(S[:, 0], E[:, 0], *(float(v) for pair in zip(squares, lost) for v in pair))


def _low(s: Sums, y: np.ndarray, free: bool) -> tuple[float, bool]:
    """The lower end in floats, and whether rounding is a noticeable part of it."""
    m = y * s.scores
    lower = m - s.error
    if free:
        sides = [y > 0.0, y < 0.0]
        if not all(np.any(side) for side in sides):
            return -math.inf, False
        least = sum(float(np.min(lower[side])) for side in sides) / 2.0
        nearest = sum(float(np.min(m[side] + s.error[side])) for side in sides) / 2.0
    else:
        least, nearest = float(np.min(lower)), float(np.min(m + s.error))
    if not (math.isfinite(least) and s.square + s.square_error > 0.0):
        return -math.inf, True
    above = math.sqrt(s.square + s.square_error) * (1.0 + 4.0 * EPS)
    below = math.sqrt(max(s.square - s.square_error, 0.0)) * (1.0 - 4.0 * EPS)
    by = above if least > 0.0 else below
    rough = not (nearest - least <= SMALL * abs(nearest) and s.square_error <= SMALL * s.square)
    return _down(least / by) if by > 0.0 else -math.inf, rough


def _down(value: float) -> float:
    if not math.isfinite(value):
        return -math.inf
    return math.nextafter(value - 4.0 * EPS * abs(value), -math.inf)


def _up(s: Sums) -> tuple[float, bool]:
    """The upper end in floats, and whether rounding is a noticeable part of it."""
    most = s.scaled + s.scaled_error
    if math.isnan(most) or most == math.inf or most < 0.0:
        return math.inf, not math.isnan(most)
    rough = not s.scaled_error <= SMALL * s.scaled
    return math.nextafter(math.sqrt(most) * (1.0 + 8.0 * EPS), math.inf), rough


def _in_fractions(
    space: KernelSpace,
    y: np.ndarray,
    free: bool,
    rows: np.ndarray,
    alpha: np.ndarray,
    s: Sums,
    low: float,
    up: float,
) -> tuple[float, float]:
    """Both ends once more, between fractions; the rows that may have the smallest margin are summed again."""
    between = space.inner
    assert between is not None
    signs = [1 if v > 0.0 else -1 for v in y.tolist()]
    a = [Fraction(v) for v in alpha.tolist()]
    support = rows.tolist()
    c = [v * signs[i] for v, i in zip(a, support)]
    gram_rows = {i: [between(i, j) for j in support] for i in support}

    def score(i: int, coef: list[Fraction]) -> Range:
        values = gram_rows[i] if i in gram_rows else [between(i, j) for j in support]
        ends = [K.times(v) for K, v in zip(values, coef)]
        return Range(sum((r.low for r in ends), start=NOUGHT), sum((r.high for r in ends), start=NOUGHT))

    def length2(coef: list[Fraction]) -> Range:
        ends = [score(i, coef).times(v) for i, v in zip(support, coef)]
        return Range(sum((r.low for r in ends), start=NOUGHT), sum((r.high for r in ends), start=NOUGHT))

    square = length2(c)
    groups = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)] if free else [np.arange(len(y))]
    near = [_near(y, s, group) for group in groups]
    work = space.width * len(rows) * sum(len(some) for some in near)
    if all(len(group) for group in groups) and square.high > 0 and work <= ENTRIES:
        least = [min(score(i, c).times(Fraction(signs[i])).low for i in some.tolist()) for some in near]
        low = max(low, _divided_down(sum(least, start=NOUGHT) / len(groups), square))
    masses = [sum((v for v, i in zip(a, support) if signs[i] == side), start=NOUGHT) for side in (1, -1)]
    if not free:
        up = min(up, _root_up(square.high / (masses[0] + masses[1]) ** 2))
    elif min(masses) > 0:
        scaled = [v / (2 * masses[0 if v > 0 else 1]) for v in c]
        up = min(up, _root_up(length2(scaled).high))
    return low, up


def _near(y: np.ndarray, s: Sums, group: np.ndarray) -> np.ndarray:
    """The rows of a group that may have its smallest margin."""
    with np.errstate(all="ignore"):
        m, error = (y * s.scores)[group], s.error[group]
        nearest = np.min(m + error)
        return group[~(m - error > nearest)] if math.isfinite(nearest) else group


def _divided_down(m: Fraction, square: Range) -> float:
    if m > 0:
        ratio = m * m / square.high
        return rational.root_below(ratio.numerator, ratio.denominator)
    if square.low <= 0:
        return -math.inf
    ratio = m * m / square.low
    return -rational.root_above(ratio.numerator, ratio.denominator)


def _root_up(square: Fraction) -> float:
    if square < 0:  # no kernel has that
        return math.inf
    return rational.root_above(square.numerator, square.denominator)
