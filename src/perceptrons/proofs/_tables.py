"""Small tables, as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape


def number(value: float | None, digits: int = 4) -> str:
    """A number with few digits, infinity as ``inf``, nothing as a dash.

    >>> number(1234.5), number(0.000123456), number(float("inf")), number(None), number(2.5e7)
    ('1234', '0.0001235', 'inf', '-', '2.5e+07')
    """
    if value is None or math.isnan(value):
        return "-"
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e6 else text


def down(value: float | None) -> str:
    """:func:`number`, not above the value.

    >>> down(0.99999), down(1.0), down(123456.7), down(float("inf"))
    ('0.9999', '1', '123456', 'inf')
    """
    return _towards(value, ROUND_FLOOR)


def up(value: float | None) -> str:
    """:func:`number`, not below the value.

    >>> up(1.00001), up(1.0), up(123456.2), up(0.0)
    ('1.001', '1', '123457', '0')
    """
    return _towards(value, ROUND_CEILING)


def _towards(value: float | None, rounding: str) -> str:
    text = number(value)
    if value is None or not math.isfinite(value):
        return text
    exact = Decimal(value)
    if abs(value) >= 1000.0 and "e" not in text:
        return str(exact.to_integral_value(rounding))
    short = Context(prec=4, rounding=rounding).plus(exact)
    text = number(float(short))
    return text if Decimal(text) == short else str(short)


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first to the left, the others to the right.

    >>> print(text_table(["t", "mistakes"], [["1", "0"], ["20", "3"]]))
    t   mistakes
    1          0
    20         3
    """
    widths = [max(len(row[j]) for row in (head, *rows)) for j in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as an HTML table.

    >>> html_table(["R"], [["<1"]])
    '<table><thead><tr><th>R</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
