"""Where in a text its features are: every occurrence, by the tokens or characters that it is made of.

A row of the hasher has each column once. Here the hasher is given windows of the text, each of which holds
one n-gram, so that every occurrence is found, with its column, by the very functions that make the rows.
"""

from __future__ import annotations

import copy
import threading
from typing import NamedTuple

import numpy as np

from ..io import Texts
from . import loops
from .hashing import Hasher, workspace_for


class Occurrences(NamedTuple):
    """The units of a text (tokens or characters), and the units of every occurrence of a feature."""

    begins: np.ndarray  #: of the units, in the buffer
    ends: np.ndarray
    columns: np.ndarray  #: of the occurrences
    first: np.ndarray  #: number of the first unit of each
    stop: np.ndarray  #: one more than the number of its last unit


def occurrences(hasher: Hasher, texts: Texts) -> Occurrences:
    """All occurrences of the features of one text."""
    recipe = hasher._for(hasher.recipe, texts)
    if recipe.cut == loops.WORDS:
        begins, windows, ends = _tokens(hasher, recipe, texts)
    else:
        begins, ends = _characters(texts)
        windows = begins
    if recipe.cut == loops.WITHIN_WORDS:
        return _within_words(hasher, texts, begins, ends)
    found = [
        _of_size(hasher, texts, windows, ends, size) for size in range(recipe.shortest, recipe.longest + 1)
    ]
    columns, first, stop = (np.concatenate(part) for part in zip(*found, strict=True))
    return Occurrences(begins, ends, columns, first, stop)


def _tokens(hasher: Hasher, recipe: loops.Recipe, texts: Texts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(where tokens begin, where the token before has ended, where they end), without stop words."""
    start, end = int(texts.starts[0]), int(texts.stops[0])
    workspace = workspace_for(recipe, end - start)
    _, _, n = loops.cut_one(recipe, workspace, texts.buffer, np.uint64(start), np.uint64(end))
    ends = workspace.ends[: int(n)].astype(np.int64)
    if len(recipe.stop):
        ends = ends[~np.isin(workspace.hashes[: int(n)], recipe.stop)]
    windows = np.concatenate([[start], ends[:-1]])[: len(ends)]
    rows = _sized(hasher, 1).hash(Texts(texts.buffer, windows, ends), spans=True)
    return rows.first.astype(np.int64), windows, ends


def _characters(texts: Texts) -> tuple[np.ndarray, np.ndarray]:
    """(where characters begin, where they end), a run of white space being one."""
    start, end = int(texts.starts[0]), int(texts.stops[0])
    begins, spaces = [], []
    at = start
    for letter in texts.buffer[start:end].tobytes().decode("utf-8", "surrogateescape"):
        begins.append(at)
        spaces.append(letter.isspace())
        at += 1 if "\udc80" <= letter <= "\udcff" else len(letter.encode())
    space = np.asarray(spaces, bool)
    kept = ~(space & np.concatenate([[False], space[:-1]])[: len(space)])
    first = np.asarray(begins, np.int64)[kept]
    return first, np.append(first[1:], end)[: len(first)]


def _of_size(
    hasher: Hasher, texts: Texts, windows: np.ndarray, ends: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, first and last units of all n-grams of so many units."""
    first = np.arange(max(0, len(ends) - size + 1))
    rows = _sized(hasher, size).hash(Texts(texts.buffer, windows[first], ends[first + size - 1]))
    one = np.diff(rows.indptr) == 1  # always, but where invalid bytes are read over
    return rows.indices[rows.indptr[:-1][one]], first[one], first[one] + size


def _within_words(hasher: Hasher, texts: Texts, begins: np.ndarray, ends: np.ndarray) -> Occurrences:
    """A word has each of its n-grams once."""
    blank = [texts.buffer[a:b].tobytes().decode("utf-8", "replace").isspace() for a, b in zip(begins, ends)]
    inside = np.flatnonzero(~np.asarray(blank, bool))
    breaks = np.flatnonzero(np.diff(inside) > 1)
    firsts = inside[np.concatenate([[0], breaks + 1])] if len(inside) else inside
    lasts = inside[np.append(breaks, len(inside) - 1)] if len(inside) else inside
    rows = hasher.hash(Texts(texts.buffer, begins[firsts], ends[lasts]), spans=True)
    first = np.searchsorted(begins, rows.first.astype(np.int64))
    stop = np.searchsorted(ends, rows.last.astype(np.int64)) + 1
    return Occurrences(begins, ends, rows.indices, first, stop)


def _sized(hasher: Hasher, size: int) -> Hasher:
    """The hasher for n-grams of one size."""
    found = copy.copy(hasher)
    found.recipe = hasher.recipe._replace(shortest=size, longest=size)
    found._scratch = threading.local()
    found.invalid = np.zeros(1, np.int64)
    return found
