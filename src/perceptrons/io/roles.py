"""Which column of a table is what: label, text, weight, features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from .records import listed

Column: TypeAlias = int | str
LABEL_NAMES = ("label", "target", "class", "y")
TEXT_NAME = "text"


class Roles(NamedTuple):
    """Which column is what, by number."""

    width: int
    label: int | None
    text: int | None
    weight: int | None
    features: list[int]


class Chosen(NamedTuple):
    """What the user says about the columns."""

    label: Column | None  #: or "auto"
    text: Column | None  #: or "auto"
    weight: Column | None
    features: Iterable[Column] | None  #: None: all the others
    ignore_labels: bool  #: the column of labels is not read, and may be missing


class Columns:
    """The columns of one table, by number or by name.

    ``owner`` is how a message calls the table; ``names`` is None where it has no header.
    """

    def __init__(self, owner: str, width: int, names: list[str] | None):
        self.owner, self.width, self.names = owner, width, names

    def place(self, column: Column) -> int:
        """A column's number from its name or from its number, which may count from the end."""
        if isinstance(column, str):
            if self.names is None:
                raise ValueError(f"Column {column!r} is asked for by name, and the table has no header.")
            if column not in self.names:
                raise ValueError(f"{self.owner} has no column {column!r}; it has {listed(self.names)}.")
            return self.names.index(column)
        if not -self.width <= column < self.width:
            raise ValueError(f"{self.owner} has {self.width} columns; there is no column {column}.")
        return column % self.width

    def roles(self, chosen: Chosen) -> Roles:
        """All columns with their roles."""
        label = self._label(chosen)
        text = self._text(chosen.text, label)
        weight = None if chosen.weight is None else self.place(chosen.weight)
        taken = [j for j in (label, text, weight) if j is not None]
        if len(set(taken)) < len(taken):
            raise ValueError("label_column, text_column and weight_column must be different columns.")
        if chosen.features is None:
            features = [j for j in range(self.width) if j not in taken]
        else:
            features = [self.place(column) for column in chosen.features]
            if set(features) & set(taken) or len(set(features)) < len(features):
                raise ValueError(
                    "columns must name each column of features once, and not that of label, text or weight."
                )
        return Roles(self.width, label, text, weight, features)

    def _label(self, chosen: Chosen) -> int | None:
        """The column given; with "auto" the one with a label's name, or without a header the first."""
        column = chosen.label
        if column == "auto":
            if self.names is None:
                return 0
            found = [name for name in self.names if name.lower() in LABEL_NAMES]
            if len(found) == 1:
                return self.names.index(found[0])
            if not found and chosen.ignore_labels:
                return None
            many = f" of {listed(found)}" if found else ""
            raise ValueError(
                f"{self.owner} must have one column named label, target, class or y, or label_column must "
                f"say which{many} is the label; the columns are {listed(self.names)}."
            )
        if column is None:
            return None
        if chosen.ignore_labels and isinstance(column, str) and column not in (self.names or [column]):
            return None
        return self.place(column)

    def _text(self, column: Column | None, label: int | None) -> int | None:
        """The column given; with "auto" the one named text, or the second, or the other one of two."""
        if column != "auto":
            return None if column is None else self.place(column)
        named = [j for j, name in enumerate(self.names or []) if name.lower() == TEXT_NAME]
        if len(named) == 1:
            return named[0]
        return 0 if label == 1 and self.width == 2 else self.place(1)
