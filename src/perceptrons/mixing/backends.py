"""Where the passes of a round run: one by one in this process, or in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .merging import Round, mixed
from .shard_arrays import ShardArrays
from .shard_epoch import Outcome, shard_epoch, visits
from .thread_team import PendingCall, thread_team_of

if TYPE_CHECKING:
    import numpy as np

    from .jobs import Job
    from .shards import Shard
    from .states import State

T = TypeVar("T")


class Backend(Protocol):
    """Runs rounds. It changes nothing about their results: a round is a function of its arguments."""

    def round(self, state: State, number: int) -> Round:
        """A pass over every shard from this state, and the state that is mixed from them.

        An error, also an interruption, ends the passes that run, and leaves no trace of the round.
        """

    def each(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """``function(job, shard, *arguments)`` for every shard, in their order."""

    def close(self) -> None:
        """No round follows."""


class Serial:
    """One shard after the other."""

    def __init__(self, job: Job, shards: Sequence[Shard]):
        self.job, self.shards = job, shards

    def round(self, state: State, number: int) -> Round:
        outcomes = [shard_epoch(self.job, state, shard, number) for shard in self.shards]
        return mixed(self.job, state, outcomes)

    def each(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        return [function(self.job, shard, *arguments) for shard in self.shards]

    def close(self) -> None:
        """Nothing is open."""


class Threads:
    """Shards in threads of this process, the caller's among them: passes run without Python's lock.

    Shards do not end at the same time. A thread that has nothing left to learn draws the orders of the rows
    for the next round, which do not depend on the state.
    """

    def __init__(self, job: Job, shards: Sequence[Shard], n_threads: int | None = None):
        self.job, self.shards = job, shards
        self._stop = threading.Event()
        self._room: ShardArrays | None = None
        self._orders: dict[int, list[PendingCall[np.ndarray]]] = {}  # by round: of each shard
        self._team = thread_team_of(len(shards), n_threads)

    def round(self, state: State, number: int) -> Round:
        return self.mixed(state, self.passes(state, number))

    def passes(self, state: State, number: int) -> list[Outcome]:
        """The first half of a round: what a pass over each shard has made of the state."""
        try:
            stop, room = self._stop.is_set, self._shard_arrays(state)
            drawn = self._orders.pop(number, None)
            orders = [None] * len(self.shards) if drawn is None else [draw.result() for draw in drawn]
            calls = [
                partial(shard_epoch, self.job, state, shard, number, stop, room, order)
                for shard, order in zip(self.shards, orders, strict=True)
            ]
            return self._team.run(calls, self._to_draw(number + 1))
        except BaseException:
            self._stop.set()
            raise

    def mixed(self, state: State, outcomes: Sequence[Outcome]) -> Round:
        """The second half: the state that is mixed from them."""
        try:
            return mixed(self.job, state, outcomes, self._team.map, self._room)
        except BaseException:
            self._stop.set()
            raise

    def _to_draw(self, number: int) -> list[PendingCall[np.ndarray]]:
        """Calls that draw the orders of a round."""
        learner = self.job.learner
        self._orders.clear()
        if learner.shuffle and (learner.max_iter is None or number < learner.max_iter):
            self._orders[number] = [
                PendingCall(partial(visits, self.job, shard, number)) for shard in self.shards
            ]
        return self._orders.get(number, [])

    def _shard_arrays(self, state: State) -> ShardArrays | None:
        if self._room is None or not self._room.fits(state):
            self._room = ShardArrays.for_state(state, len(self.shards))
        if self._room is not None:
            self._room.begin(state)
        return self._room

    def each(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        return self._team.map(lambda shard: function(self.job, shard, *arguments), self.shards)

    def close(self) -> None:
        self._stop.set()  # of passes that still run, after an error
        self._team.close()
