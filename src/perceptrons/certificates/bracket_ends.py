r"""Both ends of the bracket around the best margin :math:`\gamma^*`, true whatever was rounded on the way.

For any w, :math:`\gamma^* \ge \min_i (y_i\langle w, x_i\rangle - \rho_i)/\|w\|` if
:math:`\rho_i` bounds the rounding of the product. For any :math:`\alpha \ge 0` on the rows,
:math:`\gamma^* \le \|\sum\alpha_i y_i x_i\|/\sum\alpha_i`: sum the inequalities
:math:`y_i\langle u, x_i\rangle \ge \gamma^*` with these weights. Prototypes learned together have the same
with differences of two classes' features, so each weight names a rival; rows of length 1 have
:math:`\sum\alpha_i\|x_i\|` below; where the constant coordinate is no part of any length, each class is
given half of the weight, so that the offset cancels.

Floats come first. Rows whose rounding matters are looked at again in fractions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._sparse import is_sparse
from ..theory.enclosed import ZERO
from ..theory.gram_error import EPS, TINY

if TYPE_CHECKING:
    from .evidence import Evidence

#: So many rows are looked at again in fractions, where rounding leaves a doubt.
EXACT_ROWS = 1_000
#: So many entries of rows are summed in fractions for an upper end, and so many rows of a kernel.
EXACT_ENTRIES, EXACT_SUPPORT = 200_000, 150
#: Rounding of this size, relatively, is left alone.
SMALL = 1e-10


class RowWeights(NamedTuple):
    """Weights of at least 0 on rows, which prove an upper end."""

    rows: np.ndarray
    alpha: np.ndarray
    rivals: np.ndarray | None = None  #: the class each weight is against, of prototypes learned together


def exponent(a: np.ndarray) -> int:
    """The power of two that makes the largest entry lie between 1/2 and 1.

    >>> exponent(np.array([3.0, -4.0])), exponent(np.zeros(2))
    (3, 0)
    """
    return math.frexp(float(np.max(np.abs(a), initial=0.0)))[1]


# ------------------------------------------------------------------------------------------ lower end


def margins(e: Evidence, name: str, part: int) -> tuple[np.ndarray, np.ndarray, int]:
    """y<w, x> of every row and a bound on its rounding error, both to be multiplied by a power of two."""
    S, power, errors = e.scaled_scores[name]
    m = e.leads(S, part)
    twice = 2.0 if e.problem == "joint" else 1.0
    v = e.vectors[name]
    if v.weights is None:
        error = errors.max(axis=1) if e.problem == "joint" else errors[:, part]
        return m, 2.0 * twice * error, power
    n = e.n_terms
    w = np.ldexp(v.weights, -exponent(v.weights))
    size = float(np.linalg.norm(w if e.problem == "joint" else w[part])) * (1.0 + (n + 4) * EPS)
    lengths = e.scaled_lengths * (1.0 + e.stretch) + math.sqrt(n) * 2.0**-500
    if e.space.free:
        lengths = np.hypot(lengths, e.scaled_bias)
    error = (n + 6) * (EPS * size * lengths + TINY)
    if e.space.unit:
        error = error / np.where(e.scaled_lengths > 0.0, e.scaled_lengths, 1.0) + 4.0 * EPS * np.abs(m)
        error = error + e.stretch * np.abs(m)
    return m, twice * error, power


def norm_above(e: Evidence, name: str, part: int) -> float:
    """The length of a vector, rounded up, in the units of its margins."""
    v, order = e.vectors[name], e.space.order
    if v.weights is None:
        squares, errors = e.squared_norms(name)
        column = slice(None) if e.problem == "joint" else slice(part, part + 1)
        return math.sqrt(max(0.0, float((squares + errors)[column].sum()))) * (1.0 + (len(squares) + 8) * EPS)
    w = np.ldexp(v.weights, -exponent(v.weights))
    w = w if e.problem == "joint" else w[part]
    w = np.abs(w[..., :-1] if e.space.free else w).ravel()
    stretch: float = 1.0 + (w.size + 64) * EPS
    if order == 2.0:
        return float(np.linalg.norm(w)) * stretch + TINY
    if order == 1.0:
        return float(w.sum()) * stretch
    return float((w**order).sum() ** (1.0 / order)) * stretch + TINY


def low(e: Evidence, name: str, part: int) -> float:
    """The geometric margin of a vector on the sample, rounded down; -inf where it does not separate."""
    with np.errstate(all="ignore"):  # what is not a number fails every comparison
        m, error, _ = margins(e, name, part)
        norm = norm_above(e, name, part)
        if not len(m) or np.any(m + error <= 0.0):
            return -math.inf
        sure = m - error > 0.0
        if not np.all(sure) and not _positive(e, name, part, np.flatnonzero(~sure)):
            return -math.inf
        nearest = float(np.min(m + error))
        least = np.flatnonzero(~(m - error > nearest))  # one of these has the least margin
        worst = float(np.min(m - error))
        rough = not np.all(sure) or not float(np.max(error[least])) <= SMALL * worst
        if (rough or not norm > 0.0) and e.exact.possible and len(least) <= EXACT_ROWS:
            return e.exact.low(name, part, least.tolist())
        if not (worst > 0.0 and 0.0 < norm < math.inf):
            return -math.inf
        unit = e.space.unit
        value = worst / norm * (1.0 - 4.0 * EPS)
        value = math.ldexp(value, 0 if unit else e.shift) * (1.0 - EPS)
        return max(0.0, math.nextafter(value, -math.inf))  # it may be a denormal number


def _positive(e: Evidence, name: str, part: int, rows: np.ndarray) -> bool:
    """Whether some rows are on their side, in fractions."""
    if not e.exact.possible or len(rows) > EXACT_ROWS:
        return False
    return all(e.exact.margin(name, i, part).low > 0 for i in rows.tolist())


def low_holds(e: Evidence, name: str, part: int, claimed: float) -> bool:
    """Whether every row has a geometric margin of ``claimed`` or more; in fractions where it is close."""
    with np.errstate(all="ignore"):
        m, error, _ = margins(e, name, part)
        asked = math.ldexp(claimed, 0 if e.space.unit else -e.shift) * norm_above(e, name, part)
        doubtful = np.flatnonzero(~(m - error >= asked * (1.0 + 4.0 * EPS) + TINY))
        if not len(doubtful):
            return True
        if not e.exact.possible or len(doubtful) > EXACT_ROWS:
            return False
        return e.exact.low_holds(name, part, claimed, doubtful.tolist())


def on_boundary(e: Evidence, name: str, part: int) -> int:
    """How many rows have y<w, x> = 0, exactly; ValueError where too many are in doubt."""
    v = e.vectors[name]
    if v.weights is not None and not np.any(v.weights[part]):
        return e.n_rows
    with np.errstate(all="ignore"):
        m, error, _ = margins(e, name, part)
    zero = e.scaled_lengths == 0.0 if not e.space.free else np.zeros(e.n_rows, dtype=bool)
    doubtful = np.flatnonzero(~zero & ~(np.abs(m) > error))
    if not e.exact.possible or len(doubtful) > EXACT_ROWS:
        raise ValueError(f"{len(doubtful)} rows may be on the boundary")
    return int(zero.sum()) + sum(e.exact.margin(name, i, part) == ZERO for i in doubtful.tolist())


# ------------------------------------------------------------------------------------------ upper end


def up(e: Evidence, weights: RowWeights, part: int) -> float:
    """No separator has a margin above this; inf where the weights prove nothing."""
    with np.errstate(all="ignore"):
        above, rough = _up(e, weights, part)
        if not rough:
            return above
        k = len(weights.rows)
        if e.space.kernel is not None:
            small = k <= EXACT_SUPPORT
        else:
            entries = e.X[weights.rows].nnz if is_sparse(e.X) else k * e.n_features
            small = entries <= EXACT_ENTRIES
        if small and e.exact.possible:
            return e.exact.up(weights, part)
        return above


def up_holds(e: Evidence, weights: RowWeights, part: int, claimed: float) -> bool:
    """Whether the weights prove that no margin is above ``claimed``."""
    if up(e, weights, part) <= claimed:
        return True
    return e.exact.possible and e.exact.up(weights, part) <= claimed


def _up(e: Evidence, weights: RowWeights, part: int) -> tuple[float, bool]:
    """The upper end in floats, and whether rounding is a noticeable part of it."""
    rows, alpha = weights.rows, np.ldexp(weights.alpha, -exponent(weights.alpha))
    rows, where = np.unique(rows, return_inverse=True)
    C, mass = _coefficients(e, weights, rows, where, alpha, part)
    if not mass > 0.0:
        return math.inf, False
    k = len(rows) + e.n_classes + 8
    if e.space.kernel is not None:
        square, error = (float(found.sum()) for found in kernel_squares(e, rows, C))
        error = error + 4.0 * k * EPS * (abs(square) + error)
        above = math.sqrt(max(0.0, square + error)) / mass * (1.0 + 8.0 * EPS)
        unknown = not math.isfinite(above) or square + error < 0.0
        return math.inf if unknown else above, unknown or not error <= SMALL * square
    part_rows = e.scaled_rows[rows]
    s = np.asarray(part_rows.T @ C.T, dtype=float)
    size = np.asarray(abs(part_rows).T @ np.abs(C).T, dtype=float)
    constant = 0.0 if e.space.free else e.scaled_bias
    s = np.vstack([s, constant * C.sum(axis=1)])
    size = np.vstack([size, constant * np.abs(C).sum(axis=1)])
    errors = 2.0 * k * (EPS * size + TINY)
    total, off = _dual_norm(np.abs(s), e.space.order), _dual_norm(errors, e.space.order)
    above = _dual_norm(np.abs(s) + errors, e.space.order) * (1.0 + (s.size + 64) * EPS) / mass
    above = math.nextafter(math.ldexp(above, 0 if e.space.unit else e.shift) * (1.0 + 4.0 * EPS), math.inf)
    if not math.isfinite(above):
        return math.inf, True
    return above, not off <= SMALL * total


def _coefficients(
    e: Evidence, weights: RowWeights, rows: np.ndarray, where: np.ndarray, alpha: np.ndarray, part: int
) -> tuple[np.ndarray, float]:
    """(columns, distinct rows) of what is summed, and the sum of the weights, rounded down."""
    shrink = 1.0 - (len(alpha) + 8) * EPS
    if e.problem == "joint":
        assert weights.rivals is not None
        C = np.zeros((e.n_classes, len(rows)))
        np.add.at(C, (e.codes[weights.rows], where), alpha)
        np.add.at(C, (weights.rivals, where), -alpha)
        mass = alpha
    else:
        mass = np.zeros(len(rows))
        np.add.at(mass, where, alpha)
        signs = e.signs(part)[rows]
        if e.space.free and e.space.bias > 0.0:
            sides = [mass[signs > 0.0].sum(), mass[signs < 0.0].sum()]
            if not min(sides) > 0.0:
                return np.zeros((1, len(rows))), 0.0
            C = mass / np.where(signs > 0.0, 2.0 * sides[0], 2.0 * sides[1]) * signs
            return C[None, :], 1.0
        C = (mass * signs)[None, :]
    if e.space.unit:
        lengths = e.scaled_lengths[rows] if e.problem != "joint" else e.scaled_lengths[weights.rows]
        mass = mass * lengths * (1.0 - e.stretch)
    return C, float(mass.sum()) * shrink


def _dual_norm(a: np.ndarray, order: float) -> float:
    """The norm that is dual to the one of the separators."""
    most = float(np.max(a, initial=0.0))  # squares of small entries would vanish
    if order == 1.0 or not most > 0.0:
        return most
    if order == 2.0:
        return most * float(np.linalg.norm(a / most))
    p = order / (order - 1.0)
    return most * float(((a / most) ** p).sum() ** (1.0 / p))


def kernel_squares(e: Evidence, rows: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The squared lengths of combinations of rows, one a line of C, and bounds on their errors."""
    if not len(rows):
        return np.zeros(len(C)), np.zeros(len(C))
    K = e.bounded_kernel(rows, rows)
    size = np.abs(C)
    squares = np.sum((C @ K.value) * C, axis=1)
    terms = np.sum((size @ np.abs(K.value)) * size, axis=1)
    return squares, np.sum((size @ K.error) * size, axis=1) * 1.01 + 4.0 * (len(rows) + 4) * EPS * terms
