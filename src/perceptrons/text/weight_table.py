"""The weights of a few columns out of many, a byte each.

An entry is a weight of one column for one class; its key is ``column * n_classes + class``. Keys ascend, and
their differences are stored in as few bytes as they need: seven bits in each, the low ones first, the highest
bit set in all but the last. A weight is a whole number from -127 to 127 times the scale of its class. An idf
is a whole number of steps below that of a column that was never seen.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .._types import SparseMatrix

MOST_CODE = 127  #: of a weight
MOST_STEPS = 255  #: of an idf
_LONGEST = 9  # bytes of a difference: keys are below 2^63
_WORD = 16  # columns of a word of the bitmap


class Idf(NamedTuple):
    """What the codes of the table mean: idf = top - step * code."""

    top: float  #: of a column that was never seen
    step: float
    rest: float  #: of every column that is not in the table


class Places(NamedTuple):
    """Where columns are in a table."""

    at: np.ndarray
    there: np.ndarray  #: whether they are there


class WeightTable:
    """Weights by column and class, and an idf by column; zero, and the same idf, for all others."""

    def __init__(
        self,
        n_columns: int,
        gaps: np.ndarray,
        codes: np.ndarray,
        scales: np.ndarray,
        bias: np.ndarray,
        steps: np.ndarray,
        idf: Idf | None,
    ):
        self.n_columns = n_columns
        self.gaps = gaps  #: uint8: differences of the keys
        self.codes = codes  #: int8: of the weights
        self.scales = scales  #: float64: of the weights of each class
        self.bias = bias  #: float64: the weight of the constant coordinate, for each class
        self.steps = steps  #: uint8: of the idf of each column; empty where there is none
        self.idf = idf

    # ------------------------------------------------------------ what the arrays say

    @property
    def n_classes(self) -> int:
        """Weight vectors: one per class, or one for two classes."""
        return len(self.scales)

    @functools.cached_property
    def _keys(self) -> np.ndarray:
        return keys_of(self.gaps)

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """The columns of the table, ascending."""
        columns = self._keys // self.n_classes
        return columns[np.diff(columns, prepend=-1) > 0]

    @functools.cached_property
    def weights(self) -> SparseMatrix:
        """CSR array of shape (columns of the table, classes)."""
        import scipy.sparse as sp

        columns = self._keys // self.n_classes
        classes = self._keys - columns * self.n_classes
        starts = np.flatnonzero(np.diff(columns, prepend=-1))
        pointers = np.append(starts, len(columns))
        values = self.codes * self.scales[classes]
        return sp.csr_array((values, classes, pointers), shape=(len(starts), self.n_classes))

    @functools.cached_property
    def _idfs(self) -> np.ndarray:
        """The idf of each column of the table, then that of all others."""
        assert self.idf is not None
        return np.append(self.idf.top - self.idf.step * self.steps, self.idf.rest)

    @functools.cached_property
    def _bitmap(self) -> tuple[np.ndarray, np.ndarray]:
        """(16 columns as the bits of a word, columns of the table before that word)."""
        words = np.zeros(-(-self.n_columns // _WORD), np.uint16)
        bits = np.left_shift(1, self.columns % _WORD).astype(np.uint16)
        np.bitwise_or.at(words, self.columns // _WORD, bits)
        before = np.cumsum(_ones()[words], dtype=np.uint32) - _ones()[words]
        return words, before.astype(np.uint32)

    def places(self, columns: np.ndarray) -> Places:
        """Where some columns are in the table."""
        words, before = self._bitmap
        at = columns // np.uint32(_WORD)
        bit = (columns % np.uint32(_WORD)).astype(np.uint16)
        word = words[at]
        lower = word & (np.left_shift(np.uint16(1), bit) - np.uint16(1))
        there = (np.right_shift(word, bit) & np.uint16(1)).astype(bool)
        return Places(before[at] + _ones()[lower], there)

    # ------------------------------------------------------------ rows

    def values(self, data: np.ndarray, places: Places) -> np.ndarray:
        """The values of features: their counts times the idf of their columns."""
        data = data.astype(np.float64)
        if self.idf is None:
            return data
        return np.asarray(data * self._idfs[np.where(places.there, places.at, len(self.steps))])

    def products(self, data: np.ndarray, indptr: np.ndarray, places: Places) -> np.ndarray:
        """(rows, classes): <w, x> without the constant coordinate, for rows of such values."""
        import scipy.sparse as sp

        there = places.there
        before = np.concatenate([[0], np.cumsum(there)])
        shape = (len(indptr) - 1, len(self.columns))
        X = sp.csr_array((data[there], places.at[there].astype(np.int64), before[indptr]), shape=shape)
        return np.asarray((X @ self.weights).toarray())

    def of_columns(self, columns: np.ndarray) -> np.ndarray:
        """(columns, classes): the weights of some columns."""
        at, there = self.places(columns)
        found = np.zeros((len(columns), self.n_classes))
        found[there] = self.weights[at[there].astype(np.int64)].toarray()
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in STORED}


STORED = ("n_columns", "gaps", "codes", "scales", "bias", "steps", "idf")


@functools.cache
def _ones() -> np.ndarray:
    """How many bits are set, for every word of 16."""
    words = np.arange(1 << _WORD, dtype="<u2")
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, _WORD)
    return np.asarray(bits.sum(axis=1), np.uint8)


# ------------------------------------------------------------ differences of keys


def gaps_of(keys: np.ndarray) -> np.ndarray:
    """Ascending keys as bytes: of the first, then of each difference less 1."""
    left = np.diff(keys, prepend=-1).astype(np.int64) - 1
    parts = []  # (number of the key, place of the byte, byte)
    numbers = np.arange(len(keys))
    place = 0
    while len(left):
        more = left >= 128
        parts.append((numbers, np.full(len(left), place), (left & 127) | (more << 7)))
        numbers, left, place = numbers[more], left[more] >> 7, place + 1
    if not parts:
        return np.empty(0, np.uint8)
    number, place_of, byte = (np.concatenate(part) for part in zip(*parts, strict=True))
    return byte[np.lexsort((place_of, number))].astype(np.uint8)


def keys_of(gaps: np.ndarray) -> np.ndarray:
    """The keys that :func:`gaps_of` wrote; raise where it cannot have written these bytes."""
    last = gaps < 128
    if len(gaps) and not last[-1]:
        raise ValueError("the last difference has no end")
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    places = np.arange(len(gaps)) - np.repeat(starts, ends - starts + 1)
    if len(places) and places.max() >= _LONGEST:
        raise ValueError("a difference has more bytes than any has")
    parts = (gaps & np.uint8(127)).astype(np.int64) << (7 * places)
    found = np.add.reduceat(parts, starts) if len(starts) else np.empty(0, np.int64)
    if len(found) and float(found.sum(dtype=np.float64)) > 2.0**62:
        raise ValueError("the differences add up to more than any key")
    return np.cumsum(found + 1) - 1
