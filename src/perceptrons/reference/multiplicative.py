"""Learners that multiply their weights, or compute them from a sum of examples by a nonlinear map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .record import Array, Labels, Order, Run, dot, is_mistake, rows, sign


@dataclass(kw_only=True)
class EliminationRun(Run):
    """A `Run` whose w is 1 for a literal that is kept and 0 for one that was eliminated.

    `inconsistent` says that a positive example made no kept literal true: no disjunction fits.
    """

    literals: str
    inconsistent: bool = False

    def rows(self, X: ArrayLike) -> Array:
        """Which literals are true in new examples."""
        return literal_values(X, self.literals)

    def scores(self, X: ArrayLike) -> Array:
        """1 where some kept literal is true, else 0."""
        return (super().scores(X) > 0.0).astype(np.float64)


def literal_values(X: ArrayLike, literals: str) -> Array:
    """Truth of the literals: the inputs ("monotone"), or these and then their negations ("all")."""
    X = rows(X)
    return {"monotone": X, "all": np.column_stack([X, 1.0 - X])}[literals]


def elimination(
    X: ArrayLike, y: ArrayLike, order: Order | None = None, *, literals: str = "monotone"
) -> EliminationRun:
    """Learn a disjunction by elimination: a false positive eliminates every literal that was true in it.

    Positive is what makes a kept literal true. A false negative changes nothing.

    References
    ----------
    .. [1] N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2,
       1988.
    """
    X, y = literal_values(X, literals), np.asarray(y)
    run = EliminationRun(w=np.ones(X.shape[1]), literals=literals)
    for x, y_i in run.examples(X, y, order):
        predicted = sign(dot(run.w, x))
        run.saw(error=predicted != y_i, mistake=predicted != y_i)
        if predicted == 1 and y_i == -1:
            run.update(np.where(x > 0.0, 0.0, run.w), 1.0)
        elif predicted == -1 and y_i == 1:
            run.inconsistent = True
    return run


@dataclass(kw_only=True)
class WinnowRun(Run):
    """A `Run` with a threshold (a tie is positive) and the counts of promotions and demotions."""

    theta: float
    promotions: int = 0
    demotions: int = 0

    def predict(self, X: ArrayLike) -> Labels:
        """Labels of new examples."""
        return np.where(self.scores(X) >= self.theta, 1, -1)


def winnow(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kind: int = 2,
    alpha: float = 2.0,
    theta: float | None = None,
) -> WinnowRun:
    r"""Littlestone's Winnow [1]_ for inputs in [0, 1].

    It starts from w = 1 and predicts +1 iff :math:`w\cdot x \ge \theta`.

    ==============  ======================================  =======================================
    mistake         Winnow1                                 Winnow2
    ==============  ======================================  =======================================
    false negative  :math:`w_i \leftarrow w_i\alpha^{x_i}`  :math:`w_i \leftarrow w_i\alpha^{x_i}`
    false positive  :math:`w_i \leftarrow 0` if x_i > 0     :math:`w_i \leftarrow w_i\alpha^{-x_i}`
    ==============  ======================================  =======================================

    The threshold is the number of inputs by default.

    References
    ----------
    .. [1] N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2,
       1988.
    """
    X, y = rows(X), np.asarray(y)
    n = X.shape[1]
    run = WinnowRun(w=np.ones(n), theta=float(n if theta is None else theta))
    for x, y_i in run.examples(X, y, order):
        predicted = 1 if dot(run.w, x) >= run.theta else -1
        run.saw(error=predicted != y_i, mistake=predicted != y_i)
        if predicted < y_i:
            run.update(run.w * alpha**x, 1.0)
            run.promotions += 1
        elif predicted > y_i:
            run.update({1: np.where(x > 0.0, 0.0, run.w), 2: run.w * alpha**-x}[kind], 1.0)
            run.demotions += 1
    return run


@dataclass(kw_only=True)
class BalancedWinnowRun(Run):
    """A `Run` that also has z, the sum from which the weights are made."""

    z: Array


def balanced_winnow(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    eta: float,
    rule: str = "margin",
    bias: float | None = None,
    normalize: str | None = None,
) -> BalancedWinnowRun:
    r"""Balanced Winnow, or EG± [1]_: on a mistake :math:`z \leftarrow z + \eta\,y\,x`.

    Every input has the weights :math:`e^{z_i}` and, negated, :math:`e^{-z_i}`; normalised to sum
    one, their differences are :math:`w_i = \sinh z_i / \sum_j \cosh z_j`.

    References
    ----------
    .. [1] J. Kivinen, M. Warmuth, Exponentiated gradient versus gradient descent for linear
       predictors, Information and Computation 132, 1997.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    zero = np.zeros(X.shape[1])
    run = BalancedWinnowRun(w=zero, z=zero, bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        score = dot(run.w, x)
        mistake = is_mistake(rule, score, y_i)
        run.saw(error=sign(score) != y_i, mistake=mistake)
        if mistake:
            run.z = run.z + eta * y_i * x
            run.update(exponentiated(run.z), eta)
    return run


def exponentiated(z: Array) -> Array:
    r""":math:`\sinh z_i / \sum_j \cosh z_j`, the largest exponent taken out: none overflows."""
    top = np.abs(z).max()
    up, down = np.exp(z - top), np.exp(-z - top)
    return np.asarray((up - down) / (up + down).sum())


@dataclass(kw_only=True)
class PNormRun(Run):
    """A `Run` that also has theta, the sum from which the weights are made."""

    theta: Array


def pnorm(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    p: float,
    rule: str = "margin",
    bias: float | None = None,
    normalize: str | None = None,
) -> PNormRun:
    r"""The p-norm perceptron [1]_, p >= 2: on a mistake :math:`\theta \leftarrow \theta + y\,x`.

    The weights are the gradient of :math:`\tfrac12\|\theta\|_p^2`. With p = 2 it is the perceptron;
    large p behaves as Winnow does.

    References
    ----------
    .. [1] A. Grove, N. Littlestone, D. Schuurmans, General convergence results for linear
       discriminant updates, Machine Learning 43, 2001.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    zero = np.zeros(X.shape[1])
    run = PNormRun(w=zero, theta=zero, bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        score = dot(run.w, x)
        mistake = is_mistake(rule, score, y_i)
        run.saw(error=sign(score) != y_i, mistake=mistake)
        if mistake:
            run.theta = run.theta + y_i * x
            run.update(pnorm_link(run.theta, p), 1.0)
    return run


def pnorm_link(theta: Array, p: float) -> Array:
    r""":math:`w_i = \mathrm{sgn}(\theta_i)\,|\theta_i|^{p-1} / \|\theta\|_p^{p-2}`, and 0 for 0."""
    if not theta.any():
        return theta
    return np.sign(theta) * np.abs(theta) ** (p - 1) / np.linalg.norm(theta, p) ** (p - 2)
