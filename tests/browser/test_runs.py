"""A run is stepped, played, rewound and compared; its updates are those of ``fit``."""

from __future__ import annotations

import numpy as np
import pytest
import runs_again


def test_the_page_makes_the_updates_of_fit(lab):
    lab.choose("set", "four_points")
    scene = lab.choose("learner", "Perceptron")["scene"]
    model, traced = runs_again.fit(scene), runs_again.trace(scene)
    total = lab.position[1]
    assert total == len(traced)
    mistakes = 0
    for t in range(total):
        lab["step"].click()
        lab.settle()
        assert lab.position == (t + 1, total)
        assert lab.weights().tolist() == traced.w[t + 1].tolist()
        is_mistake = "mistake" in lab.sentence and "no mistake" not in lab.sentence
        assert is_mistake == (traced.kind[t] == "mistake")
        mistakes += is_mistake
    assert mistakes == model.n_mistakes_
    assert model.stop_reason_ == "clean pass"
    w = lab.weights()
    assert [w[:2].tolist()] == model.coef_.tolist()
    assert [w[2] * traced.bias] == model.intercept_.tolist()


def test_the_page_makes_the_updates_of_the_blackboard(lab):
    scene = lab.choose("set", "four_points")["scene"]
    assert scene["learner"]["name"] == "Perceptron" and not scene["shuffle"]
    mistakes, path = runs_again.by_hand(np.array(scene["X"]), 2 * np.array(scene["y"]) - 1)
    assert lab.position[1] == len(path)
    for t in range(len(path)):
        lab["step"].click()
        lab.settle()
        assert lab.weights().tolist() == path[t].tolist()
        assert ("mistake" in lab.sentence) == mistakes[t]


def test_play_ends_with_a_clean_pass(lab):
    scene = lab.choose("set", "clouds_near")["scene"]
    model = runs_again.fit(scene)
    total = lab.position[1]
    lab["speed"].evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input', {bubbles: true})); }")
    lab["play"].click()
    lab.played_to(total)
    lab.settle()
    run = lab.answer()["runs"][0]
    assert run["reason"] == model.stop_reason_ == "clean pass"
    assert run["segments"][0]["trace"]["n_updates"][-1] == model.n_updates_
    assert lab.weights()[:2].tolist() == model.coef_[0].tolist()


def test_stepping_back_shows_the_same_run(lab):
    lab.choose("set", "clouds_near")
    seen = {}
    for _ in range(6):
        lab["step"].click()
        lab.settle()
        seen[lab.position] = lab.weights().tolist(), lab.sentence, lab.drawn("path").tolist()
    asked = len(lab.answers)
    for position in list(seen)[-2::-1]:
        lab["back"].click()
        lab.settle()
        assert lab.position == position
        assert (lab.weights().tolist(), lab.sentence, lab.drawn("path").tolist()) == seen[position]
    assert len(lab.answers) == asked


def test_the_next_mistake(lab):
    scene = lab.choose("set", "clouds_near")["scene"]
    kinds = runs_again.trace(scene).kind.tolist()
    for t in [t for t, kind in enumerate(kinds) if kind == "mistake"][:4]:
        lab["next-mistake"].click()
        lab.settle()
        assert lab.position[0] == t + 1


@pytest.mark.parametrize(
    "name",
    ["PassiveAggressive", "ROMMA", "AROW", "MarginPerceptron", "ALMA", "MIRA", "SecondOrderPerceptron"],
)
def test_rules_are_switched(lab, name):
    lab.choose("set", "clouds_near")
    answer = lab.choose("learner", name)
    scene = answer["scene"]
    assert scene["learner"]["name"] == name
    traced = runs_again.trace(scene)
    lab.page.keyboard.press("End")
    lab.settle()
    assert lab.position == (len(traced), len(traced))
    assert lab.weights().tolist() == traced.w[-1].tolist()


def test_two_learners_side_by_side_see_the_same_rows(lab):
    lab.choose("set", "clouds_near")
    answer = lab.choose("second", "PassiveAggressive")
    scene = answer["scene"]
    assert [scene["learner"]["name"], scene["second"]["name"]] == ["Perceptron", "PassiveAggressive"]
    lab.go_to(4)
    first, second = runs_again.trace(scene), runs_again.trace(scene, "second")
    assert first.row[:4].tolist() == second.row[:4].tolist()
    assert lab["boundary"].get_attribute("data-w") != lab["boundary-2"].get_attribute("data-w")
    drawn = [float(part) for part in lab["boundary-2"].get_attribute("data-w").split(",")]
    assert drawn == second.w[4].tolist()
    both = [lab.axes(name).box for name in ("xspace", "xspace-2")]
    assert both[0] == both[1]


def test_three_classes(lab):
    scene = lab.choose("set", "three_classes")["scene"]
    traced = runs_again.trace(scene)
    lab.page.keyboard.press("End")
    lab.settle()
    assert lab.position == (len(traced), len(traced))
