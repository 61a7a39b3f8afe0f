"""Weights that are multiplied, and literals that are struck out."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...rows import look, sqnorm
from .. import multiplicative, scalars
from .base import Frame, Rows, Space, empty_log, logged


class Multiplicative(Space):
    """Winnow, balanced Winnow, p-norm: theta and u = f(theta), binary, always float64."""

    n_classes = 2
    arrays = ("theta", "u")

    def __init__(
        self, link: Any, frame: Frame, n_features: int, prediction: bool = False, follow: bool = False
    ):
        super().__init__(frame, n_features)
        self.link = link
        self.follow = follow  # the threshold is the number of inputs
        self.prediction = prediction
        self.theta = np.zeros(n_features + 1)
        self.u = np.zeros(n_features + 1)
        self._prepare()

    def _n_inputs(self) -> int:
        return self.n_features + (self.frame.bias != 0.0)

    def _prepare(self) -> None:
        multiplicative.prepare(self.link, self.theta, self.u, self._n_inputs(), self.state)

    def grow(self, n_features: int) -> None:
        more = n_features > self.n_features
        super().grow(n_features)
        if more:
            if self.follow:
                self.link = self.link._replace(threshold=float(n_features))
            self._prepare()

    def run(self, rows: Rows, y: Any, c: np.ndarray, order: np.ndarray, keep_log: bool) -> Any:
        log = empty_log(len(order) if keep_log else 0, 1)
        ending, at, n = multiplicative.run(
            self.link,
            rows,
            y,
            c,
            order,
            self.theta,
            self.u,
            self._n_inputs(),
            self.state,
            log,
            self.prediction,
        )
        if ending != scalars.DONE:
            i = int(order[at])
            with np.errstate(all="ignore"):
                s = float(look(rows, i, self.u))
            self._raise(ending, None, logged(log, n), i, s, float(sqnorm(rows, i)))
        return logged(log, n)

    def lowest_margin(self, rows: Rows, y: np.ndarray, c: np.ndarray) -> float:
        out = np.empty(len(y))
        multiplicative.scores(self.link, rows, self.u, self.state, out)
        used = out * y if len(c) == 0 else (out * y)[c != 0]
        return float(used.min()) if len(used) else inf

    def threshold(self) -> float:
        return float(multiplicative.threshold_of(self.link))

    def weights(self, readout: str) -> np.ndarray:
        z = multiplicative.normaliser(self.link, self.state[multiplicative.MASS])
        w = np.concatenate([self.u[: self.n_features], self.u[-1:]]) / z
        if self.frame.bias == 0.0:
            w[-1] = 0.0
        return w[None, :]

    def parameters(self) -> np.ndarray:
        """theta, the bias coordinate last."""
        return np.concatenate([self.theta[: self.n_features], self.theta[-1:]])

    def negate(self) -> None:
        """Exchange the two classes; Winnow, whose weights are positive, starts again."""
        if isinstance(self.link, multiplicative.Winnow):
            self.theta[:] = 0.0
        self.theta *= -1.0
        self._prepare()

    def bracket(self, low: float | None) -> Any:
        updates = float(self.state[scalars.UPDATES])
        w, theta = self.weights("last"), self.parameters()
        if isinstance(self.link, multiplicative.Balanced):
            size = float(np.abs(w).sum())  # L1 margin; its dual norm is the largest entry
            up = float(np.abs(theta).max()) / (self.link.eta * updates) if updates else inf
        elif isinstance(self.link, multiplicative.PNorm):
            p = self.link.p
            size = float(np.sum(np.abs(w) ** (p / (p - 1.0))) ** ((p - 1.0) / p))
            up = float(np.sum(np.abs(theta) ** p) ** (1.0 / p)) / updates if updates else inf
        else:
            return None
        if low is not None:
            low = low / size if size > 0.0 else 0.0
        return low, up


class Elimination(Space):
    """Standing literals of a disjunction."""

    n_classes = 2
    arrays = ("alive", "negated")

    def __init__(self, frame: Frame, n_features: int, with_negations: bool):
        super().__init__(frame, n_features)
        self.with_negations = with_negations
        self.alive = np.ones(n_features + 1)
        self.negated = np.full(n_features + 1, 1.0 if with_negations else 0.0)
        self.alive[-1] = self.negated[-1] = 0.0

    def grow(self, n_features: int) -> None:
        old = self.n_features
        super().grow(n_features)
        self.alive[old : self.n_features] = 1.0
        if self.with_negations and self.state[scalars.UPDATES] == 0:
            self.negated[old : self.n_features] = 1.0

    def run(self, rows: Rows, y: Any, c: np.ndarray, order: np.ndarray, keep_log: bool) -> Any:
        log = empty_log(len(order) if keep_log else 0, 1)
        spare = np.empty_like(self.negated)
        _, _, n = multiplicative.run_elimination(
            rows, y, c, order, self.alive, self.negated, spare, self.state, log
        )
        return logged(log, n)

    def lowest_margin(self, rows: Rows, y: np.ndarray, c: np.ndarray) -> float:
        return inf

    def threshold(self) -> float:
        return 1.0 - float(self.negated.sum())

    def weights(self, readout: str) -> np.ndarray:
        w = self.alive - self.negated
        return np.concatenate([w[: self.n_features], w[-1:]])[None, :]

    def bracket(self, low: float | None) -> None:
        return None
