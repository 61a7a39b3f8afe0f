r"""The shortest w with margin 1 on a few rows, exactly, by an active-set method on their inner products.

The problem: :math:`\min\tfrac12\|w\|^2` subject to :math:`y_i(\langle w, x_i\rangle + b) \ge 1`. The
dual method of Goldfarb and Idnani starts from a row or two and takes in one violated row at a time. All
the while :math:`w = \sum\alpha_iy_ix_i` with :math:`\alpha \ge 0`, :math:`\sum\alpha_iy_i = 0` where b is
free, and every row of the active set A has margin 1: w is the solution for A alone, and the dual value grows.

Take row p in by a step t of :math:`\alpha_p`. The others follow by :math:`-tr` and b by :math:`t\beta`, so
that margins on A stay 1:

.. math:: M r = c + \beta y_A, \quad y_A^\top r = y_p, \qquad c = M_{Ap}.

The margin of p grows by :math:`z^2 = M_{pp} - c^\top r + y_p\beta` per unit. The step ends when it has
reached 1 (p joins A) or when some :math:`\alpha_j` has come down to 0 (j leaves A). If :math:`z^2 = 0` and
nothing comes down, then :math:`\lambda = (-r, 1) \ge 0` has :math:`\sum\lambda_iy_i(x_i, 1) = 0`: there is
no separator.

M holds :math:`y_iy_j(\langle x_i, x_j\rangle + \kappa)`. With :math:`\sum\alpha_iy_i = 0` the constant
changes nothing, and it makes :math:`M_{AA} = LL^\top` invertible for rows that are affinely independent. L is
kept up to date row by row, together with :math:`f = L^{-1}y_A`.

Reference: D. Goldfarb, A. Idnani, A numerically stable dual method for solving strictly convex quadratic
programs, Mathematical Programming 27, 1983.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..compiler import compiled, helper

if TYPE_CHECKING:
    from ..._types import Bools, Floats, Ints

DONE, NO_SEPARATOR, MORE = 0, 1, 2
"""What :func:`pivot` returns: all margins are 1 or more; there is no separator; the pivots are used up."""

DEPENDENT = 1e-11  # z^2 below this share of M_pp is 0


class ActiveSetState(NamedTuple):
    """The active set and its factor; arrays are larger than what is in use."""

    A: np.ndarray  #: rows of M in the active set, int64
    alpha: np.ndarray  #: their coefficients
    L: np.ndarray  #: lower triangular: L L' = M_AA
    f: np.ndarray  #: L^-1 y_A; zeros without bias
    lc: np.ndarray  #: L^-1 c of the row that comes in
    r: np.ndarray  #: how the coefficients of the others change with it
    turns: np.ndarray  #: (2, room): rotations of a deletion
    counts: np.ndarray  #: int64: [size of A, row that came in last, pivots]
    b: np.ndarray  #: [b]


def room_for(k: int) -> ActiveSetState:
    """An empty active set with room for k rows."""
    z = np.zeros
    return ActiveSetState(
        z(k, np.int64), z(k), z((k, k)), z(k), z(k), z(k), z((2, k)), z(3, np.int64), z(1)
    )  # fmt: skip


def grown(state: ActiveSetState, k: int) -> ActiveSetState:
    """The same active set with room for k rows."""
    n = int(state.counts[0])
    new = room_for(k)
    new.A[:n], new.alpha[:n], new.f[:n] = state.A[:n], state.alpha[:n], state.f[:n]
    new.L[:n, :n] = state.L[:n, :n]
    new.counts[:], new.b[:] = state.counts, state.b
    return new


@helper
def solve_lower(L: Floats, k: int, c: Floats, out: Floats) -> None:
    """out = L^-1 c."""
    for i in range(k):
        row = L[i]
        total = c[i]
        for j in range(i):
            total -= row[j] * out[j]
        out[i] = total / row[i]


@helper
def solve_upper(L: Floats, k: int, x: Floats) -> None:
    """x <- L^-T x."""
    for i in range(k - 1, -1, -1):
        row = L[i]
        value = x[i] / row[i]
        x[i] = value
        for j in range(i):
            x[j] -= value * row[j]


@helper
def take_out(state: ActiveSetState, k: int, j: int) -> None:
    """Remove member j: L, f and lc without it, by rotations."""
    A, alpha, L, f, lc, turns = state.A, state.alpha, state.L, state.f, state.lc, state.turns
    for i in range(j, k - 1):
        A[i] = A[i + 1]
        alpha[i] = alpha[i + 1]
        row, below = L[i], L[i + 1]
        for c in range(i + 2):
            row[c] = below[c]
        for c in range(j, i):
            a, e = row[c], row[c + 1]
            row[c] = turns[0, c] * a + turns[1, c] * e
            row[c + 1] = turns[0, c] * e - turns[1, c] * a
        a, e = row[i], row[i + 1]
        length = sqrt(a * a + e * e)
        turns[0, i], turns[1, i] = a / length, e / length
        row[i], row[i + 1] = length, 0.0
    for c in range(j, k - 1):
        for v in (f, lc):
            a, e = v[c], v[c + 1]
            v[c] = turns[0, c] * a + turns[1, c] * e
            v[c + 1] = turns[0, c] * e - turns[1, c] * a
    state.counts[0] = k - 1


@helper
def put_in(
    M: Floats, y: Floats, free: bool, p: int, weight: float, state: ActiveSetState, inside: Bools
) -> None:
    """Add row p, whose lc is known: L and f with it."""
    k, L, f, lc = state.counts[0], state.L, state.f, state.lc
    length2 = M[p, p]
    label = y[p] if free else 0.0
    for a in range(k):
        L[k, a] = lc[a]
        length2 -= lc[a] * lc[a]
        label -= lc[a] * f[a]
    L[k, k] = sqrt(max(length2, DEPENDENT * DEPENDENT * M[p, p]))
    f[k] = label / L[k, k]
    state.A[k], state.alpha[k] = p, weight
    inside[p] = True
    state.counts[0] = k + 1


@compiled
def begin(M: Floats, y: Floats, free: bool, places: Ints, state: ActiveSetState, inside: Bools) -> bool:
    """The active set of one row, or of one of each class; False if these alone have no separator."""
    i, j = places[0], places[-1]
    length2, scale = M[i, i], 0.0
    if free:  # of x_i - x_j: the constant drops out
        scale = M[i, i] + M[j, j]
        length2 = scale + 2.0 * M[i, j]
    if not length2 > 1e-15 * scale:  # a zero row, or the same x with both labels
        return False
    weight = 2.0 / length2 if free else 1.0 / length2
    margin = 0.0
    for p in places:
        k = state.counts[0]
        for a in range(k):
            state.r[a] = M[p, state.A[a]]
        solve_lower(state.L, k, state.r, state.lc)
        put_in(M, y, free, p, weight, state, inside)
        margin += weight * M[i, p]
    if free:
        state.b[0] = y[i] * (1.0 - margin)
    return True


@helper
def margins_of(M: Floats, y: Floats, m: int, state: ActiveSetState, out: Floats) -> None:
    """Margin of each of the m rows."""
    k, b = state.counts[0], state.b[0]
    for i in range(m):
        out[i] = b * y[i]
    for a in range(k):
        row, weight = M[state.A[a]], state.alpha[a]
        for i in range(m):
            out[i] += weight * row[i]


@compiled
def refine(M: Floats, y: Floats, m: int, free: bool, state: ActiveSetState, margins: Floats) -> bool:
    """Bring the margins on A back to 1 where rounding has moved them, and b with them."""
    k = state.counts[0]
    margins_of(M, y, m, state, margins)
    mass = 0.0
    for a in range(k):
        i = state.A[a]
        state.r[a] = 1.0 - margins[i]
        mass += y[i] * state.alpha[a]
    solve_lower(state.L, k, state.r, state.lc)
    beta = 0.0
    if free:
        above = below = 0.0
        for a in range(k):
            above += state.f[a] * state.lc[a]
            below += state.f[a] * state.f[a]
        beta = (above + mass) / below
    for a in range(k):
        state.r[a] = state.lc[a] - beta * state.f[a]
    solve_upper(state.L, k, state.r)
    for a in range(k):
        if not state.alpha[a] + state.r[a] >= 0.0:  # not what refining is for
            return False
    for a in range(k):
        state.alpha[a] += state.r[a]
    state.b[0] += beta
    margins_of(M, y, m, state, margins)
    return True


@compiled
def pivot(
    M: Floats,
    y: Floats,
    m: int,
    free: bool,
    tol: float,
    limit: int,
    state: ActiveSetState,
    margins: Floats,
    inside: Bools,
) -> int:
    """Take in violated rows until margins are at least 1 - tol, or ``limit`` pivots are done.

    ``inside``: whether a row of M is in A. On NO_SEPARATOR the weights are -r on A and 1 on counts[1].
    """
    A, alpha, L, f, lc, r, counts = state.A, state.alpha, state.L, state.f, state.lc, state.r, state.counts
    pivots = 0
    while True:
        margins_of(M, y, m, state, margins)
        p = -1
        lowest = 1.0 - tol
        for i in range(m):
            if not inside[i] and margins[i] < lowest:
                lowest, p = margins[i], i
        if p < 0:
            return DONE
        if pivots >= limit or counts[0] + 1 >= A.shape[0]:
            return MORE
        counts[1] = p
        k = counts[0]
        for a in range(k):
            r[a] = M[p, A[a]]
        solve_lower(L, k, r, lc)
        entering, margin = 0.0, margins[p]
        while True:
            pivots += 1
            beta = 0.0
            if free:
                above = below = 0.0
                for a in range(k):
                    above += f[a] * lc[a]
                    below += f[a] * f[a]
                beta = (y[p] - above) / below
            z2 = M[p, p] + y[p] * beta
            for a in range(k):
                r[a] = lc[a] + beta * f[a]
                z2 -= lc[a] * r[a]
            solve_upper(L, k, r)
            full = (1.0 - margin) / z2 if z2 > DEPENDENT * M[p, p] else inf
            partial, leaves, largest = inf, -1, 0.0
            for a in range(k):
                largest = max(largest, abs(r[a]))
            for a in range(k):
                if r[a] > 1e-12 * largest and alpha[a] < partial * r[a]:
                    partial, leaves = alpha[a] / r[a], a
            t = min(full, partial)
            if t == inf:
                return NO_SEPARATOR
            for a in range(k):
                alpha[a] = max(0.0, alpha[a] - t * r[a])
            entering += t
            state.b[0] += t * beta
            margin += t * z2
            if full <= partial:
                break
            inside[A[leaves]] = False
            take_out(state, k, leaves)
            k -= 1
        put_in(M, y, free, p, entering, state, inside)
        counts[2] += 1


@compiled
def forward(L: Floats, k: int, c: Floats, out: Floats) -> None:
    """out = L^-1 c."""
    solve_lower(L, k, c, out)
