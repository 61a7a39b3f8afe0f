r"""The risk that descent makes small, and its gradient, at any given w.

Labels are −1 and +1; X is a dense array or a SciPy sparse matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._types import Floats, MatrixLike
from .brackets import _labels, _rows, sample_margins

#: c by the name of the loss: a row contributes where its margin is below c
GOALS = {"perceptron": 0.0, "hinge": 1.0}


def risk(
    w: npt.ArrayLike, X: MatrixLike, y: npt.ArrayLike, b: float = 0.0, *, loss: str = "perceptron"
) -> float:
    r"""The risk of (w, b) on a sample: :math:`R(w, b) = \sum_i \max(0, c - y_i(\langle w, x_i\rangle + b))`.

    A sum, not a mean. :math:`c = 0` for ``loss="perceptron"``, :math:`c = 1` for ``loss="hinge"``. Both
    are convex and piecewise linear in (w, b), with a crease along each hyperplane
    :math:`y_i(\langle w, x_i\rangle + b) = c` of the weight space.

    The perceptron risk is positively homogeneous, :math:`R(aw, ab) = aR(w, b)` for :math:`a > 0`, so its
    graph is a cone with the tip at w = 0. It is 0 exactly where no row is on the wrong side. That is not
    yet a separation: :math:`R(0) = 0`, and rows on the boundary contribute nothing. The hinge risk is 0
    exactly where every row has a functional margin of at least 1, which is a separation.

    Parameters
    ----------
    w : array-like of shape (n_features,)
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels −1 and +1.
    b : float, default=0.0
        The offset. For augmented rows give the augmented X and w, and no b.
    loss : {"perceptron", "hinge"}, default="perceptron"

    Returns
    -------
    float
        ``inf`` where the sum leaves the range of floats.

    Examples
    --------
    >>> from perceptrons import datasets
    >>> X, y, *_ = datasets.four_points()
    >>> risk([1, 2], X, y), risk([2, 1], X, y)  # margins 5, 4, 3, -1, and 4, 5, 3, 1
    (1.0, 0.0)
    >>> risk([1, 2], X, y, loss="hinge"), risk([0, 0], X, y, loss="hinge")
    (2.0, 4.0)
    """
    goal = _goal(loss)
    with np.errstate(over="ignore"):
        return float(np.sum(np.maximum(0.0, goal - sample_margins(w, X, y, b))))


def risk_gradient(
    w: npt.ArrayLike, X: MatrixLike, y: npt.ArrayLike, b: float = 0.0, *, loss: str = "perceptron"
) -> tuple[Floats, float]:
    r"""The gradient of :func:`risk` at (w, b).

    It is :math:`-\sum_{i\in V} y_ix_i` in w and :math:`-\sum_{i\in V} y_i` in b, where
    :math:`V = \{i : y_i(\langle w, x_i\rangle + b) < c\}`. On a crease, where a row has the margin c exactly,
    the risk has no gradient, and this is one subgradient g: :math:`R(w') \ge R(w) + \langle g, w' - w\rangle`
    for every :math:`w'`. Rows on the crease are not in V, as in :class:`perceptrons.RiskDescent`; a step of
    full-batch gradient descent is ``w - step * gradient``.

    Parameters
    ----------
    w, X, y, b, loss
        As for :func:`risk`.

    Returns
    -------
    gradient : ndarray of shape (n_features,)
    derivative : float
        In b.

    Examples
    --------
    >>> from perceptrons import datasets
    >>> X, y, *_ = datasets.four_points()
    >>> risk_gradient([1, 2], X, y)  # only the last row is on the wrong side
    (array([-1.,  1.]), 1.0)
    >>> risk_gradient([2, 1], X, y)
    (array([0., 0.]), 0.0)
    """
    goal = _goal(loss)
    in_v = np.flatnonzero(sample_margins(w, X, y, b) < goal)
    pull = -_labels(y)[in_v]
    with np.errstate(over="ignore"):
        return np.asarray(pull @ _rows(X)[in_v], dtype=float).ravel(), float(np.sum(pull))


def _goal(loss: str) -> float:
    if not isinstance(loss, str) or loss not in GOALS:
        raise ValueError(f"loss must be one of {', '.join(map(repr, GOALS))}; got loss={loss!r}.")
    return GOALS[loss]
