"""Rows in one piece each, for fits that visit many of them in a random order.

CSR rows have their indices in one array and their values in another. A row that is visited at random then
comes from two places of memory, each on a page of its own. A copy of the rows with the values of each behind
its indices (:class:`perceptrons.rows.Packed`) has one place. The entries keep their order and their bits, so
that results are the same to the last bit. The copy takes as much memory as the rows, while the fit runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..rows import Csr, Packed, begin, packed_values
from .compiler import compiled, jit_disabled
from .copying import copy_numbers
from .intake import frozen
from .prefetch import processor

if TYPE_CHECKING:
    from .._types import Reals, Unsigned

#: From so many bytes of rows on, no second-level cache has a good part of them.
LEAST_BYTES = 1 << 24
#: A copy, with the numbering of the columns, takes as long as one or two epochs. It saves a seventh to a
#: quarter of each on a Zen 4.
LEAST_EPOCHS = 10


def size(rows: Csr) -> int:
    """The bytes of a copy."""
    return rows.data.nbytes + rows.indices.nbytes + 8 * len(rows.sq)


def helps() -> bool:
    """Whether rows in one piece are faster on this processor."""
    return not jit_disabled() and processor().in_one_piece


def can(rows: Csr) -> bool:
    """Whether indices and values can lie in one piece: an index is as large as a value, or half as large."""
    return rows.data.itemsize in (rows.indices.itemsize, 2 * rows.indices.itemsize)


def pays(rows: Csr, epochs: int | None) -> bool:
    """Whether a fit of so many shuffled epochs is faster by it; None: until a clean pass."""
    return size(rows) >= LEAST_BYTES and (epochs is None or epochs >= LEAST_EPOCHS)


@compiled
def fill(rows: Csr, indices: Unsigned, data: Reals, packed: Packed, n_rows: int) -> None:
    """Write the rows to the memory behind ``indices`` and ``data``, which ``packed`` reads."""
    for i in range(n_rows):
        p, stop = rows.indptr[i], rows.indptr[i + 1]
        copy_numbers(rows.indices[p:stop], indices[begin(packed, i) :])
        copy_numbers(rows.data[p:stop], data[packed_values(packed, i) :])


def packed(rows: Csr) -> Packed:
    """The same rows, each in one piece."""
    n = len(rows.sq)
    entries = int(rows.indptr[n])
    half = rows.data.itemsize != rows.indices.itemsize
    memory = np.empty(entries + (entries + n + 1) // 2 + 1 if half else 2 * entries, rows.data.dtype)
    indices = memory.view(rows.indices.dtype)
    made = Packed(frozen(memory), frozen(indices), rows.indptr, rows.sq, rows.bias, rows.unit)
    fill(rows, indices, memory, made, n)
    return made
