r"""Is there a halfspace that separates two classes? A verdict with a proof.

A perceptron looks for (w, b); it stops soon if there is a good one. Otherwise both sides of Gordan's
alternative are tried on a part of the rows: weights that bring the part to 0 prove that nothing
separates the whole; a separator of the part is tried on the whole, and the rows on which it errs join the
part. Whatever floats suggest is proved in whole numbers before it is said.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .._sparse import is_sparse
from .._types import Matrix, MatrixLike
from ..core import checks
from ..theory import _lifting, _simplex, inseparability, weighted_rows
from ..theory import _outward as outward
from ..theory.separability import Separability, claimed
from ._gordan import ScaledRows, least_squares, linear_program, powers, with_column

if TYPE_CHECKING:
    from ..estimators.perceptron import Perceptron

EPOCHS = 100  # of the perceptron, at most, in each of two spaces
TINY = 1e-10  # a weight this small beside the largest may be rounding
SMALL = 40_000  # entries of a tableau in whole numbers


def separability(
    X: MatrixLike,
    y: npt.ArrayLike,
    fit_intercept: bool = True,
    max_time: float = 60.0,
    exact: bool = True,
    verbose: int = 0,
) -> Separability:
    r"""Whether some halfspace separates two classes, with a proof that can be checked.

    Separable: w and b with :math:`y_i(\langle w, x_i\rangle + b) > 0` for every row. Not separable:
    weights :math:`\lambda \ge 0` with sum 1 and :math:`\sum\lambda_i y_i(x_i, 1) = 0`, on at most
    d + 2 rows as a rule; then a point lies in the convex hulls of both classes. One of the two always
    exists [1]_, and no verdict is given that its own check has not confirmed, without rounding. Integers
    beyond :math:`2^{53}` are taken as they are.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        One or two labels of any kind.
    fit_intercept : bool, default=True
        Whether b may differ from 0.
    max_time : float, default=60.0
        Seconds after which the search ends, as soon as the current step is done.
    exact : bool, default=True
        Solve for the weights again in whole numbers. Without it, or if time runs out before, the verdict
        is "undecided", with the weights found: no separator has an augmented margin above their residual.
    verbose : int, default=0
        1: say on standard error what is being done.

    Returns
    -------
    Separability
        See :class:`perceptrons.theory.Separability`. Its ``check(X, y)`` needs neither this function
        nor a solver.

    References
    ----------
    .. [1] P. Gordan, Über die Auflösung linearer Gleichungen mit reellen Coefficienten, Math. Annalen 6,
       1873.

    Examples
    --------
    >>> from perceptrons import datasets, separability
    >>> X, y, *_ = datasets.xor()
    >>> proof = separability(X, y)
    >>> proof.verdict, proof.weights, proof.point, proof.exact
    ('not separable', array([0.25, 0.25, 0.25, 0.25]), array([0., 0.]), True)
    >>> separability(X[:3], y[:3]).verdict
    'separable'
    >>> print(separability([[0.0], [1.0], [1.0]], ["no", "yes", "no"]).reason)
    rows 1 and 2 are the same x with both labels
    """
    fit_intercept, exact = checks.flag("fit_intercept", fit_intercept), checks.flag("exact", exact)
    max_time = checks.positive("max_time", max_time)
    checks.verbose(verbose)
    began = time.perf_counter()
    given = X
    X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator="separability")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # every result is checked
        rows = weighted_rows.as_rows(given if is_whole(given) else X)
        search = Search(rows, weighted_rows.signs(y), fit_intercept, exact, began, max_time, verbose)
        found = search.at_once() or search.by_perceptron() or search.by_parts() or search.undecided()
    search.say(f"{found.verdict}: {found.claim}")
    return found


def is_whole(X: MatrixLike) -> bool:
    """Whether X holds integers, which float64 may round."""
    kind = X.dtype.kind if hasattr(X, "dtype") else np.asarray(X).dtype.kind
    return kind in "iuO"


class Search:
    """One search for a verdict."""

    def __init__(
        self,
        rows: Matrix,
        y: np.ndarray,
        fit_intercept: bool,
        exact: bool,
        began: float,
        max_time: float,
        verbose: int,
    ):
        self.rows, self.X, self.y = rows, outward.floats(rows), y  # X: integers beyond 2^53 are rounded
        self.fit_intercept, self.exact = fit_intercept, exact
        self.began, self.deadline, self.verbose = began, began + max_time, verbose
        self.n, self.d = self.X.shape
        self.one_class = bool(np.all(y == y[0]))
        self.why = "the time was over"
        self.weights: np.ndarray | None = None  # of the smallest residual, among those that are not exact
        self.rho = math.inf  # that residual

    # ---------------------------------------------------------------------------------- records

    def _record(self, **found: Any) -> Separability:
        made = Separability(
            fit_intercept=self.fit_intercept,
            one_class=self.one_class,
            seconds=time.perf_counter() - self.began,
            claim="",
            **found,
        )
        return replace(made, claim=claimed(made, self.n))

    def say(self, text: str) -> None:
        if self.verbose:
            sys.stderr.write(f"separability: {time.perf_counter() - self.began:6.1f} s  {text}\n")

    def left(self) -> float:
        return self.deadline - time.perf_counter()

    def late(self) -> bool:
        return self.left() <= 0.0

    def separable(self, w: np.ndarray, b: float, reason: str) -> Separability | None:
        """The verdict for a separator, if it is one; b is moved to the middle of the gap."""
        if not np.all(np.isfinite(w)):
            return None
        candidates = [b if self.fit_intercept else 0.0]
        if self.fit_intercept and not self.one_class:
            s = outward.scores(w, 0.0, self.rows)
            low, high = float(np.min(s.values[self.y > 0])), float(np.max(s.values[self.y < 0]))
            candidates.insert(0, float(np.ldexp(-(low + high) / 2.0, s.e)))
        for b in candidates:
            if not math.isfinite(b) or outward.wrong_row(w, b, self.rows, self.y) is not None:
                continue
            margin = outward.margin(w, b, self.rows, self.y).low
            up = outward.combined(np.ones(self.n), self.rows, self.y, self.fit_intercept).high
            found = self._record(
                verdict="separable", reason=reason, exact=True, margin=margin, w=w, b=b, bracket=(margin, up)
            )
            if found.check(self.rows, self.y) is None:
                return found
        return None

    def not_separable(self, rows: np.ndarray, weights: np.ndarray, reason: str) -> Separability | None:
        """The verdict for weights of some rows; None if they prove nothing."""
        rows, weights = rows[weights > 0.0], weights[weights > 0.0]
        self.why = "exact weights were not asked for"
        if self.exact:
            try:
                whole, rows, weights = self._in_whole_numbers(rows, weights)
                if whole is not None:
                    return self._proved(rows, whole, reason)
                self.why = "weights that floats suggest are not exact"
            except _lifting.OutOfTime:
                self.why = "the time was over"
        lam = np.zeros(self.n)
        lam[rows] = np.maximum(weights / weights.sum(), 5e-324)
        rho = weighted_rows.exact_residual(lam, self.rows, self.y, self.fit_intercept)
        if rho < self.rho:
            self.weights, self.rho = lam, rho
        return None

    def _in_whole_numbers(
        self, rows: np.ndarray, weights: np.ndarray
    ) -> tuple[list[int] | None, np.ndarray, np.ndarray]:
        """(whole-number weights or None, rows, weights); a weight that rounding made may be left out."""
        large = weights > TINY * weights.max()
        for chosen in [large] if np.all(large) else [large, np.ones_like(large)]:
            self.say(f"weights on {np.count_nonzero(chosen)} rows; the same in whole numbers")
            columns, *_ = self.integer_columns(rows[chosen])
            whole = _lifting.null_weights(columns, weights[chosen], self.late)
            if whole is not None:
                return whole, rows[chosen], weights[chosen]
        return None, rows, weights

    def _proved(self, rows: np.ndarray, whole: list[int], reason: str) -> Separability | None:
        seconds = time.perf_counter() - self.began
        found = inseparability.exact_proof(
            self.rows, self.y, self.fit_intercept, rows, whole, reason, seconds=seconds
        )
        return found if found is not None and found.check(self.rows, self.y, exact=True) is None else None

    def undecided(self) -> Separability:
        alike = outward.combined(np.ones(self.n), self.rows, self.y, self.fit_intercept).high
        if self.weights is not None:
            up = outward.combined(self.weights, self.rows, self.y, self.fit_intercept).high
            if math.isfinite(up):
                found = {"weights": self.weights, "residual": self.rho, "bracket": (0.0, up)}
                return self._record(verdict="undecided", reason=self.why, **found)
        return self._record(verdict="undecided", reason=self.why, bracket=(0.0, alike))

    # ---------------------------------------------------------------------------------- at once

    def at_once(self) -> Separability | None:
        """One class, a zero row without intercept, the same x with both labels."""
        if self.one_class and self.fit_intercept:
            return self.separable(np.zeros(self.d), float(self.y[0]), "all rows have one label")
        if not self.fit_intercept:
            empty = np.flatnonzero(self._sizes() == 0.0)
            if empty.size:
                i = int(empty[0])
                return self._proved(empty[:1], [1], f"row {i} is the zero vector")
        twins = self._twins()
        if twins is not None:
            i, j = twins
            reason = f"rows {i} and {j} are the same x with both labels"
            return self._proved(np.array([i, j]), [1, 1], reason)
        return None

    def _sizes(self) -> np.ndarray:
        X = self.rows
        if is_sparse(X):
            return np.diff(X.indptr).astype(float)
        return np.asarray(np.any(X != 0, axis=1)).astype(float)

    def _twins(self) -> tuple[int, int] | None:
        if self.one_class:
            return None
        seen: dict[int, list[int]] = {}
        X = self.rows
        key: Callable[[int], bytes | tuple[int, ...]]
        if is_sparse(X):
            ends, indices, data = X.indptr.tolist(), X.indices, X.data

            def key(i: int) -> bytes:
                part = slice(ends[i], ends[i + 1])
                return indices[part].tobytes() + data[part].tobytes()
        elif X.dtype == object:

            def key(i: int) -> tuple[int, ...]:
                return tuple(X[i].tolist())
        else:

            def key(i: int) -> bytes:
                return bytes((X[i] + 0.0).tobytes())  # -0 becomes 0

        for i in range(self.n):
            name = key(i)
            others = seen.setdefault(hash(name), [])
            same = [j for j in others if key(j) == name]
            for j in same:
                if self.y[j] != self.y[i]:
                    return j, i
            if not same:
                others.append(i)
        return None

    # --------------------------------------------------------------------------- by a perceptron

    def by_perceptron(self) -> Separability | None:
        """Clean passes on scaled columns, then on rows of length 1."""
        if self.one_class or self.late():
            return None
        spaces = [("scaled columns", self.scaled(), None), ("rows of length 1", self.plain(), "l2")]
        for what, space, norm in spaces:
            if self.late():
                return None
            self.say(f"a perceptron on {what}")
            learner = self._learned(space, max_iter=EPOCHS, row_norm=norm, callback=lambda _: self.late())
            if learner is not None and learner.stop_reason_ == "clean pass":
                reason = f"a perceptron pass was clean, after {learner.n_updates_} updates"
                w, b = space.back(learner.coef_.ravel(), float(learner.intercept_[0]))
                found = self.separable(w, b, reason)
                if found is not None:
                    return found
        return None

    def _learned(self, space: ScaledRows, **params: Any) -> Perceptron | None:
        """A perceptron on these rows; None where it does not take numbers of their size."""
        from ..estimators.perceptron import Perceptron

        learner = Perceptron(random_state=0, fit_intercept=self.fit_intercept, **params)
        try:
            learner.fit(space.rows, self.y)
            return learner
        except ValueError:
            return None

    def scaled(self) -> ScaledRows:
        """Columns of like size: centred and divided by a power of 2, sparse ones divided only."""
        if "_scaled" not in vars(self):
            self._scaled = ScaledRows.scaled(self.X, centre=self.fit_intercept)
        return self._scaled

    def plain(self) -> ScaledRows:
        """The rows as they are, or divided by one number where their squares would be out of range."""
        size = float(powers(np.array([outward.sizes(self.X).max()]))[0])
        size = size if abs(math.log2(size)) > 200 else 1.0
        rows: Any = self.X
        return ScaledRows(rows / size, np.zeros(self.d), np.full(self.d, size))

    # ---------------------------------------------------------------------------------- by parts

    def by_parts(self) -> Separability | None:
        """The alternatives for a part of the rows, which grows until it decides."""
        if self.late():
            return None
        Z = self.signed_rows()
        rng = np.random.default_rng(0)
        part = self._first_part(rng)
        while not self.late():
            self.say(f"both alternatives for {part.size} of {self.n} rows")
            found, direction = self._decide(Z, part)
            if found is not None or direction is None:
                return found
            m = np.asarray(Z @ direction).ravel()
            w, b = self.scaled().back(*self.split(direction))
            found = self.separable(w, b, f"a separator of {part.size} rows separates all")
            if found is not None:
                return found
            wrong = np.setdiff1d(np.flatnonzero(m <= 0.0), part)
            if wrong.size == 0:
                self.why = "the separator that floats suggest is not exact"
                return self._small(np.arange(self.n))
            most = max(Z.shape[1], part.size // 2, 50)
            if wrong.size > most:
                worst = wrong[np.argsort(m[wrong])]
                wrong = np.union1d(
                    worst[: most // 2], rng.choice(worst[most // 2 :], most - most // 2, False)
                )
            part = np.union1d(part, wrong)
        return None

    def signed_rows(self) -> Matrix:
        """y(x, 1) in scaled columns, each of length 1."""
        rows = self.scaled().rows
        if self.fit_intercept:
            rows = with_column(rows, 1.0)
        self.lengths = np.maximum(outward.row_norms(rows), 5e-324)
        power = np.frexp(self.lengths)[1]  # in two steps: one of them alone may leave the range
        factors = self.y / np.ldexp(self.lengths, -power)
        if is_sparse(rows):
            line = np.repeat(np.arange(self.n), np.diff(rows.indptr))
            data = np.ldexp(rows.data, -power[line]) * factors[line]
            return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        return np.ldexp(rows, -power[:, None]) * factors[:, None]

    def split(self, v: np.ndarray) -> tuple[np.ndarray, float]:
        return (v[:-1], float(v[-1])) if self.fit_intercept else (v, 0.0)

    def _first_part(self, rng: np.random.Generator) -> np.ndarray:
        """Rows near the plane of an averaged perceptron, and as many at random."""
        wanted = 3 * (self.d + 2)
        if self.n <= wanted + wanted // 3 or self.one_class:
            return np.arange(self.n)
        space = self.scaled()
        learner = self._learned(space, max_iter=10, row_norm="l2", readout="average")
        if learner is None:
            return np.sort(rng.permutation(self.n)[:wanted])
        near = np.argsort(self.y * learner.decision_function(space.rows))[: wanted // 2]
        others = np.setdiff1d(np.arange(self.n), near)
        some = [rng.permutation(others[self.y[others] == s])[: wanted // 4] for s in (-1.0, 1.0)]
        return np.unique(np.concatenate([near, *some]))

    def _decide(self, Z: Matrix, part: np.ndarray) -> tuple[Separability | None, np.ndarray | None]:
        """A verdict from the part, or a direction that separates it, or nothing."""
        rows = Z[part]
        for solver in (least_squares, linear_program):
            if self.late():
                return None, None
            suggested = solver(rows, self.left())
            if suggested is None:
                continue
            if suggested.direction is not None:
                return None, suggested.direction
            if suggested.weights is not None and np.any(suggested.weights > 0.0):
                power = np.frexp(self.lengths[part])[1]  # weights of rows as they are, times a power of 2
                lam = np.ldexp(suggested.weights / np.ldexp(self.lengths[part], -power), power.min() - power)
                found = self.not_separable(part, lam, inseparability.meets(part.size, self.fit_intercept))
                if found is not None or not self.exact:
                    return found, None
        return self._small(part), None

    def _small(self, part: np.ndarray) -> Separability | None:
        """The alternatives in whole numbers, if the part is small enough."""
        if self.late():
            return None
        columns, features, shifts = self.integer_columns(part)
        if (columns.shape[0] + 1) * (columns.shape[0] + columns.shape[1]) > SMALL:
            return None
        self.say("a simplex method in whole numbers")
        try:
            weights, v = _simplex.alternatives(columns.T, self.late)
        except _lifting.OutOfTime:
            self.why = "the time was over"
            return None
        if weights is not None:
            return self._proved(part, weights, inseparability.meets(part.size, self.fit_intercept))
        assert v is not None
        w, b = self._float_separator(v, features, shifts)
        for factor in (1.0, 1.5, 1.25, 1.75):  # another length is rounded in another way
            found = self.separable(
                factor * w, factor * b, "the simplex method in whole numbers found a separator"
            )
            if found is not None:
                return found
        if part.size == self.n:
            self.why = "there is a separator, but none was found among floats"
        return None

    def integer_columns(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns, features and exponents: see :func:`perceptrons.theory.weighted_rows.integer_columns`."""
        return weighted_rows.integer_columns(self.rows, self.y, self.fit_intercept, rows)

    def _float_separator(
        self, v: list[int], features: np.ndarray, shifts: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Weights for columns scaled to whole numbers: of at most 1, or as large as tiny ones need."""
        powers = [*shifts.tolist(), *([0] if self.fit_intercept else [])]
        values = [Fraction(k) * Fraction(2) ** shift for k, shift in zip(v, powers)]
        sizes = [value.numerator.bit_length() - value.denominator.bit_length() for value in values if value]
        size = max(sizes) + 1
        if min(sizes) - size < -1000:
            size = max(min(sizes) + 1000, max(sizes) - 1000)
        floats = [float(value / Fraction(2) ** size) for value in values]
        w = np.zeros(self.d)
        w[features] = floats[: features.size]
        return w, floats[-1] if self.fit_intercept else 0.0
