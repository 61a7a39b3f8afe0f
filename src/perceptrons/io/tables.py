"""csv and tsv: one row a line, fields between delimiters.

csv follows RFC 4180: a field between quotes may hold the delimiter, and a quote as two. A line break within
quotes is refused. In tsv quotes are ordinary characters, and a text in the last column may hold tabs.

Columns of numbers become a dense array. As soon as one column holds words, rows are hashed: a number is in
the column of its name, a word in that of ``name=word``. The first batch decides what a column holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._types import JsonObject, Matrix, SparseMatrix
from . import _scans as scans
from ._numbers import NOTHING, NUMBER
from .hashed import Hash
from .labels import LabelReader, parsed_numbers
from .lines import TextLines, lines_of
from .missing import WAY_OUT, Missing, as_list, written_as_missing
from .records import (
    NEWLINE,
    FormatError,
    Limits,
    LineBlock,
    Parsed,
    Refusals,
    StreamRows,
    Texts,
    cast,
    shown,
    some_rows,
)
from .roles import LABEL_NAMES, TEXT_NAME, Chosen, Column, Columns, Roles

_NAMES = {*LABEL_NAMES, TEXT_NAME, "weight"}  # that a header has and data have not
_DELIMITERS = ",;\t|"
_CATEGORIES = "categorical=[…] with its name or number takes a column as words."


class TableOptions(NamedTuple):
    """The options of a stream that are about a table."""

    label_column: Column | None = "auto"
    text_column: Column | None = None
    weight_column: Column | None = None
    delimiter: str = ","
    header: bool | str = "auto"
    categorical: Iterable[Column] | str = "auto"
    columns: Iterable[Column] | None = None
    bits: int = 18
    seed: int = 0
    labels: str = "auto"
    dtype: npt.DTypeLike = np.float64
    replace: bool = False
    missing: str = "refuse"
    means: Iterable[float] | None = None

    @property
    def chosen(self) -> Chosen:
        """The options that name columns."""
        ignore = self.labels == "ignore"
        return Chosen(self.label_column, self.text_column, self.weight_column, self.columns, ignore)


_FIELDS = 1 << 18  # of a batch: the work on a field takes 50 bytes, and a field may be empty
_NAME_BYTES = 1 << 10  # of a column's name


class Fields(NamedTuple):
    """The fields of all rows: row i, column j is ``buffer[starts[i, j]:stops[i, j]]``."""

    block: LineBlock
    starts: np.ndarray
    stops: np.ndarray

    def column(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Starts and stops of a column, blanks left out."""
        starts, stops = self.starts[:, j].copy(), self.stops[:, j].copy()
        scans.trim(self.block.buffer, starts, stops)
        return starts, stops

    def error(self, i: int, j: int, expected: str, way_out: str = "") -> FormatError:
        start, stop = int(self.starts[i, j]), int(self.stops[i, j])
        found = self.block.token(start, stop) if stop > start else "nothing"
        return self.block.error(start, expected, way_out, found=found)


class TableParser:
    """Reads blocks of csv or tsv."""

    in_lines = True  #: texts have the places of their lines

    def __init__(self, options: TableOptions, refusals: Refusals, limits: Limits):
        if len(options.delimiter.encode()) != 1 or options.delimiter in '0123456789.+-eE"\n\r':
            raise ValueError(
                f"delimiter must be one character that no number holds; got delimiter={options.delimiter!r}."
            )
        if options.header not in (True, False, "auto"):
            raise ValueError(f"header must be True, False or 'auto'; got header={options.header!r}.")
        self.options, self.refusals, self.limits = options, refusals, limits
        self.name = "tsv" if options.delimiter == "\t" else "csv"
        self.names: list[str] | None = None
        self.labels = LabelReader(options.labels, limits, refusals)
        self.missing = Missing(options.missing, options.means)
        self._quote = 0 if options.delimiter == "\t" else ord('"')
        self._delimiter = ord(options.delimiter)
        self._hash = Hash(options.bits, options.seed, options.dtype)
        self._roles: Roles | None = None
        self._has_header = options.header
        self._is_number: np.ndarray | None = None
        self._states = np.zeros(0, np.uint64)
        self._file_begins = True

    @property
    def layout(self) -> JsonObject:
        """What the first rows have decided: which column is what, whether there is a header; the means."""
        found: JsonObject = {}
        if self._roles is not None:
            found |= named_roles(self._roles, self.names)
        if self._roles is not None and self._is_number is not None:
            names = self.names or [str(j) for j in range(self._roles.width)]
            kinds = zip(self._roles.features, self._is_number, strict=True)
            found["categorical"] = [names[j] for j, number in kinds if not number]
        if self.missing.means is not None:
            found["means"] = as_list(self.missing.means)
        if self._has_header in (True, False):
            found["header"] = bool(self._has_header)
        return found

    @property
    def n_features(self) -> int | None:
        """Columns of the rows; None before the first batch."""
        if self._roles is None or self._is_number is None:
            return None
        return len(self._roles.features) if self._is_number.all() else self._hash.n_features

    def begin_pass(self) -> None:
        """The next row is the first of a pass."""
        self.missing.begin_pass()

    def next_file(self) -> None:
        """The next line may be a header again."""
        self._file_begins = True

    # -------------------------------------------------------------------------------------- parsing

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """Rows, labels and weights of a block, in batches of a bounded number of fields."""
        lines = lines_of(block, self.refusals, self.limits if self.options.replace else None)
        lines = self._past_the_header(lines)
        if self._roles is not None:
            step = max(1, _FIELDS // self._roles.width)
            for start in range(0, len(lines), step):
                yield from self._rows_of(lines.some(start, start + step), self._roles)

    def _rows_of(self, lines: TextLines, roles: Roles) -> Iterator[Parsed]:
        fields = self._split(lines, roles)
        good = np.ones(len(fields.starts), bool)
        y = weights = None
        if roles.label is not None and self.options.labels != "ignore":
            y, has_label = self.labels.of_fields(fields.block, *fields.column(roles.label))
            good &= has_label
        if roles.weight is not None:
            weights = self._weights(fields, roles.weight, good)
        X: StreamRows
        X = self._texts(fields, roles.text) if roles.text is not None else self._rows(fields, good)
        del fields
        if not good.all():
            X = some_rows(X, good)
            y, weights = (None if part is None else part[good] for part in (y, weights))
        for rows, labels in self.labels.pieces(y, int(good.sum())):
            yield some_rows(X, rows), labels, None if weights is None else weights[rows]

    def _split(self, lines: TextLines, roles: Roles) -> Fields:
        block = lines.block
        rest = self._quote == 0 and roles.text == roles.width - 1
        most = min(len(lines) * roles.width, block.size + 1)  # each field has an end of its own
        cuts = np.empty(most, np.int64), np.empty(most, np.int64)
        flags = np.empty(len(lines), np.uint8)
        good = self._cut(lines, cuts, flags, roles.width, rest)
        self.refusals.refuse_all(
            np.flatnonzero(flags), lambda i: self._bad_line(lines, i, int(flags[i]), roles.width)
        )
        starts, stops = (cut[: good * roles.width].reshape(good, roles.width) for cut in cuts)
        return Fields(block, starts, stops)

    def _cut(
        self, lines: TextLines, cuts: tuple[np.ndarray, np.ndarray], flags: np.ndarray, width: int, rest: bool
    ) -> int:
        args = (lines.block.buffer, lines.starts, lines.stops, *cuts, flags)
        return int(scans.split_fields(*args, self._delimiter, self._quote, width, rest))

    def _bad_line(self, lines: TextLines, i: int, flag: int, width: int) -> FormatError:
        block, start = lines.block, int(lines.starts[i])
        if flag == scans.OPEN_QUOTE:
            return block.error(
                start,
                "a closing quote before the end of the line",
                "Line breaks within quotes are not read: write them as spaces, or use jsonl or parquet.",
                found=shown(lines.raw(i)),
            )
        if flag == scans.AFTER_QUOTE:
            expected = f"{self.options.delimiter!r} or the end of the line after a closing quote"
            return block.error(
                start, expected, "Write a quote within quotes twice.", found=shown(lines.raw(i))
            )
        way = "Put fields that hold the delimiter between quotes." if flag == scans.TOO_MANY else ""
        word = "more" if flag == scans.TOO_MANY else "fewer"
        return block.error(start, f"{width} fields", way, found=f"{word} in {shown(lines.raw(i))}")

    def _texts(self, fields: Fields, j: int) -> Texts:
        return Texts(fields.block.buffer, fields.starts[:, j].copy(), fields.stops[:, j].copy())

    def _weights(self, fields: Fields, j: int, good: np.ndarray) -> np.ndarray:
        values, kinds = parsed_numbers(fields.block, *fields.column(j))
        bad = good & ((kinds == NOTHING) | (values < 0.0))
        self.refusals.refuse_all(np.flatnonzero(bad), lambda i: fields.error(i, j, "a weight of at least 0"))
        good[bad] = False
        return values

    # ------------------------------------------------------------------------------------- features

    def _rows(self, fields: Fields, good: np.ndarray) -> Matrix:
        assert self._roles is not None
        columns = self._roles.features
        n = len(fields.starts)
        numbers = np.zeros((n, len(columns)))
        kinds = np.full((n, len(columns)), NOTHING, np.uint8)
        missing = np.zeros((n, len(columns)), np.bool_)
        words = self._words()
        for k, j in enumerate(columns):
            if words is None or not words[k]:
                starts, stops = fields.column(j)
                numbers[:, k], kinds[:, k] = parsed_numbers(fields.block, starts, stops)
                if (kinds[:, k] == NOTHING).any():
                    missing[:, k] = written_as_missing(fields.block.buffer, starts, stops)
        if self._is_number is None:
            if n == 0:
                return np.empty((0, len(columns)))
            self._decide(kinds, missing)
        is_number = self._is_number
        assert is_number is not None
        missing &= is_number
        wrong = (kinds == NOTHING) & is_number
        if self.missing.how != "refuse":
            wrong &= ~missing
        bad = good & wrong.any(axis=1)

        def error(i: int) -> FormatError:
            k = int(wrong[i].argmax())
            way = WAY_OUT if missing[i, k] else _CATEGORIES
            return fields.error(i, columns[k], "a finite number", way)

        self.refusals.refuse_all(np.flatnonzero(bad), error)
        good[bad] = False
        numbers[(kinds == NOTHING) | ~is_number] = 0.0
        if self.missing.how != "refuse":
            self.missing.fill(numbers, missing, good)
        if is_number.all():
            return cast(numbers, self.options.dtype, fields.block.file)
        return self._hashed(fields, numbers, columns)

    def _words(self) -> np.ndarray | None:
        """Which columns are not to be read as numbers; None: nothing is known yet."""
        if self._is_number is not None:
            return ~self._is_number
        if self.options.categorical == "auto":
            return None
        assert self._roles is not None
        chosen = {self._number(column) for column in self.options.categorical}
        return np.asarray([j in chosen for j in self._roles.features], np.bool_)

    def _decide(self, kinds: np.ndarray, missing: np.ndarray) -> None:
        """A column is one of numbers if most of its fields are: a stray word among them is an error.

        Fields that say that a number is missing do not count; a column of nothing else holds words, unless
        missing numbers are to be replaced.
        """
        assert self._roles is not None
        words = self._words()
        there = np.count_nonzero(~missing, axis=0)
        numbers = np.count_nonzero(kinds != NOTHING, axis=0)
        empty = (there == 0) & (self.missing.how != "refuse")
        is_number = (2 * numbers > there) | empty if words is None else ~words
        names = [
            self._column_name(j) + ("" if num else "=") for j, num in zip(self._roles.features, is_number)
        ]
        self._states = np.asarray([self._hash.after(name) for name in names], np.uint64)
        self._is_number = is_number

    def _column_name(self, j: int) -> str:
        return self.names[j] if self.names is not None else str(j)

    def _hashed(self, fields: Fields, numbers: np.ndarray, columns: list[int]) -> SparseMatrix:
        starts, stops = (np.ascontiguousarray(cut[:, columns]) for cut in (fields.starts, fields.stops))
        scans.trim(fields.block.buffer, starts.reshape(-1), stops.reshape(-1))
        n = len(starts)
        indptr = np.zeros(n + 1, np.int32)
        indices, values = np.empty(starts.size, np.int32), np.empty(starts.size)
        k = scans.hash_table(
            fields.block.buffer,
            starts,
            stops,
            numbers,
            self._is_number,
            self._states,
            self._hash.mask,
            indptr,
            indices,
            values,
        )
        return self._hash.rows(values[:k], indices[:k], indptr, fields.block.file)

    # --------------------------------------------------------------------------------- header, roles

    def _past_the_header(self, lines: TextLines) -> TextLines:
        """The rows of a block; at the beginning of a file, what its first line says about them."""
        while self._file_begins and len(lines):
            try:
                first = self._plain_fields(lines, 0)
            except FormatError as error:
                self.refusals.refuse(error)
                lines = lines.after(1)
                continue
            self._file_begins = False
            if self._roles is None:
                self._has_header = self._is_header(first, self._second_line(lines))
                self.names = self._checked_names(lines, first) if self._has_header else None
                self._roles = self._assign(first)
            elif self._has_header and first != self.names:
                raise lines.block.error(
                    int(lines.starts[0]), "the header of the first file", found=shown(lines.raw(0))
                )
            return lines.after(1) if self._has_header else lines
        return lines

    def _checked_names(self, lines: TextLines, names: list[str]) -> list[str]:
        long = next((name for name in names if len(name.encode()) > _NAME_BYTES), None)
        if long is not None:
            expected = f"column names of at most {_NAME_BYTES:,} bytes"
            raise lines.block.error(int(lines.starts[0]), expected, found=shown(long.encode()))
        return names

    def _second_line(self, lines: TextLines) -> list[str]:
        try:
            return self._plain_fields(lines, 1) if len(lines) > 1 else []
        except FormatError:  # its turn will come
            return []

    def _plain_fields(self, lines: TextLines, i: int) -> list[str]:
        """The fields of one line as strings."""
        start, stop = int(lines.starts[i]), int(lines.stops[i])
        copy = lines.block.buffer[start : stop + 1].copy()  # cutting takes quotes out in place
        copy[-1] = NEWLINE
        most = int(np.count_nonzero(copy == self._delimiter)) + 1
        if most > self.limits.columns:
            raise lines.block.error(
                int(lines.starts[i]),
                f"at most {self.limits.columns:,} columns",
                "limits=Limits(columns=…) sets the limit.",
                found=f"{most:,}",
            )
        one = TextLines(lines.block._replace(buffer=copy), np.asarray([0]), np.asarray([stop - start]))
        cuts, flags = (np.full(most, -1), np.full(most, -1)), np.zeros(1, np.uint8)
        self._cut(one, cuts, flags, most, rest=False)
        if flags[0] not in (scans.FINE, scans.TOO_FEW):
            raise self._bad_line(lines, i, int(flags[0]), most)
        spans = [(a, b) for a, b in zip(*(cut.tolist() for cut in cuts)) if a >= 0]
        most = _NAME_BYTES + 1  # one more than a name may have: enough to refuse it
        return [copy[a : min(b, a + most)].tobytes().decode("utf-8", "replace").strip() for a, b in spans]

    def _is_header(self, first: list[str], second: list[str]) -> bool:
        if self._has_header != "auto":
            return bool(self._has_header)
        o = self.options
        chosen = (o.label_column, o.text_column, o.weight_column, *(o.columns or ()))
        if any(isinstance(column, str) and column != "auto" for column in chosen) or _NAMES & {
            name.lower() for name in first
        }:
            return True
        return not any(map(_is_number, first)) and any(map(_is_number, second))

    def _number(self, column: Column) -> int:
        assert self._roles is not None
        return Columns("The table", self._roles.width, self.names).place(column)

    def _assign(self, first: list[str]) -> Roles:
        chosen = self.options.chosen
        width = len(first)
        others = (
            [mark for mark in _DELIMITERS if mark != self.options.delimiter and mark in first[0]]
            if first
            else []
        )
        if width == 1 and others and chosen.text is None and chosen.label is not None:
            raise ValueError(
                f"The table has one column, {shown(first[0].encode())}: its delimiter is not "
                f"{self.options.delimiter!r}; give delimiter={others[0]!r}."
            )
        roles = Columns("The table", width, self.names).roles(chosen)
        if roles.text is not None and self._quote == 0 and self.names is None:
            # a text may hold tabs: of a table without header only the columns with a role are known
            taken = [j for j in (roles.label, roles.text, roles.weight) if j is not None]
            if roles.text == max(taken):
                width = roles.text + 1
                roles = roles._replace(width=width, features=[j for j in roles.features if j < width])
        return roles


def named_roles(roles: Roles, names: list[str] | None) -> JsonObject:
    """The columns of a table as a layout holds them: by name where there are names."""

    def called(j: int) -> Column:
        return j if names is None else names[j]

    given = {"label_column": roles.label, "text_column": roles.text, "weight_column": roles.weight}
    found: JsonObject = {role: called(j) for role, j in given.items() if j is not None}
    if names is not None and roles.text is None and len(set(names)) == len(names):
        found["columns"] = [names[j] for j in roles.features]
    return found


def _is_number(field: str) -> bool:
    return _A_NUMBER.fullmatch(field.encode()) is not None


_A_NUMBER = re.compile(NUMBER)
