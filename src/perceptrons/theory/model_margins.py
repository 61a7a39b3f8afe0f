r"""Margins of a fitted model, row by row, from its public attributes alone.

Squares and products may leave the range of floats where the margins themselves do not. So numbers are kept as
m 2^e here until the end; a margin that is no float is 0 or infinite, with its sign.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._sparse import as_floats
from .._types import Floats, Ints, MatrixLike
from . import _outward as outward
from ._given import label_codes
from .brackets import KINDS


class Margins(NamedTuple):
    """The margins of a model on a sample."""

    values: Floats  #: one per row
    minimum: float  #: the margin of the sample: the smallest of them
    distances: Floats | None  #: to the decision surface, in input space; None for kernel models
    space: str  #: where lengths are measured: "augmented", "input" or "kernel"
    kind: str


def margins(model: Any, X: Any, y: Any, kind: str = "functional") -> Margins:
    r"""The margin of every row under a fitted model.

    ``"functional"``: :math:`y(\langle w, x\rangle + b)`; ``"geometric"``: divided by :math:`\|w\|`;
    ``"normalized"``: divided by :math:`\|w\|\|x\|`. Negative: the row is on the wrong side.

    Prototypes learned together: :math:`s_y - \max_{r \ne y} s_r`, the lead of the true class, and
    :math:`\|W\|_F` for :math:`\|w\|`. One learner per class: the smallest of the learners' margins, each
    divided by its own length.

    The space: where the intercept is the weight of a constant coordinate B, lengths are those of
    :math:`(w, b/B)` and :math:`(x, B)` ("augmented"); a model without one, or one whose intercept is no
    weight, is measured in "input" space; a kernel model in the space of its kernel, where
    :math:`\|w\|^2 = a^\top K a`.

    Parameters
    ----------
    model : fitted classifier
        With ``classes_`` and ``coef_``, ``intercept_``; or with ``dual_coef_``, ``support_vectors_`` and
        ``kernel_``. Weights that vote have the margins of their last w.
    X, y : rows and labels
    kind : {"functional", "geometric", "normalized"}, default="functional"

    Returns
    -------
    margins : Margins
        ``distances`` are signed by the label: positive on the right side. Prototypes: to the nearest of
        the planes that bound the region of the true class.

    Examples
    --------
    >>> from perceptrons import Perceptron, datasets, theory
    >>> toy = datasets.four_points()
    >>> clf = Perceptron(shuffle=False, fit_intercept=False).fit(toy.X, toy.y)
    >>> found = theory.margins(clf, toy.X, toy.y)
    >>> found.values, found.minimum, found.space
    (array([4., 5., 3., 1.]), 1.0, 'input')
    >>> round(theory.margins(clf, toy.X, toy.y, kind="geometric").minimum ** 2, 12)  # 1/5, w = (2, 1)
    0.2
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got kind={kind!r}.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"margins needs a fitted classifier; got {model!r}.")
    if getattr(model, "several_labels", False):
        raise ValueError(
            "margins is for models of one label a row; this one has several. Fit a model for each column of "
            "the indicator matrix."
        )
    if getattr(model, "idf", False):
        raise ValueError(
            "With idf=True the row of a text depends on the texts learned so far, and has no margin of its "
            "own: decision_function scores it by the counts of this moment."
        )
    codes = label_codes(np.asarray(model.classes_), y)
    by_kernel = hasattr(model, "dual_coef_") and getattr(model, "kernel_", None) is not None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scores, norms, lengths, space = _of_kernel(model, X) if by_kernel else _of_weights(model, X)
        if len(codes) != len(scores.m):
            raise ValueError(f"X has {len(scores.m)} rows, y has {len(codes)} labels.")
        if len(model.classes_) > 2 and _joint(model):
            values, norms = _lead(scores, codes), _length(norms)
        elif len(model.classes_) > 2:
            signs = np.where(codes[:, None] == np.arange(scores.m.shape[1]), 1.0, -1.0)
            values, lengths = Wide(signs * scores.m, scores.e), lengths[:, None]
        else:
            signs = np.where(codes == 1, 1.0, -1.0)
            m, e = scores.column(0)
            values, norms = Wide(signs * m, e), Wide(norms.m[0], norms.e[0])
        if kind != "functional":
            values = values.over(norms)
        if kind == "normalized":
            values = values.over(Wide.of(lengths))
        found = values.floats()
        if found.ndim == 2:
            found = found.min(axis=1)
        distances = None if by_kernel else _distances(model, X, codes)
    return Margins(found, float(np.min(found, initial=math.inf)), distances, space, kind)


class Wide(NamedTuple):
    """m 2^e, entry by entry."""

    m: Floats
    e: Ints

    @staticmethod
    def of(values: npt.ArrayLike) -> Wide:
        """m between 1/2 and 1, or 0, or not finite."""
        m, e = np.frexp(np.asarray(values, dtype=float))
        return Wide(m, e.astype(np.int64))

    def over(self, other: Wide) -> Wide:
        """A quotient that is 0 for 0/0, and infinite with its sign for anything else over 0."""
        m = np.asarray(self.m)
        by = np.broadcast_to(other.m, np.broadcast_shapes(np.shape(other.m), m.shape))
        m = np.broadcast_to(m, by.shape)
        out = np.where(m == 0.0, 0.0, np.copysign(math.inf, m))
        return Wide(np.divide(m, by, out=out, where=by != 0.0), self.e - other.e)

    def column(self, r: int) -> Wide:
        return Wide(self.m[:, r], np.broadcast_to(self.e, self.m.shape)[:, r])

    def floats(self) -> Floats:
        return np.ldexp(self.m, np.clip(self.e, -5000, 5000).astype(np.int32))


def _aligned(a: Wide) -> tuple[np.ndarray, np.ndarray]:
    """The same with one exponent for each row, the largest that matters."""
    e = np.max(np.where(a.m == 0.0, -(10**6), a.e), axis=1)
    return Wide(a.m, a.e - e[:, None]).floats(), e


def _length(v: Wide) -> Wide:
    """The Euclidean length of a vector."""
    m, power = np.frexp(v.m)
    e = int(np.max(np.where(m == 0.0, -(10**6), power + v.e), initial=-(10**6)))
    return Wide(np.asarray(np.linalg.norm(Wide(m, power + v.e - e).floats())), np.asarray(e))


def _joint(model: Any) -> bool:
    """Whether the classes are learned together."""
    if hasattr(model, "run_record"):
        return bool(model.run_record(evidence=False).joint)
    return bool(getattr(model, "multiclass", "ovr") == "joint")


def _unit_rows(model: Any) -> bool:
    """Whether rows are divided by their length."""
    if hasattr(model, "run_record"):
        return bool(model.run_record(evidence=False).unit)
    return bool(getattr(model, "row_norm", None) == "l2")


def _lead(scores: Wide, codes: np.ndarray) -> Wide:
    every = np.arange(len(codes))
    s, e = _aligned(scores)
    rivals = s.copy()
    rivals[every, codes] = -math.inf
    return Wide(s[every, codes] - rivals.max(axis=1), e)


def _linear(model: Any, X: MatrixLike) -> tuple[Floats, Floats, Wide]:
    """Weights, intercepts, and w.x + b of rows that are not scaled."""
    w, b = (
        np.atleast_2d(np.asarray(model.coef_, dtype=float)),
        np.ravel(np.asarray(model.intercept_, dtype=float)),
    )
    X = as_floats(X)
    found = [outward.scores(v, float(c), X) for v, c in zip(w, np.broadcast_to(b, len(w)))]
    return w, b, Wide(np.column_stack([s.values for s in found]), np.array([s.e for s in found]))


def _constant(model: Any) -> float:
    """The constant coordinate, where the intercept is its weight; 0 where it does not count in ||w||."""
    if hasattr(model, "intercept_scaling_"):
        return float(model.intercept_scaling_)
    parameters = model.get_params(deep=False)
    if not parameters.get("fit_intercept", False) or "intercept_scaling" not in parameters:
        return 0.0
    return float(parameters["intercept_scaling"])


def _of_weights(model: Any, X: MatrixLike) -> tuple[Wide, Wide, Floats, str]:
    """Scores, lengths of the weights and of the rows, and the space."""
    w, b, scores = _linear(model, X)
    B = _constant(model)
    augmented = B > 0.0
    constant = (
        Wide.of(np.broadcast_to(b, len(w))).over(Wide.of(B)) if augmented else Wide.of(np.zeros(len(w)))
    )
    each = [
        _length(Wide(np.append(v.m, m), np.append(v.e, e))) for v, m, e in zip(map(Wide.of, w), *constant)
    ]
    norms = Wide(np.array([n.m for n in each]), np.array([n.e for n in each]))
    lengths = np.hypot(outward.row_norms(as_floats(X)), B)
    if _unit_rows(model):
        scores = scores.over(Wide.of(np.where(lengths > 0.0, lengths, 1.0)[:, None]))
        lengths = (lengths > 0.0).astype(float)
    return scores, norms, lengths, "augmented" if augmented else "input"


def _of_kernel(model: Any, X: Any) -> tuple[Wide, Wide, Floats, str]:
    kernel, a, support = model.kernel_, np.asarray(model.dual_coef_, dtype=float), model.support_vectors_
    constant = _constant(model) ** 2
    if kernel.takes == "table":
        X, numbers = np.asarray(X, dtype=float), np.asarray(model.support_)
        K, own = X[:, numbers], np.asarray(support, dtype=float)[:, numbers]
        q = np.diagonal(X).astype(float) if X.shape[0] == X.shape[1] else np.full(len(X), math.nan)
    else:
        prepared = kernel.prepare(X)
        among = kernel.prepare(support, prepared)
        K, own = kernel.matrix(prepared, among), kernel.matrix(among, among)
        q = kernel.diagonal(prepared)
    # coefficients and values in the middle of the range: products of three of them are floats
    c, own = outward.exponent(a), np.asarray(own, dtype=float) + constant
    v = outward.exponent(own) // 2 * 2
    a, own = np.ldexp(a, -c), np.ldexp(own, -v)
    s = np.ldexp(np.asarray(K, dtype=float) + constant, -v) @ a.T
    if not constant and hasattr(model, "intercept_"):
        s = s + np.ldexp(np.ravel(model.intercept_), -c - v)
    norms2 = np.sum((a @ own) * a, axis=1)
    lengths = np.sqrt(np.maximum(np.asarray(q, dtype=float) + constant, 0.0))
    e = np.full(len(a), c + v // 2)
    return Wide(s, np.full(len(a), c + v)), Wide(np.sqrt(np.maximum(norms2, 0.0)), e), lengths, "kernel"


def _distances(model: Any, X: MatrixLike, codes: Ints) -> Floats:
    """How far each row is from the surface, on the right side of it."""
    w, _, scores = _linear(model, X)
    if len(model.classes_) <= 2:
        signs = np.where(codes == 1, 1.0, -1.0)
        m, exponents = scores.column(0)
        return Wide(signs * m, exponents).over(_length(Wide.of(w[0]))).floats()
    out = np.full(len(codes), math.inf)
    s, e = _aligned(scores)
    c = outward.exponent(w)
    w = np.ldexp(w, -c)
    for r in range(len(w)):  # the plane between the true class and class r
        apart = np.array([_length(Wide.of(own - w[r])).floats() for own in w])[codes]
        lead = Wide(s[np.arange(len(codes)), codes] - s[:, r], e)
        between = lead.over(Wide.of(apart))
        out = np.where(codes == r, out, np.minimum(out, Wide(between.m, between.e - c).floats()))
    return out
