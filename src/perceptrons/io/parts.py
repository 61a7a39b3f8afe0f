"""Parts of files that tasks of their own can read: ranges of lines, and row groups of parquet.

A part is a record of a few numbers; what reads it opens the file. An error within a part names the line of
the file: the lines before the part are counted when there is an error, and not before.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from .formats import cuttable
from .records import FormatError, Limits, Refusals
from .sources import CODECS, Source, sources

_CHUNK = 1 << 20  # bytes read at a time


@dataclasses.dataclass(frozen=True)
class LineRange:
    """Whole lines of a plain file, from byte ``start`` to byte ``stop``.

    The first ``head`` bytes of the file, a header, are read before them.
    """

    path: str
    start: int
    stop: int
    head: int = 0

    def source(self) -> Source:
        """The bytes, as :func:`perceptrons.io.open_stream` takes them."""
        size = self.head + self.stop - self.start
        spans = [(0, self.head), (self.start, self.stop)]
        return Source(
            self.path, lambda: io.BufferedReader(_FileSpans(self.path, spans)), size, placed=self._placed
        )

    def _placed(self, error: FormatError) -> FormatError:
        """The error with the line of the file."""
        if error.line is None:
            return error
        head = _newlines(self.path, 0, self.head)
        if error.line <= head:
            return error
        line = error.line - head + _newlines(self.path, 0, self.start)
        return FormatError(error.file, line, error.column, error.expected, error.found, error.way_out)

    def __str__(self) -> str:
        return f"{self.path}, bytes {self.start:,} to {self.stop:,}"


@dataclasses.dataclass(frozen=True)
class RowGroups:
    """Row groups ``start`` to ``stop`` - 1 of a parquet file."""

    path: str
    start: int
    stop: int

    def source(self) -> Source:
        """The file with these row groups alone."""
        return sources(self.path)[0]._replace(groups=range(self.start, self.stop))

    def __str__(self) -> str:
        return f"{self.path}, row groups {self.start} to {self.stop - 1}"


@dataclasses.dataclass(frozen=True)
class WholeFile:
    """All of a file, plain or compressed."""

    path: str

    def source(self) -> Source:
        """The file."""
        return sources(self.path)[0]

    def __str__(self) -> str:
        return self.path


FilePart: TypeAlias = LineRange | RowGroups | WholeFile


class _FileSpans(io.RawIOBase):
    """Some spans of bytes of a file, one after the other."""

    def __init__(self, path: str, spans: Iterable[tuple[int, int]]):
        self._spans = [span for span in spans if span[0] < span[1]]
        self._file = io.FileIO(path, "rb")
        self._at = self._spans[0][0] if self._spans else 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer in io
        while self._spans and self._at == self._spans[0][1]:
            del self._spans[0]
            self._at = self._spans[0][0] if self._spans else 0
        if not self._spans:
            return 0
        self._file.seek(self._at)
        n = self._file.readinto(memoryview(buffer)[: self._spans[0][1] - self._at]) or 0
        if n == 0:
            raise OSError(f"{self._file.name} is shorter than when it was cut into parts.")
        self._at += n
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


def _newlines(path: str, start: int, stop: int) -> int:
    """Line ends between two bytes of a file."""
    found = 0
    with open(path, "rb") as file:
        file.seek(start)
        while start < stop:
            data = file.read(min(_CHUNK, stop - start))
            if not data:
                break
            found += data.count(b"\n")
            start += len(data)
    return found


# ------------------------------------------------------------------------------------------ cutting


def cut(paths: Sequence[str], n: int, format: str, header: bool = False) -> list[list[FilePart]]:
    """At most n lists of parts of files, in the order of the files and of about the same number of bytes.

    Several small files become one list; a large one is cut between two lines, or two row groups.

    Parameters
    ----------
    paths : list of str
    n : int
        How many lists there are at most: a file has no more parts than lines or row groups.
    format : str
        Of all files.
    header : bool, default=False
        Whether the first line of each file names the columns: every part of the file is read with it.
    """
    sizes = [max(1, os.stat(path).st_size) for path in paths]
    if len(paths) >= n:
        return _grouped(paths, sizes, n)
    total = sum(sizes)
    shares = [max(1, round(n * size / total)) for size in sizes]
    while sum(shares) > n:
        most = max(range(len(shares)), key=lambda i: (shares[i] > 1, shares[i] / sizes[i]))
        shares[most] -= 1
    return [[part] for path, share in zip(paths, shares) for part in _of_file(path, share, format, header)]


def _grouped(paths: Sequence[str], sizes: Sequence[int], n: int) -> list[list[FilePart]]:
    """Whole files in n lists: each goes to the list in whose share of the bytes its middle lies."""
    total, before = sum(sizes), 0
    groups: list[list[FilePart]] = [[] for _ in range(n)]
    for i, (path, size) in enumerate(zip(paths, sizes)):
        place = n * (2 * before + size) // (2 * total)
        left = len(paths) - i  # no list stays empty
        first_empty = next((k for k in range(n) if not groups[k]), n)
        place = min(place, first_empty)
        if left <= n - first_empty:
            place = first_empty
        groups[place].append(WholeFile(path))
        before += size
    return groups


def _of_file(path: str, n: int, format: str, header: bool) -> list[FilePart]:
    if n == 1:
        return [WholeFile(path)]
    if format == "parquet":
        groups = _count_row_groups(path)
        ends = [groups * i // n for i in range(n + 1)]
        return [RowGroups(path, a, b) for a, b in itertools.pairwise(ends) if a < b]
    return list(_ranges(path, n, format, header))


def _count_row_groups(path: str) -> int:
    from .parquet import Parquet
    from .tables import TableOptions

    parser = Parquet(TableOptions(), Refusals(False), Limits(), batch_bytes=1)
    return parser.n_row_groups(WholeFile(path).source())


def _ranges(path: str, n: int, format: str, header: bool) -> list[LineRange]:
    """Ranges of whole lines, cut next to equal shares of the bytes."""
    if not cuttable(format):
        raise ValueError(
            f"{path} is of format {format!r}, whose lines are read by a function of your own, and cannot be "
            f"cut into {n} parts: give one file for each shard."
        )
    with open(path, "rb") as file:
        start = file.read(6)
        codec = next((codec for codec in CODECS if start.startswith(codec.magic)), None)
        if codec is not None:
            raise ValueError(
                f"{path} is compressed ({codec.name}) and cannot be cut into {n} parts: decompress it, or "
                "give one file for each shard."
            )
        size = file.seek(0, os.SEEK_END)
        head = _end_of_header(file) if header else 0
        ends = [_next_line(file, head + (size - head) * i // n, head) for i in range(n)] + [size]
    return [LineRange(path, a, b, head) for a, b in itertools.pairwise(ends) if a < b]


def _end_of_header(file: io.BufferedReader) -> int:
    """The byte behind the first line that is not blank."""
    file.seek(0)
    while True:
        line = file.readline()
        if not line or line.strip(b"\xef\xbb\xbf \t\r\n"):
            return file.tell()


def _next_line(file: io.BufferedReader, at: int, least: int) -> int:
    """Where the first line begins at ``at`` or behind it."""
    if at <= least:
        return least
    file.seek(at - 1)
    file.readline()
    return file.tell()
