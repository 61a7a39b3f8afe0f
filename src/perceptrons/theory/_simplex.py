r"""The two alternatives in whole numbers: a simplex method that never rounds, for small data.

Phase 1 of the simplex method on :math:`\sum\lambda_i z_i = 0, \sum\lambda_i = 1, \lambda \ge 0`, with
integer pivots (J. Edmonds, 1967: the tableau keeps one common denominator, and every division is without
remainder) and R. Bland's rule, so that it ends. It finds :math:`\lambda`, or from the dual a v with
:math:`\langle v, z_i\rangle > 0` for all i.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._lifting import OutOfTime


def alternatives(Z: np.ndarray, late: Callable[[], bool]) -> tuple[list[int] | None, list[int] | None]:
    """Integers (λ, None) or (None, v) for rows of integers.

    >>> alternatives(np.array([[1, 0], [-2, 0]]), lambda: False)
    ([2, 1], None)
    >>> alternatives(np.array([[1, 0], [-2, 1]]), lambda: False)
    (None, [1, 3])
    """
    n, d = Z.shape
    m = d + 1
    T = np.zeros((m + 1, n + m + 1), dtype=object)  # the last line holds the reduced costs
    T[:d, :n] = Z.T.astype(object)
    T[d, :n] = 1
    T[range(m), range(n, n + m)] = 1
    T[d, -1] = 1
    T[m, :n] = -T[:m, :n].sum(axis=0)
    T[m, -1] = -1
    basis = list(range(n, n + m))
    scale = 1
    while True:
        entering = next((j for j in range(n) if T[m, j] < 0), None)
        if entering is None:
            break
        column = T[:m, entering]
        rows = [i for i in range(m) if column[i] > 0]
        leaving = rows[0]
        for i in rows[1:]:  # the smallest quotient, of equal ones the smallest name
            ahead = T[i, -1] * column[leaving] - T[leaving, -1] * column[i]
            if ahead < 0 or (ahead == 0 and basis[i] < basis[leaving]):
                leaving = i
        line, pivot = T[leaving].copy(), column[leaving]
        T = (T * pivot - np.multiply.outer(T[:, entering], line)) // scale
        T[leaving] = line
        basis[leaving], scale = entering, pivot
        if late():
            raise OutOfTime
    if T[m, -1] == 0:
        weights = [0] * n
        for i, j in enumerate(basis):
            if j < n:
                weights[j] = int(T[i, -1])
        return weights, None
    return None, [int(v) - scale for v in T[m, n : n + d]]
