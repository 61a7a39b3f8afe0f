"""Rows that are read where they are learned: parts of files, slices of arrays in files, blocks of Dask.

A source is small: paths and numbers, or the names of tasks. Whoever gets it reads the rows.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import JsonObject
from ..io.gathering import gathered
from ..io.parts import FilePart, WholeFile, cut
from ..io.records import Batch, Limits
from ..io.stream import Stream, open_stream
from . import array_files


class RowSource:
    """Where the rows of a shard come from."""

    pieces: tuple[Any, ...] = ()  #: what Dask has to compute first; ``with_pieces`` takes the results

    def read(self) -> Batch:
        """The rows with labels, and weights where there are some."""
        raise NotImplementedError

    def with_pieces(self, pieces: Sequence[Any]) -> RowSource:
        """The same source with these results in place of what had to be computed."""
        return self

    def anew(self) -> RowSource:
        """The same source with other names of its tasks, so that they are computed again."""
        return self


# -------------------------------------------------------------------------------------------- files of rows


class FileRows(RowSource):
    """Parts of files in one of the formats of :mod:`perceptrons.io`."""

    def __init__(self, parts: Sequence[FilePart], options: JsonObject):
        self.parts = parts
        self.options = options  #: of :func:`perceptrons.io.open_stream`

    def read(self) -> Batch:
        with open_stream([part.source() for part in self.parts], **self.options) as stream:
            stream.prepare = None
            found = gathered(stream)
        if found is None:
            raise ValueError(f"{self} holds no rows.")
        if found.y is None:
            raise ValueError(f"{self} has no labels: give label_column, or labelled rows.")
        return found

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts))


def of_files(paths: Sequence[str], n_shards: int, options: JsonObject) -> list[FileRows]:
    """Sources of at most ``n_shards`` shards; large files are cut."""
    settled = _settled(paths, options)
    header = settled.get("header") is True  # "auto", where the format has none
    found = cut(paths, n_shards, settled["format"], header)
    return [FileRows(parts, settled) for parts in found]


def of_lists(shards: Sequence[Sequence[str]], options: JsonObject) -> list[FileRows]:
    """A source for each list of files."""
    settled = _settled([path for paths in shards for path in paths], options)
    return [FileRows(list(map(WholeFile, paths)), settled) for paths in shards]


def _settled(paths: Sequence[str], options: JsonObject) -> JsonObject:
    """The options, and what the first rows decide: every shard is read in the same way."""
    if isinstance(options.get("limits"), dict):  # as a model file stores them
        options = {**options, "limits": Limits(**options["limits"])}
    if options.get("missing") == "mean" and options.get("means") is None:
        raise ValueError(
            "missing='mean' takes the mean of the rows before, and a shard does not see them: give means=, "
            "one number per column, or missing='zero'."
        )
    with open_stream(list(paths), **{**options, "read_ahead": 0}) as stream:
        next(iter(stream), None)
        return {**options, **_decided(stream)}


def _decided(stream: Stream) -> JsonObject:
    found = dict(stream.layout)
    found.pop("means", None)
    return found


# ------------------------------------------------------------------------------------------ arrays in files


class ArraySlice(RowSource):
    """Rows ``start`` to ``stop`` - 1 of arrays in files: .npy, or .npz of an array or of a CSR matrix."""

    def __init__(self, X: str, y: str, start: int, stop: int):
        self.X, self.y, self.start, self.stop = X, y, start, stop

    def read(self) -> Batch:
        X, y = (array_files.read_rows(path, self.start, self.stop) for path in (self.X, self.y))
        for path, rows in ((self.X, X), (self.y, y)):
            if rows.shape[0] < self.stop - self.start:
                raise ValueError(f"{path} has fewer rows here than where the fit began.")
        return Batch(X, np.array(y), None, self.start)

    def __str__(self) -> str:
        return f"{self.X}, rows {self.start:,} to {self.stop - 1:,}"


def of_arrays(X: str, y: str, n_shards: int) -> list[ArraySlice]:
    """Sources of contiguous blocks of rows."""
    n_rows, n_labels = array_files.count_rows(X), array_files.count_rows(y)
    if n_shards > n_rows:
        raise ValueError(f"n_shards must be at most the number of rows, {n_rows}; got n_shards={n_shards}.")
    if n_rows != n_labels:
        raise ValueError(f"{X} has {n_rows} rows, and {y} has {n_labels} labels.")
    size, larger = divmod(n_rows, n_shards)
    ends = [s * size + min(s, larger) for s in range(n_shards + 1)]
    return [ArraySlice(X, y, start, stop) for start, stop in itertools.pairwise(ends)]


# ------------------------------------------------------------------------------------------- blocks of Dask


class DaskBlock(RowSource):
    """Rows that tasks of Dask make: numbers or texts, labels, perhaps weights."""

    def __init__(self, pieces: Sequence[Any], place: int):
        self.pieces, self.place = tuple(pieces), place

    def with_pieces(self, pieces: Sequence[Any]) -> DaskBlock:
        return DaskBlock(pieces, self.place)

    def anew(self) -> DaskBlock:
        from dask.graph_manipulation import clone

        return DaskBlock(clone(*self.pieces, seed=uuid.uuid4().hex), self.place)

    def read(self) -> Batch:
        X, y, *rest = computed(self.pieces)
        if X.shape[0] != len(y):
            raise ValueError(f"{self} has {X.shape[0]} rows and {len(y)} labels.")
        return Batch(X, np.asarray(y), np.asarray(rest[0], np.float64) if rest else None, 0)

    def __str__(self) -> str:
        return f"Block {self.place} of the rows"


def computed(pieces: Sequence[Any]) -> list[Any]:
    """The pieces, computed in this thread where they have not been computed yet."""
    if not any(hasattr(piece, "__dask_graph__") for piece in pieces):
        return list(pieces)
    import dask

    return list(dask.compute(*pieces, scheduler="synchronous"))


def is_dask(X: object) -> bool:
    """Whether X is an array or a data frame of Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def of_dask(X: Any, y: Any, weights: Any = None) -> list[DaskBlock]:
    """A source for each block of rows of an array, or each partition of a data frame."""
    parts = [_blocks("X", X), _blocks("y", y, X)]
    if weights is not None:
        parts.append(_blocks("sample_weight", weights, X))
    sizes = {len(part) for part in parts}
    if len(sizes) > 1:
        raise ValueError(
            f"X and y must be cut into the same blocks of rows; X has {len(parts[0])}, y {len(parts[1])}."
        )
    return [DaskBlock(pieces, place) for place, pieces in enumerate(zip(*parts))]


def _blocks(name: str, a: Any, X: Any = None) -> list[Any]:
    if not is_dask(a):
        raise ValueError(
            f"{name} must be an array or a data frame of Dask, as X is, with the same blocks of rows; got "
            f"{type(a).__name__}."
        )
    if hasattr(a, "chunks"):
        if X is not None and hasattr(X, "chunks") and a.chunks[0] != X.chunks[0]:
            a = a.rechunk({0: X.chunks[0]}) if _known(a) and _known(X) else a
        a = a.rechunk({1: -1}) if a.ndim == 2 else a
    return list(np.ravel(a.to_delayed(optimize_graph=True)))


def _known(a: Any) -> bool:
    """Whether the numbers of rows of all blocks are known."""
    return not any(np.isnan(size) for size in a.chunks[0])
