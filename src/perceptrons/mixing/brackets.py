"""The bracket around the best margin of rows that are never in one place: found shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..core import passes
from ..engine import margins

if TYPE_CHECKING:
    from ..engine.spaces import Bracket
    from .jobs import Job
    from .shards import Shard
    from .states import State

#: for each learner of a space; None where it has none
Brackets: TypeAlias = "list[Bracket] | None"


def of_shard(job: Job, shard: Shard, state: State) -> Brackets:
    """What a state proves on the rows of a shard."""
    batch, model = shard.load(job), job.model(state)
    targets = model._space.targets(batch.codes) if batch.targets is None else batch.targets
    found = model._space.bounds(batch.rows, targets, batch.weights, False)
    if batch.exact:
        return found
    return margins.widened(found, 8.0 * margins.U * passes.longest(model, batch))


def of_all(found: Sequence[Brackets]) -> Brackets:
    """What it proves on all rows: the smallest margin of all, and the upper end of any."""
    if any(own is None for own in found):
        return None
    by_learner = zip(*(own for own in found if own is not None), strict=True)
    return [_of_learner(pairs) for pairs in by_learner]


def _of_learner(pairs: Sequence[Bracket]) -> Bracket:
    lows = [low for low, _ in pairs]
    low = None if any(one is None for one in lows) else min(one for one in lows if one is not None)
    return low, min(up for _, up in pairs)
