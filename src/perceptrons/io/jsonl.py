"""jsonl: one JSON object a line.

One key holds the label, one may hold the text. Without a text all other keys are features, hashed by their
names as in tables: a number stands in the column of its name, a word in that of ``name=word``. Names within
objects are joined by points, places in lists are counted from 0, words in lists are a bag. ``null`` is as
good as absent.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np

from .hashed import Hash
from .labels import Labels
from .lines import Lines, lines_of
from .records import Block, FormatError, Limits, Refusals, Texts, shown
from .tables import Options

_REPLACE = "encoding_errors='replace' puts a question mark in its place."


class _Bad(Exception):
    """What is wrong with a line: expected, found, the way out."""


class JsonLines:
    """Reads blocks of jsonl."""

    name = "jsonl"

    def __init__(self, options: Options, refusals: Refusals, limits: Limits):
        self.options, self.refusals, self.limits = options, refusals, limits
        self.labels = Labels(options.labels, limits, refusals)
        self._hash = Hash(options.bits, options.seed, options.dtype)
        self._label = _key("label_column", "label" if options.label_column == 0 else options.label_column)
        self._text = _key("text_column", options.text_column)
        self._weight = _key("weight_column", options.weight_column)

    @property
    def n_features(self) -> int | None:
        return None if self._text is not None else self._hash.n_features

    def parse(self, block: Block) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """Rows, labels and weights of a block."""
        lines = lines_of(block, self.refusals, self.options.replace)
        rows: list[_Row] = []
        for i in range(len(lines)):
            try:
                rows.append(self._row(lines.raw(i), i))
            except _Bad as bad:
                self.refusals.refuse(self._error(lines, i, *bad.args))
        rows, y = self._labelled(lines, rows)
        weights = None if self._weight is None else np.asarray([row.weight for row in rows], np.float64)
        X = Texts.of(row.text for row in rows) if self._text is not None else self._hashed(rows, block.file)
        return X, y, weights

    def _error(
        self,
        lines: Lines,
        i: int,
        expected: str,
        found: str | None = None,
        way_out: str = "",
        column: int = 0,
    ) -> FormatError:
        found = shown(lines.raw(i)) if found is None else found
        return lines.block.error(int(lines.starts[i]) + column, expected, way_out, found=found)

    # --------------------------------------------------------------------------------------- one row

    def _row(self, raw: bytes, line: int) -> _Row:
        """What a line holds, checked."""
        try:
            row = self._object(raw)
            for key in (self._label, self._text, self._weight):
                if key is not None and key not in row:
                    raise _Bad(f"the key {key!r}")
            text, features = "", []
            if self._text is not None:
                text = row[self._text]
                if not isinstance(text, str):
                    raise _Bad(f"a string under {self._text!r}", _shown(text))
            else:
                features = _Features(len(raw)).of(row, without=(self._label, self._weight))
        except RecursionError:
            raise _Bad("JSON of moderate depth") from None
        weight = 1.0 if self._weight is None else row[self._weight]
        if not _is_weight(weight):
            raise _Bad(f"a number of at least 0 under {self._weight!r}", _shown(weight))
        label = None if self._label is None else row[self._label]
        return _Row(line, label, text, float(weight), features)

    def _object(self, raw: bytes) -> dict[str, Any]:
        try:
            row = json.loads(raw)
        except json.JSONDecodeError as error:
            at = len(error.doc[: error.pos].encode())
            rest = shown(raw[at : at + 80]) if raw[at:] else "the end of the line"
            raise _Bad(f"JSON ({error.msg})", rest, "", at) from None
        except ValueError as error:  # an integer of thousands of digits
            raise _Bad("JSON with moderate numbers", shown(str(error).encode())) from None
        if not isinstance(row, dict):
            raise _Bad("an object, {…}")
        if b"\\u" in raw:  # half of a pair of surrogates is JSON, but no text
            text = json.dumps(row, ensure_ascii=False)
            try:
                text.encode()
            except UnicodeEncodeError:
                if not self.options.replace:
                    raise _Bad("characters", "half of a surrogate pair", _REPLACE) from None
                row = json.loads(text.encode("utf-8", "replace"))
        return row

    # ------------------------------------------------------------------------------------- all rows

    def _labelled(self, lines: Lines, rows: list[_Row]) -> tuple[list[_Row], np.ndarray | None]:
        """The rows with a label of the right kind, and their labels."""
        if self._label is None:
            return rows, None
        bad = set(self.labels.misfits([row.label for row in rows]))
        for i in sorted(bad):
            found = _shown(rows[i].label)
            error = self._error(lines, rows[i].line, self.labels.wanted, found, self.labels.way_out)
            self.refusals.refuse(error)
        rows = [row for i, row in enumerate(rows) if i not in bad] if bad else rows
        return rows, self.labels.of_values([row.label for row in rows])

    def _hashed(self, rows: list[_Row], file: str) -> Any:
        columns = self._hash.columns(Texts.of(name for row in rows for name, _ in row.features))
        values = np.asarray([value for row in rows for _, value in row.features], np.float64)
        indptr = np.cumsum([0, *(len(row.features) for row in rows)]).astype(np.int32)
        return self._hash.rows(values, columns, indptr, file)


class _Row(NamedTuple):
    line: int
    label: Any
    text: str
    weight: float
    features: list[tuple[str, float]]


class _Features:
    """The features of an object; their names together may be no longer than a multiple of the line."""

    def __init__(self, line_bytes: int):
        self._room = 64 * line_bytes + 4096
        self._found: list[tuple[str, float]] = []

    def of(self, row: dict[str, Any], without: tuple[str | None, ...]) -> list[tuple[str, float]]:
        for key, value in row.items():
            if key not in without:
                self._gather(key, value)
        return self._found

    def _gather(self, name: str, value: Any) -> None:
        self._room -= len(name)
        if self._room < 0:
            raise _Bad("shorter names, or fewer values below them", shown(name.encode()))
        if isinstance(value, str):
            if value:
                self._found.append((f"{name}={value}", 1.0))
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._gather(f"{name}.{key}", inner)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                self._gather(name if isinstance(inner, str) else f"{name}.{place}", inner)
        elif value is not None:
            number = _float(value)
            if not math.isfinite(number):
                raise _Bad("a finite number", f"{_shown(value)} under {name!r}")
            if number:
                self._found.append((name, number))


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: Any) -> str:
    try:
        return shown(json.dumps(value)[:200].encode())
    except (RecursionError, ValueError):
        return "something else"


def _key(name: str, column: Any) -> str | None:
    if column is None or isinstance(column, str):
        return column
    raise ValueError(f"In jsonl columns are keys; give {name} as a string instead of {column!r}.")


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
