r"""A bias as the weight of a constant coordinate B: section 13 of the specification.

The learner sees :math:`(x, B)` and keeps :math:`(w, b/B)`. A plane at distance :math:`|b|` from the
origin has a smaller margin there than in the space of x, and the rows are longer: both make the
perceptron's bound larger.
"""

import math
from fractions import Fraction

from .. import _arguments as arg
from .._rational import above


def augmented_margin(gamma: float, b: float, B: float = 1.0) -> float:
    r"""The margin in augmented space of a plane with margin γ and offset b.

    At least :math:`\gamma/\sqrt{1 + b^2/B^2}`. Assumes a unit u with
    :math:`y(\langle u, x\rangle + b) \ge \gamma`: the vector :math:`(u, b/B)` has length
    :math:`\sqrt{1 + b^2/B^2}` and the same values on :math:`(x, B)`. No vector has a larger margin there
    than the best plane with a free offset.

    >>> augmented_margin(gamma=1, b=3, B=4)
    0.8
    """
    gamma, B = arg.margin("gamma", gamma), arg.positive("B", B)
    return gamma / math.hypot(1.0, _offset(b) / B)


def novikoff_augmented(R: float, gamma: float, b: float, B: float | None = None) -> float:
    r"""Mistakes of the perceptron with a constant coordinate B, for a plane with offset b.

    :math:`M \le (R^2 + B^2)(1 + b^2/B^2)/\gamma^2`: :func:`novikoff` with
    :math:`R_{aug} = \sqrt{R^2 + B^2}` and :func:`augmented_margin`. Assumes a unit u with
    :math:`y(\langle u, x\rangle + b) \ge \gamma` and :math:`\|x\| \le R`. ``B=None`` stands for the
    best constant, :math:`B = \sqrt{R|b|}`, for which it is :math:`(R + |b|)^2/\gamma^2`; a plane
    through the origin needs none.

    A. Novikoff, On convergence proofs for perceptrons, 1962 (in augmented space).

    >>> novikoff_augmented(R=4, gamma=0.5, b=1, B=1), novikoff_augmented(R=4, gamma=0.5, b=1)
    (136.0, 100.0)
    """
    R, gamma, b = arg.nonnegative("R", R), arg.margin("gamma", gamma), abs(_offset(b))
    if B is None:
        return above((Fraction(R) + Fraction(b)) ** 2 / Fraction(gamma) ** 2) if gamma else math.inf
    if not gamma:
        return math.inf
    r, offset, constant = Fraction(R), Fraction(b), Fraction(arg.positive("B", B))
    return above((r**2 + constant**2) * (1 + (offset / constant) ** 2) / Fraction(gamma) ** 2)


def _offset(b: float) -> float:
    return arg.between("b", b, -math.inf, math.inf, "a finite number", without_low=True, without_high=True)
