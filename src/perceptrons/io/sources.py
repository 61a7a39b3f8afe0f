"""Where the bytes come from: paths, standard input, open files; plain or compressed.

The compression is told by the first bytes, whatever the name says. Decompression is bounded: no call makes
more than is asked for, and a file that grows beyond the limits is refused.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias

import numpy as np

from . import _scans as scans
from .records import NEWLINE, RETURN, FormatError, Limits, LineBlock, Refusals, shown

CHUNK = 1 << 16  # compressed bytes taken at a time, and decompressed ones made at least
SLACK = 64  # bytes behind a block, so that loops may look ahead
LINES = 1 << 16  # of a block
FREE = 1 << 24  # decompressed bytes before a ratio means anything
_PIECE = 1 << 20  # bytes read at a time: a decompressor makes a copy of them
_MOST_WINDOW = 1 << 30
_LEAST_WINDOW = 1 << 23  # bytes; every preset of zstd below --ultra, and xz up to -6


class Source(NamedTuple):
    """One thing to read."""

    name: str
    open: Callable[[], BinaryIO]  #: returns a binary file
    size: int | None = None  #: bytes, as stored
    again: bool = True  #: whether it can be read a second time
    owned: bool = True  #: whether we close it
    pipe: bool = False  #: whether reading may block
    #: of a part of a file: an error with the line of the whole file
    placed: Callable[[FormatError], FormatError] | None = None
    groups: range | None = None  #: of parquet: which row groups; None: all


#: A path, "-", an open binary file, bytes, or a list of these.
AnySource: TypeAlias = Any


def sources(source: AnySource) -> list[Source]:
    """What the user gave, one by one."""
    if isinstance(source, Source):
        return [source]
    if isinstance(source, list | tuple):
        if not source:
            raise ValueError("The list of sources is empty; give at least one path.")
        return [one for part in source for one in sources(part)]
    if isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
        return [Source("<bytes>", lambda: io.BytesIO(data), len(data))]
    if isinstance(source, str) and source == "-":
        return [Source("<stdin>", lambda: sys.stdin.buffer, None, again=False, owned=False, pipe=True)]
    if isinstance(source, str | os.PathLike):
        return [_path(os.fspath(source))]
    if hasattr(source, "read"):
        return [_open_file(source)]
    raise TypeError(
        "source must be a path, a list of paths, '-' for standard input, an open binary file or bytes; "
        f"got {type(source).__name__}."
    )


def _path(path: str) -> Source:
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder; give the files in it.")
    size = os.stat(path).st_size  # raises FileNotFoundError now, not in another thread
    regular = os.path.isfile(path)
    return Source(
        path,
        lambda: open(path, "rb", buffering=0),
        size if regular else None,
        again=regular,
        pipe=not regular,
    )


def _open_file(file: BinaryIO) -> Source:
    if isinstance(file, io.TextIOBase):
        raise TypeError("The file is open as text; open it with mode 'rb'.")
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else "<file>"
    try:
        start = file.tell() if file.seekable() else None
    except (AttributeError, OSError):
        start = None
    if start is None:
        return Source(name, lambda: file, None, again=False, owned=False, pipe=True)

    def rewound() -> BinaryIO:
        file.seek(start)
        return file

    end = file.seek(0, io.SEEK_END)
    file.seek(start)
    return Source(name, rewound, end - start, owned=False)


# ------------------------------------------------------------------------------------------------ reading


class Content(Protocol):
    """The bytes of a source, decompressed."""

    def readinto(self, view: memoryview, /) -> int: ...


class Decompressor(Protocol):
    """The methods of :class:`bz2.BZ2Decompressor`, which the other codecs get too."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class CountedFile:
    """A binary file whose bytes are counted, and whose first bytes can be looked at."""

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self._head = b""
        self.taken = 0

    def peek(self, n: int) -> bytes:
        """The next n bytes, or what is left, without taking them."""
        while len(self._head) < n:
            more = self._raw.read(n - len(self._head))
            if not more:
                break
            self._head += more
        return self._head[:n]

    def read(self, n: int) -> bytes:
        if self._head:
            data, self._head = self._head[:n], self._head[n:]
        else:
            data = self._raw.read(n) or b""
        self.taken += len(data)
        return data

    def readinto(self, view: memoryview) -> int:
        if not self._head and hasattr(self._raw, "readinto"):
            n = int(self._raw.readinto(view) or 0)
            self.taken += n
            return n
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


class _Gzip:
    """zlib's object with the methods of bz2's and lzma's."""

    def __init__(self, window: int) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)

    eof = property(lambda self: self._inner.eof)
    unused_data = property(lambda self: self._inner.unused_data)
    needs_input = property(lambda self: not self._inner.unconsumed_tail)


class _Zstd:
    """zstandard's object with the methods of bz2's and lzma's.

    It has no limit on the length of its output. A block of 128 KiB can be written in four bytes, so it is
    given few bytes at a time: what one call makes is at most 4 MiB.
    """

    FEW = 128

    def __init__(self, window: int) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor(max_window_size=window).decompressobj(write_size=1 << 14)
        self._waiting, self._at = b"", 0
        self._made = memoryview(b"")

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._waiting, self._at = self._waiting[self._at :] + data, 0
        made, total = [], len(self._made)
        while total < max_length and self._at < len(self._waiting) and not self._inner.eof:
            made.append(self._inner.decompress(self._waiting[self._at : self._at + self.FEW]))
            self._at += self.FEW
            total += len(made[-1])
        if made:
            self._made = memoryview(b"".join([self._made, *made]))
        data, self._made = bytes(self._made[:max_length]), self._made[max_length:]
        return data

    eof = property(lambda self: self._inner.eof and not self._made)
    unused_data = property(lambda self: self._inner.unused_data + self._waiting[self._at :])
    needs_input = property(lambda self: not self._made and self._at >= len(self._waiting))


def _bz2(window: int) -> Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz(window: int) -> Decompressor:
    import lzma

    return lzma.LZMADecompressor(memlimit=window + (1 << 21))


class Codec(NamedTuple):
    name: str
    magic: bytes
    suffix: str
    new: Callable[[int], Decompressor]  #: called with the most bytes that may be kept to refer back to


CODECS = (
    Codec("gzip", b"\x1f\x8b", ".gz", _Gzip),
    Codec("bzip2", b"BZh", ".bz2", _bz2),
    Codec("xz", b"\xfd7zXZ\x00", ".xz", _xz),
    Codec("zstd", b"\x28\xb5\x2f\xfd", ".zst", _Zstd),
)


_WINDOW = "It may refer back to 4 times limits.line_bytes; limits=Limits(line_bytes=…) sets the limit."


class Decompressed:
    """The content of a compressed file, member after member."""

    def __init__(self, file: CountedFile, codec: Codec, name: str, limits: Limits):
        self._file, self._codec, self._name, self._limits = file, codec, name, limits
        self._member = self._new_member()
        self._unread = b""
        self._waiting = memoryview(b"")  # made, and not yet returned
        self._made = 0
        self._ended = False

    def _new_member(self) -> Decompressor:
        try:
            return self._codec.new(min(max(_LEAST_WINDOW, 4 * self._limits.line_bytes), _MOST_WINDOW))
        except ImportError as error:
            raise ImportError(
                f"{self._name} is compressed with zstd, which needs an extra package: "
                "pip install 'perceptrons[data]'."
            ) from error

    def readinto(self, view: memoryview) -> int:
        """At most len(view) bytes; 0 at the end."""
        while not self._waiting and not self._ended:
            try:
                data = self._next(max(len(view), CHUNK))
            except (ValueError, OSError, EOFError, MemoryError):
                raise  # an error of reading, or a FormatError
            except Exception as error:  # zlib.error, LZMAError, ZstdError: each codec has its own
                raise self._refused(
                    "intact data", f"damaged data ({error})", _WINDOW if "emory" in str(error) else ""
                ) from error
            self._count(len(data))
            self._waiting = memoryview(data)
        n = min(len(view), len(self._waiting))
        view[:n], self._waiting = self._waiting[:n], self._waiting[n:]
        return n

    def _next(self, n: int) -> bytes:
        if self._member.eof:
            self._turn_to_next_member()
            return b""
        if not self._member.needs_input:
            return self._decompressed(b"", n)
        fresh = self._unread or self._file.read(CHUNK)
        self._unread = b""
        if not fresh:
            raise self._refused("the rest of the file", "its end: it is truncated")
        return self._decompressed(fresh, n)

    def _decompressed(self, data: bytes, n: int) -> bytes:
        try:
            return self._member.decompress(data, n)
        except OSError as error:  # bz2 says it so; reading does not happen here
            raise self._refused("intact data", f"damaged data ({error})") from error

    def _turn_to_next_member(self) -> None:
        rest = self._member.unused_data
        while not rest.strip(b"\0"):  # some writers fill up with zeros
            rest = self._file.read(CHUNK)
            if not rest:
                self._ended = True
                return
        rest = rest.lstrip(b"\0") + (self._file.read(CHUNK) if len(rest) < 8 else b"")
        if not rest.startswith(self._codec.magic):
            raise self._refused("its end, or more compressed data", shown(rest[:16]))
        self._member, self._unread = self._new_member(), rest

    def _count(self, n: int) -> None:
        self._made += n
        most = self._limits.decompressed_bytes
        if most is not None and self._made > most:
            raise self._refused(
                f"at most {most:,} bytes of content",
                "more",
                "limits=Limits(decompressed_bytes=…) sets the limit.",
            )
        if self._made > FREE and self._made > self._limits.ratio * self._file.taken:
            raise self._refused(
                f"at most {self._limits.ratio:g} times the compressed size",
                f"{self._made:,} bytes made of {self._file.taken:,}",
                "If the file is to be trusted, raise limits=Limits(ratio=…).",
            )

    def _refused(self, expected: str, found: str, way_out: str = "") -> FormatError:
        return FormatError(f"{self._name} ({self._codec.name})", None, None, expected, found, way_out)


class OpenSource:
    """An open source: its content, and how much of the file has been read."""

    def __init__(self, source: Source, limits: Limits):
        self.source = source
        self.raw = source.open()
        self.file = CountedFile(self.raw)
        head = self.file.peek(6)
        codec = next((codec for codec in CODECS if head.startswith(codec.magic)), None)
        self.content: Content = self.file
        if codec is not None:
            self.content = Decompressed(self.file, codec, source.name, limits)

    def close(self) -> None:
        if self.source.owned:
            self.raw.close()


# ------------------------------------------------------------------------------------------------- blocks


def blocks(
    opened: OpenSource, batch_bytes: int, limits: Limits, refusals: Refusals, line: int = 1
) -> Iterator[LineBlock]:
    """Whole lines, cut by content alone, however a pipe delivers.

    A block has at most ``batch_bytes`` bytes, or one line that is longer and less than ``batch_bytes`` behind
    it; and at most ``LINES`` lines, since what a reader makes of a line is larger than a short line.
    """
    name = opened.source.name
    carry = np.zeros(0, np.uint8)
    ended, first = False, True
    while not ended:
        buffer, size, cut, ended = _whole_lines(opened.content, carry, batch_bytes, limits.line_bytes)
        at = _mark(buffer, size, name) if first else 0
        first = False
        if ended and size > at and buffer[size - 1] != NEWLINE:
            buffer[size] = NEWLINE
            size += 1
        if ended:
            cut = size
        elif cut == 0:
            refusals.refuse(functools.partial(_too_long, name, line, limits))
            del buffer
            carry, ended = _past_the_line(opened.content)
            line += 1
            continue
        carry = buffer[cut:size].copy()
        if cut > limits.line_bytes:
            refuse_long_lines(buffer, at, cut, name, line, limits, refusals)
        left = int(np.count_nonzero(buffer[at:cut] == NEWLINE))
        while at < cut:
            stop, n_lines = cut, left
            if left > LINES:
                end, found = scans.some_lines(buffer, at, cut, LINES)
                stop, n_lines = int(end), int(found)
            yield LineBlock(buffer[at:], stop - at, name, line, n_lines)
            at, line, left = stop, line + n_lines, left - n_lines
        del buffer


def _whole_lines(
    content: Content, carry: np.ndarray, batch_bytes: int, most: int
) -> tuple[np.ndarray, int, int, bool]:
    """(buffer, bytes in it, where its last line ends, whether the content has ended).

    It starts with ``carry``. A line end of 0 means that there is none within ``most`` bytes. Each byte is
    looked at a bounded number of times, and copied a bounded number of times.
    """
    size, ended, cut = len(carry), False, last_line_end(carry, 0, len(carry))
    buffer = np.empty(max(batch_bytes, 2 * size) + SLACK, np.uint8)
    buffer[:size] = carry
    while not ended and cut == 0 and size <= most:
        start, target = size, max(batch_bytes, size + batch_bytes // 2)
        if target + SLACK > len(buffer):
            larger = np.empty(max(target, 2 * size) + SLACK, np.uint8)
            larger[:size] = buffer[:size]
            buffer = larger
        size, ended = _filled(content, buffer, size, target)
        cut = last_line_end(buffer, start, size)
    return buffer, size, cut, ended


def _filled(content: Content, buffer: np.ndarray, size: int, room: int) -> tuple[int, bool]:
    """Read until so many bytes are there or the content ends."""
    view = memoryview(buffer)  # type: ignore[arg-type]  # in the stubs an array is no Buffer
    while size < room:
        n = content.readinto(view[size : min(room, size + _PIECE)])
        if n == 0:
            return size, True
        size += n
    return size, False


def last_line_end(buffer: np.ndarray, start: int, size: int) -> int:
    """The position behind the last line end from ``start`` on; 0 if there is none."""
    step = 4096
    for stop in range(size, start, -step):
        begin = max(start, stop - step)
        ends = np.flatnonzero(buffer[begin:stop] == NEWLINE)
        if len(ends):
            return begin + int(ends[-1]) + 1
    return 0


def _mark(buffer: np.ndarray, size: int, name: str) -> int:
    """The length of the mark that some programs put before UTF-8."""
    head = buffer[: min(size, 3)].tobytes()
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(
            name, 1, 1, "UTF-8", "UTF-16", f"Convert it: iconv -f UTF-16 -t UTF-8 {name} > converted."
        )
    return 3 if head == b"\xef\xbb\xbf" else 0


def _too_long(name: str, line: int, limits: Limits) -> FormatError:
    return FormatError(
        name,
        line,
        None,
        f"a line of at most {limits.line_bytes:,} bytes",
        "a longer one",
        "limits=Limits(line_bytes=…) sets the limit.",
    )


def refuse_long_lines(
    buffer: np.ndarray, at: int, size: int, name: str, line: int, limits: Limits, refusals: Refusals
) -> None:
    """Refuse the lines from ``at`` on that are too long; one that is skipped becomes blank."""
    while True:
        start, stop, before = scans.next_long_line(buffer, at, size, limits.line_bytes)
        if start == size:
            return
        line += int(before)
        refusals.refuse(functools.partial(_too_long, name, line, limits))
        buffer[start:stop] = RETURN  # ignored before a line end
        at, line = int(stop) + 1, line + 1


def _past_the_line(content: Content) -> tuple[np.ndarray, bool]:
    """What follows the next line end, as far as it has been read; whether the content has ended."""
    buffer = np.empty(CHUNK + SLACK, np.uint8)
    while True:
        size, ended = _filled(content, buffer, 0, CHUNK)
        ends = np.flatnonzero(buffer[:size] == NEWLINE)
        if len(ends):
            return buffer[int(ends[0]) + 1 : size].copy(), False
        if ended:
            return buffer[:0].copy(), True
