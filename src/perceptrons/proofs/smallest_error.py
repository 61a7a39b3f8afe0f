r"""The halfspace with the fewest errors on tiny data, exactly, and the hinge loss beside it.

Every way of cutting points by a plane is reached from a plane *through* some of them: through d points that
span it, tilted a little so that these fall on the side one wants. So all such planes are tried. Points on a
plane beyond the d that span it need care: a tilt cuts them as a plane of one dimension less does, which is
the same problem again. Rows are whole numbers times powers of 2, so all of this is done in whole numbers.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from .._sparse import is_sparse
from .._types import Matrix, MatrixLike
from ..estimators.maximum_margin import MaxMargin
from ..theory import _rational as rational
from ..theory import weighted_rows
from ..theory.triviality import SAYS_NOTHING, says_nothing
from . import _above as above
from ._comparators import best_scale
from ._tables import up as rounded_up
from .linear_separability import separability

__all__ = ["ErrorsAndHinge", "MinimumError", "errors_and_hinge", "minimum_error_halfspace"]

MOST_ROWS, MOST_FEATURES = 60, 3


class MinimumError(NamedTuple):
    """What :func:`minimum_error_halfspace` returns; unpacks as ``errors, w, b, wrong``."""

    errors: int  #: the fewest errors of any halfspace
    w: np.ndarray  #: one halfspace that makes so few ...
    b: float  #: ... is <w, x> + b > 0; no row lies on its boundary
    wrong: np.ndarray  #: rows on the wrong side of it


class ErrorsAndHinge(NamedTuple):
    """Errors and hinge loss side by side; see :func:`errors_and_hinge`."""

    errors: int  #: the fewest errors of any halfspace
    hinge: float  #: the hinge sum of (u, b), rounded up: the smallest one is at most this
    hinge_errors: int  #: errors of that (u, b), rows on the boundary included
    u: np.ndarray  #: found by a linear program in floats: near the best, where numbers are of ordinary size
    b: float
    bound: float  #: a perceptron makes at most so many mistakes in one pass; for the best comparator found
    rows: int  #: rows of a pass

    def __str__(self) -> str:
        allows = f"allows a perceptron at most {rounded_up(self.bound)} mistakes in a pass"
        if says_nothing(self.bound, self.rows):
            allows = f"{SAYS_NOTHING} about the mistakes of a perceptron in a pass"
        return (
            f"every halfspace errs on {self.errors} rows or more (found by trying all: in general this is "
            f"NP-hard); the best hinge sum found is {rounded_up(self.hinge)}, and its halfspace errs on "
            f"{self.hinge_errors}; the hinge bound {allows}"
        )


def minimum_error_halfspace(X: MatrixLike, y: npt.ArrayLike) -> MinimumError:
    r"""The fewest errors of any halfspace :math:`\langle w, x\rangle + b > 0`, and one that makes so few.

    For at most 60 rows and 3 features: all planes through d rows are tried, :math:`O(n^{d+1})`. In general
    the problem is NP-hard, already to do much better than a coin. The search and the count are in whole
    numbers: nothing is rounded but w and b at the end, and ValueError is raised if no floats were found that
    make so few errors.

    Parameters
    ----------
    X : array-like of shape (n, d), n ≤ 60, d ≤ 3
    y : array-like of shape (n,)
        One or two labels; the larger one is the positive side.

    Returns
    -------
    errors, w, b, wrong : MinimumError

    Examples
    --------
    One of the four corners of XOR is always wrong, and one is enough:

    >>> from perceptrons import datasets
    >>> X, y, *_ = datasets.xor()
    >>> errors, w, b, wrong = minimum_error_halfspace(X, y)
    >>> errors, len(wrong)
    (1, 1)

    On a line, one label in the middle of the others:

    >>> minimum_error_halfspace([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).errors
    1
    """
    X, signs = _checked(X, y)
    rows = np.asarray(weighted_rows.as_rows(X))
    k, _ = rational.whole(rows, axis=0)  # a power of 2 for each column changes nothing
    places: dict[tuple[int, ...], list[int]] = {}
    for i, point in enumerate(k.tolist()):
        places.setdefault(tuple(point), []).append(i)
    up = np.array([int((signs[at] < 0).sum()) for at in places.values()])
    down = np.array([int((signs[at] > 0).sum()) for at in places.values()])
    points = np.array([list(point) for point in places], dtype=object).reshape(len(places), rows.shape[1])
    fewest, v, c = _best(points, up, down)
    sides = np.array([sum((int(x) * t for x, t in zip(row, v)), start=c) > 0 for row in k.tolist()])
    for w, b in _separators(X, rows, sides):
        errors, wrong = _count(rows, signs, w, b)
        if errors == fewest:
            return MinimumError(errors, w, b, wrong)
    raise ValueError(
        f"The fewest errors are {fewest}, and no float64 weights were found that make so few: rows differ by "
        "too little beside their size. Move them nearer to 0."
    )


def _separators(X: Matrix, rows: np.ndarray, sides: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Halfspaces that may cut the rows in this way, the widest first."""
    if np.all(sides) or not np.any(sides):
        yield np.zeros(rows.shape[1]), 1.0 if sides[0] else -1.0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = MaxMargin().fit(rows.astype(float), sides)
            yield model.coef_[0], float(model.intercept_[0])
        except ValueError:  # rows near the ends of the range, or one float for two of them
            pass
    proof = separability(X, sides)
    if proof.w is not None and proof.b is not None:
        yield proof.w, proof.b


def errors_and_hinge(X: MatrixLike, y: npt.ArrayLike) -> ErrorsAndHinge:
    r"""The fewest errors of any halfspace beside the smallest hinge sum, which is minimised in their place.

    With :math:`H(u, b) = \sum\max(0, 1 - y(\langle u, x\rangle + b))`, an error costs 1 or more, so for
    every (u, b)

    .. math:: \min \text{errors} \le \text{errors}(u, b) \le H(u, b).

    The left side is NP-hard, the least right side is a linear program. The result also has what the hinge
    bound allows a perceptron in one pass over the rows (x, 1), in any order:

    .. math:: M \le \min_u\, R^2\|u\|^2 + 2H(u),

    for u = 0 never more than 2n. Its minimum is a soft margin at the price :math:`1/R^2`.

    (u, b) and the comparator are found in floats; ``hinge`` and ``bound`` are then taken from them again, in
    fractions, and rounded up. So both are true for the rows given, best or not.

    Parameters
    ----------
    X, y
        As in :func:`minimum_error_halfspace`.

    Returns
    -------
    ErrorsAndHinge

    Examples
    --------
    No (u, b) does better on XOR than 0, which misses 1 on each of the four rows:

    >>> from perceptrons import datasets
    >>> X, y, *_ = datasets.xor()
    >>> result = errors_and_hinge(X, y)
    >>> result.errors, round(result.hinge, 9), round(result.bound, 9)
    (1, 4.0, 8.0)
    """
    X, signs = _checked(X, y)
    fewest = minimum_error_halfspace(X, signs).errors
    rows = np.asarray(weighted_rows.as_rows(X))
    with np.errstate(all="ignore"):
        Z = np.hstack([rows.astype(float), np.ones((len(signs), 1))])  # integers that float64 rounds: below
        found = [v for v in (*_linear_program(Z, signs), np.zeros(Z.shape[1])) if np.all(np.isfinite(v))]
    exact = Z
    if rows.dtype == object:
        exact = np.hstack([rows, np.ones((len(signs), 1), dtype=object)])
    hinge, best = min(((above.hinge_sum(v, exact, signs), v) for v in found), key=lambda pair: pair[0])
    errors, _ = _count(rows, signs, best[:-1], float(best[-1]))
    bound = _hinge_bound(exact, Z, signs)
    return ErrorsAndHinge(fewest, hinge, errors, best[:-1], float(best[-1]), bound, len(signs))


def _linear_program(Z: np.ndarray, signs: np.ndarray) -> Iterator[np.ndarray]:
    """Weights of a small hinge sum on rows (x, 1), if floats find any."""
    n, d = Z.shape
    sizes = np.max(np.abs(Z), axis=0)
    powers = np.where(sizes > 0.0, np.frexp(sizes)[1], 0)  # each column in a unit of its own
    signed = signs[:, None] * np.ldexp(Z, -powers)
    cost = np.append(np.zeros(d), np.ones(n))  # unknowns: the weights, and what each row misses
    limits: list[tuple[float | None, None]] = [(None, None)] * d + [(0.0, None)] * n
    found = optimize.linprog(cost, np.hstack([-signed, -np.eye(n)]), -np.ones(n), bounds=limits)
    if found.x is not None:
        yield np.ldexp(found.x[:d], -powers)


def _hinge_bound(exact: np.ndarray, Z: np.ndarray, signs: np.ndarray) -> float:
    r"""At least the least :math:`R^2\|u\|^2 + 2H(u)` over u, for rows :math:`(x, 1)` and their floats Z."""
    R = above.radius(Z)  # integers beyond 2^53 are within a relative 2^-53 of Z: it is rounded up by more
    bounds = [2.0 * len(signs)]  # u = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            # every row beside its opposite: both labels occur, and the hinge sum doubles
            rows = signs[:, None] * Z
            both, labels = np.vstack([rows, -rows]), np.repeat([1, -1], len(rows))
            w = MaxMargin(C=0.5 * R**-2.0, fit_intercept=False).fit(both, labels).coef_[0]
            u = best_scale(rows @ w, R * float(np.linalg.norm(w))) * w
            bounds.append(above.hinge_bound(u, exact, signs, R))
        except (ValueError, OverflowError):  # rows near the ends of the range: u = 0 has to do
            pass
    return min(bounds)


def _checked(X: MatrixLike, y: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X.toarray() if is_sparse(X) else X)
    X = X if X.dtype.kind in "iuO" else X.astype(float)  # integers may be beyond 2^53
    if X.ndim != 2 or not np.isfinite(X.astype(float)).all():
        raise ValueError("X must be a matrix of finite numbers, one row per example.")
    n, d = X.shape
    if n > MOST_ROWS or d > MOST_FEATURES:
        raise ValueError(
            f"X must have at most {MOST_ROWS} rows and {MOST_FEATURES} features; got {n} x {d}. Finding the "
            "halfspace with the fewest errors is NP-hard in general. The hinge loss is what can be minimised "
            "instead: a soft margin, MaxMargin(C=1), or the hinge bound of a comparator, theory.hinge."
        )
    y = np.asarray(y).ravel()
    if len(y) != n or n == 0:
        raise ValueError(f"y must hold one label per row, and there must be rows; got {len(y)} for {n} rows.")
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(f"y must hold at most two labels; got {len(classes)}: {classes[:5]}.")
    if len(classes) == 1 and classes[0] in (-1, 0):
        return X, np.full(n, -1.0)
    return X, np.where(y == classes[-1], 1.0, -1.0)


def _best(P: np.ndarray, up: np.ndarray, down: np.ndarray) -> tuple[int, list[Fraction], Fraction]:
    """(fewest errors, w, b) for points of whole numbers; no point has <w, x> + b = 0.

    A point on the positive side costs ``up`` errors, one on the negative side ``down``: the rows there
    with the other label.
    """
    columns = _independent(P)
    w = [Fraction(0)] * P.shape[1]
    if not columns:  # all points are one: one side or the other
        cheap = min(int(up.sum()), int(down.sum()))
        return cheap, w, Fraction(1 if up.sum() <= down.sum() else -1)
    errors, v, c = _best_spanning(P[:, columns], up, down)  # the other columns follow from these
    for column, weight in zip(columns, v):
        w[column] = weight
    return errors, w, c


def _independent(P: np.ndarray) -> list[int]:
    """Columns that determine the others on the flat through the points, as many as its dimension."""
    rows = [[Fraction(int(v)) for v in row] for row in (P[1:] - P[0]).tolist()]
    columns: list[int] = []
    for j in range(P.shape[1]):
        pivot = next((row for row in rows if row[j]), None)
        if pivot is None:
            continue
        columns.append(j)
        rows = [
            [a - row[j] / pivot[j] * b for a, b in zip(row, pivot)] if row[j] else row
            for row in rows
            if row is not pivot
        ]
    return columns


def _best_spanning(Q: np.ndarray, up: np.ndarray, down: np.ndarray) -> tuple[int, list[Fraction], Fraction]:
    """The same for points that span their space."""
    origin = Q.min(axis=0)
    moved = Q = Q - origin  # shorter numbers
    if 3 * rational.longest(Q) + 8 <= rational.SHORT:
        Q = Q.astype(np.int64)
    normals, offsets = _planes(Q)
    values = normals @ Q.T + offsets[:, None]
    sides = (values > 0).astype(np.int8) - (values < 0).astype(np.int8)
    sides, kept = np.unique(sides, axis=0, return_index=True)  # one plane may go through many points
    normals, offsets, values = normals[kept], offsets[kept], values[kept]
    # each plane in its two directions: what it costs at least
    normals, offsets = np.vstack([normals, -normals]), np.append(offsets, -offsets)
    sides, values = np.vstack([sides, -sides]), np.vstack([values, -values])
    least = (sides > 0) @ up + (sides < 0) @ down + (sides == 0) @ np.minimum(up, down)
    best: tuple[int, list[Fraction], Fraction] = (int(up.sum() + down.sum()) + 1, [], Fraction(0))
    for i in np.argsort(least, kind="stable"):
        if least[i] >= best[0]:
            break
        on = sides[i] == 0
        # points on the plane: cut as by a plane of one dimension less
        more, g, h = _best(moved[on], up[on], down[on])
        errors = more + int(up[sides[i] > 0].sum() + down[sides[i] < 0].sum())
        if errors < best[0]:
            best = (errors, *_tilted(normals[i].tolist(), int(offsets[i]), g, h, moved.tolist(), values[i]))
    errors, w, b = best
    return errors, w, b - sum((v * int(m) for v, m in zip(w, origin)), start=Fraction(0))


def _planes(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals and offsets of all planes through d points that span one."""
    n, d = Q.shape
    if d == 1:
        return np.ones((n, 1), dtype=Q.dtype), -Q[:, 0]
    chosen = np.array(list(itertools.combinations(range(n), d)))
    first = Q[chosen[:, 0]]
    a = Q[chosen[:, 1]] - first
    if d == 2:
        normals = np.stack([-a[:, 1], a[:, 0]], axis=1)
    else:
        c = Q[chosen[:, 2]] - first
        pairs = ((1, 2), (2, 0), (0, 1))
        normals = np.stack([a[:, i] * c[:, j] - a[:, j] * c[:, i] for i, j in pairs], axis=1)
    good = np.any(normals != 0, axis=1)
    normals = normals[good]
    return normals, -(normals * first[good]).sum(axis=1)


def _tilted(
    w: list[int], b: int, g: list[Fraction], h: Fraction, Q: list[list[int]], values: np.ndarray
) -> tuple[list[Fraction], Fraction]:
    """(w, b) + t (g, h), t > 0 so small that no point off the plane changes sides."""
    clear = min((abs(int(v)) for v in values.tolist() if v), default=None)
    push = max(abs(sum((p * q for p, q in zip(g, point)), start=h)) for point in Q)
    t = Fraction(1) if clear is None or push == 0 else min(Fraction(1), Fraction(clear) / (2 * push))
    return [p + t * q for p, q in zip(w, g)], b + t * h


def _count(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> tuple[int, np.ndarray]:
    """Rows that are not strictly on their side, in exact arithmetic."""
    exact = [Fraction(float(v)) for v in w]
    wrong = [
        i
        for i, (x, label) in enumerate(zip(X.tolist(), y))
        if int(label) * (sum((v * Fraction(a) for v, a in zip(exact, x)), Fraction(b))) <= 0
    ]
    return len(wrong), np.array(wrong, dtype=np.int64)
