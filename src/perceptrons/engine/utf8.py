"""UTF-8 in compiled loops: :func:`decoded` for texts, :func:`character_bytes` for lines of files.

They accept the same bytes. Either one in the place of the other made its loop slower, by a third or more on
Cyrillic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .compiler import helper

if TYPE_CHECKING:
    import numpy.typing as npt

ONE = np.uint64(1)


@helper
def decoded(buffer: npt.NDArray[np.uint8], p: np.uint64, stop: np.uint64) -> tuple[np.int64, int]:
    """(character, bytes it takes) at p; the character is -1 where the bytes before ``stop`` are no UTF-8."""
    lead = buffer[p]
    if lead < 0x80:
        return np.int64(lead), 1
    if lead < 0xC2 or lead > 0xF4:
        return np.int64(-1), 1
    n = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    if p + np.uint64(n) > stop:
        return np.int64(-1), 1
    character = np.int64(lead) & (0x1F if n == 2 else (0x0F if n == 3 else 0x07))
    for k in range(1, n):
        byte = buffer[p + np.uint64(k)]
        if byte & 0xC0 != 0x80:
            return np.int64(-1), 1
        character = (character << 6) | np.int64(byte & 0x3F)
    if n == 3 and (character < 0x800 or 0xD800 <= character < 0xE000):
        return np.int64(-1), 1
    if n == 4 and (character < 0x10000 or character > 0x10FFFF):
        return np.int64(-1), 1
    return character, n


@helper
def continues(c: int) -> bool:
    return c >= 0x80 and c <= 0xBF


@helper
def character_bytes(buffer: npt.NDArray[np.uint8], p: np.uint64) -> np.uint64:
    """How many bytes the UTF-8 character at p takes; 0 if it is none. Up to three bytes behind p are read."""
    a, b = buffer[p], buffer[p + ONE]
    if a < 0x80:
        return ONE
    if a < 0xC2 or a > 0xF4 or not continues(b):
        return np.uint64(0)
    if a < 0xE0:
        return np.uint64(2)
    c = buffer[p + np.uint64(2)]
    if not continues(c) or (a == 0xE0 and b < 0xA0) or (a == 0xED and b > 0x9F):
        return np.uint64(0)
    if a < 0xF0:
        return np.uint64(3)
    d = buffer[p + np.uint64(3)]
    if not continues(d) or (a == 0xF0 and b < 0x90) or (a == 0xF4 and b > 0x8F):
        return np.uint64(0)
    return np.uint64(4)
