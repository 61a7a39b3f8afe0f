"""Which word a column stands for: columns are hashes, which cannot be inverted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..io import Texts

if TYPE_CHECKING:
    from .hashing import HashedRows


def spelled(texts: Texts, begin: int, end: int, lowercase: bool) -> str:
    """The feature between two places of the buffer."""
    text = texts.buffer[begin:end].tobytes().decode("utf-8", "replace")
    return " ".join((text.lower() if lowercase else text).split()) or " "


class Names:
    """The first feature that occurs in each column: ``words`` grows."""

    def __init__(self, n_columns: int, words: dict[int, str]):
        self.words = words
        self.known = np.zeros(n_columns, bool)
        self.known[list(words)] = True

    def add(self, texts: Texts, rows: HashedRows, lowercase: bool) -> None:
        """Note the features of hashed texts whose columns have no name yet."""
        new = np.flatnonzero(~self.known[rows.indices])
        columns, first = np.unique(rows.indices[new], return_index=True)
        for column, at in zip(columns.tolist(), new[first].tolist(), strict=True):
            self.words[column] = spelled(texts, int(rows.first[at]), int(rows.last[at]), lowercase)
        self.known[columns] = True
