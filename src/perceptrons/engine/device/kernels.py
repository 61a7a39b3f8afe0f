"""The resolve step of a block as Triton kernels; :mod:`.resolve` says what it does.

A program walks through the block of one learner. All rows are lanes of one tensor, held in registers, and
the walk goes from one row that may step to the next: all lanes are tested, the first is found, its step is
taken, the scores of all lanes are corrected. Scalars and scores are in float64 within a block.

The module can be imported without Triton, but nothing in it can then be called.
"""

# Triton reads the annotations of its functions, and takes no types but its own.
# mypy: disallow-incomplete-defs=False, disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..loops import scalars as names

try:
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the builds of torch for the CPU bring none
    triton = tl = None

#: Whether the kernels can be called.
AVAILABLE = triton is not None


def _jit(function: Callable[..., Any]) -> Any:
    return function if triton is None else triton.jit(function)


#: Numbers whose value needs no kernel of its own: a block may be shorter than the last, v may have grown.
ANY_VALUE = ["B", "K", "size", "y_step", "v_step", "a_step", "scalars_step", "log_step"]


def _kernel(function: Callable[..., Any]) -> Any:
    if triton is None:
        return function
    named = function.__code__.co_varnames[: function.__code__.co_argcount]
    return triton.jit(function, do_not_specialize=[name for name in ANY_VALUE if name in named])


def _fixed(value: float) -> Any:
    return value if tl is None else tl.constexpr(value)


SCALE, N, TAU, SCALE_SUM = (_fixed(j) for j in (names.SCALE, names.N, names.TAU, names.SCALE_SUM))
EXAMPLES, UPDATES, DRIFT = (_fixed(j) for j in (names.EXAMPLES, names.UPDATES, names.DRIFT))
MISTAKES, ERRORS, REFUSED = (_fixed(j) for j in (names.MISTAKES, names.ERRORS, names.REFUSED))
LOSS2, SUM_Q, LOWEST = (_fixed(j) for j in (names.LOSS2, names.SUM_Q, names.LOWEST))
DONE, BAD_SCORE, BAD_STEP = (_fixed(j) for j in (names.DONE, names.BAD_SCORE, names.BAD_STEP))
SCALE_LOW, SCALE_HIGH = _fixed(names.SCALE_LOW), _fixed(names.SCALE_HIGH)
SQUARE_LOW, SQUARE_HIGH = _fixed(names.SQUARE_LOW), _fixed(names.SQUARE_HIGH)
INFINITY = _fixed(inf)

#: What is kept for the readout.
TRACKS = {"last": 0, "average": 1, "unit": 2}
UNIT = _fixed(TRACKS["unit"])

#: Where the settings are that all learners of a call share.
TOL, LIMIT, EPS, FIRST_PARAMETER = (_fixed(j) for j in range(4))


# ---------------------------------------------------------------- pieces


@_jit
def first(i, f, j, g):
    """Of two lanes the one in front."""
    front = i <= j
    return tl.where(front, i, j), tl.where(front, f, g)


@_jit
def squared_step(tau, q):
    """tau^2 q, in another order where tau^2 alone would underflow, or overflow."""
    square = tau * tau
    return tl.where((square > SQUARE_LOW) & (square < SQUARE_HIGH), square * q, tau * (tau * q))


@_jit
def pace(scale, norm2, TRACK: tl.constexpr):
    """Weight of the current w in the running average."""
    if TRACK == UNIT:
        return tl.where(norm2 > 0.0, scale / tl.sqrt(norm2), 0.0 * scale)
    else:
        return scale


@_jit
def drifted(drift, keep, norm2, inner, length2, eps):
    """How far rounding may take the norm of keep w + d."""
    terms = keep * keep * norm2 + tl.abs(2.0 * keep * inner) + length2
    return keep * keep * drift + eps * terms


@_jit
def multiply(v, A, size, factor, scale_sum, TRACK: tl.constexpr, LANES: tl.constexpr):
    """v is multiplied by a factor; the average keeps what v was worth."""
    tl.debug_barrier()  # single entries were written by one thread
    for start in range(0, size, LANES):
        j = start + tl.arange(0, LANES)
        old = tl.load(v + j, mask=j < size, other=0.0)
        if TRACK != 0:
            kept = tl.load(A + j, mask=j < size, other=0.0)
            tl.store(A + j, kept + scale_sum * old.to(tl.float64), mask=j < size)
        tl.store(v + j, (old.to(tl.float64) * factor).to(old.dtype), mask=j < size)
    tl.debug_barrier()


@_jit
def make_room(
    v, A, size, keep, tau, new_norm2, norm2, scale, scale_sum, limit, TRACK: tl.constexpr, LANES: tl.constexpr
):
    """w = scale v shrinks by ``keep``, and v is made to hold the step.

    Returns the scale, the scale_sum and the factor of scores that are in units of v.
    """
    one = tl.full((), 1.0, tl.float64)
    factor = one
    if keep == 0.0:
        if norm2 != 0.0:
            factor = 0.0 * one
            multiply(v, A, size, factor, scale_sum, TRACK, LANES)
        scale = one
    else:
        scale = scale * keep
    if scale != 1.0:
        kind = v.dtype.element_ty
        length = tl.abs(scale)
        unusual = (length <= SCALE_LOW) | (length >= SCALE_HIGH)
        norm = tl.sqrt(tl.where(new_norm2 > 0.0, new_norm2, 0.0 * one))
        if unusual | (norm > tl.sqrt(limit) * length) | (tl.abs((tau / scale).to(kind)) == INFINITY):
            multiply(v, A, size, scale, scale_sum, TRACK, LANES)
            factor = scale
            scale_sum = 0.0 * one
            scale = one
    return scale, scale_sum, factor


@_jit
def add(entry, d):
    """*entry += d."""
    old = tl.load(entry)
    tl.store(entry, (old.to(tl.float64) + d).to(old.dtype))


@_jit
def write_counts(own, smallest, visited, m, wrong, refused, sum_q, PREDICTION: tl.constexpr):
    """Account for every row that was visited, with the margin it had then."""
    mistake = wrong if PREDICTION else m <= 0.0
    loss = tl.where(visited & (m < 1.0), 1.0 - m, 0.0)
    add(own + MISTAKES, tl.sum((visited & mistake).to(tl.int32), 0).to(tl.float64))
    add(own + ERRORS, tl.sum((visited & wrong).to(tl.int32), 0).to(tl.float64))
    add(own + REFUSED, refused)
    add(own + LOSS2, tl.sum(loss * loss, 0))
    add(own + SUM_Q, sum_q)
    lowest = tl.min(tl.where(visited, m, INFINITY), 0)
    tl.store(own + LOWEST, tl.minimum(tl.load(own + LOWEST), lowest))
    nearest = tl.min(tl.where(visited & (m != 0.0), tl.abs(m), INFINITY), 0)
    tl.store(smallest, tl.minimum(tl.load(smallest), nearest))


@_jit
def write_back(own, scale, norm2, tau_sum, scale_sum, examples, updates, drift):
    tl.store(own + SCALE, scale)
    tl.store(own + N, norm2)
    tl.store(own + TAU, tau_sum)
    tl.store(own + SCALE_SUM, scale_sum)
    tl.store(own + EXAMPLES, examples)
    tl.store(own + UPDATES, updates)
    tl.store(own + DRIFT, drift)


# ---------------------------------------------------------------- independent learners


@_kernel
def rows_kernel(
    F,
    G,
    y,
    q,
    c,
    order,  # the number of each row among those that have a weight, from 1; its last entry is their count
    position,
    v,
    A,
    scalars,
    log_row,
    log_example,
    log_keep,
    log_alpha,
    log_count,
    smallest,
    ending,
    settings,
    B,
    size,
    f_step,
    g_step,
    y_step,
    v_step,
    a_step,
    scalars_step,
    log_step,
    stops: tl.constexpr,
    decide: tl.constexpr,
    TRACK: tl.constexpr,
    WEIGHTED: tl.constexpr,
    LOGGED: tl.constexpr,
    PREDICTION: tl.constexpr,
    LANES: tl.constexpr,
):
    learner = tl.program_id(0).to(tl.int64)
    v += learner * v_step
    A += learner * a_step
    y += learner * y_step
    own = scalars + learner * scalars_step
    scale, norm2 = tl.load(own + SCALE), tl.load(own + N)
    tau_sum, scale_sum = tl.load(own + TAU), tl.load(own + SCALE_SUM)
    before, k, drift = tl.load(own + EXAMPLES), tl.load(own + UPDATES), tl.load(own + DRIFT)
    tol, limit, eps = tl.load(settings + TOL), tl.load(settings + LIMIT), tl.load(settings + EPS)
    p0, p1 = tl.load(settings + FIRST_PARAMETER), tl.load(settings + FIRST_PARAMETER + 1)
    p2, p3 = tl.load(settings + FIRST_PARAMETER + 2), tl.load(settings + FIRST_PARAMETER + 3)
    one = tl.full((), 1.0, tl.float64)
    zero = tl.full((), 0.0, tl.float64)

    lane = tl.arange(0, LANES)
    live = lane < B
    f = tl.load(F + learner * f_step + lane, mask=live, other=0.0).to(tl.float64)
    sign = tl.load(y + lane, mask=live, other=1.0).to(tl.float64)
    self_q = tl.load(q + lane, mask=live, other=0.0)
    if WEIGHTED:
        weight = tl.load(c + lane, mask=live, other=0.0)
        t = before + tl.load(order + lane, mask=live, other=0.0)
        live = live & (weight != 0.0)
        total = tl.load(order + B - 1)
    else:
        weight = one
        t = before + (lane + 1).to(tl.float64)
        total = one * B
    seen = tl.zeros_like(f)  # the margin that a row had when it was visited

    cursor = tl.full((), 0, tl.int32)
    passed = zero  # rows with a weight that were visited
    refused = zero
    sum_q = zero
    n_logged = tl.full((), 0, tl.int64)
    how = tl.full((), DONE, tl.int32)
    at = tl.full((), 0, tl.int32) + B - 1
    visited_to = tl.full((), 0, tl.int32) + B
    while cursor < B:
        m = sign * (scale * f)
        step = stops(m, self_q, norm2, k, t, weight, tol, p0, p1, p2, p3)
        if PREDICTION:  # a tie that predicts the right label is left alone
            step = step & ((m != 0.0) | (sign > 0.0))
        ahead = lane >= cursor
        seen = tl.where(ahead, m, seen)
        stop = live & ahead & (step | ~(tl.abs(m) < INFINITY))
        i, f_i = tl.reduce((tl.where(stop, lane, LANES), f), 0, first)
        found = i < B
        cursor = i + 1
        i = tl.minimum(i, B - 1)
        g = tl.load(G + i.to(tl.int64) * g_step + lane, mask=found & (lane > i) & (lane < B), other=0.0)
        sign_i, q_i = tl.load(y + i).to(tl.float64), tl.load(q + i)
        if WEIGHTED:
            number, weight_i = tl.load(order + i), tl.load(c + i)
        else:
            number, weight_i = one * (i + 1), one
        on_the_way = tl.where(found, number - 1.0, total) - passed
        passed += on_the_way
        scale_sum += on_the_way * pace(scale, norm2, TRACK)
        if found:
            m_i = sign_i * (scale * f_i)
            keep, tau = decide(m_i, q_i, norm2, k, before + number, weight_i, tol, p0, p1, p2, p3)
            inner = tau * m_i
            length2 = squared_step(tau, q_i)
            new_norm2 = keep * keep * norm2 + 2.0 * keep * inner + length2
            finite = tl.abs(m_i) < INFINITY
            stays = (keep == 1.0) & (tau == 0.0)
            refuses = (keep == 0.0) & (tau == 0.0)
            sound = (new_norm2 <= limit) & (tl.abs(tau.to(v.dtype.element_ty)) < INFINITY)
            if finite & (sound | refuses | stays):
                if refuses:
                    refused += 1.0
                elif (keep != 1.0) | (tau != 0.0):
                    if keep != 1.0:
                        drift = drifted(drift, keep, norm2, inner, length2, eps)
                    if (keep != 1.0) | (scale != 1.0):
                        scale, scale_sum, factor = make_room(
                            v, A, size, keep, tau, new_norm2, norm2, scale, scale_sum, limit, TRACK, LANES
                        )
                        if factor != 1.0:
                            f = tl.where(factor == 0.0, 0.0, f * factor)
                    d = tau * sign_i / scale
                    place = tl.load(position + i)
                    if TRACK != 0:
                        add(A + place, -scale_sum * d)
                    add(v + place, d)
                    f += d * g.to(tl.float64)
                    norm2 = tl.where(new_norm2 > 0.0, new_norm2, zero)
                    k += 1.0
                    tau_sum = tl.where((tau >= 0.0) & (keep >= 0.0), keep * tau_sum + tau, float("nan"))
                    sum_q += q_i
                    if LOGGED:
                        entry = learner * log_step + n_logged
                        tl.store(log_row + entry, i.to(tl.int64))
                        tl.store(log_example + entry, (before + number).to(tl.int64))
                        tl.store(log_keep + entry, keep)
                        tl.store(log_alpha + entry, tau * sign_i)
                        n_logged += 1
                passed += 1.0
                scale_sum += pace(scale, norm2, TRACK)
            else:
                how = tl.where(finite, BAD_STEP, BAD_SCORE)
                at = i
                visited_to = i
                cursor = tl.full((), 0, tl.int32) + B

    write_back(own, scale, norm2, tau_sum, scale_sum, before + passed, k, drift)
    visited = live & (lane < visited_to)
    wrong = (sign * seen > 0.0) != (sign > 0.0)
    write_counts(own, smallest + learner, visited, seen, wrong, refused, sum_q, PREDICTION)
    tl.store(ending + 2 * learner, how.to(tl.int64))
    tl.store(ending + 2 * learner + 1, at.to(tl.int64))
    if LOGGED:
        tl.store(log_count + learner, n_logged)


# ---------------------------------------------------------------- one learner of all classes


@_jit
def scan_classes(T, label, lane, rows, B, K, scale, LANES: tl.constexpr):
    """The score of the class of some rows, of the best other class, and which one that is."""
    best = tl.zeros([LANES], tl.float64)
    own = tl.zeros([LANES], tl.float64)
    z = tl.full([LANES], -1, tl.int32)
    for r in tl.range(0, K, loop_unroll_factor=4):  # so that the loads overlap
        s = scale * tl.load(T + r * B + lane, mask=rows, other=0.0)
        better = (label != r) & ((z < 0) | (s > best))
        best = tl.where(better, s, best)
        z = tl.where(better, r, z)
        own = tl.where(label == r, s, own)
    return own, best, z


@_kernel
def joint_kernel(
    T,  # float64 scores, class by class: scratch
    G,
    y,
    q,
    c,
    order,
    position,
    v,
    A,
    scalars,
    log_row,
    log_example,
    log_keep,
    log_alpha,
    log_count,
    smallest,
    ending,
    settings,
    B,
    K,
    size,
    g_step,
    stops: tl.constexpr,
    decide: tl.constexpr,
    TRACK: tl.constexpr,
    WEIGHTED: tl.constexpr,
    LOGGED: tl.constexpr,
    PREDICTION: tl.constexpr,
    LANES: tl.constexpr,
    CLASSES: tl.constexpr,  # a power of two, K at least
):
    scale, norm2 = tl.load(scalars + SCALE), tl.load(scalars + N)
    tau_sum, scale_sum = tl.load(scalars + TAU), tl.load(scalars + SCALE_SUM)
    before, k, drift = tl.load(scalars + EXAMPLES), tl.load(scalars + UPDATES), tl.load(scalars + DRIFT)
    tol, limit, eps = tl.load(settings + TOL), tl.load(settings + LIMIT), tl.load(settings + EPS)
    p0, p1 = tl.load(settings + FIRST_PARAMETER), tl.load(settings + FIRST_PARAMETER + 1)
    p2, p3 = tl.load(settings + FIRST_PARAMETER + 2), tl.load(settings + FIRST_PARAMETER + 3)
    one = tl.full((), 1.0, tl.float64)
    zero = tl.full((), 0.0, tl.float64)

    lane = tl.arange(0, LANES)
    inside = lane < B
    live = inside
    label = tl.load(y + lane, mask=inside, other=0).to(tl.int32)
    self_q = 2.0 * tl.load(q + lane, mask=inside, other=0.0)
    if WEIGHTED:
        weight = tl.load(c + lane, mask=inside, other=0.0)
        t = before + tl.load(order + lane, mask=inside, other=0.0)
        live = inside & (weight != 0.0)
        total = tl.load(order + B - 1)
    else:
        weight = one
        t = before + (lane + 1).to(tl.float64)
        total = one * B
    seen = tl.zeros([LANES], tl.float64)
    wrong = tl.zeros([LANES], tl.int32)

    cursor = tl.full((), 0, tl.int32)
    passed = zero
    refused = zero
    sum_q = zero
    n_logged = tl.full((), 0, tl.int64)
    how = tl.full((), DONE, tl.int32)
    at = tl.full((), 0, tl.int32) + B - 1
    visited_to = tl.full((), 0, tl.int32) + B
    while cursor < B:
        ahead = lane >= cursor
        mine, best, z = scan_classes(T, label, lane, inside & ahead, B, K, scale, LANES)
        m = mine - best
        step = stops(m, self_q, norm2, k, t, weight, tol, p0, p1, p2, p3)
        if PREDICTION:
            step = step & ((m != 0.0) | (z < label))
        seen = tl.where(ahead, m, seen)
        wrong = tl.where(ahead, ((m < 0.0) | ((m == 0.0) & (z < label))).to(tl.int32), wrong)
        stop = live & ahead & (step | ~(tl.abs(m) < INFINITY))
        key = tl.min(tl.where(stop, lane * CLASSES + z, LANES * CLASSES), 0)
        i = key // CLASSES
        z_i = key % CLASSES
        found = i < B
        cursor = i + 1
        i = tl.minimum(i, B - 1)
        g = tl.load(G + i.to(tl.int64) * g_step + lane, mask=found & (lane > i) & inside, other=0.0)
        label_i, q_i = tl.load(y + i).to(tl.int32), tl.load(q + i)
        if WEIGHTED:
            number, weight_i = tl.load(order + i), tl.load(c + i)
        else:
            number, weight_i = one * (i + 1), one
        on_the_way = tl.where(found, number - 1.0, total) - passed
        passed += on_the_way
        scale_sum += on_the_way * pace(scale, norm2, TRACK)
        if found:
            mine_i, best_i = scale * tl.load(T + label_i * B + i), scale * tl.load(T + z_i * B + i)
            m_i = mine_i - best_i
            keep, tau = decide(m_i, 2.0 * q_i, norm2, k, before + number, weight_i, tol, p0, p1, p2, p3)
            inner = tau * mine_i - tau * best_i
            length2 = 2.0 * squared_step(tau, q_i)
            new_norm2 = keep * keep * norm2 + 2.0 * keep * inner + length2
            finite = tl.abs(m_i) < INFINITY
            stays = (keep == 1.0) & (tau == 0.0)
            refuses = (keep == 0.0) & (tau == 0.0)
            if finite & ((new_norm2 <= limit) | refuses | stays):
                if refuses:
                    refused += 1.0
                elif (keep != 1.0) | (tau != 0.0):
                    if keep != 1.0:
                        drift = drifted(drift, keep, norm2, inner, length2, eps)
                    if (keep != 1.0) | (scale != 1.0):
                        scale, scale_sum, factor = make_room(
                            v, A, size, keep, zero, new_norm2, norm2, scale, scale_sum, limit, TRACK, LANES
                        )
                        if factor != 1.0:
                            tl.debug_barrier()
                            for r in range(0, K):
                                s = tl.load(T + r * B + lane, mask=inside, other=0.0)
                                s = tl.where(factor == 0.0, 0.0, s * factor)
                                tl.store(T + r * B + lane, s, mask=inside)
                            tl.debug_barrier()
                    unit = 1.0 / scale
                    d = tau * unit
                    place = tl.load(position + i) * K
                    if TRACK != 0:
                        add(A + place + label_i, tau * (-scale_sum * unit))
                        add(A + place + z_i, -tau * (-scale_sum * unit))
                    add(v + place + label_i, d)
                    add(v + place + z_i, -d)
                    later = inside & (lane > i)
                    change = d * g.to(tl.float64)
                    s = tl.load(T + label_i * B + lane, mask=later, other=0.0)
                    rival = tl.load(T + z_i * B + lane, mask=later, other=0.0)
                    tl.store(T + label_i * B + lane, s + change, mask=later)
                    tl.store(T + z_i * B + lane, rival - change, mask=later)
                    tl.debug_barrier()
                    norm2 = tl.where(new_norm2 > 0.0, new_norm2, zero)
                    k += 1.0
                    tau_sum = tl.where((tau >= 0.0) & (keep >= 0.0), keep * tau_sum + tau, float("nan"))
                    sum_q += q_i
                    if LOGGED:
                        tl.store(log_row + n_logged, i.to(tl.int64))
                        tl.store(log_example + n_logged, (before + number).to(tl.int64))
                        tl.store(log_keep + n_logged, keep)
                        r = tl.arange(0, CLASSES)
                        alpha = tl.where(r == label_i, tau, tl.where(r == z_i, -tau, zero))
                        tl.store(log_alpha + n_logged * K + r, alpha, mask=r < K)
                        n_logged += 1
                passed += 1.0
                scale_sum += pace(scale, norm2, TRACK)
            else:
                how = tl.where(finite, BAD_STEP, BAD_SCORE)
                at = i
                visited_to = i
                cursor = tl.full((), 0, tl.int32) + B

    write_back(scalars, scale, norm2, tau_sum, scale_sum, before + passed, k, drift)
    visited = live & (lane < visited_to)
    write_counts(scalars, smallest, visited, seen, wrong != 0, refused, sum_q, PREDICTION)
    tl.store(ending, how.to(tl.int64))
    tl.store(ending + 1, at.to(tl.int64))
    if LOGGED:
        tl.store(log_count, n_logged)
