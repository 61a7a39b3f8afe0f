"""A scene: points, a learner and an order, as a page asks for them.

Everything that comes from outside is checked here, and every bound is in :class:`SceneLimits`. What is wrong
is a ValueError with one sentence that a page can show.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

FORMAT = "perceptrons lab scene"
SCHEMA = 1


class SceneLimits(NamedTuple):
    """What a scene may have at most."""

    points: int = 1000
    classes: int = 6
    max_steps: int = 5000  #: visits of rows
    epochs: int = 100_000
    edits: int = 100
    rows: int = 3000  #: rows of all edits together that differ
    coordinate: float = 1e9
    parameter: float = 1e9  #: largest number as a parameter of a learner
    name: int = 40  #: letters in the name of a class
    seed: int = 2**32 - 1
    table: int = 2**20  #: characters of a table


LIMITS = SceneLimits()


class Choice(NamedTuple):
    """A learner and its parameters, as JSON has them."""

    name: str
    params: dict[str, Any]


class Edit(NamedTuple):
    """After ``at`` visits in all, or where the run has ended before, the rows are these."""

    at: int
    X: np.ndarray
    y: np.ndarray


class Scene(NamedTuple):
    """What is run."""

    X: np.ndarray  #: (n, 2)
    y: np.ndarray  #: codes of the classes
    classes: tuple[str, ...]
    learner: Choice
    second: Choice | None = None
    shuffle: bool = True
    seed: int = 0
    max_iter: int = 20
    max_steps: int = 2000
    noise: float = 0.0
    center: float = 0.0  #: the share of the mean that is subtracted from the rows
    edits: tuple[Edit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The scene as JSON has it."""
        choices = [None if one is None else one._asdict() for one in (self.learner, self.second)]
        edits = [{"at": edit.at, "X": edit.X.tolist(), "y": edit.y.tolist()} for edit in self.edits]
        changed = {
            "X": self.X.tolist(),
            "y": self.y.tolist(),
            "classes": list(self.classes),
            "learner": choices[0],
            "second": choices[1],
            "edits": edits,
        }
        return {"format": FORMAT, "schema": SCHEMA} | self._asdict() | changed


# ---------------------------------------------------------------------------------------------- a scene


def scene_from(found: object) -> Scene:
    """The scene that an object of JSON describes; ValueError says what is wrong with any other object."""
    fields = dict(_object("The scene", found))
    if fields.pop("format", FORMAT) != FORMAT or fields.pop("schema", SCHEMA) != SCHEMA:
        raise ValueError(f"This version reads scenes of the format {FORMAT!r}, schema {SCHEMA}.")
    _only("The scene", fields, Scene._fields)
    for name in ("X", "y", "learner"):
        if name not in fields:
            raise ValueError(f"The scene has no {name}.")
    classes = _classes(fields.get("classes", ["-1", "+1"]))
    X, y = _points("X", fields["X"], fields["y"], len(classes))
    second = fields.get("second")
    return Scene(
        X=X,
        y=y,
        classes=classes,
        learner=_choice("learner", fields["learner"]),
        second=None if second is None else _choice("second", second),
        shuffle=_flag("shuffle", fields.get("shuffle", True)),
        seed=_whole("seed", fields.get("seed", 0), 0, LIMITS.seed),
        max_iter=_whole("max_iter", fields.get("max_iter", 20), 1, LIMITS.epochs),
        max_steps=_whole("max_steps", fields.get("max_steps", 2000), 1, LIMITS.max_steps),
        noise=_number("noise", fields.get("noise", 0.0), 0.0, 0.5),
        center=_share("center", fields.get("center", 0.0)),
        edits=_edits(fields.get("edits", []), len(classes)),
    )


def _edits(found: object, n_classes: int) -> tuple[Edit, ...]:
    given = _list("edits", found, LIMITS.edits)
    edits: list[Edit] = []
    for k, entry in enumerate(given):
        name = f"edits[{k}]"
        fields = _object(name, entry)
        _only(name, fields, Edit._fields)
        at = _whole(f"{name}.at", fields.get("at"), 0, LIMITS.max_steps)
        if edits and at < edits[-1].at:
            raise ValueError(f"{name}.at must not be below that of the edit before it.")
        edits.append(Edit(at, *_points(f"{name}.X", fields.get("X"), fields.get("y"), n_classes)))
    return tuple(edits)


def _points(name: str, X: object, y: object, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rows = _list(name, X, LIMITS.points)
    codes = _list(name.replace("X", "y"), y, LIMITS.points)
    if len(rows) != len(codes):
        raise ValueError(f"There are {len(rows)} points and {len(codes)} classes of points.")
    made = np.zeros((len(rows), 2))
    for i, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or len(row) != 2:
            raise ValueError(f"Point {i} must be two numbers.")
        for j, value in enumerate(row):
            made[i, j] = _number(f"coordinate {j} of point {i}", value, -LIMITS.coordinate, LIMITS.coordinate)
    labels = [_whole(f"the class of point {i}", code, 0, n_classes - 1) for i, code in enumerate(codes)]
    return made, np.array(labels, np.int64)


def _classes(found: object) -> tuple[str, ...]:
    names = _list("classes", found, LIMITS.classes)
    if not all(isinstance(name, str) and 0 < len(name) <= LIMITS.name for name in names):
        raise ValueError(f"classes must be names of 1 to {LIMITS.name} letters.")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError("classes must be at least two names that differ.")
    return tuple(names)


def _choice(name: str, found: object) -> Choice:
    fields = _object(name, found)
    _only(name, fields, Choice._fields)
    params = _object(f"{name}.params", fields.get("params", {}))
    chosen = fields.get("name")
    if not isinstance(chosen, str) or len(chosen) > LIMITS.name:
        raise ValueError(f"{name}.name must be the name of a learner, such as Perceptron.")
    return Choice(chosen, dict(params))


# ------------------------------------------------------------------------------------------ single values


def _object(name: str, found: object) -> Mapping[str, Any]:
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise ValueError(f"{name} must be an object with named fields.")
    return found


def _only(name: str, fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    strange = sorted(set(fields) - set(known))
    if strange:
        raise ValueError(f"{name} has no field {strange[0][:40]!r}.")


def _list(name: str, found: object, most: int) -> list[Any]:
    if not isinstance(found, (list, tuple)):
        raise ValueError(f"{name} must be a list.")
    if len(found) > most:
        raise ValueError(f"{name} has {len(found)} entries; the lab takes at most {most}.")
    return list(found)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false.")
    return value


def _whole(name: str, value: object, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}.")
    return value


def _number(name: str, value: object, low: float, high: float) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}.")
    return float(value)


def _share(name: str, value: object) -> float:
    """A number from 0 to 1; scenes had true and false here before they had numbers."""
    return float(value) if isinstance(value, bool) else _number(name, value, 0.0, 1.0)


# ---------------------------------------------------------------------------------------------- a table


def table(text: object, columns: object = None) -> dict[str, Any]:
    """Points from a table: columns of numbers and, last, the class, with commas, semicolons or tabs.

    A first line without numbers has the names of the columns. ``columns``: the names of the two to take;
    None: the first two of numbers. ``columns`` of the answer are the names of all that have numbers.
    """
    names, rows, first = _cells(text)
    numeric = [j for j in range(len(names) - 1) if _is_number(rows[0][j])]
    if len(numeric) < 2:
        raise ValueError("The table needs two columns of numbers before the class.")
    taken = numeric[:2] if columns is None else [_column(name, names, numeric) for name in _pair(columns)]
    X = [[_cell(row[j], i + first, j) for j in taken] for i, row in enumerate(rows)]
    labels = [row[-1] for row in rows]
    classes = sorted(set(labels), key=_label_order)
    if len(classes) > LIMITS.classes:
        raise ValueError(
            f"The last column has {len(classes)} different values; the lab takes at most "
            f"{LIMITS.classes} classes."
        )
    if len(classes) < 2:
        raise ValueError("The last column has one class only; the lab needs at least two.")
    y = [classes.index(label) for label in labels]
    return {"X": X, "y": y, "classes": list(_classes(classes)), "columns": [names[j] for j in numeric]}


def _cells(text: object) -> tuple[list[str], list[list[str]], int]:
    """(names of the columns, cells of the rows, number of the first row's line)."""
    if not isinstance(text, str) or len(text) > LIMITS.table:
        raise ValueError(f"A table is a text of at most {LIMITS.table} characters.")
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise ValueError("The table is empty.")
    comma = max(",;\t", key=lines[0].count)
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=comma)]
    except csv.Error as error:
        raise ValueError(f"The table cannot be read: {error}.") from error
    width = len(rows[0])
    if width < 3:
        raise ValueError("The table needs three columns: two of numbers, and the class.")
    names, first = [f"column {j + 1}" for j in range(width)], 1
    if not any(_is_number(cell) for cell in rows[0][:-1]):
        names, first = rows.pop(0), 2
    if not rows:
        raise ValueError("The table has no rows below its header.")
    if len(rows) > LIMITS.points:
        raise ValueError(f"The table has {len(rows)} rows; the lab takes at most {LIMITS.points}.")
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"Line {i + first} has {len(row)} columns; the first line has {width}.")
    return names, rows, first


def _pair(columns: object) -> list[Any]:
    if not isinstance(columns, (list, tuple)) or len(columns) != 2:
        raise ValueError("columns must be the names of two columns.")
    return list(columns)


def _column(name: object, names: list[str], numeric: list[int]) -> int:
    found = next((j for j in numeric if names[j] == name), None)
    if found is None:
        raise ValueError(f"The table has no column of numbers called {name!r:.40}.")
    return found


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _label_order(label: str) -> tuple[bool, float, str]:
    """Numbers by their size, then words by the alphabet."""
    return (False, float(label), label) if _is_number(label) else (True, 0.0, label)


def _cell(cell: str, line: int, column: int) -> float:
    if not _is_number(cell) or abs(float(cell)) > LIMITS.coordinate:
        raise ValueError(
            f"Line {line}, column {column + 1}: {cell[:20]!r} is no number of a size below "
            f"{LIMITS.coordinate:g}."
        )
    return float(cell)
