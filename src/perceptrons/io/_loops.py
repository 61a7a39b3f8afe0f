"""The compiled loop for libsvm's format. It raises nothing: it returns a code; ``state`` has the position."""

from __future__ import annotations

import numpy as np

from .._types import Bytes, Floats, Ints
from ..engine.compiler import compiled, helper
from ._numbers import LATER, LONG, NOTHING, ONE, is_blank, number, past_blanks, past_line, whole

# what the loop returns
DONE, BAD_LABEL, BAD_INDEX, NO_COLON, BAD_VALUE, NOT_ASCENDING, TOO_LARGE, TOO_SMALL, QUERY = range(9)
# its state: where it is, rows and pairs so far, where the error is, largest index, numbers left to Python,
# bad lines that were passed over
POSITION, ROWS, PAIRS, ERROR, LARGEST, LONG_ONES, SKIPPED = range(7)


@helper
def ends_token(c: int) -> bool:
    """A blank, a line end or the start of a comment."""
    return is_blank(c) or c == 10 or c == 35


@helper
def ends_row(c: int) -> bool:
    return c == 10 or c == 35


@helper
def index_trouble(
    buffer: Bytes,
    p: np.uint64,
    q: np.uint64,
    index: np.int64,
    previous: int | np.int64,
    first: int,
    largest: int,
) -> int:
    """What is wrong with the index between p and q; DONE if nothing."""
    if q == p:
        return QUERY if buffer[p] == 113 else BAD_INDEX
    if buffer[q] != 58:
        return NO_COLON
    if index <= previous:
        return TOO_SMALL if index < first else NOT_ASCENDING
    return TOO_LARGE if index > largest else DONE


@compiled
def parse_libsvm(
    buffer: Bytes,
    size: int | np.uint64,
    labels: Floats,
    label_bits: Ints,
    indptr: Ints,
    indices: np.ndarray,
    values: Floats,
    value_bits: Ints,
    state: Ints,
    tens: Floats,
    first: int,
    largest: int,
    skip: bool,
) -> int:
    """Rows ``label index:value index:value … # comment`` from ``state`` on, until the end or a bad line.

    ``first`` is 0 or 1, the index of column 0. The ``_bits`` are the same memory as integers. A bad line
    leaves nothing behind but its place: the state is that behind it. With ``skip`` bad lines are counted, and
    the loop goes on.
    """
    p, size = np.uint64(state[POSITION]), np.uint64(size)
    row, k = np.uint64(state[ROWS]), np.uint64(state[PAIRS])
    top, n_long = state[LARGEST], state[LONG_ONES]
    code, place = DONE, np.uint64(0)
    previous: int | np.int64
    while p < size:
        k0 = k
        p = past_blanks(buffer, p)
        if not ends_row(buffer[p]):
            label, q, kind = number(buffer, p, tens)
            previous = first - 1
            if kind == NOTHING or not ends_token(buffer[q]):
                code = BAD_LABEL
            else:
                labels[row] = label
                if kind == LONG:
                    label_bits[row] = LATER | np.int64(p)
                    n_long += 1
                p = past_blanks(buffer, q)
            while code == DONE and not ends_row(buffer[p]):
                index, q = whole(buffer, p)
                code = index_trouble(buffer, p, q, index, previous, first, largest)
                if code != DONE:
                    break
                start = q + ONE
                value, q, kind = number(buffer, start, tens)
                if kind == NOTHING or not ends_token(buffer[q]):
                    code = BAD_VALUE
                    break
                indices[k] = index - first
                values[k] = value
                if kind == LONG:
                    value_bits[k] = LATER | np.int64(start)
                    n_long += 1
                k += ONE
                previous = index
                p = past_blanks(buffer, q)
            if code == DONE:
                top = max(top, previous)
                row += ONE
                indptr[row] = k
            else:
                place, k = p, k0
                if not skip:
                    p = past_line(buffer, p)
                    break
                state[SKIPPED] += 1
                code = DONE
        p = past_line(buffer, p)
    state[POSITION], state[ROWS], state[PAIRS] = p, row, k
    state[ERROR], state[LARGEST], state[LONG_ONES] = place, top, n_long
    return code
