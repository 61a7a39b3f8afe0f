"""The ordered log of updates: enough for voting and replaying.

An update is w <- keep w + alpha x. With the distinct rows that were updated on kept aside, the scores of
every past w on a row x are prefix sums of inner products with those rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._sparse import as_scipy, columns_in_use, is_sparse, narrowed
from .compiler import compiled

if TYPE_CHECKING:
    from .._types import AnyMatrix, Floats, Ints, UpdateColumns
    from .blocks import Updates

_BLOCK_BYTES = 1 << 25  # inner products held at a time while voting


class LogFullError(ValueError):
    """The update log has grown beyond its limit."""


class _Grown:
    """An attribute that grows by appending pieces, which are joined when it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, journal: Journal, owner: type) -> Any:
        pieces = journal._pieces[self.name]
        if len(pieces) > 1:
            pieces[:] = [_stacked(pieces)]
        return pieces[0] if pieces else None

    def __set__(self, journal: Journal, whole: Any) -> None:
        journal._pieces[self.name] = [whole]


class Journal:
    """Updates in order, with the rows they used. ``n_columns`` is 1, or the number of classes."""

    epoch, row, example, keep, alpha = _Grown(), _Grown(), _Grown(), _Grown(), _Grown()
    position = _Grown()  #: of the row in ``support``
    support = _Grown()  #: the distinct rows, or None

    def __init__(self, n_columns: int, limit: int):
        self.limit = limit
        self._pieces: dict[str, list[AnyMatrix]] = {"support": []}
        self.epoch = self.row = self.example = self.position = np.empty(0, np.int64)
        self.keep = np.empty(0)
        self.alpha = np.empty((0, n_columns))
        self._length = self._n_support = 0
        # while one X is read again and again: where its rows are in ``support``
        self._where: np.ndarray | None = None

    def __len__(self) -> int:
        return self._length

    def extend(self, epoch: int, log: UpdateColumns, X: AnyMatrix) -> None:
        """Append the log of a pass over rows of X; the same X until :meth:`close`."""
        if len(log.row):
            self._length += len(log.row)
            pieces = {
                "epoch": np.full(len(log.row), epoch),
                "row": log.row.copy(),  # a log is a piece of a larger array
                "example": log.example.copy(),
                "keep": log.keep.copy(),
                "alpha": log.alpha.copy(),
                "position": self._positions(log, X),
            }
            for name, piece in pieces.items():
                self._pieces[name].append(piece)
        if len(self) > self.limit:
            raise LogFullError(
                f"The update log holds {len(self)} entries, more than max_log={self.limit}. Raise max_log, "
                "or use readout='average'."
            )

    def _positions(self, log: UpdateColumns, X: AnyMatrix) -> np.ndarray:
        """Where the rows of a log are in ``support``; those that are new join it."""
        if self._where is None:
            self._where = np.full(X.shape[0], -1)
        distinct = np.unique(log.row)
        new = distinct[self._where[distinct] < 0]
        if len(new):
            self._where[new] = self._n_support + np.arange(len(new))
            self._n_support += len(new)
            self._pieces["support"].append(as_scipy(X[new]))
        at: np.ndarray = self._where[log.row]
        return at

    def close(self) -> None:
        """Rows that come from here on are those of another X."""
        self._where = None

    def counts(self, n_examples: int, include_initial: bool) -> np.ndarray:
        """c_0..c_k: after how many examples each weight vector was the current one."""
        born = np.concatenate([[0], self.example, [n_examples + 1]])
        born[0] = 1
        counts = np.diff(born).astype(np.float64)
        counts[0] += include_initial
        return counts

    def coefficients(self, n_examples: int) -> np.ndarray:
        """(distinct rows, columns): the w that was current after ``n_examples`` as a combination."""
        a = np.zeros((self._n_support, self.alpha.shape[1]))
        for j in range(int(np.searchsorted(self.example, n_examples, side="right"))):
            if self.keep[j] != 1.0:
                a *= self.keep[j]
            a[self.position[j]] += self.alpha[j]
        return a

    def votes(self, X: AnyMatrix, bias: float, unit: bool, counts: np.ndarray) -> np.ndarray:
        """(rows of X, columns): weighted votes; with one column, sum c_j sign(<w_j, x>)."""
        X, n = as_scipy(X), X.shape[0]
        out = np.zeros((n, self.alpha.shape[1]))
        if self.support is None:
            self.vote(np.zeros((n, 1)), counts, out)
            return out
        support, columns = self.support, columns_in_use(X)
        if columns is None:
            support = _widened(support, X.shape[1])
        lengths = row_lengths(support, bias) if unit else None
        if columns is not None:
            X, support = narrowed(X, columns), narrowed(support, columns)
        block = max(1, _BLOCK_BYTES // (8 * support.shape[0]))
        for start in range(0, n, block):
            part = X[start : start + block]
            inner = part @ support.T
            inner = np.asarray(inner.toarray() if is_sparse(inner) else inner, np.float64)
            inner = inner + bias * bias
            if lengths is not None:
                inner /= row_lengths(part, bias)[:, None] * lengths[None, :]
            self.vote(inner, counts, out[start : start + block])
        return out

    def vote(self, inner: np.ndarray, counts: np.ndarray, out: np.ndarray) -> None:
        """Fill ``out`` with the votes of rows that are known by their products with the support."""
        s = np.zeros(self.alpha.shape[1])
        inner = np.ascontiguousarray(inner, np.float64)
        _vote(inner, self.position, self.keep, self.alpha, counts, s, out)
        out[~np.isfinite(inner).all(axis=1)] = np.nan  # a sign would hide an overflow

    def replay(
        self, n_examples: int, bias: float, unit: bool, n_features: int, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """(outputs, features + 1): the weights that were current after ``n_examples``; of some columns."""
        a = self.coefficients(n_examples)
        w = np.zeros((a.shape[1], (n_features if columns is None else len(columns)) + 1))
        if self.support is not None:
            if unit:
                a = a / row_lengths(self.support, bias)[:, None]
            support = self.support if columns is None else narrowed(self.support, columns)
            w[:, : support.shape[1]] = a.T @ support
            w[:, -1] = bias * a.sum(axis=0)
        return w


class KernelJournal(Journal):
    """Updates of a learner that keeps its support rows itself; their logs have the positions."""

    def _positions(self, log: UpdateColumns, X: AnyMatrix) -> np.ndarray:
        log = cast("Updates", log)
        self._n_support = max(self._n_support, int(log.position.max()) + 1)
        return log.position.copy()


class RowJournal(Journal):
    """Updates by the numbers of their rows: enough to be read, not to vote."""

    def _positions(self, log: UpdateColumns, X: AnyMatrix) -> np.ndarray:
        return log.row.copy()


def _stacked(pieces: list[AnyMatrix]) -> AnyMatrix:
    """One below the other; matrices become as wide as the widest, and sparse if the first is."""
    if pieces[0].ndim == 1:
        return np.concatenate(pieces)
    width = max(piece.shape[1] for piece in pieces)
    if is_sparse(pieces[0]):
        import scipy.sparse as sp

        return sp.vstack([_widened(sp.csr_array(piece), width) for piece in pieces]).tocsr()
    dense = [piece.toarray() if is_sparse(piece) else piece for piece in pieces]
    return np.concatenate([_widened(piece, width) for piece in dense])


def _widened(X: AnyMatrix, width: int) -> AnyMatrix:
    if X.shape[1] == width:
        return X
    if is_sparse(X):
        import scipy.sparse as sp

        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return np.hstack([X, np.zeros((X.shape[0], width - X.shape[1]), X.dtype)])


def row_lengths(X: AnyMatrix, bias: float) -> np.ndarray:
    """Lengths of the augmented rows; 1 for a zero row, which no factor changes."""
    if is_sparse(X):  # scipy's sum of a row takes a time that grows with the width
        numbers = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(numbers, np.square(X.data, dtype=np.float64), X.shape[0])
    else:
        squares = np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(np.asarray(squares, np.float64).ravel() + bias * bias)
    lengths[lengths == 0.0] = 1.0
    return lengths


@compiled
def _vote(
    inner: Floats, position: Ints, keep: Floats, alpha: Floats, counts: Floats, s: Floats, out: Floats
) -> None:
    """inner[i, p] = <support_p, x_i>; s is scratch space, one entry per column."""
    n_columns = s.shape[0]
    for i in range(inner.shape[0]):
        for r in range(n_columns):
            s[r] = 0.0
        if n_columns == 1:
            out[i, 0] = -counts[0]  # w_0 = 0 votes -1
        else:
            out[i, 0] = counts[0]  # and for the lowest class
        for j in range(position.shape[0]):
            best = 0
            for r in range(n_columns):
                s[r] = keep[j] * s[r] + alpha[j, r] * inner[i, position[j]]
                if s[r] > s[best]:
                    best = r
            if n_columns == 1:
                out[i, 0] += counts[j + 1] if s[0] > 0.0 else -counts[j + 1]
            else:
                out[i, best] += counts[j + 1]
