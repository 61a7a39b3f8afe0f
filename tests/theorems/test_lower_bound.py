"""No deterministic learner can do better than floor(1/gamma^2) mistakes; the perceptron does as well."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from strategies import begin

import perceptrons as pc
from perceptrons import theory

LEARNERS = {
    "perceptron": pc.Perceptron(fit_intercept=False),
    "perceptron, by prediction": pc.Perceptron(fit_intercept=False, mistake="prediction"),
    "averaged": pc.AveragedPerceptron(fit_intercept=False),
    "voted": pc.VotedPerceptron(fit_intercept=False),
    "with a bias": pc.Perceptron(),
    "margin perceptron": pc.MarginPerceptron(gamma=0.25, fit_intercept=False),
    "MIRA": pc.MIRA(p=0.5, fit_intercept=False),
    "PA-I": pc.PassiveAggressive(C=0.25),
    "ROMMA": pc.ROMMA(aggressive=True, delta=0.1, fit_intercept=False),
    "ALMA": pc.ALMA(),
    "balanced Winnow": pc.BalancedWinnow(),
    "Winnow1": pc.Winnow(kind=1),
    "Winnow2": pc.Winnow(threshold=1.0),
    "elimination": pc.Elimination(literals="all"),
    "p-norm": pc.PNormPerceptron(p=4.0),
    "second order": pc.SecondOrderPerceptron(),
    "AROW": pc.AROW(),
    "SCW": pc.SCW(variant="II"),
}


def force_mistakes(model, n):
    """Serve e_1, ..., e_n, each labelled against the prediction; answers the labels."""
    X = np.eye(n)
    begin(model, X)
    labels = []
    for x in X:
        labels.append(-int(model.predict_one(x)))
        model.learn_one(x, labels[-1])
    return np.array(labels)


@pytest.mark.parametrize("gamma", [1.0, 0.4, 0.25])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_errs_on_every_row(name, gamma):
    n = theory.forced_mistakes(gamma)
    model = clone(LEARNERS[name])
    y = force_mistakes(model, n)
    assert model.n_errors_ == n == int(1.0 / gamma**2 + 1e-9)
    u = y / np.sqrt(n)  # and yet there was a target all the time
    assert np.isclose(np.linalg.norm(u), 1.0)
    assert np.min(y * (np.eye(n) @ u)) >= gamma * (1.0 - 1e-12)


@pytest.mark.parametrize("n", [1, 4, 16])
def test_the_perceptron_meets_it_exactly(n):
    model = pc.Perceptron(fit_intercept=False)
    y = force_mistakes(model, n)
    assert model.n_mistakes_ == n
    assert np.isclose(theory.novikoff(1.0, 1.0 / np.sqrt(n)), n)
    for x, label in zip(np.eye(n), y):  # no further mistake, ever
        model.learn_one(x, label)
    assert model.n_mistakes_ == n
