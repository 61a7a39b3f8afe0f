"""Missing numbers of a table: refused, 0, the mean so far, or a reason to leave the row out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._types import Bools, Bytes, Floats, Ints
from ..engine.compiler import compiled

WAYS = ("refuse", "zero", "mean", "skip")
WAY_OUT = "missing=… says what becomes of missing numbers: zero, mean or skip."

# what a missing number is written as, besides nothing at all: at most 4 bytes, in lower case
_WORDS = ("?", "na", "n/a", "nan", "null", "none")
_CODES = np.asarray([int.from_bytes(word.encode(), "big") for word in _WORDS], np.int64)


class Missing:
    """Puts a number in the place of each missing one, row after row.

    With ``"mean"`` that is the mean of the column's numbers in the rows of this pass that came before; 0
    where there were none. So rows are the same in every pass, however the pass is cut into batches. With
    ``means`` given it is the column's number among them, whatever the rows hold.
    """

    def __init__(self, how: str, means: Iterable[float] | None = None):
        if how not in WAYS:
            raise ValueError(f"missing must be one of {', '.join(map(repr, WAYS))}; got missing={how!r}.")
        if means is not None and how != "mean":
            raise ValueError(f"means are for missing='mean'; got missing={how!r}.")
        self.how = how
        self.given = None if means is None else np.asarray(list(means), np.float64)
        if self.given is not None and not (self.given.ndim == 1 and np.isfinite(self.given).all()):
            raise ValueError("means must be finite numbers, one for each column of features.")
        self.means: np.ndarray | None = self.given  #: of the columns of features, so far
        self._counts = np.zeros(0)
        self.numbers = self.rows = 0  #: that were replaced, and left out, in this pass

    def begin_pass(self) -> None:
        """Forget the rows of the last pass."""
        self.means, self._counts = self.given, np.zeros(0)
        self.numbers = self.rows = 0

    def fill(self, numbers: np.ndarray, missing: np.ndarray, good: np.ndarray) -> None:
        """Replace the missing numbers of the good rows; or, with ``"skip"``, mark the rows as not good."""
        if self.how == "skip":
            gone = good & missing.any(axis=1)
            self.rows += int(np.count_nonzero(gone))
            good &= ~gone
        self.numbers += int(np.count_nonzero(missing[good]))
        if self.how != "mean":
            numbers[missing] = 0.0
            return
        if self.means is None:
            self.means = np.zeros(numbers.shape[1])
            self._counts = np.zeros(numbers.shape[1])
        if len(self.means) != numbers.shape[1]:
            raise ValueError(
                f"means must be one for each column of features, {numbers.shape[1]}; got {len(self.means)}."
            )
        running_means(numbers, missing, good, self.means, self._counts, self.given is None)


def written_as_missing(buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Which trimmed fields are empty or say that a number is missing."""
    found = np.zeros(len(starts), np.bool_)
    find_missing(buffer, starts, stops, _CODES, found)
    return found


@compiled
def find_missing(buffer: Bytes, starts: Ints, stops: Ints, codes: Ints, found: Bools) -> None:
    """Compare the bytes of each field, in lower case, with words of at most 4 bytes."""
    for i in range(starts.size):
        length = stops[i] - starts[i]
        if length <= 0:
            found[i] = True
        elif length <= 4:
            code = np.int64(0)
            for p in range(starts[i], stops[i]):
                c = np.int64(buffer[p])
                if c >= 65 and c <= 90:
                    c += 32
                code = code * 256 + c
            for k in range(codes.size):
                if codes[k] == code:
                    found[i] = True


@compiled
def running_means(
    numbers: Floats, missing: Bools, good: Bools, means: Floats, counts: Floats, learn: bool
) -> None:
    """Replace missing numbers by the means so far; the n-th number moves its mean by 1/n of the way."""
    for i in range(numbers.shape[0]):
        if good[i]:
            for j in range(numbers.shape[1]):
                if missing[i, j]:
                    numbers[i, j] = means[j]
                elif learn:
                    counts[j] += 1.0
                    means[j] += numbers[i, j] / counts[j] - means[j] / counts[j]
        else:
            for j in range(numbers.shape[1]):
                if missing[i, j]:
                    numbers[i, j] = 0.0


def as_list(means: np.ndarray | None) -> list[float] | None:
    """Means as a layout holds them."""
    if means is None:
        return None
    found: list[float] = means.tolist()
    return found
