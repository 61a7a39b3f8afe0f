"""What is measured and how: interleaved rounds, the best of each contestant, ratios.

Times on a shared machine only ever err upwards, so each contestant's best time over several rounds is
kept; the contestants take turns within a round, so that a slow minute hits all of them. The first round
is a warm-up (compilation, page faults) and is not timed. Work inside this process is measured in CPU
seconds over all its threads: on an idle machine that is wall time, since every contestant here runs on
one thread, and on a busy one it leaves out the waiting. An epoch's cost is the slope between a short and a
long fit, so that set-up, which both pay once, drops out and is stated beside it.
"""

from __future__ import annotations

import gc
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

WIDTH = 150  # of the report, where there is no terminal to ask


# ------------------------------------------------------------------------------------------------ measuring


class Effort(NamedTuple):
    """How much to measure."""

    rounds: int = 25  #: timed rounds of a contest
    slow_rounds: int = 5  #: of one that takes seconds a round
    few: int = 5  #: epochs of the short fit
    many: int = 25  #: epochs of the long fit
    quick: bool = False  #: a smoke run on small data: the numbers mean nothing


QUICK = Effort(rounds=1, slow_rounds=1, few=1, many=3, quick=True)


class Cost(NamedTuple):
    """Seconds of a fit, split by the slope."""

    epoch: float  #: (t(many) - t(few)) / (many - few)
    setup: float  #: t(few) - few * epoch
    few: float  #: t(few), the whole fit


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """What one call takes, the garbage collector kept out of it."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        work()
        return clock() - start
    finally:
        gc.enable()


def race(
    contestants: Mapping[str, Callable[[], Any]],
    rounds: int,
    warm_up: bool = True,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Best seconds of each contestant, measured in turns."""
    if warm_up:
        for work in contestants.values():
            work()
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, work in contestants.items():
            best[name] = min(best[name], seconds(work, clock))
    return best


def slopes(fits: Mapping[str, Callable[[int], Any]], effort: Effort, rounds: int) -> dict[str, Cost]:
    """Cost of an epoch of each contestant; ``fits[name](n)`` runs n epochs from scratch."""
    entries = {(name, n): (fit, n) for name, fit in fits.items() for n in (effort.few, effort.many)}
    best = race({str(key): lambda fit=fit, n=n: fit(n) for key, (fit, n) in entries.items()}, rounds)
    costs = {}
    for name in fits:
        few, many = (best[str((name, n))] for n in (effort.few, effort.many))
        epoch = (many - few) / (effort.many - effort.few)
        costs[name] = Cost(epoch, few - effort.few * epoch, few)
    return costs


# ------------------------------------------------------------------------------------------------ reporting


class Line(NamedTuple):
    """One contest and how it ended."""

    key: str  #: the letter that ``--only`` takes
    work: str
    against: str
    measured: float | None = None  #: a ratio, or microseconds; None: not measured
    goal: float | None = None
    unit: str = "x"
    at_least: bool = True  #: whether the goal is a floor or a ceiling
    detail: str = ""  #: the raw numbers behind the ratio, or why there are none

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not run"
        if self.goal is None:
            return "no goal"
        met = self.measured >= self.goal if self.at_least else self.measured <= self.goal
        return "met" if met else "NOT MET"

    @property
    def shown(self) -> str:
        return "" if self.measured is None else f"{self.measured:.2f} {self.unit}"

    @property
    def shown_goal(self) -> str:
        return "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {self.goal:g} {self.unit}"

    def record(self) -> dict[str, Any]:
        return {**self._asdict(), "verdict": self.verdict}


def machine() -> dict[str, str]:
    """Where this runs, and on which versions."""
    packages = ("perceptrons", "numpy", "scipy", "scikit-learn", "numba", "river")
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {_version(name)}" for name in packages),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def console() -> Console:
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=WIDTH)


def show(lines: list[Line], out: Console) -> None:
    """The table of ratios."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "work", "against"):
        table.add_column(name, overflow="fold")
    for name in ("measured", "goal"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("the numbers behind it", overflow="fold")
    for line in lines:
        style = {"met": "green", "NOT MET": "red", "not run": "yellow"}.get(line.verdict, "")
        verdict = f"[{style}]{line.verdict}[/]" if style else ""
        table.add_row(line.key, line.work, line.against, line.shown, line.shown_goal, verdict, line.detail)
    out.print(table)


def markdown(lines: list[Line]) -> str:
    """The same table as Markdown."""
    rows = ["| work | against | measured | goal | |", "|---|---|---:|---:|---|"]
    for line in lines:
        cells = (line.work, line.against, line.shown, line.shown_goal, line.verdict)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)
