"""Many texts scored under one w, each hashed and scored before the next one: no row leaves the cache."""

from __future__ import annotations

import numpy as np

from .._types import Bytes, Floats, Ints, Reals
from ..engine.compiler import compiled, helper
from ..engine.running_idf import idf, ln_next, weighed, with_constant
from ..rows import Near, look, sum_of_squares
from .loops import DONE, Out, Recipe, Workspace, hash_row, most_entries

_U = np.uint64
_ZERO, _ONE = _U(0), _U(1)


@helper
def gather(out: Out, n: np.uint64, last: np.uint64, logs: Floats, weights: Reals) -> None:
    """Weigh the n values of a row by the counts of its columns, and put their weights beside them.

    The weight of the constant, which is that of column ``last``, comes behind them.
    """
    step, of_df = out.step, out.step - _ONE
    ln_n = ln_next(logs, out.df[step * last + of_df])
    for k in range(n):
        j = step * _U(out.indices[k])
        out.data[k] = weighed(out.data[k], idf(ln_n, ln_next(logs, out.df[j + of_df])))
        weights[k] = out.w[j]
    weights[n] = out.w[step * last]


@compiled
def score_rows(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    logs: Floats,
    row: Near,
    weights: Reals,
    scores: Floats,
    from_row: int,
) -> tuple[int, int, np.uint64]:
    """The scores of texts under w, each hashed, weighed by ``out.df`` and scored before the next one.

    ``row`` is a record of one row in the arrays of ``out``, which never leaves the cache, and ``weights`` has
    room for its weights. Returns as :func:`.loops.hash_rows` does.
    """
    last = recipe.mask + _ONE
    space, most = _U(out.indices.shape[0]), _U(workspace.counts.shape[0])
    for i in range(from_row, starts.shape[0]):
        start, stop = _U(starts[i]), _U(stops[i])
        entries = most_entries(recipe, stop - start)
        if entries > space or entries >= most:
            return DONE, i, start
        ending, at, n = hash_row(recipe, workspace, out, buffer, start, stop, _ZERO)
        if ending != DONE:
            return ending, i, at
        gather(out, n, last, logs, weights)
        row.sq[0] = with_constant(sum_of_squares(out.data, _ZERO, n), row.bias)
        scores[i] = look(Near(out.data[:n], row.sq, row.bias, row.unit), 0, weights[: n + _ONE])
    return DONE, starts.shape[0], _ZERO
