"""Weights that are multiplied, and literals that are struck out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from ...rows import look, sqnorm
from .. import margins
from ..loops import linear, multiplicative, scalars
from ..predictions import scores_of
from .base import Bracket, Frame, SingleSpace, empty_log, logged

if TYPE_CHECKING:
    from ..._types import Floats, UpdateColumns
    from ...rows import Csr, Dense, Rows
    from .base import Receiver


class Thresholded(SingleSpace):
    """A space whose <w, x> is compared with a threshold."""

    def threshold(self) -> float:
        raise NotImplementedError

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        raise NotImplementedError

    def offset(self) -> np.ndarray:
        return np.asarray([self.threshold()])

    def scores(self, rows: Rows, readout: str) -> np.ndarray:
        out = np.empty(len(rows.sq))
        linear.scores(rows, self.weights(readout)[0], out)
        return out[:, None]


class Multiplicative(Thresholded):
    """Winnow, balanced Winnow, p-norm: theta and u = f(theta), binary, always float64."""

    n_classes = 2
    arrays = ("theta", "u")
    makers = ("link", "prediction")

    def __init__(
        self,
        link: multiplicative.Link,
        frame: Frame,
        n_features: int,
        prediction: bool = False,
        follow: bool = False,
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
                assert isinstance(self.link, multiplicative.Winnow)
                self.link = self.link._replace(threshold=float(n_features))
            self._prepare()

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return 40.0 * (entries + 1.0)  # a mistake takes a power or two exponentials for each entry

    def run(
        self,
        rows: Rows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        recorded = scores_of(predictions, self.ties)
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
            self.steps_or_none(),
            recorded,
            self.prediction,
        )
        if predictions is not None:
            predictions.take(recorded.score, ending == scalars.DONE, at, self.ties)
        if ending != scalars.DONE:
            i = int(order[at])
            with np.errstate(all="ignore"):
                s = float(look(rows, i, self.u))
            self._raise(ending, None, logged(log, n), i, s, float(sqnorm(rows, i)))
        return [logged(log, n)]

    @property
    def ties(self) -> bool:
        return bool(multiplicative.tie_is_positive(self.link))

    def threshold(self) -> float:
        return float(multiplicative.threshold_of(self.link))

    def promotions(self) -> float:
        """Updates on positive rows."""
        return float(self.state[multiplicative.PROMOTIONS])

    def renew(self, fresh: SingleSpace) -> None:
        assert isinstance(fresh, Multiplicative)
        link = fresh.link
        if isinstance(link, multiplicative.Winnow) and isinstance(self.link, multiplicative.Winnow):
            link = link._replace(threshold=self.link.threshold)  # it is part of every prediction
        if link != self.link:
            self.from_zero = False  # the bracket is about steps of one length
        self.link, self.prediction = link, fresh.prediction

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        z = multiplicative.normaliser(self.link, self.state[multiplicative.MASS])
        w = self._picked(self.u, columns) / z
        if self.frame.bias == 0.0:
            w[-1] = 0.0
        return w[None, :]

    def parameters(self) -> np.ndarray:
        """theta, the bias coordinate last."""
        return self._picked(self.theta, None)

    def negate(self) -> None:
        """Exchange the two classes; Winnow, whose weights are positive, starts again."""
        if isinstance(self.link, multiplicative.Winnow):
            self.theta[:] = 0.0
        self.theta *= -1.0
        self._prepare()

    # -- the bracket around the best margin of a separator of unit length in the norm dual to that of theta

    def _exponent(self) -> float | None:
        """p of the norm of theta: infinite where separators are measured by their sum of absolute values."""
        if isinstance(self.link, multiplicative.Balanced):
            return inf
        return self.link.p if isinstance(self.link, multiplicative.PNorm) else None

    def _steps_shape(self, n_rows: int) -> tuple[int, ...] | None:
        return None if self._exponent() is None else (n_rows,)

    def guess(self) -> float:
        """The upper end of the bracket but for rounding."""
        return inf if self._exponent() is None else self._up()

    def bracket(self) -> list[Bracket] | None:
        return None if self._exponent() is None else [(None, self._up())]

    def _up(self) -> float:
        p = self._exponent()
        k = float(self.state[scalars.UPDATES])
        if p is None or k == 0.0 or not self.from_zero:
            return inf
        eta = self.link.eta if isinstance(self.link, multiplicative.Balanced) else 1.0
        error = eta * float(self.state[scalars.ERROR]) * (1.0 + (16.0 * k + 64.0) * margins.U)
        error += k * len(self.theta) * margins.SUBNORMAL
        share = (4.0 * k + 4.0 * len(self.theta) + 64.0) * margins.U
        return margins.ratio_up(margins.p_norm_up(self.theta, p) + error, eta * k * (1.0 - share))

    def bounds(self, rows: Dense | Csr, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket] | None:
        p = self._exponent()
        if p is None:
            return None
        low = margins.lower_end(rows, y, c, self.u, 1.0 if p == inf else p / (p - 1.0))
        up = self._up()
        if self.steps is not None:
            measure = partial(margins.p_norm_up, p=p)
            up = min(up, margins.upper_end(rows, y, self.steps, len(self.theta), measure))
        return [(low, up)]


class Elimination(Thresholded):
    """Standing literals of a disjunction."""

    n_classes = 2
    arrays = ("alive", "negated")
    standing: float | None = None  # how many negations stand, counted when it is first read

    def __init__(self, frame: Frame, n_features: int, with_negations: bool):
        super().__init__(frame, n_features)
        self.with_negations = with_negations
        self.alive = np.ones(n_features + 1)
        self.negated = np.full(n_features + 1, 1.0 if with_negations else 0.0)
        self.alive[-1] = self.negated[-1] = 0.0

    def grow(self, n_features: int) -> None:
        old, self.standing = self.n_features, None
        super().grow(n_features)
        self.alive[old : self.n_features] = 1.0
        if self.with_negations and self.state[scalars.UPDATES] == 0:
            self.negated[old : self.n_features] = 1.0

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return entries + self.n_features  # a mistake reads every literal

    def run(
        self,
        rows: Rows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        recorded = scores_of(predictions, ties_up=True)
        self.standing = None
        log = empty_log(len(order) if keep_log else 0, 1)
        spare = np.empty_like(self.negated)
        _, _, n = multiplicative.run_elimination(
            rows, y, c, order, self.alive, self.negated, spare, self.state, log, recorded
        )
        if predictions is not None:
            predictions.take(recorded.score, True, len(order), True)
        return [logged(log, n)]

    @property
    def ties(self) -> bool:
        return True

    def negate(self) -> None:
        """Start again: a disjunction has no negation."""
        frame, n_features, with_negations = self.frame, self.n_features, self.with_negations
        vars(self).clear()
        Elimination.__init__(self, frame, n_features, with_negations)

    def _negated(self, fresh: Callable[[], SingleSpace]) -> SingleSpace:
        return fresh()

    def threshold(self) -> float:
        if not self.with_negations:
            return 1.0
        standing = self.standing
        if standing is None:
            self.standing = standing = float(self.negated.sum())
        return 1.0 - standing

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        result: np.ndarray = (self._picked(self.alive, columns) - self._picked(self.negated, columns))[
            None, :
        ]
        return result
