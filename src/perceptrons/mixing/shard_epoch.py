"""One pass over one shard: a pure function of the state, the shard, the round and the seed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core import passes
from ..engine import draws
from ..engine.intake import frozen
from ..engine.spaces import Counts, NumericalError
from .states import state_of

if TYPE_CHECKING:
    from ..core.learner import Learner
    from ..core.passes import CheckedRows
    from .jobs import Job
    from .shard_arrays import ShardArrays
    from .shards import Shard
    from .states import State


class Delta(NamedTuple):
    """New values of the numbers of an array that have changed, in the order of memory."""

    where: np.ndarray | None  #: their places, ascending; None: all numbers are here
    values: np.ndarray


class SparseSteps(NamedTuple):
    """Sums of the steps of one pass on the rows of a shard, those that are not 0."""

    where: np.ndarray  #: places in an array (rows,) or (rows, classes), in the order of memory
    values: np.ndarray


class Report(NamedTuple):
    """What a pass has counted: the small part of its outcome."""

    shard: int
    counts: Counts  #: of this pass, all learners together
    scalars: tuple[np.ndarray, ...]  #: of each learner, after the pass
    steps: tuple[SparseSteps | None, ...]  #: of each learner
    longest: float  #: length of the longest row
    plain: bool  #: rows have weight 0 or 1, as the theorems assume
    exact: bool  #: rows have the numbers that were given, not rounded ones


class Outcome(NamedTuple):
    """What a pass over a shard has made of the state."""

    report: Report
    deltas: tuple[dict[str, Delta], ...]  #: of each learner, by the names of its arrays


class Stopped(Exception):
    """The pass was told to stop."""


def shard_epoch(
    job: Job,
    state: State,
    shard: Shard,
    number: int,
    stop: Callable[[], bool] | None = None,
    room: ShardArrays | None = None,
    order: np.ndarray | None = None,
) -> Outcome:
    """The pass of round ``number``, from 0, over a shard that begins in this state.

    ``stop`` is called now and then: where it is true the pass ends by :class:`Stopped`. With ``room`` the
    outcome has all numbers, and they are there. ``order`` is that of :func:`visits`, where it is known.
    """
    batch = shard.load(job)
    model = job.model(state) if room is None else job.model_in(room.space(job, state, shard.number))
    space = model._space
    order = visits(job, shard, number) if order is None else order
    for learner in space.learners:
        learner.row_numbers = shard.row_numbers
        learner.reset_lowest()
        if job.keeps_steps:
            learner.begin_steps(shard.n_rows)

    def check() -> None:
        if stop is not None and stop():
            raise Stopped

    try:
        run = partial(passes.run_in_parts, model, before_part=check)
        counts = passes.one_pass(model, batch, order, number, run=run)
    except NumericalError as error:
        raise NumericalError(f"Shard {shard.number}, {error}") from error
    report = _report(model, batch, shard.number, counts)
    if room is None:
        return Outcome(report, _deltas(model, state))
    rows = room.take(state_of(space), shard.number)
    return Outcome(report, tuple({name: Delta(None, a) for name, a in own.items()} for own in rows))


def _report(model: Learner, batch: CheckedRows, number: int, counts: Counts) -> Report:
    space = model._space
    return Report(
        shard=number,
        counts=counts,
        scalars=tuple(learner.state for learner in space.learners),
        steps=tuple(None if steps is None else _sparse(steps) for steps in space.take_steps()),
        longest=passes.longest(model, batch),
        plain=passes.is_plain(model, batch),
        exact=batch.exact,
    )


def _sparse(steps: np.ndarray) -> SparseSteps:
    flat = steps.ravel()
    where = np.flatnonzero(flat)
    return SparseSteps(where, flat[where])


def _deltas(model: Learner, state: State) -> tuple[dict[str, Delta], ...]:
    found = []
    for learned, before in zip(state_of(model._space), state, strict=True):
        found.append({name: delta(a, learned.arrays[name]) for name, a in before.arrays.items()})
    return tuple(found)


def delta(before: np.ndarray, after: np.ndarray) -> Delta:
    """The numbers that differ, bit by bit; all of them where so many do that their places would cost more."""
    kind = f"i{before.dtype.itemsize}"
    flat = after.reshape(-1)
    where = np.flatnonzero(before.reshape(-1).view(kind) != flat.view(kind))
    if 2 * len(where) > len(flat):
        return Delta(None, flat)
    return Delta(where.astype(np.int32) if len(flat) < 2**31 else where, flat[where])


# ---------------------------------------------------------------- the order of the rows


def visits(job: Job, shard: Shard, number: int) -> np.ndarray:
    """The places of the rows of a shard in the order of a round."""
    rows = np.arange(shard.n_rows)
    if not job.learner.shuffle:
        return frozen(rows)
    if job.n_shards == 1:
        return frozen(_as_fit(job.seed, number, len(rows)))
    rng = np.random.default_rng([job.seed, shard.number, number])
    return frozen(draws.permutation(rng, rows, own=True))


_drawn = threading.local()  # a generator between two rounds: the next draw needs all draws before


def _as_fit(seed: int, number: int, n_rows: int) -> np.ndarray:
    """The permutation that a plain fit with this seed draws for epoch ``number``."""
    known = vars(_drawn).get("at")
    if known is None or known[:3] != (seed, n_rows, number):
        known = (seed, n_rows, 0, np.random.default_rng(seed))
    rng, rows = known[3], np.arange(n_rows)
    _drawn.at = None  # an interruption leaves a generator that nothing relies on
    for _ in range(known[2], number + 1):
        order = draws.permutation(rng, rows, own=True)
    _drawn.at = (seed, n_rows, number + 1, rng)
    return order
