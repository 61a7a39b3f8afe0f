"""Perceptrons on shards, mixed after every epoch: the weighted updates are at most R^2/gamma^2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import separable, separable_multiclass

from perceptrons import ParameterMixing, Perceptron, reference, theory


def cut(n: int, S: int, seed: int) -> list[list[int]]:
    """Rows in a random order, dealt out to S shards."""
    order = np.random.default_rng(seed).permutation(n)
    return [order[i::S].tolist() for i in range(S)]


@pytest.mark.parametrize("mix", ["uniform", "mistakes"])
@given(data=separable(), S=st.integers(1, 4), seed=st.integers(0, 99))
def test_the_weighted_updates_are_at_most_r_over_gamma_squared(mix, data, S, seed):
    X, y, _, gamma = data
    R = float(np.linalg.norm(X, axis=1).max())
    run = reference.parameter_mixing(X, y, cut(len(y), S, seed), 500, mix=mix)
    k = sum(len(shard) for epoch in run.updates for shard in epoch)
    assert 0 < run.weighted_updates <= theory.ipm(R, gamma) * (1 + 1e-9)
    if mix == "uniform":
        assert k <= theory.ipm_total(R, gamma, S) * (1 + 1e-9)
    if not any(run.updates[-1]):
        assert (y * (X @ run.w) > 0).all()  # it ended: the common w separates all shards


@given(data=separable(), seed=st.integers(0, 99))
def test_one_shard_is_the_batch_perceptron(data, seed):
    X, y, *_ = data
    (order,) = cut(len(y), 1, seed)
    mixed = reference.parameter_mixing(X, y, [order], 6)
    batch = reference.perceptron(X, y, [order] * 6, until_clean=True)
    assert [epoch[0] for epoch in mixed.updates] == batch.updates
    assert np.array_equal(mixed.w, batch.w)


@pytest.mark.uncompiled
@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
@given(
    data=separable(), S=st.integers(1, 4), seed=st.integers(0, 99), rate=st.sampled_from([0.01, 1.0, 30.0])
)
def test_the_estimator_keeps_to_the_bound(mixing, data, S, seed, rate):
    X, y, _, gamma = data
    learner = Perceptron(fit_intercept=False, learning_rate=rate, random_state=seed, max_iter=500)
    how = {"shards": [rows for rows in cut(len(y), S, seed) if rows], "mixing": mixing, "backend": "serial"}
    model = ParameterMixing(learner, **how).fit(X, y)
    R = float(np.linalg.norm(X, axis=1).max())
    assert 0 < model.weighted_updates_ <= theory.ipm(R, gamma) * (1 + 1e-9)
    if mixing == "uniform":
        assert model.n_updates_ <= theory.ipm_total(R, gamma, len(how["shards"])) * (1 + 1e-9)
    assert model.stop_reason_ == "clean pass" and model.score(X, y) == 1.0
    low, up = model.margin_bounds_
    assert 0.0 < low <= up and gamma <= up


@pytest.mark.uncompiled
@pytest.mark.parametrize("scheme", ["top", "uniform", "proportional"])
@given(data=separable_multiclass(), S=st.integers(2, 4), seed=st.integers(0, 99))
def test_prototypes_keep_to_twice_the_bound(scheme, data, S, seed):
    X, y, _, delta = data
    learner = Perceptron(fit_intercept=False, scheme=scheme, random_state=seed, max_iter=500)
    shards = [rows for rows in cut(len(y), S, seed) if rows]
    model = ParameterMixing(learner, shards=shards, backend="serial").fit(X, y)
    R = float(np.linalg.norm(X, axis=1).max())
    assert 0 < model.weighted_updates_ <= theory.multiclass(R, delta) * (1 + 1e-9)
