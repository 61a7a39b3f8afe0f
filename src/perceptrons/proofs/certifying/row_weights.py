r"""Weights on rows that a fitted learner has: each gives an upper end of the bracket.

Any weights of at least 0 prove :math:`\gamma^* \le \|\sum\alpha_i y_i x_i\|/\sum\alpha_i`, whatever
they come from: the steps of the run, the coefficients in the space of a kernel, the dual solution of a
solver, the weights of a proof that nothing separates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...certificates.bracket_ends import RowWeights
from ...estimators.risk import RiskDescent

if TYPE_CHECKING:
    from .case import Case


def offered(case: Case, r: int) -> Iterator[RowWeights]:
    """Everything there is for learner r, as weights on the rows of X."""
    for alpha in _tables(case, r):
        found = _weights(case, alpha, r)
        if found is not None:
            yield found


def _tables(case: Case, r: int) -> Iterator[np.ndarray]:
    """(rows,), or (rows, classes) for prototypes learned together, of the rows as the learner sees them."""
    steps = _row_steps(case, r)
    if steps is not None:
        yield steps
    if case.kernel is None and case.record.dual is not None:
        rows, coefficients = case.record.dual
        yield _signed(case, rows, coefficients[r], r)
    elif steps is None and case.updates is not None and "rule" in case.parameters and case.from_zero:
        rows, a = case.updates.coefficients(r)
        yield _signed(case, rows, a if case.problem == "joint" else a[0], r)
    if case.kernel is not None:
        for name in case.candidates:
            v = case.evidence.vectors[name]
            assert v.rows is not None and v.coefficients is not None
            yield _signed(case, v.rows, v.coefficients if case.problem == "joint" else v.coefficients[r], r)
    yield from case.duals.get(r, [])


def _row_steps(case: Case, r: int) -> np.ndarray | None:
    """The steps that the last ``fit`` took on each row, where they were kept and X has as many rows."""
    alpha = case.record.learners[r].steps
    if alpha is None:
        return None
    alpha = np.asarray(alpha, dtype=float)
    if case.learned_by(RiskDescent) and len(alpha) < case.n_rows:  # it ends with the last row of a step
        alpha = np.append(alpha, np.zeros(case.n_rows - len(alpha)))
    shape = (case.n_rows, len(case.record.classes)) if case.problem == "joint" else (case.n_rows,)
    return alpha if alpha.shape == shape else None


def _signed(case: Case, rows: np.ndarray, a: np.ndarray, r: int) -> np.ndarray:
    """Coefficients of rows as weights: what has the sign of its label, or what a rival has lost."""
    if case.problem != "joint":
        alpha = np.zeros(case.n_rows)
        alpha[rows] = np.maximum(0.0, a * case.signs(r)[rows])
        return alpha
    alpha = np.zeros((case.n_rows, len(a)))
    alpha[rows] = np.maximum(0.0, -a.T)
    alpha[np.arange(case.n_rows), case.codes] = 0.0
    return alpha


def _weights(case: Case, alpha: np.ndarray, r: int) -> RowWeights | None:
    """As weights on the rows of X; None where there is no weight."""
    e = case.evidence
    alpha = np.where(np.isfinite(alpha) & (alpha > 0.0), alpha, 0.0)
    if case.space.unit:  # the learner has seen rows of length 1
        alpha = _over_lengths(alpha, e.scaled_lengths)
    if alpha.ndim == 1:
        rows = np.flatnonzero(alpha)
        return RowWeights(rows, alpha[rows]) if len(rows) else None
    alpha[np.arange(len(alpha)), case.codes] = 0.0
    rows, rivals = np.nonzero(alpha)
    return RowWeights(rows, alpha[rows, rivals], rivals) if len(rows) else None


def _over_lengths(alpha: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Weights divided by the lengths of their rows, all by one power of 2, so that none overflows."""
    k, power = np.frexp(alpha)
    size, own = np.frexp(lengths if alpha.ndim == 1 else lengths[:, None])
    used = (k > 0.0) & (size > 0.0)
    power = np.where(used, power.astype(np.int64) - own, np.iinfo(np.int32).min)
    shift = max(int(np.max(power, initial=0)) - 900, 0)
    quotient = np.divide(k, size, out=np.zeros_like(alpha), where=used)
    return np.asarray(np.ldexp(quotient, np.maximum(power - shift, -5000).astype(np.int32)))
