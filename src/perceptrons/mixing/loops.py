"""Mixing in compiled loops: the sums of :mod:`.merging`, to the bit, where all numbers are here.

A loop reads every number once and holds no lock of Python's, so that threads share the work. Products and
sums are made as they are written, in the order of :func:`.sums.tree`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.compiler import compiled_strictly, strict
from ..engine.copying import copy_numbers

if TYPE_CHECKING:
    from .._types import Floats, Ints, Reals

SPAN = 128  #: numbers that are mixed at a time: all arrays together stay in the nearest cache


@strict
def join(a: Floats, b: Floats, n: int, out: Floats) -> None:
    for j in range(n):
        out[j] = a[j] + b[j]


@strict
def add(b: Floats, n: int, out: Floats) -> None:
    for j in range(n):
        out[j] += b[j]


@strict
def clear(a: np.ndarray, n: int) -> None:
    for j in range(n):
        a[j] = 0


@strict
def add_up(terms: Floats, n: int) -> None:
    """terms[0] <- the sum of all rows, joined two by two; of each the first n numbers."""
    left = terms.shape[0]
    while left > 1:
        pairs = left // 2
        add(terms[1], n, terms[0])  # in its own loop: one that may read what it writes is not vectorised
        for p in range(1, pairs):
            join(terms[2 * p], terms[2 * p + 1], n, terms[p])
        if left % 2 == 1:
            copy_numbers(terms[left - 1, :n], terms[pairs])
        left = pairs + left % 2


@strict
def mark(old: Ints, new: Ints, n: int, marks: np.ndarray) -> bool:
    """Set marks[j] where the bits of a number differ; returns whether there is such a number."""
    n_marked = 0
    for j in range(n):
        differs = old[j] != new[j]
        marks[j] |= differs
        n_marked += differs
    return n_marked > 0


@strict
def mark_all(old: Ints, new: Ints, start: int, n: int, marks: np.ndarray) -> bool:
    """:func:`mark` for n numbers of every shard; ``new`` has a row for each."""
    found = False
    for s in range(new.shape[0]):
        found |= mark(old[start:], new[s, start:], n, marks)
    return found


@strict
def hand_out(numbers: Reals, rows: Reals, start: int, n: int) -> None:
    """Write n numbers to the row of every shard."""
    for s in range(rows.shape[0]):
        copy_numbers(numbers[start : start + n], rows[s, start:])


@strict
def add_squares(v: Reals, n: int, squares: Floats) -> None:
    for j in range(n):
        squares[j] += np.float64(v[j]) * np.float64(v[j])


@strict
def sum_of(a: Floats) -> float:
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j]
    return total


@strict
def weigh(new: Reals, mu: float, n: int, out: Floats) -> None:
    for j in range(n):
        out[j] = mu * np.float64(new[j])


@strict
def put(total: Floats, marks: np.ndarray, old: Reals, n: int, out: Reals) -> None:
    for j in range(n):
        out[j] = old.dtype.type(total[j]) if marks[j] != 0 else old[j]


@strict
def weigh_visits(
    new: Reals, old: Reals, new_sum: Floats, old_sum: Floats, passed: float, n: int, out: Floats
) -> None:
    for j in range(n):
        moved = np.float64(new[j]) - np.float64(old[j])
        out[j] = passed * moved + (new_sum[j] - old_sum[j])


@strict
def put_sum(
    total: Floats,
    marks: np.ndarray,
    mixed: Reals,
    old: Reals,
    old_sum: Floats,
    passed: float,
    n: int,
    out: Floats,
) -> None:
    for j in range(n):
        added = total[j] - passed * (np.float64(mixed[j]) - np.float64(old[j]))
        out[j] = old_sum[j] + added if marks[j] != 0 else old_sum[j]


@strict
def mix_span(
    old: Reals,
    new: Reals,
    mu: Floats,
    terms: Floats,
    marks: np.ndarray,
    out: Reals,
    start: int,
    n: int,
) -> None:
    """out <- the sum of mu_s new_s for n numbers, where they are marked; elsewhere the old one."""
    for s in range(new.shape[0]):
        weigh(new[s, start:], mu[s], n, terms[s])
    add_up(terms, n)
    put(terms[0], marks, old[start:], n, out[start:])


@compiled_strictly
def mix_weights(
    old: Reals,
    new: Reals,
    old_bits: Ints,
    new_bits: Ints,
    mu: Floats,
    terms: Floats,
    marks: np.ndarray,
    squares: Floats,
    out: Reals,
    start: int,
    stop: int,
) -> float:
    """out <- the sum of mu_s new_s where some shard has changed a number; elsewhere the old one.

    ``new`` has a row for each shard, and all rows become the same. ``terms``, ``marks`` and ``squares``
    hold what is in between. Returns the sum of the squares of these numbers.
    """
    span = terms.shape[1]
    clear(squares, span)
    for a in range(start, stop, span):
        n = min(span, stop - a)
        clear(marks, n)
        if mark_all(old_bits, new_bits, a, n, marks):
            mix_span(old, new, mu, terms, marks, out, a, n)
            hand_out(out, new, a, n)
        else:
            copy_numbers(old[a : a + n], out[a:])
        add_squares(out[a:], n, squares)
    return sum_of(squares)


@compiled_strictly
def mix_averages(
    old: Reals,
    new: Reals,
    old_bits: Ints,
    new_bits: Ints,
    mu: Floats,
    terms: Floats,
    marks: np.ndarray,
    squares: Floats,
    out: Reals,
    start: int,
    stop: int,
    old_sum: Floats,
    new_sum: Floats,
    old_sum_bits: Ints,
    new_sum_bits: Ints,
    passed: Floats,
    all_passed: float,
    out_sum: Floats,
) -> float:
    """:func:`mix_weights`, and the sums A of averages, kept as ``passed * v + A``: see :mod:`.merging`."""
    span = terms.shape[1]
    clear(squares, span)
    for a in range(start, stop, span):
        n = min(span, stop - a)
        clear(marks, n)
        moved = mark_all(old_bits, new_bits, a, n, marks)
        if moved:
            mix_span(old, new, mu, terms, marks, out, a, n)
        else:
            copy_numbers(old[a : a + n], out[a:])
        if mark_all(old_sum_bits, new_sum_bits, a, n, marks) or moved:
            for s in range(new.shape[0]):
                weigh_visits(new[s, a:], old[a:], new_sum[s, a:], old_sum[a:], passed[s], n, terms[s])
            add_up(terms, n)
            put_sum(terms[0], marks, out[a:], old[a:], old_sum[a:], all_passed, n, out_sum[a:])
            hand_out(out, new, a, n)
            hand_out(out_sum, new_sum, a, n)
        else:
            copy_numbers(old_sum[a : a + n], out_sum[a:])
        add_squares(out[a:], n, squares)
    return sum_of(squares)


@compiled_strictly
def squared_length(v: Reals, squares: Floats, start: int, stop: int) -> float:
    """The sum that :func:`mix_weights` returns; ``squares`` is overwritten."""
    span = squares.shape[0]
    clear(squares, span)
    for a in range(start, stop, span):
        add_squares(v[a:], min(span, stop - a), squares)
    return sum_of(squares)
