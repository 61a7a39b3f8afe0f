"""Everything by the keyboard alone: no test here moves a mouse."""

from __future__ import annotations

import numpy as np
import runs_again


def press(lab, *keys):
    for key in keys:
        lab.page.keyboard.press(key)
    lab.settle()


def focused(lab):
    return lab.page.evaluate("() => document.activeElement.dataset.testid ?? ''")


def tab_to(lab, name, most=150):
    """Tab until the element has the focus."""
    for _ in range(most):
        if focused(lab) == name:
            return
        lab.page.keyboard.press("Tab")
    raise AssertionError(f"{name} cannot be reached by the Tab key; the focus is at {focused(lab)!r}")


def test_a_run_is_stepped_played_and_rewound(lab):
    tab_to(lab, "xspace")
    total = lab.position[1]
    press(lab, ".", ".", ".")
    assert lab.position == (3, total)
    press(lab, ",")
    assert lab.position == (2, total)
    press(lab, "End")
    assert lab.position == (total, total)
    press(lab, "Home")
    assert lab.position == (0, total)
    press(lab, "m")
    assert lab.position[0] == runs_again.trace(lab.answer()["scene"]).kind.tolist().index("mistake") + 1
    press(lab, "Space")
    lab.played_to(total)


def test_points_are_moved_added_and_deleted(lab):
    tab_to(lab, "point-1")
    before, axes = np.array(lab.answer()["scene"]["X"][1]), lab.axes("xspace")
    size = min(axes.box[1] - axes.box[0], axes.box[3] - axes.box[2])
    answer = lab.changed(lambda: lab.page.keyboard.press("ArrowRight"))
    assert np.allclose(np.array(answer["scene"]["X"][1]) - before, [size / 50, 0], atol=1e-4 * size)
    assert focused(lab) == "point-1"
    answer = lab.changed(lambda: lab.page.keyboard.press("Shift+ArrowUp"))
    moved = np.array(answer["scene"]["X"][1]) - before
    assert np.allclose(moved, [size / 50, size / 10], atol=1e-4 * size)
    n = lab.n_points
    lab.changed(lambda: lab.page.keyboard.press("Delete"))
    assert lab.n_points == n - 1
    assert focused(lab).startswith("point-")  # the focus is not lost
    tab_to(lab, "xspace")
    press(lab, "2", "ArrowRight", "ArrowRight", "ArrowDown")
    answer = lab.changed(lambda: lab.page.keyboard.press("Enter"))
    assert lab.n_points == n and answer["scene"]["y"][-1] == 1


def test_the_class_of_a_point_is_changed(lab):
    tab_to(lab, "point-1")
    before = lab.answer()["scene"]["y"]
    answer = lab.changed(lambda: lab.page.keyboard.press("c"))
    assert answer["scene"]["y"] == [before[0], 1 - before[1], *before[2:]]
    assert lab["point-1"].get_attribute("data-class") == str(1 - before[1])
    assert focused(lab) == "point-1"
    assert lab.changed(lambda: lab.page.keyboard.press("c"))["scene"]["y"] == before


def test_learners_sets_and_theme_are_chosen(lab):
    tab_to(lab, "set")
    first = lab.answer()["scene"]["X"]
    lab.changed(lambda: lab.page.keyboard.press("ArrowDown"))
    assert lab.answer()["scene"]["X"] != first
    tab_to(lab, "learner")
    lab.changed(lambda: lab.page.keyboard.press("ArrowDown"))
    assert lab.answer()["scene"]["learner"]["name"] != "Perceptron"
    tab_to(lab, "second")
    lab.changed(lambda: lab.page.keyboard.press("ArrowDown"))
    assert len(lab.answer()["runs"]) == 2


def test_planes_are_zoomed(lab):
    for plane in ("xspace", "wspace"):
        tab_to(lab, plane)
        before = lab.axes(plane).box
        press(lab, "+")
        nearer = lab.axes(plane).box
        assert nearer[1] - nearer[0] < before[1] - before[0]
        press(lab, "-", "-")
        assert lab.axes(plane).box[1] - lab.axes(plane).box[0] > nearer[1] - nearer[0]


def test_every_control_is_reached(lab):
    seen = set()
    for _ in range(200):
        lab.page.keyboard.press("Tab")
        seen.add(focused(lab))
    wanted = {"xspace", "wspace", "step", "back", "play", "next-mistake", "speed"}
    wanted |= {"learner", "second", "set", "load-csv", "theme", "tour-converges", "tour-margin"}
    assert wanted <= seen, wanted - seen


def test_help_is_shown_and_closed(lab):
    tab_to(lab, "xspace")
    press(lab, "?")
    assert lab["help"].is_visible()
    assert "Delete" in lab["help"].inner_text()
    press(lab, "Escape")
    assert not lab["help"].is_visible()
