"""Pages of the guide take two screens. ``make docs`` builds them; without them the tests are skipped."""

from __future__ import annotations

import pytest
from places import ROOT

BUILT = ROOT / "build" / "docs" / "guide"
LONGER = {"speed_tables"}  # every measured ratio; it says so
PAGES = sorted(path.stem for path in (ROOT / "docs" / "guide").glob("*.md") if path.stem not in LONGER)
SCREEN = 900
ROOM = 1.05
"""Two screens, and what another system's fonts may add to them."""

HEIGHT = "document.querySelector('article.bd-article').getBoundingClientRect().height"
PICTURES = "[...document.querySelectorAll('article.bd-article img')].every(image => image.naturalWidth > 0)"
WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture(params=PAGES)
def opened(request, browser):
    """A built page in a browser of its own size; the theme logs what open_page takes for an error."""
    path = BUILT / f"{request.param}.html"
    if not path.is_file():
        pytest.skip(f"{path.relative_to(ROOT)} is not there: make docs builds it")
    page = browser.new_page(viewport={"width": 1280, "height": SCREEN})
    page.goto(path.as_uri())
    yield page
    page.close()


def test_a_page_of_the_guide_takes_two_screens(opened):
    if not opened.evaluate(PICTURES):
        pytest.skip("the manual was built without its pictures: PERCEPTRONS_GALLERY=0")
    assert opened.evaluate(HEIGHT) <= 2 * SCREEN * ROOM


def test_a_page_of_the_guide_fits_a_phone(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    assert opened.evaluate(WIDTH) <= 390
