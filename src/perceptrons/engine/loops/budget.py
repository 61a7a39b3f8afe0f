"""The kernel perceptron with few support vectors: one loop, and a policy that says which entry leaves.

The loop reads a block of rows from one matrix K of kernel values: the support set comes first, the block
after it. F holds the scores of the block's rows under the current w, and every change of w is carried over to
the later ones; so every decision is the one that would have been made one row at a time.

The support set is a list, oldest first. A row that comes again is a new entry.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..compiler import by_record, compiled, dispatch, helper
from .scalars import BAD_SCORE, DONE, ERRORS, EXAMPLES, LONGEST, LOSS2, LOWEST, MISTAKES, SUM_Q, UPDATES

if TYPE_CHECKING:
    from ..._types import Floats

#: A pass ended because no random number was left; nothing has changed since the row before.
NO_NUMBER_LEFT = 4
#: A row is in the span of the support set if its squared distance is at most this part of k(x, x).
#: Nearer, the distance may be all rounding, and the factor of the kernel matrix would divide by it.
SPAN_TOL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}

# ---------------------------------------------------------------- policies: how room is made


class Random(NamedTuple):
    """A random entry leaves."""


class Oldest(NamedTuple):
    """The oldest entry leaves."""


class Forgetron(NamedTuple):
    """All coefficients shrink, and the oldest entry leaves."""


class Projectron(NamedTuple):
    """A row within ``eta`` of the span of the support set is projected onto it and takes no room.

    A full list projects every mistake, however far away. So does any list a row that is in its span but for
    rounding (``span_tol``): with ``eta`` = 0 this is the perceptron itself, on at most as many entries as the
    rows have dimensions.
    """

    eta: float
    span_tol: float = SPAN_TOL[np.dtype(np.float64)]


Policy: TypeAlias = Random | Oldest | Forgetron | Projectron


class Entries(NamedTuple):
    """The support list. All arrays have room for more than is in use."""

    where: np.ndarray  #: int64: rows of K, oldest first
    a: np.ndarray  #: coefficients, with their signs
    factor: np.ndarray  #: L with LL' = K of the entries, for the projectron; otherwise empty
    work: np.ndarray  #: scratch space, one number per entry, for the projectron; otherwise empty
    tally: np.ndarray  #: int64: entries in use, random numbers used
    cost: np.ndarray  #: float64: Q, what the forgetron's shrinking has cost


IN_USE, DRAWN = 0, 1


class BudgetLog(NamedTuple):
    """One entry per update; arrays of length 0 keep nothing."""

    row: np.ndarray  #: int64
    example: np.ndarray  #: int64: t of the update
    keep: np.ndarray  #: float64: the factor of the older coefficients
    alpha: np.ndarray  #: float64 (entries, 1): the new coefficient y
    victim: np.ndarray  #: int64: the row that left, or -1
    projected: np.ndarray  #: bool: the row was projected and is no entry


@helper
def add(entries: Entries, K: Floats, F: Floats, j: int, y: float) -> None:
    """Row j of K becomes the last entry, with coefficient y."""
    n = entries.tally[IN_USE]
    entries.where[n] = j
    entries.a[n] = y
    entries.tally[IN_USE] = n + 1
    move(K, F, j, j, y)


@helper
def move(K: Floats, F: Floats, j: int, i: int, d: float) -> None:
    """w has grown by d times row i of K: the scores of the block's rows after row j follow."""
    first = K.shape[0] - F.shape[0]
    values, scores = K[i, j + 1 :], F[j + 1 - first :]
    for p in range(scores.shape[0]):
        scores[p] += d * values[p]


@helper
def evict(entries: Entries, K: Floats, F: Floats, j: int, e: int) -> int:
    """Entry e leaves; return which row of K it was."""
    n, victim = entries.tally[IN_USE] - 1, entries.where[e]
    move(K, F, j, victim, -entries.a[e])
    for s in range(e, n):
        entries.where[s] = entries.where[s + 1]
        entries.a[s] = entries.a[s + 1]
    entries.tally[IN_USE] = n
    return victim


def take_in(
    policy: Policy,
    entries: Entries,
    K: Floats,
    F: Floats,
    j: int,
    y: float,
    k: int,
    budget: int,
    uniforms: Floats,
) -> tuple[bool, int, float, bool]:
    """Learn row j of K, the mistake number k, of label y.

    Returns (done, victim, factor of the older coefficients, projected). Where it is not done, a random
    number is missing and nothing has changed.
    """
    return dispatch(take_in, policy)(policy, entries, K, F, j, y, k, budget, uniforms)


@by_record(take_in)(Random)
def _take_in_random(
    policy: Random,
    entries: Entries,
    K: Floats,
    F: Floats,
    j: int,
    y: float,
    k: int,
    budget: int,
    uniforms: Floats,
) -> tuple[bool, int, float, bool]:
    victim = -1
    if entries.tally[IN_USE] == budget:
        drawn = entries.tally[DRAWN]
        if drawn == uniforms.shape[0]:
            return False, -1, 1.0, False
        victim = evict(entries, K, F, j, min(int(uniforms[drawn] * budget), budget - 1))
        entries.tally[DRAWN] = drawn + 1
    add(entries, K, F, j, y)
    return True, victim, 1.0, False


@by_record(take_in)(Oldest)
def _take_in_oldest(
    policy: Oldest,
    entries: Entries,
    K: Floats,
    F: Floats,
    j: int,
    y: float,
    k: int,
    budget: int,
    uniforms: Floats,
) -> tuple[bool, int, float, bool]:
    victim = -1
    if entries.tally[IN_USE] == budget:
        victim = evict(entries, K, F, j, 0)
    add(entries, K, F, j, y)
    return True, victim, 1.0, False


@by_record(take_in)(Forgetron)
def _take_in_forgetron(
    policy: Forgetron,
    entries: Entries,
    K: Floats,
    F: Floats,
    j: int,
    y: float,
    k: int,
    budget: int,
    uniforms: Floats,
) -> tuple[bool, int, float, bool]:
    add(entries, K, F, j, y)
    if entries.tally[IN_USE] <= budget:
        return True, -1, 1.0, False
    # with sigma = |a_r| and mu = y_r f(x_r), sigma mu = a_r f(x_r)
    sigma, s_mu = abs(entries.a[0]), entries.a[0] * score(entries, K, entries.where[0])
    A, D, E = sigma * sigma - 2.0 * s_mu, 2.0 * sigma, entries.cost[0] - 15.0 / 32.0 * k
    phi = 1.0
    if A + D + E > 0.0:  # the largest phi <= 1 with A phi^2 + D phi + E <= 0, where E < 0
        phi = 2.0 * -E / (D + sqrt(max(0.0, D * D - 4.0 * A * E)))
    entries.cost[0] += A * phi * phi + D * phi
    victim = evict(entries, K, F, j, 0)
    for s in range(entries.tally[IN_USE]):
        entries.a[s] *= phi
    for p in range(j + 1 - (K.shape[0] - F.shape[0]), F.shape[0]):
        F[p] *= phi
    return True, victim, phi, False


@helper
def score(entries: Entries, K: Floats, r: int) -> float:
    """f of row r of K."""
    total = 0.0
    for s in range(entries.tally[IN_USE]):
        total += entries.a[s] * K[entries.where[s], r]
    return total


@by_record(take_in)(Projectron)
def _take_in_projectron(
    policy: Projectron,
    entries: Entries,
    K: Floats,
    F: Floats,
    j: int,
    y: float,
    k: int,
    budget: int,
    uniforms: Floats,
) -> tuple[bool, int, float, bool]:
    n, L, z = entries.tally[IN_USE], entries.factor, entries.work
    q = K[j, j]
    distance2 = q
    for s in range(n):  # z = L^{-1} k, and the distance is what z leaves of q
        row, total = L[s], K[entries.where[s], j]
        for p in range(s):
            total -= row[p] * z[p]
        z[s] = total / row[s]
        distance2 -= z[s] * z[s]
    distance2 = max(0.0, distance2)
    if n < budget and sqrt(distance2) > policy.eta and distance2 > policy.span_tol * q:
        for p in range(n):
            L[n, p] = z[p]
        L[n, n] = sqrt(distance2)
        add(entries, K, F, j, y)
        return True, -1, 1.0, False
    for s in range(n - 1, -1, -1):  # d = L'^{-1} z = K_S^{-1} k, in place of z
        row = L[s]
        z[s] /= row[s]
        for p in range(s):
            z[p] -= row[p] * z[s]
    for s in range(n):
        entries.a[s] += y * z[s]
        move(K, F, j, entries.where[s], y * z[s])
    return True, -1, 1.0, True


# ---------------------------------------------------------------- the loop


@compiled
def run(
    policy: Policy,
    entries: Entries,
    K: Floats,
    F: Floats,
    y: Floats,
    c: Floats,
    start: int,
    budget: int,
    uniforms: Floats,
    scalars: Floats,
    log: BudgetLog,
    prediction: bool,
) -> tuple[int, int, int]:
    """One pass over a block from its row ``start``; return how it ended, where, and the entries logged.

    y is +-1; c holds row weights, or nothing, and a row of weight 0 is passed over. Where ``prediction`` is
    set a tie that predicts the right label (-1) is no mistake. The log names rows of K. A pass that ends
    early leaves everything as it was before the row where it ended.
    """
    first = K.shape[0] - F.shape[0]
    t, k = int(scalars[EXAMPLES]), int(scalars[UPDATES])
    n_mistakes = n_errors = n_logged = 0
    loss2, sum_q, lowest, longest = 0.0, 0.0, scalars[LOWEST], scalars[LONGEST]
    ending = DONE
    at = start
    for at in range(start, F.shape[0]):
        if c.shape[0] > 0 and c[at] == 0.0:
            continue
        s, q = F[at], K[first + at, first + at]
        m = y[at] * s
        if not (isfinite(m) and isfinite(q)):
            ending = BAD_SCORE
            break
        wrong = (s > 0.0) != (y[at] > 0.0)
        mistake = wrong if prediction else m <= 0.0
        if mistake:
            done, victim, keep, projected = take_in(
                policy, entries, K, F, first + at, y[at], k + 1, budget, uniforms
            )
            if not done:
                ending = NO_NUMBER_LEFT
                break
            k += 1
            sum_q += q
            if log.row.shape[0] > 0:
                log.row[n_logged] = first + at
                log.example[n_logged] = t + 1
                log.keep[n_logged] = keep
                log.alpha[n_logged, 0] = y[at]
                log.victim[n_logged] = victim
                log.projected[n_logged] = projected
                n_logged += 1
        t += 1
        n_errors += wrong
        n_mistakes += mistake
        lowest = min(lowest, m)
        longest = max(longest, q)
        loss = max(0.0, 1.0 - m)
        loss2 += loss * loss
    scalars[EXAMPLES], scalars[UPDATES] = t, k
    scalars[MISTAKES] += n_mistakes
    scalars[ERRORS] += n_errors
    scalars[LOSS2] += loss2
    scalars[SUM_Q] += sum_q
    scalars[LOWEST], scalars[LONGEST] = lowest, longest
    return ending, at, n_logged
