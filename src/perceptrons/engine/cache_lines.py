"""Arrays that begin at a cache line.

A pass over rows of several classes reads the weights of all classes for each entry of a row. Where these take
whole cache lines, and the array begins at one, no line is read for its end alone, and no vector load crosses
two lines. NumPy's large arrays begin 16 bytes later.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from .look_ahead import LINE

if TYPE_CHECKING:
    import numpy.typing as npt


#: Lines are fetched in pairs. A thread that writes to one of a pair takes both away from the other threads.
PAIR = 2 * LINE


def aligned_zeros(
    shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C", boundary: int = LINE
) -> np.ndarray:
    """Zeros that begin at a cache line, or at another boundary in memory."""
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + boundary, np.uint8)
    start = -memory.ctypes.data % boundary
    return memory[start : start + size].view(dtype).reshape(shape, order=order)


def aligned_copy(a: np.ndarray) -> np.ndarray:
    """A copy; where it has a line of numbers for each feature, it begins at a cache line."""
    if a.ndim != 2:
        return a.copy()
    made = aligned_zeros(a.shape, a.dtype)
    np.copyto(made, a)
    return made


def zeros_apart(n: int, size: int, dtype: npt.DTypeLike) -> np.ndarray:
    """(n, at least size) zeros, one row for each of n threads: no pair of lines has numbers of two rows.

    Numbers that one thread writes in each step, and that are in the line of numbers that another one reads
    in each step, would make both wait for that line.
    """
    return aligned_zeros((n, whole_pairs(size, np.dtype(dtype))), dtype, boundary=PAIR)


def copy_apart(a: np.ndarray) -> np.ndarray:
    """A copy of an array whose pairs of lines have numbers of no other array."""
    made = zeros_apart(1, a.size, a.dtype)[0, : a.size].reshape(a.shape)
    np.copyto(made, a)
    return made


def whole_pairs(size: int, dtype: np.dtype) -> int:
    """The least number of numbers, at least ``size``, that take whole pairs of cache lines."""
    numbers = PAIR // dtype.itemsize
    return -(-size // numbers) * numbers
