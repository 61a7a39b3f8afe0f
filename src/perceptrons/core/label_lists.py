"""Labels of rows of which a row may have several, or none: lists of labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .._types import Label

#: What the labels of a row may be in.
SEVERAL = (list, tuple, set, frozenset)


class LabelLists:
    """The labels of some rows.

    Attributes
    ----------
    labels : ndarray
        The different labels, ascending.
    codes : ndarray of shape (n_rows, most), int32
        Places among ``labels``, ascending in each row, and -1 after the last.
    """

    __slots__ = ("codes", "labels")
    ndim = 2

    def __init__(self, labels: np.ndarray, codes: np.ndarray):
        self.labels, self.codes = labels, codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice) -> LabelLists:
        return LabelLists(self.labels, self.codes[rows])

    def by(self, classes: np.ndarray) -> np.ndarray:
        """The codes as places among ``classes``, ascending, which have all labels."""
        if not len(self.labels):
            return self.codes
        places = np.searchsorted(classes, self.labels).astype(np.int32)
        return np.where(self.codes >= 0, places[self.codes], np.int32(-1))


def is_listed(y: Any) -> bool:
    """Whether y has the labels of some row in a list, a tuple or a set."""
    if isinstance(y, np.ndarray) and (y.ndim != 1 or y.dtype != object):
        return False
    return isinstance(y, (Sequence, np.ndarray)) and any(isinstance(one, SEVERAL) for one in y)


def of_one(labels: Any) -> Any:
    """The labels of a row; a label that is in no list is one label."""
    return labels if isinstance(labels, SEVERAL) else (labels,)


def flat(y: Sequence[Any] | np.ndarray) -> tuple[list[Label], np.ndarray]:
    """(the labels of all rows, how many each row has)."""
    lists = [of_one(labels) for labels in y]
    return list(chain.from_iterable(lists)), np.fromiter(map(len, lists), np.int64, len(lists))


def gathered(labels: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> LabelLists:
    """Lists from the codes of all rows, one row after the other; a label that a row has twice counts once."""
    rows = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(rows * max(1, len(labels)) + codes)
    rows, codes = np.divmod(pairs, max(1, len(labels)))
    counts = np.bincount(rows, minlength=len(counts))
    made = np.full((len(counts), int(counts.max(initial=0))), -1, np.int32)
    first = np.cumsum(counts) - counts
    made[rows, np.arange(len(rows)) - first[rows]] = codes
    return LabelLists(labels, made)


def of_indicator(found: np.ndarray) -> LabelLists:
    """The lists that an indicator matrix stands for; labels are the numbers of its columns."""
    rows, columns = np.nonzero(found)
    return gathered(np.arange(found.shape[1]), columns, np.bincount(rows, minlength=len(found)))


def matrix(codes: np.ndarray, n_labels: int) -> np.ndarray:
    """The indicator matrix of codes that end with -1 in each row."""
    made = np.zeros((len(codes), n_labels + 1), np.int64)
    np.put_along_axis(made, codes.astype(np.int64), 1, axis=1)  # -1 is the last column
    return made[:, :-1]
