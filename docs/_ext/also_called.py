"""Index entries from the line "Also called: …" of a page, so that the search finds it first by each word.

The words of the line are separated by commas, "and" or "or"; what stands in parentheses explains the word
before it. A theorem of somebody is found by the name alone, too. Sphinx's search ranks pages with a main
index entry for the query above all others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

START = "Also called:"


def words(line: str) -> list[str]:
    """The words that a line lists.

    >>> words("Also called: AMIRA (`MIRA(p=…)`), PA-I and PA-II, test, then train.")
    ['AMIRA', 'PA-I', 'PA-II', 'test', 'then train']
    >>> words("Also called: Novikoff’s theorem.")
    ["Novikoff's theorem", 'Novikoff']
    """
    line = line.removeprefix(START).replace("’", "'").strip().rstrip(".")
    while (shorter := re.sub(r"\([^()]*\)", "", line)) != line:
        line = shorter
    listed = [" ".join(word.split()) for word in re.split(r"[,;]|\band\b|\bor\b", line)]
    people = [match[1] for word in listed if (match := re.match(r"(\w+)'s theorem$", word))]
    return [word for word in [*listed, *people] if word]


def enter(app: Sphinx, doctree: nodes.document) -> None:
    """Put the entries before each such line, with an anchor there; an entry that the page has stays alone."""
    nodes_of_entries = doctree.findall(addnodes.index)
    known = {entry[1].lower() for node in nodes_of_entries for entry in node["entries"] if entry[3] == "main"}
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if paragraph.astext().startswith(START):
            anchor = nodes.make_id(f"also-called-{app.env.new_serialno('also-called')}")
            listed = [word for word in words(paragraph.astext()) if word.lower() not in known]
            entries = [("single", word, anchor, "main", None) for word in listed]
            known.update(word.lower() for word in listed)
            target = nodes.target("", "", ids=[anchor])
            doctree.note_explicit_target(target)
            parent, place = paragraph.parent, paragraph.parent.index(paragraph)
            parent[place:place] = [addnodes.index(entries=entries, inline=False), target]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page before the index of the domains is made."""
    app.connect("doctree-read", enter, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
