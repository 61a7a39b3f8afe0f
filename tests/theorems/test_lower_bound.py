"""No deterministic learner can do better than floor(1/gamma^2) mistakes; the perceptron does as well."""

from __future__ import annotations

from itertools import product

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


@pytest.mark.parametrize("name", ["perceptron", "averaged", "PA-I", "Winnow2", "AROW"])
def test_labels_drawn_by_a_coin_cost_any_learner_half_of_them(name):
    """The mean over all labellings of e_1, ..., e_n is n/2 exactly, so a randomised learner has no less."""
    n, errors = 4, []
    for labels in product([-1, 1], repeat=n):
        model = begin(clone(LEARNERS[name]), np.eye(n))
        for x, label in zip(np.eye(n), labels):
            model.learn_one(x, label)
        errors.append(model.n_errors_)
    assert np.mean(errors) == theory.forced_mistakes(0.5) / 2
    assert max(errors) == n


N = 9  # rows e_1, ..., e_N of label +1, so that a tie is an error: R = 1, gamma = 1/3, ||u|| = 3


def one_pass(model, y):
    return model.fit(np.eye(N), y, order=[range(N)])


def binary(model):
    """A pass over the unit vectors; the first label is one that is never visited."""
    X = np.vstack([np.eye(N), -np.eye(N)[:1]])
    return model.set_params(fit_intercept=False).fit(X, [1] * N + [-1], order=[range(N)])


THREE = np.arange(N) % 3
#: prototypes with margin 1 over both rivals on N unit vectors have squared norm 2N/3
U_NORM = np.sqrt(2.0 * N / 3.0)

ATTAINED = {
    "novikoff": (lambda: binary(pc.Perceptron()).n_mistakes_, theory.novikoff(1, 1 / 3), 1.0),
    "novikoff_from": (
        lambda: (
            pc.Perceptron(fit_intercept=False, max_iter=None)
            .fit(np.vstack([np.eye(N), -np.eye(N)[:1]]), [1] * N + [-1], coef_init=np.full(N, -5.0))
            .n_updates_
        ),
        theory.novikoff_from(1, 1 / 3, w0_norm=15),
        0.5,
    ),
    "variable_rate": (lambda: theory.variable_rate_left([1.0] * N), theory.variable_rate(1, 1 / 3), 1.0),
    "margin perceptron": (
        lambda: binary(pc.MarginPerceptron(gamma=1 / 3, eps=0.9)).n_updates_ - 1,
        theory.margin_perceptron(1, 1 / 3, 0.9),
        0.4,
    ),
    "mira": (lambda: binary(pc.MIRA()).n_updates_, theory.mira(1, 1 / 3), 1.0),
    "mira_geometric": (
        lambda: binary(pc.MIRA(p=1e-9, margin="geometric")).n_updates_,
        theory.mira_geometric(1, 1 / 3, 1e-9),
        0.999,
    ),
    "pa_separable": (
        lambda: binary(pc.PassiveAggressive(variant="hard")).squared_loss_,
        theory.pa_separable(1, 3),
        1.0,
    ),
    "pa_unit": (
        lambda: binary(pc.PassiveAggressive(variant="hard")).squared_loss_,
        theory.pa_unit(3, 0),
        1.0,
    ),
    "pa1": (lambda: binary(pc.PassiveAggressive(C=1.0)).n_errors_, theory.pa1(1, 3, 1.0, 0), 1.0),
    "pa2": (
        lambda: binary(pc.PassiveAggressive(variant="II", C=100.0)).squared_loss_,
        theory.pa2(1, 3, 100.0, 0),
        0.99,
    ),
    "romma": (lambda: binary(pc.ROMMA()).n_updates_, theory.romma(1, 1 / 3), 1.0),
    "romma_aggressive": (
        lambda: binary(pc.ROMMA(aggressive=True, delta=0.9)).n_updates_,
        theory.romma_aggressive(1, 1 / 3, 0.9),
        0.8,
    ),
    "romma_aggressive_errors": (
        lambda: binary(pc.ROMMA(aggressive=True, delta=0.25)).n_errors_,
        theory.romma_aggressive_errors(1, 1 / 3),
        1.0,
    ),
    "multiclass": (
        lambda: one_pass(pc.Perceptron(fit_intercept=False), THREE).n_mistakes_,
        theory.multiclass(1, 1 / U_NORM),
        0.75,
    ),
    "multiclass_mira": (
        lambda: one_pass(pc.MIRA(fit_intercept=False, solver="exact"), THREE).n_updates_,
        theory.multiclass_mira(1, U_NORM),
        0.75,
    ),
    "multiclass_pa": (
        lambda: one_pass(pc.PassiveAggressive(variant="hard", fit_intercept=False), THREE).squared_loss_,
        theory.multiclass_pa(1, U_NORM),
        0.75,
    ),
}


@pytest.mark.parametrize("name", ATTAINED)
def test_unit_vectors_come_close_to_the_other_bounds_too(name):
    """No constant of these can be made smaller, or not by much."""
    measured, bound, share = ATTAINED[name]
    assert share * (1.0 - 1e-9) <= measured() / bound <= 1.0 + 1e-9
