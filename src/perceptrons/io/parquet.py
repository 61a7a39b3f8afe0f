"""parquet, by pyarrow, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .hashed import Hash
from .labels import Labels
from .records import FormatError, Limits, Refusals, Texts, cast
from .sources import Source
from .tables import Column, Options

_MOST_ROWS = 1 << 16  # of a batch


class Parquet:
    """Reads parquet files; columns have the roles that they have in tables."""

    name = "parquet"

    def __init__(self, options: Options, refusals: Refusals, limits: Limits, batch_bytes: int):
        self.options, self.refusals, self.limits = options, refusals, limits
        self._batch_bytes = batch_bytes
        self.labels = Labels(options.labels, limits, refusals)
        self._hash = Hash(options.bits, options.seed, options.dtype)
        self._names: list[str] | None = None
        self._file = ""
        self.n_features: int | None = None

    def batches(self, source: Source) -> Iterator[tuple[Any, int]]:
        """Rows, labels and weights, and how many bytes of the file they account for."""
        pyarrow, parquet = _pyarrow(source.name)
        if not source.again:
            raise ValueError(f"{source.name} is a pipe, and parquet is read from its end: save it to a file.")
        self._file = source.name
        raw = source.open()
        try:
            file = parquet.ParquetFile(raw, pre_buffer=False)  # pre-buffering keeps whole row groups
            self._settle(file.schema_arrow.names)
            rows = 0
            total = max(1, file.metadata.num_rows)
            for part in file.iter_batches(self._rows_at_once(file.metadata), use_threads=False):
                first, rows = rows, rows + part.num_rows
                yield self._parsed(part, first, pyarrow), (source.size or 0) * rows // total
                del part
        except (pyarrow.ArrowException, OSError) as error:
            raise self._error("an intact parquet file", str(error).splitlines()[0]) from error
        finally:
            if source.owned:
                raw.close()

    def _error(self, expected: str, found: str, way_out: str = "") -> FormatError:
        return FormatError(self._file, None, None, expected, found, way_out)

    def _rows_at_once(self, metadata: Any) -> int:
        groups = [metadata.row_group(g) for g in range(min(metadata.num_row_groups, 16))]
        per_row = max((g.total_byte_size / max(1, g.num_rows) for g in groups), default=1.0)
        return int(np.clip(self._batch_bytes / max(per_row, 1.0), 1, _MOST_ROWS))

    def _settle(self, names: list[str]) -> None:
        if len(names) > self.limits.columns:
            way = "limits=Limits(columns=…) sets the limit."
            raise self._error(f"at most {self.limits.columns:,} columns", f"{len(names):,}", way)
        if self._names is not None and names != self._names:
            raise self._error("the columns of the first file", ", ".join(names[:20]))
        self._names = names

    def _number(self, column: Column | None) -> int | None:
        names = self._names or []
        if column is None:
            return None
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"{self._file} has no column {column!r}; it has {', '.join(names[:20])}.")
            return names.index(column)
        if not -len(names) <= column < len(names):
            raise ValueError(f"{self._file} has {len(names)} columns; there is no column {column}.")
        return column % len(names)

    # --------------------------------------------------------------------------------------- columns

    def _parsed(self, part: Any, first: int, pa: Any) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        o = self.options
        label, text, weight = map(self._number, (o.label_column, o.text_column, o.weight_column))
        good = np.ones(part.num_rows, bool)
        y = None if label is None else self._label_column(part.column(label), first, good)
        weights = None
        if weight is not None:
            weights = self._numbers(part.column(weight), weight, first, good, pa)
            self._refuse(
                good & (weights < 0.0), good, first, weight, "a weight of at least 0", "a negative one"
            )
        if text is not None:
            X: Any = self._texts(part.column(text), pa)
            X = X if good.all() else Texts(X.buffer, X.starts[good], X.stops[good])
        else:
            features = [j for j in range(part.num_columns) if j not in (label, weight)]
            X = self._features(part, features, first, good, pa)[good]
        return X, None if y is None else y[good], None if weights is None else weights[good]

    def _refuse(
        self,
        bad: np.ndarray,
        good: np.ndarray,
        first: int,
        j: int,
        expected: str,
        found: str,
        way_out: str = "",
    ) -> None:
        names = self._names or []
        for i in np.flatnonzero(bad).tolist():
            where = f"{found} in row {first + i}, column {names[j]!r}"
            self.refusals.refuse(self._error(expected, where, way_out))
            good[i] = False

    def _label_column(self, column: Any, first: int, good: np.ndarray) -> np.ndarray:
        """Labels by way of the different ones: no Python object per row."""
        coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
        values = coded.dictionary.to_pylist()
        codes = np.asarray(coded.indices.fill_null(len(values)))
        names = self._names or []
        j = self._number(self.options.label_column) or 0
        self._refuse(codes == len(values), good, first, j, "a label", "null")
        bad = self.labels.misfits(values)
        for v in bad:
            found = f"{values[v]!r} in column {names[j]!r}"
            self.refusals.refuse(self._error(self.labels.wanted, found, self.labels.way_out))
            good &= codes != v
        fitting = [value for v, value in enumerate(values) if v not in set(bad)]
        labels = self.labels.of_values(fitting)
        place = np.zeros(len(values) + 1, np.int64)
        place[[v for v in range(len(values)) if v not in set(bad)]] = np.arange(len(fitting))
        if not len(labels):
            good[:] = False
            return np.zeros(len(codes), labels.dtype)
        return labels[place[codes]]

    def _numbers(self, column: Any, j: int, first: int, good: np.ndarray, pa: Any) -> np.ndarray:
        values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        self._refuse(good & ~np.isfinite(values), good, first, j, "a finite number", "null, NaN or infinity")
        return values

    def _texts(self, column: Any, pa: Any) -> Texts:
        column = column.cast(pa.large_string())
        _, offsets, data = column.buffers()
        places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        buffer = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        return Texts(buffer, places[:-1].copy(), places[1:].copy())

    def _features(self, part: Any, features: list[int], first: int, good: np.ndarray, pa: Any) -> Any:
        words = [self._holds_words(part.column(j).type, j, pa) for j in features]
        if not any(words):
            self.n_features = len(features)
            numbers = [self._numbers(part.column(j), j, first, good, pa) for j in features]
            X = np.column_stack(numbers) if numbers else np.empty((part.num_rows, 0))
            return cast(np.where(good[:, None], X, 0.0), self.options.dtype, self._file)
        self.n_features = self._hash.n_features
        shape = part.num_rows, len(features)
        columns, values = np.zeros(shape, np.int32), np.zeros(shape)
        for k, j in enumerate(features):
            if words[k]:
                columns[:, k], values[:, k] = self._hashed_words(part.column(j), j, pa)
            else:
                columns[:, k] = self._hash.columns(Texts.of([(self._names or [])[j]]))
                values[:, k] = self._numbers(part.column(j), j, first, good, pa)
        values[~good] = 0.0
        there = values != 0.0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
        return self._hash.rows(values[there], columns[there], indptr, self._file)

    def _holds_words(self, type_: Any, j: int, pa: Any) -> bool:
        if pa.types.is_dictionary(type_):
            type_ = type_.value_type
        chosen = self.options.categorical
        if chosen != "auto" and j in {self._number(column) for column in chosen}:
            return True
        if pa.types.is_string(type_) or pa.types.is_large_string(type_):
            return True
        if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_):
            return False
        names = self._names or []
        way = "Convert the column, or leave it out of the file."
        raise self._error("columns of numbers, booleans or strings", f"{type_} in {names[j]!r}", way)

    def _hashed_words(self, column: Any, j: int, pa: Any) -> tuple[np.ndarray, np.ndarray]:
        words = self._texts(column, pa)
        columns = self._hash.words(self._hash.after(f"{(self._names or [])[j]}="), words)
        return columns, (words.stops > words.starts).astype(np.float64)


def _pyarrow(name: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Reading {name} needs pyarrow: pip install 'perceptrons[data]'.") from error
    return pyarrow, pyarrow.parquet
