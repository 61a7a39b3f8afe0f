"""Every test that ``make test`` leaves out exists, and CI runs it."""

from __future__ import annotations

import re

import pytest
from exhaustive import EXHAUSTIVE
from places import ROOT, TESTS


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_it_exists(name):
    path, _, function = name.partition("::")
    source = (TESTS / path).read_text()
    assert not function or re.search(rf"^def {function}\b", source, re.MULTILINE)


def test_ci_runs_both():
    script = (ROOT / ".ci" / "run").read_text()
    assert "\nmake lint\nmake test\nmake test-exhaustive\n" in script  # under no condition
    commands = script[script.index("make lint\n") :]
    assert commands.index("make test-exhaustive\n") < commands.index("make docs\n")
    assert commands.index("make docs\n") < commands.index("make test-browser\n")  # which opens its pages
    makefile = (ROOT / "Makefile").read_text()
    assert (
        '-m "not exhaustive" $(ARGS)' in makefile
        and "-m exhaustive --hypothesis-profile=exhaustive $(ARGS)" in makefile
    )
