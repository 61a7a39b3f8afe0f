"""Room for the passes of a round in one process: what every shard learns, side by side.

It is kept from round to round, since fresh memory has to be cleared page by page, and two threads that ask
for it wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.spaces import LearnerState
from . import loops

if TYPE_CHECKING:
    from .states import State

MOST_BYTES = 1 << 29  #: for all shards together; where they need more, each keeps what it has changed
#: arrays that the compiled loops mix
_MIXED = {"v", "A"}


class ShardArrays:
    """Arrays (shards, numbers) by name, for each learner."""

    def __init__(self, state: State, n_shards: int):
        self.rows = [
            {name: np.empty((n_shards, a.size), a.dtype) for name, a in own.arrays.items()} for own in state
        ]

    @classmethod
    def for_state(cls, state: State, n_shards: int) -> ShardArrays | None:
        """Room for the shards; None where it would take too much, or nothing is mixed by the loops."""
        size = n_shards * sum(a.nbytes for own in state for a in own.arrays.values())
        known = all(own.arrays.keys() <= _MIXED for own in state)
        return cls(state, n_shards) if n_shards > 1 and known and size <= MOST_BYTES else None

    def fits(self, state: State) -> bool:
        """Whether a state has the arrays that there is room for."""
        kinds = [{name: (a.size, a.dtype) for name, a in own.arrays.items()} for own in state]
        return kinds == [{name: (a.shape[1], a.dtype) for name, a in rows.items()} for rows in self.rows]

    def copied(self, state: State, shard: int) -> State:
        """The state in the arrays of a shard."""
        found = []
        for own, rows in zip(state, self.rows, strict=True):
            arrays = {name: rows[name][shard].reshape(a.shape) for name, a in own.arrays.items()}
            for name, a in own.arrays.items():
                np.copyto(arrays[name], a)
            found.append(LearnerState(arrays, own.scalars.copy()))
        return tuple(found)

    def take(self, learned: State, shard: int) -> list[dict[str, np.ndarray]]:
        """The rows of a shard, with what it has learned: a space may have put other arrays in their place."""
        found = []
        for own, rows in zip(learned, self.rows, strict=True):
            for name, a in own.arrays.items():
                row = rows[name][shard]
                if a.ctypes.data != row.ctypes.data:
                    np.copyto(row, a.reshape(-1))
            found.append({name: all_rows[shard] for name, all_rows in rows.items()})
        return found


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

    def mix(self, start: int, stop: int) -> None:
        """Mix these numbers."""
        terms, marks = np.empty((len(self.mu), loops.SPAN)), np.empty(loops.SPAN, np.uint8)
        v = self.given["v"]
        loops.mix_weights(*v, self.mu, terms, marks, self.out["v"], start, stop)
        if "A" in self.given:
            given = (*v, *self.given["A"], self.passed, self.all_passed, self.out["v"])
            loops.mix_sums(*given, terms, marks, self.out["A"], start, stop)


def _bits(a: np.ndarray) -> np.ndarray:
    return a.view(f"i{a.dtype.itemsize}")
