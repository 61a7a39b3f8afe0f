"""A trace is fit to the bit, and no true run violates a claim of its proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import DISJUNCTIVE, FIRST_ORDER, JOINT, POTENTIAL, SECOND_ORDER, frames
from strategies import disjunctions, for_each_learner, multiclass_samples, samples, separable

from perceptrons import proofs, trace

pytestmark = pytest.mark.uncompiled

PRECISIONS = st.sampled_from([np.float64, np.float32])


def is_the_run_of_fit(model, X, y, **options):
    """The trace of the model, after comparing it with fit."""
    run = trace(model, X, y, **options)
    model.set_params(random_state=run.seed).fit(X, y, order=options.get("order"))
    assert np.array_equal(np.atleast_2d(run.w[-1]), model.run_record(evidence=False).weights["last"])
    assert (run.n_mistakes[-1], run.n_updates[-1]) == (model.n_mistakes_, model.n_updates_)
    assert np.array_equal(run.kind == "mistake", np.diff(run.n_mistakes, prepend=0) > 0)
    assert proofs.Trace.from_json(run.to_json()).to_json() == run.to_json()
    return run


@pytest.mark.parametrize("learner", FIRST_ORDER[::5] + SECOND_ORDER[::4] + POTENTIAL[::2], ids=str)
@for_each_learner
@given(samples(), frames())
def test_two_classes(learner, sample, frame):
    X, y, order = sample
    assume(len(np.unique(y)) == 2)
    run = is_the_run_of_fit(learner.make(frame), X, y, order=order)
    assert np.array_equal(run.row, np.concatenate(order))


@pytest.mark.parametrize("learner", DISJUNCTIVE[::2], ids=str)
@for_each_learner
@given(disjunctions())
def test_disjunctions(learner, data):
    assume(len(np.unique(data.y)) == 2)
    is_the_run_of_fit(learner.make(max_iter=2), data.X, data.y)


@pytest.mark.parametrize("learner", JOINT[::3], ids=str)
@for_each_learner
@given(multiclass_samples())
def test_several_classes(learner, sample):
    assume(sample.n_classes > 2)
    is_the_run_of_fit(learner.make(), sample.X, sample.y, order=sample.order)


@pytest.mark.parametrize("learner", FIRST_ORDER, ids=str)
@for_each_learner
@given(
    separable(),
    st.integers(-60, 60),
    st.sampled_from([None, "l2"]),
    st.sampled_from([np.float64, np.float32]),
)
def test_no_true_run_violates_a_claim(learner, data, power, row_norm, precision):
    """u has a margin: every update is checked, whatever the scale and the precision of the rows."""
    assume(len(np.unique(data.y)) == 2)
    X = np.ldexp(data.X, power if precision is np.float64 else power // 4).astype(precision)
    model = learner.make(fit_intercept=False, row_norm=row_norm, max_iter=4)
    proof = is_the_run_of_fit(model, X, data.y, u=data.u).proof
    assert proof.gamma > 0.0 and proof.checked.get("progress", 0) == model.n_updates_
    assert np.all(proof.dot >= proof.dot_bound - 1e-5 * np.abs(proof.dot_bound))
    if proof.bound is not None:
        assert model.n_updates_ <= proof.bound
