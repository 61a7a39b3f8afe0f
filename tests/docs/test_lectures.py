"""The built pages of the lectures: every item is there with its lines, and every name leads to the reference.

The lines themselves were run by docs/_ext/lectures.py when the build started.
"""

from __future__ import annotations

import html
import re
import tomllib

import pytest
from places import ROOT

BUILT = ROOT / "build" / "docs" / "lectures"
TABLE = tomllib.loads((ROOT / "docs" / "lectures" / "table.toml").read_text(encoding="utf-8"))
PAGES = [*TABLE["lecture"], "theorems", "loose", "index"]


def page(name):
    return (BUILT / f"{name}.html").read_text(encoding="utf-8")


def spaced(text):
    """With single spaces, and quotation marks as they are typed."""
    return re.sub(r"\s+", " ", re.sub("[“”]", '"', text.replace("’", "'"))).strip()


def plain(text):
    """The text of a page without its tags."""
    return spaced(html.unescape(re.sub(r"<[^>]+>", "", text)))


@pytest.mark.parametrize("key", TABLE["lecture"])
def test_every_item_is_on_its_page_with_what_it_prints(key):
    lecture, text = TABLE["lecture"][key], page(key)
    words = plain(text)
    for number in range(lecture["first"], lecture["last"] + 1):
        item = TABLE["item"][str(number)]
        assert f'id="lecture-item-{number}"' in text, number
        assert spaced(item["words"]) in words, number
        if item.get("run"):
            assert spaced(item["run"]) in words, number


@pytest.mark.parametrize("name", PAGES)
def test_every_name_leads_to_the_reference(name):
    text = page(name)
    assert len(re.findall(r'<code class="xref py', text)) == len(
        re.findall(r'<a class="reference internal"[^>]*><code class="xref py', text)
    )


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_is_there(name):
    for source in re.findall(r'<img [^>]*src="([^"]+)"', page(name)):
        assert (BUILT / source).is_file(), source
