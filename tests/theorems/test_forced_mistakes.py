"""The adversary of the lower bound against every online learner of the package, and against peers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Perceptron as ScikitPerceptron
from sklearn.linear_model import SGDClassifier

import perceptrons as pc
from perceptrons import theory
from perceptrons.proofs import force_mistakes, run_online

OF_TEXTS = ("TextClassifier", "SmallTextClassifier")
OURS = [name for name in pc.__all__ if hasattr(getattr(pc, name), "learn_one") and name not in OF_TEXTS]


def fresh(name):
    """With a fixed seed every one of them is deterministic."""
    return getattr(pc, name)(random_state=0)


def judge(n, sequence, u, gamma):
    X, y = sequence
    assert n == len(y) == theory.forced_mistakes(gamma)
    assert np.linalg.norm(u) == pytest.approx(1.0)
    assert np.linalg.norm(X, axis=1).max() == 1.0
    assert np.min(y * (X @ u)) >= gamma * (1 - 1e-12)


@pytest.mark.parametrize("gamma", [1.0, 0.3])
@pytest.mark.parametrize("name", OURS)
def test_every_learner_of_ours_errs_each_time(name, gamma):
    model = fresh(name)
    n, sequence, u = force_mistakes(model, gamma)
    judge(n, sequence, u, gamma)
    # served again, without looking: the same mistakes
    assert run_online(fresh(name), sequence).n_mistakes == n


@pytest.mark.parametrize(
    "make",
    [
        lambda: ScikitPerceptron(random_state=0),
        lambda: SGDClassifier(random_state=0),
        lambda: SGDClassifier(loss="log_loss", average=True, random_state=0),
    ],
    ids=["Perceptron", "SGDClassifier", "averaged"],
)
def test_so_does_scikit_learn(make):
    n, sequence, u = force_mistakes(make(), 0.2)
    judge(n, sequence, u, 0.2)
    assert run_online(make(), sequence).n_mistakes == n == 25


def test_the_perceptron_needs_no_more():
    model = pc.Perceptron(fit_intercept=False)
    n, sequence, _ = force_mistakes(model, 0.25)
    assert model.n_mistakes_ == n == 16 == theory.novikoff(1.0, 0.25)
    assert run_online(model, sequence).n_mistakes == 0
