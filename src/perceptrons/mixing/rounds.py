"""Round after round, until no shard updates or there is another reason to stop."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.loops import scalars

if TYPE_CHECKING:
    from ..engine.spaces import Counts
    from .backends import Backend
    from .merging import Round
    from .states import State


def run(
    backend: Backend,
    state: State,
    n_rounds: int | None,
    keep: Callable[[Round], str | None],
    first: int = 0,
) -> str:
    """Rounds from number ``first`` on, at most up to ``n_rounds``; returns why they ended.

    ``keep`` is called with each complete round before the next begins; a string that it returns is a reason
    to stop. So an interruption leaves what was kept last.
    """
    numbers = itertools.count(first) if n_rounds is None else range(first, n_rounds)
    for number in numbers:
        found = backend.round(state, number)
        state = found.state
        reason = keep(found)
        if reason is not None:
            return reason
    return "max_iter"


def counts(found: Round) -> Counts:
    """The counts of all shards together."""
    total = found.reports[0].counts
    for report in found.reports[1:]:
        total = total.plus(report.counts)
    return total


def record(before: State, found: Round) -> dict[str, Any]:
    """The counts of a round for ``history_``: of all shards together, and the updates of each."""
    total = counts(found)
    k = shard_updates(before, found)
    return {
        "examples": total.examples,
        "mistakes": total.mistakes,
        "updates": total.updates,
        "errors": total.errors,
        "shard_updates": k.tolist(),
        "weighted_updates": [fsum(row) for row in found.mu * k],
    }


def shard_updates(before: State, found: Round) -> np.ndarray:
    """(learners, shards): updates of this round."""
    after = [[own[scalars.UPDATES] for own in report.scalars] for report in found.reports]
    start = [own.scalars[scalars.UPDATES] for own in before]
    return (np.array(after).T - np.array(start)[:, None]).astype(np.int64)
