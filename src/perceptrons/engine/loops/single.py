"""One row at a time, by the loops that learn all rows: an array, or named features by their places.

A *core* is what one learner needs: its rule, its weights, its scalars. A row comes as an array, or as two
bytes objects: the places of its features (int64) and their values (float64), in any order.
"""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows import Csr, Dense, factor, look, sum_of_squares
from ..compiler import by_record, compiled, dispatch, helper
from ..packed import float_at, whole_at
from . import confidence, multiclass
from .linear import (
    BUFFER_BIAS,
    BUFFER_COUNT,
    BUFFER_LIMIT,
    BUFFER_PREDICTION,
    BUFFER_TOL,
    BUFFER_UNIT,
    BY_READOUT,
    LEARNING,
    TINY,
    Log,
    count_one,
    leave,
    run_rows,
    take,
    vanishes,
    wrong_before,
)
from .scalars import BAD_SCORE, BUSY, DONE, ERRORS, EXAMPLES, LONGEST, SCALE, SCALE_SUM
from .tracks import Average, Last, UnitAverage, Unrecorded

if TYPE_CHECKING:
    from ..._types import Floats, Reals, Record, Unsigned
    from ...rows import Rows
    from .tracks import Track

#: Values from here on may be whole numbers that a float does not hold: the path for all rows checks them.
LARGEST = 2.0**53


class LinearCore(NamedTuple):
    """One w."""

    rule: Record
    v: np.ndarray
    track: Track
    scalars: np.ndarray


class ConfidentCore(NamedTuple):
    """w with a covariance."""

    rule: Record
    v: np.ndarray
    cov: confidence.Covariance
    track: Last
    scalars: np.ndarray


class JointCore(NamedTuple):
    """Prototypes of several classes."""

    rule: Record
    scheme: multiclass.Scheme
    v: np.ndarray
    track: Track
    scalars: np.ndarray
    work: multiclass.Work
    true: np.ndarray
    spare: np.ndarray


class Scratch(NamedTuple):
    """Arrays for one sparse row; only the thread that has taken the row buffer uses them."""

    indices: np.ndarray  #: uint64
    data: np.ndarray  #: float64
    pointers: np.ndarray  #: uint64: 0 and the number of entries


Core: TypeAlias = LinearCore | ConfidentCore | JointCore

# ---------------------------------------------------------------- learning


def run_one(core: Core, rows: Rows, y: float, row_buffer: Floats) -> int:
    """One pass over the only row, of label y; return how it ended."""
    return dispatch(run_one, core)(core, rows, y, row_buffer)


@by_record(run_one)(LinearCore)
def _run_linear(core: LinearCore, rows: Rows, y: float, row_buffer: Floats) -> int:
    row_buffer[0] = y
    none = row_buffer[:0]
    ended = run_rows(
        core.rule,
        rows,
        row_buffer[0:1],
        none,
        row_buffer[2:3].view(np.int64),  # holds 0: the only row
        core.v,
        core.v.shape[0],
        core.track,
        core.scalars,
        Log(none.view(np.int64), none.view(np.int64), none, none.reshape((0, 1))),
        none,
        Unrecorded(),
        row_buffer[BUFFER_PREDICTION] != 0.0,
        row_buffer[BUFFER_TOL],
        row_buffer[BUFFER_LIMIT],
    )
    return ended[0]


@by_record(run_one)(ConfidentCore)
def _run_confident(core: ConfidentCore, rows: Rows, y: float, row_buffer: Floats) -> int:
    row_buffer[0] = y
    none = row_buffer[:0]
    ended = confidence.run_rows(
        core.rule,
        rows,
        row_buffer[0:1],
        none,
        row_buffer[2:3].view(np.int64),
        core.v,
        core.cov,
        core.scalars,
        Log(none.view(np.int64), none.view(np.int64), none, none.reshape((0, 1))),
        Unrecorded(),
        row_buffer[BUFFER_TOL],
        row_buffer[BUFFER_LIMIT],
    )
    return ended[0]


@by_record(run_one)(JointCore)
def _run_joint(core: JointCore, rows: Rows, y: float, row_buffer: Floats) -> int:
    label = row_buffer[0:1].view(np.int64)
    label[0] = int(y)
    none = row_buffer[:0]
    ended = multiclass.run_rows(
        core.rule,
        core.scheme,
        rows,
        label,
        none,
        row_buffer[2:3].view(np.int64),
        core.v,
        core.v.shape[0],
        core.track,
        core.scalars,
        Log(none.view(np.int64), none.view(np.int64), none, none.reshape((0, 1))),
        none.reshape((0, 1)),
        Unrecorded(),
        core.work,
        core.true,
        row_buffer[BUFFER_PREDICTION] != 0.0,
        row_buffer[BUFFER_TOL],
        row_buffer[BUFFER_LIMIT],
    )
    return ended[0]


def mistaken(core: Core, rows: Rows, y: float, row_buffer: Floats) -> float:
    """1 where the readout that is tracked predicts the only row wrongly, if that is counted."""
    return dispatch(mistaken, core)(core, rows, y, row_buffer)


@by_record(mistaken)(LinearCore, ConfidentCore)
def _mistaken_of_two(core: LinearCore | ConfidentCore, rows: Rows, y: float, row_buffer: Floats) -> float:
    return wrong_before(core.track, rows, y, core.v, core.scalars, row_buffer)


@by_record(mistaken)(JointCore)
def _mistaken_of_several(core: JointCore, rows: Rows, y: float, row_buffer: Floats) -> float:
    if row_buffer[BUFFER_COUNT] != BY_READOUT:
        return 0.0
    scalars, work = core.scalars, core.work
    multiclass.look_all(rows, 0, core.v, work.s)
    multiclass.look_at_average(core.track, rows, 0, core.spare)
    multiple = factor(rows, 0)
    best, highest = -1, 0.0
    for r in range(core.true.shape[0]):
        j = work.slots[r]
        raw = multiple * work.s[j]
        s = multiclass.readout_score_of(
            core.track,
            scalars[SCALE] * raw,
            raw,
            multiple * core.spare[j],
            scalars[SCALE_SUM],
            scalars[EXAMPLES],
        )
        if best < 0 or s > highest:
            best, highest = r, s
    return 1.0 if best != int(y) else 0.0


@helper
def counted(core: Core, rows: Rows, y: float, row_buffer: Floats) -> int:
    """:func:`run_one`, with what is counted of a row; how it ended."""
    wrong, errors = mistaken(core, rows, y, row_buffer), core.scalars[ERRORS]
    ending = run_one(core, rows, y, row_buffer)
    if ending == DONE:
        count_one(row_buffer, wrong, core.scalars[ERRORS] - errors)
        core.scalars[LONGEST] = max(core.scalars[LONGEST], row_buffer[1])
    return ending


@helper
def square(x: Reals) -> float:
    return sum_of_squares(x, np.uint64(0), np.uint64(x.shape[0]))


@compiled
def learn_dense(core: Core, x: Reals, y: float, row_buffer: Floats) -> int:
    """Learn one array; return how it ended.

    BUSY: another thread uses the row_buffer, or the row_buffer is closed; nothing has changed.
    """
    if not take(row_buffer, LEARNING):
        return BUSY
    bias = row_buffer[BUFFER_BIAS]
    row_buffer[1] = square(x) + bias * bias
    ending = BAD_SCORE
    if isfinite(row_buffer[1]) and (
        row_buffer[1] >= TINY or vanishes(x)
    ):  # else its square is 0, and it is not
        row = Dense(x.reshape((1, x.shape[0])), row_buffer[1:2], bias, row_buffer[BUFFER_UNIT] != 0.0)
        ending = counted(core, row, y, row_buffer)
    leave(row_buffer, LEARNING)
    return ending


@helper
def sort_entries(indices: Unsigned, data: Floats, n: int) -> None:
    """By index, in place: comb sort."""
    gap, swapped = n, True
    while gap > 1 or swapped:
        gap = max(1, (gap * 10) // 13)
        swapped = False
        for j in range(n - gap):
            if indices[j] > indices[j + gap]:
                indices[j], indices[j + gap] = indices[j + gap], indices[j]
                data[j], data[j + gap] = data[j + gap], data[j]
                swapped = True


@helper
def gathered(places: bytes, values: bytes, n_features: int, scratch: Scratch) -> bool:
    """Write a row to the scratch space, its features ascending; return whether nothing is wrong with it."""
    n = len(values) // 8
    if len(places) != len(values) or n > scratch.data.shape[0]:
        return False
    before, ascending = -1, True
    for j in range(n):
        place, x = whole_at(places, j), float_at(values, j)
        if place < 0 or place >= n_features or not abs(x) < LARGEST:  # unknown; or NaN, or too large
            return False
        ascending = ascending and place > before
        before = place
        scratch.indices[j] = place
        scratch.data[j] = x
    if not ascending:
        sort_entries(scratch.indices, scratch.data, n)
        for j in range(1, n):
            if scratch.indices[j] == scratch.indices[j - 1]:
                return False
    scratch.pointers[1] = n
    return True


@compiled
def learn_named(
    core: Core, places: bytes, values: bytes, y: float, scratch: Scratch, row_buffer: Floats
) -> int:
    """Learn one row of named features; return how it ended, like :func:`learn_dense`."""
    if not take(row_buffer, LEARNING):
        return BUSY
    ending = BAD_SCORE
    if gathered(places, values, core.v.shape[0] - 1, scratch):
        bias = row_buffer[BUFFER_BIAS]
        x = scratch.data[: scratch.pointers[1]]
        row_buffer[1] = square(x) + bias * bias
        if row_buffer[1] >= TINY or vanishes(x):
            row = Csr(
                scratch.data,
                scratch.indices,
                scratch.pointers,
                row_buffer[1:2],
                bias,
                row_buffer[BUFFER_UNIT] != 0.0,
            )
            ending = counted(core, row, y, row_buffer)
    leave(row_buffer, LEARNING)
    return ending


# ---------------------------------------------------------------- scoring: the row_buffer is read only


@helper
def length(total: float, row_buffer: Floats) -> float:
    """What a score is divided by: the length of the augmented row, where rows have length 1."""
    total += row_buffer[BUFFER_BIAS] * row_buffer[BUFFER_BIAS]
    return sqrt(total) if row_buffer[BUFFER_UNIT] != 0.0 and total > 0.0 else 1.0


def combined(track: Track, scalars: Floats, s_v: float, s_A: float) -> float:
    """The score by the readout that is tracked, from the products with v and with A."""
    return dispatch(combined, track)(track, scalars, s_v, s_A)


@by_record(combined)(Last)
def _last(track: Track, scalars: Floats, s_v: float, s_A: float) -> float:
    return scalars[SCALE] * s_v


@by_record(combined)(Average, UnitAverage)
def _average(track: Average | UnitAverage, scalars: Floats, s_v: float, s_A: float) -> float:
    return (scalars[SCALE_SUM] * s_v + s_A) / max(1.0, scalars[EXAMPLES])


# products with A, where the readout needs it: of an array, of named features; with one column, with several


def look_A(track: Track, row: Dense) -> float:
    return dispatch(look_A, track)(track, row)


def product_A(track: Track, places: bytes, values: bytes, bias: float) -> float:
    return dispatch(product_A, track)(track, places, values, bias)


def look_all_A(track: Track, row: Dense, s: Reals) -> None:
    return dispatch(look_all_A, track)(track, row, s)


def products_A(track: Track, places: bytes, values: bytes, bias: float, s: Reals) -> None:
    return dispatch(products_A, track)(track, places, values, bias, s)


@by_record(look_A)(Last)
def _no_look(track: Track, row: Dense) -> float:
    return 0.0


@by_record(look_A)(Average, UnitAverage)
def _look(track: Average | UnitAverage, row: Dense) -> float:
    return look(row, 0, track.A)


@by_record(product_A)(Last)
def _no_product(track: Track, places: bytes, values: bytes, bias: float) -> float:
    return 0.0


@by_record(product_A)(Average, UnitAverage)
def _product(track: Average | UnitAverage, places: bytes, values: bytes, bias: float) -> float:
    total, _ = product(places, values, track.A, bias)
    return total


@by_record(look_all_A)(Last)
def _no_looks(track: Track, row: Dense, s: Reals) -> None:
    pass


@by_record(look_all_A)(Average, UnitAverage)
def _looks(track: Average | UnitAverage, row: Dense, s: Reals) -> None:
    multiclass.look_all(row, 0, track.A, s)


@by_record(products_A)(Last)
def _no_products(track: Track, places: bytes, values: bytes, bias: float, s: Reals) -> None:
    pass


@by_record(products_A)(Average, UnitAverage)
def _products(track: Average | UnitAverage, places: bytes, values: bytes, bias: float, s: Reals) -> None:
    products(places, values, track.A, bias, s)


@helper
def product(places: bytes, values: bytes, w: Reals, bias: float) -> tuple[float, float]:
    """(<w, x>, ||x||^2) over the features that are known; NaN where a place is none."""
    total, squares = bias * w[-1], 0.0
    for j in range(len(values) // 8):
        place, x = whole_at(places, j), float_at(values, j)
        if place >= w.shape[0] - 1:
            return nan, nan
        if place >= 0:
            total += x * w[place]
            squares += x * x
    return total, squares


@helper
def products(places: bytes, values: bytes, W: Reals, bias: float, s: Reals) -> float:
    """The same with all columns of W; return ||x||^2."""
    squares = 0.0
    for r in range(s.shape[0]):
        s[r] = bias * W[W.shape[0] - 1, r]
    for j in range(len(values) // 8):
        place, x = whole_at(places, j), float_at(values, j)
        if place >= W.shape[0] - 1:
            return nan
        if place >= 0:
            squares += x * x
            for r in range(s.shape[0]):
                s[r] += x * W[place, r]
    return squares


@compiled
def score_dense(core: LinearCore | ConfidentCore, x: Reals, row_buffer: Floats) -> float:
    """<w, x> of an array, by the readout that is tracked."""
    row = Dense(x.reshape((1, x.shape[0])), row_buffer[:1], row_buffer[BUFFER_BIAS], False)
    s_v, s_A = look(row, 0, core.v), look_A(core.track, row)
    return combined(core.track, core.scalars, s_v, s_A) / length(square(x), row_buffer)


@compiled
def score_named(core: LinearCore | ConfidentCore, places: bytes, values: bytes, row_buffer: Floats) -> float:
    """<w, x> of a row of named features; those with a negative place are not known, and have no weight."""
    if len(places) != len(values):
        return nan
    bias = row_buffer[BUFFER_BIAS]
    s_v, squares = product(places, values, core.v, bias)
    s_A = product_A(core.track, places, values, bias)
    return combined(core.track, core.scalars, s_v, s_A) / length(squares, row_buffer)


@helper
def settled(core: JointCore, s_v: Reals, s_A: Floats, divisor: float, out: Floats) -> int:
    """Scores of all classes into ``out``; return the class, -1 where a score is not finite."""
    best = 0
    for r in range(out.shape[0]):
        j = core.work.slots[r]
        out[r] = combined(core.track, core.scalars, np.float64(s_v[j]), s_A[j]) / divisor
        if not isfinite(out[r]):
            return -1
        if out[r] > out[best]:
            best = r
    return best


@compiled
def scores_dense(core: JointCore, x: Reals, s_v: Reals, s_A: Floats, out: Floats, row_buffer: Floats) -> int:
    """Scores of all classes, and the class, of an array. ``s_v`` and ``s_A`` are scratch space."""
    row = Dense(x.reshape((1, x.shape[0])), row_buffer[:1], row_buffer[BUFFER_BIAS], False)
    multiclass.look_all(row, 0, core.v, s_v)
    look_all_A(core.track, row, s_A)
    return settled(core, s_v, s_A, length(square(x), row_buffer), out)


@compiled
def scores_named(
    core: JointCore, places: bytes, values: bytes, s_v: Reals, s_A: Floats, out: Floats, row_buffer: Floats
) -> int:
    """Scores of all classes, and the class, of a row of named features."""
    if len(places) != len(values):
        return -1
    bias = row_buffer[BUFFER_BIAS]
    squares = products(places, values, core.v, bias, s_v)
    products_A(core.track, places, values, bias, s_A)
    return settled(core, s_v, s_A, length(squares, row_buffer), out)
