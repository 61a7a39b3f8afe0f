"""Learners that also keep second moments of the examples: how often each direction has occurred."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from .record import LOSS_TOL, Array, Order, Run, dot, rows, sign


@dataclass(kw_only=True)
class SecondOrderRun(Run):
    r"""A `Run` that also has v and A; its w is :math:`A^{-1}v`."""

    v: Array
    A: Array

    def scores(self, X: ArrayLike) -> Array:
        """Decision values, each example being added to A before its score is computed."""
        return np.array([whitened_score(self.v, self.A, x) for x in self.rows(X)])


def whitened_score(v: Array, A: Array, x: Array) -> float:
    r""":math:`v^\top (A + xx^\top)^{-1} x`."""
    return float(v @ np.linalg.solve(A + np.outer(x, x), x))


def second_order_perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    a: float = 1.0,
    bias: float | None = None,
    normalize: str | None = None,
) -> SecondOrderRun:
    r"""The second-order perceptron [1]_, from :math:`A = aI` and v = 0.

    The score is :math:`v^\top (A + xx^\top)^{-1} x`. On a mistake :math:`v \leftarrow v + y\,x` and
    :math:`A \leftarrow A + xx^\top`.

    References
    ----------
    .. [1] N. Cesa-Bianchi, A. Conconi, C. Gentile, A second-order perceptron algorithm, SIAM J.
       Comput. 34, 2005.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    zero = np.zeros(X.shape[1])
    run = SecondOrderRun(w=zero, v=zero, A=a * np.eye(len(zero)), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        score = whitened_score(run.v, run.A, x)
        run.saw(error=sign(score) != y_i, mistake=y_i * score <= 0.0)
        if y_i * score <= 0.0:
            run.v = run.v + y_i * x
            run.A = run.A + np.outer(x, x)
            run.update(np.asarray(np.linalg.solve(run.A, run.v), dtype=np.float64), 1.0)
    return run


@dataclass(kw_only=True)
class ConfidenceRun(Run):
    """A `Run` that also has the covariance Sigma, a matrix or, of the diagonal form, a vector.

    `betas` are the steps of Sigma, as `steps` are those of w.
    """

    sigma: Array
    betas: list[float]

    def confident_update(self, y: int, sigma_x: Array, alpha: float, beta: float) -> None:
        r"""Move w along :math:`\Sigma x` and shrink Sigma in that direction.

        :math:`w \leftarrow w + \alpha\,y\,\Sigma x` and
        :math:`\Sigma \leftarrow \Sigma - \beta\,\Sigma xx^\top\Sigma`. The diagonal form keeps the
        diagonal of the right-hand side.
        """
        outer = np.outer(sigma_x, sigma_x) if self.sigma.ndim == 2 else sigma_x**2
        self.sigma = self.sigma - beta * outer
        self.betas.append(float(beta))
        self.update(self.w + alpha * y * sigma_x, alpha)


def _confident(X: Array, covariance: str, bias: float | None, normalize: str | None) -> ConfidenceRun:
    n = X.shape[1]
    sigma = {"full": np.eye(n), "diagonal": np.ones(n)}[covariance]
    return ConfidenceRun(w=np.zeros(n), sigma=sigma, betas=[], bias=bias, normalize=normalize)


def _times(sigma: Array, x: Array) -> Array:
    return sigma @ x if sigma.ndim == 2 else sigma * x


def arow(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    r: float = 1.0,
    covariance: str = "full",
    bias: float | None = None,
    normalize: str | None = None,
) -> ConfidenceRun:
    r"""AROW [1]_, from w = 0 and :math:`\Sigma = I`.

    For every loss :math:`\ell = 1 - y(w\cdot x) > 0`, with :math:`v = x^\top\Sigma x` and
    :math:`\beta = 1/(v + r)`: :math:`w \leftarrow w + \beta\ell\,y\,\Sigma x` and
    :math:`\Sigma \leftarrow \Sigma - \beta\,\Sigma xx^\top\Sigma`.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze, Adaptive regularization of weight vectors, NIPS 2009.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = _confident(X, covariance, bias, normalize)
    for x, y_i in run.examples(X, y, order):
        m = y_i * dot(run.w, x)
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=m <= 0.0)
        if 1.0 - m > LOSS_TOL:
            sigma_x = _times(run.sigma, x)
            beta = 1.0 / (dot(x, sigma_x) + r)
            run.confident_update(y_i, sigma_x, alpha=beta * (1.0 - m), beta=beta)
    return run


def scw(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    eta: float = 0.9,
    C: float = 1.0,
    kind: int = 1,
    covariance: str = "full",
    bias: float | None = None,
    normalize: str | None = None,
) -> ConfidenceRun:
    r"""Soft confidence-weighted learning, SCW-I and SCW-II [1]_.

    With :math:`\phi = \Phi^{-1}(\eta)`, :math:`m = y(w\cdot x)` and :math:`v = x^\top\Sigma x`, the
    loss is :math:`\phi\sqrt v - m`. For the step of w see `scw_alpha`; that of Sigma is

    .. math:: \beta = \frac{\alpha\phi}{\sqrt u + v\alpha\phi}, \qquad
              u = \tfrac14\bigl(-\alpha v\phi + \sqrt{\alpha^2v^2\phi^2 + 4v}\bigr)^2.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. Hoi, Exact soft confidence-weighted learning, ICML 2012.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    phi = NormalDist().inv_cdf(eta)
    run = _confident(X, covariance, bias, normalize)
    for x, y_i in run.examples(X, y, order):
        m = y_i * dot(run.w, x)
        sigma_x = _times(run.sigma, x)
        v = dot(x, sigma_x)
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=m <= 0.0)
        if phi * sqrt(v) - m > LOSS_TOL:
            alpha = scw_alpha(kind, m, v, phi, C)
            u = (-alpha * v * phi + sqrt(alpha**2 * v**2 * phi**2 + 4.0 * v)) ** 2 / 4.0
            beta = alpha * phi / (sqrt(u) + v * alpha * phi)
            run.confident_update(y_i, sigma_x, alpha, beta)
    return run


def scw_alpha(kind: int, m: float, v: float, phi: float, C: float) -> float:
    r"""The step of SCW-I (kind 1) or SCW-II (kind 2), never negative.

    With :math:`\psi = 1 + \phi^2/2`, :math:`\zeta = 1 + \phi^2` and :math:`n = v + 1/(2C)`:

    .. math::
       \alpha_{I} = \min\Bigl(C,\ \frac{-m\psi + \sqrt{m^2\phi^4/4 + v\phi^2\zeta}}{v\zeta}\Bigr),
       \qquad
       \alpha_{II} = \frac{-(2mn + \phi^2mv) + \phi\sqrt{\phi^2m^2v^2 + 4nv(n + v\phi^2)}}{2(n^2 +
       nv\phi^2)}
    """
    if kind == 1:
        psi, zeta = 1.0 + phi**2 / 2.0, 1.0 + phi**2
        alpha = (-m * psi + sqrt(m**2 * phi**4 / 4.0 + v * phi**2 * zeta)) / (v * zeta)
        return min(C, max(0.0, alpha))
    if kind == 2:
        n = v + 1.0 / (2.0 * C)
        root = sqrt(phi**2 * m**2 * v**2 + 4.0 * n * v * (n + v * phi**2))
        return max(0.0, (-(2.0 * m * n + phi**2 * m * v) + phi * root) / (2.0 * (n**2 + n * v * phi**2)))
    raise ValueError(f"kind must be 1 or 2; got {kind!r}.")
