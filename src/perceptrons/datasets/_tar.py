"""A reader of tar archives that never holds more than one bounded header.

``tarfile`` reads the extended header of a member into memory, however long it says it is, before it returns
the member. Here such a header is refused beyond 64 KiB. Nothing is written to disk: names are only compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_BLOCK = 512
_MOST_HEADER = 1 << 16  # bytes of a long name or of a pax header
_PIECE = 1 << 20
REGULAR, DIRECTORY = (b"0", b"\0", b"7"), b"5"
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")  # links, devices, folders, pipes
_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
_RECORD = re.compile(rb"(\d{1,6}) ")


class TarError(ValueError):
    """What is no tar archive."""


class Member(NamedTuple):
    name: str
    type: bytes
    size: int
    headers: int  #: blocks of header before it, its own included

    @property
    def is_regular(self) -> bool:
        return self.type in REGULAR and not self.name.endswith("/")

    @property
    def is_folder(self) -> bool:
        return self.type == DIRECTORY or (self.type in REGULAR and self.name.endswith("/"))


class Tar:
    """The members of an archive in their order; ``read(n)`` returns up to n bytes of it, b"" at its end."""

    def __init__(self, read: Callable[[int], bytes]):
        self._read = read
        self._left = 0  # bytes of the present member and its padding

    def __iter__(self) -> Iterator[Member]:
        headers, named, sized = 0, None, None
        while True:
            self._pass_over(self._left)
            block = self._upto(_BLOCK)
            if not block.strip(b"\0"):  # the end: a block of zeros, or none
                if headers:
                    raise EOFError("a header without its member")
                return
            if len(block) < _BLOCK:
                raise EOFError("a header ends early")
            name, type_, size = _header(block)
            headers += 1
            if type_ in (_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_LINK):
                if size > _MOST_HEADER or headers > 16:
                    raise TarError(f"a header of {size:,} bytes, more than {_MOST_HEADER:,}")
                data = self._exactly(size)
                self._pass_over(-size % _BLOCK)
                self._left = 0
                if type_ == _LONG_NAME:
                    named = _text(data)
                elif type_ == _PAX:
                    fields = _pax(data)
                    named = _text(fields[b"path"]) if b"path" in fields else named
                    sized = _decimal(fields[b"size"]) if b"size" in fields else sized
                continue
            size = sized if sized is not None else size
            size = 0 if type_ in _WITHOUT_DATA else size
            self._left = size + -size % _BLOCK
            yield Member(named if named is not None else name, type_, size, headers)
            headers, named, sized = 0, None, None

    def content(self, member: Member) -> bytes:
        """The content of the member that was returned last."""
        data = self._exactly(member.size)
        self._left -= member.size
        return data

    def _exactly(self, n: int) -> bytes:
        data = self._upto(n)
        if len(data) < n:
            raise EOFError("it ends early")
        return data

    def _upto(self, n: int) -> bytes:
        parts = []
        while n:
            part = self._read(min(n, _PIECE))
            if not part:
                break
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def _pass_over(self, n: int) -> None:
        while n:
            part = self._read(min(n, _PIECE))
            if not part:
                raise EOFError("it ends early")
            n -= len(part)


def _header(block: bytes) -> tuple[str, bytes, int]:
    """(name, type, size) of a header, whose sum must be right."""
    stored = _octal(block[148:156])
    if stored != sum(block) - sum(block[148:156]) + 8 * 32:
        raise TarError("a header whose sum is wrong")
    name = block[:100]
    if block[257:263] == b"ustar\0" and block[345:500].strip(b"\0"):
        name = block[345:500].split(b"\0")[0] + b"/" + name
    return _text(name), block[156:157], _octal(block[124:136])


def _octal(field: bytes) -> int:
    if field[0] & 0x80:  # a large number, in binary
        value = int.from_bytes(field[1:], "big")
        if field[0] != 0x80 or value >= 2**62:
            raise TarError("a header with a negative or an enormous size")
        return value
    digits = field.strip(b" \0") or b"0"
    if not re.fullmatch(rb"[0-7]+", digits):
        raise TarError("a header without its numbers")
    return int(digits, 8)


def _decimal(field: bytes) -> int:
    if not re.fullmatch(rb"\d{1,18}", field):
        raise TarError("a size that is no number")
    return int(field)


def _pax(data: bytes) -> dict[bytes, bytes]:
    """The fields of an extended header: ``length key=value``, each with a line end."""
    fields, at = {}, 0
    while at < len(data) and data[at] != 0:
        match = _RECORD.match(data, at)
        length = int(match[1]) if match else 0
        if match is None or length <= len(match[0]) or at + length > len(data):
            raise TarError("an extended header that is none")
        key, _, value = data[match.end() : at + length - 1].partition(b"=")
        fields[key] = value
        at += length
    return fields


def _text(name: bytes) -> str:
    return name.split(b"\0")[0].decode("utf-8", "surrogateescape")
