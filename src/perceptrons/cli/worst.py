"""The rows that a model is most wrong about, in bounded memory."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .printing import counted, label, plain

if TYPE_CHECKING:
    from .._types import JsonObject, Label
    from ..io.records import Batch

_BEGINNING = 72  #: characters of a text, or of the entries of a row, that are shown


class Wrong(NamedTuple):
    """A row that was predicted wrongly."""

    row: int  #: its number in the data, from 1
    file: str | None  #: where it is a line of a file
    line: int | None  #: of the file, from 1, where it is known
    label: Label
    predicted: Label
    value: float  #: how wrong: the probability of the label, or its margin
    beginning: str  #: of the text, or of the entries


class Worst:
    """The n rows whose labels have the least probability, or the least margin, of those predicted wrongly.

    The margin of a label is its score less the highest score of another one; of two labels, the score with
    the sign that makes it positive where the label is right. Of equals the earlier row is kept. Rows whose
    label the model does not have are counted, and not listed.
    """

    def __init__(self, n: int, classes: np.ndarray, probable: bool):
        self.n, self.classes = n, classes
        self.probable = probable  #: whether the model has probabilities
        self.unknown = 0
        self._heap: list[tuple[float, int, Wrong]] = []  #: the least wrong first

    def add(self, batch: Batch, codes: np.ndarray, predicted: np.ndarray, values: np.ndarray) -> None:
        """Rows of a batch: the codes of their labels (-1: unknown) and predictions, and how wrong each is."""
        assert batch.y is not None
        self.unknown += int(np.count_nonzero(codes < 0))
        wrong = np.flatnonzero((codes >= 0) & (codes != predicted))
        for i in wrong[np.argsort(values[wrong], kind="stable")[: self.n]].tolist():
            row, value = batch.first_row + i + 1, float(values[i])
            if len(self._heap) == self.n and (-value, -row) <= self._heap[0][:2]:
                break
            found = Wrong(
                row,
                None if batch.place is None else batch.place.file,
                batch.line(i),
                batch.y[i].item(),
                self.classes[predicted[i]].item(),
                value,
                beginning(batch.X, i),
            )
            (heapq.heappush if len(self._heap) < self.n else heapq.heappushpop)(
                self._heap, (-value, -row, found)
            )

    @property
    def rows(self) -> list[Wrong]:
        """The most wrong one first."""
        return [found for *_, found in sorted(self._heap, key=lambda one: (-one[0], -one[1]))]

    def as_dict(self) -> JsonObject:
        name = "probability" if self.probable else "margin"
        rows = [
            {"row": one.row}
            | ({} if one.line is None else {"file": one.file, "line": one.line})
            | {"label": plain(one.label), "predicted": plain(one.predicted), name: one.value}
            | {"beginning": one.beginning}
            for one in self.rows
        ]
        return {"rows": rows, "unknown_labels": self.unknown}

    def __str__(self) -> str:
        what = "the probability of its label" if self.probable else "the margin of its label"
        rows = self.rows
        where, places = _places(rows)
        lines = [f"most wrong: {where}, label, prediction, {what}"]
        for one, place in zip(rows, places, strict=True):
            value = f"{one.value:.2g}"
            lines.append(f"{place}\t{label(one.label)}\t{label(one.predicted)}\t{value}\t{one.beginning}")
        if not rows:
            lines.append("no row was predicted wrongly")
        if self.unknown:
            lines.append(
                f"{counted(self.unknown, 'row')} with labels that the model does not have: not listed"
            )
        return "\n".join(lines)


def _places(rows: list[Wrong]) -> tuple[str, list[str]]:
    """What says where the rows are, and it for each: the line of the file where that is known of all."""
    if not rows or any(one.line is None for one in rows):
        return "row (from 1, in the order of the data)", [str(one.row) for one in rows]
    if len({one.file for one in rows}) == 1:
        return "line of the file", [str(one.line) for one in rows]
    return "file and line", [f"{printable(one.file or '')}:{one.line}" for one in rows]


def margins(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The margin of the label of each row; meaningless where the code is -1."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    rows = np.arange(len(codes))
    own = scores[rows, codes]
    others = scores.copy()
    others[rows, codes] = -np.inf
    found: np.ndarray = own - others.max(axis=1)
    return found


def beginning(X: Any, i: int) -> str:
    """The beginning of a text, or of the entries of a row; nothing in it controls a terminal."""
    from ..io.records import Texts

    if isinstance(X, Texts):
        raw = X.buffer[X.starts[i] : min(X.stops[i], X.starts[i] + 4 * _BEGINNING)].tobytes()
        return printable(raw.decode("utf-8", "replace"))
    if hasattr(X, "indptr"):
        own = slice(int(X.indptr[i]), int(X.indptr[i + 1]))
        entries = zip(X.indices[own][:_BEGINNING].tolist(), X.data[own][:_BEGINNING].tolist())
        return printable(" ".join(f"{j}:{value:.4g}" for j, value in entries))
    return printable(" ".join(f"{value:.4g}" for value in np.asarray(X[i])[:_BEGINNING].tolist()))


def printable(text: str) -> str:
    r"""The first characters on one line, with control characters and the like as escapes.

    >>> printable("a\tb\x1b[2J")
    'a\\tb\\x1b[2J'
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:_BEGINNING])
    return shown if len(shown) <= _BEGINNING and len(text) <= _BEGINNING else f"{shown[: _BEGINNING - 1]}…"
