"""Bad input: an error that names the thing, the value and the way out, or the right answer.

A model that is already fitted is left as it was: its attributes, its predictions and how it would go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zoo
from comparing import refused, same_state
from uncompiled import uncompiled
from zoo import NAMES, ONLINE, X, fitted, make, snapshot, y, y3

import perceptrons as pc
from perceptrons import rules
from perceptrons.engine.spaces import NumericalError

BINARY_ONLY = ("Elimination",)  # and Winnow(kind=1)
RANGED = ("Winnow", "Elimination")
#: What is refused is refused before a loop starts, or by what all loops share: one learner of each family has
#: compiled loops, and the others plain Python.
COMPILED = ("Perceptron", "AROW", "BalancedWinnow", "Elimination", "KernelPerceptron", "RiskDescent")


def one_of_each_family(names: Iterable[str]) -> list[Any]:
    """For ``parametrize``: others have the same intake, and are looked at by ``make test-exhaustive``."""
    return [n if n in COMPILED else pytest.param(n, marks=pytest.mark.exhaustive) for n in names]


@pytest.fixture(autouse=True)
def loops(request: Any) -> Iterator[None]:
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    with uncompiled(params.get("name", "Perceptron") not in COMPILED):
        yield


def with_value(value: float, row: int = 5, column: int = 2) -> np.ndarray:
    bad = X.copy()
    bad[row, column] = value
    return bad


# ------------------------------------------------------------------------------- values that are not numbers


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_values_that_are_not_finite(name, value, word, kind):
    bad = kind(with_value(value))
    model = fitted(name)
    with refused(model, word):
        model.fit(bad, y)
    with refused(model, word):
        model.predict(bad)
    with refused(model, word):
        model.decision_function(bad)
    with pytest.raises(ValueError, match=word):  # and nothing is left of a first fit that failed
        fresh = make(name)
        fresh.fit(bad, y)
    assert set(fresh.__getstate__()) == set(make(name).__getstate__())  # all but the lock
    if name in ONLINE:
        with refused(model, word):
            model.partial_fit(bad, y)
        row = bad.toarray()[5] if sp.issparse(bad) else bad[5]
        with refused(model, word):
            model.learn_one(row, 1)
        with refused(model, word):
            model.predict_one(row)
        with pytest.raises(ValueError, match=word):
            fresh.partial_fit(bad, y)
        with pytest.raises(ValueError, match=word):
            fresh.learn_one(row, 1)
        assert set(fresh.__getstate__()) == set(make(name).__getstate__())  # all but the lock


@pytest.mark.parametrize(
    "readout", ["last", pytest.param("average", marks=pytest.mark.compiled_later), "vote", "random"]
)
def test_no_readout_hides_a_nan(readout):
    model = fitted("Perceptron", readout=readout, random_state=0)
    for rows in (with_value(np.nan), sp.csr_array(with_value(np.inf))):
        with refused(model, "NaN|infinity"):
            model.predict(rows)
    with refused(model, "NaN"):
        model.predict_one(with_value(np.nan)[5])
    model.learn_one(X[0], 1)  # opens the fast way, where there is one
    with refused(model, "NaN"):
        model.score_one(with_value(np.nan)[5])
    with refused(model, "NaN"):
        model.learn_one(with_value(np.nan)[5], 1)


def test_a_nan_meets_a_feature_of_weight_zero():
    model = make("Perceptron", fit_intercept=False).fit([[1.0, 0.0], [-1.0, 0.0]], [1, 0])
    with refused_small(model, "NaN"):
        model.predict([[1.0, np.nan]])
    with refused_small(model, "infinity"):
        model.learn_one(np.array([1.0, np.inf]), 1)


@contextmanager
def refused_small(model: Any, match: str, error: type[Exception] = ValueError) -> Iterator[None]:
    before = zoo.attributes(model)
    with pytest.raises(error, match=match):
        yield
    same_state(before, zoo.attributes(model))


@pytest.mark.parametrize("name", one_of_each_family(n for n in NAMES if n not in RANGED))
def test_rows_whose_length_overflows(name):
    model = fitted(name)
    with refused(model, "Row 5 of X is too large.*1e\\+200.*Scale"):
        model.fit(with_value(1e200), y)
    if name in ONLINE:
        with refused(model, "too large|not a finite number|overflow"):
            model.learn_one(with_value(1e200)[5], 1)


# ------------------------------------------------------------------------------- overflow on the way


@pytest.mark.parametrize(
    "name",
    ["Perceptron", "MarginPerceptron", "BalancedWinnow", "PNormPerceptron", "AveragedPerceptron"],
)
def test_weights_that_would_overflow_stay_at_their_last_finite_value(name):
    params = {"BalancedWinnow": {"eta": 1e200}, "PNormPerceptron": {"p": 4}}.get(name, {})
    if name == "MarginPerceptron":
        params = {"gamma": 1e300, "max_iter": None}
    rows = np.array([[1e150, 1.0], [1.0, -1e150], [-1e150, 2e150]])
    model = make(name, fit_intercept=False, **params)
    with pytest.raises(NumericalError, match=r"row .*(overflow|not a finite)"):
        for _ in range(3):
            model.partial_fit(rows * 0.9, [0, 1, 0], classes=[0, 1]).partial_fit(rows, [1, 0, 1])
            model.partial_fit(rows, [1, 1, 1])
    assert np.isfinite(model.coef_).all()
    assert model.stop_reason_ == "partial_fit"
    finite = model.coef_
    with pytest.raises(NumericalError):
        model.fit(np.tile(rows, (2, 1)), [1, 0, 1, 0, 1, 0])
    assert np.isfinite(model.coef_).all() and model.stop_reason_ == "failed"
    assert finite.shape == model.coef_.shape


@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_a_score_that_overflows_in_float32(classes):
    big = np.float32(1e25)
    rows = np.array([[1, 0], [big, big], [0, 1]], np.float32)
    labels = [0, 1, classes - 1]
    start = np.full((1 if classes == 2 else 3, 2), 1e25)
    model = make("Perceptron", max_iter=1)
    with pytest.raises(NumericalError, match="row 1: the score is"):
        model.fit(rows, labels, coef_init=start)
    assert np.isfinite(model.coef_).all()
    assert model.coef_.dtype == np.float32
    assert model.history_ == [] and model.stop_reason_ == "failed"
    with pytest.raises(NumericalError, match="Scale the data"):
        model.decision_function(rows)


@pytest.mark.exhaustive  # of several classes, and float32: a loop that no other test compiles
def test_after_a_failure_the_votes_are_those_of_the_updates_that_were_made():
    rows = np.array([[1, 0], [0, 1], [1, 1], [1e4, 1e4]], np.float32) * np.float32(1e18)
    labels = np.array([1, 0, 1, 0])
    for classes in (labels, np.array([1, 0, 2, 0])):
        model = make("Perceptron", readout="vote", fit_intercept=False)
        with pytest.raises(NumericalError, match="row 3"):
            model.partial_fit(rows, classes)
        clean = make("Perceptron", readout="vote", fit_intercept=False)
        clean.partial_fit(rows[:3], classes[:3])
        small = rows / np.float32(1e18)
        np.testing.assert_array_equal(model.decision_function(small), clean.decision_function(small))
        np.testing.assert_array_equal(model.update_log_, clean.update_log_)
    for n_jobs in (1, 2):  # one against the rest: each learner goes as far as it can
        model = make("Perceptron", readout="vote", fit_intercept=False, multiclass="ovr", n_jobs=n_jobs)
        with pytest.raises(NumericalError, match="row 3"):
            model.partial_fit(rows, np.array([1, 0, 2, 0]), classes=[0, 1, 2])
        votes = np.abs(model.decision_function(small))
        np.testing.assert_array_equal(votes.max(axis=0), [3, 3, 4])


def test_a_vote_does_not_hide_an_overflow():
    rows = np.array([[1e18, 0], [0, 1e18]], np.float32)
    model = make("VotedPerceptron", fit_intercept=False).fit(rows, [1, 0])
    before = model.decision_function(rows)
    for kind in (np.asarray, sp.csr_array):
        with pytest.raises(NumericalError, match="Scale the data"):
            model.predict(kind(np.array([[1e30, 1e30]], np.float32)))
    np.testing.assert_array_equal(model.decision_function(rows), before)


@pytest.mark.compiled_later
def test_a_step_too_large_for_float32():
    rows = np.eye(2, dtype=np.float32) * np.float32(1e-30)
    model = make("PassiveAggressive", variant="hard", fit_intercept=False)
    with pytest.raises(NumericalError, match=r"overflow the weights\. Scale the data"):
        model.fit(rows, [0, 1])
    np.testing.assert_array_equal(model.coef_, 0.0)
    model.fit(rows.astype(np.float64), [0, 1])
    np.testing.assert_allclose(model.coef_, [[-1e30, 1e30]])


@rules.rule
def forgetful(m, q, state):
    return 0.5, 1e30


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_a_vector_that_shrinks_keeps_large_weights_in_float32(labels):
    """w = scale v: w fits into float32 although v = w/scale would not."""
    rows = np.eye(len(labels), dtype=np.float32)
    model = pc.OnlineClassifier(rule=forgetful, shuffle=False, fit_intercept=False, max_iter=30)
    coef = model.fit(rows, labels).coef_
    double = model.fit(rows.astype(np.float64), labels).coef_
    np.testing.assert_allclose(coef, double, rtol=1e-5)


def test_a_descent_that_overflows():
    model = make("RiskDescent", fit_intercept=False, step=1e200).fit([[1.0, 0.0], [-1.0, 1.0]], [1, 0])
    with refused_small(model, "overflowed: scale the data, or lower step"):
        model.fit([[1e150, 1.0], [1e150, 2.0]], [0, 1])


# ------------------------------------------------------------------------------- shapes, classes, labels


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
def test_shapes(name):
    model = fitted(name)
    with refused(model, "0 sample"):
        model.fit(np.empty((0, 5)), [])
    with refused(model, "0 feature"):
        model.fit(np.empty((8, 0)), y)
    with refused(model, "0 feature"):
        model.fit(sp.csr_array((8, 0)), y)
    with refused(model, "1D array|1-d"):
        model.fit(X[0], y[:1])
    with refused(model, "dim"):
        model.fit(X[None], y)
    with refused(model, "rows and columns"):
        model.fit(sp.coo_array(X[0]), y)
    with refused(model, "could not convert string|dtype"):
        model.fit(X.astype(object) * "a" if False else np.full(X.shape, "a"), y)
    with refused(model, "[Cc]omplex"):
        model.fit(X + 1j, y)
    with refused(model, "X has 8 rows, y has 7 labels"):
        model.fit(X, y[:-1])
    with refused(model, "X has 4 features.*expecting 5"):
        model.predict(X[:, :4])
    if name in ONLINE:
        with refused(model, "0 sample"):
            model.partial_fit(np.empty((0, 5)), [])
        with refused(model, "X has 4 features.*expecting 5"):
            model.partial_fit(X[:, :4], y)
        with refused(model, "x must have 5 features.*\\(4,\\)"):
            model.learn_one(X[0, :4], 1)
        with refused(model, "x must have 5 features.*\\(6,\\)"):
            model.score_one(np.zeros(6))
        with refused(model, "x must have 5 features"):
            model.learn_one(X, 1)
        with refused(model, "x must have 5 features.*\\(\\)"):
            model.learn_one(3.0, 1)
        with refused(model, "unnamed features; give an array of 5"):
            model.learn_one({"a": 1.0}, 1)
        with refused(model, "unnamed features; give an array of 5"):
            model.predict_one({"a": 1.0})
        with pytest.raises(ValueError, match="array of features, or a dict"):
            make(name).learn_one(3.0, 1)


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
def test_labels(name):
    model = fitted(name)
    refusals: list[tuple[Any, str]] = [
        (None, "y is None"),
        (np.zeros(8, int), "at least two classes.*one class only: .*0"),
        (np.where(y, 1.0, np.nan), "NaN"),
        (np.where(y, 1.0, np.inf), "infinity"),
        (np.array([None, "a"] * 4, object), "y contains None: every row needs a label"),
        (np.array([np.nan, "a"] * 4, object), "y contains nan: every row needs a label"),
        (np.array([1, "a"] * 4, object), "labels of one type; got a mixture of int, str"),
        (y + 0.5 * X[:, 0] + 0.25, "[Cc]ontinuous"),
        (np.stack([y, y + 2], axis=1), "1d array"),
    ]
    for labels, message in refusals:
        with refused(model, message):
            model.fit(X, labels)
    if name in ONLINE:
        for labels, message in refusals[2:]:
            with refused(model, message):
                model.partial_fit(X, labels)
        with refused(model, r"one type: the model knows \[0, 1\], and now gets \['a'"):
            model.partial_fit(X, np.array(["a", "b"] * 4))
        with refused(model, r"one type: the model knows \[0, 1\], and now gets \['1'"):
            model.partial_fit(X, y.astype(str))
        for label, message in ((np.nan, "NaN"), (None, "None"), (0.5, "ontinuous"), ([1], "one label")):
            with refused(model, message, (ValueError, TypeError)):
                model.learn_one(X[0], label)
        with refused(model, "one type"):
            model.learn_one(X[0], "1")
        with refused(model, "NaN"):
            model.partial_fit(X, y, classes=[0, 1, np.nan])


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
def test_labels_that_are_fine(name):
    plain = fitted(name)
    words = np.array(["ham", "spam"])
    for labels, back in (
        (words[y], words),
        (words[y].astype(object), words),
        (y.astype(bool), np.array([False, True])),
        (y.astype(float), np.array([0.0, 1.0])),
        (y.astype(">i4"), np.array([0, 1])),
        (y.astype(object), np.array([0, 1])),
        (-y, np.array([-1, 0])),
        (list(y), np.array([0, 1])),
        (pd.Series(words[y]), words),
    ):
        model = fitted(name, labels)
        np.testing.assert_array_equal(model.classes_, back)
        if labels is not None and not np.array_equal(labels, -y):
            np.testing.assert_array_equal(model.coef_, plain.coef_)
            np.testing.assert_array_equal(model.predict(X), back[plain.predict(X)])


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
def test_feature_names(name):
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make(name).fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcde"))
    np.testing.assert_array_equal(model.coef_, fitted(name).coef_)
    before = model.coef_
    for bad in (frame[list("bacde")], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(bad)
        if name in ONLINE:
            with pytest.raises(ValueError, match="feature names"):
                model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.coef_, before)


# ------------------------------------------------------------------------------- weights, starts, orders


@pytest.mark.parametrize("name", one_of_each_family(ONLINE))
def test_row_weights(name):
    model = fitted(name)
    for weights, message in (
        (np.where(y, 1.0, np.nan), "sample_weight must hold finite numbers.*row 1 has nan"),
        (np.where(y, 1.0, np.inf), "sample_weight must hold finite numbers.*row 1 has inf"),
        (np.where(y, 1.0, -1.0), "sample_weight must hold finite numbers.*row 1 has -1"),
        (np.ones(7), r"sample_weight must hold 8 numbers; got shape \(7,\)"),
        (np.ones((8, 1)), r"sample_weight must hold 8 numbers; got shape \(8, 1\)"),
        (["a"] * 8, "sample_weight must hold 8 numbers"),
    ):
        with refused(model, message):
            model.fit(X, y, sample_weight=weights)
        with refused(model, message):
            model.partial_fit(X, y, sample_weight=weights)
    with refused(model, "sample_weight.*every row"):
        model.fit(X, y, sample_weight=np.zeros(8))
    with refused(model, "sample_weight.*but one class"):
        model.fit(X, y, sample_weight=y)
    if name not in (
        "Perceptron",
        "AveragedPerceptron",
        "VotedPerceptron",
        "MarginPerceptron",
        "PassiveAggressive",
        "OnlineClassifier",
    ):
        with refused(model, f"{name} has no theory of row weights.*may be 0 and 1 only"):
            model.fit(X, y, sample_weight=np.full(8, 0.5))
    before = snapshot(model)
    model.partial_fit(X, y, sample_weight=np.zeros(8))  # a weight of 0 is exactly a no-op
    after = snapshot(model)
    for state in (before, after):  # the rows are not read again, so that the lower ends are None
        for record in ("history_", "n_iter_", "stop_reason_", "margin_bounds_", "free_margin_bounds_"):
            state.pop(record, None)
    same_state(before, after)


@pytest.mark.parametrize("name", one_of_each_family(ONLINE))
def test_starts(name):
    model = fitted(name)
    params = {"gamma": 0.5} if name == "MarginPerceptron" else {}
    model.set_params(**params)
    if name in (
        *RANGED,
        "BalancedWinnow",
        "PNormPerceptron",
        "SecondOrderPerceptron",
        "AROW",
        "SCW",
    ):
        with refused(model, f"{name} starts from .*; drop coef_init"):
            model.fit(X, y, coef_init=np.ones(5))
        return
    for start, message in (
        ({"coef_init": [1, 2, np.nan, 0, 0]}, "coef_init must hold finite numbers; got nan"),
        ({"intercept_init": [np.inf]}, "intercept_init must hold finite numbers; got inf"),
        ({"coef_init": np.ones(4)}, r"coef_init must have shape \(1, 5\).*got \(1, 4\)"),
        ({"coef_init": np.ones((3, 5))}, r"coef_init must have shape \(1, 5\).*got \(3, 5\)"),
        ({"coef_init": ["a"] * 5}, "coef_init must hold numbers"),
        (
            {"coef_init": np.full(5, 1e200)},
            "initial weights are too large.*1e\\+200|'vote' is for a start from w = 0",
        ),
    ):
        with refused(model, message):
            model.fit(X, y, **start)
    with refused(model, "initial weights are too large|is for a start from w = 0"):
        model.fit(X.astype(np.float32), y, coef_init=np.full(5, 1e60))
    model = fitted(name, fit_intercept=False, **params)
    with refused(model, "intercept_init needs fit_intercept=True"):
        model.fit(X, y, intercept_init=[1.0])


@pytest.mark.parametrize("name", one_of_each_family(ONLINE))
def test_orders(name):
    model = fitted(name)
    for order, message in (
        ([[0, 8]], "order must hold row numbers from 0 to 7; epoch 0 has 8"),
        ([[0], [-1]], "order must hold row numbers from 0 to 7; epoch 1 has -1"),
        ([[0.0, 1.0]], "order must hold one sequence of row numbers per epoch; epoch 0"),
        ([0, 1], "order must hold one sequence of row numbers per epoch; epoch 0 is 0"),
        ([[[0, 1]]], "order must hold one sequence of row numbers per epoch"),
        ([[[0, 1], [2]]], "order must hold one sequence of row numbers per epoch"),
        ([[True, False]], "order must hold one sequence of row numbers per epoch"),
        (3, "order must hold one sequence of row numbers per epoch; got 3"),
        ("ab", "order must hold one sequence"),
    ):
        with refused(model, message):
            model.fit(X, y, order=order)
    model.fit(X, y, order=[[], [0, 1, 1, 7], np.array([2, 3], np.uint8)])
    assert [record["examples"] for record in model.history_] == [0, 4, 2]


# ------------------------------------------------------------------------------- ranges


@pytest.mark.parametrize("name", RANGED)
@pytest.mark.parametrize("value", [-0.25, 1.5, 2.0])
def test_inputs_out_of_range(name, value):
    model = fitted(name)
    way = "Binarizer" if name == "Elimination" else "MinMaxScaler"
    message = f"{name}.* needs inputs that are .*; got {value:g}. Put a .*{way}"
    for bad in (with_value(value), sp.csr_array(with_value(value))):
        with refused(model, message):
            model.fit(bad, y)
        with refused(model, message):
            model.partial_fit(bad, y)
        with refused(model, message):
            model.predict(bad)
    with refused(model, message):
        model.learn_one(with_value(value)[5], 1)
    with refused(model, message):
        model.predict_one(with_value(value)[5])


def test_inputs_that_are_not_binary():
    half = with_value(0.5)
    make("Winnow").fit(half, y)
    for model in (fitted("Winnow", kind=1), fitted("Elimination")):
        with refused(model, "needs inputs that are 0 or 1; got 0.5"):
            model.fit(half, y)
        with refused(model, "needs inputs that are 0 or 1; got 0.5"):
            model.learn_one(half[5], 0)


@pytest.mark.compiled_later
def test_a_range_error_takes_up_no_new_name_or_class():
    model = make("Winnow")
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    before = zoo.attributes(model)
    with pytest.raises(ValueError, match="got 3"):
        model.learn_one({"a": 1.0, "c": 3.0}, "z")
    same_state(before, zoo.attributes(model))


# ------------------------------------------------------------------------------- storage: the right answer


def memmap(tmp_path: Any) -> np.ndarray:
    path = tmp_path / "rows.bin"
    X.tofile(path)
    return np.memmap(path, dtype=np.float64, mode="r", shape=X.shape)


def unaligned(_: Any) -> np.ndarray:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    view = raw[1:].view(np.float64).reshape(X.shape)
    view[...] = X
    assert not view.flags.aligned
    return view


def read_only(_: Any) -> np.ndarray:
    rows = X.copy()
    rows.flags.writeable = False
    return rows


DENSE: dict[str, Callable[[Any], Any]] = {
    "list": lambda _: X.tolist(),
    "fortran": lambda _: np.asfortranarray(X),
    "negative strides": lambda _: X[::-1, ::-1].copy()[::-1, ::-1],
    "not contiguous": lambda _: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "broadcast": lambda _: np.broadcast_to(X, (1, *X.shape))[0],
    "big-endian": lambda _: X.astype(">f8"),
    "big-endian float32": lambda _: X.astype(">f4"),
    "float16": lambda _: X.astype(np.float16),
    "long double": lambda _: X.astype(np.longdouble),
    "int8": lambda _: X.astype(np.int8),
    "uint64": lambda _: X.astype(np.uint64),
    "bool": lambda _: X.astype(bool),
    "object": lambda _: X.astype(object),
    "object of ints": lambda _: X.astype(int).astype(object),
    "read-only": read_only,
    "memmap": memmap,
    "unaligned": unaligned,
    "frame": lambda _: pd.DataFrame(X),
    "frame of mixed types": lambda _: pd.DataFrame({i: X[:, i].astype(t) for i, t in enumerate("?ifdl")}),
}


@pytest.mark.compiled_later
@pytest.mark.parametrize("storage", DENSE)
@pytest.mark.parametrize("name", one_of_each_family(NAMES))
def test_dense_storage(name, storage, tmp_path):
    rows = DENSE[storage](tmp_path)
    plain = fitted(name)
    model = make(name).fit(rows, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_array_equal(model.decision_function(rows), plain.decision_function(X))
    if name in ONLINE and isinstance(rows, np.ndarray):
        one, other = make(name), make(name)
        for _ in range(2):  # the second time, perhaps, by the fast way
            for x, clean, label in zip(rows, X, y):
                one.learn_one(x, label)
                other.learn_one(clean, label)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert [one.predict_one(x) for x in rows] == [other.predict_one(x) for x in X]


def twice(A: Any) -> Any:
    """The same matrix with every entry stored as two halves, in the wrong order."""
    data = np.repeat(A.data / 2.0, 2)
    indices = np.concatenate([np.tile(A.indices[a:b][::-1], 2) for a, b in zip(A.indptr[:-1], A.indptr[1:])])
    return sp.csr_array((data, indices, 2 * A.indptr), shape=A.shape)


def unsorted(A: Any) -> Any:
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(A.indptr[:-1], A.indptr[1:])])
    return sp.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)


def roomy(A: Any) -> Any:
    """More stored than used: what lies beyond indptr[-1] must never be looked at."""
    B = A.copy()
    B.data = np.append(A.data, [np.nan, np.nan])
    B.indices = np.append(A.indices, np.array([-7, 10**9], A.indices.dtype))
    return B


def int64(A: Any) -> Any:
    B = A.copy()
    B.indices, B.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return B


def mixed_widths(A: Any) -> Any:
    B = A.copy()
    B.indptr = A.indptr.astype(np.int64)
    return B


def foreign(A: Any) -> Any:
    B = A.copy()
    B.data, B.indices, B.indptr = A.data.astype(">f8"), A.indices.astype(">i4"), A.indptr.astype(">i4")
    return B


def locked(A: Any) -> Any:
    B = A.copy()
    for array in (B.data, B.indices, B.indptr):
        array.flags.writeable = False
    return B


def with_zeros(A: Any) -> Any:
    return sp.csr_array(
        (X.ravel(), np.tile(np.arange(5), 8), np.arange(0, 41, 5)), shape=X.shape
    )  # zeros stored as if they were entries


SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr_matrix": sp.csr_matrix,
    "unsorted": unsorted,
    "duplicates": twice,
    "explicit zeros": with_zeros,
    "spare room": roomy,
    "read-only": locked,
    "big-endian": foreign,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "coo_matrix": sp.coo_matrix,
    "coo duplicates": lambda A: sp.coo_array(
        (np.repeat(A.tocoo().data / 2, 2), tuple(np.repeat(c, 2) for c in A.tocoo().coords)), shape=A.shape
    ),
    "bsr": lambda A: sp.bsr_array(A, blocksize=(2, 1)),
    "dia": sp.dia_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "ints": lambda A: A.astype(np.int32),
    "bools": lambda A: A.astype(bool),
    "float16": lambda A: sp.csr_array((A.data.astype(np.float16), A.indices, A.indptr), shape=A.shape),
}


def copies(A: Any) -> list[Any]:
    names = [n for n in ("data", "indices", "indptr", "coords", "offsets", "rows") if hasattr(A, n)]
    return [np.array(part) for n in names for part in ((getattr(A, n),) if n != "coords" else A.coords)]


@pytest.mark.parametrize("storage", SPARSE)
@pytest.mark.parametrize("name", ["Perceptron", "Winnow", "AROW", "RiskDescent", "VotedPerceptron"])
def test_sparse_storage(name, storage):
    rows = SPARSE[storage](sp.csr_array(X))
    kept = copies(rows)
    plain = make(name).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(plain.coef_, fitted(name).coef_, rtol=1e-12)
    model = make(name).fit(rows, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(X))
    np.testing.assert_allclose(model.decision_function(rows), plain.decision_function(X), rtol=1e-12)
    if name in ONLINE:
        piecewise = make(name, max_iter=1).partial_fit(rows, y)
        np.testing.assert_array_equal(piecewise.coef_, make(name, max_iter=1).fit(rows, y).coef_)
    for before, after in zip(kept, copies(rows), strict=True):  # the user's matrix is the user's
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("storage", [int64, mixed_widths])
@pytest.mark.parametrize(
    "labels",
    [pytest.param(y, id="binary"), pytest.param(y3, id="joint", marks=pytest.mark.compiled_later)],
)
def test_wide_indices(storage, labels):
    rows = storage(sp.csr_array(X))
    model = make("Perceptron").fit(rows, labels)
    np.testing.assert_array_equal(model.coef_, make("Perceptron").fit(X, labels).coef_)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))


def broken(change: Callable[[Any], None], kind: Any = sp.csr_array) -> Any:
    A = kind(X)
    change(A)
    return A


def setting(name: str, at: int, value: int) -> Callable[[Any], None]:
    def change(A: Any) -> None:
        getattr(A, name)[at] = value

    return change


def shortened(name: str, n: int) -> Callable[[Any], None]:
    def change(A: Any) -> None:
        setattr(A, name, getattr(A, name)[:-n])

    return change


def floating(A: Any) -> None:
    A.indices = A.indices.astype(np.float64)


BROKEN = {
    "negative index": (setting("indices", 3, -1), "row 1 has column index -1, outside 0..4"),
    "index too large": (setting("indices", 3, 5), "row 1 has column index 5, outside 0..4"),
    "index far too large": (setting("indices", 16, 2**31 - 1), "column index 2147483647"),
    "indptr does not start at 0": (setting("indptr", 0, 1), "indptr"),
    "indptr starts below 0": (setting("indptr", 0, -1), "indptr"),
    "indptr falls": (setting("indptr", 3, 2), "indptr is not an ascending sequence.*row 2"),
    "indptr beyond the data": (setting("indptr", 8, 10**6), "indptr"),
    "negative indptr": (setting("indptr", 4, -(2**31)), "indptr"),
    "too few pointers": (shortened("indptr", 1), "indptr must hold 9 integers"),
    "data too short": (shortened("data", 2), "indptr is not an ascending sequence from 0 to at most 15"),
    "indices too short": (
        shortened("indices", 2),
        "indptr is not an ascending sequence from 0 to at most 15",
    ),
    "float indices": (floating, "indices of type float64"),
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("name", ["Perceptron", "Winnow", "SecondOrderPerceptron", "RiskDescent"])
def test_broken_csr(name, fault):
    change, message = BROKEN[fault]
    model = fitted(name)
    with refused(model, f"broken CSR.*{message}"):
        model.fit(broken(change), y)
    with refused(model, f"broken CSR.*{message}"):
        model.predict(broken(change))
    if name in ONLINE:
        with refused(model, f"broken CSR.*{message}"):
            model.partial_fit(broken(change), y)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (sp.csc_array, setting("indices", 3, 10**6)),
        (sp.csc_array, setting("indices", 3, -1)),
        (sp.csc_array, setting("indptr", 2, 10**6)),
        (sp.bsr_array, setting("indices", 1, 10**6)),
        (sp.coo_array, lambda A: A.coords[0].__setitem__(2, 10**6)),
        (sp.coo_array, lambda A: A.coords[1].__setitem__(2, 10**6)),
        (sp.coo_array, lambda A: A.coords[0].__setitem__(2, -1)),
        (sp.coo_matrix, lambda A: A.row.__setitem__(2, -1)),
        (sp.lil_array, lambda A: A.rows[2].__setitem__(0, 10**6)),
    ],
)
def test_broken_matrices_of_other_formats(kind, change):
    model = fitted("Perceptron")
    with refused(model, "broken [A-Z]{3} matrix"):
        model.fit(broken(change, kind), y)
    with refused(model, "broken [A-Z]{3} matrix"):
        model.predict(broken(change, kind))


# ------------------------------------------------------------------------------- zeros


@pytest.mark.parametrize("name", one_of_each_family(NAMES))
@pytest.mark.parametrize("row_norm", [None, "l2"])
def test_zero_rows(name, row_norm):
    params: dict[str, Any] = {} if name in RANGED else {"fit_intercept": False, "row_norm": row_norm}
    rows = X.copy()
    rows[[1, 4]] = 0.0
    model = make(name, **params).fit(rows, y)
    assert np.isfinite(model.coef_).all()
    score = model.decision_function(np.zeros((1, 5)))
    assert np.isfinite(score).all()
    np.testing.assert_array_equal(model.predict(sp.csr_array((1, 5))), model.predict(np.zeros((1, 5))))
    nothing = make(name, **params).fit(np.zeros((8, 5)), y)  # nothing but zero rows
    assert np.isfinite(nothing.coef_).all()
    assert nothing.predict(np.zeros((1, 5))) in nothing.classes_


# ------------------------------------------------------------------------------- parameters

BAD: dict[str, list[Any]] = {
    "C": [0.0, -1.0, np.nan, "1", None],
    "a": [0.0, -1.0, np.inf],
    "aggressive": ["yes", 1],
    "alpha": [0.0, -1.0, np.nan, "1"],
    "batch_size": [0, -1, 1.5, True],
    "calibration": ["platt", None, True],
    "calibration_rows": ["all", None, True],
    "callback": [3, "f"],
    "class_weight": ["auto", 3, {0: -1.0}, {0: np.nan}, {0: "a"}, {9: 1.0}],
    "covariance": ["half", None],
    "delta": [-0.1, 1.0, "0"],
    "early_stopping": [1, "no", None],
    "eps": [0.0, 1.0, -1.0, None],
    "eta": [0.0, -1.0, np.nan, "1"],
    "fit_intercept": [1, "yes", None],
    "gamma": [0.0, -1.0, "large", None],
    "include_initial": [1, None],
    "intercept_scaling": [0.0, -1.0, np.inf, "1"],
    "keep_path": [1, "yes", None],
    "kind": [0, 3, "2", None],
    "learning_rate": [0.0, -1.0, np.nan, "constant", None],
    "literals": ["some", None],
    "log_updates": [1, None],
    "loss": ["log", None],
    "margin": ["l2", None],
    "max_iter": [0, -1, 1.5, True, "10"],
    "max_log": [-1, 1.5, None],
    "max_steps": [0, 1.5, None],
    "mistake": ["error", None],
    "multiclass": ["ovo", None],
    "n_iter_no_change": [0, 1.5, None],
    "n_jobs": [0, 1.5, "2"],
    "normalized_votes": [1, None],
    "p": [-1.0, np.nan, "2", None],
    "pick": ["last", 1],
    "probability": [1, "yes", None],
    "r": [0.0, -1.0, None],
    "random_state": ["a", -1, 1.5],
    "readout": ["mean", None],
    "row_norm": ["l1", True],
    "scheme": ["all", None],
    "shuffle": [1, "yes", None],
    "solver": ["qp", None],
    "step": [0.0, -1.0, "newton", None],
    "threshold": [0.0, 0.5, "n"],
    "tol": [-1.0, np.nan, "1"],
    "validation_fraction": [0.0, 1.0, -0.5, "0.1"],
    "variant": ["III", None],
    "verbose": [-1, "yes", 0.5],
    "warm_start": [1, None],
}
SPECIAL: dict[tuple[str, str], list[Any]] = {
    ("MIRA", "p"): [1.0],
    ("PNormPerceptron", "p"): [1.5],
    ("ALMA", "alpha"): [1.5],
    ("Winnow", "alpha"): [1.0],
    ("SCW", "eta"): [0.5, 1.0],
    ("OnlineClassifier", "rule"): [
        "no such rule",
        rules.PA1,
        rules.AROW(),
        rules.PA1(C=-1.0),
        rules.Perceptron(eta=np.nan),
        rules.MIRA(p="a"),
        lambda m, q, state: (1.0, 0.0),
    ],
}


def bad_parameters() -> list[Any]:
    cases, seen = [], set[str]()
    for name in NAMES:
        for parameter in make(name).get_params():
            values = BAD.get(parameter, []) + SPECIAL.get((name, parameter), [])
            assert values, f"no bad value of {parameter} is tested"
            known = parameter in seen and name not in COMPILED and (name, parameter) not in SPECIAL
            marks = [pytest.mark.exhaustive] if known else []  # one declaration, shared by its learners
            seen.add(parameter)
            cases.append(pytest.param(name, parameter, values, id=f"{name}-{parameter}", marks=marks))
    return cases


@pytest.mark.parametrize(("name", "parameter", "values"), bad_parameters())
def test_bad_parameters(name, parameter, values):
    model = fitted(name)
    good = model.get_params()[parameter]
    for value in values:
        before = snapshot(model)
        model.set_params(**{parameter: value})
        with pytest.raises(ValueError, match=parameter) as caught:
            model.fit(X, y)
        if parameter not in ("rule", "class_weight"):
            assert f"{parameter}={value!r}" in str(caught.value)
        fresh = make(name)
        fresh.set_params(**{parameter: value})
        if name in ONLINE and (parameter, value) != ("class_weight", {9: 1.0}):
            with pytest.raises(ValueError, match=parameter):
                fresh.partial_fit(X, y)
            with pytest.raises(ValueError, match=parameter):
                fresh.learn_one(X[0], y[0])
        model.set_params(**{parameter: good})
        same_state(before, snapshot(model))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (pc.RiskDescent(pick="first", batch_size=2), "either pick or batch_size"),
        (pc.RiskDescent(pick="first", step="line-search"), "line-search"),
        (pc.PassiveAggressive(variant="hard", class_weight="balanced"), "no C for class_weight"),
        (pc.OnlineClassifier(rule=rules.MIRA(), class_weight={0: 2.0}), "no theory of row weights"),
        (pc.OnlineClassifier(rule=rules.MIRA(), class_weight="balanced"), "no theory of row weights"),
        (pc.MIRA(variant="crammer_singer"), "never moves from W = 0; give fit a coef_init"),
        (
            pc.MarginPerceptron(early_stopping=True, validation_fraction=0.01),
            "early_stopping cannot hold out",
        ),
    ],
)
def test_parameters_that_do_not_go_together(model, message):
    unbalanced = np.array([1, 0, 0, 0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match=message):
        model.fit(X, unbalanced)
    assert not hasattr(model, "classes_")


def test_numpy_words_and_numbers_are_as_good_as_pythons():
    for parameter, values in (("kind", np.array([1, 2])), ("alpha", np.array([2.0, 3.0], np.float32))):
        for value in values:
            same_state(*(snapshot(fitted("Winnow", **{parameter: v})) for v in (value.item(), value)))
    for word in np.array(["I", "II", "hard"]):
        plain = fitted("PassiveAggressive", variant=str(word), max_iter=3, shuffle=False)
        same_state(
            snapshot(plain),
            snapshot(fitted("PassiveAggressive", variant=word, max_iter=np.int64(3), shuffle=np.False_)),
        )
