"""The first state of a model, and the weights that a fit starts from instead of 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import changing, checks
from .labels import checked_labels

if TYPE_CHECKING:
    from .._types import Label
    from ..engine.journal import Journal
    from ..engine.spaces import Space
    from .learner import Learner


def begin(
    model: Learner,
    n_features: int,
    dtype: npt.DTypeLike,
    classes: Sequence[Label] | np.ndarray | None,
    several: bool = False,
) -> None:
    """Start an untrained model with these classes; None: with no class yet.

    ``several``: a row may have several of them, or none.
    """
    known = np.asarray([])
    if classes is not None and len(classes):
        known = np.unique(checked_labels(model, classes, len(classes)))
    elif getattr(model, "mistake", "margin") == "prediction":
        raise ValueError(
            "mistake='prediction' treats the two labels differently: give all labels by classes= "
            "in the first call of partial_fit."
        )
    model.classes_ = known
    space = model._new_space(model._frame(dtype), n_features, len(known), several)
    adopt(model, space, model._new_journals(space))


def begin_at(
    model: Learner,
    coef: np.ndarray,
    intercept: np.ndarray,
    classes: np.ndarray,
    several: bool,
    names: np.ndarray | None,
) -> None:
    """Start an untrained model with these classes and weights, in the precision of ``coef``.

    ``names``: of the features; None: they have none.
    """
    d = coef.shape[1]
    begin(model, d, coef.dtype, classes, several)
    model._start_at(model._space, d, coef, intercept)
    model.n_features_in_ = d
    if names is not None:
        model._given_names = np.asarray(names, dtype=object)


def adopt(model: Learner, space: Space, journals: list[Journal]) -> None:
    """Use ``space`` as the state of the model, and reset the record of the run."""
    model.__dict__.pop("_mixing", None)
    model._space = space
    model._journals = journals
    forget_bounds(model)
    model.history_ = []
    model.stop_reason_ = "not started"
    model.n_iter_ = 0
    model._longest = 0.0
    model._plain = True
    model._changed = ()
    model._begun = changing.parameters_of_state(model)
    model._progressive = np.zeros(2)


def forget_bounds(model: Learner) -> None:
    """Remove results about the rows of a fit: they do not hold for further rows."""
    model._bounds = None
    model._steps = None
    for name in ("best_iter_", "validation_scores_"):
        model.__dict__.pop(name, None)


def kept_journals(model: Learner, fresh: list[Journal]) -> list[Journal]:
    """The logs of a warm start: a vote needs all updates since w = 0, ``update_log_`` the new ones."""
    if not model._reading.logged:
        return fresh
    if len(model._journals) != len(fresh):
        raise ValueError(
            f"readout={model._readout!r} needs all updates, and the earlier ones were not kept. Fit again "
            "with warm_start=False, or use readout='average'."
        )
    return model._journals


def checked_weights(
    n: int,
    d: int,
    coef_init: npt.ArrayLike | None,
    intercept_init: npt.ArrayLike | None,
    bias: float | None,
) -> np.ndarray:
    """(n, d + 1): n weight vectors to start from, the weight of the constant coordinate ``bias`` last.

    ``bias`` is None where there is no intercept.
    """
    coef = np.zeros((n, d)) if coef_init is None else checks.numbers("coef_init", coef_init)
    intercept = np.zeros(n)
    if intercept_init is not None:
        intercept = checks.numbers("intercept_init", intercept_init)
    coef = coef.reshape(1, -1) if coef.ndim == 1 else coef
    intercept = intercept.reshape(-1)
    if coef.shape != (n, d) or intercept.shape != (n,):
        raise ValueError(
            f"coef_init must have shape {(n, d)} and intercept_init {(n,)}; got {coef.shape} "
            f"and {intercept.shape}."
        )
    if intercept.any() and bias is None:
        raise ValueError("intercept_init needs fit_intercept=True.")
    scaled = intercept if bias is None else intercept / bias
    return np.hstack([coef, scaled[:, None]])


def initial_weights(
    model: Learner,
    space: Space,
    d: int,
    coef_init: npt.ArrayLike | None,
    intercept_init: npt.ArrayLike | None,
) -> np.ndarray:
    """(columns, d + 1): coef_init and intercept_init as one array, the constant coordinate last."""
    bias = space.frame.bias if model.fit_intercept else None
    w = checked_weights(space.columns, d, coef_init, intercept_init, bias)
    first_counts = model._readout == "average" and model._reading.initial
    if w.any() and (model._reading.logged or first_counts):
        initial = " with include_initial=True" if first_counts else ""
        raise ValueError(
            f"readout={model._readout!r}{initial} is for a start from w = 0; drop coef_init and "
            "intercept_init, or use readout='last' or 'average'."
        )
    return w
