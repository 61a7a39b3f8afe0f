"""Batches of a stream as one batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from .._sparse import CsrRows, is_sparse
from .records import Batch, StreamRows, Texts


def gathered(batches: Iterable[Batch]) -> Batch | None:
    """All rows in one batch; None where there are none. CSR rows are as wide as the widest of them."""
    found = list(batches)
    if not found:
        return None
    X = _stacked([batch.X for batch in found])
    y = [batch.y for batch in found if batch.y is not None]
    weights = [batch.weights for batch in found if batch.weights is not None]
    return Batch(
        X,
        np.concatenate(y) if y else None,
        np.concatenate(weights) if weights else None,
        found[0].first_row,
    )


def _stacked(parts: list[StreamRows]) -> StreamRows:
    if isinstance(parts[0], Texts):
        return _texts(cast("list[Texts]", parts))
    if not is_sparse(parts[0]):
        return np.concatenate(cast("list[np.ndarray]", parts))
    rows = cast("list[CsrRows]", parts)  # or SciPy's, with the same attributes
    entries = np.cumsum([0, *(part.nnz for part in rows)])
    starts = [part.indptr[:-1].astype(np.int64) + before for part, before in zip(rows, entries)]
    return CsrRows(
        np.concatenate([part.data[: part.nnz] for part in rows]),
        np.concatenate([part.indices[: part.nnz] for part in rows]),
        np.concatenate([*starts, entries[-1:]]),
        (sum(part.shape[0] for part in rows), max(part.shape[1] for part in rows)),
    )


def _texts(parts: list[Texts]) -> Texts:
    sizes = np.cumsum([0, *(len(part.buffer) for part in parts)])
    return Texts(
        np.concatenate([part.buffer for part in parts]),
        np.concatenate([part.starts + before for part, before in zip(parts, sizes)]),
        np.concatenate([part.stops + before for part, before in zip(parts, sizes)]),
    )
