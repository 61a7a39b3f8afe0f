"""The lines of a block: where they are, and that they are text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _scans as scans
from .records import RETURN, Block, FormatError, Refusals, shown
from .sources import SLACK

_REPLACE = "encoding_errors='replace' reads it with U+FFFD in its place."


class Lines(NamedTuple):
    """The lines of a block that hold something, without their ends."""

    block: Block
    starts: np.ndarray
    stops: np.ndarray

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, i: int) -> bytes:
        return self.block.buffer[self.starts[i] : self.stops[i]].tobytes()

    def after(self, n: int) -> Lines:
        """Without the first lines."""
        return Lines(self.block, self.starts[n:], self.stops[n:])


def lines_of(block: Block, refusals: Refusals, replace: bool = False) -> Lines:
    """The lines of a block; blank ones are left out, and those that are not text are refused."""
    n = block.n_lines
    ends, flags = np.empty(n, np.int64), np.empty(n + 1, np.uint8)
    scans.find_lines(block.buffer, block.size, ends, flags)
    flags = flags[:n]
    if replace and (flags == scans.NOT_UTF8).any():
        return lines_of(_replaced(block), refusals)
    starts = np.empty(n, np.int64)
    starts[:1], starts[1:] = 0, ends[:-1] + 1
    stops = _without_returns(block.buffer, starts, ends)
    for i in np.flatnonzero(flags).tolist():
        refusals.refuse(_not_text(block, int(starts[i]), int(stops[i])))
    keep = (stops > starts) & (flags == scans.FINE)
    if keep.all():
        return Lines(block, starts, stops)
    return Lines(block, starts[keep], stops[keep])


def _without_returns(buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The ends of lines before the carriage returns of Windows."""
    stops = ends.copy()
    while True:
        back = (stops > starts) & (buffer[stops - 1] == RETURN)
        if not back.any():
            return stops
        stops -= back


def _not_text(block: Block, start: int, stop: int) -> FormatError:
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


def _replaced(block: Block) -> Block:
    """The same lines with U+FFFD where they are not UTF-8."""
    raw = block.buffer[: block.size].tobytes().decode("utf-8", "replace").encode()
    return block._replace(buffer=np.frombuffer(bytearray(raw) + bytes(SLACK), np.uint8), size=len(raw))
