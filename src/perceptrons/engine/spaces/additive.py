"""w as a combination of rows: one, or one per class."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ... import rules
from ...rows import factor, look, sqnorm
from .. import margins
from ..cache_lines import aligned_zeros
from ..custom import engine_rule
from ..intake import frozen
from ..loops import linear, multiclass, scalars, single, tracks
from ..predictions import Predictions, classes_of, scores_of
from ..renumbering import ByColumn
from .base import Bracket, Frame, SingleSpace, empty_log, logged

if TYPE_CHECKING:
    from ..._types import Floats, Record, UpdateColumns
    from ...rows import Csr, Dense, Rows
    from ..renumbering import SlottedRows
    from .base import Receiver

#: The fast path that is compiled for a rule pays after so many single rows.
PATIENCE = 16

TRACKS: dict[str, Callable[..., tracks.Track]] = {
    "last": tracks.Last,
    "average": tracks.Average,
    "unit": tracks.UnitAverage,
}


class Additive(SingleSpace):
    """w (or W) as a combination of rows: linear and joint multiclass."""

    arrays = ("v", "A")
    makers: tuple[str, ...] = ("rule", "prediction")
    v = ByColumn[np.ndarray]()
    A = ByColumn["np.ndarray | None"]()

    def __init__(
        self, rule: Record | rules.UserRule, frame: Frame, n_features: int, track: str, prediction: bool
    ):
        super().__init__(frame, n_features)
        self.rule = rule
        self.prediction = prediction
        self.track_name = track

    @property
    def _shape(self) -> tuple[int, ...]:
        """Of v by column, which need not be up to date for it."""
        shape: tuple[int, ...] = vars(self)["v"].shape
        return shape

    def track(self) -> tracks.Track:
        return self._track(self.A)

    def _track(self, A: np.ndarray | None) -> tracks.Track:
        return tracks.Last() if A is None else TRACKS[self.track_name](A)

    def takes_packed_rows(self) -> bool:
        return self.moves_columns_alone()

    def renumber(self, slotted: SlottedRows) -> None:
        self._use_slots(slotted)

    def moves_columns_alone(self) -> bool:
        return rules.facts(self.rule).step.keeps_scale and self.state[scalars.SCALE] == 1.0

    def _limit(self) -> float:
        return scalars.NORM_LIMIT[self.frame.dtype]

    def row_buffer(self) -> np.ndarray:
        """The scratch buffer of calls for one row."""
        return self._row_buffer(self._limit(), self.prediction)

    def last(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The current w, of all features or of these columns, the bias coordinate last."""
        w: np.ndarray = self._picked(self.v, columns) * self.v.dtype.type(self.state[scalars.SCALE])
        return w

    def average(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The mean of w over the examples seen, or of w/||w||."""
        assert self.A is not None
        t = max(1.0, self.state[scalars.EXAMPLES])
        total = self.state[scalars.SCALE_SUM] * self._picked(self.v, columns).astype(np.float64)
        mean: np.ndarray = (total + self._picked(self.A, columns)) / t
        return mean

    def scores(self, rows: Rows, readout: str) -> np.ndarray:
        """(rows, 1 or n_classes): <w, x>, at the cost of the rows' entries alone."""
        s = self._look(rows, self.v)
        if readout == "last":
            last: np.ndarray = self.state[scalars.SCALE] * s
            return last
        assert self.A is not None
        t = max(1.0, self.state[scalars.EXAMPLES])
        mean: np.ndarray = (self.state[scalars.SCALE_SUM] * s + self._look(rows, self.A)) / t
        return mean

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        """(rows, 1 or n_classes): <v, x>."""
        raise NotImplementedError

    def fast_path_after(self, form: type) -> int | None:
        return PATIENCE

    def start_at(self, w: np.ndarray) -> None:
        """Begin from w, (columns, n_features + 1), instead of 0."""
        self._start_at(w.T)

    def _start_at(self, w: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            self.v[: self.n_features] = w[:-1]
            self.v[-1] = w[-1]
            self.state[scalars.N] = float(np.sum(np.square(self.v, dtype=np.float64)))
        if not self.state[scalars.N] <= self._limit():
            raise ValueError(f"The initial weights are too large; the largest is {np.abs(w).max():g}.")
        self.from_zero = not self.v.any()

    def norm(self) -> float:
        return sqrt(float(self.state[scalars.N]))

    # -- the bracket around the best margin

    def _steps_shape(self, n_rows: int) -> tuple[int, ...]:
        return (n_rows,)

    def guess(self) -> float:
        """||w|| / sum of the steps, the upper end of the bracket but for rounding."""
        tau = float(self.state[scalars.TAU])
        return self.norm() / tau if self.from_zero and tau > 0.0 else inf

    def bracket(self) -> list[Bracket] | None:
        if self.of_texts:  # rows that change from visit to visit have no margin
            return None
        return [(None, self._up(margins.norm_up(self.v)) if self.from_zero else inf)]

    def _up(self, norm: float) -> float:
        return margins.upper_end_of_run(self.v, norm, self.state) if self.from_zero else inf

    def direction(self) -> margins.ScaledVector:
        """A multiple of w in the middle of the range."""
        scaled = margins.in_the_middle(self.v)
        return scaled._replace(w=-scaled.w) if self.state[scalars.SCALE] < 0.0 else scaled

    def bounds(
        self,
        rows: Dense | Csr,
        y: np.ndarray,
        c: np.ndarray,
        clean: bool,
        known: margins.FirstLook | None = None,
    ) -> list[Bracket] | None:
        """``known``: the first look at all rows by :meth:`direction`."""
        if self.of_texts:
            return None
        scaled = self.direction()
        low = self._low_of_pass(rows, scaled.norm) if clean else None
        if low is None:
            low = margins.lower_end(rows, y, c, scaled, known=known)
        up = self._up(scaled.norm)
        if self.steps is not None and margins.rows_say_more(rows, self.v, scaled.norm, self.state, low):
            up = min(up, margins.upper_end(rows, y, self.steps, self.v.shape[0]))
        return [(low, up)]

    def _low_of_pass(self, rows: Dense | Csr, norm: float) -> float | None:
        """gamma_low by the smallest margin that a pass without update met, where rounding cannot be seen."""
        lowest, size = float(self.state[scalars.LOWEST]), norm * abs(float(self.state[scalars.SCALE]))
        if self.v.dtype != np.float64 or not 0.0 < lowest < inf:
            return None
        longest = 1.0 if rows.unit else sqrt(float(rows.sq.max()))
        radius = (4.0 * self.v.shape[0] + 64.0) * margins.U * size * longest
        if not 1e-250 < radius <= margins.CLOSE * lowest:
            return None
        return margins.ratio_down(lowest - radius, size)


class Linear(Additive):
    """Binary: one w."""

    n_classes = 2

    def __init__(
        self,
        rule: Record | rules.UserRule,
        frame: Frame,
        n_features: int,
        track: str = "last",
        prediction: bool = False,
    ):
        super().__init__(rule, frame, n_features, track, prediction)
        self.v = np.zeros(n_features + 1, frame.dtype)
        self.A = None if track == "last" else np.zeros(n_features + 1)

    def run(
        self,
        rows: Rows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        log = empty_log(len(order) if keep_log else 0, 1)
        recorded = scores_of(predictions)
        with self._in_use(rows) as used:
            ending, at, n = linear.run(
                engine_rule(self.rule),
                used.rows,
                y,
                c,
                order,
                used.arrays["v"],
                self._shape[0],
                self._track(used.arrays.get("A")),
                self.state,
                log,
                self.steps_or_none(),
                recorded,
                self.prediction,
                self.frame.tol,
                self._limit(),
            )
        if predictions is not None:
            predictions.take(recorded.score, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            self.raise_at(ending, logged(log, n), rows, i, float(y[i]), c)
        return [logged(log, n)]

    def raise_at(
        self, ending: int, log: UpdateColumns, rows: Rows, i: int, y: float, c: np.ndarray
    ) -> NoReturn:
        """Raise what ended a pass at row i, whose label is y."""
        with np.errstate(all="ignore"):
            m = float(y * self.state[scalars.SCALE] * look(rows, i, self.v))
        self._raise(ending, self.rule, log, i, m, float(sqnorm(rows, i)), c)

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        out = np.empty(len(rows.sq))
        linear.scores(rows, v, out)
        return out[:, None]

    def fast_path_after(self, form: type) -> int | None:
        return 0 if form is np.ndarray else PATIENCE  # arrays are what most of its calls are compiled for

    def _start_at(self, w: np.ndarray) -> None:
        super()._start_at(w[:, 0])

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> Joint:
        prototypes.become(self, factor)
        prototypes.insert_class(code)
        return prototypes

    def negate(self) -> None:
        self.v *= -1
        if self.A is not None:
            self.A *= -1

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(1, n_features + 1), or the weights of these columns and of the constant."""
        return (self.last(columns) if readout == "last" else self.average(columns))[None, :]

    def core(self) -> single.LinearCore:
        """What a call for one row takes."""
        return single.LinearCore(engine_rule(self.rule), self.v, self.track(), self.state)


class Joint(Additive):
    """Several classes: prototypes W, one column per class.

    A class that is added later gets the next column, whatever its code is, and columns are added by doubling:
    ``slots`` has the column of each code. It is None where code r has column r and there are no others.
    """

    joint = True
    makers = ("rule", "scheme", "prediction")
    slots: np.ndarray | None = None

    def __init__(
        self,
        rule: Record | rules.UserRule,
        frame: Frame,
        n_features: int,
        n_classes: int,
        scheme: multiclass.Scheme | None = None,
        track: str = "last",
        prediction: bool = False,
    ):
        super().__init__(rule, frame, n_features, track, prediction)
        self.scheme = multiclass.Top() if scheme is None else scheme
        self.v = aligned_zeros((n_features + 1, n_classes), frame.dtype)
        self.A = None if track == "last" else aligned_zeros((n_features + 1, n_classes), np.float64)

    @property
    def n_classes(self) -> int:  # type: ignore[override]  # a number elsewhere; here it grows
        return self._shape[1] if self.slots is None else len(self.slots)

    @property
    def columns(self) -> int:  # type: ignore[override]  # a number elsewhere; here it grows
        return self.n_classes

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return self.n_classes * (entries + 16.0)

    def _slots(self) -> np.ndarray:
        return np.arange(self._shape[1], dtype=np.uint64) if self.slots is None else self.slots

    def _picked(self, a: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        a = super()._picked(a, columns)
        return a if self.slots is None else a[:, self.slots]

    def _steps_shape(self, n_rows: int) -> tuple[int, ...]:
        return n_rows, self.n_classes  # against each rival

    def direction(self) -> margins.ScaledVector:
        self.settle()
        return super().direction()

    def targets(self, codes: np.ndarray) -> np.ndarray:
        if len(codes) and codes.max() >= self.n_classes:
            raise ValueError(
                f"classes_ holds more labels than the {self.n_classes} classes that were learned: do not "
                "change it."
            )
        return frozen(codes, np.int64)

    def _work(self) -> multiclass.Work:
        k = self.n_classes
        s = aligned_zeros((self._shape[1],), self.frame.dtype)
        return multiclass.Work(s, np.zeros(k), np.zeros(k), np.zeros(k, np.int64), self._slots())

    def run(
        self,
        rows: Rows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        log = empty_log(len(order) if keep_log else 0, self.n_classes)
        assert predictions is None or isinstance(predictions, Predictions)
        recorded = classes_of(predictions, self._shape[1])
        with self._in_use(rows) as used:
            ending, at, n = multiclass.run(
                engine_rule(self.rule),
                self.scheme,
                used.rows,
                y,
                c,
                order,
                used.arrays["v"],
                self._shape[0],
                self._track(used.arrays.get("A")),
                self.state,
                log,
                self.steps_or_none(),
                recorded,
                self._work(),
                np.zeros(self.n_classes),
                self.prediction,
                self.frame.tol,
                self._limit(),
            )
        if predictions is not None:
            predictions.take_classes(recorded.code, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            with np.errstate(all="ignore"):
                s = np.zeros(self.v.shape[1])
                multiclass.look_all(rows, i, self.v, s)
                s = s[self._slots()] * factor(rows, i) * self.state[scalars.SCALE]
                m = float(s[y[i]] - np.max(np.delete(s, y[i])))
            self._raise(ending, self.rule, logged(log, n), i, m, 2.0 * float(sqnorm(rows, i)), c)
        return [logged(log, n)]

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows.sq), self.n_classes))
        multiclass.scores(rows, v, self._work()._replace(s=aligned_zeros((v.shape[1],), v.dtype)), out)
        return out

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(n_classes, n_features + 1), or the weights of these columns and of the constant."""
        w = self.last(columns) if readout == "last" else self.average(columns)
        return np.ascontiguousarray(w.T)

    def core(self) -> single.JointCore:
        """What a call for one row takes."""
        rule, true = engine_rule(self.rule), np.zeros(self.n_classes)
        spare = np.zeros(self.v.shape[1])
        return single.JointCore(
            rule, self.scheme, self.v, self.track(), self.state, self._work(), true, spare
        )

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        self.insert_class(code)

    def insert_class(self, code: int) -> None:
        """A new class, with prototype 0, that moves the codes from ``code`` on up by one."""
        slots, k = self._slots(), self.n_classes
        if k == self.v.shape[1]:
            self.v = _doubled(self.v)
            self.A = None if self.A is None else _doubled(self.A)
        self.slots = np.insert(slots, code, k)

    def _in_order(self) -> dict[str, Any]:
        state = super()._in_order()
        slots = state.pop("slots", None)
        if slots is not None:
            state["v"] = np.ascontiguousarray(self.v[:, slots])
            state["A"] = None if self.A is None else np.ascontiguousarray(self.A[:, slots])
        return state

    def settle(self) -> None:
        """Put the columns in the order of the codes."""
        if self.slots is not None:
            state = self._in_order()
            del self.slots
            vars(self).update(state)

    def become(self, binary: Linear, factor: float) -> None:
        """W = (-f w, f w), with all that the binary learner has counted."""
        self.v = np.stack([-factor * binary.v, factor * binary.v], axis=1).astype(binary.v.dtype)
        self.state = binary.state.copy()
        if binary.A is not None:
            share = factor
            if self.track_name == "unit":  # of W/||W||, whatever the factor
                share = sqrt(0.5)
                self.state[scalars.SCALE_SUM] *= share / factor
            self.A = np.stack([-share * binary.A, share * binary.A], axis=1)
        self.state[scalars.N] *= 2.0 * factor * factor
        self.state[scalars.NORM_ERROR] *= 2.0 * factor * factor
        self.state[scalars.ERROR] *= 1.5 * factor  # the square root of 2, rounded up
        self.state[scalars.TAU] *= factor
        self.from_zero = binary.from_zero
        if binary.df is not None:
            self.df = binary.df


def _lazy_zeros(shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    """Zeros that take memory where they are written to, by small pages.

    NumPy requests pages of 2 MB: with a few weights in each of them, the whole array takes memory.
    """
    size = shape[0] * shape[1] * dtype.itemsize
    if size < 1 << 22 or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, dtype)
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(room, dtype).reshape(shape)


def _doubled(a: np.ndarray) -> np.ndarray:
    """Twice as many columns, the new ones of zeros; rows that are 0 are not even written."""
    wide = _lazy_zeros((a.shape[0], 2 * a.shape[1]), a.dtype)
    used = np.flatnonzero(a.any(axis=1))
    wide[used, : a.shape[1]] = a[used]
    return wide
