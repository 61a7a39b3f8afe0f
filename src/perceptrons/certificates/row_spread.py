r"""The spread :math:`S = \sum xx^\top` of rows, which second-order bounds depend on.

A bound needs :math:`u^\top Su = \sum\langle u, x\rangle^2`, which the scores of u give, and
:math:`\ln\det(I + S/a)`, which needs the eigenvalues of S. They are those of the smaller of
:math:`X^\top X` and :math:`XX^\top`, for which the rows are read once, whatever the comparators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._sparse import is_sparse
from .._types import Matrix
from ..theory import gram
from .facts import ClaimFacts

LIMIT = 2000  # the spread of the rows is taken when rows or features are at most this many
BLOCK = 4096  # rows taken at a time


def spread_is_small(f: ClaimFacts) -> bool:
    """Whether the spread of the rows can be had in reasonable time."""
    e = f.evidence
    rows = len(f.updates.row) if f.updates is not None else e.n_rows
    return min(rows, e.n_features + 1) <= LIMIT


def spread_terms(f: ClaimFacts, part: int, v: str, a: float) -> tuple[float, float]:
    r"""The pair :math:`u^\top Su`, :math:`\ln\det(I + S/a)` of the rows updated on.

    Without a log all visits to all rows count: the bound only grows with S.
    """
    scores = f.evidence.scores[v][:, part]
    if f.updates is None:
        times, rows = float(f.run["visits"] or 1), None
        key: str | tuple[str, int] = "spread"
    else:
        times, rows = 1.0, f.updates.of(part).row
        key, scores = ("spread", part), scores[rows]
    if key not in f.evidence.memo:
        f.evidence.memo[key] = _eigenvalues(f, rows)
    logdet = float(np.log1p(f.evidence.memo[key] * (times / a)).sum())
    return times * float(scores @ scores), logdet


def _eigenvalues(f: ClaimFacts, rows: np.ndarray | None) -> np.ndarray:
    """Of S, those of 0 left out."""
    e = f.evidence
    n_rows = e.n_rows if rows is None else len(rows)
    if n_rows <= e.n_features + 1:
        part = _seen(f, np.arange(n_rows) if rows is None else rows)
        S = gram.dense(part @ part.T)
    else:
        S = np.zeros((e.n_features + 1, e.n_features + 1))
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            part = _seen(f, slice(start, stop) if rows is None else rows[start:stop])
            S += gram.dense(part.T @ part)
    return np.asarray(np.maximum(np.linalg.eigvalsh(S), 0.0))  # rounding may leave -1e-16


def _seen(f: ClaimFacts, rows: np.ndarray | slice) -> Matrix:
    """Rows as the learner reads them, the constant coordinate last."""
    e = f.evidence
    X: Matrix = e.X[rows]
    constant = np.full((X.shape[0], 1), e.space.bias)
    X = sparse.hstack([X, sparse.csr_array(constant)]).tocsr() if is_sparse(X) else np.hstack([X, constant])
    if e.space.unit:
        norms = np.sqrt(e.q[rows])
        by: Any = sparse.diags_array(1.0 / np.where(norms > 0.0, norms, 1.0))  # a product has CSR's type
        X = by @ X
    return X
