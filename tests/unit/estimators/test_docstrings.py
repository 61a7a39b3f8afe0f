"""Every class describes all its parameters and all that a fit leaves, and each text is written once."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import perceptrons as pc
from perceptrons.core import documenting
from perceptrons.estimators.shell import estimator

CLASSES = [
    name
    for name in pc.__all__
    if inspect.isclass(found := getattr(pc, name)) and issubclass(found, BaseEstimator)
]
#: 0/1 rows for Winnow; strings for those who read text
X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), [1, 0, 1, 0]
#: there for some parameters, rows or rules only
SOMETIMES = {
    "best_iter_",
    "validation_scores_",
    "update_log_",
    "feature_names_in_",
    "names_",
    "covariance_",
    "label_storage_",
    "n_invalid_",
    "path_",
}


def entries(name, title):
    parts = {part.title: part.text for part in documenting.sections(inspect.getdoc(getattr(pc, name)))}
    return documenting.entries(parts.get(title, ""))


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_in_the_order_of_the_signature(name):
    parameters = inspect.signature(getattr(pc, name)).parameters
    found = entries(name, "Parameters")
    assert [one for entry in found for one in entry.names] == list(parameters)
    for entry in found:
        assert entry.text.strip() and entry.kind, entry
        default = parameters[entry.names[0]].default
        if "default=" in entry.kind and not callable(default):
            assert documenting._same(entry.kind.rpartition("default=")[2], default), entry


@pytest.mark.parametrize("name", CLASSES)
def test_every_attribute_that_a_fit_leaves(name):
    texts = ["one two", "three", "one four", "five"] if "Text" in name else X
    model = getattr(pc, name.removeprefix("Small"))().fit(texts, y)
    model = pc.shrink(model, size_mb=0.1) if name.startswith("Small") else model
    names = {n for n in (*dir(type(model)), *vars(model)) if n.endswith("_") and not n.startswith("_")}
    left = {n for n in names if hasattr(model, n)} - {"kernel_", "random_step_"}
    described = {one for entry in entries(name, "Attributes") for one in entry.names}
    assert left <= described
    silent = {"progressive_errors_", "progressive_rows_"} if name == "VotedPerceptron" else set()
    assert described - left <= SOMETIMES | silent


def test_own_parameters_come_first():
    assert list(inspect.signature(pc.PassiveAggressive).parameters)[:2] == ["C", "variant"]
    assert next(iter(inspect.signature(pc.Perceptron).parameters)) == "learning_rate"


def test_a_default_of_ones_own():
    @estimator
    class Base:
        """Base.

        Parameters
        ----------
        a : int, default=1
            First.
        b : {"x", "y"}, default="x"
            Second, which
            takes two lines.
        """

        a: int = 1
        b: str = "x"

    @estimator
    class Derived(Base):
        """Derived.

        Parameters
        ----------
        c : float, default=0.5
            Third.

        Examples
        --------
        None.
        """

        c: float = 0.5
        b: str = "y"

    assert inspect.getdoc(Derived).split("----------")[1].strip().splitlines() == [
        "c : float, default=0.5",
        "    Third.",
        'b : {"x", "y"}, default="y"',
        "    Second, which",
        "    takes two lines.",
        "a : int, default=1",
        "    First.",
        "",
        "Examples",
        "--------",
        "None.",
    ]
