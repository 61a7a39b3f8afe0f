"""w in the span of a few examples."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import draws
from ..intake import EMPTY, frozen
from ..loops import budget as loop
from ..loops import scalars
from .base import Bracket, Frame, SingleSpace

if TYPE_CHECKING:
    from ..._types import Collection, UpdateColumns
    from ...kernels import Kernel
    from .base import Receiver

_SCORE_BYTES = 1 << 26  # kernel values held at a time while predicting
_DRAWS = 256  # random numbers drawn at a time
_NO_LIMIT = 1 << 62


class Budget(SingleSpace):
    """The kernel perceptron on a support list of bounded length, for two classes.

    Parameters
    ----------
    kernel : kernel
        ``kernel.matrix(A, B)`` returns the values between two collections. A collection has a length, is
        indexed by row numbers, and can be joined with another: see :mod:`perceptrons.kernels`.
    policy : Random, Oldest, Forgetron or Projectron
        See :mod:`perceptrons.engine.loops.budget`.
    budget : int or None
        The longest support list. None, no limit, is for the projectron only. A projectron with a budget
        projects every mistake once its list is full.
    frame : Frame
        ``frame.bias`` squared is added to every kernel value. Rows of length 1 are up to the kernel.
    n_features : int
    rng : generator
        For the policy ``Random``: one call of ``rng.random()`` per eviction; numpy's generators draw many
        numbers at a time.
    prediction : bool
        A tie that predicts the right label (-1) is no mistake.
    block_size : int or "auto"
        Rows whose scores are computed together. It changes nothing but the order of sums.

    Attributes
    ----------
    rows : collection or None
        The support list, oldest first; None while it is empty. A row may be there twice.
    label, ids, born : ndarray
        Of each entry: its label +-1, its row number in the pass that brought it in, and the number t of the
        example it was.
    gram : ndarray
        Kernel values between the entries.
    """

    n_classes = 2
    makers = ("policy", "prediction")

    def __init__(
        self,
        kernel: Kernel,
        policy: loop.Policy,
        budget: int | None,
        frame: Frame,
        n_features: int,
        rng: draws.RandomSource | None = None,
        prediction: bool = False,
        block_size: int | str = "auto",
    ):
        super().__init__(frame, n_features)
        if budget is None and not isinstance(policy, loop.Projectron):
            raise ValueError(f"{type(policy).__name__} needs a budget, an integer of at least 1; got None.")
        if budget is not None and budget < 1:
            raise ValueError(f"budget must be an integer of at least 1; got budget={budget!r}.")
        if rng is None and isinstance(policy, loop.Random):
            raise ValueError("Random needs rng, a generator with a method random(); got None.")
        if isinstance(policy, loop.Projectron):
            policy = policy._replace(span_tol=loop.SPAN_TOL[frame.dtype])
        self.kernel = kernel
        self.policy = policy
        self.budget = _NO_LIMIT if budget is None else int(budget)
        self.rng = rng
        self.prediction = prediction
        self.block_size = block_size
        self.rows: Any = None  # a collection, or None
        self.label, self.gram = np.empty(0), np.empty((0, 0))
        self.ids = self.born = np.empty(0, np.int64)
        self._where, self._a = np.empty(0, np.int64), np.empty(0)
        self._factor, self._work = np.empty((0, 0)), np.empty(0)
        self._tally, self._cost = np.zeros(2, np.int64), np.zeros(1)
        self._uniforms = EMPTY

    def __len__(self) -> int:
        return int(self._tally[loop.IN_USE])

    @property
    def coefficients(self) -> np.ndarray:
        """One per entry, with its sign."""
        return self._a[: len(self)].copy()

    @property
    def forgetting_cost(self) -> float:
        """Q of the forgetron, at most 15/32 of the mistakes."""
        return float(self._cost[0])

    # ------------------------------------------------------------ learning

    def run(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        """One pass over ``order``. ``rows`` has a ``collection``, or is one."""
        collection: Collection = getattr(rows, "collection", rows)
        logs = [_empty_log(0)]
        recorded = np.full(len(order), np.nan)
        start = 0
        while start < len(order):
            ids = order[start : start + self._size()]
            weights = EMPTY if len(c) == 0 else frozen(c[ids])
            ending, at, F, score, log = self._run_block(
                collection[ids], ids, frozen(y[ids]), weights, keep_log
            )
            logs.append(log)
            recorded[start : start + len(ids)] = F  # updates change the scores of later rows alone
            if len(weights):
                recorded[start : start + len(ids)][weights == 0.0] = np.nan
            if ending != scalars.DONE:
                if predictions is not None:
                    predictions.take(recorded, False, start + at)
                m = float(y[ids[at]] * score)
                self._raise(ending, None, _joined(logs), int(ids[at]), m, 0.0)
            start += len(ids)
        if predictions is not None:
            predictions.take(recorded, True, len(order))
        return [_joined(logs)]

    def _size(self) -> int:
        if self.block_size != "auto":
            return int(self.block_size)
        longest = self.budget if self.budget < _NO_LIMIT else len(self)
        return int(np.clip(longest // 2, 64, 1024))  # a smaller block has fewer values that are not used

    def _values(self, A: Collection, B: Collection) -> np.ndarray:
        return np.asarray(self.kernel.matrix(A, B), np.float64) + self.frame.bias**2

    def _run_block(
        self, part: Collection, ids: np.ndarray, y: np.ndarray, c: np.ndarray, keep_log: bool
    ) -> tuple[int, int, np.ndarray, float, loop.BudgetLog]:
        n, size = len(self), len(ids)
        K = np.empty((n + size, n + size))
        K[:n, :n] = self.gram
        with np.errstate(over="ignore", invalid="ignore"):  # the loop finds what is not finite
            K[n:, n:] = self._values(part, part)
            if n:
                K[n:, :n] = self._values(part, self.rows)
                K[:n, n:] = K[n:, :n].T
            F = K[n:, :n] @ self._a[:n]
        self._make_room(min(self.budget, n + size) + 1)
        self._where[:n] = np.arange(n)
        entries = loop.Entries(self._where, self._a, self._factor, self._work, self._tally, self._cost)
        K, log = frozen(K), _empty_log(size if keep_log else 0)
        before = self.counts().examples
        ending, at, n_logged = loop.NO_NUMBER_LEFT, 0, 0
        while ending == loop.NO_NUMBER_LEFT:
            ending, at, n_new = loop.run(
                self.policy,
                entries,
                K,
                F,
                y,
                c,
                at,
                self.budget,
                frozen(self._uniforms),
                self.state,
                loop.BudgetLog(*(a[n_logged:] for a in log)),
                self.prediction,
            )
            n_logged += n_new
            if ending == loop.NO_NUMBER_LEFT:
                self._draw()
        born = before + np.cumsum(c != 0.0 if len(c) else np.ones(size, bool))
        log = loop.BudgetLog(*(a[:n_logged] for a in log))
        every = np.concatenate([self.ids, ids])
        log.row[:] = every[log.row]
        log.victim[:] = np.where(log.victim < 0, -1, every[log.victim])
        self._keep(K, part, ids, y, born)
        bad = F[at] if not np.isfinite(F[at]) else K[n + at, n + at]  # where it ended badly
        return ending, at, F, float(bad), log

    def _keep(
        self, K: np.ndarray, part: Collection, ids: np.ndarray, y: np.ndarray, born: np.ndarray
    ) -> None:
        """Make the entries that the loop has left the support list."""
        n, where = len(self.ids), self._where[: len(self)]
        if len(where) == n and (where == np.arange(n)).all():
            return
        old, new = where[where < n], where[where >= n] - n  # the list is in order of time
        if len(old) == 0:
            self.rows = part[new]
        else:
            self.rows = (self.rows if len(old) == n else self.rows[old]).join(part[new])
        self.ids = np.concatenate([self.ids, ids])[where]
        self.born = np.concatenate([self.born, born])[where]
        self.label = np.concatenate([self.label, y])[where]
        self.gram = K[np.ix_(where, where)]

    def _make_room(self, n: int) -> None:
        room = len(self._a)
        if n <= room:
            return
        room = min(self.budget + 1, max(n, 2 * room))
        self._where, self._a = _stretched(self._where, room), _stretched(self._a, room)
        if isinstance(self.policy, loop.Projectron):
            factor = np.zeros((room, room))
            factor[: len(self._factor), : len(self._factor)] = self._factor
            self._factor, self._work = factor, np.zeros(room)

    def _draw(self) -> None:
        """More random numbers, now that all have been used."""
        assert self.rng is not None
        self._uniforms = frozen(draws.uniforms(self.rng, _DRAWS))
        self._tally[loop.DRAWN] = 0

    def negate(self) -> None:
        self._a *= -1.0
        self.label = -self.label

    # ------------------------------------------------------------ scores and margins

    def scores(self, rows: Any, readout: str = "last") -> np.ndarray:
        """(rows, 1): sum of a_i k(x_i, x), under the last w, the only one there is."""
        collection: Collection = getattr(rows, "collection", rows)
        out = np.zeros((len(collection), 1))
        if len(self):
            step = max(1, _SCORE_BYTES // (8 * len(self)))
            for start in range(0, len(out), step):
                part = slice(start, start + step)
                out[part, 0] = self._values(collection[part], self.rows) @ self._a[: len(self)]
        return out

    def norm(self) -> float:
        a = self._a[: len(self)]
        return sqrt(max(0.0, float(a @ self.gram @ a)))

    def bracket(self) -> list[Bracket]:
        """Nothing is known: kernel values are rounded, and :func:`perceptrons.certify` bounds by how much."""
        return [(None, inf)]

    def bounds(self, rows: object, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket]:
        return self.bracket()


def _stretched(a: np.ndarray, room: int) -> np.ndarray:
    new = np.zeros(room, a.dtype)
    new[: len(a)] = a
    return new


def _empty_log(length: int) -> loop.BudgetLog:
    return loop.BudgetLog(
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length),
        np.empty((length, 1)),
        np.empty(length, np.int64),
        np.empty(length, np.bool_),
    )


def _joined(logs: list[loop.BudgetLog]) -> loop.BudgetLog:
    return loop.BudgetLog(*(np.concatenate(parts) for parts in zip(*logs, strict=True)))
