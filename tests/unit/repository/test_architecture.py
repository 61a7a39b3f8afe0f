"""The walks of docs/architecture.md are what is called.

A walk is a program and a numbered list of functions: their first calls, while the last statement of the
program runs, come in the order of the list. Loops run as plain Python, so that the rule and the verbs of the
rows are seen as well.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import threading
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from places import ROOT
from uncompiled import uncompiled

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SECTIONS = {"fit": 1, "learn_one": 2, "Kernel fit": 1, "A stream": 1, "Shards": 1, "certify": 1}
PACKAGE = "perceptrons."


class Walk(NamedTuple):
    section: str
    program: str
    names: list[str]


def walks(page: str) -> list[Walk]:
    """Every program of a page, with the list that follows it."""
    found = []
    for section, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL):
        for program, rest in re.findall(r"^```python\n(.*?)^```\n(.*?)(?=^```python|\Z)", text, re.M | re.S):
            items = re.findall(r"^(\d+)\. (.*)$", rest, re.MULTILINE)
            assert [int(number) for number, _ in items] == [*range(1, len(items) + 1)], section
            found.append(Walk(section, program, [re.match(r"`([\w.]+)` \S", item)[1] for _, item in items]))
    return found


def function(name: str) -> Any:
    """The function that a name of the page means; ValueError where it is not defined under this name."""
    parts = (PACKAGE + name).split(".")
    for n in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part, None)
        found = getattr(found, "function", found)  # a compiled loop
        found = getattr(found, "fget", found)  # a property
        if f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', '')}" == PACKAGE + name:
            return found
        break
    raise ValueError(f"{name} is no function that is defined there")


def first_calls(program: str) -> dict[str, int]:
    """Our functions that the last statement of a program calls, numbered by their first calls."""
    *before, last = ast.parse(program).body
    names: dict[str, Any] = {}
    exec(compile(ast.Module(before, []), "<program>", "exec"), names)
    code = compile(ast.Module([last], []), "<program>", "exec")
    called: dict[str, int] = {}

    def record(frame: Any, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(PACKAGE):
            name = f"{module}.{frame.f_code.co_qualname}".removeprefix(PACKAGE)
            called.setdefault(name, len(called))

    earlier = sys.getprofile()
    threading.setprofile(record)  # of threads that begin now: those that read ahead
    sys.setprofile(record)
    try:
        exec(code, names)
    finally:
        sys.setprofile(earlier)
        threading.setprofile(None)
    return called


def trouble(names: list[str], called: dict[str, int]) -> str | None:
    """What is wrong with a walk, or None."""
    for name in names:
        if name not in called:
            return f"{name} is not called"
    for before, after in pairwise(names):
        if called[before] >= called[after]:
            return f"{after} is called before {before}"
    return None


WALKS = walks(PAGE)
IDS = [f"{walk.section} {i}" for i, walk in enumerate(WALKS)]


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> list[dict[str, int]]:
    with pytest.MonkeyPatch.context() as patch, uncompiled():
        patch.chdir(tmp_path_factory.mktemp("programs"))
        return [first_calls(walk.program) for walk in WALKS]


def test_the_page_has_all_walks():
    sections = [walk.section for walk in WALKS]
    assert {section: sections.count(section) for section in sections} == SECTIONS
    assert all(len(walk.names) > 5 for walk in WALKS)


@pytest.mark.parametrize("name", sorted({name for walk in WALKS for name in walk.names}))
def test_a_name_is_defined_where_it_says(name):
    assert callable(function(name))


@pytest.mark.parametrize("i", range(len(WALKS)), ids=IDS)
def test_functions_are_called_in_the_order_of_the_page(i, traces):
    assert trouble(WALKS[i].names, traces[i]) is None


@pytest.mark.parametrize("i", range(len(WALKS)), ids=IDS)
def test_a_list_that_is_wrong_is_found(i, traces):
    names, called = WALKS[i].names, traces[i]
    for j in range(len(names) - 1):
        exchanged = [*names[:j], names[j + 1], names[j], *names[j + 2 :]]
        assert trouble(exchanged, called) is not None, exchanged
    for name in names:
        assert trouble(names, {k: v for k, v in called.items() if k != name}) == f"{name} is not called"
        assert trouble([name + "s"], called) == f"{name}s is not called"


@pytest.mark.parametrize(
    "name",
    [
        "core.learner.Learner.fits",  # misspelled
        "core.nothing.fit",
        "estimators.perceptron.Perceptron.fit",  # inherited, so defined elsewhere
        "engine.spaces.Linear.run",  # imported from a module below
        "core.learner",
    ],
)
def test_a_name_of_nothing_is_found(name):
    with pytest.raises(ValueError, match="no function"):
        function(name)


def test_an_item_without_a_name_is_found():
    page = "## fit\n\n```python\npass\n```\n\n1. `a.b` runs.\n2. Then c runs.\n"
    with pytest.raises(TypeError):
        walks(page)
    assert walks(page.replace("Then c", "`c`")) == [Walk("fit", "pass\n", ["a.b", "c"])]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_it_can_be_found(page):
    assert "(docs/architecture.md)" in (ROOT / page).read_text(encoding="utf-8")
