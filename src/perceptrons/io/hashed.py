"""Rows whose columns are hashes of names."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._types import SparseMatrix
from . import _scans as scans
from .records import FormatError, Texts, cast


class Hash:
    """Names to columns: :math:`2^{bits}` of them."""

    def __init__(self, bits: int, seed: int, dtype: npt.DTypeLike):
        self.bits, self.seed, self.dtype = bits, seed, np.dtype(dtype)
        self.mask = np.uint64((1 << bits) - 1)

    @property
    def n_features(self) -> int:
        return 1 << self.bits

    def columns(self, names: Texts) -> np.ndarray:
        """The column of each name."""
        columns = np.empty(len(names), np.int32)
        scans.hash_names(names.buffer, names.starts, names.stops, self.seed, self.mask, columns)
        return columns

    def after(self, name: str) -> np.uint64:
        """The state of the hash after a name; words can follow."""
        # as uint64: numba takes a Python int for int64, which a state may exceed
        return np.uint64(scans.state_after(np.frombuffer(name.encode(), np.uint8), self.seed))

    def words(self, state: np.uint64, words: Texts) -> np.ndarray:
        """The column of each word that follows a name."""
        columns = np.empty(len(words), np.int32)
        scans.hash_words(words.buffer, words.starts, words.stops, state, self.mask, columns)
        return columns

    def rows(self, values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, file: str) -> SparseMatrix:
        """CSR rows; values of names in the same column are added. The arrays become part of the rows."""
        import scipy.sparse as sp

        shape = (len(indptr) - 1, self.n_features)
        values = cast(values, self.dtype, file)
        rows = sp.csr_array((_fitting(values), _fitting(indices), indptr), shape=shape)
        with np.errstate(over="ignore"):
            rows.sum_duplicates()
        if not np.isfinite(rows.data).all():
            found = "values of one column that add up to more than it can hold"
            raise FormatError(file, None, None, "finite values", found, "Scale the data.")
        return rows


def _fitting(array: np.ndarray) -> np.ndarray:
    """The array; a copy if it is a small part of a large one, which it would keep in memory."""
    large = array.base
    return array.copy() if isinstance(large, np.ndarray) and 2 * array.nbytes < large.nbytes else array
