"""Checks of what probabilities are made from: a sample of scores, or curves that were fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import first_visits
from ..core.curves import Calibrated, Sigmoids, Steps
from ..core.first_visits import FirstVisits
from .checks import array, need, whole

if TYPE_CHECKING:
    from .registry import Attributes

_FAR = 2000  # exponents of floats are between -1074 and 1024


def check(state: Attributes, columns: int) -> None:
    """What a model with this many columns of scores has for its probabilities, if anything."""
    found: Any = state.get("_calibration")
    if isinstance(found, FirstVisits):
        _sample(found, columns)
    elif isinstance(found, Calibrated):
        need(isinstance(found.readout, str), "curves have no readout")
        need(isinstance(found.curves, (Sigmoids, Steps)), "there are no curves")
        array("exponents of scores", found.curves.e, np.int64, (columns,))
        need(bool((np.abs(found.curves.e) < _FAR).all()), "exponents of scores are out of range")
        if isinstance(found.curves, Sigmoids):
            _sigmoids(found.curves, columns)
        else:
            _steps(found.curves, columns)
    else:
        need("_calibration" not in state, "it has no sample of scores, and no curves")


def _sample(found: FirstVisits, columns: int) -> None:
    whole("first visits", found.n)
    whole("the level of a sample", found.level, 0, 63)
    kept = len(found.number) if isinstance(found.number, np.ndarray) else 0
    array("numbers of visits", found.number, np.int64, (None,))
    array("scores of visits", found.scores, np.float64, (kept, columns))
    array("outcomes of visits", found.outcomes, np.bool_, (kept, columns))
    array("weights of visits", found.weights, np.float64, (kept,))
    need(kept <= first_visits.capacity(columns), "there are more visits than a sample holds")
    need(bool((np.diff(found.number) > 0).all()), "numbers of visits do not ascend")
    need(not kept or (found.number[0] >= 0 and found.number[-1] < found.n), "a visit is out of range")
    need(not np.isinf(found.scores).any(), "scores of visits are not finite")
    need(bool(((found.weights > 0.0) & (found.weights < np.inf)).all()), "weights of visits are not positive")
    need(isinstance(found.readout, str), "a sample has no readout")


def _sigmoids(found: Sigmoids, columns: int) -> None:
    for name in ("a", "b", "c", "low", "high"):
        array(f"{name} of sigmoids", getattr(found, name), np.float64, (columns,))
        need(bool(np.isfinite(getattr(found, name)).all()), "sigmoids are not finite")
    need(bool((found.a >= 0.0).all()), "a sigmoid falls")
    need(bool((found.low <= found.high).all()), "a sigmoid was fitted to no scores")


def _steps(found: Steps, columns: int) -> None:
    array("ends of steps", found.ends, np.int64, (columns + 1,))
    n = len(found.x) if isinstance(found.x, np.ndarray) else 0
    array("scores of steps", found.x, np.float64, (None,))
    array("heights of steps", found.p, np.float64, (n,))
    inside = found.ends[0] == 0 and found.ends[-1] == n and (np.diff(found.ends) > 0).all()
    need(bool(inside), "steps do not fit their classes")
    need(
        bool(np.isfinite(found.x).all() and ((found.p > 0.0) & (found.p < 1.0)).all()), "steps are no shares"
    )
    for begin, end in zip(found.ends[:-1].tolist(), found.ends[1:].tolist()):
        rises = (np.diff(found.x[begin:end]) > 0.0).all() and (np.diff(found.p[begin:end]) >= 0.0).all()
        need(bool(rises), "steps do not ascend")
