"""Models whose arrays cannot be written to, as those of a file that is mapped to memory."""

from __future__ import annotations

import copy

import joblib
import numpy as np
import pytest
from comparing import same_state
from zoo import X, attributes, make, y, y3

from perceptrons.engine.loops import linear

TEXTS = ["a b", "c d", "e f", "a c", "b d", "g h", "a e", "h c"]
CASES = {
    "Perceptron": (X, y),
    "AveragedPerceptron": (X, y3),
    "VotedPerceptron": (X, y),
    "AROW": (X, y3),
    "Winnow": (X, y),
    "Elimination": (X, y),
    "KernelPerceptron": (X, y3),
    "TextClassifier": (TEXTS, y),
}


def mapped(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model", mmap_mode="r")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.compiled_later) if name == "TextClassifier" else name
        for name in CASES
    ],
)
def test_the_first_write_copies(name, tmp_path):
    rows, labels = CASES[name]
    model = make(name, max_iter=2, **({"bits": 10} if name == "TextClassifier" else {})).fit(rows, labels)
    for go_on in (
        lambda m: m.partial_fit(rows, labels),
        lambda m: [m.learn_one(x, 5) for x in rows],
        lambda m: m.set_params(warm_start=True).fit(rows, labels),
    ):
        one, other = copy.deepcopy(model), mapped(model, tmp_path)
        np.testing.assert_array_equal(other.predict(rows), one.predict(rows))
        go_on(one)
        go_on(other)
        same_state(attributes(one), attributes(other))


def test_numba_says_one_line():
    with pytest.raises(
        TypeError, match=r"^The compiled loop perceptrons\.engine\.loops\.linear\.scores .*str"
    ) as found:
        linear.scores("rows", np.zeros(3), np.zeros(2))
    assert len(str(found.value)) < 400 and found.value.__cause__ is None
