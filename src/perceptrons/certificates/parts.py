"""The parts of a certificate, as plain data: a bound, a bracket, a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .bracket_ends import RowWeights
from .claims import CLAIMS

#: What an upper end follows from.
BY_ROWS, NOTHING = "weights on rows", "nothing"


#: The symbols of a bound: numbers, or a few words such as "all".
Symbols: TypeAlias = Mapping[str, bool | float | str | None]


class CertificateError(ValueError):
    """The text is no certificate, or a claim of one does not hold; the message names it."""


@dataclass(frozen=True)
class Bound:
    """One line: both sides of an inequality, and what the second was computed from.

    Several learners side by side have one entry each in ``measured``, ``allowed`` and ``symbols``.
    """

    name: str
    sense: str  #: how ``measured`` compares with ``allowed``
    measured: tuple[float | None, ...]  #: None: the bound is on errors still to come
    allowed: tuple[float, ...]
    symbols: tuple[Symbols, ...]
    vector: str | None  #: the comparator is a multiple of this vector
    scales: tuple[float, ...]  #: the multiples; for second-order and L1 bounds the margin γ of the bound
    basis: str  #: "proved here", or the paper that the constants are quoted from
    holds: bool

    @property
    def statement(self) -> str:
        """The inequality in symbols."""
        return CLAIMS[self.name].statement


@dataclass(frozen=True)
class Bracket:
    """low <= best margin <= up, in the norm and the space of the learner, with what proves both ends.

    ``low`` is the margin of a vector that separates; -inf and no vector where none does. ``up`` is the
    length of the sum of the rows y x with weights ``alpha`` over the sum of these; inf and no rows where
    nothing is known. Where rows are scaled to length 1, the weights are on the rows before that.
    """

    low: float
    vector: str | None
    up: float
    source: str  #: what ``up`` follows from: "weights on rows" or "nothing"
    rows: tuple[int, ...] = ()
    alpha: tuple[float, ...] = ()  #: one per row, at least 0
    rivals: tuple[int, ...] | None = None  #: of prototypes learned together, the class each weight is against

    @property
    def weights(self) -> RowWeights:
        """What proves ``up``."""
        rivals = None if self.rivals is None else np.asarray(self.rivals, np.int64)
        return RowWeights(np.asarray(self.rows, np.int64), np.asarray(self.alpha, float), rivals)


@dataclass(frozen=True)
class Verdict:
    """Separable by a vector, not separable by weights on rows, or undecided."""

    verdict: str
    vector: str | None = None  #: the separator
    rows: tuple[int, ...] = ()  #: rows with a weight
    weights: tuple[int, ...] = ()  #: positive whole numbers; the rows y x weighted by them sum to exactly 0

    @property
    def exact(self) -> bool:
        """Whether the proof is in whole numbers."""
        return self.verdict == "not separable"

    @property
    def why(self) -> str:
        """What the verdict rests on, in words."""
        if self.verdict == "separable":
            return f"{self.vector} separates"
        if self.verdict == "not separable":
            one = len(self.rows) == 1
            return f"row {self.rows[0]} is 0" if one else f"{len(self.rows)} weighted rows sum to exactly 0"
        return "no vector here separates, and nothing here proves that none does"

    def statement(self, brackets: tuple[Bracket, ...] = ()) -> str:
        """The verdict in words, no stronger than its proof.

        >>> Verdict("undecided").statement((Bracket(-math.inf, None, 0.25, BY_ROWS),))
        'undecided: no margin above 0.25'
        """
        up = min((bracket.up for bracket in brackets), default=math.inf)
        if self.verdict != "undecided" or not math.isfinite(up):
            return self.verdict
        return f"undecided: no margin above {up:.3g}"
