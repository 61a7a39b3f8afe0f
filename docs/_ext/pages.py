"""Blocks of code without their last empty line, and pictures of the guide as links to their full size."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

HEIGHT = "320px"
"""At most, of a picture on a page of the guide; docs/_static/manual.css has it, too."""


def tidy(app: Sphinx, doctree: nodes.document) -> None:
    """Take what doctest needs and a reader does not; Sphinx makes a picture that has a height a link."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # else it has markup in it
            block.rawsource = block.rawsource.rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]
    if app.env.docname.startswith("guide/"):
        for picture in doctree.findall(nodes.image):
            picture["height"] = HEIGHT


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", tidy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
