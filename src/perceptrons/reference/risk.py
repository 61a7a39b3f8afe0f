r"""Descent on the perceptron's risk :math:`R(w) = \sum_{i\in V} -y_i(w\cdot x_i)`.

V are the examples with :math:`y_i(w\cdot x_i) < 0`. The hinge loss moves this corner to one, and
then :math:`R(w) = \sum_{i\in V} (1 - y_i(w\cdot x_i))`. In both :math:`g = \sum_{i\in V} y_i x_i`
points downhill. A risk of zero is no separation yet: examples on the boundary are in no V.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import ArrayLike

from .record import Array, Labels, Order, Run, rows, sign

CORNER = {"perceptron": 0.0, "hinge": 1.0}
"""An example is in V when its margin is below this."""


@dataclass(kw_only=True)
class RiskRun(Run):
    """A `Run` in which every step is an epoch of its own.

    `updates` has the rows of each step, `errors` and `mistakes` count over the whole sample before
    it, and `steps` are the lengths epsilon.

    Attributes
    ----------
    risks : list of float
        The risk of the start and after every step.
    halted : bool
        No example is in V any more.
    stalled : bool
        The line search found no lower point.
    on_boundary : int
        Examples with w.x = 0 at the end.
    """

    risks: list[float] = field(default_factory=list)
    halted: bool = False
    stalled: bool = False
    on_boundary: int = 0


class _Descent:
    """A sample, a loss, and the run on it."""

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        loss: str,
        w0: ArrayLike | None,
        bias: float | None,
        normalize: str | None,
    ):
        X = rows(X, bias, normalize)
        self.labels: Labels = np.asarray(y)
        self.yx: Array = self.labels[:, None] * X
        self.corner = CORNER[loss]
        w = self.yx[0] if w0 is None else np.array(w0, dtype=np.float64)
        if loss == "perceptron" and not w.any():
            raise ValueError("w0 must not be the zero vector: the perceptron's risk is zero there.")
        self.run = RiskRun(w=w, bias=bias, normalize=normalize, risks=[self.risk(w)])

    def margins(self, w: Array) -> Array:
        return self.yx @ w

    def wrong(self, w: Array) -> list[int]:
        """V, in ascending order."""
        return [int(i) for i in np.flatnonzero(self.margins(w) < self.corner)]

    def risk(self, w: Array) -> float:
        return float(np.maximum(0.0, self.corner - self.margins(w)).sum())

    def gradient(self, V: list[int]) -> Array:
        r""":math:`g = \sum_{i\in V} y_i x_i`, minus a (sub)gradient of the risk."""
        return np.asarray(self.yx[V].sum(axis=0))

    def step(self, V: list[int], eps: float) -> None:
        run, m = self.run, self.margins(self.run.w)
        run.t += 1
        run.updates.append(V)
        run.errors.append(sum(sign(y * m_i) != y for y, m_i in zip(self.labels, m, strict=True)))
        run.mistakes.append(int((m <= 0.0).sum()))
        run.move(run.w + eps * self.gradient(V), eps)
        run.counts[-1] += 1
        run.risks.append(self.risk(run.w))

    def finish(self) -> RiskRun:
        run = self.run
        run.halted = not self.wrong(run.w)
        run.on_boundary = int((self.margins(run.w) == 0.0).sum())
        return run


def risk_gd(
    X: ArrayLike,
    y: ArrayLike,
    *,
    step: float | str = 1.0,
    loss: str = "perceptron",
    w0: ArrayLike | None = None,
    max_steps: int = 1000,
    bias: float | None = None,
    normalize: str | None = None,
) -> RiskRun:
    r"""Full-batch descent: :math:`w \leftarrow w + \varepsilon\sum_V y_i x_i` until V is empty.

    Parameters
    ----------
    X, y : array-like
        Examples, one a row, and their labels -1 or +1.
    step : float or "line-search"
        Epsilon, or the best one along the ray (`line_search`).
    loss : {"perceptron", "hinge"}
        Which risk.
    w0 : array-like, optional
        Where to start; :math:`y_0x_0` by default.
    max_steps : int
        Give up after so many steps.
    bias, normalize
        See `rows`.

    References
    ----------
    .. [1] H. D. Block, The perceptron: a model for brain functioning, Reviews of Modern Physics 34,
       1962.
    """
    descent = _Descent(X, y, loss, w0, bias, normalize)
    run, shortest = descent.run, 0.5 * np.linalg.norm(descent.run.w)
    while run.t < max_steps and (V := descent.wrong(run.w)):
        if step != "line-search":
            descent.step(V, float(step))
            continue
        g = descent.gradient(V)
        eps = line_search(descent.margins(run.w) - descent.corner, descent.margins(g))
        while np.linalg.norm(run.w + eps * g) < shortest:
            eps = eps / 2.0
        if descent.risk(run.w + eps * g) >= run.risks[-1]:
            run.stalled = True
            break
        descent.step(V, eps)
    return descent.finish()


def line_search(m: Array, g: Array) -> float:
    r"""The smallest :math:`\varepsilon \ge 0` that minimises the risk along a ray.

    The risk is :math:`\sum_i \max(0, -(m_i + \varepsilon g_i))`: m are the margins, less the corner
    of the loss, and g their slopes. The sum is convex and piecewise linear in epsilon. Its slope is
    minus the sum of g over the wrong examples, and changes only where an example changes sides, at
    :math:`\varepsilon_i = -m_i/g_i`: those with :math:`g_i > 0` are wrong before it and right from
    there on, those with :math:`g_i < 0` the other way round. The result is the first such point
    after which the slope is not negative.
    """
    m, g = m[g != 0.0], g[g != 0.0]
    change = -m / g
    for eps in [0.0, *np.sort(change[change > 0.0])]:
        wrong_after = np.where(g > 0.0, eps < change, eps >= change)
        if -g[wrong_after].sum() >= 0.0:
            return float(eps)
    raise AssertionError("beyond the last change of sides the slope is never negative")


def risk_minibatch(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    batch_size: int,
    step: float = 1.0,
    loss: str = "perceptron",
    w0: ArrayLike | None = None,
    max_steps: int = 1000,
    bias: float | None = None,
    normalize: str | None = None,
) -> RiskRun:
    """Descent by groups of `batch_size` rows: each steps along its own rows in V.

    A group without a row in V is no step. It ends with a pass of no steps, with the order, or after
    `max_steps`. Groups of one are the online perceptron with a strict test, one group of all rows
    is `risk_gd`. By default the rows come from first to last in every pass.
    """
    descent = _Descent(X, y, loss, w0, bias, normalize)
    run = descent.run
    for epoch in repeat(range(len(descent.yx))) if order is None else order:
        before, visits = run.t, list(epoch)
        for start in range(0, len(visits), batch_size):
            group, V = visits[start : start + batch_size], set(descent.wrong(run.w))
            if run.t < max_steps and not V.isdisjoint(group):
                descent.step([i for i in group if i in V], step)
        if run.t == before or run.t >= max_steps:
            break
    return descent.finish()


def risk_sgd(
    X: ArrayLike,
    y: ArrayLike,
    *,
    pick: str = "first",
    step: float = 1.0,
    loss: str = "perceptron",
    w0: ArrayLike | None = None,
    max_steps: int = 1000,
    rng: np.random.Generator | Iterable[float] | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> RiskRun:
    r"""One example of V at a time: :math:`w \leftarrow w + \varepsilon\,y_ix_i` until V is empty.

    Parameters
    ----------
    pick : {"first", "worst", "random"}
        Which one: the lowest index; the lowest margin (then the lowest index); or number
        :math:`\lfloor u|V| \rfloor` of V in ascending order for the next uniform number u.
    rng : Generator or iterable of float, optional
        Where u comes from.
    X, y, step, loss, w0, max_steps, bias, normalize
        As for `risk_gd`.
    """
    descent = _Descent(X, y, loss, w0, bias, normalize)
    run, uniforms = descent.run, _uniforms(rng)
    while run.t < max_steps and (V := descent.wrong(run.w)):
        if pick == "first":
            i = V[0]
        elif pick == "worst":
            i = int(descent.margins(run.w).argmin())
        elif pick == "random":
            i = V[int(next(uniforms) * len(V))]
        else:
            raise ValueError(f'pick must be "first", "worst" or "random"; got {pick!r}.')
        descent.step([i], step)
    return descent.finish()


def _uniforms(rng: np.random.Generator | Iterable[float] | None) -> Iterator[float]:
    if isinstance(rng, Iterable):
        yield from rng
        return
    generator = np.random.default_rng() if rng is None else rng
    while True:
        yield generator.random()


def risk_descent(
    X: ArrayLike,
    y: ArrayLike,
    order: Order | None = None,
    *,
    batch_size: int | None = None,
    pick: str | None = None,
    step: float | str = 1.0,
    loss: str = "perceptron",
    w0: ArrayLike | None = None,
    max_steps: int = 1000,
    rng: np.random.Generator | Iterable[float] | None = None,
    bias: float | None = None,
    normalize: str | None = None,
) -> RiskRun:
    """`risk_sgd` if there is a `pick`, `risk_minibatch` if a `batch_size`, else `risk_gd`."""
    if pick is not None:
        return risk_sgd(
            X,
            y,
            pick=pick,
            step=float(step),
            loss=loss,
            w0=w0,
            max_steps=max_steps,
            rng=rng,
            bias=bias,
            normalize=normalize,
        )
    if batch_size is not None:
        return risk_minibatch(
            X,
            y,
            order,
            batch_size=batch_size,
            step=float(step),
            loss=loss,
            w0=w0,
            max_steps=max_steps,
            bias=bias,
            normalize=normalize,
        )
    return risk_gd(X, y, step=step, loss=loss, w0=w0, max_steps=max_steps, bias=bias, normalize=normalize)
