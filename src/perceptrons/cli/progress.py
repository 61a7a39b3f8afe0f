"""Progress of a run on standard error: a bar on a terminal, a line every ten seconds in a log."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING

from .printing import number

if TYPE_CHECKING:
    from ..io.fitting import FitReport
    from ..io.stream import Stream

EVERY = 10.0  # seconds between two lines of a log


def text(report: FitReport, rate: float) -> str:
    """Rows, speed, errors, mistakes, bound."""
    from ..theory.triviality import says_nothing

    parts = [f"{report.rows:,} rows", f"{number(rate)} rows/s"]
    if report.validated:
        parts.append(f"{report.errors:,} errors ({100.0 * report.error_rate:.2f} %)")
    if report.mistakes is not None:
        parts.append(f"{report.mistakes:,} mistakes")
    if report.bound is not None and not says_nothing(report.bound, report.rows):
        parts.append(f"at least {math.floor(report.bound):,} allowed")
    return ", ".join(parts)


class Stopwatch:
    """Seconds, and rows per second, from the start until it is stopped."""

    def __init__(self, rows: int = 0):
        self.start, self.rows = time.perf_counter(), rows
        self.end: float | None = None

    def stop(self) -> None:
        self.end = time.perf_counter()

    @property
    def seconds(self) -> float:
        return max((time.perf_counter() if self.end is None else self.end) - self.start, 1e-9)

    def rate(self, rows: int) -> float:
        return (rows - self.rows) / self.seconds


class Silent:
    """No progress is shown."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, report: FitReport, watch: Stopwatch) -> None:
        pass


class Lines(Silent):
    """One line every ten seconds. The first batch starts the count: its loops may have to be compiled."""

    def __init__(self) -> None:
        self.next = 0.0

    def show(self, report: FitReport, watch: Stopwatch) -> None:
        if self.next == 0.0:
            self.next = watch.seconds + EVERY
        elif watch.seconds >= self.next:
            print(text(report, watch.rate(report.rows)), file=sys.stderr, flush=True)
            self.next = watch.seconds + EVERY


class Bar(Silent):
    """A bar by the bytes that were read; without an end where their number is not known."""

    def __init__(self, stream: Stream, passes: int):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.stream, self.passes = stream, passes
        columns = (BarColumn(24), TimeRemainingColumn(compact=True), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        total = stream.bytes_total
        self.task = self.bar.add_task("", total=None if total is None else max(1, total * passes))

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def show(self, report: FitReport, watch: Stopwatch) -> None:
        done = (self.stream.bytes_total or 0) * report.passes + self.stream.bytes_read
        pass_ = f"pass {report.passes + 1} of {self.passes}: " if self.passes > 1 else ""
        description = pass_ + text(report, watch.rate(report.rows))
        self.bar.update(self.task, completed=done, description=description)


def watcher(stream: Stream, passes: int, quiet: bool) -> Silent:
    """A bar if standard error is a terminal, else lines; nothing if ``quiet``."""
    if quiet:
        return Silent()
    return Bar(stream, passes) if sys.stderr.isatty() else Lines()
