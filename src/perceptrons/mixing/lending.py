"""Memory that is used again when nothing refers to it any more.

The system clears fresh memory page by page when it is first written to, which takes as long as mixing what
stands there afterwards. Who else holds a state between two rounds is not known: a callback may have kept a
view of the weights. So arrays are lent, and come back when the last view of them is gone.
"""

from __future__ import annotations

import weakref
from collections import defaultdict

import numpy as np

from ..engine.cache_lines import aligned_zeros


class _Loan:
    """What an array and all views of it refer to."""

    def __init__(self, memory: np.ndarray):
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__


class Lender:
    """Arrays with memory that others before them have had."""

    def __init__(self) -> None:
        self._free: defaultdict[tuple[tuple[int, ...], str], list[np.ndarray]] = defaultdict(list)

    def empty_like(self, a: np.ndarray) -> np.ndarray:
        """An array like this one, whose numbers are not set."""
        free = self._free[a.shape, a.dtype.str]
        memory = free.pop() if free else aligned_zeros(a.shape, a.dtype)
        loan = _Loan(memory)
        weakref.finalize(loan, free.append, memory).atexit = False
        return np.asarray(loan)
