r"""Margins of a fitted model, row by row, from its public attributes alone."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .brackets import KINDS
from .gram import is_sparse, squares


class Margins(NamedTuple):
    """The margins of a model on a sample."""

    values: np.ndarray  #: one per row
    minimum: float  #: the margin of the sample: the smallest of them
    distances: np.ndarray | None  #: to the decision surface, in input space; None for kernel models
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
    codes = _codes(model.classes_, y)
    by_kernel = hasattr(model, "dual_coef_") and getattr(model, "kernel_", None) is not None
    parts = _of_kernel(model, X) if by_kernel else _of_weights(model, X)
    scores, norms, lengths, space = parts
    if len(codes) != len(scores):
        raise ValueError(f"X has {len(scores)} rows, y has {len(codes)} labels.")
    if len(model.classes_) > 2 and _joint(model):
        values = _lead(scores, codes)
        norm: Any = math.sqrt(float(np.sum(norms**2)))
    elif len(model.classes_) > 2:
        signs = np.where(codes[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
        values, norm = signs * scores, norms
    else:
        values, norm = np.where(codes == 1, 1.0, -1.0) * scores[:, 0], float(norms[0])
    if kind != "functional":
        values = _divided(values, norm)
    if kind == "normalized":
        values = _divided(values, lengths[:, None] if values.ndim == 2 else lengths)
    if values.ndim == 2:
        values = values.min(axis=1)
    distances = None if by_kernel else _distances(model, X, codes)
    return Margins(values, float(np.min(values, initial=math.inf)), distances, space, kind)


def _joint(model: Any) -> bool:
    """Whether the classes are learned together."""
    return getattr(model, "multiclass", "ovr") == "joint"


def _codes(classes: Any, y: Any) -> np.ndarray:
    places = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    strange = next((label for label in labels if label not in places), None)
    if strange is not None:
        raise ValueError(f"y has a label {strange!r} that the model does not know.")
    return np.asarray([places[label] for label in labels], dtype=np.int64)


def _lead(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    every = np.arange(len(codes))
    rivals = scores.copy()
    rivals[every, codes] = -math.inf
    return np.asarray(scores[every, codes] - rivals.max(axis=1))


def _rows(X: Any) -> Any:
    return sparse.csr_array(X, dtype=float) if is_sparse(X) else np.asarray(X, dtype=float)


def _linear(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, intercepts, and w.x + b of rows that are not scaled."""
    w, b = (
        np.atleast_2d(np.asarray(model.coef_, dtype=float)),
        np.ravel(np.asarray(model.intercept_, dtype=float)),
    )
    return w, b, np.asarray(_rows(X) @ w.T, dtype=float) + b


def _constant(model: Any) -> float:
    """The constant coordinate, where the intercept is its weight; 0 where it has no price."""
    parameters = model.get_params(deep=False)
    if not parameters.get("fit_intercept", False) or "intercept_scaling" not in parameters:
        return 0.0
    return float(parameters["intercept_scaling"])


def _of_weights(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Scores, lengths of the weights and of the rows, and the space."""
    w, b, scores = _linear(model, X)
    B = _constant(model)
    augmented = B > 0.0
    norms2 = np.sum(w**2, axis=1) + ((b / B) ** 2 if augmented else 0.0)
    lengths = np.sqrt(squares(_rows(X)) + B * B)
    if getattr(model, "row_norm", None) == "l2":
        scores = scores / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        lengths = (lengths > 0.0).astype(float)
    return scores, np.sqrt(norms2), lengths, "augmented" if augmented else "input"


def _of_kernel(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
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
    scores = (np.asarray(K, dtype=float) + constant) @ a.T
    if not constant and hasattr(model, "intercept_"):
        scores = scores + np.ravel(model.intercept_)
    norms2 = np.sum((a @ (np.asarray(own, dtype=float) + constant)) * a, axis=1)
    lengths = np.sqrt(np.maximum(np.asarray(q, dtype=float) + constant, 0.0))
    return scores, np.sqrt(np.maximum(norms2, 0.0)), lengths, "kernel"


def _distances(model: Any, X: Any, codes: np.ndarray) -> np.ndarray:
    """How far each row is from the surface, on the right side of it."""
    w, _, scores = _linear(model, X)
    if len(model.classes_) <= 2:
        signs = np.where(codes == 1, 1.0, -1.0)
        return _divided(signs * scores[:, 0], float(np.linalg.norm(w[0])))
    out = np.full(len(codes), math.inf)
    for r in range(len(w)):  # the plane between the true class and class r
        apart = np.linalg.norm(w[codes] - w[r], axis=1)
        lead = scores[np.arange(len(codes)), codes] - scores[:, r]
        out = np.where(codes == r, out, np.minimum(out, _divided(lead, apart)))
    return out


def _divided(values: np.ndarray, by: Any) -> np.ndarray:
    """A quotient that is 0 for 0/0, and infinite with its sign for anything else over 0."""
    by = np.broadcast_to(by, values.shape)
    out = np.where(values == 0.0, 0.0, np.copysign(math.inf, values))
    return np.divide(values, by, out=out, where=by != 0.0)
