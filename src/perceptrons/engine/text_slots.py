"""Renumbered columns of texts: what a learner keeps for a column lies side by side.

A rare column then costs one cache line where it would cost three. That pays in a single pass of some length,
whether or not its rows come again.

Batch after batch of texts (:class:`GrowingRecords`) the columns keep their slots, new columns get further
ones, and nothing is copied to the arrays by column until somebody reads them. Then the slots are given up,
because whoever has an array may write to it.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .cache_lines import aligned_zeros
from .intake import frozen
from .loops import texts
from .renumbering import (
    LEAST_BYTES,
    ColumnSlots,
    SlottedRows,
    SlottedWeights,
    UniformColumns,
    in_memory,
    number_columns,
)

if TYPE_CHECKING:
    from ..rows import Csr

#: Renumbering pays from so many entries on.
LEAST_ENTRIES = 1 << 17
#: Slots are kept for further batches where there are at most so many times more columns than entries.
MOST_COLUMNS = 16
#: There is room for so many slots at first; the memory of those that are not used is never touched.
ROOM = 1 << 22


def pays(rows: Csr, n_features: int, fresh: bool) -> bool:
    """Whether a pass over texts is faster with renumbered columns.

    ``fresh``: the learner has no array of variances by column yet, and without slots would have to make it.
    """
    wide = 16 * n_features >= LEAST_BYTES
    return wide and (fresh or int(rows.indptr[-1]) >= LEAST_ENTRIES) and in_memory(rows)


def record_of(home: Mapping[str, np.ndarray | UniformColumns]) -> np.dtype:
    """A record with a number of each array, the wide ones first; it has a power of 2 bytes."""
    names = sorted(home, key=lambda name: -home[name].dtype.itemsize)
    formats = [home[name].dtype for name in names]
    sizes = [kind.itemsize for kind in formats]
    offsets = [sum(sizes[:k]) for k in range(len(sizes))]
    whole = 1 << (sum(sizes) - 1).bit_length()
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": whole})


def apart(home: Mapping[str, np.ndarray]) -> texts.Numbers:
    """The numbers of columns in arrays of their own."""
    return texts.Numbers(home["v"], home["sigma"], home["df"], np.uint64(len(home["v"]) - 1))


class SideBySide(SlottedWeights):
    """Weights, variances and counts by slot, in records."""

    def _pack(self, home: Mapping[str, np.ndarray | UniformColumns]) -> None:
        columns = self.slotted.slots.columns
        memory = aligned_zeros((len(columns) + 1,), record_of(home))
        self.numbers = texts.in_records(memory)
        self.arrays = {name: memory[name] for name in home}
        whole = {name: a for name, a in home.items() if not isinstance(a, UniformColumns)}
        for name, a in home.items():
            if isinstance(a, UniformColumns) and a.value != 0.0:
                self.arrays[name][:] = a.value
        if whole:
            texts.take(self.numbers, columns, self._at(whole), 0)

    def _unpack(self, home: Mapping[str, np.ndarray]) -> None:
        columns = self.slotted.slots.columns  # first: the records that are found then have these columns
        texts.give(self.numbers, columns, self._at(home))

    def _at(self, home: Mapping[str, np.ndarray]) -> texts.Numbers:
        """The numbers by column; those that are not here are empty arrays."""
        v, sigma, df = (home.get(name, np.empty(0, a.dtype)) for name, a in self._ordered())
        return texts.Numbers(v, sigma, df, np.uint64(max(map(len, (v, sigma, df))) - 1))

    def _ordered(self) -> list[tuple[str, np.ndarray]]:
        return [(name, self.arrays[name]) for name in ("v", "sigma", "df")]


def owner(a: np.ndarray) -> np.ndarray | None:
    """The array that has the memory of ``a``, if that is all of it and nobody can write to it."""
    found = a
    while isinstance(found.base, np.ndarray):
        found = found.base
    whole = found.base is None and found.nbytes == a.nbytes
    return found if whole and not found.flags.writeable else None


class ColumnTable:
    """Slots for columns in the order in which they occur, in one batch of rows after another.

    The slots of indices that nobody can change are kept as long as the indices: they are found once.
    """

    def __init__(self, n_features: int):
        self.numbers = np.zeros(n_features, np.uint32)  #: 0, or the slot of the column plus 1
        self.columns = np.empty(n_features, np.uint32)  #: of each slot
        self.n = 0  #: slots in use
        self._known: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    def slotted(self, rows: Csr) -> SlottedRows:
        """The rows by slot; columns that are new get the next slots."""
        slots = self._slots(rows)
        return SlottedRows(rows, rows._replace(indices=slots), ColumnSlots(frozen(self.columns[: self.n])))

    def _slots(self, rows: Csr) -> np.ndarray:
        kept = owner(rows.indices)
        known = self._known.get(id(kept))
        if known is not None and known[0]() is kept:
            return known[1]
        used = int(rows.indptr[-1])
        slots = np.zeros_like(rows.indices)
        self.n = number_columns(rows.indices[:used], self.numbers, self.columns, slots[:used], self.n)
        slots = frozen(slots)
        if kept is not None:
            key, entries = id(kept), self._known
            entries[key] = weakref.ref(kept, lambda _: entries.pop(key, None)), slots
        return slots


class GrowingRecords(SideBySide):
    """Records that further rows add to, as long as nobody has read an array by column."""

    def __init__(self, rows: Csr, n_features: int, home: Mapping[str, np.ndarray | UniformColumns]):
        self.table = ColumnTable(n_features)
        self.open = True  #: whether rows may be added
        #: what columns without a slot have, where the array by column was not made, or is not used yet
        self.uniform = {name: a.value for name, a in home.items() if isinstance(a, UniformColumns)}
        super().__init__(self.table.slotted(rows), home, lasts=True)

    def add(self, rows: Csr, home: Mapping[str, np.ndarray]) -> None:
        """Make room for the columns of these rows, which are learned next.

        After an interruption no more rows are added: the table may have columns that the records have not.
        """
        self.open = False
        first, slotted = len(self.slotted.slots.columns), self.table.slotted(rows)
        n = len(slotted.slots.columns)
        if n >= len(self.memory):
            self._grow(n)
        self._fill(slotted.slots.columns, home, first)
        self.slotted = slotted  # last: another thread may read the records of the columns that it finds here
        self.open = True

    def bring_home(self, home: Mapping[str, np.ndarray]) -> None:
        self.open = False
        super().bring_home(home)

    def _pack(self, home: Mapping[str, np.ndarray | UniformColumns]) -> None:
        columns = self.slotted.slots.columns
        self._record = record_of(home)
        self._settle(self._room(len(columns)))
        for name, value in self.uniform.items():
            self.arrays[name][-1] = value
        whole = {name: a for name, a in home.items() if not isinstance(a, UniformColumns)}
        self._fill(columns, whole, 0)

    def _room(self, n: int) -> np.ndarray:
        """Empty records for n slots and more, and for the constant."""
        most = len(self.table.numbers)
        return aligned_zeros((min(most, max(ROOM, 2 * n)) + 1,), self._record)

    def _settle(self, memory: np.ndarray) -> None:
        self.memory = memory
        self.numbers = texts.in_records(memory)
        self.arrays = {name: memory[name] for name in self._record.names or ()}

    def _grow(self, n: int) -> None:
        memory, old = self._room(n), self.memory
        memory[: len(old) - 1], memory[-1] = old[:-1], old[-1]
        self._settle(memory)

    def _fill(self, columns: np.ndarray, home: Mapping[str, np.ndarray], first: int) -> None:
        """Fill the slots from ``first`` on."""
        for name, value in self.uniform.items():
            if value != 0.0:
                self.arrays[name][first : len(columns)] = value
        whole = {name: a for name, a in home.items() if name not in self.uniform}
        if whole:
            texts.take(self.numbers, columns, self._at(whole), first)
