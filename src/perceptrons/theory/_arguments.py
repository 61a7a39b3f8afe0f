"""Checks of the symbols that enter a theorem: each returns a plain float (or int), or raises.

An error names the symbol, the rule and the value: ``gamma must be a positive number; got
gamma=-1.0.``
"""

from __future__ import annotations

import math
import numbers
from typing import NoReturn

SLACK = 1e-12  # a floor or a ceiling must not depend on the last bit of a quotient


def _number(name: str, value: object, rule: str) -> int | float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be {rule}; got {name}={value!r}.")
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def _refuse(name: str, value: float, rule: str) -> NoReturn:
    raise ValueError(f"{name} must be {rule}; got {name}={value!r}.")


def positive(name: str, value: float, infinite: bool = False) -> float:
    """A number above 0; infinity only where the caller says so."""
    v = _number(name, value, "a positive number")
    if not v > 0 or (math.isinf(v) and not infinite):
        _refuse(name, v, "a positive number")
    return float(v)


def nonnegative(name: str, value: float) -> float:
    """A finite number, 0 or above."""
    v = _number(name, value, "a non-negative number")
    if not 0 <= v < math.inf:
        _refuse(name, v, "a non-negative number")
    return float(v)


def margin(name: str, value: float) -> float:
    """A margin: positive, or 0, for which a bound is ``inf`` because nothing is proved."""
    v = _number(name, value, "a positive number")
    if not 0 <= v < math.inf:
        _refuse(name, v, "a positive number")
    return float(v)


def between(
    name: str,
    value: float,
    low: float,
    high: float,
    rule: str,
    without_low: bool = False,
    without_high: bool = False,
) -> float:
    """A number from ``low`` to ``high``, the ends included unless said; ``rule`` in words."""
    v = _number(name, value, rule)
    if not low <= v <= high or (without_low and v == low) or (without_high and v == high):
        _refuse(name, v, rule)
    return float(v)


def inside(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    rule = "a number between 0 and 1, both excluded"
    return between(name, value, 0.0, 1.0, rule, without_low=True, without_high=True)


def from_zero_below_one(name: str, value: float) -> float:
    """A number of [0, 1)."""
    return between(name, value, 0.0, 1.0, "a number from 0 to 1, 1 excluded", without_high=True)


def whole(name: str, value: float, low: int = 0, high: int | None = None) -> int:
    """An integer from ``low`` to ``high`` (3.0 counts as 3)."""
    rule = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    v = _number(name, value, rule)
    if not math.isfinite(v) or v != int(v) or v < low or (high is not None and v > high):
        _refuse(name, v, rule)
    return int(v)


def square(a: float) -> float:
    """a² that becomes ``inf`` instead of raising OverflowError."""
    return a * a


def over(a: float, b: float) -> float:
    """a/b that becomes ``inf`` when b = 0."""
    return a / b if b else math.inf


def floor(a: float) -> float:
    """⌊a⌋, where an a that rounding put just below an integer counts as that integer."""
    return math.inf if math.isinf(a) else math.floor(a * (1.0 + SLACK))


def log_ceiling(n: float, alpha: float) -> int:
    """⌈log_α n⌉ for n ≥ 1, α > 1: the least whole j with α^j ≥ n."""
    j = max(0, math.ceil(math.log(n) / math.log(alpha)))
    while j > 0 and alpha ** (j - 1) >= n * (1.0 - SLACK):
        j -= 1
    while alpha**j < n * (1.0 - SLACK):
        j += 1
    return j
