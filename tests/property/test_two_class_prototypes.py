"""Prototypes of two classes are the binary learner: opposite rows, the same decisions.

The estimators learn one w for two classes, so the joint space is asked directly here.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from property.learners import close, frames, pick
from strategies import samples

from perceptrons import rules
from perceptrons.engine import intake, spaces
from perceptrons.engine.loops import multiclass

pytestmark = pytest.mark.uncompiled

#: binary rule; joint rule; scheme. The rule table says how w_1 - w_0 follows from w.
CASES = {
    "perceptron": (rules.Perceptron(), rules.Perceptron(), multiclass.Top()),
    "perceptron, uniform": (rules.Perceptron(), rules.Perceptron(), multiclass.Uniform()),
    "perceptron, proportional": (rules.Perceptron(), rules.Perceptron(), multiclass.Proportional()),
    "margin perceptron": (
        rules.Margin(0.75, 0.25),
        rules.Margin(0.75 * sqrt(2.0), 0.25),
        multiclass.Top(),
    ),
    "MIRA": (rules.MIRA(), rules.MIRA(), multiclass.Top()),
    "MIRA, p = 1/2": (rules.MIRA(0.5), rules.MIRA(0.5), multiclass.Exact(inf, 0.0)),
    "PA": (rules.PA(), rules.PA(), multiclass.Exact(inf, 0.0)),
    "PA-I": (rules.PA1(0.125), rules.PA1(0.0625), multiclass.Top()),
    "PA-II": (rules.PA2(0.125), rules.PA2(0.0625), multiclass.Top()),
    "ROMMA": (rules.ROMMA(), rules.ROMMA(), multiclass.Top()),
    "ROMMA, aggressive": (rules.AggressiveROMMA(0.25), rules.AggressiveROMMA(0.25), multiclass.Top()),
}
EXACT = {
    "PA-I": (rules.PA1(0.125), rules.PA1(0.0625), multiclass.Exact(0.0625, 0.0)),
    "PA-II": (rules.PA2(0.125), rules.PA2(0.0625), multiclass.Exact(inf, 8.0)),
}


def learned(space, X, codes, order, frame):
    rows = intake.make_rows(X, frame.bias, frame.unit)
    targets = space.targets(codes)
    orders = [intake.frozen(np.array(epoch)) for epoch in order]
    logs = [log for visit in orders for log in space.run(rows, targets, intake.EMPTY, visit, True)]
    return [log.row.tolist() for log in logs], space.weights("last"), space.counts()


def same_learner(name, case, sample, frame):
    X, y, order = sample
    rule, joint_rule, scheme = case
    factor = 2.0 * rules.facts(rule).step.pair
    [learner] = pick(name.split(", uni")[0].split(", pro")[0])
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    seen = spaces.Frame(frame.bias or 0.0, frame.normalize == "l2", np.dtype(np.float64))
    codes = (y > 0).astype(np.int64)
    binary = learned(spaces.Linear(rule, seen, X.shape[1]), X, codes, order, seen)
    joint = learned(spaces.Joint(joint_rule, seen, X.shape[1], 2, scheme), X, codes, order, seen)
    assert joint[0] == binary[0] == run.updates
    assert joint[2].errors == binary[2].errors
    assert joint[2].mistakes == binary[2].mistakes
    [w], (w_0, w_1) = binary[1], joint[1]
    assert close(w_0, -w_1, learner.tol)
    assert close(w_1 - w_0, factor * w, learner.tol)


@pytest.mark.parametrize("name", CASES)
@given(samples(), frames())
def test_two_prototypes_are_one_w(name, sample, frame):
    same_learner(name, CASES[name], sample, frame)


@pytest.mark.parametrize("name", EXACT)
@given(samples(), frames())
def test_with_the_exact_solver_too(name, sample, frame):
    same_learner(name, EXACT[name], sample, frame)
