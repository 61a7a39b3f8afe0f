"""Elimination: at most n - r mistakes on an OR of r inputs, n + 1 - r with negations; both are attained."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, disjunctions, orders
from theorems.play import learn

from perceptrons import Elimination, theory


@pytest.mark.parametrize("literals", ["monotone", "all"])
@given(st.data())
def test_an_or_without_noise(literals, draw):
    X, y, relevant = draw.draw(disjunctions(negations=literals == "all"), label="target")
    model = Elimination(literals=literals).fit(X, y, order=draw.draw(orders(len(y)), label="order"))
    assert model.n_mistakes_ <= theory.elimination(X.shape[1], len(relevant), literals)
    assert not model.inconsistent_
    assert model.literals_[0, list(relevant)].all()  # what is in the target is never struck out


@pytest.mark.parametrize("literals", ["monotone", "all"])
@given(disjunctions(max_rows=20, negations=True), st.data())
def test_every_update_strikes_out_a_literal_on_any_data(literals, target, draw):
    X, y, _ = target
    flips = draw.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)), label="noise")
    y = np.where(flips, -y, y)
    model = begin(Elimination(literals=literals), X)
    alive, struck = model.literals_.sum(), 0
    for x, label in zip(X, y):
        before, updates, errors = alive, model.n_updates_, model.n_errors_
        model.learn_one(x, label)
        alive = model.literals_.sum()
        assert (alive < before) == (model.n_updates_ > updates)
        struck += before - alive
        if model.n_errors_ > errors and label > 0:
            assert model.inconsistent_
    assert struck >= model.n_updates_


@pytest.mark.parametrize(("n", "r"), [(1, 1), (5, 2), (8, 1)])
def test_attained_without_negations(n, r):
    """The target is an OR of the last r inputs; the others come alone, as negatives."""
    model = begin(Elimination(), np.eye(n))
    learn(model, np.eye(n), np.full(n, -1), range(n - r))
    assert model.n_mistakes_ == theory.elimination(n, r)


@pytest.mark.parametrize(("n", "r"), [(1, 1), (5, 2), (8, 1)])
def test_attained_with_negations(n, r):
    """First all zeros, which strikes out the n negations; then as without."""
    X = np.vstack([np.zeros(n), np.eye(n)])
    model = begin(Elimination(literals="all"), X)
    learn(model, X, np.full(len(X), -1), range(1 + n - r))
    assert model.n_mistakes_ == theory.elimination(n, r, "all")


@pytest.mark.parametrize("literals", ["monotone", "all"])
def test_the_worst_order_of_all_rows(literals):
    """Over all 0/1 rows of four inputs, an adversary serves mistakes as long as there are any."""
    n = 4
    X = np.array(list(product([0.0, 1.0], repeat=n)))
    for r in range(1, n + 1):
        y = np.where(X[:, :r].any(axis=1), 1, -1)
        model = begin(Elimination(literals=literals), X)
        while len(wrong := np.flatnonzero(model.predict(X) != y)):
            alive = [(clone_and_learn(model, X[i], y[i]), i) for i in wrong]
            model.learn_one(X[max(alive)[1]], y[max(alive)[1]])  # the row that teaches least
        assert model.n_mistakes_ == theory.elimination(n, r, literals)


def clone_and_learn(model, x, label):
    """Literals left after this row."""
    literals = np.hstack([x, 1.0 - x]) if model.literals == "all" else x
    assert label < 0
    return int(np.sum(model.literals_[0] & (literals == 0.0)))
