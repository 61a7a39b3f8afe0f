"""From mistakes to errors on fresh rows: the random, the voted and the average hypothesis of one pass.

Rows that are equally likely in every order are as good as independent ones, so the expectations are
taken exactly: over all orders of m + 1 rows, of which m are learned and the last is fresh.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from strategies import begin, samples
from theorems.play import learn

from perceptrons import Perceptron, VotedPerceptron, theory

FEW = 4  # rows: 24 orders


def all_orders(X, y):
    return [list(order) for order in permutations(range(len(y)))]


def trained(model, X, y, rows):
    return begin(model, X).partial_fit(X[rows], y[rows])


def expected_mistakes(X, y):
    """E[M] of the online run over all m + 1 rows; M counts wrong predictions."""
    runs = [trained(Perceptron(fit_intercept=False), X, y, order) for order in all_orders(X, y)]
    return float(np.mean([run.n_errors_ for run in runs]))


@given(samples(max_rows=FEW, max_features=3))
def test_a_random_hypothesis_errs_exactly_that_often(sample):
    """Uniform over the m + 1 hypotheses, the initial one included: E[M]/(m + 1)."""
    X, y, _ = sample
    m, errors = len(y) - 1, []
    for order in all_orders(X, y):
        model = Perceptron(fit_intercept=False, readout="random", include_initial=True)
        *seen, fresh = order
        trained(model, X, y, seen)
        for step in range(m + 1):
            model.random_step_ = step
            errors.append(model.predict(X[[fresh]])[0] != y[fresh])
    assert np.isclose(np.mean(errors), theory.random_hypothesis(expected_mistakes(X, y), m))


@given(samples(max_rows=FEW, max_features=3))
def test_the_vote_errs_at_most_twice_as_often(sample):
    X, y, _ = sample
    m, errors = len(y) - 1, []
    for order in all_orders(X, y):
        *seen, fresh = order
        model = trained(VotedPerceptron(fit_intercept=False, include_initial=True), X, y, seen)
        errors.append(model.predict(X[[fresh]])[0] != y[fresh])
    assert np.mean(errors) <= theory.voted(expected_mistakes(X, y), m) + 1e-12


@pytest.mark.parametrize("delta", [0.5, 0.1])
def test_the_mean_risk_exceeds_its_bound_no_more_often_than_delta(delta):
    """Mean risk of h_0 .. h_{m-1} against M/m + sqrt(2 ln(1/delta)/m), over runs on independent rows."""
    rng = np.random.default_rng(0)
    m, n_runs, failures = 25, 60, 0
    u = np.array([1.0, -2.0])

    def draw(n):
        X = rng.normal(size=(n, 2))
        return X, np.where(X @ u + 0.5 * rng.normal(size=n) > 0.0, 1, -1)

    X_fresh, y_fresh = draw(4000)
    for _ in range(n_runs):
        X, y = draw(m)
        model, risks = begin(Perceptron(fit_intercept=False), X), []
        for i in range(m):
            risks.append(np.mean(np.where(X_fresh @ model.coef_[0] > 0.0, 1, -1) != y_fresh))
            learn(model, X, y, [i])
        failures += np.mean(risks) >= theory.online_to_batch(model.n_errors_, m, delta)
    assert failures <= delta * n_runs


@given(samples(max_rows=FEW, max_features=3))
def test_leading_rows_without_an_update_vote_for_the_initial_vector(sample):
    """c_0 counts them; under the rule by margin there are none, unless w = 0 is right by prediction."""
    X, y, _ = sample
    rows = np.flatnonzero(y < 0)
    model = begin(VotedPerceptron(fit_intercept=False, mistake="prediction"), X)
    model.partial_fit(X[rows], y[rows])
    assert model.n_updates_ == 0
    assert np.array_equal(model.decision_function(X), np.full(len(y), -len(rows)))
