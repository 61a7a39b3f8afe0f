"""Renumbered columns of texts: what a learner keeps for a column lies side by side.

A rare column then costs one cache line where it would cost three. That pays in a single pass of some length,
whether or not its rows come again.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..rows import LINE
from .loops import texts
from .renumbering import LEAST_BYTES, SlottedWeights, UniformColumns, in_memory

if TYPE_CHECKING:
    from ..rows import Csr

#: Renumbering pays from so many entries on.
LEAST_ENTRIES = 1 << 17


def pays(rows: Csr, n_features: int, fresh: bool) -> bool:
    """Whether a pass over texts is faster with renumbered columns.

    ``fresh``: the learner has no array of variances by column yet, and without slots would have to make it.
    """
    wide = 16 * n_features >= LEAST_BYTES
    return wide and (fresh or int(rows.indptr[-1]) >= LEAST_ENTRIES) and in_memory(rows)


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype, order: Literal["C", "F"] = "C") -> np.ndarray:
    """Zeros that begin at a cache line."""
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape, order=order)


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
        texts.take(self.numbers, columns, self._at(whole))

    def _unpack(self, home: Mapping[str, np.ndarray]) -> None:
        texts.give(self.numbers, self.slotted.slots.columns, self._at(home))

    def _at(self, home: Mapping[str, np.ndarray]) -> texts.Numbers:
        """The numbers by column; those that are not here are empty arrays."""
        v, sigma, df = (home.get(name, np.empty(0, a.dtype)) for name, a in self._ordered())
        return texts.Numbers(v, sigma, df, np.uint64(max(map(len, (v, sigma, df))) - 1))

    def _ordered(self) -> list[tuple[str, np.ndarray]]:
        return [(name, self.arrays[name]) for name in ("v", "sigma", "df")]
