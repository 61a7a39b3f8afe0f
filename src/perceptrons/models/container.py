"""The bytes of a model file: safetensors, with a JSON text and a SHA-256 among its metadata.

::

    8 bytes   length n of what follows, little-endian
    n bytes   JSON: {"__metadata__": {format, version, model, sha256}, name: {dtype, shape, offsets}, …}
    the rest  the arrays, one behind the other, in C order

Any safetensors reader can open it. ``model`` holds the JSON text of :mod:`perceptrons.models.writer`. The
digest is over the format, the version, that text and every array with its name, type and shape; it is
verified before the text is so much as parsed. It tells damage, not malice: whoever can write a file can
write its digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .errors import ModelError

FORMAT = "perceptrons-model"
VERSION = 1

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
_PIECE = 1 << 22  # bytes written, or hashed, at a time
_WAY_OUT = "Copy the file again, or save the model again."


class Contents(NamedTuple):
    """What a file holds."""

    text: str  #: JSON
    arrays: dict[str, np.ndarray]


def storable(dtype: np.dtype) -> bool:
    """Whether the container has a name for this type."""
    return dtype.name in _NAMES


# ---------------------------------------------------------------- writing


def pieces(contents: Contents) -> Iterator[bytes | memoryview]:
    """The file, piece by piece; no array is copied that is C-contiguous already.

    Wide types come first, so that every array is aligned.
    """
    found = {name: _plain(a) for name, a in contents.arrays.items()}
    names = sorted(found, key=lambda name: (-found[name].dtype.itemsize, name))
    if len(names) > ARRAYS_LIMIT:
        raise ModelError(f"The model has {len(names)} arrays; a file may hold {ARRAYS_LIMIT}.")
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "model": contents.text,
        "sha256": digest(contents.text, str(VERSION), found),
    }
    table: dict[str, Any] = {"__metadata__": metadata}
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
    """SHA-256 over all that a file says."""
    total = hashlib.sha256()
    for part in (FORMAT, version, text):
        raw = part.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    for name in sorted(arrays):
        a = _plain(arrays[name])
        total.update(json.dumps([name, a.dtype.name, list(a.shape)]).encode("ascii"))
        for piece in _in_pieces(a):
            total.update(piece)
    return total.hexdigest()


# ---------------------------------------------------------------- reading


def read(path: str | os.PathLike[str], max_bytes: int | None = None) -> Contents:
    """What a file holds, once its digest has been verified.

    Raises ModelError on what is no model file, is damaged, is too large, or comes from a later version.
    """
    name = os.fspath(path)
    _survey(name, BYTES_LIMIT if max_bytes is None else int(max_bytes))
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            version = _checked_version(name, metadata)
            keys = list(file.keys())
            if len(keys) > ARRAYS_LIMIT:
                raise ModelError(f"{name} has {len(keys)} arrays; a model file has at most {ARRAYS_LIMIT}.")
            arrays = {key: _own(file, key) for key in keys}
    except SafetensorError as error:
        raise ModelError(f"{name} is damaged or cut short ({error}). {_WAY_OUT}") from None
    text = metadata.get("model", "")
    if digest(text, version, arrays) != metadata.get("sha256"):
        raise ModelError(f"{name} is damaged: its contents do not match their SHA-256. {_WAY_OUT}")
    return Contents(text, arrays)


def _own(file: Any, key: str) -> np.ndarray:
    if file.get_slice(key).get_dtype() not in _NAMES.values():
        raise ModelError(f"Array {key!r} is of type {file.get_slice(key).get_dtype()}, which no model has.")
    a = file.get_tensor(key)
    usable = a.flags.writeable and a.flags.c_contiguous and a.flags.aligned
    return a if usable else np.array(a, order="C")


def _survey(name: str, max_bytes: int) -> None:
    """Refuse, before anything is allocated, what cannot be a model file."""
    status = os.stat(name)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
        raise ModelError(f"{name} is no ordinary file.")
    with open(name, "rb") as file:
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


_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"x\x9c", b"x\x01", b"x\xda", b"BZh", b"\xfd7zXZ", b"\x93NUMPY")


def _refuse_by_name(name: str, start: bytes) -> None:
    """Say so where a file is a pickle, or an archive as joblib, numpy and torch write them."""
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


def _checked_version(name: str, metadata: dict[str, str]) -> str:
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{name} is a safetensors file, but not of a model of perceptrons.")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit() and 0 < len(version) <= 6):
        raise ModelError(f"{name} is damaged: its format version is {version[:20]!r}. {_WAY_OUT}")
    if int(version) > VERSION:
        raise ModelError(
            f"{name} has format version {version}, and this version of perceptrons reads versions up to "
            f"{VERSION}: pip install --upgrade perceptrons."
        )
    return version
