"""How the checker compares two numbers, and the exception for a claim that fails."""

from __future__ import annotations

import math

#: Two computations of one number may differ by this much, relative to its size.
AGREE = 1e-8


class ClaimFailure(Exception):
    """A claim that does not hold; the message says what was found."""


def need(condition: object, why: str) -> None:
    if not condition:
        raise ClaimFailure(why)


def close(claimed: float, found: float, scale: float = 0.0) -> bool:
    """Whether two computations of a number agree; what is not a number agrees with nothing."""
    if math.isinf(claimed) or math.isinf(found):
        return claimed == found
    return abs(claimed - found) <= AGREE * max(abs(claimed), abs(found), scale, 1e-300)
