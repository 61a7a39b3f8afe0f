"""progressive_errors_ counts what predict_one says before learn_one, in any cut into batches."""

from __future__ import annotations

import numpy as np
import pytest
from plain_texts import PLAIN
from uncompiled import uncompiled

from perceptrons import (
    AROW,
    ROMMA,
    AveragedPerceptron,
    BalancedWinnow,
    BudgetKernelPerceptron,
    Elimination,
    KernelClassifier,
    KernelPerceptron,
    Perceptron,
    PNormPerceptron,
    TextClassifier,
    VotedPerceptron,
    Winnow,
    rules,
)

N = 45
rng = np.random.default_rng(0)
X = rng.integers(-2, 3, (N, 4)).astype(float)  # small whole numbers: many ties, and nothing is rounded
BITS = (X > 0.0).astype(float)
TWO = rng.integers(0, 2, N)
THREE = np.concatenate([[1, 1, 0, 1, 0, 2, 2, 0], rng.integers(0, 3, N - 8)])
UNITS = {"normalized_votes": True}

BINARY = {
    "last": (Perceptron, {}, X),
    "average": (AveragedPerceptron, {}, X),
    "average of unit vectors": (AveragedPerceptron, UNITS, X),
    "average that shrinks": (ROMMA, {"readout": "average"}, X),
    "AROW": (AROW, {}, X),
    "Winnow": (Winnow, {}, BITS),
    "balanced": (BalancedWinnow, {}, X),
    "p-norm": (PNormPerceptron, {"p": 3.0}, X),
    "elimination": (Elimination, {}, BITS),
    "budget": (BudgetKernelPerceptron, {"budget": 5, "policy": "forgetron"}, X),
    "kernel": (KernelPerceptron, {}, X),
    "kernel average": (KernelPerceptron, {"readout": "average", "block_size": 8}, X),
    "kernel units": (KernelPerceptron, {"readout": "average", **UNITS}, X),
    "kernel ROMMA": (KernelClassifier, {"rule": rules.ROMMA(), "readout": "average"}, X),
}
SEVERAL = {
    "joint": (Perceptron, {}, X),
    "joint average": (AveragedPerceptron, {}, X),
    "one-vs-rest": (Perceptron, {"multiclass": "ovr"}, X),
    "one-vs-rest average": (AveragedPerceptron, {"multiclass": "ovr"}, X),
    "one-vs-rest units": (Perceptron, {"multiclass": "ovr", **UNITS}, X),
    "one-vs-rest threads": (AROW, {"n_jobs": 2}, X),
    "one-vs-rest Winnow": (Winnow, {}, BITS),
    "kernel joint": (KernelPerceptron, {"readout": "average"}, X),
    "kernel one-vs-rest": (KernelPerceptron, {"readout": "average", "multiclass": "ovr"}, X),
    "kernel units": (KernelPerceptron, {"multiclass": "ovr", **UNITS}, X),
}


#: Learners whose loops are compiled here; the others run as plain Python.
COMPILED = {"last", "average", "AROW", "Winnow", "kernel average", "joint average", "one-vs-rest threads"}


def said(model, x):
    """What predict_one answers; None before anything is learned."""
    return model.predict_one(x) if hasattr(model, "history_") else None


def one_by_one(model, X, y, classes=None):
    """(errors of predict_one before learn_one, the model)."""
    errors = int(said(model, X[0]) != y[0])
    if classes is None:
        model.learn_one(X[0], y[0])
    else:
        model.partial_fit(X[:1], y[:1], classes=classes)
    for x, label in zip(X[1:], y[1:], strict=True):
        errors += int(said(model, x) != label)
        model.learn_one(x, label)
    return errors, model


def in_pieces(model, X, y, size, classes=None):
    for start in range(0, len(y), size):
        model.partial_fit(X[start : start + size], y[start : start + size], classes=classes)
    counts = [record["progressive_errors"] for record in model.history_]
    assert model.progressive_errors_ == sum(counts) and model.progressive_rows_ == len(y)
    return model.progressive_errors_


@pytest.mark.parametrize("name", BINARY)
def test_two_classes(name):
    with uncompiled(name not in COMPILED):
        counted_alike(*BINARY[name])


def counted_alike(cls, params, rows):
    wanted, model = one_by_one(cls(**params).set_progressive(learn_one=True), rows, TWO)
    assert (model.progressive_errors_, model.progressive_rows_) == (wanted, N)
    assert [in_pieces(cls(**params), rows, TWO, size) for size in (1, 7, N)] == [wanted] * 3


@pytest.mark.parametrize("name", SEVERAL)
def test_several_classes(name):
    with uncompiled(name not in COMPILED):
        counted_alike_in_several(*SEVERAL[name])


def counted_alike_in_several(cls, params, rows):
    wanted, model = one_by_one(cls(**params).set_progressive(learn_one=True), rows, THREE)
    assert (model.progressive_errors_, model.progressive_rows_) == (wanted, N)
    assert in_pieces(cls(**params), rows, THREE, 1) == wanted  # classes appear on the way
    wanted, model = one_by_one(cls(**params).set_progressive(learn_one=True), rows, THREE, [0, 1, 2])
    assert model.progressive_errors_ == wanted
    assert [in_pieces(cls(**params), rows, THREE, size, [0, 1, 2]) for size in (7, N)] == [wanted] * 2


def test_a_label_is_not_predicted_before_it_has_occurred():
    labels = np.array([5, 5, 5, 5, 3, 9])
    X = np.ones((6, 1))
    for size in (1, 2, 6):  # the three first rows of a label; 5 is the only class that is known until row 4
        assert in_pieces(Perceptron(), X, labels, size) == 3
    assert in_pieces(Perceptron(), X[:4], labels[:4], 4) == 1
    assert one_by_one(Perceptron(), X[:4], labels[:4])[1].progressive_errors_ == 1


@pytest.mark.parametrize("readout", [pytest.param("last", marks=pytest.mark.uncompiled), "average"])
def test_texts(readout):
    texts = [f"{'spam' if k % 3 else 'ham'} number{k % 5} word{k % 7}" for k in range(40)]
    labels = np.array([k * k % 5 % 2 for k in range(40)])
    params = {**PLAIN, "bits": 10, "readout": readout}
    wanted, model = one_by_one(TextClassifier(**params).set_progressive(learn_one=True), texts, labels)
    assert (model.progressive_errors_, model.progressive_rows_) == (wanted, 40)
    assert [in_pieces(TextClassifier(**params), texts, labels, size) for size in (7, 40)] == [wanted] * 2


def test_what_is_counted_without_being_asked():
    last = one_by_one(Perceptron(), X, TWO)[1]
    assert last.progressive_rows_ == N
    assert last.progressive_errors_ == in_pieces(Perceptron(), X, TWO, N)
    average = one_by_one(AveragedPerceptron(), X, TWO)[1]
    assert average.progressive_rows_ == average.progressive_errors_ == 0
    average.set_progressive(partial_fit=False).partial_fit(X, TWO)
    assert average.progressive_rows_ == 0 and "progressive_errors" not in average.history_[-1]
    assert Perceptron().fit(X, TWO).progressive_rows_ == 0
    voted = VotedPerceptron().partial_fit(X, TWO)
    assert "progressive_errors" not in voted.history_[-1]
    with pytest.raises(AttributeError, match="not counted for readout='vote'"):
        _ = voted.progressive_errors_


def test_rows_of_weight_zero_and_rows_after_a_bad_one_are_not_counted():
    weights = np.ones(N)
    weights[20::3] = 0.0  # after both labels have occurred
    model = AveragedPerceptron().partial_fit(X, TWO, sample_weight=weights)
    alone = AveragedPerceptron().partial_fit(X[weights > 0.0], TWO[weights > 0.0])
    assert model.progressive_rows_ == alone.progressive_rows_ == 36
    assert model.progressive_errors_ == alone.progressive_errors_
    kernel = KernelPerceptron(readout="average").partial_fit(X, TWO, sample_weight=weights)
    assert kernel.progressive_rows_ == 36
    large = X.copy()
    large[20:, 0] = 1e152  # an update would overflow the squared length of w
    model = AveragedPerceptron()
    with pytest.raises(ValueError, match="row 2"):
        model.partial_fit(large, TWO)
    assert 20 <= model.progressive_rows_ == model.history_[-1]["examples"] < N
