"""Mistake bounds of the perceptron on data that need not be separable, for every comparator u."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, dyadic, samples
from theorems.play import hinge, rows_of, worst_rows

from perceptrons import Perceptron, theory

ROUNDING = 1.0 + 1e-9


def all_hold(M, X, y, u):
    """X, y: the mistakes, one row a visit; the radius of more rows would be larger still."""
    R, H, norm = theory.radius(X), float(hinge(u, X, y).sum()), float(np.linalg.norm(u))
    simple, tight = theory.hinge(R, norm, H), theory.hinge_tight(R, norm, H)
    assert tight * ROUNDING >= M
    assert tight <= simple * ROUNDING
    a = R * norm
    assert tight <= (H + a * sqrt(H) + a**2) * ROUNDING
    if norm == 0.0:
        assert simple == 2 * M  # says nothing
        return
    gamma = 1.0 / norm  # the comparator u is the unit vector gamma u, asked for margin gamma
    distances = np.maximum(0.0, gamma - y * (X @ u) * gamma)
    TD, D = float(distances.sum()), float(np.linalg.norm(distances))
    assert np.isclose(theory.total_distance(R, gamma, TD), simple)
    assert np.isclose(theory.total_distance_tight(R, gamma, TD), tight)
    assert theory.squared(R, gamma, D) * ROUNDING >= M


@pytest.mark.parametrize("mistake", ["margin", "prediction"])
@given(samples(), st.data())
def test_random_sequences(mistake, sample, draw):
    X, y, order = sample
    model = Perceptron(mistake=mistake, fit_intercept=False, log_updates=True).fit(X, y, order=order)
    mean = Perceptron(mistake=mistake, fit_intercept=False, readout="average").fit(X, y, order=order)
    rows = rows_of(model)
    assume(len(rows))
    u = np.array(draw.draw(st.lists(dyadic(1.0), min_size=X.shape[1], max_size=X.shape[1]), label="u"))
    all_hold(model.n_mistakes_, X[rows], y[rows], u)
    for w in (model.coef_[0], mean.coef_[0]):
        for c in np.geomspace(1e-3, 1e3, 13):
            all_hold(model.n_mistakes_, X[rows], y[rows], c * w)


@given(samples(), st.data())
def test_worst_sequences(sample, draw):
    X, y, _ = sample
    model = begin(Perceptron(fit_intercept=False), X)
    rows = list(worst_rows(model, X, y))
    assert model.n_mistakes_ == len(rows)
    u = np.array(draw.draw(st.lists(dyadic(1.0), min_size=X.shape[1], max_size=X.shape[1]), label="u"))
    for c in [0.0, *np.geomspace(1e-3, 1e3, 7)]:
        all_hold(model.n_mistakes_, X[rows], y[rows], c * u)
        all_hold(model.n_mistakes_, X[rows], y[rows], c * model.coef_[0])


@given(samples(), st.data())
def test_losses_of_the_whole_sequence_give_a_valid_and_weaker_bound(sample, draw):
    X, y, order = sample
    model = Perceptron(fit_intercept=False, log_updates=True).fit(X, y, order=order)
    u = np.array(draw.draw(st.lists(dyadic(1.0), min_size=X.shape[1], max_size=X.shape[1]), label="u"))
    visits = [i for epoch in order for i in epoch]
    R, norm = theory.radius(X), np.linalg.norm(u)
    on_mistakes = float(hinge(u, X[rows_of(model)], y[rows_of(model)]).sum())
    on_all = float(hinge(u, X[visits], y[visits]).sum())
    assert on_mistakes <= on_all
    assert model.n_mistakes_ <= theory.hinge_tight(R, norm, on_all) * ROUNDING
    assert theory.hinge_tight(R, norm, on_mistakes) <= theory.hinge_tight(R, norm, on_all)
