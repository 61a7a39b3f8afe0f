"""Formulas as MathML, written at build time: no page needs a script or a font from elsewhere to show them.

docutils translates LaTeX to MathML. A formula that it cannot translate is a warning, and fails the build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import MathError, unichar2tex
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

#: commands that docutils does not know, and those that it does
KNOWN = ((r"\\dots(?![a-z])", r"\\ldots"), (r"\\big(?![a-z])", r"\\bigl"))


def mathml(node: nodes.math | nodes.math_block, block: bool) -> str:
    """The element ``<math>`` of a formula, on one line; empty, with a warning, where there is none."""
    text = node.astext().translate(unichar2tex.uni2tex_table)
    for command, known in KNOWN:
        text = re.sub(command, known, text)
    try:
        element = tex2mathml(text, as_block=block)
    except MathError as error:
        logger.warning("no MathML for %r: %s", node.astext(), error, location=node, type="mathml")
        return ""
    return "".join(line.strip() for line in element.splitlines())


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node, block=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", "", CLASS="formula"))
    self.body.append(mathml(node, block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
