"""The linear space: w in R^d, any first-order rule, one loop."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...rows import Block, Csr, Dense, Packed, begin, end, follow, look, push, scaled, sqnorm
from ...rules import State
from ..compiler import by_record, compiled, decide, dispatch, helper, seldom, strict
from ..look_ahead import lines_of, look_ahead, look_ahead_at, look_ahead_in, what_to_ask_for
from .atomic import swap
from .scalars import (
    BAD_SCORE,
    BAD_STEP,
    DONE,
    DRIFT,
    DRIFT_LIMIT,
    ERROR,
    ERRORS,
    EXAMPLES,
    LOSS2,
    LOWEST,
    MISTAKES,
    NORM_ERROR,
    REFRESH,
    REFUSED,
    SCALE,
    SCALE_HIGH,
    SCALE_LOW,
    SCALE_SUM,
    SQUARE_HIGH,
    SQUARE_LOW,
    SUM_Q,
    TAU,
    UPDATES,
    N,
)
from .sums import squared_length
from .tracks import note, pace, record_readout, settle, tracked

if TYPE_CHECKING:
    from ..._types import Floats, Ints, Reals, Record
    from ...rows import Rows
    from .tracks import RecordedScores, Track, Unrecorded

EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)


class Log(NamedTuple):
    """One entry per update; arrays of length 0 keep nothing."""

    row: np.ndarray  #: int64
    example: np.ndarray  #: int64: t of the update
    keep: np.ndarray  #: float64
    alpha: np.ndarray  #: float64 (entries, classes): w_r <- keep w_r + alpha_r x; binary: one column, tau y


@seldom
def sum_of_squares(v: Reals) -> float:
    total = 0.0
    for j in range(v.size):
        x = np.float64(v.flat[j])
        total += x * x
    return total


@helper
def multiply(v: Reals, factor: float) -> None:
    for j in range(v.size):
        v.flat[j] *= factor


@seldom
def rescale(
    rows: Rows,
    track: Track,
    v: Reals,
    steps: Floats,
    keep: float,
    scale: float,
    scale_sum: float,
    largest: float,
) -> tuple[float, float]:
    """w = scale v shrinks by ``keep``: O(1), but for a zero factor or a scale out of range.

    ``largest`` is an upper bound on ||w||^2: 0 only where w is 0.
    """
    if keep == 0.0:
        if largest != 0.0:
            settle(track, v, scale_sum)
            multiply(v, 0.0)
            scaled(rows, 0.0)
        multiply(steps, 0.0)
        return 1.0, scale_sum
    scale *= keep
    if SCALE_LOW < abs(scale) < SCALE_HIGH:
        return scale, scale_sum
    return multiply_out(rows, track, v, steps, scale, scale_sum)


@seldom
def multiply_out(
    rows: Rows, track: Track, v: Reals, steps: Floats, scale: float, scale_sum: float
) -> tuple[float, float]:
    """w = scale v, with a scale of 1: ``scale_sum * v`` is folded into A before v is rescaled.

    A sum that went on in units of the new v could grow without limit, and take all digits with it.
    """
    settle(track, v, scale_sum)
    multiply(v, scale)
    multiply(steps, scale)
    scaled(rows, scale)
    return 1.0, 0.0


def refreshed(rows: Rows, v: Reals, scale: float, norm2: float, drift: float) -> tuple[float, float]:
    """(||w||^2, drift): computed anew from weights; unchanged where v holds coefficients of rows."""
    return dispatch(refreshed, rows)(rows, v, scale, norm2, drift)


@by_record(refreshed)(Dense, Csr, Packed)
def _refreshed_weights(rows: Rows, v: Reals, scale: float, norm2: float, drift: float) -> tuple[float, float]:
    if scale == 1.0 and drift == 0.0:  # w was never multiplied, and v may be in any order
        return squared_length(v, norm2), 0.0
    return scale * scale * sum_of_squares(v), 0.0


@by_record(refreshed)(Block)
def _refreshed_coefficients(
    rows: Rows, v: Reals, scale: float, norm2: float, drift: float
) -> tuple[float, float]:
    return norm2, drift


@helper
def fits(norm2: float, scale: float, limit: float) -> bool:
    """Whether v = w/scale is shorter than the limit."""
    return sqrt(max(0.0, norm2)) <= sqrt(limit) * abs(scale)


@strict
def drifted(v: Reals, drift: float, keep: float, norm2: float, inner: float, length2: float) -> float:
    """How far rounding may take the norm of keep w + d, kept step by step; 2 <w, d> and |d|^2 are added.

    The same number in every loop: it decides when the norm is computed anew.
    """
    terms = keep * keep * norm2 + abs(2.0 * keep * inner) + length2
    return keep * keep * drift + np.finfo(v.dtype).eps * terms


#: ||w||^2 is at least uncertain by this much where bounds on rounding are computed: squares may underflow.
FLOOR = 1e-290


@strict
def squared_step(tau: float, q: float) -> float:
    """tau^2 q, in another order where tau^2 alone would underflow, or overflow."""
    square = tau * tau
    if SQUARE_LOW < square < SQUARE_HIGH:
        return square * q
    return tau * (tau * q)


@strict
def bound_rounding(
    rows: Rows,
    i: int,
    v: Reals,
    scalars: Floats,
    keep: float,
    length2: float,
    norm2: float,
    scale: float,
    n_classes: int,
) -> None:
    """Bring the bounds on rounding up to date after a step of this squared length; norm2 is from before it.

    ERROR bounds ||w - exact sum of the steps||, see :mod:`perceptrons.engine.margins`; NORM_ERROR bounds
    |N - ||w||^2|, as N is the sum of three terms and one of them is a product of a row and w. They are kept
    in memory: as variables of the loop they would take registers from its products.
    """
    info = np.finfo(v.dtype)
    length = sqrt(length2)
    reached = abs(keep) * sqrt(norm2 + scalars[NORM_ERROR] + FLOOR) + length  # at least ||keep w + d||
    n_terms = float(end(rows, i) - begin(rows, i)) + 1.0
    n_changed = (n_terms if keep == 1.0 else float(v.shape[0])) * n_classes
    underflow = 2.0 * info.eps * info.tiny * n_changed * max(1.0, abs(scale))
    more = 0.5 * info.eps * (3.0 * reached + 4.0 * length) + underflow
    if n_classes > 1:
        more += EPS * (n_classes + 4.0) * length  # the shares of the rivals, and their sum
    scalars[ERROR] = abs(keep) * scalars[ERROR] + more
    rough = (n_terms + n_classes + 8.0) * info.eps
    scalars[NORM_ERROR] = keep * keep * scalars[NORM_ERROR] + rough * reached * reached


class Moment(NamedTuple):
    """The scalars that a step reads and changes, as variables of a loop."""

    scale: float
    norm2: float
    tau_sum: float
    scale_sum: float
    drift: float
    k: int


@helper
def step(
    rows: Rows,
    i: int,
    y: float,
    m: float,
    q: float,
    keep: float,
    tau: float,
    v: Reals,
    track: Track,
    scalars: Floats,
    steps: Floats,
    now: Moment,
    limit: float,
) -> tuple[bool, Moment]:
    """w <- keep w + tau y x, and the scalars after it; False: w would overflow, and nothing is changed."""
    scale, norm2, tau_sum, scale_sum, drift, k = now
    length2 = squared_step(tau, q)
    new_norm2 = keep * keep * norm2 + 2.0 * keep * tau * m + length2
    if not (new_norm2 <= limit and isfinite(v.dtype.type(tau))):
        return False, now
    if keep != 1.0:
        drift = drifted(v, drift, keep, norm2, tau * m, length2)
        scale, scale_sum = rescale(rows, track, v, steps, keep, scale, scale_sum, norm2 + scalars[NORM_ERROR])
    if scale != 1.0 and not (fits(new_norm2, scale, limit) and isfinite(v.dtype.type(tau / scale))):
        scale, scale_sum = multiply_out(rows, track, v, steps, scale, scale_sum)  # w/scale is too long
    d = tau * y / scale
    note(track, rows, i, d, scale_sum)
    push(rows, i, d, v)
    follow(rows, i, d)
    if steps.shape[0] > 0:
        steps[i] += tau / scale
    bound_rounding(rows, i, v, scalars, keep, length2, norm2, scale, 1)
    tau_sum = keep * tau_sum + tau if tau >= 0.0 and keep >= 0.0 else np.nan
    return True, Moment(scale, max(0.0, new_norm2), tau_sum, scale_sum, drift, k + 1)


@helper
def refresh_is_due(now: Moment, tol: float) -> bool:
    """Whether ||w||^2 is to be computed anew after a step."""
    return now.k % REFRESH == 0 or now.drift > DRIFT_LIMIT * tol * now.norm2


@helper
def enter(log: Log, n: int, i: int, t: int, keep: float, alpha: float) -> None:
    """Entry n of the log of a binary learner."""
    log.row[n] = i
    log.example[n] = t
    log.keep[n] = keep
    log.alpha[n, 0] = alpha


@helper
def write_back(
    scalars: Floats, scale: float, norm2: float, tau_sum: float, scale_sum: float, t: int, k: int
) -> None:
    scalars[SCALE], scalars[N], scalars[TAU], scalars[SCALE_SUM] = scale, norm2, tau_sum, scale_sum
    scalars[EXAMPLES], scalars[UPDATES] = t, k


@helper
def write_counts(
    scalars: Floats, n_mistakes: int, n_errors: int, n_refused: int, loss2: float, sum_q: float, lowest: float
) -> None:
    scalars[MISTAKES] += n_mistakes
    scalars[ERRORS] += n_errors
    scalars[REFUSED] += n_refused
    scalars[LOSS2] += loss2
    scalars[SUM_Q] += sum_q
    scalars[LOWEST] = lowest


# ---------------------------------------------------------------- the loop


@helper
def run_rows(
    rule: Record,
    rows: Rows,
    y: np.ndarray,
    c: Floats,
    order: Ints,
    v: Reals,
    n_weights: int,
    track: Track,
    scalars: Floats,
    log: Log,
    steps: Floats,
    recorded: RecordedScores | Unrecorded,
    prediction: bool,
    tol: float,
    limit: float,
) -> tuple[int, int, int]:
    """One pass over ``order``; returns how it ended, at which position, and the entries logged.

    y is +-1; c holds row weights, or nothing. v has the ``n_weights`` of all columns, or only those that rows
    have. ``steps`` receives the sum of the steps on each row, divided by the scale of w, unless it is empty.
    ``recorded`` receives what is predicted before each row is learned. Where ``prediction`` is set a tie that
    predicts the right label (-1) is no mistake. A pass that ends badly leaves v and the scalars as they were
    before the bad row.
    """
    scale, norm2, tau_sum, scale_sum = scalars[SCALE], scalars[N], scalars[TAU], scalars[SCALE_SUM]
    t, k, drift = int(scalars[EXAMPLES]), int(scalars[UPDATES]), scalars[DRIFT]
    n_mistakes = n_errors = n_refused = n_logged = 0
    loss2, sum_q, lowest = 0.0, 0.0, scalars[LOWEST]
    weight = 1.0
    ending = DONE
    at = 0
    asked = what_to_ask_for(rows, order, lines_of(v), True)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            look_ahead_in(y, order, at)
            if steps.shape[0] > 0:
                look_ahead_in(steps, order, at)
            if asked.weights > 0:
                look_ahead_at(v, rows, order, at, asked.weights)
        if c.shape[0] > 0:
            weight = c[i]
            if weight == 0.0:
                continue
        raw = look(rows, i, v)
        s = scale * raw
        m = y[i] * s
        if not isfinite(m):
            ending = BAD_SCORE
            break
        record_readout(recorded, track, rows, i, at, v, raw, s, norm2, scale_sum, t)
        wrong = (s > 0.0) != (y[i] > 0.0)
        mistake = wrong if prediction else m <= 0.0
        keep, tau = 1.0, 0.0
        q = sqnorm(rows, i)
        if mistake or m != 0.0:
            keep, tau = decide(rule, m, q, State(norm2, k, t + 1, weight, tol))
        if keep != 1.0 or tau != 0.0:
            if keep == 0.0 and tau == 0.0:
                n_refused += 1
            else:
                now = Moment(scale, norm2, tau_sum, scale_sum, drift, k)
                fine, now = step(rows, i, y[i], m, q, keep, tau, v, track, scalars, steps, now, limit)
                if not fine:
                    ending = BAD_STEP  # overflow, or a rule that returned NaN
                    break
                scale, norm2, tau_sum, scale_sum, drift, k = now
                if refresh_is_due(now, tol):
                    norm2, drift = refreshed(rows, v, scale, norm2, drift)
                    scalars[NORM_ERROR] = EPS * (n_weights + 8.0) * norm2
                sum_q += q
                if log.row.shape[0] > 0:
                    enter(log, n_logged, i, t + 1, keep, tau * y[i])
                    n_logged += 1
        t += 1
        scale_sum += pace(track, scale, norm2)
        n_errors += wrong
        n_mistakes += mistake
        lowest = min(lowest, m)
        loss = max(0.0, 1.0 - m)
        loss2 += loss * loss
    write_back(scalars, scale, norm2, tau_sum, scale_sum, t, k)
    scalars[DRIFT] = drift
    write_counts(scalars, n_mistakes, n_errors, n_refused, loss2, sum_q, lowest)
    return ending, at, n_logged


#: :func:`run_rows`, callable from Python.
run = compiled(run_rows)


# ---------------------------------------------------------------- one row at a time

#: A row buffer packs the arguments of a call for one row into one float64 array.
BUFFER_SIZE = 12
BUFFER_BIAS, BUFFER_UNIT, BUFFER_PREDICTION, BUFFER_TOL, BUFFER_LIMIT, BUFFER_USE = 3, 4, 5, 6, 7, 8
#: How wrong predictions are counted, and from here on: rows counted, wrong predictions among them.
BUFFER_COUNT, BUFFER_TALLY = 9, 10
#: Not at all; by the last w; by the readout that is tracked; one class alone is known, and always right.
UNCOUNTED, BY_LAST, BY_READOUT, ALWAYS_RIGHT = 0.0, 1.0, 2.0, 3.0
#: What the row buffer is used for; other bits count as learning. A buffer that is closed stays closed.
FREE, LEARNING, SCORING, CLOSED = 0, 1, 2, 3


@helper
def take(row_buffer: Floats, use: int) -> bool:
    """Whether the row buffer was free, and is now in this use."""
    return swap(row_buffer, BUFFER_USE, FREE, use) == FREE


@helper
def leave(row_buffer: Floats, use: int) -> None:
    """End this use of the row buffer."""
    swap(row_buffer, BUFFER_USE, use, FREE)


@compiled
def close_buffer(row_buffer: Floats) -> int:
    """Close a row buffer that is not in use; return how it was used."""
    return swap(row_buffer, BUFFER_USE, FREE, CLOSED)


@helper
def wrong_before(track: Track, rows: Rows, y: float, v: Reals, scalars: Floats, row_buffer: Floats) -> float:
    """1 where the readout that is tracked predicts the only row wrongly, if that is counted."""
    if row_buffer[BUFFER_COUNT] != BY_READOUT:
        return 0.0
    return 1.0 if (tracked(track, rows, v, scalars) > 0.0) != (y > 0.0) else 0.0


@helper
def count_one(row_buffer: Floats, wrong: float, last_was_wrong: float) -> None:
    """One row more has been learned."""
    if row_buffer[BUFFER_COUNT] != UNCOUNTED:
        row_buffer[BUFFER_TALLY] += 1.0
        row_buffer[BUFFER_TALLY + 1] += last_was_wrong if row_buffer[BUFFER_COUNT] == BY_LAST else wrong


@helper
def vanishes(x: Reals) -> bool:
    """Whether every entry is 0."""
    n = 0
    for j in range(x.shape[0]):
        n += x[j] != 0.0
    return n == 0


@compiled
def scores(rows: Rows, v: Reals, out: Floats) -> None:
    """out[i] = <v, x_i> for every row."""
    for i in range(out.shape[0]):
        out[i] = look(rows, i, v)
