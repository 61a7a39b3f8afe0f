"""Every estimator of the linear family, data that all of them accept, and a model's whole state."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import perceptrons as pc

LINEAR = ("perceptron", "aggressive", "first_order", "multiplicative", "confidence", "risk")
NAMES = [
    name
    for name in pc.__all__
    if isinstance(found := getattr(pc, name), type)
    and issubclass(found, BaseEstimator)
    and found.__module__.rsplit(".", 1)[-1] in LINEAR
]
ONLINE = [name for name in NAMES if hasattr(getattr(pc, name), "partial_fit")]

#: 0/1 rows, so that Winnow and Elimination take them too; y is an OR of inputs 0 and 3.
X = np.array(
    [
        [1, 0, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 1, 1, 1],
        [0, 1, 0, 0, 1],
        [1, 1, 0, 0, 1],
        [0, 0, 0, 0, 1],
        [0, 1, 1, 1, 0],
        [0, 0, 1, 0, 0],
    ],
    dtype=np.float64,
)
y = np.array([1, 0, 1, 0, 1, 0, 1, 0])
y3 = np.array([1, 0, 2, 0, 1, 0, 2, 0])


def make(name: str, **params: Any) -> Any:
    """An estimator that visits the rows in order."""
    return getattr(pc, name)(**({"shuffle": False} | params))


def fitted(name: str, y: Any = y, **params: Any) -> Any:
    return make(name, **params).fit(X, y)


def attributes(model: Any) -> dict[str, Any]:
    """All that fitting has left, by name."""
    names = {n for n in (*dir(type(model)), *vars(model)) if n.endswith("_") and not n.startswith("_")}
    return {n: copy.deepcopy(getattr(model, n)) for n in sorted(names) if hasattr(model, n)}


def snapshot(model: Any, rows: Any = X) -> dict[str, Any]:
    """The attributes of a model, what it predicts and how it would go on."""
    seen = attributes(model)
    seen["predictions"] = model.predict(rows)
    seen["scores"] = model.decision_function(rows)
    if hasattr(model, "partial_fit"):
        after = copy.deepcopy(model).partial_fit(rows, model.classes_[np.arange(len(rows)) % 2])
        seen["later"] = after.coef_
    return seen
