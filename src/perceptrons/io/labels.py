"""LabelReader of one kind for a whole stream: integers, numbers or words, decided by the first batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .._types import Json
from . import _numbers as numbers
from . import _scans as scans
from .records import FormatError, Limits, LineBlock, Refusals

_KINDS = ("auto", "text", "number", "ignore")
_INTEGER = "an integer as label, as before"
_BEYOND = "an integer label within int64"
_Y_BYTES = 1 << 23  # of the labels of a batch: a row of them is as wide as the longest label
_WORDS = "labels='text' takes all labels as words."
_LONG = "Is label_column right? limits=Limits(label_bytes=…) sets the limit."


_TYPES: dict[str, set[type]] = {
    "auto": set(),
    "int": {int, bool},
    "float": {int, bool, float},
    "text": {str, int, bool, float},
}


class LabelReader:
    """Turns fields, or values, into labels; what is not of the stream's kind is refused."""

    def __init__(self, kind: str, limits: Limits, refusals: Refusals):
        if kind not in _KINDS:
            raise ValueError(f"labels must be one of {', '.join(map(repr, _KINDS))}; got labels={kind!r}.")
        self.kind = {"auto": "auto", "text": "text", "number": "float", "ignore": "auto"}[kind]
        self._refusals = refusals
        self._label_bytes = limits.label_bytes
        self._table = LabelTable(limits.labels)

    # ------------------------------------------------------------------------------ fields of a block

    def of_fields(
        self, block: LineBlock, starts: np.ndarray, stops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(labels, which rows have one) of trimmed fields; words as numbers for :meth:`pieces`."""
        if self.kind == "text":
            return self._words(block, starts, stops)
        wholes, kinds = np.empty(len(starts), np.int64), np.empty(len(starts), np.uint8)
        scans.parse_wholes(block.buffer, starts, stops, wholes, kinds)
        if self.kind == "int" or (self.kind == "auto" and len(kinds) and kinds.all()):
            self.kind = "int"
            self._refuse(block, starts, stops, kinds != 1, lambda i: _BEYOND if kinds[i] == 2 else _INTEGER)
            return wholes, kinds == 1
        values, kinds = parsed_numbers(block, starts, stops, exact=True)
        if self.kind == "auto" and len(kinds):
            self.kind = "float" if (kinds != numbers.NOTHING).all() else "text"
            if self.kind == "text":
                return self._words(block, starts, stops)
        bad = (kinds == numbers.NOTHING) | (kinds == INEXACT)
        wanted = {INEXACT: numbers.WHOLE_LABEL}
        self._refuse(block, starts, stops, bad, lambda i: wanted.get(int(kinds[i]), self.wanted))
        values[bad] = 0.0
        return values, ~bad

    def _refuse(
        self,
        block: LineBlock,
        starts: np.ndarray,
        stops: np.ndarray,
        bad: np.ndarray,
        wanted: Callable[[int], str],
        way_out: str = _WORDS,
    ) -> None:
        def error(i: int) -> FormatError:
            found = block.token(int(starts[i]), int(stops[i])) if stops[i] > starts[i] else "nothing"
            return block.error(int(starts[i]), wanted(i), way_out, found=found)

        self._refusals.refuse_all(np.flatnonzero(bad), error)

    def _words(
        self, block: LineBlock, starts: np.ndarray, stops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        lengths = stops - starts
        good = (lengths > 0) & (lengths <= self._label_bytes)
        longest = f"a label of at most {self._label_bytes:,} bytes"
        self._refuse(block, starts, stops, lengths == 0, lambda i: "a label", "")
        self._refuse(block, starts, stops, lengths > self._label_bytes, lambda i: longest, _LONG)
        codes = np.zeros(len(starts), np.int64)
        kept = np.flatnonzero(good) if not good.all() else slice(None)
        codes[kept], row = self._table.codes(block.buffer, starts[kept], stops[kept])
        if row < len(starts[kept]):
            raise block.error(
                int(starts[kept][row]),
                f"at most {self._table.most:,} different labels",
                "Is label_column right? limits=Limits(labels=…) sets the limit.",
            )
        return codes, good

    def pieces(
        self, y: np.ndarray | list[Json] | None, rows: int
    ) -> Iterator[tuple[slice, np.ndarray | None]]:
        """(rows, their labels), so many rows at a time that the labels are no more than 8 MB.

        An array of words is as wide as the longest of them: rows times that could be any number of bytes.
        """
        if y is None:
            yield slice(0, rows), None
            return
        if self.kind != "text":
            yield slice(0, rows), self.of_values(y) if isinstance(y, list) else y
            return
        if isinstance(y, list):
            y = [str(value) for value in y]
        longest = max(map(len, y), default=1) if isinstance(y, list) else self._table.longest
        step = max(1, _Y_BYTES // (4 * max(1, longest)))
        for start in range(0, max(rows, 1), step):
            part = slice(start, min(start + step, rows))
            yield part, self.of_values(y[part]) if isinstance(y, list) else self._table.words(y[part])

    # ---------------------------------------------------------------------------------------- values

    def misfits(self, values: list[Json], floats_below: float = float(2**63)) -> list[int]:
        """Which Python values are no labels of the stream's kind; the first batch decides the kind.

        Floats must be below a limit: those of JSON have been rounded, and beyond 2**53 integers get lost.
        """
        types = {type(value) for value in values} & _TYPES["text"]  # nothing else can be a label
        if self.kind == "auto" and types:
            self.kind = "text" if str in types else "float" if float in types else "int"
        return [i for i, value in enumerate(values) if not self._fits(value, floats_below)]

    def _fits(self, value: Json, floats_below: float) -> bool:
        if type(value) not in _TYPES[self.kind]:
            return False
        if type(value) is float and not abs(value) < floats_below:
            return False
        if self.kind == "text":
            return len(value if type(value) is str else str(value)) <= self._label_bytes
        return bool(abs(value) < 2**63 and (self.kind == "int" or float(value) == value))

    def of_values(self, values: list[Json]) -> np.ndarray:
        """LabelReader of Python values that fit."""
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


INEXACT = 4  # a kind of number: it lies between two doubles beyond 2**53


def parsed_numbers(
    block: LineBlock, starts: np.ndarray, stops: np.ndarray, exact: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(values, what each is) of trimmed fields; one beyond all doubles counts as no number.

    With ``exact`` a number beyond 2**53 that would be rounded is marked as INEXACT.
    """
    values, kinds = np.empty(len(starts)), np.empty(len(starts), np.uint8)
    scans.parse_numbers(
        block.buffer, starts, stops, values, values.view(np.int64), kinds, numbers.POWERS.tens
    )
    if (kinds == numbers.LONG).any():

        def refuse(k: int, position: int, expected: str = "") -> None:
            kinds[k] = INEXACT if expected == numbers.WHOLE_LABEL else numbers.NOTHING

        (numbers.finish_labels if exact else numbers.finish)(block.buffer, values, refuse)
    return values, kinds


class LabelTable:
    """The different labels so far, and a compiled way to find them: no Python object per row."""

    def __init__(self, most: int):
        self.most = most
        self._count = 0
        self._slots = np.full(16, -1, np.int64)
        self._buffer = np.zeros(256, np.uint8)
        self._starts = np.zeros(16, np.int64)
        self.longest = 1  #: bytes of the longest label
        self._words: np.ndarray | None = None
        self._width = 1  # characters of the longest label

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

    def words(self, codes: np.ndarray) -> np.ndarray:
        """The labels with these numbers."""
        if self._words is None:
            spans = zip(self._starts[: self._count].tolist(), self._starts[1 : self._count + 1].tolist())
            words = [self._buffer[a:b].tobytes().decode("utf-8", "replace") for a, b in spans] or [""]
            few = 4 * len(words) * self.longest <= _Y_BYTES  # else only the labels of the codes
            self._width = max(map(len, words))
            self._words = np.asarray(words, dtype=np.str_ if few else object)
        return np.asarray(self._words[codes]).astype(f"<U{max(1, self._width)}", copy=False)

    def _add(self, label: np.ndarray) -> None:
        start = int(self._starts[self._count])
        stop = start + len(label)
        self._buffer = _with_room(self._buffer, stop)
        self._starts = _with_room(self._starts, self._count + 2)
        self._buffer[start:stop] = label
        self.longest = max(self.longest, len(label))
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
