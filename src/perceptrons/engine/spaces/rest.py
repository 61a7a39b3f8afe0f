"""One against the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import numpy as np

from ...rules import RuleError
from ..intake import frozen
from ..margins import STEPS_LIMIT
from .base import TRANSIENT, Bracket, Counts, Frame, Kept, NumericalError, SingleSpace

if TYPE_CHECKING:
    from ..._types import Floats, UpdateColumns
    from ..predictions import Predictions
    from ..renumbering import SlottedRows
    from .additive import Additive, Joint
    from .protocol import LinearSpace

T = TypeVar("T")


class OneVsRest:
    """One binary learner per class, all fed the same rows in the same order.

    :class:`~perceptrons.engine.spaces.protocol.Space` says what the methods promise.
    """

    joint = False
    ties = False  # the largest score wins
    device = "cpu"
    length: Kept = None

    def __init__(self, learners: Sequence[SingleSpace], n_threads: int = 1):
        self.learners = list(learners)
        self.n_threads = n_threads

    @property
    def n_classes(self) -> int:
        return len(self.learners)

    @property
    def columns(self) -> int:
        return len(self.learners)

    @property
    def from_zero(self) -> bool:
        return all(learner.from_zero for learner in self.learners)

    @property
    def n_features(self) -> int:
        return self.learners[0].n_features

    @property
    def frame(self) -> Frame:
        return self.learners[0].frame

    def counts(self) -> Counts:
        total = self.learners[0].counts()
        for learner in self.learners[1:]:
            total = total.plus(learner.counts())
        return total

    def sum_sq_norms(self) -> float:
        return float(sum(learner.sum_sq_norms() for learner in self.learners))

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return self.n_classes * self.learners[0].row_cost(entries)

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return frozen(codes, np.int64)

    def open(self, rows: Any, again: bool, tell: Callable[[float], None] | None = None) -> None:
        for learner in self.learners:
            learner.open(rows, again, tell)

    def close(self) -> None:
        for learner in self.learners:
            learner.close()

    def renumber(self, slotted: SlottedRows) -> None:
        for learner in self.learners:
            learner.renumber(slotted)

    def _map(self, function: Callable[[int, SingleSpace], T]) -> list[T]:
        if self.n_threads == 1:
            return [function(r, learner) for r, learner in enumerate(self.learners)]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(function, range(self.n_classes), self.learners))

    def _every(self, function: Callable[[int, SingleSpace], T]) -> list[T]:
        """Call the function for each learner; Ctrl-C takes effect after the last call."""
        before = [learner.counts() for learner in self.learners]
        results: dict[int, T] = {}
        interruption: BaseException | None = None
        while True:
            try:
                for r, learner in enumerate(self.learners):
                    if interruption is None or learner.counts() == before[r]:
                        results[r] = function(r, learner)
                break
            except (KeyboardInterrupt, SystemExit) as error:
                if interruption is not None:
                    raise
                interruption = error
        if interruption is not None:
            raise interruption
        return [results[r] for r in range(self.n_classes)]

    @staticmethod
    def _against_rest(codes: np.ndarray, r: int) -> np.ndarray:
        return frozen(np.where(codes == r, 1.0, -1.0))

    def run(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None = None,
    ) -> list[UpdateColumns]:
        """One pass; ``rows`` may be a list, with the rows of each learner."""
        troubles: list[tuple[int, RuleError | NumericalError]] = []

        def one(r: int, learner: SingleSpace) -> Sequence[UpdateColumns]:
            try:
                own = rows[r] if isinstance(rows, list) else rows
                recorded = None if predictions is None else predictions.of_class(r)
                return learner.run(own, self._against_rest(y, r), c, order, keep_log, recorded)
            except (RuleError, NumericalError) as error:  # the others go on, in whatever order they run
                troubles.append((r, error))
                return error.log

        every = self._map(one) if self.n_threads > 1 else self._every(one)
        logs = [log for own in every for log in own]
        if troubles:
            _, error = min(troubles, key=lambda trouble: trouble[0])
            error.log = logs
            raise error
        return logs

    def longest(self) -> float:
        return max(learner.longest() for learner in self.learners)

    def forget_longest(self) -> None:
        for learner in self.learners:
            learner.forget_longest()

    def forget_start(self) -> None:
        for learner in self.learners:
            learner.forget_start()

    def reset_lowest(self) -> None:
        for learner in self.learners:
            learner.reset_lowest()

    def lowest(self) -> list[float]:
        return [lowest for learner in self.learners for lowest in learner.lowest()]

    def keep_steps(self, n_rows: int, limit: int = STEPS_LIMIT) -> None:
        for learner in self.learners:
            learner.keep_steps(n_rows, limit // self.n_classes)

    def take_steps(self) -> list[np.ndarray | None]:
        return [steps for learner in self.learners for steps in learner.take_steps()]

    def bracket(self) -> list[Bracket] | None:
        return self._joined([learner.bracket() for learner in self.learners])

    def bounds(self, rows: Any, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket] | None:
        return self._joined(
            self._map(lambda r, learner: learner.bounds(rows, self._against_rest(y, r), c, clean))
        )

    @staticmethod
    def _joined(found: list[list[Bracket] | None]) -> list[Bracket] | None:
        """The brackets of all learners; None where they claim nothing."""
        pairs = [pair for pairs in found for pair in pairs or ()]
        return pairs or None

    def renew(self, fresh: SingleSpace) -> None:
        for learner in self.learners:
            learner.renew(fresh)

    def offset(self) -> np.ndarray:
        return np.concatenate([learner.offset() for learner in self.learners])

    def scores(self, rows: Any, readout: str) -> np.ndarray:
        return np.concatenate([learner.scores(rows, readout) for learner in self.learners], axis=1)

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        linear = cast("list[LinearSpace]", self.learners)
        return np.concatenate([learner.weights(readout, columns) for learner in linear])

    def grow(self, n_features: int) -> None:
        for learner in self.learners:
            learner.grow(n_features)

    def shrink(self, n_features: int) -> None:
        for learner in self.learners:
            learner.shrink(n_features)

    def start_at(self, w: np.ndarray) -> None:
        """Begin from w, (n_classes, n_features + 1), instead of 0."""
        for learner, row in zip(cast("list[Additive]", self.learners), w, strict=True):
            learner.start_at(row[None, :])

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        self.learners.insert(code, fresh().after(self.learners[0]))

    def negate(self) -> None:
        raise TypeError("Three classes or more cannot be exchanged.")

    def spread(self, code: int, fresh: Callable[[], SingleSpace], n_threads: int) -> NoReturn:
        raise TypeError("There are three classes or more already: use add_class.")

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> NoReturn:
        raise TypeError("There are three classes or more already: use add_class.")

    def fast_path_after(self, form: type) -> int | None:
        return None

    # -- copies

    def moves_columns_alone(self) -> bool:
        return all(learner.moves_columns_alone() for learner in self.learners)

    def _shallow_copy(self) -> OneVsRest:
        """A space of its own with the very same arrays: enough where they are replaced, not written to."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.learners = list(self.learners)
        return made

    def copy(self) -> OneVsRest:
        made = self._shallow_copy()
        made.learners = [learner.copy() for learner in self.learners]
        return made

    def copy_for_class(self, logged: bool) -> OneVsRest:
        shared = self.n_classes > 2 and (not logged or self.moves_columns_alone())
        return self._shallow_copy() if shared else self.copy()

    def make_writable(self) -> None:
        for learner in self.learners:
            learner.make_writable()

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        restorers = [learner.restorer(columns) for learner in self.learners]

        def restore() -> None:
            for one in restorers:
                one()

        return restore

    def stored(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in TRANSIENT}
