"""Why a run is slow: R, the best margin and R²/γ² of the rows, as they are and treated otherwise.

:func:`perceptrons.advise` measures many treatments for a second or two; a page that follows a pointer has
less time, so here are those that keep the two columns, by the maximum margin alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..estimators.perceptron import Perceptron
from ..proofs._convergence import AugmentedRows
from ..proofs._tables import down, up
from ..theory import bounds
from . import geometry

EPOCHS = 200


class Treated(NamedTuple):
    """What a treatment of the rows does to a perceptron."""

    name: str
    how: str
    R: float  #: rounded up
    gamma: float | None  #: a margin that a separator has, rounded down; None: none was found
    ratio: float | None  #: R²/γ², rounded up
    updates: int  #: of a perceptron, in order
    clean: bool  #: whether it came to a clean pass


def advice(X: np.ndarray, y: np.ndarray) -> dict[str, Any] | None:
    """What centring and other constant coordinates do to these rows; None where there are not two classes."""
    if len(np.unique(y)) != 2:
        return None
    longest = float(np.max(np.linalg.norm(X, axis=1)))
    treated = [
        _treated("as they are, B = 1", "intercept_scaling=1", X, y, 1.0),
        _treated("centred at the mean, B = 1", "X - X.mean(axis=0)", X - X.mean(axis=0), y, 1.0),
    ]
    B = float(f"{longest:.3g}")
    if 0.0 < B < math.inf and B != 1.0:
        treated.append(_treated("B = R", f"intercept_scaling={B:g}", X, y, B))
    treated.append(_treated("no intercept", "fit_intercept=False", X, y, 0.0))
    base, centred = treated[:2]
    return {
        "text": "\n".join(_sentences(treated)),
        "numbers": {
            "R": base.R,
            "gamma": base.gamma,
            "ratio": base.ratio,
            "updates": base.updates,
            "R_centred": centred.R,
            "gamma_centred": centred.gamma,
            "ratio_centred": centred.ratio,
            "updates_centred": centred.updates,
        },
        "treatments": [one._asdict() for one in treated],
    }


def _treated(name: str, how: str, X: np.ndarray, y: np.ndarray, bias: float) -> Treated:
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    R = AugmentedRows(X, sign, bias, False).radius(np.arange(len(X)))
    best = geometry.best(X, y, bias, False)
    gamma = None if best is None else float(best["gamma"])
    ratio = None if gamma is None else bounds.novikoff(R, gamma)
    fitted = Perceptron(
        fit_intercept=bias > 0.0, intercept_scaling=bias or 1.0, shuffle=False, max_iter=EPOCHS
    ).fit(X, y)
    finite = ratio is not None and math.isfinite(ratio)
    clean = fitted.stop_reason_ == "clean pass"
    return Treated(name, how, R, gamma, ratio if finite else None, int(fitted.n_updates_), clean)


def _sentences(treated: list[Treated]) -> list[str]:
    base, *others = treated
    if base.gamma is None or base.ratio is None:
        lines = [f"No plane was found that separates these rows, so R²/γ² bounds nothing: {_count(base)}."]
    else:
        lines = [
            f"R = {up(base.R)}, and a separator has margin {down(base.gamma)}: a perceptron makes at most "
            f"R²/γ² = {up(base.ratio)} updates. In the order of the rows: {_count(base)}."
        ]
    for one in others:
        bound = "no separator was found" if one.ratio is None else f"R²/γ² = {up(one.ratio)}"
        lines.append(f"{one.name[0].upper()}{one.name[1:]} ({one.how}): {bound}, {_count(one)}.")
    return lines


def _count(one: Treated) -> str:
    updates = f"{one.updates} update{'s' * (one.updates != 1)}"
    return updates if one.clean else f"{updates} in {EPOCHS} epochs, none of them clean"
