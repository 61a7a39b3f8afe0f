r"""Kernel perceptrons with few support vectors.

All of them update on a mistake, :math:`yf \le 0`. They differ in what they do when there is no room
for one more example, or, the projectron, in whether they need room at all. The support set is a
list, oldest first. An example that comes again is a new entry of the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .._types import Objects
from .dual import DualRun
from .kernels import Kernel
from .record import Array, Order, dot, is_mistake, sign

SPAN_TOL = 1e-10
"""An example is in the span of the support set if its squared distance is at most this part of q."""


@dataclass(kw_only=True)
class BudgetRun(DualRun):
    r"""A `DualRun` with a support list.

    Attributes
    ----------
    support : list of int
        Training rows, oldest first; the same row may be there twice.
    coefficients : list of float
        One an entry of the list. Summed over the entries of a row they are w.
    evicted : list of int
        The rows that had to leave, in order.
    phi : list of float
        The factor of every shrinking step (forgetron).
    Q : float
        What the shrinking has cost so far (forgetron).
    projected : int
        Updates that needed no new entry (projectron).
    """

    support: list[int] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)
    phi: list[float] = field(default_factory=list)
    Q: float = 0.0
    projected: int = 0

    def mistakes_of(
        self, y: ArrayLike, order: Order | None, rule: str = "margin"
    ) -> Iterable[tuple[int, int]]:
        """The mistakes (i, y) as they are made; each is an update, with the list as it is then."""
        y = np.asarray(y)
        for i in self.visits(len(y), order):
            (f, _), y_i = self.look(i), int(y[i])
            mistake = is_mistake(rule, f, y_i)
            self.saw(error=sign(f) != y_i, mistake=mistake)
            if mistake:
                yield i, y_i
                self.update(self.merged(), 1.0)

    def merged(self) -> Array:
        """The coefficients, one a training row."""
        a = np.zeros(len(self.X))
        np.add.at(a, self.support, self.coefficients)
        return a

    def add(self, i: int, coefficient: float) -> None:
        """Put row i at the end of the list."""
        self.support.append(i)
        self.coefficients.append(float(coefficient))

    def evict(self, position: int) -> None:
        """Take an entry out of the list."""
        self.evicted.append(self.support.pop(position))
        del self.coefficients[position]


def random_budget_perceptron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    budget: int,
    uniforms: Iterable[float],
    rule: str = "margin",
) -> BudgetRun:
    r"""The randomized budget perceptron [1]_: a random entry makes room.

    For each eviction the next number u of `uniforms` names the entry :math:`\lfloor uB\rfloor`.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi, C. Gentile, Tracking the best hyperplane with a simple
       budget perceptron, Machine Learning 69, 2007.
    """
    run, draws = BudgetRun(kernel=kernel, X=X), iter(uniforms)
    for i, y_i in run.mistakes_of(y, order, rule):
        if len(run.support) == budget:
            run.evict(floor(next(draws) * budget))
        run.add(i, y_i)
    return run


def oldest_budget_perceptron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    budget: int,
    rule: str = "margin",
) -> BudgetRun:
    """The oldest entry makes room."""
    run = BudgetRun(kernel=kernel, X=X)
    for i, y_i in run.mistakes_of(y, order, rule):
        if len(run.support) == budget:
            run.evict(0)
        run.add(i, y_i)
    return run


def forgetron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    budget: int,
    rule: str = "margin",
) -> BudgetRun:
    r"""The self-tuned forgetron [1]_: the oldest entry leaves after all have been shrunk.

    The mistake is added first. Of the oldest example :math:`x_r`, :math:`\sigma = |a_r|` and
    :math:`\mu = y_r f(x_r)`. Shrinking all coefficients by :math:`\varphi` and then dropping it costs
    :math:`\Psi(\varphi) = (\sigma^2 - 2\sigma\mu)\varphi^2 + 2\sigma\varphi`. The factor is the
    largest :math:`\varphi \le 1` that keeps the sum Q of all costs at or below :math:`(15/32)M`, M
    the mistakes so far.

    If :math:`k(x, x) \le 1`, :math:`B \ge 83` and
    :math:`\|u\| \le \frac14\sqrt{(B+1)/\ln(B+1)}`, there are at most :math:`2\|u\|^2 + 4H` mistakes,
    H the hinge losses of u.

    References
    ----------
    .. [1] O. Dekel, S. Shalev-Shwartz, Y. Singer, The Forgetron: a kernel-based perceptron on a
       budget, SIAM Journal on Computing 37, 2008.
    """
    run = BudgetRun(kernel=kernel, X=X)
    for i, y_i in run.mistakes_of(y, order, rule):
        run.add(i, y_i)
        if len(run.support) <= budget:
            continue
        M = run.k + 1
        sigma, y_r = abs(run.coefficients[0]), sign(run.coefficients[0])
        mu = y_r * dot(run.merged(), run.G[run.support[0]])
        A, D, E = sigma**2 - 2.0 * sigma * mu, 2.0 * sigma, run.Q - 15.0 / 32.0 * M
        phi = shrinking_factor(A, D, E)
        run.phi.append(phi)
        run.Q += A * phi**2 + D * phi
        run.coefficients = [phi * a for a in run.coefficients]
        run.evict(0)
    return run


def shrinking_factor(A: float, D: float, E: float) -> float:
    r"""The largest :math:`\varphi \le 1` with :math:`A\varphi^2 + D\varphi + E \le 0`, for E < 0 <= D."""
    if A + D + E <= 0.0:
        return 1.0
    if A == 0.0:
        return -E / D
    return (-D + sqrt(D**2 - 4.0 * A * E)) / (2.0 * A)


def projectron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    eta: float,
    budget: int | None = None,
    rule: str = "margin",
) -> BudgetRun:
    r"""The projectron [1]_: a mistake near the span of the support set is projected onto it.

    The projection of :math:`\phi(x)` has the coefficients :math:`d = K_S^{-1} k`, and its distance
    is :math:`\Delta = \sqrt{q - k^\top d}`. If :math:`\Delta \le \eta`, :math:`a \leftarrow a + y\,d`,
    and there is no new entry; otherwise x is added with coefficient y.

    An example within rounding of the span (`SPAN_TOL`) is projected for any eta, so that
    :math:`K_S` can be inverted. With a budget, which is not in the paper, a full list projects every
    mistake.

    References
    ----------
    .. [1] F. Orabona, J. Keshet, B. Caputo, Bounded kernel-based online learning, JMLR 10, 2009.
    """
    run = BudgetRun(kernel=kernel, X=X)
    for i, y_i in run.mistakes_of(y, order, rule):
        S, q = run.support, run.G[i, i]
        k = run.G[S, i]
        d = np.linalg.solve(run.G[np.ix_(S, S)], k)
        distance2 = max(0.0, q - float(k @ d))
        if sqrt(distance2) <= eta or distance2 <= SPAN_TOL * q or len(S) == budget:
            run.coefficients = [a + y_i * d_j for a, d_j in zip(run.coefficients, d, strict=True)]
            run.projected += 1
        else:
            run.add(i, y_i)
    return run
