"""Winnow learns an OR of r among n inputs with O(r log n) mistakes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, disjunctions, orders

from perceptrons import Winnow, theory

KINDS = pytest.mark.parametrize("kind", [1, 2])
DEMOTIONS = {1: theory.winnow1_demotions, 2: theory.winnow2_demotions}


def or_bounds(kind, n, r):
    """All bounds on the mistakes with alpha = 2 and theta = n."""
    if kind == 1:
        return theory.winnow1(n, r), theory.winnow1_general(n, r, 2.0, float(n))
    return (theory.winnow2(n, r),)


def within_bounds(model, kind, n, r):
    p, q = model.n_promotions_, model.n_demotions_
    assert model.n_mistakes_ == p + q
    assert p <= theory.winnow_promotions(r, float(n))
    assert q <= DEMOTIONS[kind](n, float(n), p)
    assert all(model.n_mistakes_ <= bound for bound in or_bounds(kind, n, r))


@KINDS
@given(disjunctions(max_rows=30), st.data())
def test_an_or_without_noise(kind, target, draw):
    X, y, relevant = target
    model = Winnow(kind=kind).fit(X, y, order=draw.draw(orders(len(y), max_epochs=5), label="order"))
    within_bounds(model, kind, X.shape[1], len(relevant))


@KINDS
@pytest.mark.parametrize("r", [1, 2, 5])
def test_worst_sequences(kind, r):
    """Over all 0/1 rows of n inputs: the mistaken row nearest to the threshold, until there is none."""
    n = 8
    X = np.array(list(product([0.0, 1.0], repeat=n)))
    y = np.where(X[:, :r].any(axis=1), 1, -1)
    model = begin(Winnow(kind=kind), X)
    while len(wrong := np.flatnonzero(model.predict(X) != y)):
        scores = np.abs(model.decision_function(X[wrong]))
        i = wrong[np.argmin(scores)]
        model.learn_one(X[i], y[i])
        within_bounds(model, kind, n, r)
    assert np.array_equal(model.predict(X), y)


@KINDS
@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
@given(disjunctions(max_rows=20), st.data())
def test_any_data_at_all_balance_promotions_and_demotions(kind, alpha, target, draw):
    X, y, _ = target
    flips = draw.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)), label="noise")
    y = np.where(flips, -y, y)
    theta = draw.draw(st.sampled_from([1.0, 2.5, 8.0]), label="threshold")
    model = begin(Winnow(kind=kind, alpha=alpha, threshold=theta), X)
    for i in [*range(len(y))] * 3:
        model.learn_one(X[i], y[i])
        bound = DEMOTIONS[kind](X.shape[1], theta, model.n_promotions_, alpha)
        assert model.n_demotions_ <= bound * (1.0 + 1e-9)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
@given(disjunctions(max_rows=30), st.sampled_from([1.0, 3.0, 16.0]), st.data())
def test_winnow1_with_other_parameters(alpha, target, theta, draw):
    X, y, relevant = target
    model = Winnow(kind=1, alpha=alpha, threshold=theta)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=5), label="order"))
    assert model.n_promotions_ <= theory.winnow_promotions(len(relevant), theta, alpha)
    assert model.n_mistakes_ <= theory.winnow1_general(X.shape[1], len(relevant), alpha, theta) * (1.0 + 1e-9)


@pytest.mark.parametrize(("k", "r", "n"), [(1, 2, 10), (2, 3, 8), (2, 5, 10)])
@pytest.mark.parametrize("seed", range(3))
def test_winnow2_on_k_of_r(k, r, n, seed):
    """mu_i = 1/k for the relevant inputs: delta = 1/k, and alpha = 1 + delta/2."""
    rng = np.random.default_rng(seed)
    X = (rng.random((400, n)) < 0.4).astype(float)
    y = np.where(X[:, :r].sum(axis=1) >= k, 1, -1)
    delta = 1.0 / k
    for theta in (1.0, float(n)):
        model = Winnow(alpha=1.0 + delta / 2.0, threshold=theta, max_iter=10, random_state=seed).fit(X, y)
        assert model.n_mistakes_ <= theory.winnow2_general(n, theta, delta, r * delta)


@given(disjunctions(max_rows=30), st.data())
def test_winnow2_on_an_or_by_the_general_bound(target, draw):
    X, y, relevant = target
    n = X.shape[1]
    model = Winnow(alpha=1.5).fit(X, y, order=draw.draw(orders(len(y), max_epochs=5), label="order"))
    assert model.n_mistakes_ <= theory.winnow2_general(n, float(n), 1.0, float(len(relevant)))


@pytest.mark.parametrize("theta", [1.0, 8.0])
@pytest.mark.parametrize(("k", "r"), [(1, 1), (1, 3), (2, 3), (3, 5)])
def test_winnow2_by_the_general_bound_against_an_adversary(k, r, theta):
    """All 0/1 rows of 8 inputs, k of r: the mistaken row nearest to the threshold, until there is none."""
    n, delta = 8, 1.0 / k
    X = np.array(list(product([0.0, 1.0], repeat=n)))
    y = np.where(X[:, :r].sum(axis=1) >= k, 1, -1)
    model = begin(Winnow(alpha=1.0 + delta / 2.0, threshold=theta), X)
    bound = theory.winnow2_general(n, theta, delta, r * delta)
    while len(wrong := np.flatnonzero(model.predict(X) != y)):
        i = wrong[np.argmin(np.abs(model.decision_function(X[wrong])))]
        model.learn_one(X[i], y[i])
        assert model.n_mistakes_ <= bound
    assert model.n_mistakes_ > r


@pytest.mark.parametrize("alpha", [1.5, 3.0])
@pytest.mark.parametrize("theta", [2.0, 8.0, 64.0])
def test_winnow1_by_the_general_bound_against_an_adversary(alpha, theta):
    n, r = 8, 2
    X = np.array(list(product([0.0, 1.0], repeat=n)))
    y = np.where(X[:, :r].any(axis=1), 1, -1)
    model = begin(Winnow(kind=1, alpha=alpha, threshold=theta), X)
    while len(wrong := np.flatnonzero(model.predict(X) != y)):
        i = wrong[np.argmin(np.abs(model.decision_function(X[wrong])))]
        model.learn_one(X[i], y[i])
        assert model.n_mistakes_ <= theory.winnow1_general(n, r, alpha, theta) * (1.0 + 1e-9)
    assert model.n_mistakes_ > 1


def test_irrelevant_inputs_cost_their_logarithm():
    """r = 2 among more and more inputs: the mistakes stay below the bound, which is far below n."""
    rng = np.random.default_rng(0)
    for n in (64, 256, 1024):
        X = (rng.random((600, n)) < 2.0 / n * 8.0).astype(float)
        y = np.where(X[:, :2].any(axis=1), 1, -1)
        y[:2], X[0, 0], X[1, :2] = (1, -1), 1.0, 0.0
        model = Winnow(max_iter=10, random_state=0).fit(X, y)
        assert model.n_mistakes_ <= theory.winnow2(n, 2) < n
