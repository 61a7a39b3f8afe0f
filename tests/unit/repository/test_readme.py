"""README is short, and what it links to is there. Its examples are doctests of `make test`."""

from __future__ import annotations

import re

from places import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_what_it_links_to_is_there():
    targets = re.findall(r"\]\(([^)#]+)", TEXT)
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_one_picture_two_commands_five_examples():
    assert re.findall(r"^!\[.*\]\((.*)\)$", TEXT, re.MULTILINE) == ["docs/img/lab.png"]
    assert re.findall(r"^(make \w+) {2,}", TEXT, re.MULTILINE) == ["make demo", "make test"]
    assert TEXT.count("```python\n") == 5
    assert len(TEXT.splitlines()) <= 120
