r"""The space of weights, where every row is a half-space.

In the space of the rows w is a hyperplane, :math:`\{x : \langle w, x\rangle = 0\}`, and x is a point. In the
space of the weights it is the other way round: x is a hyperplane, :math:`\{w : \langle w, x\rangle = 0\}`,
and w is a point. Where x is on the side of w that its label y names, w is in the half-space
:math:`\{w : y\langle w, x\rangle > 0\}`. Where w separates all rows, it is in all their half-spaces.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from .._sparse import is_sparse
from .._types import Matrix, MatrixLike
from ..core import checks
from ..theory import _rational as rational
from ..theory import weighted_rows
from ..theory.separability import Separability
from . import _cones as cones
from ._gordan import with_column
from .linear_separability import separability

__all__ = ["WeightSpace", "weight_space"]

MOST = 3  # dimensions in which the cone is computed
MOST_EXACT = 6  # dimensions in which the optimum is computed without rounding


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightSpace:
    r"""Two classes of rows as half-spaces of the space of weights; see :func:`weight_space`.

    Attributes
    ----------
    normals : ndarray or CSR array of shape (m, D)
        :math:`y_ix_i`, with the constant coordinate :math:`y_i` last if ``fit_intercept``. Half-space i is
        :math:`\{w : \langle n_i, w\rangle > 0\}`, with a ``margin``
        :math:`\{w : \langle n_i, w\rangle \ge c_i\}`.
    offsets : ndarray of shape (m,)
        :math:`c_i`: 0, or the margin.
    dimension : int
        D.
    fit_intercept : bool
        Whether the last coordinate of w is the offset b.
    margin : float or None
        As it was given.
    empty : bool or None
        Whether no w is in all half-spaces. Decided exactly; None where D > 3 and ``separability`` is
        undecided.
    rays : ndarray of shape (k, D) or None
        The closed cone :math:`\{w : \langle n_i, w\rangle \ge 0\}` is all non-negative combinations of these
        vectors of length 1, and none can be left out: its extreme rays. Of a cone that contains a line,
        such as a half-plane, both directions of the line are among them. In the plane they are in
        counter-clockwise order. Found without rounding; their coordinates are then rounded. None if D > 3.
    facets : ndarray of int or None
        Rows whose hyperplane bounds the cone; of parallel rows all. None of them where the cone is empty.
        None if D > 3.
    optimum : ndarray of shape (D,) or None
        With a ``margin``: the w of the maximum margin, that is the shortest in all half-spaces. With
        ``fit_intercept`` b does not count in the length. None without a margin, or where the cone is empty,
        or where floats do not reach.
    exact_optimum : tuple of Fraction or None
        The same without rounding, where D ≤ 6. In more dimensions the optimum is what
        :class:`perceptrons.MaxMargin` finds in floats.
    support : ndarray of int or None
        Rows that determine the optimum: those with a positive multiplier.
    separability : Separability or None
        The verdict with its proof: a separator, or weights on rows that prove that the cone is empty. None if
        there are no rows.
    """

    normals: Matrix
    offsets: np.ndarray
    dimension: int
    fit_intercept: bool
    margin: float | None
    empty: bool | None
    rays: np.ndarray | None
    facets: np.ndarray | None
    optimum: np.ndarray | None
    exact_optimum: tuple[Fraction, ...] | None
    support: np.ndarray | None
    separability: Separability | None

    def contains(self, w: npt.ArrayLike) -> Any:
        """Whether w is in all half-spaces; decided without rounding.

        Parameters
        ----------
        w : array-like of shape (D,) or (k, D)

        Returns
        -------
        bool, or ndarray of shape (k,)
        """
        points = np.asarray(w, dtype=np.float64)
        if points.ndim not in (1, 2) or points.shape[-1] != self.dimension:
            raise ValueError(
                f"w must have {self.dimension} coordinates; got an array of shape {points.shape}."
            )
        if points.ndim == 2:
            return np.array([self._contains(point) for point in points], dtype=bool)
        return self._contains(points)

    def _contains(self, w: np.ndarray) -> bool:
        if not np.isfinite(w).all():
            return False
        with np.errstate(all="ignore"):
            rows: Any = self.normals if self.normals.dtype != object else self.normals.astype(float)
            values = np.asarray(rows @ w, float).ravel()
            reach = np.asarray(abs(rows) @ np.abs(w), float).ravel() + abs(self.offsets)
            error = (self.dimension + 4) * 2.0**-52 * reach + 1e-300
            clear, out = values - self.offsets > error, values - self.offsets < -error
        if out.any():
            return False
        exact = [Fraction(x) for x in w.tolist()]
        strict = self.margin is None
        for i in np.flatnonzero(~clear).tolist():
            found = sum((Fraction(a) * b for a, b in zip(self._row(i), exact) if a), start=Fraction(0))
            lack = Fraction(float(self.offsets[i])) - found
            if lack > 0 or (strict and lack == 0):
                return False
        return True

    def _row(self, i: int) -> list[Any]:
        row = self.normals[[i]]
        return list((row.toarray() if is_sparse(row) else row)[0].tolist())

    def __str__(self) -> str:
        m = self.normals.shape[0]
        where = f"{m} half-spaces in {self.dimension} dimensions"
        if self.empty is None:
            return f"{where}; whether they have a point in common is not decided"
        if self.empty:
            proof = "" if self.separability is None else f" ({self.separability.reason})"
            return f"{where} have no point in common{proof}"
        if self.rays is None or self.facets is None:
            return f"{where} have points in common"
        few = ", ".join(map(str, self.facets[:10].tolist())) + (", ..." if len(self.facets) > 10 else "")
        return f"{where} have a cone in common, bounded by {f'rows {few}' if few else 'no row'}"


def weight_space(
    X: MatrixLike, y: npt.ArrayLike, fit_intercept: bool = False, margin: float | None = None
) -> WeightSpace:
    r"""Every row as a half-space of the weights w, and what all half-spaces have in common.

    w separates the rows exactly if it is in every half-space :math:`\{w : y_i\langle w, x_i\rangle > 0\}`.
    Together they form an open cone, or nothing. In up to three dimensions of w the cone is found exactly,
    whatever the scale of the rows, as its extreme rays; in more dimensions there are the half-spaces, the
    optimum and the verdict of :func:`perceptrons.separability`.

    With a margin c the half-spaces are moved away from 0: :math:`\{w : y_i\langle w, x_i\rangle \ge c\}`,
    and the shortest w in all of them is that of the maximum margin, :math:`c/\|w\|`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        One or two labels; the larger one is the positive side.
    fit_intercept : bool, default=False
        Append a constant coordinate 1 to the rows. Its weight b is the last coordinate of w.
    margin : float or None, default=None
        c > 0; 1 is the usual choice.

    Returns
    -------
    WeightSpace

    Examples
    --------
    Two of the four points bound the cone:

    >>> from perceptrons import datasets
    >>> X, y, *_ = datasets.four_points()
    >>> space = weight_space(X, y)
    >>> space.facets, space.contains([2, 1]), space.contains([1, 2])
    (array([0, 3]), True, False)
    >>> print(space)
    4 half-spaces in 2 dimensions have a cone in common, bounded by rows 0, 3

    The widest slab between the classes, with a free offset b:

    >>> X, y, *_ = datasets.slab_points()
    >>> space = weight_space(X, y, fit_intercept=True, margin=1)
    >>> [str(x) for x in space.exact_optimum]  # w1, w2, b
    ['1/17', '4/17', '-1/17']

    No w is right on all rows of XOR, and four weights prove it:

    >>> X, y, *_ = datasets.xor()
    >>> space = weight_space(X, y, fit_intercept=True)
    >>> space.empty, space.separability.weights
    (True, array([0.25, 0.25, 0.25, 0.25]))
    """
    fit_intercept = checks.flag("fit_intercept", fit_intercept)
    if margin is not None:
        margin = checks.positive("margin", margin)
    rows, signs = weighted_rows.as_rows(X), weighted_rows.signs(y)
    if rows.shape[0] != signs.size:
        raise ValueError(f"X has {rows.shape[0]} rows, y has {signs.size} labels.")
    proof = separability(X, y, fit_intercept=fit_intercept) if signs.size else None
    normals = _normals(rows, signs, fit_intercept)
    D = int(normals.shape[1])
    empty = None if proof is None or proof.verdict == "undecided" else proof.verdict == "not separable"
    rays = facets = optimum = exact = support = None
    if D <= MOST:
        dense = np.asarray(normals.toarray() if is_sparse(normals) else normals)
        vectors = [tuple(int(k) for k in row) for row in rational.whole(dense, axis=1)[0].tolist()]
        cone = cones.cone(vectors, D)
        inside = cone.inside() or (0,) * D
        empty = not all(cones.dot(z, inside) > 0 for z in vectors)
        rays = np.array([cones.unit(v) for v in cones.in_order(cone)]).reshape(-1, D)
        facets = np.array([] if empty else cones.facets(cone, vectors, D), dtype=np.int64)
    if margin is not None and not empty:
        optimum, exact, support = _optimum(normals, signs, fit_intercept, margin)
    return WeightSpace(
        normals=normals,
        offsets=np.full(signs.size, 0.0 if margin is None else margin),
        dimension=D,
        fit_intercept=fit_intercept,
        margin=margin,
        empty=empty,
        rays=rays,
        facets=facets,
        optimum=optimum,
        exact_optimum=exact,
        support=support,
        separability=proof,
    )


def _normals(rows: Matrix, signs: np.ndarray, fit_intercept: bool) -> Matrix:
    """y x, or y (x, 1), as exact as the rows."""
    if is_sparse(rows):
        if fit_intercept:
            rows = sparse.csr_array(with_column(rows, 1))
        made = sparse.csr_array(rows, copy=True)
        line = np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))
        made.data = made.data * signs.astype(made.dtype)[line]
        return made
    whole = signs.astype(np.int64).astype(object) if rows.dtype == object else signs
    made = rows * whole[:, None] + 0  # -0 becomes 0
    return np.column_stack([made, whole]) if fit_intercept else made


def _optimum(
    normals: Matrix, signs: np.ndarray, free: bool, margin: float
) -> tuple[np.ndarray | None, tuple[Fraction, ...] | None, np.ndarray | None]:
    """The shortest w with <n, w> >= margin, as floats and as fractions, and the rows that determine it."""
    D = int(normals.shape[1])
    if not signs.size or (free and len(np.unique(signs)) == 1):  # b alone does it
        w = np.zeros(D)
        w[-1] += margin * signs[0] if signs.size else 0.0
        return w, tuple(map(Fraction, w.tolist())), np.zeros(0, np.int64)
    if D <= MOST_EXACT:
        dense = np.asarray(normals.toarray() if is_sparse(normals) else normals)
        rows = [[Fraction(x) for x in row[: D - free]] for row in dense.tolist()]
        found = cones.shortest(rows, [int(s) for s in signs], Fraction(margin), free)
        if found is not None:
            exact = tuple(found[0])
            try:
                w = np.array([float(x) for x in exact])
            except OverflowError:
                return None, exact, np.array(found[1])
            return w, exact, np.array(found[1])
    return _by_solver(normals, signs, free, margin)


def _by_solver(
    normals: Matrix, signs: np.ndarray, free: bool, margin: float
) -> tuple[np.ndarray | None, None, np.ndarray | None]:
    from ..estimators.maximum_margin import MaxMargin

    n = len(signs)
    rows: Any = normals if normals.dtype != object else normals.astype(float)
    if free:
        rows = rows[:, :-1]
        rows = sparse.diags_array(signs) @ rows if is_sparse(rows) else signs[:, None] * rows
        labels = signs
    else:  # every row beside its opposite: both labels occur
        rows = sparse.vstack([rows, -rows], format="csr") if is_sparse(rows) else np.vstack([rows, -rows])
        labels = np.repeat([1.0, -1.0], n)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = MaxMargin(fit_intercept=free).fit(rows, labels)
        except (ValueError, ArithmeticError):  # nothing separates, or rows out of its range
            return None, None, None
    w = np.append(model.coef_[0], model.intercept_[0]) if free else model.coef_[0]
    if not model.margin_ > 0.0 or not np.isfinite(w).all():
        return None, None, None
    lowest = float(np.min(labels * model.decision_function(rows)))
    if not (math.isfinite(lowest) and lowest > 0.0):
        return None, None, None
    return w * (margin / lowest), None, np.unique(np.asarray(model.support_, np.int64) % n)
