r"""Four ways to predict with the hypotheses :math:`v_0, v_1, \dots` of one run.

The counts :math:`c_j` say for how long a hypothesis survived; :math:`\sum_j c_j = t`. All four read
any `Run` that decides at zero, of two classes or of many. The theorem on voting [1]_ is about one
epoch in which v_0 has one vote of its own (`include_initial`).

References
----------
.. [1] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine
   Learning 37, 1999.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from .record import Array, Run, decide


def ballots(run: Run, include_initial: bool = False) -> list[int]:
    """The counts, with one more for the initial vector if it is to be included."""
    return [run.counts[0] + include_initial, *run.counts[1:]]


def unit(v: Array, length: Callable[[Array], SupportsFloat] = np.linalg.norm) -> Array:
    r"""The direction :math:`v / \|v\|`; the zero vector stays zero."""
    size = float(length(v))
    return v / size if size > 0.0 else v


def average(run: Run, include_initial: bool = False, normalized: bool = False) -> Array:
    r"""The mean hypothesis :math:`\bar w = \sum_j c_j v_j / \sum_j c_j`, by its definition."""
    c = ballots(run, include_initial)
    v = [unit(v, run.length) for v in run.vectors] if normalized else run.vectors
    return np.asarray(sum(c_j * v_j for c_j, v_j in zip(c, v, strict=True)) / sum(c))


def lazy_average(run: Run) -> Array:
    r"""The same mean as :math:`\bar w = w - A/t`, which costs one vector instead of all of them."""
    return run.w - run.lazy / run.t


def last_scores(run: Run, X: ArrayLike, normalized: bool = False) -> Array:
    r""":math:`s = v_k \cdot x`."""
    return run.rows(X) @ (unit(run.w, run.length) if normalized else run.w).T


def average_scores(run: Run, X: ArrayLike, include_initial: bool = False, normalized: bool = False) -> Array:
    r""":math:`s = \bar w \cdot x`."""
    return run.rows(X) @ average(run, include_initial, normalized).T


def vote_scores(run: Run, X: ArrayLike, include_initial: bool = False) -> Array:
    r""":math:`s = \sum_j c_j \,\mathrm{sign}(v_j \cdot x)`; for many classes, votes of each."""
    X = run.rows(X)
    total = np.zeros(X.shape[:1] + run.w.shape[:-1])
    for c_j, v_j in zip(ballots(run, include_initial), run.vectors, strict=True):
        choice = decide(X @ v_j.T)
        total = total + c_j * (choice if v_j.ndim == 1 else np.eye(len(v_j))[choice])
    return total


def random_scores(run: Run, X: ArrayLike, r: int, normalized: bool = False) -> Array:
    """Scores of the hypothesis that was current after example r; r = 0 is the initial one.

    Drawing r evenly from 1..t is the published procedure, from 0..t the one with the initial vector
    included.
    """
    died = np.cumsum(run.counts)  # the last example of each hypothesis
    v = run.vectors[int(np.flatnonzero(died >= r)[0])]
    return run.rows(X) @ (unit(v, run.length) if normalized else v).T
