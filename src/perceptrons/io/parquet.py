"""parquet, by pyarrow, some rows at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from .._types import JsonObject, Matrix
from ._pages import Chunk, NotAPage, need, row_groups
from .hashed import Hash
from .labels import LabelReader
from .missing import WAY_OUT, Missing, as_list
from .records import FormatError, Limits, Parsed, Refusals, StreamRows, Texts, cast, listed, shown, some_rows
from .roles import Column, Columns, Roles
from .sources import FREE, Source
from .tables import TableOptions, named_roles

ArrowArray: TypeAlias = Any  # pyarrow has no types
ArrowBatch: TypeAlias = Any
ArrowType: TypeAlias = Any

_MOST_ROWS = 1 << 16  # of a batch
_BUFFER = 1 << 15  # bytes of a column that are read at a time
_LINE_LIMIT = "limits=Limits(line_bytes=…) sets the limit."


class Parquet:
    """Reads parquet files; columns have the roles that they have in tables."""

    name = "parquet"

    def __init__(self, options: TableOptions, refusals: Refusals, limits: Limits, batch_bytes: int):
        self.options, self.refusals, self.limits = options, refusals, limits
        self._batch_bytes = batch_bytes
        self.labels = LabelReader(options.labels, limits, refusals)
        self.missing = Missing(options.missing, options.means)
        self._roles: Roles | None = None
        self._hash = Hash(options.bits, options.seed, options.dtype)
        self._names: list[str] | None = None
        self._file = ""
        self.n_features: int | None = None

    @property
    def layout(self) -> JsonObject:
        """Which column is what; the means."""
        found = {} if self._roles is None else named_roles(self._roles, self._names)
        if self.missing.means is not None:
            found["means"] = as_list(self.missing.means)
        return found

    def begin_pass(self) -> None:
        """The next row is the first of a pass."""
        self.missing.begin_pass()

    def batches(self, source: Source) -> Iterator[tuple[Parsed, int]]:
        """Rows, labels and weights, and how many bytes of the file they account for."""
        pyarrow, parquet = _pyarrow(source.name)
        if not source.again:
            raise ValueError(f"{source.name} is a pipe, and parquet is read from its end: save it to a file.")
        self._file = source.name
        raw = source.open()
        try:
            window = _Window(raw, source.size or 0)
            yield from self._of_file(window, source.size or 0, source.groups, pyarrow, parquet)
        finally:
            if source.owned:
                raw.close()

    def n_row_groups(self, source: Source) -> int:
        """How many row groups a file has, by its footer."""
        self._file = source.name
        raw = source.open()
        try:
            footer = self._footer(_Window(raw, source.size or 0), source.size or 0)
            with self._intact():
                return sum(1 for _ in row_groups(footer))
        finally:
            raw.close()

    def _of_file(
        self, raw: _Window, size: int, wanted: range | None, pa: ModuleType, parquet: ModuleType
    ) -> Iterator[tuple[Parsed, int]]:
        footer = self._footer(raw, size)
        with self._intact():
            first = parquet.ParquetFile(raw, pre_buffer=False)
            schema, metadata = first.schema_arrow, first.metadata
            names, types = list(schema.names), list(schema.types)
            leaves = [first.schema.column(i).path for i in range(len(first.schema))]
            del first
        self._settle(names)
        needed = self._needed(types, pa)
        words = [names[j] for j in needed if _is_string(types[j], pa)]
        with self._intact():
            total, groups = max(1, metadata.num_rows), metadata.num_row_groups
        rows = skipped = 0
        columns = row_groups(footer)
        for group in range(groups if wanted is None else min(groups, wanted.stop)):
            with self._intact():
                chunks = next(columns)
                if wanted is not None and group < wanted.start:
                    rows = skipped = rows + metadata.row_group(group).num_rows
                    continue
                if [chunk.path for chunk in chunks] != leaves:  # checks go by names, pyarrow by places
                    raise NotAPage("columns of other names than in its schema")
                at_once, plain = self._rows_at_once(raw, size, chunks, needed, names, words)
                # pre-buffering keeps whole row groups, and without a buffer whole columns of one are read;
                # words come as dictionaries: spelled out, one word in a million rows is a million words
                file = parquet.ParquetFile(
                    raw,
                    metadata=metadata,
                    pre_buffer=False,
                    buffer_size=_BUFFER,
                    read_dictionary=[word for word in words if word not in plain],
                )
                parts = file.iter_batches(
                    at_once, row_groups=[group], columns=[names[j] for j in needed], use_threads=False
                )
            while True:
                with self._intact():
                    part = next(parts, None)
                if part is None:
                    break
                before, rows = rows, rows + part.num_rows
                self._count(8 * len(needed) * (rows - skipped), size)
                for parsed in self._parsed(part, before, pa):
                    yield parsed, size * min(rows, total) // total
                    del parsed
                del part

    @contextlib.contextmanager
    def _intact(self) -> Iterator[None]:
        """Whatever pyarrow raises means that the file is not intact, or holds what cannot be read."""
        try:
            yield
        except (FormatError, KeyboardInterrupt):
            raise
        except Exception as error:  # pyarrow raises what its parts raise: OSError, ValueError, RuntimeError …
            said = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
            raise self._error("an intact parquet file", said) from error

    def _footer(self, raw: _Window, size: int) -> bytes:
        """The footer, which becomes objects that take some 30 times its bytes."""
        raw.seek(max(0, size - 8))
        length = int.from_bytes(raw.read(8)[:4], "little")
        most = self.limits.line_bytes // 4
        if length > size:
            raise self._error("an intact parquet file", f"a footer of {length:,} bytes in {size:,}")
        if length > most:
            raise self._error(f"a footer of at most {most:,} bytes", f"{length:,}", _LINE_LIMIT)
        raw.seek(max(0, size - 8 - length))
        footer = raw.read(length)
        raw.seek(0)
        return footer

    def _needed(self, types: list[ArrowType], pa: ModuleType) -> list[int]:
        """The columns that are read."""
        roles = self._roles = self._columns().roles(self.options.chosen)
        label = None if self.options.labels == "ignore" else roles.label
        text, weight = roles.text, roles.weight
        for j in (label, text, weight):
            if j is not None and pa.types.is_nested(types[j]):
                raise self._error(
                    "columns of numbers, booleans or strings", f"{types[j]} in {self._shown_name(j)}"
                )
        if text is not None:
            return sorted({j for j in (label, text, weight) if j is not None})
        for j in roles.features:
            self._holds_words(types[j], j, pa)
        return sorted({*roles.features, *(j for j in (label, weight) if j is not None)})

    def _count(self, made: int, size: int) -> None:
        most = self.limits.decompressed_bytes
        if most is not None and made > most:
            way = "limits=Limits(decompressed_bytes=…) sets the limit."
            raise self._error(f"at most {most:,} bytes of content", "more", way)
        if made > FREE and made > self.limits.ratio * size:
            raise self._error(
                f"at most {self.limits.ratio:g} times the size of the file",
                f"{made:,} bytes made of {size:,}",
                "If the file is to be trusted, raise limits=Limits(ratio=…).",
            )

    def _error(self, expected: str, found: str, way_out: str = "") -> FormatError:
        return FormatError(self._file, None, None, expected, found, way_out)

    def _rows_at_once(
        self,
        raw: _Window,
        size: int,
        group: list[Chunk],
        needed: list[int],
        names: list[str],
        words: list[str],
    ) -> tuple[int, set[str]]:
        """How many rows of a row group make a batch, and the words that must be read as plain strings.

        A row group whose pages do not fit into memory is refused.
        """
        wanted = {names[j] for j in needed}
        held, stored, row_bytes, repeated = 0, 0, 0.0, 0
        plain: set[str] = set()
        for chunk in group:
            if chunk.path in wanted:
                found = need(raw, chunk, size, chunk.path in words)
                held += found.held_bytes + 2 * _BUFFER
                stored = max(stored, found.stored_bytes)
                row_bytes += found.row_bytes
                repeated += found.repeated_bytes
                plain |= {chunk.path} if found.deltas else set()
        most = 6 * self.limits.line_bytes
        held += stored
        if held > most:
            way = f"{_LINE_LIMIT} Or write it with fewer rows in a row group."
            raise self._error(f"pages of at most {most:,} bytes together", f"{held:,}", way)
        rows = min(_MOST_ROWS, self._batch_bytes / max(row_bytes, 1.0))
        if repeated:
            rows = min(rows, self._batch_bytes / repeated)
        return max(1, int(rows)), plain

    def _settle(self, names: list[str]) -> None:
        if len(names) > self.limits.columns:
            way = "limits=Limits(columns=…) sets the limit."
            raise self._error(f"at most {self.limits.columns:,} columns", f"{len(names):,}", way)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise self._error("columns of different names", f"two named {shown(twice.encode())}")
        if self._names is not None and names != self._names:
            raise self._error("the columns of the first file", listed(names))
        self._names = names

    def _columns(self) -> Columns:
        names = self._names or []
        return Columns(self._file, len(names), names)

    def _number(self, column: Column) -> int:
        return self._columns().place(column)

    # --------------------------------------------------------------------------------------- columns

    def _name(self, j: int) -> str:
        return (self._names or [])[j]

    def _shown_name(self, j: int) -> str:
        return shown(self._name(j).encode())

    def _parsed(self, part: ArrowBatch, first: int, pa: ModuleType) -> Iterator[Parsed]:
        assert self._roles is not None
        label = None if self.options.labels == "ignore" else self._roles.label
        text, weight = self._roles.text, self._roles.weight
        with self._intact():
            columns = {self._number(name): part.column(k) for k, name in enumerate(part.schema.names)}
            for column in columns.values():
                column.validate(full=not self.options.replace)  # with `full` that strings are UTF-8, too
        good = np.ones(part.num_rows, bool)
        y = None if label is None else self._label_column(columns[label], label, first, good, pa)
        weights = None
        if weight is not None:
            weights = self._plain_numbers(columns[weight], pa)
            self._refuse(
                good & ~np.isfinite(weights), good, first, weight, "a finite number", "null, NaN or infinity"
            )
            self._refuse(
                good & (weights < 0.0), good, first, weight, "a weight of at least 0", "a negative one"
            )
        if text is not None:
            with self._intact():
                X: StreamRows = self._texts(columns[text], pa)
        else:
            X = self._features(columns, self._roles.features, first, good, pa)
        if not good.all():
            X = some_rows(X, good)
            weights = None if weights is None else weights[good]
            if y is not None:
                y = y[good] if isinstance(y, np.ndarray) else [y[i] for i in np.flatnonzero(good)]
        for rows, labels in self.labels.pieces(y, int(good.sum())):
            yield some_rows(X, rows), labels, None if weights is None else weights[rows]

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
        def error(i: int) -> FormatError:
            return self._error(expected, f"{found} in row {first + i}, column {self._shown_name(j)}", way_out)

        self.refusals.refuse_all(np.flatnonzero(bad), error)
        good[bad] = False

    def _label_column(
        self, column: ArrowArray, j: int, first: int, good: np.ndarray, pa: ModuleType
    ) -> np.ndarray | list[str]:
        """LabelReader by way of the different ones in these rows, which are no more than the rows."""
        with self._intact():
            coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
            codes = np.asarray(coded.indices.fill_null(-1)).astype(np.int64)
            used, place = np.unique(codes, return_inverse=True)
            there = used >= 0
            known = coded.dictionary.take(pa.array(used[there]))
            too_long = np.zeros(len(known), bool)
            if _is_string(known.type, pa):
                texts = self._texts(known, pa)
                too_long = texts.stops - texts.starts > self.limits.label_bytes
                known = known.filter(pa.array(~too_long))
            values = known.to_pylist()
        missing = codes < 0
        self._refuse(missing, good, first, j, "a label", "null")
        longest = f"a label of at most {self.limits.label_bytes:,} bytes"
        number = np.full(len(used), -1)  # of the value, of each code; -1 for none
        number[np.flatnonzero(there)[~too_long]] = np.arange(len(values))
        self._refuse(~missing & (number[place] < 0), good, first, j, longest, "a longer one")
        for v in self.labels.misfits(values):
            where = f"{shown(repr(values[v]).encode())} in column {self._shown_name(j)}"
            self.refusals.refuse(self._error(self.labels.wanted, where, self.labels.way_out))
            good &= number[place] != v
            values[v] = "" if self.labels.kind == "text" else 0
        values.append("" if self.labels.kind == "text" else 0)  # of rows without a label
        if self.labels.kind == "text":
            return [values[v] if isinstance(values[v], str) else str(values[v]) for v in number[place]]
        return np.asarray(self.labels.of_values(values)[number[place]])

    def _plain_numbers(self, column: ArrowArray, pa: ModuleType) -> np.ndarray:
        """The values of a column; NaN for null."""
        with self._intact():
            # an integer beyond 2**53 becomes the nearest double, as in text
            plain = column.cast(pa.float64(), safe=False)
            return np.asarray(plain.to_numpy(zero_copy_only=False), np.float64)

    def _numbers(
        self,
        part: dict[int, ArrowArray],
        features: list[int],
        first: int,
        good: np.ndarray,
        pa: ModuleType,
    ) -> np.ndarray:
        """The numbers of all columns that hold them, 0 in the others; missing ones are dealt with."""
        numbers = np.zeros((len(good), len(features)))
        for k, j in enumerate(features):
            if not self._holds_words(part[j].type, j, pa):
                numbers[:, k] = self._plain_numbers(part[j], pa)
        missing = np.isnan(numbers)
        for k, j in enumerate(features):
            way, wrong = "", np.isinf(numbers[:, k])
            if self.missing.how == "refuse":
                way, wrong = (WAY_OUT if missing[:, k].any() else ""), wrong | missing[:, k]
            self._refuse(good & wrong, good, first, j, "a finite number", "null, NaN or infinity", way)
        if self.missing.how != "refuse":
            self.missing.fill(numbers, missing, good)
        return np.where(good[:, None], numbers, 0.0)

    def _texts(self, column: ArrowArray, pa: ModuleType) -> Texts:
        """The texts of a column; those of a dictionary stay where they are, once."""
        if hasattr(column, "dictionary"):
            known = self._texts(column.dictionary, pa)
            codes = np.asarray(column.indices.fill_null(len(known))).astype(np.int64)
            if len(codes) and not 0 <= codes.min() <= codes.max() <= len(known):
                raise ValueError("an index beyond its dictionary")
            starts, stops = (np.append(ends, 0)[codes] for ends in (known.starts, known.stops))
            return Texts(known.buffer, starts, stops)
        column = column.cast(pa.large_string())
        _, offsets, data = column.buffers()
        places = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
        buffer = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
        starts, stops = places[:-1].copy(), places[1:].copy()
        if column.null_count:
            starts[np.asarray(column.is_null())] = 0
            stops[np.asarray(column.is_null())] = 0
        return Texts(buffer, starts, stops)

    def _features(
        self,
        part: dict[int, ArrowArray],
        features: list[int],
        first: int,
        good: np.ndarray,
        pa: ModuleType,
    ) -> Matrix:
        words = [self._holds_words(part[j].type, j, pa) for j in features]
        if not any(words):
            self.n_features = len(features)
            return cast(self._numbers(part, features, first, good, pa), self.options.dtype, self._file)
        self.n_features = self._hash.n_features
        shape = len(good), len(features)
        columns, values = np.zeros(shape, np.int32), self._numbers(part, features, first, good, pa)
        for k, j in enumerate(features):
            if words[k]:
                columns[:, k], values[:, k] = self._hashed_words(part[j], j, pa)
            else:
                columns[:, k] = self._hash.columns(Texts.of([(self._names or [])[j]]))
        values[~good] = 0.0
        there = values != 0.0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
        return self._hash.rows(values[there], columns[there], indptr, self._file)

    def _holds_words(self, type_: ArrowType, j: int, pa: ModuleType) -> bool:
        chosen = self.options.categorical
        if chosen != "auto" and j in {self._number(column) for column in chosen}:
            return True
        if _is_string(type_, pa):
            return True
        type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
        if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_):
            return False
        way = "Convert the column, or leave it out of the file."
        raise self._error("columns of numbers, booleans or strings", f"{type_} in {self._shown_name(j)}", way)

    def _hashed_words(self, column: ArrowArray, j: int, pa: ModuleType) -> tuple[np.ndarray, np.ndarray]:
        with self._intact():
            words = self._texts(column, pa)
        # a word is hashed once, however many rows hold it
        spans, place = np.unique(np.stack([words.starts, words.stops]), axis=1, return_inverse=True)
        different = Texts(words.buffer, np.ascontiguousarray(spans[0]), np.ascontiguousarray(spans[1]))
        columns = self._hash.words(self._hash.after(f"{self._name(j)}="), different)
        return columns[place.reshape(-1)], (words.stops > words.starts).astype(np.float64)


class _Window:
    """A binary file that begins where the source begins, for readers that seek."""

    def __init__(self, raw: BinaryIO, size: int):
        self._raw, self._size = raw, size
        self._start = raw.tell()
        self._at = 0
        self.closed = False

    mode = "rb"

    def read(self, n: int = -1) -> bytes:
        self._raw.seek(self._start + self._at)
        left = max(0, self._size - self._at)
        data = self._raw.read(left if n is None or n < 0 else min(n, left)) or b""
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + {0: 0, 1: self._at, 2: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def _is_string(type_: ArrowType, pa: ModuleType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _pyarrow(name: str) -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Reading {name} needs pyarrow: pip install 'perceptrons[data]'.") from error
    return pyarrow, pyarrow.parquet
