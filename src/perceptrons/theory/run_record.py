"""The results of a run as plain data: all that certificates and the run-time checks read of a learner.

A learner makes one by ``model.run_record()``. It is a snapshot: it does not change when the learner goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class UpdateLog(NamedTuple):
    """The updates of one learner in order: w <- keep w + alpha x."""

    epoch: np.ndarray
    row: np.ndarray
    keep: np.ndarray
    alpha: np.ndarray  #: (updates, 1 or n_classes)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnerRecord:
    """One learner of a run: the only one, one class against the rest, or all prototypes together.

    What a learner does not have is None.
    """

    examples: int | None = None
    updates: int | None = None
    mistakes: int | None = None  #: rows on the wrong side of the hyperplane, or on it
    errors: int | None = None  #: wrong predictions
    squared_loss: float | None = None  #: the sum of max(0, 1 - m)^2
    sum_sq_norms: float | None = None  #: Q, the squared lengths of the rows of all updates, summed
    rule: Any = None  #: the record of :mod:`perceptrons.rules` that its steps are made by
    threshold: float | None = None  #: what <w, x> has to reach, where that is no weight of a coordinate
    promotions: int | None = None  #: updates of Winnow on positive rows
    literals: int | None = None  #: literals that are kept
    support: int | None = None  #: rows that w is a combination of
    forgetting_cost: float | None = None  #: Q of the forgetron
    risk: float | None = None  #: what the margins lack, summed, at the end of a descent
    on_boundary: int | None = None  #: rows with <w, x> = 0 at the end of a descent
    covariance: np.ndarray | None = None  #: of a second-order learner: a matrix, or its diagonal
    #: sums of the steps on each row of the last fit, up to a common factor: (n_rows,) or (n_rows, n_classes)
    steps: np.ndarray | None = None
    log: UpdateLog | None = None


class ShardedRun(NamedTuple):
    """Passes over shards of the rows, mixed after each round."""

    mixing: str  #: weights of the shards: "uniform", or in proportion to their updates, "mistakes"
    n_shards: int
    #: of each round, for each learner, those of each shard
    updates: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRecord:
    """All that is known of a run after it: parameters, counts, weights, and how the rows were read.

    >>> from perceptrons import Perceptron, datasets
    >>> toy = datasets.four_points()
    >>> record = Perceptron(shuffle=False, fit_intercept=False).fit(toy.X, toy.y).run_record()
    >>> record.problem, record.updates, record.stop_reason
    ('binary', 2, 'clean pass')
    >>> record.weights["last"]  # the constant coordinate last
    array([[2., 1., 0.]])
    """

    kind: type  #: the class of the learner
    classes: np.ndarray
    problem: str  #: "binary", "one-vs-rest", or "joint" for prototypes learned together
    parameters: Mapping[str, Any]  #: those that the run used, whatever they were set to since
    rule: Any = None  #: the first-order rule that the last rows were learned by; None for other learners
    invariants: tuple[str, ...] = ()  #: checks of :func:`theory.debug` that a run of this rule has to pass
    readout: str = "last"  #: which weights predict
    learners: tuple[LearnerRecord, ...]  #: one, or one per class for "one-vs-rest"

    # the course of the run
    stop_reason: str = ""
    n_iter: int = 1  #: epochs
    best_iter: int | None = None  #: the epoch that was kept, where one was chosen by its score
    history: tuple[Mapping[str, Any], ...] | None = None  #: counts of each epoch or piece; None: not kept
    plain: bool = True  #: each row counted once, and at most once an epoch
    changed: tuple[str, ...] = ()  #: parameters of the steps that were changed after the first row
    from_zero: bool = True  #: w was 0 before the first row
    mixed: ShardedRun | None = None  #: where the run is a mean of passes over shards

    # how rows are read
    n_features: int | None = None
    bias: float = 0.0  #: B, the constant coordinate; 0 without an intercept
    free: bool = False  #: the intercept is no weight of a coordinate: it has no part in any length
    unit: bool = False  #: rows are divided by their length
    order: float = 2.0  #: separators are measured in this norm, rows in its dual
    single_precision: bool = False
    kernel: Any = None

    # what was found
    radius: float | None = None  #: the length of the longest row
    gamma: float | None = None  #: the margin that was aimed at
    brackets: tuple[tuple[float | None, float], ...] = ()  #: around the best margin, one per learner
    #: "last" and perhaps "average": (1 or n_classes, n_features + 1), the constant coordinate last.
    #: With a kernel (1 or n_classes, len(support)), coefficients of the rows of ``support``.
    weights: Mapping[str, np.ndarray]
    support: np.ndarray | None = None  #: numbers of rows
    #: with a kernel: numbers of some rows, and these rows as the learner keeps them
    known_rows: tuple[np.ndarray, Any] | None = None
    dual: tuple[np.ndarray, np.ndarray] | None = None  #: rows and coefficients of the w that a solver found
    offsets: np.ndarray | None = None  #: intercepts that do not count in ||w||, one per learner

    @property
    def joint(self) -> bool:
        """Whether prototypes were learned together."""
        return self.problem == "joint"

    @property
    def updates(self) -> int:
        """Updates of all learners."""
        return int(self._total("updates"))

    @property
    def examples(self) -> float:
        """Examples of all epochs; infinite where they were not counted."""
        return math.inf if self.history is None else sum(record["examples"] for record in self.history)

    def _total(self, name: str) -> float:
        return sum(getattr(learner, name) or 0 for learner in self.learners)

    def counts(self) -> dict[str, int]:
        """Errors, mistakes and updates, each summed over the learners."""
        return {name: int(self._total(name)) for name in ("errors", "mistakes", "updates")}

    @property
    def sum_sq_norms(self) -> float:
        """Q, the squared lengths of the rows of all updates, summed over the learners."""
        return float(self._total("sum_sq_norms"))

    @property
    def in_pieces(self) -> bool:
        """Whether rows came by ``partial_fit`` or ``learn_one``."""
        return self.stop_reason in ("partial_fit", "learn_one")
