"""Texts of docstrings without markup, and numbers as a sentence says them."""

from __future__ import annotations

import re

_SIGNS = {
    r"\langle": "⟨",
    r"\rangle": "⟩",
    r"\mathrm": "",
    r"\prod": "∏",
    r"\sum": "∑",
    r"\exp": "exp",
    r"\gamma": "γ",
    r"\varepsilon": "ε",
    r"\alpha": "α",
    r"\delta": "δ",
    r"\theta": "θ",
    r"\eta": "η",
    r"\ge": "≥",
    r"\le": "≤",
    r"\|": "‖",
    r"\,": " ",
    "{": "",
    "}": "",
    "-": "−",
}
_MATH = re.compile(r":math:`([^`]*)`")
_ROLE = re.compile(r":\w+:`~?([^`]*)`")


def plain(text: str) -> str:
    r"""A text of a docstring in one line, its formulas in letters.

    >>> plain(r"In :math:`\gamma\|x\|^2`, as ``fit`` has it.")
    'In γ‖x‖², as fit has it.'
    """
    line = " ".join(text.split())
    line = _ROLE.sub(r"\1", _MATH.sub(lambda found: _formula(found.group(1)), line))
    return line.replace("``", "")


def _formula(text: str) -> str:
    for sign, letter in _SIGNS.items():
        text = text.replace(sign, letter)
    return text.replace("⟨ ", "⟨").replace("^2", "²").replace("_i", "ᵢ")


def number(value: float) -> str:
    """A number in a sentence: four digits, and a minus sign that a reader knows.

    >>> number(-0.5), number(2.0), number(1 / 3)
    ('−0.5', '2', '0.3333')
    """
    return f"{value:.4g}".replace("-", "−")
