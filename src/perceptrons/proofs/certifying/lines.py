"""Which lines the certificate of a learner has: those that the rule table names, each under its condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import rules
from ...certificates.claims import MIXED, needs
from ...certificates.row_spread import spread_is_small

if TYPE_CHECKING:
    from .case import Case


class Line(NamedTuple):
    """One line of a certificate, and when it is printed."""

    name: str
    when: Callable[[Case], bool]

    @property
    def needs(self) -> str:
        """The comparator; see :func:`claims.needs`."""
        return needs(self.name)


def _always(c: Case) -> bool:
    return True


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
    return c.converged and not bool(c.record.parameters.get("shuffle", True)) and (few or _logged(c))


def _tops(c: Case) -> bool:
    return c.problem != "joint" or bool(c.parameters.get("scheme", "top") == "top")


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


def _equal_shards(c: Case) -> bool:
    return c.record.mixed is not None and c.record.mixed.mixing == "uniform"


def _forgets(c: Case) -> bool:
    return bool(c.parameter("policy") == "forgetron")


def _forgetron(c: Case) -> bool:
    return _forgets(c) and _whole(c) and c.evidence.radius <= 1.0 + 1e-9


#: When a line is printed that is not printed always.
CONDITIONS: dict[str, Callable[[Case], bool]] = {
    "alma_margin": _converged,
    "arow": lambda c: c.parameter("covariance") == "full" and _small(c),
    "balanced_winnow_total_distance": _whole,
    "budget": lambda c: c.parameter("budget") is not None,
    "compression": _fixed_order,
    "crammer_singer": _logged,
    "forgetron": _forgetron,
    "forgetting": _forgets,
    "harmonic_sum": lambda c: c.parameters["learning_rate"] == "updates" or _whole(c),
    "hinge_tight": _whole,
    "hinge_tight on the mistakes": lambda c: _whole(c) and _logged(c),
    "ipm_total": _equal_shards,
    "last step": _ends_by_update,
    "margin_perceptron": _in_the_band,
    "margin_perceptron_margin": _converged,
    "mira_margin": _converged,
    "multiclass_ipm_total": _equal_shards,
    "multiclass_hinge_tight": lambda c: _whole(c) and _tops(c),
    "norm_minimised": _logged,
    "online_to_batch": lambda c: c.first_pass,
    "pa1": _whole,
    "pa2": _whole,
    "pa_unit": _rows_of_length_one,
    "passes": _converged,
    "refuted": _exceeded,
    "risk_descent_steps": lambda c: c.descends("batch"),
    "romma_aggressive": lambda c: c.parameters["delta"] > 0.0,
    "romma_margin": _converged,
    "second_order": _small,
    "self test": lambda c: c.has("self_test"),
    "single_point_steps": lambda c: c.descends("single"),
    "variable_rate": _counts_examples,
    "winnow1_demotions": lambda c: c.parameters["kind"] == 1,
    "winnow2_demotions": lambda c: c.parameters["kind"] == 2 and c.binary_inputs,
    "winnow_promotions": lambda c: c.binary_inputs,
}


def lines(row: rules.Facts, joint: bool, mixed: bool = False) -> list[Line]:
    """The lines of a row of the rule table, for two classes (or one against the rest) or for prototypes.

    Every online learner predicts a row before it learns it, which bounds the errors on future rows.
    ``mixed``: those about passes over shards that were mixed, and no other; else those about one run.
    """
    names = row.theory.several if joint else row.theory.two
    online = () if row.family == "batch" else ("online_to_batch",)
    named = [name for name in (*names, *online) if (name in MIXED) == mixed]
    return [Line(name, CONDITIONS.get(name, _always)) for name in named]


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
    Line(
        "support", lambda c: c.row is not None and c.row.name not in ("BudgetKernelPerceptron", "MaxMargin")
    ),
    Line("smallest eigenvalue", _always),
]
#: Claims whose multiple is the margin γ of the bound.
SCALED_BY_MARGIN = ("second_order", "balanced_winnow_total_distance")
