"""The built manual. ``make docs`` builds it and runs these tests; plain pytest does not collect them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from places import ROOT

sys.path[:0] = [str(ROOT / folder) for folder in ("tests/docs", "docs/_ext", "tools")]
import manual_search  # noqa: E402

BUILT = ROOT / "build" / "docs"


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the HTML pages."""
    assert (BUILT / "searchindex.js").is_file(), "make docs builds the manual first"
    return BUILT


@pytest.fixture(scope="session")
def search(built: Path) -> manual_search.Search:
    """The search of the manual."""
    return manual_search.Search(built, ROOT / "docs" / "_ext" / "scorer.js")
