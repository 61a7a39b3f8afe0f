"""Rows of arrays in files, .npy, or .npz of an array or of a CSR matrix: a slice without the others.

Whoever reads a slice never holds more: numbers of an .npz that stand before the slice are
passed over, those behind it are not read. Pickled objects are refused.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from math import prod
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SUFFIXES = (".npy", ".npz")
_UNREADABLE = (
    *(ValueError, TypeError, KeyError, EOFError, RuntimeError),  # a RuntimeError: what zipfile cannot unpack
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_READ_HEADER = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def is_array_file(path: object) -> bool:
    """Whether the name is that of a file of NumPy's or SciPy's."""
    return isinstance(path, str | os.PathLike) and os.fspath(path).endswith(SUFFIXES)


def count_rows(path: str) -> int:
    """The number of rows."""
    with _clear_errors(path):
        if path.endswith(".npy"):
            return len(_mapped(path))
        with zipfile.ZipFile(path) as archive:
            return _stored(archive).n_rows


def read_rows(path: str, start: int, stop: int) -> Any:
    """Rows ``start`` to ``stop`` - 1; of an .npy, mapped into memory."""
    with _clear_errors(path):
        if path.endswith(".npy"):
            return _mapped(path)[start:stop]
        with zipfile.ZipFile(path) as archive:
            return _stored(archive).read(start, stop)


@contextlib.contextmanager
def _clear_errors(path: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise ValueError(f"{path} is no file of an array that can be read: {error}") from error


def _mapped(path: str) -> np.ndarray:
    found: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    if not found.ndim:
        raise ValueError("it holds a single value.")
    return found


# ------------------------------------------------------------------------------------------------- archives


class _Header(NamedTuple):
    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype


class _Array:
    """An array of an archive."""

    def __init__(self, archive: zipfile.ZipFile, name: str):
        self._archive, self._name = archive, f"{name}.npy"
        with self._opened() as (found, _):
            self.shape = found.shape

    @property
    def n_rows(self) -> int:
        """The number of rows; a single value has none."""
        if not self.shape:
            raise ValueError(f"{self._name} holds a single value.")
        return self.shape[0]

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start`` to ``stop`` - 1."""
        with self._opened() as (found, file):
            if not 0 <= start <= stop <= self.n_rows:
                raise ValueError(f"{self._name} has {self.n_rows} rows, and {start} to {stop} are asked for.")
            by_column = found.by_column and len(found.shape) > 1
            first, end = (0, self.n_rows) if by_column else (start, stop)
            width = found.dtype.itemsize * prod(found.shape[1:])
            file.seek(first * width, os.SEEK_CUR)
            numbers = np.frombuffer(_exactly(file, (end - first) * width), found.dtype)
            rows = numbers.reshape((end - first, *found.shape[1:]), order="F" if by_column else "C")
            return rows[start - first : stop - first]

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[_Header, IO[bytes]]]:
        with self._archive.open(self._name) as file:
            version = npy.read_magic(file)
            if version not in _READ_HEADER:
                raise ValueError(f"{self._name} has version {version} of the format.")
            found = _Header(*_READ_HEADER[version](file))
            if found.dtype.hasobject:
                raise ValueError(f"{self._name} holds pickled objects.")
            yield found, file


def _exactly(file: IO[bytes], size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise ValueError("it is cut off.")
    return found


# ------------------------------------------------------------------------------------------- what is stored


def _stored(archive: zipfile.ZipFile) -> _Array | _Csr | _Matrix:
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    if "indptr" in names:
        with archive.open("format.npy") as file:
            kind = npy.read_array(file, allow_pickle=False).item()
        return _Csr(archive) if kind in (b"csr", "csr") else _Matrix(archive)
    if len(names) != 1:
        raise ValueError(f"it must hold one array, or a CSR matrix; it holds {', '.join(names)}.")
    return _Array(archive, names[0])


class _Csr:
    """A CSR matrix, as SciPy stores it."""

    def __init__(self, archive: zipfile.ZipFile):
        names = "indptr", "indices", "data"
        self._starts, self._indices, self._data = (_Array(archive, name) for name in names)
        self.n_rows, self.n_columns = (int(n) for n in _Array(archive, "shape").read(0, 2))

    def read(self, start: int, stop: int) -> csr_array:
        """Rows ``start`` to ``stop`` - 1."""
        import scipy.sparse as sp

        if self._starts.n_rows != self.n_rows + 1:
            raise ValueError(f"it has {self.n_rows} rows, and {self._starts.n_rows} places where they begin.")
        starts = self._starts.read(start, stop + 1)
        first, end = int(starts[0]), int(starts[-1])
        parts = self._data.read(first, end), self._indices.read(first, end), starts - starts[0]
        return sp.csr_array(parts, shape=(stop - start, self.n_columns))


class _Matrix:
    """A matrix of another format, which has to be read whole."""

    def __init__(self, archive: zipfile.ZipFile):
        self._archive = archive
        self.n_rows = int(_Array(archive, "shape").read(0, 1)[0])

    def read(self, start: int, stop: int) -> csr_array:
        """Rows ``start`` to ``stop`` - 1."""
        import scipy.sparse as sp

        return sp.csr_array(sp.load_npz(str(self._archive.filename)))[start:stop]
