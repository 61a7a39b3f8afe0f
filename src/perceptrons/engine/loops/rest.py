"""One against the rest in one pass: each row is read once for a block of learners.

The weights of a block lie side by side, see :mod:`.side_by_side`, and stay there from pass to pass. A learner
that makes a step changes its column. Every number is that of a pass of its own, by :func:`.linear.run_rows`.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...rows import sqnorm
from ...rules import State
from ..compiler import compiled, decide, helper
from ..copying import copy_numbers
from ..look_ahead import lines_of, look_ahead, look_ahead_at, what_to_ask_for
from .linear import EPS, Log, Moment, enter, refresh_is_due, refreshed, step
from .scalars import (
    BAD_SCORE,
    BAD_STEP,
    DONE,
    DRIFT,
    ERRORS,
    EXAMPLES,
    LOSS2,
    LOWEST,
    MISTAKES,
    NORM_ERROR,
    REFUSED,
    SCALE,
    SCALE_SUM,
    SUM_Q,
    TAU,
    UPDATES,
    N,
)
from .side_by_side import looks, own_track
from .tracks import RecordedScores, pace, record_readout

if TYPE_CHECKING:
    from ..._types import Bytes, Floats, Ints, Record
    from ...rows import Rows
    from .tracks import Track


class OwnArrays(NamedTuple):
    """The arrays of the learners of a block, WIDTH each; those after the last learner are not used."""

    A: tuple[np.ndarray, ...]  #: empty where the last w predicts
    state: tuple[np.ndarray, ...]  #: the scalars
    steps: tuple[np.ndarray, ...]  #: the sum of the steps on each row, or arrays of length 0


class Shared(NamedTuple):
    """What the learners of a block share during a pass."""

    V: np.ndarray  #: their weights, a column each
    dots: np.ndarray  #: (WIDTH,), of V's type: scratch space, as the others are
    column: np.ndarray  #: (features + 1,), of V's type
    raw: np.ndarray  #: (learners,): scores under the stored weights
    state: np.ndarray  #: (learners, scalars)


class Ending(NamedTuple):
    """How the pass ended, for each learner."""

    how: np.ndarray  #: int64: DONE, or why it ended before
    at: np.ndarray  #: int64: at which position
    n_logged: np.ndarray  #: int64: entries of its log


@helper
def learn(
    rule: Record,
    rows: Rows,
    i: int,
    y: float,
    q: float,
    weight: float,
    r: int,
    at: int,
    seen: int,
    arrays: OwnArrays,
    track: Track,
    log: Log,
    recorded: RecordedScores,
    shared: Shared,
    ending: Ending,
    prediction: bool,
    tol: float,
    limit: float,
) -> int:
    """Learner r learns row i, of which its score is known: the body of :func:`.linear.run_rows`.

    ``state[EXAMPLES]`` counts the examples before this pass; ``seen`` have come since.
    """
    state, raw, v = shared.state[r], shared.raw[r], shared.V[:, r]
    scale, norm2 = state[SCALE], state[N]
    s = scale * raw
    m = y * s
    if not isfinite(m):
        return BAD_SCORE
    t, k = int(state[EXAMPLES]) + seen, int(state[UPDATES])
    if recorded.score.shape[1] > 0:
        own = RecordedScores(recorded.score[r], recorded.unit)
        kept = own_track(track, arrays.A, r)
        record_readout(own, kept, rows, i, at, v, raw, s, norm2, state[SCALE_SUM], t)
    wrong = (s > 0.0) != (y > 0.0)
    mistake = wrong if prediction else m <= 0.0
    keep, tau = 1.0, 0.0
    if mistake or m != 0.0:
        keep, tau = decide(rule, m, q, State(norm2, k, t + 1, weight, tol))
    if keep == 0.0 and tau == 0.0:
        state[REFUSED] += 1.0
    elif keep != 1.0 or tau != 0.0:
        kept = own_track(track, arrays.A, r)
        now = Moment(scale, norm2, state[TAU], state[SCALE_SUM], state[DRIFT], k)
        fine, now = step(rows, i, y, m, q, keep, tau, v, kept, state, arrays.steps[r], now, limit)
        if not fine:
            return BAD_STEP
        scale, norm2, state[TAU], state[SCALE_SUM], drift, k = now
        if refresh_is_due(now, tol):
            copy_numbers(v, shared.column)  # the order of a sum depends on how its numbers lie
            norm2, drift = refreshed(rows, shared.column, scale, norm2, drift)
            state[NORM_ERROR] = EPS * (v.shape[0] + 8.0) * norm2
        state[SCALE], state[N], state[DRIFT], state[UPDATES] = scale, norm2, drift, k
        state[SUM_Q] += q
        if log.row.shape[1] > 0:
            part = Log(log.row[r], log.example[r], log.keep[r], log.alpha[r])
            enter(part, ending.n_logged[r], i, t + 1, keep, tau * y)
            ending.n_logged[r] += 1
    state[SCALE_SUM] += pace(track, scale, norm2)
    if wrong:
        state[ERRORS] += 1.0
    if mistake:
        state[MISTAKES] += 1.0
    if m < state[LOWEST]:
        state[LOWEST] = m
    loss = max(0.0, 1.0 - m)
    state[LOSS2] += loss * loss
    return DONE


@compiled
def run(
    rule: Record,
    rows: Rows,
    marks: Bytes,
    c: Floats,
    order: Ints,
    arrays: OwnArrays,
    track: Track,
    log: Log,
    recorded: RecordedScores,
    shared: Shared,
    ending: Ending,
    prediction: bool,
    tol: float,
    limit: float,
) -> None:
    """One pass over ``order`` for the learners of a block.

    ``marks`` has a byte for each row: bit r is set where it is positive for learner r.
    The other arguments are those of :func:`.linear.run_rows`, with a row for each learner in ``log`` and
    ``recorded``. ``track`` says of which kind ``arrays.A`` is. A learner whose pass ends badly stays as it
    was before the bad row, and the others go on.
    """
    n = shared.raw.shape[0]
    for r in range(n):
        copy_numbers(arrays.state[r], shared.state[r])
        shared.state[r, LOSS2] = shared.state[r, SUM_Q] = 0.0  # sums of a pass are made apart
    weight, seen, n_ended = 1.0, 0, 0
    asked = what_to_ask_for(rows, order, lines_of(shared.V), False)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            if asked.weights > 0:
                look_ahead_at(shared.V, rows, order, at, asked.weights)
        if c.shape[0] > 0:
            weight = c[i]
            if weight == 0.0:
                continue
        looks(rows, i, shared.V, shared.dots, shared.raw)
        q, positive = sqnorm(rows, i), int(marks[i])
        for r in range(n):
            if n_ended > 0 and ending.how[r] != DONE:
                continue
            how = learn(
                rule,
                rows,
                i,
                1.0 if positive >> r & 1 else -1.0,
                q,
                weight,
                r,
                at,
                seen,
                arrays,
                track,
                log,
                recorded,
                shared,
                ending,
                prediction,
                tol,
                limit,
            )
            if how != DONE:
                ending.how[r], ending.at[r] = how, at
                shared.state[r, EXAMPLES] += seen
                n_ended += 1
        seen += 1
    for r in range(n):
        if ending.how[r] == DONE:
            shared.state[r, EXAMPLES] += seen
        state = arrays.state[r]
        loss2, sum_q = state[LOSS2], state[SUM_Q]
        copy_numbers(shared.state[r], state)
        state[LOSS2] += loss2
        state[SUM_Q] += sum_q
