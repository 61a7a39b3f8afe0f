"""Shards: parts of the rows, each with a number, that can be loaded wherever they are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..core.passes import CheckedRows
from ..engine.intake import frozen
from ..rows import Csr, Dense

if TYPE_CHECKING:
    from .jobs import Job


class Shard(Protocol):
    """A description of some rows. It is small, or stays in this process."""

    @property
    def number(self) -> int:
        """Its place among the shards, from 0."""

    @property
    def n_rows(self) -> int: ...

    @property
    def row_numbers(self) -> np.ndarray | None:
        """What errors call the rows; None: their places within the shard."""

    def load(self, job: Job) -> CheckedRows:
        """The rows, checked and in the frame of the job."""


class ShardInMemory(NamedTuple):
    """Rows of an array that was checked as a whole."""

    number: int
    rows: CheckedRows
    row_numbers: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.row_numbers)

    def load(self, job: Job) -> CheckedRows:
        return self.rows


def blocks(n_rows: int, n_shards: int) -> list[np.ndarray]:
    """Contiguous blocks of row numbers, whose sizes differ by one at most."""
    if n_shards > n_rows:
        raise ValueError(f"n_shards must be at most the number of rows, {n_rows}; got n_shards={n_shards}.")
    return np.array_split(np.arange(n_rows), n_shards)


def as_lists(shards: Any) -> list[np.ndarray]:
    """Lists of row numbers, one for each shard, as arrays of their own."""
    if isinstance(shards, str) or not np.iterable(shards):
        raise ValueError(f"shards must be a list with the row numbers of each shard; got shards={shards!r}.")
    found = [np.array(shard) for shard in shards]
    for number, rows in enumerate(found):
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise ValueError(f"Every shard needs a list of row numbers; shard {number} is {rows!r}.")
    if not found:
        raise ValueError("shards must have at least one shard; got none.")
    return [rows.astype(np.int64) for rows in found]


def check_lists(found: Sequence[np.ndarray], n_rows: int) -> None:
    """Refuse numbers of rows that do not exist, and rows that no shard has; several may have the same row."""
    for number, rows in enumerate(found):
        wrong = rows[(rows < 0) | (rows >= n_rows)]
        if len(wrong):
            raise ValueError(
                f"shards must hold row numbers from 0 to {n_rows - 1}; shard {number} has {wrong[0]}."
            )
    left = np.setdiff1d(np.arange(n_rows), np.concatenate(found))
    if len(left):
        raise ValueError(f"Every row must be in a shard; row {left[0]} is in none of them.")


def in_memory(batch: CheckedRows, numbers: Sequence[np.ndarray]) -> list[ShardInMemory]:
    """The shards with these row numbers: views of the rows where the numbers ascend one by one."""
    return [ShardInMemory(k, rows_at(batch, own), frozen(own)) for k, own in enumerate(numbers)]


def rows_at(batch: CheckedRows, numbers: np.ndarray) -> CheckedRows:
    """Some rows of a batch, in this order."""
    rows = batch.rows
    assert isinstance(rows, (Dense, Csr))
    a, b = int(numbers[0]), int(numbers[-1]) + 1
    block = bool(np.array_equal(numbers, np.arange(a, b)))
    where: Any = slice(a, b) if block else numbers
    weights = batch.weights[where] if len(batch.weights) else batch.weights
    sq, codes = frozen(rows.sq[where]), batch.codes[where]
    if isinstance(rows, Dense):
        own: Dense | Csr = rows._replace(X=frozen(rows.X[where]), sq=sq)
    else:
        own = _csr_block(rows, a, b, sq) if block else _csr_rows(rows, numbers, sq)
    targets = None if batch.targets is None else frozen(batch.targets[where])
    return batch._replace(X=None, rows=own, codes=codes, weights=frozen(weights), targets=targets)


def _csr_block(rows: Csr, a: int, b: int, sq: np.ndarray) -> Csr:
    first, end = int(rows.indptr[a]), int(rows.indptr[b])
    indptr = frozen(rows.indptr[a : b + 1] - np.uint64(first))
    return rows._replace(
        data=frozen(rows.data[first:end]), indices=frozen(rows.indices[first:end]), indptr=indptr, sq=sq
    )


def _csr_rows(rows: Csr, numbers: np.ndarray, sq: np.ndarray) -> Csr:
    begins = rows.indptr[numbers].astype(np.int64)
    lengths = rows.indptr[numbers + 1].astype(np.int64) - begins
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], lengths)
    return rows._replace(
        data=frozen(rows.data[places]),
        indices=frozen(rows.indices[places]),
        indptr=frozen(indptr).view(np.uint64),
        sq=sq,
    )
