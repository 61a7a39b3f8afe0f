"""Kernels of strings, of rows of a given matrix, and of arbitrary objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._sparse import is_sparse
from .base import Kernel, check_whole, declare
from .prepared import Objects, Strings, Table, inner, widened


@declare(names=("spectrum",), collection=Strings, on_command_line=False)
@dataclass(frozen=True)
class Spectrum(Kernel):
    """A string kernel: the substrings of length p that two strings have in common.

    ``mode="multiset"`` counts pairs of occurrences, ``"set"`` distinct substrings in both, ``"min"`` the
    smaller number of occurrences. Strings shorter than p have none. Objects are ``str`` or ``bytes``.

    Each mode is an inner product of sparse vectors: min(n, m) counts the k with n >= k and m >= k.
    """

    p: int = 3
    mode: str = "multiset"

    def __post_init__(self) -> None:
        check_whole("p", self.p)
        if self.mode not in ("multiset", "set", "min"):
            raise ValueError(f"mode must be 'multiset', 'set' or 'min'; got mode={self.mode!r}.")

    @property
    def takes(self) -> str:
        return "strings"

    def prepare(self, objects: Any, like: Strings | None = None) -> Strings:
        if isinstance(objects, Strings):
            return objects
        if isinstance(objects, (str, bytes)):
            raise TypeError("Spectrum needs a collection of strings; got a single one.")
        if hasattr(objects, "columns"):
            raise TypeError("Spectrum needs a collection of strings; got a frame: give one of its columns.")
        import scipy.sparse as sp

        columns: dict[Hashable, int] = {} if like is None else dict(like.columns)
        indptr, indices, data = [0], [], []
        for number, s in enumerate(objects):
            if not isinstance(s, (str, bytes)):
                raise TypeError(f"Spectrum needs strings; object {number} is of type {type(s).__name__}.")
            for key, count in self._features(s):
                indices.append(columns.setdefault(key, len(columns)))
                data.append(count)
            indptr.append(len(indices))
        counts = np.asarray(data, np.float64), np.asarray(indices, np.int64), np.asarray(indptr, np.int64)
        X = sp.csr_array(counts, shape=(len(indptr) - 1, len(columns)))
        X.sort_indices()
        return Strings(X, columns, list(objects))

    def _features(self, s: str | bytes) -> list[tuple[Hashable, int]]:
        counts: Counter[str | bytes] = Counter(s[i : i + self.p] for i in range(len(s) - self.p + 1))
        if self.mode == "multiset":
            return list(counts.items())
        if self.mode == "set":
            return [(u, 1) for u in counts]
        return [((u, k), 1) for u, n in counts.items() for k in range(n)]

    def matrix(self, A: Strings, B: Strings) -> np.ndarray:
        width = max(A.X.shape[1], B.X.shape[1])  # the columns of the one begin like those of the other
        values: np.ndarray = inner(widened(A.X, width), widened(B.X, width))
        return values

    def diagonal(self, A: Strings) -> np.ndarray:
        squares: np.ndarray = A.squares()
        return squares


@declare(names=("precomputed",), collection=Table, on_command_line=False)
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values given by the user: X[i, j] = k(object i, training object j)."""

    @property
    def takes(self) -> str:
        return "table"

    def prepare(self, objects: Any, like: Table | None = None) -> Table:
        if isinstance(objects, Table):
            return objects
        X = super().prepare(objects).X
        X = X.toarray() if is_sparse(X) else X
        if like is not None:
            return Table(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel is a square matrix over the training objects; got shape {X.shape}."
            )
        return Table(X, np.arange(len(X)))

    def matrix(self, A: Table, B: Table) -> np.ndarray:
        if B.numbers is None:
            raise ValueError("A precomputed kernel has no values between objects that were not trained on.")
        values: np.ndarray = A.X[:, B.numbers]
        return values

    def diagonal(self, A: Table) -> np.ndarray:
        if A.numbers is None:
            raise ValueError("A precomputed kernel has no k(x, x) of objects that were not trained on.")
        values: np.ndarray = A.X[np.arange(len(A)), A.numbers].astype(np.float64)
        return values


@declare(names=(), collection=Objects, on_command_line=False)
@dataclass(frozen=True)
class Pairwise(Kernel):
    """Any function of two objects; it is called once for each pair."""

    function: Callable[[Any, Any], float]

    @property
    def takes(self) -> str:
        return "objects"

    @property
    def by_pairs(self) -> bool:
        return True

    def prepare(self, objects: Any, like: Objects | None = None) -> Objects:
        if isinstance(objects, Objects):
            return objects
        if is_sparse(objects):
            raise TypeError("A kernel function takes pairs of objects: give rows as a list or a dense array.")
        if hasattr(objects, "iloc"):  # a frame: its rows are the objects, not its columns
            return Objects([objects.iloc[i] for i in range(len(objects))])
        return Objects(objects)

    def matrix(self, A: Objects, B: Objects) -> np.ndarray:
        values = [[self._value(a, b) for b in B.items] for a in A.items]
        return np.array(values, np.float64).reshape(len(A), len(B))

    def diagonal(self, A: Objects) -> np.ndarray:
        return np.array([self._value(a, a) for a in A.items])

    def _value(self, a: Any, b: Any) -> float:
        value = self.function(a, b)
        try:
            return float(value)
        except (TypeError, ValueError):
            name = getattr(self.function, "__name__", "kernel")
            raise TypeError(f"kernel {name!r} must return a number for two objects; got {value!r}.") from None
