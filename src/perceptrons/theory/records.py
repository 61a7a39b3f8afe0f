"""The parts of a certificate, as plain data: a bound, a bracket, a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .claims import CLAIMS


class CertificateError(ValueError):
    """The text is no certificate, or a claim of one does not hold; the message names it."""


@dataclass(frozen=True)
class Bound:
    """One line: both sides of an inequality, and what the second was computed from.

    Several learners side by side have one entry each in ``measured``, ``allowed`` and ``symbols``.
    """

    name: str
    sense: str  #: how ``measured`` stands to ``allowed``
    measured: tuple[float | None, ...]  #: None: the bound is on errors still to come
    allowed: tuple[float, ...]
    symbols: tuple[Mapping[str, Any], ...]
    vector: str | None  #: the comparator is a multiple of this vector
    scales: tuple[float, ...]  #: the multiples; for second-order and L1 bounds the margin asked for
    basis: str  #: "proved here", or the paper that the constants are quoted from
    holds: bool

    @property
    def statement(self) -> str:
        """The inequality in symbols."""
        return CLAIMS[self.name].statement


@dataclass(frozen=True)
class Bracket:
    """low <= best margin <= up, in the norm and the space of the learner, rounded outwards."""

    low: float
    vector: str  #: whose margin ``low`` is
    up: float
    source: str  #: what ``up`` follows from: "combination" (checked), "run" (as reported), "nothing"


@dataclass(frozen=True)
class Verdict:
    """Separable by a vector, not separable by weights on rows, or undecided."""

    verdict: str
    vector: str | None = None  #: the separator
    rows: tuple[int, ...] = ()  #: rows with a weight
    weights: tuple[Any, ...] = ()  #: positive floats, or texts "p/q"; sum of lambda_i y_i x_i is ``residual``
    residual: float = 0.0  #: for weights of sum 1; no separator has a margin above it
    exact: bool = False  #: the residual is 0 in rational arithmetic
    why: str = ""

    @property
    def statement(self) -> str:
        """The verdict in words, no stronger than its proof."""
        if self.verdict != "not separable" or self.exact:
            return self.verdict
        return f"not separable: no margin above {self.residual:.3g}"
