"""The facts about every rule and learner, declared once: one row each, and no fact with a default.

A rule declares its row where it is defined, in :mod:`perceptrons.rules`; learners without a rule of that form
have theirs here. Estimators, certificates, the debug switch, the demonstration, the command line and the
tests read the table, so that each fact is written in one place. A row without one of them is a TypeError at
import. The tests compare each fact with the function of its rule.

Import it as ``rules.TABLE``: :mod:`perceptrons.rules` fills it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from ._types import Record

#: Kinds of learners, in the order in which the command line lists them.
FAMILIES = ("first order", "multiplicative", "second order", "confidence", "kernel", "batch")

ALWAYS: Mapping[str, object] = {}  #: of ``conservative``: whatever the parameters are
NEVER = None  #: of ``conservative``: there are no such values


class LearnerFacts(NamedTuple):
    """The estimator that learns by a rule."""

    class_name: str  #: public name
    fixed: dict[str, Any]  #: parameters of the class that choose this rule, and their values
    command: str | None  #: name for ``--rule``; None: it is reached by ``fixed`` alone
    #: the record that ``command`` stands for where a learner takes any rule; None: it does not
    standard: Record | None
    #: parameters of the class that a certificate states beside the record's fields; those in ``fixed`` also
    #: where another class, which does not have them, learns by this rule
    stated: tuple[str, ...]
    #: fields of the record that a certificate states under another name, that of the class's parameter
    renamed: Mapping[str, str]


class Step(NamedTuple):
    """What holds for the steps of a rule."""

    weighted: bool  #: the formula defines the effect of a row's weight; if not, weights are 0 and 1 only
    #: values of parameters under which every update is on a row on the wrong side, or on the hyperplane
    conservative: Mapping[str, object] | None
    #: f: two prototypes learned together are (-f w, f w) of the binary w. 1 where a step is a count, 1/2
    #: where it restores a margin; None: prototypes are not learned together
    pair: float | None
    keeps_scale: bool  #: w is never multiplied, so that an update changes the columns of its row alone
    zero_row: bool  #: a row of zeros is updated on at every visit, so that no pass is clean


class Theory(NamedTuple):
    """What is proved about a run. A name stands for a claim or a check; their conditions are in theory."""

    two: tuple[str, ...]  #: lines of a certificate for two classes, or for one against the rest
    several: tuple[str, ...]  #: the same for prototypes learned together
    invariants: tuple[str, ...]  #: checks of :func:`perceptrons.theory.debug`


class Facts(NamedTuple):
    """A row of the table."""

    name: str  #: of the record, or of the class of a learner without one
    family: str  #: one of :data:`FAMILIES`
    record: type | None  #: of the hyperparameters
    function: Callable[..., tuple[float, float]] | None
    learner: LearnerFacts
    step: Step
    theory: Theory

    def conservative(self, parameters: Mapping[str, object]) -> bool:
        """Whether every update is one on a mistake, with these parameters."""
        needed = self.step.conservative
        return needed is not None and all(parameters.get(name) == value for name, value in needed.items())


TABLE: dict[str, Facts] = {}
_also: list[tuple[str, LearnerFacts]] = []

F = TypeVar("F", bound=Callable[..., Any])


def declare(record: type, family: str, learner: LearnerFacts, step: Step, theory: Theory) -> Callable[[F], F]:
    """Decorator: the function is the rule of ``record``, and these are its facts."""

    def add(function: F) -> F:
        enter(Facts(record.__name__, family, record, function, learner, step, theory))
        return function

    return add


def enter(row: Facts) -> None:
    """Add a row; names are unique, and a family is one of ours."""
    if row.family not in FAMILIES:
        raise ValueError(f"family of {row.name} must be one of {', '.join(FAMILIES)}; got {row.family!r}.")
    if row.name in TABLE:
        raise ValueError(f"{row.name} is in the table already.")
    if row.learner.command in commands():
        raise ValueError(f"--rule {row.learner.command} is in the table already.")
    TABLE[row.name] = row


def commands() -> dict[str, LearnerFacts]:
    """The learners by their names for ``--rule``, family by family."""
    known = [*_also, *((row.family, row.learner) for row in TABLE.values() if row.learner.command)]
    ordered = sorted(known, key=lambda entry: FAMILIES.index(entry[0]))
    return {str(learner.command): learner for _, learner in ordered}


def facts(rule: object) -> Facts:
    """The row of a record, of its type, or of a user's rule.

    >>> from perceptrons import rules
    >>> rules.facts(rules.PA1(C=0.5)).learner.class_name, rules.facts(rules.PA1).step.pair
    ('PassiveAggressive', 0.5)
    """
    kind = rule if isinstance(rule, type) else type(rule)
    row = TABLE.get(kind.__name__)
    if row is None or row.record is not kind:
        raise KeyError(f"{rule!r} is no rule of the table")
    weighted = getattr(rule, "weighted", None)  # a user's rule has its own value
    return row if weighted is None else _weighing(row.name, weighted)


@functools.lru_cache(maxsize=8)
def _weighing(name: str, weighted: bool) -> Facts:
    """A row of the table, with this value of ``weighted``."""
    row = TABLE[name]
    return row._replace(step=row.step._replace(weighted=weighted))


def facts_of(model: object) -> Facts | None:
    """The row of a learner: that of its rule, or else that of its class; None for what is no learner of ours.

    >>> from perceptrons import Winnow, rules
    >>> rules.facts_of(Winnow()).learner.stated
    ('kind', 'alpha')
    """
    record = getattr(model, "_rule", None)
    return row_of(record() if callable(record) else None, type(model))


def row_of(rule: object, cls: type) -> Facts | None:
    """The row of a rule; where that is None, the row of a class of learners."""
    return _of_class(cls) if rule is None else facts(rule)


@functools.lru_cache(maxsize=128)
def _of_class(cls: type) -> Facts | None:
    names = {row.learner.class_name: row for row in reversed(TABLE.values())}  # the first row of each
    return next((names[kind.__name__] for kind in cls.__mro__ if kind.__name__ in names), None)


# ------------------------------------------------------------------------------------ learners without a rule


def _learner(
    name: str, family: str, command: str, stated: tuple[str, ...], step: Step, theory: Theory
) -> None:
    enter(Facts(name, family, None, None, LearnerFacts(name, {}, command, None, stated, {}), step, theory))


_learner(
    "Winnow",
    "multiplicative",
    "winnow",
    ("kind", "alpha"),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=False, zero_row=False),
    Theory(
        two=("winnow1_demotions", "winnow2_demotions", "winnow_promotions"),
        several=(),
        invariants=("balance of demotions",),
    ),
)
_learner(
    "BalancedWinnow",
    "multiplicative",
    "balanced-winnow",
    ("eta",),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=False, zero_row=True),
    Theory(
        two=("balanced_winnow", "balanced_winnow_total_distance"),
        several=(),
        invariants=("bracket in order",),
    ),
)
_learner(
    "Elimination",
    "multiplicative",
    "elimination",
    ("literals",),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=False, zero_row=False),
    Theory(two=("elimination",), several=(), invariants=("literals left",)),
)
_learner(
    "PNormPerceptron",
    "multiplicative",
    "p-norm",
    ("p",),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=False, zero_row=True),
    Theory(two=("pnorm",), several=(), invariants=("bracket in order",)),
)
#: KernelPerceptron learns by the rule of Perceptron, whose row has its facts.
_also.append(("kernel", LearnerFacts("KernelPerceptron", {}, "kernel-perceptron", None, (), {})))
_learner(
    "BudgetKernelPerceptron",
    "kernel",
    "budget",
    ("budget", "policy"),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=False, zero_row=True),
    Theory(
        two=("budget", "forgetting", "forgetron"),
        several=(),
        invariants=("within the budget", "bracket in order"),
    ),
)
_learner(
    "RiskDescent",
    "batch",
    "risk-descent",
    ("loss", "step", "batch_size", "pick"),
    Step(weighted=False, conservative=NEVER, pair=None, keeps_scale=True, zero_row=False),
    Theory(
        two=("risk", "on the boundary", "risk_descent_steps", "single_point_steps"),
        several=(),
        invariants=("bracket in order",),
    ),
)
_learner(
    "MaxMargin",
    "batch",
    "max-margin",
    ("C", "tol"),
    Step(weighted=False, conservative=NEVER, pair=None, keeps_scale=False, zero_row=False),
    Theory(two=("support",), several=(), invariants=("bracket in order",)),
)
