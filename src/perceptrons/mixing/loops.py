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

SPAN = 1024  #: numbers that callers give room for: what is in between stays in the nearest cache


@strict
def join(a: Floats, b: Floats, n: int, out: Floats) -> None:
    for j in range(n):
        out[j] = a[j] + b[j]


@strict
def clear(marks: np.ndarray, n: int) -> None:
    for j in range(n):
        marks[j] = 0


@strict
def add_up(terms: Floats, n: int) -> None:
    """terms[0] <- the sum of all rows, joined two by two; of each the first n numbers."""
    left = terms.shape[0]
    while left > 1:
        pairs = left // 2
        for p in range(pairs):
            join(terms[2 * p], terms[2 * p + 1], n, terms[p])
        if left % 2 == 1:
            copy_numbers(terms[left - 1, :n], terms[pairs])
        left = pairs + left % 2


@strict
def mark(old: Ints, new: Ints, n: int, marks: np.ndarray) -> None:
    """marks[j] is set where the bits of a number differ."""
    for j in range(n):
        marks[j] |= old[j] != new[j]


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


@compiled_strictly
def mix_weights(
    old: Reals,
    new: Reals,
    old_bits: Ints,
    new_bits: Ints,
    mu: Floats,
    terms: Floats,
    marks: np.ndarray,
    out: Reals,
    start: int,
    stop: int,
) -> None:
    """out <- the sum of mu_s new_s where some shard has changed a number; elsewhere the old one.

    ``new`` has a row for each shard. ``terms`` and ``marks`` hold what is mixed at a time.
    """
    span = terms.shape[1]
    for a in range(start, stop, span):
        n = min(span, stop - a)
        clear(marks, n)
        for s in range(new.shape[0]):
            weigh(new[s, a:], mu[s], n, terms[s])
            mark(old_bits[a:], new_bits[s, a:], n, marks)
        add_up(terms, n)
        put(terms[0], marks, old[a:], n, out[a:])


@compiled_strictly
def mix_sums(
    old: Reals,
    new: Reals,
    old_bits: Ints,
    new_bits: Ints,
    old_sum: Floats,
    new_sum: Floats,
    old_sum_bits: Ints,
    new_sum_bits: Ints,
    passed: Floats,
    all_passed: float,
    mixed: Reals,
    terms: Floats,
    marks: np.ndarray,
    out: Floats,
    start: int,
    stop: int,
) -> None:
    """The sums A of averages, kept as ``passed * v + A``: see :mod:`.merging`. ``mixed`` is the mixed v."""
    span = terms.shape[1]
    for a in range(start, stop, span):
        n = min(span, stop - a)
        clear(marks, n)
        for s in range(new.shape[0]):
            weigh_visits(new[s, a:], old[a:], new_sum[s, a:], old_sum[a:], passed[s], n, terms[s])
            mark(old_bits[a:], new_bits[s, a:], n, marks)
            mark(old_sum_bits[a:], new_sum_bits[s, a:], n, marks)
        add_up(terms, n)
        put_sum(terms[0], marks, mixed[a:], old[a:], old_sum[a:], all_passed, n, out[a:])
