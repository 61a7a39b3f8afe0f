"""w as a combination of rows: one, or one per class."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from ...rows import factor, look, sqnorm
from .. import linear, margins, multiclass, scalars, tracks
from ..custom import engine_rule
from ..intake import frozen
from ..predictions import classes_of, scores_of
from .base import Frame, Rows, Space, empty_log, logged

TRACKS = {"last": tracks.Last, "average": tracks.Average, "unit": tracks.UnitAverage}


class Additive(Space):
    """w (or W) as a combination of rows: linear and joint multiclass."""

    arrays = ("v", "A")
    v: np.ndarray
    A: np.ndarray | None

    def __init__(self, rule: Any, frame: Frame, n_features: int, track: str, prediction: bool):
        super().__init__(frame, n_features)
        self.rule = rule
        self.prediction = prediction
        self.track_name = track

    def track(self) -> Any:
        return tracks.Last() if self.A is None else TRACKS[self.track_name](self.A)

    def _limit(self) -> float:
        return scalars.NORM_LIMIT[self.frame.dtype]

    def last(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The current w, of all features or of these columns, the bias coordinate last."""
        return self._picked(self.v, columns) * self.v.dtype.type(self.state[scalars.SCALE])

    def average(self, columns: np.ndarray | None = None) -> np.ndarray:
        """The mean of w over the examples seen, or of w/||w||."""
        assert self.A is not None
        t = max(1.0, self.state[scalars.EXAMPLES])
        total = self.state[scalars.CLOCK] * self._picked(self.v, columns).astype(np.float64)
        return (total + self._picked(self.A, columns)) / t

    def scores(self, rows: Rows, readout: str) -> np.ndarray:
        """(rows, 1 or n_classes): <w, x>, at the cost of the rows' entries alone."""
        s = self._look(rows, self.v)
        if readout == "last":
            return self.state[scalars.SCALE] * s
        assert self.A is not None
        t = max(1.0, self.state[scalars.EXAMPLES])
        return (self.state[scalars.CLOCK] * s + self._look(rows, self.A)) / t

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        """(rows, 1 or n_classes): <v, x>."""
        raise NotImplementedError

    def start_at(self, w: np.ndarray) -> None:
        """Begin from w instead of 0."""
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
        return (n_rows, *self.v.shape[1:])  # against each rival, where there are several classes

    def guess(self) -> float:
        """||w|| / sum of the steps, the upper end of the bracket but for rounding."""
        tau = float(self.state[scalars.TAU])
        return self.norm() / tau if self.from_zero and tau > 0.0 else inf

    def bracket(self) -> tuple[float | None, float]:
        return None, self._up(margins.norm_up(self.v)) if self.from_zero else inf

    def _up(self, norm: float) -> float:
        return margins.upper_end_of_run(self.v, norm, self.state) if self.from_zero else inf

    def bounds(self, rows: Rows, y: np.ndarray, c: np.ndarray, clean: bool) -> tuple[float | None, float]:
        scaled = margins.in_the_middle(self.v)
        low = self._low_of_pass(rows, scaled.norm) if clean else None
        if low is None:
            if self.state[scalars.SCALE] < 0.0:
                scaled = scaled._replace(w=-scaled.w)
            low = margins.lower_end(rows, y, c, scaled)
        up = self._up(scaled.norm)
        if self.steps is not None and margins.rows_say_more(rows, self.v, scaled.norm, self.state):
            up = min(up, margins.upper_end(rows, y, self.steps, self.v.shape[0]))
        return low, up

    def _low_of_pass(self, rows: Rows, norm: float) -> float | None:
        """gamma_low by the smallest margin that a pass without update met, where rounding cannot be seen."""
        lowest, size = self.lowest(), norm * abs(float(self.state[scalars.SCALE]))
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
        rule: Any,
        frame: Frame,
        n_features: int,
        track: str = "last",
        prediction: bool = False,
    ):
        super().__init__(rule, frame, n_features, track, prediction)
        self.v = np.zeros(n_features + 1, frame.dtype)
        self.A = None if track == "last" else np.zeros(n_features + 1)

    def run(
        self, rows: Rows, y: Any, c: np.ndarray, order: np.ndarray, keep_log: bool, heard: Any = None
    ) -> Any:
        log = empty_log(len(order) if keep_log else 0, 1)
        told = scores_of(heard)
        ending, at, n = linear.run(
            engine_rule(self.rule),
            rows,
            y,
            c,
            order,
            self.v,
            self.track(),
            self.state,
            log,
            self.steps_or_none(),
            told,
            self.prediction,
            self.frame.tol,
            self._limit(),
        )
        if heard is not None:
            heard.take(told.score, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            with np.errstate(all="ignore"):
                m = float(y[i] * self.state[scalars.SCALE] * look(rows, i, self.v))
            self._raise(ending, self.rule, logged(log, n), i, m, float(sqnorm(rows, i)), c)
        return logged(log, n)

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        out = np.empty(len(rows.sq))
        linear.scores(rows, v, out)
        return out[:, None]

    def negate(self) -> None:
        """Exchange the two classes."""
        self.v *= -1
        if self.A is not None:
            self.A *= -1

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(1, n_features + 1), or the weights of these columns and of the constant."""
        return (self.last(columns) if readout == "last" else self.average(columns))[None, :]

    # -- one row at a time

    def _desk(self) -> np.ndarray:
        desk = np.zeros(linear.DESK_SIZE)
        desk[linear.DESK_BIAS] = self.frame.bias
        desk[linear.DESK_UNIT] = self.frame.unit
        desk[linear.DESK_PREDICTION] = self.prediction
        desk[linear.DESK_TOL] = self.frame.tol
        desk[linear.DESK_LIMIT] = self._limit()
        return desk

    def fast_lane(self) -> tuple[Any, ...]:
        """(learn, score, rule, v, track, state, desk): machine code for a dense row, with its arguments."""
        rule, track, desk = engine_rule(self.rule), self.track(), self._desk()
        x = np.zeros(self.n_features, self.frame.dtype)
        learn = linear.learn_one.direct(rule, x, 1.0, self.v, track, self.state, desk)
        score = linear.score_one.direct(x, self.v, self.state, desk)
        return learn, score, rule, self.v, track, self.state, desk


class Joint(Additive):
    """Several classes: prototypes W, one column per class."""

    def __init__(
        self,
        rule: Any,
        frame: Frame,
        n_features: int,
        n_classes: int,
        scheme: Any = None,
        track: str = "last",
        prediction: bool = False,
    ):
        super().__init__(rule, frame, n_features, track, prediction)
        self.scheme = multiclass.Top() if scheme is None else scheme
        self.v = np.zeros((n_features + 1, n_classes), frame.dtype)
        self.A = None if track == "last" else np.zeros((n_features + 1, n_classes))

    @property
    def n_classes(self) -> int:
        return self.v.shape[1]

    def targets(self, codes: np.ndarray) -> np.ndarray:
        if len(codes) and codes.max() >= self.n_classes:
            raise ValueError(
                f"classes_ holds more labels than the {self.n_classes} classes that were learned: do not "
                "change it."
            )
        return frozen(codes, np.int64)

    def _work(self) -> multiclass.Work:
        k = self.n_classes
        return multiclass.Work(np.zeros(k, self.frame.dtype), np.zeros(k), np.zeros(k), np.zeros(k, np.int64))

    def run(
        self, rows: Rows, y: Any, c: np.ndarray, order: np.ndarray, keep_log: bool, heard: Any = None
    ) -> Any:
        log = empty_log(len(order) if keep_log else 0, self.n_classes)
        told = classes_of(heard)
        ending, at, n = multiclass.run(
            engine_rule(self.rule),
            self.scheme,
            rows,
            y,
            c,
            order,
            self.v,
            self.track(),
            self.state,
            log,
            self.steps_or_none(),
            told,
            self._work(),
            np.zeros(self.n_classes),
            self.prediction,
            self.frame.tol,
            self._limit(),
        )
        if heard is not None:
            heard.take_classes(told.code, ending == scalars.DONE, at)
        if ending != scalars.DONE:
            i = int(order[at])
            with np.errstate(all="ignore"):
                s = np.zeros(self.n_classes)
                multiclass.look_all(rows, i, self.v, s)
                s *= factor(rows, i) * self.state[scalars.SCALE]
                m = float(s[y[i]] - np.max(np.delete(s, y[i])))
            self._raise(ending, self.rule, logged(log, n), i, m, 2.0 * float(sqnorm(rows, i)), c)
        return logged(log, n)

    def _look(self, rows: Rows, v: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows.sq), self.n_classes))
        multiclass.scores(rows, v, self._work()._replace(s=np.zeros(self.n_classes, v.dtype)), out)
        return out

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(n_classes, n_features + 1), or the weights of these columns and of the constant."""
        w = self.last(columns) if readout == "last" else self.average(columns)
        return np.ascontiguousarray(w.T)

    def insert_class(self, code: int) -> None:
        """A new class, with prototype 0, that moves the codes from ``code`` on up by one."""
        self.v = np.ascontiguousarray(np.insert(self.v, code, 0, axis=1))
        if self.A is not None:
            self.A = np.ascontiguousarray(np.insert(self.A, code, 0, axis=1))

    def become(self, binary: Linear, factor: float) -> None:
        """W = (-f w, f w), with all that the binary learner has counted."""
        self.v = np.stack([-factor * binary.v, factor * binary.v], axis=1).astype(binary.v.dtype)
        self.state = binary.state.copy()
        if binary.A is not None:
            share = factor
            if self.track_name == "unit":  # of W/||W||, whatever the factor
                share = sqrt(0.5)
                self.state[scalars.CLOCK] *= share / factor
            self.A = np.stack([-share * binary.A, share * binary.A], axis=1)
        self.state[scalars.N] *= 2.0 * factor * factor
        self.state[scalars.NORM_ERROR] *= 2.0 * factor * factor
        self.state[scalars.ERROR] *= 1.5 * factor  # the square root of 2, rounded up
        self.state[scalars.TAU] *= factor
        self.from_zero = binary.from_zero
