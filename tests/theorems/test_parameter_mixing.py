"""Perceptrons on shards, mixed after every epoch: the weighted updates are at most R^2/gamma^2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import separable

from perceptrons import reference, theory


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
