r"""Every update rule: a record of hyperparameters and a scalar function that reads like its formula.

A *first-order* rule takes three numbers about one row and returns two,

.. math:: (\kappa, \tau) = \mathrm{rule}(m, q, \mathrm{state}), \qquad w \leftarrow \kappa w + \tau y x,

where :math:`m = y\langle w, x\rangle` is the signed margin and :math:`q = \|x\|^2` (or :math:`k(x, x)`
with a kernel, :math:`2\|x\|^2` for a pair of classes). It gets nothing else, so the same record works in
the linear, the multiclass and the kernel engine. A *second-order* rule takes :math:`v = x^\top\Sigma x`
instead of :math:`q` and returns :math:`(\alpha, \beta)`:
:math:`w \leftarrow w + \alpha y \Sigma x,\ \Sigma \leftarrow \Sigma - \beta \Sigma x x^\top \Sigma`.

The functions are plain Python: call them, plot them, test them. The engine compiles the same source.

>>> state = State(N=0.0, k=0, t=1, c=1.0, tol=LOSS_TOL)
>>> pa1(PA1(C=1.0), m=0.5, q=2.0, state=state)
(1.0, 0.25)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from .rule_table import ALWAYS, NEVER, LearnerFacts, Step, Theory, declare, enter
from .rule_table import TABLE as TABLE
from .rule_table import Facts as Facts
from .rule_table import commands as commands
from .rule_table import facts as facts
from .rule_table import facts_of as facts_of
from .rule_table import row_of as row_of
from .user_rule import RuleError as RuleError
from .user_rule import UserRule as UserRule
from .user_rule import rule as rule

if TYPE_CHECKING:
    from ._types import Record

__all__ = [
    "State",
    "Perceptron",
    "perceptron",
    "RateByUpdates",
    "rate_by_updates",
    "RateByExamples",
    "rate_by_examples",
    "Margin",
    "margin",
    "MIRA",
    "mira",
    "GeometricMIRA",
    "geometric_mira",
    "PA",
    "pa",
    "PA1",
    "pa1",
    "PA2",
    "pa2",
    "ROMMA",
    "romma",
    "AggressiveROMMA",
    "aggressive_romma",
    "ALMA",
    "alma",
    "NormMinimising",
    "norm_minimising",
    "SecondOrder",
    "second_order",
    "AROW",
    "arow",
    "SCW1",
    "scw1",
    "SCW2",
    "scw2",
    "rule",
    "register",
    "named",
    "ask",
    "UserRule",
    "RuleError",
    "NAMES",
    "LOSS_TOL",
    "LOSS_TOL_32",
    "NO_STEP",
    "REFUSED",
]

LOSS_TOL = 1e-12  #: a loss up to here is zero (float64); without it PA would step for ever on rounding
LOSS_TOL_32 = 1e-6  #: the same for float32 weights

NO_STEP = (1.0, 0.0)  #: keep w as it is
REFUSED = (0.0, 0.0)  #: the test calls for an update that does not exist; counted, and w is kept


class State(NamedTuple):
    """What a rule gets besides the row: the learner's scalars."""

    N: float  #: squared length of w
    k: int  #: updates made so far
    t: int  #: examples seen so far, this one included
    c: float  #: weight of this row (1 unless the user gave weights)
    tol: float  #: losses up to here count as zero


# ---------------------------------------------------------------- first order: (keep, tau)


class Perceptron(NamedTuple):
    """Rosenblatt's rule, rate eta [Rosenblatt 1958, Novikoff 1962]."""

    eta: float = 1.0


@declare(
    Perceptron,
    "first order",
    LearnerFacts(
        "Perceptron",
        {},
        command="perceptron",
        standard=Perceptron(),
        stated=(),
        renamed={"eta": "learning_rate"},
    ),
    Step(weighted=True, conservative=ALWAYS, pair=1.0, keeps_scale=True, zero_row=True),
    Theory(
        two=(
            "norm",
            "squares",
            "novikoff",
            "hinge_tight",
            "hinge_tight on the mistakes",
            "passes",
            "compression",
            "ipm",
            "ipm_total",
        ),
        several=(
            "norm",
            "squares",
            "multiclass",
            "multiclass_hinge_tight",
            "multiclass_ipm",
            "multiclass_ipm_total",
        ),
        invariants=("norm of the sum", "bracket in order", "updates"),
    ),
)
def perceptron(rule: Perceptron, m: float, q: float, state: State) -> tuple[float, float]:
    if m > 0.0:  # a mistake is y<w,x> <= 0
        return NO_STEP
    return 1.0, rule.eta * state.c  # w <- w + eta y x


class RateByUpdates(NamedTuple):
    """Perceptron whose k-th update has step 1/k."""


@declare(
    RateByUpdates,
    "first order",
    LearnerFacts(
        "Perceptron",
        {"learning_rate": "updates"},
        command=None,
        standard=None,
        stated=("learning_rate",),
        renamed={},
    ),
    Step(weighted=True, conservative=ALWAYS, pair=1.0, keeps_scale=True, zero_row=True),
    Theory(two=("variable_rate", "harmonic_sum"), several=(), invariants=("bracket in order",)),
)
def rate_by_updates(rule: RateByUpdates, m: float, q: float, state: State) -> tuple[float, float]:
    if m > 0.0:
        return NO_STEP
    return 1.0, state.c / (state.k + 1)  # tau = 1 / number of this update


class RateByExamples(NamedTuple):
    """Perceptron whose step at example t is 1/t."""


@declare(
    RateByExamples,
    "first order",
    LearnerFacts(
        "Perceptron",
        {"learning_rate": "examples"},
        command=None,
        standard=None,
        stated=("learning_rate",),
        renamed={},
    ),
    Step(weighted=True, conservative=ALWAYS, pair=1.0, keeps_scale=True, zero_row=True),
    Theory(two=("variable_rate", "harmonic_sum"), several=(), invariants=("bracket in order",)),
)
def rate_by_examples(rule: RateByExamples, m: float, q: float, state: State) -> tuple[float, float]:
    if m > 0.0:
        return NO_STEP
    return 1.0, state.c / state.t  # tau = 1 / number of this example


class Margin(NamedTuple):
    """Margin perceptron: also update inside a band [Krauth, Mezard 1987; Balcan, Blum 2006]."""

    gamma: float = 1.0
    eps: float = 0.5


@declare(
    Margin,
    "first order",
    LearnerFacts("MarginPerceptron", {}, command="margin", standard=Margin(), stated=(), renamed={}),
    Step(weighted=True, conservative=NEVER, pair=1.0, keeps_scale=True, zero_row=True),
    Theory(
        two=("margin_perceptron", "margin_perceptron_margin", "refuted"),
        several=("margin_perceptron", "margin_perceptron_margin", "refuted"),
        invariants=("bracket in order", "margin reached"),
    ),
)
def margin(rule: Margin, m: float, q: float, state: State) -> tuple[float, float]:
    theta = (1.0 - rule.eps) * rule.gamma
    if state.N > 0.0 and m / sqrt(state.N) >= theta:  # geometric margin of at least theta
        return NO_STEP
    return 1.0, state.c


class MIRA(NamedTuple):
    """p-aggressive MIRA, functional margin [Crammer, Singer 2003]."""

    p: float = 0.0


@declare(
    MIRA,
    "first order",
    LearnerFacts("MIRA", {}, command="mira", standard=MIRA(), stated=(), renamed={}),
    Step(weighted=False, conservative={"p": 0.0}, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(
        two=("mira", "mira_left", "mira_margin", "last step"),
        several=("multiclass_mira", "last step"),
        invariants=("bracket in order", "updates"),
    ),
)
def mira(rule: MIRA, m: float, q: float, state: State) -> tuple[float, float]:
    if m > rule.p or q == 0.0:
        return NO_STEP
    return 1.0, (1.0 - m) / q  # the shortest step to margin 1


class GeometricMIRA(NamedTuple):
    """MIRA with the test on the geometric margin, y<w,x> <= p ||w||."""

    p: float = 0.0


@declare(
    GeometricMIRA,
    "first order",
    LearnerFacts("MIRA", {"margin": "geometric"}, command=None, standard=None, stated=(), renamed={}),
    Step(weighted=False, conservative={"p": 0.0}, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(two=("mira_geometric",), several=(), invariants=("bracket in order",)),
)
def geometric_mira(rule: GeometricMIRA, m: float, q: float, state: State) -> tuple[float, float]:
    if m > rule.p * sqrt(state.N) or q == 0.0:
        return NO_STEP
    if 1.0 - m <= state.tol:  # nothing to gain, or a step backwards: stalled
        return REFUSED
    return 1.0, (1.0 - m) / q


class PA(NamedTuple):
    """Passive-aggressive, hard [Crammer et al. 2006]."""


@declare(
    PA,
    "first order",
    LearnerFacts(
        "PassiveAggressive", {"variant": "hard"}, command="pa", standard=PA(), stated=("variant",), renamed={}
    ),
    Step(weighted=False, conservative=NEVER, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(
        two=("pa_separable", "pa_unit", "last step"),
        several=("multiclass_pa", "last step"),
        invariants=("bracket in order", "losses"),
    ),
)
def pa(rule: PA, m: float, q: float, state: State) -> tuple[float, float]:
    loss = 1.0 - m  # l = max{0, 1 - y<w,x>}
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, loss / q  # tau = l / ||x||^2


class PA1(NamedTuple):
    """Passive-aggressive I: the step is capped at C [Crammer et al. 2006]."""

    C: float = 1.0


@declare(
    PA1,
    "first order",
    LearnerFacts(
        "PassiveAggressive", {"variant": "I"}, command="pa1", standard=PA1(), stated=("variant",), renamed={}
    ),
    Step(weighted=True, conservative=NEVER, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(two=("pa1", "last step"), several=("last step",), invariants=("bracket in order",)),
)
def pa1(rule: PA1, m: float, q: float, state: State) -> tuple[float, float]:
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, min(rule.C * state.c, loss / q)  # tau = min{C, l / ||x||^2}


class PA2(NamedTuple):
    """Passive-aggressive II: the step is damped by 1/(2C) [Crammer et al. 2006]."""

    C: float = 1.0


@declare(
    PA2,
    "first order",
    LearnerFacts(
        "PassiveAggressive", {"variant": "II"}, command="pa2", standard=PA2(), stated=("variant",), renamed={}
    ),
    Step(weighted=True, conservative=NEVER, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(two=("pa2", "last step"), several=(), invariants=("bracket in order",)),
)
def pa2(rule: PA2, m: float, q: float, state: State) -> tuple[float, float]:
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, loss / (q + 0.5 / (rule.C * state.c))  # tau = l / (||x||^2 + 1/(2C))


class ROMMA(NamedTuple):
    """Relaxed online maximum margin, on mistakes [Li, Long 2002]."""


@declare(
    ROMMA,
    "first order",
    LearnerFacts(
        "ROMMA", {"aggressive": False}, command="romma", standard=ROMMA(), stated=("aggressive",), renamed={}
    ),
    Step(weighted=False, conservative=ALWAYS, pair=0.5, keeps_scale=False, zero_row=False),
    Theory(
        two=("romma", "romma_length"),
        several=("romma", "romma_length"),
        invariants=("bracket in order", "growth of the norm", "updates"),
    ),
)
def romma(rule: ROMMA, m: float, q: float, state: State) -> tuple[float, float]:
    if m > 0.0 or q == 0.0:
        return NO_STEP
    return relax(m, q, state.N, state.tol)


class AggressiveROMMA(NamedTuple):
    """ROMMA that updates whenever y<w,x> < 1 - delta [Li, Long 2002]."""

    delta: float = 0.0


@declare(
    AggressiveROMMA,
    "first order",
    LearnerFacts(
        "ROMMA",
        {"aggressive": True},
        command="aggressive-romma",
        standard=AggressiveROMMA(),
        stated=("aggressive",),
        renamed={},
    ),
    Step(weighted=False, conservative=NEVER, pair=0.5, keeps_scale=False, zero_row=False),
    Theory(
        two=("romma_aggressive", "romma_aggressive_errors", "romma_length", "romma_margin"),
        several=("romma_aggressive", "romma_length", "romma_margin"),
        invariants=("bracket in order", "growth of the norm", "updates"),
    ),
)
def aggressive_romma(rule: AggressiveROMMA, m: float, q: float, state: State) -> tuple[float, float]:
    if 1.0 - rule.delta - m <= state.tol or q == 0.0:
        return NO_STEP
    return relax(m, q, state.N, state.tol)


def relax(m: float, q: float, N: float, tol: float) -> tuple[float, float]:
    """The shortest w' with y<w',x> >= 1 and <w',w> >= ||w||^2, as (keep, tau)."""
    if N == 0.0 or m >= q * N:  # the new constraint implies the old one
        return 0.0, 1.0 / q
    gap = q * N - m * m  # ||x||^2 ||w||^2 - <w,x>^2
    if gap <= tol * q * N:  # x is parallel to -w: the half-spaces do not meet
        return REFUSED
    return (q * N - m) / gap, N * (1.0 - m) / gap


class ALMA(NamedTuple):
    """Approximate large margin, p = 2, on rows scaled to length 1 [Gentile 2001]."""

    alpha: float = 0.5


@declare(
    ALMA,
    "first order",
    LearnerFacts("ALMA", {}, command="alma", standard=ALMA(alpha=0.9), stated=(), renamed={}),
    Step(weighted=False, conservative={"alpha": 1.0}, pair=0.5, keeps_scale=False, zero_row=False),
    Theory(two=("alma", "alma_margin"), several=(), invariants=("bracket in order", "unit ball")),
)
def alma(rule: ALMA, m: float, q: float, state: State) -> tuple[float, float]:
    if q == 0.0:
        return NO_STEP
    root_k = sqrt(state.k + 1.0)
    m_unit = m / sqrt(q)  # y<w,x>/||x||
    if m_unit > (1.0 - rule.alpha) * (sqrt(8.0) / rule.alpha) / root_k:
        return NO_STEP
    tau = sqrt(2.0) / root_k
    length = sqrt(max(0.0, state.N + 2.0 * tau * m_unit + tau * tau))  # ||w + tau y x/||x|| ||
    shrink = 1.0 / max(1.0, length)  # back into the unit ball
    return shrink, shrink * tau / sqrt(q)


class NormMinimising(NamedTuple):
    """The test of the norm-minimising multiclass MIRA: some rival scores strictly more."""


@declare(
    NormMinimising,
    "first order",
    LearnerFacts("MIRA", {"variant": "crammer_singer"}, command=None, standard=None, stated=(), renamed={}),
    Step(weighted=False, conservative=ALWAYS, pair=0.5, keeps_scale=True, zero_row=False),
    Theory(two=(), several=("norm_minimised", "crammer_singer"), invariants=()),
)
def norm_minimising(rule: NormMinimising, m: float, q: float, state: State) -> tuple[float, float]:
    if m >= 0.0 or q == 0.0:
        return NO_STEP
    return 1.0, 1.0


# ---------------------------------------------------------------- second order: (alpha, beta)


class SecondOrder(NamedTuple):
    """Second-order perceptron; Sigma = A^{-1} starts at I/a [Cesa-Bianchi, Conconi, Gentile 2005]."""


@declare(
    SecondOrder,
    "second order",
    LearnerFacts(
        "SecondOrderPerceptron", {}, command="second-order", standard=None, stated=("a",), renamed={}
    ),
    Step(weighted=False, conservative=ALWAYS, pair=None, keeps_scale=True, zero_row=True),
    Theory(two=("second_order",), several=(), invariants=("confidence",)),
)
def second_order(rule: SecondOrder, m: float, v: float, state: State) -> tuple[float, float]:
    if m > 0.0:
        return 0.0, 0.0
    beta = 1.0 / (1.0 + v)  # (A + xx')^{-1} by rank one
    return beta * (1.0 - m), beta


class AROW(NamedTuple):
    """Adaptive regularisation of weights [Crammer, Kulesza, Dredze 2009]."""

    r: float = 1.0


@declare(
    AROW,
    "confidence",
    LearnerFacts("AROW", {}, command="arow", standard=AROW(), stated=("r", "covariance"), renamed={}),
    Step(weighted=False, conservative=NEVER, pair=None, keeps_scale=True, zero_row=True),
    Theory(two=("arow",), several=(), invariants=("confidence",)),
)
def arow(rule: AROW, m: float, v: float, state: State) -> tuple[float, float]:
    if 1.0 - m <= state.tol:
        return 0.0, 0.0
    beta = 1.0 / (v + rule.r)
    return beta * (1.0 - m), beta


class SCW1(NamedTuple):
    """Soft confidence-weighted I; phi is the normal quantile of eta [Wang, Zhao, Hoi 2012]."""

    phi: float
    C: float = 1.0


@declare(
    SCW1,
    "confidence",
    LearnerFacts(
        "SCW",
        {"variant": "I"},
        command="scw",
        standard=SCW1(NormalDist().inv_cdf(0.9)),
        stated=("eta", "C", "variant", "covariance"),
        renamed={},
    ),
    Step(weighted=False, conservative=NEVER, pair=None, keeps_scale=True, zero_row=False),
    Theory(two=("self test",), several=(), invariants=("confidence",)),
)
def scw1(rule: SCW1, m: float, v: float, state: State) -> tuple[float, float]:
    phi = rule.phi
    if phi * sqrt(v) - m <= state.tol:
        return 0.0, 0.0
    psi = 1.0 + phi * phi / 2.0
    zeta = 1.0 + phi * phi
    if v == 0.0:
        return 0.0, 0.0
    root = sqrt(m * m * phi**4 / 4.0 + v * phi * phi * zeta)
    alpha = min(rule.C, max(0.0, (-m * psi + root) / (v * zeta)))
    return alpha, confidence_gain(alpha, v, phi)


class SCW2(NamedTuple):
    """Soft confidence-weighted II [Wang, Zhao, Hoi 2012]."""

    phi: float
    C: float = 1.0


@declare(
    SCW2,
    "confidence",
    LearnerFacts(
        "SCW",
        {"variant": "II"},
        command=None,
        standard=None,
        stated=("eta", "C", "variant", "covariance"),
        renamed={},
    ),
    Step(weighted=False, conservative=NEVER, pair=None, keeps_scale=True, zero_row=False),
    Theory(two=("self test",), several=(), invariants=("confidence",)),
)
def scw2(rule: SCW2, m: float, v: float, state: State) -> tuple[float, float]:
    phi = rule.phi
    if phi * sqrt(v) - m <= state.tol:
        return 0.0, 0.0
    n = v + 0.5 / rule.C
    root = phi * sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi))
    alpha = max(0.0, (-(2.0 * m * n + phi * phi * m * v) + root) / (2.0 * (n * n + n * v * phi**2)))
    return alpha, confidence_gain(alpha, v, phi)


def confidence_gain(alpha: float, v: float, phi: float) -> float:
    """beta of SCW: how much Sigma shrinks along Sigma x."""
    if alpha == 0.0:
        return 0.0
    root_u = 0.5 * (-alpha * v * phi + sqrt((alpha * v * phi) ** 2 + 4.0 * v))
    return alpha * phi / (root_u + v * alpha * phi)


HELPERS = (relax,)  #: functions that rules call
STRICT_HELPERS = (confidence_gain,)  #: and those whose operations are made as written

#: The rules of each order, with their functions.
FIRST_ORDER: dict[type, Callable[..., tuple[float, float]]] = {
    row.record: row.function
    for row in TABLE.values()
    if row.record and row.function and row.family == "first order"
}
SECOND_ORDER: dict[type, Callable[..., tuple[float, float]]] = {
    row.record: row.function
    for row in TABLE.values()
    if row.record and row.function and row.record not in FIRST_ORDER
}
#: Those of the second order that have a variance per column, without a full matrix.
CONFIDENCE = tuple(row.record for row in TABLE.values() if row.family == "confidence")

#: Names that a learner's ``rule`` takes in place of a record: those of the command line's ``--rule``. The
#: parameters are the defaults of the estimators.
NAMES: dict[str, Record | UserRule] = {
    str(row.learner.command): row.learner.standard
    for row in TABLE.values()
    if row.learner.standard is not None
}


def named(rule: str | Record | UserRule) -> Record | UserRule:
    """The record that a name stands for; anything else as it is.

    >>> named("pa1")
    PA1(C=1.0)
    """
    if not isinstance(rule, str):
        return rule
    record = NAMES.get(rule.lower().replace("_", "-"))
    if record is None:
        raise RuleError(
            f"rule must be a record of perceptrons.rules or one of {', '.join(NAMES)}; got rule={rule!r}."
        )
    return record


# ---------------------------------------------------------------- rules that the user writes

enter(  # nothing is claimed for it; ``rule(weighted=...)`` says whether rows may have weights
    Facts(
        "UserRule",
        "first order",
        UserRule,
        None,
        LearnerFacts("OnlineClassifier", {}, command=None, standard=None, stated=(), renamed={}),
        Step(weighted=False, conservative=NEVER, pair=0.5, keeps_scale=False, zero_row=True),
        Theory(two=(), several=(), invariants=()),
    )
)


def register(name: str, rule: UserRule) -> UserRule:
    """Give a rule of one's own a name that learners and the command line take, such as ``rule="half"``.

    A module that does this is read by ``perceptrons train --plugin MODULE``. A model that was fitted with the
    name is loaded where the name is registered again; elsewhere by ``load(path, objects={"rule": ...})``.

    Parameters
    ----------
    name : str
        Lower-case words joined by hyphens. Names of the package cannot be taken; a name of one's own can be
        given again.
    rule : UserRule
        A function under :func:`rule`.

    Examples
    --------
    >>> from perceptrons import OnlineClassifier, rules
    >>> @rules.rule
    ... def third(m, q, state):
    ...     return (1.0, 1.0 / 3.0) if m <= 0 else rules.NO_STEP
    >>> rules.register("third", third)
    <rule 'third'>
    >>> OnlineClassifier(rule="third", fit_intercept=False).fit([[1.0], [-1.0]], [1, 0]).n_updates_
    1
    >>> del rules.NAMES["third"]  # takes the name back
    """
    if not isinstance(rule, UserRule):
        raise TypeError(f"rule must be a function under @rules.rule; got {rule!r}.")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"name must be lower-case words joined by hyphens; got name={name!r}.")
    if name in commands() or not isinstance(NAMES.get(name, rule), UserRule):
        raise ValueError(f"name must not be one of the package; got name={name!r}.")
    NAMES[name] = rule
    return rule


def ask(rule: Record | UserRule, m: float, q: float, state: State) -> tuple[float, float]:
    """What a rule record or a user's rule returns, in plain Python."""
    if isinstance(rule, UserRule):
        return rule(m, q, state)
    table = FIRST_ORDER if type(rule) in FIRST_ORDER else SECOND_ORDER
    return table[type(rule)](rule, m, q, state)
