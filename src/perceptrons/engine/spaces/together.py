"""Learners of one against the rest that read each row together, see :mod:`perceptrons.engine.loops.rest`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ...rows import Csr, Dense
from ...rules import RuleError
from .. import margins
from ..cache_lines import aligned_zeros
from ..custom import engine_rule
from ..intake import frozen
from ..loops import rest, rest_confidence, scalars, side_by_side, tracks
from ..loops.linear import Log
from ..renumbering import InBlock
from .additive import Linear
from .base import NumericalError, empty_log, logged
from .confident import Confident

if TYPE_CHECKING:
    from ..._types import Index, UpdateColumns
    from ..predictions import OneClass, Predictions
    from .base import SingleSpace

#: A common pass pays from so many products of a number and a weight on, and from so many entries for each
#: weight of a learner: to copy it takes as long as some entries. Blocks that are kept serve several passes.
LEAST_PRODUCTS = 1 << 19
LEAST_ENTRIES, LEAST_WHEN_KEPT = 4.0, 1.0
#: Where fewer learners of a block may separate the rows, each reads them by itself.
LEAST_LOOKS = 3
#: A thread of its own pays from so many products on.
LEAST_OF_A_THREAD = 1 << 23
#: Memory that the blocks of all learners may take, in bytes; more threads than blocks take more.
MOST_BYTES = 1 << 28


class Ended(NamedTuple):
    """The pass of one learner."""

    logs: Sequence[UpdateColumns]  #: one, with the updates
    error: RuleError | NumericalError | None = None  #: what has ended it


class LearnerBlock:
    """The arrays of a block of learners side by side, and each learner's part of them.

    ``shared``: a ``rest.Shared`` or a ``rest_confidence.ConfidentShared``; ``kind``: of rows that it is for.
    """

    def __init__(self, shared: Any, parts: list[InBlock], kind: type):
        self.shared, self.parts, self.kind = shared, parts, kind
        self.unlogged = empty_logs(len(parts), 0), tracks.RecordedScores(np.empty((len(parts), 0)), False)
        self._y: np.ndarray | None = None

    def marks(self, y: np.ndarray, learners: range) -> np.ndarray:
        """:func:`marks`; y stays the same from pass to pass."""
        if y is not self._y:
            self._marks, self._y = marks(y, learners), y
        return self._marks

    def of(self, learners: Sequence[SingleSpace], rows: Dense | Csr) -> bool:
        """Whether these learners have their arrays there, for such rows."""
        pairs = zip(learners, self.parts, strict=False)
        same = len(learners) == len(self.parts) and all(one.in_slots is part for one, part in pairs)
        return same and type(rows) is self.kind


#: Blocks that are kept from pass to pass, by their first learner
Blocks = dict[int, LearnerBlock]


def zeros_for(rows: Dense | Csr, v: np.ndarray) -> np.ndarray:
    """Zeros for the weights of a block of learners with weights like v."""
    return aligned_zeros((len(v), side_by_side.WIDTH), v.dtype, "C" if isinstance(rows, Csr) else "F")


def alike(learners: Sequence[SingleSpace]) -> bool:
    """Whether the learners differ by what they have learned alone, and have a common loop."""
    first = learners[0]
    if type(first) not in (Linear, Confident) or (isinstance(first, Confident) and first.full):
        return False
    names = ("rule", "frame", "track_name", "prediction", "full")
    return all(
        type(one) is type(first)
        and all(getattr(one, name, None) == getattr(first, name, None) for name in names)
        and weights(one).shape == weights(first).shape
        for one in learners[1:]
    )


def weights(learner: SingleSpace) -> np.ndarray:
    """The weights by column of a learner that has a common loop with others, which need not be up to date."""
    found: np.ndarray = vars(learner)["v"]
    return found


def bytes_of_block(learner: Linear | Confident) -> int:
    """What the arrays of a block of such learners take."""
    of_sigma = 8 if isinstance(learner, Confident) else 0
    v = weights(learner)
    return side_by_side.WIDTH * len(v) * (v.itemsize + of_sigma)


def pays(learners: Sequence[SingleSpace], rows: Any, n_rows: int, kept: Blocks | None) -> bool:
    """Whether reading so many of these rows together is faster; ``kept``: blocks stay for later passes."""
    kinds = (Linear, Confident)
    if not isinstance(rows, (Dense, Csr)) or len(learners) < 3 or not isinstance(learners[0], kinds):
        return False
    if kept and all(isinstance(one.in_slots, InBlock) for one in learners):
        return True
    entries, width = entries_of(rows, n_rows), len(weights(learners[0]))
    enough = entries >= width * (LEAST_ENTRIES if kept is None else LEAST_WHEN_KEPT)
    small = len(blocks(len(learners))) * bytes_of_block(learners[0]) <= MOST_BYTES
    worth = small and enough and entries * len(learners) >= LEAST_PRODUCTS
    return (bool(kept) or worth) and alike(learners)


def entries_of(rows: Dense | Csr, n_rows: int) -> float:
    """How many numbers so many of these rows have, about."""
    a_row = rows.X.shape[1] if isinstance(rows, Dense) else float(rows.indptr[-1]) / max(1, len(rows.sq))
    return a_row * n_rows


def blocks(n_learners: int, n_threads: int = 1, entries: float = 0.0) -> list[slice]:
    """The learners in blocks of at most WIDTH; as many as threads, where each then has enough to do."""
    busy = min(n_threads, n_learners, int(entries * n_learners / LEAST_OF_A_THREAD))
    n = max(-(-n_learners // side_by_side.WIDTH), busy)
    ends = [n_learners * b // n for b in range(n + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def positives(y: np.ndarray, r: int, rows: Index = slice(None)) -> np.ndarray:
    """Which rows are positive for learner r: y has their class codes, or a column of 0 and 1 per learner."""
    found: np.ndarray = y[rows, r] != 0 if y.ndim == 2 else y[rows] == r
    return found


def marks(y: np.ndarray, learners: range) -> np.ndarray:
    """uint8 for each row: bit r is set where it is positive for learner r of at most WIDTH."""
    bits = np.uint8(1) << np.arange(len(learners), dtype=np.uint8)
    if y.ndim == 2:
        return frozen((y[:, learners.start : learners.stop] != 0) @ bits)
    of_class = np.zeros(max(learners.stop, int(y.max(initial=0)) + 1), np.uint8)
    of_class[learners.start : learners.stop] = bits
    return frozen(of_class[y])


def empty_logs(n: int, length: int) -> Log:
    """Room for the updates of n learners."""
    return Log(
        np.empty((n, length), np.int64),
        np.empty((n, length), np.int64),
        np.empty((n, length)),
        np.empty((n, length, 1)),
    )


def eight(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """WIDTH arrays: the last one fills up."""
    return (*arrays, *[arrays[-1]] * (side_by_side.WIDTH - len(arrays)))


def pays_to_look(learners: Sequence[SingleSpace], rows: Any) -> bool:
    """Whether all learners together are faster at a first look at the rows, see :mod:`..margins`."""
    if not (isinstance(rows, Csr) and all(isinstance(one, Linear) for one in learners)):
        return False
    few = len(rows.sq) * len(learners) * 8 <= MOST_BYTES
    return few and pays(learners, rows, len(rows.sq), {}) and not margins.is_wide(rows, weights(learners[0]))


def first_looks(
    learners: Sequence[SingleSpace], first: int, rows: Csr, y: np.ndarray, c: np.ndarray
) -> list[margins.FirstLook | None]:
    """The first look of each learner of a block at the rows; None: it has to take it by itself."""
    scaled = [one.direction() for one in cast("Sequence[Linear]", learners)]
    n, width = len(scaled), side_by_side.WIDTH
    V, dots = zeros_for(rows, scaled[0].w), aligned_zeros((width,), scaled[0].w.dtype)
    side_by_side.take_in(eight([one.w for one in scaled]), n, V)
    sizes, signs = np.array([one.size for one in scaled]), marks(y, range(first, first + n))
    lower, smallest, raw = np.empty((n, len(rows.sq))), np.empty(n), np.empty(n)
    whole = margins.first_looks(rows, signs, c, V, sizes, LEAST_LOOKS, dots, raw, lower, smallest)
    return [
        margins.FirstLook(float(least), own) if whole or least == -inf else None
        for least, own in zip(smallest, lower, strict=True)
    ]


class Together:
    """A block of learners of consecutive classes; ``kept`` has the arrays of blocks from pass to pass."""

    def __init__(self, learners: Sequence[SingleSpace], first: int, kept: Blocks):
        self.learners = cast("list[Linear] | list[Confident]", list(learners))
        self.first = first
        self._kept = kept

    def _block(self, rows: Dense | Csr) -> LearnerBlock:
        """The learners' arrays side by side: those of the pass before, where they have not left them."""
        found = self._kept.get(self.first)
        if found is not None and found.of(self.learners, rows):
            return found
        for learner in self.learners:
            learner.leave_slots()
        shared, n = self._shared(rows), len(self.learners)
        arrays = {"v": shared.V}
        side_by_side.take_in(eight([one.v for one in self.learners]), n, shared.V)
        if isinstance(shared, rest_confidence.ConfidentShared):
            confident = cast("list[Confident]", self.learners)
            side_by_side.take_in(eight([one.sigma for one in confident]), n, shared.S)
            arrays["sigma"] = shared.S
        parts = [InBlock({name: a[:, r] for name, a in arrays.items()}) for r in range(n)]
        for one, part in zip(cast("list[SingleSpace]", self.learners), parts, strict=True):
            one.in_slots = part  # an interruption here finds the same numbers in both places
        self._kept[self.first] = LearnerBlock(shared, parts, type(rows))
        return self._kept[self.first]

    def _shared(self, rows: Dense | Csr) -> Any:
        v, n = weights(self.learners[0]), len(self.learners)
        V, dots = zeros_for(rows, v), aligned_zeros((side_by_side.WIDTH,), v.dtype)
        raw, state = np.zeros(n), np.zeros((n, scalars.SIZE))
        if isinstance(self.learners[0], Linear):
            return rest.Shared(V, dots, np.empty_like(v), raw, state)
        sigma = self.learners[0].sigma
        squares, d, beta = (aligned_zeros((side_by_side.WIDTH,), sigma.dtype) for _ in range(3))
        S, variance = zeros_for(rows, sigma), np.zeros(n)
        return rest_confidence.ConfidentShared(V, S, dots, squares, raw, variance, d, beta, state)

    def _receivers(self, predictions: Predictions | None, score: np.ndarray) -> list[OneClass]:
        """Where each learner hands in its scores."""
        if predictions is None:
            return []
        made = [predictions.of_class(self.first + r) for r in range(len(score))]
        for receiver, own in zip(made, score, strict=True):
            receiver.give(partial(receiver.take, own, True, len(own)))
        return made

    def run(
        self,
        rows: Dense | Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None,
    ) -> list[Ended]:
        """One pass; y is that of all learners, see :func:`positives`."""
        n, block = len(self.learners), self._block(rows)
        log, recorded = block.unlogged
        if keep_log:
            log = empty_logs(n, len(order))
        if predictions is not None:
            recorded = tracks.RecordedScores(np.full((n, len(order)), np.nan), predictions.unit)
        score = recorded.score
        receivers = self._receivers(predictions, score)
        ending = rest.Ending(*np.zeros((3, n), np.int64))
        signs = block.marks(y, range(self.first, self.first + n))
        given = rows, signs, c, order
        with InBlock.all_changing(block.parts):
            if isinstance(self.learners[0], Linear):
                self._run_linear(given, log, recorded, block.shared, ending)
            else:
                self._run_confident(given, log, recorded, block.shared, ending)
        nothing = empty_log(0, 1)
        if not (keep_log or receivers or ending.how.any()):
            return [Ended([nothing])] * n
        found = []
        for r, learner in enumerate(cast("list[Linear | Confident]", self.learners)):
            how, at = int(ending.how[r]), int(ending.at[r])
            if receivers:
                receivers[r].take(score[r], how == scalars.DONE, at)
            own = logged(Log(*(a[r] for a in log)), int(ending.n_logged[r])) if keep_log else nothing
            try:
                if how != scalars.DONE:
                    i = int(order[at])
                    sign = 1.0 if signs[i] >> r & 1 else -1.0
                    learner.raise_at(how, own, rows, i, sign, c)
                found.append(Ended([own]))
            except (RuleError, NumericalError) as error:
                found.append(Ended([own], error))
        return found

    def _run_linear(
        self,
        given: tuple[Any, ...],
        log: Log,
        recorded: tracks.RecordedScores,
        shared: rest.Shared,
        ending: rest.Ending,
    ) -> None:
        learners = cast("list[Linear]", self.learners)
        one = learners[0]
        arrays = rest.OwnArrays(
            A=() if one.A is None else eight([one.A for one in learners]),
            state=eight([one.state for one in learners]),
            steps=eight([one.steps_or_none() for one in learners]),
        )
        rule, tol, limit = engine_rule(one.rule), one.frame.tol, one._limit()
        rest.run(
            rule,
            *given,
            arrays,
            one.track(),
            log,
            recorded,
            shared,
            ending,
            one.prediction,
            tol,
            limit,
        )

    def _run_confident(
        self,
        given: tuple[Any, ...],
        log: Log,
        recorded: tracks.RecordedScores,
        shared: rest_confidence.ConfidentShared,
        ending: rest.Ending,
    ) -> None:
        learners = cast("list[Confident]", self.learners)
        one = learners[0]
        states = eight([one.state for one in learners])
        tol, limit = one.frame.tol, one._limit()
        rest_confidence.run(one.rule, *given, states, log, recorded, shared, ending, tol, limit)
