"""What axe finds, contrast and themes, narrow screens, motion."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from lab_page import LabPage


def serious(page):
    """What axe calls serious or critical, in short."""
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], one["nodes"][0]["target"], one["nodes"][0]["failureSummary"])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_axe_is_able_to_find_something(lab):
    lab.page.evaluate("() => document.body.append(document.createElement('button'))")
    assert [found[0] for found in serious(lab.page)] == ["button-name"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 820])
def test_axe_finds_nothing_serious(open_page, address, theme, width):
    lab = LabPage(open_page(address, color_scheme=theme, width=width, height=1180)).ready()
    lab.choose("set", "clouds_near")
    lab.go_to(3)
    assert serious(lab.page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_kernel_mode_and_with_panels_open(open_page, address, theme):
    lab = LabPage(open_page(address, color_scheme=theme)).ready()
    lab.choose("set", "rings")
    lab.choose("learner", "KernelPerceptron")
    lab.page.keyboard.press("End")
    for panel in ("share", "why", "help"):
        lab.open(panel)
        assert serious(lab.page) == [], panel
        lab.close(panel)
    lab["tour-converges"].click()
    lab.settle()
    assert serious(lab.page) == []


def test_each_update_is_announced(lab):
    assert lab["sentence"].get_attribute("aria-live") == "polite"
    lab["step"].click()
    lab.settle()
    first = lab.sentence
    assert "row" in first
    lab["step"].click()
    lab.settle()
    assert lab.sentence != first


def test_classes_differ_by_shape(lab):
    scene = lab.answer()["scene"]
    shapes = [
        lab[f"point-{i}"].evaluate("e => e.dataset.shape ?? e.querySelector('[data-shape]')?.dataset.shape")
        for i in range(len(scene["y"]))
    ]
    by_class = {code: {s for s, c in zip(shapes, scene["y"]) if c == code} for code in set(scene["y"])}
    assert all(len(one) == 1 and None not in one for one in by_class.values()), by_class
    assert len(set.union(*by_class.values())) == len(by_class)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (820, 1180), (1180, 820)])
def test_nothing_is_wider_than_the_screen(open_page, address, width, height):
    lab = LabPage(open_page(address, width=width, height=height)).ready()
    assert lab.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    for name in ("xspace", "wspace", "step", "play", "sentence"):
        box = lab[name].bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width + 0.5, name
    if (width, height) == (1280, 800):  # planes and controls without scrolling
        for name in ("xspace", "wspace", "step", "play", "sentence"):
            box = lab[name].bounding_box()
            assert box["y"] + box["height"] <= height + 0.5, name


def test_the_theme_follows_the_system_and_can_be_chosen(open_page, address):
    def paper(lab):
        return lab.page.evaluate("() => getComputedStyle(document.querySelector('.plab')).backgroundColor")

    light = LabPage(open_page(address, color_scheme="light")).ready()
    dark = LabPage(open_page(address, color_scheme="dark")).ready()
    assert paper(light) != paper(dark)
    light["theme"].focus()
    if light["theme"].evaluate("e => e.tagName") == "SELECT":
        light["theme"].select_option("dark")
    else:
        while paper(light) != paper(dark):
            light["theme"].click()
            light.settle()
    light.settle()
    assert paper(light) == paper(dark)


def test_nothing_moves_where_motion_is_not_wanted(open_page, address):
    lab = LabPage(open_page(address, reduced_motion="reduce")).ready()
    moving = lab.page.evaluate(
        """() => [...document.querySelectorAll('*')].filter(one => {
          const style = getComputedStyle(one);
          return style.transitionDuration.split(',').some(t => parseFloat(t) > 0.01)
              || (style.animationName !== 'none' && parseFloat(style.animationDuration) > 0.01);
        }).map(one => one.outerHTML.slice(0, 80))"""
    )
    assert moving == []


def test_the_token_leaves_the_address_bar(lab):
    assert "token" not in lab.page.url
