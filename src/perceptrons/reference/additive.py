r"""Binary learners whose weights are sums of examples: :math:`w \leftarrow c\,w + \tau\,y\,x`.

They differ in when they update and how far they go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from .record import LOSS_TOL, Array, Order, Run, dot, is_mistake, rows, sign, step_size


def perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    rule: str = "margin",
    bias: float | None = None,
    normalize: str | None = None,
    learning_rate: float | str = 1.0,
    w0: ArrayLike | None = None,
    until_clean: bool = False,
) -> Run:
    r"""Rosenblatt's perceptron [1]_: on a mistake, :math:`w \leftarrow w + \eta\,y\,x`.

    From w = 0, and if :math:`y(u\cdot x) \ge \gamma` for a unit vector u, there are at most
    :math:`R^2/\gamma^2` updates [2]_.

    Parameters
    ----------
    X, y : array-like
        Examples, one a row, and their labels -1 or +1.
    order : list of list of int, optional
        The rows to visit, one list an epoch. By default one pass from first to last.
    rule : {"margin", "prediction"}
        What a mistake is: :math:`y(w\cdot x) \le 0`, or a wrong sign.
    bias, normalize
        See `rows`.
    learning_rate : float, "updates" or "examples"
        A constant :math:`\eta`, or one over the number of updates, or of examples, the current one
        included.
    w0 : array-like, optional
        Where to start, the constant coordinate included.
    until_clean : bool
        Stop after the first epoch without an update (the batch perceptron).

    References
    ----------
    .. [1] F. Rosenblatt, The perceptron, Psychological Review 65, 1958.
    .. [2] A. Novikoff, On convergence proofs for perceptrons, Symp. Math. Theory of Automata, 1962.

    Examples
    --------
    >>> run = perceptron(
    ...     [[1, 2], [2, 1], [-1, -1], [-1, 1]], [1, 1, -1, -1], [range(4)] * 9, until_clean=True
    ... )
    >>> run.w, run.updates
    (array([2., 1.]), [[0, 3], []])
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = Run(w=_start(X, w0), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order, until_clean):
        score = dot(run.w, x)
        mistake = is_mistake(rule, score, y_i)
        run.saw(error=sign(score) != y_i, mistake=mistake)
        if mistake:
            eta = step_size(learning_rate, run.k + 1, run.t)
            run.update(run.w + eta * y_i * x, eta)
    return run


def voted_perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    rule: str = "margin",
    bias: float | None = None,
    normalize: str | None = None,
) -> Run:
    """The voted and averaged perceptron of Freund and Schapire [1]_.

    It trains as the perceptron does. Only the prediction differs: `vectors` and `counts` of the run
    are the hypotheses and the number of examples that each survived; the functions of
    `perceptrons.reference.readout` predict by them.

    References
    ----------
    .. [1] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm,
       Machine Learning 37, 1999.
    """
    return perceptron(X, y, order, rule=rule, bias=bias, normalize=normalize)


def margin_perceptron(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    gamma: float,
    eps: float = 0.5,
    bias: float | None = None,
    normalize: str | None = None,
    until_clean: bool = False,
) -> Run:
    r"""The perceptron with a margin [1]_: :math:`w \leftarrow w + y\,x` if the margin is too small.

    Too small is :math:`y(w\cdot x)/\|w\| < (1-\varepsilon)\gamma`. The zero vector fails every
    example, so the first one starts w and is update number one.

    References
    ----------
    .. [1] M.-F. Balcan, A. Blum, On a theory of learning with similarity functions, ICML 2006.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    theta = (1.0 - eps) * gamma
    run = Run(w=_start(X), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order, until_clean):
        m = y_i * dot(run.w, x)
        norm = np.linalg.norm(run.w)
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=m <= 0.0)
        if norm == 0.0 or m / norm < theta:
            run.update(run.w + y_i * x, 1.0)
    return run


@dataclass(kw_only=True)
class MiraRun(Run):
    """A `Run` that also counts the failed geometric tests after which no step could help."""

    stalled: int = 0


def mira(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    p: float = 0.0,
    variant: str = "functional",
    bias: float | None = None,
    normalize: str | None = None,
) -> MiraRun:
    r"""MIRA for two classes [1]_: the shortest step to functional margin one.

    The step is :math:`\tau = (1 - y(w\cdot x))/\|x\|^2`. It is taken when :math:`y(w\cdot x) \le p`
    ("functional") or :math:`y(w\cdot x) \le p\,\|w\|` ("geometric"). In the geometric form an
    example may fail the test with a functional margin of one already: it is left alone and counted
    in `stalled`.

    References
    ----------
    .. [1] K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR
       3, 2003.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = MiraRun(w=_start(X), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        m, q = y_i * dot(run.w, x), dot(x, x)
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=m <= 0.0)
        if q == 0.0 or m > p * _unit_of_margin(variant, run.w):
            continue
        if variant == "geometric" and 1.0 - m <= LOSS_TOL:
            run.stalled += 1
            continue
        tau = (1.0 - m) / q
        run.update(run.w + tau * y_i * x, tau)
    return run


def _unit_of_margin(variant: str, w: Array) -> float:
    return {"functional": 1.0, "geometric": float(np.linalg.norm(w))}[variant]


@dataclass(kw_only=True)
class PassiveAggressiveRun(Run):
    """A `Run` that also keeps the hinge loss of every example, suffered before the update."""

    losses: list[float] = field(default_factory=list)

    @property
    def sum_squared_loss(self) -> float:
        """The sum of the squared losses, which the theorems bound."""
        return sum(loss**2 for loss in self.losses)


def passive_aggressive(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    variant: str = "PA-I",
    C: float | None = 1.0,
    bias: float | None = None,
    normalize: str | None = None,
) -> PassiveAggressiveRun:
    r"""Passive-aggressive learning [1]_: :math:`w \leftarrow w + \tau\,y\,x` for every loss.

    The loss is :math:`\ell = \max(0, 1 - y(w\cdot x))`. For tau see `pa_step`.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, Online passive-aggressive
       algorithms, JMLR 7, 2006.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = PassiveAggressiveRun(w=_start(X), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        m, q = y_i * dot(run.w, x), dot(x, x)
        loss = max(0.0, 1.0 - m)
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=m <= 0.0)
        run.losses.append(float(loss))
        if loss > LOSS_TOL and q > 0.0:
            tau = pa_step(variant, loss, q, C)
            run.update(run.w + tau * y_i * x, tau)
    return run


def pa_step(variant: str, loss: float, q: float, C: float | None = None) -> float:
    r"""How far to go for a loss :math:`\ell` along a vector of squared length q.

    ======  ======================================
    PA      :math:`\ell / q`
    PA-I    :math:`\min(C,\ \ell / q)`
    PA-II   :math:`\ell / (q + 1/(2C))`
    ======  ======================================
    """
    if variant == "PA":
        return loss / q
    if C is None:
        raise ValueError(f"{variant} needs a number C > 0; got C=None.")
    return {"PA-I": min(C, loss / q), "PA-II": loss / (q + 1.0 / (2.0 * C))}[variant]


@dataclass(kw_only=True)
class RommaRun(Run):
    """A `Run` that also lists the rows whose half-space did not meet the one that w stands for."""

    infeasible: list[int] = field(default_factory=list)


def romma(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    aggressive: bool = False,
    delta: float | None = 0.0,
    bias: float | None = None,
    normalize: str | None = None,
) -> RommaRun:
    r"""ROMMA [1]_, the relaxed online maximum margin algorithm.

    The new w' is the shortest vector with :math:`y(w'\cdot x) \ge 1` and
    :math:`w'\cdot w \ge \|w\|^2`. It moves on a mistake, or, if aggressive, whenever
    :math:`y(w\cdot x) < 1 - \delta`. For the two coefficients of :math:`w \leftarrow c\,w + d\,x`
    see `romma_step`.

    References
    ----------
    .. [1] Y. Li, P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    run = RommaRun(w=_start(X), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        s, q = dot(run.w, x), dot(x, x)
        m = y_i * s
        run.saw(error=sign(s) != y_i, mistake=m <= 0.0)
        if q == 0.0 or not romma_test(m, aggressive, delta):
            continue
        step = romma_step(dot(run.w, run.w), q, s, y_i)
        if step is None:
            run.infeasible.append(run.row)
            continue
        c, d = step
        run.update(c * run.w + d * x, y_i * d)
    return run


def romma_test(m: float, aggressive: bool, delta: float | None) -> bool:
    r"""Is an update due?  :math:`m \le 0`, or aggressively :math:`m < 1 - \delta`."""
    return bool(1.0 - (delta or 0.0) - m > LOSS_TOL) if aggressive else bool(m <= 0.0)


def romma_step(N: float, q: float, s: float, y: int) -> tuple[float, float] | None:
    r"""The coefficients (c, d) of ROMMA's step.

    With :math:`N = \|w\|^2`, :math:`q = \|x\|^2` and :math:`s = w\cdot x` they are

    .. math:: c = \frac{qN - ys}{qN - s^2}, \qquad d = \frac{N(y - s)}{qN - s^2}

    If the new constraint implies the old one, (c, d) = (0, y/q). If the two half-spaces do not
    meet, None: no vector separates the data.
    """
    if N == 0.0 or y * s >= q * N:
        return 0.0, y / q
    determinant = q * N - s * s
    if determinant <= 1e-12 * q * N:
        return None
    return (q * N - y * s) / determinant, N * (y - s) / determinant


def alma(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    alpha: float,
    bias: float | None = None,
    normalize: str | None = None,
) -> Run:
    r"""ALMA with the Euclidean norm [1]_: margin and step shrink with the number of updates.

    Put :math:`B = \sqrt8/\alpha`, :math:`C = \sqrt2` and :math:`\hat x = x/\|x\|`. When
    :math:`y(w\cdot\hat x) \le (1-\alpha) B/\sqrt k`, update number k is
    :math:`w' = w + (C/\sqrt k)\,y\,\hat x`, followed by :math:`w \leftarrow w'/\max(1, \|w'\|)`.

    References
    ----------
    .. [1] C. Gentile, A new approximate maximal margin classification algorithm, JMLR 2, 2001.
    """
    X, y = rows(X, bias, normalize), np.asarray(y)
    B, C = sqrt(8.0) / alpha, sqrt(2.0)
    run = Run(w=_start(X), bias=bias, normalize=normalize)
    for x, y_i in run.examples(X, y, order):
        length = float(np.linalg.norm(x))
        k = run.k + 1
        run.saw(error=sign(dot(run.w, x)) != y_i, mistake=y_i * dot(run.w, x) <= 0.0)
        if length == 0.0:
            continue
        x_hat = x / length
        if y_i * dot(run.w, x_hat) <= (1.0 - alpha) * B / sqrt(k):
            w = run.w + C / sqrt(k) * y_i * x_hat
            shrink = max(1.0, float(np.linalg.norm(w)))
            run.update(w / shrink, C / sqrt(k) / length / shrink)
    return run


def _start(X: Array, w0: ArrayLike | None = None) -> Array:
    return np.zeros(X.shape[1]) if w0 is None else np.array(w0, dtype=np.float64)
