"""What claims are evaluated on: the evidence, the reports of the run, and its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from .._types import Json
from .evidence import Evidence

#: Sums of rounded numbers may exceed what they are compared with by this part of it.
SLACK = 1e-9


class LoggedUpdates(NamedTuple):
    """The log of a run: w <- keep w + alpha x, in order."""

    part: np.ndarray  #: which learner of one-vs-rest; 0 otherwise
    epoch: np.ndarray
    row: np.ndarray
    keep: np.ndarray
    alpha: np.ndarray  #: (updates, 1 or n_classes)

    def of(self, part: int) -> LoggedUpdates:
        mine = self.part == part
        return LoggedUpdates(*(a[mine] for a in self))

    def coefficients(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, coefficients): the w that the updates leave, as a combination of distinct rows."""
        own = self.of(part)
        later = np.ones(len(own.keep))
        if len(later):
            later[:-1] = np.cumprod(own.keep[:0:-1])[::-1]
        rows, where = np.unique(own.row, return_inverse=True)
        a = np.zeros((own.alpha.shape[1], len(rows)))
        for r in range(own.alpha.shape[1]):
            np.add.at(a[r], where, own.alpha[:, r] * later)
        return rows, a


class ClaimFacts(NamedTuple):
    """What claims are evaluated on."""

    evidence: Evidence
    run: Mapping[str, Json]  #: counts and other reports of the run
    parameters: Mapping[str, Json]  #: of the learner
    updates: LoggedUpdates | None = None

    def part(self, r: int) -> Mapping[str, Json]:
        """The counts of one learner."""
        found: Mapping[str, Json] = self.run["parts"][r]
        return found

    def counted(self, r: int, name: str) -> Json:
        """What one learner has counted; ValueError where it has not, or where the sum left the floats."""
        found = self.run["parts"][r].get(name)
        if found is None:
            raise ValueError(f"the run has not counted {name}")
        return found

    @property
    def joint(self) -> bool:
        return self.evidence.problem == "joint"


class Multiple(NamedTuple):
    """u = c v, one c for each learner."""

    vector: str
    scales: tuple[float, ...]


class Sides(NamedTuple):
    """One inequality: the measured side, the symbols of the other, and the other."""

    measured: float | None
    symbols: dict[str, float]
    allowed: float


MeasuredOf: TypeAlias = Callable[[ClaimFacts, int, str, float], float | None]
SymbolsOf: TypeAlias = Callable[[ClaimFacts, int, str, float], dict[str, float]]


class Claim(NamedTuple):
    """How a line is computed."""

    statement: str
    measured: MeasuredOf
    symbols: SymbolsOf
    allowed: Callable[..., float]
    sense: str = "<="
    published: str = ""  #: the name under which the paper is found
    counts: bool = False  #: the measured side counts examples of one learner, so there is a largest anyway

    def sides(self, facts: ClaimFacts, part: int, vector: str, c: float) -> Sides:
        symbols = self.symbols(facts, part, vector, c)
        return Sides(self.measured(facts, part, vector, c), symbols, float(self.allowed(**symbols)))
