"""Every promise of docs/security.md names tests, and these exist."""

from __future__ import annotations

import re

import pytest
from places import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
SECTIONS = {
    "Model files",
    "Data files",
    "Certificates",
    "Caches of compiled code",
    "Downloads",
    "Threads",
    "Clusters",
    "Signals",
    "Forks",
    "How to report",
}


def test_it_says_what_is_promised_and_what_is_not():
    found = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    assert set(found) >= SECTIONS
    for name in SECTIONS - {"How to report"}:
        assert "Promised" in found[name] and "Not promised" in found[name], name


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))))
def test_the_tests_it_names_are_there(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_it_can_be_found(page):
    assert "(docs/security.md)" in (ROOT / page).read_text(encoding="utf-8")
