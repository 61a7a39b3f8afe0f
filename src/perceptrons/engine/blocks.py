"""Exact blocks: rows known by their kernel values, many at a time.

A block of rows is looked at through two matrices of kernel values: with the support set, which gives the
scores of all its rows under the current w, and with itself, by which an update on one row moves the scores
of the later ones. Every decision is the one that would have been made one row at a time, whatever the size
of the blocks.

What is here works on numpy arrays and on tensors alike; :mod:`perceptrons.engine.spaces.dual` resolves blocks
with the compiled loops, :mod:`perceptrons.engine.device` on a device.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .scalars import DRIFT, DRIFT_LIMIT, SCALE, N

BLOCK_BYTES = 1 << 28  #: kernel values of one block with the support set and with itself
LARGEST_BLOCK = 1024
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

    def __init__(self, rows: Any = None, numbers: Any = None):
        self.rows = rows  #: a prepared collection, or None
        self.numbers = np.empty(0, np.int64) if numbers is None else numbers  #: as the caller counts rows

    def __len__(self) -> int:
        return len(self.numbers)

    def append(self, rows: Any, numbers: np.ndarray) -> None:
        if len(numbers):
            before = rows[:0] if self.rows is None else self.rows
            self.rows = before.join(rows)  # a copy: the rows may be a view of the caller's
            self.numbers = np.concatenate([self.numbers, numbers])


class Panel:
    """Kernel values between the rows of a collection and the support set, kept while rows are read again.

    Values are kept in sheets of some support rows each, as many as fit the limit. A row makes up for
    the support rows that came in since its last visit. All values of a row are used at every visit, so that
    none is less recently used than the rest: dropping the oldest would drop what is needed next.
    """

    def __init__(
        self,
        kernel: Any,
        support: Support,
        n_rows: int,
        limit: float,
        itemsize: int,
        index: Any,
        sheet: int,
    ):
        self.sheet = sheet  #: support rows whose values are computed, and kept, together
        self.index = index  #: makes an index of row numbers
        self.kernel = kernel
        self.support = support
        self.n_rows = n_rows
        self.n_sheets = int(limit // max(1, itemsize * n_rows * self.sheet))
        self.sheets: list[Any] = []
        self.filled = np.zeros(n_rows, np.int64)  #: how many of its values each row has in the sheets

    def product(self, part: Any, ids: np.ndarray, at: Any, coefficients: Any) -> Any:
        """(rows, columns): kernel values with the support set, times the coefficients.

        ``part`` are the rows, ``ids`` their numbers and ``at`` the index made of those.
        """
        total: Any = None
        n_support = len(coefficients)
        for start in range(0, n_support, self.sheet):
            stop = min(start + self.sheet, n_support)
            if start < self.n_sheets * self.sheet:
                values = self._kept(part, ids, at, start, stop)
            else:
                values = self.kernel.matrix(part, self.support.rows[start:stop])
            share = values @ coefficients[start:stop]
            total = share if total is None else total + share
        self.filled[ids] = min(n_support, self.n_sheets * self.sheet)
        return total

    def _kept(self, part: Any, ids: np.ndarray, at: Any, start: int, stop: int) -> Any:
        """The values from one sheet, after those that are missing have been filled in."""
        filled = self.filled[ids]
        lacking = np.flatnonzero(filled < stop)
        if len(lacking):
            first = max(start, int(filled[lacking].min()))
            some = part if len(lacking) == len(ids) else part[self.index(lacking)]
            values = self.kernel.matrix(some, self.support.rows[first:stop])
            if start == len(self.sheets) * self.sheet:
                self.sheets.append(_empty_like(values, (self.n_rows, self.sheet)))
            rows = at if len(lacking) == len(ids) else self.index(ids[lacking])
            self.sheets[start // self.sheet][rows, first - start : stop - start] = values
        return self.sheets[start // self.sheet][at][:, : stop - start]


def span(ids: np.ndarray) -> Any:
    """The same rows as a slice, where they follow each other: a view instead of a copy."""
    if len(ids) and ids[-1] - ids[0] == len(ids) - 1 and (np.diff(ids) == 1).all():
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids


def _empty_like(values: Any, shape: tuple[int, ...]) -> Any:
    return np.empty(shape, values.dtype) if isinstance(values, np.ndarray) else values.new_empty(shape)


def _zeros_like(values: Any, shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, values.dtype) if isinstance(values, np.ndarray) else values.new_zeros(shape)


class Blocks:
    """Passes over one collection of rows, in blocks.

    A subclass holds the coefficients: it hands them out, resolves a block, and drops the places that no
    update has used.
    """

    sheet = SHEET

    def __init__(
        self,
        kernel: Any,
        rows: Any,
        constant: float,
        support: Support,
        block_size: int | str,
        limit: float,
        itemsize: int,
        numbers: np.ndarray | None = None,
    ):
        n = len(rows)
        self.kernel = kernel
        self.rows = rows
        self.constant = constant  #: B^2, added to every kernel value
        self.support = support
        self.block_size = block_size
        self.itemsize = itemsize
        self.numbers = np.arange(n) if numbers is None else numbers
        self.tell: Any = None  #: is called with the share of the pass that is done
        self.where = np.full(n, -1)  #: places of the rows in the support set
        self.panel = Panel(kernel, support, n, limit, itemsize, self.index, self.sheet)

    # ------------------------------------------------------------ what a subclass does

    def index(self, ids: np.ndarray) -> Any:
        """Row numbers as an index into arrays of the subclass's kind."""
        return span(ids)

    def coefficients(self) -> Any:
        """(support rows, columns): in units of the stored weights."""
        raise NotImplementedError

    def make_room(self, n: int) -> None:
        """There may be up to n support rows."""
        raise NotImplementedError

    def resolve(
        self, F: Any, G: Any, ids: np.ndarray, at: Any, position: np.ndarray, keep_log: bool
    ) -> tuple[list[Any], Any]:
        """Show the rows of the block to the rule, in order; answers logs, one per learner, and an error.

        F is (rows, columns), ``at`` the index made of the row numbers ``ids``. A log has the fields of
        :class:`perceptrons.engine.linear.Log`.
        """
        raise NotImplementedError

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
        error = None
        while start < len(order) and error is None:
            stop = start + self.size()
            error = self._run_block(order[start:stop], logs, keep_log)
            start = stop
            if self.tell is not None:
                self.tell(min(1.0, stop / len(order)))
        joined = [Updates.joined(parts, n) for parts, n in zip(logs, n_columns, strict=True)]
        if error is not None:
            error.log = joined
            raise error
        return joined

    def size(self) -> int:
        """How many rows the next block has."""
        if self.block_size != "auto":
            return int(self.block_size)
        if self.kernel.by_pairs:
            return PAIRS_BLOCK
        by_memory = BLOCK_BYTES // (self.itemsize * (len(self.support) + LARGEST_BLOCK))
        return int(np.clip(by_memory, 1, LARGEST_BLOCK))

    def _run_block(self, ids: np.ndarray, logs: list[list[Updates]], keep_log: bool) -> Any:
        at = self.index(ids)
        part = self.rows[at]
        F = self.scores(part, ids, at)
        G = self.kernel.matrix(part, part)
        if self.constant:
            G += self.constant
        n_support = len(self.support)
        fresh = ids[self.where[ids] < 0]
        fresh = np.unique(fresh) if self.repeats else fresh
        stop = n_support + len(fresh)
        self.where[fresh] = np.arange(n_support, stop)
        position = self.where[ids]
        self.make_room(stop)
        found, error = self.resolve(F, G, ids, at, position, keep_log)
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
        if any(s[DRIFT] > DRIFT_LIMIT * tol * s[N] for s, tol in states):
            norms = self.squared_norms()
            norms = norms if len(norms) == len(states) else [sum(norms)]  # of prototypes, all together
            for (s, _), norm2 in zip(states, norms, strict=True):
                s[N] = s[SCALE] ** 2 * max(0.0, float(norm2))
                s[DRIFT] = 0.0
            self.restate()

    def scores(self, part: Any, ids: np.ndarray, at: Any) -> Any:
        """(rows, columns): scores of rows of the collection under the stored weights."""
        coefficients = self.coefficients()
        if not len(coefficients):
            return _zeros_like(coefficients, (len(ids), coefficients.shape[1]))
        F = self.panel.product(part, ids, at, coefficients)
        if self.constant:
            F += self.constant * coefficients.sum(0)
        return F

    def squared_norms(self) -> Any:
        """(columns,): squared lengths of the stored weights, computed anew from all pairs of support rows."""
        coefficients = self.coefficients()
        total = 0.0
        for start in range(0, len(coefficients), LARGEST_BLOCK):
            part = self.support.rows[start : start + LARGEST_BLOCK]
            F = self.kernel.matrix(part, self.support.rows) @ coefficients
            total = total + (F * coefficients[start : start + LARGEST_BLOCK]).sum(0)
        return total + self.constant * coefficients.sum(0) ** 2

    def append(self, ids: np.ndarray) -> None:
        """These rows of the collection join the support set."""
        if len(ids):
            self.support.append(self.rows[self.index(ids)], self.numbers[ids])
