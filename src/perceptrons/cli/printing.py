"""Text and JSON for standard output."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .._types import Json, JsonObject, Label


def plain(value: Any) -> Json:
    """A value as JSON has it: NumPy's become Python's, whole numbers become integers, infinities None.

    >>> plain({"label": 1.0, "bound": float("inf")})
    {'label': 1, 'bound': None}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def label(value: Label) -> str:
    """A label as text on one line."""
    text = str(plain(value))
    return text if text.isprintable() else repr(text)[1:-1]


def document(value: JsonObject) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[TextIO]:
    """A text file that is written whole or not at all; a device or a pipe is written to directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as device:
            yield device
        return
    from ..models import files

    with (
        files.Lock(path) as lock,
        lock.replacing() as handle,
        open(handle, "w", encoding="utf-8", newline="\n", closefd=False) as file,
    ):
        yield file


def table(head: Sequence[str], rows: Sequence[Sequence[object]], indent: str = "") -> str:
    """Columns: the first aligned to the left, the others to the right."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = []
    for row in cells:
        parts = [
            part.ljust(width) if k == 0 else part.rjust(width)
            for k, (part, width) in enumerate(zip(row, widths))
        ]
        lines.append((indent + "  ".join(parts)).rstrip())
    return "\n".join(lines)


def facts(pairs: Sequence[tuple[str, str]], width: int = 12) -> str:
    """One fact per line."""
    return "\n".join(f"{name:<{width}}{text}".rstrip() for name, text in pairs)


def size(n_bytes: int) -> str:
    """A number of bytes, with a unit.

    >>> size(999), size(16_800_000)
    ('999 bytes', '16.8 MB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"


def number(value: float) -> str:
    """Three digits, or a whole number with thousands in groups."""
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def allowed(
    theorem: str, mistakes: float, radius: float, margin_up: float, space: str, examples: int | None = None
) -> str:
    """What a theorem allows, with the bracket that it rests on; lengths are rounded up.

    It says nothing where that is no less than the examples.

    >>> allowed("Novikoff", 4.0, 1.0, 0.50001, "unit rows")
    'Novikoff allows at least 4 mistakes, as no row is longer than 1 and no margin above 0.5001 (unit rows)'
    >>> allowed("Novikoff", 4.0, 1.0, 0.50001, "unit rows", examples=3)
    'Novikoff says nothing about 3 examples, as no margin is above 0.5001 (unit rows)'
    """
    from ..theory.triviality import SAYS_NOTHING, says_nothing

    R, gamma = (_outwards(value, ROUND_CEILING) for value in (radius, margin_up))
    if says_nothing(mistakes, examples):
        about = f"{SAYS_NOTHING} about {counted(examples or 0, 'example')}"
        return f"{theorem} {about}, as no margin is above {gamma} ({space})"
    least = counted(math.floor(mistakes), "mistake")
    known = f"no row is longer than {R} and no margin above {gamma}"
    return f"{theorem} allows at least {least}, as {known} ({space})"


def between(low: float | None, up: float, space: str) -> str | None:
    """A bracket around the best margin, rounded outwards; None where nothing is known.

    >>> between(0.25, 0.54901, "augmented rows"), between(None, 2.0, "free offset")
    ('the best is from 0.25 to 0.5491 (augmented rows)', 'the best is at most 2 (free offset)')
    """
    ends = [f"from {_outwards(low, ROUND_FLOOR)}"] if low is not None and 0.0 < low < math.inf else []
    if up < math.inf:
        ends.append(f"{'to' if ends else 'at most'} {_outwards(up, ROUND_CEILING)}")
    return f"the best is {' '.join(ends)} ({space})" if ends else None


def rounded_up(value: float) -> str:
    """Four digits, rounded up."""
    return _outwards(value, ROUND_CEILING)


def _outwards(value: float, rounding: str) -> str:
    """Four digits, rounded to the side on which the value is true."""
    return f"{float(Context(prec=4, rounding=rounding).create_decimal_from_float(value)):.4g}"


def counted(n: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's' if not noun.endswith('s') else 'es'}"


def percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.2f} %" if whole else "–"
