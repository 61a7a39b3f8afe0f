"""Threads that share out tasks: results in order, the first error, and nothing left behind."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from functools import partial

import pytest

from perceptrons.mixing import thread_team as teams
from perceptrons.mixing.thread_team import PendingCall, ThreadTeam, thread_team_of

SIZES = [1, 2, 3, 8]


@pytest.fixture(params=SIZES)
def team(request):
    with ThreadTeam(request.param) as made:
        yield made


def failing(error):
    raise error


def test_results_are_in_the_order_of_the_calls(team):
    for n in (0, 1, 2, 50):
        assert team.map(lambda i: i * i, range(n)) == [i * i for i in range(n)]


@pytest.mark.parametrize("n", SIZES)
def test_so_many_threads_run_at_the_same_time_and_the_caller_is_one(n):
    """Each call waits for all others, so that a thread can take one call only."""
    barrier = threading.Barrier(n, timeout=60)

    def name(_):
        barrier.wait()
        return threading.get_ident()

    with ThreadTeam(n) as team:
        for _ in range(3):
            threads = team.map(name, range(n))
            assert len(set(threads)) == n and threading.get_ident() in threads


def test_tasks_that_follow_are_run_by_whoever_is_free(team):
    then = [PendingCall(partial(pow, i, 2)) for i in range(5)]
    assert team.run([lambda: "called"], then) == ["called"]
    assert [task.result() for task in then] == [0, 1, 4, 9, 16]


def test_the_first_error_is_raised_and_no_other_call_begins(team):
    begun = []

    def call(i):
        begun.append(i)
        if i >= 3:
            raise ValueError(i)
        return i

    with pytest.raises(ValueError, match="3"):
        team.map(call, range(1000))
    assert len(begun) <= 3 + max(SIZES)
    assert team.map(abs, [-1, -2]) == [1, 2]  # the team goes on


def test_the_error_of_the_first_call_is_raised_though_a_later_one_fails_first():
    second_failed = threading.Event()

    def first():
        assert second_failed.wait(60)
        raise KeyError("first")

    def second():
        second_failed.set()
        raise ValueError("second")

    with ThreadTeam(2) as team, pytest.raises(KeyError, match="first"):
        team.run([first, second])


def test_tasks_that_are_dropped_have_no_result():
    then = [PendingCall(partial(failing, MemoryError("full"))), PendingCall(lambda: 1)]
    with ThreadTeam(1) as team:
        assert team.run([lambda: 2], then) == [2]
    with pytest.raises(MemoryError, match="full"):
        then[0].result()
    with pytest.raises(CancelledError):
        then[1].result()


def test_an_interruption_of_the_caller_does_not_wait_for_the_others():
    """The other thread goes on until it is told to stop; here it is told after the interruption."""
    running, go_on, ended = threading.Event(), threading.Event(), []
    caller = threading.get_ident()

    def call(_):
        if threading.get_ident() == caller:
            assert running.wait(60)
            raise KeyboardInterrupt
        running.set()
        assert go_on.wait(60)
        ended.append(True)

    with ThreadTeam(2) as team:
        with pytest.raises(KeyboardInterrupt):
            team.map(call, range(9))
        assert not ended
        go_on.set()
    assert len(ended) == 1


def test_how_many_threads(monkeypatch):
    monkeypatch.setattr(teams, "cores", lambda: 4)
    given = [(9, None), (2, None), (0, None), (9, 6), (2, 6), (9, 1)]
    sizes = [thread_team_of(*one)._n_threads for one in given]
    assert sizes == [4, 2, 1, 6, 2, 1]
