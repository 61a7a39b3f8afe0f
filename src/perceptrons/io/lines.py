"""The lines of a block: where they are, and that they are text."""

from __future__ import annotations

import codecs
from typing import NamedTuple

import numpy as np

from . import _scans as scans
from .records import FormatError, Limits, LineBlock, Refusals, shown
from .sources import CHUNK, SLACK, refuse_long_lines

_REPLACE = "encoding_errors='replace' reads it with U+FFFD in its place."


class TextLines(NamedTuple):
    """The lines of a block that hold something, without their ends."""

    block: LineBlock
    starts: np.ndarray
    stops: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, i: int) -> bytes:
        return self.block.buffer[self.starts[i] : self.stops[i]].tobytes()

    def after(self, n: int) -> TextLines:
        """Without the first lines."""
        return TextLines(self.block, self.starts[n:], self.stops[n:])

    def some(self, start: int, stop: int) -> TextLines:
        """The lines from ``start`` to ``stop``."""
        return TextLines(self.block, self.starts[start:stop], self.stops[start:stop])


def lines_of(block: LineBlock, refusals: Refusals, replace: Limits | None = None) -> TextLines:
    """The lines of a block; blank ones are left out, and those that are not text are refused.

    With ``replace`` what is not UTF-8 becomes U+FFFD, within these limits.
    """
    starts, stops = np.empty(block.n_lines, np.int64), np.empty(block.n_lines, np.int64)
    flags = np.empty(block.n_lines, np.uint8)
    n = int(scans.find_lines(block.buffer, block.size, starts, stops, flags))
    starts, stops, flags = starts[:n], stops[:n], flags[:n]
    if replace is not None and (flags == scans.NOT_UTF8).any():
        return lines_of(_replaced(block, replace, refusals), refusals)
    bad = np.flatnonzero(flags)
    if not len(bad):
        return TextLines(block, starts, stops)
    refusals.refuse_all(bad, lambda i: _not_text(block, int(starts[i]), int(stops[i])))
    keep = flags == scans.FINE
    return TextLines(block, starts[keep], stops[keep])


def _not_text(block: LineBlock, start: int, stop: int) -> FormatError:
    raw = block.buffer[start:stop].tobytes()
    nul = raw.find(b"\0")
    if nul >= 0:
        return block.error(start + nul, "text", "Is this a binary file?", found="a NUL byte")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        found = shown(raw[error.start : error.start + 8])
        return block.error(start + error.start, "UTF-8", _REPLACE, found=found)
    raise AssertionError("the line is text")


def _replaced(block: LineBlock, limits: Limits, refusals: Refusals) -> LineBlock:
    """The same lines with U+FFFD where they are not UTF-8; it is longer than what it replaces."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    buffer, size = np.empty(3 * block.size + SLACK, np.uint8), 0
    for start in range(0, block.size, CHUNK):
        stop = min(start + CHUNK, block.size)
        part = decode(block.buffer[start:stop].tobytes(), stop == block.size).encode()
        buffer[size : size + len(part)] = np.frombuffer(part, np.uint8)
        size += len(part)
    refuse_long_lines(buffer, 0, size, block.file, block.line, limits, refusals)
    return block._replace(buffer=buffer, size=size)
