"""intercept_scaling="auto": B from the rows of a fit, and the number in force everywhere after it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import perceptrons as pc
from perceptrons import theory

rng = np.random.default_rng(8)
X = rng.normal(size=(60, 4)) * np.array([[0.1]])
y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.02 > 0).astype(int)
y3 = np.digitize(X[:, 0], [-0.05, 0.05])
B = 0.3 * float(np.median(np.linalg.norm(X, axis=1)))
AUTO = {"intercept_scaling": "auto", "random_state": 0}


@pytest.mark.parametrize(
    "name", ["Perceptron", "AveragedPerceptron", "MarginPerceptron", "AROW", "RiskDescent"]
)
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_auto_is_the_number_that_it_finds(name, labels, storage):
    model = getattr(pc, name)(**AUTO).fit(storage(X), labels)
    assert model.intercept_scaling_ == pytest.approx(B)
    same = getattr(pc, name)(intercept_scaling=model.intercept_scaling_, random_state=0).fit(
        storage(X), labels
    )
    np.testing.assert_array_equal(model.coef_, same.coef_)
    np.testing.assert_array_equal(model.intercept_, same.intercept_)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    assert model.radius_ == same.radius_
    for one, other in zip(theory.margins(model, X, labels), theory.margins(same, X, labels), strict=True):
        np.testing.assert_array_equal(one, other)
    found, wanted = pc.certify(model, X, labels), pc.certify(same, X, labels)
    assert found.space == wanted.space
    assert found.verify(X, labels)


def test_a_kernel_has_its_own_lengths():
    model = pc.KernelPerceptron(kernel="linear", fit_intercept=True, **AUTO).fit(X, y)
    assert model.intercept_scaling_ == pytest.approx(B)
    linear = pc.Perceptron(**AUTO).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(X))


def test_rows_that_say_nothing_do_not_count():
    padded = np.vstack([X, np.zeros((200, 4)), 100.0 * np.ones((200, 4))])
    labels = np.concatenate([y, np.ones(200, int), np.zeros(200, int)])
    weight = np.concatenate([np.ones(260), np.zeros(200)])
    model = pc.Perceptron(**AUTO).fit(padded, labels, sample_weight=weight)
    assert model.intercept_scaling_ == pytest.approx(B)
    assert pc.Perceptron(**AUTO).fit(np.zeros((4, 2)), [0, 1, 0, 1]).intercept_scaling_ == 1.0
    assert pc.Perceptron(fit_intercept=False, **AUTO).fit(X, y).intercept_scaling_ == 0.0


def test_streams_take_a_number():
    for call in (
        lambda: pc.Perceptron(**AUTO).partial_fit(X, y),
        lambda: pc.Perceptron(**AUTO).learn_one(X[0], y[0]),
        lambda: pc.io.fit_stream(pc.Perceptron(**AUTO), [pc.io.Batch(X, y, None, 0)]),
    ):
        with pytest.raises(ValueError, match=r"intercept_scaling='auto' takes B from.*give a number"):
            call()
    with pytest.raises(ValueError, match="intercept_scaling must be a positive number"):
        pc.Perceptron(intercept_scaling="automatic").fit(X, y)


def test_a_fit_goes_on_with_the_number_it_found(tmp_path):
    model = pc.Perceptron(**AUTO).fit(X, y)
    found = model.intercept_scaling_
    pc.save(model, tmp_path / "model")
    for one in (model, pc.load(tmp_path / "model")):
        one.partial_fit(10.0 * X, y)
        one.learn_one(X[0], y[0])
        assert one.intercept_scaling_ == found
        one.set_params(intercept_scaling=found).partial_fit(X, y)  # the same by its number
        with pytest.raises(ValueError, match="intercept_scaling cannot change"):
            one.set_params(intercept_scaling=2.0 * found).partial_fit(X, y)
    with pytest.raises(ValueError, match="intercept_scaling cannot change"):
        pc.Perceptron().fit(X, y).set_params(intercept_scaling="auto").partial_fit(X, y)


def test_no_line_on_fresh_rows_where_all_rows_set_the_scale():
    model = pc.Perceptron(max_iter=1, **AUTO).fit(X, y)
    assert "online_to_batch" not in {bound.name for bound in pc.certify(model, X, y).bounds}


def test_advise_says_when():
    short = pc.advise(X, y, max_time=2.0)
    assert any('intercept_scaling="auto"' in note for note in short.notes)
    long = pc.advise(100.0 * X, y, max_time=2.0)
    assert not any('intercept_scaling="auto"' in note for note in long.notes)
