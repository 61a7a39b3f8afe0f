"""Collections of objects, in the form in which kernels take them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._sparse import columns_in_use, is_sparse, narrowed

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._types import AnyMatrix, Index


class Rows:
    """Numbers, one row per object: a dense array, a CSR matrix or a tensor."""

    def __init__(self, X: AnyMatrix, room: list[Any] | None = None, squares: AnyMatrix = None):
        self.X = X
        self._room = room  # [buffer, rows in use]: X is the first rows of the buffer
        self._squares = squares

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.X.shape)

    @property
    def dtype(self) -> Any:  # numpy's or torch's
        return self.X.dtype

    def astype(self, dtype: npt.DTypeLike) -> Rows:
        return Rows(self.X.astype(dtype))

    def __getitem__(self, rows: Index) -> Rows:
        return Rows(self.X[rows], squares=None if self._squares is None else self._squares[rows])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_room": None}  # room for more rows is not worth a pickle

    def join(self, other: Rows) -> Rows:
        """Both, one below the other; a chain of joins costs as much as one copy."""
        squares = None
        if self._squares is not None and other._squares is not None:
            squares = _concatenated(self._squares, other._squares)
        if is_sparse(self.X):
            return Rows(_stacked(self.X, other.X), squares=squares)
        n, total = len(self), len(self) + len(other)
        room = self._room
        if room is None or room[1] != n or total > room[0].shape[0]:
            room = [_new_like(self.X, 2 * total), n]
            room[0][:n] = self.X
        room[0][n:total] = other.X
        room[1] = total
        return Rows(room[0][:total], room, squares)

    def squares(self) -> AnyMatrix:
        """Squared lengths."""
        if self._squares is None:
            X = self.X
            if is_sparse(X):
                self._squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
            elif isinstance(X, np.ndarray):
                self._squares = np.einsum("ij,ij->i", X, X)
            else:
                self._squares = (X * X).sum(1)
        return self._squares


class Strings(Rows):
    """Strings, as counts of their substrings: one column for each substring that has occurred."""

    def __init__(self, X: AnyMatrix, columns: dict[Hashable, int], items: list[str | bytes]):
        super().__init__(X)
        self.columns = columns
        self.items = items

    def __getitem__(self, rows: Index) -> Strings:
        items = [self.items[i] for i in np.arange(len(self.items))[rows]]
        return Strings(self.X[rows], self.columns, items)

    def join(self, other: Rows) -> Strings:
        assert isinstance(other, Strings)
        columns = max(self.columns, other.columns, key=len)  # the larger one has the smaller as its beginning
        return Strings(_stacked(self.X, other.X), columns, self.items + other.items)


class Table(Rows):
    """Rows of a precomputed kernel matrix, over the training objects."""

    def __init__(self, X: AnyMatrix, numbers: np.ndarray | None = None):
        super().__init__(X)
        self.numbers = numbers  #: which training object each row is, where it is one

    def __getitem__(self, rows: Index) -> Table:
        return Table(self.X[rows], None if self.numbers is None else self.numbers[rows])

    def join(self, other: Rows) -> Table:
        assert isinstance(other, Table)
        if self.numbers is None or other.numbers is None:
            raise ValueError("Rows of a precomputed kernel can be joined only if they are training rows.")
        return Table(np.concatenate([self.X, other.X]), np.concatenate([self.numbers, other.numbers]))

    def astype(self, dtype: npt.DTypeLike) -> Table:
        return Table(self.X.astype(dtype), self.numbers)


class Objects:
    """Arbitrary Python objects, compared pairwise."""

    dtype = np.dtype(np.float64)

    def __init__(self, items: Sequence[Any]):
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.items), 0)

    def astype(self, dtype: npt.DTypeLike) -> Objects:
        return self

    def __getitem__(self, rows: Index) -> Objects:
        return Objects([self.items[i] for i in np.arange(len(self.items))[rows]])

    def join(self, other: Objects) -> Objects:
        return Objects([*self.items, *other.items])


class Parts:
    """One collection as prepared for each part of a composed kernel."""

    def __init__(self, parts: Sequence[Any]):  # collections
        self.parts = list(parts)

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.parts[0].shape)

    @property
    def dtype(self) -> Any:
        return self.parts[0].dtype

    def astype(self, dtype: npt.DTypeLike) -> Parts:
        return Parts([part.astype(dtype) for part in self.parts])

    def __getitem__(self, rows: Index) -> Parts:
        return Parts([part[rows] for part in self.parts])

    def join(self, other: Parts) -> Parts:
        return Parts([a.join(b) for a, b in zip(self.parts, other.parts, strict=True)])


def _stacked(A: AnyMatrix, B: AnyMatrix) -> AnyMatrix:
    import scipy.sparse as sp

    width = max(A.shape[1], B.shape[1])
    return sp.vstack([widened(A, width), widened(B, width)], format="csr")


def widened(X: AnyMatrix, width: int) -> AnyMatrix:
    """A CSR matrix with so many columns, the new ones of zeros."""
    if X.shape[1] == width:
        return X
    import scipy.sparse as sp

    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _new_like(X: AnyMatrix, n: int) -> AnyMatrix:
    shape = (n, *X.shape[1:])
    return np.empty(shape, X.dtype) if isinstance(X, np.ndarray) else X.new_empty(shape)


def _concatenated(a: AnyMatrix, b: AnyMatrix) -> AnyMatrix:
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    import torch

    return torch.cat([a, b])


def inner(A: AnyMatrix, B: AnyMatrix) -> AnyMatrix:
    """Inner products of all rows of A with all rows of B, as a new dense array."""
    if is_sparse(A) and is_sparse(B):
        columns = columns_in_use(A)
        columns = columns_in_use(B) if columns is None else columns
        if columns is not None:  # few rows of many columns
            A, B = narrowed(A, columns), narrowed(B, columns)
    product = A @ B.T
    return product.toarray() if is_sparse(product) else product
