"""A bias by augmentation: the margin falls to gamma/sqrt(1 + b^2/B^2) at worst; B = sqrt(R|b|) is best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from comparing import augmented
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, best_margin, orders, separable
from theorems.play import worst_rows

from perceptrons import Perceptron, proofs, theory

SLACK = 1.0 + 1e-9
CONSTANTS = pytest.mark.parametrize("B", [0.25, 1.0, 8.0])
shifts = st.sampled_from([0.0, 0.5, -2.0, 10.0])


def moved(data, shift):
    """The rows moved along u: the plane <u, x> + b = 0 keeps its margin, its offset is b = -shift."""
    X, y, u, gamma = data
    return X + shift * u, y, gamma * (1.0 - 1e-9), -shift


def best_free_margin(X, y):
    """Half the distance between the hulls: the margin of a free offset."""
    halves = [(p - n) / 2.0 for p in X[y > 0] for n in X[y < 0]]
    return best_margin(np.array(halves), np.ones(len(halves)))


@CONSTANTS
@given(separable(), shifts)
def test_the_margin_lies_between(B, data, shift):
    X, y, gamma, b = moved(data, shift)
    best = best_margin(augmented(X, B), y)
    assert theory.augmented_margin(gamma, b, B) <= best * SLACK
    assert best <= best_free_margin(X, y) * (1.0 + 1e-6)


@CONSTANTS
@given(separable(), shifts, st.data())
def test_random_sequences(B, data, shift, draw):
    X, y, gamma, b = moved(data, shift)
    model = Perceptron(intercept_scaling=B).fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    assert 0 < model.n_updates_ <= theory.novikoff_augmented(theory.radius(X), gamma, b, B) * SLACK


@CONSTANTS
@given(separable(), shifts)
def test_worst_sequences(B, data, shift):
    X, y, gamma, b = moved(data, shift)
    bound = theory.novikoff_augmented(theory.radius(X), gamma, b, B) * SLACK
    model = begin(Perceptron(intercept_scaling=B), X)
    for _ in worst_rows(model, X, y, limit=300):
        assert model.n_updates_ <= bound


@given(separable(), shifts)
def test_the_best_constant(data, shift):
    """R_aug^2/gamma_aug^2 <= (R + |b|)^2/gamma^2 at B = sqrt(R|b|), and no other constant proves less."""
    X, y, gamma, b = moved(data, shift)
    R = theory.radius(X)
    best = theory.novikoff_augmented(R, gamma, b)
    for B in np.geomspace(1e-3, 1e3, 25):
        assert best <= theory.novikoff_augmented(R, gamma, b, B) * SLACK
    if b:
        B = math.sqrt(R * abs(b))
        Z = augmented(X, B)
        assert np.isclose(theory.novikoff_augmented(R, gamma, b, B), best)
        assert theory.novikoff(theory.radius(Z), best_margin(Z, y)) <= best * (1.0 + 1e-6)
    if abs(b) <= R:
        assert best <= 4.0 * theory.novikoff(R, gamma) * SLACK


@CONSTANTS
@pytest.mark.parametrize("offset", [0.0, 1.0, -5.0, 60.0])
def test_the_lower_end_is_attained(offset, B):
    """Rows on two lines: the margin in augmented space is what the formula says, no more."""
    gamma = 0.5
    data = proofs.shrinking_margin(offset, gamma=gamma, bias=B)
    Z, q = augmented(data.X, B), -offset * gamma / (offset**2 + B**2)
    # the point of the hull of y(x, B) nearest to 0 has (1 + q)/2 of its weight on the positive rows
    nearest = theory.gamma_up_from_weights(np.where(data.y > 0, 1.0 + q, 1.0 - q), Z, data.y)
    assert theory.augmented_margin(gamma, data.b, B) == pytest.approx(nearest, rel=1e-9)
    assert theory.gamma_low(data.facts["u_aug"], Z, data.y) == pytest.approx(nearest, rel=1e-9)
    assert data.facts["bound"] == pytest.approx(
        theory.novikoff_augmented(data.facts["R"], gamma, data.b, B), rel=1e-9
    )
    model = begin(Perceptron(intercept_scaling=B), data.X)
    assert 0 < sum(1 for _ in worst_rows(model, data.X, data.y, limit=2000)) <= data.facts["bound"]
