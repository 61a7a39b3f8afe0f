r"""The maximum margin: brackets, and the choice of rows to work on.

Rows far from the margin do not matter. So a small working set is solved exactly
(:mod:`perceptrons.engine.solvers.active_set`), one pass over all rows gives the bracket
:math:`\gamma_{low} \le \gamma^* \le \gamma_{up}` and the rows that are violated most; these join, until the
bracket is closed. The bracket is computed from the data alone, so it holds whatever the solver did.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._sparse import is_sparse
from ..compiler import compiled, helper
from . import active_set
from .points import KernelPoints as KernelPoints
from .points import LinearPoints as LinearPoints
from .points import Points as Points
from .points import factored as factored
from .points import fits as fits
from .result import Answer as Answer
from .result import Ends

if TYPE_CHECKING:
    from ..._types import Floats, Ints

UNIT = 2.0**-53  # the relative error of one operation
TINY = 2.0**-1022  # more than an underflow can lose

SMALL = 192  # so many rows are all worked on at once
BATCH = 32  # at least so many violated rows join at a time
MANY = 800  # active rows from which on single pivots are too slow

GAP_CLOSED, MAX_TIME, MAX_ITER, ROUNDING = "gap closed", "max_time", "max_iter", "rounding"


class Inseparable(Exception):
    """Weights of the rows, each class summing to 1/2 (all to 1 without bias), whose sum is nearly 0."""

    def __init__(self, weights: np.ndarray, residual: float):
        super().__init__(f"residual {residual:g}")
        self.weights = weights
        self.residual = residual


class SolverLimits(NamedTuple):
    """When to stop."""

    tol: float
    max_iter: int
    deadline: float  #: of ``time.perf_counter``
    report: Callable[[int, float], None]  #: is called with the number of a round and its gap

    def late(self) -> bool:
        return time.perf_counter() >= self.deadline


# ---------------------------------------------------------------------------------------------- brackets


@compiled
def nearest(s: Floats, y: Floats) -> tuple[float, float]:
    """The lowest score of a positive row, and the highest of a negative one."""
    low, high = np.inf, -np.inf
    for i in range(s.shape[0]):
        if y[i] > 0.0:
            low = min(low, s[i])
        else:
            high = max(high, s[i])
    return low, high


def best_bias(s: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """(b, margin): the bias that makes the smallest margin of these scores largest, and that margin."""
    low, high = nearest(s, y)
    return -(low + high) / 2.0, (low - high) / 2.0


def bracket(
    points: Points, y: np.ndarray, free: bool, rows: np.ndarray, alpha: np.ndarray
) -> tuple[np.ndarray, float, Ends]:
    """(scores, b, (gamma_low, gamma_up)) of w = the sum of alpha y x; alpha > 0 on ``rows``.

    With a free bias the masses of the classes must be equal. Raises OverflowError where alpha is too large.
    """
    mass = float(alpha.sum())
    if not mass < math.inf:
        raise OverflowError("the multipliers overflow")
    coef = alpha * y[rows]
    s = points.scores(rows, coef)
    norm = math.sqrt(points.norm2(rows, coef))
    b, least = best_bias(s, y) if free else (0.0, float((y * s).min()))
    up = norm / mass if mass > 0.0 else np.inf  # without weight there is no bound
    return s, b, (least / norm if norm > 0.0 else -np.inf, up)


def proved(
    points: LinearPoints, y: np.ndarray, free: bool, w: np.ndarray, rows: np.ndarray, alpha: np.ndarray
) -> tuple[float, float, float]:
    """(gamma_low, gamma_up, ||w||) of w = the sum of alpha y x; the ends hold whatever rounding did.

    Where rows are taken from their mean c, the difference x - c has one rounding, and c itself has no effect:
    it moves all scores by the same amount, and combinations with equal masses not at all.
    """
    X = points.X
    scratch = np.zeros(len(w))
    if not is_sparse(X):
        center = np.zeros(len(w)) if points.center is None else points.center
        return _proved_dense(X, center, y, free, w, rows, alpha, scratch)
    return _proved_csr(X.data, X.indices, X.indptr, y, free, w, rows, alpha, scratch)


@helper
def _ends(
    low: float,
    high: float,
    total: Floats,
    longest: float,
    y: Floats,
    free: bool,
    w: Floats,
    rows: Ints,
    alpha: Floats,
    terms: int,
) -> tuple[float, float, float]:
    """Both ends from the extreme scores and from the sizes of what w was summed from."""
    square = lost = 0.0
    for j in range(len(w)):
        square += w[j] * w[j]
        lost += total[j] * total[j]
    up = 1.0 + 2.0 * (len(w) + terms + 8) * UNIT  # more than any of the sums below has lost
    vanished = np.sqrt(len(w) * TINY)  # squares that underflow
    norm = np.sqrt(square)
    size = norm * up + vanished
    k = rows.shape[0]
    lost = 1.01 * (k + 4) * UNIT * (np.sqrt(lost) * up + vanished) + (k + 4) * TINY * np.sqrt(len(w))
    plus = minus = 0.0
    for i in range(k):
        if y[rows[i]] > 0.0:
            plus += alpha[i]
        else:
            minus += alpha[i]
    short = 1.0 - 2.0 * (k + 8) * UNIT
    if free:
        least = (low - high) / 2.0
        light, heavy = min(plus, minus) * short, max(plus, minus) / short
        above = (size + lost + (np.sqrt(longest) * up + vanished) * (heavy - light)) / (2.0 * light)
    else:
        least = min(low, -high)
        above = (size + lost) / ((plus + minus) * short)
    if least > 0.0:
        below = least / size
    elif norm > 0.0:
        below = least / norm * up
    else:
        below = -np.inf
    return below * (1.0 - 4.0 * UNIT) if below > 0.0 else below * (1.0 + 4.0 * UNIT), above * up, norm


@compiled
def _proved_dense(
    X: Floats, center: Floats, y: Floats, free: bool, w: Floats, rows: Ints, alpha: Floats, total: Floats
) -> tuple[float, float, float]:
    n, d = X.shape
    low, high = np.inf, -np.inf
    for i in range(n):
        s = size = 0.0
        for j in range(d):
            p = (X[i, j] - center[j]) * w[j]
            s += p
            size += abs(p)
        error = 1.01 * (d + 4) * UNIT * size + (d + 4) * TINY
        if y[i] > 0.0:
            low = min(low, s - error)
        else:
            high = max(high, s + error)
    longest = 0.0
    for k in range(rows.shape[0]):
        square = 0.0
        for j in range(d):
            z = X[rows[k], j] - center[j]
            square += z * z
            total[j] += alpha[k] * abs(z)
        longest = max(longest, square)
    return _ends(low, high, total, longest, y, free, w, rows, alpha, d)


@compiled
def _proved_csr(
    data: Floats,
    indices: np.ndarray,
    indptr: np.ndarray,
    y: Floats,
    free: bool,
    w: Floats,
    rows: Ints,
    alpha: Floats,
    total: Floats,
) -> tuple[float, float, float]:
    low, high, most = np.inf, -np.inf, 0
    for i in range(len(indptr) - 1):
        s = size = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            p = data[k] * w[indices[k]]
            s += p
            size += abs(p)
        terms = indptr[i + 1] - indptr[i]
        most = max(most, terms)
        error = 1.01 * (terms + 4) * UNIT * size + (terms + 4) * TINY
        if y[i] > 0.0:
            low = min(low, s - error)
        else:
            high = max(high, s + error)
    longest = 0.0
    for k in range(rows.shape[0]):
        square = 0.0
        for place in range(indptr[rows[k]], indptr[rows[k] + 1]):
            z = data[place]
            square += z * z
            total[indices[place]] += alpha[k] * abs(z)
        longest = max(longest, square)
    return _ends(low, high, total, longest, y, free, w, rows, alpha, most)


def relative_gap(pair: Ends) -> float:
    low, up = pair
    return (up - low) / up if 0.0 < up < np.inf else np.inf


@compiled
def masses(alpha: Floats, y: Floats) -> tuple[float, float]:
    """The sums of alpha over the positive rows and over the others."""
    plus = minus = 0.0
    for i in range(alpha.shape[0]):
        if y[i] > 0.0:
            plus += alpha[i]
        else:
            minus += alpha[i]
    return plus, minus


def balanced(alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """alpha with the heavier class scaled down to the mass of the lighter one."""
    plus, minus = masses(alpha, y)
    if plus == minus:
        return alpha
    if min(plus, minus) == 0.0:
        return np.zeros_like(alpha)
    factors = np.where(y > 0.0, min(1.0, minus / plus), min(1.0, plus / minus))
    return np.asarray(alpha * factors)


def to_margin_one(
    points: Points, y: np.ndarray, free: bool, alpha: np.ndarray
) -> tuple[np.ndarray, float, Ends]:
    """(alpha, b, bracket), scaled so that the smallest margin is 1 where w separates.

    Raises OverflowError where that makes alpha too large.
    """
    rows = np.flatnonzero(alpha)
    if not len(rows):
        return alpha, 0.0, (-np.inf, np.inf)
    _, b, pair = bracket(points, y, free, rows, alpha[rows])
    if pair[0] > 0.0:
        product = pair[0] * pair[1] * float(alpha.sum())
        if product == 0.0:
            raise OverflowError("the multipliers overflow")
        alpha, b = alpha * (1.0 / product), b * (1.0 / product)
    return alpha, b, pair


# ---------------------------------------------------------------------------- the working set, row by row


class Working:
    """Rows worked on and their matrix M of signed inner products, with the constant of a free bias."""

    def __init__(self, points: Points, y: np.ndarray, free: bool, rows: np.ndarray):
        self.points, self.y, self.free = points, y, free
        self.rows = np.empty(0, np.int64)
        self.has = np.zeros(points.n, bool)
        self.kappa = 0.0
        self.M = np.empty((0, 0))
        self.signs = np.empty(0)
        self.inside = np.empty(0, bool)
        self.join(rows)

    def join(self, new: np.ndarray) -> None:
        m, total = len(self.rows), len(self.rows) + len(new)
        if m and total > len(self.M):
            larger = np.empty((2 * total, 2 * total))
            larger[:m, :m] = self.M[:m, :m]
            self.M = larger
        self.rows = np.concatenate([self.rows, new]) if m else new
        self.signs = self.y[self.rows]
        values = self.points.block(new, self.rows)
        if self.free and not m:
            self.kappa = float(values.trace()) / total or 1.0
        values = (values + self.kappa) * self.signs
        values *= self.signs[m:, None]
        if m:
            self.M[m:total, :total] = values
            self.M[:m, m:total] = values[:, :m].T
        else:
            self.M = values
        self.has[new] = True
        self.inside = np.concatenate([self.inside, np.zeros(len(new), bool)]) if m else np.zeros(total, bool)
        self.margins = np.empty(total)

    def keep(self, places: np.ndarray) -> np.ndarray:
        """Go on with these rows only; return where each old one is now."""
        now = np.full(len(self.rows), -1)
        now[places] = np.arange(len(places))
        self.has[:] = False
        self.has[self.rows[places]] = True
        self.M[: len(places), : len(places)] = self.M[np.ix_(places, places)]
        self.rows, self.signs, self.inside = self.rows[places], self.signs[places], self.inside[places]
        self.margins = np.empty(len(places))
        return now


class TooMany(Exception):
    """The active set has outgrown single pivots; alpha is what is known so far."""

    def __init__(self, alpha: np.ndarray, n_iter: int):
        super().__init__("too many active rows")
        self.alpha, self.n_iter = alpha, n_iter


def start(points: Points, y: np.ndarray, free: bool) -> tuple[np.ndarray, np.ndarray]:
    """(rows to begin with, places among them of the first active ones): those nearest to the other class."""
    groups = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)] if free else [np.arange(points.n)]
    if isinstance(points, LinearPoints):
        plus = int(np.count_nonzero(y > 0.0))
        up, down = (1.0 / max(1, plus), -1.0 / max(1, points.n - plus)) if free else (1.0, -1.0)
        s = y * np.asarray(points.X @ np.asarray(points.X.T @ np.where(y > 0.0, up, down)))
    else:
        some = np.arange(0, points.n, max(1, points.n // 256))
        both = np.unique(np.append(some, [np.argmax(y), np.argmin(y)]))
        is_plus = y[both] > 0.0
        up, down = 1.0 / max(1, is_plus.sum()), -1.0 / max(1, (~is_plus).sum())
        s = y * points.scores(both, np.where(is_plus, up, down))
    if points.n <= SMALL:
        return np.arange(points.n), np.array([group[np.argmin(s[group])] for group in groups])
    size = min(points.n, 2 * BATCH) // len(groups)
    chosen = [group[np.argsort(s[group])[:size]] for group in groups]
    return np.concatenate(chosen), np.array([0, len(chosen[0])][: len(groups)])


class Best:
    """The best w so far, the lowest upper bound so far, and whether that is enough."""

    def __init__(self, points: Points, y: np.ndarray, free: bool, limits: SolverLimits):
        self.points, self.y, self.free, self.limits = points, y, free, limits
        self.rows, self.alpha = np.empty(0, np.int64), np.empty(0)
        self.b, self.norm = 0.0, 0.0
        self.low, self.up = -np.inf, np.inf
        self.n_iter = 0

    def take(self, rows: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Compare another w with the best so far, by one pass over all rows; return their scores."""
        self.n_iter += 1
        alpha = balanced(alpha, self.y[rows]) if self.free else alpha
        s, b, (low, up) = bracket(self.points, self.y, self.free, rows, alpha)
        self.up = min(self.up, up)
        if low > self.low or not len(self.rows):
            self.low, self.rows, self.alpha = low, rows, alpha
            self.b, self.norm = b, up * float(alpha.sum())
        self.limits.report(self.n_iter, self.gap)
        return s

    @property
    def gap(self) -> float:
        return relative_gap((self.low, self.up))

    def reason(self) -> str | None:
        """Why to stop here."""
        if self.gap <= self.limits.tol:
            return GAP_CLOSED
        if self.limits.late():
            return MAX_TIME
        return MAX_ITER if self.n_iter >= self.limits.max_iter else None

    def whole(self) -> np.ndarray:
        """alpha, one per row."""
        alpha = np.zeros(self.points.n)
        alpha[self.rows] = self.alpha
        return alpha

    def solution(self, reason: str) -> Answer:
        scale = 1.0 / (self.low * self.norm) if self.low > 0.0 else 1.0
        pair = (self.low, self.up)
        return Answer(
            scale * self.whole(), scale * self.b, pair, max(0.0, relative_gap(pair)), self.n_iter, reason
        )


def hard(points: Points, y: np.ndarray, free: bool, limits: SolverLimits, many: int | None = MANY) -> Answer:
    """The maximum margin by an active set within a working set that grows."""
    rows, first = start(points, y, free)
    work = Working(points, y, free, rows)
    state = active_set.room_for(min(len(rows), 64) + 4)
    if not active_set.begin(work.M, work.signs, free, first, state, work.inside):
        raise certificate(points, y, free, rows[first], np.ones(len(first)))
    best = Best(points, y, free, limits)
    stuck = 0
    while True:
        state, trouble = _solve(state, work, limits, many)
        proof = trouble.residual if isinstance(trouble, Inseparable) else np.inf
        if isinstance(trouble, Inseparable) and proof <= points.nought and best.low <= 0.0:
            raise trouble
        k = int(state.counts[0])
        s = best.take(work.rows[state.A[:k]], np.maximum(state.alpha[:k], 0.0))
        reason = best.reason()
        if reason is not None:
            return best.solution(reason)
        if trouble is _TOO_MANY:
            raise TooMany(best.whole(), best.n_iter)
        m = y * (s + state.b[0])
        lacking = np.flatnonzero((m < 1.0 - limits.tol / 4.0) & ~work.has)
        stuck = 0 if len(lacking) and trouble is None else stuck + 1
        if stuck > 3:  # nothing left to do, and the gap is still there
            return best.solution(ROUNDING)
        _make_room(work, state, m, k)
        size = max(BATCH, k)
        if len(lacking) > size:
            lacking = lacking[np.argpartition(m[lacking], size)[:size]]
        if len(lacking):
            work.join(np.sort(lacking))
        _factor(state, work)


_TOO_MANY, _LATE = "too many", "late"


def _factor(state: active_set.ActiveSetState, work: Working) -> None:
    """L and f afresh, without the rounding of many updates."""
    k = int(state.counts[0])
    A = state.A[:k]
    try:
        L = np.linalg.cholesky(work.M[A[:, None], A])
    except np.linalg.LinAlgError:
        return
    state.L[:k, :k] = L
    if work.free:
        active_set.forward(L, k, work.signs[A], state.f)


def _solve(
    state: active_set.ActiveSetState, work: Working, limits: SolverLimits, many: int | None
) -> tuple[active_set.ActiveSetState, Inseparable | str | None]:
    """(state, trouble): pivot until every row of the working set has margin 1; trouble is None then."""
    m = len(work.rows)
    args = (work.M, work.signs, m, work.free)
    for _ in range(200 + 2 * m):
        limit = max(16, 2_000_000 // (1 + int(state.counts[0])) ** 2)
        status = active_set.pivot(*args, limits.tol / 10.0, limit, state, work.margins, work.inside)
        k = int(state.counts[0])
        if status == active_set.NO_SEPARATOR:
            rows = work.rows[np.append(state.A[:k], state.counts[1])]
            weights = np.append(np.maximum(-state.r[:k], 0.0), 1.0)
            return state, certificate(work.points, work.y, work.free, rows, weights)
        if status == active_set.DONE:
            active_set.refine(*args, state, work.margins)
            return state, None
        if many is not None and k >= many:
            return state, _TOO_MANY
        if limits.late():
            return state, _LATE
        if k + 1 >= len(state.A):
            state = active_set.grown(state, 2 * len(state.A))
    return state, _LATE


def certificate(
    points: Points, y: np.ndarray, free: bool, rows: np.ndarray, weights: np.ndarray
) -> Inseparable:
    """Weights scaled to sum 1, each class to 1/2 where the bias is free, and the length of their sum."""
    if free:
        for group in (y[rows] > 0.0, y[rows] < 0.0):
            weights = np.where(group, weights / (2.0 * weights[group].sum() or 1.0), weights)
    else:
        weights = weights / weights.sum()
    whole = np.zeros(points.n)
    np.add.at(whole, rows, weights)
    rows = np.flatnonzero(whole)
    return Inseparable(whole, float(np.sqrt(points.norm2(rows, whole[rows] * y[rows]))))


def _make_room(work: Working, state: active_set.ActiveSetState, m: np.ndarray, k: int) -> None:
    """Drop rows far from the margin when the working set has grown large."""
    if len(work.rows) <= 6 * k + 8 * BATCH:
        return
    near = np.argsort(m[work.rows] - 2.0 * work.inside)[: 3 * k + 4 * BATCH]
    now = work.keep(np.sort(np.union1d(near, state.A[:k])))
    state.A[:k] = now[state.A[:k]]
