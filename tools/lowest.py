"""Print the lowest versions that pyproject.toml allows, as pins for pip (``make test-lowest``)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

EXTRAS = ("dask", "data", "lab", "onnx", "plot", "qp")  # those that the tests use


def pins(project: dict) -> list[str]:
    """name==version for every requirement that has a lower bound."""
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    return [re.sub(r"^([\w.\[\],-]+)>=([\w.]+).*", r"\1==\2", one) for one in wanted]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print(*pins(tomllib.loads(text)["project"]), sep="\n")
