"""Many texts scored under one w, each hashed and scored before the next one: no row leaves the cache."""

from __future__ import annotations

import numpy as np

from .._types import Bytes, Floats, Ints
from ..engine.compiler import compiled
from ..engine.running_idf import weigh_entries, with_constant
from ..rows import Csr, look, sum_of_squares
from .loops import DONE, Out, Recipe, Workspace, hash_row, most_entries

_U = np.uint64
_ZERO = _U(0)


@compiled
def score_rows(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    logs: Floats,
    row: Csr,
    scores: Floats,
    from_row: int,
) -> tuple[int, int, np.uint64]:
    """The scores of texts under w, each hashed, weighed by ``out.df`` and scored before the next one.

    ``row`` is a record of one row in the arrays of ``out``, which never leaves the cache. Returns as
    :func:`.loops.hash_rows` does.
    """
    space, most = _U(out.indices.shape[0]), _U(workspace.counts.shape[0])
    for i in range(from_row, starts.shape[0]):
        start, stop = _U(starts[i]), _U(stops[i])
        entries = most_entries(recipe, stop - start)
        if entries > space or entries >= most:
            return DONE, i, start
        ending, at, n = hash_row(recipe, workspace, out, buffer, start, stop, _ZERO)
        if ending != DONE:
            return ending, i, at
        weigh_entries(out.data, out.indices, _ZERO, n, out.df, logs, out.data, _ZERO)
        row.indptr[1] = n
        row.sq[0] = with_constant(sum_of_squares(out.data, _ZERO, n), row.bias)
        scores[i] = look(row, 0, out.w)
    return DONE, starts.shape[0], _ZERO
