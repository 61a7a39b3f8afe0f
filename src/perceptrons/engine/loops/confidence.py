"""The confidence space: w with a covariance Sigma, diagonal or full, any second-order rule, one loop."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows import Csr, Dense, Near, begin, column, end, factor, look, value
from ...rules import State
from ..compiler import as_written, by_record, compiled, confide, dispatch, helper, lowered
from ..gathers import overload_of_pairs, overload_of_sum
from ..look_ahead import lines_of, look_ahead, look_ahead_at, look_ahead_in, what_to_ask_for
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


def look_ahead_at_variances(cov: Covariance, rows: Rows, order: Ints, at: int, soon: int) -> None:
    """:func:`perceptrons.engine.look_ahead.look_ahead_at` for Sigma."""
    return dispatch(look_ahead_at_variances, cov)(cov, rows, order, at, soon)


@by_record(look_ahead_at_variances)(Diagonal)
def _look_ahead_at_diagonal(cov: Diagonal, rows: Rows, order: Ints, at: int, soon: int) -> None:
    look_ahead_at(cov.sigma, rows, order, at, soon)


@by_record(look_ahead_at_variances)(Full)
def _no_look_ahead(cov: Full, rows: Rows, order: Ints, at: int, soon: int) -> None:
    pass


# Several loops make these numbers, and all make the same: their order is fixed.


@as_written
def whole_variance(total: float, sigma: float, bias: float, multiple: float) -> float:
    """x' Sigma x, from the sum over the entries, for the constant coordinate and the scaling of the row."""
    return multiple * multiple * (total + bias * bias * sigma)


@as_written
def shifted(w: float, d: float, sigma: float, x: float) -> float:
    return w + d * sigma * x


@as_written
def shrunk(sigma: float, beta: float, x: float) -> float:
    sx = sigma * x
    return sigma - beta * sx * sx


@as_written
def of_scaled_row(beta: float, multiple: float) -> float:
    return beta * (multiple * multiple)


@as_written
def gather_squares(data: Reals, indices: np.ndarray, p: np.uint64, stop: np.uint64, sigma: Floats) -> float:
    """Sum of data[p]^2 sigma[indices[p]] from p to stop - 1, in the order of :func:`.rows.gather_dot`."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven, eight = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    while p + eight <= stop:
        s0 += square(data, p) * sigma[indices[p]]
        s1 += square(data, p + one) * sigma[indices[p + one]]
        s2 += square(data, p + two) * sigma[indices[p + two]]
        s3 += square(data, p + three) * sigma[indices[p + three]]
        s4 += square(data, p + four) * sigma[indices[p + four]]
        s5 += square(data, p + five) * sigma[indices[p + five]]
        s6 += square(data, p + six) * sigma[indices[p + six]]
        s7 += square(data, p + seven) * sigma[indices[p + seven]]
        p += eight
    if p + four <= stop:
        s0 += square(data, p) * sigma[indices[p]]
        s1 += square(data, p + one) * sigma[indices[p + one]]
        s2 += square(data, p + two) * sigma[indices[p + two]]
        s3 += square(data, p + three) * sigma[indices[p + three]]
        p += four
    if p + two <= stop:
        s4 += square(data, p) * sigma[indices[p]]
        s5 += square(data, p + one) * sigma[indices[p + one]]
        p += two
    if p < stop:
        s6 += square(data, p) * sigma[indices[p]]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


lowered(gather_squares)(overload_of_sum(gather_squares, squared=True))


def paired_squares(data: Reals, p: np.uint64, stop: np.uint64, sigma: Floats) -> float:
    """Sum of data[p]^2 sigma[p] from p to stop - 1, in the order of :func:`gather_squares`."""
    return gather_squares(data, np.arange(len(data)), p, stop, sigma)


lowered(paired_squares)(overload_of_pairs(squared=True))


@as_written
def square(data: Reals, p: np.uint64) -> float:
    return data[p] * data[p]


def entries_variance(rows: Rows, i: int, sigma: Floats) -> float:
    """The sum of x_j^2 sigma_j over the stored entries."""
    return dispatch(entries_variance, rows)(rows, i, sigma)


@by_record(entries_variance)(Dense)
def _entries_variance_dense(rows: Dense, i: int, sigma: Floats) -> float:
    total = 0.0
    for p in range(begin(rows, i), end(rows, i)):
        x = value(rows, i, p)
        total += x * x * sigma[column(rows, p)]
    return total


@by_record(entries_variance)(Csr)
def _entries_variance_csr(rows: Csr, i: int, sigma: Floats) -> float:
    return gather_squares(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], sigma)


@by_record(entries_variance)(Near)
def _entries_variance_near(rows: Near, i: int, sigma: Floats) -> float:
    return paired_squares(rows.data, np.uint64(0), np.uint64(rows.data.shape[0]), sigma)


@by_record(variance)(Diagonal)
def _variance_diagonal(cov: Diagonal, rows: Rows, i: int) -> float:
    return whole_variance(entries_variance(rows, i, cov.sigma), cov.sigma[-1], rows.bias, factor(rows, i))


@by_record(shift)(Diagonal)
def _shift_diagonal(cov: Diagonal, rows: Rows, i: int, d: float, w: Reals) -> None:
    d *= factor(rows, i)
    for p in range(begin(rows, i), end(rows, i)):
        j = column(rows, p)
        w[j] = shifted(w[j], d, cov.sigma[j], value(rows, i, p))
    w[-1] = shifted(w[-1], d, cov.sigma[-1], rows.bias)


@by_record(shrink)(Diagonal)
def _shrink_diagonal(cov: Diagonal, rows: Rows, i: int, beta: float) -> None:
    beta = of_scaled_row(beta, factor(rows, i))
    for p in range(begin(rows, i), end(rows, i)):
        j = column(rows, p)
        cov.sigma[j] = shrunk(cov.sigma[j], beta, value(rows, i, p))
    cov.sigma[-1] = shrunk(cov.sigma[-1], beta, rows.bias)


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
    asked = what_to_ask_for(rows, order, 2 * lines_of(cov.sigma), True)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            look_ahead_in(y, order, at)
            if asked.weights > 0:
                look_ahead_at(w, rows, order, at, asked.weights)
                look_ahead_at_variances(cov, rows, order, at, asked.weights)
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
