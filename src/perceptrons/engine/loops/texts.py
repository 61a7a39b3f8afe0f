"""Texts by their running idf, for learners with a diagonal covariance: a row is weighed, learned, counted.

What a row needs of each column, the weight, the variance and the count, is gathered first. The row is then
learned in these few numbers by the verbs of all rows (:class:`perceptrons.rows.Near`), and they are put
back. So every number is that of :func:`.confidence.run_rows` on rows that were made ahead
(:mod:`perceptrons.engine.running_idf`). The numbers of a column lie in three arrays, or side by side in one
piece of memory: :class:`Numbers` says where.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...rows import Near, look, sum_of_squares
from ...rules import State
from ..compiler import compiled, confide, helper
from ..look_ahead import look_ahead, request, what_to_ask_for
from ..running_idf import COUNT, idf, ln_next, weighed, with_constant
from .confidence import Diagonal, shift, shrink, variance
from .linear import write_back, write_counts
from .scalars import (
    BAD_SCORE,
    BAD_STEP,
    DONE,
    EXAMPLES,
    LONGEST,
    LOWEST,
    SCALE,
    SCALE_SUM,
    TAU,
    UPDATES,
    N,
)
from .tracks import record_score

if TYPE_CHECKING:
    from ..._types import Floats, Ints, Reals, Record, Unsigned
    from ...rows import Csr
    from .tracks import RecordedScores, Unrecorded

_ONE = np.uint64(1)
#: How many rows ahead the numbers of the columns are asked for.
NEXT = 1


class Numbers(NamedTuple):
    """Weights, variances and counts of columns 0 to ``last``, which is that of the constant.

    Those of column j are ``w[w_step j + w_from]`` and so on: all of them apart, or side by side in records.
    """

    w: np.ndarray
    sigma: np.ndarray
    df: np.ndarray
    last: np.uint64
    w_step: np.uint64 = _ONE
    sigma_step: np.uint64 = _ONE
    df_step: np.uint64 = _ONE
    w_from: np.uint64 = np.uint64(0)
    sigma_from: np.uint64 = np.uint64(0)
    df_from: np.uint64 = np.uint64(0)


def in_records(memory: np.ndarray) -> Numbers:
    """The numbers of records with the fields v, sigma and df."""

    def of(name: str) -> tuple[np.ndarray, np.uint64, np.uint64]:
        found: np.ndarray = memory[name]
        start, width = found.ctypes.data - memory.ctypes.data, found.dtype.itemsize
        return memory.view(found.dtype), np.uint64(memory.itemsize // width), np.uint64(start // width)

    (w, w_step, w_from), (sigma, sigma_step, sigma_from), (df, df_step, df_from) = map(
        of, ("v", "sigma", "df")
    )
    last = np.uint64(len(memory) - 1)
    return Numbers(w, sigma, df, last, w_step, sigma_step, df_step, w_from, sigma_from, df_from)


class Gathered(NamedTuple):
    """Scratch space for one row: its values, and the numbers of its columns, those of the constant last."""

    x: np.ndarray
    w: np.ndarray
    sigma: np.ndarray
    sq: np.ndarray  #: (1,): squared length of the row with its constant


def scratch(longest: int, dtype: np.dtype) -> Gathered:
    """Scratch space for rows of up to so many entries."""
    return Gathered(
        np.zeros(longest, dtype), np.zeros(longest + 1, dtype), np.zeros(longest + 1), np.zeros(1)
    )


@helper
def ask_for(numbers: Numbers, indices: Unsigned, p: np.uint64, stop: np.uint64) -> None:
    """Ask for the memory of the columns at p to stop - 1, which are read soon."""
    apart = numbers.w_step == _ONE
    while p < stop:
        j = np.uint64(indices[p])
        request(numbers.w, numbers.w_step * j)
        if apart:
            request(numbers.sigma, j)
            request(numbers.df, j)
        p += _ONE


@helper
def gather(
    numbers: Numbers,
    data: Reals,
    indices: Unsigned,
    p: np.uint64,
    stop: np.uint64,
    bias: float,
    logs: Floats,
    out: Gathered,
    q: np.uint64,
    q_stop: np.uint64,
) -> None:
    """The row of the entries at p to stop - 1, weighed by the present counts, and its columns' numbers.

    Between its entries the memory of those at q to q_stop - 1 is asked for, which are read soon.
    """
    w, sigma, df, last = numbers.w, numbers.sigma, numbers.df, numbers.last
    ln_n = ln_next(logs, df[numbers.df_step * last + numbers.df_from])
    k = np.uint64(0)
    while p < stop:
        if q < q_stop:
            ask_for(numbers, indices, q, q + _ONE)
            q += _ONE
        j = np.uint64(indices[p])
        out.x[k] = weighed(data[p], idf(ln_n, ln_next(logs, df[numbers.df_step * j + numbers.df_from])))
        out.w[k] = w[numbers.w_step * j + numbers.w_from]
        out.sigma[k] = sigma[numbers.sigma_step * j + numbers.sigma_from]
        k += _ONE
        p += _ONE
    out.w[k] = w[numbers.w_step * last + numbers.w_from]
    out.sigma[k] = sigma[numbers.sigma_step * last + numbers.sigma_from]
    out.sq[0] = with_constant(sum_of_squares(out.x, np.uint64(0), k), bias)
    ask_for(numbers, indices, q, q_stop)


@helper
def put_back(numbers: Numbers, indices: Unsigned, p: np.uint64, stop: np.uint64, out: Gathered) -> None:
    """Weights and variances of a row's columns."""
    k = np.uint64(0)
    while p < stop:
        j = np.uint64(indices[p])
        numbers.w[numbers.w_step * j + numbers.w_from] = out.w[k]
        numbers.sigma[numbers.sigma_step * j + numbers.sigma_from] = out.sigma[k]
        k += _ONE
        p += _ONE
    numbers.w[numbers.w_step * numbers.last + numbers.w_from] = out.w[k]
    numbers.sigma[numbers.sigma_step * numbers.last + numbers.sigma_from] = out.sigma[k]


@helper
def count(numbers: Numbers, indices: Unsigned, p: np.uint64, stop: np.uint64) -> None:
    """Count a text with these columns."""
    df = numbers.df
    while p < stop:
        df[numbers.df_step * np.uint64(indices[p]) + numbers.df_from] += COUNT(1)
        p += _ONE
    df[numbers.df_step * numbers.last + numbers.df_from] += COUNT(1)


#: How many columns ahead memory is asked for where they are copied.
AHEAD = 16


@helper
def ask_for_some(home: Numbers, j: np.uint64) -> None:
    """Ask for the memory of a column in the arrays that are here."""
    if home.w.shape[0] > 0:
        request(home.w, j)
    if home.sigma.shape[0] > 0:
        request(home.sigma, j)
    if home.df.shape[0] > 0:
        request(home.df, j)


@helper
def take_one(numbers: Numbers, s: np.uint64, home: Numbers, j: np.uint64) -> None:
    """The numbers of column s become those of column j at home, where they are here."""
    if home.w.shape[0] > 0:
        numbers.w[numbers.w_step * s + numbers.w_from] = home.w[j]
    if home.sigma.shape[0] > 0:
        numbers.sigma[numbers.sigma_step * s + numbers.sigma_from] = home.sigma[j]
    if home.df.shape[0] > 0:
        numbers.df[numbers.df_step * s + numbers.df_from] = home.df[j]


@helper
def give_one(numbers: Numbers, s: np.uint64, home: Numbers, j: np.uint64) -> None:
    """The other way round."""
    if home.w.shape[0] > 0:
        home.w[j] = numbers.w[numbers.w_step * s + numbers.w_from]
    if home.sigma.shape[0] > 0:
        home.sigma[j] = numbers.sigma[numbers.sigma_step * s + numbers.sigma_from]
    if home.df.shape[0] > 0:
        home.df[j] = numbers.df[numbers.df_step * s + numbers.df_from]


@compiled
def take(numbers: Numbers, columns: Unsigned, home: Numbers, first: int) -> None:
    """Column s of the numbers, from ``first`` on, becomes a copy of column ``columns[s]`` at home.

    Empty arrays are left out. The constant is taken with column 0.
    """
    n = columns.shape[0]
    for s in range(first, n):
        if s + AHEAD < n:
            ask_for_some(home, np.uint64(columns[s + AHEAD]))
        take_one(numbers, np.uint64(s), home, np.uint64(columns[s]))
    if first == 0:
        take_one(numbers, numbers.last, home, home.last)


@compiled
def give(numbers: Numbers, columns: Unsigned, home: Numbers) -> None:
    """Column ``columns[s]`` at home becomes a copy of column s of the numbers; empty arrays are left out."""
    n = columns.shape[0]
    for s in range(n):
        if s + AHEAD < n:
            ask_for_some(home, np.uint64(columns[s + AHEAD]))
        give_one(numbers, np.uint64(s), home, np.uint64(columns[s]))
    give_one(numbers, numbers.last, home, home.last)


@helper
def run_texts(
    rule: Record,
    rows: Csr,
    y: np.ndarray,
    c: Floats,
    order: Ints,
    numbers: Numbers,
    logs: Floats,
    out: Gathered,
    scalars: Floats,
    recorded: RecordedScores | Unrecorded,
    tol: float,
    limit: float,
) -> tuple[int, int]:
    """One pass over ``order``, like :func:`.confidence.run_rows`; returns how it ended, and where.

    ``rows`` have the values before they are weighed. A text is counted when it has been learned.
    """
    norm2 = scalars[N]
    t, k = int(scalars[EXAMPLES]), int(scalars[UPDATES])
    n_mistakes = n_errors = 0
    loss2, lowest, longest = 0.0, scalars[LOWEST], scalars[LONGEST]
    ending = DONE
    at = 0
    asked = what_to_ask_for(rows, order, 0, False)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        p, stop = rows.indptr[i], rows.indptr[i + 1]
        later = order[min(at + NEXT, order.shape[0] - 1)]
        q, q_stop = rows.indptr[later], rows.indptr[later + 1]
        gather(numbers, rows.data, rows.indices, p, stop, rows.bias, logs, out, q, q_stop)
        n = stop - p
        row, w = Near(out.x[:n], out.sq, rows.bias, rows.unit), out.w[: n + _ONE]
        cov = Diagonal(out.sigma[: n + _ONE])
        s = np.float64(look(row, 0, w))
        m = y[i] * s
        v = variance(cov, row, 0)
        if not (isfinite(m) and isfinite(v)):
            ending = BAD_SCORE
            break
        record_score(recorded, at, s)
        alpha, beta = confide(rule, m, v, State(norm2, k, t + 1, 1.0, tol))
        if alpha != 0.0 or beta != 0.0:
            if not alpha * alpha * v <= limit:
                ending = BAD_STEP
                break
            shift(cov, row, 0, alpha * y[i], w)
            shrink(cov, row, 0, beta)
            put_back(numbers, rows.indices, p, stop, out)
            k += 1
        count(numbers, rows.indices, p, stop)
        t += 1
        n_errors += (s > 0.0) != (y[i] > 0.0)
        n_mistakes += m <= 0.0
        lowest = min(lowest, m)
        loss = max(0.0, 1.0 - m)
        loss2 += loss * loss
        longest = max(longest, out.sq[0])
    write_back(scalars, scalars[SCALE], norm2, scalars[TAU], scalars[SCALE_SUM], t, k)
    write_counts(scalars, n_mistakes, n_errors, 0, loss2, 0.0, lowest)
    scalars[LONGEST] = longest
    return ending, at


#: :func:`run_texts`, callable from Python.
run: Any = compiled(run_texts)
