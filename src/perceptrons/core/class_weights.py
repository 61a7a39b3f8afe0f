"""Weights of rows: ``sample_weight`` times the weights of their classes.

Weights of classes are given, balanced over all rows of a fit, or computed from the counts so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..engine import intake
from . import calibrating

if TYPE_CHECKING:
    from .._types import Label
    from .learner import Learner
    from .passes import CheckedRows

#: A weight for each label, "balanced", "running", or None: all classes weigh the same.
ClassWeight: TypeAlias = "Mapping[Label, float] | str | None"

RUNNING = "running"


class Counted(NamedTuple):
    """Numbers of rows of each class that were learned, for ``class_weight="running"``."""

    labels: np.ndarray  #: ascending
    rows: np.ndarray  #: int64, of each label

    def plus(self, labels: np.ndarray) -> Counted:
        """These counts with further rows added."""
        every, codes = np.unique(np.concatenate([self._own(labels), labels]), return_inverse=True)
        rows = np.bincount(codes[len(self.labels) :], minlength=len(every)).astype(np.int64)
        rows[codes[: len(self.labels)]] += self.rows
        return Counted(every, rows)

    def _own(self, like: np.ndarray) -> np.ndarray:
        return self.labels if len(self.labels) else like[:0]


NOTHING = Counted(np.empty(0), np.empty(0, np.int64))


def of_rows(class_weight: ClassWeight, y: np.ndarray) -> np.ndarray:
    """The weight of each row by its class alone, for a dict or ``"balanced"``."""
    labels, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, Mapping):
        of_class = np.asarray([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
    else:
        of_class = len(y) / (len(labels) * np.bincount(codes).astype(np.float64))
    return np.asarray(of_class[codes])


def running(before: Counted, y: np.ndarray) -> np.ndarray:
    r"""Weights by the counts up to and including each row: :math:`n/(k\,n_c)`.

    n rows so far, :math:`n_c` of them of the class of this row, k classes among them. The last row of a set
    has the weight that ``"balanced"`` gives its class on that set; the first row of all has weight 1. The
    weight of a row depends on the rows before it only, so not on the cut into batches.
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


def refuse_in_pieces(class_weight: ClassWeight) -> None:
    """``"balanced"`` needs all rows at once."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' counts all rows, which partial_fit and learn_one do not see: pass a "
            "dict of what sklearn.utils.compute_class_weight('balanced', classes=classes, y=y) finds, or "
            "'running', which counts the rows so far."
        )


def row_weights(model: Learner, sample_weight: npt.ArrayLike | None, y: np.ndarray) -> np.ndarray:
    """Row weights times the weights of their classes; empty where all of them are 1."""
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


def runs_counts(model: Learner) -> bool:
    """Whether classes are weighted by the counts of the rows so far."""
    return isinstance(found := getattr(model, "class_weight", None), str) and found == "running"


def running_weights(model: Learner, weights: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of rows in the order of y; a row of weight 0 is not counted."""
    out = weights.copy() if len(weights) else np.ones(len(y))
    there = out > 0.0
    before = vars(model).get("_counted", NOTHING)
    out[there] *= running(before, y[there])
    return out


def to_count(model: Learner, y: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Labels of the rows to be counted; None unless ``class_weight="running"``."""
    if not runs_counts(model):
        return None
    return y[weights > 0.0] if len(weights) else y


def count_classes(model: Learner, batch: CheckedRows, before: Counted | None, n: int) -> None:
    """Add the first n rows of a batch, those that were learned, to the counts ``before`` it."""
    if batch.counted is not None:
        model._counted = (before or NOTHING).plus(batch.counted[:n])


def check_pieces(model: Learner) -> None:
    """Raise for parameters that need all rows of a fit."""
    if model.early_stopping:
        raise ValueError(
            "early_stopping=True holds out rows of a fit; partial_fit and learn_one have none to spare. "
            "Set early_stopping=False, or call fit."
        )
    calibrating.check_pieces(model)
    refuse_in_pieces(getattr(model, "class_weight", None))
    if "_space" not in vars(model):
        model._frame(np.float64)  # raises where B needs all rows


def checked_weights(model: Learner, sample_weight: npt.ArrayLike | None, n: int) -> np.ndarray:
    """``sample_weight`` as an array; empty where it is None."""
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


def of_epoch(model: Learner, batch: CheckedRows, visit: np.ndarray) -> CheckedRows:
    """The rows of an epoch; with ``class_weight="running"`` their weights come from those visited so far."""
    if not runs_counts(model):
        return batch
    labels = model.classes_[batch.codes[visit]]
    given = batch.weights[visit] if len(batch.weights) else batch.weights
    weights = np.ones(batch.X.shape[0])
    weights[visit] = running_weights(model, given, labels)
    before = vars(model).get("_counted", NOTHING)
    model._counted = before.plus(labels if not len(given) else labels[given > 0.0])
    return batch._replace(weights=intake.frozen(weights))
