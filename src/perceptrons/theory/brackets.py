r"""Margins of given weights on a sample, and the bracket around the best margin.

:math:`\gamma_{low} \le \gamma^* \le \gamma_{up}`: :math:`\gamma^*` is the largest geometric margin
of any separator. *Any* weights give a lower bound and *any* weighting of the examples gives an
upper bound, whatever produced them; so a learner can be judged without being trusted. Both are rounded
outwards: they hold for the numbers given, whatever floating point does, also near the ends of its range.
Labels are −1 and +1; X is a dense array or a SciPy sparse matrix.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._sparse import as_floats
from .._types import Floats, Matrix, MatrixLike
from . import _arguments as arg
from . import _outward as outward

KINDS = ("functional", "geometric", "normalized")


class _Ends(NamedTuple):
    low: float | None
    up: float


class Bracket(_Ends):
    r"""low :math:`\le \gamma^* \le` up, a pair, with the space in which :math:`\gamma^*` is measured.

    It unpacks and compares as the pair (low, up); ``space`` is an attribute.

    Parameters
    ----------
    low : float or None
        Some separator has a margin of at least this; ``-inf``: none is known; None: rows were not read again.
    up : float
        No separator has a larger margin; ``inf``: nothing is known.
    space : str
        As :func:`margin_space` names it.

    Examples
    --------
    >>> bracket = Bracket(0.25, 0.5, "augmented rows")
    >>> low, up = bracket
    >>> bracket == (0.25, 0.5), bracket.space
    (True, 'augmented rows')
    >>> bracket
    Bracket(low=0.25, up=0.5, space='augmented rows')
    """

    space: str

    def __new__(cls, low: float | None, up: float, space: str = "") -> Self:
        made = super().__new__(cls, low, up)
        made.__dict__["space"] = space
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Bracket does not change; {name} cannot be assigned.")

    def __repr__(self) -> str:
        return f"Bracket(low={self.low!r}, up={self.up!r}, space={self.space!r})"

    def __reduce__(self) -> tuple[type[Self], tuple[float | None, float, str]]:
        return type(self), (self.low, self.up, self.space)

    def _replace(self, **changed: Any) -> Self:
        return type(self)(**{"low": self.low, "up": self.up, "space": self.space} | changed)


def margin_space(
    bias: float = 0.0,
    unit: bool = False,
    kernel: bool = False,
    free: bool = False,
    order: float = 2.0,
    joint: bool = False,
) -> str:
    r"""The space in which a margin is measured, in words.

    ``"given rows"``: distances from a hyperplane through the origin. ``"augmented rows"``: the same with a
    constant coordinate :math:`B` (``bias``) appended to each row, whose weight is part of :math:`\|w\|`.
    ``"unit rows"``: rows, with that coordinate, divided by their length. ``"free offset"``: distances of the
    rows as given from a hyperplane anywhere. ``"kernel"``: in the space of a kernel, ``"kernel, augmented"``
    where :math:`B^2` is added to it, ``"kernel, free offset"``. A norm of w that is not Euclidean is added
    (``"augmented rows, L1"``), and ``"joint"`` where prototypes of several classes are one vector.

    >>> margin_space(bias=1.0), margin_space(bias=1.0, free=True), margin_space(order=1.0)
    ('augmented rows', 'free offset', 'given rows, L1')
    """
    if kernel:
        words = ["kernel"] + (["free offset"] if free else ["augmented"] if bias else [])
    else:
        plain = "augmented rows" if bias else "given rows"
        words = ["free offset" if free else "unit rows" if unit else plain]
    words += [f"L{order:.4g}"] if order != 2.0 else []
    return ", ".join(words + ["joint"] * joint)


def radius(X: MatrixLike) -> float:
    r"""R, the largest :math:`\|x\|` of the rows; 0 if there are none.

    >>> radius(np.array([[3.0, 4.0], [1.0, 0.0]]))
    5.0
    """
    return float(np.max(outward.row_norms(_rows(X)), initial=0.0))


def sample_margins(
    w: npt.ArrayLike, X: MatrixLike, y: npt.ArrayLike, b: float = 0.0, kind: str = "functional"
) -> Floats:
    r"""The margin of every example under (w, b).

    ``"functional"``: :math:`y(\langle w, x\rangle + b)`; ``"geometric"``: divided by :math:`\|w\|`;
    ``"normalized"``: divided by :math:`\|w\|\|x\|`. An example on the boundary has margin 0 even
    where :math:`\|w\|` or :math:`\|x\|` is 0; any other value divided by 0 is infinite, with its
    sign (w = 0 and b = y, the separator of a single class, has margin ∞). For the margin in augmented
    space give the augmented X and w, and no b.

    >>> w, X, y = np.array([3.0, 4.0]), np.array([[1.0, 0.5], [0.0, -2.0]]), np.array([1, -1])
    >>> sample_margins(w, X, y)
    array([5., 8.])
    >>> sample_margins(w, X, y, kind="geometric")
    array([1. , 1.6])
    >>> sample_margins(w, X, y, kind="normalized").round(3)
    array([0.894, 0.8  ])
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got kind={kind!r}.")
    w, X, y = _weights(w), _rows(X), _labels(y)
    _same_shape(w, X, y)
    s = outward.scores(w, b, X)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if kind == "functional":
            return np.asarray(np.ldexp(y * s.values, s.e))
        c = outward.exponent(w)
        length = float(np.linalg.norm(np.ldexp(w, -c)))
        m = _divide(y * s.values, length)
        if kind == "geometric":
            return np.asarray(np.ldexp(m, s.e - c))
        lengths = outward.row_norms(X)
        k, power = np.frexp(lengths)
        return np.asarray(np.ldexp(_divide(m, k), s.e - c - power))


def gamma_low(
    w: npt.ArrayLike, X: MatrixLike, y: npt.ArrayLike, b: float = 0.0, free_bias: bool = False
) -> float:
    r"""A lower bound on :math:`\gamma^*`: the geometric margin of w.

    :math:`\min_i y_i(\langle w, x_i\rangle + b)/\|w\|`. ``free_bias=True`` takes the best b for w
    instead: :math:`(\min_+\langle w, x\rangle - \max_-\langle w, x\rangle)/(2\|w\|)`, and ``inf``
    for one class. w = 0 (and b = 0) proves nothing: ``-inf``. Not positive: w does not separate. Rounded
    down.

    >>> X, y = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([1, -1])
    >>> gamma_low([1.0, 0.0], X, y), gamma_low([1.0, 0.0], X, y, free_bias=True)
    (-1.0, 0.5)
    """
    w, X, y = _weights(w), _rows(X), _labels(y)
    if y.size == 0:
        raise ValueError("y must hold at least one label; got 0 labels.")
    _same_shape(w, X, y)
    if free_bias and np.all(y == y[0]):
        return math.inf
    if not (np.all(np.isfinite(w)) and math.isfinite(b)):
        return -math.inf
    return (outward.free_margin(w, X, y) if free_bias else outward.margin(w, b, X, y)).low


def gamma_up(w_norm: float, tau_sum: float) -> float:
    r"""An upper bound on :math:`\gamma^*` from the norm and the steps of any additive learner.

    :math:`\|w\|/\sum_i|a_i|`. For :math:`w = \sum a_i x_i` from :math:`w_0 = 0` with all
    :math:`y_i a_i \ge 0`: perceptron, margin perceptron, MIRA, PA, ROMMA, their averages;
    ``tau_sum`` is the sum of the steps (shrunk whenever w is), k for the perceptron. Then
    :math:`w/\sum|a_i|` is a weighting of the :math:`y_i x_i`. No step yet: ``inf``. No bias, or an
    augmented one.

    >>> gamma_up(w_norm=5, tau_sum=4)
    1.25
    """
    length, mass = arg.nonnegative("w_norm", w_norm), arg.nonnegative("tau_sum", tau_sum)
    found = arg.over(length, mass)
    if math.isfinite(found) and mass < math.inf and Fraction(found) * Fraction(mass) < Fraction(length):
        return math.nextafter(found, math.inf)
    return found


def gamma_up_free(w_norm: float, tau_sum: float, delta: float, radius: float) -> float:
    r"""An upper bound on the margin with a free offset, by a run with an intercept.

    :math:`(\|w\| + R_0|\Delta|)/(\sum\tau + |\Delta|)`, for :math:`w = \sum\tau yx` from 0 with steps
    :math:`\tau \ge 0`, :math:`\Delta = \sum\tau y` (the weight of the constant coordinate, over B) and
    rows of both classes, none longer than :math:`R_0`, all without that coordinate. For a separator u of
    length 1 with offset b and margin :math:`\gamma` on these rows :math:`|b| \le R_0 - \gamma`, so
    :math:`\gamma\sum\tau \le \langle u, w\rangle + b\Delta \le \|w\| + (R_0 - \gamma)|\Delta|`. Rows may be
    moved by any c: then :math:`\|w - c\Delta\|` and the longest :math:`\|x - c\|` may give less. No step yet:
    ``inf``. Rounded up.

    >>> gamma_up_free(w_norm=5, tau_sum=4, delta=-1, radius=10)
    3.0
    """
    length, mass = arg.nonnegative("w_norm", w_norm), arg.nonnegative("tau_sum", tau_sum)
    size, longest = arg.nonnegative("delta", abs(delta)), arg.nonnegative("radius", radius)
    if mass == 0.0:
        return math.inf
    exact = (Fraction(length) + Fraction(longest) * Fraction(size)) / (Fraction(mass) + Fraction(size))
    try:
        found = float(exact)
    except OverflowError:
        return math.inf
    return math.nextafter(found, math.inf) if Fraction(found) < exact else found


def gamma_up_from_weights(
    weights: npt.ArrayLike, X: MatrixLike, y: npt.ArrayLike, free_bias: bool = False
) -> float:
    r"""An upper bound on :math:`\gamma^*` from weights :math:`\lambda_i \ge 0` on the examples.

    :math:`\|\sum\lambda_i y_i x_i\|`. The weights are scaled to sum 1, or with ``free_bias=True``
    to ½ in each class. No weight (in a class): ``inf``. A value of 0 proves that the sample is not
    separable. Rounded up.

    >>> X, y = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([1, -1])
    >>> gamma_up_from_weights([1, 3], X, y), gamma_up_from_weights([1, 3], X, y, free_bias=True)
    (0.25, 0.5)
    """
    lam, X, y = np.asarray(weights, dtype=np.float64), _rows(X), _labels(y)
    if lam.shape != y.shape or X.shape[0] != y.size:
        raise ValueError(f"weights must hold one number per row; got {lam.size} for {X.shape[0]} rows.")
    if not np.all((lam >= 0.0) & np.isfinite(lam)):
        raise ValueError(f"weights must be non-negative numbers; got a smallest of {np.min(lam)!s}.")
    return outward.combined(lam, X, y, free_bias).high


def _rows(X: MatrixLike) -> Matrix:
    rows = as_floats(X)
    if rows.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {rows.ndim} dimension(s).")
    return rows


def _weights(w: npt.ArrayLike) -> Floats:
    return np.asarray(w, dtype=float).ravel()


def _labels(y: npt.ArrayLike) -> Floats:
    y = np.asarray(y, dtype=float).ravel()
    if not np.all(np.abs(y) == 1.0):
        raise ValueError("y must hold labels -1 and +1 only.")
    return y


def _same_shape(w: Floats, X: Matrix, y: Floats) -> None:
    if X.shape != (y.size, w.size):
        raise ValueError(f"X must have shape ({y.size}, {w.size}), as y and w say; got shape {X.shape}.")


def _divide(m: Floats, length: float | Floats) -> Floats:
    length = np.broadcast_to(length, m.shape)
    out = np.where(m == 0.0, 0.0, np.copysign(np.inf, m))
    return np.divide(m, length, out=out, where=length > 0.0)
