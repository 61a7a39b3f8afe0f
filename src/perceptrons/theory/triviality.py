"""When an upper bound says nothing: what it bounds is no larger anyway.

A rate of errors is at most 1, and a pass over m rows has at most m mistakes. Texts, tables and the command
line print "says nothing" in place of a bound that is not below; JSON has its number.
"""

from __future__ import annotations

SAYS_NOTHING = "says nothing"


def says_nothing(allowed: float, most: float | None) -> bool:
    """Whether a bound is no smaller than the ``most`` that there can be anyway; None: that is not known.

    >>> says_nothing(3.09, 1.0), says_nothing(25.0, 8), says_nothing(2.0, 8), says_nothing(25.0, None)
    (True, True, False, False)
    """
    return most is not None and not allowed < most
