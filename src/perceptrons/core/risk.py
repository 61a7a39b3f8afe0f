r"""Gradient descent on the perceptron risk and on the hinge risk."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from ..engine import draws, intake, margins
from ..engine.spaces.together import positives
from ..theory.brackets import margin_space
from ..theory.run_record import LearnerRecord
from . import calibrating, changing, checks, margin_brackets
from .augmented import FitIntercept, InterceptScaling, RowNorm
from .labels import checked_targets
from .parameters import spec
from .progress import Progress
from .solved import Descent
from .starting import checked_weights
from .writing import one_writer, unchanged_on_error

if TYPE_CHECKING:
    from .._types import AnyMatrix, MatrixLike
    from ..engine.draws import RandomSource
    from ..engine.spaces import Bracket, Frame
    from ..rows import Csr, Dense


@spec
class RiskDescentSpec(FitIntercept, InterceptScaling, RowNorm):
    """Parameters and plan of :class:`perceptrons.RiskDescent`."""

    _run_kind = "descent"
    calibration_rows: ClassVar[str] = "held out"

    loss: str = "perceptron"
    batch_size: int | None = None
    pick: str | None = None
    step: float | str = 1.0
    max_steps: int = 1000
    shuffle: bool = False
    random_state: int | RandomSource | None = None
    keep_path: bool = False
    verbose: int = 0

    if TYPE_CHECKING:  # set by fit; at run time these annotations would declare parameters
        _framed: Frame = field(init=False)
        _descents: list[Descent] = field(init=False)
        _bounds: list[Bracket] = field(init=False)
        _paths: list[np.ndarray] = field(init=False)  #: only where they were asked for
        _indicator: bool = field(init=False)  #: True where y was an indicator matrix
        _from_zero: bool = field(init=False)  #: False where some w_0 was given and is not 0; else not set

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("loss", self.loss, ("perceptron", "hinge"))
        checks.whole("batch_size", self.batch_size, none=True)
        checks.one_of("pick", self.pick, (None, "first", "worst", "random"))
        checks.whole("max_steps", self.max_steps)
        checks.flag("shuffle", self.shuffle)
        checks.generator(self.random_state)
        checks.flag("keep_path", self.keep_path)
        checks.verbose(self.verbose)
        if self.pick is not None and self.batch_size is not None:
            raise ValueError("pick chooses single rows; give either pick or batch_size, not both.")
        if not isinstance(self.step, str):
            checks.positive("step", self.step)
        elif self.step != "line-search":
            raise ValueError(f"step must be a positive number or 'line-search'; got step={self.step!r}.")
        elif self.pick is not None or self.batch_size is not None:
            raise ValueError("step='line-search' is for full batches; drop pick and batch_size.")

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
    ) -> Self:
        """Descend until no row is in V, or ``max_steps``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or of shape (n_samples, n_labels)
            Labels, or an indicator matrix of 0 and 1: each label is then a descent of its own.
        coef_init, intercept_init : array-like, optional
            Weights to start from, of the shapes of ``coef_`` and ``intercept_``, instead of the first row
            times its label. They must not be 0 for the perceptron risk, which is 0 there.

        Returns
        -------
        self
        """
        with one_writer(self, anew=True), unchanged_on_error(self):
            self._check_params()
            data: AnyMatrix = self._intake.checked(X, reset=True)
            y = checked_targets(self, y, data.shape[0])
            several = y.ndim == 2
            classes, codes = (np.arange(y.shape[1]), y) if several else np.unique(y, return_inverse=True)
            if coef_init is not None:
                coef_init = checks.numbers("coef_init", coef_init)
            if intercept_init is not None:
                intercept_init = checks.numbers("intercept_init", intercept_init)
            intake.check_again(data)  # labels and weights may be objects with methods of the user
            if len(classes) < 2:
                raise ValueError(
                    f"RiskDescent needs at least two classes in y; it holds one class only: {classes[0]!r}."
                )
            self._framed = frame = self._frame(data.dtype, data)
            rows = cast("Dense | Csr", self._intake.rows(data, learn=True))
            problem = _Problem(data, rows.sq, frame.bias, frame.unit)
            rng = checks.generator(self.random_state)
            targets = [1] if len(classes) == 2 and not several else range(len(classes))
            signs = [intake.frozen(np.where(positives(codes, r), 1.0, -1.0)) for r in targets]
            starts = [sign[0] * problem.row(0) for sign in signs]
            given = coef_init is not None or intercept_init is not None
            if given:
                starts = self._given_starts(len(signs), data.shape[1], coef_init, intercept_init)
            paths: list[list[np.ndarray]] = [[] for _ in signs]
            self._descents = [
                self._descend(problem, sign, rng, w, path)
                for sign, w, path in zip(signs, starts, paths, strict=True)
            ]
            for name in ("_paths", "_from_zero", "_indicator"):
                vars(self).pop(name, None)
            if several:
                self._indicator = True
            if self.keep_path:
                self._paths = [np.stack(path) for path in paths]
            if given and any(w.any() for w in starts):
                self._from_zero = False
            self.classes_ = classes
            self._begun = changing.parameters_of_state(self)
            self.radius_ = float(np.sqrt(problem.q.max()))
            self._steps = [
                None if given and w.any() else _steps_on_rows(run, len(codes), not given)
                for run, w in zip(self._descents, starts, strict=True)
            ]
            vars(self).pop("_calibration", None)
            if self.probability:
                self._calibrate(problem, signs, codes, starts if given else None)
            self._bounds = [
                (
                    margins.lower_end(rows, sign, intake.EMPTY, run.w),
                    np.inf if steps is None else margins.upper_end(rows, sign, steps, len(run.w)),
                )
                for run, sign, steps in zip(self._descents, signs, self._steps, strict=True)
            ]
        self._check_run()
        return self

    def _calibrate(
        self, problem: _Problem, signs: list[np.ndarray], codes: np.ndarray, starts: list[np.ndarray] | None
    ) -> None:
        """Fit the curves to the scores of descents that have learned the other folds of the rows."""
        rng, scores = checks.generator(self.random_state), np.zeros((len(codes), len(signs)))
        for learned, scored in calibrating.folds(codes):
            part = problem.part(learned)
            for r, sign in enumerate(signs):
                w = sign[learned[0]] * part.row(0) if starts is None else starts[r]
                found = self._descend(part, sign[learned], rng, w, [])
                scores[scored, r] = problem.scores(found.w)[scored]
        calibrating.keep_curves(self, scores, codes, np.ones(len(codes)))

    def _given_starts(
        self, n: int, d: int, coef_init: npt.ArrayLike | None, intercept_init: npt.ArrayLike | None
    ) -> list[np.ndarray]:
        """The weights that ``fit`` was given, one vector per descent."""
        bias = self._framed.bias if self.fit_intercept else None
        found = checked_weights(n, d, coef_init, intercept_init, bias)
        with np.errstate(over="ignore"):
            squares = np.sum(found * found, axis=1)
        if not np.isfinite(squares).all():
            raise ValueError("coef_init and intercept_init are too large: their squares overflow.")
        if self.loss == "perceptron" and not found.any(axis=1).all():
            raise ValueError(
                "coef_init and intercept_init must not both be 0 for loss='perceptron': its risk is 0 there, "
                "and nothing is separated."
            )
        return list(found)

    def _descend(
        self, problem: _Problem, y: np.ndarray, rng: RandomSource, w: np.ndarray, path: list[np.ndarray]
    ) -> Descent:
        """One descent from w. With ``keep_path`` the w of each step go to ``path``."""
        goal = 0.0 if self.loss == "perceptron" else 1.0
        length0 = float(np.sqrt(w @ w))
        m = y * problem.scores(w)
        risks: list[float] = []
        chosen: list[np.ndarray] = []
        steps: list[float] = []
        groups = self._groups(len(y), rng)
        reason = "max_steps"
        quiet = np.errstate(over="ignore", invalid="ignore")  # overflow raises an error below
        with Progress(type(self).__name__, self.max_steps, self.verbose) as progress, quiet:
            while True:
                if not np.isfinite(m).all():
                    raise ValueError("The descent overflowed: scale the data, or lower step.")
                if self.keep_path:
                    path.append(w)
                in_v = m < goal
                risks.append(risk(m, goal))
                if not in_v.any():
                    reason = "no row in V" if w.any() else "w = 0"
                    break
                if len(steps) == self.max_steps:
                    break
                rows = self._choose(m, in_v, groups, rng)
                g = problem.combine(rows, y[rows])
                if self.step == "line-search":
                    eps = self._searched_step(w, g, m, y * problem.scores(g), goal, length0)
                else:
                    eps = float(self.step)
                ahead = w if eps is None else w + eps * g
                m_ahead = y * problem.scores(ahead)
                if eps is None or (self.step == "line-search" and risk(m_ahead, goal) >= risks[-1]):
                    reason = "stalled"
                    break
                w, m = ahead, m_ahead
                chosen.append(rows)
                steps.append(eps)
                record = {
                    "updates": len(rows),
                    "mistakes": int(in_v.sum()),
                    "errors": int(in_v.sum()),
                }
                progress.epoch(len(steps), record)
        return Descent(w, risks, chosen, steps, reason, int(np.sum(m == 0.0)))

    def _groups(self, n: int, rng: RandomSource) -> Iterator[np.ndarray]:
        """Rows in visiting order, in groups of ``batch_size``, without end."""
        size = n if self.batch_size is None else self.batch_size
        while True:
            visit = draws.permutation(rng, np.arange(n)) if self.shuffle else np.arange(n)
            for start in range(0, n, size):
                yield visit[start : start + size]

    def _choose(
        self, m: np.ndarray, in_v: np.ndarray, groups: Iterator[np.ndarray], rng: RandomSource
    ) -> np.ndarray:
        """The rows of the next step."""
        members = np.flatnonzero(in_v)
        if self.pick == "first":
            return members[:1]
        if self.pick == "worst":
            return members[[np.argmin(m[members])]]
        if self.pick == "random":
            return members[[int(draws.uniform(rng) * len(members))]]
        for group in groups:
            rows: np.ndarray = group[in_v[group]]
            if len(rows):
                return rows
        raise AssertionError("unreachable: some row is in V")

    def _searched_step(
        self,
        w: np.ndarray,
        g: np.ndarray,
        m: np.ndarray,
        h: np.ndarray,
        goal: float,
        length0: float,
    ) -> float | None:
        """The step along g that lowers the risk most, or None if no step lowers it."""
        eps = best_step(m - goal, h)
        if eps is None:
            return None
        while np.linalg.norm(w + eps * g) < 0.5 * length0:  # w = 0 would have risk 0 and separate nothing
            eps /= 2.0
        return eps

    # ------------------------------------------------------------ computed from the descents

    @property
    def _several(self) -> bool:
        return bool(vars(self).get("_indicator", False))

    @property
    def intercept_scaling_(self) -> float:
        """B, the constant coordinate of the rows that were learned; 0 without an intercept."""
        if "_framed" not in vars(self):
            raise AttributeError("RiskDescent has no intercept_scaling_ before it is fitted.")
        return float(self._framed.bias)

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        kept = slice(None) if columns is None else np.append(columns, -1)
        return np.stack([run.w[kept] for run in self._descents])

    def _fitted(self, name: str) -> list[Descent]:
        if "_descents" not in vars(self):
            raise AttributeError(f"RiskDescent has no {name} before it is fitted.")
        return self._descents

    def _one_or_all(self, name: str, values: Sequence[object]) -> Any:
        """The value of the only descent, or the list of the values of all descents."""
        return values[0] if len(self._fitted(name)) == 1 else values

    @property
    def risk_curve_(self) -> Any:  # a list of floats, or a list of such lists
        """The risk before each step and at the end."""
        return self._one_or_all("risk_curve_", [run.risks for run in self._fitted("risk_curve_")])

    @property
    def steps_(self) -> Any:  # a list of arrays, or a list of such lists
        """The rows of each step."""
        return self._one_or_all("steps_", [run.chosen for run in self._fitted("steps_")])

    @property
    def path_(self) -> Any:  # an array, or a list of arrays
        """w before the first step and after each, the weight of the constant coordinate last."""
        self._fitted("path_")
        if "_paths" not in vars(self):
            raise AttributeError("RiskDescent has a path_ only if it was fitted with keep_path=True.")
        return self._one_or_all("path_", self._paths)

    @property
    def n_iter_(self) -> int:
        """Steps made."""
        return max(len(run.steps) for run in self._fitted("n_iter_"))

    @property
    def n_updates_(self) -> int:
        """Rows added over all steps."""
        return sum(len(rows) for run in self._fitted("n_updates_") for rows in run.chosen)

    @property
    def on_boundary_(self) -> Any:  # an int, or a list of ints
        """Rows with <w, x> = 0 at the end."""
        runs = self._fitted("on_boundary_")
        return self._one_or_all("on_boundary_", [run.on_boundary for run in runs])

    @property
    def stop_reason_(self) -> Any:  # a string, or a list of strings
        """Why the descent ended."""
        runs = self._fitted("stop_reason_")
        return self._one_or_all("stop_reason_", [run.reason for run in runs])

    @property
    def margin_bounds_(self) -> Any:  # a Bracket, or a list of them
        """(gamma_low, gamma_up) around the best margin; -inf where w does not separate the rows."""
        runs, frame = self._fitted("margin_bounds_"), self._framed
        bounds = vars(self).get("_bounds") or [(None, np.inf)] * len(runs)  # a file of format 1 has none
        named = margin_brackets.in_space(list(bounds), margin_space(frame.bias, frame.unit))
        return self._one_or_all("margin_bounds_", named)

    @property
    def free_margin_bounds_(self) -> Any:  # a Bracket, a list of them or None
        """(gamma_low, gamma_up) around the best margin with a free offset: distances of the rows as given.

        None without an intercept, with ``row_norm``, or from weights that were given and are not 0.
        """
        runs, bounds = self._fitted("free_margin_bounds_"), vars(self).get("_bounds")
        if bounds is None:
            return None
        alphas, frame = vars(self).get("_steps"), self._framed
        both = not self._several  # a label may be that of all rows, or of none
        found = margin_brackets.free_of_descents(runs, alphas, bounds, frame, self.radius_, both)
        return None if found is None else self._one_or_all("free_margin_bounds_", found)

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        runs, frame = self._descents, self._framed
        kept: list[np.ndarray | None] | None = vars(self).get("_steps")
        steps = kept or [_steps_of_old_file(run) if evidence else None for run in runs]
        learners = tuple(
            LearnerRecord(
                updates=sum(len(rows) for rows in run.chosen),
                risk=float(run.risks[-1]),
                on_boundary=run.on_boundary,
                steps=alpha,
            )
            for run, alpha in zip(runs, steps, strict=True)
        )
        return super()._record_fields(evidence) | {
            "learners": learners,
            "from_zero": bool(vars(self).get("_from_zero", True)),
            "bias": float(frame.bias),
            "unit": bool(frame.unit),
            "weights": {"last": np.asarray(self._weights(), float)},
        }


def _steps_of_old_file(run: Descent) -> np.ndarray | None:
    """The sums of the steps up to the last row with a step; None where there are too many rows."""
    last = max((int(rows.max()) for rows in run.chosen if len(rows)), default=0)
    return None if 8 * (last + 1) > margins.STEPS_LIMIT else _steps_on_rows(run, last + 1)


def _steps_on_rows(run: Descent, n_rows: int, by_first: bool = True) -> np.ndarray:
    """The sum of the steps on each row; a start by the first row counts as a step of 1 on it."""
    alpha = np.zeros(n_rows)
    alpha[0] = 1.0 if by_first else 0.0
    for eps, rows in zip(run.steps, run.chosen, strict=True):
        alpha[rows] += eps
    return alpha


class _Problem:
    """Augmented, possibly scaled rows, and the products that a descent needs."""

    def __init__(self, X: AnyMatrix, sq: np.ndarray, bias: float, unit: bool):
        self.X = X
        self.bias = bias
        lengths = np.where(sq > 0.0, np.sqrt(sq), 1.0)
        self.factor = 1.0 / lengths if unit else np.ones(len(sq))
        self.q = sq * self.factor**2

    def part(self, rows: np.ndarray) -> _Problem:
        """The problem of some of the rows."""
        made = copy.copy(self)
        made.X, made.factor, made.q = self.X[rows], self.factor[rows], self.q[rows]
        return made

    def scores(self, w: np.ndarray) -> np.ndarray:
        scores: np.ndarray = self.factor * (np.asarray(self.X @ w[:-1]).ravel() + self.bias * w[-1])
        return scores

    def combine(self, rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        a = coefficients * self.factor[rows]
        return np.append(np.asarray(a @ self.X[rows]).ravel(), self.bias * a.sum())

    def row(self, i: int) -> np.ndarray:
        return self.combine(np.asarray([i]), np.ones(1))


def risk(m: np.ndarray, goal: float) -> float:
    """The sum of max(0, goal - m)."""
    return float(np.sum(np.maximum(0.0, goal - m)))


def best_step(m: np.ndarray, h: np.ndarray) -> float | None:
    """The smallest eps > 0 that minimises sum max(0, -(m + eps h)), or None if none lowers it.

    The function is convex and piecewise linear; its slope rises by |h_i| at the point where row i changes
    sides, eps_i = -m_i/h_i.
    """
    active = (m < 0.0) | ((m == 0.0) & (h < 0.0))
    slope = -float(np.sum(h[active]))
    if slope >= 0.0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.where(h != 0.0, -m / h, -1.0)
    later = np.flatnonzero(crossing > 0.0)
    later = later[np.argsort(crossing[later], kind="stable")]
    slopes = slope + np.cumsum(np.abs(h[later]))
    turned = np.flatnonzero(slopes >= 0.0)
    if not len(turned):
        return None
    return float(crossing[later[turned[0]]])
