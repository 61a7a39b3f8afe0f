"""Texts that were hashed ahead, for a model that learns or scores them later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import Record, SparseMatrix
from .hashing import csr


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

    @classmethod
    def joined(cls, parts: Sequence[Hashed]) -> Hashed:
        """All rows, of parts that were hashed alike."""
        rows = [part.X for part in parts]
        starts = np.cumsum([0, *(one.indptr[-1] for one in rows)])
        indptr = [one.indptr[1:] + start for one, start in zip(rows, starts, strict=False)]
        indices, data = (np.concatenate([getattr(one, name) for one in rows]) for name in ("indices", "data"))
        pointers = np.concatenate([np.zeros(1, np.int64), *indptr])
        return cls(csr(indices.view(np.uint32), data, pointers, rows[0].shape[1]), parts[0].recipe)
