"""Compiled loops over the lines and fields of text. They raise nothing: they return flags and counts."""

from __future__ import annotations

import numpy as np

from .._types import Bools, Bytes, Floats, Ints, Unsigned
from ..engine.compiler import compiled, helper
from ..engine.hashing import absorbed, finished, hashed, seeded
from ..engine.utf8 import character_bytes
from ._numbers import LATER, LONG, NOTHING, ONE, digit, is_blank, number

CHUNK = np.uint64(64)  # bytes looked at together; blocks have as many to spare

MOST_INT = 2**63 - 1

# what is wrong with a line
FINE, NUL, NOT_UTF8 = 0, 1, 2
# what is wrong with the fields of a line
TOO_FEW, TOO_MANY, OPEN_QUOTE, AFTER_QUOTE = 1, 2, 3, 4


@compiled
def some_lines(buffer: Bytes, start: int, size: int | np.uint64, most: int) -> tuple[np.uint64, int]:
    """(position behind the last, how many) of at most ``most`` lines from ``start`` on."""
    p, size, n = np.uint64(start), np.uint64(size), 0
    while p < size and n < most:
        n += buffer[p] == 10
        p += ONE
    return p, n


@compiled
def next_long_line(
    buffer: Bytes, start: int, size: int | np.uint64, most: int
) -> tuple[np.uint64, np.uint64, int]:
    """(start, end, lines before it) of the first line from ``start`` on with more than ``most`` bytes.

    (size, size, …) if there is none.
    """
    p, size, begin, n = np.uint64(start), np.uint64(size), np.uint64(start), 0
    while p < size:
        if buffer[p] == 10:
            if p - begin > np.uint64(most):
                return begin, p, n
            begin = p + ONE
            n += 1
        p += ONE
    return size, size, n


@compiled
def find_lines(buffer: Bytes, size: int | np.uint64, starts: Ints, stops: Ints, flags: Bytes) -> np.uint64:
    """The lines that hold something, without line ends, and what is wrong with each; return their number.

    64 bytes are looked at together; only where one of them is a line end, a NUL or not ASCII are they looked
    at one by one. Blank lines take no room, so that a block of line ends does not either.
    """
    size = np.uint64(size)
    p, checked, n, start = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    flag = FINE
    while p < size:
        high, has_end, has_nul = np.uint8(0), False, False
        for j in range(CHUNK):
            c = buffer[p + j]
            high |= c
            has_end |= c == 10
            has_nul |= c == 0
        stop = min(p + CHUNK, size)
        if high >= 0x80 or has_nul or has_end:
            q = max(p, checked)
            while q < stop:
                c = buffer[q]
                length = ONE
                if c == 10:
                    end = q
                    while end > start and buffer[end - ONE] == 13:
                        end -= ONE
                    if end > start:
                        starts[n], stops[n], flags[n] = start, end, flag
                        n += ONE
                    start, flag = q + ONE, FINE
                elif c == 0:
                    flag = NUL
                elif c >= 0x80:
                    length = character_bytes(buffer, q)
                    if length == np.uint64(0):
                        flag = max(flag, NOT_UTF8) if flag != NUL else NUL
                        length = ONE
                q += length
            checked = q
        p += CHUNK
    return n


@compiled
def split_fields(
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    cut_from: Ints,
    cut_to: Ints,
    flags: Bytes,
    delimiter: int,
    quote: int,
    width: int | np.uint64,
    rest: bool,
) -> np.uint64:
    """The fields of each line; return how many lines have ``width`` of them. The others are flagged.

    A field between quotes loses them, and doubled quotes within become one (in place). With ``rest`` the last
    field is all that is left of the line. ``quote`` is 0 where quotes mean nothing.
    """
    good = np.uint64(0)
    width = np.uint64(width)
    for i in range(starts.size):
        p, stop = np.uint64(starts[i]), np.uint64(stops[i])
        k, n, flag = good * width, np.uint64(0), FINE
        while True:
            begin = p
            if n == width:
                flag = TOO_MANY
                break
            if rest and n + ONE == width:
                end, p = stop, stop
            elif quote != 0 and p < stop and buffer[p] == quote:
                p += ONE
                begin, end = p, p
                while p < stop:
                    if buffer[p] == quote:
                        if p + ONE < stop and buffer[p + ONE] == quote:
                            p += ONE
                        else:
                            break
                    buffer[end] = buffer[p]
                    end += ONE
                    p += ONE
                if p >= stop:
                    flag = OPEN_QUOTE
                    break
                p += ONE
                if p < stop and buffer[p] != delimiter:
                    flag = AFTER_QUOTE
                    break
            else:
                while p < stop and buffer[p] != delimiter:
                    p += ONE
                end = p
            cut_from[k + n], cut_to[k + n] = begin, end
            n += ONE
            if p >= stop:
                break
            p += ONE  # the delimiter; what follows is a field, even an empty one
        if flag == FINE and n < width:
            flag = TOO_FEW
        flags[i] = flag
        if flag == FINE:
            good += ONE
    return good


@compiled
def trim(buffer: Bytes, starts: Ints, stops: Ints) -> None:
    """Move the ends of fields inwards over blanks."""
    for i in range(starts.size):
        p, q = np.uint64(starts[i]), np.uint64(stops[i])
        while p < q and is_blank(buffer[p]):
            p += ONE
        while q > p and is_blank(buffer[q - ONE]):
            q -= ONE
        starts[i], stops[i] = p, q


@compiled
def parse_numbers(
    buffer: Bytes, starts: Ints, stops: Ints, values: Floats, value_bits: Ints, kinds: Bytes, tens: Floats
) -> None:
    """The numbers of trimmed fields; ``kinds`` says what they are."""
    for i in range(starts.size):
        p, stop = np.uint64(starts[i]), np.uint64(stops[i])
        value, q, kind = number(buffer, p, tens)
        if q != stop:
            kind = NOTHING
        values[i] = value
        if kind == LONG:
            value_bits[i] = LATER | np.int64(p)
        kinds[i] = kind


@compiled
def parse_wholes(buffer: Bytes, starts: Ints, stops: Ints, values: Ints, kinds: Bytes) -> None:
    """The integers of trimmed fields; ``kinds``: 0 for no integer, 1 for an int64, 2 for one beyond it."""
    for i in range(starts.size):
        p, stop = np.uint64(starts[i]), np.uint64(stops[i])
        negative = p < stop and buffer[p] == 45
        if p < stop and (negative or buffer[p] == 43):
            p += ONE
        kind = 1 if p < stop else 0
        m = np.int64(0)
        while p < stop and kind > 0:
            d = digit(buffer[p])
            if d < 0 or d > 9:
                kind = 0
            elif m > MOST_INT // 10 or (m == MOST_INT // 10 and d > 7):
                kind = 2
            else:
                m = m * 10 + d
            p += ONE
        values[i] = -m if negative else m
        kinds[i] = kind


# ------------------------------------------------------------------------------------------------ hashing


@compiled
def state_after(buffer: Bytes, seed: int) -> np.uint64:
    """The state of the hash after these bytes."""
    h = seeded(seed)
    for p in range(buffer.size):
        h = absorbed(h, buffer[p])
    return h


@compiled
def hash_names(
    buffer: Bytes, starts: Ints, stops: Ints, seed: int, mask: np.uint64, columns: np.ndarray
) -> None:
    """The column of each name."""
    for i in range(starts.size):
        h = hashed(buffer, np.uint64(starts[i]), np.uint64(stops[i]), seeded(seed))
        columns[i] = h & mask


@compiled
def hash_words(
    buffer: Bytes, starts: Ints, stops: Ints, state: np.uint64, mask: np.uint64, columns: np.ndarray
) -> None:
    """The column of each word, from the state after the name."""
    for i in range(starts.size):
        columns[i] = hashed(buffer, np.uint64(starts[i]), np.uint64(stops[i]), state) & mask


@compiled
def hash_table(
    buffer: Bytes,
    cut_from: Ints,
    cut_to: Ints,
    numbers: Floats,
    is_number: Bools,
    states: Unsigned,
    mask: np.uint64,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: Floats,
) -> np.uint64:
    """Rows of named fields: a number is in the column of its name, a word in that of ``name=word``.

    ``states`` are those of the hash after the name, or after ``name=``. Zeros and empty words take no room.
    """
    k = np.uint64(0)
    for i in range(cut_from.shape[0]):
        for j in range(cut_from.shape[1]):
            if is_number[j]:
                if numbers[i, j] != 0.0:
                    indices[k] = finished(states[j]) & mask
                    values[k] = numbers[i, j]
                    k += ONE
            elif cut_to[i, j] > cut_from[i, j]:
                h = hashed(buffer, np.uint64(cut_from[i, j]), np.uint64(cut_to[i, j]), states[j])
                indices[k] = h & mask
                values[k] = 1.0
                k += ONE
        indptr[i + 1] = k
    return k


# ------------------------------------------------------------------------------------------------- labels


@helper
def same_bytes(
    buffer: Bytes, p: np.uint64, q: np.uint64, other: Bytes, start: np.uint64, stop: np.uint64
) -> bool:
    if q - p != stop - start:
        return False
    j = np.uint64(0)
    while j < q - p and buffer[p + j] == other[start + j]:
        j += ONE
    return bool(j == q - p)


@compiled
def find_labels(
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    first: int,
    slots: Ints,
    known: Bytes,
    known_starts: Ints,
    codes: Ints,
) -> int:
    """Codes of the labels from row ``first`` on; return the first row whose label is not known.

    ``slots`` is a hash table of codes, -1 where free, its size a power of two; label c is
    ``known[known_starts[c]:known_starts[c + 1]]``.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(first, starts.size):
        p, q = np.uint64(starts[i]), np.uint64(stops[i])
        at = hashed(buffer, p, q, seeded(0)) & mask
        while True:
            code = slots[at]
            if code < 0:
                return i
            begin, end = np.uint64(known_starts[code]), np.uint64(known_starts[code + 1])
            if same_bytes(buffer, p, q, known, begin, end):
                codes[i] = code
                break
            at = (at + ONE) & mask
    return starts.size
