"""Compiled loops over a line of JSON, before it becomes Python objects. They raise nothing."""

from __future__ import annotations

import numpy as np

from .._types import Bytes
from ..engine.compiler import compiled, helper
from ._numbers import ONE

QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT, LETTER_U = 34, 92, 44, 91, 123, 117
ESCAPE = np.uint64(6)  # bytes of \uXXXX


@compiled
def count_values(buffer: Bytes, start: int, stop: int | np.uint64) -> int:
    """An upper bound of the values in a line: commas and opening brackets outside of strings, and one."""
    n, inside = 1, False
    p, stop = np.uint64(start), np.uint64(stop)
    while p < stop:
        c = buffer[p]
        if inside:
            if c == BACKSLASH:
                p += ONE
            elif c == QUOTE:
                inside = False
        elif c == QUOTE:
            inside = True
        elif c in (COMMA, OPEN_LIST, OPEN_OBJECT):
            n += 1
        p += ONE
    return n


@helper
def hex_digit(c: int) -> np.int64:
    """0 to 15, or -1."""
    if c >= 48 and c <= 57:
        return np.int64(c) - 48
    lower = np.int64(c) | 32
    return lower - 87 if lower >= 97 and lower <= 102 else np.int64(-1)


@helper
def escaped(buffer: Bytes, p: np.uint64, size: np.uint64) -> np.int64:
    """The number of \\uXXXX at p; -1 if that is not there."""
    if p + ESCAPE > size or buffer[p] != BACKSLASH or buffer[p + ONE] != LETTER_U:
        return np.int64(-1)
    code = np.int64(0)
    for j in range(np.uint64(2), ESCAPE):
        d = hex_digit(buffer[p + j])
        if d < 0:
            return np.int64(-1)
        code = 16 * code + d
    return code


@helper
def put_character(buffer: Bytes, q: np.uint64, code: np.int64) -> np.uint64:
    """Write a character beyond ASCII as UTF-8; return the position behind it."""
    if code < 0x800:
        buffer[q] = 0xC0 | (code >> 6)
    else:
        if code < 0x10000:
            buffer[q] = 0xE0 | (code >> 12)
        else:
            buffer[q] = 0xF0 | (code >> 18)
            q += ONE
            buffer[q] = 0x80 | ((code >> 12) & 0x3F)
        q += ONE
        buffer[q] = 0x80 | ((code >> 6) & 0x3F)
    q += ONE
    buffer[q] = 0x80 | (code & 0x3F)
    return q + ONE


@compiled
def unescape(buffer: Bytes) -> tuple[np.uint64, int]:
    """Write the \\uXXXX beyond ASCII as UTF-8, in place; return (bytes, halves of surrogate pairs).

    Such a half is no character: a question mark takes its place. All other escapes stay.
    """
    size = np.uint64(buffer.size)
    p, q, halves = np.uint64(0), np.uint64(0), 0
    while p < size:
        code = escaped(buffer, p, size)
        if code >= 0x80:
            p += ESCAPE
            if code >= 0xD800 and code < 0xE000:
                low = escaped(buffer, p, size)
                if code < 0xDC00 and low >= 0xDC00 and low < 0xE000:
                    p += ESCAPE
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                else:
                    halves += 1
                    code = np.int64(63)
            if code < 0x80:
                buffer[q] = code
                q += ONE
            else:
                q = put_character(buffer, q, code)
            continue
        both = buffer[p] == BACKSLASH and p + ONE < size
        buffer[q] = buffer[p]
        p, q = p + ONE, q + ONE
        if both:  # what follows a backslash is no backslash of its own
            buffer[q] = buffer[p]
            p, q = p + ONE, q + ONE
    return q, halves
