r"""Checks that a learner runs on itself while it learns, behind one switch.

>>> from perceptrons import Perceptron, datasets, theory
>>> toy = datasets.four_points()
>>> with theory.debug():
...     clf = Perceptron().fit(toy.X, toy.y)

Off by default; the environment variable ``PERCEPTRONS_DEBUG=1`` switches it on. A violation is a bug, in the
library or in a rule of one's own: AssertionError names the check and both sides.
"""

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import bounds

SLACK = 1e-6  # what rounding may take, relative to the larger side


class debug:  # used like a function, and in a with statement
    """Switch the run-time checks of all learners on or off; in a ``with`` statement, for its block.

    >>> debug(True), debug.on, debug(False), debug.on
    (debug(True), True, debug(False), False)
    """

    on: bool = os.environ.get("PERCEPTRONS_DEBUG", "") not in ("", "0")

    def __init__(self, on: bool = True):
        self.before = debug.on
        self.value = bool(on)
        debug.on = self.value

    def __enter__(self) -> "debug":
        return self

    def __exit__(self, *exc: Any) -> None:
        debug.on = self.before

    def __repr__(self) -> str:
        return f"debug({self.value})"


def after_epoch(model: Any) -> None:
    """Run the checks of a learner; nothing while they are off."""
    if debug.on:
        for name, left, right in checks(model):
            slack = SLACK * max(abs(left), abs(right), 1e-300)
            if not left <= right + slack:
                raise AssertionError(f"{type(model).__name__}: {name} is violated: {left!r} > {right!r}.")


def checks(model: Any) -> Iterator[tuple[str, float, float]]:
    """(name, left, right) of every inequality left <= right that the run has to satisfy by now."""
    yield from _counts(model)
    if not getattr(model, "_plain", True):  # rows with weights, on which no theorem is stated
        return
    rule = getattr(model, "_rule", None)
    name = type(rule()).__name__ if callable(rule) else type(model).__name__
    for check in CHECKS.get(name, ()):
        yield from check(model)


def _counts(model: Any) -> Iterator[tuple[str, float, float]]:
    for what in ("errors", "mistakes", "updates"):
        yield f"{what} <= examples", getattr(model, f"n_{what}_", 0), _examples(model)


def _examples(model: Any) -> float:
    return sum(record["examples"] for record in model.history_) if hasattr(model, "history_") else math.inf


def _brackets(model: Any) -> list[tuple[Any, float]]:
    found = model.margin_bounds_
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def _prototypes(model: Any) -> bool:
    return len(model.classes_) > 2 and bool(model._prototypes())


def _norm_of_the_sum(model: Any) -> Iterator[tuple[str, float, float]]:
    """||w||^2 <= Q <= k R^2, and the bracket that follows."""
    Q, R, k = model.sum_sq_norms_, model.radius_, model.n_updates_
    yield "Q <= k R^2", Q, k * R * R
    pairs = _brackets(model)
    if len(pairs) > 1 or not k or not math.isfinite(pairs[0][1]):
        return
    factor = 2.0 if _prototypes(model) else 1.0
    up = pairs[0][1]  # ||w||/(eta k): the rate is in both
    yield "||W||^2 <= 2 Q" if factor == 2.0 else "||w||^2 <= Q", (up * k) ** 2, factor * Q
    yield "gamma* <= R/sqrt(k)", up, math.sqrt(factor) * R / math.sqrt(k)


def _bracket_in_order(model: Any) -> Iterator[tuple[str, float, float]]:
    for low, up in _brackets(model):
        if low is not None and low > 0.0:
            yield "gamma_low <= gamma_up", low, up


def _romma(model: Any) -> Iterator[tuple[str, float, float]]:
    """||w||^2 has grown by delta^2/R^2 with every update, and 1/||w|| bounds the margin."""
    if len(model.classes_) > 2 or getattr(model, "readout", "last") != "last" or not model.n_updates_:
        return
    if not hasattr(model, "coef_"):  # in the space of a kernel
        return
    w = np.append(model.coef_[0], model.intercept_[0] / (model.intercept_scaling_ or 1.0))
    delta = getattr(model._rule(), "delta", 1.0)
    yield (
        "growth of ||w||^2",
        model.n_updates_ * bounds.romma_growth(model.radius_, delta),
        float(w @ w),
    )


def _known_margin(model: Any) -> Iterator[tuple[float, float]]:
    """(gamma, R) of a run whose w was found to separate: gamma > 0 is its margin on all rows."""
    pairs = _brackets(model)
    if len(pairs) == 1 and pairs[0][0] is not None and pairs[0][0] > 0.0:
        yield pairs[0][0], model.radius_ * (math.sqrt(2.0) if _prototypes(model) else 1.0)


def _updates_within(model: Any) -> Iterator[tuple[str, float, float]]:
    """k s^2 gamma^2 <= R^2 for the margin of w itself; s is how far an update is sure to go."""
    rule = model._rule()
    share = 1.0 - getattr(rule, "p", 0.0)
    if type(rule).__name__ == "AggressiveROMMA":
        share = rule.delta
    for gamma, R in _known_margin(model):
        yield "k <= R^2/gamma^2", model.n_updates_ * (share * gamma) ** 2, R * R


def _loss_within(model: Any) -> Iterator[tuple[str, float, float]]:
    """The squared losses of PA, for a u with a margin of 1: w/gamma."""
    for gamma, R in _known_margin(model):
        loss = sum(float(learner.counts().squared_loss) for learner in _cores(model))
        yield "sum of squared losses <= R^2/gamma^2", loss * gamma * gamma, R * R


def _cores(model: Any) -> list[Any]:
    core = model._core
    return list(core.learners) if hasattr(core, "learners") else [core]


def _margin_reached(model: Any) -> Iterator[tuple[str, float, float]]:
    """After a clean pass every row is outside the band."""
    if getattr(model, "stop_reason_", "") != "clean pass":
        return
    theta = (1.0 - model.eps) * model.gamma_
    for low, _ in _brackets(model):
        if low is not None:
            yield "(1 - eps) gamma <= gamma_low", theta, low


def _winnow(model: Any) -> Iterator[tuple[str, float, float]]:
    r"""The balance of the weights, whose sum starts at n and stays positive.

    A promotion adds less than :math:`(\alpha-1)\theta`, as :math:`\alpha^x \le 1 + (\alpha-1)x` for
    :math:`0 \le x \le 1`. A demotion takes :math:`\theta` (Winnow1) or :math:`(1 - 1/\alpha)\theta`
    (Winnow2) at least, as :math:`\alpha^{-x} \le 1 - (1 - 1/\alpha)x`. It holds for all inputs from 0 to 1.
    """
    if len(model.classes_) > 2:
        return
    n, theta = model.n_features_in_, -float(model.intercept_[0])
    most = bounds.winnow1_demotions if model.kind == 1 else bounds.winnow2_demotions
    yield "balance of demotions", model.n_demotions_, most(n, theta, model.n_promotions_, model.alpha)


def _elimination(model: Any) -> Iterator[tuple[str, float, float]]:
    if len(model.classes_) > 2:
        return
    n = model.n_features_in_
    r = min(n, int(model.literals_.sum()))
    yield "literals left", model.n_updates_, bounds.elimination(n, r, model.literals)


def _confidence(model: Any) -> Iterator[tuple[str, float, float]]:
    """The covariance stays positive and shrinks."""
    sigma = model.covariance_
    start = 1.0 / model.a if hasattr(model, "a") else 1.0
    diagonal = sigma if sigma.ndim == 2 else np.diagonal(sigma, axis1=1, axis2=2)
    yield "variances are positive", -float(diagonal.min()), 0.0
    yield "variances shrink", float(diagonal.max()), start


def _alma(model: Any) -> Iterator[tuple[str, float, float]]:
    if getattr(model, "readout", "last") == "last" and hasattr(model, "coef_"):
        w = np.hstack([model.coef_, model.intercept_[:, None] / (model.intercept_scaling_ or 1.0)])
        yield "||w|| <= 1", float(np.sqrt(np.sum(w**2, axis=1)).max()), 1.0


def _budget(model: Any) -> Iterator[tuple[str, float, float]]:
    if model.budget is not None and len(model.classes_) == 2:
        yield "support <= budget", model.n_support_, model.budget
    if model.policy == "forgetron":
        for learner in _cores(model):
            most = 15.0 / 32.0 * learner.counts().mistakes
            yield "cost of forgetting <= 15/32 mistakes", learner.forgetting_cost, most


_SUMS = (_norm_of_the_sum, _bracket_in_order, _updates_within)
#: The checks of each rule, or of each learner that has none.
CHECKS: dict[str, tuple[Callable[[Any], Iterator[tuple[str, float, float]]], ...]] = {
    "Perceptron": _SUMS,
    "RateByUpdates": (_bracket_in_order,),
    "RateByExamples": (_bracket_in_order,),
    "Margin": (_bracket_in_order, _margin_reached),
    "MIRA": (_bracket_in_order, _updates_within),
    "GeometricMIRA": (_bracket_in_order,),
    "PA": (_bracket_in_order, _loss_within),
    "PA1": (_bracket_in_order,),
    "PA2": (_bracket_in_order,),
    "ROMMA": (_bracket_in_order, _romma, _updates_within),
    "AggressiveROMMA": (_bracket_in_order, _romma, _updates_within),
    "ALMA": (_bracket_in_order, _alma),
    "Winnow": (_winnow,),
    "Elimination": (_elimination,),
    "BalancedWinnow": (_bracket_in_order,),
    "PNormPerceptron": (_bracket_in_order,),
    "SecondOrderPerceptron": (_confidence,),
    "AROW": (_confidence,),
    "SCW": (_confidence,),
    "BudgetKernelPerceptron": (_budget, _bracket_in_order),
    "RiskDescent": (_bracket_in_order,),
    "MaxMargin": (_bracket_in_order,),
}
