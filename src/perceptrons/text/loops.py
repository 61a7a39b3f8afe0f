"""Bytes to hashed rows in one pass: characters, words or n-grams, columns, counts.

A text (UTF-8) is cut into tokens first, without a branch that depends on the letters, then its features are
counted. A token is a word (a run of letters, marks, digits and underscores), or one other character. A row
lists each column once, in the order in which its feature first occurs; a small table that is never cleared,
because its entries carry the number of their row, finds a feature that has been met.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._types import Bytes, Ints, Reals, Unsigned
from ..engine.compiler import compiled, helper, seldom
from ..engine.hashing import MULTIPLIER, absorbed, finished
from ..engine.look_ahead import request
from ..engine.utf8 import decoded
from .tables import SIGN, SPACE, WORD

# how a batch ended
DONE, INVALID, NEEDS_UNICODE = 0, 1, 2
# what is cut
WORDS, CHARACTERS, WITHIN_WORDS = 0, 1, 2
# what a column is worth
COUNT, BINARY, SUBLINEAR = 0, 1, 2
# what a character may be to a token: within a word, which is a token too; or a token of its own
IN_WORD, IN_TOKEN = np.uint64(1), np.uint64(2)

_U = np.uint64
_ZERO, _ONE, _EIGHT, _STAMP = _U(0), _U(1), _U(8), _U(32)
_BYTE = _U(0xFF)
_TOP = _U(63)
_LAST_STAMP = 0xFFFFFFFF

Ended: TypeAlias = tuple[int, np.uint64, np.uint64]  # how a text ended, where, and how many tokens or entries


class Recipe(NamedTuple):
    """How a text becomes a row."""

    cut: int  #: WORDS, CHARACTERS or WITHIN_WORDS
    shortest: int  #: n-grams of this many …
    longest: int  #: … to this many
    seed: np.uint64  #: what the state of the hash is crossed with at the end of a word
    mask: np.uint64  #: 2^bits - 1
    signed: bool
    values: int  #: COUNT, BINARY or SUBLINEAR
    worth: np.ndarray  #: float64: the values of the first counts, from 0 on
    unit: bool  #: divide by the length
    replace: bool  #: invalid UTF-8 counts as a separator; otherwise it ends the pass
    single: np.uint64  #: 1: a token may be a single character; 0: words of two or more letters alone
    letter: np.ndarray  #: uint64 (128,): what an ASCII character adds to the hash of its token, or 0
    within: np.ndarray  #: uint64 (128,): IN_WORD | IN_TOKEN, IN_TOKEN, or 0 for what separates tokens
    kind: np.ndarray  #: tables of :mod:`.tables`, of ASCII or of all characters
    bytes: np.ndarray  #: the characters' own bytes, or those of their lower case
    stop: np.ndarray  #: open table of the hashes of tokens that are left out; its length a power of 2


class Workspace(NamedTuple):
    """Scratch arrays, large enough for the longest text."""

    #: uint64: number of the row << 32 | column; twice the length of ``counts`` or more, a power of 2
    keys: np.ndarray
    entries: np.ndarray  #: uint32: which entry of its row the key is
    counts: np.ndarray  #: int32: how often the feature of each entry was met; one more than there can be
    stamp: np.ndarray  #: int64 (1,): number of the last row
    hashes: np.ndarray  #: uint64: tokens of a text; one more than there can be
    ends: np.ndarray  #: uint64: where they end
    letters: np.ndarray  #: uint32: characters of a text, where characters are cut
    places: np.ndarray  #: uint64: where they begin; one more
    invalid: np.ndarray  #: int64 (1,): invalid bytes met


class Out(NamedTuple):
    """Where rows are written."""

    indices: np.ndarray  #: uint32
    data: np.ndarray  #: float32 or float64
    first: np.ndarray  #: uint64: where in the buffer a feature first begins; length 0 keeps nothing
    last: np.ndarray  #: uint64: and ends
    df: np.ndarray  #: counts by column; their memory is asked for when a column is met
    w: np.ndarray  #: float: weights by column, likewise; length 0: texts are not scored
    step: np.uint64 = (
        _ONE  #: 1: w[j] and df[j] are those of column j; 2: side by side, w[2 j] and df[2 j + 1]
    )


@helper
def place(character: np.int64) -> np.uint64:
    """Where a character is in the tables."""
    if character < 0x40000:
        return _U(character)
    if 0xE0000 <= character < 0xE0200:
        return _U(0x40000 + character - 0xE0000)
    return _U(0x40000)


@helper
def absorb_letter(h: np.uint64, packed: int | np.unsignedinteger[Any]) -> np.uint64:
    """The state after the bytes of one character."""
    packed = _U(packed)
    h = absorbed(h, packed & _BYTE)
    packed = packed >> _EIGHT
    while packed != _U(0):
        h = absorbed(h, packed & _BYTE)
        packed = packed >> _EIGHT
    return h


@helper
def find(workspace: Workspace, key: np.uint64, room: np.uint64) -> tuple[np.uint64, np.uint64]:
    """(where a key is, or where it may go; what is there): 0 or a key of an earlier row means it is new."""
    stamp = key >> _STAMP
    t = key & room
    entry = workspace.keys[t]
    while (entry != key) & ((entry >> _STAMP) == stamp):
        t = (t + _ONE) & room
        entry = workspace.keys[t]
    return t, entry


@helper
def insert(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    f: np.uint64,
    row: np.uint64,
    n: np.uint64,
    room: np.uint64,
    begin: np.uint64,
    end: np.uint64,
) -> np.uint64:
    """Count the feature with hash f in the row that begins at ``row`` and has n columns; return n.

    Old and new columns run the same instructions, because the CPU cannot predict which comes next: the old
    count is multiplied by 0 or 1, and the column is written where the next new one is to be.
    """
    column: Any = f & recipe.mask
    key = (_U(workspace.stamp[0]) << _STAMP) | column
    t, found = find(workspace, key, room)
    met = _U(found == key)
    entry = _U(workspace.entries[t]) * met + n * (met ^ _ONE)
    if recipe.signed:
        count_signed(workspace, f, entry, met)
    else:
        workspace.counts[entry] = workspace.counts[entry] * np.int32(met) + np.int32(1)
    workspace.keys[t] = key
    workspace.entries[t] = np.uint32(entry)
    out.indices[row + n] = np.uint32(column)
    if out.w.shape[0] > 0:
        request(out.w, out.step * column)
        if out.step == _ONE:
            request(out.df, column)
    if out.first.shape[0] > 0 and met == _ZERO:
        out.first[row + n] = begin
        out.last[row + n] = end
    return n + (met ^ _ONE)


@seldom
def count_signed(workspace: Workspace, f: np.uint64, entry: np.uint64, met: np.uint64) -> None:
    """One more, or one less by the highest bit of the hash."""
    worth = np.int32(1) if (f >> _TOP) == _ZERO else np.int32(-1)
    workspace.counts[entry] = workspace.counts[entry] * np.int32(met) + worth


@helper
def room_for(workspace: Workspace, features: np.uint64) -> np.uint64:
    """One less than a power of 2 that is four times the number of features, or as large as there is."""
    room = _U(64)
    while room < _U(4) * features:
        room = room << _ONE
    return min(room, _U(workspace.keys.shape[0])) - _ONE


@helper
def listed(stop: Unsigned, f: np.uint64) -> bool:
    """Whether f is in an open table of hashes, where 0 is an empty place."""
    room = _U(stop.shape[0] - 1)
    t = f & room
    while stop[t] != _U(0):
        if stop[t] == f:
            return True
        t = (t + _ONE) & room
    return False


@seldom
def foreign(
    recipe: Recipe, buffer: Bytes, p: np.uint64, stop: np.uint64, h: np.uint64, before: np.uint64
) -> tuple[int, np.uint64, np.uint64, np.uint64]:
    """A character beyond ASCII: (how it ended, what it is to a token, the state, its bytes)."""
    if recipe.kind.shape[0] == 128:
        return NEEDS_UNICODE, _ZERO, _ZERO, _ONE
    character, taken = decoded(buffer, p, stop)
    if character < 0:
        return INVALID, _ZERO, _ZERO, _ONE
    at = place(character)
    if recipe.kind[at] == WORD:
        return DONE, IN_WORD | IN_TOKEN, absorb_letter(h * (before & _ONE), recipe.bytes[at]), _U(taken)
    if recipe.kind[at] == SIGN and recipe.single != _ZERO:
        return DONE, IN_TOKEN, absorb_letter(_ZERO, recipe.bytes[at]), _U(taken)
    return DONE, _ZERO, _ZERO, _U(taken)


@helper
def cut_tokens(
    recipe: Recipe, workspace: Workspace, buffer: Bytes, start: np.uint64, stop: np.uint64
) -> Ended:
    """The hashes of the tokens of a text and where they end; return (how it ended, where, tokens).

    Every byte runs the same instructions: h and the place where it ends are written at each, and the number
    of tokens grows by 1 where the last character was the end of one. The hash begins anew, from 0, unless a
    letter follows a letter; what separates adds nothing to it.
    """
    n = _ZERO
    h = _ZERO
    before, before_that = _ZERO, _ZERO  # what the last two characters are
    p = start
    while p < stop:
        workspace.hashes[n] = h
        workspace.ends[n] = p
        byte = buffer[p]
        if byte < 0x80:
            now = recipe.within[byte]
            h = ((h & (_ZERO - (now & before & IN_WORD))) ^ recipe.letter[byte]) * MULTIPLIER
            p += _ONE
        else:
            ending, now, h, taken = foreign(recipe, buffer, p, stop, h, before)
            if ending != DONE:
                if ending == NEEDS_UNICODE or not recipe.replace:
                    return ending, p, n
                workspace.invalid[0] += 1
            p += taken
        n += (before >> _ONE) & ((now & before & IN_WORD) ^ IN_WORD) & (before_that | recipe.single)
        before, before_that = now, before
    workspace.hashes[n] = h
    workspace.ends[n] = stop
    return DONE, stop, n + ((before >> _ONE) & (before_that | recipe.single))


@helper
def begin_of(recipe: Recipe, buffer: Bytes, start: np.uint64, end: np.uint64) -> np.uint64:
    """Where the token that ends at ``end`` begins."""
    p = end
    while p > start:
        q = p - _ONE
        while q > start and buffer[q] & 0xC0 == 0x80:
            q -= _ONE
        character, taken = decoded(buffer, q, p)
        if character < 0 or q + _U(taken) != p or recipe.kind[place(character)] != WORD:
            return q if p == end else p  # a token of its own, or what is before a word
        p = q
    return p


@helper
def leave_out(recipe: Recipe, workspace: Workspace, n: np.uint64) -> np.uint64:
    """Take the stop words out of n tokens; return how many are left."""
    left = _U(0)
    for k in range(n):
        f = workspace.hashes[k]
        workspace.hashes[left] = f
        workspace.ends[left] = workspace.ends[k]
        left += _U(not listed(recipe.stop, f))
    return left


@helper
def words(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    start: np.uint64,
    stop: np.uint64,
    row: np.uint64,
) -> Ended:
    """The tokens of one text, or runs of them; return (how it ended, where, entries)."""
    n = _ZERO
    ending, at, n_tokens = cut_tokens(recipe, workspace, buffer, start, stop)
    if ending != DONE:
        return ending, at, n
    keeps = out.first.shape[0] > 0
    room = room_for(workspace, n_tokens * _U(recipe.longest - recipe.shortest + 1))
    for k in range(n_tokens):
        workspace.hashes[k] = finished(workspace.hashes[k] ^ recipe.seed)
    if recipe.stop.shape[0] > 0:
        n_tokens = leave_out(recipe, workspace, n_tokens)
    if not keeps and recipe.shortest == 1 and recipe.longest <= 2:  # the common cases, a loop for each size
        for k in range(n_tokens):
            n = insert(recipe, workspace, out, workspace.hashes[k], row, n, room, start, start)
        if recipe.longest == 2:
            for k in range(_ONE, n_tokens):
                f = finished(absorbed(workspace.hashes[k - _ONE], _U(0x20)) ^ workspace.hashes[k])
                n = insert(recipe, workspace, out, f, row, n, room, start, start)
        return DONE, stop, n
    for size in range(recipe.shortest, recipe.longest + 1):
        for last in range(_U(size - 1), n_tokens):
            first = last + _ONE - _U(size)
            f = workspace.hashes[first]
            for k in range(first + _ONE, last + _ONE):
                f = finished(absorbed(f, _U(0x20)) ^ workspace.hashes[k])
            begin = begin_of(recipe, buffer, start, workspace.ends[first]) if keeps else start
            n = insert(recipe, workspace, out, f, row, n, room, begin, workspace.ends[last])
    return DONE, stop, n


@helper
def spell(
    recipe: Recipe, workspace: Workspace, buffer: Bytes, start: np.uint64, stop: np.uint64
) -> tuple[int, np.uint64, int]:
    """Characters of a text, runs of white space as one space; return (how it ended, where, characters)."""
    n = 0
    p = start
    space = False
    while p < stop:
        if buffer[p] >= 0x80 and recipe.kind.shape[0] == 128:
            return NEEDS_UNICODE, p, n
        character, taken = decoded(buffer, p, stop)
        if character < 0:
            if not recipe.replace:
                return INVALID, p, n
            workspace.invalid[0] += 1
            character = np.int64(0xFFFD)
        at = place(character)
        if recipe.kind[at] == SPACE:
            if not space:
                workspace.letters[n] = np.uint32(0x20)
                workspace.places[n] = p
                n += 1
            space = True
        else:
            workspace.letters[n] = recipe.bytes[at]
            workspace.places[n] = p
            n += 1
            space = False
        p += _U(taken)
    workspace.places[n] = stop
    return DONE, stop, n


@helper
def characters(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    start: np.uint64,
    stop: np.uint64,
    row: np.uint64,
) -> Ended:
    """The character n-grams of one text; returns as :func:`words` does."""
    n = _U(0)
    ending, at, length = spell(recipe, workspace, buffer, start, stop)
    if ending != DONE:
        return ending, at, n
    room = room_for(workspace, _U(length) * _U(recipe.longest - recipe.shortest + 1))
    for letter in range(length):
        h = _U(0)
        for k in range(letter, min(length, letter + recipe.longest)):
            h = absorb_letter(h, workspace.letters[k])
            if k - letter + 1 >= recipe.shortest:
                begin, end = workspace.places[letter], workspace.places[k + 1]
                n = insert(recipe, workspace, out, finished(h ^ recipe.seed), row, n, room, begin, end)
    return DONE, stop, n


@helper
def within_words(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    start: np.uint64,
    stop: np.uint64,
    row: np.uint64,
) -> Ended:
    """Character n-grams of each word with a space on either side; a word too short for one counts whole."""
    n = _U(0)
    ending, at, length = spell(recipe, workspace, buffer, start, stop)
    if ending != DONE:
        return ending, at, n
    room = room_for(workspace, _U(2 * length) * _U(recipe.longest - recipe.shortest + 1))
    first = 0
    while first < length:
        while first < length and workspace.letters[first] == 0x20:
            first += 1
        last = first
        while last < length and workspace.letters[last] != 0x20:
            last += 1
        if last > first:
            n = padded(recipe, workspace, out, row, n, room, first, last)
        first = last
    return DONE, stop, n


@helper
def padded(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    row: np.uint64,
    n: np.uint64,
    room: np.uint64,
    first: int,
    last: int,
) -> np.uint64:
    """The n-grams of the characters first to last - 1, with a space before and behind."""
    size = last - first + 2
    for wanted in range(recipe.shortest, recipe.longest + 1):
        width = min(wanted, size)
        for shift in range(size - width + 1):
            h = _U(0)
            for k in range(first + shift - 1, first + shift - 1 + width):
                inside = first <= k < last
                h = absorb_letter(h, workspace.letters[k] if inside else np.uint32(0x20))
            begin = workspace.places[max(first, first + shift - 1)]
            end = workspace.places[min(last, first + shift - 1 + width)]
            n = insert(recipe, workspace, out, finished(h ^ recipe.seed), row, n, room, begin, end)
        if size <= wanted:  # what is longer is not there
            break
    return n


@helper
def emit(recipe: Recipe, workspace: Workspace, out: Out, row: np.uint64, n: np.uint64) -> None:
    """Write the values of the row; its columns are there."""
    if recipe.unit:
        scale(recipe, workspace.counts, out.data[row : row + n])
    elif recipe.values == COUNT:
        for k in range(n):
            out.data[row + k] = workspace.counts[k]
    else:
        for k in range(n):
            out.data[row + k] = worth_of(recipe, workspace.counts[k])


@seldom
def scale(recipe: Recipe, counts: Ints, data: Reals) -> None:
    """Values, as a row of length 1."""
    total = 0.0
    for k in range(data.shape[0]):
        data[k] = worth_of(recipe, counts[k])
        total += np.float64(data[k]) * np.float64(data[k])
    if total > 0.0:
        factor = 1.0 / sqrt(total)
        for k in range(data.shape[0]):
            data[k] *= factor


@helper
def worth_of(recipe: Recipe, count: np.int32) -> float:
    """The value of a feature that occurs so often."""
    if 0 <= count < recipe.worth.shape[0]:
        known: float = recipe.worth[_U(count)]
        return known
    return computed_worth(recipe.values, np.float64(count))


@seldom
def computed_worth(values: int, count: float) -> float:
    """The value of any count; it may be negative, where hashes have signs."""
    if values == BINARY:
        return 1.0 if count >= 0.0 else -1.0
    if values == SUBLINEAR and count != 0.0:
        return 1.0 + log(count) if count > 0.0 else -1.0 - log(-count)
    return count


@helper
def hash_row(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    start: np.uint64,
    stop: np.uint64,
    row: np.uint64,
) -> Ended:
    """One text as the row that begins at ``row``; return (how it ended, where, entries)."""
    if workspace.stamp[0] == _LAST_STAMP:  # numbers start again: nothing old may look new
        workspace.keys[:] = _U(0)
        workspace.stamp[0] = 0
    workspace.stamp[0] += 1
    if recipe.cut == WORDS:
        ending, at, n = words(recipe, workspace, out, buffer, start, stop, row)
    elif recipe.cut == CHARACTERS:
        ending, at, n = characters(recipe, workspace, out, buffer, start, stop, row)
    else:
        ending, at, n = within_words(recipe, workspace, out, buffer, start, stop, row)
    if ending == DONE:
        emit(recipe, workspace, out, row, n)
    return ending, at, n


@helper
def most_tokens(recipe: Recipe, size: Any) -> Any:  # numbers, or arrays of them
    """One more than the tokens that a text of so many bytes can have: words of two letters, or any bytes."""
    return size + _ONE if recipe.single != _ZERO else (size + _ONE) // _U(3) + _ONE


@helper
def most_entries(recipe: Recipe, size: Any) -> Any:  # numbers, or arrays of them
    """How many entries a text of so many bytes can have."""
    sizes = _U(recipe.longest - recipe.shortest + 1)
    if recipe.cut == WORDS:
        return most_tokens(recipe, size) * sizes
    if recipe.cut == CHARACTERS:
        return size * sizes + _ONE
    return (size * _U(2) + _U(2)) * sizes + _ONE


@compiled
def cut_one(recipe: Recipe, workspace: Workspace, buffer: Bytes, start: np.uint64, stop: np.uint64) -> Ended:
    """:func:`cut_tokens`, callable from Python; the hashes are finished."""
    ending, at, n = cut_tokens(recipe, workspace, buffer, start, stop)
    for k in range(n):
        workspace.hashes[k] = finished(workspace.hashes[k] ^ recipe.seed)
    return ending, at, n


@compiled
def hash_rows(
    recipe: Recipe,
    workspace: Workspace,
    out: Out,
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    indptr: Ints,
    from_row: int,
) -> tuple[int, int, np.uint64]:
    """Texts to rows until they are done, one fails, or there is no room for the next.

    Returns (how it ended, the text it ended at, where in the buffer).
    """
    row = _U(indptr[from_row])
    space, most = _U(out.indices.shape[0]), _U(workspace.counts.shape[0])
    for i in range(from_row, starts.shape[0]):
        start, stop = _U(starts[i]), _U(stops[i])
        entries = most_entries(recipe, stop - start)
        if row + entries > space or entries >= most:
            return DONE, i, start
        ending, at, n = hash_row(recipe, workspace, out, buffer, start, stop, row)
        if ending != DONE:
            return ending, i, at
        row += n
        indptr[i + 1] = row
    return DONE, starts.shape[0], _U(0)
