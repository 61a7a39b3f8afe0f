"""Room for the passes of a round in one process: what every shard learns, side by side.

It is kept from round to round, since fresh memory has to be cleared page by page, and two threads that ask
for it wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.cache_lines import copy_apart, zeros_apart
from ..engine.spaces import LearnerState
from . import loops
from .lending import Lender
from .states import resume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.spaces import Space
    from .jobs import Job
    from .shard_epoch import Outcome
    from .states import State

MOST_BYTES = 1 << 29  #: for all shards together; where they need more, each keeps what it has changed
#: arrays that the compiled loops mix
_MIXED = {"v", "A"}


class ShardArrays:
    """Arrays (shards, numbers) by name, for each learner, and a space for each shard that learns there.

    A row is longer than the array that it stands for where it would end within a pair of cache lines.

    Mixing leaves the mixed numbers in the rows of all shards, so that the next round need not copy them.
    """

    def __init__(self, state: State, n_shards: int):
        self._sizes = _sizes(state)
        self.rows = [
            {name: zeros_apart(n_shards, *size) for name, size in sizes.items()} for sizes in self._sizes
        ]
        self.lender = Lender()  #: of the arrays of mixed states
        self._spaces: dict[int, Space] = {}  # by shard
        self._held: State | None = None  # the state whose numbers all rows have
        self._source: State | None = None  # the state that passes copy before they learn

    @classmethod
    def for_state(cls, state: State, n_shards: int) -> ShardArrays | None:
        """Room for the shards; None where it would take too much, or nothing is mixed by the loops."""
        size = n_shards * sum(a.nbytes for own in state for a in own.arrays.values())
        known = all(own.arrays.keys() <= _MIXED for own in state)
        return cls(state, n_shards) if n_shards > 1 and known and size <= MOST_BYTES else None

    @classmethod
    def of_outcomes(cls, state: State, outcomes: Sequence[Outcome]) -> ShardArrays | None:
        """Room that has what the shards have learned; None as above, or where they have changed little."""
        changes = [change for one in outcomes for deltas in one.deltas for change in deltas.values()]
        room = cls.for_state(state, len(outcomes)) if all(c.where is None for c in changes) else None
        if room is None:
            return None
        for s, one in enumerate(outcomes):
            for deltas, rows in zip(one.deltas, room.rows, strict=True):
                for name, change in deltas.items():
                    rows[name][s, : len(change.values)] = change.values
        return room

    def fits(self, state: State) -> bool:
        """Whether a state has the arrays that there is room for."""
        return _sizes(state) == self._sizes

    def begin(self, state: State) -> None:
        """Passes from this state follow: from here on rows have what the shards learn."""
        self._source = None if self._held is state else state
        self._held = None

    def hold(self, state: State) -> None:
        """All rows have the numbers of this state: it was mixed from them."""
        self._held = state

    def space(self, job: Job, state: State, shard: int) -> Space:
        """A space that goes on from the state in the rows of a shard. It is used again in every round."""
        learners = zip(state, self.rows, strict=True)
        own = tuple(self._in_rows(learner, rows, shard) for learner, rows in learners)
        if shard not in self._spaces:
            self._spaces[shard] = job.fresh_space()
        space = self._spaces[shard]
        resume(space, own)
        return space

    def _in_rows(self, own: LearnerState, rows: dict[str, np.ndarray], shard: int) -> LearnerState:
        arrays = {name: rows[name][shard, : a.size].reshape(a.shape) for name, a in own.arrays.items()}
        if self._source is not None:
            for name, a in own.arrays.items():
                np.copyto(arrays[name], a)
        return LearnerState(arrays, copy_apart(own.scalars))

    def take(self, learned: State, shard: int) -> list[dict[str, np.ndarray]]:
        """The rows of a shard, with what it has learned: a space may have put other arrays in their place."""
        found = []
        for own, rows in zip(learned, self.rows, strict=True):
            taken = {name: rows[name][shard, : a.size] for name, a in own.arrays.items()}
            for name, a in own.arrays.items():
                if a.ctypes.data != taken[name].ctypes.data:
                    np.copyto(taken[name], a.reshape(-1))
            found.append(taken)
        return found


def _sizes(state: State) -> list[dict[str, tuple[int, np.dtype]]]:
    """How many numbers the arrays of each learner have, and of what kind."""
    return [{name: (a.size, a.dtype) for name, a in own.arrays.items()} for own in state]


class MixedRows:
    """The arrays of one learner, mixed block by block from those of all shards."""

    def __init__(
        self,
        own: LearnerState,
        rows: dict[str, np.ndarray],
        mu: np.ndarray,
        passed: np.ndarray,
        all_passed: float,
        arrays: dict[str, np.ndarray],
    ):
        """``passed``, ``all_passed``: SCALE_SUM after each shard, and after all; ``arrays``: the new ones."""
        self.mu, self.passed, self.all_passed = np.ascontiguousarray(mu, np.float64), passed, all_passed
        old = {name: a.reshape(-1) for name, a in own.arrays.items()}
        self.out = {name: a.reshape(-1) for name, a in arrays.items()}
        self.given = {name: (old[name], rows[name], _bits(old[name]), _bits(rows[name])) for name in old}

    def mix(self, start: int, stop: int) -> float:
        """Mix these numbers, in the rows of all shards as well; returns the sum of the squared weights."""
        terms, squares = np.empty((len(self.mu), loops.SPAN)), np.empty(loops.SPAN)
        marks = np.empty(loops.SPAN, np.uint8)
        weights = (*self.given["v"], self.mu, terms, marks, squares, self.out["v"], start, stop)
        if "A" not in self.given:
            return loops.mix_weights(*weights)
        sums = (*self.given["A"], self.passed, self.all_passed, self.out["A"])
        return loops.mix_averages(*weights, *sums)


def _bits(a: np.ndarray) -> np.ndarray:
    return a.view(f"i{a.dtype.itemsize}")
