"""What the readers are made of: batches, texts, limits, and the error of a bad line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Batch(NamedTuple):
    """Some rows of a stream."""

    X: Any  #: CSR array, dense array, or :class:`Texts`
    y: np.ndarray | None  #: labels; None where the stream has none
    weights: np.ndarray | None  #: importance of the rows; None: all count once
    first_row: int  #: number of the first row in its pass, from 0

    @property
    def n_rows(self) -> int:
        return len(self.X) if isinstance(self.X, Texts) else int(self.X.shape[0])

    def after(self, rows: int) -> Batch:
        """The batch without its first rows."""
        X = self.X.after(rows) if isinstance(self.X, Texts) else self.X[rows:]
        y, weights = (None if part is None else part[rows:] for part in (self.y, self.weights))
        return Batch(X, y, weights, self.first_row + rows)


class _Spans(NamedTuple):
    buffer: np.ndarray  #: uint8
    starts: np.ndarray  #: int64
    stops: np.ndarray  #: int64


class Texts(_Spans):
    """Texts side by side in one buffer: text i is ``buffer[starts[i]:stops[i]]``, in UTF-8.

    Examples
    --------
    >>> texts = Texts.of(["spam", "ham"])
    >>> len(texts), texts.text(1)
    (2, 'ham')
    """

    __slots__ = ()

    @classmethod
    def of(cls, texts: Iterable[str | bytes]) -> Texts:
        """The same texts in one buffer."""
        parts = [text.encode() if isinstance(text, str) else bytes(text) for text in texts]
        stops = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), dtype=np.int64)
        starts = np.concatenate([np.zeros(min(1, len(parts)), np.int64), stops[:-1]])
        return cls(np.frombuffer(b"".join(parts), np.uint8), starts, stops)

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, i: int) -> bytes:
        """The bytes of text i."""
        return self.buffer[self.starts[i] : self.stops[i]].tobytes()

    def text(self, i: int) -> str:
        """Text i as a string."""
        return self.raw(i).decode("utf-8", "replace")

    def after(self, rows: int) -> Texts:
        """Without the first texts."""
        return Texts(self.buffer, self.starts[rows:], self.stops[rows:])


class Limits(NamedTuple):
    """What a reader takes before it refuses; memory stays within a few times ``line_bytes``."""

    line_bytes: int = 1 << 24  #: the longest line
    features: int = 1 << 26  #: the largest index of libsvm
    columns: int = 1 << 20  #: of a table
    decompressed_bytes: int | None = None  #: of one file; None: any number
    ratio: float = 1000.0  #: decompressed bytes per compressed byte, beyond the first 16 MiB
    labels: int = 1 << 16  #: different labels, where labels are text


class FormatError(ValueError):
    """Input that is not what its format says.

    The message names the file, the line and the column (both from 1; the column counts bytes), what was
    expected and what was found; the attributes hold the same.
    """

    def __init__(
        self,
        file: str,
        line: int | None,
        column: int | None,
        expected: str,
        found: str,
        way_out: str = "",
    ):
        self.file, self.line, self.column = file, line, column
        self.expected, self.found, self.way_out = expected, found, way_out
        super().__init__(file, line, column, expected, found, way_out)

    def __str__(self) -> str:
        where = self.file
        if self.line is not None:
            where += f", line {self.line}"
        if self.column is not None:
            where += f", column {self.column}"
        end = f" {self.way_out}" if self.way_out else ""
        return f"{where}: expected {self.expected}, found {self.found}.{end}"


def cast(values: np.ndarray, dtype: Any, file: str) -> np.ndarray:
    """Values in the precision that was asked for, which must hold them."""
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype, copy=False)
    if narrow is not values and not np.isfinite(narrow).all():
        value = values[~np.isfinite(narrow)][0]
        raise FormatError(
            file, None, None, "values within float32", f"{value:g}", "dtype='float64' holds it."
        )
    return narrow


class Refusals:
    """What becomes of a bad line: an error, or one more that was skipped."""

    def __init__(self, skip: bool):
        self.skip = skip
        self.count = 0
        self.first: FormatError | None = None

    def refuse(self, error: FormatError) -> None:
        """Raise, or count and go on."""
        if not self.skip:
            raise error
        self.count += 1
        self.first = self.first or error


class Block(NamedTuple):
    """Whole lines of a file; the last byte is always a line end."""

    buffer: np.ndarray  #: uint8, some bytes longer than ``size``
    size: int
    file: str
    line: int  #: number of the first line, from 1
    n_lines: int

    def error(self, position: int, expected: str, way_out: str = "", found: str | None = None) -> FormatError:
        """That something else was expected at this position."""
        line, column = self.place(position)
        return FormatError(
            self.file, line, column, expected, found if found is not None else self.token(position), way_out
        )

    def place(self, position: int) -> tuple[int, int]:
        """Line and column of a position."""
        ends = np.flatnonzero(self.buffer[:position] == NEWLINE)
        start = int(ends[-1]) + 1 if len(ends) else 0
        return self.line + len(ends), position - start + 1

    def token(self, position: int, stop: int | None = None) -> str:
        """What stands at a position, up to the next space, as it is shown in a message."""
        raw = self.buffer[position : min(self.size, position + 80 if stop is None else stop)].tobytes()
        line = raw.split(b"\n")[0]
        if stop is None and line[:1] not in (b"", b" ", b"\t", b"\r"):
            line = line.split()[0]
        if line.strip() == b"":
            return "the end of the line" if not line.strip(b"\r") else "a space"
        return shown(line)

    def line_after(self, position: int) -> int:
        """Where the next line starts."""
        ends = np.flatnonzero(self.buffer[position : self.size] == NEWLINE)
        return position + int(ends[0]) + 1 if len(ends) else self.size


NEWLINE, RETURN = 10, 13
_LONGEST_SHOWN = 40


def shown(raw: bytes) -> str:
    """Bytes of a file as a message shows them: short, quoted, on one line."""
    text = raw[: 4 * _LONGEST_SHOWN].decode("utf-8", "backslashreplace")
    if len(text) > _LONGEST_SHOWN:
        text = text[: _LONGEST_SHOWN - 1] + "…"
    return repr(text)
