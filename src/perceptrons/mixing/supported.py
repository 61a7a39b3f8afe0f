"""Which learners can be mixed, and why the others cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import rules
from ..core.aggressive import MIRASpec, PassiveAggressiveSpec
from ..core.confidence import AROWSpec, SCWSpec
from ..core.label_lists import is_listed
from ..core.learner import Learner
from ..core.perceptron import AveragedPerceptronSpec, MarginPerceptronSpec, PerceptronSpec
from ..text.learner import TextClassifierSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Learners that add rows to w by steps of at least 0 and never shrink it: the mean of their runs is one, too.
BY_WEIGHTS = (PerceptronSpec, AveragedPerceptronSpec, MarginPerceptronSpec, MIRASpec, PassiveAggressiveSpec)
#: Learners that are mixed by what each shard has learned about each feature.
BY_CONFIDENCE = (AROWSpec, SCWSpec)

#: Rules of the learners above, for a learner of texts.
RULES = (rules.Perceptron, rules.Margin, rules.MIRA, rules.GeometricMIRA, rules.PA, rules.PA1, rules.PA2)

_NAMES = (
    "Perceptron, AveragedPerceptron, MarginPerceptron, MIRA, PassiveAggressive, AROW, SCW and TextClassifier"
)
_REASONS = {
    "VotedPerceptron": "its vote needs every weight vector of one run, and the shards make runs of their own",
    "ROMMA": "it scales w at every update, and a mean of vectors that were scaled differently is no such run",
    "ALMA": "it scales w back to length 1, and a mean of such vectors is shorter",
    "OnlineClassifier": "its rule may be any; use the class of the rule",
    "SecondOrderPerceptron": "its covariance is a full matrix, and mixing is defined for a diagonal one",
    "Winnow": "its weights are products, not sums",
    "BalancedWinnow": "its weights are products, not sums",
    "Elimination": "it removes literals, and has no weights to mix",
    "PNormPerceptron": "its weights are a function of a sum of rows, not the sum itself",
    "KernelPerceptron": "its w is a combination of rows, which every shard would have to hold",
    "KernelClassifier": "its w is a combination of rows, which every shard would have to hold",
    "BudgetKernelPerceptron": "its w is a combination of a few rows, which mixing would add up to many",
    "RiskDescent": "its steps need all rows at once",
    "MaxMargin": "it solves for all rows at once",
}


def check(estimator: Any) -> None:
    """Raise ValueError, saying why, for a learner that cannot be mixed."""
    name = type(estimator).__name__
    if not isinstance(estimator, (*BY_WEIGHTS, *BY_CONFIDENCE, TextClassifierSpec)):
        why = _REASONS.get(name, "it is none of them")
        raise ValueError(f"ParameterMixing mixes {_NAMES}; {name} cannot be mixed: {why}.")
    for what, why in _obstacles(estimator):
        raise ValueError(f"ParameterMixing cannot mix {name}({what}): {why}.")


def check_targets(estimator: Any, codes: np.ndarray) -> None:
    """Raise ValueError for rows of several labels: an indicator matrix of codes, or lists of labels."""
    if codes.ndim == 2 or is_listed(codes):
        raise ValueError(
            f"ParameterMixing cannot mix {type(estimator).__name__} on rows of several labels: mixing is "
            "for one label a row. Mix a model for each label."
        )


def by_confidence(estimator: Any) -> bool:
    """Whether the learner is mixed by what each shard has learned about each feature."""
    texts = isinstance(estimator, TextClassifierSpec)
    return estimator._second_order() if texts else isinstance(estimator, BY_CONFIDENCE)


def _obstacles(estimator: Learner) -> Iterator[tuple[str, str]]:
    """Parameters that cannot work, with the reason."""

    def has(name: str, *values: object) -> bool:
        found = getattr(estimator, name, None)
        return any(found is value or (isinstance(value, str) and found == value) for value in values)

    def shown(name: str) -> str:
        return f"{name}={getattr(estimator, name)!r}"

    if isinstance(estimator, TextClassifierSpec):
        rule = estimator._rule()
        if type(rule) not in (*RULES, *rules.CONFIDENCE):
            why = _REASONS.get(type(rule).__name__, "it is not known how a mean of its runs behaves")
            yield shown("rule"), why
    if has("readout", "vote", "random"):
        yield shown("readout"), "it needs every weight vector of one run; use 'last' or 'average'"
    if has("learning_rate", "updates", "examples"):
        yield (
            shown("learning_rate"),
            "a rate that falls with the count would depend on the number of shards; use a number",
        )
    if has("gamma", "auto"):
        yield shown("gamma"), "the guess is refuted by a bound on one run, not on mixed ones; give a number"
    if has("variant", "crammer_singer"):
        yield shown("variant"), "it starts from weights other than 0 and keeps their length; use 'pa'"
    if has("covariance", "full"):
        yield shown("covariance"), "mixing is defined for a diagonal one; use 'diagonal'"
    if has("class_weight", "running"):
        yield shown("class_weight"), "the counts so far depend on the order of all rows; use 'balanced'"
    if has("early_stopping", True):
        yield shown("early_stopping"), "the shards would hold out rows of their own; use max_iter"
    if has("probability", True):
        yield shown("probability"), "scores of shards are not those of their mean; calibrate the mixed model"
    if has("warm_start", True):
        yield shown("warm_start"), "a fit mixes from w = 0"
    if has("log_updates", True):
        yield shown("log_updates"), "no single log describes runs that were mixed"
    if estimator.callback is not None:
        yield "callback=...", "no epoch of a shard is one of the model; give ParameterMixing a callback"
