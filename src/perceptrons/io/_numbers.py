"""Decimal numbers, read by compiled loops and rounded as Python rounds them.

A number of at most 18 digits is an integer m times :math:`10^q`. Where :math:`m < 2^{53}` and
:math:`|q| \\le 22`, both are doubles without error, and one multiplication or division rounds correctly.

For any other number a loop writes a NaN whose low bits are the position of the number; a NaN in the file is
refused, so the two cannot be confused. :func:`finish` computes the value after the loop. It
multiplies m, shifted to 64 bits, by the first 64 bits T of :math:`5^q`. The true product lies in
:math:`[U, U + 2)`, U the upper half of mT, since cutting :math:`5^q` off loses less than one in T. The lower
bits of U are compared with one half: unless they are within that uncertainty of it, all numbers of the
interval round alike. Two in a thousand arbitrary numbers are too near to tell; these, longer ones and those
near the ends of the range are left to Python's ``float``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import Bytes, Floats, Ints, Unsigned
from ..engine.compiler import compiled, helper

ONE = np.uint64(1)
EXACT = 1 << 53  # integers below it are doubles
DIGITS = 10**17  # below it one more digit fits into an int64
LEAST, MOST = -342, 308  # powers of ten beyond which 18 digits are 0 or infinite
LATER, PLACE = 0x7FF8 << 48, (1 << 48) - 1  # the bits of a NaN; those of a position in it

HALF_WORD, LOW_WORD = np.uint64(32), np.uint64(0xFFFFFFFF)
TOP_BIT = np.uint64(63)


class Powers(NamedTuple):
    """Tables of powers, by which numbers are computed."""

    tens: np.ndarray  #: 10^0 … 10^22
    fives: np.ndarray  #: the first 64 bits of 5^q, q from LEAST to MOST
    shifts: np.ndarray  #: 5^q is these bits times two to this power, and less than one bit more


def first_bits(q: int) -> tuple[int, int]:
    """(T, s) with :math:`T 2^s \\le 5^q < (T + 1) 2^s` and T of 64 bits."""
    if q < 0:
        length = (5**-q).bit_length()
        return (1 << (length + 63)) // 5**-q, -(length + 63)
    shift = (5**q).bit_length() - 64
    return (5**q >> shift if shift > 0 else 5**q << -shift), shift


_FIVES = [first_bits(q) for q in range(LEAST, MOST + 1)]
POWERS = Powers(
    np.asarray([float(10**k) for k in range(23)]),
    np.asarray([bits for bits, _ in _FIVES], np.uint64),
    np.asarray([shift for _, shift in _FIVES], np.int64),
)

# what `number` found
NOTHING, WHOLE, DECIMAL, LONG = 0, 1, 2, 3

NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(NUMBER)
_OTHER = re.compile(rb"[^0-9.eE+-]")  # ends every number


@helper
def is_blank(c: int) -> bool:
    """A space, a tab, or the first half of a Windows line end."""
    return c == 32 or c == 9 or c == 13


@helper
def digit(c: int) -> np.int64:
    """0 to 9, or something else for what is not a digit."""
    return np.int64(c) - 48


@helper
def past_blanks(buffer: Bytes, p: np.uint64) -> np.uint64:
    """The first position from p on that is not blank."""
    while is_blank(buffer[p]):
        p += ONE
    return p


@helper
def past_line(buffer: Bytes, p: np.uint64) -> np.uint64:
    """The start of the next line."""
    while buffer[p] != 10:
        p += ONE
    return p + ONE


@helper
def whole(buffer: Bytes, p: np.uint64) -> tuple[np.int64, np.uint64]:
    """(value, position behind it) of the digits at p; more than 18 digits stay at a value beyond 10^17."""
    m = np.int64(0)
    d = digit(buffer[p])
    while d >= 0 and d <= 9:
        if m < DIGITS:
            m = m * 10 + d
        p += ONE
        d = digit(buffer[p])
    return m, p


@helper
def decimal(buffer: Bytes, p: np.uint64) -> tuple[np.int64, int | np.int64, bool, np.uint64, int]:
    """(m, q, negative, position behind it, what it is) of the number m 10^q at p; NOTHING leaves p alone."""
    start = p
    negative = buffer[p] == 45
    if negative or buffer[p] == 43:
        p += ONE
    q: int | np.int64
    m, n, q, kind = np.int64(0), 0, 0, WHOLE
    d = digit(buffer[p])
    while d >= 0 and d <= 9:
        if m < DIGITS:
            m = m * 10 + d
        else:
            kind = LONG
        n += 1
        p += ONE
        d = digit(buffer[p])
    if buffer[p] == 46:
        kind = max(kind, DECIMAL)
        p += ONE
        d = digit(buffer[p])
        while d >= 0 and d <= 9:
            if m < DIGITS:
                m = m * 10 + d
                q -= 1
            else:
                kind = LONG
            n += 1
            p += ONE
            d = digit(buffer[p])
    if n == 0:
        return m, q, negative, start, NOTHING
    if buffer[p] == 101 or buffer[p] == 69:
        power, p = signed_power(buffer, p + ONE)
        if p == np.uint64(0):
            return m, q, negative, start, NOTHING
        q += power
        kind = max(kind, DECIMAL)
    return m, q, negative, p, kind


@helper
def number(buffer: Bytes, p: np.uint64, tens: Floats) -> tuple[float, np.uint64, int]:
    """(value, position behind it, what it is) of the number at p; a LONG one has no value yet.

    The byte that ends it must lie within the buffer: every block ends with a line end.
    """
    m, q, negative, end, kind = decimal(buffer, p)
    if kind == NOTHING:
        return 0.0, p, NOTHING
    value = np.float64(m)
    if m >= EXACT or q > 22 or q < -22:
        kind = LONG
    elif q > 0:
        value = value * tens[q]
    elif q < 0:
        value = value / tens[-q]
    if negative:
        value = -value
    return value, end, kind


@helper
def signed_power(buffer: Bytes, p: np.uint64) -> tuple[np.int64, np.uint64]:
    """(exponent, position behind it) of what follows an e; position 0 when it is not a number."""
    down = buffer[p] == 45
    if down or buffer[p] == 43:
        p += ONE
    power, q = whole(buffer, p)
    if q == p:
        return np.int64(0), np.uint64(0)
    power = min(power, np.int64(10**15))  # the digits before the e may take back as much as a block is long
    return -power if down else power, q


@helper
def upper_half(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of a product of 128."""
    a1, a0, b1, b0 = a >> HALF_WORD, a & LOW_WORD, b >> HALF_WORD, b & LOW_WORD
    cross, other = a1 * b0, a0 * b1
    middle = ((a0 * b0) >> HALF_WORD) + (cross & LOW_WORD) + (other & LOW_WORD)
    return a1 * b1 + (cross >> HALF_WORD) + (other >> HALF_WORD) + (middle >> HALF_WORD)


@helper
def rounded(m: np.int64, q: int | np.int64, fives: Unsigned, shifts: Ints) -> tuple[float, bool]:
    """(the double nearest to m 10^q, whether that is sure)."""
    if m == 0:
        return 0.0, True
    if q < LEAST or q > MOST:
        return 0.0, False
    w, up = np.uint64(m), np.int64(0)
    while w >> TOP_BIT == np.uint64(0):
        w, up = w << ONE, up + 1
    product = upper_half(w, fives[q - LEAST])  # 63 or 64 bits; the truth lies less than 2 above
    cut = np.uint64(10) + (product >> TOP_BIT)  # leaves 53
    mantissa, half = product >> cut, ONE << (cut - ONE)
    rest = product & ((ONE << cut) - ONE)
    if rest == half or rest + ONE == half:
        return 0.0, False
    if rest > half:
        mantissa += ONE
    exponent = np.int64(cut) + 64 + shifts[q - LEAST] + q - up
    if exponent < -1074 or exponent > 970:  # subnormal or nearly infinite: left to Python
        return 0.0, False
    return math.ldexp(np.float64(mantissa), exponent), True


@compiled
def round_long(buffer: Bytes, values: Floats, value_bits: Ints, fives: Unsigned, shifts: Ints) -> None:
    """Give the numbers that a loop has left the doubles they are nearest to, where that is sure."""
    for k in range(values.size):
        if np.isnan(values[k]):
            m, q, negative, _, kind = decimal(buffer, np.uint64(value_bits[k] & PLACE))
            if kind != LONG:  # all of its digits are in m
                value, sure = rounded(m, q, fives, shifts)
                if sure:
                    values[k] = -value if negative else value


def finish(buffer: np.ndarray, values: np.ndarray, refuse: Callable[[int, int], None]) -> None:
    """Put the numbers that a loop has left into ``values``.

    ``refuse(k, position)`` is called for one that is too large for a double.
    """
    bits = values.view(np.int64)
    round_long(buffer, values, bits, POWERS.fives, POWERS.shifts)
    for k in np.flatnonzero(np.isnan(values)).tolist():
        position = int(bits[k]) & PLACE
        values[k] = float(number_at(buffer, position))
        if np.isinf(values[k]):
            refuse(k, position)


def finish_labels(buffer: np.ndarray, labels: np.ndarray, refuse: Callable[[int, int, str], None]) -> None:
    """Put the labels that a loop has left into ``labels``; two that are written differently stay different.

    ``refuse(k, position, expected)`` is called for one beyond all doubles, and for an integer beyond
    :math:`2^{53}` that no double is equal to: rounded, it could be another label. With a point or an exponent
    a label is a number like others, and rounded.
    """
    left = np.flatnonzero(np.isnan(labels))
    places = labels.view(np.int64)[left] & PLACE
    finish(buffer, labels, lambda k, position: refuse(k, position, "a finite number as label"))
    for k, position in zip(left.tolist(), places.tolist()):
        if EXACT <= abs(labels[k]) < math.inf and _is_rounded(labels[k], number_at(buffer, position)):
            refuse(k, position, WHOLE_LABEL)


WHOLE_LABEL = "an integer label that float64 holds exactly"


def _is_rounded(value: float, written: bytes) -> bool:
    """Whether an integer is not what is written."""
    digits = written.lstrip(b"+-0")
    return digits.isdigit() and int(digits) != abs(int(value))


def number_at(buffer: np.ndarray, position: int) -> bytes:
    """The text of the number at a position, however long it is."""
    length = 64
    while True:
        raw = buffer[position : position + length].tobytes()
        if _OTHER.search(raw) is not None or len(raw) < length:
            break
        length *= 4
    match = _NUMBER.match(raw)
    if match is None:
        raise AssertionError(f"no number at {position}")
    return match.group()
