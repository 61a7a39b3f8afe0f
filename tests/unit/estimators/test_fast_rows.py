"""The fast way for single rows: it does what the general one does, to the last bit, or leaves it to it."""

from __future__ import annotations

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest
from zoo import X, y, y3

from perceptrons import AROW, AveragedPerceptron, Perceptron
from perceptrons.core.fast_rows import FastArrays, FastDicts
from perceptrons.core.learner import Learner
from perceptrons.engine.loops import scalars

NAMES = list("abcde")
rng = np.random.default_rng(0)
ROWS = X[rng.integers(0, len(X), 60)] * rng.normal(size=(60, 5))
PICKED = rng.integers(0, 2, 60)
PICKED3 = rng.integers(0, 3, 60)
LEARNERS = {
    "last": (Perceptron, {}, PICKED),
    "unit rows": (Perceptron, {"row_norm": "l2"}, PICKED),
    "average": (AveragedPerceptron, {}, PICKED),
    "without intercept": (AveragedPerceptron, {"fit_intercept": False}, PICKED),
    "AROW": (AROW, {}, PICKED),
    "joint": (Perceptron, {}, PICKED3),
}


LATER = pytest.mark.compiled_later  # loops that no other test of `make test` compiles


def dicts(rows=ROWS):
    """Rows by name: some names left out, the order another in each, numbers of several types."""
    kinds = itertools.cycle((float, np.float64, float))
    for i, (x, kind) in enumerate(zip(rows, kinds)):
        pairs = [(n, kind(v)) for n, v in zip(NAMES, x) if v != 0.0 or i % 3 == 0]
        yield dict(pairs if i % 2 else pairs[::-1])


def general_way(monkeypatch):
    monkeypatch.setattr(Learner, "_enable_fast_path", lambda self, x: None)


def learned(model, rows, labels):
    for x, label in zip(rows, labels):
        model.learn_one(x, label)
    return model


def state(model):
    space = model._space
    arrays = {name: value for name, value in vars(space).items() if isinstance(value, np.ndarray)}
    arrays["state"] = np.delete(space.state, scalars.LONGEST)  # the general way keeps it elsewhere
    return {**arrays, "longest": model.radius_, "bracket": model.margin_bounds_}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, "dict") for name in LEARNERS if name not in ("AROW", "joint")),
        ("AROW", "array"),
        ("joint", "array"),
        pytest.param("AROW", "dict", marks=LATER),
        pytest.param("joint", "dict", marks=LATER),
    ],
)
def test_the_same_numbers(name, form, monkeypatch):
    kind, params, labels = LEARNERS[name]
    rows = list(dicts()) if form == "dict" else list(ROWS)
    fast = learned(kind(**params), rows, labels)
    path = vars(fast).get("_fast_path")
    assert type(path) is (FastDicts if form == "dict" else FastArrays)
    scores, guesses = [fast.score_one(x) for x in rows], [fast.predict_one(x) for x in rows]
    assert vars(fast)["_fast_path"] is path
    general_way(monkeypatch)
    slow = learned(kind(**params), rows, labels)
    np.testing.assert_equal(state(fast), state(slow))
    np.testing.assert_allclose(scores, [slow.score_one(x) for x in rows], rtol=1e-12, atol=1e-13)
    assert guesses == [slow.predict_one(x) for x in rows]
    assert {type(guess) for guess in guesses} == {int}


def warm(labels=PICKED, **params):
    model = learned(Perceptron(**params), dicts(), labels)
    assert type(model._fast_path) is FastDicts
    return model


def test_names_that_are_new(monkeypatch):
    """They become features when learned, and have no weight when scored."""
    model = warm()
    fast, x = model._fast_path, {"a": 1.0, "b": -2.0}
    assert model.score_one({**x, "new": 5.0}) == model.score_one(x)
    assert model.predict_one({"new": 5.0, **x}) == model.predict_one(x)
    assert model._fast_path is fast and "new" not in model.feature_names_in_
    model.learn_one({**x, "new": 5.0}, 1 - model.predict_one(x))
    assert model.feature_names_in_.tolist() == [*fast.names] and "new" in model.feature_names_in_
    assert model.score_one({**x, "new": 5.0}) != model.score_one(x)
    general_way(monkeypatch)
    slow = learned(Perceptron(), dicts(), PICKED)
    slow.learn_one({**x, "new": 5.0}, 1 - slow.predict_one(x))
    np.testing.assert_equal(state(model), state(slow))


@pytest.mark.parametrize(
    "labels", [pytest.param(PICKED, id="binary"), pytest.param(PICKED3, id="three", marks=LATER)]
)
@pytest.mark.parametrize(
    "x",
    [
        {"a": np.nan},
        {"a": np.inf, "b": 1.0},
        {"a": 1e200, "b": 1.0},
        {"a": "word"},
        {"a": None},
        {1: 1.0},
        {"a": [1.0]},
        {"a": 10**400},
    ],
    ids=repr,
)
def test_what_is_wrong_is_said_by_the_general_way(labels, x):
    model = warm(labels)
    before = copy.deepcopy(state(model))
    errors = (ValueError, TypeError, OverflowError)
    with pytest.raises(errors):
        model.learn_one(x, 0)
    if 1 not in x:  # a name that is not known has no weight
        with pytest.raises(errors):
            model.score_one(x)
        with pytest.raises(errors):
            model.predict_one(x)
    np.testing.assert_equal(state(model), before)
    model.learn_one({"a": 1.0}, 0)


def test_labels_that_no_dict_takes():
    model = warm()
    with pytest.raises(ValueError, match="y must be one label"):
        model.learn_one({"a": 1.0}, [1])


@pytest.mark.parametrize("value", [2**53 + 1, Fraction(1, 3)], ids=str)
def test_nothing_is_claimed_about_numbers_that_are_rounded(value):
    model = warm()
    assert np.isfinite(model.margin_bounds_[1])
    model.learn_one({"a": value}, 0)
    assert model.margin_bounds_[1] == np.inf


def test_whole_numbers_and_truth_values():
    model, other = warm(), warm()
    for x, label in (({"a": 1, "b": True}, 0), ({"a": np.int64(3)}, 1), ({"a": np.float32(0.5)}, 0)):
        fast = model._fast_path
        model.learn_one(x, label)
        other.learn_one({name: float(value) for name, value in x.items()}, label)
        assert model._fast_path is fast
    np.testing.assert_equal(state(model), state(other))


def test_a_second_writer_finds_the_row_buffer_taken():
    model = warm()
    model._fast_path.row_buffer[8] = 1.0  # as if a thread were in there
    before = model.coef_.copy()
    with pytest.raises(RuntimeError, match="trained by another thread"):
        model.learn_one({"a": 1.0}, 0)
    np.testing.assert_array_equal(model.coef_, before)
    model._fast_path.row_buffer[8] = 0.0
    model.learn_one({"a": 1.0}, 0)


def test_a_readout_that_is_changed_is_served_by_the_general_way():
    model = learned(AveragedPerceptron(), dicts(), PICKED)
    x = {"a": 1.0, "c": -1.0}
    average = model.score_one(x)
    model.include_initial = True
    t = model._space.counts().examples
    assert model.score_one(x) == pytest.approx(average * t / (t + 1.0), rel=1e-12)


def test_rules_with_a_lane_of_their_own_wait_for_some_rows():
    """Compiling takes seconds: not for a handful of rows."""
    few = learned(Perceptron(), itertools.islice(dicts(), 5), y)
    assert "_fast_path" not in vars(few)
    assert "_fast_path" not in vars(learned(Perceptron(), X[:5], y3))
    assert type(learned(Perceptron(), X[:2], y)._fast_path) is FastArrays
