"""The compiled loop for VW text. It raises nothing: it returns a code; ``state`` has the position."""

from __future__ import annotations

import numpy as np

from .._types import Bytes, Floats, Ints
from ..engine.compiler import compiled, helper
from ..engine.hashing import absorbed, finished, seeded
from ._numbers import LATER, LONG, NOTHING, ONE, is_blank, number, past_blanks

# what the loop returns
DONE, NO_BAR, BAD_LABEL, NEGATIVE_WEIGHT, TOUCHES, NO_NAME, BAD_VALUE, BAD_SCALE, TOO_MANY = range(9)
# its state: lines, rows and features so far, where the error is, bad lines that were passed over
LINE, ROWS, PAIRS, ERROR, SKIPPED = range(5)


@helper
def ends_name(c: int) -> bool:
    """What a feature or a namespace ends with."""
    return is_blank(c) or c == 10 or c == 58 or c == 124


@helper
def past_token(buffer: Bytes, p: np.uint64) -> np.uint64:
    """Behind the token at p: before a blank, a bar or the line end."""
    while not (is_blank(buffer[p]) or buffer[p] == 124 or buffer[p] == 10):
        p += ONE
    return p


@helper
def put_number(
    values: Floats, value_bits: Ints, k: int | np.uint64, value: float, kind: int, p: np.uint64
) -> None:
    """Store a number, or where it stands if it is left to Python."""
    values[k] = value
    if kind == LONG:
        value_bits[k] = LATER | np.int64(p)


@helper
def read_head(
    buffer: Bytes, p: np.uint64, tens: Floats, head: Floats, head_bits: Ints
) -> tuple[int, np.uint64, int]:
    """(code, position of the bar or of the error, how many numbers) of ``1 2.0 'tag|``.

    Label and importance go into ``head``.
    """
    n = 0
    head[0], head[1] = 0.0, 1.0
    p = past_blanks(buffer, p)
    while buffer[p] != 124:
        if buffer[p] == 10:
            return NO_BAR, p, n
        end = past_token(buffer, p)
        value, q, kind = number(buffer, p, tens)
        is_number = kind != NOTHING and q == end
        if buffer[p] == 39 or (buffer[end] == 124 and (not is_number or n == 2)):
            p = past_blanks(buffer, end)  # a tag: it is not used
            return (DONE if buffer[p] == 124 else NO_BAR), p, n
        if not is_number or n == 2:
            return BAD_LABEL, p, n
        if buffer[end] == 124:
            return TOUCHES, p, n
        if n == 1 and buffer[p] == 45 and value != 0.0:
            return NEGATIVE_WEIGHT, p, n
        put_number(head, head_bits, n, value, kind, p)
        n += 1
        p = past_blanks(buffer, end)
    return DONE, p, n


@compiled
def parse_vw(
    buffer: Bytes,
    starts: Ints,
    head_bits: Ints,
    counts: Bytes,
    origin: Ints,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: Floats,
    value_bits: Ints,
    scales: Floats,
    scale_bits: Ints,
    left: Bytes,
    head: Floats,
    this_bits: Ints,
    state: Ints,
    tens: Floats,
    seed: int,
    mask: np.uint64,
    most: np.uint64,
    skip: bool,
) -> int:
    """Rows ``label importance 'tag|namespace feature:value …`` from ``state`` on, to the end or a bad line.

    ``counts`` says how many numbers stood before the bar, ``origin`` which line a row is. A feature's column
    is the hash of ``namespace^feature``. The ``_bits`` are the same memory as integers. ``values`` are
    multiplied by the scales of their namespaces, except where ``left`` says that one of the two is left to
    Python; ``scales`` are written only there. A bad line, or one of more than ``most`` features, leaves
    nothing behind; the state is that behind it. With ``skip`` bad lines are counted, and the loop goes on.
    """
    row, k = np.uint64(state[ROWS]), np.uint64(state[PAIRS])
    code, p, i = DONE, np.uint64(0), np.uint64(state[LINE])
    while i < np.uint64(starts.size):
        k0 = k
        code, p, n = read_head(buffer, np.uint64(starts[i]), tens, head, this_bits)
        while code == DONE and buffer[p] == 124:
            p += ONE
            h = seeded(seed)
            while not ends_name(buffer[p]):
                h = absorbed(h, buffer[p])
                p += ONE
            h = absorbed(h, 94)
            scale, scale_kind, scale_at = 1.0, NOTHING, p + ONE
            if buffer[p] == 58:
                scale, q, scale_kind = number(buffer, scale_at, tens)
                if scale_kind == NOTHING or not (is_blank(buffer[q]) or buffer[q] == 10):
                    code = BAD_SCALE
                    break
                p = q
            p = past_blanks(buffer, p)
            while buffer[p] != 124 and buffer[p] != 10:
                g, name = h, p
                while not ends_name(buffer[p]):
                    g = absorbed(g, buffer[p])
                    p += ONE
                if p == name:
                    code = NO_NAME
                    break
                if k - k0 == most:
                    code, p = TOO_MANY, name
                    break
                value, kind, value_at = 1.0, NOTHING, p + ONE
                if buffer[p] == 58:
                    value, q, kind = number(buffer, value_at, tens)
                    if kind == NOTHING or not ends_name(buffer[q]) or buffer[q] == 58:
                        code, p = BAD_VALUE, name
                        break
                    p = q
                if kind == LONG or scale_kind == LONG:
                    left[k] = 1
                    put_number(values, value_bits, k, value, kind, value_at)
                    put_number(scales, scale_bits, k, scale, scale_kind, scale_at)
                else:
                    left[k] = 0
                    values[k] = value * scale
                indices[k] = finished(g) & mask
                k += ONE
                p = past_blanks(buffer, p)
        if code == DONE:
            head_bits[row, 0], head_bits[row, 1] = this_bits[0], this_bits[1]
            counts[row], origin[row] = n, i
            row += ONE
            indptr[row] = k
        else:
            k = k0
            if not skip:
                i += ONE
                break
            state[SKIPPED] += 1
            code = DONE
        i += ONE
    state[LINE], state[ROWS], state[PAIRS], state[ERROR] = i, row, k, p
    return code
