"""Scenes of the lab, for tests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import perceptrons as pc
from perceptrons.lab import catalog
from perceptrons.lab.runs import run
from perceptrons.proofs import Trace

#: Learners of inputs that are 0 and 1.
BINARY = ("Winnow", "Elimination")


def scene_of(toy: pc.datasets.Toy, learner: str = "Perceptron", **more: Any) -> dict[str, Any]:
    """A scene of a toy set; ``params`` are those of the learner."""
    labels, codes = np.unique(toy.y, return_inverse=True)
    return {
        "X": toy.X.tolist(),
        "y": codes.tolist(),
        "classes": [str(label) for label in labels],
        "learner": {"name": learner, "params": more.pop("params", {})},
        **more,
    }


def set_for(learner: str, small: bool = True) -> pc.datasets.Toy:
    """A toy set that a learner takes."""
    if learner in BINARY:
        return catalog.sets()["first_input"]
    return pc.datasets.clouds_far(6 if small else 40)


def one(scene: dict[str, Any]) -> dict[str, Any]:
    """The run of the learner of a scene; it is JSON without NaN."""
    made = run(scene)
    json.dumps(made, allow_nan=False)
    found: dict[str, Any] = made["runs"][0]
    return found


def traces(found: dict[str, Any]) -> list[Trace]:
    """The traces of the segments, read as any trace is."""
    return [Trace.from_json(json.dumps(segment["trace"])) for segment in found["segments"]]
