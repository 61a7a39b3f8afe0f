"""A step of MIRA and PA is the shortest that reaches margin 1, or that is best with the price C on the loss.

    hard   min 1/2 ||V - W||^2              with loss(V) = 0
    I      min 1/2 ||V - W||^2 + C loss(V)
    II     min 1/2 ||V - W||^2 + C loss(V)^2

These problems are convex, so it is enough that nothing near the answer is better.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.learners import close, weights
from strategies import begin, multiclass_samples, samples

from perceptrons import MIRA, PassiveAggressive

pytestmark = pytest.mark.uncompiled

VARIANTS = ["hard", "I", "II"]
seeds = st.integers(0, 2**32 - 1)
prices = st.integers(-6, 2).map(lambda e: 2.0**e)


def steps(model, X, y, order):
    """(row, weights before, weights after) of every update, met one row at a time."""
    begin(model, X, np.unique(y))
    W = np.atleast_2d(weights(model))
    for i in chain.from_iterable(order):
        before = model.n_updates_
        model.learn_one(X[i], y[i])
        old, W = W, np.atleast_2d(weights(model)).copy()
        if model.n_updates_ > before:
            yield i, old, W


def nearby(W, seed, n=20):
    """Weights around W, at all distances."""
    rng = np.random.default_rng(seed)
    for scale in np.geomspace(1e-3, 1.0, n):
        yield W + scale * rng.normal(size=W.shape)


def objective(V, W, loss, C, variant):
    cost = 0.5 * np.sum((V - W) ** 2)
    return cost if variant == "hard" else cost + C * loss(V) ** {"I": 1, "II": 2}[variant]


def is_best(V, W, loss, C, variant, seed, feasible):
    """No weights near V are better than V; hard: no feasible ones."""
    best = objective(V, W, loss, C, variant)
    candidates = nearby(V, seed)
    if variant == "hard":
        candidates = map(feasible, candidates)
    return all(objective(U, W, loss, C, variant) >= best - 1e-9 * (1.0 + best) for U in candidates)


@pytest.mark.parametrize("variant", VARIANTS)
@given(samples(), prices, seeds)
def test_pa_with_two_classes(variant, sample, C, seed):
    X, y, order = sample
    model = PassiveAggressive(variant=variant, C=C, fit_intercept=False)
    for i, W, V in steps(model, X, y, order):
        x, label = X[i], y[i]

        def loss(U, x=x, label=label):
            return max(0.0, 1.0 - label * (U[0] @ x))

        def feasible(U, x=x, label=label, loss=loss):
            return U + loss(U) / (x @ x) * label * x

        if variant == "hard":
            assert close(label * (V[0] @ x), 1.0, 1e-12 * (1.0 + np.abs(V[0] * x).sum()))
        assert is_best(V, W, loss, C, variant, seed, feasible)


@pytest.mark.parametrize(("p", "margin"), [(0.0, "functional"), (0.5, "functional"), (0.5, "geometric")])
@given(samples())
def test_mira_lands_on_margin_one_by_the_projection(p, margin, sample):
    X, y, order = sample
    model = MIRA(p=p, margin=margin, fit_intercept=False)
    for i, W, V in steps(model, X, y, order):
        x, w, v = X[i], W[0], V[0]
        rounding = 1e-12 * (1.0 + np.abs(v * x).sum())
        assert close(y[i] * (v @ x), 1.0, rounding)
        assert y[i] * (w @ x) <= (p if margin == "functional" else p * np.linalg.norm(w)) + rounding
        # the nearest point of the half-space {v : y<v, x> >= 1} lies along its normal
        along = (v - w) @ x / (x @ x)
        assert along * y[i] > 0.0
        assert close(v - w, along * x, 1e-12 * (1.0 + np.abs(v).max() + np.abs(w).max()))


@pytest.mark.parametrize("solver", ["top", "exact"])
@pytest.mark.parametrize("variant", VARIANTS)
@given(multiclass_samples(), prices, seeds)
def test_pa_with_many_classes(variant, solver, sample, C, seed):
    X, y, n_classes, order = sample
    model = PassiveAggressive(variant=variant, C=C, solver=solver, fit_intercept=False)
    for i, W, V in steps(model, X, y, order):
        x, label = X[i], y[i]
        rivals = [r for r in range(n_classes) if r != label]
        if solver == "top":
            rivals = [max(rivals, key=lambda r, s=W @ x: s[r])]

        def loss(U, x=x, label=label, rivals=rivals):
            return max(0.0, np.max(1.0 - (U[label] - U[rivals]) @ x))

        def feasible(U, x=x, label=label, loss=loss):
            U = U.copy()
            U[label] += loss(U) / (x @ x) * x
            return U

        if variant == "hard":
            assert loss(V) <= 1e-9 * (1.0 + np.abs(V @ x).max())
        assert close(V.sum(axis=0), W.sum(axis=0))  # what one class gains the others lose
        assert is_best(V, W, loss, C, variant, seed, feasible)


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["top", "exact"])
@given(multiclass_samples())
def test_a_step_of_mira_is_a_step_of_pa(solver, p, sample):
    """Where it moves at all; so what holds for the hard PA above holds for it."""
    X, y, n_classes, order = sample
    model = MIRA(p=p, solver=solver, fit_intercept=False)
    for i, W, V in steps(model, X, y, order):
        pa = PassiveAggressive(variant="hard", solver=solver, fit_intercept=False)
        every = np.r_[[np.flatnonzero(y == r)[0] for r in range(n_classes)], i]
        pa.fit(X[every], y[every], coef_init=W, order=[[n_classes]])
        assert close(V, weights(pa))
