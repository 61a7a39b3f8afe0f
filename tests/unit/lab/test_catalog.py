"""The catalogue says what the library has, and what it says can be run."""

from __future__ import annotations

import inspect
import json
import re

import pytest
from lab_scenes import scene_of, set_for

import perceptrons as pc
from perceptrons.core.learner import Learner
from perceptrons.lab import catalog
from perceptrons.lab.runs import run
from perceptrons.lab.scenes import Choice, scene_from

pytestmark = pytest.mark.uncompiled
FOUR = pc.datasets.four_points()
SCENE = scene_from(scene_of(FOUR))


def test_every_online_learner_of_rows_is_there():
    named = [getattr(pc, name) for name in pc.__all__]
    online = [one.__name__ for one in named if inspect.isclass(one) and issubclass(one, Learner)]
    assert list(catalog.learners()) == [name for name in online if name != "TextClassifier"]


def test_the_catalogue_is_plain_json():
    found = json.loads(json.dumps(catalog.catalog(), allow_nan=False))
    assert found["format"] == "perceptrons lab catalog" and found["schema"] == 1
    assert [one["name"] for one in found["kernels"]] == ["linear", "polynomial", "all_subsets", "gaussian"]
    assert {"four_points", "rings", "three_classes"} <= {one["name"] for one in found["sets"]}
    texts = [one["text"] for group in ("sets", "learners", "kernels") for one in found[group]]
    texts += [param["text"] for one in found["learners"] for param in one["params"]]
    assert all(texts)
    assert not [text for text in texts if re.search(r"[\\`{}]|:math:", text)]
    for toy in found["sets"]:
        assert len(toy["X"]) == len(toy["y"]) and max(toy["y"]) == len(toy["classes"]) - 1


@pytest.mark.parametrize("name", catalog.learners())
def test_defaults_and_ends_of_sliders_are_taken(name):
    """The learner itself checks its parameters when it is fitted."""
    for parameter in catalog.parameters(name).values():
        signature = inspect.signature(catalog.learners()[name]).parameters
        if parameter.kind not in ("kernel", "choice"):
            assert parameter.default == signature[parameter.name].default
        values = [parameter.default, parameter.low, parameter.high, *(parameter.choices or [])]
        for value in values:
            if value is None and not parameter.optional:
                continue
            if parameter.name == "budget" and value is None:
                continue  # for the projectron alone
            if parameter.kind == "whole" and value is not None:
                value = int(value)
            model = catalog.model(Choice(name, {parameter.name: value}), SCENE)
            model._check_params()


@pytest.mark.parametrize("name", ["gaussian", "polynomial"])
def test_ends_of_sliders_of_kernels_are_taken(name):
    for parameter in catalog.kernel_parameters(name).values():
        for value in (parameter.default, parameter.low, parameter.high):
            value = int(value) if parameter.kind == "whole" else value
            catalog.kernel({"name": name, "params": {parameter.name: value}})


WRONG = [
    ("Perceptrons", {}, "There is no learner 'Perceptrons'; the lab has Perceptron, "),
    ("RiskDescent", {}, "There is no learner"),
    ("__init__", {}, "There is no learner"),
    ("Perceptron", {"callback": "print"}, "Perceptron has no parameter 'callback'"),
    ("Perceptron", {"class_weight": {}}, "Perceptron has no parameter 'class_weight'"),
    ("Perceptron", {"learning_rate": "1"}, "Perceptron.learning_rate must be a number or 'updates' or"),
    ("Perceptron", {"learning_rate": True}, "Perceptron.learning_rate must be a number"),
    ("Perceptron", {"learning_rate": 10**400}, "Perceptron.learning_rate must be a number of a size"),
    ("Perceptron", {"learning_rate": float("nan")}, "Perceptron.learning_rate must be a number of a size"),
    ("Perceptron", {"learning_rate": None}, "Perceptron.learning_rate must be a number"),
    ("Perceptron", {"learning_rate": [1.0]}, "Perceptron.learning_rate must be a number"),
    ("Perceptron", {"learning_rate": -1.0}, "learning_rate must be a positive"),
    ("Perceptron", {"readout": "best"}, "Perceptron.readout must be one of 'last'"),
    ("Perceptron", {"readout": ["last"]}, "Perceptron.readout must be one of"),
    ("Perceptron", {"fit_intercept": 1}, "Perceptron.fit_intercept must be one of True, False"),
    ("Winnow", {"kind": True}, "Winnow.kind must be one of 1, 2"),
    ("MIRA", {"variant": "crammer_singer"}, "MIRA has no parameter 'variant'"),
    ("BudgetKernelPerceptron", {"budget": 1.5}, "BudgetKernelPerceptron.budget must be a whole number"),
    ("KernelPerceptron", {"kernel": 3}, "A kernel is an object"),
    ("KernelPerceptron", {"kernel": {"name": "precomputed"}}, "The kernels of the lab are linear"),
    ("KernelPerceptron", {"kernel": {"name": ["rbf"]}}, "The kernels of the lab are linear"),
    (
        "KernelPerceptron",
        {"kernel": {"name": "gaussian", "params": {"x": 1}}},
        "parameters of the kernel",
    ),
    ("KernelPerceptron", {"kernel": {"name": "gaussian", "params": {"gamma": -1}}}, "gamma must be"),
    ("KernelPerceptron", {"kernel": {"name": "polynomial", "params": {"degree": 2.5}}}, "whole number"),
    ("OnlineClassifier", {"rule": "arow"}, "OnlineClassifier.rule must be one of"),
    ("Winnow", {}, "Winnow"),  # coordinates outside [0, 1]
]


@pytest.mark.parametrize("name, params, message", WRONG, ids=range(len(WRONG)))
def test_what_the_lab_does_not_offer_is_refused(name, params, message):
    with pytest.raises(ValueError, match=message):
        run(scene_of(FOUR, name, params=params))


@pytest.mark.parametrize("name", catalog.learners())
def test_every_choice_runs(name):
    toy = set_for(name)
    for parameter in catalog.parameters(name).values():
        for value in parameter.choices or []:
            if not (isinstance(value, str) and parameter.kind == "choice"):
                continue
            made = run(scene_of(toy, name, params={parameter.name: value}, max_iter=1, max_steps=6))
            assert made["runs"][0]["sentences"]
