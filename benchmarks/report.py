"""What a long-running benchmark prints, kept as text beside its plots."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from data import RESULTS
from objective import machine


class Report:
    """Lines that are printed at once, and kept in ``folder/name.txt`` at the end."""

    def __init__(self, name: str, folder: Path):
        self.name = name
        self.folder = folder
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def setting(self, data: str, **more: str) -> None:
        """Where this runs, on which versions, and on what."""
        for name, value in {**machine(), "data": data, **more}.items():
            self.say(f"{name:10} {value}")

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.say()
        self.say(title)
        self.say(aligned(head, rows))

    def keep(self, figure: Any = None) -> None:
        """Write the text, and the plot as SVG and PNG."""
        self.folder.mkdir(parents=True, exist_ok=True)
        files = [self.folder / f"{self.name}.{ending}" for ending in ("txt", "svg", "png")]
        files[0].write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        if figure is None:
            files = files[:1]
        else:
            figure.savefig(files[1], metadata={"Date": None})
            figure.savefig(files[2], dpi=110)
        print(f"\nkept: {', '.join(map(str, files))}", flush=True)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(w) if j == 0 else cell.rjust(w) for j, (cell, w) in enumerate(zip(cells, widths))
        )
        return "  ".join([first, *others]).rstrip()

    return "\n".join([line(head), "-" * (sum(widths) + 2 * len(widths) - 2), *map(line, rows)])


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for pages of docs/."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def progress(text: str) -> None:
    """What is being done, for those who wait; not part of the report."""
    print(text, file=sys.stderr, flush=True)


def options(doc: str | None, plots: bool = False) -> argparse.ArgumentParser:
    """What all of these scripts take."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=RESULTS, help="for results (%(default)s)"
    )
    if plots:
        parser.add_argument("--no-plot", action="store_true", help="tables only; matplotlib is not needed")
    return parser


def parsed(parser: argparse.ArgumentParser, argv: list[str] | None) -> argparse.Namespace:
    """The options; if matplotlib is missing, it is missed now, not after an hour."""
    chose = parser.parse_args(argv)
    if not getattr(chose, "no_plot", True):
        pyplot()
    return chose


def numbers(text: str) -> list[int]:
    """``"1,2,5"`` as a list, for argparse."""
    return [int(part) for part in text.split(",")]


def pyplot() -> Any:
    """matplotlib, drawing into files."""
    try:
        import matplotlib
    except ImportError as error:
        raise SystemExit("The plots need matplotlib: pip install matplotlib.") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams |= {"svg.hashsalt": "perceptrons", "axes.grid": True, "grid.alpha": 0.3}
    return pyplot
