r"""The margin with a free offset, as far as a run with an intercept knows it.

:math:`\gamma_{free}` is the largest :math:`\min_i y_i(\langle u, x_i\rangle + b)` over u of length 1 and any
b: the distance of the rows as given from a hyperplane anywhere. A run learns on rows :math:`(x, B)` and has
the weights :math:`(w_x, w_B)`.

**Lower end.** :math:`\min_i y_i(\langle w_x, x_i\rangle + B w_B)/\|w_x\|`: the lower end of the augmented
rows times :math:`\|w\|/\|w_x\|`.

**Upper end.** From w = 0 with steps :math:`\tau \ge 0`, :math:`w_x = \sum\tau yx` and
:math:`\Delta = w_B/B = \sum\tau y`. With rows of both classes, none longer than :math:`R_0`,
:math:`|b| \le R_0 - \gamma_{free}`; so

.. math::
    \gamma_{free}\sum\tau \le \langle u, w_x\rangle + b\Delta \le \|w_x\| + (R_0 - \gamma_{free})|\Delta|,
    \qquad \gamma_{free} \le \frac{\|w_x\| + R_0|\Delta|}{\sum\tau + |\Delta|}.

Weights in floats are such a sum but for an error of length E (:mod:`perceptrons.engine.margins`), so
:math:`\|w_x\|` is known up to E and :math:`\Delta` up to E/B. The fraction is monotone in
:math:`|\Delta| \le \sum\tau`: it is largest at an end of what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, inf, ldexp, sqrt
from typing import NamedTuple

import numpy as np

from .loops import scalars
from .margins import SUBNORMAL, U, down_by_one, in_the_middle, norm_up, up_by_one

#: sums of steps outside have lost digits
_SUMS = (1e-290, 1e300)


class SumOfSteps(NamedTuple):
    r"""What is known about :math:`\sum\tau y (x, 1)` and :math:`\sum\tau`."""

    norm: float  #: at least the length of the sum of the tau y x
    least: float  #: at most the size of the sum of the tau y
    most: float  #: at least that size
    mass: float  #: at most the sum of the tau

    @property
    def of_both_classes(self) -> bool:
        """Whether there certainly were steps on rows of both classes."""
        return self.most < self.mass


def steps_of_run(v: np.ndarray, state: np.ndarray, bias: float) -> SumOfSteps | None:
    """Of a run from w = 0, w = v times its scale; None where a step was negative, or digits are lost."""
    tau, k = float(state[scalars.TAU]), float(state[scalars.UPDATES])
    share = (4.0 * k + 4.0 * v.size + 64.0) * U + 4.0 * float(np.finfo(v.dtype).eps)
    if not (_SUMS[0] < tau < _SUMS[1] and share < 0.5):
        return None
    scale = abs(float(state[scalars.SCALE]))
    error = float(state[scalars.ERROR]) * (1.0 + (16.0 * k + 64.0) * U)
    norm = up_by_one(norm_up(v[:-1]) * scale)
    return _within(norm, abs(float(v[-1])) * scale, error, tau, share, bias)


def steps_of_descent(
    w: np.ndarray, steps: Sequence[float], sizes: Sequence[int], alpha: np.ndarray, bias: float, radius: float
) -> SumOfSteps | None:
    """Of a descent whose k-th step of length ``steps[k]`` added ``sizes[k]`` rows, none longer than radius.

    ``alpha`` has the sum of the steps on each row. A sum of n rows, times the step, added to w: the rounding
    is at most u(n + 3) times the lengths added, and u times that of the new w.
    """
    mass, n_steps = float(np.sum(alpha)), float(len(steps))
    share = (n_steps + len(alpha) + 64.0) * U
    if not (_SUMS[0] < mass < _SUMS[1] and share < 0.5):
        return None
    added = np.asarray(steps, float) * np.asarray(sizes, float)
    reached = float(alpha[0]) + np.cumsum(added)
    with np.errstate(over="ignore"):
        rounded = float(np.sum(reached + added * (np.asarray(sizes, float) + 4.0))) + mass
        terms = float(np.sum((np.asarray(sizes, float) + 4.0) * (1.0 + np.asarray(steps, float)))) + 4.0
    error = 2.0 * U * rounded * radius + 4.0 * SUBNORMAL * terms * w.size
    return _within(norm_up(w[:-1]), abs(float(w[-1])), error, mass, share, bias)


def _within(
    norm: float, offset: float, error: float, mass: float, share: float, bias: float
) -> SumOfSteps | None:
    """``offset`` is |w_B|; the sum of the steps is ``mass`` but for a relative ``share``."""
    if not max(norm, offset, error) < inf:
        return None
    most = up_by_one(up_by_one(offset * (1.0 + 4.0 * U) + error) / bias)
    least = down_by_one(down_by_one(offset * (1.0 - 4.0 * U) - error) / bias)
    most = min(most, up_by_one(mass * (1.0 + share)))
    return SumOfSteps(up_by_one(norm + error), max(0.0, least), most, down_by_one(mass * (1.0 - share)))


def radius_without(radius: float, bias: float, width: int) -> float:
    """At least the length of every row without its constant coordinate; ``radius`` is that of the longest.

    A squared length of ``width`` squares is rounded, and rows much shorter than B leave nothing but that.
    """
    longest = radius * (1.0 + (4.0 * width + 64.0) * U)
    return up_by_one(sqrt(max(0.0, longest - bias)) * sqrt(longest + bias) * (1.0 + 8.0 * U))


def from_augmented(up: float, radius: float, bias: float) -> float:
    """An upper end for the free offset by that of the augmented rows; both classes have rows up to radius."""
    return up_by_one(up * hypot(1.0, radius / bias) * (1.0 + 8.0 * U))


def lower_end(low: float | None, v: np.ndarray) -> float | None:
    """The lower end for the free offset by that of the augmented rows, which v has proved."""
    if low is None or not 0.0 < low < inf:
        return low
    whole, part = in_the_middle(v), in_the_middle(v[:-1])
    if part.size == 0.0:
        return inf  # w_B alone has every row on its side: they are of one class
    ratio = whole.size / part.size * (1.0 - (4.0 * v.size + 64.0) * U)
    try:
        return down_by_one(ldexp(low * ratio, whole.e - part.e) * (1.0 - 4.0 * U))
    except OverflowError:
        return low
