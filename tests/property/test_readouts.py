"""Averages kept lazily, votes from the log, and random draws: each equals its definition, at every moment."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import JOINT, Frame, close, frames, pick, weights
from strategies import begin, multiclass_samples, samples
from uncompiled import uncompiled

from perceptrons import AveragedPerceptron, Perceptron, VotedPerceptron, reference
from perceptrons.reference.readout import unit

JOINT_BY_NAME = {learner.name: learner for learner in JOINT}
#: Learners whose loops are compiled here; the others run as plain Python.
COMPILED = {"perceptron", "perceptron, top"}


def after_each(run):
    """The weights after each example."""
    return [run.vectors[j] for j in np.repeat(np.arange(len(run.counts)), run.counts)]


def one_by_one(model, X, y, order):
    """Train on one row after the other; answers the model each time."""
    begin(model, X, np.unique(y))
    for i in chain.from_iterable(order):
        model.learn_one(X[i], y[i])
        yield model


# --------------------------------------------------------------------------------- the average


def average_is_the_mean_at_every_moment(learner, X, y, order, frame, normalized):
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    hypotheses = [unit(w) if normalized else w for w in after_each(run)]
    model = learner.make(frame, readout="average", normalized_votes=normalized, log_updates=True)
    total = 0.0
    for t, (w, now) in enumerate(zip(hypotheses, one_by_one(model, X, y, order), strict=True), 1):
        total = total + w
        assert close(weights(now), total / t, learner.tol)
    whole = learner.make(frame, readout="average", normalized_votes=normalized)
    assert close(weights(whole.fit(sp.csr_array(X), y, order=order)), total / run.t, learner.tol)
    first = learner.make(frame, readout="average", normalized_votes=normalized, include_initial=True)
    assert close(weights(first.fit(X, y, order=order)), total / (run.t + 1), learner.tol)


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("learner", pick("perceptron", "ROMMA", "ROMMA, aggressive", "ALMA"), ids=str)
@given(samples(max_epochs=2), frames())
def test_average_of_two_classes(learner, normalized, sample, frame):
    with uncompiled(learner.name not in COMPILED):
        average_is_the_mean_at_every_moment(learner, *sample, frame, normalized)


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("name", ["perceptron, top", "perceptron, uniform", "ROMMA"])
@given(multiclass_samples(max_epochs=2), frames())
def test_average_of_many_classes(name, normalized, sample, frame):
    X, y, _, order = sample
    with uncompiled(name not in COMPILED or normalized):
        average_is_the_mean_at_every_moment(JOINT_BY_NAME[name], X, y, order, frame, normalized)


@given(samples(), frames())
def test_the_averaged_perceptron_is_w_minus_a_over_t(sample, frame):
    X, y, order = sample
    [learner] = pick("perceptron")
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    model = AveragedPerceptron(**frame.of_estimator()).fit(X, y, order=order)
    assert close(weights(model), reference.lazy_average(run))


@given(samples(max_epochs=2), frames())
def test_one_row_at_a_time_on_the_fast_way(sample, frame):
    [learner] = pick("perceptron")
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    visits = list(chain.from_iterable(order))
    model = AveragedPerceptron(**frame.of_estimator())
    model.partial_fit(X[visits[:1]], y[visits[:1]], classes=[-1, 1])
    total = 0.0
    for t, (i, w) in enumerate(zip(visits, after_each(run), strict=True), 1):
        if t > 1:
            model.learn_one(X[i], y[i])
        total = total + w
        assert close(weights(model), total / t)


# ------------------------------------------------------------------------------------- the vote

POLL = pytest.mark.parametrize("include_initial", [False, True])


@POLL
@pytest.mark.parametrize("learner", pick("perceptron", "perceptron, by prediction", "ROMMA", "ALMA"), ids=str)
@given(samples(), frames())
def test_vote_of_two_classes(learner, include_initial, sample, frame):
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    assume(not any_vote_is_close(run, X))
    votes = reference.vote_scores(run, X, include_initial)
    with uncompiled(learner.name not in COMPILED):
        for A in (X, sp.csr_array(X)):
            model = learner.make(frame, readout="vote", include_initial=include_initial)
            model.fit(A, y, order=order)
            assert np.array_equal(model.decision_function(A), votes)
            assert np.array_equal(model.predict(A), reference.decide(votes))
        parts = learner.make(frame, readout="vote", include_initial=include_initial)
        *_, last = one_by_one(parts, X, y, order)
        assert np.array_equal(last.decision_function(X), votes)


@POLL
@pytest.mark.parametrize("name", ["perceptron, top", "PA-I, top", "ROMMA"])
@given(multiclass_samples(), frames())
def test_vote_of_many_classes(name, include_initial, sample, frame):
    X, y, _, order = sample
    learner = JOINT_BY_NAME[name]
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    assume(not any_vote_is_close(run, X))
    with uncompiled(name not in COMPILED):
        model = learner.make(frame, readout="vote", include_initial=include_initial).fit(X, y, order=order)
        votes = model.decision_function(X)
    assert np.array_equal(votes, reference.vote_scores(run, X, include_initial))
    assert np.all(votes.sum(axis=1) == run.t + include_initial)  # the counts c_j sum to t


def any_vote_is_close(run, X):
    """Whether some past w is so near to a tie on some row that rounding may decide its vote.

    A w that is 0 on the support of x, or prototypes that are the same there, are exact ties.
    """
    rows = run.rows(X)
    for v in np.stack(run.vectors):
        differences = [v] if v.ndim == 1 else [v[r] - v[s] for r in range(len(v)) for s in range(r)]
        for d in differences:
            score, size = rows @ d, np.abs(rows) @ np.abs(d)
            if np.any((np.abs(score) < 1e-9 * size) & (size > 0.0)):
                return True
    return False


@given(multiclass_samples(), frames())
def test_vote_of_one_against_the_rest(sample, frame):
    X, y, n_classes, order = sample
    [learner] = pick("perceptron")
    against = [np.where(y == r, 1, -1) for r in range(n_classes)]
    runs = [learner.run(X, y_r, order, frame) for y_r in against]
    assume(not any(learner.hangs_on_rounding(run, X, y_r, order) for run, y_r in zip(runs, against)))
    assume(not any(any_vote_is_close(run, X) for run in runs))
    model = VotedPerceptron(multiclass="ovr", **frame.of_estimator()).fit(X, y, order=order)
    votes = np.stack([reference.vote_scores(run, X) for run in runs], axis=1)
    assert np.array_equal(model.decision_function(X), votes)


# ------------------------------------------------------------------------------- a random vector


@pytest.mark.parametrize("normalized", [False, True], ids=["plain", "normalized"])
@pytest.mark.parametrize("learner", pick("perceptron", "ROMMA"), ids=str)
@given(samples(), frames(), st.integers(0, 1000))
def test_random_readout_is_one_of_the_past_vectors(learner, normalized, sample, frame, seed):
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    with uncompiled(learner.name not in COMPILED):
        model = learner.make(frame, readout="random", random_state=seed, normalized_votes=normalized)
        model.fit(X, y, order=order)
        assert 1 <= model.random_step_ <= run.t
        w = after_each(run)[model.random_step_ - 1]
        assert close(weights(model), unit(w) if normalized else w, learner.tol)
        scores = reference.random_scores(run, X, model.random_step_, normalized)
        assert close(model.decision_function(X), scores, learner.tol)


@given(multiclass_samples(), st.integers(0, 1000))
def test_random_prototypes(sample, seed):
    X, y, _, order = sample
    run = JOINT[0].run(X, y, order, Frame(1.0))
    model = Perceptron(readout="random", random_state=seed).fit(X, y, order=order)
    assert close(weights(model), after_each(run)[model.random_step_ - 1])


@pytest.mark.parametrize("include_initial", [False, True])
def test_every_vector_is_drawn_as_often_as_it_was_current(include_initial):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1, -1, 1])
    model = Perceptron(readout="random", include_initial=include_initial, fit_intercept=False)
    draws = [
        model.set_params(random_state=seed).fit(X, y, order=[range(3)]).random_step_ for seed in range(400)
    ]
    steps, counts = np.unique(draws, return_counts=True)
    assert steps.tolist() == ([0, 1, 2, 3] if include_initial else [1, 2, 3])
    expected = len(draws) / len(steps)
    assert np.all(np.abs(counts - expected) < 5.0 * np.sqrt(expected))  # the seeds are fixed


# --------------------------------------------------------------------------- what all of them share


@pytest.mark.parametrize("readout", ["last", "average", "random"])
@given(multiclass_samples(), frames())
def test_each_learner_of_one_against_the_rest_has_its_own_length(readout, sample, frame):
    X, y, n_classes, order = sample
    model = Perceptron(
        readout=readout, normalized_votes=True, multiclass="ovr", random_state=0, **frame.of_estimator()
    ).fit(X, y, order=order)
    for r in range(n_classes):
        alone = Perceptron(readout=readout, normalized_votes=True, random_state=0, **frame.of_estimator())
        alone.fit(X, np.where(y == r, 1, -1), order=order)
        assert close(weights(model)[r], weights(alone))


READOUTS = pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])


@READOUTS
@given(samples(), st.booleans(), st.integers(0, 3))
def test_a_warm_start_goes_on(readout, sample, include_initial, n_first):
    X, y, order = sample
    params = {"readout": readout, "include_initial": include_initial, "random_state": 0}
    at_once = Perceptron(**params).fit(X, y, order=order)
    model = Perceptron(warm_start=True, **params)
    model.fit(X, y, order=order[:n_first]).fit(X, y, order=order[n_first:])
    assert model.n_updates_ == at_once.n_updates_
    assert np.array_equal(model.decision_function(X), at_once.decision_function(X))


@READOUTS
@given(samples(), st.integers(-4, 4).map(lambda k: k / 4.0))
def test_another_start_is_read_out_rightly_or_refused(readout, sample, start):
    X, y, order = sample
    w0 = np.full(X.shape[1], start)
    model = Perceptron(readout=readout, fit_intercept=False)
    if start and readout in ("vote", "random"):
        with pytest.raises(ValueError, match="start from w = 0"):
            model.fit(X, y, coef_init=w0, order=order)
        return
    run = reference.perceptron(X, y, order, w0=w0)
    model.fit(X, y, coef_init=w0, order=order)
    if readout == "average":
        assert close(weights(model), reference.average(run))
    elif readout == "last":
        assert close(weights(model), run.w)
