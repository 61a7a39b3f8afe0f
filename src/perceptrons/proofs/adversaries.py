r"""Adversaries of the online protocol: each row is labelled after the learner's prediction of it.

They show that a mistake bound cannot be improved: no deterministic learner does better on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import theory
from .protocol import Player

__all__ = ["ForcedMistakes", "force_mistakes"]

MOST_FORCED = 10_000  # rows of the adversary, each as wide as there are rows


class ForcedMistakes(NamedTuple):
    """What :func:`force_mistakes` returns; unpacks as ``n, sequence, u``."""

    n: int  #: mistakes made, one per row
    sequence: tuple[np.ndarray, np.ndarray]  #: (X, y): the rows e_1, …, e_n and the labels they were given
    u: np.ndarray  #: a unit vector with y<u, x> = n^{-1/2} ≥ γ on all of them


def force_mistakes(learner: Any, gamma: float, classes: npt.ArrayLike = (-1, 1)) -> ForcedMistakes:
    r"""Make a learner err :math:`\lfloor 1/\gamma^2\rfloor` times on rows that are separable with margin γ.

    The rows are :math:`e_1, \dots, e_n`, :math:`n = \lfloor 1/\gamma^2\rfloor`, each labelled against the
    prediction. All n predictions are wrong; and yet :math:`u = n^{-1/2}\sum y_i e_i` is a unit vector with
    :math:`y_i\langle u, e_i\rangle = n^{-1/2} \ge \gamma`, and R = 1. So no deterministic learner has a
    better bound than :math:`\lfloor R^2/\gamma^2\rfloor`, which is the perceptron's. A deterministic learner
    makes the same mistakes again on the same sequence; a randomised one n/2 of them on average.

    Parameters
    ----------
    learner : object, or a pair of functions
        As in :func:`run_online`; fresh. It is trained in place.
    gamma : float
        :math:`0 < \gamma \le 1`, and at least 0.01: the rows have :math:`1/\gamma^2` entries.
    classes : pair of labels, default=(-1, 1)
        The smaller and the larger label; u is positive for the larger one.

    Returns
    -------
    n, sequence, u : ForcedMistakes
        ``sequence`` is (X, y), which :func:`run_online` takes.

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> from perceptrons.proofs import run_online
    >>> n, (X, y), u = force_mistakes(Perceptron(fit_intercept=False), gamma=0.5)
    >>> n, y, u
    (4, array([1, 1, 1, 1]), array([0.5, 0.5, 0.5, 0.5]))
    >>> run_online(Perceptron(fit_intercept=False), (X, y)).n_mistakes
    4
    """
    n = theory.forced_mistakes(gamma)
    if not n <= MOST_FORCED:
        raise ValueError(
            f"gamma must be at least {MOST_FORCED**-0.5:g}: the adversary serves 1/gamma^2 rows of as many "
            f"entries; got gamma={gamma!r}."
        )
    n, labels = int(n), np.asarray(classes)
    if labels.shape != (2,):
        raise ValueError(f"classes must be a pair of labels; got classes={classes!r}.")
    player, X = Player(learner, labels), np.eye(n)
    signs = np.ones(n)
    for i, x in enumerate(X):
        predicted = player.predict(x)
        signs[i] = -1.0 if predicted == labels[1] else 1.0
        player.learn(x, labels[int(signs[i] > 0.0)].item())
    y = labels[(signs > 0.0).astype(int)]
    return ForcedMistakes(n, (X, y), signs / np.sqrt(n))
