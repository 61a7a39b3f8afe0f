"""The lab as a folder of files for any web host: recorded runs, which one can step through but not change.

The page is the one of the server. Its catalog names a file for each toy set and learner; such a file is what
the server answers for that scene, compressed. Nothing else is needed, and nothing is computed by the host.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import owned
from .catalog import catalog
from .runs import run

STATIC = Path(__file__).with_name("static")
#: What a folder may take; the page has about 0.1 MB of it.
MOST_BYTES = 20_000_000
#: A recorded run is cut after this many visits, and says so.
MOST_STEPS = 1000
EPOCHS = 50
#: Columns and rows of the grid of kernel values.
GRID = 32
READ_ONLY = (
    "Read-only: recorded runs. Step, rewind, compare, zoom and share; to move points or change parameters, "
    "run `perceptrons lab` on your machine."
)

Progress = Callable[[int, int, str], None]


class Exported(NamedTuple):
    """What was written."""

    folder: Path
    n_runs: int
    n_bytes: int
    skipped: list[tuple[str, str, str]]  #: learner, set, and why they do not go together

    def __str__(self) -> str:
        lines = [f"{self.folder}: {self.n_runs} recorded runs, {self.n_bytes / 1e6:.1f} MB, read-only."]
        for learner in dict.fromkeys(learner for learner, _, _ in self.skipped):
            sets, why = zip(*(rest for name, *rest in self.skipped if name == learner), strict=True)
            lines.append(f"not recorded: {learner} on {', '.join(sets)}. {why[0]}")
        lines.append(f"To look at it: python -m http.server --bind 127.0.0.1 --directory {self.folder}")
        return "\n".join(lines)


def export(
    folder: str | Path,
    *,
    sets: Sequence[str] | None = None,
    learners: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Record every toy set with every learner, and write the page and the runs into a folder.

    Files of an earlier export are replaced, or removed where they are no longer needed; other files are left
    alone, and where one is in the way ``ValueError`` is raised and nothing is written.
    """
    folder = Path(folder)
    offered = catalog()
    wanted = list(_wanted(offered, sets, learners))
    files: dict[str, bytes] = {}
    recorded, skipped = [], []
    for done, (toy, learner) in enumerate(wanted):
        name = f"{toy['name']}-{learner['name']}"
        if progress is not None:
            progress(done, len(wanted), name)
        path = f"runs/{name}.json.gz"
        try:
            files[path] = recording(toy, learner["name"])
        except ValueError as error:
            skipped.append((learner["name"], toy["name"], str(error)))
        else:
            recorded.append({"set": toy["name"], "learner": learner["name"], "params": {}, "file": path})
    offered |= {"recorded": recorded, "recorded_text": READ_ONLY}
    files["catalog.json"] = json.dumps(offered, allow_nan=False).encode()
    files |= _page()
    n_bytes = sum(map(len, files.values()))
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"The folder would take {n_bytes / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f} MB."
        )
    owned.replace(folder, files)
    if progress is not None:
        progress(len(wanted), len(wanted), "")
    return Exported(folder, len(recorded), n_bytes, skipped)


def recording(toy: dict[str, Any], learner: str) -> bytes:
    """The compressed answer for a toy set and a learner with its default parameters."""
    scene = {
        **{name: toy[name] for name in ("X", "y", "classes")},
        "learner": {"name": learner, "params": {}},
        "shuffle": False,
        "max_iter": EPOCHS,
        "max_steps": MOST_STEPS,
    }
    answer = run(scene, grid=GRID)
    text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def show(folder: str | Path, quiet: bool = False) -> None:
    """Export with a bar on a terminal, and print what was written."""
    print(_with_bar(folder) if sys.stderr.isatty() and not quiet else export(folder))


def _with_bar(folder: str | Path) -> Exported:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        return export(
            folder,
            progress=lambda done, of, text: bar.update(task, completed=done, total=of, description=text),
        )


def _wanted(
    offered: dict[str, Any], sets: Sequence[str] | None, learners: Sequence[str] | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for toy in _chosen("set", offered["sets"], sets):
        for learner in _chosen("learner", offered["learners"], learners):
            yield toy, learner


def _chosen(what: str, offered: list[dict[str, Any]], names: Sequence[str] | None) -> list[dict[str, Any]]:
    there = {one["name"]: one for one in offered}
    strange = next((name for name in names or () if name not in there), None)
    if strange is not None:
        raise ValueError(f"There is no {what} {strange!r}; there are {', '.join(there)}.")
    return [there[name] for name in (names if names is not None else there)]


def _page() -> dict[str, bytes]:
    """The built files; ``index.html`` comes last, and tells the page to read ``catalog.json``."""
    files = {f"static/{name}": (STATIC / name).read_bytes() for name in ("lab.css", "lab.js")}
    index = (STATIC / "index.html").read_bytes()
    return files | {"index.html": index.replace(b'data-source="server"', b'data-source="recorded"')}
