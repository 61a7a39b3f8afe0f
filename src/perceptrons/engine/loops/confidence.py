"""The confidence space: w with a covariance Sigma, diagonal or full, any second-order rule, one loop."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows import begin, column, end, factor, look, look_ahead, value
from ...rules import State
from ..compiler import by_record, compiled, confide, dispatch, helper
from .linear import write_back, write_counts
from .scalars import BAD_SCORE, BAD_STEP, DONE, EXAMPLES, LOWEST, SCALE, SCALE_SUM, TAU, UPDATES, N
from .tracks import record_score

if TYPE_CHECKING:
    from ..._types import Floats, Ints, Reals, Record
    from ...rows import Rows
    from .linear import Log
    from .tracks import RecordedScores, Unrecorded


class Diagonal(NamedTuple):
    """Sigma by its diagonal."""

    sigma: np.ndarray


class Full(NamedTuple):
    """Sigma as a matrix; ``g`` is scratch space for Sigma x."""

    sigma: np.ndarray
    g: np.ndarray


Covariance: TypeAlias = Diagonal | Full


def variance(cov: Covariance, rows: Rows, i: int) -> float:
    """v = x' Sigma x."""
    return dispatch(variance, cov)(cov, rows, i)


def shift(cov: Covariance, rows: Rows, i: int, d: float, w: Reals) -> None:
    """w <- w + d Sigma x."""
    return dispatch(shift, cov)(cov, rows, i, d, w)


def shrink(cov: Covariance, rows: Rows, i: int, beta: float) -> None:
    """Sigma <- Sigma - beta Sigma x x' Sigma."""
    return dispatch(shrink, cov)(cov, rows, i, beta)


@by_record(variance)(Diagonal)
def _variance_diagonal(cov: Diagonal, rows: Rows, i: int) -> float:
    total = 0.0
    for p in range(begin(rows, i), end(rows, i)):
        x = value(rows, i, p)
        total += x * x * cov.sigma[column(rows, p)]
    return factor(rows, i) ** 2 * (total + rows.bias * rows.bias * cov.sigma[-1])


@by_record(shift)(Diagonal)
def _shift_diagonal(cov: Diagonal, rows: Rows, i: int, d: float, w: Reals) -> None:
    d *= factor(rows, i)
    for p in range(begin(rows, i), end(rows, i)):
        j = column(rows, p)
        w[j] += d * cov.sigma[j] * value(rows, i, p)
    w[-1] += d * cov.sigma[-1] * rows.bias


@by_record(shrink)(Diagonal)
def _shrink_diagonal(cov: Diagonal, rows: Rows, i: int, beta: float) -> None:
    beta *= factor(rows, i) ** 2
    for p in range(begin(rows, i), end(rows, i)):
        j = column(rows, p)
        sx = cov.sigma[j] * value(rows, i, p)
        cov.sigma[j] -= beta * sx * sx
    sx = cov.sigma[-1] * rows.bias
    cov.sigma[-1] -= beta * sx * sx


@by_record(variance)(Full)
def _variance_full(cov: Full, rows: Rows, i: int) -> float:
    # g = Sigma x, kept for shift and shrink
    sigma, g = cov.sigma, cov.g
    last = g.shape[0] - 1
    for a in range(g.shape[0]):
        g[a] = rows.bias * sigma[last, a]
    for p in range(begin(rows, i), end(rows, i)):
        x = value(rows, i, p)
        j = column(rows, p)
        for a in range(g.shape[0]):
            g[a] += x * sigma[j, a]
    f = factor(rows, i)
    for a in range(g.shape[0]):
        g[a] *= f
    return look(rows, i, g)


@by_record(shift)(Full)
def _shift_full(cov: Full, rows: Rows, i: int, d: float, w: Reals) -> None:
    for a in range(w.shape[0]):
        w[a] += d * cov.g[a]


@by_record(shrink)(Full)
def _shrink_full(cov: Full, rows: Rows, i: int, beta: float) -> None:
    for a in range(cov.g.shape[0]):
        row = beta * cov.g[a]
        for b in range(cov.g.shape[0]):
            cov.sigma[a, b] -= row * cov.g[b]


@helper
def run_rows(
    rule: Record,
    rows: Rows,
    y: np.ndarray,
    c: Floats,
    order: Ints,
    w: Reals,
    cov: Covariance,
    scalars: Floats,
    log: Log,
    recorded: RecordedScores | Unrecorded,
    tol: float,
    limit: float,
) -> tuple[int, int, int]:
    """One pass over ``order``; like :func:`.linear.run_rows`, for second-order rules."""
    norm2, tau_sum = scalars[N], scalars[TAU]
    t, k = int(scalars[EXAMPLES]), int(scalars[UPDATES])
    n_mistakes = n_errors = n_logged = 0
    loss2, sum_q, lowest = 0.0, 0.0, scalars[LOWEST]
    ending = DONE
    at = 0
    for at in range(order.shape[0]):
        i = order[at]
        look_ahead(rows, order, at)
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        s = np.float64(look(rows, i, w))
        m = y[i] * s
        v = variance(cov, rows, i)
        if not (isfinite(m) and isfinite(v)):
            ending = BAD_SCORE
            break
        record_score(recorded, at, s)
        alpha, beta = confide(rule, m, v, State(norm2, k, t + 1, 1.0, tol))
        if alpha != 0.0 or beta != 0.0:
            # |alpha Sigma x| <= alpha sqrt(v) sqrt(largest eigenvalue), and Sigma only shrinks
            if not alpha * alpha * v <= limit:
                ending = BAD_STEP
                break
            shift(cov, rows, i, alpha * y[i], w)
            shrink(cov, rows, i, beta)
            k += 1
            if log.row.shape[0] > 0:
                log.row[n_logged] = i
                log.example[n_logged] = t + 1
                log.keep[n_logged] = 1.0
                log.alpha[n_logged, 0] = alpha * y[i]
                n_logged += 1
        t += 1
        n_errors += (s > 0.0) != (y[i] > 0.0)
        n_mistakes += m <= 0.0
        lowest = min(lowest, m)
        loss = max(0.0, 1.0 - m)
        loss2 += loss * loss
    write_back(scalars, scalars[SCALE], norm2, tau_sum, scalars[SCALE_SUM], t, k)
    write_counts(scalars, n_mistakes, n_errors, 0, loss2, sum_q, lowest)
    return ending, at, n_logged


#: :func:`run_rows`, callable from Python.
run = compiled(run_rows)


@compiled
def variances(rows: Rows, cov: Covariance, out: Floats) -> None:
    """out[i] = x_i' Sigma x_i."""
    for i in range(out.shape[0]):
        out[i] = variance(cov, rows, i)
