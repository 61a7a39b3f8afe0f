r"""Rows whose values are weighed by how rare their columns have been so far: the running idf.

A model of texts counts in how many texts each column has occurred, ``df``, and how many texts there were, n;
the constant coordinate occurs in every text, so n is the last entry of ``df``. The value of a text in column
j is multiplied by

.. math:: \mathrm{idf}_j = 1 + \ln(1 + n) - \ln(1 + \mathrm{df}_j),

by the counts *before* this text. Then the text is learned, and then it is counted. Counts are whole numbers
and depend on nothing but the texts that were learned, in any order. So the rows of some visits are made ahead
(:func:`run`), each by the counts that it will meet, and every loop learns them as plain CSR rows. Texts that
are not learned after all, because the pass has ended by an error, are taken off the counts again.

All paths compute the same numbers: idf in float64, its product with a value rounded to the precision of the
rows, and the squares of these values added up as for all rows. Logarithms of small numbers come from a table.
"""

# An entry of an array is of any type to mypy.
# mypy: no-warn-return-any
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows import Csr, sum_of_squares
from .compiler import compiled, helper, strict
from .intake import EMPTY, frozen
from .look_ahead import look_ahead, request, what_to_ask_for

if TYPE_CHECKING:
    from .._types import Floats, Ints, Reals, Unsigned, UpdateColumns
    from .predictions import Predictions
    from .spaces.protocol import Space

#: Counts are of this type.
COUNT = np.uint32
#: The number of texts stays below this.
MOST_TEXTS = int(np.iinfo(COUNT).max)
#: Numbers below this have their logarithms in the table.
TABLE = 1 << 16

_ONE = np.uint64(1)


#: Those of a learner that counts no texts.
NO_COUNTS = np.empty(0, COUNT)


@cache
def logarithms() -> np.ndarray:
    """ln k for k below :data:`TABLE`; 0 for k = 0, which is not used."""
    return frozen(np.array([0.0, *map(log, range(1, TABLE))]))


def fresh_counts(n_features: int) -> np.ndarray:
    """No text has been counted."""
    return np.zeros(n_features + 1, COUNT)


@helper
def ln_next(logs: Floats, count: np.unsignedinteger[Any]) -> float:
    """ln(1 + count)."""
    k = np.uint64(count) + _ONE
    if k < np.uint64(logs.shape[0]):
        return logs[k]
    return log(np.float64(k))


@strict
def idf(ln_n: float, ln_df: float) -> float:
    """The weight of a column, by ln(1 + n) and ln(1 + df)."""
    return 1.0 + (ln_n - ln_df)


@strict
def weighed(x: float, weight: float) -> float:
    """A value times the weight of its column, in float64."""
    return np.float64(x) * weight


@strict
def with_constant(squares: float, bias: float) -> float:
    """The squared length of a row with its constant coordinate."""
    return squares + bias * bias


@helper
def weigh_entries(
    data: Reals,
    indices: Unsigned,
    p: np.uint64,
    stop: np.uint64,
    df: Unsigned,
    logs: Floats,
    out: Reals,
    at: np.uint64,
) -> None:
    """out[at], out[at + 1], ... = the values at p to stop - 1, weighed by the present counts."""
    ln_n = ln_next(logs, df[-1])
    while p < stop:
        out[at] = weighed(data[p], idf(ln_n, ln_next(logs, df[indices[p]])))
        at += _ONE
        p += _ONE


@helper
def count_entries(indices: Unsigned, p: np.uint64, stop: np.uint64, df: Unsigned) -> None:
    """Count a text with the columns at p to stop - 1."""
    while p < stop:
        df[indices[p]] += COUNT(1)
        p += _ONE
    df[-1] += COUNT(1)


@helper
def uncount_entries(indices: Unsigned, p: np.uint64, stop: np.uint64, df: Unsigned) -> None:
    """Take a text off the counts again."""
    while p < stop:
        df[indices[p]] -= COUNT(1)
        p += _ONE
    df[-1] -= COUNT(1)


@helper
def request_counts(rows: Csr, i: int, df: Unsigned) -> None:
    """Ask for the counts of the columns of row i."""
    p, stop = rows.indptr[i], rows.indptr[i + 1]
    while p < stop:
        request(df, rows.indices[p])
        p += _ONE


@compiled
def weigh_visits(
    rows: Csr, names: Unsigned, c: Floats, order: Ints, df: Unsigned, logs: Floats, made: Csr, counted: Ints
) -> None:
    """Make the rows of the visits in ``order``, each by the counts before it, and count each.

    ``made`` receives them, one after the other, under other ``names`` of the columns, or under the same; a
    row of weight 0 is left empty, and not counted.
    ``counted[0]`` becomes the number of texts that were counted.
    """
    at = np.uint64(0)
    asked = what_to_ask_for(rows, order, 0, False)
    for k in range(order.shape[0]):
        i = order[k]
        if asked.rows:
            look_ahead(rows, order, k, asked.twice)
        if k + 1 < order.shape[0]:
            request_counts(rows, order[k + 1], df)
        made.indptr[k] = at
        made.sq[k] = rows.bias * rows.bias
        if c.shape[0] == 0 or c[i] != 0.0:
            p, stop = rows.indptr[i], rows.indptr[i + 1]
            first, end = at, at + (stop - p)
            weigh_entries(rows.data, rows.indices, p, stop, df, logs, made.data, first)
            while at < end:
                made.indices[at] = names[p + (at - first)]
                at += _ONE
            made.sq[k] = with_constant(sum_of_squares(made.data, first, end), rows.bias)
            count_entries(rows.indices, p, stop, df)
            counted[0] += 1
    made.indptr[order.shape[0]] = at


@compiled
def take_off(rows: Csr, c: Floats, order: Ints, df: Unsigned, counted: Ints, n: int) -> None:
    """Take the texts after the first n off the counts again."""
    seen = 0
    for i in order:
        if seen >= counted[0]:
            break
        if c.shape[0] == 0 or c[i] != 0.0:
            if seen >= n:
                uncount_entries(rows.indices, rows.indptr[i], rows.indptr[i + 1], df)
            seen += 1
    counted[0] = min(counted[0], n)


@compiled
def weigh_all(rows: Csr, df: Unsigned, logs: Floats, data: Reals, sq: Floats) -> None:
    """Fill ``data`` and ``sq`` with all rows by the present counts."""
    for i in range(sq.shape[0]):
        p, stop = rows.indptr[i], rows.indptr[i + 1]
        weigh_entries(rows.data, rows.indices, p, stop, df, logs, data, p)
        sq[i] = with_constant(sum_of_squares(data, p, stop), rows.bias)


def present(rows: Csr, df: np.ndarray) -> Csr:
    """The rows by the present counts, to be scored."""
    data, sq = np.empty(len(rows.data), rows.data.dtype), np.empty(len(rows.sq))
    weigh_all(rows, df, logarithms(), data, sq)
    return rows._replace(data=frozen(data), sq=frozen(sq))


def check_number(df: np.ndarray, more: int) -> None:
    """Refuse more texts than can be counted."""
    if int(df[-1]) + more > MOST_TEXTS:
        raise OverflowError(f"A model counts at most {MOST_TEXTS} texts; fit it anew.")


def n_learned(space: Space) -> list[int]:
    """How many examples each learner has seen."""
    return [learner.counts().examples for learner in space.learners]


def run(
    space: Space,
    rows: Csr,
    y: np.ndarray,
    c: np.ndarray,
    order: np.ndarray,
    predictions: Predictions | None,
    note: Callable[[float], None],
    target: Space | None = None,
    names: np.ndarray | None = None,
) -> list[UpdateColumns]:
    """``space.run`` on the rows by their running idf, in ``order``; the texts that were learned are counted.

    The visits are numbered anew for the loops; errors name the rows as they are in ``rows``. Where some
    learners of one against the rest end before the others, the texts that any of them has learned count.
    ``note`` gets the squared length of the longest row before the rows are learned. The rows are learned by
    ``target``, which has the scalars of the space, where their columns have other ``names``.
    """
    target, names = space if target is None else target, rows.indices if names is None else names
    df = space.df
    assert df is not None
    check_number(df, len(order))
    made, weights = _room(rows, order), frozen(c[order]) if len(c) else EMPTY
    counted, before = np.zeros(1, np.int64), n_learned(space)
    numbers = target.learners[0].row_numbers  # those of a shard, or none
    try:
        weigh_visits(rows, names, c, order, df, logarithms(), made, counted)
        if counted[0]:
            note(float(made.sq.max() if not len(weights) else made.sq[weights > 0.0].max()))
        for learner in target.learners:
            learner.row_numbers = order if numbers is None else numbers[order]
        every = frozen(np.arange(len(order)))
        return target.run(_frozen(made), frozen(y[order]), weights, every, False, predictions)
    finally:
        n = max(after - start for after, start in zip(n_learned(space), before, strict=True))
        if n < counted[0]:  # an interruption, or an error: counts belong to the weights
            take_off(rows, c, order, df, counted, n)
        for learner in target.learners:
            learner.row_numbers = numbers


def _room(rows: Csr, order: np.ndarray) -> Csr:
    """A record for the rows of these visits."""
    pointers = rows.indptr.view(np.int64)
    n = int(np.sum(pointers[order + 1] - pointers[order]))
    return Csr(
        np.empty(n, rows.data.dtype),
        np.empty(n, rows.indices.dtype),
        np.zeros(len(order) + 1, np.uint64),
        np.zeros(len(order)),
        rows.bias,
        rows.unit,
    )


def _frozen(made: Csr) -> Csr:
    return made._replace(
        data=frozen(made.data),
        indices=frozen(made.indices),
        indptr=frozen(made.indptr),
        sq=frozen(made.sq),
    )
