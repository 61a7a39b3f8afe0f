"""The fast path for single rows: arguments that were checked once, and machine code that is called directly.

A fast path takes rows of one form: arrays of one width, or dicts of named features. Where it does not take a
row, or fails, the general path learns the row or raises the error. Only known names are learned here; unknown
names have no weight in a score.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from math import isfinite
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..engine.loops import scalars, single

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._types import Label
    from ..engine.spaces import Confident, Joint, Linear

    #: spaces that have compiled calls for single rows
    FastSpace: TypeAlias = Linear | Joint | Confident

#: Types of values that a float holds exactly, up to 2^53.
EXACT = frozenset({float, int, bool, np.bool_, np.float64, np.float32, np.float16}) | {
    np.dtype(code).type for code in "bhilqBHILQ"
}
#: Longer dicts take the general path.
MOST_NAMES = 1 << 16


@lru_cache(maxsize=1024)
def packers(n: int) -> tuple[Callable[..., bytes], Callable[..., bytes]]:
    """Functions that write n column numbers, and n values, to bytes."""
    return Struct(f"{n}q").pack, Struct(f"{n}d").pack


class FastRows:
    """Base class for both forms of rows."""

    __slots__ = ("core", "labels", "n_classes", "row_buffer", "run", "score_row", "serves", "targets")

    def __init__(self, space: FastSpace, labels: list[Label], serves: bool):
        self.core, self.row_buffer = space.core(), space.row_buffer()
        self.serves = serves  #: whether its scores belong to the readout in force
        self.run: Callable[..., Any]
        self.score_row: Callable[..., Any]
        self.labels = labels if len(labels) > 1 else 2 * labels  # the only class is trained as +1
        self.n_classes = len(self.labels)
        codes = range(self.n_classes) if self.n_classes > 2 else (-1, 1)
        self.targets = {label: float(code) for label, code in zip(self.labels, codes, strict=True)}

    def _room(self) -> tuple[np.ndarray, ...]:
        """Arrays for the scores of all classes; each call has its own."""
        if self.n_classes == 2:
            return ()
        v = self.core.v
        return np.empty(v.shape[1], v.dtype), np.empty(v.shape[1]), np.empty(self.n_classes)

    def _given(self, x: Any) -> tuple[Any, ...] | None:
        """A row as arguments of the scoring function; None: the fast path does not take it."""
        raise NotImplementedError

    def score(self, x: Any) -> float | list[float] | None:
        """Score of a row, or the list of the scores of its classes; None: use the general path."""
        given = self._given(x)
        if given is None:
            return None
        if self.n_classes == 2:
            s: float = self.score_row(self.core, *given, self.row_buffer)
            return s if isfinite(s) else None
        room = self._room()
        return room[-1].tolist() if self.score_row(self.core, *given, *room, self.row_buffer) >= 0 else None

    def predict(self, x: Any) -> tuple[Label] | None:
        """(label,) of a row; None: use the general path."""
        given = self._given(x)
        if given is None:
            return None
        if self.n_classes == 2:
            s = self.score_row(self.core, *given, self.row_buffer)
            return (self.labels[1 if s > 0.0 else 0],) if isfinite(s) else None
        code = self.score_row(self.core, *given, *self._room(), self.row_buffer)
        return (self.labels[code],) if code >= 0 else None


class FastArrays(FastRows):
    """For arrays of one width and precision."""

    __slots__ = ("dtype", "shape", "strides")

    form = np.ndarray

    def __init__(self, space: FastSpace, labels: list[Label], serves: bool, x: np.ndarray):
        super().__init__(space, labels, serves)
        self.dtype, self.shape, self.strides = np.dtype(x.dtype.type), x.shape, x.strides
        self.run = single.learn_dense.direct(self.core, x, 1.0, self.row_buffer)
        score = single.score_dense if self.n_classes == 2 else single.scores_dense
        self.score_row = score.direct(self.core, x, *self._room(), self.row_buffer)

    def learn(self, x: np.ndarray, y: Label) -> bool:
        """Whether the row was learned."""
        try:
            target = self.targets.get(y)  # may call methods of the label: x is checked after it
        except TypeError:
            return False
        if target is None or x.dtype is not self.dtype or x.shape != self.shape or x.strides != self.strides:
            return False
        return bool(self.run(self.core, x, target, self.row_buffer) == scalars.DONE)

    def _given(self, x: np.ndarray) -> tuple[Any, ...] | None:
        fits = x.dtype is self.dtype and x.shape == self.shape and x.strides == self.strides
        return (x,) if fits else None


class FastDicts(FastRows):
    """For dicts of named features.

    The columns of the names of the last row are kept: most streams give the same names in the same order.
    """

    __slots__ = ("names", "recent", "scratch")

    form = dict

    def __init__(self, space: FastSpace, labels: list[Label], serves: bool, names: dict[str, int]):
        super().__init__(space, labels, serves)
        self.names = names
        self.recent: tuple[list[Any], bytes] = ([], b"")  #: names of the last row, and their columns
        room = min(space.n_features, MOST_NAMES)
        self.scratch = single.Scratch(np.zeros(room, np.uint64), np.zeros(room), np.zeros(2, np.uint64))
        self.run = single.learn_named.direct(self.core, b"", b"", 1.0, self.scratch, self.row_buffer)
        score = single.score_named if self.n_classes == 2 else single.scores_named
        self.score_row = score.direct(self.core, b"", b"", *self._room(), self.row_buffer)

    def _given(self, x: dict[str, Any]) -> tuple[bytes, bytes] | None:
        names = list(x)
        known, places = self.recent
        try:
            pack_places, pack_values = packers(len(names))
            if names != known:
                try:
                    places = pack_places(*map(self.names.get, names))
                except Exception:  # an unknown name has no column
                    places = pack_places(*map(self.names.get, names, repeat(-1)))
                self.recent = (names, places)
            return places, pack_values(*x.values())
        except Exception:  # no number, or a dict that changes: the general path raises the error
            return None

    def learn(self, x: dict[str, Any], y: Label) -> bool:
        """Whether the row was learned."""
        try:
            target = self.targets.get(y)
        except TypeError:
            return False
        kinds = [*map(type, x.values())]
        if target is None or not (kinds.count(float) == len(kinds) or EXACT.issuperset(kinds)):
            return False
        given = self._given(x)
        if given is None:
            return False
        return bool(self.run(self.core, *given, target, self.scratch, self.row_buffer) == scalars.DONE)
