r"""The maximum margin by piqp, a general interior-point solver for quadratic programs.

Linear hard margins are solved in the primal, with one variable per feature; soft margins and kernels in
the dual, with one per row. Either way there are dual variables :math:`\alpha`, and the bracket follows from
them, also where the solver had to stop early.

piqp cannot be stopped by a clock. Where time is limited its first iteration is timed, and it is allowed as
many as fit.
"""

from __future__ import annotations

import time
from math import isinf
from typing import Any

import numpy as np

from .coordinate import soft_gap
from .intake import is_sparse
from .maximum import (
    GAP_CLOSED,
    MAX_ITER,
    MAX_TIME,
    ROUNDING,
    Answer,
    Limits,
    LinearPoints,
    Points,
    balanced,
    fits,
    relative_gap,
    to_margin_one,
)


def piqp() -> Any:
    """The module, or an error that says how to get it."""
    try:
        import piqp as module
    except ImportError:
        raise ImportError("solver='piqp' needs an extra package: pip install 'perceptrons[qp]'.") from None
    return module


def solve(points: Points, y: np.ndarray, free: bool, C: float, limits: Limits) -> Answer | None:
    """The answer; None where piqp finds no separator, or fails."""
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
    n_iter = int(solver.result.info.iter)
    if isinf(C):
        alpha, b, pair = to_margin_one(points, y, free, alpha)
        gap = max(0.0, relative_gap(pair))
    else:
        gap, b, pair = soft_gap(points, y, free, C, alpha)
    return Answer(alpha, b, pair, gap, n_iter, _reason(solver.result.info, gap, limits))


def _reason(info: Any, gap: float, limits: Limits) -> str:
    if gap <= limits.tol:
        return GAP_CLOSED
    if info.status == piqp().PIQP_SOLVED:
        return ROUNDING
    return MAX_ITER if info.iter >= limits.max_iter else MAX_TIME


def _run(solver: Any, limits: Limits) -> bool:
    """Solve; whether there is something to go by: an optimum, or where the iterations ended."""
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
    return solver.result.info.status in (piqp().PIQP_SOLVED, ended)


def _primal(solver: Any, points: LinearPoints, y: np.ndarray, free: bool, limits: Limits) -> Any:
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
    return np.maximum(0.0, np.asarray(solver.result.z_u)) / scale**2


def _dual(solver: Any, points: Points, y: np.ndarray, free: bool, C: float, limits: Limits) -> Any:
    fits(points.n, 2 * points.n, "The matrix of piqp")
    everything = np.arange(points.n)
    Q = points.block(everything, everything) * (y[:, None] * y[None, :])
    equal = (y[None, :], np.zeros(1)) if free else (None, None)
    upper = np.full(points.n, C) if not isinf(C) else None
    solver.setup(Q, -np.ones(points.n), *equal, None, None, None, np.zeros(points.n), upper)
    if not _run(solver, limits):
        return None
    return np.clip(np.asarray(solver.result.x), 0.0, C)
