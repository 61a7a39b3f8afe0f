"""What every learner of the reference shares: rows, sign and the record it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]
Order: TypeAlias = Iterable[Iterable[int]]

LOSS_TOL = 1e-12
"""A hinge loss up to this size is zero: rounding must not make a learner update for ever."""


def rows(X: ArrayLike, bias: float | None = None, normalize: str | None = None) -> Array:
    r"""The examples as the learner reads them: :math:`x' = (x, B)`, then :math:`x' / \|x'\|`.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Examples, one a row.
    bias : float or None
        Value B of a constant coordinate put last; None leaves the hyperplane through the origin.
    normalize : {None, "l2"}
        "l2" gives every row length one, after the constant coordinate; a zero row stays zero.
    """
    X = np.array(X, dtype=np.float64)
    if bias is not None:
        X = np.column_stack([X, np.full(len(X), float(bias))])
    if normalize is None:
        return X
    if normalize != "l2":
        raise ValueError(f'normalize must be None or "l2"; got {normalize!r}.')
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0.0, length, 1.0)


def dot(a: Array, b: Array) -> float:
    """The inner product of two vectors."""
    return float(a @ b)


def sign(score: float) -> int:
    """+1 for a positive score, -1 for any other: a tie is negative."""
    return 1 if score > 0.0 else -1


def is_mistake(rule: str, score: float, y: int) -> bool:
    r"""Does a conservative learner update?  "margin": :math:`ys \le 0`; "prediction": bad sign."""
    if rule == "margin":
        return bool(y * score <= 0.0)
    if rule == "prediction":
        return sign(score) != y
    raise ValueError(f'rule must be "margin" or "prediction"; got {rule!r}.')


def step_size(learning_rate: float | str, k: int, t: int) -> float:
    """The step of update k at example t: a constant, 1/k ("updates") or 1/t ("examples")."""
    if learning_rate == "updates":
        return 1.0 / k
    if learning_rate == "examples":
        return 1.0 / t
    return float(learning_rate)


@dataclass(kw_only=True)
class Run:
    """A run of a learner: its weights, and everything it did on the way.

    A learner iterates over its examples with `examples` (or its rows with `visits`), records the
    outcome of each with `saw`, and every change of weights with `update`. All hypotheses are
    kept, so that any run can be read out as the last, the average, the vote or a random one of them
    (`perceptrons.reference.readout`).

    Attributes
    ----------
    w : ndarray
        The weights now; a constant coordinate comes last. Shape (n,), or (k, n) with one prototype
        a class.
    bias, normalize
        How `rows` transforms an example before the product with w.
    t : int
        Examples processed, the current one included, over all epochs.
    updates : list of list of int
        The rows that were updated on, one list an epoch, in order.
    errors : list of int
        Prediction errors of each epoch, the label being predicted before the update.
    mistakes : list of int
        Per epoch, how often the conservative test was true (it is not the same as an error, nor as
        an update).
    steps : list of float
        Of every update the step tau, the factor of y x (or, second order, of y Sigma x) in the new
        weights.
    vectors, counts : list
        v_0, v_1, ..., the weights after 0, 1, ... updates, and after how many examples each was the
        current one.
    lazy : ndarray
        The sum A of (t - 1)(w_new - w_old) over all updates; the average is w - A / t.
    """

    w: Array
    bias: float | None = None
    normalize: str | None = None
    t: int = 0
    updates: list[list[int]] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    mistakes: list[int] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    vectors: list[Array] = field(init=False)
    counts: list[int] = field(init=False)
    lazy: Array = field(init=False)
    row: int = field(default=-1, repr=False)

    def __post_init__(self) -> None:
        self.w = np.array(self.w, dtype=np.float64)
        self.vectors, self.counts = [self.w], [0]
        self.lazy = np.zeros_like(self.w)

    def visits(self, n_rows: int, order: Order | None = None, until_clean: bool = False) -> Iterator[int]:
        """The rows in the order of visiting; one pass from first to last if no order is given.

        With `until_clean` an epoch without an update is the last one.
        """
        for epoch in [range(n_rows)] if order is None else order:
            self.updates.append([])
            self.errors.append(0)
            self.mistakes.append(0)
            for i in epoch:
                self.t, self.row = self.t + 1, int(i)
                yield self.row
                self.counts[-1] += 1  # a vote for the vector that is current after the example
            if until_clean and not self.updates[-1]:
                return

    def examples(
        self, X: Array, y: Labels, order: Order | None = None, until_clean: bool = False
    ) -> Iterator[tuple[Array, int]]:
        """The examples (x, y) in the order of visiting."""
        for i in self.visits(len(X), order, until_clean):
            yield X[i], int(y[i])

    def saw(self, error: bool, mistake: bool) -> None:
        """Count the current example."""
        self.errors[-1] += bool(error)
        self.mistakes[-1] += bool(mistake)

    def update(self, w: Array, tau: float) -> None:
        """Move to the weights w because of the current example."""
        self.updates[-1].append(self.row)
        self.move(w, tau)

    def move(self, w: Array, tau: float) -> None:
        """Make w the current hypothesis, from example t on."""
        self.lazy = self.lazy + (self.t - 1) * (w - self.w)
        self.w = w
        self.steps.append(float(tau))
        self.vectors.append(w)
        self.counts.append(0)

    @property
    def k(self) -> int:
        """Updates so far."""
        return len(self.steps)

    @property
    def converged(self) -> bool:
        """Was the last pass without an update?"""
        return bool(self.updates) and not self.updates[-1]

    def rows(self, X: ArrayLike) -> Array:
        """New examples as this learner reads them."""
        return rows(X, self.bias, self.normalize)

    def length(self, w: Array) -> float:
        """The Euclidean length of weights."""
        return float(np.linalg.norm(w))

    def scores(self, X: ArrayLike) -> Array:
        """Decision values w.x, one an example (or one an example and class)."""
        return self.rows(X) @ self.w.T

    def predict(self, X: ArrayLike) -> Labels:
        """Labels of new examples."""
        return decide(self.scores(X))


def decide(scores: Array) -> Labels:
    """Labels for decision values: signs of a vector, best (first on ties) columns of a matrix."""
    if scores.ndim == 1:
        return np.where(scores > 0.0, 1, -1)
    return np.asarray(scores.argmax(axis=1))
