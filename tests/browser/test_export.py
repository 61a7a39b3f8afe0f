"""An exported site on a plain web server: recorded runs are stepped and compared, not changed."""

from __future__ import annotations

import re

import numpy as np
import pytest
import runs_again
from lab_page import LabPage
from lab_servers import process, served
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "site"
    with process("-m", "perceptrons", "lab", "--export", str(folder), says="recorded runs"):
        pass
    with served(folder) as address:
        yield address, folder


@pytest.fixture
def recorded(open_page, site):
    return LabPage(open_page(site[0])).ready()


def choose(lab, what, name):
    lab[what].select_option(name)
    lab.settle()


def scene_of(toy, learner="Perceptron"):
    from perceptrons import datasets

    X, y, *_ = getattr(datasets, toy)()
    codes = np.unique(y, return_inverse=True)[1]
    choice = {"name": learner, "params": {}}
    same = {"shuffle": False, "seed": 0, "max_iter": 50, "max_steps": 1000}
    return {
        "X": X.tolist(),
        "y": codes.tolist(),
        "classes": np.unique(y).astype(str).tolist(),
        "learner": choice,
    } | same


def test_its_size(site):
    _, folder = site
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert 500_000 < total <= 20_000_000


def test_it_says_that_it_is_read_only(recorded):
    assert re.search("read-only", recorded.page.locator(".plab").inner_text(), re.IGNORECASE)


def test_runs_are_stepped_and_rewound(recorded):
    lab = recorded
    choose(lab, "set", "clouds_near")
    traced = runs_again.trace(scene_of("clouds_near"))
    assert lab.position == (0, len(traced))
    seen = []
    for t in range(4):
        lab["step"].click()
        lab.settle()
        seen.append(lab.weights().tolist())
        assert seen[-1] == traced.w[t + 1].tolist()
    lab["back"].click()
    lab.settle()
    assert lab.weights().tolist() == seen[-2]


def test_learners_are_switched_and_compared(recorded):
    lab = recorded
    choose(lab, "set", "clouds_near")
    choose(lab, "learner", "PassiveAggressive")
    traced = runs_again.trace(scene_of("clouds_near", "PassiveAggressive"))
    assert lab.position[1] == len(traced)
    choose(lab, "second", "Perceptron")
    lab["xspace-2"].wait_for()
    lab.go_to(3)
    other = runs_again.trace(scene_of("clouds_near"))
    assert lab.weights().tolist() == traced.w[3].tolist()
    drawn = [float(part) for part in lab["boundary-2"].get_attribute("data-w").split(",")]
    assert drawn == other.w[3].tolist()


def test_points_are_not_changed(recorded):
    lab = recorded
    before = lab.n_points
    lab.click_at("xspace", [0.5, -0.5])
    lab.settle()
    assert lab.n_points == before
    lab["point-0"].focus()
    lab.page.keyboard.press("Delete")
    lab.settle()
    assert lab.n_points == before


def test_kernel_mode(recorded):
    lab = recorded
    choose(lab, "set", "rings")
    choose(lab, "learner", "KernelPerceptron")
    lab.page.keyboard.press("End")
    lab.settle()
    assert lab["kernel"].is_visible()


def test_a_link_restores_the_run(open_page, site):
    address, _ = site
    lab = LabPage(open_page(address, permissions=["clipboard-read", "clipboard-write"])).ready()
    choose(lab, "set", "clouds_near")
    lab.go_to(3)
    lab.open("share")
    lab["share-link"].click()
    link = lab.page.evaluate("() => navigator.clipboard.readText()")
    other = LabPage(open_page(link)).ready()
    expect(other["position"]).to_contain_text("visit 3 of")
    assert other.weights().tolist() == lab.weights().tolist()
