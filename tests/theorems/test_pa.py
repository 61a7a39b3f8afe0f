"""Loss bounds of passive-aggressive learning, with any comparator u."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, dyadic, orders, samples, separable
from theorems.play import hinge, margins, worst_rows

from perceptrons import PassiveAggressive, theory

SLACK = 1.0 + 1e-9
prices = st.sampled_from([0.0625, 0.5, 4.0])


def comparators(draw, n, *learned):
    """A vector of any kind, and multiples of what was learned."""
    yield np.array(draw.draw(st.lists(dyadic(), min_size=n, max_size=n), label="u"))
    for w in learned:
        for c in (0.0, 0.1, 1.0, 3.0):
            yield c * w


def both_readouts(X, y, order, **params):
    """The learner, and its average weights."""
    model = PassiveAggressive(fit_intercept=False, **params).fit(X, y, order=order)
    mean = PassiveAggressive(fit_intercept=False, readout="average", **params).fit(X, y, order=order)
    return model, model.coef_[0], mean.coef_[0]


def hinge_of(X, y, order, u):
    visits = [i for epoch in order for i in epoch]
    return hinge(u, X[visits], y[visits])


@given(separable(), st.data())
def test_hard_and_separable(data, draw):
    """sum l^2 <= R^2 ||u||^2 for a u with y<u, x> >= 1; the errors are no more."""
    X, y, _, gamma = data
    model = PassiveAggressive(variant="hard", fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    bound = theory.pa_separable(theory.radius(X), 1.0 / gamma) * SLACK
    assert model.n_errors_ <= model.squared_loss_ * SLACK <= bound * SLACK


@given(separable())
def test_hard_and_separable_against_an_adversary(data):
    X, y, _, gamma = data
    model = begin(PassiveAggressive(variant="hard", fit_intercept=False), X)
    for i in worst_rows(model, X, y, threshold=1.0 - 1e-9):
        assert np.isclose(margins(model, X[[i]], y[[i]])[0], 1.0)  # never the same row twice in a row
        assert model.squared_loss_ <= theory.pa_separable(theory.radius(X), 1.0 / gamma) * SLACK


@given(samples(), st.data())
def test_hard_on_rows_of_length_one(sample, draw):
    X, y, order = sample
    lengths = np.linalg.norm(X, axis=1)
    assume(np.all(lengths > 0.0))
    unit = X / lengths[:, None]
    model, w, mean = both_readouts(X, y, order, variant="hard", row_norm="l2")
    for u in comparators(draw, X.shape[1], w, mean):
        squared = float(np.sum(hinge_of(unit, y, order, u) ** 2))
        assert model.squared_loss_ <= theory.pa_unit(np.linalg.norm(u), squared) * SLACK


@given(samples(), prices, st.data())
def test_pa1(sample, C, draw):
    X, y, order = sample
    model, w, mean = both_readouts(X, y, order, variant="I", C=C)
    for u in comparators(draw, X.shape[1], w, mean):
        loss = float(np.sum(hinge_of(X, y, order, u)))
        assert model.n_errors_ <= theory.pa1(theory.radius(X), np.linalg.norm(u), C, loss) * SLACK


@given(samples(), prices, st.data())
def test_pa2(sample, C, draw):
    X, y, order = sample
    model, w, mean = both_readouts(X, y, order, variant="II", C=C)
    for u in comparators(draw, X.shape[1], w, mean):
        squared = float(np.sum(hinge_of(X, y, order, u) ** 2))
        assert model.squared_loss_ <= theory.pa2(theory.radius(X), np.linalg.norm(u), C, squared) * SLACK


@pytest.mark.parametrize("variant", ["I", "II"])
@given(samples(), prices, st.data())
def test_soft_variants_against_an_adversary(variant, sample, C, draw):
    X, y, _ = sample
    model = begin(PassiveAggressive(variant=variant, C=C, fit_intercept=False), X)
    rows = list(worst_rows(model, X, y, threshold=1.0 - 1e-9, limit=40))
    assume(rows)
    R = theory.radius(X)
    for u in comparators(draw, X.shape[1], model.coef_[0]):
        losses, norm = hinge(u, X[rows], y[rows]), np.linalg.norm(u)
        if variant == "I":
            assert model.n_errors_ <= theory.pa1(R, norm, C, float(losses.sum())) * SLACK
        else:
            assert model.squared_loss_ <= theory.pa2(R, norm, C, float((losses**2).sum())) * SLACK


@given(samples(), st.data())
def test_hard_on_rows_of_length_one_against_an_adversary(sample, draw):
    X, y, _ = sample
    lengths = np.linalg.norm(X, axis=1)
    assume(np.all(lengths > 0.0))
    X = X / lengths[:, None]
    model = begin(PassiveAggressive(variant="hard", fit_intercept=False), X)
    rows = list(worst_rows(model, X, y, threshold=1.0 - 1e-9, limit=40))
    assert len(rows) > 0
    for u in comparators(draw, X.shape[1], model.coef_[0]):
        squared = float(np.sum(hinge(u, X[rows], y[rows]) ** 2))
        assert 0.0 < model.squared_loss_ <= theory.pa_unit(np.linalg.norm(u), squared) * SLACK
