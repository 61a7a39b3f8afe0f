"""The scripts of the gallery run, print their numbers and draw what they say."""

from __future__ import annotations

import ast
import re
import runpy

import pytest
from places import ROOT

from perceptrons import datasets

plt = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("plot_*.py"))
NEEDS = {"plot_adult": "adult", "plot_last_average_vote": "mnist", "plot_spam_words": "sms_spam"}


@pytest.fixture
def run(monkeypatch, capsys):
    """A function that runs a script: (what it prints, its figures)."""
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def run(name):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out, [plt.figure(number) for number in plt.get_fignums()]

    with plt.rc_context():
        yield run
    plt.close("all")


def looked_at(figures):
    """A title over each picture, labels on the axes, and nothing that does not fit when it is drawn."""
    assert figures
    for figure in figures:
        figure.canvas.draw()
        shown = [ax for ax in figure.axes if ax.axison and ax.has_data()]
        assert shown and any(ax.get_title() for ax in shown), "a picture without a title"
        assert any(ax.get_xlabel() or ax.get_xticklabels() for ax in shown)


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - set(NEEDS)))
def test_a_picture_and_its_numbers(name, run):
    told, figures = run(name)
    assert re.search(r"\d", told)
    looked_at(figures)


@pytest.mark.parametrize("name", NEEDS)
def test_without_data(name, run, monkeypatch, tmp_path):
    monkeypatch.setenv("PERCEPTRONS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told, figures = run(name)
    assert "not on this machine: this is the stored figure" in told
    assert "pip install 'perceptrons[data]'" in told
    looked_at(figures)
    assert "stored figure" in figures[0].axes[0].get_xlabel()


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDS)
def test_with_data(name, run):
    if datasets.find(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not in the folder PERCEPTRONS_DATA names")
    told, figures = run(name)
    assert "not on this machine" not in told
    looked_at(figures)


def test_each_stored_figure_has_its_script():
    found = {path.stem for path in (ROOT / "docs" / "img" / "gallery").glob("*.png")}
    assert found == set(NEEDS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_title_and_what_it_is_about(name):
    """The page of a script begins with its docstring: a title, and a paragraph."""
    lines = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))).split("\n")
    assert len(lines[1]) == len(lines[0]) and set(lines[1]) == {"="}
    assert lines[2] == "" and len(lines[3]) > 40


def test_epochs_come_near_to_those_of_the_lecture(run):
    """3, 1, 5 and 22, 87, 2,518: within a factor of two."""
    told, _ = run("plot_near_and_far")
    lines = [line for line in told.splitlines() if line.startswith(("near", "far ", "  the lecture"))]
    assert len(lines) == 4
    numbers = [[int(word.replace(",", "")) for word in line.split()[-3:]] for line in lines]
    assert numbers[1] == [3, 1, 5] and numbers[3] == [22, 87, 2518]
    for ours, theirs in ((numbers[0], numbers[1]), (numbers[2], numbers[3])):
        assert all(a <= 2 * b and b <= 2 * a for a, b in zip(ours, theirs, strict=True))
