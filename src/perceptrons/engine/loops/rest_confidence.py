"""One against the rest in one pass, for learners with a diagonal covariance.

Most rows change the weights and variances of several learners. They lie side by side, see
:mod:`.side_by_side`, and a step changes the lines of all learners at once. Every number is that of a pass of
its own, by :func:`.confidence.run_rows`.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...rules import State
from ..compiler import compiled, confide
from ..copying import copy_numbers
from ..look_ahead import lines_of, look_ahead, look_ahead_at, what_to_ask_for
from .linear import Log, enter
from .scalars import BAD_SCORE, BAD_STEP, DONE, ERRORS, EXAMPLES, LOSS2, LOWEST, MISTAKES, UPDATES, N
from .side_by_side import WIDTH, looks_and_variances, move

if TYPE_CHECKING:
    from ..._types import Bytes, Floats, Ints, Record
    from ...rows import Rows
    from .rest import Ending
    from .tracks import RecordedScores


class ConfidentShared(NamedTuple):
    """What the learners of a block share during a pass: scratch space."""

    V: np.ndarray  #: their weights side by side
    S: np.ndarray  #: the diagonals of their covariances
    dots: np.ndarray  #: (WIDTH,), of V's type
    squares: np.ndarray  #: (WIDTH,)
    raw: np.ndarray  #: (learners,): scores
    variance: np.ndarray  #: (learners,): x' Sigma x
    d: np.ndarray  #: (WIDTH,): the steps of this row
    beta: np.ndarray  #: (WIDTH,): what the covariances lose
    state: np.ndarray  #: (learners, scalars)


@compiled
def run(
    rule: Record,
    rows: Rows,
    marks: Bytes,
    c: Floats,
    order: Ints,
    states: tuple[np.ndarray, ...],
    log: Log,
    recorded: RecordedScores,
    shared: ConfidentShared,
    ending: Ending,
    tol: float,
    limit: float,
) -> None:
    """One pass over ``order``, like :func:`.rest.run`; ``states`` has the scalars of WIDTH learners."""
    n = shared.raw.shape[0]
    for r in range(n):
        copy_numbers(states[r], shared.state[r])
        shared.state[r, LOSS2] = 0.0  # sums of a pass are made apart
    for r in range(WIDTH):
        shared.d[r] = shared.beta[r] = 0.0
    n_ended = 0
    asked = what_to_ask_for(rows, order, 2 * lines_of(shared.V), False)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            if asked.weights > 0:
                look_ahead_at(shared.V, rows, order, at, asked.weights)
                look_ahead_at(shared.S, rows, order, at, asked.weights)
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        looks_and_variances(
            rows, i, shared.V, shared.dots, shared.raw, shared.S, shared.squares, shared.variance
        )
        positive, n_steps = int(marks[i]), 0
        for r in range(n):
            if n_ended > 0 and ending.how[r] != DONE:
                continue
            state, s, v = shared.state[r], shared.raw[r], shared.variance[r]
            sign = 1.0 if positive >> r & 1 else -1.0
            m = sign * s
            alpha, beta = 0.0, 0.0
            how = DONE if isfinite(m) and isfinite(v) else BAD_SCORE
            if how == DONE:
                if recorded.score.shape[1] > 0:
                    recorded.score[r, at] = s
                t, k = int(state[EXAMPLES]), int(state[UPDATES])
                alpha, beta = confide(rule, m, v, State(state[N], k, t + 1, 1.0, tol))
                if (alpha != 0.0 or beta != 0.0) and not alpha * alpha * v <= limit:
                    how = BAD_STEP
            if how != DONE:
                ending.how[r], ending.at[r] = how, at
                n_ended += 1
                continue
            if alpha != 0.0 or beta != 0.0:
                shared.d[r], shared.beta[r] = alpha * sign, beta
                n_steps += 1
                state[UPDATES] += 1.0
                if log.row.shape[1] > 0:
                    part = Log(log.row[r], log.example[r], log.keep[r], log.alpha[r])
                    enter(part, ending.n_logged[r], i, int(state[EXAMPLES]) + 1, 1.0, alpha * sign)
                    ending.n_logged[r] += 1
            state[EXAMPLES] += 1.0
            if (s > 0.0) != (sign > 0.0):
                state[ERRORS] += 1.0
            if m <= 0.0:
                state[MISTAKES] += 1.0
            if m < state[LOWEST]:
                state[LOWEST] = m
            loss = max(0.0, 1.0 - m)
            state[LOSS2] += loss * loss
        if n_steps > 0:
            move(rows, i, shared.d, shared.beta, shared.V, shared.S)
            for r in range(WIDTH):
                shared.d[r] = shared.beta[r] = 0.0
    for r in range(n):
        state = states[r]
        loss2 = state[LOSS2]
        copy_numbers(shared.state[r], state)
        state[LOSS2] += loss2
