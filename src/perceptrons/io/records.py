"""Records that the readers share: batches, texts, limits, and the error of a bad line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .._sparse import CsrRows
from .._types import Matrix


class Place(NamedTuple):
    """Where lines are."""

    file: str
    line: int  #: number of the first one, from 1


class Batch(NamedTuple):
    """Some rows of a stream."""

    X: StreamRows  #: CSR array, dense array, or :class:`Texts`
    y: np.ndarray | None  #: labels; None where the stream has none
    weights: np.ndarray | None  #: importance of the rows; None: all count once
    first_row: int  #: number of the first row in its pass, from 0
    place: Place | None = None  #: of the lines that the texts lie in, where they do

    @property
    def n_rows(self) -> int:
        return len(self.X) if isinstance(self.X, Texts) else int(self.X.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, as far as they are known."""
        parts: Iterable[object] = [getattr(self.X, name, None) for name in _CSR]
        if isinstance(self.X, Texts):
            parts = self.X
        elif hasattr(self.X, "nbytes"):  # an array, or rows that a learner has prepared
            parts = [self.X]
        return sum(getattr(part, "nbytes", 0) for part in (*parts, self.y, self.weights))

    def after(self, rows: int) -> Batch:
        """The batch without its first rows."""
        X = some_rows(self.X, slice(rows, None))
        y, weights = (None if part is None else part[rows:] for part in (self.y, self.weights))
        return Batch(X, y, weights, self.first_row + rows, self.place)

    def line(self, i: int) -> int | None:
        """Number of the line of text i in its file, from 1; None where it is not known."""
        if self.place is None or not isinstance(self.X, Texts):
            return None
        return self.place.line + int(np.count_nonzero(self.X.buffer[: self.X.starts[i]] == NEWLINE))


_CSR = ("data", "indices", "indptr")


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
        return self.some(slice(rows, None))

    def some(self, rows: RowChoice) -> Texts:
        """Some of the texts: by a slice, or by an array of numbers or truth values."""
        return Texts(self.buffer, self.starts[rows], self.stops[rows])


#: Rows of a batch.
StreamRows: TypeAlias = Matrix | CsrRows | Texts
#: Rows, their labels, their weights.
Parsed: TypeAlias = tuple[StreamRows, np.ndarray | None, np.ndarray | None]
#: Which rows of a batch: a slice, or an array or a list of numbers or truth values.
RowChoice: TypeAlias = slice | np.ndarray | list[int]


class Limits(NamedTuple):
    """What a reader takes before it refuses.

    A pass over a stream adds at most 8 times ``line_bytes`` (or ``batch_bytes``, where that is more) plus
    64 MB to the memory of the process, whatever the file holds, with the other limits at their defaults.
    """

    line_bytes: int = 1 << 24  #: the longest line; of parquet: footer, and the open pages of all columns
    features: int = 1 << 26  #: the largest index of libsvm, at most 2**31 - 1
    columns: int = 1 << 17  #: of a table
    decompressed_bytes: int | None = None  #: of one file; None: any number
    ratio: float = 1000.0  #: decompressed bytes per compressed byte, beyond the first 16 MiB
    labels: int = 1 << 16  #: different labels, where labels are text
    label_bytes: int = 1 << 10  #: the longest label, where labels are text
    values: int = 1 << 18  #: of one row of vw or jsonl


_MOST = {"decompressed_bytes": 2**63 - 1}  # of the others: what 32-bit positions and indices hold


def checked_limits(limits: Limits | None) -> Limits:
    """The limits, or the default ones; a limit that the readers could not keep is refused."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be a perceptrons.io.Limits; got {type(limits).__name__}.")
    for name, value in limits._asdict().items():
        if name == "ratio":
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"limits.ratio must be a number above 0; got ratio={value!r}.")
            continue
        most = _MOST.get(name, 2**31 - 1)
        if value is None and name == "decompressed_bytes":
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
            raise ValueError(f"limits.{name} must be an integer from 1 to {most}; got {name}={value!r}.")
    return limits


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


def some_rows(X: StreamRows, rows: RowChoice) -> StreamRows:
    """Some rows of a batch."""
    if isinstance(X, Texts):
        return X.some(rows)
    found: Matrix | CsrRows = X[rows]
    return found


def cast(values: np.ndarray, dtype: npt.DTypeLike, file: str) -> np.ndarray:
    """Values in the given precision; FormatError where it cannot hold them."""
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
        #: of a source that is a part of a file: an error with the line of the whole file
        self.placed: Callable[[FormatError], FormatError] | None = None

    @property
    def only_counted(self) -> bool:
        """Whether one more bad line is only counted, without an error that says what is wrong with it."""
        return self.skip and self.first is not None

    def refuse(self, error: FormatError | Callable[[], FormatError]) -> None:
        """Raise, or count and continue.

        The time to make an error grows with its block, so it may be given as a function, which is called
        only for an error that is raised or kept.
        """
        if not self.only_counted:
            error = error if isinstance(error, FormatError) else error()
            if not self.skip:
                raise error
            self.first = error if self.placed is None else self.placed(error)
        self.count += 1

    def refuse_all(self, which: np.ndarray, error: Callable[[int], FormatError]) -> None:
        """Refuse each of these places; ``error(place)`` says what is wrong there."""
        if len(which):
            self.refuse(lambda: error(int(which[0])))
            self.count += len(which) - 1


class LineBlock(NamedTuple):
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
        """The text at a position, up to the next space, as it is shown in a message."""
        raw = self.buffer[position : min(self.size, position + 80 if stop is None else stop)].tobytes()
        line = raw.split(b"\n")[0]
        if stop is None and line[:1] not in _BLANKS:
            line = _BLANK.split(line)[0]
        if line.strip(b" \t\r") == b"":
            return "the end of the line" if not line.strip(b"\r") else "a space"
        return shown(line)


NEWLINE, RETURN = 10, 13
_BLANKS = (b"", b" ", b"\t", b"\r")
_BLANK = re.compile(rb"[ \t\r]")  # what separates fields; other white space of Python is not blank here
_LONGEST_SHOWN = 40


def listed(names: list[str]) -> str:
    """Some names of a file as a message lists them: each short, on one line."""
    return ", ".join(shown(name[:_LONGEST_SHOWN].encode())[1:-1] for name in names[:20])


def shown(raw: bytes) -> str:
    """Bytes of a file as a message shows them: short, quoted, on one line."""
    text = raw[: 4 * _LONGEST_SHOWN].decode("utf-8", "backslashreplace")
    if len(text) > _LONGEST_SHOWN:
        text = text[: _LONGEST_SHOWN - 1] + "…"
    return repr(text)
