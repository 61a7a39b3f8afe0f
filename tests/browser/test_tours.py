"""The tours, "Why is it slow?", the certificate, and charts as a way through a run."""

from __future__ import annotations

import re

import numpy as np
import pytest
import runs_again
from playwright.sync_api import expect


@pytest.mark.parametrize("name", ["tour-converges", "tour-margin"])
def test_a_tour_by_keyboard(lab, name):
    before = lab.n_points, lab.position
    lab[name].focus()
    lab.page.keyboard.press("Enter")
    titles = []
    for _ in range(10):
        expect(lab["tour"].locator("p")).not_to_have_text("…")
        lab.settle()
        titles.append(lab["tour"].locator("h3").inner_text())
        assert lab["tour"].locator("h3").evaluate("element => element === document.activeElement")
        assert not lab["run-error"].is_visible()
        if lab["tour-next"].inner_text() == "End":
            break
        lab.page.keyboard.press("ArrowRight")
    assert len(set(titles)) == len(titles) >= 5
    lab.page.keyboard.press("Escape")
    expect(lab["tour"]).to_be_hidden()
    expect(lab.page.locator("[data-busy]")).to_have_attribute("data-busy", "false")
    lab.settle()
    assert (lab.n_points, lab.position) == before
    assert lab[name].evaluate("element => element === document.activeElement")


def test_a_tour_says_the_numbers_of_its_run(lab):
    lab["tour-converges"].click()
    for _ in range(4):
        lab["tour-next"].click()
        lab.settle()
    traced = runs_again.trace(lab.answer()["scene"], u="max-margin")
    words = lab["tour"].locator("p").inner_text()
    assert f"allow {traced.proof.bound} updates; the run made {traced.n_updates[-1]}" in words
    assert lab.position == (len(traced), len(traced))


def test_constants_and_centring_are_compared(lab):
    lab.choose("set", "clouds_far")
    lab.open("why")
    lab["try-constants"].click()
    rows = lab["why-table"].locator("tbody tr")
    expect(rows).to_have_count(8, timeout=60_000)
    lab.settle()
    found = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()}
    scene = lab.answer()["scene"]
    for name, change in {"B = 10": 10.0, "B = 1": 1.0}.items():
        learner = {"name": "Perceptron", "params": scene["learner"]["params"] | {"intercept_scaling": change}}
        traced = runs_again.trace(scene | {"learner": learner, "center": 0.0}, u="max-margin")
        assert int(found[name][-1]) == traced.n_updates[-1]
        ratio = float(re.sub(r"\s", "", found[name][2]))
        assert abs(ratio - (traced.proof.radius / traced.proof.gamma) ** 2) <= 1.0
    assert rows.last.get_attribute("class") == "least"  # far from the origin, centring is best


def test_sliders_of_a_slow_run(lab):
    lab.choose("set", "clouds_near")
    lab.open("why")
    lab["scaling"].focus()
    answer = lab.changed(lambda: lab.page.keyboard.press("End"))
    assert answer["scene"]["learner"]["params"]["intercept_scaling"] == 100.0
    lab["noise"].focus()
    answer = lab.changed(lambda: [lab.page.keyboard.press("ArrowRight") for _ in range(10)])
    assert answer["scene"]["noise"] == 0.1
    turned = answer["runs"][0]["segments"][0]["turned"]
    assert f"10 %, {len(turned)} rows" in lab.page.locator(".why").inner_text()


def test_rows_are_centred_by_a_slider(lab):
    X = np.array(lab.choose("set", "clouds_far")["scene"]["X"])
    lab.open("why")
    lab["center"].focus()
    for keys, share in ((["ArrowRight"] * 7, 0.35), (["End"], 1.0)):
        answer = lab.changed(lambda: [lab.page.keyboard.press(key) for key in keys])  # noqa: B023
        assert answer["scene"]["center"] == share
        rows = X - share * X.mean(axis=0)
        np.testing.assert_allclose(answer["runs"][0]["segments"][0]["X"], rows, atol=1e-12)
        traced = runs_again.trace(answer["scene"], u="max-margin")
        words = lab.page.locator(".why-account").inner_text()
        made = rf"; {traced.n_updates[-1]} updates? in {len(traced)} visits"
        assert re.search(made, words.replace("\u202f", ""))
        axes = lab.axes("xspace")  # all rows are in view, where they are learned
        assert np.abs(lab.point(0) - axes.pixels(rows[0])).max() < 0.5
        assert axes.box[0] <= rows[:, 0].min() and rows[:, 0].max() <= axes.box[1]
    assert lab["center"].get_attribute("aria-valuetext") == "100 %, centred"


def test_a_chart_goes_to_a_visit(lab):
    lab.choose("set", "clouds_far")
    slider = lab["chart-mistakes"].get_by_role("slider")
    slider.focus()
    for key, step in {"End": 240, "ArrowLeft": 239, "PageDown": 229, "Home": 0, "ArrowRight": 1}.items():
        lab.page.keyboard.press(key)
        lab.settle()
        assert lab.position == (step, 240)
        assert slider.get_attribute("aria-valuenow") == str(step)
    axes = lab.axes("chart-bracket")
    lab.page.mouse.click(*axes.pixels([120.0, (axes.box[2] + axes.box[3]) / 2]))
    lab.settle()
    assert abs(lab.position[0] - 120) <= 1
    cursor = lab["chart-mistakes"].locator("[data-cursor]").get_attribute("x1")
    assert abs(float(cursor) - _own_pixels(lab, lab.position[0])) < 0.5


def _own_pixels(lab, step):
    """Where a visit is in the chart of mistakes, in pixels of the chart."""
    numbers = lab["chart-mistakes"].locator("[data-scale]").get_attribute("data-scale").split(",")
    low, high, _, _, left, right, _, _ = map(float, numbers)
    return left + (step - low) / (high - low) * (right - left)


def test_the_certificate_follows_the_run(lab):
    scene = lab.choose("set", "four_points")["scene"]
    traced = runs_again.trace(scene, u="max-margin")
    for step in (1, len(traced)):
        lab.go_to(step)
        words = lab["certificate"].inner_text()
        made = f"{traced.n_mistakes[step - 1]} mistakes? and {traced.n_updates[step - 1]} updates?"
        assert re.search(rf"{made} in {step} visits?\.", words)
        assert ("w separates the rows" in words) == (traced.gamma_low is not None and step == len(traced))
    assert "The run ends here: clean pass." in words
    lab["certificate"].locator("summary").click()
    assert "Certificate of Perceptron" in lab["certificate"].locator("pre").inner_text()
