"""fastText's supervised format: a text on each line, and ``__label__name`` for each of its labels.

A label is any word that begins with the prefix, wherever it stands in the line; all other words are the text.
Lines without a label are left out, as fastText leaves them out, unless labels are not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from .._types import JsonObject
from .lines import TextLines, lines_of
from .records import Limits, LineBlock, Parsed, Refusals, Texts

PREFIX = "__label__"
_SPACE = rb" \t\x0b\x0c\r"  # what separates words, besides the ends of lines
_KINDS = ("auto", "text", "several", "ignore")
_ONE = "labels='several' reads any number of labels on each line."


class FastText:
    """Reads blocks of lines; labels are words, or tuples of words where lines may have several."""

    name = "fasttext"
    n_features = None
    in_lines = True  #: texts have the places of their lines

    def __init__(
        self,
        refusals: Refusals,
        limits: Limits,
        prefix: str = PREFIX,
        labels: str = "auto",
        replace: Limits | None = None,
    ):
        if labels not in _KINDS:
            raise ValueError(
                f"labels of format 'fasttext' are one of {', '.join(map(repr, _KINDS))}; got "
                f"labels={labels!r}."
            )
        if not prefix or re.search(r"\s", prefix):
            raise ValueError(f"label_prefix must be a word; got label_prefix={prefix!r}.")
        self.refusals, self.limits, self.replace = refusals, limits, replace
        self.prefix = prefix.encode()
        word = re.escape(self.prefix) + rb"[^\n" + _SPACE + rb"]*"
        self._label = re.compile(rb"(?:^|(?<=[" + _SPACE + rb"]))" + word, re.MULTILINE)
        self.several: bool | None = {"several": True}.get(labels)
        self.ignored = labels == "ignore"
        self._names: dict[bytes, str] = {}

    @property
    def layout(self) -> JsonObject:
        """What the first lines have decided."""
        return {"labels": "several"} if self.several else {}

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """Texts and labels of a block."""
        lines = lines_of(block, self.refusals, self.replace)
        if not len(lines):
            return
        buffer = lines.block.buffer.copy()
        spans = [
            match.span() for match in self._label.finditer(buffer[: lines.block.size].tobytes())
        ]  # a line has no NUL: that is refused as no text
        found = np.array(spans, np.int64).reshape(-1, 2)
        row = np.searchsorted(lines.starts, found[:, 0], side="right") - 1
        inside = (row >= 0) & (found[:, 1] <= lines.stops[np.maximum(row, 0)])
        found, row = found[inside], row[inside]  # the others are in lines that were refused
        good = np.ones(len(lines), bool)
        if not self.ignored:
            self._check(lines, found, row, good)
        texts = self._texts(lines, buffer, found)
        if self.ignored:
            yield texts, None, None
            return
        counts = np.bincount(row, minlength=len(lines))
        kept = np.flatnonzero(good & (counts > 0))
        y = self._labels(lines, found, row, counts, kept)
        if len(kept):
            yield texts.some(kept), y, None

    def _check(self, lines: TextLines, found: np.ndarray, row: np.ndarray, good: np.ndarray) -> None:
        """Refuse lines with too many labels, or a label without a name or with a long one."""
        lengths = found[:, 1] - found[:, 0] - len(self.prefix)
        counts = np.bincount(row, minlength=len(lines))
        if self.several is None and len(found):
            self.several = bool((counts > 1).any())
        most, longest = (self.limits.values if self.several else 1), self.limits.label_bytes

        def refuse(which: np.ndarray, expected: str, way_out: str = "") -> None:
            rows, first = np.unique(row[which], return_index=True)
            fresh = good[rows]
            at = np.flatnonzero(which)[first][fresh]
            self.refusals.refuse_all(
                np.arange(len(at)), lambda i: lines.block.error(int(found[at[i], 0]), expected, way_out)
            )
            good[rows] = False

        refuse(lengths == 0, f"a name after {self.prefix.decode()}")
        refuse(
            lengths > longest,
            f"a label of at most {longest:,} bytes",
            "limits=Limits(label_bytes=…) sets the limit.",
        )
        way_out = "limits=Limits(values=…) sets the limit." if self.several else _ONE
        expected = f"at most {most:,} labels on a line" if self.several else "one label on a line, as before"
        refuse(counts[row] > most, expected, way_out)

    def _texts(self, lines: TextLines, buffer: np.ndarray, found: np.ndarray) -> Texts:
        """The lines without their labels: spaces take the place of labels, and a text begins after them."""
        marks = np.zeros(len(buffer) + 1, np.int32)
        np.add.at(marks, found[:, 0], 1)
        np.add.at(marks, found[:, 1], -1)
        buffer[np.cumsum(marks[:-1]) > 0] = ord(" ")
        starts, stops = lines.starts.copy(), lines.stops.copy()
        solid = np.flatnonzero(~np.isin(buffer, np.frombuffer(b" \t\x0b\x0c\r", np.uint8)))
        first = np.searchsorted(solid, starts)
        begin = np.append(solid, len(buffer))[first]
        return Texts(buffer, np.minimum(begin, stops), stops)

    def _labels(
        self, lines: TextLines, found: np.ndarray, row: np.ndarray, counts: np.ndarray, kept: np.ndarray
    ) -> np.ndarray:
        """The labels of these lines, as words or as tuples of words."""
        raw = lines.block.buffer
        names = [self._name(lines.block, raw, a + len(self.prefix), b) for a, b in found.tolist()]
        stops = np.cumsum(counts)
        if not self.several:
            return np.asarray([names[stops[i] - 1] for i in kept.tolist()], dtype=np.str_)
        y = np.empty(len(kept), object)
        for place, i in enumerate(kept.tolist()):
            y[place] = tuple(names[stops[i] - counts[i] : stops[i]])
        return y

    def _name(self, block: LineBlock, raw: np.ndarray, start: int, stop: int) -> str:
        key = raw[start:stop].tobytes()
        name = self._names.get(key)
        if name is None:
            if len(self._names) >= self.limits.labels:
                raise block.error(
                    start,
                    f"at most {self.limits.labels:,} different labels",
                    "limits=Limits(labels=…) sets the limit.",
                )
            name = self._names[key] = key.decode()
        return name
