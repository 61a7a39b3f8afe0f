"""Texts that were hashed ahead, for a model that learns or scores them later."""

from __future__ import annotations

from typing import NamedTuple

from .._types import Record, SparseMatrix


class Hashed(NamedTuple):
    """Texts that a model has hashed for itself, to be learned by it."""

    X: SparseMatrix
    recipe: Record  #: the parameters they were hashed by

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    @property
    def nbytes(self) -> int:
        """Of its arrays."""
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)

    def __len__(self) -> int:
        return int(self.X.shape[0])
