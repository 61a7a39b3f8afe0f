"""The checks that learners run on themselves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import zoo
from ways import WAYS, fitted

import perceptrons as pc
from perceptrons import theory

# -------------------------------------------------------------------------------------------- debug


@pytest.mark.parametrize(("name", "params"), WAYS, ids=lambda p: str(p) if p else "default")
def test_every_learner_passes_its_own_checks(name, params):
    with theory.debug():
        for y in (zoo.y, zoo.y3):
            clf = fitted(name, params, y)
            assert len(list(theory.debugging.checks(clf.run_record()))) >= (3 if name in zoo.ONLINE else 0)
    assert not theory.debug.on


def test_a_broken_learner_is_told():
    clf = fitted("Perceptron", {})
    clf._space.state[10] *= 0.1  # Q
    with pytest.raises(AssertionError, match=r"Perceptron: \|\|w\|\|\^2 <= Q is violated"):
        theory.debugging.check_run(clf.run_record())


def test_the_balance_of_winnow_is_checked():
    for kind in (1, 2):
        clf = fitted("Winnow", {"kind": kind})
        found = {name: (left, right) for name, left, right in theory.debugging.checks(clf.run_record())}
        left, right = found["balance of demotions"]
        assert left == clf.n_demotions_ <= right
    X = np.random.default_rng(0).random((200, 6))  # not 0/1: the balance of Winnow2 holds all the same
    with theory.debug():
        clf = pc.Winnow(threshold=2.0, max_iter=5, shuffle=False).fit(X, (X[:, 0] > X[:, 1]).astype(int))
    assert clf.n_demotions_ > 6


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("Perceptron", {}, "k <= R^2/gamma^2"),
        ("MIRA", {"p": 0.5, "max_iter": 200}, "k <= R^2/gamma^2"),
        ("ROMMA", {}, "k <= R^2/gamma^2"),
        ("PassiveAggressive", {"variant": "hard", "max_iter": 200}, "sum of squared losses <= R^2/gamma^2"),
        ("MarginPerceptron", {"gamma": 0.05}, "(1 - eps) gamma <= gamma_low"),
        ("BudgetKernelPerceptron", {"policy": "forgetron", "budget": 2}, "cost of forgetting"),
    ],
)
def test_checks_that_know_the_margin(name, params, said):
    for y in (zoo.y, zoo.y3):
        found = list(theory.debugging.checks(fitted(name, params, y).run_record()))
        assert all(left <= right * (1.0 + 1e-9) + 1e-12 for _, left, right in found), found
    two = theory.debugging.checks(fitted(name, params).run_record())
    assert any(check.startswith(said) for check, _, _ in two)


def test_checks_are_run_after_each_epoch():
    class Shouting(pc.Perceptron):
        def run_record(self, **how):
            record = super().run_record(**how)
            wrong = [dataclasses.replace(learner, sum_sq_norms=1e9) for learner in record.learners]
            return dataclasses.replace(record, learners=tuple(wrong))

    with theory.debug(), pytest.raises(AssertionError, match=r"Shouting: Q <= k R\^2 is violated"):
        Shouting().fit(zoo.X, zoo.y)
    Shouting().fit(zoo.X, zoo.y)
