"""Arrays that begin at a cache line: those that passes over several classes read in vectors."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons import rules
from perceptrons.engine.cache_lines import (
    PAIR,
    aligned_copy,
    aligned_zeros,
    copy_apart,
    whole_pairs,
    zeros_apart,
)
from perceptrons.engine.look_ahead import LINE
from perceptrons.engine.loops import scalars
from perceptrons.engine.spaces import Frame, Joint, LearnerState
from perceptrons.mixing.shard_arrays import ShardArrays
from perceptrons.mixing.states import copied

SHAPES = [(1,), (5,), (4097,), (3, 7), (100, 16), (1001, 80)]
several = range(8)  # memory may begin at a line by chance


def at_line(a):
    return a.ctypes.data % LINE == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_zeros(shape, dtype, order):
    made = [aligned_zeros(shape, dtype, order) for _ in several]
    for a in made:
        assert at_line(a) and a.shape == shape and a.dtype == dtype and a.flags.writeable
        assert a.flags.c_contiguous if order == "C" else a.flags.f_contiguous
        assert not a.any()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_copy_has_the_same_numbers_in_memory_of_its_own(shape):
    a = np.random.default_rng(0).normal(size=shape)
    made = [aligned_copy(a) for _ in several]
    for b in made:
        assert b.tobytes() == a.tobytes() and b.shape == a.shape and not np.shares_memory(a, b)
        assert len(shape) == 1 or at_line(b)


def pairs_of(a):
    """The pairs of lines of a flat array; the memory of all of them is freed with the array."""
    pairs = range(a.ctypes.data // PAIR, (a.ctypes.data + a.nbytes - 1) // PAIR + 1)
    owner = a
    while owner.base is not None:
        owner = owner.base
    assert owner.ctypes.data <= pairs[0] * PAIR
    assert (pairs[-1] + 1) * PAIR <= owner.ctypes.data + owner.nbytes
    return pairs


def disjoint(groups):
    taken = [pair for pairs in groups for pair in pairs]
    return len(taken) == len(set(taken))


@pytest.mark.parametrize("size", [1, 2, 16, 17, 300])
def test_copies_apart_share_no_pair_of_lines(size):
    a = np.random.default_rng(1).normal(size=size)
    made = [copy_apart(a) for _ in several]
    assert all(b.tobytes() == a.tobytes() and b.shape == a.shape for b in made)
    assert disjoint(map(pairs_of, made))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 16, 31, 32, 33, 1000])
def test_rows_apart_share_no_pair_of_lines(size, dtype):
    for _ in several:
        made = zeros_apart(3, size, dtype)
        assert made.shape == (3, whole_pairs(size, np.dtype(dtype))) and made.dtype == dtype
        assert not made.any()
        assert disjoint(pairs_of(row[:size]) for row in made)


def test_whole_pairs_of_lines():
    assert [whole_pairs(n, np.dtype(np.float32)) for n in (0, 1, 32, 33)] == [0, 32, 32, 64]
    assert [whole_pairs(n, np.dtype(np.float64)) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prototypes_and_scores_of_several_classes(dtype):
    frame = Frame(dtype=np.dtype(dtype))
    spaces = [Joint(rules.Perceptron(), frame, 60, 5, track="average") for _ in several]
    for space in spaces:
        assert at_line(space.v) and at_line(space.A) and at_line(space._work().s)


@pytest.mark.parametrize("n_shards", [2, 3])
def test_shards_of_several_classes(n_shards):
    rng = np.random.default_rng(1)
    arrays = {"v": rng.normal(size=(61, 5)).astype(np.float32), "A": rng.normal(size=(61, 5))}
    state = (LearnerState(arrays, scalars.fresh()),)
    for own in [copied(state) for _ in several]:
        assert at_line(own[0].arrays["v"]) and at_line(own[0].arrays["A"])
    room = ShardArrays(state, n_shards)
    assert room.fits(state)
    room.begin(state)
    for s in range(n_shards):
        own = room._in_rows(state[0], room.rows[0], s)
        (taken,) = room.take((own,), s)
        for name, a in arrays.items():
            assert at_line(own.arrays[name]) and own.arrays[name].tobytes() == a.tobytes()
            assert taken[name].shape == (a.size,) and np.shares_memory(taken[name], own.arrays[name])
