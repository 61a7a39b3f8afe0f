"""Threads: what they keep between rounds changes no result, wherever a round begins."""

from __future__ import annotations

import numpy as np
import pytest
from mixed import X, Y, learner

from perceptrons.core.fit_rows import rows_of_fit
from perceptrons.engine import chunks
from perceptrons.mixing import backends, shards
from perceptrons.mixing.backends import Serial, Threads
from perceptrons.mixing.fitting import passing
from perceptrons.mixing.jobs import Job
from perceptrons.mixing.shard_epoch import Stopped, shard_epoch, visits
from perceptrons.mixing.states import state_of

pytestmark = pytest.mark.uncompiled


def begun(name="average", classes=2, **params):
    """A job with three shards, and its first state."""
    one = learner(name, random_state=3, max_iter=4).set_params(**params)
    batch = rows_of_fit(one, X, Y[classes], None, None)
    space = one._start(batch, None, None)
    batch = batch._replace(targets=space.targets(batch.codes))
    parts = shards.in_memory(batch, shards.blocks(len(X), 3))
    return Job(passing(one), space.frame, X.shape[1], 3, 7), parts, state_of(space)


@pytest.fixture
def opened():
    made = []

    def open_threads(job, parts, n_threads=2):
        made.append(Threads(job, parts, n_threads))
        return made[-1]

    yield open_threads
    for backend in made:
        backend.close()


def same(one, other):
    for own, others in zip(one.state, other.state, strict=True):
        for name, a in own.arrays.items():
            assert a.tobytes() == others.arrays[name].tobytes()
        np.testing.assert_array_equal(own.scalars, others.scalars)


@pytest.mark.parametrize(("name", "classes"), [("perceptron", 3), ("average", 2), ("pa against the rest", 3)])
def test_a_round_may_begin_in_any_state(name, classes, opened):
    """After a round the shards have its state; another one is copied."""
    job, parts, start = begun(name, classes)
    serial, threads = Serial(job, parts), opened(job, parts)
    first = serial.round(start, 0)
    for _ in range(2):
        same(threads.round(start, 0), first)
    second = serial.round(first.state, 1)
    again = threads.round(start, 0)
    same(threads.round(again.state, 1), second)
    same(threads.round(first.state, 1), second)  # the same numbers in other arrays
    same(threads.round(second.state, 2), serial.round(second.state, 2))


def test_states_that_somebody_keeps_are_not_written_over(opened):
    """Memory of mixed states is used again, but not while a view of it is left."""
    job, parts, state = begun()
    serial, threads = Serial(job, parts), opened(job, parts)
    expected, kept, places = state, [], set()
    for number in range(4):
        state, expected = threads.round(state, number).state, serial.round(expected, number).state
        places.add(state[0].arrays["v"].ctypes.data)
        kept.append((state[0].arrays["v"][1:], expected[0].arrays["v"][1:].copy()))
    assert len(places) == 4
    for view, numbers in kept:
        np.testing.assert_array_equal(view, numbers)
    kept.clear()
    del view
    found = [threads.round(state, 4).state[0].arrays["v"].ctypes.data for _ in range(2)]
    assert set(found) <= places


def test_passes_that_are_not_mixed_leave_no_trace(opened):
    job, parts, start = begun()
    serial, threads = Serial(job, parts), opened(job, parts)
    first = threads.round(start, 0)
    threads.passes(first.state, 1)  # the shards have gone on from the state that they had
    same(threads.round(first.state, 1), serial.round(first.state, 1))


def test_orders_of_the_next_round_are_drawn_ahead(opened, monkeypatch):
    job, parts, state = begun()
    threads, asked = opened(job, parts), []

    def drawn(job, shard, number):
        asked.append((number, shard.number))
        return visits(job, shard, number)

    monkeypatch.setattr(backends, "visits", drawn)
    for number in range(4):
        found = threads.round(state, number)
        same(found, Serial(job, parts).round(state, number))
        state = found.state
    assert sorted(asked) == [(number, s) for number in (1, 2, 3) for s in range(3)]  # none after the last
    same(threads.round(state, 9), Serial(job, parts).round(state, 9))  # not the round that was expected


def test_rows_that_are_not_shuffled_have_no_orders_to_draw(opened):
    job, parts, state = begun(shuffle=False)
    threads = opened(job, parts)
    threads.round(state, 0)
    assert not threads._orders


def test_a_pass_is_cut_into_parts_once(monkeypatch):
    """A part that is cut again takes a look at all rows of the shard."""
    job, parts, state = begun()
    whole = shard_epoch(job, state, parts[0], 0)
    cuts, looks = [], []
    monkeypatch.setattr(chunks, "LIMIT", 100)

    def cut(*given):
        cuts.append(found := real_cut(*given))
        return found

    real_cut = chunks.cut
    monkeypatch.setattr(chunks, "cut", cut)
    found = shard_epoch(job, state, parts[0], 0, stop=lambda: looks.append(None))
    assert len(cuts) == 1
    assert len(looks) == len(cuts[0]) > 3
    for name, delta in whole.deltas[0].items():
        np.testing.assert_array_equal(delta.values, found.deltas[0][name].values)
    with pytest.raises(Stopped):
        shard_epoch(job, state, parts[0], 0, stop=lambda: looks.append(None) or len(looks) > len(cuts[0]) + 2)
    assert len(looks) == len(cuts[0]) + 3  # stopped before the third part
