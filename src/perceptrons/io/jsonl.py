"""jsonl: one JSON object a line.

One key holds the label, one may hold the text. Without a text all other keys are features, hashed by their
names as in tables: a number is in the column of its name, a word in that of ``name=word``. Names within
objects are joined by points, places in lists are counted from 0, words in lists have no places. ``null``
means the same as an absent key.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._types import Json, JsonObject, SparseMatrix
from . import _json_loops as loops
from .hashed import Hash
from .labels import LabelReader
from .lines import TextLines, lines_of
from .records import FormatError, Limits, LineBlock, Parsed, Refusals, StreamRows, Texts, shown, some_rows
from .roles import Column
from .tables import TableOptions

_REPLACE = "encoding_errors='replace' puts a question mark in its place."


class _BadLine(Exception):
    """What is wrong with a line: expected, found, how to mend it."""


class JsonLines:
    """Reads blocks of jsonl."""

    name = "jsonl"

    def __init__(self, options: TableOptions, refusals: Refusals, limits: Limits):
        self.options, self.refusals, self.limits = options, refusals, limits
        self.labels = LabelReader(options.labels, limits, refusals)
        self._hash = Hash(options.bits, options.seed, options.dtype)
        usual = options.label_column in (0, "auto")
        self._label = _key("label_column", "label" if usual else options.label_column)
        self._ignored = self._label if options.labels == "ignore" else None  # left out where there is one
        if self._ignored is not None:
            self._label = None
        self._text = _key("text_column", options.text_column)
        self._weight = _key("weight_column", options.weight_column)

    @property
    def layout(self) -> JsonObject:
        """The keys that are no features."""
        keys = {"label_column": self._label, "text_column": self._text, "weight_column": self._weight}
        return {role: _utf8(key) for role, key in keys.items() if key is not None}

    @property
    def n_features(self) -> int | None:
        return None if self._text is not None else self._hash.n_features

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """Rows, labels and weights of a block."""
        lines = lines_of(block, self.refusals, self.limits if self.options.replace else None)
        rows: list[_Row] = []
        features = _Features(self._hash)
        for i in range(len(lines)):
            try:
                rows.append(self._row(lines, i, features))
                features.keep()
            except _BadLine as bad:
                features.drop()
                self.refusals.refuse(functools.partial(self._error, lines, i, *bad.args))
        good = self._labelled(lines, rows)
        if self._text is not None:
            X: StreamRows = Texts.of(row.text for row in rows)
        else:
            X = features.rows(block.file)
        if len(good) < len(rows):
            X, rows = some_rows(X, good), [rows[i] for i in good]
        y = None if self._label is None else [row.label for row in rows]
        weights = None if self._weight is None else np.asarray([row.weight for row in rows], np.float64)
        del rows
        for some, labels in self.labels.pieces(y, len(good)):
            yield some_rows(X, some), labels, None if weights is None else weights[some]

    def _error(
        self,
        lines: TextLines,
        i: int,
        expected: str,
        found: str | None = None,
        way_out: str = "",
        column: int = 0,
    ) -> FormatError:
        found = shown(lines.raw(i)) if found is None else found
        return lines.block.error(int(lines.starts[i]) + column, expected, way_out, found=found)

    # --------------------------------------------------------------------------------------- one row

    def _row(self, lines: TextLines, i: int, features: _Features) -> _Row:
        """What a line holds, checked; its features go to the others."""
        start, stop = int(lines.starts[i]), int(lines.stops[i])
        if loops.count_values(lines.block.buffer, start, stop) > self.limits.values:
            way_out = "limits=Limits(values=…) sets the limit."
            raise _BadLine(f"at most {self.limits.values:,} values in a row", None, way_out)
        text = b""
        try:
            row = self._object(lines.block.buffer[start:stop])
            for key in (self._label, self._text, self._weight):
                if key is not None and key not in row:
                    way_out = "label_column=… names another key." if key == self._label else ""
                    raise _BadLine(f"the key {_utf8(key)!r}", None, way_out)
            if self._text is not None:
                if not isinstance(row[self._text], str):
                    raise _BadLine(f"a string under {_utf8(self._text)!r}", _shown(row[self._text]))
                text = row[self._text].encode("latin-1")
            else:
                features.add(row, (self._label, self._weight, self._ignored), stop - start)
        except RecursionError:
            raise _BadLine("JSON of moderate depth") from None
        weight = 1.0 if self._weight is None else row[self._weight]
        if not _is_weight(weight):
            raise _BadLine(f"a number of at least 0 under {_utf8(self._weight or '')!r}", _shown(weight))
        label = None if self._label is None else row[self._label]
        return _Row(i, _utf8(label) if isinstance(label, str) else label, text, float(weight))

    def _object(self, raw: np.ndarray) -> JsonObject:
        """The object of a line; a string in it holds one character for each byte of UTF-8.

        So no string takes more memory than its part of the line; as characters it could take four times that.
        """
        mended, halves = raw, 0
        if raw.tobytes().find(b"\\u") >= 0:
            mended = raw.copy()
            size, halves = loops.unescape(mended)
            mended = mended[: int(size)]
        if halves and not self.options.replace:
            raise _BadLine("characters", "half of a surrogate pair", _REPLACE)
        text = str(mended.data, "latin-1")
        del mended
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            del text
            raise self._not_json(raw.tobytes(), error.msg) from None
        except ValueError as error:  # an integer of thousands of digits
            raise _BadLine("JSON with moderate numbers", shown(str(error).encode())) from None
        if not isinstance(row, dict):
            raise _BadLine("an object, {…}")
        return row

    @staticmethod
    def _not_json(raw: bytes, message: str) -> _BadLine:
        at = 0
        try:
            json.loads(raw.decode("latin-1"))  # as it is written: escapes have other places
        except json.JSONDecodeError as error:
            at = error.pos
        rest = shown(raw[at : at + 80]) if raw[at:] else "the end of the line"
        return _BadLine(f"JSON ({message})", rest, "", at)

    # ------------------------------------------------------------------------------------- all rows

    def _labelled(self, lines: TextLines, rows: list[_Row]) -> list[int]:
        """Which rows have a label of the right kind."""
        if self._label is None:
            return list(range(len(rows)))
        bad = np.asarray(self.labels.misfits([row.label for row in rows], 2.0**53), np.int64)

        def error(i: int) -> FormatError:
            return self._error(
                lines, rows[i].line, self.labels.wanted, _shown(rows[i].label), self.labels.way_out
            )

        self.refusals.refuse_all(bad, error)
        return np.delete(np.arange(len(rows)), bad).tolist()


class _Row(NamedTuple):
    line: int
    label: Json
    text: bytes
    weight: float


_NAMES, _CHARACTERS = 1 << 13, 1 << 20  # hashed together
_PREFIX = 1 << 12  # bytes of the name that the names within an object or a list begin with


class _Features:
    """The features of rows, hashed some thousand names at a time, so that few names are in memory."""

    def __init__(self, hash_: Hash):
        self._hash = hash_
        self._names: list[str] = []
        self._numbers: list[float] = []
        self._characters = 0
        self._done: list[tuple[np.ndarray, np.ndarray]] = []
        self._count = 0
        self._ends = [0]
        self._room = 0

    def add(self, row: JsonObject, without: tuple[str | None, ...], line_bytes: int) -> None:
        """Those of an object; their names together may be no longer than a multiple of the line."""
        self._room = 64 * line_bytes + 4096
        for key, value in row.items():
            if key not in without:
                self._gather(key, value)

    def keep(self) -> None:
        """A row ends here."""
        self._ends.append(self._count)

    def drop(self) -> None:
        """Forget what came since the last row."""
        pending = max(self._ends[-1] - self._count + len(self._names), 0)
        self._count -= len(self._names) - pending
        del self._names[pending:], self._numbers[pending:]
        while self._count > self._ends[-1]:
            columns, values = self._done.pop()
            kept = max(self._ends[-1] - self._count + len(columns), 0)
            self._count -= len(columns) - kept
            if kept:
                self._done.append((columns[:kept], values[:kept]))

    def rows(self, file: str) -> SparseMatrix:
        """CSR rows of all that was kept."""
        self._hash_names()
        columns = np.concatenate([np.zeros(0, np.int32), *(part for part, _ in self._done)])
        values = np.concatenate([np.zeros(0), *(part for _, part in self._done)])
        self._done = []
        return self._hash.rows(values, columns, np.asarray(self._ends, np.int32), file)

    def _gather(self, name: str, value: Json) -> None:
        self._room -= len(name)
        if self._room < 0:
            raise _BadLine("shorter names, or fewer values below them", shown(name.encode("latin-1")))
        if isinstance(value, str):
            if value:
                self._put(f"{name}={value}", 1.0)
        elif isinstance(value, dict | list):
            if len(name) > _PREFIX:
                expected = f"shorter names above other values, of at most {_PREFIX:,} bytes"
                raise _BadLine(expected, shown(name.encode("latin-1")))
            if isinstance(value, dict):
                for key, inner in value.items():
                    self._gather(f"{name}.{key}", inner)
            else:
                for place, inner in enumerate(value):
                    self._gather(name if isinstance(inner, str) else f"{name}.{place}", inner)
        elif value is not None:
            number = _float(value)
            if not math.isfinite(number):
                raise _BadLine("a finite number", f"{_shown(value)} under {shown(name.encode('latin-1'))}")
            if number:
                self._put(name, number)

    def _put(self, name: str, number: float) -> None:
        self._names.append(name)
        self._numbers.append(number)
        self._characters += len(name)
        self._count += 1
        if len(self._names) >= _NAMES or self._characters >= _CHARACTERS:
            self._hash_names()

    def _hash_names(self) -> None:
        if self._names:
            columns = self._hash.columns(Texts.of(name.encode("latin-1") for name in self._names))
            self._done.append((columns, np.asarray(self._numbers)))
        self._names, self._numbers, self._characters = [], [], 0


def _utf8(text: str) -> str:
    """The characters of a string that holds the bytes of their UTF-8."""
    return text.encode("latin-1").decode("utf-8", "replace")


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: Json) -> str:
    if isinstance(value, str):
        value = value[:200]
    try:
        return shown(json.dumps(value, ensure_ascii=False)[:200].encode("latin-1", "replace"))
    except (RecursionError, ValueError):
        return "something else"


def _key(name: str, column: Column | None) -> str | None:
    """A key as it is found in a row: one character for each byte."""
    if column is None or isinstance(column, str):
        return column if column is None else column.encode().decode("latin-1")
    raise ValueError(f"In jsonl columns are keys; give {name} as a string instead of {column!r}.")


def _is_weight(value: Json) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return value >= 0 and math.isfinite(_float(value))
