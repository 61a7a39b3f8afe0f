"""Weights that a fit starts from instead of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import checks

if TYPE_CHECKING:
    from ..engine.spaces import Space
    from .learner import Learner


def initial_weights(
    model: Learner,
    space: Space,
    d: int,
    coef_init: npt.ArrayLike | None,
    intercept_init: npt.ArrayLike | None,
) -> np.ndarray:
    """(columns, d + 1): coef_init and intercept_init as one array, the constant coordinate last."""
    n = space.columns
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
    if intercept.any() and not model.fit_intercept:
        raise ValueError("intercept_init needs fit_intercept=True.")
    scaled = intercept / space.frame.bias if model.fit_intercept else intercept
    w = np.hstack([coef, scaled[:, None]])
    first_counts = model._readout == "average" and model._reading.initial
    if w.any() and (model._reading.logged or first_counts):
        initial = " with include_initial=True" if first_counts else ""
        raise ValueError(
            f"readout={model._readout!r}{initial} is for a start from w = 0; drop coef_init and "
            "intercept_init, or use readout='last' or 'average'."
        )
    return w
