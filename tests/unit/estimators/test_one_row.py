"""Learning and predicting one row at a time: arrays, lists, dicts of names that grow."""

from __future__ import annotations

import copy
import json
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from comparing import same_state
from sklearn.exceptions import NotFittedError
from zoo import ONLINE, X, attributes, make, y, y3

from perceptrons import KernelPerceptron, MarginPerceptron, OnlineClassifier, Perceptron, Winnow, rules
from perceptrons.engine.loops import linear

NAMES = list("abcde")


def one_by_one(model, rows=X, labels=y):
    for x, label in zip(rows, labels):
        assert model.learn_one(x, label) is None
    return model


def as_dict(x):
    return {name: value for name, value in zip(NAMES, x) if value != 0.0}


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("labels", [y, y3, np.array(["ham", "spam"])[y]], ids=["binary", "three", "words"])
def test_the_same_as_partial_fit(name, labels):
    """Arrays, lists and sparse rows; twice, so that the fast way is taken where there is one."""
    params = {} if name != "MarginPerceptron" else {"gamma": 0.5}
    classes = np.unique(labels)
    block = make(name, **params).partial_fit(X, labels, classes=classes).partial_fit(X, labels)
    for form in (np.array, list, sp.csr_array):
        model = make(name, **params)
        model.partial_fit(X[:1], labels[:1], classes=classes, sample_weight=[0.0])
        for _ in range(2):
            for x, label in zip(X, labels):
                model.learn_one(form(x) if form is not sp.csr_array else form(x[None, :]), label)
        np.testing.assert_allclose(model.coef_, block.coef_, rtol=1e-12, atol=1e-14)
        assert model.n_updates_ == block.n_updates_
        assert model.n_mistakes_ == block.n_mistakes_
        assert model.n_errors_ == block.n_errors_
        assert model.radius_ == block.radius_
        assert model.stop_reason_ == "learn_one"
        assert [model.predict_one(x) for x in X] == block.predict(X).tolist()
        np.testing.assert_allclose(
            np.array([model.score_one(x) for x in X]), block.decision_function(X), rtol=1e-12, atol=1e-14
        )
        answers = [[model.predict_one(x), model.score_one(x)] for x in X]
        assert json.loads(json.dumps(answers)) == answers  # Python's numbers and words, not numpy's


@pytest.mark.compiled
@pytest.mark.exhaustive  # a loop for single rows of float32; types of float64 are looked at above
def test_answers_are_of_python_types():
    """Every kind of label, both precisions, named features, kernels."""
    for label, other in ((0, 1), ("ham", "spam"), (True, False)):
        for model in (Perceptron(), KernelPerceptron()):
            one_by_one(model, X.astype(np.float32)[:2], [label, other])
            assert type(model.predict_one(X.astype(np.float32)[0])) is type(label)
            assert type(model.score_one(X.astype(np.float32)[0])) is float
    named = one_by_one(Perceptron(), [as_dict(x) for x in X], y3)
    assert type(named.predict_one(as_dict(X[0]))) is int
    assert [type(score) for score in named.score_one(as_dict(X[0]))] == [float] * 3


@pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])
@pytest.mark.parametrize("options", [{}, {"normalized_votes": True}, {"include_initial": True}])
@pytest.mark.parametrize("row_norm", [None, "l2"])
def test_every_readout(readout, options, row_norm):
    params = {"readout": readout, "random_state": 1, "row_norm": row_norm, **options}
    for labels in (y, y3):
        block = make("Perceptron", **params).partial_fit(X, labels)
        model = make("Perceptron", **params)
        model.partial_fit(X[:1], labels[:1], classes=np.unique(labels), sample_weight=[0.0])
        one_by_one(model, labels=labels)
        scores = np.array([model.score_one(x) for x in X])
        np.testing.assert_allclose(scores, block.decision_function(X), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-12, atol=1e-14)


def test_gamma_auto_row_by_row():
    block = MarginPerceptron(fit_intercept=False)
    model = MarginPerceptron(fit_intercept=False)
    for x, label in zip(np.tile(X, (4, 1)), np.tile(y, 4)):
        block.partial_fit(x[None, :], [label])
        model.learn_one(x, label)
    assert model.gamma_ == block.gamma_
    np.testing.assert_array_equal(model.coef_, block.coef_)
    assert set(model.predict(X, abstain=-1)) <= {-1, 0, 1}


def test_class_weights_count():
    weights = {0: 0.5, 1: 2.0}
    model = one_by_one(Perceptron(class_weight=weights))
    block = Perceptron(class_weight=weights)
    for x, label in zip(X, y):
        block.partial_fit(x[None, :], [label])
    np.testing.assert_array_equal(model.coef_, block.coef_)
    first = Perceptron(class_weight=weights)
    first.learn_one(X[0], 1)
    np.testing.assert_array_equal(first.coef_[0], 2.0 * X[0])


# ------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize("name", [n for n in ONLINE if n not in ("Winnow", "Elimination", "BalancedWinnow")])
@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
def test_dicts_whose_names_grow(name, labels):
    """Columns come in the order of appearance; what was learned before a name came stays as it was.

    Not for Winnow and its kin: a new input changes the threshold, or the weights of the others.
    """
    params = {} if name != "MarginPerceptron" else {"gamma": 0.5}
    model = make(name, **params)
    one_by_one(model, [as_dict(x) for x in X], labels)
    seen = list(dict.fromkeys(n for x in X for n in as_dict(x)))
    assert model.feature_names_in_.tolist() == seen
    assert model.n_features_in_ == 5 and model.coef_.shape[1] == 5
    block = make(name, **params)
    for x, label in zip(X[:, [NAMES.index(n) for n in seen]], labels):
        block.learn_one(x, label)
    np.testing.assert_allclose(model.coef_, block.coef_, rtol=1e-12, atol=1e-14)
    assert [model.predict_one(as_dict(x)) for x in X] == block.predict(
        X[:, [NAMES.index(n) for n in seen]]
    ).tolist()


@pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])
def test_names_and_readouts(readout):
    model = Perceptron(readout=readout, random_state=0)
    one_by_one(model, [as_dict(x) for x in X], y)
    order = [NAMES.index(n) for n in model.feature_names_in_]
    plain = one_by_one(Perceptron(readout=readout, random_state=0), X[:, order], y)
    for x in X:
        assert model.score_one(as_dict(x)) == plain.score_one(x[order])
    model.learn_one({"new": 0.0, "newer": 0.0}, 0)  # widens the model, moves nothing
    assert model.coef_.shape == (1, 7)
    wide = pd.DataFrame(np.zeros((2, 7)), columns=model.feature_names_in_)
    assert model.decision_function(wide).shape == (2,)


def test_the_threshold_of_winnow_follows_the_number_of_inputs():
    model = Winnow()
    model.learn_one({"a": 1.0}, 1)  # 1 < theta = 1 is false: no mistake
    model.learn_one({"b": 1.0, "c": 1.0}, 0)
    assert model.intercept_ == [-3.0]
    fixed = Winnow(threshold=2.0)
    fixed.learn_one({"a": 1.0}, 1)
    fixed.learn_one({"b": 1.0, "c": 1.0}, 0)
    assert fixed.intercept_ == [-2.0]


def test_unknown_names_have_no_weight():
    model = one_by_one(Perceptron(), [as_dict(x) for x in X])
    before = attributes(model)
    assert model.score_one({"a": 1.0, "zzz": 1e9}) == model.score_one({"a": 1.0})
    assert model.score_one({}) == model.intercept_[0]
    assert model.predict_one({"zzz": 1.0}) in (0, 1)
    same_state(before, attributes(model))


def test_names_of_a_frame_go_on_in_dicts():
    model = make("Perceptron").fit(pd.DataFrame(X, columns=NAMES), y)
    twin = make("Perceptron").fit(X, y)
    assert model.score_one(as_dict(X[0])) == twin.score_one(X[0])
    model.learn_one({**as_dict(X[1]), "f": 1.0}, 1)
    assert model.feature_names_in_.tolist() == [*NAMES, "f"]
    wide = pd.DataFrame(np.c_[X, np.ones(8)], columns=[*NAMES, "f"])
    model.partial_fit(wide, y)
    assert model.coef_.shape == (1, 6)


def test_bad_dicts_leave_no_trace():
    model = one_by_one(Perceptron(), [as_dict(x) for x in X])
    before = attributes(model)
    for bad, error, message in (
        ({"a": 1.0, 5: 1.0}, TypeError, "feature names must be strings; got 5"),
        ({"new": np.nan}, ValueError, r"^x\['new'\] must be a finite number; got NaN\.$"),
        ({"new": np.inf, "a": 1.0}, ValueError, r"^x\['new'\] must be a finite number; got infinity\.$"),
        ({"new": None, "a": 1.0}, ValueError, r"^x\['new'\] must be a finite number; got None\.$"),
        ({"new": "word", "a": 1.0}, ValueError, r"^x\['new'\] must be a number: could not convert"),
        ({"new": [1.0, 2.0]}, ValueError, r"^x\['new'\] must be a number"),
        ({"new": 1e200}, ValueError, "too large"),
    ):
        with pytest.raises(error, match=message):
            model.learn_one(bad, 1)
        with pytest.raises(ValueError, match="labels of one type"):
            model.learn_one({"new": 1.0}, "word")
        same_state(before, attributes(model))
    with pytest.raises(ValueError, match=r"^x\['a'\] must be a finite number; got NaN\.$"):
        model.predict_one({"b": 1.0, "a": np.nan})
    fresh = Perceptron()
    for bad in ({"a": np.nan}, {1: 1.0}):
        with pytest.raises((ValueError, TypeError)):
            fresh.learn_one(bad, 1)
        assert not attributes(fresh)


def test_many_names():
    """Room is made by doubling; the bias stays at the end."""
    model = Perceptron(readout="average")
    for i in range(40):
        model.learn_one({f"word {i}": 1.0, "every": -1.0}, i % 2)
    assert model.coef_.shape == (1, 41)
    twin = copy.deepcopy(model)
    np.testing.assert_array_equal(twin.coef_, model.coef_)
    assert np.isfinite(model.intercept_).all()


# ------------------------------------------------------------------------------------------ the rest


@pytest.mark.parametrize("name", ONLINE)
def test_nothing_learned_yet(name):
    model = make(name)
    for call in (lambda: model.score_one(X[0]), lambda: model.predict_one({"a": 1.0})):
        with pytest.raises(NotFittedError, match=f"This {name} has learned nothing yet"):
            call()
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(AttributeError, match=f"{name} has no coef_ before it is fitted"):
        _ = model.coef_


def test_float32_stays_float32():
    model = one_by_one(Perceptron(), X.astype(np.float32))
    assert model.coef_.dtype == np.float32
    model.learn_one(X[0], 1)  # other precisions are converted
    assert model.coef_.dtype == np.float32
    assert one_by_one(Perceptron(), X.astype(int)).coef_.dtype == np.float64


def test_a_buffer_that_is_used_again():
    """The log keeps rows, not the caller's memory."""
    model, twin = Perceptron(readout="vote"), Perceptron(readout="vote")
    buffer = np.empty(5)
    for x, label in zip(X, y):
        buffer[:] = x
        model.learn_one(buffer, label)
        twin.learn_one(x.copy(), label)
    np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))


def test_fit_and_learn_one_alternate():
    model = make("Perceptron").fit(X, y)
    twin = copy.deepcopy(model)
    for _ in range(3):
        one_by_one(model)
        model.partial_fit(X, y)
        twin.partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert model.margin_bounds_[0] is None


def test_the_radius_follows_the_fast_way():
    model = Perceptron(fit_intercept=False)
    for i in range(1, 9):
        model.learn_one(np.array([float(i), 0.0]), i % 2)
        assert model.radius_ == i
    again = copy.deepcopy(model)
    assert again.radius_ == 8.0
    unit = Perceptron(fit_intercept=False, row_norm="l2")
    for i in range(1, 9):
        unit.learn_one(np.array([float(i), 0.0]), i % 2)
    assert unit.radius_ == 1.0


# ------------------------------------------------------------------------------------------ threads


def test_a_second_writer_is_refused():
    model = Perceptron(max_iter=1)
    inside, go_on = threading.Event(), threading.Event()

    def wait(_):
        inside.set()
        go_on.wait(30)

    model.callback = wait
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    try:
        assert inside.wait(60)
        for call in (
            lambda: model.fit(X, y),
            lambda: model.partial_fit(X, y),
            lambda: model.learn_one(X[0], 1),
        ):
            with pytest.raises(RuntimeError, match="This Perceptron is being trained by another thread"):
                call()
        model.predict(X)  # readers may look
    finally:
        go_on.set()
        thread.join()
    model.learn_one(X[0], 1)
    model.partial_fit(X, y)


def test_a_writer_in_the_fast_way_is_noticed():
    """Two threads in learn_one: the second finds the row_buffer taken."""
    model = one_by_one(Perceptron())
    one_by_one(model)
    row_buffer = model._fast_path.row_buffer
    row_buffer[linear.BUFFER_USE] = 1.0  # as if a thread were in there
    before = model.coef_.copy()
    with pytest.raises(RuntimeError, match="trained by another thread"):
        model.learn_one(X[3], 1)
    np.testing.assert_array_equal(model.coef_, before)
    row_buffer[linear.BUFFER_USE] = 0.0
    model.learn_one(X[3], 1)


@pytest.mark.parametrize("name", ONLINE)
def test_predicting_is_reentrant(name):
    rows = np.tile(X, (20, 1)) * np.linspace(0.5, 1.0, 160)[:, None]
    rows = np.round(rows) if name == "Elimination" else rows
    params = {} if name in ("Winnow", "Elimination") else {"row_norm": "l2"}
    model = make(name, **params).fit(X, y3 if name == "VotedPerceptron" else y)
    model.learn_one(X[0], 1)
    expected = model.decision_function(rows)
    singles = np.array([model.score_one(x) for x in rows])
    wrong = []

    def look():
        for _ in range(5):
            if not np.array_equal(model.decision_function(rows), expected):
                wrong.append("decision_function")
            if not np.array_equal([model.score_one(x) for x in rows], singles):
                wrong.append("score_one")

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array], ids=lambda f: f.__name__)
def test_sparse_rows_stay_sparse(form, readout, monkeypatch):
    """A row of many columns costs its entries, not its columns."""
    rng = np.random.default_rng(3)
    rows = sp.random_array((30, 50), density=0.1, rng=rng, format="csr")
    y = rng.integers(0, 2, 30)
    dense, sparse = (OnlineClassifier(rule=rules.PA1(), readout=readout) for _ in range(2))
    for i in range(30):
        dense.learn_one(rows[[i]].toarray()[0], y[i])
    monkeypatch.setattr(form, "toarray", None)
    for i in range(30):
        sparse.learn_one(form(rows[[i]]), y[i])
    if readout == "vote":  # it asks all past vectors: a table of numbers
        monkeypatch.undo()
    scores = [sparse.score_one(form(rows[[i]])) for i in range(30)]
    monkeypatch.undo()
    np.testing.assert_allclose(sparse.coef_, dense.coef_)
    np.testing.assert_allclose(scores, [dense.score_one(rows[[i]].toarray()[0]) for i in range(30)])
    sparse.learn_one(sp.coo_array((np.ones(2), (np.array([0, 7]),)), shape=(50,)), 1)
    with pytest.raises(ValueError, match="50 features"):
        sparse.learn_one(form((1, 49)), 1)
