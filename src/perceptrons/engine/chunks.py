"""A pass in parts: Python handles signals between two of them, so that Ctrl-C takes effect.

The loops keep their scalars from call to call, so that a pass in parts makes the numbers of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows import Csr, Dense, Packed

if TYPE_CHECKING:
    from .spaces.protocol import Space

#: What a part may cost, in products of a number and a weight: about a tenth of a second.
LIMIT = 1 << 26
#: The same where the rows of a part are made before it is learned: they stay in the cache.
LIMIT_OF_TEXTS = 1 << 18


def cut(space: Space, rows: Any, order: np.ndarray) -> list[np.ndarray]:
    """``order`` in parts that take well under a second each; kernels work in blocks of their own."""
    n = len(rows.sq) if isinstance(rows, (Dense, Csr, Packed)) else 0
    if not n:
        return [order]
    ahead = space.of_texts and space.made_ahead
    limit = LIMIT_OF_TEXTS * space.columns if ahead else LIMIT
    entries = rows.X.shape[1] if isinstance(rows, Dense) else float(rows.indptr[-1]) / n
    if len(order) * space.row_cost(entries) <= limit:
        return [order]
    lengths = np.full(n, entries) if isinstance(rows, Dense) else np.diff(rows.indptr).astype(np.float64)
    total = np.cumsum(space.row_cost(lengths[order]))
    ends = np.unique(np.searchsorted(total, np.arange(limit, total[-1], limit), side="right"))
    return [part for part in np.split(order, ends) if len(part)]
