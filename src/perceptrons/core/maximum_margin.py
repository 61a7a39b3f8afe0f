"""The maximum margin: the widest slab between two classes, hard or soft."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import field
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from .. import kernels
from .._sparse import is_sparse
from ..engine import intake, spaces
from ..engine.solvers import coordinate, maximum, quadratic
from ..engine.spaces.together import positives
from ..theory import _outward as outward
from ..theory import inseparability, kernel_bracket, weighted_rows
from ..theory.brackets import Bracket, margin_space
from ..theory.run_record import LearnerRecord
from ..theory.separability import Separability, rounded_up
from . import calibrating, changing, checks, objects
from .augmented import FitIntercept
from .intakes import PointIntake
from .labels import checked_targets
from .parameters import spec
from .progress import Progress
from .run_records import known_rows
from .solved import NotSeparableError, Problem
from .writing import one_writer, unchanged_on_error

if TYPE_CHECKING:
    from .._types import AnyMatrix, Collection, Matrix, PairFunction
    from .._types import Objects as AnyObjects

SOLVERS = ("auto", "active", "descent", "piqp")
NEAR_ENDS = (2.0**-250, 2.0**250)  # lengths beyond which rows are multiplied by a power of 2
TOO_LONG = 2.0**53  # entries of a row of this length may be integers that float64 rounds
CLOSE = 1e-9  # relative loss by rounding outwards; above it, rows are computed with in whole numbers
EXACT_SECONDS = 10.0  # for whole-number weights that prove that nothing separates


@spec
class MaxMarginSpec(FitIntercept):
    """Parameters and plan of :class:`perceptrons.MaxMargin`."""

    _run_kind = "margin"
    calibration_rows: ClassVar[str] = "held out"

    if TYPE_CHECKING:  # set by fit; at run time these annotations would declare parameters
        kernel_: kernels.Kernel = field(init=False)
        _known: Collection = field(init=False)
        _problems: list[Problem] = field(init=False)
        support_: np.ndarray = field(init=False)
        dual_coef_: np.ndarray = field(init=False)
        _indicator: bool = field(init=False)  #: True where y was an indicator matrix

    intercept_scaling: ClassVar[float] = 1.0  # the bias is no weight of a coordinate: it has no scale
    row_norm: ClassVar[None] = None  # the margin is defined for rows that are not scaled
    C: float = np.inf
    tol: float = 1e-6
    kernel: str | kernels.Kernel | PairFunction | None = None
    solver: str = "auto"
    max_time: float | None = None
    max_iter: int = 1000
    verbose: int = 0

    # ------------------------------------------------------------ parameters

    def _check_params(self) -> None:
        checks.flag("fit_intercept", self.fit_intercept)
        calibrating.check(self)
        if not (isinstance(self.C, float) and isinf(self.C) and self.C > 0.0):
            checks.positive("C", self.C)
        checks.positive("tol", self.tol, below=1.0)
        if self.kernel is not None:
            kernels.as_kernel(self.kernel)
        checks.one_of("solver", self.solver, SOLVERS)
        if self.max_time is not None:
            checks.positive("max_time", self.max_time)
        checks.whole("max_iter", self.max_iter)
        checks.verbose(self.verbose)
        if self.solver == "active" and not isinf(self.C):
            raise ValueError("solver='active' is for hard margins, C=inf; take 'descent' or 'auto'.")
        if self.solver == "piqp":
            quadratic.piqp()

    # ------------------------------------------------------------ intake

    def _kernel_in_force(self) -> str | kernels.Kernel | PairFunction | None:
        """The parameter ``kernel``; after learning, its value at that time."""
        found: str | kernels.Kernel | PairFunction | None = self._learned_with("kernel")
        return found

    def _dtypes(self) -> npt.DTypeLike:
        """The precision that rows of numbers are converted to."""
        return np.float64

    def _by_function(self) -> bool:
        """Whether the kernel is a function of the user: there are no bounds on errors of its values."""
        return "kernel_" in vars(self) and objects.described(self.kernel_) is None

    @property
    def _intake(self) -> PointIntake:
        return PointIntake(self)

    def _points(self, X: AnyMatrix) -> tuple[maximum.Points, int]:
        """The rows, times 2^-e where their squares would overflow or underflow, and e."""
        if self.kernel is None:
            free, hard = bool(self.fit_intercept), isinf(self.C)
            squares = squared_lengths(X, hard)
            if squares[0] < np.inf:
                points = maximum.LinearPoints(X, squares, free)
                if not hard or NEAR_ENDS[0] < points.radius < NEAR_ENDS[1]:
                    return points, 0
            X, e = outward.scaled(X)
            return maximum.LinearPoints(X, squared_lengths(X), free), e
        self._known = X[np.empty(0, np.int64)]
        squares = objects.self_products(self.kernel_, X)
        objects.refuse_vanishing(self.kernel_, X, squares)
        longest = float(np.sqrt(squares.max()))
        e = 0 if not isinf(self.C) or NEAR_ENDS[0] < longest < NEAR_ENDS[1] else int(np.frexp(longest)[1])
        values = maximum.KernelPoints(self.kernel_, X, squares, e)
        if self.solver == "descent" or not isinf(self.C):
            return maximum.factored(values), e
        return values, e

    # ------------------------------------------------------------ learning

    def fit(self, X: AnyObjects, y: npt.ArrayLike) -> Self:
        """Find the maximum margin.

        Rows have no weights here: there is no ``sample_weight``. Leave rows out, or repeat them for finite C.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or what the kernel takes
        y : array-like of shape (n_samples,), or of shape (n_samples, n_labels)
            Labels, or an indicator matrix of 0 and 1: each label is then a problem of its own, with an
            infinite margin where all rows have the label, or none.

        Returns
        -------
        self
        """
        deadline = np.inf if self.max_time is None else time.perf_counter() + float(self.max_time)
        with one_writer(self, anew=True), unchanged_on_error(self):
            self._check_params()
            for name in ("kernel_", "_known"):  # of an earlier fit
                self.__dict__.pop(name, None)
            given, X = X, self._intake.checked(X, reset=True)
            y = checked_targets(self, y, X.shape[0])
            several = y.ndim == 2
            classes, codes = (np.arange(y.shape[1]), y) if several else encoded(y)
            intake.check_again(X)  # labels may be objects with methods of the user
            points, e = self._points(X)
            rows = X
            if self.kernel is None and (e > 0 or points.radius >= TOO_LONG) and whole(given):
                rows = weighted_rows.as_rows(given)
            vars(self).pop("_indicator", None)
            if several:
                self._indicator = True
            with Progress(type(self).__name__, self.max_iter, self.verbose) as progress:
                limits = maximum.SolverLimits(float(self.tol), int(self.max_iter), deadline, progress.gap)
                self._solve(rows, points, e, codes, limits, classes)
                self.classes_ = classes
                self.radius_ = float(np.ldexp(points.radius, e)) if e else points.radius
                self._fit_support(X)
                self._begun = changing.parameters_of_state(self)
                vars(self).pop("_calibration", None)
                if self.probability:
                    self._calibrate(X, codes, limits)
        return self

    def _solve(
        self,
        rows: AnyMatrix,
        points: maximum.Points,
        e: int,
        codes: np.ndarray,
        limits: maximum.SolverLimits,
        classes: np.ndarray,
    ) -> None:
        """The problem of two classes, or one for each class against the rest."""
        one = len(classes) <= 2 and codes.ndim == 1
        self._problems = []
        for r in [len(classes) - 1] if one else range(len(classes)):
            signs = np.where(positives(codes, r), 1.0, -1.0)
            self._problems.append(self._one(rows, points, e, signs, limits, classes, r))

    def _calibrate(self, X: AnyMatrix, codes: np.ndarray, limits: maximum.SolverLimits) -> None:
        """Fit the curves to the scores of learners that have learned the other folds of the rows."""
        scores = np.zeros((len(codes), len(self._problems)))
        for learned, scored in calibrating.folds(codes):
            twin = copy.copy(self)
            points, e = twin._points(X[learned])
            twin._solve(X[learned], points, e, codes[learned], limits, self.classes_)
            twin._fit_support(X[learned])
            scores[scored] = twin._scores(X[scored]).reshape(len(scored), -1)
        calibrating.keep_curves(self, scores, codes, np.ones(len(codes)))

    def _one(
        self,
        X: AnyMatrix,
        points: maximum.Points,
        e: int,
        y: np.ndarray,
        limits: maximum.SolverLimits,
        classes: np.ndarray,
        r: int,
    ) -> Problem:
        """One class against the rest; NotSeparableError where a hard margin does not exist."""
        free = bool(self.fit_intercept)
        if free and (y == y[0]).all():
            answer = maximum.Answer(np.zeros(points.n), 1.0, (np.inf, np.inf), 0.0, 1, maximum.GAP_CLOSED)
            w = np.zeros(X.shape[1]) if self.kernel is None else None
            return Problem(answer, np.empty(0, np.int64), np.empty(0), w, float(y[0]), 0.0)
        undecided = ""
        try:
            answer = self._solved(points, y, free, limits)
            if isinf(self.C) and answer.bracket[0] <= 0.0:
                undecided = answer.reason
                found = coordinate.refuted(points, y, free, answer.alpha, search=not limits.late())
                if found is not None:
                    raise found
        except OverflowError:
            raise self._overflow(points, e) from None
        except maximum.Inseparable as found:
            proof = self._proof(X, y, free, found.weights, limits)
            if proof is not None:
                raise self._not_separable(proof, classes, r) from None
            undecided = undecided or maximum.ROUNDING
            alpha = found.weights
            _, b, pair = maximum.bracket(points, y, free, rows := np.flatnonzero(alpha), alpha[rows])
            answer = maximum.Answer(alpha, b, pair, np.inf, 1, undecided)
        problem = self._problem(X, points, e, y, free, answer)
        if undecided:
            self._warn_undecided(problem.answer, classes, r)
        return problem

    def _problem(
        self, X: AnyMatrix, points: maximum.Points, e: int, y: np.ndarray, free: bool, answer: maximum.Answer
    ) -> Problem:
        """w, b and the bracket around the margin, in the units of the rows as they were given."""
        support = np.flatnonzero(answer.alpha)
        alpha = answer.alpha[support]
        coef = alpha * y[support]
        if self.kernel is not None:
            return self._kernel_problem(X, points, e, y, free, answer, support)
        assert isinstance(points, maximum.LinearPoints)
        w = points.weights(support, coef)
        b = points.intercept(w, answer.b) if free else 0.0
        low, up, norm = -np.inf, np.inf, 0.0  # no weights: nothing is proved
        if len(support):
            low, up, norm = maximum.proved(points, y, free, w, support, alpha)
            if not (norm < np.inf and up < np.inf):
                raise self._overflow(points, e)
            low = low if norm > 0.0 else -np.inf
        if e:
            w, b, alpha = self._unscaled(w, b, alpha, e)
            coef = alpha * y[support]
            low, up = outward.times_power(low, e, False), outward.times_power(up, e, True)
            norm = float(np.ldexp(norm, -e))
        if X.dtype != np.float64 or not narrow(low, up, answer, e):
            low, up = sharper(X, y, free, w, answer.alpha, low, up)
        gap = max(0.0, maximum.relative_gap((low, up))) if isinf(self.C) else answer.gap
        found = maximum.Answer(answer.alpha, answer.b, (low, up), gap, answer.n_iter, answer.reason)
        return Problem(found, support, coef, w, b, norm)

    def _kernel_problem(
        self,
        X: AnyMatrix,
        points: maximum.Points,
        e: int,
        y: np.ndarray,
        free: bool,
        answer: maximum.Answer,
        support: np.ndarray,
    ) -> Problem:
        """The same in the space of a kernel."""
        alpha = answer.alpha[support]
        norm = float(np.sqrt(points.norm2(support, alpha * y[support])))
        pair = kernel_bracket.bracket(self._kernel_space(X, points), y, free, support, alpha)
        if e:
            _, _, alpha = self._unscaled(np.zeros(1), 0.0, alpha, e)
            norm = float(np.ldexp(norm, -e))
        gap = max(0.0, maximum.relative_gap(pair)) if isinf(self.C) else answer.gap
        found = maximum.Answer(answer.alpha, answer.b, pair, gap, answer.n_iter, answer.reason)
        return Problem(found, support, alpha * y[support], None, answer.b, norm)

    def _kernel_space(self, X: AnyMatrix, points: maximum.Points) -> kernel_bracket.KernelSpace:
        """Kernel values with bounds on their errors; without bounds for a function of the user."""
        plain = objects.described(self.kernel_)
        if plain is not None:
            return kernel_bracket.described(plain, objects.raw(X))
        if isinstance(points, maximum.KernelPoints) and not points.e:
            return kernel_bracket.as_given(lambda part, rows: points.columns_of(rows)[part])
        return kernel_bracket.as_given(lambda part, rows: self.kernel_.matrix(X[part], X[rows]))

    def _overflow(self, points: maximum.Points, e: int) -> ValueError:
        return ValueError(
            f"MaxMargin(C={self.C:g}) overflows on these rows, the longest of length "
            f"{np.ldexp(points.radius, e):.3g}. Scale the data."
        )

    def _unscaled(
        self, w: np.ndarray, b: float, alpha: np.ndarray, e: int
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """w, b and alpha for rows that were multiplied by 2^-e; ValueError where they are no floats."""
        with np.errstate(over="ignore", under="ignore"):
            w, alpha = np.ldexp(w, -e), np.ldexp(alpha, -2 * e)
        if not (np.all(np.isfinite(w)) and np.all((alpha > 0.0) & np.isfinite(alpha))):
            what = "long" if e > 0 else "short"
            raise ValueError(
                f"The rows of X are too {what} for MaxMargin: dual coefficients are about 1/||x||^2, and the "
                f"largest value is near 2^{e}. Scale the data, for example by 2.0**{-e}."
            )
        return w, b, alpha

    def _solved(
        self, points: maximum.Points, y: np.ndarray, free: bool, limits: maximum.SolverLimits
    ) -> maximum.Answer:
        C = float(self.C)
        if self.solver == "piqp":
            answer = quadratic.solve(points, y, free, C, limits)
            if answer is not None:
                return answer  # else it found no solution: our solver proves that there is none
        if not isinf(C) or self.solver == "descent":
            return coordinate.descend(cast(maximum.LinearPoints, points), y, free, C, limits)
        if self.solver == "active" or self.kernel is not None:
            return maximum.hard(points, y, free, limits, many=None)
        return coordinate.hard(cast(maximum.LinearPoints, points), y, free, limits)

    def _warn_undecided(self, answer: maximum.Answer, classes: np.ndarray, r: int) -> None:
        low, up = answer.bracket
        what = f"class {classes.tolist()[r]!r} against the rest" if len(classes) > 2 else "the classes"
        what = f"the rows with and without label {r}" if self._several else what
        known = f" The largest margin is at most {rounded_up(up)}; this w has {low:.3g}."
        warnings.warn(
            f"MaxMargin stopped ({answer.reason}) without a separator of {what} and without a proof that "
            f"there is none: undecided.{'' if self._by_function() else known} Give more max_time or "
            "max_iter, ask perceptrons.separability, or give a finite C.",
            self._contract.unconverged,
            stacklevel=5,
        )

    def _proof(
        self, X: AnyMatrix, y: np.ndarray, free: bool, weights: np.ndarray, limits: maximum.SolverLimits
    ) -> Separability | None:
        """Weights near these whose combination of the rows is 0 in whole numbers, or None."""
        end = min(limits.deadline, time.perf_counter() + EXACT_SECONDS)

        def late() -> bool:
            return time.perf_counter() >= end

        if self.kernel is None:
            return inseparability.proof_near(weighted_rows.as_rows(X), y, free, weights, late)
        rows, plain = np.flatnonzero(weights), objects.described(self.kernel_)
        if plain is not None:
            whole = kernel_bracket.whole_values(plain, objects.raw(X), rows)
            return inseparability.kernel_proof_near(*whole, y, free, weights, rows, late) if whole else None
        values = maximum.KernelPoints(self.kernel_, X[rows], np.ones(len(rows))).fresh(np.arange(len(rows)))
        return inseparability.kernel_proof_near(values, None, y, free, weights, rows, late)

    def _not_separable(self, proof: Separability, classes: np.ndarray, r: int) -> Exception:
        names = [repr(label) for label in classes.tolist()]
        if self._several:
            what = f"The rows with and without label {r} are not separable"
        elif len(classes) > 2:
            what = f"Class {names[r]} is not separable from the rest"
        elif len(classes) == 2:
            what = f"The classes {names[0]} and {names[1]} are not separable"
        else:
            what = "The rows are not separable from the origin"
        through = "" if self.fit_intercept else " through the origin"
        if self._by_function():
            through += ", by the kernel's values as computed"
        return NotSeparableError(
            f"{what} by a hyperplane{through}: {proof.support.size} rows, weighted, prove it exactly (see "
            "the error's certificate). Give a finite C, or a kernel.",
            proof,
        )

    def _fit_support(self, X: AnyMatrix) -> None:
        runs = self._problems
        if len(runs) == 1:
            self.support_, self.dual_coef_ = runs[0].support, runs[0].coef[None]
        else:
            self.support_ = np.unique(np.concatenate([run.support for run in runs]))
            self.dual_coef_ = np.zeros((len(runs), len(self.support_)))
            for row, run in zip(self.dual_coef_, runs, strict=True):
                row[np.searchsorted(self.support_, run.support)] = run.coef
        self._support_rows = X[self.support_]

    # ------------------------------------------------------------ scores

    def _frame_in_force(self) -> spaces.Frame:
        return spaces.Frame()  # rows are not changed, and the last weight is the intercept

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        if columns is None:
            return np.column_stack([self.coef_, self.intercept_])
        picked = cast(list[np.ndarray], [run.w for run in self._problems])
        return np.column_stack([np.stack([w[columns] for w in picked]), self.intercept_])

    def _linear_scores(self, X: AnyMatrix) -> np.ndarray:
        if self._kernel_in_force() is None:
            return super()._linear_scores(X)
        biases = np.asarray([run.b for run in self._problems])
        if not len(self.support_):
            return np.asarray(np.zeros((len(X), 1)) + biases)
        scores: np.ndarray = self.kernel_.matrix(X, self._support_rows) @ self.dual_coef_.T + biases
        return scores

    # ------------------------------------------------------------ the record of a run

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        free = bool(self._learned_with("fit_intercept"))
        found: dict[str, Any] = {
            "learners": tuple(LearnerRecord(support=self.n_support_) for _ in self._problems),
            "bias": float(free),
            "free": free,
            "dual": (self.support_, np.asarray(self.dual_coef_)),
        }
        if self._kernel_in_force() is None:
            found["weights"] = {"last": np.asarray(self._weights(), float)}
        else:
            found["weights"] = {"last": self.dual_coef_}
            found["support"] = self.support_
            found["known_rows"] = known_rows(self) if evidence else None
            found["offsets"] = np.asarray(self.intercept_, float) if free else None
        return super()._record_fields(evidence) | found

    # ------------------------------------------------------------ computed from the problems

    @property
    def _several(self) -> bool:
        return bool(vars(self).get("_indicator", False))

    def _fitted(self, name: str) -> list[Problem]:
        if "_problems" not in vars(self):
            raise AttributeError(f"MaxMargin has no {name} before it is fitted.")
        return self._problems

    def _each(self, name: str, value: Callable[[Problem], object]) -> Any:
        """The value of the only problem, or the list of the values of all problems."""
        values = [value(run) for run in self._fitted(name)]
        return values[0] if len(values) == 1 else values

    @property
    def coef_(self) -> np.ndarray:
        """w, one row per problem; a kernel has ``dual_coef_`` over ``support_vectors_`` instead."""
        self._fitted("coef_")
        if self._kernel_in_force() is not None:
            raise AttributeError("MaxMargin with a kernel has no coef_; see dual_coef_ and support_vectors_.")
        return np.stack(cast(list[np.ndarray], [run.w for run in self._problems]))

    @property
    def intercept_(self) -> np.ndarray:
        """b, one per problem."""
        return np.asarray([run.b for run in self._fitted("intercept_")])

    @property
    def n_support_(self) -> int:
        """How many rows w is made of."""
        self._fitted("n_support_")
        return len(self.support_)

    @property
    def support_vectors_(self) -> Any:
        """The rows that w is made of; other objects as a list."""
        self._fitted("support_vectors_")
        rows = self._support_rows
        return rows if self._kernel_in_force() is None else spaces.shown(rows, np.arange(len(rows)))

    @property
    def margin_(self) -> Any:  # a float, or a list of floats
        r""":math:`1/\|w\|`; not positive while nothing separates (hard margin, stopped early)."""
        return self._each("margin_", lambda run: _margin(run, self._learned_with("C")))

    @property
    def slab_width_(self) -> Any:  # a float, or a list of floats
        r""":math:`2/\|w\|`."""
        return self._each("slab_width_", lambda run: 2.0 * _margin(run, self._learned_with("C")))

    @property
    def margin_bounds_(self) -> Any:  # a Bracket, or a list of them
        """(gamma_low, gamma_up) around the largest hard margin; (None, inf) for a function of the user."""
        self._fitted("margin_bounds_")
        free, kernel = bool(self._learned_with("fit_intercept")), self._kernel_in_force() is not None
        space, nothing = margin_space(kernel=kernel, free=free), self._by_function()

        def named(run: Problem) -> Bracket:
            low, up = run.answer.bracket
            return Bracket(None, np.inf, space) if nothing else Bracket(float(low), float(up), space)

        return self._each("margin_bounds_", named)

    @property
    def free_margin_bounds_(self) -> Any:  # a Bracket, a list of them or None
        """The same with a free offset; None for a hyperplane through the origin, or a kernel."""
        self._fitted("free_margin_bounds_")
        free = self._learned_with("fit_intercept") and self._kernel_in_force() is None
        return self.margin_bounds_ if free else None

    @property
    def gap_(self) -> float:
        """The largest relative gap."""
        return max(float(run.answer.gap) for run in self._fitted("gap_"))

    @property
    def n_iter_(self) -> int:
        """Passes over all rows (the most of any class)."""
        return max(run.answer.n_iter for run in self._fitted("n_iter_"))

    @property
    def stop_reason_(self) -> Any:  # a string, or a list of strings
        """Why the solver stopped."""
        return self._each("stop_reason_", lambda run: run.answer.reason)

    @property
    def one_class_(self) -> bool:
        """Whether y held one class only."""
        self._fitted("one_class_")
        return len(self.classes_) == 1


def _margin(run: Problem, C: float) -> float:
    if isinf(C):
        return float(run.answer.bracket[0])
    return 1.0 / run.norm if run.norm > 0.0 else np.inf


def squared_lengths(X: Matrix, may_overflow: bool = False) -> np.ndarray:
    """Squared lengths of the rows; a ValueError names a row that is not finite or whose square overflows.

    ``may_overflow``: infinity for all rows instead, where the squares of finite rows overflow.
    """
    if not is_sparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            squares: np.ndarray = np.einsum("ij,ij->i", X, X)
        if np.isfinite(squares.max()):
            return squares
    if may_overflow and outward.exponent(outward.values(X)) > 500 and np.isfinite(outward.values(X)).all():
        return np.full(X.shape[0], np.inf)
    return intake.make_rows(X, 0.0, False).sq


def whole(X: AnyMatrix) -> bool:
    """Whether X holds integers, which float64 may have rounded."""
    return (X.dtype.kind if hasattr(X, "dtype") else np.asarray(X).dtype.kind) in "iuO"


def narrow(low: float, up: float, answer: maximum.Answer, e: int) -> bool:
    """Whether rounding outwards has widened the bracket of the solver by a relative CLOSE at most."""
    seen, above = answer.bracket
    if e:
        seen, above = float(np.ldexp(seen, e)), float(np.ldexp(above, e))
    return bool((low >= seen * (1.0 - CLOSE) or seen <= 0.0 >= low) and up <= above * (1.0 + CLOSE))


def sharper(
    X: AnyMatrix, y: np.ndarray, free: bool, w: np.ndarray, alpha: np.ndarray, low: float, up: float
) -> tuple[float, float]:
    """Both ends computed again, in whole numbers for the rows that decide."""
    floats = X.dtype == np.float64
    margin = outward.free_margin(w, X, y) if free else outward.margin(w, 0.0, X, y)
    above = outward.combined(alpha, X, y, free).high
    return (max(low, margin.low), min(up, above)) if floats else (margin.low, above)


def encoded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(classes, the class of each row); two integer labels, the usual case, need no sorting."""
    if y.dtype.kind in "bi":
        ends = np.array([y.min(), y.max()])
        codes = y == ends[1]
        if np.count_nonzero(codes) + np.count_nonzero(y == ends[0]) == len(y):
            return ends, codes
    return np.unique(y, return_inverse=True)
