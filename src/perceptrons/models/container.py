"""The bytes of a model file: safetensors, with a JSON text and a SHA-256 among its metadata.

::

    8 bytes   length n of what follows, little-endian
    n bytes   JSON: {"__metadata__": {format, version, model, sha256}, name: {dtype, shape, offsets}, …}
    the rest  the arrays, one after the other, in C order

Any safetensors reader can open it. ``model`` holds the JSON text of :mod:`perceptrons.models.writer`. The
digest is over the format, the version, that text and every array with its name, type and shape; it is
verified before the text is parsed. It detects damage, not an attack: who can write a file can write its
digest.

A file is read through one descriptor, from beginning to end, so the bytes that were checked are the bytes
that are used. A file that is truncated meanwhile is an error; with a memory map it would end the process.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .errors import ModelError

if TYPE_CHECKING:
    from .._types import Json, JsonObject

FORMAT = "perceptrons-model"
VERSION = 2

HEADER_LIMIT = 64 << 20  #: bytes of JSON in front of the arrays
ARRAYS_LIMIT = 100_000  #: arrays in one file
BYTES_LIMIT = 16 << 30  #: bytes of a file, unless the caller allows more

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
}
_TYPES = {stored: np.dtype(name).newbyteorder("<") for name, stored in _NAMES.items()}
_MOST = 1 << 30  # bytes requested from the operating system at once
_PIECE = 1 << 22  # bytes written, or hashed, at a time
_WAY_OUT = "Copy the file again, or save the model again."


class Contents(NamedTuple):
    """What a file holds."""

    text: str  #: JSON
    arrays: dict[str, np.ndarray]
    version: int = VERSION  #: of the format
    n_bytes: int = 0  #: of the file; 0 where there is none yet


class _Entry(NamedTuple):
    """Where an array lies in a file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int  #: from the start of the file
    end: int


def storable(dtype: np.dtype) -> bool:
    """Whether the container has a name for this type."""
    return dtype.name in _NAMES


# ---------------------------------------------------------------- writing


def pieces(contents: Contents, version: int | None = None) -> Iterator[bytes | memoryview]:
    """The file, piece by piece; no array is copied that is C-contiguous already.

    The digest is computed first: the arrays must not change until the last piece.

    Wide types come first, so that every array is aligned.
    """
    found = {name: _plain(a) for name, a in contents.arrays.items()}
    names = sorted(found, key=lambda name: (-found[name].dtype.itemsize, name))
    if len(names) > ARRAYS_LIMIT:
        raise ModelError(f"The model has {len(names)} arrays; a file may hold {ARRAYS_LIMIT}.")
    number = str(VERSION if version is None else version)
    metadata = {
        "format": FORMAT,
        "version": number,
        "model": contents.text,
        "sha256": digest(contents.text, number, found),
    }
    table: JsonObject = {"__metadata__": metadata}
    at = 0
    for name in names:
        a = found[name]
        table[name] = {
            "dtype": _NAMES[a.dtype.name],
            "shape": list(a.shape),
            "data_offsets": [at, at + a.nbytes],
        }
        at += a.nbytes
    header = json.dumps(table, separators=(",", ":")).encode("ascii")
    header += b" " * (-len(header) % 8)
    if len(header) > HEADER_LIMIT:
        raise ModelError(
            f"What the model holds besides arrays takes {len(header) >> 20} MB, more than "
            f"{HEADER_LIMIT >> 20} MB: this is no model of numbers, strings and short lists."
        )
    yield len(header).to_bytes(8, "little") + header
    for name in names:
        yield from _in_pieces(found[name])


def _plain(a: np.ndarray) -> np.ndarray:
    """``a`` as the container stores it: C-contiguous, and in little-endian order."""
    a = a.astype(a.dtype.newbyteorder("<"), copy=False)
    return a if a.flags.c_contiguous else np.array(a, order="C")


def _in_pieces(a: np.ndarray) -> Iterator[memoryview]:
    if a.nbytes:
        whole = a.reshape(-1).view(np.uint8).data
        for start in range(0, len(whole), _PIECE):
            yield whole[start : start + _PIECE]


def digest(text: str, version: str, arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 over the format, the version, the text and the arrays."""
    total = _begun(text, version)
    for name in sorted(arrays):
        a = _plain(arrays[name])
        total.update(_described(name, a.dtype, a.shape))
        for piece in _in_pieces(a):
            total.update(piece)
    return total.hexdigest()


def _begun(text: str, version: str) -> hashlib._Hash:
    total = hashlib.sha256()
    for part in (FORMAT, version, text):
        raw = part.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return total


def _described(name: str, dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    return json.dumps([name, dtype.name, list(shape)]).encode("ascii")


# ---------------------------------------------------------------- reading


def read(path: str | os.PathLike[str], max_bytes: int | None = None) -> Contents:
    """What a file holds, once its digest has been verified.

    Raises ModelError on what is no model file, is damaged, is too large, or comes from a later version.
    """
    name = os.fspath(path)
    if not stat.S_ISREG(os.stat(name).st_mode):  # opening a device may have effects
        raise ModelError(f"{name} is no ordinary file.")
    handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb", buffering=0) as file:
        size = _survey(name, file, BYTES_LIMIT if max_bytes is None else int(max_bytes))
        metadata, entries = _header(name, file, size)
        arrays = {key: _array(name, file, entry) for key, entry in entries.items()}
    text = metadata.get("model", "")
    if digest(text, metadata["version"], arrays) != metadata.get("sha256"):
        raise ModelError(f"{name} is damaged: its contents do not match their SHA-256. {_WAY_OUT}")
    return Contents(text, arrays, int(metadata["version"]), size)


def verify(handle: int, name: str) -> None:
    """Read an open file once more, and raise unless it is whole and matches its digest."""
    with open(handle, "rb", buffering=0, closefd=False) as file:
        size = _survey(name, file, sys.maxsize)
        metadata, entries = _header(name, file, size)
        total = _begun(metadata.get("model", ""), metadata["version"])
        room = bytearray(_PIECE)
        for key in sorted(entries):
            entry = entries[key]
            total.update(_described(key, entry.dtype, entry.shape))
            file.seek(entry.begin)
            for at in range(entry.begin, entry.end, _PIECE):
                piece = memoryview(room)[: min(_PIECE, entry.end - at)]
                _fill(name, file, piece)
                total.update(piece)
    if total.hexdigest() != metadata.get("sha256"):
        raise ModelError(
            f"{name} was not written: what reached the disk does not match its SHA-256. An old file is still "
            "there; save again, and check the disk if this happens twice."
        )


def _survey(name: str, file: io.FileIO, max_bytes: int) -> int:
    """The size of a file; refuse, before anything is allocated, what cannot be a model file."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):  # it was replaced meanwhile
        raise ModelError(f"{name} is no ordinary file.")
    file.seek(0)
    start = file.read(32)
    length = int.from_bytes(start[:8], "little")
    if start[8:9] != b"{" or length > HEADER_LIMIT:
        _refuse_by_name(name, start)
        if len(start) < 9:
            raise ModelError(f"{name} has {status.st_size} bytes: it is cut short, or no model file.")
        raise ModelError(f"{name} is no model file: it does not begin like one. save() writes model files.")
    if 8 + length > status.st_size:
        raise ModelError(
            f"{name} is cut short: {status.st_size} bytes, and its header alone has {8 + length}. {_WAY_OUT}"
        )
    if status.st_size > max_bytes:
        raise ModelError(
            f"{name} has {status.st_size} bytes, more than max_bytes={max_bytes}. If you trust it, "
            f"load it with max_bytes={status.st_size}."
        )
    return status.st_size


def _header(name: str, file: io.FileIO, size: int) -> tuple[dict[str, str], dict[str, _Entry]]:
    """The metadata, and where the arrays are: one after the other, from the header to the end."""

    def broken(why: str) -> ModelError:
        return ModelError(f"{name} is damaged or cut short ({why}). {_WAY_OUT}")

    file.seek(0)
    start = bytearray(8)
    _fill(name, file, memoryview(start))
    raw = bytearray(int.from_bytes(start, "little"))
    _fill(name, file, memoryview(raw))
    try:
        table = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise broken(f"its header is no JSON text: {error!s:.80}") from None
    metadata = table.pop("__metadata__", {}) if type(table) is dict else None
    if type(metadata) is not dict or not all(type(value) is str for value in metadata.values()):
        raise broken("its header is no table")
    _checked_version(name, metadata)
    if len(table) > ARRAYS_LIMIT:
        raise ModelError(f"{name} has {len(table)} arrays; a model file has at most {ARRAYS_LIMIT}.")
    found: dict[str, _Entry] = {}
    for key, node in table.items():
        entry = _entry(node, 8 + len(raw))
        if entry is None:
            raise broken(f"the description of array {key!r:.40} is wrong")
        found[key] = entry
    at = 8 + len(raw)
    for entry in sorted(found.values(), key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != at:
            raise broken("its arrays do not lie one behind the other")
        at = entry.end
    if at != size:
        raise broken(f"it has {size} bytes, and its header describes {at}")
    return metadata, found


def _entry(node: Json, start: int) -> _Entry | None:
    """An array as the header describes it; None where the description is wrong."""
    if type(node) is not dict or node.keys() != {"dtype", "shape", "data_offsets"}:
        return None
    shape, offsets = node["shape"], node["data_offsets"]
    for numbers in (shape, offsets):
        if type(numbers) is not list or not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
            return None
    if type(node["dtype"]) is not str or node["dtype"] not in _TYPES or len(shape) > 8 or len(offsets) != 2:
        return None
    dtype, (begin, end) = _TYPES[node["dtype"]], offsets
    if end - begin != dtype.itemsize * math.prod(shape):
        return None
    return _Entry(dtype, tuple(shape), start + begin, start + end)


def _array(name: str, file: io.FileIO, entry: _Entry) -> np.ndarray:
    try:
        a = np.empty(entry.shape, entry.dtype)
    except (ValueError, MemoryError) as error:
        raise ModelError(f"{name} has an array that cannot be made: {error!s:.100}") from None
    if a.nbytes:
        file.seek(entry.begin)
        _fill(name, file, a.reshape(-1).view(np.uint8).data)
    return a.astype(a.dtype.newbyteorder("="), copy=False)


def _fill(name: str, file: io.FileIO, room: memoryview) -> None:
    """Read as many bytes as there is room for."""
    while len(room):
        n = file.readinto(room[:_MOST])
        if not n:
            raise ModelError(f"{name} is damaged or cut short (it ends too early). {_WAY_OUT}")
        room = room[n:]


_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"x\x9c", b"x\x01", b"x\xda", b"BZh", b"\xfd7zXZ", b"\x93NUMPY")


def _refuse_by_name(name: str, start: bytes) -> None:
    """Raise where a file is a pickle, or an archive as joblib, numpy and torch write them."""
    binary = len(start) > 1 and start[0] == 0x80 and 2 <= start[1] <= 5
    printable = start.startswith((b"ccopy_reg", b"(iperceptrons", b"ccopyreg", b"cperceptrons", b"(dp"))
    if binary or printable:
        raise ModelError(
            f"{name} is a pickle, which can run any code when it is read; nothing of it was. If you trust "
            "it, read it with pickle or joblib and store the model with perceptrons.save(model, path)."
        )
    if start.startswith(_ARCHIVES):
        raise ModelError(
            f"{name} is an archive or an array file, no model file. Unpack it first if it holds one."
        )


def _checked_version(name: str, metadata: dict[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{name} is a safetensors file, but not of a model of perceptrons.")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit() and 0 < len(version) <= 6 and int(version)):
        raise ModelError(f"{name} is damaged: its format version is {version[:20]!r}. {_WAY_OUT}")
    if int(version) > VERSION:
        raise ModelError(
            f"{name} has format version {version}, and this version of perceptrons reads versions up to "
            f"{VERSION}: pip install --upgrade perceptrons."
        )
