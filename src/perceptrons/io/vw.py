"""The simple part of Vowpal Wabbit's text format: ``label importance 'tag|namespace:scale feature:value …``.

Importance, tag, namespace, scale and values may be left out. The column of a feature is the hash of
``namespace^feature``, so the columns are not those of Vowpal Wabbit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _vw_loop as loop
from ._numbers import POWERS, finish, finish_labels
from .hashed import Hash
from .lines import TextLines, lines_of
from .records import FormatError, Limits, LineBlock, Parsed, Refusals

_TROUBLES = {
    loop.NO_BAR: ("| before the features", ""),
    loop.BAD_LABEL: (
        "label, importance and tag before the first |",
        "Other labels of Vowpal Wabbit are not read.",
    ),
    loop.NEGATIVE_WEIGHT: ("an importance of at least 0", ""),
    loop.TOUCHES: ("a space between the number and |", "A number that touches | is a tag to Vowpal Wabbit."),
    loop.NO_NAME: ("feature or feature:value", ""),
    loop.BAD_VALUE: ("a finite number as value", ""),
    loop.BAD_SCALE: ("a number as the namespace's scale", ""),
}


class VowpalWabbit:
    """Reads blocks of VW text."""

    name = "vw"

    def __init__(
        self,
        refusals: Refusals,
        limits: Limits,
        bits: int = 18,
        seed: int = 0,
        dtype: npt.DTypeLike = np.float64,
        replace: Limits | None = None,
    ):
        self.refusals, self.limits = refusals, limits
        self.hash, self.replace = Hash(bits, seed, dtype), replace
        self._labelled: bool | None = None

    @property
    def n_features(self) -> int:
        return self.hash.n_features

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """CSR rows, labels and importances of a block."""
        lines = lines_of(block, self.refusals, self.replace)
        block = lines.block
        found = self._scan(lines)
        rows = len(found.heads)
        good = np.ones(rows, bool)
        self._finish_long(block, found, good)
        self._refuse_infinite(block, found, good)
        X = self.hash.rows(found.values, found.indices, found.indptr, block.file)
        self._refuse_mixed(lines, found, good)
        y = found.heads[good, 0] if self._labelled else None
        weights = found.heads[good, 1] if (found.counts == 2).any() else None
        yield X if good.all() else X[good], y, weights

    def _scan(self, lines: TextLines) -> Found:
        block, n = lines.block, len(lines)
        most = block.size // 2 + 1  # the shortest feature and the blank before it
        heads, counts, origin = np.empty((n, 2)), np.empty(n, np.uint8), np.empty(n, np.int64)
        indptr, indices = np.zeros(n + 1, np.int32), np.empty(most, np.int32)
        values, scales, head = np.empty(most), np.empty(most), np.empty(2)
        state, left = np.zeros(5, np.int64), np.empty(most, np.uint8)
        arrays = (_bits(heads), counts, origin, indptr, indices, values, _bits(values), scales, _bits(scales))
        while True:
            code = loop.parse_vw(
                block.buffer,
                lines.starts,
                *arrays,
                left,
                head,
                _bits(head),
                state,
                POWERS.tens,
                self.hash.seed,
                self.hash.mask,
                np.uint64(self.limits.values),
                self.refusals.only_counted,
            )
            if code == loop.DONE:
                break
            self.refusals.refuse(self._error(block, int(state[loop.ERROR]), code))
        self.refusals.count += int(state[loop.SKIPPED])
        rows, k = int(state[loop.ROWS]), int(state[loop.PAIRS])
        return Found(
            heads[:rows],
            counts[:rows],
            origin[:rows],
            indptr[: rows + 1],
            indices[:k],
            values[:k],
            scales,
            np.flatnonzero(left[:k]),
        )

    def _error(self, block: LineBlock, position: int, code: int) -> FormatError:
        if code == loop.TOO_MANY:
            way_out = "limits=Limits(values=…) sets the limit."
            return block.error(position, f"at most {self.limits.values:,} features in a row", way_out)
        return block.error(position, *_TROUBLES[code])

    def _finish_long(self, block: LineBlock, found: Found, good: np.ndarray) -> None:
        """Numbers of many digits; a row with one beyond all doubles is refused."""

        def refuse(row: int, position: int, expected: str = "a finite number") -> None:
            if good[row]:
                self.refusals.refuse(lambda: block.error(position, expected))
            good[row] = False

        def refuse_pair(k: int, position: int) -> None:
            refuse(_row_of(found, int(found.left[k])), position)

        finish_labels(block.buffer, labels := found.heads[:, 0].copy(), refuse)
        finish(block.buffer, weights := found.heads[:, 1].copy(), refuse)
        found.heads[:, 0], found.heads[:, 1] = labels, weights
        if len(found.left):
            values, scales = found.values[found.left], found.scales[found.left]
            for part in (values, scales):
                finish(block.buffer, part, refuse_pair)
                part[np.isinf(part)] = 0.0  # of rows that are dropped
            with np.errstate(over="ignore"):
                found.values[found.left] = values * scales

    def _refuse_infinite(self, block: LineBlock, found: Found, good: np.ndarray) -> None:
        """Refuse the rows with a value that the scale of its namespace puts beyond all doubles."""
        for k in np.flatnonzero(np.isinf(found.values)).tolist():
            row = _row_of(found, k)
            if good[row]:
                self.refusals.refuse(
                    FormatError(
                        block.file,
                        None,
                        None,
                        "finite values",
                        "one that its namespace's scale made infinite",
                    )
                )
            good[row] = False
            found.values[k] = 0.0

    def _refuse_mixed(self, lines: TextLines, found: Found, good: np.ndarray) -> None:
        """Either all rows of a stream have a label, or none has."""
        has = found.counts > 0
        if self._labelled is None and len(has):
            self._labelled = bool(has[0])
        wanted = "a label, as before" if self._labelled else "no label, as before"
        self.refusals.refuse_all(
            np.flatnonzero(good & (has != self._labelled)),
            lambda row: lines.block.error(int(lines.starts[found.origin[row]]), wanted),
        )
        good &= has == self._labelled


class Found(NamedTuple):
    """What the loop has found."""

    heads: np.ndarray  #: label and importance of each row
    counts: np.ndarray  #: how many of the two are written
    origin: np.ndarray  #: the line of each row
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    scales: np.ndarray  #: of the namespaces, where a number is left to Python
    left: np.ndarray  #: the values for which that is so


def _row_of(found: Found, k: int) -> int:
    """The row of value k."""
    return int(np.searchsorted(found.indptr, k, side="right")) - 1


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(np.int64)
