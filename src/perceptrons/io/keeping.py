"""The prepared batches of one pass, for the passes after it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

import numpy as np

from .records import Batch, Refusals

#: A batch, and the bytes that were read so far.
Item: TypeAlias = tuple[Batch, int]

_JOINED = 1 << 26  # bytes of batches that become one


class Kept:
    """Batches, while they take no more memory than ``room``.

    In the passes after the first, neighbours come as one batch, if what they were prepared to can be joined:
    a learner has less to do in a few long calls than in many short ones, with the same numbers.
    """

    def __init__(self, room: float, refusals: Refusals):
        self.room, self.refusals = room, refusals
        self.items: list[Item] = []
        self.whole = False  #: whether there are all batches of a pass
        self._taken = 0
        self._refused = 0  # bad lines of the pass

    def begin(self) -> None:
        """A pass begins with its first row."""
        self.items, self._taken, self._refused = [], 0, -self.refusals.count

    def add(self, batch: Batch, n_bytes: int) -> None:
        """One more batch; if it is one too many, all are dropped."""
        self._taken += batch.nbytes
        if self._taken <= self.room:
            self.items.append((batch, n_bytes))
        else:
            self.items = []

    def end(self) -> None:
        """The pass has ended with its last row."""
        self._refused += self.refusals.count
        self.whole = self._taken <= self.room

    def again(self) -> Generator[Item, None, None]:
        """The pass once more; lines that were bad then are counted again."""
        for first in range(len(self.items)):
            if first < len(self.items):  # others have become part of those before
                last = self._group(first)
                self.items[first:last] = [joined(self.items[first:last])]
                yield self.items[first]
        self.refusals.count += self._refused

    def _group(self, first: int) -> int:
        """One past the last of the items that become one with this one."""
        total, last = self.items[first][0].nbytes, first + 1
        while last < len(self.items) and hasattr(self.items[first][0].X, "joined"):
            total += self.items[last][0].nbytes
            if total > _JOINED:
                break
            last += 1
        return last


def joined(items: list[Item]) -> Item:
    """Neighbouring batches as one."""
    if len(items) == 1:
        return items[0]
    batches = [batch for batch, _ in items]
    X = type(batches[0].X).joined([batch.X for batch in batches])  # type: ignore[union-attr]  # of a learner
    y, weights = _together([batch.y for batch in batches]), _together([batch.weights for batch in batches])
    return Batch(X, y, weights, batches[-1].first_row + batches[-1].n_rows - len(X)), items[-1][1]


def _together(parts: list[np.ndarray | None]) -> np.ndarray | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None
