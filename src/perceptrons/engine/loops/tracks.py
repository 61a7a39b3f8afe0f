"""What is kept of a run for the readout, and what the readout predicts before a row is learned."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...rows import look, push
from ..compiler import by_record, dispatch
from .scalars import EXAMPLES, SCALE, SCALE_SUM

# ---------------------------------------------------------------- what is kept for the readout


class Last(NamedTuple):
    """Nothing: the last w predicts."""


class Average(NamedTuple):
    """A, such that (sum of w over the examples) = SCALE_SUM * v + A at every moment."""

    A: np.ndarray


class UnitAverage(NamedTuple):
    """The same for the sum of w/||w||."""

    A: np.ndarray


def note(track, rows, i, d, scale_sum):
    """v is about to grow by d x."""
    return dispatch(note, track)(track, rows, i, d, scale_sum)


def settle(track, v, scale_sum):
    """v is about to be set to 0, or to be multiplied out."""
    return dispatch(settle, track)(track, v, scale_sum)


def pace(track, scale, norm2):
    """Weight of the current w in the running average."""
    return dispatch(pace, track)(track, scale, norm2)


@by_record(note)(Last)
def _note_last(track, rows, i, d, scale_sum):
    pass


@by_record(note)(Average, UnitAverage)
def _note_average(track, rows, i, d, scale_sum):
    push(rows, i, -scale_sum * d, track.A)


@by_record(settle)(Last)
def _settle_last(track, v, scale_sum):
    pass


@by_record(settle)(Average, UnitAverage)
def _settle_average(track, v, scale_sum):
    for j in range(v.size):
        track.A.flat[j] += scale_sum * v.flat[j]


@by_record(pace)(Last, Average)
def _pace_plain(track, scale, norm2):
    return scale


@by_record(pace)(UnitAverage)
def _pace_unit(track, scale, norm2):
    if norm2 > 0.0:
        return scale / sqrt(norm2)
    return 0.0


# ---------------------------------------------------------------- what is predicted before a row is learned


class Unheard(NamedTuple):
    """Nobody asks; nothing of this is left in the machine code."""


class Heard(NamedTuple):
    """The score of each row, by its position in the pass, under the readout before the row was learned."""

    score: np.ndarray  #: float64; what was not reached, or has weight 0, stays as it was
    unit: bool  #: the last w counts as w/||w||


def hear(heard, track, rows, i, at, v, raw, s, norm2, scale_sum, t):
    """Row i comes at position ``at``; raw = <v, x>, s = <w, x>, and t rows have been learned."""
    return dispatch(hear, heard)(heard, track, rows, i, at, v, raw, s, norm2, scale_sum, t)


def hear_score(heard, at, s):
    """The same for learners that have only the last w."""
    return dispatch(hear_score, heard)(heard, at, s)


def foretold(track, rows, i, v, raw, s, scale_sum, t):
    """The score of row i under the readout that is tracked."""
    return dispatch(foretold, track)(track, rows, i, v, raw, s, scale_sum, t)


@by_record(hear)(Unheard)
def _hear_nothing(heard, track, rows, i, at, v, raw, s, norm2, scale_sum, t):
    pass


@by_record(hear)(Heard)
def _hear_row(heard, track, rows, i, at, v, raw, s, norm2, scale_sum, t):
    score = foretold(track, rows, i, v, raw, s, scale_sum, t)
    if heard.unit and norm2 > 0.0:
        score /= sqrt(norm2)
    heard.score[at] = score


@by_record(hear_score)(Unheard)
def _hear_no_score(heard, at, s):
    pass


@by_record(hear_score)(Heard)
def _hear_score(heard, at, s):
    heard.score[at] = s


@by_record(foretold)(Last)
def _foretold_last(track, rows, i, v, raw, s, scale_sum, t):
    return s


@by_record(foretold)(Average, UnitAverage)
def _foretold_average(track, rows, i, v, raw, s, scale_sum, t):
    return (scale_sum * raw + look(rows, i, track.A)) / max(1.0, float(t))


def tracked(track, rows, v, scalars):
    """The score of the first row under the readout that is tracked."""
    return dispatch(tracked, track)(track, rows, v, scalars)


@by_record(tracked)(Last)
def _tracked_last(track, rows, v, scalars):
    return scalars[SCALE] * look(rows, 0, v)


@by_record(tracked)(Average, UnitAverage)
def _tracked_average(track, rows, v, scalars):
    total = scalars[SCALE_SUM] * look(rows, 0, v) + look(rows, 0, track.A)
    return total / max(1.0, scalars[EXAMPLES])
