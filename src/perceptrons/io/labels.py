"""Labels of one kind for a whole stream: integers, numbers or words, decided by the first batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _numbers as numbers
from . import _scans as scans
from .records import Block, Limits, Refusals

_KINDS = ("auto", "text", "number")
_INTEGER = "an integer as label, as before"
_WORDS = "labels='text' takes all labels as words."


_TYPES: dict[str, set[type]] = {
    "auto": set(),
    "int": {int, bool},
    "float": {int, bool, float},
    "text": {str, int, bool, float},
}


class Labels:
    """Turns fields, or values, into labels; what is not of the stream's kind is refused."""

    def __init__(self, kind: str, limits: Limits, refusals: Refusals):
        if kind not in _KINDS:
            raise ValueError(f"labels must be one of {', '.join(map(repr, _KINDS))}; got labels={kind!r}.")
        self.kind = {"auto": "auto", "text": "text", "number": "float"}[kind]
        self._refusals = refusals
        self._table = LabelTable(limits.labels)

    # ------------------------------------------------------------------------------ fields of a block

    def of_fields(self, block: Block, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(labels, which rows have one) of trimmed fields."""
        if self.kind == "text":
            return self._words(block, starts, stops)
        values, kinds = parsed_numbers(block, starts, stops)
        if self.kind == "auto" and len(kinds):
            self.kind = _kind_of(kinds)
            if self.kind == "text":
                return self._words(block, starts, stops)
        good = kinds != numbers.NOTHING if self.kind == "float" else kinds == numbers.WHOLE
        for i in np.flatnonzero(~good).tolist():
            self._refusals.refuse(
                block.error(
                    int(starts[i]),
                    self.wanted,
                    _WORDS,
                    found=block.token(int(starts[i]), int(stops[i])) if stops[i] > starts[i] else "nothing",
                )
            )
        values[~good] = 0.0
        return (values if self.kind == "float" else values.astype(np.int64)), good

    def _words(self, block: Block, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        good = stops > starts
        for i in np.flatnonzero(~good).tolist():
            self._refusals.refuse(block.error(int(starts[i]), "a label", found="nothing"))
        codes, row = self._table.codes(block.buffer, starts, stops)
        if row < len(codes):
            raise block.error(
                int(starts[row]),
                f"at most {self._table.most:,} different labels",
                "Is label_column right? limits=Limits(labels=…) sets the limit.",
            )
        return self._table.words()[codes], good

    # ---------------------------------------------------------------------------------------- values

    def misfits(self, values: list[Any]) -> list[int]:
        """Which Python values are no labels of the stream's kind; the first batch decides the kind."""
        types = {type(value) for value in values} & _TYPES["text"]  # nothing else can be a label
        if self.kind == "auto" and types:
            self.kind = "text" if str in types else "float" if float in types else "int"
        return [
            i
            for i, value in enumerate(values)
            if type(value) not in _TYPES[self.kind] or (self.kind != "text" and not abs(value) < 2**63)
        ]

    def of_values(self, values: list[Any]) -> np.ndarray:
        """Labels of Python values that fit."""
        if self.kind == "text":
            return np.asarray([str(value) for value in values], dtype=np.str_)
        return np.asarray(values, dtype=np.int64 if self.kind == "int" else np.float64)

    @property
    def wanted(self) -> str:
        """What a label has to be, in words."""
        return {"int": "an integer as label, as before", "float": "a number as label"}.get(
            self.kind, "a label"
        )

    way_out = _WORDS


def _kind_of(kinds: np.ndarray) -> str:
    if (kinds == numbers.WHOLE).all():
        return "int"
    return "float" if (kinds != numbers.NOTHING).all() else "text"


def parsed_numbers(block: Block, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, what each is) of trimmed fields; one beyond all doubles counts as no number."""
    values, kinds = np.empty(len(starts)), np.empty(len(starts), np.uint8)
    scans.parse_numbers(
        block.buffer, starts, stops, values, values.view(np.int64), kinds, numbers.POWERS.tens
    )
    if (kinds == numbers.LONG).any():

        def refuse(k: int, position: int) -> None:
            kinds[k] = numbers.NOTHING

        numbers.finish(block.buffer, values, refuse)
    return values, kinds


class LabelTable:
    """The different labels so far, and a compiled way to find them: no Python object per row."""

    def __init__(self, most: int):
        self.most = most
        self._count = 0
        self._slots = np.full(16, -1, np.int64)
        self._buffer = np.zeros(256, np.uint8)
        self._starts = np.zeros(16, np.int64)
        self._words: np.ndarray | None = None

    def codes(self, buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, int]:
        """The number of each label; and the row where there were too many, or the number of rows."""
        codes = np.zeros(len(starts), np.int64)
        row = 0
        while True:
            row = scans.find_labels(
                buffer, starts, stops, row, self._slots, self._buffer, self._starts, codes
            )
            if row == len(starts) or self._count == self.most:
                return codes, row
            self._add(buffer[starts[row] : stops[row]])

    def words(self) -> np.ndarray:
        """All labels, in the order of their numbers."""
        if self._words is None:
            spans = zip(self._starts[: self._count].tolist(), self._starts[1 : self._count + 1].tolist())
            words = [self._buffer[a:b].tobytes().decode("utf-8", "replace") for a, b in spans]
            self._words = np.asarray(words or [""], dtype=np.str_)
        return self._words

    def _add(self, label: np.ndarray) -> None:
        start = int(self._starts[self._count])
        stop = start + len(label)
        self._buffer = _with_room(self._buffer, stop)
        self._starts = _with_room(self._starts, self._count + 2)
        self._buffer[start:stop] = label
        self._starts[self._count + 1] = stop
        self._count += 1
        self._words = None
        if 2 * self._count > len(self._slots):
            self._slots = np.full(4 * len(self._slots), -1, np.int64)
            self._place(0)
        else:
            self._place(self._count - 1)

    def _place(self, first: int) -> None:
        """Give the labels from ``first`` on their slots."""
        mask = len(self._slots) - 1
        at = np.empty(self._count - first, np.int64)
        spans = self._starts[first : self._count], self._starts[first + 1 : self._count + 1]
        scans.hash_names(self._buffer, *spans, 0, np.uint64(mask), at)
        for code, slot in enumerate(at.tolist(), first):
            while self._slots[slot] >= 0:
                slot = (slot + 1) & mask
            self._slots[slot] = code


def _with_room(array: np.ndarray, size: int) -> np.ndarray:
    if size <= len(array):
        return array
    return np.concatenate([array, np.zeros(max(size, 2 * len(array)) - len(array), array.dtype)])
