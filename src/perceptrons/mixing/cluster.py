"""Shards on the workers of a Dask cluster.

Every pass over a shard, and every sum of two parts, is a task. Nothing is scattered: whatever a worker holds,
the scheduler can have computed again from the description of a task, so a worker that dies costs time and
changes nothing. A shard is loaded by a task and stays with its worker from round to round.

A round is one graph: passes, and a tree of sums. Its result stays with the worker that has made it, where the
next round finds it by name. It is no result that the next round depends on: the scheduler would have to keep
the tasks of all rounds, and to begin with the first when that worker dies. The client has the state as well,
for checkpoints; where it is found nowhere else, it is the argument of a task, from which the workers copy it.

An error in a task is raised at once, as it is. A task whose worker dies is given to another worker, as often
as the scheduler allows (``distributed.scheduler.allowed-failures``). All tasks on a worker are suspected when
it dies, so the suspects are then tried alone, one after the other: the one that ends its workers even then is
named.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .._version import __version__
from ..engine.intake import frozen
from . import merging
from .merging import Round
from .shard_arrays import ShardArrays
from .shard_epoch import Outcome, Report, shard_epoch
from .states import copied
from .sums import joined_down_to
from .surveys import LoadedShard, Survey, shard_of, survey

if TYPE_CHECKING:
    from ..core.learner import Learner
    from .jobs import Job
    from .merging import Part
    from .shards import ShardInMemory
    from .sources import RowSource
    from .states import State

T = TypeVar("T")
AnyShard: TypeAlias = "LoadedShard | ShardInMemory"

POLL = 0.5  #: seconds between two looks at tasks that run
PATIENCE = 60.0  #: seconds without any worker until a run ends


class ClusterError(RuntimeError):
    """A cluster that cannot go on: no scheduler, no workers, or a shard that ends its workers."""


# --------------------------------------------------------------------------------------------------- tasks
# They run on workers: plain functions, found there by their names.


class StateGone(Exception):
    """A worker does not have the state that a round goes on from."""


class Opaque:
    """A value that Dask passes on as it is: it looks into tuples and lists for what has to be computed."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class Branch(NamedTuple):
    """Sums over some shards, with the reports of these shards."""

    part: Part
    reports: tuple[Report, ...]


class MixedHere:
    """The result of a round, on the worker that has made it."""

    __slots__ = ("__weakref__", "address", "round")

    def __init__(self, found: Round):
        import distributed

        self.round, self.address = found, str(distributed.get_worker().address)


#: results of rounds by their names, as long as a client keeps them
_mixed_here: weakref.WeakValueDictionary[str, MixedHere] = weakref.WeakValueDictionary()


def kept(value: Opaque, version: str) -> Any:
    """A value that the scheduler keeps as the argument of this task."""
    check_version(version)
    return value.value


def read(source: Opaque, version: str, *pieces: Any) -> Opaque:
    """The rows of a source; ``pieces`` are what other tasks have computed for it."""
    check_version(version)
    return Opaque(source.value.with_pieces(pieces).read())


def surveyed(rows: Opaque, learner: Learner, name: str) -> Survey:
    """What has to be known about the rows of all shards before the first is learned."""
    return survey(learner, rows.value, name)


def loaded(rows: Opaque, job: Job, number: int, name: str) -> LoadedShard:
    """The rows of a shard, checked."""
    return shard_of(job, number, rows.value, name)


def passed(shard: AnyShard, job: Job, state: State, number: int) -> Outcome:
    """A pass over a shard. Arrays that came from another worker are as the compiled loops take them."""
    return shard_epoch(job, state, _with_arrays_as_made(shard), number)


def called(function: Callable[..., T], job: Job, shard: AnyShard, arguments: tuple[Any, ...]) -> T:
    """A function of a shard."""
    return function(job, _with_arrays_as_made(shard), *arguments)


def reported(outcome: Outcome) -> Report:
    """The small part of an outcome."""
    return outcome.report


def weighed(job: Job, state: State, *reports: Report) -> np.ndarray:
    """(learners, shards): the weights of the shards; equal ones need no reports."""
    if job.mixing == "uniform":
        return merging.equal_shares(len(state), job.n_shards)
    return merging.shares(job, state, reports)


def grown(state: State, mu: np.ndarray, *parts: Branch | Outcome) -> Branch:
    """Two parts joined; an outcome gets the weights of its shard."""
    one, other = (
        Branch(merging.weighted(state, part, mu[:, part.report.shard]), (part.report,))
        if isinstance(part, Outcome)
        else part
        for part in parts
    )
    return Branch(merging.join(state, one.part, other.part), one.reports + other.reports)


def settled(name: str, state: State, mu: np.ndarray, *parts: Branch | Outcome) -> MixedHere:
    """The state after a round, from the last two parts."""
    whole = grown(state, mu, *parts)
    found = merging.settled(state, whole.part, whole.reports, mu)
    return _held(name, Round(found, whole.reports, mu))


def mixed(name: str, job: Job, state: State, *outcomes: Outcome) -> MixedHere:
    """The state after a round of one or two shards."""
    room = ShardArrays.of_outcomes(state, outcomes)
    return _held(name, merging.mixed(job, state, outcomes, room=room))


def resumed(name: str) -> State:
    """The state after a round that was mixed on this worker."""
    found = _mixed_here.get(name)
    if found is None:
        raise StateGone(name)
    return found.round.state


def _held(name: str, found: Round) -> MixedHere:
    _mixed_here[name] = made = MixedHere(found)
    return made


def check_version(version: str) -> None:
    """Refuse to work for another version: its tasks may mean something else."""
    if version != __version__:
        raise ClusterError(
            f"A worker has perceptrons {__version__}, and this process has {version}: install the same "
            f"version on all workers, pip install perceptrons=={version}."
        )


def _with_arrays_as_made(shard: AnyShard) -> AnyShard:
    return shard._replace(rows=_as_made(shard.rows))


def _as_made(rows: Any) -> Any:
    """A record with its arrays read-only and aligned, as they were before they were sent."""
    if isinstance(rows, np.ndarray):
        return frozen(rows)
    if isinstance(rows, tuple) and hasattr(rows, "_fields"):
        return type(rows)(*map(_as_made, rows))
    return rows


# ------------------------------------------------------------------------------------------------- waiting


def _end_of(futures: Sequence[Any]) -> threading.Event:
    """An event that is set when all of these tasks have ended.

    Waiting for them with a limit of time ends by an exception each time, whose traceback would keep the
    futures of a round, and so all that it has computed.
    """
    event, left = threading.Event(), itertools.count(len(futures) - 1, -1)

    def count(_: Any) -> None:
        if next(left) == 0:
            event.set()

    for future in futures:
        future.add_done_callback(count)
    return event


class Waiting:
    """Waits for tasks, as long as there is a scheduler, and from time to time a worker."""

    def __init__(self, client: Any):
        self.client = client
        self.address = str(client.scheduler.address) if client.scheduler is not None else "?"
        self._alone_since: float | None = None

    def wait(self, futures: Sequence[Any]) -> list[int]:
        """Wait until all tasks have ended; returns the places of those whose workers have died too often.

        Any other error of a task is raised as soon as it is known.
        """
        ended = None
        while True:
            self._check_connection(futures)
            states = [future.status for future in futures]
            killed = []
            for place, status in enumerate(states):
                if status == "error" and not self._is_killed(futures[place]):
                    raise self._clear(futures[place].exception())
                if status == "error":
                    killed.append(place)
            running = [f for f, status in zip(futures, states) if status not in ("finished", "error")]
            if not running:
                return killed
            if ended is None or ended.is_set():
                ended = _end_of(running)
            if not ended.wait(POLL):
                self._check_workers()

    def result(self, future: Any) -> Any:
        """The result of a task that has ended; it is computed again if its worker has died since."""
        while not self.wait([future]):
            found = self._fetched(future)
            if found:
                return found[0]
        raise self._clear(future.exception())

    def _fetched(self, future: Any) -> list[Any]:
        """A list of the result, however long it is under way; an empty one where it is there no more."""
        from distributed import CancelledError
        from distributed.comm import CommClosedError

        found: list[Any] = []
        gathering = self.client.gather([future], errors="skip", asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([coming], POLL).done:
                self._check_connection([future])
                self._check_workers()
            with contextlib.suppress(CancelledError, CommClosedError):  # `wait` says what has happened
                found = coming.result()
        finally:
            coming.cancel()
        return found

    @staticmethod
    def _is_killed(future: Any) -> bool:
        from distributed.scheduler import KilledWorker

        return isinstance(future.exception(), KilledWorker)

    @staticmethod
    def _clear(error: BaseException) -> BaseException:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "perceptrons":
            return ClusterError(
                f"A worker has no perceptrons ({error}): install it on all workers, pip install "
                f"perceptrons=={__version__}."
            )
        return error

    def _check_connection(self, futures: Sequence[Any]) -> None:
        if self.client.status != "running" or any(future.cancelled() for future in futures):
            raise ClusterError(
                f"The scheduler {self.address} is gone, and with it what the workers have learned in this "
                "round. A fit that has a checkpoint goes on from the round before, with a new client."
            )

    def _check_workers(self) -> None:
        """Raise if there has been no worker for a while."""
        try:
            n_workers = len(self.client.nthreads())
        except (OSError, TimeoutError):  # the next look at the connection says more
            return
        now = time.monotonic()
        if n_workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > PATIENCE:
            raise ClusterError(
                f"The scheduler {self.address} has had no worker for {PATIENCE:.0f} seconds: start some, "
                f"dask worker {self.address}."
            )


# ------------------------------------------------------------------------------------------------- backend


class LastRound(NamedTuple):
    """What a round has made, and where it is."""

    state: State  #: the client's own copy
    name: str
    address: str  #: of the worker
    future: Any  #: as long as it lives, the worker keeps the result


class Cluster:
    """Runs rounds on the workers of a Dask cluster."""

    def __init__(self, client: Any):
        if client.asynchronous:
            raise ValueError("The client is asynchronous; give one that waits: Client(address).")
        self.client = client
        self._waiting = Waiting(client)
        self._run, self._names = uuid.uuid4().hex[:12], itertools.count()
        self._sources: list[RowSource] = []
        self._given: Sequence[ShardInMemory] = ()
        self._rows: list[Any] = []  # futures, until the shards are made of them
        self._shards: list[Any] = []  # futures
        self._job: Job | None = None
        self._job_there: Any = None  # a future
        self._last: LastRound | None = None
        self._futures: weakref.WeakSet[Any] = weakref.WeakSet()  # of all tasks

    # ---------------------------------------------------------------------------------------------- shards

    def survey(self, learner: Learner, sources: Sequence[RowSource]) -> list[Survey]:
        """Read the rows of all sources, and what has to be known about them."""
        self._sources = list(sources)
        numbers = range(len(sources))
        self._rows = self._secured(numbers, self._read, self._read_again)
        known = self._keep(learner)
        found = self._secured(
            numbers,
            lambda some: self._tasks(surveyed, [(self._rows[s], known, str(sources[s])) for s in some]),
            self._read_again,
        )
        return [self._waiting.result(future) for future in found]

    def open(self, job: Job, shards: Sequence[ShardInMemory] = ()) -> None:
        """Load the shards: those given, or else those of the sources."""
        self._job, self._job_there, self._given = job, self._keep(job), shards
        self._shards = self._secured(
            range(job.n_shards), self._load, (lambda s: None) if shards else self._read_again
        )
        self._rows = []  # the scheduler has the tasks that read them again

    def _read(self, numbers: Sequence[int]) -> list[Any]:
        sources = [self._sources[s] for s in numbers]
        given = [(Opaque(one.with_pieces(())), __version__, *one.pieces) for one in sources]
        return self._tasks(read, given, numbers)

    def _read_again(self, s: int) -> None:
        """Read the rows of a shard by new tasks: those that have failed stay failed."""
        self._sources[s] = self._sources[s].anew()
        if self._rows:
            self._rows[s] = self._read([s])[0]

    def _load(self, numbers: Sequence[int]) -> list[Any]:
        if self._given:
            return self._tasks(kept, [(Opaque(self._given[s]), __version__) for s in numbers], numbers)
        rows = [self._rows[s] for s in numbers] if self._rows else self._read(numbers)
        names = [str(self._sources[s]) for s in numbers]
        given = [(own, self._job_there, s, name) for own, s, name in zip(rows, numbers, names)]
        return self._tasks(loaded, given, numbers)

    def _load_again(self, s: int) -> None:
        """Load a shard by new tasks."""
        if not self._given:
            self._read_again(s)
        self._shards[s] = self._load([s])[0]

    # ---------------------------------------------------------------------------------------------- rounds

    def round(self, state: State, number: int) -> Round:
        """A pass over every shard, and the state that is mixed from them."""
        last = self._last
        if last is not None and last.state is state:
            with contextlib.suppress(StateGone):
                return self._round(state, number, self._resumed(last))
        return self._round(state, number, self._kept(state))

    def _round(self, state: State, number: int, there: Any) -> Round:
        """A round; ``there`` is the task, or the future, that has its state."""
        name, numbers = f"{self._run}-{number}", range(len(self._shards))
        tasks = [self._pass(s, there, number) for s in numbers]
        *begun, whole = self._started([*tasks, self._mixed(name, there, tasks)])
        there = None  # a task that has been suspected is not used again

        def again(some: Sequence[int]) -> list[Any]:
            nonlocal there
            there = self._keep(state) if there is None else there
            return self._started([self._pass(s, there, number) for s in some])

        try:
            outcomes = self._secured(numbers, again, self._load_again, list(begun))
            if any(one is not other for one, other in zip(outcomes, begun, strict=True)):
                whole = self._started([self._mixed(name, there, outcomes)])[0]
            found: MixedHere = self._waiting.result(whole)
        except BaseException:
            self._drop([whole])
            raise
        own = found.round._replace(state=copied(found.round.state))
        self._last = LastRound(own.state, name, found.address, whole)
        return own

    def _pass(self, s: int, there: Any, number: int) -> Any:
        return self._task(passed, self._shards[s], self._job_there, there, number)

    def _mixed(self, name: str, there: Any, outcomes: Sequence[Any]) -> Any:
        """The task of the state after the round."""
        if len(outcomes) <= 2:
            return self._task(mixed, name, self._job_there, there, *outcomes)
        mu = self._shares(there, outcomes)
        last_two = joined_down_to(2, outcomes, lambda a, b: self._task(grown, there, mu, a, b))
        return self._task(settled, name, there, mu, *last_two)

    def _shares(self, there: Any, outcomes: Sequence[Any]) -> Any:
        """The task of the weights of the shards."""
        assert self._job is not None
        of_all = outcomes if self._job.mixing == "mistakes" else ()
        return self._task(weighed, self._job_there, there, *(self._task(reported, one) for one in of_all))

    def _resumed(self, last: LastRound) -> Any:
        """The task that finds a state on its worker. If that is gone it runs elsewhere, and finds nothing."""
        import dask

        with dask.annotate(workers=[last.address], allow_other_workers=True):
            return self._task(resumed, last.name)

    def each(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """``function(job, shard, *arguments)`` for every shard, in their order."""
        given = self._keep(arguments)

        def calls(numbers: Sequence[int]) -> list[Any]:
            return self._tasks(called, [(function, self._job_there, self._shards[s], given) for s in numbers])

        futures = self._secured(range(len(self._shards)), calls, self._load_again)
        return [self._waiting.result(future) for future in futures]

    def close(self) -> None:
        """Release everything on the workers, also what the traceback of an error still has."""
        self._drop(self._futures)
        self._rows, self._shards, self._job_there, self._last = [], [], None, None

    # ----------------------------------------------------------------------------------------------- tasks

    def _keep(self, value: Any) -> Any:
        return self._started([self._kept(value)])[0]

    def _kept(self, value: Any) -> Any:
        return self._task(kept, Opaque(value), __version__)

    def _tasks(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        numbers: Sequence[int] = (),
    ) -> list[Any]:
        """A future for each call; with the numbers of several shards, on workers in turn if they are there.

        A task that only reads a file is short, and the scheduler may give several to one worker. All passes
        over these shards would then wait for that worker.
        """
        import dask

        if len(numbers) < 2:  # a shard that is tried alone may be anywhere
            return self._started([self._task(function, *own) for own in arguments])
        workers, tasks = self._in_turn(), []
        for s, own in zip(numbers, arguments, strict=True):
            where = {"workers": [workers[s % len(workers)]], "allow_other_workers": True} if workers else {}
            with dask.annotate(**where):
                tasks.append(self._task(function, *own))
        return self._started(tasks)

    def _in_turn(self) -> list[str]:
        """The workers, each as often as it has threads, no one a second time before all had a turn."""
        threads = self.client.nthreads()
        turns = range(max(threads.values(), default=0))
        return [worker for turn in turns for worker in sorted(threads) if turn < threads[worker]]

    def _task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        import dask

        name = f"mixing-{function.__name__}-{self._run}-{next(self._names)}"
        return dask.delayed(function, pure=False)(*arguments, dask_key_name=name)

    def _started(self, tasks: Sequence[Any]) -> list[Any]:
        import dask

        # rows and states travel in the graph on purpose: what was scattered would be lost with its worker
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            futures = list(self.client.compute(list(tasks), optimize_graph=False))
        self._futures.update(futures)
        return futures

    def _secured(
        self,
        numbers: Sequence[int],
        make: Callable[[Sequence[int]], list[Any]],
        refresh: Callable[[int], None] = lambda s: None,
        begun: list[Any] | None = None,
    ) -> list[Any]:
        """The tasks of some shards, when they have ended well; ``begun``: those that run already.

        All tasks on a worker that dies are suspected. Those that are suspected too often are tried again when
        no other is left, one at a time, by new tasks.
        """
        futures = make(numbers) if begun is None else begun
        try:
            for s in self._waiting.wait(futures):
                refresh(s)
                futures[s] = make([s])[0]
                if self._waiting.wait([futures[s]]):
                    raise ClusterError(
                        f"Shard {s} ({self._name(s)}) has ended {self._deaths(futures[s])} workers, one "
                        "after the other, while no other shard was learned: it may need more memory than a "
                        "worker has, or crash a library. The logs of the workers say more."
                    )
        except BaseException:
            self._drop(futures)
            raise
        return futures

    def _name(self, s: int) -> str:
        return str(self._sources[s]) if self._sources else f"{self._given[s].n_rows:,} rows"

    @staticmethod
    def _deaths(future: Any) -> int:
        return int(future.exception().allowed_failures) + 1

    def _drop(self, futures: Iterable[Any]) -> None:
        """Let go of tasks: those that have not begun are not run.

        To cancel them would cancel what depends on them as well, and the scheduler ends the connection of a
        client that cancels what it does not hold itself.
        """
        if self.client.status == "running":
            with contextlib.suppress(Exception):
                for future in list(futures):
                    future.release()
