"""An explanation as HTML, for notebooks: the text, its parts marked by colours and by signs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .explaining import Explanation, TextPart

MOST_LETTERS = 20_000  #: of the text that are shown
MOST_ROWS = 20  #: of the table
_FOR, _AGAINST = "0,114,178", "213,94,0"  # blue and orange, which all eyes tell apart
_MARKED = 0.05  # of the largest contribution: smaller ones have no colour
_BOX = "font-family:sans-serif;line-height:1.7;unicode-bidi:isolate"
_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate"


def html(found: Explanation) -> str:
    """The whole explanation; every text is escaped."""
    head = (
        f"<p><b>{shown(str(found.label))}</b>: score {signed(found.score)} "
        f"(a positive one means {shown(str(found.towards))})</p>"
    )
    text = f'<p style="{_TEXT}">{marked(found.parts)}</p>' if found.parts else ""
    return f'<div style="{_BOX}">{head}{text}{table(found)}</div>'


def marked(parts: tuple[TextPart, ...]) -> str:
    """The text; a part is marked by a colour and a line, and by a plus or a minus sign."""
    most = max((abs(part.contribution) for part in parts), default=0.0)
    out, left = [], MOST_LETTERS
    for part in parts:
        if left <= 0:
            break
        text = shown(part.text[:left])
        left -= len(part.text)
        share = abs(part.contribution) / most if most > 0.0 else 0.0
        out.append(text if share < _MARKED or not text.strip() else _span(text, part.contribution, share))
    hidden = sum(len(part.text) for part in parts) - MOST_LETTERS
    if hidden > 0:
        out.append(f" … <i>{hidden:,} more characters</i>")
    return "".join(out)


def _span(text: str, contribution: float, share: float) -> str:
    positive = contribution > 0.0
    colour, line, sign = (_FOR, "solid", "+") if positive else (_AGAINST, "dotted", "−")
    style = f"background:rgba({colour},{0.1 + 0.4 * share:.2f});border-bottom:2px {line} rgb({colour})"
    return f'<span style="{style}" title="{signed(contribution)}">{text}<sup>{sign}</sup></span>'


def table(found: Explanation) -> str:
    """The largest contributions."""
    rows = [(c.feature, c.contribution) for c in found.contributions[:MOST_ROWS]]
    rest = found.contributions[MOST_ROWS:]
    if rest:
        rows.append((f"({len(rest):,} more)", sum(c.contribution for c in rest)))
    rows.append(("(intercept)", found.intercept))
    cells = "".join(f"<tr><td>{shown(name)}</td><td>{signed(value)}</td></tr>" for name, value in rows)
    return f"<details><summary>contributions</summary><table>{cells}</table></details>"


def shown(text: str) -> str:
    """A text as HTML: escaped, without control characters."""
    plain = "".join(c if c in "\n\t" or c.isprintable() or c.isspace() else "\ufffd" for c in text)
    return escape(plain, quote=True)


def signed(value: float) -> str:
    """A number with its sign."""
    return f"{value:+.4g}".replace("-", "−")
