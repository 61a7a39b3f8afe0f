"""Descent on the risk against the reference: the same rows, steps, risks and weights, dense and CSR."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import close, frames, weights
from strategies import for_each_learner, multiclass_samples, samples

from perceptrons import RiskDescent, reference

STEPS = 15
MODES = {
    "full batch": {},
    "full batch, small steps": {"step": 0.125},
    "groups of two": {"batch_size": 2},
    "groups of one": {"batch_size": 1},
    "first": {"pick": "first"},
    "worst": {"pick": "worst"},
    "random": {"pick": "random"},
    "line search": {"step": "line-search", "max_steps": 1},  # it ends on a corner: what follows is rounding
}
LOSSES = pytest.mark.parametrize("loss", ["perceptron", "hinge"])


def hangs_on_rounding(vectors, run, X, y, loss):
    """Whether some row was so near to the corner of the loss, or two to being the worst, as to be in doubt.

    With dyadic rows and steps nothing is rounded; a line search divides, and unit rows are divided.
    """
    rows, corner = run.rows(X), {"perceptron": 0.0, "hinge": 1.0}[loss]
    for w in vectors:
        m, size = y * (rows @ w), np.abs(rows) @ np.abs(w) + corner
        if np.any((np.abs(m - corner) < 1e-9 * size) & (size > 0.0)):
            return True
        if any(b - a < 1e-9 * size.max() for a, b in pairwise(np.sort(m))):
            return True
    return False


@LOSSES
@pytest.mark.parametrize("mode", MODES)
@for_each_learner
@given(samples(max_rows=6), frames(), st.integers(0, 1000))
def test_descent_is_that_of_the_reference(mode, loss, sample, frame, seed):
    X, y, _ = sample
    assume(reference.rows(X, *frame)[0].any())  # else the start is w = 0
    params = {"loss": loss, "max_steps": STEPS, **MODES[mode]}
    rng = np.random.default_rng(seed) if mode == "random" else None
    run = reference.risk_descent(X, y, rng=rng, **params, **frame._asdict())
    searched = mode == "line search"
    if searched or frame.normalize:
        assume(not hangs_on_rounding(run.vectors[:1] if searched else run.vectors, run, X, y, loss))
    for A in (X, sp.csr_array(X)):
        model = RiskDescent(random_state=seed, **params, **frame.of_estimator()).fit(A, y)
        assert [rows.tolist() for rows in model.steps_] == run.updates
        assert close(weights(model), run.w)
        assert close(model.risk_curve_, run.risks)
        if not searched:
            assert (model.stop_reason_ == "no row in V") == (run.halted and bool(run.w.any()))
            assert (model.stop_reason_ == "w = 0") == (run.halted and not run.w.any())
            assert (model.stop_reason_ == "stalled") == run.stalled


@given(samples(max_rows=6), frames(), st.sampled_from(["perceptron", "hinge"]), st.integers(0, 1000))
def test_a_given_start_and_the_path_are_those_of_the_reference(sample, frame, loss, seed):
    X, y, _ = sample
    assume(frame.normalize is None)  # nothing is rounded
    w0 = np.random.default_rng(seed).integers(-8, 9, X.shape[1] + 1) / 4.0
    if frame.bias is None:
        w0[-1] = 0.0
    assume(w0.any())
    given = w0 if frame.bias is not None else w0[:-1]
    run = reference.risk_descent(X, y, w0=given, loss=loss, max_steps=STEPS, **frame._asdict())
    model = RiskDescent(loss=loss, max_steps=STEPS, keep_path=True, **frame.of_estimator())
    model.fit(X, y, coef_init=w0[:-1], intercept_init=w0[-1:] * (frame.bias or 0.0))
    assert [rows.tolist() for rows in model.steps_] == run.updates
    assert model.n_iter_ == len(run.updates)
    path = model.path_ if frame.bias is not None else model.path_[:, :-1]
    assert np.array_equal(path, np.stack(run.vectors))
    assert model.margin_bounds_[1] == np.inf


@given(multiclass_samples(), st.sampled_from([{}, {"pick": "worst"}]))
def test_one_descent_for_each_class_against_the_rest(sample, params):
    X, y, n_classes, _ = sample
    model = RiskDescent(max_steps=STEPS, **params).fit(X, y)
    for r in range(n_classes):
        run = reference.risk_descent(X, np.where(y == r, 1, -1), bias=1.0, max_steps=STEPS, **params)
        assert close(weights(model)[r], run.w)
        assert close(model.risk_curve_[r], run.risks)
