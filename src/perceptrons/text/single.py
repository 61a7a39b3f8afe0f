"""One text at a time: hashed, then learned or scored, in one compiled call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Floats
from ..engine.compiler import compiled, helper
from ..engine.loops import linear, tracks
from ..engine.loops.scalars import BUSY
from ..engine.loops.single import ConfidentCore, LinearCore, counted
from ..engine.running_idf import MOST_TEXTS, count_entries, weigh_entries, with_constant
from ..rows import Csr, sum_of_squares
from .loops import DONE, Out, Recipe, Workspace, hash_row, most_entries

_U = np.uint64
_NONE = _U(0)


class OneText(NamedTuple):
    """What the calls for one text share; only the thread that has taken the row buffer writes to it."""

    recipe: Recipe
    workspace: Workspace
    out: Out
    pointers: np.ndarray  #: uint64: 0 and the number of entries
    df: np.ndarray  #: texts that had each column, and all texts, see running_idf; empty without idf
    logs: np.ndarray  #: logarithms of whole numbers; empty without idf


@helper
def hash_one(one: OneText, text: Any, row_buffer: Floats) -> tuple[bool, Csr]:
    """One text (bytes) as the only row of a record; return (whether it succeeded, the record).

    Its values are weighed by the present counts, where there are any, and the squared length is put in the
    row buffer. It fails for a text that is too long, or that has characters outside of the tables of the
    recipe: then the caller learns it as a batch of one.
    """
    out, size = one.out, _U(len(text))
    entries = most_entries(one.recipe, size)
    fine = entries <= _U(out.indices.shape[0]) and entries < _U(one.workspace.counts.shape[0])
    n = _NONE
    if fine:
        ending, _, n = hash_row(one.recipe, one.workspace, out, text, _NONE, size, _NONE)
        fine = ending == DONE
    if one.df.shape[0] > 0:
        weigh_entries(out.data, out.indices, _NONE, n, one.df, one.logs, out.data, _NONE)
    bias = float(row_buffer[linear.BUFFER_BIAS])
    row_buffer[1] = with_constant(sum_of_squares(out.data, _NONE, n), bias)
    one.pointers[1] = n
    unit = row_buffer[linear.BUFFER_UNIT] != 0.0
    return fine, Csr(out.data, out.indices, one.pointers, row_buffer[1:2], bias, unit)


@compiled
def learn_text(
    core: LinearCore | ConfidentCore, text: bytes, y: float, one: OneText, row_buffer: Floats
) -> int:
    """Learn one text, and count it; returns how it ended, BUSY for a refusal."""
    if not linear.take(row_buffer, linear.LEARNING):
        return BUSY
    ending = BUSY
    if one.df.shape[0] == 0 or one.df[-1] < MOST_TEXTS:
        fine, rows = hash_one(one, text, row_buffer)
        if fine:
            ending = counted(core, rows, y, row_buffer)
            if ending == DONE and one.df.shape[0] > 0:
                count_entries(rows.indices, _NONE, one.pointers[1], one.df)
    linear.leave(row_buffer, linear.LEARNING)
    return ending


@compiled
def score_text(core: LinearCore | ConfidentCore, text: bytes, one: OneText, row_buffer: Floats) -> float:
    """<w, x> of one text, of the readout that is tracked; NaN for a refusal.

    It writes to the row buffer of a learner, so it takes the lock of the buffer as a learner does.
    """
    if not linear.take(row_buffer, linear.SCORING):
        return np.nan
    fine, rows = hash_one(one, text, row_buffer)
    score = np.nan
    if fine:
        score = tracks.tracked(core.track, rows, core.v, core.scalars)
    linear.leave(row_buffer, linear.SCORING)
    return score
