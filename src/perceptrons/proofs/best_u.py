r"""The comparator with the smallest hinge bound, for data of any size.

Any vector u bounds the mistakes of a perceptron in one pass, by :math:`M \le R^2\|u\|^2 + 2H(u)` with
:math:`H(u) = \sum\max(0, 1 - y\langle u, x\rangle)`. The least of these bounds is a convex problem, a soft
margin at the price :math:`1/R^2`. A solver finds u in floats; what is stated about it is computed again and
rounded outwards, and the multipliers of the solver prove how far any other u could go below.
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
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .. import theory
from .._sparse import is_sparse
from .._types import Matrix, MatrixLike
from ..core import checks
from ..theory import _outward as outward
from ..theory import _rational as rational
from ..theory import weighted_rows
from ..theory.triviality import SAYS_NOTHING, says_nothing
from . import _above as above
from ._comparators import best_scale
from ._gordan import with_column
from ._tables import up as rounded_up

__all__ = ["Comparator", "best_comparator"]

TOL = 1e-5  # relative gap of the solver: a smaller one takes long where rows are nearly parallel


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparator:
    r"""A vector u with a small hinge bound; see :func:`best_comparator`.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        The weights of the features in :math:`u = (w, b)`.
    b : float
        The weight of the constant coordinate 1; 0 without an intercept.
    norm2 : float
        :math:`\|u\|^2`, the constant coordinate included; rounded up.
    hinge : float
        :math:`H(u) = \sum_i\max(0, 1 - y_i\langle u, x_i\rangle)` over one pass; rounded up.
    radius : float
        R, the length of the longest row, the constant coordinate included; rounded up.
    objective : float
        At least :math:`R^2\|u\|^2 + 2H(u)`, which bounds the mistakes of a perceptron in one pass, in any
        order.
    bound : float
        The sharp form of that bound, :func:`perceptrons.theory.hinge_tight`; never above ``objective``.
    low : float
        No vector has a smaller :math:`R^2\|u\|^2 + 2H(u)`: proved by the multipliers of the solver.
    rows : int
        Rows of the pass. A perceptron makes at most so many mistakes anyway.
    fit_intercept : bool
        Whether the rows are (x, 1).
    """

    w: np.ndarray
    b: float
    norm2: float
    hinge: float
    radius: float
    objective: float
    bound: float
    low: float
    rows: int
    fit_intercept: bool

    @property
    def u(self) -> np.ndarray:
        """The whole vector: (w, b), or w without an intercept."""
        return np.append(self.w, self.b) if self.fit_intercept else self.w

    @property
    def bracket(self) -> tuple[float, float]:
        """(low, objective): the smallest objective of any vector lies between."""
        return self.low, self.objective

    def __str__(self) -> str:
        parts = f"R²‖u‖² + 2H = {rounded_up(self.radius**2 * self.norm2)} + 2·{rounded_up(self.hinge)}"
        if says_nothing(self.bound, self.rows):
            return f"{parts}; as a bound on the mistakes in {self.rows:,} rows it {SAYS_NOTHING}"
        most = math.floor(self.bound)
        return f"{parts}: at most {most:,} mistake{'s' * (most != 1)} in one pass over {self.rows:,} rows"


def best_comparator(
    X: MatrixLike, y: npt.ArrayLike, *, fit_intercept: bool = True, max_time: float = 60.0
) -> Comparator:
    r"""The u with the smallest hinge bound :math:`R^2\|u\|^2 + 2\sum\max(0, 1 - y\langle u, x\rangle)`.

    On separable rows of margin :math:`\gamma` it is at most :math:`R^2/\gamma^2`, Novikoff's bound; on others
    it weighs the length of u against what u misses. The bound holds for every order of the rows, in one pass
    from w = 0, on the rows (x, 1) or, without an intercept, x; rows are taken as float64. It is a soft
    margin, ``MaxMargin(C=1/R**2, fit_intercept=False)`` on these rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        One or two labels; the larger one is the positive side.
    fit_intercept : bool, default=True
        Append a constant coordinate 1 to the rows, which counts in R and in the length of u.
    max_time : float, default=60.0
        Seconds for the solver. What it has then is used; ``low`` and ``objective`` say how good it is.

    Returns
    -------
    Comparator

    Examples
    --------
    >>> from perceptrons import Perceptron, datasets
    >>> X, y, *_ = datasets.clouds_near()
    >>> best = best_comparator(X, y)
    >>> clf = Perceptron(max_iter=1, shuffle=False).fit(X, y)
    >>> clf.n_mistakes_ <= best.bound <= best.objective
    True
    >>> best.objective - best.low < 1e-3
    True

    On XOR no vector does better than u = 0, which allows more mistakes than there are rows:

    >>> X, y, *_ = datasets.xor()
    >>> print(best_comparator(X, y))
    R²‖u‖² + 2H = 0 + 2·4; as a bound on the mistakes in 4 rows it says nothing
    """
    fit_intercept = checks.flag("fit_intercept", fit_intercept)
    max_time = checks.positive("max_time", max_time)
    given = check_array(X, accept_sparse="csr", dtype=np.float64, estimator="best_comparator")
    y = column_or_1d(y)
    check_consistent_length(given, y)
    Z: Matrix = weighted_rows.as_rows(given)
    signs = weighted_rows.signs(y)
    if fit_intercept:
        Z = with_column(Z, 1.0)
    n = len(signs)
    R = above.radius(Z)
    if not (math.isfinite(R) and math.isfinite(R * R)):
        raise ValueError("The squares of the rows overflow. Scale the data.")
    found, alpha = _solved(Z, signs, R, max_time)
    zero = np.zeros(Z.shape[1])
    best = min((_stated(u, Z, signs, R) for u in (found, zero)), key=lambda stated: stated[3])
    u, norm2, hinge, objective = best
    bound = min(objective, theory.hinge_tight(R, above.norm(u), hinge))
    return Comparator(
        w=u[:-1] if fit_intercept else u,
        b=float(u[-1]) if fit_intercept else 0.0,
        norm2=norm2,
        hinge=hinge,
        radius=R,
        objective=objective,
        bound=bound,
        low=max(0.0, _low(alpha, Z, signs)),
        rows=n,
        fit_intercept=fit_intercept,
    )


def _stated(u: np.ndarray, Z: Matrix, signs: np.ndarray, R: float) -> tuple[np.ndarray, float, float, float]:
    """u, its squared length, its hinge sum and its objective, each rounded up."""
    length, hinge = above.norm(u), above.hinge_sum(u, Z, signs)
    if not (math.isfinite(length) and math.isfinite(hinge)):
        return u, math.inf, math.inf, math.inf
    return u, rational.above(Fraction(length) ** 2), hinge, theory.hinge(R, length, hinge)


def _solved(Z: Matrix, signs: np.ndarray, R: float, max_time: float) -> tuple[np.ndarray, np.ndarray]:
    """u, and multipliers from 0 to 1, one per row; zeros where the solver does not take the rows."""
    from ..estimators.maximum_margin import MaxMargin

    n, d = Z.shape
    nothing = np.zeros(d), np.zeros(n)
    if R == 0.0:
        return nothing
    rows: Any = Z / R
    labels, C = signs, 1.0
    if len(np.unique(signs)) == 1:  # every row beside its opposite: both labels occur, the hinge sum doubles
        rows = sparse.vstack([rows, -rows], format="csr") if is_sparse(rows) else np.vstack([rows, -rows])
        labels, C = np.concatenate([signs, -signs]), 0.5
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = MaxMargin(C=C, tol=TOL, fit_intercept=False, max_time=max_time).fit(rows, labels)
        except (ValueError, ArithmeticError):  # rows near the ends of the range: u = 0 has to do
            return nothing
        v = model.coef_[0]
        m = signs * np.asarray(Z @ (v / R), float).ravel()
        c = best_scale(m, float(np.linalg.norm(v))) if np.isfinite(m).all() else 1.0
        alpha = np.zeros(len(labels))
        alpha[np.asarray(model.support_)] = np.abs(np.asarray(model.dual_coef_, float)[0])
        alpha = np.minimum(alpha.reshape(-1, n).sum(axis=0), 1.0)
        u = c * v / R
    if not (np.isfinite(u).all() and np.isfinite(alpha).all()):
        return nothing
    return u, alpha


def _low(alpha: np.ndarray, Z: Matrix, signs: np.ndarray) -> float:
    r"""At most :math:`2\sum\alpha_i - \|\sum\alpha_iy_ix_i\|^2/R^2`; no u goes below, if all are in [0, 1].

    For every u, :math:`\max(0, 1 - m) \ge \alpha(1 - m)`, so :math:`R^2\|u\|^2 + 2H(u) \ge
    R^2\|u\|^2 - 2\langle u, s\rangle + 2\sum\alpha_i` with :math:`s = \sum\alpha_iy_ix_i`, and u = s/R² makes
    the right side smallest. A smaller R makes it smaller, so R is rounded down here.
    """
    R = float(np.max(outward.row_norms(Z), initial=0.0)) * (1.0 - (Z.shape[1] + 16) * 2.0 * rational.UNIT)
    mass = math.fsum(alpha)
    if not mass > 0.0 or not R > 0.0:
        return 2.0 * len(signs) if not outward.values(Z).any() else 0.0
    mean = outward.combined(alpha, Z, signs, False).high  # the length of s over the sum of the weights
    if not math.isfinite(mean):
        return 0.0
    least, most = Fraction(math.nextafter(mass, 0.0)), Fraction(math.nextafter(mass, math.inf))
    return rational.below(2 * least - (Fraction(mean) * most / Fraction(R)) ** 2)
