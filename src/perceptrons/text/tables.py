"""What each character is in a text: part of a word, a space, a sign of its own, or none; and its lower case.

Words are made of letters, marks, digits and underscores as Unicode has them (general categories L, M and N,
and U+005F), so that a word of any script stays in one piece. Other characters that one sees are signs:
punctuation, symbols, emoji (P and S), and those that a font or a later Unicode may give a meaning (private
and unassigned ones). Control and format characters (Cc and Cf) are none of these. Lower case is taken
character by character, as its UTF-8 bytes packed into one number: ``ß`` is two bytes, ``İ`` becomes ``i`` and
a dot above.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from typing import NamedTuple

import numpy as np

WORD, SPACE, SIGN = 1, 2, 3

#: Beyond these planes there are variation selectors (marks) and private or unassigned characters alone.
PLANES = 0x40000
_RANGES = (range(PLANES), range(0xE0000, 0xE0200))


class Tables(NamedTuple):
    kind: np.ndarray  #: uint8 per character: WORD, SPACE, SIGN or 0
    lower: np.ndarray  #: uint32 per character: the bytes of its lower case, the first one lowest
    same: np.ndarray  #: uint32 per character: its own bytes


SIZE = PLANES + 0x200


#: Categories whose characters may have another lower case.
_CASED = {"Lu", "Lt", "Nl", "So"}


@functools.cache
def ascii_tables() -> Tables:
    """The first 128 characters: all that most texts need."""
    return _build(range(128), 128)


@functools.cache
def unicode_tables() -> Tables:
    """All characters; built when a text first needs them."""
    return _build([c for part in _RANGES for c in part], SIZE)


def _build(characters: range | list[int], size: int) -> Tables:
    kind = np.zeros(size, np.uint8)
    same = np.zeros(size, np.uint32)
    codes = np.asarray(characters)
    places = codes if size == 128 else np.where(codes < PLANES, codes, PLANES + codes - 0xE0000)
    same[places] = _utf8(codes)
    lower = same.copy()
    for c, at in zip(characters, places.tolist(), strict=True):
        letter = chr(c)
        category = unicodedata.category(letter)
        if category[0] in "LMN" or c == 0x5F:
            kind[at] = WORD
        elif letter.isspace():
            kind[at] = SPACE
        elif category not in ("Cc", "Cf", "Cs"):
            kind[at] = SIGN
        if category in _CASED:
            lower[at] = int.from_bytes(letter.lower().encode(), "little")
    for array in (kind, lower, same):
        array.flags.writeable = False
    return Tables(kind, lower, same)


def _utf8(codes: np.ndarray) -> np.ndarray:
    """The UTF-8 bytes of each character in one number, the first byte lowest; surrogates have none."""

    def tail(shift: int) -> np.ndarray:
        return 0x80 | ((codes >> shift) & 0x3F)

    two = (0xC0 | (codes >> 6)) | tail(0) << 8
    three = (0xE0 | (codes >> 12)) | tail(6) << 8 | tail(0) << 16
    four = (0xF0 | (codes >> 18)) | tail(12) << 8 | tail(6) << 16 | tail(0) << 24
    packed = np.select([codes < 0x80, codes < 0x800, codes < 0x10000], [codes, two, three], four)
    return np.where((codes >= 0xD800) & (codes < 0xE000), 0, packed).astype(np.uint32)


def unicode_version() -> str:
    """The version of the tables, which comes with Python."""
    return f"{unicodedata.unidata_version} (Python {sys.version_info.major}.{sys.version_info.minor})"
