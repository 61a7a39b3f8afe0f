"""Every rule by hand: the scalar function is the formula."""

from __future__ import annotations

import copy
import pickle
from math import isfinite, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from perceptrons import rules
from perceptrons.rules import LOSS_TOL, LOSS_TOL_32, NO_STEP, REFUSED, State, ask

PHI = NormalDist().inv_cdf(0.9)


def state(N=0.0, k=0, t=1, c=1.0, tol=LOSS_TOL):
    return State(N=float(N), k=k, t=t, c=c, tol=tol)


@pytest.mark.parametrize(
    ("rule", "m", "q", "now", "answer"),
    [
        # a mistake is y<w,x> <= 0
        (rules.Perceptron(), 0.0, 2.0, state(), (1.0, 1.0)),
        (rules.Perceptron(), -3.0, 2.0, state(), (1.0, 1.0)),
        (rules.Perceptron(), 1e-300, 2.0, state(), NO_STEP),
        (rules.Perceptron(eta=0.25), -1.0, 2.0, state(c=3.0), (1.0, 0.75)),
        (rules.RateByUpdates(), 0.0, 1.0, state(k=3, t=9), (1.0, 0.25)),
        (rules.RateByUpdates(), 1.0, 1.0, state(k=3, t=9), NO_STEP),
        (rules.RateByExamples(), -1.0, 1.0, state(k=3, t=8, c=2.0), (1.0, 0.25)),
        (rules.RateByExamples(), 2.0, 1.0, state(), NO_STEP),
        # update when y<w,x>/||w|| < (1 - eps) gamma; (1 - 1/4) 2 = 1.5
        (rules.Margin(gamma=2.0, eps=0.25), 3.0, 1.0, state(N=4.0), NO_STEP),
        (rules.Margin(gamma=2.0, eps=0.25), 2.9, 1.0, state(N=4.0), (1.0, 1.0)),
        (rules.Margin(gamma=2.0, eps=0.25), 0.0, 1.0, state(N=0.0, c=0.5), (1.0, 0.5)),
        # the shortest step to margin 1
        (rules.MIRA(), 0.0, 4.0, state(), (1.0, 0.25)),
        (rules.MIRA(), 0.1, 4.0, state(), NO_STEP),
        (rules.MIRA(p=0.5), 0.5, 4.0, state(), (1.0, 0.125)),
        (rules.MIRA(p=0.5), -1.0, 0.0, state(), NO_STEP),
        (rules.GeometricMIRA(p=0.5), 0.75, 0.5, state(N=4.0), (1.0, 0.5)),
        (rules.GeometricMIRA(p=0.5), 1.1, 0.5, state(N=4.0), NO_STEP),
        (rules.GeometricMIRA(p=0.5), 1.0, 0.5, state(N=4.0), REFUSED),
        (rules.GeometricMIRA(p=2.0), 1.5, 0.5, state(N=4.0), REFUSED),
        (rules.PA(), 0.5, 2.0, state(), (1.0, 0.25)),
        (rules.PA(), 1.0, 2.0, state(), NO_STEP),
        (rules.PA(), 1.0 - 1e-13, 2.0, state(), NO_STEP),
        (rules.PA(), 1.0 - 1e-7, 2.0, state(tol=LOSS_TOL_32), NO_STEP),
        (rules.PA(), -1.0, 0.0, state(), NO_STEP),
        (rules.PA1(C=0.5), -1.0, 2.0, state(), (1.0, 0.5)),
        (rules.PA1(C=2.0), -1.0, 2.0, state(), (1.0, 1.0)),
        (rules.PA1(C=0.5), -1.0, 2.0, state(c=0.5), (1.0, 0.25)),
        (rules.PA1(), 2.0, 2.0, state(), NO_STEP),
        (rules.PA2(C=0.5), -1.0, 3.0, state(), (1.0, 0.5)),  # 2 / (3 + 1)
        (rules.PA2(C=0.5), -1.0, 2.0, state(c=0.5), (1.0, 0.5)),  # 2 / (2 + 2)
        (rules.PA2(), 1.0, 3.0, state(), NO_STEP),
        # from w = 0: y x / ||x||^2
        (rules.ROMMA(), 0.0, 4.0, state(), (0.0, 0.25)),
        (rules.ROMMA(), 0.5, 4.0, state(N=1.0), NO_STEP),
        # q N = 2, m = 0: c = 1, d = N / (q N) = 1/2
        (rules.ROMMA(), 0.0, 2.0, state(N=1.0), (1.0, 0.5)),
        (rules.ROMMA(), -1.0, 1.0, state(N=1.0), REFUSED),  # x = -w
        (rules.ROMMA(), -1.0, 0.0, state(N=1.0), NO_STEP),
        (rules.AggressiveROMMA(), 0.5, 1.0, state(N=1.0), (0.5 / 0.75, 0.5 / 0.75)),
        (rules.AggressiveROMMA(), 0.5, 0.25, state(N=1.0), (0.0, 4.0)),  # m >= q N: the old constraint goes
        (rules.AggressiveROMMA(delta=0.5), 0.5, 1.0, state(N=1.0), NO_STEP),
        (rules.AggressiveROMMA(delta=0.5), 0.4, 1.0, state(N=1.0), (0.6 / 0.84, 0.6 / 0.84)),
        # alpha = 1 updates on mistakes; the first step sqrt(2) is cut back to the unit ball
        (rules.ALMA(alpha=1.0), 0.0, 4.0, state(), (1 / sqrt(2), 0.5)),
        (rules.ALMA(alpha=1.0), 0.1, 4.0, state(), NO_STEP),
        (rules.ALMA(alpha=1.0), -1.0, 0.0, state(), NO_STEP),
        # (1 - a) sqrt(8)/a = sqrt(8); at k = 7 the threshold is 1, and 0.5 is below it
        (rules.ALMA(alpha=0.5), 0.5, 1.0, state(N=0.25, k=7), (1 / sqrt(1.0), 0.5)),
        (rules.NormMinimising(), -0.1, 1.0, state(), (1.0, 1.0)),
        (rules.NormMinimising(), 0.0, 1.0, state(), NO_STEP),
        (rules.NormMinimising(), -0.1, 0.0, state(), NO_STEP),
        # second order: (alpha, beta)
        (rules.SecondOrder(), 0.0, 3.0, state(), (0.25, 0.25)),
        (rules.SecondOrder(), -1.0, 3.0, state(), (0.5, 0.25)),
        (rules.SecondOrder(), 0.1, 3.0, state(), (0.0, 0.0)),
        (rules.AROW(r=1.0), 0.0, 3.0, state(), (0.25, 0.25)),
        (rules.AROW(r=3.0), -1.0, 1.0, state(), (0.5, 0.25)),
        (rules.AROW(), 1.0, 3.0, state(), (0.0, 0.0)),
        (rules.SCW1(PHI), PHI + 0.1, 1.0, state(), (0.0, 0.0)),
        (rules.SCW2(PHI), PHI + 0.1, 1.0, state(), (0.0, 0.0)),
        (rules.SCW1(PHI), 0.0, 0.0, state(), (0.0, 0.0)),
    ],
    ids=lambda value: (
        type(value).__name__ if isinstance(value, tuple) and hasattr(value, "_fields") else None
    ),
)
def test_by_hand(rule, m, q, now, answer):
    np.testing.assert_allclose(ask(rule, m, q, now), answer, rtol=1e-14)


def test_every_rule_is_tried():
    tried = {type(mark.args[1][i][0]) for mark in test_by_hand.pytestmark for i in range(len(mark.args[1]))}
    assert tried == {*rules.FIRST_ORDER, *rules.SECOND_ORDER}


def test_romma_is_the_shortest_vector_that_meets_both_constraints():
    """<w', x> >= 1 and <w', w> >= ||w||^2 hold with equality, so w' is where the two planes meet."""
    w = np.array([sqrt(5.0), 0.0])  # ||w||^2 = 5
    x = np.array([-0.5 / sqrt(5.0), sqrt(2.0 - 0.25 / 5.0)])  # ||x||^2 = 2, <w, x> = -1/2
    for rule in (rules.ROMMA(), rules.AggressiveROMMA()):
        keep, tau = ask(rule, -0.5, 2.0, state(N=5.0))
        new = keep * w + tau * x
        np.testing.assert_allclose([new @ x, new @ w], [1.0, 5.0])


@pytest.mark.parametrize("kind", [rules.SCW1, rules.SCW2])
@pytest.mark.parametrize(("m", "v"), [(0.0, 1.0), (-2.0, 0.5), (0.3, 4.0)])
def test_scw_ends_with_the_confidence_it_wants(kind, m, v):
    """With C so large that nothing is softened, phi sqrt(v') = m' afterwards."""
    alpha, beta = ask(kind(PHI, 1e12), m, v, state())
    new_m = m + alpha * v  # <w + alpha y Sigma x, y x>
    new_v = v - beta * v * v
    assert alpha > 0.0 and 0.0 < beta * v < 1.0
    np.testing.assert_allclose(PHI * sqrt(new_v), new_m, rtol=1e-6)


def test_scw_is_capped_or_damped_by_c():
    free, _ = ask(rules.SCW1(PHI, 1e12), -1.0, 1.0, state())
    assert ask(rules.SCW1(PHI, free / 2), -1.0, 1.0, state())[0] == free / 2
    assert ask(rules.SCW2(PHI, 0.1), -1.0, 1.0, state())[0] < free


@pytest.mark.parametrize("record", list(rules.FIRST_ORDER))
def test_the_margin_after_the_step(record):
    """keep m + tau q is what the formula promises: 1 for MIRA and PA, 1 or more for ROMMA."""
    rule = record()
    m, q, N = -0.25, 2.0, 1.5
    keep, tau = ask(rule, m, q, state(N=N))
    after = keep * m + tau * q
    if record in (rules.MIRA, rules.GeometricMIRA, rules.PA, rules.ROMMA, rules.AggressiveROMMA):
        np.testing.assert_allclose(after, 1.0)
    else:
        assert after > m
    assert isfinite(after)


# ------------------------------------------------------------------------------------------ the user's own


@rules.rule
def half(m, q, state):
    """Half a perceptron."""
    return (1.0, 0.5) if m <= 0 else NO_STEP


def bare(m, q, state):
    return 1.0, state.c


wrapped = rules.rule(bare, weighted=True)


def test_decorator():
    assert isinstance(half, rules.UserRule)
    assert half(0.0, 1.0, None) == (1.0, 0.5)
    assert half.__doc__ == "Half a perceptron."
    assert half.__name__ == "half"
    assert repr(half) == "<rule 'half'>"
    assert not half.weighted
    assert wrapped.weighted
    assert rules.rule(weighted=True)(bare).weighted
    assert ask(wrapped, 1.0, 1.0, state(c=3.0)) == (1.0, 3.0)
    with pytest.raises(TypeError, match=r"rule must be a function \(m, q, state\) -> \(keep, tau\); got 3"):
        rules.rule(3)


def test_a_rule_of_the_users_copies_and_pickles():
    assert copy.deepcopy(half) is half
    assert pickle.loads(pickle.dumps(half)) is half  # by its name
    again = pickle.loads(pickle.dumps(wrapped))  # by its function's name
    assert again.function is bare and again.weighted


def test_ask_refuses_what_is_no_rule():
    with pytest.raises(KeyError):
        ask(3.0, 1.0, 1.0, state())


def test_what_a_rule_may_see():
    assert State._fields == ("N", "k", "t", "c", "tol")
