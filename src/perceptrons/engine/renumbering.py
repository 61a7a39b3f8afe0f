"""Columns that are renumbered while a fit reads wide sparse rows again and again.

Columns are numbered by a hash or by the alphabet, so the weight of a frequent feature shares its cache line
with weights that are hardly ever read. Numbers by first appearance put features that occur early and often
side by side: a few lines then have most of what a pass reads. These numbers are called *slots*, and
:class:`ColumnSlots` is the table that says which column each of them has.

A fit that uses slots learns on a copy of its arrays, with one entry for each slot, and of the indices of X.
Whoever reads the arrays of a space finds them by column and up to date (:class:`ByColumn`): callbacks,
held-out rows, files, another thread, a model after an interruption. The entries of a row keep their order,
and the sum of all squares does not depend on any (:mod:`.loops.sums`). So results are the same to the last
bit. It is for learners whose steps change the columns of their row alone.

Where rows are visited in a random order, the copy has each row in one piece (:mod:`.packing`).

The copy takes memory while the fit runs: as much as the indices of X, or as X where rows are in one piece,
and, for each column that X has entries in, a number and what the learner keeps for it: a weight, an average
or a variance, for joint learners for each class. One-vs-rest has such a copy for each learner. The numbering
takes 4 bytes for each column of X until it is done.

Learners of texts renumber for single passes, too (:mod:`.text_slots`), and keep their copy afterwards: arrays
by column are brought up to date one by one, when somebody reads them. A prediction reads the weights only.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from ..rows import Csr, Packed
from . import packing
from .compiler import compiled
from .intake import frozen
from .look_ahead import request

if TYPE_CHECKING:
    from .._types import Unsigned
    from .spaces.base import SingleSpace

T = TypeVar("T")

#: How far ahead the numbering asks for memory, in entries.
AHEAD = 32
#: Where there are so many times more columns than entries, a table of all columns is not worth its memory.
FEW = 4
#: An odd number that spreads columns over a table: 2^64 over the golden ratio.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class UniformColumns(NamedTuple):
    """An array by column whose entries are all equal, and which has not been made."""

    dtype: np.dtype
    value: float


class ColumnSlots(NamedTuple):
    """A slot for each column in use: the column of slot s is ``columns[s]``."""

    columns: np.ndarray  #: uint32

    def packed(self, a: np.ndarray | UniformColumns) -> np.ndarray:
        """The entries of these columns, one after the other, and that of the constant, which is the last."""
        if isinstance(a, UniformColumns):
            return np.full(len(self.columns) + 1, a.value, a.dtype)
        made = np.empty((len(self.columns) + 1, *a.shape[1:]), a.dtype)
        np.take(a, self.columns, axis=0, out=made[:-1])
        made[-1] = a[-1]
        return made

    def unpack(self, packed: np.ndarray, a: np.ndarray) -> None:
        """Write packed entries to their columns."""
        a[self.columns] = packed[:-1]
        a[-1] = packed[-1]


class SlottedRows(NamedTuple):
    """Rows, and the same rows with slots for columns; none once they do not come again."""

    source: Csr | None
    rows: Csr | Packed | None
    slots: ColumnSlots


@compiled
def number_columns(
    indices: Unsigned, numbers: Unsigned, columns: Unsigned, slots: Unsigned, n: int = 0
) -> int:
    """Fill ``slots`` with the number of each index, and ``columns`` with the index of each number.

    ``numbers`` has a place for each column: 0, or its number plus 1; n numbers were given before. Returns how
    many there are now.
    """
    for p in range(indices.shape[0]):
        if p + AHEAD < indices.shape[0]:
            request(numbers, indices[p + AHEAD])
        j = indices[p]
        if numbers[j] == 0:
            columns[n] = j
            n += 1
            numbers[j] = n
        slots[p] = numbers[j] - np.uint32(1)
    return n


@compiled
def number_few_columns(
    indices: Unsigned, keys: Unsigned, numbers: Unsigned, columns: Unsigned, slots: Unsigned
) -> int:
    """:func:`number_columns` by a table that has room for twice as many columns as there are entries.

    ``keys`` has the columns that were met, each plus 1, and ``numbers`` their numbers; a power of 2 of both.
    """
    n = 0
    last = np.uint64(keys.shape[0] - 1)
    for p in range(indices.shape[0]):
        key = np.uint64(indices[p]) + np.uint64(1)
        at = (key * SPREAD >> np.uint64(32)) & last
        while keys[at] != 0 and keys[at] != key:
            at = (at + np.uint64(1)) & last
        if keys[at] == 0:
            keys[at] = key
            numbers[at] = n
            columns[n] = indices[p]
            n += 1
        slots[p] = numbers[at]
    return n


def by_first_appearance(rows: Csr, n_features: int) -> SlottedRows:
    """Number the columns of these rows in the order in which they occur."""
    used = rows.indices[: int(rows.indptr[-1])]
    columns = np.empty(min(n_features, len(used)), np.uint32)
    slots = np.zeros_like(rows.indices)
    if FEW * len(used) < n_features:
        size = 1 << max(4, (2 * len(used)).bit_length())
        table = np.zeros((2, size), np.uint32)
        n = number_few_columns(used, table[0], table[1], columns, slots[: len(used)])
    else:
        n = number_columns(used, np.zeros(n_features, np.uint32), columns, slots[: len(used)], 0)
    return SlottedRows(rows, rows._replace(indices=frozen(slots)), ColumnSlots(frozen(columns[:n].copy())))


class SlottedWeights:
    """The arrays of one learner by slot, beside its own by column.

    Any thread may bring those by column up to date while a pass runs; what it reads then is of that moment.
    ``lasts``: the arrays by slot stay after the last pass, and those by column are brought up to date when
    somebody reads them. ``used_by``: a learner that has the arrays by slot as its own, and may be in a block.
    """

    used_by: SingleSpace | None = None

    def __init__(
        self, slotted: SlottedRows, home: Mapping[str, np.ndarray | UniformColumns], lasts: bool = False
    ):
        self.slotted = slotted
        self.lasts = lasts
        self._pack(home)
        self._version = 0
        self._at_home = {name: -1 if isinstance(a, UniformColumns) else 0 for name, a in home.items()}
        self._lock = threading.RLock()  # a thread that was interrupted where it releases it can go on

    def forget_rows(self) -> None:
        """The rows do not come again."""
        self.slotted = self.slotted._replace(source=None, rows=None)

    def _pack(self, home: Mapping[str, np.ndarray | UniformColumns]) -> None:
        self.arrays = {name: self.slotted.slots.packed(a) for name, a in home.items()}

    def _unpack(self, home: Mapping[str, np.ndarray]) -> None:
        for name, a in home.items():
            self.slotted.slots.unpack(self.arrays[name], a)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Those by slot change in this block."""
        self._version += 1
        try:
            yield
        finally:
            self._version += 1

    def bring_home(self, home: Mapping[str, np.ndarray]) -> None:
        """Bring these arrays by column up to date."""
        if all(self._at_home[name] == self._version for name in home):
            return
        with self._lock:
            version = self._version
            old = {name: a for name, a in home.items() if self._at_home[name] != version}
            if old:
                if self.used_by is not None:
                    for name in old:
                        self.used_by.bring_home(name)
                self._unpack(old)
            for name in home:
                self._at_home[name] = version
            if self.slotted.rows is None and all(at == version for at in self._at_home.values()):
                self.used_by = None  # no pass follows: the memory of its block is free


class InBlock(SlottedWeights):
    """The arrays of one learner as columns of arrays that a block of learners shares, beside its own.

    Both hold the same numbers when it is made. Arrays that are not in the block are up to date at any time.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]):
        super().__init__(SlottedRows(None, None, ColumnSlots(np.empty(0, np.uint32))), columns)

    def _pack(self, home: Mapping[str, np.ndarray | UniformColumns]) -> None:
        self.arrays = cast("dict[str, np.ndarray]", dict(home))

    def _unpack(self, home: Mapping[str, np.ndarray]) -> None:
        for name, a in home.items():
            a[...] = self.arrays[name]

    def bring_home(self, home: Mapping[str, np.ndarray]) -> None:
        super().bring_home({name: a for name, a in home.items() if name in self.arrays})

    @staticmethod
    @contextmanager
    def all_changing(parts: Iterable[InBlock]) -> Iterator[None]:
        """:meth:`changing` for the parts of a block."""
        for part in parts:
            part._version += 1
        try:
            yield
        finally:
            for part in parts:
                part._version += 1


class InUse(NamedTuple):
    """The rows and the arrays of a pass: both by column, or both by slot."""

    rows: Any
    arrays: Mapping[str, np.ndarray]


class ByColumn(Generic[T]):
    """An array of a space with an entry for each feature: reading it brings it up to date.

    The array itself is among the attributes of the space, under the same name. ``optional``: a space need not
    have it, and then it is None.
    """

    def __init__(self, optional: bool = False):
        self.optional = optional

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, space: SingleSpace | None, owner: type | None = None) -> T:
        if space is None:
            raise AttributeError(f"{self.name!r} is an attribute of a space, not of its class.")
        attributes = vars(space)
        if self.optional and self.name not in attributes:
            return None  # type: ignore[return-value]  # T allows it
        if "in_slots" in attributes:
            space.bring_home(self.name)
        try:
            found: Any = attributes[self.name] if self.name in attributes else space.made(self.name)
        except KeyError:
            raise AttributeError(f"{type(space).__name__} has no {self.name!r}.") from None
        return cast("T", found)

    def __set__(self, space: SingleSpace, a: T) -> None:
        if "in_slots" in vars(space):
            space.leave_slots()
        vars(space)[self.name] = a


def is_mapped(a: np.ndarray) -> bool:
    """Whether the numbers of an array are those of a file that is mapped to memory."""
    base: Any = a
    while base is not None:
        if isinstance(base, (np.memmap, mmap.mmap)):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False


#: Renumbering pays for weights of so many bytes, of which a column has at most so many, in so many epochs.
LEAST_BYTES, MOST_BYTES_OF_A_COLUMN, LEAST_EPOCHS = 1 << 22, 32, 6
#: The copy of the indices, or of the rows, may take so many bytes.
MOST_BYTES = 1 << 31


def in_memory(rows: Csr) -> bool:
    """Whether the indices of the rows may be copied."""
    return rows.indices.nbytes <= MOST_BYTES and not (is_mapped(rows.data) or is_mapped(rows.indices))


def pays(rows: Csr, n_features: int, n_classes: int, epochs: int | None, shuffled: bool = False) -> bool:
    """Whether a fit of so many epochs is faster with renumbered columns; None: until a clean pass.

    ``n_classes`` counts the weights that a column has side by side. ``shuffled``: rows are visited in a
    random order, and may be copied whole.
    """
    of_a_column = n_classes * rows.data.itemsize
    if of_a_column > MOST_BYTES_OF_A_COLUMN or not in_memory(rows):
        return False
    if shuffled and packing.pays(rows, epochs) and packing.size(rows) <= MOST_BYTES:
        return True
    return n_features * of_a_column >= LEAST_BYTES and (epochs is None or epochs >= LEAST_EPOCHS)


def slotted(
    rows: object, n_features: int, n_classes: int, epochs: int | None, shuffled: bool = False
) -> SlottedRows | None:
    """The rows with renumbered columns, where that pays; where they are ``shuffled``, each in one piece."""
    if not isinstance(rows, Csr):
        return None
    shuffled = shuffled and packing.helps() and packing.can(rows)
    if not pays(rows, n_features, n_classes, epochs, shuffled):
        return None
    found = by_first_appearance(rows, n_features)
    if shuffled and packing.size(rows) <= MOST_BYTES:
        found = found._replace(rows=packing.packed(cast("Csr", found.rows)))
    return found
