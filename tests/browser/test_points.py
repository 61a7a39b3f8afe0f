"""Points are added, dragged and deleted, before a run and while it plays."""

from __future__ import annotations

import re

import numpy as np
import pytest
from lab_page import LabPage
from playwright.sync_api import expect


def test_a_click_adds_a_point_of_the_current_class(lab):
    before = lab.n_points
    place = [0.5, -1.25]
    answer = lab.changed(lambda: lab.click_at("xspace", place))
    assert lab.n_points == before + 1 == len(answer["scene"]["X"])
    assert answer["scene"]["X"][-1] == pytest.approx(place, abs=0.03)
    assert np.abs(lab.point(before) - lab.axes("xspace").pixels(answer["scene"]["X"][-1])).max() < 0.5
    answer = lab.changed(lambda: (lab.page.keyboard.press("2"), lab.click_at("xspace", [1.0, 1.0])))
    assert answer["scene"]["y"][-1] == 1


def test_one_class_more_keeps_the_points(lab):
    lab.changed(lambda: lab.click_at("xspace", [0.5, -1.25]))
    n_points = lab.n_points
    lab["more-classes"].click()
    lab.settle()
    answer = lab.changed(lambda: lab.click_at("xspace", [1.0, 1.0]))
    assert lab.n_points == n_points + 1
    assert answer["scene"]["y"][-1] == 2


def test_a_tap_adds_a_point(open_page, address):
    lab = LabPage(open_page(address, has_touch=True, width=820, height=1180)).ready()
    before = lab.n_points
    lab.changed(lambda: lab.page.touchscreen.tap(*lab.axes("xspace").pixels([0.5, -1.25])))
    assert lab.n_points == before + 1


def test_a_point_is_dragged(lab):
    start, goal = lab.point(1), lab.point(1) + np.array([40, 30])
    with lab.page.expect_response(lambda response: response.url.endswith("/api/run")):
        lab.page.mouse.move(*start)
        lab.page.mouse.down()
        lab.page.mouse.move(*(start + np.array([10, 5])))
        lab.page.mouse.move(*goal, steps=4)
        lab.page.mouse.up()
    lab.settle()
    assert np.abs(lab.point(1) - goal).max() < 1.0
    scene = lab.answer()["scene"]
    assert np.abs(lab.axes("xspace").pixels(scene["X"][1]) - goal).max() < 1.0
    assert len(scene["X"]) == lab.n_points


def test_a_point_is_deleted(lab):
    before = lab.n_points
    lab["point-2"].focus()
    answer = lab.changed(lambda: lab.page.keyboard.press("Delete"))
    assert lab.n_points == before - 1 == len(answer["scene"]["X"])


def test_the_class_of_a_point_is_changed_by_a_button(lab):
    before = lab.answer()["scene"]
    lab.page.mouse.click(*lab.point(2))
    answer = lab.changed(lab["turn-point"].click)
    assert answer["scene"]["X"] == before["X"]
    assert answer["scene"]["y"] == [1 - y if i == 2 else y for i, y in enumerate(before["y"])]
    assert lab["turn-point"].inner_text() == f"Make row 2 {before['classes'][before['y'][2]]}"


def test_a_point_that_is_added_while_a_run_plays_changes_what_comes_next_only(lab):
    lab.choose("set", "overlapping_clouds")
    before = lab.answer()["runs"][0]["segments"][0]["trace"]["w"]
    lab["play"].click()
    expect(lab["position"]).to_contain_text(re.compile(r"visit ([5-9]|\d\d+) of"))
    lab.changed(lambda: lab.click_at("xspace", [0.3, 0.3]))
    lab["play"].click()
    lab.settle()
    answer = lab.answer()
    (edit,) = answer["scene"]["edits"]
    first, second = answer["runs"][0]["segments"]
    assert 5 <= edit["at"] == second["first"] == len(first["trace"]["row"])
    assert first["trace"]["w"] == before[: edit["at"] + 1]
    assert second["trace"]["w"][0] == first["trace"]["w"][-1]
    assert len(second["X"]) == len(first["X"]) + 1
