"""The state after a round: sums in a tree, however changes are written, and the bound on their rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mixed import tree_sum

from perceptrons.engine.loops import scalars
from perceptrons.engine.spaces import Counts, LearnerState
from perceptrons.mixing import loops, merging, shard_arrays, sums
from perceptrons.mixing.jobs import Job
from perceptrons.mixing.merging import join, settled, weighted
from perceptrons.mixing.shard_arrays import ShardArrays
from perceptrons.mixing.shard_epoch import Delta, Outcome, Report, delta

SHARDS = [2, 3, 5, 6, 7, 12]


def after_pass(w, n_updates=1):
    """The scalars of a learner whose w is exact."""
    found = scalars.fresh()
    found[scalars.N] = np.sum(np.square(w, dtype=np.float64))
    found[scalars.NORM_ERROR] = 1e-12 * found[scalars.N]
    found[scalars.UPDATES] = n_updates
    return found


def outcome(shard, w0, w, dense=None):
    change = delta(w0, w)
    if dense:
        change = Delta(None, w)
    elif dense is False:
        where = np.flatnonzero(w0 != w)
        change = Delta(where, w[where])
    counts = Counts(1, 1, 1, 1, 0, 0.0)
    report = Report(shard, counts, (after_pass(w),), (None,), 1.0, True, True)
    return Outcome(report, ({"v": change},))


def state_of(w0):
    return (LearnerState({"v": w0}, after_pass(w0, 0)),)


def mix(w0, shards, mu, dense=None):
    """``dense``: whether all numbers are carried, or those that have changed; None: as it pays; for each."""
    state = state_of(w0)
    ways = dense if isinstance(dense, list) else [dense] * len(shards)
    outcomes = [outcome(s, w0, w, way) for s, (w, way) in enumerate(zip(shards, ways, strict=True))]
    parts = [weighted(state, one, mu[:, s]) for s, one in enumerate(outcomes)]
    whole = sums.tree(parts, lambda a, b: join(state, a, b))
    (found,) = settled(state, whole, [one.report for one in outcomes], mu)
    return found


def drawn(rng, S, dtype, share=0.5, n=40):
    w0 = rng.normal(size=n).astype(dtype)
    shards = [np.where(rng.random(n) < share, w0 + rng.normal(size=n), w0).astype(dtype) for _ in range(S)]
    mu = rng.integers(1, 9, S).astype(float)
    return w0, shards, (mu / mu.sum())[None, :]


@pytest.mark.parametrize("S", SHARDS)
def test_the_sum_is_a_tree_and_unchanged_numbers_stay(S, monkeypatch):
    rng = np.random.default_rng(S)
    for share in (0.02, 0.2, 0.9):
        w0, shards, mu = drawn(rng, S, np.float64, share)
        expected = tree_sum([m * w for m, w in zip(mu[0], shards, strict=True)])
        expected = np.where(np.any(np.array(shards) != w0, axis=0), expected, w0)
        monkeypatch.setattr(merging, "BLOCK", 7)
        job = Job(None, None, 39, S, 0)
        by_blocks = merging.mixed(job, state_of(w0), [outcome(s, w0, w) for s, w in enumerate(shards)])
        even = mix(w0, shards, merging.equal_shares(1, S))
        np.testing.assert_array_equal(by_blocks.state[0].arrays["v"], even.arrays["v"])
        np.testing.assert_array_equal(by_blocks.state[0].scalars, even.scalars)
        for dense in (None, True, False, [s % 2 == 0 for s in range(S)]):
            np.testing.assert_array_equal(mix(w0, shards, mu, dense).arrays["v"], expected)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("S", SHARDS)
def test_compiled_loops_mix_to_the_same_bits(S, dtype, average, monkeypatch):
    """Weights and sums of weights; numbers that changed their sign only, and numbers that nobody changed."""
    rng = np.random.default_rng(S)
    monkeypatch.setattr(merging, "BLOCK", 700)
    monkeypatch.setattr(loops, "SPAN", 256)
    job = Job(None, None, 1999, S, 0, "mistakes")
    for share in (0.0, 0.02, 0.5, 1.0):
        v0, vs, _ = drawn(rng, S, dtype, share, 2000)
        v0[:5], vs[0][:5] = 0.0, -0.0
        arrays, learned = {"v": v0}, [{"v": v} for v in vs]
        if average:
            A0, As, _ = drawn(rng, S, np.float64, share, 2000)
            arrays["A"], learned = A0, [{"v": v, "A": A} for v, A in zip(vs, As, strict=True)]
        before = after_pass(v0, 0)
        before[scalars.SCALE_SUM] = 3.0
        state = (LearnerState(arrays, before),)
        room = ShardArrays.for_state(state, S)
        outcomes = []
        for s, own in enumerate(learned):
            after = after_pass(own["v"], 1 + s)
            after[scalars.SCALE_SUM] = 10.0 + s
            report = Report(s, Counts(1, 1, 1, 1, 0, 0.0), (after,), (None,), 1.0, True, True)
            outcomes.append(Outcome(report, ({name: delta(arrays[name], a) for name, a in own.items()},)))
            room.take((LearnerState(own, after),), s)
        expected, found = merging.mixed(job, state, outcomes), merging.mixed(job, state, outcomes, room=room)
        for name in arrays:
            one, other = expected.state[0].arrays[name], found.state[0].arrays[name]
            assert one.tobytes() == other.tobytes()
        np.testing.assert_array_equal(expected.state[0].scalars, found.state[0].scalars)
        for name, rows in room.rows[0].items():  # all shards can go on from the mixed numbers
            mixed = found.state[0].arrays[name]
            assert all(row[: mixed.size].tobytes() == mixed.tobytes() for row in rows)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_squared_length_is_that_of_the_mixed_weights(dtype, monkeypatch):
    monkeypatch.setattr(merging, "BLOCK", 300)
    rng = np.random.default_rng(4)
    w0, shards, mu = drawn(rng, 3, dtype, 0.7, 2000)
    found = mix(w0, shards, mu)
    exact = sum(Fraction(float(x)) ** 2 for x in found.arrays["v"])
    N, error = (Fraction(float(found.scalars[name])) for name in (scalars.N, scalars.NORM_ERROR))
    assert abs(N - exact) <= error
    assert abs(N - exact) <= exact / 2**45


def test_where_shards_learn_side_by_side(monkeypatch):
    v, sigma = np.zeros(100, np.float32), np.ones(100)
    state = (LearnerState({"v": v}, scalars.fresh()),)
    assert ShardArrays.for_state(state, 1) is None  # nothing is mixed
    assert ShardArrays.for_state((LearnerState({"v": v, "sigma": sigma}, scalars.fresh()),), 2) is None
    room = ShardArrays.for_state(state, 3)
    assert room.fits(state)
    assert not room.fits((*state, *state))
    assert not room.fits((LearnerState({"v": v.astype(float)}, scalars.fresh()),))
    assert not room.fits((LearnerState({"v": v[:-1]}, scalars.fresh()),))
    monkeypatch.setattr(shard_arrays, "MOST_BYTES", 3 * v.nbytes)
    assert ShardArrays.for_state(state, 3) is not None
    assert ShardArrays.for_state(state, 4) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("S", SHARDS)
def test_the_rounding_of_the_sum_is_bounded(S, dtype):
    """Passes that were exact: what is left is the rounding of the sum, and weights that miss 1."""
    rng = np.random.default_rng(100 + S)
    worst = 0.0
    for scale in (1.0, 2.0**-100, 2.0**60):
        for even in (True, False):
            w0, shards, mu = drawn(rng, S, dtype, 0.7)
            w0, shards = w0 * dtype(scale), [w * dtype(scale) for w in shards]
            if even:
                mu = np.full((1, S), 1.0 / S)
            found = mix(w0, shards, mu)
            exact = [
                Fraction(float(a))
                + sum(
                    Fraction(float(m)) * (Fraction(float(b)) - Fraction(float(a)))
                    for m, b in zip(mu[0], column)
                )
                for a, column in zip(w0, np.array(shards).T, strict=True)
            ]
            error = sum((Fraction(float(a)) - b) ** 2 for a, b in zip(found.arrays["v"], exact, strict=True))
            bound = Fraction(float(found.scalars[scalars.ERROR]))
            assert error <= bound * bound
            worst = max(worst, float(error / (bound * bound)) ** 0.5)
    assert worst > 0.02  # the bound is of the size of what it bounds


def test_equal_steps_are_added_up_without_rounding():
    mean = merging._mean_of_steps(1.0, [1.0 + 2.0**-52] * 3, np.full(3, 1.0 / 3.0))
    assert mean == 1.0 + 2.0**-52  # a third of each would be lost, one by one
    assert np.isnan(merging._mean_of_steps(1.0, [np.nan, 2.0], np.full(2, 0.5)))


def test_sums_of_losses_may_leave_the_range():
    assert merging._total(np.inf, [np.inf, np.inf]) == np.inf
    assert merging._total(1e308, [1.5e308] * 9) == np.inf
    assert merging._total(3.0, [5.0, 4.0]) == 6.0
