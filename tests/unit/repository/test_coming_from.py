"""The pages for users of other libraries: every parameter of theirs has a place, and ours exist.

Their sessions run with the other pages of the manual, by ``make docs``.
"""

from __future__ import annotations

import inspect
import re

import pytest
from places import ROOT
from sklearn import linear_model
from sklearn.base import BaseEstimator

import perceptrons
from perceptrons.cli.commands import COMMANDS
from perceptrons.cli.options import Learning, Reading, Running

FOLDER = ROOT / "docs" / "coming_from"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md"))


def text(page: str) -> str:
    return (FOLDER / f"{page}.md").read_text(encoding="utf-8")


def code(page: str) -> str:
    """All that stands in backticks, on one line each."""
    return "\n".join(re.findall(r"`([^`\n]+)`", text(page)))


@pytest.mark.parametrize("name", ["Perceptron", "PassiveAggressiveClassifier", "SGDClassifier"])
def test_parameters_of_scikit_learn(name):
    theirs = getattr(linear_model, name, None)
    if theirs is None:
        pytest.skip(f"this scikit-learn has no {name}")
    found = set(re.findall(r"[a-z_0-9]+", code("scikit_learn"), re.I))
    assert set(inspect.signature(theirs).parameters) - found == set()


@pytest.mark.parametrize("name", ["Perceptron", "PAClassifier", "ALMAClassifier", "LogisticRegression"])
def test_parameters_of_river(name):
    theirs = getattr(pytest.importorskip("river.linear_model"), name)
    shown = set(re.findall(r"[a-z_0-9]+", code("river"), re.I))
    assert set(inspect.signature(theirs).parameters) - shown == set()


def test_options_of_liblinear():
    """Those of ``train``, and all of its solvers."""
    shown = code("liblinear")
    for option in "scpneBRwvCq":
        assert re.search(rf"(^|\s)-{option}\w?\b", shown, re.M), option
    for solver in (0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 21):
        assert f"-s {solver}\n" in shown, solver


def test_every_page_is_in_the_contents():
    contents = text("index").split("```{toctree}")[1]
    assert set(PAGES) - {"index"} == set(re.findall(r"^(\w+)$", contents, re.M))


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_are_named_exist(page):
    fields = {name for group in (Learning, Reading, Running) for name in group.__dataclass_fields__}
    ours = {f"--{name.replace('_', '-')}" for name in fields}
    ours |= {"--model", "--quiet", "--scores", "--k", "--threshold", "--probabilities", "--size-mb", "--kind"}
    for command in re.findall(r"`perceptrons ([^`]+)`", text(page)):
        assert command.split()[0] in COMMANDS, command
        assert set(re.findall(r"--[a-z][a-z-]*", command)) <= ours, command


@pytest.mark.parametrize("page", PAGES)
def test_learners_that_are_named_have_these_parameters(page):
    learners = {
        name: thing
        for name in perceptrons.__all__
        if inspect.isclass(thing := getattr(perceptrons, name)) and issubclass(thing, BaseEstimator)
    }
    named = re.findall(r"\{class\}`~?(?:perceptrons\.)?(\w+)`(?: `\((.*?)\)`)?", text(page))
    for name, arguments in named:
        parameters = set(re.findall(r"(\w+)=", arguments.split(").")[0]))
        assert parameters <= set(learners[name]().get_params()), (name, arguments)
