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


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C") -> np.ndarray:
    """Zeros that begin at a cache line."""
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape, order=order)


def aligned_copy(a: np.ndarray) -> np.ndarray:
    """A copy; where it has a line of numbers for each feature, it begins at a cache line."""
    if a.ndim != 2:
        return a.copy()
    made = aligned_zeros(a.shape, a.dtype)
    np.copyto(made, a)
    return made


def whole_lines(size: int, dtype: np.dtype) -> int:
    """The least number of numbers, at least ``size``, that take whole cache lines."""
    numbers = LINE // dtype.itemsize
    return -(-size // numbers) * numbers
