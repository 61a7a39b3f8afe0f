"""Iterative parameter mixing: perceptrons on shards of the rows, averaged after every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .additive import perceptron
from .record import Array, rows


@dataclass
class MixedRun:
    """Weights with a record of every epoch."""

    w: Array
    updates: list[list[list[int]]] = field(default_factory=list)  #: rows, per epoch and shard
    mu: list[list[float]] = field(default_factory=list)  #: weights of the shards, per epoch
    w_per_epoch: list[Array] = field(default_factory=list)

    @property
    def weighted_updates(self) -> float:
        r""":math:`\sum_{epochs}\sum_i\mu_i k_i`, which the theorem bounds."""
        counts = [[len(shard) for shard in epoch] for epoch in self.updates]
        return float(sum(np.dot(mu, k) for mu, k in zip(self.mu, counts, strict=True)))


def parameter_mixing(
    X: ArrayLike,
    y: ArrayLike,
    shards: Sequence[Sequence[int]],
    epochs: int,
    *,
    mix: str = "uniform",
    bias: float | None = None,
) -> MixedRun:
    r"""One pass of the perceptron over each shard from the common w, then :math:`w = \sum_i\mu_i w_i` [1]_.

    :math:`\mu_i = 1/S`, or in proportion to the updates of shard i. If a unit vector separates all rows with
    margin :math:`\gamma`, :math:`\sum_{epochs}\sum_i\mu_i k_i \le R^2/\gamma^2`. It ends when no shard
    updates: w then separates them all.

    Parameters
    ----------
    X, y : array-like
        Examples, one a row, and their labels -1 or +1.
    shards : list of list of int
        The rows of each shard, in the order of visiting.
    epochs : int
        At most so many.
    mix : {"uniform", "mistakes"}
        Equal weights, or in proportion to the updates (equal where there are none).
    bias
        See `rows`.

    References
    ----------
    .. [1] R. McDonald, K. Hall and G. Mann, Distributed training strategies for the structured perceptron,
       NAACL 2010.

    Examples
    --------
    >>> run = parameter_mixing([[1, 2], [2, 1], [-1, -1], [-1, 1]], [1, 1, -1, -1], [[0, 2], [1, 3]], 8)
    >>> run.w, run.updates[:2], run.weighted_updates
    (array([2., 1.]), [[[0], [1]], [[], [3]]], 1.5)
    """
    if mix not in ("uniform", "mistakes"):
        raise ValueError(f'mix must be "uniform" or "mistakes"; got {mix!r}.')
    X = rows(X, bias)
    out = MixedRun(np.zeros(X.shape[1]))
    for _ in range(epochs):
        parts = [perceptron(X, y, [shard], w0=out.w) for shard in shards]
        k = np.array([part.k for part in parts], dtype=float)
        even = mix == "uniform" or not k.any()
        mu = np.full(len(parts), 1.0 / len(parts)) if even else k / k.sum()
        out.w = sum(m * part.w for m, part in zip(mu, parts, strict=True))
        out.updates.append([part.updates[0] for part in parts])
        out.mu.append(mu.tolist())
        out.w_per_epoch.append(out.w)
        if not k.any():
            break
    return out
