r"""Theorems that bound the mistakes of a rule by R and the margin of a separator.

The rule table names the theorems of a rule; the demonstration, streams and the command line take its bound
from here, so that none is printed for a rule that it does not cover. Several classes mean prototypes learned
together, whose rows are differences of length :math:`\sqrt2\|x\|`: hence the factor 2. R is the length of the
longest row, in the learner's own space.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import rules
from .theory import bounds

if TYPE_CHECKING:
    from ._types import Record


class Theorem(NamedTuple):
    """A bound on mistakes, where some vector of length 1 has margin gamma on every row."""

    name: str  #: of the claim in a certificate
    in_words: str  #: its name in a sentence
    #: mistakes, by R, gamma and the record of the rule, whose fields the theorem reads
    allowed: Callable[[float, float, Any], float]


def _band(R: float, gamma: float, rule: rules.Margin) -> float:
    """The band of width theta is (1 - eps) gamma for some eps, if the margin is wider; the first is free."""
    theta = (1.0 - rule.eps) * rule.gamma
    return 1.0 + bounds.margin_perceptron(R, gamma, 1.0 - theta / gamma) if gamma > theta else math.inf


def _longer(
    allowed: Callable[[float, float, Record | None], float], R: float, gamma: float, rule: Record | None
) -> float:
    """For pairs of classes, whose rows are differences."""
    return allowed(math.sqrt(2.0) * R, gamma, rule)


_MIRA, _PA, _ROMMA = "The bound of MIRA", "The bound of PA", "The bound of ROMMA"
_BAND = "The bound of the margin perceptron"
#: Every theorem of this kind, by its name in the rule table and in certificates.
THEOREMS: dict[str, Theorem] = {
    found.name: found
    for found in (
        Theorem("novikoff", "Novikoff's theorem", lambda R, gamma, rule: bounds.novikoff(R, gamma)),
        Theorem(
            "multiclass", "Crammer and Singer's theorem", lambda R, gamma, rule: bounds.multiclass(R, gamma)
        ),
        Theorem("margin_perceptron", _BAND, _band),
        Theorem("mira", _MIRA, lambda R, gamma, rule: bounds.mira(R, gamma, rule.p)),
        Theorem(
            "multiclass_mira", _MIRA, lambda R, gamma, rule: bounds.multiclass_mira(R, 1.0 / gamma, rule.p)
        ),
        Theorem("mira_geometric", _MIRA, lambda R, gamma, rule: bounds.mira_geometric(R, gamma, rule.p)),
        # a mistake has a loss of at least 1, so a bound on squared losses bounds mistakes
        Theorem("pa_separable", _PA, lambda R, gamma, rule: bounds.pa_separable(R, 1.0 / gamma)),
        Theorem("multiclass_pa", _PA, lambda R, gamma, rule: bounds.multiclass_pa(R, 1.0 / gamma)),
        Theorem("pa1", _PA, lambda R, gamma, rule: bounds.pa1(R, 1.0 / gamma, rule.C, 0.0)),
        Theorem("pa2", _PA, lambda R, gamma, rule: bounds.pa2(R, 1.0 / gamma, rule.C, 0.0)),
        Theorem("romma", _ROMMA, lambda R, gamma, rule: bounds.romma(R, gamma)),
        Theorem(
            "romma_aggressive_errors", _ROMMA, lambda R, gamma, rule: bounds.romma_aggressive_errors(R, gamma)
        ),
    )
}


def theorem(rule: type, several: bool = False) -> Theorem | None:
    """The theorem for the records of a rule: the one of those named in its row that is of this kind.

    A theorem on two classes that the row names for several as well holds for rows longer by the root of 2.

    >>> theorem(rules.Perceptron, several=True).allowed(1.0, 0.5, None)
    8.0
    >>> theorem(rules.RateByUpdates) is None
    True
    """
    row = rules.TABLE.get(rule.__name__)
    if row is None or row.record is not rule:
        return None
    names = row.theory.several if several else row.theory.two
    found = next((THEOREMS[name] for name in names if name in THEOREMS), None)
    if found is None or not several or found.name not in row.theory.two:
        return found
    return found._replace(allowed=functools.partial(_longer, found.allowed))


class Allowance(NamedTuple):
    """What a theorem allows a run at least, by the upper end of the bracket around the best margin."""

    theorem: str  #: its name in a sentence
    mistakes: float
    radius: float
    margin_up: float  #: no separator has a larger margin
    space: str = ""  #: in which the margin is measured


def theorem_of(model: Any, several: bool) -> tuple[Theorem, Any] | None:
    """The theorem on the run of a learner, with the record of its rule; None where no theorem covers it.

    ``several``: it learns more than two classes together. A learner that is not fitted is covered by the
    theorem on the runs that it will make, from w = 0 and with rows of weight 1.
    """
    in_pieces = getattr(model, "stop_reason_", "partial_fit") in ("partial_fit", "learn_one")
    if getattr(model, "gamma", None) == "auto" and in_pieces:
        return None  # its rule has changed on the way, or will
    record = model._rule_in_force() if hasattr(model, "_rule_in_force") else None
    found = theorem(type(record), several)
    if (
        found is None
        or not getattr(model, "_plain", True)
        or getattr(model, "class_weight", None) is not None
    ):
        return None
    return found, record


def allowance(model: Any) -> Allowance | None:
    """What the theorem of a learner's rule allows its run so far; None where no theorem covers it.

    A separator with a smaller margin than ``margin_up`` allows more; none allows less. The run must have
    begun at w = 0, with rows of weight 1, on two classes or several together. The theorem allows at
    least the mistakes that were made; where the bracket is too wide to show that, the result is None as well.
    """
    several = len(getattr(model, "classes_", ())) > 2
    covered = theorem_of(model, several)
    pair = getattr(model, "margin_bounds_", None)
    if covered is None or (several and not model._prototypes()) or not isinstance(pair, tuple):
        return None
    found, record = covered
    radius, up, made = float(model.radius_), float(pair[1]), int(model.n_mistakes_)
    if not 0.0 < up < math.inf:
        return None
    try:
        allowed = found.allowed(radius, up, record)
    except (ValueError, ArithmeticError):  # a parameter outside the theorem's conditions
        return None
    if not made * (1.0 - 1e-9) <= allowed < math.inf:
        return None
    return Allowance(found.in_words, max(allowed, float(made)), radius, up, getattr(pair, "space", ""))


class MixedAllowance(NamedTuple):
    """What the theorem on parameter mixing allows, by the upper end of the bracket around the best margin."""

    weighted_updates: float  #: the updates of the shards, each by the weight of its shard
    allowed: float  #: at least so many of them
    radius: float
    margin_up: float  #: no separator has a larger margin
    space: str  #: in which the margin is measured


def mixed_allowance(model: Any) -> MixedAllowance | None:
    r"""Both sides of :math:`\sum\mu_s k_s \le R^2/\gamma^2`, twice that for prototypes learned together.

    None where no theorem on mixing covers the learner, or the bracket has no upper end.
    """
    mixing = vars(model).get("_mixing")
    several = len(getattr(model, "classes_", ())) > 2
    pair = getattr(model, "margin_bounds_", None)
    if mixing is None or not mixing.plain or getattr(model, "class_weight", None) is not None:
        return None
    if (several and not model._prototypes()) or not isinstance(pair, tuple):
        return None
    row = rules.TABLE.get(type(model._rule_in_force()).__name__)
    named = () if row is None else row.theory.several if several else row.theory.two
    if ("multiclass_ipm" if several else "ipm") not in named or not 0.0 < pair[1] < math.inf:
        return None
    radius, up = float(model.radius_), float(pair[1])
    made = math.fsum(record["weighted_updates"][0] for record in model.history_)
    allowed = bounds.multiclass(radius, up) if several else bounds.ipm(radius, up)
    if not made * (1.0 - 1e-9) <= allowed < math.inf:
        return None
    return MixedAllowance(made, max(allowed, made), radius, up, getattr(pair, "space", ""))
