"""The one hash of the library: words of a text, names of features, all to columns of a row.

A state takes in byte after byte, :math:`h \\leftarrow (h \\oplus b) M \\bmod 2^{64}`, one multiplication
each; :func:`finished` then mixes the high bits into all of them. The low bits of the result are the column,
the highest bit is the sign. The hash is part of every saved model: it never changes.
"""

from __future__ import annotations

import numpy as np

from .compiler import helper

MULTIPLIER = np.uint64(0x9FB21C651E98DF25)  # odd, its bits well mixed
FINISH = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(32)
TOP = np.uint64(63)
ORIGIN = np.uint64(0xCBF29CE484222325)


@helper
def seeded(seed: int) -> np.uint64:
    """The state before the first byte."""
    return ORIGIN ^ (np.uint64(seed) * FINISH)


@helper
def absorbed(h: np.uint64, byte: int | np.uint64) -> np.uint64:
    """The state after one more byte."""
    return (h ^ np.uint64(byte)) * MULTIPLIER


@helper
def finished(h: np.uint64) -> np.uint64:
    """64 bits that all depend on all bytes."""
    h = (h ^ (h >> SHIFT)) * FINISH
    return h ^ (h >> SHIFT)


@helper
def hashed(buffer: np.ndarray, start: int | np.uint64, stop: int | np.uint64, h: np.uint64) -> np.uint64:
    """The hash of buffer[start:stop], from the state h on."""
    for p in range(start, stop):
        h = absorbed(h, buffer[p])
    return finished(h)
