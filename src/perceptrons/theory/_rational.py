"""Floats as what they are, rational numbers: whole numbers times a power of 2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import overload

import numpy as np
import numpy.typing as npt

from .._types import Floats

SHORT = 62  # bits that a product may have and still fit into int64, with its sign

UNIT = 2.0**-53  # the relative error of one operation
TINY = 2.0**-1022  # more than an underflow can lose
LARGEST = float(np.finfo(np.float64).max)


@overload
def whole(a: npt.ArrayLike, axis: None = None) -> tuple[np.ndarray, int]: ...
@overload
def whole(a: npt.ArrayLike, axis: int) -> tuple[np.ndarray, np.ndarray]: ...
def whole(a: npt.ArrayLike, axis: int | None = None) -> tuple[np.ndarray, int | np.ndarray]:
    r"""Integers k and a shift s with :math:`a = k\,2^{-s}`, exactly.

    One shift for all, or one per line along ``axis``. The integers are int64 where they fit, otherwise
    Python's own. Integers are taken as they are, also beyond :math:`2^{53}`.

    >>> whole(np.array([0.75, -2.0]))
    (array([ 3, -8]), 2)
    >>> whole(np.array([2**62 + 1]))
    (array([4611686018427387905], dtype=object), 0)
    """
    if np.asarray(a).dtype.kind in "iuO":
        k = np.asarray(a).astype(object)
        if longest(k) < SHORT:
            k = k.astype(np.int64)
        return k, 0 if axis is None else np.zeros(np.delete(k.shape, axis), np.int64)
    mantissa, exponent = np.frexp(np.asarray(a, dtype=np.float64))
    k = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.where(k == 0, 0, np.frexp((k & -k).astype(np.float64))[1] - 1)  # trailing bits that are 0
    k >>= zeros
    power = exponent.astype(np.int64) - 53 + zeros
    least = np.min(np.where(k == 0, np.iinfo(np.int64).max, power), axis=axis, initial=np.iinfo(np.int64).max)
    least = np.where(least == np.iinfo(np.int64).max, 0, least)
    wide = least if axis is None else np.expand_dims(least, axis)
    left = np.where(k == 0, 0, power - wide)
    bits = np.frexp(np.abs(k).astype(np.float64))[1] + left
    if np.max(bits, initial=0) > SHORT:
        k, left = k.astype(object), left.astype(object)
    return k << left, (-int(least) if axis is None else -least)


def longest(k: np.ndarray) -> int:
    """Bits of the largest of some integers."""
    if k.size == 0:
        return 0
    return max(int(k.max()).bit_length(), int(k.min()).bit_length())


def floats(a: npt.ArrayLike) -> Floats:
    """Numbers as float64, integers of any length rounded."""
    return np.asarray(a, dtype=np.float64)


def root_above(numerator: int, denominator: int) -> float:
    """The square root of a fraction, rounded up.

    >>> root_above(1, 4), root_above(0, 3), root_above(2, 1) >= math.sqrt(2)
    (0.5, 0.0, True)
    """
    return _root(numerator, denominator, True)


def root_below(numerator: int, denominator: int) -> float:
    """The square root of a fraction, rounded down; never infinite.

    >>> root_below(1, 4), root_below(2, 1) < root_above(2, 1)
    (0.5, True)
    """
    return _root(numerator, denominator, False)


def _root(numerator: int, denominator: int, up: bool) -> float:
    if numerator == 0:
        return 0.0
    shift = max(0, 2 * 64 + denominator.bit_length() - numerator.bit_length())
    shift += shift % 2
    scaled = numerator << shift
    root = math.isqrt(scaled // denominator)
    if up and root * root * denominator != scaled:
        root += 1
    return _short(root, -shift // 2, up)


def _short(k: int, power: int, up: bool) -> float:
    """k 2^power for k >= 0 as a float, rounded up or down."""
    cut = max(0, k.bit_length() - 53, -1074 - power)
    short = k >> cut
    if up and short << cut != k:
        short += 1
    try:
        return math.ldexp(short, cut + power)
    except OverflowError:
        return math.inf if up else LARGEST


def above(value: Fraction) -> float:
    """The least float that is not below a fraction.

    >>> above(Fraction(1, 3)) > 1 / 3 or Fraction(1 / 3) >= Fraction(1, 3), above(Fraction(-1, 2))
    (True, -0.5)
    """
    return -_float(-value, False) if value < 0 else _float(value, True)


def below(value: Fraction) -> float:
    """The largest float that is not above a fraction."""
    return -_float(-value, True) if value < 0 else _float(value, False)


def _float(value: Fraction, up: bool) -> float:
    if value == 0:
        return 0.0
    shift = max(0, 64 + value.denominator.bit_length() - value.numerator.bit_length())
    k, rest = divmod(value.numerator << shift, value.denominator)
    return _short(2 * k + (rest > 0), -shift - 1, up)


def ratio(numerator: int, denominator: int) -> float:
    """The quotient of two positive integers of any length as a float above 0."""
    surplus = max(0, min(numerator.bit_length(), denominator.bit_length()) - 128)
    try:
        value = (numerator >> surplus) / (denominator >> surplus)
    except OverflowError:
        return math.inf
    return max(value, 5e-324)
