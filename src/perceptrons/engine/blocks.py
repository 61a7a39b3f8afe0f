"""Exact blocks: rows known by their kernel values, many at a time.

A block of rows has two matrices of kernel values: with the support set, which gives the scores of all its
rows under the current w, and with itself, by which an update on one row changes the scores of the later ones.
Every decision is the one that would have been made one row at a time, whatever the size of the blocks.

What is here works on numpy arrays and on tensors; :mod:`perceptrons.engine.spaces.dual` resolves blocks
with the compiled loops, :mod:`perceptrons.engine.device.resolve` on a device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .loops.scalars import DRIFT, DRIFT_LIMIT, SCALE, N

if TYPE_CHECKING:
    from .._types import AnyMatrix, Index, UpdateColumns
    from ..kernels import Kernel
    from .earlier_scores import EarlierScores

BLOCK_BYTES = 1 << 28  #: kernel values of one block with the support set and with itself
SMALLEST_BLOCK, LARGEST_BLOCK = 64, 1024
PAIRS_BLOCK = 32  #: for kernels that are called pair by pair: values within a block are mostly not needed
SHEET = 1024  #: support rows whose kernel values are computed, and kept, together


class Updates(NamedTuple):
    """Updates in order, as a journal takes them."""

    row: np.ndarray  #: int64: which row of the collection
    example: np.ndarray  #: int64: t of the update
    keep: np.ndarray
    alpha: np.ndarray  #: (entries, columns): w_r <- keep w_r + alpha_r x
    position: np.ndarray  #: int64: where the row is in the support set

    @classmethod
    def joined(cls, parts: list[Updates], n_columns: int) -> Updates:
        none = np.empty(0, np.int64)
        parts = [cls(none, none, np.empty(0), np.empty((0, n_columns)), none), *parts]
        return cls._make(np.concatenate(column) for column in zip(*parts, strict=True))


class Support:
    """The rows that w is made of, in the order in which they came in."""

    def __init__(self, rows: Any = None, numbers: np.ndarray | None = None):
        self.rows = rows  #: a collection that the kernel has prepared, or None
        self.numbers = np.empty(0, np.int64) if numbers is None else numbers  #: as the caller counts rows

    def __len__(self) -> int:
        return len(self.numbers)

    def append(self, rows: Any, numbers: np.ndarray) -> None:
        if len(numbers):
            before = rows[:0] if self.rows is None else self.rows
            self.rows = before.join(rows)  # a copy: the rows may be a view of the caller's
            self.numbers = np.concatenate([self.numbers, numbers])


class Piece(NamedTuple):
    """The rows of a block."""

    ids: np.ndarray  #: their numbers
    at: Index  #: made of those
    part: Any  #: the rows themselves, a collection
    G: AnyMatrix  #: (rows, rows): kernel values, the constant included


class Panel:
    """Kernel values between the rows of a collection and the support set, kept while rows are read again.

    Values are kept in sheets of some support rows each, as many as fit the limit. A row makes up for
    the support rows that came in since its last visit. All values of a row are used at every visit, so that
    none is less recently used than the rest: dropping the oldest would drop what is needed next.
    """

    def __init__(
        self,
        kernel: Kernel,
        support: Support,
        n_rows: int,
        limit: float,
        itemsize: int,
        index: Callable[[np.ndarray], Index],
        sheet: int,
    ):
        self.sheet = sheet  #: support rows whose values are computed, and kept, together
        self.index = index  #: makes an index of row numbers
        self.kernel = kernel
        self.support = support
        self.n_rows = n_rows
        self.limit = limit  #: bytes
        self.sheet_bytes = max(1, itemsize * n_rows * sheet)
        self.sheets: list[AnyMatrix] = []
        self.filled = np.zeros(n_rows, np.int64)  #: how many of its values each row has in the sheets

    @property
    def n_sheets(self) -> int:
        """How many sheets there may be."""
        return int(self.limit // self.sheet_bytes)

    def make_room(self, n_bytes: float) -> bool:
        """Give up that much of the limit, if no sheet has it already."""
        if self.limit - n_bytes < len(self.sheets) * self.sheet_bytes:
            return False
        self.limit -= n_bytes
        return True

    def fill(self, piece: Piece, n_support: int) -> None:
        """Make up for the support rows that the rows of a piece have not met, as far as values are kept."""
        filled = self.filled[piece.ids]
        n_kept = min(n_support, self.n_sheets * self.sheet)
        lowest = int(filled.min())
        for start in range(lowest // self.sheet * self.sheet, n_kept, self.sheet):
            stop = min(start + self.sheet, n_kept)
            lacking = np.flatnonzero(filled < stop)
            if not len(lacking):
                continue
            every = len(lacking) == len(filled)
            part = piece.part if every else piece.part[self.index(lacking)]
            at = piece.at if every else self.index(piece.ids[lacking])
            first = max(start, int(filled[lacking].min()))
            values = self.kernel.matrix(part, self.support.rows[first:stop])
            shaped(self.kernel, values, len(lacking), stop - first)
            if start == len(self.sheets) * self.sheet:
                self.sheets.append(_empty_like(values, (self.n_rows, self.sheet)))
            self.sheets[start // self.sheet][at, first - start : stop - start] = values
        self.filled[piece.ids] = np.maximum(filled, n_kept)

    def product(self, piece: Piece, coefficients: AnyMatrix) -> AnyMatrix:
        """(rows, columns): kernel values with the support set, times the coefficients."""
        total: AnyMatrix = None
        n_support = len(coefficients)
        self.fill(piece, n_support)
        for start in range(0, n_support, self.sheet):
            stop = min(start + self.sheet, n_support)
            if start < self.n_sheets * self.sheet:
                values = self.sheets[start // self.sheet][piece.at][:, : stop - start]
            else:
                values = self.kernel.matrix(piece.part, self.support.rows[start:stop])
                shaped(self.kernel, values, len(piece.ids), stop - start)
            share = values @ coefficients[start:stop]
            total = share if total is None else total + share
        return total


def shaped(kernel: Kernel, values: AnyMatrix, n: int, m: int) -> AnyMatrix:
    """Kernel values between n objects and m, if that is what they are; the kernel may be the user's."""
    if tuple(values.shape) != (n, m):
        raise ValueError(f"{kernel} must return {n} x {m} values; it returned shape {tuple(values.shape)}.")
    return values


def span(ids: np.ndarray) -> slice | np.ndarray:
    """The same rows as a slice, where they follow each other: a view instead of a copy."""
    if len(ids) and ids[-1] - ids[0] == len(ids) - 1 and (np.diff(ids) == 1).all():
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids


def _empty_like(values: AnyMatrix, shape: tuple[int, ...]) -> AnyMatrix:
    return np.empty(shape, values.dtype) if isinstance(values, np.ndarray) else values.new_empty(shape)


def _zeros_like(values: AnyMatrix, shape: tuple[int, ...]) -> AnyMatrix:
    return np.zeros(shape, values.dtype) if isinstance(values, np.ndarray) else values.new_zeros(shape)


def _norm_tolerance(tol: float) -> float:
    """How far, in proportion, a norm may drift: all pairs of support rows are a high price in float32."""
    return DRIFT_LIMIT * tol if tol < 1e-9 else 1e-2


class Blocks:
    """Passes over one collection of rows, in blocks.

    A subclass holds the coefficients: it hands them out, resolves a block, and drops the places that no
    update has used.
    """

    sheet = SHEET

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        constant: float,
        support: Support,
        block_size: int | str,
        limit: float,
        itemsize: int,
        numbers: np.ndarray | None = None,
        index: Callable[[np.ndarray], Index] | None = None,
    ):
        n = len(rows)
        #: makes an index of row numbers
        self.index: Callable[[np.ndarray], Index] = span if index is None else index
        self.kernel = kernel
        self.rows = rows
        self.constant = constant  #: B^2, added to every kernel value
        self.support = support
        self.block_size = block_size
        self.itemsize = itemsize
        self.numbers = np.arange(n) if numbers is None else numbers
        self.tell: Callable[[float], None] | None = None  #: is called with the share of the pass that is done
        self.where = np.full(n, -1)  #: places of the rows in the support set
        #: values within blocks that come again in every epoch, by their first row and the row after the last
        self.grams: dict[tuple[int, int], AnyMatrix] = {}
        self.panel = Panel(kernel, support, n, limit, itemsize, self.index, self.sheet)

    # ------------------------------------------------------------ what a subclass does

    def coefficients(self) -> AnyMatrix:
        """(support rows, columns): in units of the stored weights."""
        raise NotImplementedError

    def make_room(self, n: int) -> None:
        """There may be up to n support rows."""
        raise NotImplementedError

    def resolve(
        self, F: AnyMatrix, piece: Piece, position: np.ndarray, keep_log: bool
    ) -> tuple[Sequence[UpdateColumns], Exception | None]:
        """Apply the rule to the rows of the block, in order; return logs, one per learner, and an error.

        F is (rows, columns), ``position`` the places of the rows. A log has the fields of
        :class:`perceptrons.engine.loops.linear.Log`.
        """
        raise NotImplementedError

    def record_scores(self, earlier: EarlierScores) -> bool:
        """Fill ``earlier`` during the next pass; False: it cannot be done here."""
        return False

    def used(self, first: int, stop: int) -> np.ndarray:
        """Which of these places have a coefficient."""
        raise NotImplementedError

    def compact(self, first: int, kept: np.ndarray, stop: int) -> None:
        """Move the places ``first + kept`` together, and clear the others up to ``stop``."""
        raise NotImplementedError

    def states(self) -> list[tuple[np.ndarray, float]]:
        """The scalars of each learner, with its tolerance: (state, tol)."""
        raise NotImplementedError

    def restate(self) -> None:
        """The scalars were changed."""

    # ------------------------------------------------------------ the pass

    def run(self, order: np.ndarray, n_columns: list[int], keep_log: bool) -> list[Updates]:
        """One pass over ``order``; ``n_columns`` has an entry per learner."""
        logs: list[list[Updates]] = [[] for _ in n_columns]
        self.repeats = len(order) > 0 and np.bincount(order).max() > 1
        start = 0
        try:
            while start < len(order):
                ids = order[start : start + self.size(start)]
                start += len(ids)
                self.to_come = order[start:]
                error = self._run_block(self.piece(ids), logs, keep_log)
                if error is not None:
                    raise error
                if self.tell is not None:
                    self.tell(start / len(order))
        except BaseException as error:  # a function of the user's has failed, or the user interrupts
            error.log = self._joined(logs, n_columns)  # type: ignore[attr-defined]
            raise
        return self._joined(logs, n_columns)

    @staticmethod
    def _joined(logs: list[list[Updates]], n_columns: list[int]) -> list[Updates]:
        return [Updates.joined(parts, n) for parts, n in zip(logs, n_columns, strict=True)]

    def size(self, start: int) -> int:
        """How many rows the block has that begins there.

        No more than there are support rows, so that the values within the block are not the larger part; a
        power of 2 that begins at a multiple of itself, so that blocks are the same in every epoch.
        """
        if self.block_size != "auto":
            return int(self.block_size)
        if self.kernel.by_pairs:
            return PAIRS_BLOCK
        by_memory = BLOCK_BYTES // (self.itemsize * (len(self.support) + LARGEST_BLOCK))
        rows = int(np.clip(min(by_memory, len(self.support)), SMALLEST_BLOCK, LARGEST_BLOCK))
        rows = 1 << (rows.bit_length() - 1)
        return rows - start % rows

    def piece(self, ids: np.ndarray) -> Piece:
        """The rows of a block, with their kernel values among themselves."""
        at = self.index(ids)
        part = self.rows[at]
        key = (at.start, at.stop) if isinstance(at, slice) else None  # rows in the order of the collection
        G = None if key is None else self.grams.get(key)
        if G is None:
            G = shaped(self.kernel, self.kernel.matrix(part, part), len(ids), len(ids))
            if self.constant:
                G += self.constant
            if key is not None and self.panel.make_room(float(self.itemsize) * len(ids) ** 2):
                self.grams[key] = G
        return Piece(ids, at, part, G)

    def _run_block(self, piece: Piece, logs: list[list[Updates]], keep_log: bool) -> Exception | None:
        ids, n_support = piece.ids, len(self.support)
        F = self.scores(piece)
        fresh = ids[self.where[ids] < 0]
        fresh = np.unique(fresh) if self.repeats else fresh
        stop = n_support + len(fresh)
        self.where[fresh] = np.arange(n_support, stop)
        position = self.where[ids]
        self.make_room(stop)
        found, error = self.resolve(F, piece, position, keep_log)
        used = self.used(n_support, stop)
        for log in found:
            logged = position[log.row]
            used[logged[logged >= n_support] - n_support] = True
        kept = np.flatnonzero(used)
        self.compact(n_support, kept, stop)
        self.where[fresh] = -1
        self.where[fresh[kept]] = np.arange(n_support, n_support + len(kept))
        self.append(fresh[kept])
        for log, parts in zip(found, logs, strict=keep_log):
            rows = ids[log.row]
            parts.append(Updates(rows, log.example, log.keep, log.alpha, self.where[rows]))
        self._keep_norms()
        return error

    def _keep_norms(self) -> None:
        """Compute norms anew that rounding may have taken too far."""
        states = self.states()
        if any(s[DRIFT] > _norm_tolerance(tol) * s[N] for s, tol in states):
            norms = self.squared_norms()
            norms = norms if len(norms) == len(states) else [sum(norms)]  # of prototypes, all together
            for (s, _), norm2 in zip(states, norms, strict=True):
                s[N] = s[SCALE] ** 2 * max(0.0, float(norm2))
                s[DRIFT] = 0.0
            self.restate()

    def scores(self, piece: Piece) -> AnyMatrix:
        """(rows, columns): scores of the rows of a block under the stored weights."""
        coefficients = self.coefficients()
        if not len(coefficients):
            return _zeros_like(coefficients, (len(piece.ids), coefficients.shape[1]))
        F = self.panel.product(piece, coefficients)
        if self.constant:
            F += self.constant * coefficients.sum(0)
        return F

    def squared_norms(self) -> AnyMatrix:
        """(columns,): squared lengths of the stored weights, computed anew from all pairs of support rows."""
        coefficients = self.coefficients()
        total: AnyMatrix = 0.0
        for start in range(0, len(coefficients), LARGEST_BLOCK):
            part = self.support.rows[start : start + LARGEST_BLOCK]
            F = self.kernel.matrix(part, self.support.rows) @ coefficients
            total = total + (F * coefficients[start : start + LARGEST_BLOCK]).sum(0)
        return total + self.constant * coefficients.sum(0) ** 2

    def append(self, ids: np.ndarray) -> None:
        """These rows of the collection join the support set."""
        if len(ids):
            self.support.append(self.rows[self.index(ids)], self.numbers[ids])
