"""Weights of rows: those given, times those of their classes.

Weights of classes are given, balanced over all rows of a fit, or by the counts of the rows so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..engine import intake

RUNNING = "running"


class Counted(NamedTuple):
    """How many rows of each class have been learned: all that ``class_weight="running"`` needs."""

    labels: np.ndarray  #: ascending
    rows: np.ndarray  #: int64, of each label

    def plus(self, labels: np.ndarray) -> Counted:
        """The same with further rows."""
        every, codes = np.unique(np.concatenate([self._own(labels), labels]), return_inverse=True)
        rows = np.bincount(codes[len(self.labels) :], minlength=len(every)).astype(np.int64)
        rows[codes[: len(self.labels)]] += self.rows
        return Counted(every, rows)

    def _own(self, like: np.ndarray) -> np.ndarray:
        return self.labels if len(self.labels) else like[:0]


NOTHING = Counted(np.empty(0), np.empty(0, np.int64))


def of_rows(class_weight: Any, y: np.ndarray) -> np.ndarray:
    """The weight of each row by its class alone, for a dict or ``"balanced"``."""
    labels, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, Mapping):
        of_class = np.asarray([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
    else:
        of_class = len(y) / (len(labels) * np.bincount(codes).astype(np.float64))
    return np.asarray(of_class[codes])


def running(before: Counted, y: np.ndarray) -> np.ndarray:
    r"""Weights by the counts up to and including each row: :math:`n/(k\,n_c)`.

    n rows so far, :math:`n_c` of them of the class of this one, k classes among them. The last row of a set
    has the weight that ``"balanced"`` gives its class on that set; the first row of all has weight 1. A row's
    weight depends on the rows before it and on nothing else, so not on how they are cut into batches.
    """
    every, codes = np.unique(np.concatenate([before._own(y), y]), return_inverse=True)
    known, codes = codes[: len(before.labels)], codes[len(before.labels) :]
    counts = np.zeros(len(every), np.int64)
    counts[known] = before.rows
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], np.arange(len(every)))
    own = np.empty(len(y), np.int64)
    own[order] = np.arange(len(y)) - first[codes[order]] + 1  # which of its class in this batch
    new = (own == 1) & (counts[codes] == 0)
    n = int(counts.sum()) + np.arange(1, len(y) + 1)
    k = np.count_nonzero(counts) + np.cumsum(new)
    return n / (k * (counts[codes] + own))


def refuse_in_pieces(class_weight: Any) -> None:
    """``"balanced"`` needs all rows at once."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' counts all rows, which partial_fit and learn_one do not see: pass a "
            "dict of what sklearn.utils.compute_class_weight('balanced', classes=classes, y=y) finds, or "
            "'running', which counts the rows so far."
        )


def row_weights(model: Any, sample_weight: Any, y: np.ndarray) -> np.ndarray:
    """Row weights times the weights of their classes; nothing where all of them are 1."""
    weights = checked_weights(model, sample_weight, len(y))
    class_weight = getattr(model, "class_weight", None)
    counted = runs_counts(model)
    if counted:
        weights = running_weights(model, weights, y)
    elif class_weight is not None:
        weights = of_rows(class_weight, y) * (weights if len(weights) else 1.0)
    if not model._weighted() and (counted or not np.isin(weights, (0.0, 1.0)).all()):
        name = "sample_weight" if class_weight is None else "sample_weight and class_weight"
        raise ValueError(
            f"{type(model).__name__} has no theory of row weights: {name} may be 0 and 1 only. "
            "Perceptron, MarginPerceptron and PassiveAggressive take any weight."
        )
    if (weights == 1.0).all():
        return intake.EMPTY
    return intake.frozen(weights, np.float64)


def runs_counts(model: Any) -> bool:
    """Whether classes are weighted by the counts of the rows so far."""
    return isinstance(found := getattr(model, "class_weight", None), str) and found == "running"


def running_weights(model: Any, weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of rows in the order of y; a row of weight 0 is not counted."""
    out = weights.copy() if len(weights) else np.ones(len(y))
    there = out > 0.0
    before = vars(model).get("_counted", NOTHING)
    out[there] *= running(before, y[there])
    return out


def to_count(model: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Labels of the rows that the counts so far will include, where there are such counts."""
    if not runs_counts(model):
        return None
    return y[weights > 0.0] if len(weights) else y


def count_classes(model: Any, batch: Any, before: Any, n: int) -> None:
    """Add the first n rows of a batch, those that were learned, to the counts there were before it."""
    if batch.counted is not None:
        model._counted = (before or NOTHING).plus(batch.counted[:n])


def check_pieces(model: Any) -> None:
    """Refuse what only a fit, which has all rows, can do."""
    if model.early_stopping:
        raise ValueError(
            "early_stopping=True holds out rows of a fit; partial_fit and learn_one have none to spare. "
            "Set early_stopping=False, or call fit."
        )
    refuse_in_pieces(getattr(model, "class_weight", None))
    if "_space" not in vars(model):
        model._frame(np.float64)  # raises where B needs all rows


def checked_weights(model: Any, sample_weight: Any, n: int) -> np.ndarray:
    """Row weights as the user gave them, or nothing."""
    if sample_weight is None:
        return intake.EMPTY
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold {n} numbers: {error}.") from error
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must hold {n} numbers; got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0; row {wrong[0]} has {weights[wrong[0]]:g}."
        )
    return weights


def epoch_weights(model: Any, batch: Any, visit: np.ndarray) -> np.ndarray:
    """Row weights of an epoch: by the rows visited so far, where classes are counted on the way."""
    if not runs_counts(model):
        return batch.weights
    labels = model.classes_[batch.codes[visit]]
    given = batch.weights[visit] if len(batch.weights) else batch.weights
    weights = np.ones(batch.X.shape[0])
    weights[visit] = running_weights(model, given, labels)
    before = vars(model).get("_counted", NOTHING)
    model._counted = before.plus(labels if not len(given) else labels[given > 0.0])
    return intake.frozen(weights)
