"""float32 and float64 values, int32 and int64 indices: one learner."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import JOINT, close, frames, pick, updates, weights
from strategies import multiclass_samples, samples

from perceptrons import ROMMA


def csr(X, dtype, index):
    A = sp.csr_array(X.astype(dtype))
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A


@pytest.mark.parametrize(
    ("dtype", "index"),
    [
        (np.float32, np.int32),
        (np.float64, np.int32),
        (np.float64, np.int64),
        pytest.param(np.float32, np.int64, marks=pytest.mark.uncompiled),
    ],
)
@given(samples())
def test_the_perceptron_is_exact_in_every_format(dtype, index, sample):
    """Its sums of a few dyadic numbers fit in the 24 bits of a float32."""
    [learner] = pick("perceptron")
    X, y, order = sample
    run = learner.run(X, y, order)
    for A in (X.astype(dtype), csr(X, dtype, index)):
        model = learner.make(fit_intercept=False, log_updates=True).fit(A, y, order=order)
        assert model.coef_.dtype == dtype
        assert updates(model, len(order)) == run.updates
        assert model.n_errors_ == sum(run.errors)
        assert np.array_equal(weights(model), run.w)


@given(multiclass_samples())
def test_prototypes_are_exact_in_float32(sample):
    X, y, _, order = sample
    run = JOINT[0].run(X, y, order)
    for A in (X.astype(np.float32), csr(X, np.float32, np.int32)):
        model = JOINT[0].make(fit_intercept=False, log_updates=True).fit(A, y, order=order)
        assert model.coef_.dtype == np.float32
        assert updates(model, len(order)) == run.updates
        assert np.array_equal(weights(model), run.w)


@pytest.mark.uncompiled
@pytest.mark.parametrize("learner", pick("MIRA", "PA-I"), ids=str)
@given(samples(), frames())
def test_rounding_to_float32_changes_no_decision_that_is_clear(learner, sample, frame):
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order, relative=1e-3))
    model = learner.make(frame, log_updates=True).fit(X.astype(np.float32), y, order=order)
    assert updates(model, len(order)) == run.updates
    assert close(weights(model), run.w, tol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(samples(max_rows=2), st.integers(1, 40).map(lambda k: k / 10.0))
def test_opposite_demands_are_found_in_every_precision(dtype, sample, c):
    """x as positive and cx as negative: no w does both, and rounding must not make ROMMA believe in one."""
    x = sample.X[0]
    assume(x.any())
    X = np.array([x, c * x], dtype=dtype)
    model = ROMMA(fit_intercept=False).fit(X, [1, -1], order=[[0, 1, 0, 1]])
    assert model.infeasible_
    assert model.n_updates_ == 1
    assert close(weights(model), x / (x @ x), 1e-6)
