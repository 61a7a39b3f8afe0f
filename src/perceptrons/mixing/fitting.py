"""A fit by parameter mixing: rows into shards, rounds, and the learner that holds the mixed state."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import checks, epochs, starting, stopping
from ..core.fit_rows import rows_of_fit
from ..core.perceptron import MarginPerceptronSpec
from ..core.progress import Progress
from ..core.run_attributes import one_or_all
from ..core.run_records import Mixing
from ..core.writing import at_rest, one_writer, unchanged_on_error
from ..engine import draws, intake
from ..engine.margins import STEPS_LIMIT
from ..text.learner import TextClassifierSpec
from . import brackets, places, rounds, shards, supported
from .backends import Backend, Serial, Threads
from .checkpoints import RoundFile, digest
from .jobs import Job
from .states import State, resume, state_of

if TYPE_CHECKING:
    from ..core.learner import Learner
    from ..core.passes import CheckedRows
    from ..engine.spaces import Space
    from .merging import Round
    from .shards import Shard, ShardInMemory

_UNFINISHED = ("max_time", "callback")  # reasons to stop after which the same fit can go on


class Settings(NamedTuple):
    """How a fit is mixed; see :class:`perceptrons.ParameterMixing`."""

    n_shards: int = 4
    mixing: str = "uniform"
    backend: Any = "threads"
    shards: Any = None
    checkpoint: str | os.PathLike[str] | None = None
    reading: dict[str, Any] | None = None
    max_time: float | None = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callable[[], object] | None = None  #: a true result stops

    def check(self, learner: Learner) -> None:
        """Refuse values that cannot work for this learner."""
        supported.check(learner)
        checks.whole("n_shards", self.n_shards)
        checks.one_of("mixing", self.mixing, ("uniform", "mistakes"))
        places.check(self.backend)
        checks.whole("n_jobs", self.n_jobs, none=True)
        checks.verbose(self.verbose)
        if self.max_time is not None:
            checks.positive("max_time", self.max_time)
        if self.mixing == "mistakes" and supported.by_confidence(learner):
            raise ValueError(
                f"mixing='mistakes' weighs whole shards, and {type(learner).__name__} is mixed by what each "
                "shard has learned about each feature; use mixing='uniform'."
            )


def seed_of(random_state: Any, file: RoundFile) -> int:
    """The number that all orders of rows are drawn from: the one given, that of the file, or a new one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        checks.generator(random_state)  # raises for a negative one
        return int(random_state)
    drawn = int(draws.uniform(checks.generator(random_state)) * 2**53)
    return drawn if file.seed is None else file.seed


def fit(
    learner: Learner,
    X: Any,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    how: Settings,
    begun: Callable[[Fit], None],
) -> None:
    """Fit the learner by mixing; after an error it has the state of the last complete round.

    ``begun`` is called when the rows have been accepted, before the first round.
    """
    how.check(learner)
    lists = None if how.shards is None else shards.as_lists(how.shards)
    with one_writer(learner, anew=True), RoundFile(how.checkpoint, learner) as file:
        seed = seed_of(learner.random_state, file)
        with unchanged_on_error(learner):
            if isinstance(learner, TextClassifierSpec):
                X = learner._named_texts(X)
            batch = rows_of_fit(learner, X, y, sample_weight, None)
            supported.check_targets(learner, batch.codes)
            n_rows = batch.X.shape[0]
            numbers = shards.blocks(n_rows, how.n_shards) if lists is None else lists
            shards.check_lists(numbers, n_rows)
            passes = passing(learner)
            space = learner._start(batch, None, None)
            batch = batch._replace(targets=space.targets(batch.codes))
            parts = shards.in_memory(batch, numbers)
            steps, width = not space.of_texts and _few_steps(space.learners, n_rows), batch.X.shape[1]
            job = Job(passes, space.frame, width, len(parts), seed, how.mixing, steps)
            starting.adopt(learner, space, [])
        found = Fit(learner, job, parts, how, batch, file)
        begun(found)
        found.run(_opened(job, parts, how))


def _opened(job: Job, parts: Sequence[ShardInMemory], how: Settings) -> Backend:
    """What runs the rounds."""
    if how.backend == "serial":
        return Serial(job, parts)
    if how.backend == "threads":
        return Threads(job, parts, how.n_jobs)
    from .cluster import Cluster

    cluster = Cluster(places.client_of(how.backend))
    try:
        cluster.open(job, parts)
    except BaseException:
        cluster.close()
        raise
    return cluster


def passing(learner: Learner) -> Learner:
    """A copy that makes passes over shards: its parameters and labels, one thread, and no one to tell."""
    made = copy.copy(learner)
    made.n_jobs, made.verbose, made.random_state = 1, 0, None
    return made


def _few_steps(learners: Sequence[Any], n_rows: int) -> bool:
    """Whether the sums of the steps on each row may take the memory that they need."""
    return sum(8 * prod(learner._steps_shape(n_rows) or (0,)) for learner in learners) <= STEPS_LIMIT


class Fit:
    """A fit under way: the learner has the state of the last complete round.

    ``batch`` has all rows, where they are in memory: without it the bracket is that of the run alone, and
    rows are not read again for its lower end.
    """

    def __init__(
        self,
        learner: Learner,
        job: Job,
        parts: Sequence[Shard],
        how: Settings,
        batch: CheckedRows | None,
        file: RoundFile,
    ):
        self.learner, self.job, self.parts, self.how, self.batch = learner, job, parts, how, batch
        self.file = file
        self.first = 0  #: the round that the fit begins with: those before were stored
        self.state: State = state_of(learner._space)
        if isinstance(learner, MarginPerceptronSpec):
            learner.gamma_ = float(learner.gamma)
        self._clean = False
        self._judge = stopping.Judge(learner, keeps=False)
        self._steps: list[np.ndarray | None] = [None] * len(self.state)
        if job.keeps_steps and batch is not None:
            for one in learner._space.learners:
                one.begin_steps(batch.X.shape[0])
            self._steps = learner._space.take_steps()
        numbers = [part.row_numbers for part in parts if part.row_numbers is not None]
        self._once = not numbers or int(np.bincount(np.concatenate(numbers)).max()) == 1

    def run(self, backend: Backend) -> None:
        """Rounds until there is a reason to stop, then the bracket around the best margin."""
        learner, total = self.learner, self.learner.max_iter
        self._deadline = None if self.how.max_time is None else time.monotonic() + self.how.max_time
        try:
            if self.file.active:
                self._resume(backend)
            with Progress("ParameterMixing", total, self.how.verbose) as self._progress:
                self.first = learner.n_iter_
                learner.stop_reason_ = rounds.run(backend, self.state, total, self.keep, self.first)
            self._state_bounds(backend)
            if learner.stop_reason_ not in _UNFINISHED:
                self.file.remove()
        except BaseException:
            learner.stop_reason_ = "failed"
            raise
        finally:
            backend.close()

    def _resume(self, backend: Backend) -> None:
        """Go on from the rounds in the file, if there are any of this fit."""
        facts = {
            "seed": self.job.seed,
            "n_shards": self.job.n_shards,
            "mixing": self.job.mixing,
            "n_features": self.job.n_features,
            "rows": backend.each(digest),
        }
        state = self.file.resume(self.learner, facts)
        if state is None:
            return
        self.state = state
        self.learner._space = self._space_of(state)
        if self.learner._steps is not None:
            self._steps = self.learner._steps
        for record in self.learner.history_ if self.learner.tol is not None else []:
            self._judge.loss(record["loss"])

    def _state_bounds(self, backend: Backend) -> None:
        """Set the bracket around the best margin: by all rows where they are here, else shard by shard."""
        learner = self.learner
        if self.batch is None:
            learner._bounds = one_or_all(brackets.of_all(backend.each(brackets.of_shard, self.state)))
            return
        for one, steps in zip(learner._space.learners, self._steps, strict=True):
            one.steps = steps
        epochs.state_bounds(learner, self.batch, self._clean and self.how.callback is None)

    def keep(self, found: Round) -> str | None:
        """Keep a complete round as the state of the learner; returns a reason to stop."""
        learner = self.learner
        record = rounds.record(self.state, found)
        if supported.by_confidence(learner):
            del record["weighted_updates"]  # shards have no weights
        self._add_steps(found)
        self._clean = record["updates"] == 0
        attributes: dict[str, Any] = {  # set all at once: an interruption comes before or after
            "_space": self._space_of(found.state),
            "_longest": max(report.longest for report in found.reports),
            "_plain": self._once and all(report.plain for report in found.reports),
            "history_": [*learner.history_, record],
            "n_iter_": learner.n_iter_ + 1,
        }
        if self.job.n_shards > 1:  # no theorem on one run holds
            attributes["_mixing"] = Mixing(self.job.mixing, self.job.n_shards, attributes["_plain"])
            attributes["_plain"] = False
        vars(learner).update(attributes)
        self.state = found.state
        if learner.tol is not None:
            record["loss"] = epochs.mean_loss(rounds.counts(found))
            self._judge.loss(record["loss"])
        learner._check_run()
        self._progress.epoch(learner.n_iter_, record)
        reason = self._reason(record)
        if reason is None or reason in _UNFINISHED:
            learner._steps = self._steps
            self.file.save(learner)
            learner._steps = None
        return reason

    def _space_of(self, state: State) -> Space:
        """A space of the learner in this state."""
        learner = self.learner
        space = learner._new_space(self.job.frame, self.job.n_features, len(learner.classes_))
        resume(space, state)
        return space

    def _reason(self, record: dict[str, Any]) -> str | None:
        reason = self._why_stop(record)
        if self.how.callback is not None:
            with at_rest(self.learner):
                stop = self.how.callback()
            if self.batch is not None:
                intake.check_again(self.batch.X, self.batch.rows)
            if stop:
                return reason or "callback"
        late = self._deadline is not None and time.monotonic() > self._deadline
        return reason or ("max_time" if late else None)

    def _why_stop(self, record: dict[str, Any]) -> str | None:
        learner, stalled = self.learner, self._judge.stalled()
        if self.batch is None:
            return "clean pass" if self._clean else "no improvement" if stalled else None
        if self.job.n_shards == 1:  # the same as a plain fit
            return learner._why_stop(self.batch, record, self._clean, stalled)
        return stopping.reason(learner, self.batch, self._clean, stalled)

    def _add_steps(self, found: Round) -> None:
        """Add the steps of a round, each by the weight of its shard."""
        for report, part in zip(found.reports, self.parts, strict=True):
            for steps, total, mu in zip(report.steps, self._steps, found.mu[:, report.shard], strict=True):
                if steps is None or total is None or part.row_numbers is None:
                    continue
                width = total.size // len(total)
                rows, column = np.divmod(steps.where, width)
                np.add.at(total.reshape(-1), part.row_numbers[rows] * width + column, mu * steps.values)
