r"""Binary learners in the span of the examples: :math:`w = \sum_i a_i\,\phi(x_i)`.

The vector w is never computed. A learner is given the score of an example,
:math:`f = \sum_i a_i k(x_i, x)`, and :math:`q = k(x, x)`, and returns two numbers (c, d):
:math:`w \leftarrow c\,w + d\,\phi(x)`. That is :math:`a \leftarrow c\,a`, and then d more for the
coefficient of x itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from .._types import Objects
from .additive import pa_step, romma_step, romma_test
from .kernels import Kernel, gram
from .record import LOSS_TOL, Array, Order, Run, dot, is_mistake, sign


@dataclass(kw_only=True)
class DualRun(Run):
    """A `Run` whose weights are the coefficients a, one a training example, with their signs.

    An example is represented by its kernel values with the training examples, so that its score is the
    inner product with a. All readouts of `perceptrons.reference.readout` then work as they are.

    Attributes
    ----------
    kernel, X
        The kernel and the training examples.
    G : ndarray
        The kernel matrix of the training examples.
    infeasible : list of int
        Rows whose half-space did not meet the one that w stands for (ROMMA).
    """

    kernel: Kernel
    X: Objects
    w: Array = field(init=False)
    G: Array = field(init=False)
    infeasible: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.w = np.zeros(len(self.X))
        super().__post_init__()
        self.G = gram(self.kernel, self.X)

    def rows(self, X: Objects) -> Array:
        """New examples by their kernel values with the training examples."""
        return gram(self.kernel, X, self.X)

    def length(self, w: Array) -> float:
        r""":math:`\|w\| = \sqrt{a^\top G a}`."""
        return sqrt(max(0.0, dot(w, self.G @ w)))

    def look(self, i: int) -> tuple[float, float]:
        """The score f of training example i, and q."""
        return dot(self.w, self.G[i]), float(self.G[i, i])

    @property
    def norm_squared(self) -> float:
        r""":math:`N = \|w\|^2`."""
        return self.length(self.w) ** 2

    @property
    def n_support(self) -> int:
        """How many examples have a coefficient."""
        return int(np.count_nonzero(self.w))


Decide = Callable[[float, int, float, DualRun], tuple[float, float] | None]


def dual_learner(
    X: Objects,
    y: ArrayLike,
    order: Order | None,
    kernel: Kernel,
    decide: Decide,
    *,
    rule: str = "margin",
    until_clean: bool = False,
) -> DualRun:
    """Run any learner that is a function decide(f, y, q, run), which returns (c, d), or None."""
    y = np.asarray(y)
    run = DualRun(kernel=kernel, X=X)
    for i in run.visits(len(y), order, until_clean):
        (f, q), y_i = run.look(i), int(y[i])
        run.saw(error=sign(f) != y_i, mistake=is_mistake(rule, f, y_i))
        step = decide(f, y_i, q, run)
        if step is not None:
            c, d = step
            a = c * run.w
            a[i] += d
            run.update(a, y_i * d)
    return run


def kernel_perceptron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    rule: str = "margin",
    until_clean: bool = False,
) -> DualRun:
    r"""The kernel perceptron [1]_: on a mistake :math:`w \leftarrow w + y\,\phi(x)`.

    Parameters
    ----------
    X, y : sequence, array-like
        Examples of whatever kind the kernel is for, and their labels -1 or +1.
    kernel : function of two examples
        See `perceptrons.reference.kernels`. For a constant coordinate B add
        ``constant_kernel(B**2)``.
    order, rule, until_clean
        As for `perceptron`.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman, L. Rozonoer, Theoretical foundations of the potential function
       method in pattern recognition learning, Automation and Remote Control 25, 1964.

    Examples
    --------
    >>> from perceptrons.reference import polynomial_kernel
    >>> xor = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
    >>> run = kernel_perceptron(xor, [1, 1, -1, -1], [range(4)] * 3, kernel=polynomial_kernel(2))
    >>> run.w, run.updates
    (array([ 1.,  1., -1., -1.]), [[0, 2, 3], [1], []])
    """

    def decide(f: float, y: int, q: float, run: DualRun) -> tuple[float, float] | None:
        return (1.0, float(y)) if is_mistake(rule, f, y) else None

    return dual_learner(X, y, order, kernel, decide, rule=rule, until_clean=until_clean)


def kernel_margin_perceptron(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    gamma: float,
    eps: float = 0.5,
    until_clean: bool = False,
) -> DualRun:
    r"""`margin_perceptron` in the dual: :math:`d = y` if :math:`yf/\|w\| < (1-\varepsilon)\gamma`."""
    theta = (1.0 - eps) * gamma

    def decide(f: float, y: int, q: float, run: DualRun) -> tuple[float, float] | None:
        norm = run.length(run.w)
        return (1.0, float(y)) if run.k == 0 or norm == 0.0 or y * f / norm < theta else None

    return dual_learner(X, y, order, kernel, decide, until_clean=until_clean)


def kernel_mira(
    X: Objects, y: ArrayLike, order: Order | None = None, *, kernel: Kernel, p: float = 0.0
) -> DualRun:
    r"""`mira` in the dual: :math:`d = (y - f)/q` if :math:`yf \le p`."""

    def decide(f: float, y: int, q: float, run: DualRun) -> tuple[float, float] | None:
        return (1.0, (y - f) / q) if y * f <= p and q > 0.0 else None

    return dual_learner(X, y, order, kernel, decide)


def kernel_passive_aggressive(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    variant: str = "PA-I",
    C: float | None = 1.0,
) -> DualRun:
    r"""`passive_aggressive` in the dual: :math:`d = y\tau` for every loss :math:`1 - yf`."""

    def decide(f: float, y: int, q: float, run: DualRun) -> tuple[float, float] | None:
        loss = 1.0 - y * f
        return (1.0, y * pa_step(variant, loss, q, C)) if loss > LOSS_TOL and q > 0.0 else None

    return dual_learner(X, y, order, kernel, decide)


def kernel_romma(
    X: Objects,
    y: ArrayLike,
    order: Order | None = None,
    *,
    kernel: Kernel,
    aggressive: bool = False,
    delta: float | None = 0.0,
) -> DualRun:
    r"""`romma` in the dual, where w is scaled: :math:`a \leftarrow c\,a`, then d for the example."""

    def decide(f: float, y: int, q: float, run: DualRun) -> tuple[float, float] | None:
        if q == 0.0 or not romma_test(y * f, aggressive, delta):
            return None
        step = romma_step(run.norm_squared, q, f, y)
        if step is None:
            run.infeasible.append(run.row)
        return step

    return dual_learner(X, y, order, kernel, decide)
