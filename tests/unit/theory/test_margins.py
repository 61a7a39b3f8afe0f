"""theory.margins of every kind of model, and sizes of samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import zoo
from scipy import sparse
from ways import fitted

import perceptrons as pc
from perceptrons import theory

# ------------------------------------------------------------------------------------------ margins


def test_margins_of_a_linear_model():
    clf = fitted("Perceptron", {"intercept_scaling": 2.0})
    w, b = clf.coef_[0], clf.intercept_[0]
    sign = np.where(zoo.y == 1, 1.0, -1.0)
    m = sign * (zoo.X @ w + b)
    found = theory.margins(clf, zoo.X, zoo.y)
    assert np.allclose(found.values, m) and found.minimum == m.min() and found.space == "augmented"
    assert np.allclose(found.distances, m / np.linalg.norm(w))
    length = math.sqrt(w @ w + b * b / 4.0)
    geometric = theory.margins(clf, sparse.csr_array(zoo.X), zoo.y, kind="geometric")
    assert np.allclose(geometric.values, m / length) and geometric.kind == "geometric"
    assert geometric.minimum == pytest.approx(clf.margin_bounds_[0])
    normalized = theory.margins(clf, zoo.X, zoo.y, kind="normalized")
    assert np.allclose(normalized.values, m / length / np.sqrt((zoo.X**2).sum(axis=1) + 4.0))


def test_margins_of_rows_of_length_one():
    clf = fitted("Perceptron", {"row_norm": "l2"})
    assert theory.margins(clf, zoo.X, zoo.y, "geometric").minimum == pytest.approx(clf.margin_bounds_[0])


def test_margins_of_prototypes_and_of_one_against_the_rest():
    joint, rest = fitted("Perceptron", {}, zoo.y3), fitted("Perceptron", {"multiclass": "ovr"}, zoo.y3)
    found = theory.margins(joint, zoo.X, zoo.y3, kind="geometric")
    assert found.minimum == pytest.approx(joint.margin_bounds_[0])
    assert np.all((found.distances > 0.0) == (found.values > 0.0))
    found = theory.margins(rest, zoo.X, zoo.y3, kind="geometric")
    assert found.minimum == pytest.approx(min(low for low, _ in rest.margin_bounds_))


def test_margins_of_kernel_models():
    linear = fitted("Perceptron", {"fit_intercept": False})
    for kernel, X in (("linear", zoo.X), ("precomputed", zoo.X @ zoo.X.T)):
        clf = fitted("KernelPerceptron", {"kernel": kernel}, X=X)
        for kind in ("functional", "geometric", "normalized"):
            found = theory.margins(clf, X, zoo.y, kind)
            assert np.allclose(found.values, theory.margins(linear, zoo.X, zoo.y, kind).values)
            assert found.distances is None and found.space == "kernel"
    constant = fitted("KernelPerceptron", {"kernel": "linear", "fit_intercept": True})
    assert np.allclose(
        theory.margins(constant, zoo.X, zoo.y, "geometric").values,
        theory.margins(fitted("Perceptron", {}), zoo.X, zoo.y, "geometric").values,
    )


def test_the_margin_of_a_free_offset():
    clf = pc.MaxMargin().fit(zoo.X, zoo.y)
    found = theory.margins(clf, zoo.X, zoo.y, "geometric")
    assert found.space == "input" and found.minimum == pytest.approx(clf.margin_, rel=1e-5)


def test_margins_of_models_of_others():
    from sklearn.linear_model import SGDClassifier

    other = SGDClassifier(random_state=0).fit(zoo.X, zoo.y)
    found = theory.margins(other, zoo.X, zoo.y, "geometric")
    assert found.space == "input" and np.allclose(found.values, found.distances)


def test_margins_that_are_refused():
    clf = fitted("Perceptron", {})
    with pytest.raises(ValueError, match="kind must be one of"):
        theory.margins(clf, zoo.X, zoo.y, kind="hard")
    with pytest.raises(ValueError, match="fitted classifier"):
        theory.margins(pc.Perceptron(), zoo.X, zoo.y)
    with pytest.raises(ValueError, match="label 5 that the model"):
        theory.margins(clf, zoo.X, [5] * 8)
    with pytest.raises(ValueError, match="X has 8 rows, y has 2 labels"):
        theory.margins(clf, zoo.X, [0, 1])


# --------------------------------------------------------------------------------------------- pac


@pytest.mark.parametrize("M", [0, 1, 25, 10_000])
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.9])
def test_pac_sample_size_is_the_smallest(M, eps):
    m = theory.pac_sample_size(M, eps, 0.05)
    assert theory.online_to_batch(M, m) <= eps
    assert m == max(M, 1) or theory.online_to_batch(M, m - 1) > eps
    with pytest.raises(ValueError, match="eps must be"):
        theory.pac_sample_size(M, 1.5)
