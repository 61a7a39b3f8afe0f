"""The pages of docs/guide: each has its question, its answer and a picture, and what it names is there.

Their code is run by `make docs`, page by page.
"""

from __future__ import annotations

import re

import pytest
from places import ROOT

GUIDE = ROOT / "docs" / "guide"
TABLES = {"speed_tables.md"}  # every measured ratio: longer than other pages, and no picture
PAGES = sorted(path.name for path in GUIDE.glob("*.md") if path.name != "index.md")
GALLERY = re.compile(r"\.\./gallery/images/sphx_glr_(plot_\w+?)_\d{3}\.png")


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_every_page_is_in_the_table_of_contents():
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)[1]
    assert sorted(f"{name}.md" for name in re.findall(r"^(\w+)$", listed, re.MULTILINE)) == PAGES
    for page in PAGES:
        assert f"{{doc}}`{page.removesuffix('.md')}`" in index, page


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_question_its_answer_and_a_picture(page):
    text = (GUIDE / page).read_text(encoding="utf-8")
    title, question, answer = text.index("\n# "), text.index("**Question.**"), text.index("**Answer.**")
    assert title < question < answer < text.index("\n## ")
    pictures = re.findall(r"!\[[^\]]+\]\((.+?)\)", text)
    assert len(pictures) == (page not in TABLES)
    if page not in TABLES:
        assert len(text.splitlines()) <= 140, "two screens"


@pytest.mark.parametrize("page", ["index.md", *PAGES])
def test_what_a_page_names_is_there(page):
    text = (GUIDE / page).read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^\]]+\]\((.+?)\)", text):
        drawn = GALLERY.fullmatch(picture)
        path = ROOT / "examples" / f"{drawn[1]}.py" if drawn else GUIDE / picture
        assert path.is_file(), picture
    for named in re.findall(r"(?:benchmarks|examples|docs/measured)/\w+\.\w+", text):
        assert (ROOT / named).is_file(), named
    for script in re.findall(r"\{doc\}`/gallery/(plot_\w+)`", text):
        assert (ROOT / "examples" / f"{script}.py").is_file(), script
    for target in re.findall(r"\{doc\}`(?:[^`<]*<)?(\w+)>?`", prose(text)):
        assert (GUIDE / f"{target}.md").is_file(), target
