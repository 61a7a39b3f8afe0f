r"""The sum of squares, to the same last bit in whatever order the numbers are: by column or by slot.

Each square is cut into a coarse part, a multiple of some :math:`q_1`, and a fine part, rounded to a
multiple of some :math:`q_2`. Sums of such multiples are exact as long as they stay below :math:`2^{53} q`,
so that their order does not matter; zeros add nothing [Demmel and Nguyen 2013]. For fewer than
:math:`2^{40}` numbers and a power of two P above their sum of squares, :math:`q_1 = 2^{-52}P` and
:math:`q_2 = 2^{-64}P` will do.
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import TYPE_CHECKING

import numpy as np

from ..compiler import helper, seldom, strict

if TYPE_CHECKING:
    from ..._types import Reals

_FINE = 2.0**-12  # the fine parts of 2^40 numbers are below this times P
_CLOSE = 2.0**-10  # P is not above the sum by more than this, or it is found anew


@strict
def squared(x: float) -> float:
    return x * x


@strict
def to_multiple(x: float, large: float) -> float:
    """x, rounded to a multiple of the last digit of ``large``, which is 1.5 times a power of two above x."""
    return (x + large) - large


@strict
def less(x: float, y: float) -> float:
    return x - y


@helper
def power_above(x: float) -> float:
    """The least power of two above x > 0."""
    return ldexp(1.0, frexp(x)[1])


@helper
def largest_square(v: Reals) -> float:
    largest = 0.0
    for j in range(v.size):
        largest = max(largest, squared(np.float64(v.flat[j])))
    return largest


@seldom
def squared_length(v: Reals, guess: float) -> float:
    """The sum of the squares of v, which is about ``guess``."""
    power = power_above(guess) if guess > 0.0 else 0.0
    while True:
        coarse = fine = 0.0
        for j in range(v.size):
            square = squared(np.float64(v.flat[j]))
            part = to_multiple(square, 1.5 * power)
            coarse += part
            fine += to_multiple(less(square, part), 1.5 * _FINE * power)
        if _CLOSE * power <= coarse < power:
            return coarse + fine
        if coarse == 0.0:  # the guess was 0, or far too large
            coarse = largest_square(v)
        if coarse == 0.0:
            return 0.0
        power = power_above(coarse)
