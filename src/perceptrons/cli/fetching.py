"""``perceptrons fetch``."""

from __future__ import annotations

import sys

from . import printing
from .errors import Misuse


def fetch(names: list[str], listed: bool, folder: str | None, as_json: bool) -> int:
    """Download the data sets and print their paths; or list the data sets."""
    from ..datasets import available

    strange = next((name for name in names if name not in available()), None)
    if strange is not None:
        raise Misuse(f"There is no data set {strange!r}; there are {', '.join(available())}.")
    if listed or not names:
        return _list(names or available(), folder, as_json)
    from ..datasets import fetch as fetched

    progress = None if as_json or not sys.stderr.isatty() else _show
    found = {name: fetched(name, folder, progress=progress) for name in names}
    if as_json:
        printing.document({name: {part: str(path) for part, path in f.items()} for name, f in found.items()})
    else:
        for files in found.values():
            for path in dict.fromkeys(files.values()):
                print(path)
    return 0


def _list(names: list[str], folder: str | None, as_json: bool) -> int:
    from ..datasets import find
    from ..datasets.registry import SOURCES

    here = {name: find(name, folder) is not None for name in names}
    if as_json:
        rows = [
            {
                "name": name,
                "rows": SOURCES[name].rows,
                "about": SOURCES[name].about,
                "terms": SOURCES[name].terms,
                "here": here[name],
            }
            for name in names
        ]
        printing.document({"data_sets": rows})
        return 0
    width = max(map(len, names))
    for name in names:
        print(f"{'*' if here[name] else ' '} {name:<{width}}  {SOURCES[name].about}")
    print("\n* is on this machine already; perceptrons fetch NAME downloads the others.")
    return 0


def _show(file: str, done: int, total: int | None) -> None:
    """Print the progress of a download."""
    of = "" if total is None else f" of {printing.size(total)}"
    end = "\n" if total is not None and done >= total else ""
    sys.stderr.write(f"\r{file}: {printing.size(done)}{of}   {end}")
    sys.stderr.flush()
