"""What is kept of a run for the readout, and what the readout predicts before a row is learned."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows import look, push
from ..compiler import by_record, dispatch
from .scalars import EXAMPLES, SCALE, SCALE_SUM

if TYPE_CHECKING:
    from ..._types import Floats, Reals
    from ...rows import Rows

# ---------------------------------------------------------------- what is kept for the readout


class Last(NamedTuple):
    """Nothing: the last w predicts."""


class Average(NamedTuple):
    """A, such that (sum of w over the examples) = SCALE_SUM * v + A at every moment."""

    A: np.ndarray


class UnitAverage(NamedTuple):
    """The same for the sum of w/||w||."""

    A: np.ndarray


Track: TypeAlias = Last | Average | UnitAverage


def note(track: Track, rows: Rows, i: int, d: float, scale_sum: float) -> None:
    """Adjust A before d x is added to v."""
    return dispatch(note, track)(track, rows, i, d, scale_sum)


def settle(track: Track, v: Reals, scale_sum: float) -> None:
    """Fold ``scale_sum * v`` into A before v is set to 0 or rescaled."""
    return dispatch(settle, track)(track, v, scale_sum)


def pace(track: Track, scale: float, norm2: float) -> float:
    """Weight of the current w in the running average."""
    return dispatch(pace, track)(track, scale, norm2)


@by_record(note)(Last)
def _note_last(track: Track, rows: Rows, i: int, d: float, scale_sum: float) -> None:
    pass


@by_record(note)(Average, UnitAverage)
def _note_average(track: Average | UnitAverage, rows: Rows, i: int, d: float, scale_sum: float) -> None:
    push(rows, i, -scale_sum * d, track.A)


@by_record(settle)(Last)
def _settle_last(track: Track, v: Reals, scale_sum: float) -> None:
    pass


@by_record(settle)(Average, UnitAverage)
def _settle_average(track: Average | UnitAverage, v: Reals, scale_sum: float) -> None:
    for j in range(v.size):
        track.A.flat[j] += scale_sum * v.flat[j]


@by_record(pace)(Last, Average)
def _pace_plain(track: Track, scale: float, norm2: float) -> float:
    return scale


@by_record(pace)(UnitAverage)
def _pace_unit(track: Track, scale: float, norm2: float) -> float:
    if norm2 > 0.0:
        return scale / sqrt(norm2)
    return 0.0


# ---------------------------------------------------------------- what is predicted before a row is learned


class Unrecorded(NamedTuple):
    """No predictions are kept; nothing of this is left in the machine code: for one row at a time."""


class RecordedScores(NamedTuple):
    """The score of each row, by its position in the pass, under the readout before the row was learned.

    Passes that record nothing are given this record too, so that a loop is compiled once for both.
    """

    score: np.ndarray  #: float64; what was not reached, or has weight 0, stays as it was; empty: none is kept
    unit: bool  #: the last w counts as w/||w||


def record_readout(
    recorded: RecordedScores | Unrecorded,
    track: Track,
    rows: Rows,
    i: int,
    at: int,
    v: Reals,
    raw: float,
    s: float,
    norm2: float,
    scale_sum: float,
    t: int,
) -> None:
    """Record the score of row i, at position ``at``; raw = <v, x>, s = <w, x>, t rows have been learned."""
    return dispatch(record_readout, recorded)(recorded, track, rows, i, at, v, raw, s, norm2, scale_sum, t)


def record_score(recorded: RecordedScores | Unrecorded, at: int, s: float) -> None:
    """The same for learners that have only the last w."""
    return dispatch(record_score, recorded)(recorded, at, s)


def readout_score(
    track: Track, rows: Rows, i: int, v: Reals, raw: float, s: float, scale_sum: float, t: int
) -> float:
    """The score of row i under the readout that is tracked."""
    return dispatch(readout_score, track)(track, rows, i, v, raw, s, scale_sum, t)


@by_record(record_readout)(Unrecorded)
def _record_nothing(
    recorded: Unrecorded,
    track: Track,
    rows: Rows,
    i: int,
    at: int,
    v: Reals,
    raw: float,
    s: float,
    norm2: float,
    scale_sum: float,
    t: int,
) -> None:
    pass


@by_record(record_readout)(RecordedScores)
def _record_row(
    recorded: RecordedScores,
    track: Track,
    rows: Rows,
    i: int,
    at: int,
    v: Reals,
    raw: float,
    s: float,
    norm2: float,
    scale_sum: float,
    t: int,
) -> None:
    if recorded.score.shape[0] > 0:
        score = readout_score(track, rows, i, v, raw, s, scale_sum, t)
        if recorded.unit and norm2 > 0.0:
            score /= sqrt(norm2)
        recorded.score[at] = score


@by_record(record_score)(Unrecorded)
def _record_no_score(recorded: Unrecorded, at: int, s: float) -> None:
    pass


@by_record(record_score)(RecordedScores)
def _record_one_score(recorded: RecordedScores, at: int, s: float) -> None:
    if recorded.score.shape[0] > 0:
        recorded.score[at] = s


@by_record(readout_score)(Last)
def _readout_score_last(
    track: Track, rows: Rows, i: int, v: Reals, raw: float, s: float, scale_sum: float, t: int
) -> float:
    return s


@by_record(readout_score)(Average, UnitAverage)
def _readout_score_average(
    track: Average | UnitAverage, rows: Rows, i: int, v: Reals, raw: float, s: float, scale_sum: float, t: int
) -> float:
    return (scale_sum * raw + look(rows, i, track.A)) / max(1.0, float(t))


def tracked(track: Track, rows: Rows, v: Reals, scalars: Floats) -> float:
    """The score of the first row under the readout that is tracked."""
    return dispatch(tracked, track)(track, rows, v, scalars)


@by_record(tracked)(Last)
def _tracked_last(track: Track, rows: Rows, v: Reals, scalars: Floats) -> float:
    return scalars[SCALE] * look(rows, 0, v)


@by_record(tracked)(Average, UnitAverage)
def _tracked_average(track: Average | UnitAverage, rows: Rows, v: Reals, scalars: Floats) -> float:
    total = scalars[SCALE_SUM] * look(rows, 0, v) + look(rows, 0, track.A)
    return total / max(1.0, scalars[EXAMPLES])
