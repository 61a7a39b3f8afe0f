r"""The best multiple of a vector as a comparator of the hinge bound."""

from __future__ import annotations

import numpy as np


def best_scale(m: np.ndarray, a: float) -> float:
    r"""The c ≥ 0 for which :math:`c^2a^2 + 2\sum\max(0, 1 - c\,m_i)` is smallest.

    With :math:`m_i = y_i\langle w, x_i\rangle` and :math:`a = R\|w\|` this is the hinge bound
    :math:`R^2\|u\|^2 + 2H(u)` for u = c·w. It is convex in c; between the points :math:`1/m_i` its
    slope is :math:`2ca^2 - 2\sum m_i` over the rows with :math:`c\,m_i < 1`.

    >>> best_scale(np.array([2.0, 2.0]), a=1.0)  # from 1/2 on nothing is missed
    0.5
    >>> best_scale(np.array([1.0, -1.0]), a=1.0)  # the sum of the margins is 0: stay at 0
    0.0
    >>> best_scale(np.array([0.5]), a=1.0)  # c^2 + 2(1 - c/2)
    0.5
    """
    if a <= 0.0:
        return 0.0
    positive = np.sort(m[m > 0.0])[::-1]  # the largest margin leaves first
    slope = float(m.sum())
    for largest in positive:
        c = slope / a / a
        if c <= 1.0 / largest:
            return max(c, 0.0)
        slope -= float(largest)
        if slope / a <= a / largest:  # beyond 1/largest the bound grows
            return float(1.0 / largest)
    return max(slope / a / a, 0.0)
