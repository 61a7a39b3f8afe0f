"""The golden cases: exact traces that every implementation has to reproduce.

The files come from `spec/golden`; their README.md, beside them here, explains the schema. The
environment variable PERCEPTRONS_GOLDEN names another folder to read them from.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(os.environ.get("PERCEPTRONS_GOLDEN") or Path(__file__).parent)


@dataclass(frozen=True)
class Case:
    """One case. What a file does not have is None; `raw` is the case as it stands in the file."""

    file: str
    name: str
    X: Any  # an array, or a list of strings
    y: np.ndarray | None
    X_test: Any
    n_classes: int | None
    order: list[list[int]] | None
    params: dict[str, Any]
    expected: dict[str, Any]
    raw: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file}-{self.name}"


def files() -> list[str]:
    """Names of all files in the folder, without the suffix."""
    return sorted(path.stem for path in GOLDEN.glob("*.json"))


@cache
def read(file: str) -> dict[str, Any]:
    """A whole file as it is."""
    return json.loads((GOLDEN / f"{file}.json").read_text(encoding="utf-8"))


def load(file: str) -> list[Case]:
    """The cases of a file with their data."""
    content = read(file)
    return [case(file, raw, content.get("datasets", {})) for raw in content["cases"]]


def case(file: str, raw: dict[str, Any], datasets: dict[str, Any]) -> Case:
    """One case of a file; its data are those of its data set, or stand in the case itself."""
    data = datasets[raw["dataset"]] if "dataset" in raw else raw.get("strings", raw)
    params = dict(raw.get("params", {}))
    repeats = params.pop("order_repeats", raw.get("order_repeats", False))
    order = raw.get("order")
    if repeats:
        order = order * len(raw["expected"]["update_indices"])
    return Case(
        file=file,
        name=raw["name"],
        X=dense(data.get("X")),
        y=None if data.get("y") is None else np.array(data["y"]),
        X_test=dense(data.get("X_test")),
        n_classes=data.get("n_classes"),
        order=order,
        params=params,
        expected=raw["expected"],
        raw=raw,
    )


def dense(matrix: Any) -> Any:
    """A matrix of the files, a list of rows or {"format": "csr", ...}, as an array; strings as they are."""
    if isinstance(matrix, list) and isinstance(matrix[0], str):
        return matrix
    if not isinstance(matrix, dict):
        return None if matrix is None else np.array(matrix, dtype=float)
    if matrix["format"] != "csr":
        raise ValueError(f'matrix format must be "csr"; got {matrix["format"]!r}.')
    full = np.zeros(matrix["shape"])
    for i, (start, stop) in enumerate(zip(matrix["indptr"], matrix["indptr"][1:], strict=False)):
        full[i, matrix["indices"][start:stop]] = matrix["data"][start:stop]
    return full


def close(a: Any, b: Any, tolerance: float = 1e-9) -> bool:
    """Is |a - b| <= 1e-9 max(1, |b|), for numbers or arrays?  "inf" and "-inf" are numbers too."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):  # inf - inf
        near = np.abs(a - b) <= tolerance * np.maximum(1.0, np.abs(b))
    return bool(np.all(np.where(np.isfinite(b), near, a == b)))
