"""Rows, learners and a plain simulation for the tests of parameter mixing."""

from __future__ import annotations

from typing import Any

import numpy as np

import perceptrons as pc

_rng = np.random.default_rng(8)
#: sparse rows, so that shards change different features; three classes, the first against the rest for two
X = _rng.normal(size=(90, 12)) * (_rng.random((90, 12)) < 0.4)
Y = {3: (X @ _rng.normal(size=(12, 3)) + 0.4 * _rng.normal(size=(90, 3))).argmax(1)}
Y[2] = (Y[3] == 0).astype(int)

#: one of every kind of space, rule and readout
LEARNERS: dict[str, Any] = {
    "perceptron": pc.Perceptron(),
    "average": pc.AveragedPerceptron(),
    "unit average": pc.AveragedPerceptron(normalized_votes=True, row_norm="l2"),
    "margin": pc.MarginPerceptron(gamma=0.05),
    "mira": pc.MIRA(p=0.5),
    "pa": pc.PassiveAggressive(readout="average", solver="exact"),
    "pa against the rest": pc.PassiveAggressive(multiclass="ovr", variant="II"),
    "arow": pc.AROW(),
    "scw": pc.SCW(),
}


TEXTS = [" ".join(f"w{j}" for j in np.flatnonzero(row)) for row in X]


def learner(name: str, **params: Any) -> Any:
    return type(LEARNERS[name])(**LEARNERS[name].get_params()).set_params(**params)


def tree_sum(parts: list[Any]) -> Any:
    """(0, 1), (2, 3), …, then their sums."""
    while len(parts) > 1:
        parts = [sum(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]
