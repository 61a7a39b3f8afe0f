"""Learners of one against the rest that read each row together, see :mod:`perceptrons.engine.loops.rest`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ...rows import Csr, Dense
from ...rules import RuleError
from ..custom import engine_rule
from ..loops import rest, rest_confidence, scalars, side_by_side, tracks
from ..loops.linear import Log
from ..text_slots import aligned_zeros
from .additive import Linear
from .base import NumericalError, logged
from .confident import Confident

if TYPE_CHECKING:
    from ..._types import Index, UpdateColumns
    from ..predictions import OneClass, Predictions
    from .base import SingleSpace

#: A common pass pays from so many products of a number and a weight on, and from so many entries for each
#: weight of a learner: the copy takes as long as some entries. Copies that are kept serve several passes.
LEAST_PRODUCTS = 1 << 19
LEAST_ENTRIES, LEAST_WHEN_KEPT = 4.0, 1.0
#: A thread of its own pays from so many products on.
LEAST_OF_A_THREAD = 1 << 23
#: Memory that the copies of all learners may take, in bytes; more threads than blocks take more.
MOST_BYTES = 1 << 28


class Ended(NamedTuple):
    """The pass of one learner."""

    logs: Sequence[UpdateColumns]  #: one, with the updates
    error: RuleError | NumericalError | None = None  #: what has ended it


class Copied(NamedTuple):
    """A copy of the weights of a block, and the arrays that it is a copy of."""

    shared: Any  #: ``rest.Shared`` or ``rest_confidence.ConfidentShared``
    originals: list[np.ndarray]
    kind: type  #: of the rows that it is for

    def of(self, arrays: list[np.ndarray], rows: Dense | Csr) -> bool:
        """Whether it is a copy of these very arrays, for such rows."""
        same = len(arrays) == len(self.originals) and all(map(operator.is_, arrays, self.originals))
        return same and type(rows) is self.kind


#: Copies that are kept from pass to pass, by the first learner of the block
Copies = dict[int, Copied]


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
    """The weights of a learner that has a common loop with others."""
    return cast("Linear | Confident", learner).v


def bytes_of_block(learner: Linear | Confident) -> int:
    """What the copies of a block of such learners take."""
    sigma = learner.sigma.nbytes if isinstance(learner, Confident) else 0
    return side_by_side.WIDTH * (learner.v.nbytes + sigma)


def pays(learners: Sequence[SingleSpace], rows: Any, n_rows: int, copies: Copies | None) -> bool:
    """Whether reading so many of these rows together is faster.

    ``copies`` are those that are kept for later passes; where there are any, they must be kept up to date.
    """
    kinds = (Linear, Confident)
    if not isinstance(rows, (Dense, Csr)) or len(learners) < 3 or not isinstance(learners[0], kinds):
        return False
    entries, width = entries_of(rows, n_rows), len(learners[0].v)
    kept = copies is not None and isinstance(learners[0], Linear)  # others are written back by each pass
    enough = entries >= width * (LEAST_WHEN_KEPT if kept else LEAST_ENTRIES)
    small = len(blocks(len(learners))) * bytes_of_block(learners[0]) <= MOST_BYTES
    worth = small and enough and entries * len(learners) >= LEAST_PRODUCTS
    return (bool(copies) or worth) and alike(learners)


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


def marks(y: np.ndarray, order: np.ndarray, learners: range) -> np.ndarray:
    """uint8 for each row in ``order``: bit r is set where it is positive for learner r of at most WIDTH."""
    found = np.zeros(len(order), np.uint8)
    for bit, r in enumerate(learners):
        found |= positives(y, r, order).astype(np.uint8) << np.uint8(bit)
    return found


def eight(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """WIDTH arrays: the last one fills up."""
    return (*arrays, *[arrays[-1]] * (side_by_side.WIDTH - len(arrays)))


class Together:
    """A block of learners of consecutive classes; ``copies`` are kept from pass to pass."""

    def __init__(self, learners: Sequence[SingleSpace], first: int, copies: Copies):
        self.learners = cast("list[Linear] | list[Confident]", list(learners))
        self.first = first
        self._copies = copies

    def _copied(self, rows: Dense | Csr) -> tuple[Copied, bool]:
        """The copy of the learners' weights, and whether it must be made."""
        originals = [one.v for one in self.learners]
        originals += [one.sigma for one in self.learners if isinstance(one, Confident)]
        found = self._copies.get(self.first)
        if found is not None and found.of(originals, rows):
            return found, False
        return Copied(self._shared(rows), originals, type(rows)), True

    def _shared(self, rows: Dense | Csr) -> Any:
        v, n = self.learners[0].v, len(self.learners)
        V, dots = zeros_for(rows, v), aligned_zeros((side_by_side.WIDTH,), v.dtype)
        raw, state = np.zeros(n), np.zeros((n, scalars.SIZE))
        if isinstance(self.learners[0], Linear):
            return rest.Shared(V, dots, raw, state)
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
        n, length = len(self.learners), len(order) if keep_log else 0
        log = Log(
            np.empty((n, length), np.int64),
            np.empty((n, length), np.int64),
            np.empty((n, length)),
            np.empty((n, length, 1)),
        )
        score = np.full((n, 0 if predictions is None else len(order)), np.nan)
        receivers = self._receivers(predictions, score)
        recorded = tracks.RecordedScores(score, predictions is not None and predictions.unit)
        ending = rest.Ending(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64))
        copied, stale = self._copied(rows)
        signs = marks(y, order, range(self.first, self.first + n))
        given = rows, signs, c, order
        if isinstance(self.learners[0], Linear):
            self._run_linear(given, log, recorded, copied.shared, stale, ending)
        else:
            self._run_confident(given, log, recorded, copied.shared, stale, ending)
        self._copies[self.first] = copied  # not before: an interruption must not leave one that was not made
        found = []
        for r, learner in enumerate(cast("list[Linear | Confident]", self.learners)):
            how, at = int(ending.how[r]), int(ending.at[r])
            if receivers:
                receivers[r].take(score[r], how == scalars.DONE, at)
            own = logged(Log(*(a[r] for a in log)), int(ending.n_logged[r]))
            try:
                if how != scalars.DONE:
                    sign = 1.0 if signs[at] >> r & 1 else -1.0
                    learner.raise_at(how, own, rows, int(order[at]), sign, c)
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
        stale: bool,
        ending: rest.Ending,
    ) -> None:
        learners = cast("list[Linear]", self.learners)
        one = learners[0]
        arrays = rest.OwnArrays(
            v=eight([one.v for one in learners]),
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
            stale,
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
        stale: bool,
        ending: rest.Ending,
    ) -> None:
        learners = cast("list[Confident]", self.learners)
        one = learners[0]
        arrays = rest_confidence.ConfidentArrays(
            v=eight([one.v for one in learners]),
            sigma=eight([one.sigma for one in learners]),
            state=eight([one.state for one in learners]),
        )
        tol, limit = one.frame.tol, one._limit()
        rest_confidence.run(one.rule, *given, arrays, log, recorded, shared, stale, ending, tol, limit)
