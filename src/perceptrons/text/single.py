"""One text at a time: hashed, then learned or scored, in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Floats, Reals, Record, Unsigned
from ..engine.compiler import compiled, helper
from ..engine.loops import linear, tracks
from ..engine.loops.scalars import BUSY, ERRORS, LONGEST
from ..rows import Csr
from .loops import DONE, Out, Recipe, Workspace, hash_row, most_entries

_U = np.uint64


@helper
def hash_one(
    recipe: Recipe, workspace: Workspace, out: Out, text: Any, row_buffer: Floats, pointers: Unsigned
) -> tuple[bool, Csr]:
    """One text (bytes) as the only row of a record; return (whether it succeeded, the record).

    The squared length is put in the row buffer. It fails for a text that is too long, or that has characters
    outside of the tables of the recipe: then the caller learns it as a batch of one.
    """
    size = _U(len(text))
    entries = most_entries(recipe, size)
    fine = entries <= _U(out.indices.shape[0]) and entries < _U(workspace.counts.shape[0])
    n = _U(0)
    if fine:
        ending, _, n = hash_row(recipe, workspace, out, text, _U(0), size, _U(0))
        fine = ending == DONE
    bias = row_buffer[linear.BUFFER_BIAS]
    total = bias * bias
    for p in range(n):
        total += np.float64(out.data[p]) * np.float64(out.data[p])
    row_buffer[1] = total
    pointers[1] = n
    return fine, Csr(
        out.data, out.indices, pointers, row_buffer[1:2], bias, row_buffer[linear.BUFFER_UNIT] != 0.0
    )


@compiled
def learn_text(
    rule: Record,
    text: bytes,
    y: float,
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    v: Reals,
    track: tracks.Track,
    scalars: Floats,
    row_buffer: Floats,
    pointers: Unsigned,
) -> int:
    """:func:`.linear.run_rows` for one text; returns how it ended, BUSY for a refusal."""
    if not linear.take(row_buffer, linear.LEARNING):
        return BUSY
    fine, rows = hash_one(recipe, workspace, out, text, row_buffer, pointers)
    if not fine:
        linear.leave(row_buffer, linear.LEARNING)
        return BUSY
    row_buffer[0] = y
    none = row_buffer[:0]
    wrong, errors = linear.wrong_before(track, rows, y, v, scalars, row_buffer), scalars[ERRORS]
    ended = linear.run_rows(
        rule,
        rows,
        row_buffer[0:1],
        none,
        row_buffer[2:3].view(np.int64),  # holds 0: the only row
        v,
        v.shape[0],
        track,
        scalars,
        linear.Log(none.view(np.int64), none.view(np.int64), none, none.reshape((0, 1))),
        none,
        tracks.Unrecorded(),
        row_buffer[linear.BUFFER_PREDICTION] != 0.0,
        row_buffer[linear.BUFFER_TOL],
        row_buffer[linear.BUFFER_LIMIT],
    )
    if ended[0] == DONE:
        linear.count_one(row_buffer, wrong, scalars[ERRORS] - errors)
    scalars[LONGEST] = max(scalars[LONGEST], row_buffer[1])
    linear.leave(row_buffer, linear.LEARNING)
    return ended[0]


@compiled
def score_text(
    text: bytes,
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    v: Reals,
    track: tracks.Track,
    scalars: Floats,
    row_buffer: Floats,
    pointers: Unsigned,
) -> float:
    """<w, x> of one text, of the readout that is tracked; NaN for a refusal.

    It writes to the row buffer of a learner, so it takes the lock of the buffer as a learner does.
    """
    if not linear.take(row_buffer, linear.SCORING):
        return np.nan
    fine, rows = hash_one(recipe, workspace, out, text, row_buffer, pointers)
    score = np.nan
    if fine:
        score = tracks.tracked(track, rows, v, scalars)
    linear.leave(row_buffer, linear.SCORING)
    return score
