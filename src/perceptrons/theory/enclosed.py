r"""Kernel values and powers between two fractions, which a check without rounding errors computes with.

Every float is a fraction, and sums and products of fractions are exact. Where a formula is rational both ends
are equal; where it has an exponential or a root they are apart by what the float function may be wrong by,
so that a claim which holds at the worse end holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from .gram import Description, _common, _words

#: exp and pow of the C library are within a few units of the last place; this allows sixteen.
ULPS = Fraction(16, 2**52)
TINY = Fraction(1, 10**300)  # below it floats lose their precision
ROOT_BITS = 80  # a root is enclosed to this many significant bits


class Range(NamedTuple):
    """low <= value <= high."""

    low: Fraction
    high: Fraction

    def plus(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def times(self, factor: Fraction) -> Range:
        ends = self.low * factor, self.high * factor
        return Range(*ends) if factor >= 0 else Range(ends[1], ends[0])

    def by(self, other: Range) -> Range:
        ends = [a * b for a in self for b in other]
        return Range(min(ends), max(ends))


def point(value: Fraction) -> Range:
    return Range(value, value)


ZERO = point(Fraction(0))
Kernel: TypeAlias = Callable[[Any, Any], Range]  # of two rows, strings, or numbers of rows of a table


def rational(kernel: Description) -> bool:
    """Whether the values are fractions.

    >>> rational({"kind": "Linear"}), rational({"kind": "Normalized", "kernel": {"kind": "Linear"}})
    (True, False)
    """
    if kernel["kind"] in ("Gaussian", "Normalized", "Pairwise"):
        return False
    parts = [*kernel.get("terms", ()), *([kernel["kernel"]] if "kernel" in kernel else [])]
    return all(rational(part) for part in parts)


def enclosed(kernel: Description, table: Any = None) -> Kernel | None:
    """k(a, b) of two rows, or None where it is a function of the user's.

    Rows are dicts of fractions by index; strings are strings; rows of a ``table`` of kernel values, an array,
    are their numbers.

    >>> k = enclosed({"kind": "Polynomial", "degree": 2, "coef0": 0.5, "gamma": 1.0})
    >>> k({0: Fraction(1)}, {0: Fraction(1, 3), 1: Fraction(1)}).low
    Fraction(25, 36)
    >>> low, high = enclosed({"kind": "Gaussian", "gamma": 1.0})({0: Fraction(1)}, {})
    >>> low < Fraction(math.exp(-1.0)) < high, float(high - low) < 1e-14
    (True, True)
    """
    kind = kernel["kind"]
    if kind in ("Sum", "Product"):
        return _composed(kind, [enclosed(part, table) for part in kernel["terms"]])
    if kind in ("Scaled", "Normalized"):
        inner = enclosed(kernel["kernel"], table)
        if inner is None:
            return None
        if kind == "Normalized":
            return lambda a, b: _normalised(inner, a, b)
        factor = Fraction(kernel["factor"])
        return lambda a, b: inner(a, b).times(factor)
    if kind == "Linear":
        return lambda a, b: point(dot(a, b))
    if kind == "Polynomial":
        c, g, d = Fraction(kernel["coef0"]), Fraction(kernel["gamma"]), kernel["degree"]
        return lambda a, b: point((c + g * dot(a, b)) ** d)
    if kind == "AllSubsets":
        return lambda a, b: point(
            math.prod((1 + v * b[j] for j, v in a.items() if j in b), start=Fraction(1))
        )
    if kind == "Spectrum":
        return lambda a, b: point(Fraction(_common(*_words(kernel, [a, b]))))
    if kind == "Precomputed" and table is not None:
        return lambda a, b: point(Fraction(table[a, b].item()))
    if kind == "Gaussian":
        gamma = Fraction(kernel["gamma"])
        return lambda a, b: decay(gamma * (dot(a, a) - 2 * dot(a, b) + dot(b, b)))
    return None


def _composed(kind: str, parts: list[Kernel | None]) -> Kernel | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None

    def value(a: Any, b: Any) -> Range:
        first, *others = (part(a, b) for part in known)
        for other in others:
            first = first.plus(other) if kind == "Sum" else first.by(other)
        return first

    return value


def _normalised(inner: Kernel, a: Any, b: Any) -> Range:
    left, right = inner(a, a), inner(b, b)
    if left.high <= 0 or right.high <= 0:
        return ZERO
    scale = Range(
        root(max(left.low, Fraction(0)) * max(right.low, Fraction(0))).low, root(left.high * right.high).high
    )
    if scale.low <= 0:
        return Range(Fraction(-1), Fraction(1))  # what the values of any kernel are within
    value = inner(a, b)
    low = value.low / (scale.high if value.low >= 0 else scale.low)
    return Range(low, value.high / (scale.low if value.high >= 0 else scale.high))


def decay(x: Fraction) -> Range:
    """exp(-x) for x of at least 0."""
    value = math.exp(-min(float(x), 1e4))
    if value < TINY:
        return Range(Fraction(0), 2 * TINY)
    error = ULPS * (1 + x)  # what rounding x to a float changes, and exp itself
    return Range(max(Fraction(0), Fraction(value) * (1 - error)), Fraction(value) * (1 + error))


def root(square: Fraction) -> Range:
    """The square root of a fraction of at least 0.

    >>> low, high = root(Fraction(2))
    >>> low * low < 2 < high * high
    True
    """
    short = 2 * ROOT_BITS - square.numerator.bit_length() + square.denominator.bit_length()
    bits = max(0, short + short % 2)
    floor = math.isqrt((square.numerator << bits) // square.denominator)
    unit = Fraction(1, 2 ** (bits // 2))
    return Range(floor * unit, (floor + 1) * unit)


def power_norm(values: list[float], p: float) -> Range:
    r""":math:`(\sum|v|^p)^{1/p}`: a fraction for p = 1, otherwise enclosed.

    >>> power_norm([3.0, -4.0], 1.0).low
    Fraction(7, 1)
    >>> low, high = power_norm([3.0, -4.0], 2.0)
    >>> low < 5 < high
    True
    """
    sizes = [abs(v) for v in values if v]
    if p == 1.0 or not sizes:
        return point(sum((Fraction(v) for v in sizes), start=Fraction(0)))
    largest = max(sizes)  # scaled, so that no power leaves the range of floats
    value = Fraction(math.fsum((v / largest) ** p for v in sizes) ** (1.0 / p)) * Fraction(largest)
    error = ULPS * (2 + Fraction(p))
    return Range(value * (1 - error), value * (1 + error))


def dot(a: dict[int, Fraction], b: dict[int, Fraction]) -> Fraction:
    """The inner product of two rows of fractions."""
    if len(b) < len(a):
        a, b = b, a
    return sum((v * b[j] for j, v in a.items() if j in b), start=Fraction(0))
