"""Threads that share out calls; the thread that hands them out is one of them.

A thread that only waits for the others is one more than there are cores. When it wakes as many as there are
cores, while it still runs itself, the system may put two of them on one core, and moves one away only after
some milliseconds.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")
S = TypeVar("S")


class PendingCall(Generic[T]):
    """A call that is made once, by whichever thread takes it."""

    def __init__(self, call: Callable[[], T]):
        self._call = call
        self._future: Future[T] = Future()

    def run(self) -> bool:
        """Make the call; returns whether it has ended without an error."""
        try:
            self._future.set_result(self._call())
        except BaseException as error:
            self._future.set_exception(error)
            return False
        return True

    def interrupted(self) -> bool:
        """Whether the call has ended by Ctrl-C, or by another error that none of ours is."""
        error = self._future.exception()
        return error is not None and not isinstance(error, Exception)

    def drop(self) -> None:
        """The call is not made: whoever waits for its result gets ``CancelledError``."""
        self._future.cancel()

    def result(self) -> T:
        """What the call has returned, or the error that it has raised, when it has ended."""
        return self._future.result()


#: calls that no thread has taken yet
CallQueue: TypeAlias = "deque[PendingCall[Any]]"


class ThreadTeam:
    """So many threads, the one that calls :meth:`run` included."""

    def __init__(self, n_threads: int):
        self._n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads - 1, "perceptrons") if n_threads > 1 else None

    def run(self, calls: Iterable[Callable[[], T]], then: Iterable[PendingCall[Any]] = ()) -> list[T]:
        """The results of the calls, in their order.

        Calls begin in their order. When one has failed no other begins, and the error of the first that has
        one is raised. ``then``: for threads that have nothing left to call; what other threads have begun of
        it may still run on return.
        """
        pending = [PendingCall(call) for call in calls]
        waiting: CallQueue = deque([*pending, *then])
        try:
            if self._pool is not None:
                for _ in range(min(self._n_threads, len(waiting)) - 1):
                    self._pool.submit(_take, waiting)
            failed = _take(waiting)
            if failed is not None and failed.interrupted():
                failed.result()  # raises: it does not wait for the other threads
            return [call.result() for call in pending]
        except BaseException:
            _drop(waiting)
            raise

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """The function of every item, in their order."""
        return self.run([partial(function, item) for item in items])

    def close(self) -> None:
        """Wait for the other threads; nothing is run any more."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> ThreadTeam:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _take(waiting: CallQueue) -> PendingCall[Any] | None:
    """Make calls until none is left, or one has failed, which is returned."""
    while True:
        try:
            call = waiting.popleft()
        except IndexError:
            return None
        if not call.run():
            _drop(waiting)
            return call


def _drop(waiting: CallQueue) -> None:
    """No call that has not begun is made."""
    while True:
        try:
            waiting.popleft().drop()
        except IndexError:
            return


def thread_team_of(n_calls: int, n_threads: int | None) -> ThreadTeam:
    """A thread per call, but no more than there are cores, or than were asked for."""
    return ThreadTeam(max(1, min(n_calls, cores() if n_threads is None else n_threads)))


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
