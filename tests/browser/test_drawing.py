"""What is drawn is what the trace says, within half a pixel, at every zoom."""

from __future__ import annotations

import re

import numpy as np
import pytest
import runs_again
from lab_page import LabPage

from perceptrons import MaxMargin

HALF = 0.5  # of a pixel


def zoomed(lab, plane, times):
    """Zoom in, with the wheel, around a place that is not the middle."""
    box = lab[plane].bounding_box()
    lab.page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.45 * box["height"])
    before = lab.axes(plane).box
    for _ in range(abs(times)):
        lab.page.mouse.wheel(0, -120 if times > 0 else 120)
        lab.settle()
    assert times == 0 or lab.axes(plane).box != before


def inside(points, axes, slack=HALF):
    left, top, right, bottom = axes.corners
    x, y = np.asarray(points).T
    return (x >= left - slack) & (x <= right + slack) & (y >= top - slack) & (y <= bottom + slack)


def distance(points, a, b):
    """Of points from the line through a and b."""
    along = (b - a) / np.linalg.norm(b - a)
    across = np.array([-along[1], along[0]])
    return np.abs((points - a) @ across)


def two_points(w, bias):
    """Two points of the line <w, x> + w_2 B = 0."""
    normal = w[:2]
    foot = -w[2] * bias * normal / (normal @ normal)
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    return np.array([foot - along, foot + along])


def crosses(a, b, axes):
    """Whether the line through a and b crosses the plane: its corners are on both sides."""
    left, top, right, bottom = axes.corners
    corners = np.array([[left, top], [right, top], [left, bottom], [right, bottom]])
    side = (corners - a) @ np.array([a[1] - b[1], b[0] - a[0]])
    return bool(side.min() < 0 < side.max())


def press_end(lab):
    lab["xspace"].focus()
    lab.page.keyboard.press("End")
    lab.settle()


@pytest.mark.parametrize("times", [0, 3, -3])
def test_the_boundary(lab, times):
    scene = lab.choose("set", "clouds_near")["scene"]
    traced = runs_again.trace(scene)
    press_end(lab)
    zoomed(lab, "xspace", times)
    axes = lab.axes("xspace")
    for t in (len(traced), len(traced) - 1, len(traced) - 3):
        lab.go_to(t)
        w = traced.w[t]
        drawn = lab.drawn("boundary")
        a, b = axes.pixels(two_points(w, traced.bias))
        assert len(drawn) >= 2 and distance(drawn, a, b).max() < HALF
        assert inside(drawn, axes).all()
        ends = [(drawn[:, 0] - axes.corners[0]), (drawn[:, 0] - axes.corners[2])]
        ends += [(drawn[:, 1] - axes.corners[1]), (drawn[:, 1] - axes.corners[3])]
        assert (np.abs(ends).min(axis=0) < HALF).all()  # it goes from edge to edge


@pytest.mark.parametrize("times", [0, 2, -3])
def test_the_points(lab, times):
    scene = lab.choose("set", "clouds_near")["scene"]
    zoomed(lab, "xspace", times)
    axes = lab.axes("xspace")
    places = axes.pixels(scene["X"])
    shown = np.flatnonzero(inside(places, axes, -8))
    assert len(shown) >= 3
    for i in shown:
        assert np.abs(lab.point(i) - places[i]).max() < HALF


def test_numbers_at_the_axes_are_where_they_say(lab):
    lab.choose("set", "clouds_near")
    axes = lab.axes("xspace")
    ticks = (
        lab["xspace"]
        .locator(".tick-x")
        .evaluate_all(
            "all => all.map(one => [one.textContent, one.getBoundingClientRect()])"
            ".map(([text, box]) => [+text.replace('\\u2212', '-'), box.x + box.width / 2])"
        )
    )
    assert len(ticks) >= 3
    for value, middle in ticks:
        assert abs(axes.pixels([value, 0.0])[0] - middle) < 4.0  # a minus sign moves the text


@pytest.mark.parametrize("times", [0, 3, -3])
def test_the_path_of_w(lab, times):
    scene = lab.choose("set", "clouds_near")["scene"]
    traced = runs_again.trace(scene)
    press_end(lab)
    zoomed(lab, "wspace", times)
    axes = lab.axes("wspace")
    drawn = lab.drawn("path")
    wanted = axes.pixels(traced.w[:, :2])
    moved = np.ones(len(wanted), bool)
    moved[1:] = (np.diff(traced.w[:, :2], axis=0) != 0).any(axis=1)
    # every vertex is a w of the trace, and every w of the trace is a vertex
    near = np.linalg.norm(drawn[:, None] - wanted[None], axis=-1)
    assert near.min(axis=1).max() < HALF
    assert near.min(axis=0)[moved].max() < HALF


@pytest.mark.parametrize("times", [0, 3, -3])
def test_every_row_is_a_line_of_w_space(lab, times):
    scene = lab.choose("set", "four_points")["scene"]
    traced = runs_again.trace(scene)
    press_end(lab)
    zoomed(lab, "wspace", times)
    axes, w = lab.axes("wspace"), traced.w[-1]
    n_seen = 0
    for i, x in enumerate(np.array(scene["X"])):
        # <w, x> + slice B = 0 in the plane of (w_0, w_1), at the slice of the current w
        a, b = axes.pixels(two_points(np.array([*x, w[2]]), traced.bias))
        is_seen = crosses(a, b, axes)
        assert lab[f"row-line-{i}"].is_visible() == is_seen
        if is_seen:
            n_seen += 1
            assert distance(lab.drawn(f"row-line-{i}"), a, b).max() < HALF
    assert n_seen >= 1


@pytest.mark.parametrize("name", ["clouds_near", "clouds_far"])
@pytest.mark.parametrize("width", [1280, 1000, 820])
def test_mistakes_and_bounds_of_the_chart(open_page, address, width, name):
    lab = LabPage(open_page(address, width=width, height=900)).ready()
    scene = lab.choose("set", name)["scene"]
    show_chart(lab, "chart-mistakes")
    (run,) = lab.answer()["runs"]
    traced, axes = runs_again.trace(scene), lab.axes("chart-mistakes")
    counts = np.array([0, *traced.n_mistakes])
    shown = np.arange(len(counts)) if not axes.log else np.flatnonzero(counts)
    wanted = axes.pixels(np.column_stack([shown, counts[shown]]))
    drawn = lab.drawn("chart-mistakes", "mistakes")
    rises = np.flatnonzero(np.diff(counts[shown])) + 1  # each is a corner of the line
    near = np.linalg.norm(drawn[:, None] - wanted[None], axis=-1)
    assert len(rises) and near.min(axis=0)[rises].max() < HALF
    values = sorted(bound["value"] for bound in run["bounds"] if bound["value"] is not None)
    assert values  # Novikoff's, at least
    n_drawn = 0
    for k, value in enumerate(values[:3]):
        if lab["chart-mistakes"].locator(f"[data-line=bound-{k}]").count():
            heights = lab.drawn("chart-mistakes", f"bound-{k}")[:, 1]
            assert abs(heights[-1] - axes.pixels([0, value])[1]) < HALF
            n_drawn += 1
    assert n_drawn


def test_the_proof_as_it_happens(lab):
    scene = lab.choose("set", "clouds_near")["scene"]
    traced, axes = runs_again.trace(scene, u="max-margin"), lab.axes("chart-proof")
    show_chart(lab, "chart-proof")
    for line, values in (("dot", traced.proof.dot), ("norm", traced.proof.norm)):
        drawn = lab.drawn("chart-proof", line)
        steps = np.array([0, *traced.n_updates])
        last = axes.pixels([steps[-1], values[-1]])
        assert np.linalg.norm(drawn - last, axis=1).min() < HALF, line


@pytest.mark.parametrize("name", ["clouds_near", "clouds_far"])
def test_both_brackets_close_around_the_best_margins(lab, name):
    scene = lab.choose("set", name)["scene"]
    traced, axes = runs_again.trace(scene, gamma_low="visits"), lab.axes("chart-bracket")
    show_chart(lab, "chart-bracket")
    fitted, (X, y) = runs_again.fit(scene), runs_again.rows(scene)
    ends = {"gamma_low": traced.gamma_low, "gamma_up": traced.gamma_up}
    ends |= {"gamma_low_free": traced.gamma_low_free, "gamma_up_free": traced.gamma_up_free}
    for line, values in ends.items():
        best = max(values[np.isfinite(values)]) if "low" in line else min(values)
        drawn = lab.drawn("chart-bracket", line)
        assert abs(drawn[-1, 1] - axes.pixels([0, best])[1]) < HALF, line
    press_end(lab)
    low, up = fitted.free_margin_bounds_
    assert (traced.gamma_low_free[-1], traced.gamma_up_free[-1]) == (low, up)
    free = MaxMargin(tol=1e-9).fit(X, y).margin_
    said = lab["chart-bracket"].locator(".chart-readout").all_text_contents()
    numbers = [float(part) for part in re.findall(r"[0-9.]+", said[1])]
    assert "γ free" in said[1] and numbers[0] <= free <= numbers[1]
    spoken = lab["chart-bracket"].get_by_role("img").get_attribute("aria-label")
    assert "the best margin with a free offset is between" in spoken
    assert lab["chart-bracket"].locator("[data-sample]").count() == 4  # the legend
    text = lab["certificate"].inner_text()
    assert "With a free offset the best margin is at least" in text


def show_chart(lab, name):
    """Charts are tabs on narrow screens."""
    tab = lab.page.locator(f"[data-shows={name}]")
    if tab.count() and tab.is_visible():
        tab.click()
        lab.settle()
