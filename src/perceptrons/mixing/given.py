"""What ``fit`` was given: rows in memory, or a description of rows that each shard reads for itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import sources
from .array_files import is_array_file
from .places import path_for
from .sources import RowSource

if TYPE_CHECKING:
    from .fitting import Settings


def sources_of(X: Any, y: Any, sample_weight: Any, how: Settings) -> Sequence[RowSource] | None:
    """A source for each shard; None where the rows are in memory."""
    if sources.is_dask(X):
        _refuse(how.shards, "shards", "every block of rows of X is a shard")
        return sources.of_dask(X, y, sample_weight)
    files = _lists_of_files(how)
    if files is not None:
        for name, value in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            _refuse(value, name, "shards has the files of all rows")
        return sources.of_lists(files, dict(how.reading or {}))
    if is_array_file(X):
        _refuse(how.shards, "shards", "X is a file, whose rows are cut into n_shards blocks")
        _refuse(sample_weight, "sample_weight", "X is a file")
        if not is_array_file(y):
            raise ValueError(f"X is a file of an array, so y must be one, too: .npy or .npz; got {y!r}.")
        return sources.of_arrays(path_for(how.backend, X), path_for(how.backend, y), how.n_shards)
    if y is None and _are_paths([X] if _is_path(X) else X):
        _refuse(how.shards, "shards", "X has the files, which are cut into n_shards parts")
        _refuse(sample_weight, "sample_weight", "X has the files; reading={'weight_column': …} reads weights")
        paths = [path_for(how.backend, path) for path in ([X] if _is_path(X) else X)]
        return sources.of_files(paths, how.n_shards, dict(how.reading or {}))
    _refuse(how.reading, "reading", "it is for files, and X is in memory")
    return None


def _refuse(value: Any, name: str, why: str) -> None:
    if value is not None:
        raise ValueError(f"{name} must be left out: {why}.")


def _is_path(x: object) -> bool:
    return isinstance(x, str | os.PathLike)


def _are_paths(x: Any) -> bool:
    return isinstance(x, list | tuple) and len(x) > 0 and all(map(_is_path, x))


def _lists_of_files(how: Settings) -> list[list[str]] | None:
    """The files of each shard, where shards are given by files: one, or a list of them."""
    shards = how.shards
    if not isinstance(shards, list | tuple) or not shards:
        return None
    if not all(_is_path(shard) or _are_paths(shard) for shard in shards):
        return None
    lists = [[shard] if _is_path(shard) else shard for shard in shards]
    return [[path_for(how.backend, path) for path in paths] for paths in lists]
