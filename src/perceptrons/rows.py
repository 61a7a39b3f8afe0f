"""Dense rows, CSR rows and blocks of kernel values behind one set of verbs, so that no loop tests for sparse.

A record describes a block of rows x, each taken as the augmented row (x, B), scaled to length 1 when ``unit``
is set. Only four accessors depend on the storage: :func:`begin`, :func:`end`,
:func:`column`, :func:`value`. The verbs :func:`look` (inner product), :func:`push` (add a multiple to
w) and :func:`sqnorm` are written once on top of them.

A :class:`Block` stands for rows known by their kernel values alone: the weights are then coefficients, row i
has the single entry 1 at its own, and its score is updated by :func:`follow`.

A weight vector has one entry per feature and one more, the last, for the constant coordinate B.
Indices are checked when a record is made (:mod:`perceptrons.engine.intake`); the verbs do not check.
"""

# An entry of an array is of any type to mypy.
# mypy: no-warn-return-any
from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from ._types import Reals


class Dense(NamedTuple):
    X: np.ndarray  #: (rows, features), C order
    sq: np.ndarray  #: squared length of each augmented row, float64
    bias: float  #: the constant coordinate B; 0 without intercept
    unit: bool  #: rows are scaled to length 1


class Csr(NamedTuple):
    data: np.ndarray
    indices: np.ndarray  #: unsigned view: signed indices make the compiler test for wrap-around
    indptr: np.ndarray  #: uint64
    sq: np.ndarray
    bias: float
    unit: bool


class Packed(NamedTuple):
    """Rows as in :class:`Csr`, each in one piece of memory: first its indices, then its values.

    ``data`` and ``indices`` are the same memory as numbers and as indices, of the same size or of half of it.
    ``indptr`` is that of the CSR rows; :func:`packed_start` says where a row lies.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    sq: np.ndarray
    bias: float
    unit: bool


class Near(NamedTuple):
    """A single row whose entries have columns 0, 1, ...: its weights have been gathered."""

    data: np.ndarray
    sq: np.ndarray
    bias: float
    unit: bool


class Block(NamedTuple):
    F: np.ndarray  #: scores under the stored weights, (rows,) or (rows, classes); updates change them
    G: np.ndarray  #: (rows, rows): kernel values
    position: np.ndarray  #: uint64: where the coefficient of each row is
    sq: np.ndarray  #: k(x, x), float64
    bias: float  #: 0: a constant coordinate is part of the kernel
    unit: bool  #: False: so is a scaling of the rows


#: What the verbs take.
Rows: TypeAlias = Dense | Csr | Packed | Near | Block
F = TypeVar("F", bound=Callable[..., Any])

#: stub -> record -> function. The compiler makes an overload of every entry.
VERBS: dict[Callable[..., Any], dict[type, Any]] = {}


def chosen(stub: F, rows: Rows) -> F:
    """The function of a verb for this record, in plain Python."""
    functions: dict[type, F] = VERBS[stub]
    return functions[type(rows)]


def begin(rows: Rows, i: int) -> int:
    """First position of row i."""
    return chosen(begin, rows)(rows, i)


def end(rows: Rows, i: int) -> int:
    """One past the last position of row i."""
    return chosen(end, rows)(rows, i)


def column(rows: Rows, p: int) -> int:
    """The feature at position p."""
    return chosen(column, rows)(rows, p)


def value(rows: Rows, i: int, p: int) -> float:
    """The value at position p of row i."""
    return chosen(value, rows)(rows, i, p)


def dot(rows: Rows, i: int, w: Reals) -> float:
    """<w, x> over the stored entries, in the precision of the data."""
    return chosen(dot, rows)(rows, i, w)


def follow(rows: Rows, i: int, d: float) -> None:
    """w has grown by d x_i: adjust the scores that are kept of the later rows."""
    return chosen(follow, rows)(rows, i, d)


def scaled(rows: Rows, factor: float) -> None:
    """The stored weights were multiplied by a factor."""
    return chosen(scaled, rows)(rows, factor)


def _dense_begin(rows: Dense, i: int) -> int:
    return 0


def _dense_end(rows: Dense, i: int) -> int:
    return rows.X.shape[1]


def _dense_column(rows: Dense, p: int) -> int:
    return p


def _dense_value(rows: Dense, i: int, p: int) -> float:
    return rows.X[i, p]


def _dense_dot(rows: Dense, i: int, w: Reals) -> float:
    x = rows.X[i]
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        total += x[j] * w[j]
    return total


def _csr_begin(rows: Csr, i: int) -> int:
    return rows.indptr[i]


def _csr_end(rows: Csr, i: int) -> int:
    return rows.indptr[i + 1]


def _csr_column(rows: Csr, p: int) -> int:
    return rows.indices[p]


def _csr_value(rows: Csr, i: int, p: int) -> float:
    return rows.data[p]


def _csr_dot(rows: Csr, i: int, w: Reals) -> float:
    return gather_dot(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], w)


def packed_start(rows: Packed, i: int) -> np.uint64:
    """Where row i starts, counted in numbers of ``data``.

    Indices of half the size take half a number each, and up to one number more where their count is odd.
    """
    a = rows.indptr[i]
    if np.finfo(rows.data.dtype).bits == np.iinfo(rows.indices.dtype).bits:
        return a + a
    return a + ((a + np.uint64(i) + np.uint64(1)) >> np.uint64(1))


def packed_values(rows: Packed, i: int) -> np.uint64:
    """Where the values of row i start."""
    n = rows.indptr[i + 1] - rows.indptr[i]
    if np.finfo(rows.data.dtype).bits == np.iinfo(rows.indices.dtype).bits:
        return packed_start(rows, i) + n
    return packed_start(rows, i) + ((n + np.uint64(1)) >> np.uint64(1))


def _packed_begin(rows: Packed, i: int) -> np.uint64:
    if np.finfo(rows.data.dtype).bits == np.iinfo(rows.indices.dtype).bits:
        return packed_start(rows, i)
    return packed_start(rows, i) << np.uint64(1)


def _packed_end(rows: Packed, i: int) -> np.uint64:
    return _packed_begin(rows, i) + (rows.indptr[i + 1] - rows.indptr[i])


def _packed_column(rows: Packed, p: np.uint64) -> int:
    return rows.indices[p]


def _packed_value(rows: Packed, i: int, p: np.uint64) -> float:
    return rows.data[packed_values(rows, i) + (p - _packed_begin(rows, i))]


def _packed_dot(rows: Packed, i: int, w: Reals) -> float:
    values, indices = rows.data[packed_values(rows, i) :], rows.indices[_packed_begin(rows, i) :]
    return gather_dot(values, indices, np.uint64(0), rows.indptr[i + 1] - rows.indptr[i], w)


def gather_dot(data: Reals, indices: np.ndarray, p: np.uint64, stop: np.uint64, w: Reals) -> float:
    """Sum of data[p] w[indices[p]] from p to stop - 1.

    Eight partial sums hide the latency of the loads, and the remainder is spelled out. A compiler that may
    reorder the sums makes vector gathers of them, which are half as fast.
    """
    zero = data.dtype.type(0)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = zero
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven, eight = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    while p + eight <= stop:
        s0 += data[p] * w[indices[p]]
        s1 += data[p + one] * w[indices[p + one]]
        s2 += data[p + two] * w[indices[p + two]]
        s3 += data[p + three] * w[indices[p + three]]
        s4 += data[p + four] * w[indices[p + four]]
        s5 += data[p + five] * w[indices[p + five]]
        s6 += data[p + six] * w[indices[p + six]]
        s7 += data[p + seven] * w[indices[p + seven]]
        p += eight
    if p + four <= stop:
        s0 += data[p] * w[indices[p]]
        s1 += data[p + one] * w[indices[p + one]]
        s2 += data[p + two] * w[indices[p + two]]
        s3 += data[p + three] * w[indices[p + three]]
        p += four
    if p + two <= stop:
        s4 += data[p] * w[indices[p]]
        s5 += data[p + one] * w[indices[p + one]]
        p += two
    if p < stop:
        s6 += data[p] * w[indices[p]]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


def sum_of_squares(data: Reals, p: np.uint64, stop: np.uint64) -> float:
    """Sum of data[p]^2 from p to stop - 1 in float64, in the order of :func:`gather_dot`."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven, eight = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    while p + eight <= stop:
        s0 += np.float64(data[p]) * np.float64(data[p])
        s1 += np.float64(data[p + one]) * np.float64(data[p + one])
        s2 += np.float64(data[p + two]) * np.float64(data[p + two])
        s3 += np.float64(data[p + three]) * np.float64(data[p + three])
        s4 += np.float64(data[p + four]) * np.float64(data[p + four])
        s5 += np.float64(data[p + five]) * np.float64(data[p + five])
        s6 += np.float64(data[p + six]) * np.float64(data[p + six])
        s7 += np.float64(data[p + seven]) * np.float64(data[p + seven])
        p += eight
    if p + four <= stop:
        s0 += np.float64(data[p]) * np.float64(data[p])
        s1 += np.float64(data[p + one]) * np.float64(data[p + one])
        s2 += np.float64(data[p + two]) * np.float64(data[p + two])
        s3 += np.float64(data[p + three]) * np.float64(data[p + three])
        p += four
    if p + two <= stop:
        s4 += np.float64(data[p]) * np.float64(data[p])
        s5 += np.float64(data[p + one]) * np.float64(data[p + one])
        p += two
    if p < stop:
        s6 += np.float64(data[p]) * np.float64(data[p])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


def paired_dot(data: Reals, p: np.uint64, stop: np.uint64, w: Reals) -> float:
    """Sum of data[p] w[p] from p to stop - 1, in the order of :func:`gather_dot`."""
    return gather_dot(data, np.arange(len(data)), p, stop, w)


def _near_begin(rows: Near, i: int) -> int:
    return 0


def _near_end(rows: Near, i: int) -> int:
    return rows.data.shape[0]


def _near_column(rows: Near, p: int) -> int:
    return p


def _near_value(rows: Near, i: int, p: int) -> float:
    return rows.data[p]


def _near_dot(rows: Near, i: int, w: Reals) -> float:
    return paired_dot(rows.data, np.uint64(0), np.uint64(rows.data.shape[0]), w)


def _block_begin(rows: Block, i: int) -> int:
    return i


def _block_end(rows: Block, i: int) -> int:
    return i + 1


def _block_column(rows: Block, p: int) -> int:
    return rows.position[p]


def _block_value(rows: Block, i: int, p: int) -> float:
    return 1.0


def _block_dot(rows: Block, i: int, w: Reals) -> float:
    return rows.F[i]


def _block_follow(rows: Block, i: int, d: float) -> None:
    d = rows.F.dtype.type(d)
    scores, values = rows.F[i + 1 :], rows.G[i, i + 1 :]
    for later in range(scores.shape[0]):
        scores[later] += d * values[later]


def _block_scaled(rows: Block, factor: float) -> None:
    for p in range(rows.F.size):
        rows.F.flat[p] *= factor


def _not_followed(rows: Rows, i: int, d: float) -> None:
    pass


def _not_scaled(rows: Rows, factor: float) -> None:
    pass


VERBS[begin] = {Dense: _dense_begin, Csr: _csr_begin, Near: _near_begin, Block: _block_begin}
VERBS[end] = {Dense: _dense_end, Csr: _csr_end, Near: _near_end, Block: _block_end}
VERBS[column] = {Dense: _dense_column, Csr: _csr_column, Near: _near_column, Block: _block_column}
VERBS[value] = {Dense: _dense_value, Csr: _csr_value, Near: _near_value, Block: _block_value}
VERBS[dot] = {Dense: _dense_dot, Csr: _csr_dot, Near: _near_dot, Block: _block_dot}
VERBS[follow] = {Dense: _not_followed, Csr: _not_followed, Block: _block_follow}
VERBS[scaled] = {Dense: _not_scaled, Csr: _not_scaled, Block: _block_scaled}
_PACKED: dict[Callable[..., Any], Callable[..., Any]] = {
    begin: _packed_begin,
    end: _packed_end,
    column: _packed_column,
    value: _packed_value,
    dot: _packed_dot,
    follow: _not_followed,
    scaled: _not_scaled,
}
for _verb, _function in _PACKED.items():
    VERBS[_verb][Packed] = _function


def factor(rows: Rows, i: int) -> float:
    """What row i is multiplied by: 1, or 1/||(x, B)|| for unit rows (a zero row stays zero)."""
    if rows.unit and rows.sq[i] > 0.0:
        return 1.0 / sqrt(rows.sq[i])
    return 1.0


def sqnorm(rows: Rows, i: int) -> float:
    """q = ||x||^2 of the augmented, possibly scaled row."""
    if rows.unit and rows.sq[i] > 0.0:
        return 1.0
    return rows.sq[i]


def look(rows: Rows, i: int, w: Reals) -> float:
    """<w, x> of the augmented, possibly scaled row."""
    return factor(rows, i) * (dot(rows, i, w) + rows.bias * w[-1])


def push(rows: Rows, i: int, d: float, w: Reals) -> None:
    """w <- w + d x."""
    d = w.dtype.type(d * factor(rows, i))
    for p in range(begin(rows, i), end(rows, i)):
        w[column(rows, p)] += d * value(rows, i, p)
    w[-1] += d * rows.bias


#: verbs written once for every storage
SHARED = (
    factor,
    sqnorm,
    look,
    push,
    packed_start,
    packed_values,
    _packed_begin,
)
#: sums that must be made in the order written
AS_WRITTEN = (gather_dot, sum_of_squares)
