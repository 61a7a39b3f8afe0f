"""Texts that were hashed ahead, for a model that learns or scores them later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        """Of its arrays, and of the slots that a learner keeps for its columns."""
        return int(self.X.data.nbytes + 2 * self.X.indices.nbytes + self.X.indptr.nbytes)

    def fix_columns(self) -> Hashed:
        """Nobody can change the columns from here on: a learner that meets them again need not read them."""
        part: object = self.X.indices
        while isinstance(part, np.ndarray):
            part.flags.writeable = False
            part = part.base
        return self

    def __len__(self) -> int:
        return int(self.X.shape[0])
