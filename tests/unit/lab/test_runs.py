"""A run of the lab is a run of the library: its visits are those of fit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import perceptrons as pc
from perceptrons.lab.runs import run
from perceptrons.proofs import Trace


def scene_of(toy, learner="Perceptron", params=None, **more):
    labels, codes = np.unique(toy.y, return_inverse=True)
    return {
        "X": toy.X.tolist(),
        "y": codes.tolist(),
        "classes": [str(label) for label in labels],
        "learner": {"name": learner, "params": params or {}},
        **more,
    }


def one(scene):
    made = run(scene)
    json.dumps(made, allow_nan=False)
    return made["runs"][0]


def last_trace(found):
    return Trace.from_json(json.dumps(found["segments"][-1]["trace"]))


def test_a_run_without_edits_is_fit():
    toy = pc.datasets.four_points()
    found = one(scene_of(toy, shuffle=False))
    clf = pc.Perceptron(shuffle=False).fit(toy.X, toy.y)
    trace = last_trace(found)
    assert trace.n_updates[-1] == clf.n_updates_
    assert trace.w[-1].tolist() == [*clf.coef_[0], clf.intercept_[0]]
    assert found["reason"] == clf.stop_reason_ == "clean pass"
    assert found["sentences"][0] == "row 0, y = +1, w·x = 0: mistake, w ← w + x."
    assert len(found["sentences"]) == len(trace)


def test_a_scene_needs_two_classes():
    toy = pc.datasets.four_points()
    with pytest.raises(ValueError, match="points of at least two classes"):
        run(scene_of(toy) | {"y": [0, 0, 0, 0]})
