"""Forgetron: on a budget, no more mistakes than 2||u||^2 + 4 H, u being short enough for the budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theorems.play import hinge

from perceptrons import kernels, theory
from perceptrons.engine import spaces
from perceptrons.engine.intake import EMPTY, frozen
from perceptrons.engine.loops.budget import Forgetron
from perceptrons.engine.spaces.budget import Budget

BUDGETS = st.sampled_from([83, 100, 200])


def longest_u(budget):
    return 0.25 * np.sqrt((budget + 1) / np.log(budget + 1))


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def cone(rng, m, n, cosine):
    """Unit rows at an angle of the given cosine from the axis or its opposite, with the label of the side."""
    y = rng.choice([-1.0, 1.0], size=m)
    sides = unit(rng.normal(size=(m, n - 1)))
    return y[:, None] * np.column_stack([np.full(m, cosine), np.sqrt(1.0 - cosine**2) * sides]), y


def learn(model, X, y):
    model.run(model.kernel.prepare(X), frozen(y), EMPTY, np.arange(len(y)), False)
    return model.counts().mistakes


def fresh(budget, kernel=None):
    return Budget(kernel or kernels.Linear(), Forgetron(), budget, spaces.Frame(0.0), 0)


@given(
    st.integers(0, 2**32 - 1),
    BUDGETS,
    st.sampled_from([0.0, 0.02, 0.1]),
    st.floats(0.2, 1.0),
    st.integers(2, 40),
)
@settings(max_examples=40)
def test_noisy_labels(seed, budget, noise, cosine, n):
    rng = np.random.default_rng(seed)
    X, y = cone(rng, 1500, n, cosine)
    y = np.where(rng.random(len(y)) < noise, -y, y)
    mistakes = learn(fresh(budget), X, y)
    for shorter in (1.0, 0.9, 0.5, 0.0):
        u = shorter * longest_u(budget) * np.eye(n)[0] * (1.0 - 1e-12)
        assert mistakes <= theory.forgetron(np.linalg.norm(u), hinge(u, X, y).sum(), budget)


@given(st.integers(0, 2**32 - 1), BUDGETS, st.sampled_from([3, 6, 12]), st.floats(0.3, 1.0))
@settings(max_examples=20)
def test_an_adversary_that_flips_now_and_then(seed, budget, every, cosine):
    """It serves the row of the lowest margin, and after some of them the best row with the wrong label."""
    rng = np.random.default_rng(seed)
    X, y = cone(rng, 60, 20, cosine)
    u = longest_u(budget) * np.eye(20)[0] * (1.0 - 1e-12)
    model, H = fresh(budget), 0.0
    rows = model.kernel.prepare(X)
    for t in range(3 * budget):
        margins = y * model.scores(rows)[:, 0]
        i, label = (margins.argmax(), -1.0) if t % every == 0 else (margins.argmin(), 1.0)
        model.run(rows, frozen(label * y), EMPTY, np.array([i]), False)
        H += hinge(u, X[[i]], label * y[[i]])[0]
        assert model.counts().mistakes <= theory.forgetron(np.linalg.norm(u), H, budget)


@given(st.integers(0, 2**32 - 1), BUDGETS)
@settings(max_examples=10)
def test_in_the_space_of_a_kernel(seed, budget):
    """u is a combination of rows: u(x) = sum of c_i k(x_i, x)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
    kernel = kernels.Gaussian(0.5)
    mistakes = learn(fresh(budget, kernel), X, y)
    c = y * (rng.random(len(y)) < 0.1)
    G = kernel(X)
    c *= (1.0 - 1e-9) * longest_u(budget) / np.sqrt(c @ G @ c)
    H = np.maximum(0.0, 1.0 - y * (G @ c)).sum()
    assert mistakes <= theory.forgetron(np.sqrt(c @ G @ c), H, budget)


@pytest.mark.parametrize("budget", [83, 400])
def test_the_bound_says_something_where_rows_had_to_leave(budget):
    rng = np.random.default_rng(0)
    X, y = cone(rng, 40 * budget, 30, 0.9)
    y = np.where(rng.random(len(y)) < 0.04, -y, y)
    u = longest_u(budget) * np.eye(30)[0] * (1.0 - 1e-12)
    model = fresh(budget)
    mistakes = learn(model, X, y)
    bound = theory.forgetron(np.linalg.norm(u), hinge(u, X, y).sum(), budget)
    assert len(model) == budget < mistakes <= bound < 0.5 * len(y)
    assert 0.0 < model.forgetting_cost <= 15.0 / 32.0 * mistakes * (1.0 + 1e-12)
