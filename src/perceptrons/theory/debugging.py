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

import numpy as np

from . import bounds
from .run_record import RunRecord

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

    def __exit__(self, *exc: object) -> None:
        debug.on = self.before

    def __repr__(self) -> str:
        return f"debug({self.value})"


def check_run(run: RunRecord) -> None:
    """Raise AssertionError where a run does not satisfy what is proved about it."""
    for name, left, right in checks(run):
        slack = SLACK * max(abs(left), abs(right), 1e-300)
        if not left <= right + slack:
            raise AssertionError(f"{run.kind.__name__}: {name} is violated: {left!r} > {right!r}.")


def checks(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """(name, left, right) of every inequality left <= right that the run has to satisfy by now."""
    for what, count in run.counts().items():
        yield f"{what} <= examples", count, run.examples
    if not run.plain or run.mixed is not None:  # no theorem on one run with rows of weight 1
        return
    for name in run.invariants:
        yield from INVARIANTS[name](run)


def _norm_of_the_sum(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """||w||^2 <= Q <= k R^2, and the bracket that follows."""
    Q, R, k = run.sum_sq_norms, _radius(run), run.updates
    yield "Q <= k R^2", Q, k * R * R
    if len(run.brackets) > 1 or not k or not math.isfinite(run.brackets[0][1]):
        return
    factor = 2.0 if run.joint else 1.0
    up = run.brackets[0][1]  # ||w||/(eta k): the rate is in both
    yield "||W||^2 <= 2 Q" if factor == 2.0 else "||w||^2 <= Q", (up * k) ** 2, factor * Q
    yield "gamma* <= R/sqrt(k)", up, math.sqrt(factor) * R / math.sqrt(k)


def _radius(run: RunRecord) -> float:
    assert run.radius is not None
    return run.radius


def _bracket_in_order(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    for low, up in run.brackets:
        if low is not None and low > 0.0:
            yield "gamma_low <= gamma_up", low, up


def _romma(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """||w||^2 has grown by delta^2/R^2 with every update, and 1/||w|| bounds the margin."""
    if len(run.classes) > 2 or run.kernel is not None or not run.updates:
        return
    w = run.weights["last"][0]
    delta = getattr(run.rule, "delta", 1.0)
    growth = run.updates * bounds.romma_growth(_radius(run), delta)
    yield "growth of ||w||^2", growth, float(w @ w)


def _known_margin(run: RunRecord) -> Iterator[tuple[float, float]]:
    """(gamma, R) of a run whose w was found to separate: gamma > 0 is its margin on all rows."""
    if len(run.brackets) == 1:
        low = run.brackets[0][0]
        if low is not None and low > 0.0:
            yield low, _radius(run) * (math.sqrt(2.0) if run.joint else 1.0)


def _updates_within(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """k s^2 gamma^2 <= R^2 for the margin of w itself; s is how far an update is sure to go."""
    share = 1.0 - getattr(run.rule, "p", 0.0)
    if type(run.rule).__name__ == "AggressiveROMMA":
        share = run.rule.delta
    for gamma, R in _known_margin(run):
        yield "k <= R^2/gamma^2", run.updates * (share * gamma) ** 2, R * R


def _loss_within(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """The squared losses of PA, for a u with a margin of 1: w/gamma."""
    for gamma, R in _known_margin(run):
        loss = sum(learner.squared_loss or 0.0 for learner in run.learners)
        yield "sum of squared losses <= R^2/gamma^2", loss * gamma * gamma, R * R


def _margin_reached(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """After a clean pass every row is outside the band."""
    if run.stop_reason != "clean pass":
        return
    theta = (1.0 - run.rule.eps) * run.rule.gamma
    for low, _ in run.brackets:
        if low is not None:
            yield "(1 - eps) gamma <= gamma_low", theta, low


def _winnow(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    r"""The balance of the weights, whose sum starts at n and stays positive.

    A promotion adds less than :math:`(\alpha-1)\theta`, as :math:`\alpha^x \le 1 + (\alpha-1)x` for
    :math:`0 \le x \le 1`. A demotion takes :math:`\theta` (Winnow1) or :math:`(1 - 1/\alpha)\theta`
    (Winnow2) at least, as :math:`\alpha^{-x} \le 1 - (1 - 1/\alpha)x`. It holds for all inputs from 0 to 1.
    """
    if len(run.classes) > 2:
        return
    learner = run.learners[0]
    assert run.n_features is not None and learner.threshold is not None and learner.promotions is not None
    most = bounds.winnow1_demotions if run.parameters["kind"] == 1 else bounds.winnow2_demotions
    allowed = most(run.n_features, learner.threshold, learner.promotions, run.parameters["alpha"])
    yield "balance of demotions", run.updates - learner.promotions, allowed


def _elimination(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    if len(run.classes) > 2:
        return
    n, literals = run.n_features, run.learners[0].literals
    assert n is not None and literals is not None
    yield "literals left", run.updates, bounds.elimination(n, min(n, literals), run.parameters["literals"])


def _confidence(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    """The covariance stays positive and shrinks."""
    sigma = np.stack([np.asarray(learner.covariance) for learner in run.learners])
    start = 1.0 / run.parameters.get("a", 1.0)
    diagonal = sigma if sigma.ndim == 2 else np.diagonal(sigma, axis1=1, axis2=2)
    yield "variances are positive", -float(diagonal.min()), 0.0
    yield "variances shrink", float(diagonal.max()), start


def _alma(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    if run.kernel is None:
        yield "||w|| <= 1", float(np.sqrt(np.sum(run.weights["last"] ** 2, axis=1)).max()), 1.0


def _budget(run: RunRecord) -> Iterator[tuple[str, float, float]]:
    budget = run.parameters["budget"]
    if budget is not None and len(run.classes) == 2:
        yield "support <= budget", run.learners[0].support or 0, budget
    if run.parameters["policy"] == "forgetron":
        for learner in run.learners:
            most = 15.0 / 32.0 * (learner.mistakes or 0)
            yield "cost of forgetting <= 15/32 mistakes", learner.forgetting_cost or 0.0, most


#: The checks by their names in the rule table.
INVARIANTS: dict[str, Callable[[RunRecord], Iterator[tuple[str, float, float]]]] = {
    "norm of the sum": _norm_of_the_sum,
    "bracket in order": _bracket_in_order,
    "updates": _updates_within,
    "losses": _loss_within,
    "margin reached": _margin_reached,
    "growth of the norm": _romma,
    "unit ball": _alma,
    "balance of demotions": _winnow,
    "literals left": _elimination,
    "confidence": _confidence,
    "within the budget": _budget,
}
