"""Links inside the manual lead somewhere, pages load nothing from elsewhere, every public name is there."""

from __future__ import annotations

import functools
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import reference
from sphinx.util.inventory import InventoryFile

#: attributes that make a browser load something, by element; any other element loads by ``src``
LOADED = {"link": ("href",), "object": ("data",), "use": ("href",), "form": ("action",), "base": ("href",)}
#: relations of ``<link>`` that load nothing
NOT_LOADED = {"index", "search", "next", "prev", "canonical", "copyright", "author"}


class Page(HTMLParser):
    """Anchors of a page, its links, and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        had = {name: value or "" for name, value in attributes}
        self.anchors |= {had[name] for name in ("id", "name") if name in had}
        if tag == "a" and "href" in had:
            self.links.append(had["href"])
        if tag == "link" and had.get("rel") in NOT_LOADED:
            return
        for name in LOADED.get(tag, ("src", "srcset", "poster")):
            if name in had:
                self.loaded.append(had[name])
        self.loaded += re.findall(r"url\(['\"]?([^'\")]+)", had.get("style", ""))


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    """Every page that a reader can reach, by its path; snippets of the theme's static files are none."""
    paths = [path for path in built.rglob("*.html") if "_static" not in path.relative_to(built).parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


def test_links_lead_somewhere(pages):
    wrong = []
    exists = functools.cache(Path.exists)
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not exists(target):
                wrong.append(f"{path.name}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.name}: {link} has no such anchor")
    assert len(pages) > 50 and not wrong, "\n".join(wrong)


def test_pages_load_nothing_from_elsewhere(pages, built):
    far = [
        f"{path.name}: {address}"
        for path, page in pages.items()
        for address in page.loaded
        if urlsplit(address).netloc or urlsplit(address).scheme not in ("", "data")
    ]
    sheets = [path for path in (built / "_static").rglob("*.css")]
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(|@import\s+)['\"]?([^'\")\s;]+)", text)
        far += [f"{sheet.name}: {one}" for one in addresses if re.match(r"(https?:)?//", one)]
    assert sheets and not far, "\n".join(far)


def test_every_public_name_is_in_the_reference(built):
    inventory = InventoryFile.loads((built / "objects.inv").read_bytes(), uri="")
    listed = {name for kind, names in inventory.data.items() if kind.startswith("py:") for name in names}
    for name in reference.public_names():
        assert reference.home(name) in listed or name == "perceptrons.theory.bounds", name


def test_formulas_are_mathml(built):
    text = (built / "reference" / "perceptrons.MIRA.html").read_text(encoding="utf-8")
    assert "<math" in text and "MathJax" not in text


def test_the_gallery_was_run(built):
    """Each page of the gallery has the picture that its script drew."""
    for page in sorted((built / "gallery").glob("plot_*.html")):
        assert re.search(r'src="[^"]*_images/sphx_glr_', page.read_text(encoding="utf-8")), page.name
