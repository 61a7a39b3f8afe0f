r"""Soft margins, and hard ones with very many active rows: descent on the dual, one coordinate at a time.

The problem: :math:`\max\sum\alpha_i - \tfrac12\|\sum\alpha_iy_ix_i\|^2` over :math:`0 \le \alpha_i \le C`,
and :math:`\sum\alpha_iy_i = 0` where the bias is free. Three kinds of steps take turns.

* A sweep sets one :math:`\alpha_i` after the other to its best value,
  :math:`\alpha_i \leftarrow [\alpha_i + (1 - y_i(\langle w, x_i\rangle + b))/q_i]_0^C` (Hildreth;
  Hsieh et al.). The constraint is met by the method of multipliers: rows have a constant coordinate B,
  and after the sweeps
  :math:`b \leftarrow b + B^2\sum\alpha_iy_i`.
* On the face that the sweeps have found, :math:`F = \{i: 0 < \alpha_i < C\}`, the best point solves a linear
  system. A factor of its matrix, or conjugate gradients, go there within :math:`\sum\alpha_iy_i = 0`, as far
  as the bounds allow.
* A pass over all rows gives the gap and drops rows that are far from the margin from the next sweeps.

References: C. Hildreth, A quadratic programming procedure, Naval Research Logistics Quarterly 4, 1957;
C.-J. Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008.
"""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, lsqr

from ..._sparse import is_sparse
from ...rows import look, push
from ..compiler import compiled
from ..intake import make_rows
from .maximum import (
    GAP_CLOSED,
    MANY,
    MAX_ITER,
    MAX_TIME,
    ROUNDING,
    Inseparable,
    LinearPoints,
    Points,
    SolverLimits,
    TooMany,
    balanced,
    bracket,
    certificate,
    relative_gap,
    to_margin_one,
)
from .maximum import hard as maximum_by_rows
from .result import Answer, Ends

if TYPE_CHECKING:
    from ..._types import Floats, Ints, Matrix, Reals
    from ...rows import Rows

SWEEPS = 50  # between two passes over all rows: one costs as much as two steps of conjugate gradients
STEPS = 200  # of conjugate gradients
PROJECTION = 1000  # steps of a projection at most
FIRST = 4  # rounds after which sparse rows with few support rows go to the active set
DIRECT = 300  # rows up to which the system on a face is solved directly
FACES = 5  # smaller and smaller ones, one after the other
LOOKS = frozenset(2**k for k in range(2, 60))  # rounds after which a proof that nothing separates is tried
STALLED = 40  # rounds without a smaller gap, when the gap is that of rounding


@compiled
def sweep(rows: Rows, y: Floats, b: float, C: float, order: Ints, alpha: Floats, w: Reals) -> float:
    """Each alpha in turn to its best value; the largest change of a margin that was called for."""
    worst = 0.0
    for i in order:
        q = rows.sq[i]
        lack = 1.0 - y[i] * (look(rows, i, w) + b)
        before = alpha[i]
        best = before + lack / q if q > 0.0 else 1e300 * lack
        after = min(max(best, 0.0), C)
        if after != before:
            worst = max(worst, abs(lack))
            alpha[i] = after
            if q > 0.0:
                push(rows, i, (after - before) * y[i], w)
    return worst


def soft_bias(s: np.ndarray, y: np.ndarray) -> float:
    """The b that minimises the sum of max(0, 1 - y(s + b)); the middle, where there are many.

    Row i changes sides at y_i - s_i, and the slope rises by 1 there, from minus the number of positive rows.
    """
    crossing, n_plus = y - s, int((y > 0.0).sum())
    ordered = np.partition(crossing, [n_plus - 1, n_plus])
    return float(ordered[n_plus - 1] + ordered[n_plus]) / 2.0


class DualProblem:
    """The state of a run."""

    def __init__(self, points: LinearPoints, y: np.ndarray, free: bool, C: float, alpha: np.ndarray | None):
        points.settle()
        self.points, self.X, self.y, self.free, self.C = points, points.X, y, free, C
        self.B = 0.0
        if free:
            self.B = float(np.sqrt(np.mean(make_rows(self.X, 0.0, False).sq))) or 1.0
        self.rows = make_rows(self.X, self.B, False)
        self.alpha = np.zeros(points.n) if alpha is None else np.minimum(alpha, C)
        self.w = np.zeros(self.X.shape[1] + 1)
        self.b = 0.0
        self.refresh()

    def refresh(self) -> None:
        """w from alpha, without the rounding of many steps."""
        a = self.alpha * self.y
        self.w[:-1] = self.X.T @ a
        self.w[-1] = self.B * float(a.sum())

    def lacks(self) -> np.ndarray:
        """1 - margin of every row."""
        result: np.ndarray = 1.0 - self.y * (np.asarray(self.X @ self.w[:-1]) + self.B * self.w[-1] + self.b)
        return result

    # ------------------------------------------------------------------------------------- steps

    def sweeps(self, working: np.ndarray, rng: np.random.Generator, limits: SolverLimits) -> None:
        for _ in range(SWEEPS):
            order = rng.permutation(working)
            if sweep(self.rows, self.y, self.b, self.C, order, self.alpha, self.w) == 0.0 or limits.late():
                break
        if self.free:
            self.b += self.B * self.w[-1]

    def along_the_face(self, limits: SolverLimits) -> None:
        """Towards the best point with the same rows at their bounds; rows that get there first are left."""
        F = np.flatnonzero((self.alpha > 0.0) & (self.alpha < self.C))
        if not len(F):
            return
        X = self.X[F]
        for _ in range(FACES):
            blocked, arrived = self._step_on_the_face(F, X, limits.tol)
            if arrived or blocked.all() or limits.late():
                break
            if blocked.any():
                F, X = F[~blocked], X[~blocked]
        self.refresh()

    def _step_on_the_face(self, F: np.ndarray, X: Matrix, tol: float) -> tuple[np.ndarray, bool]:
        """(which rows are now at their bounds, whether this is the best point of the face)."""
        y, now = self.y[F], self.alpha[F]
        mass = float(self.w[-1]) / self.B if self.free else 0.0  # sum of alpha y
        lack = 1.0 - y * (np.asarray(X @ self.w[:-1]) + self.B * self.w[-1] + self.b)
        found: tuple[np.ndarray, bool, bool] | None = None
        if len(F) <= min(DIRECT, X.shape[1] + self.free):  # more are dependent
            found = _direct(X, y, lack, mass, self.free)
        if found is None:
            found = _conjugate(X, y, lack, mass, self.free, tol, self.rows.sq.max())
        delta, endless, solved = found
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(delta > 0.0, (self.C - now) / delta, np.where(delta < 0.0, -now / delta, np.inf))
        step = float(room.min())
        if endless and step == np.inf:
            raise certificate(self.points, self.y, self.free, F, np.maximum(delta, 0.0))
        whole = not endless and step >= 1.0
        after = np.clip(now + (1.0 if whole else step) * delta, 0.0, self.C)
        after[room <= (0.0 if whole else step)] = np.where(delta > 0.0, self.C, 0.0)[
            room <= (0.0 if whole else step)
        ]
        if not whole and not endless:  # perhaps all the way, as far as each row can
            far = np.clip(now + delta, 0.0, self.C)
            after = max((after, far), key=lambda a: self._gain(X, y, a - now))
        change = (after - now) * y
        self.alpha[F] = after
        self.w[:-1] += np.asarray(X.T @ change)
        self.w[-1] += self.B * float(change.sum())
        if whole:
            if self.free:
                self.b = float(np.mean(y - np.asarray(X @ self.w[:-1]) - self.B * self.w[-1]))
            return np.zeros(len(F), bool), solved
        return (after <= 0.0) | (after >= self.C), False

    def _gain(self, X: Matrix, y: np.ndarray, delta: np.ndarray) -> float:
        """How much the value grows by a change of alpha."""
        d = np.asarray(X.T @ (delta * y))
        mass = self.B * float(delta @ y)
        first = float(delta.sum()) - float(self.w[:-1] @ d) - self.w[-1] * mass - self.b * float(delta @ y)
        return float(first - 0.5 * (float(d @ d) + mass * mass))

    # -------------------------------------------------------------------------------------- gaps

    def gap(self) -> tuple[float, np.ndarray, float, Ends]:
        """(relative gap, alpha with equal masses, b, bracket around the hard margin)."""
        alpha = balanced(self.alpha, self.y) if self.free else self.alpha.copy()
        rows = np.flatnonzero(alpha)
        if not len(rows):
            return np.inf, alpha, self.b, (-np.inf, np.inf)
        s, b, pair = bracket(self.points, self.y, self.free, rows, alpha[rows])
        if isinf(self.C):
            return relative_gap(pair), alpha, b, pair
        gap, b = _soft_gap(s, pair[1] * float(alpha.sum()), alpha, self.y, self.free, self.C)
        return gap, alpha, b, pair


def soft_gap(
    points: Points, y: np.ndarray, free: bool, C: float, alpha: np.ndarray
) -> tuple[float, float, Ends]:
    """(relative gap, b, bracket) of a soft margin; with a free bias the classes must have equal masses."""
    rows = np.flatnonzero(alpha)
    s, _, pair = bracket(points, y, free, rows, alpha[rows])
    return *_soft_gap(s, pair[1] * float(alpha.sum()), alpha, y, free, C), pair


def _soft_gap(
    s: np.ndarray, norm: float, alpha: np.ndarray, y: np.ndarray, free: bool, C: float
) -> tuple[float, float]:
    b = soft_bias(s, y) if free else 0.0
    primal = 0.5 * norm**2 + C * float(np.maximum(0.0, 1.0 - y * (s + b)).sum())
    dual = float(alpha.sum()) - 0.5 * norm**2
    return max(0.0, primal - dual) / primal, b


def hard(points: LinearPoints, y: np.ndarray, free: bool, limits: SolverLimits) -> Answer:
    """A hard margin, by descent or by an active set.

    There are at most as many active rows as features, and one more. Sparse rows of many features often have
    thousands: a few rounds of descent show it. An active set takes over where there are few.
    """
    alpha, n_iter = None, 0
    if is_sparse(points.X) and points.X.shape[1] > MANY:
        first = descend(points, y, free, np.inf, limits._replace(max_iter=min(FIRST, limits.max_iter)))
        if first.reason != MAX_ITER or first.n_iter >= limits.max_iter:
            return first
        alpha, n_iter = first.alpha, first.n_iter
        if np.count_nonzero(alpha) > MANY:
            return descend(points, y, free, np.inf, limits, alpha, n_iter)
    try:
        return maximum_by_rows(points, y, free, limits)
    except TooMany as found:
        return descend(points, y, free, np.inf, limits, found.alpha, found.n_iter)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # rows far apart in size; the caller looks
def descend(
    points: LinearPoints,
    y: np.ndarray,
    free: bool,
    C: float,
    limits: SolverLimits,
    alpha: np.ndarray | None = None,
    n_iter: int = 0,
) -> Answer:
    """Steps in turn until the gap is closed."""
    run = DualProblem(points, y, free, C, alpha)
    rng = np.random.default_rng(0)
    working = np.arange(points.n)
    best: tuple[float, np.ndarray, float, Ends] | None = None
    up, since = np.inf, 0
    reason = None
    if alpha is not None:
        run.along_the_face(limits)
    while reason is None:
        n_iter += 1
        run.sweeps(working, rng, limits)
        run.along_the_face(limits)
        gap, feasible, b, pair = run.gap()
        up = min(up, pair[1])
        if isinf(C):
            gap = relative_gap((pair[0], up))
        since += 1
        if best is None or gap < best[0]:
            if best is None or gap < 0.99 * best[0]:
                since = 0
            best = (gap, feasible, b, pair)
        limits.report(n_iter, best[0])
        if best[0] <= limits.tol:
            reason = GAP_CLOSED
        elif limits.late():
            reason = MAX_TIME
        elif n_iter >= limits.max_iter:
            reason = MAX_ITER
        elif since >= STALLED and best[0] < 1e3 * limits.tol:
            reason = ROUNDING
        elif isinf(C) and best[3][0] <= 0.0 and (n_iter in LOOKS or up <= points.nought):
            proof = refuted(points, y, free, feasible)
            if proof is not None:
                raise proof
        near = max(0.02, min(1.0, 10.0 * best[0]))
        working = np.flatnonzero((run.alpha > 0.0) | (run.lacks() > -near))
    assert best is not None
    gap, feasible, b, pair = best
    if isinf(C):
        feasible, b, pair = to_margin_one(points, y, free, feasible)
        pair = (pair[0], min(up, pair[1]))
        gap = relative_gap(pair)
    return Answer(feasible, b, pair, max(0.0, gap), n_iter, reason)


def refuted(
    points: Points, y: np.ndarray, free: bool, alpha: np.ndarray, search: bool = True
) -> Inseparable | None:
    r"""Weights near alpha that suggest that nothing separates, or None.

    Where nothing separates, alpha grows for ever while :math:`w = \sum\alpha_iy_ix_i` does not, so alpha is
    nearly a proof, and its projection on :math:`\{\lambda: \sum\lambda_iy_i(x_i, 1) = 0\}` is one, up to
    rounding, if no :math:`\lambda_i` is negative. Rows for which it is are left out, and the rest projected
    again. Without ``search`` alpha has to do as it is.
    """
    rows = np.flatnonzero(alpha)
    if not len(rows):
        return None
    lam = alpha[rows] / alpha.sum()
    if search and isinstance(points, LinearPoints):
        points.settle()
        for _ in range(FACES):
            lam = lam - _row_space_part(points.X[rows], y[rows], free, lam)
            stay = lam > 0.0
            rows, lam = rows[stay], lam[stay]
            if stay.all() or not len(rows):
                break
    if not len(rows) or (free and len(np.unique(y[rows])) < 2):
        return None
    found = certificate(points, y, free, rows, lam)
    return found if found.residual <= points.nought else None


def _row_space_part(X: Matrix, y: np.ndarray, free: bool, lam: np.ndarray) -> np.ndarray:
    """The shortest vector with the same weighted sum of the rows y(x, B) as lam."""
    n, d = X.shape
    values = X.data if is_sparse(X) else X
    B = float(np.sqrt(np.vdot(values, values) / n)) if free else 0.0

    def total(v: np.ndarray) -> np.ndarray:
        c = y * v.ravel()
        return np.append(np.asarray(X.T @ c), B * c.sum())

    def products(u: np.ndarray) -> np.ndarray:
        u = u.ravel()
        result: np.ndarray = y * (np.asarray(X @ u[:-1]) + B * u[-1])
        return result

    A = LinearOperator((d + 1, n), matvec=total, rmatvec=products, dtype=np.float64)
    found = lsqr(A, total(lam), atol=1e-15, btol=1e-15, iter_lim=min(PROJECTION, 2 * (n + d)))
    return np.asarray(found[0])


def _direct(
    X: Matrix, y: np.ndarray, lack: np.ndarray, mass: float, free: bool
) -> tuple[np.ndarray, bool, bool] | None:
    """The same as :func:`_conjugate` by a factor of the matrix; None where the rows are dependent.

    A multiple of yy' on top changes nothing but the multiplier of the constraint.
    """
    G = X @ X.T
    Q = (G.toarray() if is_sparse(G) else G) * (y[:, None] * y[None, :])
    if free:
        Q += (float(np.mean(np.diagonal(Q))) or 1.0) * (y[:, None] * y[None, :])
    try:
        factor = cho_factor(Q, lower=True, check_finite=False)
    except LinAlgError:
        return None
    pivots = np.diagonal(factor[0])
    if pivots.min() ** 2 <= 1e-11 * pivots.max() ** 2:
        return None
    u, v = cho_solve(factor, np.column_stack([lack, y]), check_finite=False).T
    return (u - v * ((float(y @ u) + mass) / float(y @ v)) if free else u), False, True


def _conjugate(
    X: Matrix, y: np.ndarray, lack: np.ndarray, mass: float, free: bool, tol: float, scale: float
) -> tuple[np.ndarray, bool, bool]:
    """(delta, endless, solved): Q delta = lack by conjugate gradients, y'delta = -mass where b is free.

    ``endless``: delta is a direction in which the dual value grows for ever. ``solved``: what is left is less
    than ``tol`` allows; a hundredth of it is enough to find the rows that reach their bounds first.
    """

    def times(v: np.ndarray) -> np.ndarray:
        result: np.ndarray = y * np.asarray(X @ np.asarray(X.T @ (y * v)))
        return result

    def project(v: np.ndarray) -> np.ndarray:
        return v - y * (float(y @ v) / len(y)) if free else v

    delta = -mass * y / len(y) if free else np.zeros(len(y))
    r = project(lack - times(delta)) if mass else project(lack)
    p = r.copy()
    rr = float(r @ r)
    least = tol * tol * 1e-4 * len(y)
    goal = max(1e-4 * rr, least)
    for _ in range(min(STEPS, 2 * len(y) + 5)):
        if rr <= goal:
            break
        Qp = project(times(p))
        curvature = float(p @ Qp)
        if curvature <= 1e-13 * scale * float(p @ p):
            return p, True, False
        step = rr / curvature
        delta = delta + step * p
        r = r - step * Qp
        before, rr = rr, float(r @ r)
        p = r + (rr / before) * p
    return delta, False, rr <= least
