"""The prepared batches of one pass, for the passes after it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from .records import Batch, Refusals

#: A batch, and the bytes that were read so far.
Item: TypeAlias = tuple[Batch, int]


class KeptRows:
    """Batches, while they take no more memory than ``room``.

    They come again as they were cut: a run that is interrupted and resumed reads them anew, and both have the
    same records of their batches.
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
        yield from self.items
        self.refusals.count += self._refused
