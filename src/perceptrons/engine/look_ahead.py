"""Memory that is asked for before it is read.

The order in which rows are visited is known, and the processor cannot guess it: :func:`look_ahead` asks for
the memory of the row that comes a few rows later, and :func:`look_ahead_at` for the weights that it reads.
What to ask for, and how far ahead, depends on the processor (:mod:`.prefetch`). Nothing of it changes a
number, and in plain Python it does nothing.
"""

# An entry of an array is of any type to mypy.
# mypy: no-warn-return-any
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..rows import (
    VERBS,
    Block,
    Csr,
    Dense,
    Packed,
    Rows,
    begin,
    chosen,
    end,
    packed_start,
    packed_values,
)

if TYPE_CHECKING:
    from .._types import Reals

#: How many rows ahead memory is asked for, where few rows are enough and elsewhere.
NEAR, FAR = 4, 8
#: So many rows less for dense rows that follow each other in memory.
FEWER = 4
#: At least so many rows ahead for weights, which are asked for where all of them have more bytes than this.
SOON, LARGE = 2, 5 << 20
#: So many lines of weights are asked for at a time: two threads wait longer for each line, so that more of
#: them have to be on their way. The nearest cache has room for twice as many.
WAITING = 340
#: The same for rows that are asked for a second time, where all rows together have more bytes than this.
AGAIN, MANY = 3, 24 << 20
#: Bytes of a cache line, and how many lines of an array a row asks for at most: the processor sees that the
#: rest of a longer row follows.
LINE, LINES = 64, 16
#: The same for dense rows, of which some processors have to be told more; where rows follow each other in
#: memory one line of so many is asked for, on processors that fetch those between by themselves.
MORE_LINES, APART = 256, 8
#: Bytes of a dense row from which on it is worth asking for rows that follow each other.
LONG = 2048


def expect(rows: Rows, i: int, follows: bool) -> None:
    """Ask for the memory of row i, which is read soon. It does nothing in plain Python.

    ``follows``: it is read right after the row that is before it in memory.
    """


def n_bytes(rows: Rows) -> int:
    """The memory of the entries of all rows."""
    return chosen(n_bytes, rows)(rows)


def n_entries(rows: Rows) -> int:
    """The entries of all rows together."""
    return chosen(n_entries, rows)(rows)


def announce(rows: Rows, i: int) -> None:
    """Ask for the numbers that :func:`expect` reads, and for the squared length of row i."""


def expect_weights(rows: Rows, i: int, weights: Reals) -> None:
    """Ask for the weights of the columns of row i, which are read soon: an array by column, in C order."""


def request(a: np.ndarray, place: int | np.uint64) -> None:
    """Ask for the cache line of ``a[place]``. It does nothing in plain Python."""


def request_early(a: np.ndarray, place: int | np.uint64) -> None:
    """Ask for the cache line of ``a[place]``, but only up to the second-level cache where that is faster."""


def ahead() -> int:
    """How many rows ahead memory is asked for, and how many before that the numbers that say where it is."""
    return FAR


def waiting() -> int:
    """How many lines of weights are asked for at a time."""
    return WAITING


def most_lines() -> int:
    """How many lines of a dense row are asked for at most."""
    return MORE_LINES


def asks_for_weights(weights: Reals) -> bool:
    """Whether it helps to ask for the weights that a row will read: there are too many to stay near."""
    return weights.size * weights.itemsize > LARGE


def fewer() -> int:
    """How many rows less it is for dense rows that follow each other."""
    return FEWER


def apart() -> int:
    """Of how many lines of dense rows that follow each other one is asked for."""
    return APART


def forgets_requests(rows: Rows) -> bool:
    """Whether the processor forgets requests for such rows while many others wait."""
    return True


def foresees(rows: Rows) -> bool:
    """Whether the processor itself fetches rows soon enough that follow each other in memory."""
    return False


def _dense_expect(rows: Dense, i: int, follows: bool) -> None:
    line = 8 * LINE // np.finfo(rows.X.dtype).bits
    if follows:
        x = rows.X[max(0, i - fewer())]  # such rows come fast: a shorter way ahead is enough
        for j in range(0, min(x.shape[0], most_lines() * line), apart() * line):
            request_early(x, j)
    else:
        x = rows.X[i]
        for j in range(0, min(x.shape[0], most_lines() * line), line):
            request_early(x, j)
        request_early(x, x.shape[0] - 1)  # rows need not begin where a line does


def _csr_expect(rows: Csr, i: int, follows: bool) -> None:
    line = np.uint64(8 * LINE // max(np.finfo(rows.data.dtype).bits, np.iinfo(rows.indices.dtype).bits))
    p = rows.indptr[i]
    stop = min(rows.indptr[i + 1], p + np.uint64(LINES) * line)
    while p < stop:
        request_early(rows.indices, p)
        request_early(rows.data, p)
        p += line
    request_early(rows.indices, stop - np.uint64(1))  # rows need not begin where a line does
    request_early(rows.data, stop - np.uint64(1))


def _sparse_expect_weights(rows: Csr | Packed, i: int, weights: Reals) -> None:
    line = np.uint64(8 * LINE // np.finfo(weights.dtype).bits)
    of_a_column = np.uint64(weights.size // weights.shape[0])
    p, stop = np.uint64(begin(rows, i)), np.uint64(end(rows, i))
    if of_a_column <= line:
        while p < stop:
            request_early(weights, np.uint64(rows.indices[p]) * of_a_column)
            p += np.uint64(1)
        return
    while p < stop:
        place = np.uint64(rows.indices[p]) * of_a_column
        last = place + of_a_column
        while place < last:
            request_early(weights, place)
            place += line
        p += np.uint64(1)


def _dense_bytes(rows: Dense) -> int:
    return rows.X.size * rows.X.itemsize


def _csr_bytes(rows: Csr) -> int:
    return rows.data.size * (rows.data.itemsize + rows.indices.itemsize)


def _packed_bytes(rows: Packed) -> int:
    return rows.data.size * rows.data.itemsize


def _dense_entries(rows: Dense) -> int:
    return rows.X.size


def _sparse_entries(rows: Csr | Packed) -> int:
    return int(rows.indptr[rows.indptr.shape[0] - 1] - rows.indptr[0])


def _announce_sparse(rows: Csr | Packed, i: int) -> None:
    request_early(rows.indptr, i)
    request_early(rows.sq, i)


def _announce_dense(rows: Dense, i: int) -> None:
    request_early(rows.sq, i)


def _packed_expect(rows: Packed, i: int, follows: bool) -> None:
    line = np.uint64(8 * LINE // np.finfo(rows.data.dtype).bits)
    p = packed_start(rows, i)
    stop = min(
        packed_values(rows, i) + (rows.indptr[i + 1] - rows.indptr[i]), p + np.uint64(2 * LINES) * line
    )
    while p < stop:
        request_early(rows.data, p)
        p += line
    request_early(rows.data, stop - np.uint64(1))


def _not_expected(rows: Rows, i: int, follows: bool) -> None:
    pass


def _not_announced(rows: Rows, i: int) -> None:
    pass


def _none(rows: Rows) -> int:
    return 0


def _no_weights_expected(rows: Rows, i: int, weights: Reals) -> None:
    pass


VERBS[expect] = {
    Dense: _dense_expect,
    Csr: _csr_expect,
    Packed: _packed_expect,
    Block: _not_expected,
}
VERBS[expect_weights] = {
    Dense: _no_weights_expected,
    Csr: _sparse_expect_weights,
    Packed: _sparse_expect_weights,
    Block: _no_weights_expected,
}
VERBS[n_bytes] = {Dense: _dense_bytes, Csr: _csr_bytes, Packed: _packed_bytes, Block: _none}
VERBS[n_entries] = {Dense: _dense_entries, Csr: _sparse_entries, Packed: _sparse_entries, Block: _none}
VERBS[announce] = {
    Dense: _announce_dense,
    Csr: _announce_sparse,
    Packed: _announce_sparse,
    Block: _not_announced,
}


def asks(rows: Rows, order: np.ndarray) -> bool:
    """Whether a pass in this order asks for memory: rows that follow each other may come without."""
    at = 1
    while foresees(rows) and at < order.shape[0] and order[at] == order[at - 1] + 1:
        at += 1
    return not foresees(rows) or at < order.shape[0]


def asks_twice(rows: Rows) -> bool:
    """Whether to ask twice for the rows of a pass: the processor may forget the first request for a row."""
    return forgets_requests(rows) and n_bytes(rows) > MANY


class Ahead(NamedTuple):
    """What a pass asks for ahead."""

    rows: bool  #: the rows, their labels and what else there is one of for each row
    weights: int  #: so many rows before a row is visited, for the weights that it reads; 0: not for them
    twice: bool  #: for a row once more, when it is visited soon


def lines_of(weights: Reals) -> int:
    """Lines of weights that an entry of a row reads, where it helps to ask for them; else 0."""
    of_a_column = weights.size // max(1, weights.shape[0]) * weights.itemsize
    return (of_a_column + LINE - 1) // LINE if asks_for_weights(weights) else 0


def in_order(order: np.ndarray) -> bool:
    """Whether rows seem to follow each other, by the first two and the last."""
    n = order.shape[0]
    return n > 1 and order[1] - order[0] == 1 and order[n - 1] - order[0] == n - 1


def what_to_ask_for(rows: Rows, order: np.ndarray, lines: int, again: bool) -> Ahead:
    """What a pass in this order asks for ahead.

    ``lines``: lines of weights that an entry reads, in all arrays together (:func:`lines_of`). Where rows are
    short, weights are asked for more rows ahead, so that as many lines are on their way; but only when the
    row itself has come, which says what weights it reads. ``again``: ask twice for rows where that helps;
    never where weights are asked for.
    """
    if not asks(rows, order):
        return Ahead(False, 0, False)
    if lines == 0:
        return Ahead(True, 0, again and asks_twice(rows))
    some = waiting() if in_order(order) else waiting() - waiting() // 4  # other rows take more room, too
    soon = some * rows.sq.shape[0] // max(1, n_entries(rows) * lines)
    return Ahead(True, max(SOON, min(ahead() // 2, soon)), False)


def look_ahead(rows: Rows, order: np.ndarray, at: int, twice: bool) -> None:
    """Ask for the memory of the rows that are visited some rows after position ``at`` of the order.

    ``twice``: once more for a row that is visited soon, unless it follows the one before it in memory.
    """
    some = ahead()
    if at + 2 * some < order.shape[0]:
        announce(rows, order[at + 2 * some])
    if at + some < order.shape[0]:
        expect(rows, order[at + some], order[at + some] == order[at + some - 1] + 1)
    if twice and at + AGAIN < order.shape[0] and order[at + AGAIN] != order[at + AGAIN - 1] + 1:
        expect(rows, order[at + AGAIN], False)


def look_ahead_in(numbers: np.ndarray, order: np.ndarray, at: int) -> None:
    """Ask for an entry of an array with a number for each row, before its row is visited."""
    later = at + ahead()
    if later < order.shape[0]:
        request_early(numbers, order[later])


def look_ahead_at(weights: Reals, rows: Rows, order: np.ndarray, at: int, soon: int) -> None:
    """Ask for the weights that a row reads which is visited ``soon`` rows after position ``at``."""
    if at + soon < order.shape[0]:
        expect_weights(rows, order[at + soon], weights)


#: written once for every storage
SHARED = (
    asks,
    asks_twice,
    lines_of,
    in_order,
    what_to_ask_for,
    look_ahead,
    look_ahead_in,
    look_ahead_at,
)
