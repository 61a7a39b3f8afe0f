r"""Which lines the certificate of a learner has: one table, by rule or by class.

It follows the theory learner by learner: the bound on its updates, what its clean pass guarantees, the checks
that hold on any data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import rules
from ..certificates.claims import needs
from ..certificates.row_spread import spread_is_small
from ..estimators.budget import BudgetKernelPerceptron
from ..estimators.confidence import AROW, SCW, SecondOrderPerceptron
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import BalancedWinnow, Elimination, PNormPerceptron, Winnow
from ..estimators.risk import RiskDescent
from ..theorems import theorem

if TYPE_CHECKING:
    from .certifying import Case


class Line(NamedTuple):
    """One line of a certificate, and when it is printed."""

    name: str
    when: Callable[[Case], bool] = lambda c: True

    @property
    def needs(self) -> str:
        """The comparator; see :func:`claims.needs`."""
        return needs(self.name)


def _converged(c: Case) -> bool:
    return c.converged


def _logged(c: Case) -> bool:
    return c.updates is not None and c.counts_rows


def _whole(c: Case) -> bool:
    return c.visits is not None


def _ends_by_update(c: Case) -> bool:
    own = c.updates
    return _logged(c) and own is not None and all(len(own.of(r).row) for r in range(c.n_parts))


def _fixed_order(c: Case) -> bool:
    """The rows updated on are at most the updates; the bound grows with them up to half of the rows."""
    few = all(2 * c.run["parts"][r]["updates"] <= c.evidence.n_rows for r in range(c.n_parts))
    return c.converged and not c.record.parameters.get("shuffle", True) and (few or _logged(c))


def _tops(c: Case) -> bool:
    return c.problem != "joint" or c.parameters.get("scheme", "top") == "top"


def _in_the_band(c: Case) -> bool:
    theta = (1.0 - c.parameters["eps"]) * c.run["gamma"]
    return all(c.best_margin(r) > theta for r in range(c.n_parts))


def _exceeded(c: Case) -> bool:
    return c.n_parts == 1 and c.run["stop_reason"] == "bound exceeded"


def _counts_examples(c: Case) -> bool:
    return c.parameters["learning_rate"] == "updates" or _logged(c)


def _rows_of_length_one(c: Case) -> bool:
    return _whole(c) and c.space.unit and bool(np.all(c.evidence.lengths == 1.0))


def _small(c: Case) -> bool:
    return (_logged(c) or _whole(c)) and spread_is_small(c.facts)


def _forgets(c: Case) -> bool:
    return c.parameter("policy") == "forgetron"


def _forgetron(c: Case) -> bool:
    return _forgets(c) and _whole(c) and c.evidence.radius <= 1.0 + 1e-9


def _by_margin(rule: type, *, several: bool = False, when: Callable[[Case], bool] = lambda c: True) -> Line:
    """The theorem that :mod:`perceptrons.theorems` has for the rule."""
    found = theorem(rule, several)
    assert found is not None
    return Line(found.name, when)


GROWTH = [Line("norm"), Line("squares")]
FUTURE = [Line("online_to_batch", lambda c: c.first_pass)]
BATCH = [Line("passes", _converged), Line("compression", _fixed_order)]
HINGE = Line("hinge_tight", _whole)
#: The lines of each rule, for two classes (or one against the rest) and for prototypes learned together.
LINES: dict[Any, tuple[list[Line], list[Line]]] = {
    rules.Perceptron: (
        [
            *GROWTH,
            _by_margin(rules.Perceptron),
            HINGE,
            Line("hinge_tight on the mistakes", lambda c: _whole(c) and _logged(c)),
            *BATCH,
            *FUTURE,
        ],
        [
            *GROWTH,
            _by_margin(rules.Perceptron, several=True),
            Line("multiclass_hinge_tight", lambda c: _whole(c) and _tops(c)),
            *FUTURE,
        ],
    ),
    rules.RateByUpdates: (
        [Line("variable_rate", _counts_examples), Line("harmonic_sum"), *FUTURE],
        [*FUTURE],
    ),
    rules.RateByExamples: (
        [Line("variable_rate", _counts_examples), Line("harmonic_sum", _whole), *FUTURE],
        [*FUTURE],
    ),
    rules.Margin: (
        [
            _by_margin(rules.Margin, when=_in_the_band),
            Line("margin_perceptron_margin", _converged),
            Line("refuted", _exceeded),
            *FUTURE,
        ],
        [
            _by_margin(rules.Margin, several=True, when=_in_the_band),
            Line("margin_perceptron_margin", _converged),
            Line("refuted", _exceeded),
            *FUTURE,
        ],
    ),
    rules.MIRA: (
        [
            _by_margin(rules.MIRA),
            Line("mira_left"),
            Line("mira_margin", _converged),
            Line("last step", _ends_by_update),
            *FUTURE,
        ],
        [_by_margin(rules.MIRA, several=True), Line("last step", _ends_by_update), *FUTURE],
    ),
    rules.GeometricMIRA: ([_by_margin(rules.GeometricMIRA), *FUTURE], [*FUTURE]),
    rules.NormMinimising: (
        [],
        [Line("norm_minimised", _logged), Line("crammer_singer", _logged), *FUTURE],
    ),
    rules.PA: (
        [
            _by_margin(rules.PA),
            Line("pa_unit", _rows_of_length_one),
            Line("last step", _ends_by_update),
            *FUTURE,
        ],
        [_by_margin(rules.PA, several=True), Line("last step", _ends_by_update), *FUTURE],
    ),
    rules.PA1: (
        [_by_margin(rules.PA1, when=_whole), Line("last step", _ends_by_update), *FUTURE],
        [Line("last step", _ends_by_update), *FUTURE],
    ),
    rules.PA2: (
        [_by_margin(rules.PA2, when=_whole), Line("last step", _ends_by_update), *FUTURE],
        [*FUTURE],
    ),
    rules.ROMMA: (
        [_by_margin(rules.ROMMA), Line("romma_length"), *FUTURE],
        [_by_margin(rules.ROMMA, several=True), Line("romma_length"), *FUTURE],
    ),
    rules.AggressiveROMMA: (
        [
            Line("romma_aggressive", lambda c: c.parameters["delta"] > 0.0),
            _by_margin(rules.AggressiveROMMA),
            Line("romma_length"),
            Line("romma_margin", _converged),
            *FUTURE,
        ],
        [
            Line("romma_aggressive", lambda c: c.parameters["delta"] > 0.0),
            Line("romma_length"),
            Line("romma_margin", _converged),
            *FUTURE,
        ],
    ),
    rules.ALMA: ([Line("alma"), Line("alma_margin", _converged), *FUTURE], [*FUTURE]),
    rules.UserRule: ([*FUTURE], [*FUTURE]),
    Winnow: (
        [
            Line("winnow1_demotions", lambda c: c.parameters["kind"] == 1),
            Line("winnow2_demotions", lambda c: c.parameters["kind"] == 2 and c.binary_inputs),
            Line("winnow_promotions", lambda c: c.binary_inputs),
            *FUTURE,
        ],
        [],
    ),
    Elimination: ([Line("elimination"), *FUTURE], []),
    BalancedWinnow: (
        [Line("balanced_winnow"), Line("balanced_winnow_total_distance", _whole), *FUTURE],
        [],
    ),
    PNormPerceptron: ([Line("pnorm"), *FUTURE], []),
    SecondOrderPerceptron: ([Line("second_order", _small), *FUTURE], []),
    AROW: ([Line("arow", lambda c: c.parameter("covariance") == "full" and _small(c)), *FUTURE], []),
    SCW: ([Line("self test", lambda c: c.has("self_test")), *FUTURE], []),
    BudgetKernelPerceptron: (
        [
            Line("budget", lambda c: c.parameter("budget") is not None),
            Line("forgetting", _forgets),
            Line("forgetron", _forgetron),
            *FUTURE,
        ],
        [],
    ),
    MaxMargin: ([Line("support")], []),
    RiskDescent: (
        [
            Line("risk"),
            Line("on the boundary"),
            Line("risk_descent_steps", lambda c: c.descends("batch")),
            Line("single_point_steps", lambda c: c.descends("single")),
        ],
        [],
    ),
}
#: Lines that say nothing on how many mistakes, updates or losses the run may have.
CHECKS = {
    "budget",
    "compression",
    "forgetting",
    "last step",
    "norm",
    "norm_minimised",
    "on the boundary",
    "online_to_batch",
    "risk",
    "romma_length",
    "self test",
    "smallest eigenvalue",
    "squares",
    "support",
}


def bounds_the_run(line: Line) -> bool:
    """Whether the line is a theorem on the course of the run, not a check of its result."""
    return line.name not in CHECKS


#: What every learner in the space of a kernel adds.
KERNEL = [
    Line("support", lambda c: c.rule not in (BudgetKernelPerceptron, MaxMargin)),
    Line("smallest eigenvalue"),
]
#: Claims whose multiple is the margin that is asked for.
ASKS_A_MARGIN = ("second_order", "balanced_winnow_total_distance")
#: Parameters that learners outside the first-order family have in their theorems.
OWN: dict[Any, tuple[str, ...]] = {
    Winnow: ("kind", "alpha"),
    Elimination: ("literals",),
    BalancedWinnow: ("eta",),
    PNormPerceptron: ("p",),
    SecondOrderPerceptron: ("a",),
    AROW: ("r", "covariance"),
    SCW: ("eta", "C", "variant", "covariance"),
    BudgetKernelPerceptron: ("budget", "policy"),
    MaxMargin: ("C", "tol"),
    RiskDescent: ("loss", "step", "batch_size", "pick"),
}
