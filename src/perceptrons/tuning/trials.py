"""One trial: an estimator learns some rows, and is tested on others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from .._sparse import is_sparse
from ..core.parameters import names_of
from ..io import Texts
from .ranges import Change

_FOLDS = 5
_ENOUGH_TESTED = 5000  # rows; below that, further folds are tested


LISTS = (list, tuple, set, frozenset)  #: what the labels of a row may come in


class Trial(NamedTuple):
    """What came of one set of parameters on one number of rows."""

    number: int  #: of the candidate
    rows: int  #: that were learned
    tested: int
    errors: int
    seconds: float
    failure: Exception | None = None

    @property
    def error(self) -> float:
        """The share of wrong predictions; infinite after a failure."""
        return inf if self.failure is not None else self.errors / self.tested


class Data:
    """Rows and labels, and the folds that trials learn and are tested on."""

    def __init__(self, X: Any, y: Any, rng: np.random.Generator):
        self.X, self.y = X, y
        self.n = int(y.shape[0])
        if self.n < 2 * _FOLDS:
            raise ValueError(f"tune needs at least {2 * _FOLDS} rows, as it holds some out; got {self.n}.")
        self._order = rng.permutation(self.n)
        tested = -(-self.n // _FOLDS)
        self.folds = min(_FOLDS, -(-_ENOUGH_TESTED // tested))

    @property
    def lists(self) -> bool:
        """Whether a row has a list of labels."""
        return bool(self.y.dtype == object and self.y.ndim == 1 and isinstance(self.y[0], LISTS))

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        if self.lists:
            return len(set().union(*self.y))
        return len(np.unique(self.y)) if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def most(self) -> int:
        """Rows that a trial can learn."""
        return self.n - -(-self.n // _FOLDS)

    def fold(self, k: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows to learn, rows to be tested on), each in ascending order."""
        tested = self._order[k::_FOLDS]
        learned = np.delete(self._order, np.s_[k::_FOLDS])[:rows]
        return np.sort(learned), np.sort(tested)

    def some(self, rows: np.ndarray) -> tuple[Any, Any]:
        y = _taken(self.y, rows)
        return _taken(self.X, rows), y.tolist() if self.lists else y


def _taken(X: Any, rows: np.ndarray) -> Any:
    if isinstance(X, Texts):
        return X.some(rows)
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[i] for i in rows.tolist()]


def made(estimator: Any, change: Change) -> Any:
    """A fresh estimator with other values of some parameters."""
    params = {name: getattr(estimator, name) for name in names_of(type(estimator))}
    return type(estimator)(**params | change)


def tried(
    data: Data, estimator: Any, change: Change, number: int, rows: int, finished: Callable[[Any], Any]
) -> Trial:
    """Fit and test on each fold; ``finished`` makes of a fitted model the one that is tested."""
    start = time.perf_counter()
    tested = errors = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in range(data.folds):
                learned, held_out = data.fold(k, rows)
                model = finished(made(estimator, change).fit(*data.some(learned)))
                X, y = data.some(held_out)
                errors += wrong(model.predict(X), y)
                tested += len(held_out)
    except Exception as error:
        return Trial(number, rows, 0, 0, time.perf_counter() - start, error)
    return Trial(number, rows, tested, errors, time.perf_counter() - start)


def wrong(predicted: Any, y: Any) -> int:
    """How many rows have another label, or other labels, than was predicted."""
    if isinstance(y, list):
        return sum(set(one) != set(true) for one, true in zip(predicted, y, strict=True))
    if is_sparse(y) or is_sparse(predicted) or np.ndim(predicted) == 2:
        differ = np.asarray((predicted != y).sum(axis=1)).ravel()
        return int(np.count_nonzero(differ))
    return int(np.count_nonzero(np.asarray(predicted) != np.asarray(y)))


def as_lists(y: Sequence[Any]) -> np.ndarray:
    """Lists of labels as the entries of an array, of which parts can be taken."""
    found = np.empty(len(y), object)
    found[:] = [list(one) for one in y]
    return found
