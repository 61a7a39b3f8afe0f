"""Arrays that hold one value nearly everywhere, stored by their other entries.

The weights of a model on hashed text are 2^22 numbers or more, of which some thousands were ever touched. The
file of such an array has the places of the entries that differ from the usual one, in ascending order, and
``values``: the usual value first, then those at the places. Values are compared by their bits, so that zeros
keep their sign, and NaN its payload.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .errors import ModelError

LEAST = 2048  #: bytes; smaller arrays are stored as they are
OVERHEAD = 256  #: bytes that a second array and its description take in a file
_PIECE = 1 << 20  # entries compared at a time
_SAMPLE = 1024  # entries that the usual value is chosen from
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class SparseParts(NamedTuple):
    """What is stored of a sparse array."""

    at: np.ndarray  #: places in C order, uint32 where that is wide enough, else uint64
    values: np.ndarray  #: the usual value, then those at the places


def parts(a: np.ndarray) -> SparseParts | None:
    """``a`` by its unusual entries; None where that would not be smaller. ``a`` is C-contiguous."""
    if a.nbytes < LEAST:
        return None
    width = 4 if a.size <= 2**32 else 8
    most = (a.nbytes - OVERHEAD) // (width + a.dtype.itemsize)
    flat = a.reshape(-1)
    bits = flat.view(_BITS[a.dtype.itemsize])
    usual = _usual(bits)
    found, n = [], 0
    for start in range(0, len(bits), _PIECE):
        places = np.flatnonzero(bits[start : start + _PIECE] != usual)
        n += len(places)
        if n > most:
            return None
        found.append((places + start).astype(np.uint32 if width == 4 else np.uint64))
    at = np.concatenate(found)
    values = np.empty(n + 1, bits.dtype)
    values[0] = usual
    values[1:] = bits[at]
    return SparseParts(at, values.view(a.dtype))


def _usual(bits: np.ndarray) -> np.unsignedinteger:
    """The most frequent value of a sample."""
    sample = bits[:: max(1, len(bits) // _SAMPLE)]
    values, counts = np.unique(sample, return_counts=True)
    usual: np.unsignedinteger = values[np.argmax(counts)]
    return usual


def n_bytes(values: np.ndarray, shape: tuple[int, ...]) -> int:
    """How much memory the array takes when it is whole again."""
    return values.dtype.itemsize * math.prod(shape)


def whole(at: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array again, to the last bit; raise on places that are not in it, or not in order."""
    size = math.prod(shape)
    if at.ndim != 1 or at.dtype not in (np.uint32, np.uint64) or values.shape != (len(at) + 1,):
        raise ModelError("A sparse array has other entries than places.")
    if len(at) and not (int(at[-1]) < size and (at[1:] > at[:-1]).all()):
        raise ModelError("A sparse array has a place outside, or its places are not in ascending order.")
    bits = values.view(_BITS[values.dtype.itemsize])
    made = np.zeros(size, bits.dtype)  # zeros take no memory until they are touched
    if bits[0] != 0:
        made[:] = bits[0]
    made[at] = bits[1:]
    return made.view(values.dtype).reshape(shape)
