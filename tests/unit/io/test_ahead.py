"""Reading ahead: items in their order, finished by one thread or by two."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from perceptrons import TextClassifier
from perceptrons.io import fit_stream, open_stream
from perceptrons.io.ahead import ReadAhead

SHARED = pytest.mark.parametrize("shared", [False, True])
ROOMS = pytest.mark.parametrize("room", [1, 2, 5])
SECONDS = 20.0  # after which a thread that waits for another has failed


@SHARED
@ROOMS
def test_items_come_in_their_order(shared, room):
    ahead = ReadAhead(iter(range(40)), room, finish=lambda i: i * i, shared=shared)
    assert list(ahead) == [i * i for i in range(40)]
    assert list(ahead) == []
    assert list(ReadAhead(iter(range(3)), room, shared=shared)) == [0, 1, 2]


def test_the_thread_that_takes_items_finishes_some():
    """The first item that the other thread finishes waits for one that this thread has finished."""
    mine, here = [], threading.Event()

    def finish(i):
        if threading.current_thread() is threading.main_thread():
            mine.append(i)
            here.set()
        else:
            assert here.wait(SECONDS)
        return i

    assert list(ReadAhead(iter(range(6)), 2, finish=finish, shared=True)) == list(range(6))
    assert mine


def test_without_sharing_one_thread_finishes_all():
    by = set()
    ahead = ReadAhead(iter(range(9)), 2, finish=lambda i: by.add(threading.current_thread()) or i)
    assert list(ahead) == list(range(9))
    assert len(by) == 1 and threading.current_thread() not in by


@SHARED
@ROOMS
@pytest.mark.parametrize("bad", [0, 1, 5])
def test_an_error_is_raised_in_its_place_and_nothing_follows(shared, room, bad):
    def finish(i):
        if i == bad:
            raise ValueError(f"item {i}")
        return i

    ahead = ReadAhead(iter(range(9)), room, finish=finish, shared=shared)
    assert list(itertools.islice(ahead, bad)) == list(range(bad))
    with pytest.raises(ValueError, match=f"item {bad}"):
        next(ahead)
    assert list(ahead) == []
    ahead.close()


@SHARED
def test_an_error_of_the_iterator_comes_after_the_items_before_it(shared):
    def items():
        yield from range(4)
        raise OSError("the end")

    ahead = ReadAhead(items(), 2, finish=lambda i: -i, shared=shared)
    assert list(itertools.islice(ahead, 4)) == [0, -1, -2, -3]
    with pytest.raises(OSError, match="the end"):
        next(ahead)


def test_an_interruption_of_the_thread_that_takes_items_loses_none():
    calls = []

    def finish(i):
        if threading.current_thread() is threading.main_thread() and not calls:
            calls.append(i)
            raise KeyboardInterrupt
        return i

    gate = threading.Event()

    def items():
        yield 0
        gate.wait(SECONDS)  # the thread reads, so that the consumer has to finish the first item
        yield from range(1, 5)

    ahead = ReadAhead(items(), 3, finish=finish, shared=True)
    with pytest.raises(KeyboardInterrupt):
        next(ahead)
    gate.set()
    assert calls == [0]
    assert list(ahead) == [0, 1, 2, 3, 4]


@SHARED
@pytest.mark.parametrize("at", [0, 3])
def test_closing_ends_the_thread(shared, at):
    ahead = ReadAhead(itertools.count(), 3, finish=lambda i: i, shared=shared)
    assert list(itertools.islice(ahead, at)) == list(range(at))
    ahead.close()
    assert list(ahead) == []
    assert not ahead._thread.is_alive()


@SHARED
def test_behind_a_large_item_nothing_is_made(shared):
    made = []

    def items():
        for i in range(6):
            made.append(i)
            yield i

    ahead = ReadAhead(items(), 5, size=lambda i: 1 << 24, finish=lambda i: i, shared=shared)
    for i in range(6):
        assert next(ahead) == i
        assert len(made) <= i + 2
    ahead.close()


LINES = "".join(f"{i % 2}\tword{i % 7} and word{i * i % 11}, number {i}\n" for i in range(400)).encode()


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("keep_names", [False, True])
def test_texts_hashed_by_two_threads_make_the_same_model(passes, keep_names):
    models = []
    for read_ahead in (0, 2):
        model = TextClassifier(bits=12, keep_names=keep_names)
        stream = open_stream(LINES, "tsv", text_column=1, batch_bytes=700, read_ahead=read_ahead)
        report = fit_stream(model, stream, passes=passes)
        assert report.rows == 400 * passes
        assert not stream.prepares_in_any_order
        models.append(model)
    one, other = models
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.n_errors_ == other.n_errors_
    assert one.prepares_in_any_order is not keep_names
