"""A fit of rows that are read shard by shard, where they are learned, and are never in one place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core import starting
from ..core.writing import one_writer, unchanged_on_error
from .backends import Backend, Serial, Threads
from .checkpoints import RoundFile
from .fitting import Fit, Settings, passing, seed_of
from .jobs import Job
from .places import client_of, is_dask
from .surveys import Survey, agree, shard_of, survey
from .thread_team import thread_team_of

if TYPE_CHECKING:
    from ..core.learner import Learner
    from ..core.passes import CheckedRows
    from ..io.records import Batch
    from .shards import Shard
    from .sources import RowSource


class ShardAway(NamedTuple):
    """A shard whose rows are on a worker."""

    number: int
    n_rows: int
    row_numbers: np.ndarray | None = None

    def load(self, job: Job) -> CheckedRows:
        raise RuntimeError("The rows of this shard are on a worker.")


class Here:
    """Shards that are read and learned in this process."""

    def __init__(self, n_threads: int | None, serial: bool):
        self._n_threads, self._serial = 1 if serial else n_threads, serial
        self._names: list[str] = []
        self._batches: list[Batch] = []

    def survey(self, learner: Learner, sources: Sequence[RowSource]) -> list[Survey]:
        """Read the rows of all sources, and what has to be known about them."""
        self._names = list(map(str, sources))
        with thread_team_of(len(sources), self._n_threads) as team:
            self._batches = team.run([source.read for source in sources])
            batches = zip(self._batches, self._names, strict=True)
            return team.run([partial(survey, learner, *own) for own in batches])

    def opened(self, job: Job) -> tuple[Backend, Sequence[Shard]]:
        """What runs the rounds, and the shards."""
        batches = zip(range(len(self._batches)), self._batches, self._names, strict=True)
        with thread_team_of(len(self._batches), self._n_threads) as team:
            parts = team.run([partial(shard_of, job, *own) for own in batches])
        self._batches = []
        return (Serial(job, parts) if self._serial else Threads(job, parts, self._n_threads)), parts

    def close(self) -> None:
        """Let go of all rows."""
        self._batches = []


class Away:
    """Shards that are read and learned by the workers of a cluster."""

    def __init__(self, how: Settings):
        from .cluster import Cluster

        self._cluster = Cluster(client_of(how.backend))
        self._surveys: list[Survey] = []

    def survey(self, learner: Learner, sources: Sequence[RowSource]) -> list[Survey]:
        """Read the rows of all sources, and what has to be known about them."""
        self._surveys = self._cluster.survey(learner, sources)
        return self._surveys

    def opened(self, job: Job) -> tuple[Backend, Sequence[Shard]]:
        """What runs the rounds, and the shards."""
        self._cluster.open(job)
        return self._cluster, [ShardAway(s, found.n_rows) for s, found in enumerate(self._surveys)]

    def close(self) -> None:
        """Let the workers forget all rows."""
        self._cluster.close()


def fit(
    learner: Learner,
    sources: Sequence[RowSource],
    how: Settings,
    begun: Callable[[Fit], None],
    accept: Callable[[Sequence[Survey]], None] = lambda surveys: None,
) -> None:
    """Fit the learner to the rows of the sources, a shard each; see ``fitting.fit``.

    ``accept`` is called when the rows have been read, and may raise.
    """
    how.check(learner)
    _check(learner)
    with one_writer(learner, anew=True), RoundFile(how.checkpoint, learner) as file:
        seed = seed_of(learner.random_state, file)
        place = Away(how) if is_dask(how.backend) else Here(how.n_jobs, how.backend == "serial")
        with unchanged_on_error(learner), _closed_on_error(place):
            surveys = place.survey(learner, sources)
            accept(surveys)
            agreed = agree(learner, surveys)
            passes = passing(learner)
            passes.class_weight = agreed.class_weight
            frame, width = learner._frame(agreed.dtype), learner.n_features_in_
            job = Job(passes, frame, width, len(sources), seed, how.mixing)
            starting.adopt(learner, job.fresh_space(), [])
            backend, parts = place.opened(job)
        found = Fit(learner, job, parts, how, None, file)
        begun(found)
        found.run(backend)


@contextlib.contextmanager
def _closed_on_error(place: Here | Away) -> Iterator[None]:
    try:
        yield
    except BaseException:
        place.close()
        raise


def _check(learner: Learner) -> None:
    """Refuse parameters that need all rows in one place."""
    if getattr(learner, "intercept_scaling", None) == "auto":
        raise ValueError(
            "intercept_scaling='auto' takes B from all rows, and they are read shard by shard: give a "
            "number, such as 0.3 times the length of a typical row."
        )
    if getattr(learner, "keep_names", False):
        raise ValueError(
            "keep_names=True keeps the words of all texts, and they are read shard by shard; leave it out."
        )
