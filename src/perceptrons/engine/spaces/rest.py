"""One against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...rules import RuleError
from ..intake import frozen
from ..margins import STEPS_LIMIT
from .base import Counts, Frame, NumericalError, Rows


class OneVsRest:
    """One binary learner per class, all fed the same rows in the same order."""

    def __init__(self, learners: Sequence[Any], n_threads: int = 1):
        self.learners = list(learners)
        self.n_threads = n_threads

    @property
    def n_classes(self) -> int:
        return len(self.learners)

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

    def row_cost(self, entries: Any) -> Any:
        return self.n_classes * self.learners[0].row_cost(entries)

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return frozen(codes, np.int64)

    def _map(self, function: Any) -> list[Any]:
        if self.n_threads == 1:
            return [function(r, learner) for r, learner in enumerate(self.learners)]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(function, range(self.n_classes), self.learners))

    def _every(self, function: Any) -> list[Any]:
        """Call the function for each learner; Ctrl-C waits until all have had their turn."""
        before = [learner.counts() for learner in self.learners]
        answers: list[Any] = [None] * self.n_classes
        interruption: BaseException | None = None
        while True:
            try:
                for r, learner in enumerate(self.learners):
                    if interruption is None or learner.counts() == before[r]:
                        answers[r] = function(r, learner)
                break
            except (KeyboardInterrupt, SystemExit) as error:
                if interruption is not None:
                    raise
                interruption = error
        if interruption is not None:
            raise interruption
        return answers

    @staticmethod
    def _against_rest(codes: np.ndarray, r: int) -> np.ndarray:
        return frozen(np.where(codes == r, 1.0, -1.0))

    def run(
        self, rows: Any, y: Any, c: np.ndarray, order: np.ndarray, keep_log: bool, heard: Any = None
    ) -> Any:
        """One pass; ``rows`` may be a list, the rows as each learner sees them."""
        troubles: list[Any] = []

        def one(r: int, learner: Any) -> Any:
            try:
                own = rows[r] if isinstance(rows, list) else rows
                told = None if heard is None else heard.of_class(r)
                return learner.run(own, self._against_rest(y, r), c, order, keep_log, told)
            except (RuleError, NumericalError) as error:  # the others go on, in whatever order they run
                troubles.append((r, error))
                return error.log

        logs = self._map(one) if self.n_threads > 1 else self._every(one)
        if troubles:
            _, error = min(troubles, key=lambda trouble: trouble[0])
            error.log = logs
            raise error
        return logs

    def longest(self) -> float:
        return max(learner.longest() for learner in self.learners)

    def forget_start(self) -> None:
        for learner in self.learners:
            learner.forget_start()

    def reset_lowest(self) -> None:
        for learner in self.learners:
            learner.reset_lowest()

    def lowest(self) -> list[float]:
        return [learner.lowest() for learner in self.learners]

    def keep_steps(self, n_rows: int, limit: int = STEPS_LIMIT) -> None:
        for learner in self.learners:
            learner.keep_steps(n_rows, limit // self.n_classes)

    def take_steps(self) -> list[np.ndarray | None]:
        return [steps for learner in self.learners for steps in learner.take_steps()]

    def bracket(self) -> Any:
        pairs = [learner.bracket() for learner in self.learners]
        return None if pairs[0] is None else pairs

    def bounds(self, rows: Rows, y: np.ndarray, c: np.ndarray, clean: bool) -> Any:
        pairs = self._map(lambda r, learner: learner.bounds(rows, self._against_rest(y, r), c, clean))
        return None if pairs[0] is None else pairs

    def scores(self, rows: Rows, readout: str) -> np.ndarray:
        return np.concatenate([learner.scores(rows, readout) for learner in self.learners], axis=1)

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        return np.concatenate([learner.weights(readout, columns) for learner in self.learners])

    def grow(self, n_features: int) -> None:
        for learner in self.learners:
            learner.grow(n_features)
