r"""The halfspace with the fewest errors on tiny data, exactly, and the hinge loss beside it.

Every way of cutting points by a plane is reached from a plane *through* some of them: through d points that
span it, tilted a little so that these fall on the side one wants. So all such planes are tried. Points on a
plane beyond the d that span it need care: a tilt cuts them as a plane of one dimension less does, which is
the same problem again.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from .. import theory
from ..engine.intake import is_sparse
from ..estimators.maximum_margin import MaxMargin
from ._comparators import best_scale

__all__ = ["ErrorsAndHinge", "MinimumError", "errors_and_hinge", "minimum_error_halfspace"]

MOST_ROWS, MOST_FEATURES = 60, 3
ON_PLANE = 1e-10  # of the spread of the rows: nearer than this is on the plane


class MinimumError(NamedTuple):
    """The answer of :func:`minimum_error_halfspace`; unpacks as ``errors, w, b, wrong``."""

    errors: int  #: the fewest errors of any halfspace
    w: np.ndarray  #: one halfspace that makes so few ...
    b: float  #: ... is <w, x> + b > 0; no row lies on its boundary
    wrong: np.ndarray  #: rows on the wrong side of it


class ErrorsAndHinge(NamedTuple):
    """Errors and hinge loss side by side; see :func:`errors_and_hinge`."""

    errors: int  #: the fewest errors of any halfspace
    hinge: float  #: the smallest hinge sum of any (u, b)
    hinge_errors: int  #: errors of that (u, b), rows on the boundary included
    u: np.ndarray
    b: float
    bound: float  #: mistakes that the hinge bound allows a perceptron in one pass, for the best comparator

    def __str__(self) -> str:
        return (
            f"every halfspace errs on {self.errors} rows or more (found by trying all: in general this is "
            f"NP-hard); the best hinge sum is {self.hinge:.4g}, and its halfspace errs on "
            f"{self.hinge_errors}; the hinge bound allows a perceptron {self.bound:.4g} mistakes in a pass"
        )


def minimum_error_halfspace(X: Any, y: Any) -> MinimumError:
    r"""The fewest errors of any halfspace :math:`\langle w, x\rangle + b > 0`, and one that makes so few.

    For at most 60 rows and 3 features: all planes through d rows are tried, :math:`O(n^{d+1})`. In general
    the problem is NP-hard, already to do much better than a coin. Rows nearer to a plane than
    :math:`10^{-10}` of the spread of the data count as lying on it; the errors of the answer are recounted
    in exact arithmetic.

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
    points, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    up = np.bincount(place[signs < 0], minlength=len(points))
    down = np.bincount(place[signs > 0], minlength=len(points))
    w, b = _best(points, up, down)
    errors, wrong = _count(X, signs, w, b)
    return MinimumError(errors, w, b, wrong)


def errors_and_hinge(X: Any, y: Any) -> ErrorsAndHinge:
    r"""The fewest errors of any halfspace beside the smallest hinge sum, which stands in for them.

    With :math:`H(u, b) = \sum\max(0, 1 - y(\langle u, x\rangle + b))`, an error costs 1 or more, so for
    every (u, b)

    .. math:: \min \text{errors} \le \text{errors}(u, b) \le H(u, b).

    The left side is NP-hard, the least right side is a linear program. Beside them stands what the hinge
    bound allows a perceptron in one pass over the rows (x, 1), in any order:

    .. math:: M \le \min_u\, R^2\|u\|^2 + 2H(u),

    for u = 0 never more than 2n. Its minimum is a soft margin at the price :math:`1/R^2`.

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
    n, d = X.shape
    # unknowns: u, b, and what each row misses
    Z = signs[:, None] * np.hstack([X, np.ones((n, 1))])
    cost = np.append(np.zeros(d + 1), np.ones(n))
    limits = [(None, None)] * (d + 1) + [(0.0, None)] * n
    found: Any = optimize.linprog(cost, np.hstack([-Z, -np.eye(n)]), -np.ones(n), bounds=limits)
    u, b = found.x[:d], float(found.x[d])
    m = signs * (X @ u + b)
    missed = float(np.maximum(0.0, 1.0 - m).sum())
    return ErrorsAndHinge(fewest, missed, int((m <= 0.0).sum()), u, b, _hinge_bound(Z))


def _hinge_bound(Z: np.ndarray) -> float:
    r"""The least :math:`R^2\|u\|^2 + 2H(u)` over u, Z being the rows :math:`y(x, 1)`."""
    R = theory.radius(Z)
    # every row beside its opposite: both labels occur, and the hinge sum doubles
    both, labels = np.vstack([Z, -Z]), np.repeat([1, -1], len(Z))
    u = MaxMargin(C=0.5 / R**2, fit_intercept=False).fit(both, labels).coef_[0]
    m = Z @ u
    c = best_scale(m, R * float(np.linalg.norm(u)))
    return theory.hinge(R, c * float(np.linalg.norm(u)), float(np.maximum(0.0, 1.0 - c * m).sum()))


def _checked(X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)
    if X.ndim != 2 or not np.isfinite(X).all():
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


def _best(P: np.ndarray, up: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, float]:
    """(w, b) with the fewest errors; no point has <w, x> + b = 0.

    A point on the positive side costs ``up`` errors, one on the negative side ``down``: the rows there
    with the other label.
    """
    centre = P.mean(axis=0)
    _, sizes, axes = np.linalg.svd(P - centre, full_matrices=False)
    scale = float(np.abs(P - centre).max(initial=0.0))
    rank = int((sizes > ON_PLANE * scale * len(P)).sum())
    if rank == 0:  # all points are one: one side or the other
        return np.zeros(P.shape[1]), 1.0 if up.sum() <= down.sum() else -1.0
    basis = axes[:rank]
    Q = (P - centre) @ basis.T / scale  # they span all of this space
    v, c = _best_spanning(Q, up, down)
    w = v @ basis / scale
    return w, float(c - w @ centre)


def _best_spanning(Q: np.ndarray, up: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, float]:
    """The same for points that span their space."""
    normals, offsets = _planes(Q)
    values = normals @ Q.T + offsets[:, None]
    sides = np.where(np.abs(values) <= 10.0 * ON_PLANE, 0, np.sign(values)).astype(np.int8)
    sides, kept = np.unique(sides, axis=0, return_index=True)  # one plane may go through many points
    normals, offsets = normals[kept], offsets[kept]
    # each plane in its two directions: what it costs at least
    normals, offsets = np.vstack([normals, -normals]), np.append(offsets, -offsets)
    sides = np.vstack([sides, -sides])
    least = (sides > 0) @ up + (sides < 0) @ down + (sides == 0) @ np.minimum(up, down)
    fewest, answer = int(up.sum() + down.sum()) + 1, (np.zeros(Q.shape[1]), 1.0)
    for i in np.argsort(least, kind="stable"):
        if least[i] >= fewest:
            break
        on = sides[i] == 0
        # points on the plane: cut as by a plane of one dimension less
        g, h = _best(Q[on], up[on], down[on])
        w, b = _tilted(normals[i], offsets[i], g, h, Q, on)
        side = Q @ w + b
        errors = int(up[side >= 0.0].sum() + down[side < 0.0].sum())
        if errors < fewest:
            fewest, answer = errors, (w, b)
    return answer


def _planes(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals and offsets of all planes through d points that span one."""
    n, d = Q.shape
    if d == 1:
        return np.ones((n, 1)), -Q[:, 0]
    chosen = np.array(list(itertools.combinations(range(n), d)))
    first = Q[chosen[:, 0]]
    edges = Q[chosen[:, 1:]] - first[:, None, :]
    if d == 2:
        normals = np.stack([-edges[:, 0, 1], edges[:, 0, 0]], axis=1)
    else:
        normals = np.cross(edges[:, 0], edges[:, 1])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > ON_PLANE
    normals = normals[good] / lengths[good, None]
    return normals, -np.sum(normals * first[good], axis=1)


def _tilted(w, b, g, h, Q, on):
    """(w, b) + t (g, h), t > 0 so small that no point off the plane changes sides."""
    clear = np.abs(Q[~on] @ w + b).min(initial=np.inf)
    push = np.abs(Q @ g + h).max()
    t = min(1.0, clear / (2.0 * push)) if push > 0.0 else 1.0
    return w + t * g, b + t * h


def _count(X, y, w, b):
    """Rows that are not strictly on their side, in exact arithmetic."""
    exact = [Fraction(float(v)) for v in w]
    wrong = [
        i
        for i, (x, label) in enumerate(zip(X.tolist(), y))
        if int(label) * (sum((v * Fraction(a) for v, a in zip(exact, x)), Fraction(b))) <= 0
    ]
    return len(wrong), np.array(wrong, dtype=np.int64)
