"""The headers of the pages of a parquet file: how much memory the pages need before they are read.

The footer of a file can say anything; what pyarrow allocates is what the header of each page says. Headers
are structs in Thrift's compact protocol: fields of a number, a type and a value, up to a field of type 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

DATA, INDEX, DICTIONARY, DATA_V2 = 0, 1, 2, 3  # kinds of pages
DELTAS = (6, 7)  # encodings of strings that pyarrow does not read as dictionaries
DELTA_BYTE_ARRAY = 7  # the one of them in which a value may repeat the one before it
_MOST_HEADER = 1 << 20  # bytes
_MOST_DEPTH = 16
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}  # of Thrift's types: true, false, a byte, a double
_INTEGERS = {4, 5, 6}
_BINARY, _LIST, _SET, _MAP, _STRUCT = 8, 9, 10, 11, 12


Field: TypeAlias = Any  # an integer, a struct by the numbers of its fields, or None for all else


class SeekableFile(Protocol):
    """What is read of a file."""

    def seek(self, offset: int, /) -> int: ...
    def read(self, n: int, /) -> bytes: ...


class NotAPage(ValueError):
    """What is no header of a page."""


class Page(NamedTuple):
    kind: int
    plain_bytes: int  #: what it takes decompressed
    stored_bytes: int  #: what it takes in the file
    values: int
    encoding: int


class _TooShort(Exception):
    pass


class _Thrift:
    """Reads structs from bytes; only the integers are kept, and structs within."""

    def fields(self) -> Iterator[tuple[int, int]]:
        """(number, type) of each field of a struct; each value must be read before the next field."""
        number = 0
        while True:
            head = self._byte()
            if head == 0:
                return
            number = number + (head >> 4) if head >> 4 else self._integer()
            yield number, head & 15

    def items(self) -> Iterator[int]:
        """The type of the items of a list, once for each; each item must be read before the next."""
        head = self._byte()
        n = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(n):
            yield head & 15

    def text(self) -> bytes:
        length = self._varint()
        self.skip(length)
        return self.data[self.at - length : self.at]

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Field]:
        if depth > _MOST_DEPTH:
            raise NotAPage("too deep")
        return {number: self.value(type_, depth) for number, type_ in self.fields()}

    def value(self, type_: int, depth: int) -> Field:
        if type_ in _SIZES:
            self.skip(_SIZES[type_])
            return None
        if type_ in _INTEGERS:
            return self._integer()
        if type_ == _BINARY:
            self.skip(self._varint())
            return None
        if type_ == _STRUCT:
            return self.struct(depth + 1)
        if type_ in (_LIST, _SET):
            for item in self.items():
                self._item(item, depth)
            return None
        if type_ == _MAP:
            n = self._varint()
            types = self._byte() if n else 0
            for _ in range(n):
                self._item(types >> 4, depth)
                self._item(types & 15, depth)
            return None
        raise NotAPage(f"type {type_}")

    def _item(self, type_: int, depth: int) -> None:
        """Each takes a byte at least, so that they end where the data end."""
        if type_ in (1, 2):
            self.skip(1)
        else:
            self.value(type_, depth + 1)

    def _byte(self) -> int:
        self.skip(1)
        return self.data[self.at - 1]

    def skip(self, n: int) -> None:
        self.at += n
        if self.at > len(self.data):
            raise _TooShort

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise NotAPage("a number of more than 64 bits")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def _header(file: SeekableFile, at: int) -> tuple[Page, int]:
    """The page at a position, and the length of its header."""
    length = 512
    while True:
        file.seek(at)
        thrift = _Thrift(file.read(length))
        try:
            fields = thrift.struct()
            break
        except _TooShort:
            if len(thrift.data) < length or length > _MOST_HEADER:
                raise NotAPage("no end of the header of a page") from None
            length *= 8
    kind, plain, stored = (fields.get(number) for number in (1, 2, 3))
    about = fields.get({DATA: 5, DICTIONARY: 7, DATA_V2: 8}.get(kind or 0, 0)) or {}
    values, encoding = about.get(1, 0), about.get(4 if kind == DATA_V2 else 2, 0)
    found = (kind, plain, stored, values, encoding)
    if not all(isinstance(number, int) and 0 <= number < 2**31 for number in found):
        raise NotAPage("a page of negative size")
    return Page(*found), thrift.at  # type: ignore[arg-type]  # they are integers now


class Chunk(NamedTuple):
    """What the footer says about a column of a row group."""

    path: str
    num_values: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int | None


def row_groups(footer: bytes) -> Iterator[list[Chunk]]:
    """The columns of each row group. pyarrow has them, too, but ends the process over some damaged ones."""
    thrift = _Thrift(footer)
    try:
        for number, type_ in thrift.fields():
            if (number, type_) == (4, _LIST):
                for _ in thrift.items():
                    yield _group(thrift)
            else:
                thrift.value(type_, 0)
    except _TooShort:
        raise NotAPage("no end of the footer") from None


def _group(thrift: _Thrift) -> list[Chunk]:
    columns = []
    for number, type_ in thrift.fields():
        if (number, type_) == (1, _LIST):
            for _ in thrift.items():
                columns += [_chunk(thrift) for found in thrift.fields() if _is_metadata(thrift, *found)]
        else:
            thrift.value(type_, 0)
    return columns


def _is_metadata(thrift: _Thrift, number: int, type_: int) -> bool:
    """Whether a field of a column holds what it is about; other fields are passed over."""
    if (number, type_) == (3, _STRUCT):
        return True
    thrift.value(type_, 0)
    return False


def _chunk(thrift: _Thrift) -> Chunk:
    found: dict[int, Field] = {}
    path: list[bytes] = []
    for number, type_ in thrift.fields():
        if (number, type_) == (3, _LIST):
            path = [thrift.text() for _ in thrift.items()]
        else:
            found[number] = thrift.value(type_, 0)
    if any(not isinstance(found.get(number), int) for number in (5, 7, 9)):
        raise NotAPage("a column without its pages")
    name = b".".join(path).decode("utf-8", "replace")
    return Chunk(name, found[5], found[7], found[9], found.get(11))


class Need(NamedTuple):
    """What reading one column of a row group takes."""

    held_bytes: int  #: a page and a dictionary, as long as the column is read
    stored_bytes: int  #: a page as it is stored, while it is decompressed
    row_bytes: float  #: of a value, on the average of its page, where that is largest
    repeated_bytes: int  #: the largest page whose values may each be as long as all of it
    deltas: bool  #: whether it must be read as plain strings


def need(file: SeekableFile, chunk: Chunk, size: int, words: bool) -> Need:
    """What reading a column takes; ``chunk`` is what the footer says about it.

    Pages are found as pyarrow finds them: from the first offset on, one behind the other.
    """
    starts = (chunk.data_page_offset, chunk.dictionary_page_offset)
    at = min(start for start in starts if start is not None and (start > 0 or start == starts[0]))
    end = min(at + chunk.total_compressed_size, size)
    if at < 0 or chunk.total_compressed_size < 0:
        raise NotAPage("a column at a negative position")
    seen = dictionary = plain = stored = repeated = known = 0
    row_bytes, deltas = 8.0, False
    while at < end and seen < chunk.num_values:
        page, length = _header(file, at)
        at += length + page.stored_bytes
        if at > size:  # pyarrow would make room for all of it
            raise NotAPage(f"a page of {page.stored_bytes:,} bytes, which ends behind the file")
        plain, stored = max(plain, page.plain_bytes), max(stored, page.stored_bytes)
        if page.kind == DICTIONARY:
            # strings: pointers, a table of hashes, and copies of the words; numbers: their values
            held = 3 * page.plain_bytes + 80 * page.values if words else 8 * page.values
            dictionary, known = max(dictionary, held), max(known, page.plain_bytes)
        elif page.kind in (DATA, DATA_V2):
            seen += page.values
            row_bytes = max(row_bytes, page.plain_bytes / max(1, page.values))
            deltas |= page.encoding in DELTAS
            if page.encoding == DELTA_BYTE_ARRAY:
                repeated = max(repeated, page.plain_bytes)
    deltas = deltas and words
    return Need(dictionary + plain, stored, row_bytes, max(repeated, known) if deltas else 0, deltas)
