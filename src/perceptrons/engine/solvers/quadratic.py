r"""The maximum margin by piqp, a general interior-point solver for quadratic programs.

Linear hard margins are solved in the primal, with one variable per feature; soft margins and kernels in
the dual, with one per row. Either way there are dual variables :math:`\alpha`, and the bracket follows from
them, also where the solver had to stop early.

piqp has no time limit. Where time is limited its first iteration is timed, and it is allowed as many as fit.
"""

from __future__ import annotations

import time
from math import isinf
from typing import Any  # piqp has no types

import numpy as np

from ..._sparse import is_sparse
from .coordinate import soft_gap
from .maximum import (
    GAP_CLOSED,
    MAX_ITER,
    MAX_TIME,
    ROUNDING,
    LinearPoints,
    Points,
    SolverLimits,
    balanced,
    fits,
    relative_gap,
    to_margin_one,
)
from .result import Answer, Ends


def piqp() -> Any:
    """The module, or an error that says how to get it."""
    try:
        import piqp as module
    except ImportError:
        raise ImportError("solver='piqp' needs an extra package: pip install 'perceptrons[qp]'.") from None
    return module


def solve(points: Points, y: np.ndarray, free: bool, C: float, limits: SolverLimits) -> Answer | None:
    """The solution; None where piqp finds no separator, or fails."""
    solver = piqp().DenseSolver()
    solver.settings.eps_abs = min(1e-9, limits.tol * 1e-3)
    solver.settings.eps_rel = solver.settings.eps_abs
    solver.settings.max_iter = limits.max_iter
    if isinstance(points, LinearPoints) and isinf(C):
        points.settle()
        alpha = _primal(solver, points, y, free, limits)
    else:
        alpha = _dual(solver, points, y, free, C, limits)
    if alpha is None or not alpha.any():
        return None
    alpha = np.where(alpha > 1e-9 * alpha.max(), alpha, 0.0)
    alpha = balanced(alpha, y) if free else alpha
    if not alpha.any():
        return None
    status, n_iter = solver.result.info.status, int(solver.result.info.iter)
    alpha, b, pair, gap = _judged(points, y, free, C, alpha)
    for _ in range(3):  # each time on fewer rows
        fewer = _on_the_margin(points, y, b, alpha)
        rows = np.flatnonzero(fewer)
        if len(rows) in (0, np.count_nonzero(alpha)):
            break
        judged = _judged(points, y, free, C, balanced(fewer, y) if free else fewer)
        if (
            judged[3] > max(gap, limits.tol) and not limits.late()
        ):  # without the others these need a little more
            again = _dual(solver, points, y, free, C, limits, rows)
            if again is None or not again.any():
                break
            judged = _judged(points, y, free, C, balanced(again, y) if free else again)
        if judged[3] > max(gap, limits.tol):
            break
        alpha, b, pair, gap = judged
    return Answer(alpha, b, pair, gap, n_iter, _reason(status, n_iter, gap, limits))


def _judged(
    points: Points, y: np.ndarray, free: bool, C: float, alpha: np.ndarray
) -> tuple[np.ndarray, float, Ends, float]:
    """(alpha, b, bracket, gap); of a hard margin the smallest is 1."""
    if isinf(C):
        alpha, b, pair = to_margin_one(points, y, free, alpha)
        return alpha, b, pair, max(0.0, relative_gap(pair))
    gap, b, pair = soft_gap(points, y, free, C, alpha)
    return alpha, b, pair, gap


def _on_the_margin(points: Points, y: np.ndarray, b: float, alpha: np.ndarray) -> np.ndarray:
    """The multipliers without those of rows off the margin, which an interior point leaves positive.

    At the optimum a row has its multiplier or its slack y f(x) - 1 at 0. Short of it the product of both is
    about the same small number everywhere, so the larger of the two, each on its own scale, is the one that
    is not 0: the multiplier over the largest of them, the slack over the margin 1.
    """
    rows = np.flatnonzero(alpha)
    slack = y[rows] * (points.scores(rows, alpha[rows] * y[rows])[rows] + b) - 1.0
    fewer = np.zeros_like(alpha)
    fewer[rows] = np.where(alpha[rows] > slack * alpha.max(), alpha[rows], 0.0)
    return fewer


def _reason(status: Any, n_iter: int, gap: float, limits: SolverLimits) -> str:
    if gap <= limits.tol:
        return GAP_CLOSED
    if status == piqp().PIQP_SOLVED:
        return ROUNDING
    return MAX_ITER if n_iter >= limits.max_iter else MAX_TIME


def _run(solver: Any, limits: SolverLimits) -> bool:
    """Solve; whether there is a result: an optimum, or the point where the iterations ended."""
    ended = piqp().PIQP_MAX_ITER_REACHED
    if not isinf(limits.deadline):
        solver.settings.max_iter = 1
        start = time.perf_counter()
        if solver.solve() == ended:
            now = time.perf_counter()
            fit = int((limits.deadline - now) / (now - start))
            solver.settings.max_iter = min(limits.max_iter, fit)
            if fit > 1:
                solver.solve()
    else:
        solver.solve()
    return bool(solver.result.info.status in (piqp().PIQP_SOLVED, ended))


def _primal(
    solver: Any, points: LinearPoints, y: np.ndarray, free: bool, limits: SolverLimits
) -> np.ndarray | None:
    X = points.X.toarray() if is_sparse(points.X) else points.X
    n, d = X.shape
    scale = float(np.sqrt(np.mean(X * X))) or 1.0
    G = -y[:, None] * np.column_stack([X / scale, np.ones(n)] if free else [X / scale])
    P = np.eye(G.shape[1])
    if free:
        P[d, d] = 0.0
    solver.setup(P, np.zeros(G.shape[1]), None, None, G, None, -np.ones(n))
    if not _run(solver, limits):
        return None
    result: np.ndarray = np.maximum(0.0, np.asarray(solver.result.z_u)) / scale**2
    return result


def _dual(
    solver: Any,
    points: Points,
    y: np.ndarray,
    free: bool,
    C: float,
    limits: SolverLimits,
    rows: np.ndarray | None = None,
) -> np.ndarray | None:
    """The multipliers, one per row; those of other rows than ``rows`` are 0."""
    rows = np.arange(points.n) if rows is None else rows
    n, signs = len(rows), y[rows]
    fits(n, 2 * n, "The matrix of piqp")
    Q = points.block(rows, rows) * (signs[:, None] * signs[None, :])
    equal = (signs[None, :], np.zeros(1)) if free else (None, None)
    upper = np.full(n, C) if not isinf(C) else None
    solver.setup(Q, -np.ones(n), *equal, None, None, None, np.zeros(n), upper)
    if not _run(solver, limits):
        return None
    alpha = np.zeros(points.n)
    alpha[rows] = np.clip(np.asarray(solver.result.x), 0.0, C)
    return alpha
