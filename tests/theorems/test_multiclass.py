"""Mistake and loss bounds with many classes: prototypes are one vector in the space of pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    begin,
    best_margin,
    class_pairs,
    dyadic,
    multiclass_samples,
    orders,
    separable,
    separable_multiclass,
)
from theorems.play import lead, length, worst_rows

from perceptrons import MIRA, PassiveAggressive, Perceptron, theory

SLACK = 1.0 + 1e-9
SCHEMES = pytest.mark.parametrize("scheme", ["top", "uniform", "proportional"])
SOLVERS = pytest.mark.parametrize("solver", ["top", "exact"])


def against(model, X, y, threshold=0.0, limit=60):
    """The adversary of the prototypes: the row whose class leads least."""
    score = lambda X, y: lead(model.coef_, X, y)  # noqa: E731 - the model learns meanwhile
    return worst_rows(model, X, y, threshold, score=score, limit=limit)


def prepared(model, X, y):
    return begin(model, X, np.unique(y))


# ------------------------------------------------------------------------------ the perceptron


@SCHEMES
@pytest.mark.parametrize("mistake", ["margin", "prediction"])
@given(separable_multiclass(), st.data())
def test_at_most_twice_r_over_delta_squared_mistakes(scheme, mistake, data, draw):
    X, y, _, delta = data
    model = Perceptron(scheme=scheme, mistake=mistake, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    assert model.n_mistakes_ <= theory.multiclass(theory.radius(X), delta)


@SCHEMES
@given(st.one_of(separable_multiclass(), multiclass_samples()))
def test_against_an_adversary(scheme, sample):
    """At every moment ||W||^2 <= 2Q, and no prototypes have a margin beyond ||W||/M."""
    X, y = sample[:2]
    n_classes = len(set(y))
    best = best_margin(class_pairs(X, y, n_classes), np.ones(len(y) * (n_classes - 1)))
    model, Q = prepared(Perceptron(scheme=scheme, fit_intercept=False), X, y), 0.0
    for i in against(model, X, y):
        Q += X[i] @ X[i]
        M = model.n_mistakes_
        assert length(model) ** 2 <= 2.0 * Q * SLACK
        assert best <= theory.gamma_up(length(model), M) * SLACK + 1e-9
        if best > 1e-6:
            assert theory.multiclass(theory.radius(X), best) * (1.0 + 1e-6) >= M


@given(multiclass_samples(), st.data())
def test_hinge_bounds_on_any_data(sample, draw):
    """H sums over the mistakes what u misses against the class that was penalised."""
    X, y, n_classes, order = sample
    model = prepared(Perceptron(fit_intercept=False), X, y)
    rows, rivals = [], []
    for i in (i for epoch in order for i in epoch):
        s = X[i] @ model.coef_.T
        s[y[i]] = -np.inf
        rival, before = int(np.argmax(s)), model.n_mistakes_
        model.learn_one(X[i], y[i])
        if model.n_mistakes_ > before:
            rows.append(i)
            rivals.append(rival)
    assume(rows)
    R, n = theory.radius(X), X.shape[1]
    drawn = draw.draw(st.lists(dyadic(1.0), min_size=n_classes * n, max_size=n_classes * n), label="u")
    for u in (np.reshape(drawn, (n_classes, n)), *(c * model.coef_ for c in np.geomspace(1e-2, 1e2, 9))):
        ahead = np.array([(u[y[i]] - u[z]) @ X[i] for i, z in zip(rows, rivals)])
        H, norm = float(np.maximum(0.0, 1.0 - ahead).sum()), float(np.linalg.norm(u))
        tight = theory.multiclass_hinge_tight(R, norm, H)
        assert len(rows) <= tight * SLACK
        assert tight <= theory.multiclass_hinge(R, norm, H) * SLACK


@given(multiclass_samples(), st.data())
def test_hinge_bounds_against_an_adversary(sample, draw):
    X, y, n_classes, _ = sample
    model = prepared(Perceptron(fit_intercept=False), X, y)
    rows, rivals = [], []
    W = model.coef_.copy()
    for i in against(model, X, y):
        s = W @ X[i]
        s[y[i]] = -np.inf
        rows.append(i)
        rivals.append(int(np.argmax(s)))
        W = model.coef_.copy()
    assert model.n_mistakes_ == len(rows) > 0
    R, n = theory.radius(X), X.shape[1]
    drawn = draw.draw(st.lists(dyadic(1.0), min_size=n_classes * n, max_size=n_classes * n), label="u")
    for u in (np.reshape(drawn, (n_classes, n)), *(c * W for c in np.geomspace(1e-2, 1e2, 9))):
        ahead = np.array([(u[y[i]] - u[z]) @ X[i] for i, z in zip(rows, rivals)])
        H = float(np.maximum(0.0, 1.0 - ahead).sum())
        assert len(rows) <= theory.multiclass_hinge_tight(R, float(np.linalg.norm(u)), H) * SLACK


@given(separable(), st.data())
def test_two_classes_have_the_binary_bound(data, draw):
    """u = (-v, v)/sqrt(2) has margin sqrt(2) gamma."""
    X, y, _, gamma = data
    bound = theory.multiclass(theory.radius(X), np.sqrt(2.0) * gamma)
    assert np.isclose(bound, theory.novikoff(theory.radius(X), gamma))
    model = Perceptron(fit_intercept=False).fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    assert model.n_mistakes_ <= bound * SLACK


# ----------------------------------------------------------------------------------- MIRA and PA


@SOLVERS
@pytest.mark.parametrize("p", [0.0, 0.5])
@given(separable_multiclass(), st.data())
def test_mira(solver, p, data, draw):
    X, y, _, delta = data
    bound = theory.multiclass_mira(theory.radius(X), 1.0 / delta, p)
    model = MIRA(p=p, solver=solver, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    assert model.n_updates_ <= bound
    model = prepared(MIRA(p=p, solver=solver, fit_intercept=False), X, y)
    for _ in against(model, X, y, threshold=p):
        assert model.n_updates_ <= bound


@SOLVERS
@given(separable_multiclass(), st.data())
def test_pa(solver, data, draw):
    X, y, U, delta = data
    bound = theory.multiclass_pa(theory.radius(X), 1.0 / delta) * SLACK
    model = PassiveAggressive(variant="hard", solver=solver, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=20)))
    assert model.n_errors_ <= model.squared_loss_ * SLACK
    assert model.squared_loss_ <= bound
    model = prepared(PassiveAggressive(variant="hard", solver=solver, fit_intercept=False), X, y)
    distance = np.linalg.norm(U / delta)
    for _ in against(model, X, y, threshold=1.0 - 1e-9):
        assert model.squared_loss_ <= bound
        before, distance = distance, np.linalg.norm(model.coef_ - U / delta)
        assert distance <= before * SLACK  # every step goes towards every separator


@given(separable_multiclass(), st.integers(0, 2**32 - 1))
def test_the_norm_minimising_mira_of_2003(data, seed):
    """||W|| never grows, and all steps together are at most (||W_0|| - <u, W_0>)/delta."""
    X, y, U, delta = data
    W0 = np.random.default_rng(seed).integers(-8, 9, size=U.shape) / 8.0
    assume(W0.any())
    order = [range(len(y))] * 5
    norms = [np.linalg.norm(W0)]
    model = MIRA(variant="crammer_singer", fit_intercept=False, log_updates=True, warm_start=True)
    total, start = 0.0, {"coef_init": W0}
    for epoch in order:
        model.fit(X, y, order=[epoch], **start)
        start = {}
        norms.append(np.linalg.norm(model.coef_))
        total += model.update_log_["step"].sum()
    assert all(later <= earlier * SLACK + 1e-12 for earlier, later in pairwise(norms))
    inner = float(np.sum(U * W0))
    assert total <= theory.crammer_singer(norms[0], inner, delta) * SLACK + 1e-9


@SCHEMES
@given(multiclass_samples())
def test_only_the_guilty_pay_and_all_is_paid(scheme, sample):
    """Ultraconservative: the true class gains x, classes that score at least as much lose it in all."""
    X, y, n_classes, order = sample
    model = prepared(Perceptron(scheme=scheme, fit_intercept=False), X, y)
    for i in order[0]:
        W = model.coef_.copy()
        s = W @ X[i]
        model.learn_one(X[i], y[i])
        gain = model.coef_ - W
        guilty = [r for r in range(n_classes) if r != y[i] and s[r] >= s[y[i]]]
        assert np.allclose(gain.sum(axis=0), 0.0)
        assert np.allclose(gain[y[i]], X[i] if guilty else 0.0)
        innocent = [r for r in range(n_classes) if r != y[i] and r not in guilty]
        assert not gain[innocent].any()
