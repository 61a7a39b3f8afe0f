"""Texts with several labels: storage that grows with what is used, for the loops in ``loops.labels``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from ..intake import frozen
from ..loops import labels as loop
from ..loops import scalars
from .base import Frame, NumericalError, SingleSpace, empty_log

if TYPE_CHECKING:
    from ..._types import Floats, Record, UpdateColumns
    from ...rows import Csr
    from .base import Receiver

#: Up to so many labels a column has a line of all of them; with more, a list of those with a weight.
MOST_IN_LINES = 256
#: Slots, labels and places of the pool that a fresh table has room for.
FIRST_SLOTS, FIRST_LABELS, FIRST_POOL = 256, 8, 4096
#: The pool has at most so many places: a free one holds the number of another in 32 bits.
MOST_PLACES = 2**31 - 1


class Kept(NamedTuple):
    """A table as a file has it: without room for more. The first slot is that of the constant coordinate."""

    columns: np.ndarray  #: uint32, ascending, of the other slots
    S: np.ndarray  #: (slots, labels seen), or (slots,) with lists
    W: np.ndarray  #: (slots, labels seen); empty with lists
    length: np.ndarray  #: int32, of each list; empty with lines
    label: np.ndarray  #: int32, list after list, each ascending
    weight: np.ndarray


class Labels(SingleSpace):
    """A w for every label, by a rule of the second order; a row may have several labels, or none."""

    several = True
    joint = False
    makers = ("rule",)

    def __init__(self, rule: Record, frame: Frame, n_features: int, n_classes: int = 0):
        super().__init__(frame, n_features)
        self.rule = rule
        self.number_of = np.full(n_classes, -1, np.int32)
        self.sizes = np.array([1, 0, 0, 0, 0])  # the constant coordinate has a slot
        self.columns_of = np.zeros(FIRST_SLOTS, np.uint32)
        self.table: loop.Table = self._lines(FIRST_SLOTS, FIRST_LABELS)

    # -- what estimators read

    @property
    def n_classes(self) -> int:  # type: ignore[override]  # a number elsewhere; here it grows
        return len(self.number_of)

    @property
    def columns(self) -> int:  # type: ignore[override]  # a number elsewhere; here it grows
        return len(self.number_of)

    @property
    def n_seen(self) -> int:
        """Labels of the texts that were learned."""
        return int(self.sizes[loop.SEEN])

    @property
    def n_slots(self) -> int:
        """Columns with storage, and the constant coordinate."""
        return int(self.sizes[loop.SLOTS])

    @property
    def in_lists(self) -> bool:
        """Whether each column has a list of labels."""
        return isinstance(self.table, loop.Lists)

    @property
    def n_bytes(self) -> int:
        """Memory of the table, without the array of slots by column."""
        return sum(int(a.nbytes) for a in self.table[1:]) + int(self.columns_of.nbytes)

    @property
    def n_pairs(self) -> int:
        """Pairs of a column and a label that have a weight of their own."""
        if isinstance(self.table, loop.Lists):
            return int(self.table.length[: self.n_slots].sum())
        return self.n_slots * self.n_seen

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return 8.0 * (entries + 16.0)

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return frozen(codes, np.int32)

    # -- tables

    def _slot_of(self) -> np.ndarray:
        return np.zeros(self.n_features, np.int32)

    def _lines(self, slots: int, labels: int) -> loop.LabelLines:
        shape, dtype = (slots, labels), self.frame.dtype
        return loop.LabelLines(self._slot_of(), np.zeros(shape, dtype), np.full(shape, loop.START, dtype))

    def _scratch(self) -> loop.Room:
        n = self._most_labels()
        s, v, sign, d, beta = np.zeros((5, n))
        return loop.Room(s, v, sign, d, beta, np.zeros(n + loop.RIVALS + 1, np.int64), np.zeros(n, np.int64))

    def _most_labels(self) -> int:
        """The labels that the table may have."""
        if isinstance(self.table, loop.LabelLines):
            return min(int(self.table.W.shape[1]), MOST_IN_LINES)
        return max(self.n_classes, 1)

    def _enlarge(self, n_new: int) -> None:
        """Make room for the next text, which has ``n_new`` labels that were not seen yet.

        The loop takes the lengths of ``columns_of`` and of the pool as its room. They are replaced last, so
        that an interruption leaves arrays that are long enough.
        """
        seen, slots = self.n_seen + n_new, len(self.columns_of)
        if self.n_slots + self.sizes[loop.NEXT_SLOTS] > slots:
            slots = max(2 * slots, int(self.n_slots + self.sizes[loop.NEXT_SLOTS]))
        if not isinstance(self.table, loop.LabelLines):
            self._enlarge_lists(slots)
        elif seen > MOST_IN_LINES:
            self.table = self._in_lists(self.table, slots)
        else:
            labels = self.table.W.shape[1]
            while labels < seen:
                labels *= 2
            W = stretched(self.table.W, slots, labels)
            self.table = self.table._replace(W=W, S=stretched(self.table.S, slots, labels, fill=loop.START))
        self.columns_of = stretched(self.columns_of, slots)

    def _enlarge_lists(self, slots: int) -> None:
        """One array after the other, so that few are there twice."""
        table = cast(loop.Lists, self.table)
        places, needed = len(table.label), int(self.sizes[loop.TOP] + self.sizes[loop.NEXT_PLACES])
        if needed > places:
            places = max(places + places // 4, needed)
            if places > MOST_PLACES:
                raise NumericalError(f"There are more than {MOST_PLACES} pairs of a column and a label.")
        by_slot = {name: stretched(getattr(table, name), slots) for name in ("start", "length", "room")}
        table = table._replace(**by_slot, S=stretched(table.S, slots, fill=loop.START))
        self.table = table = table._replace(weight=stretched(table.weight, places))
        self.table = table._replace(label=stretched(table.label, places))

    def _in_lists(self, lines: loop.LabelLines, slots: int) -> loop.Lists:
        """The table with a list for each slot: the weights that are not 0, and the smallest variance."""
        n, seen = self.n_slots, self.n_seen
        W, S = lines.W[:n, :seen], lines.S[:n, :seen]
        slot, label = np.nonzero(W)
        length = np.bincount(slot, minlength=n).astype(np.int32)
        sigma = np.full(slots, loop.START, S.dtype)
        sigma[:n] = S.min(axis=1, initial=loop.START)
        return self._lists(lines.slot_of, sigma, length, label.astype(np.int32), W[slot, label])

    def _lists(
        self,
        slot_of: np.ndarray,
        sigma: np.ndarray,
        length: np.ndarray,
        label: np.ndarray,
        weight: np.ndarray,
    ) -> loop.Lists:
        """Lists without room for more, one after the other."""
        slots, n = len(sigma), len(length)
        start = np.zeros(slots, np.int64)
        start[:n] = np.cumsum(length) - length
        self.sizes[loop.TOP] = len(label)
        places = max(FIRST_POOL, len(label))
        return loop.Lists(
            slot_of,
            sigma,
            start,
            stretched(length, slots),
            stretched(length, slots),
            stretched(label, places),
            stretched(np.ascontiguousarray(weight), places),
            np.zeros(32, np.int64),
        )

    # -- passes

    def run(
        self,
        rows: Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        """One pass. An interruption takes effect when all rows are learned."""
        at, interruption = np.zeros(1, np.int64), None
        ending = loop.ROOM
        while ending == loop.ROOM:
            try:
                ending = loop.run(
                    self.rule,
                    rows,
                    y,
                    c,
                    order,
                    self.table,
                    self.columns_of,
                    self.sizes,
                    self.number_of,
                    self._scratch(),
                    self.state,
                    at,
                    self._most_labels(),
                    self.frame.tol,
                    self._limit(),
                )
                if ending == loop.ROOM:
                    own = y[order[at[0]]]
                    self._enlarge(int(np.count_nonzero(self.number_of[own[own >= 0]] < 0)))
            except (KeyboardInterrupt, SystemExit) as error:
                if interruption is not None:
                    raise
                interruption = error
                ending = loop.ROOM
            except MemoryError as error:
                error.log = [empty_log(0, 1)]  # type: ignore[attr-defined]  # texts before it are kept
                raise
        if ending != scalars.DONE:
            i = int(order[at[0]])
            self._raise(ending, None, empty_log(0, 1), i, float("nan"), float(rows.sq[i]))
        if interruption is not None:
            raise interruption
        return [empty_log(0, 1)]

    def _limit(self) -> float:
        return 1e70 if self.frame.dtype == np.float32 else 1e300

    def scores(self, rows: Csr, readout: str) -> np.ndarray:
        """(rows, labels): <w, x>, and -1 for labels of no text that was learned."""
        out = np.full((len(rows.sq), self.n_classes), -1.0)
        found = np.zeros((len(rows.sq), self.n_seen))
        loop.scores(self.table, rows, found)
        seen = np.flatnonzero(self.number_of >= 0)
        out[:, seen] = found[:, self.number_of[seen]]
        return out

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(labels, features + 1), or the weights of these features and of the constant."""
        if columns is None:
            columns = np.arange(self.n_features)
        slots = np.append(self.table.slot_of[columns], 0)
        there = np.append(slots[:-1] > 0, True)
        out = np.zeros((self.n_classes, len(slots)))
        for code in np.flatnonzero(self.number_of >= 0).tolist():
            out[code, there] = self._of_label(int(self.number_of[code]))[slots[there]]
        return out

    def _of_label(self, number: int) -> np.ndarray:
        """(slots,): the weights of a label."""
        if isinstance(self.table, loop.LabelLines):
            return self.table.W[: self.n_slots, number].astype(np.float64)
        found = np.zeros(self.n_slots)
        slot, q = self._pairs(self.table)
        own = self.table.label[q] == number
        found[slot[own]] = self.table.weight[q[own]]
        return found

    def _pairs(self, table: loop.Lists) -> tuple[np.ndarray, np.ndarray]:
        """(slot, place in the pool) of every pair, slot by slot."""
        n = self.n_slots
        length = table.length[:n].astype(np.int64)
        slot = np.repeat(np.arange(n), length)
        first = np.cumsum(length) - length
        return slot, np.repeat(table.start[:n] - first, length) + np.arange(length.sum())

    # -- labels that appear

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        self.add_classes(np.array([code]))

    def add_classes(self, codes: np.ndarray) -> None:
        """Labels that were not seen yet; ``codes`` are theirs among all labels, ascending."""
        self.number_of = np.insert(self.number_of, codes - np.arange(len(codes)), np.int32(-1))

    # -- copies

    def copy(self) -> Self:
        made = super().copy()
        made.table = type(self.table)(*(a.copy() for a in self.table))
        return made

    def copy_for_class(self, logged: bool) -> Self:
        return self._shallow_copy()  # add_class replaces an array

    def make_writable(self) -> None:
        super().make_writable()
        if not all(a.flags.writeable for a in self.table):
            self.table = type(self.table)(*map(np.array, self.table))

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        before = dict(vars(self))
        arrays = [
            a for a in (*before.values(), *self.table) if isinstance(a, np.ndarray) and a.flags.writeable
        ]
        saved = [(a, a.copy()) for a in arrays]

        def restore() -> None:
            vars(self).update(before)
            for a, values in saved:
                a[...] = values

        return restore

    # -- files

    def kept(self) -> Kept:
        """The table without room for more; slots by their columns, lists by their labels."""
        n, seen, table = self.n_slots, self.n_seen, self.table
        order = np.append(0, 1 + np.argsort(self.columns_of[1:n], kind="stable"))
        columns = self.columns_of[order[1:]]
        if isinstance(table, loop.LabelLines):
            nothing = np.zeros(0, np.int32)
            S, W = table.S[order, :seen], table.W[order, :seen]
            return Kept(columns, S.copy(), W.copy(), nothing, nothing, np.zeros(0, self.frame.dtype))
        slot, q = self._pairs(table)
        place = np.argsort(order)  # of each slot among the sorted ones
        sorted_ = np.lexsort((table.label[q], place[slot]))
        label, weight = table.label[q][sorted_], table.weight[q][sorted_]
        W = np.zeros((0, 0), self.frame.dtype)
        return Kept(columns, table.S[order], W, table.length[order], label, weight)

    def stored(self) -> dict[str, Any]:
        names = ("frame", "n_features", "state", "rule", "number_of", "df")
        attributes = {name: vars(self)[name] for name in names if vars(self).get(name) is not None}
        return attributes | {f"kept_{name}": a for name, a in self.kept()._asdict().items()}

    def __getstate__(self) -> dict[str, Any]:
        return self.stored() | ({} if self.from_zero else {"from_zero": False})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.unfold()

    def unfold(self) -> None:
        """Make the table of what was kept in a file, which has been checked."""
        kept = Kept(*(vars(self).pop(f"kept_{name}") for name in Kept._fields))
        n, seen = len(kept.columns) + 1, int(np.count_nonzero(self.number_of >= 0))
        self.sizes = np.array([n, seen, 0, 0, 0])
        self.columns_of = np.append(np.uint32(0), kept.columns).astype(np.uint32)
        slot_of = self._slot_of()
        slot_of[kept.columns] = np.arange(1, n)
        if kept.S.ndim == 2:
            labels = FIRST_LABELS
            while labels < seen:
                labels *= 2
            self.table = loop.LabelLines(
                slot_of, stretched(kept.W, n, labels), stretched(kept.S, n, labels, fill=loop.START)
            )
        else:
            self.table = self._lists(slot_of, kept.S.copy(), kept.length, kept.label, kept.weight)


def stretched(a: np.ndarray, *shape: int, fill: float = 0.0) -> np.ndarray:
    """The array with more room, which is filled."""
    if a.shape == shape:
        return a
    made = np.full(shape, fill, a.dtype) if fill else np.zeros(shape, a.dtype)
    made[tuple(slice(n) for n in a.shape)] = a
    return made
