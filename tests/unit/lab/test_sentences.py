"""A sentence says what a visit did, with its numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from lab_scenes import one, scene_of, set_for, traces

import perceptrons as pc
from perceptrons.lab import catalog, geometry

pytestmark = pytest.mark.uncompiled


def said(name, toy=None, **params):
    return one(scene_of(toy or set_for(name), name, params=params, shuffle=False, max_iter=3))


def value(text):
    return float(text.replace("−", "-"))


FIRST_ORDER = ("Perceptron", "MarginPerceptron", "MIRA", "PassiveAggressive", "ROMMA", "ALMA")
FORMULA = re.compile(
    r"w ← (?:(?P<keep>[\d.e−+]+ )?w (?P<sign>[+−]) |(?P<minus>−)?)(?P<step>[\d.e−+]+ )?x(?P<unit>/‖x‖)?\."
)


@pytest.mark.parametrize("params", [{}, {"row_norm": "l2"}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("name", FIRST_ORDER)
def test_formulas_make_the_next_w(name, params):
    found = said(name, **params)
    (trace,) = traces(found)
    Z = geometry.augmented(trace.X, trace.bias, trace.unit)
    shown = 0
    for t, sentence in enumerate(found["sentences"]):
        assert sentence.startswith(f"row {trace.row[t]}, y = {'+1' if trace.label[t] > 0 else '−1'}, w·x = ")
        if trace.kind[t] == "none":
            assert sentence.endswith(": right, w stays.")
            continue
        formula = FORMULA.search(sentence)
        keep = value(formula["keep"]) if formula["keep"] else float(formula["sign"] is not None)
        step = value(formula["step"]) if formula["step"] else 1.0
        step = -step if formula["sign"] == "−" or formula["minus"] else step
        w = keep * trace.w[t] + step * Z[trace.row[t]]
        scale = abs(keep) * np.linalg.norm(trace.w[t]) + abs(step) * np.linalg.norm(Z[trace.row[t]])
        np.testing.assert_allclose(w, trace.w[t + 1], atol=2e-3 * scale)  # four digits
        assert bool(formula["unit"]) == trace.unit
        shown += 1
    assert shown == trace.n_updates[-1] > 0


@pytest.mark.parametrize("name", ["Winnow", "Elimination", "BalancedWinnow", "PNormPerceptron"])
def test_other_weights_are_written_out(name):
    found = said(name)
    (trace,) = traces(found)
    (t, *_) = np.flatnonzero(trace.kind != "none")
    weights = re.search(r"w ← \((.*)\)\.", found["sentences"][t])[1]
    w = trace.w[t + 1] if trace.bias else trace.w[t + 1][:-1]
    np.testing.assert_allclose([value(part) for part in weights.split(", ")], w, rtol=1e-3)


def test_sentences_of_the_lecture():
    found = said("Perceptron", pc.datasets.four_points(), fit_intercept=False)
    assert found["sentences"][:4] == [
        "row 0, y = +1, w·x = 0: mistake, w ← w + x.",
        "row 1, y = +1, w·x = 4: right, w stays.",
        "row 2, y = −1, w·x = −3: right, w stays.",
        "row 3, y = −1, w·x = 1: mistake, w ← w − x.",
    ]


def test_a_threshold_is_subtracted():
    sentences = said("Winnow", catalog.sets()["first_input"])["sentences"]
    assert sentences[2] == "row 2, y = +1, w·x − 2 = −1: mistake, w ← (2, 1)."


def test_second_order_learners_move_along_the_whitened_row():
    assert re.search(r"w ← w [+−] [\d.]+ Σx\.", said("AROW")["sentences"][0])


def test_no_mistake_on_the_hyperplane_where_the_prediction_counts():
    toy = pc.datasets.four_points()
    rows = [2, 3, 0, 1]
    scene = scene_of(toy, params={"mistake": "prediction"}, shuffle=False)
    found = one(scene | {"X": toy.X[rows].tolist(), "y": [0, 0, 1, 1]})
    assert found["sentences"][0] == "row 0, y = −1, w·x = 0: no mistake, w stays."


def test_rows_that_leave_a_list_are_named():
    toy = pc.datasets.rings(20)
    for policy, text in (
        ("oldest", "and row 1 has left the list"),
        ("projectron", "the part of φ(x) that the rows of the list make up"),
    ):
        found = said("BudgetKernelPerceptron", toy, budget=4, policy=policy)
        assert any(text in sentence for sentence in found["sentences"]), found["sentences"]
        (trace,) = traces(found)
        for t, sentence in enumerate(found["sentences"]):
            gone = np.flatnonzero((trace.dual[t] != 0) & (trace.dual[t + 1] == 0))
            assert all(re.search(rf"rows? .*\b{i}\b.* left the list", sentence) for i in gone)


def test_several_classes_name_those_that_move():
    toy = pc.datasets.three_classes(12)
    found = one(scene_of(toy, shuffle=False))
    (trace,) = traces(found)
    for t, sentence in enumerate(found["sentences"]):
        moved = np.flatnonzero(np.any(trace.w[t] != trace.w[t + 1], axis=1))
        if len(moved):
            assert sentence.endswith(f"the weights of {' and '.join(map(str, moved))} change.")
        else:
            assert sentence.endswith(": right, all weights stay.")
