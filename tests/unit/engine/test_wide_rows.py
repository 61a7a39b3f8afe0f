"""Sparse rows are scored through their entries: the weights of all columns are neither copied nor read."""

from __future__ import annotations

import copy
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from plain_texts import PLAIN
from zoo import ONLINE, X, make, y, y3

from perceptrons import Elimination, MaxMargin, Perceptron, RiskDescent, TextClassifier

WIDTH = 1 << 18
PLACES = np.array([3, 70_000, 70_001, 200_000, WIDTH - 1])


def spread_out(rows):
    """The same rows, their columns far apart."""
    i, j = np.nonzero(rows)
    return sp.csr_array((rows[i, j], (i, PLACES[j])), shape=(len(rows), WIDTH)).tocsr()


def peak_bytes(call):
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def scored_by_entries(model):
    """One row and all rows get the same scores, those of ``coef_``, and few bytes are needed."""
    wide = spread_out(X)
    scores = model.decision_function(wide)
    dense = np.asarray(wide[:, PLACES] @ model.coef_[:, PLACES].T + model.intercept_)
    if getattr(model, "readout", "last") != "vote" and getattr(model, "row_norm", None) is None:
        np.testing.assert_allclose(np.squeeze(dense), scores, rtol=1e-12, atol=1e-12)
    for i in range(len(X)):
        np.testing.assert_array_equal(model.decision_function(wide[[i]])[0], scores[i])
    assert peak_bytes(lambda: model.predict(wide[[2]])) < WIDTH


#: a covariance that is full cannot be wide
WIDE = [name for name in ONLINE if name != "SecondOrderPerceptron"]


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
def test_every_learner(name, labels):
    scored_by_entries(make(name, max_iter=2).fit(spread_out(X), labels))


@pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])
@pytest.mark.parametrize("options", [{}, {"multiclass": "ovr"}, {"row_norm": "l2"}], ids=str)
def test_every_readout(readout, options):
    for labels in (y, y3):
        model = Perceptron(readout=readout, max_iter=3, random_state=0, include_initial=True, **options)
        scored_by_entries(model.fit(spread_out(X), labels))


@pytest.mark.parametrize("readout", ["last", "random"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_unit_vectors(readout, multiclass):
    for labels in (y, y3):
        model = Perceptron(readout=readout, multiclass=multiclass, normalized_votes=True, random_state=0)
        scored_by_entries(model.partial_fit(spread_out(X)[:20], labels[:20], classes=np.unique(labels)))
        scored_by_entries(model.partial_fit(spread_out(X), labels))  # another w, of another length


def test_disjunctions_with_negations():
    rows = (X > 0).astype(float)
    model = Elimination(literals="all").partial_fit(spread_out(rows)[:3], y[:3])
    wide = spread_out(rows)
    for at in (slice(3, 5), slice(5, None)):
        model.predict(wide)  # what stands is counted here, and again after the next rows
        model.partial_fit(wide[at], y[at])
        assert peak_bytes(lambda: model.predict(wide[[2]])) < WIDTH
        np.testing.assert_array_equal(model.predict(wide), model.predict(wide.toarray()))
        again = copy.deepcopy(model)
        again._space.standing = None
        np.testing.assert_array_equal(model.decision_function(wide), again.decision_function(wide))


def test_learners_of_a_whole_set():
    scored_by_entries(RiskDescent(fit_intercept=False).fit(spread_out(X), y))
    scored_by_entries(MaxMargin().fit(spread_out(X), y))


def test_columns_beyond_those_of_the_log():
    """A vote's rows may be narrower than the model, when names have been added since."""
    model = Perceptron(readout="vote")
    for i in range(40):
        model.learn_one({f"name{i}": 1.0}, i % 2)
    known = Perceptron(readout="vote").partial_fit(np.eye(40), np.arange(40) % 2)
    scores = [model.score_one({f"name{i}": 1.0}) for i in range(40)]
    np.testing.assert_array_equal(known.decision_function(np.eye(40)), scores)
    np.testing.assert_array_equal(known.decision_function(sp.csr_array(np.eye(40))), scores)


@pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])
def test_texts(readout):
    texts = ["one two three", "four five", "six seven", "two four six"]
    model = TextClassifier(**PLAIN, bits=18, readout=readout, random_state=0).fit(texts, [0, 1, 0, 1])
    assert peak_bytes(lambda: model.predict(texts[:1])) < WIDTH
    np.testing.assert_array_equal(model.decision_function(texts[:1])[0], model.decision_function(texts)[0])
