"""A run is shared: as a link, as a Python script, as a picture."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import runs_again
from lab_page import LabPage


@pytest.fixture
def clipped(open_page, address):
    """The lab with the right to write to the clipboard."""
    return LabPage(open_page(address, permissions=["clipboard-read", "clipboard-write"])).ready()


def clipboard(lab):
    return lab.page.evaluate("() => navigator.clipboard.readText()")


def test_a_link_restores_the_run(clipped, open_page, address):
    lab = clipped
    lab.choose("set", "clouds_near")
    lab.choose("learner", "PassiveAggressive")
    answer = lab.changed(lambda: lab.click_at("xspace", [0.5, 0.5]))
    lab.go_to(5)
    shown = lab.position, lab.weights().tolist(), lab.sentence, lab.n_points
    lab.open("share")
    lab["share-link"].click()
    link = clipboard(lab)
    assert "token" not in link
    fragment = link.partition("#")[2]
    other = LabPage(open_page(f"{address}#{fragment}")).ready()
    other.settle()
    assert (other.position, other.weights().tolist(), other.sentence, other.n_points) == shown
    assert other.answer()["scene"] == answer["scene"]


@pytest.mark.parametrize(("center", "share"), [(True, 1.0), (False, 0.0), (0.35, 0.35)])
def test_a_link_says_how_far_rows_are_centred(open_page, address, center, share, tmp_path):
    """Links had true and false before they had numbers."""
    scene = LabPage(open_page(address)).ready().answer()["scene"] | {"center": center, "step": 2}
    fragment = base64.urlsafe_b64encode(json.dumps(scene).encode()).decode().rstrip("=")
    lab = LabPage(open_page(f"{address}#v1.{fragment}")).ready()
    answer = lab.answer()
    assert answer["scene"]["center"] == share and lab.position[0] == 2
    traced = runs_again.trace(answer["scene"])
    np.testing.assert_allclose(lab.weights(), traced.w[2], rtol=1e-12)
    script = tmp_path / "run.py"
    script.write_text(answer["runs"][0]["code"], encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert f"w {traced.w[-1].tolist()}" in done.stdout, done.stderr


@pytest.mark.parametrize("fragment", ["v1.garbage", "v1.", "%00", "v1.e30", "v9.e30"])
def test_a_broken_link_opens_the_lab(open_page, address, fragment):
    lab = LabPage(open_page(f"{address}#{fragment}")).ready()
    assert lab.position[0] == 0


@pytest.mark.parametrize(
    ("toy", "name"),
    [
        ("clouds_near", "Perceptron"),
        ("clouds_near", "PassiveAggressive"),
        ("rings", "KernelPerceptron"),
        ("three_classes", "Perceptron"),
    ],
)
def test_copy_as_python_gives_the_same_numbers(clipped, toy, name, tmp_path):
    lab = clipped
    lab.choose("set", toy)
    answer = lab.choose("learner", name) if name != "Perceptron" else lab.answer()
    lab.open("share")
    lab["copy-python"].click()
    script = tmp_path / "run.py"
    script.write_text(clipboard(lab), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    traced = runs_again.trace(answer["scene"])
    trace = answer["runs"][0]["segments"][-1]["trace"]
    assert trace["n_updates"][-1] == traced.n_updates[-1]
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", done.stdout)
    assert str(traced.n_updates[-1]) in numbers and str(traced.n_mistakes[-1]) in numbers
    if trace["w"] is not None:
        for value in np.ravel(trace["w"][-1]).tolist():
            assert any(abs(float(one) - value) <= 1e-6 * max(1.0, abs(value)) for one in numbers), value


def test_the_picture_of_the_margins_has_both_brackets(lab):
    lab.choose("set", "clouds_near")
    lab.open("share")
    lab["export-what"].select_option(label="chart of the bracket")
    with lab.page.expect_download() as got:
        lab["export-svg"].click()
    drawing = ET.fromstring(got.value.path().read_text(encoding="utf-8"))
    lines = {
        path.get("data-line"): path.get("stroke-dasharray")
        for path in drawing.iter()
        if path.get("data-line")
    }
    assert lines.keys() >= {"gamma_low", "gamma_up", "gamma_low_free", "gamma_up_free"}
    assert lines["gamma_up_free"] and not lines["gamma_up"]  # dashed, and not


def test_pictures_are_saved(lab):
    lab.choose("set", "clouds_near")
    lab.go_to(3)
    lab.open("share")
    with lab.page.expect_download() as got:
        lab["export-svg"].click()
    text = got.value.path().read_text(encoding="utf-8")
    drawing = ET.fromstring(text)
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    with lab.page.expect_download() as got:
        lab["export-png"].click()
    png = got.value.path().read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 2000
    # the saved SVG can be drawn, and is no empty picture
    lab.page.goto("about:blank")
    lab.page.set_content(text)
    assert lab.page.locator("svg").first.bounding_box()["width"] > 100
