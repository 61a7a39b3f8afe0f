"""Progress on standard error: a bar on a terminal, a line per epoch elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """Use as a context manager; call :meth:`epoch` after each one."""

    def __init__(self, title: str, total: int | None, verbose: int):
        self.title = title
        self.total = total
        self.verbose = verbose
        self._bar: Bar | None = None
        self._task: TaskID
        self._epochs = 0

    def __enter__(self) -> Progress:
        if self.verbose and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.3g}/" + ("?" if self.total is None else str(self.total))),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
            )
            self._bar = Bar(*columns, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, note="")
        return self

    def within(self, share: float) -> None:
        """Show how much of the current epoch is done; on a terminal only."""
        if self._bar is not None:
            self._bar.update(self._task, completed=self._epochs + share)

    def epoch(self, number: int, record: Mapping[str, float]) -> None:
        """Show the record of an epoch."""
        if not self.verbose:
            return
        self._epochs = number
        note = f"updates {record['updates']}  mistakes {record['mistakes']}  errors {record['errors']}"
        if "validation_score" in record:
            note += f"  validation {record['validation_score']:.4f}"
        if self._bar is not None:
            self._bar.update(self._task, completed=number, note=note)
            return
        of = "" if self.total is None else f"/{self.total}"
        sys.stderr.write(f"{self.title}: epoch {number}{of}  {note}\n")

    def gap(self, number: int, gap: float) -> None:
        """Show the gap after a pass."""
        if not self.verbose:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=number, note=f"gap {gap:.1e}")
            return
        sys.stderr.write(f"{self.title}: pass {number}  gap {gap:.1e}\n")

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
