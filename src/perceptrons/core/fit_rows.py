"""Checks of the arguments of ``fit``: rows, labels and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..engine import intake
from . import changing, class_weights
from .intakes import in_precision
from .labels import checked_targets, coded
from .passes import CheckedRows

if TYPE_CHECKING:
    from .._types import Objects
    from ..engine.spaces import Space
    from .learner import Learner


def rows_of_fit(
    model: Learner,
    X: Objects,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    old: Space | None,
) -> CheckedRows:
    """The rows that a fit learns; ``old`` is the space of a warm start, or None."""
    model._check_params()
    steps = [] if old is None else changing.changed_steps(model, again=True)
    given, X = X, in_precision(model._intake.checked(X, reset=old is None), old)
    exact = model._intake.exact(given, X)
    given, y = y, checked_targets(model, y, X.shape[0], goes_on=old is not None)
    several = y.ndim == 2
    classes, codes = coded(y)
    if len(classes) < (1 if several else 2):
        if several:
            raise ValueError("No row has a label: y must have one at least.")
        raise ValueError(
            f"{type(model).__name__} needs at least two classes in y; it holds one class only: "
            f"{classes[0]!r}."
        )
    if old is None:
        model.__dict__.pop("_counted", None)
    weights = class_weights.row_weights(model, sample_weight, y)
    if class_weights.runs_counts(model):  # each epoch has its own
        weights = class_weights.checked_weights(model, sample_weight, len(y))
        weights = intake.frozen(weights) if len(weights) else intake.EMPTY
    class_weight = getattr(model, "class_weight", None)
    if isinstance(class_weight, Mapping) and not set(class_weight) <= set(classes.tolist()):
        strange = next(label for label in class_weight if label not in classes.tolist())
        raise ValueError(f"class_weight has a weight for {strange!r}, which is not a label in y.")
    if old is not None:
        codes = model._labels.codes(y)
        classes = model.classes_
    model.classes_ = classes
    if several and len(weights) and not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one needs a positive weight.")
    if not several and len(weights) and len(np.unique(codes[weights > 0])) < 2:
        where = "all classes but one class" if weights.any() else "every row"
        raise ValueError(
            f"sample_weight times class_weight is zero for {where}; at least two classes need a row "
            "with a positive weight."
        )
    model._check_values(X)
    model.__dict__.pop("_names", None)
    there = weights > 0.0 if len(weights) else slice(None)
    frame = model._frame(X.dtype, X, there) if old is None else old.frame
    rows = model._intake.rows(X, learn=True, frame=frame)
    codes = codes if several else codes.astype(np.int64)
    batch = CheckedRows(X, rows, codes, weights, exact, frame, steps)
    still_valid(model, batch, given, sample_weight)
    return batch


def still_valid(model: Learner, batch: CheckedRows, *given: object) -> None:
    """Check the rows again if reading one of the objects given may have called methods of the user."""
    given = (*given, getattr(model, "class_weight", None))
    if not all(
        x is None or isinstance(x, str) or (type(x) is np.ndarray and x.dtype != object) for x in given
    ):
        intake.check_again(batch.X, batch.rows)
