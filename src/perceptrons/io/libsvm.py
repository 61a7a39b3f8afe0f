"""libsvm's format: ``label index:value index:value … # comment``, indices ascending, from 1 on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .._sparse import CsrRows, as_scipy
from .._types import SparseMatrix
from . import _loops as loops
from ._numbers import POWERS, finish, finish_labels
from .records import FormatError, Limits, LineBlock, Parsed, Refusals, cast, checked_limits
from .sources import AnySource, OpenSource, blocks, sources

_FROM_ZERO = "zero_based=True reads files whose first index is 0."
_FINITE = "a finite number as value"
_TROUBLES: dict[int, tuple[str, str]] = {
    loops.BAD_LABEL: ("a number as label", ""),
    loops.BAD_INDEX: ("index:value", ""),
    loops.NO_COLON: ("index:value", ""),
    loops.BAD_VALUE: (_FINITE, ""),
    loops.NOT_ASCENDING: ("an index larger than the one before it", "Sort the pairs of each line by index."),
    loops.TOO_SMALL: ("an index of at least 1", _FROM_ZERO),
    loops.QUERY: ("index:value", "Queries (qid:…) are for ranking; remove them: sed 's/ qid:[0-9]*//'."),
}


_MOST_AHEAD = 1 << 27  # rows or pairs that memory is allocated for in advance


class Growing:
    """Arrays for rows of unknown number: memory that is not used is never written."""

    def __init__(self, size: int = 0) -> None:
        """``size`` is how many bytes will come, as far as that is known."""
        rows, pairs = min(size // 16, _MOST_AHEAD), min(size // 5, _MOST_AHEAD)
        self.labels = np.empty(rows)
        self.indptr = np.empty(rows + 1, np.int64)
        self.indptr[0] = 0
        self.indices = np.empty(pairs, np.int32)
        self.values = np.empty(pairs)
        self.state = np.zeros(7, np.int64)
        self.state[loops.LARGEST] = -1

    @property
    def rows(self) -> int:
        return int(self.state[loops.ROWS])

    @property
    def pairs(self) -> int:
        return int(self.state[loops.PAIRS])

    def make_room(self, size: int) -> None:
        """For a block of so many bytes: the shortest row takes two of them, the shortest pair four."""
        self._grow("labels", self.rows, size // 2 + 1)
        self._grow("indptr", self.rows + 1, size // 2 + 1)
        self._grow("indices", self.pairs, size // 4 + 1)
        self._grow("values", self.pairs, size // 4 + 1)

    def _grow(self, name: str, used: int, more: int) -> None:
        old = getattr(self, name)
        if len(old) < used + more:
            new = np.empty(max(used + more, 3 * len(old) // 2), old.dtype)  # resize would fill it with zeros
            new[:used] = old[:used]
            setattr(self, name, new)

    def restart(self) -> None:
        """Forget the rows, keep the memory."""
        self.state[[loops.POSITION, loops.ROWS, loops.PAIRS, loops.LONG_ONES, loops.SKIPPED]] = 0


class Libsvm:
    """Reads blocks of libsvm text."""

    name = "libsvm"

    def __init__(
        self,
        refusals: Refusals,
        limits: Limits,
        n_features: int | None = None,
        zero_based: bool = False,
        dtype: npt.DTypeLike = np.float64,
    ):
        self.refusals, self.limits, self.n_features = refusals, limits, n_features
        self.first = 0 if zero_based else 1
        self.dtype = np.dtype(dtype)
        self._room = Growing()

    @property
    def width(self) -> int:
        """Columns so far."""
        if self.n_features is not None:
            return self.n_features
        return max(0, int(self._room.state[loops.LARGEST]) + 1 - self.first)

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """CSR rows and labels of a block."""
        self._room.restart()
        self.add(block, self._room)
        yield *self.matrix(self._room, block.file, copy=True), None

    def add(self, block: LineBlock, room: Growing) -> None:
        """Append the rows of a block."""
        room.make_room(block.size)
        room.state[[loops.POSITION, loops.LONG_ONES, loops.SKIPPED]] = 0
        rows, pairs = room.rows, room.pairs
        most = self.limits.features if self.n_features is None else self.n_features
        largest = most - 1 + self.first
        while True:
            code = loops.parse_libsvm(
                block.buffer,
                block.size,
                room.labels,
                room.labels.view(np.int64),
                room.indptr,
                room.indices,
                room.values,
                room.values.view(np.int64),
                room.state,
                POWERS.tens,
                self.first,
                largest,
                self.refusals.only_counted,
            )
            if code == loops.DONE:
                break
            self.refusals.refuse(self._error(block, code, int(room.state[loops.ERROR]), largest))
        self.refusals.count += int(room.state[loops.SKIPPED])
        if room.state[loops.LONG_ONES]:
            self._finish_long(block, room, rows, pairs)

    def _error(self, block: LineBlock, code: int, position: int, largest: int) -> FormatError:
        if code == loops.TOO_LARGE:
            way = "limits=Limits(features=…)" if self.n_features is None else "n_features=…"
            return block.error(position, f"an index of at most {largest}", f"{way} sets the largest.")
        return block.error(position, *_TROUBLES[code])

    def _finish_long(self, block: LineBlock, room: Growing, rows: int, pairs: int) -> None:
        """Numbers of many digits; a row with one beyond all doubles is refused, and leaves nothing."""
        bad: set[int] = set()

        def label(k: int, position: int, expected: str) -> None:
            self.refusals.refuse(lambda: block.error(position, expected))
            bad.add(rows + k)

        def value(k: int, position: int) -> None:
            row = int(np.searchsorted(room.indptr[: room.rows + 1], pairs + k, side="right")) - 1
            if row not in bad:
                self.refusals.refuse(lambda: block.error(_pair_of(block, position), _FINITE))
                bad.add(row)

        finish_labels(block.buffer, room.labels[rows : room.rows], label)
        finish(block.buffer, room.values[pairs : room.pairs], value)
        if bad:
            self._drop(room, sorted(bad))

    @staticmethod
    def _drop(room: Growing, bad: list[int]) -> None:
        """Take rows out again."""
        keep = np.ones(room.rows, bool)
        keep[bad] = False
        lengths = np.diff(room.indptr[: room.rows + 1])
        pairs = np.repeat(keep, lengths)
        n, k = int(keep.sum()), int(pairs.sum())
        room.labels[:n] = room.labels[: room.rows][keep]
        room.indices[:k] = room.indices[: room.pairs][pairs]
        room.values[:k] = room.values[: room.pairs][pairs]
        room.indptr[1 : n + 1] = np.cumsum(lengths[keep])
        room.state[[loops.ROWS, loops.PAIRS]] = n, k

    def matrix(self, room: Growing, file: str, copy: bool) -> tuple[CsrRows, np.ndarray]:
        """What has been read as CSR rows and labels."""
        n, k = room.rows, room.pairs
        if not copy:
            for name, size in (("labels", n), ("indptr", n + 1), ("indices", k), ("values", k)):
                getattr(room, name).resize(size, refcheck=False)
        wide = k > np.iinfo(np.int32).max
        indptr = room.indptr[: n + 1].astype(np.int64 if wide else np.int32)
        indices = room.indices[:k].astype(indptr.dtype, copy=copy)
        values = cast(room.values[:k], self.dtype, file)
        values = values.copy() if copy and values.base is not None else values
        labels = room.labels[:n].copy() if copy else room.labels
        return CsrRows(values, indices, indptr, (n, self.width)), labels


def _pair_of(block: LineBlock, position: int) -> int:
    """Where the pair starts whose value is at this position: behind the colon and the digits before it."""
    start = position - 1
    while start and 48 <= block.buffer[start - 1] <= 57:
        start -= 1
    return start


def read_libsvm(
    source: AnySource,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: npt.DTypeLike = np.float64,
    limits: Limits | None = None,
    on_error: str = "raise",
) -> tuple[SparseMatrix, np.ndarray]:
    """A whole libsvm file, or several, as one CSR array and its labels.

    Every number is the double nearest to what is written, as Python's ``float`` reads it.

    Parameters
    ----------
    source : path, list of paths, "-", open binary file or bytes
        Plain, gz, bz2, xz or zst.
    n_features : int, optional
        Number of columns; default: the largest index.
    zero_based : bool, default=False
        Whether column 0 is written as 0; else as 1.
    dtype : dtype, default=float64
    limits : Limits, optional
    on_error : {"raise", "skip"}, default="raise"
        What becomes of a bad line.

    Returns
    -------
    X : CSR array
    y : float64 array

    Examples
    --------
    >>> X, y = read_libsvm(b"+1 1:0.5 3:2\\n-1 2:1e-1\\n")
    >>> X.toarray(), y
    (array([[0.5, 0. , 2. ],
           [0. , 0.1, 0. ]]), array([ 1., -1.]))
    """
    limits = checked_limits(limits)
    if n_features is not None and not (isinstance(n_features, int | np.integer) and 1 <= n_features < 2**31):
        raise ValueError(
            f"n_features must be an integer from 1 to {2**31 - 1}; got n_features={n_features!r}."
        )
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip'; got on_error={on_error!r}.")
    refusals = Refusals(on_error == "skip")
    reader = Libsvm(refusals, limits, n_features, zero_based, dtype)
    chosen = sources(source)
    room = Growing(sum(one.size or 0 for one in chosen))
    for one in chosen:
        opened = OpenSource(one, limits)
        try:
            for block in blocks(opened, _BLOCK, limits, refusals):
                reader.add(block, room)
        finally:
            opened.close()
    reader._room = room
    rows, labels = reader.matrix(room, ", ".join(one.name for one in chosen), copy=False)
    return as_scipy(rows), labels


_BLOCK = 1 << 18  # stays in the second-level cache while it is parsed
