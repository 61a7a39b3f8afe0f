"""What a treatment of the rows does to R and γ, and to a perceptron: the measurements behind `advise`.

R and upper ends are rounded up, lower ends down: they hold for the rows, whatever floating point does.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import optimize, sparse
from sklearn.svm import LinearSVC

from .. import theory
from .._sparse import is_sparse
from .._types import Matrix
from ..estimators.kernel import KernelPerceptron
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import BalancedWinnow
from ..estimators.perceptron import AveragedPerceptron, Perceptron
from ..kernels import Polynomial
from ..theory import _rational as rational
from ..theory._outward import exponent, row_norms, scaled
from ..theory._outward import sizes as sizes_of
from . import _above as above
from ._comparators import best_scale
from ._gordan import with_column
from .linear_separability import separability

EPOCHS = 1000  # of a perceptron; on small data this, and not the time, is the limit
SMALL = 400_000  # entries of a matrix that exact solvers still take in a moment
QUADRATIC = 2000  # products of features, of a map of degree 2
KERNEL_ROWS = 4000
ZERO = 1e-12  # of the radius: for an upper bound on the margin as small as this a proof of 0 is tried
SLACK = 1e-9  # more than R is rounded up by, relatively
CLOSED = 1e-6  # a bracket as narrow as this needs no second try
LEAST_EPOCHS = 5  # before the time limit stops a run


# --------------------------------------------------------------------------------------- records


class Treatment(NamedTuple):
    """What one treatment of the rows does; a line of the table."""

    name: str
    how: str  #: how to apply it
    R: float  #: longest row, with its constant coordinate; rounded up
    gamma_low: float  #: a separator with this margin was found; not positive: none was
    gamma_up: float  #: no separator has a larger margin
    hinge: float | None  #: where none was found: what the hinge bound allows the first pass
    first_pass: int  #: mistakes of a perceptron in its first pass
    updates: int  #: updates of a perceptron until a clean pass, or until it was stopped
    clean: bool  #: whether there was a clean pass
    refuted: bool = False  #: it is proved, in whole numbers, that there is no separator

    @property
    def ratio_up(self) -> float:
        """The bound that is proved: R²/γ² for the separator that was found; ``inf``: none was."""
        return theory.novikoff(self.R, self.gamma_low) if self.gamma_low > 0.0 else math.inf

    @property
    def ratio_low(self) -> float:
        """No separator proves less than this: R²/γ² for the upper end of the bracket."""
        if not 0.0 < self.gamma_up < math.inf:
            return 0.0 if self.gamma_up else math.inf
        return min(theory.novikoff(self.R, self.gamma_up), rational.LARGEST) * (1.0 - 4.0 * SLACK)

    @property
    def separable(self) -> bool:
        """Whether a separator was found."""
        return self.gamma_low > 0.0


class MeasuredLearner(NamedTuple):
    """A learner beside the norms its bound is made of."""

    name: str
    norms: str  #: of the examples / of the weights
    radius: float  #: of the examples, in their norm
    gamma_low: float  #: a margin that some weights of length 1, in their norm, have
    gamma_up: float
    bound_low: float  #: no separator proves less
    bound_up: float  #: proved
    updates: int  #: measured
    clean: bool  #: whether there was a clean pass


class Feature(NamedTuple):
    """How much of the rows' length and of the separator's margin comes from one feature."""

    column: int
    length_share: float  #: of the sum of all squared entries
    margin_share: float  #: of the sum of y(<w, x> + b) over the rows


# ----------------------------------------------------------------------------------- measuring


class TreatedRows(NamedTuple):
    """Rows as a learner reads them: with a constant coordinate, perhaps divided by their length."""

    X: Matrix
    y: np.ndarray  #: -1 and +1
    bias: float = 1.0
    unit: bool = False
    shift: float | np.ndarray = 0.0  #: X is (given rows - shift) * scale
    scale: float | np.ndarray | None = 1.0  #: None: no such map
    rounded: float = 0.0  #: how far rounding may have moved a row, relative to the longest
    whole: np.ndarray | None = (
        None  #: rows of whole numbers that are separable where these are, before they were rounded
    )

    def from_given(self, v: np.ndarray) -> np.ndarray:
        """The weights here that cut the rows as (w, b) cuts those given; v is (w, b)."""
        with np.errstate(all="ignore"):  # weights that are no numbers prove nothing
            w = v[:-1] / self.scale
            b = v[-1] + float(np.sum(v[:-1] * self.shift))
            return np.append(w, b / self.bias) if self.bias else w

    def to_given(self, w: np.ndarray) -> np.ndarray:
        """The other way."""
        with np.errstate(all="ignore"):
            v = (w[:-1] if self.bias else w) * self.scale
            b = w[-1] * self.bias if self.bias else 0.0
            return np.append(v, b - float(np.sum(v * self.shift)))

    def lengths(self) -> np.ndarray:
        return np.hypot(row_norms(self.X), self.bias)

    def radius(self) -> float:
        """At least the length of every row."""
        longest = above.radius(self.X, self.bias)
        return 1.0 if self.unit and longest > 0.0 else longest

    def off(self) -> float:
        """How far a row of :meth:`rows` may be from the one that is meant."""
        if self.unit:
            return float(2.0 * (self.X.shape[1] + 16) * rational.UNIT)
        return self.rounded * self.radius() * (1.0 + 8.0 * rational.UNIT)

    def rows(self) -> Matrix:
        """The rows themselves, the constant coordinate last."""
        Z = self.plain_rows()
        if self.unit:
            lengths = self.lengths()
            scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
            Z = sparse.csr_array(sparse.diags_array(scale) @ Z) if is_sparse(Z) else scale[:, None] * Z
        return Z

    def plain_rows(self) -> Matrix:
        """The rows before they are divided by their lengths."""
        return with_column(self.X, self.bias) if self.bias else self.X

    def is_small(self) -> bool:
        return bool(self.X.shape[0] * (self.X.shape[1] + 1) <= SMALL)

    def options(self) -> dict[str, Any]:
        return {
            "fit_intercept": self.bias > 0.0,
            "intercept_scaling": self.bias or 1.0,
            "row_norm": "l2" if self.unit else None,
        }


Candidate: TypeAlias = tuple[np.ndarray | None, float]  # weights, and an upper bound on every margin


class Measured(NamedTuple):
    """A treatment, its rows, and the best weights that were found, the constant coordinate last."""

    treatment: Treatment
    frame: TreatedRows
    w: np.ndarray
    options: dict[str, Any]


def _time_limit(seconds: float) -> Callable[[Any], bool]:
    """A callback that ends a fit after some seconds."""
    end = time.monotonic() + seconds
    return lambda model: time.monotonic() > end and model.n_iter_ >= LEAST_EPOCHS


def _weights(model: Perceptron | AveragedPerceptron, frame: TreatedRows) -> np.ndarray:
    w = np.ravel(model.coef_)
    return np.append(w, model.intercept_[0] / frame.bias) if frame.bias else w


def measure(name: str, how: str, frame: TreatedRows, seconds: float, seed: int | None) -> Measured:
    start = time.monotonic()
    y, Z = frame.y, frame.rows()
    options = frame.options() | {"random_state": seed, "max_iter": EPOCHS}
    model = Perceptron(**options, callback=_time_limit(seconds / 2.0)).fit(frame.X, y)
    clean = model.stop_reason_ == "clean pass"
    w, up = _weights(model, frame), float(model.margin_bounds_[1])
    low = theory.gamma_low(w, Z, y)
    for better, bound in _better(frame, Z, clean, start + seconds):
        up = min(up, bound)
        if better is not None and theory.gamma_low(better, Z, y) > low:
            w, low = better, theory.gamma_low(better, Z, y)
    R, off, refuted = frame.radius(), frame.off(), False
    if not low > off and up <= ZERO * R:
        refuted, better = _decided(frame, max(start + seconds - time.monotonic(), 0.5))
        if better is not None and theory.gamma_low(better, Z, y) > low:
            w, low = better, theory.gamma_low(better, Z, y)
    low, up = _less(low, off), math.nextafter(up + off, math.inf) if off else up
    first_pass = int(model.history_[0]["mistakes"])
    treatment = Treatment(
        name, how, R, min(low, up), up, None, first_pass, int(model.n_updates_), clean, refuted
    )
    return Measured(treatment, frame, w, options)


def _less(low: float, off: float) -> float:
    """The margin that is left where each row may be ``off`` from its place."""
    return math.nextafter(low - off, -math.inf) if off else low


def _decided(frame: TreatedRows, seconds: float) -> tuple[bool, np.ndarray | None]:
    """(whether it is proved that nothing separates the rows, weights that do)."""
    rows = frame.plain_rows() if frame.whole is None else frame.whole
    try:
        found = separability(rows, frame.y, fit_intercept=False, max_time=seconds)
    except (ValueError, OverflowError):  # whole numbers that no float comes near
        return False, None
    return found.verdict == "not separable", found.w if frame.whole is None else None


def share_separators(measured: list[Measured]) -> list[Measured]:
    """A plane found for one treatment cuts the rows of another in the same way: it may do better there."""
    planes = [m.frame.to_given(m.w) for m in measured if m.treatment.separable and m.frame.scale is not None]
    out = []
    for m in measured:
        if m.frame.scale is not None:
            Z, off = m.frame.rows(), m.frame.off()
            for plane in planes:
                w = m.frame.from_given(plane)
                low = _less(theory.gamma_low(w, Z, m.frame.y), off)
                if low > m.treatment.gamma_low:
                    low = min(low, m.treatment.gamma_up)
                    m = m._replace(w=w, treatment=m.treatment._replace(gamma_low=low, refuted=False))
        if not m.treatment.separable:
            hinge = _hinge(m.frame, m.frame.rows(), m.treatment.R, m.w, m.options)
            m = m._replace(treatment=m.treatment._replace(hinge=hinge))
        out.append(m)
    return out


def _better(frame: TreatedRows, Z: Matrix, clean: bool, end: float) -> Iterator[Candidate]:
    """Pairs (weights, upper bound on the margin), whatever finds them."""
    if frame.is_small():
        yield from _least_distance(Z, frame.y)
    elif clean:  # a separable sample of some size
        yield _largest_margin(frame, Z, max(end - time.monotonic(), 0.05))


def _least_distance(Z: Matrix, y: np.ndarray) -> Iterator[Candidate]:
    """The maximum margin through non-negative least squares (Lawson and Hanson).

    The solver may stop short of the optimum where rows are dependent; in other units it does not.
    """
    dense = Z.toarray() if is_sparse(Z) else Z
    signed = y[:, None] * dense
    largest = float(np.abs(signed).max(initial=0.0))
    if largest == 0.0:
        yield None, 0.0
        return
    for scale in (largest, largest / 7.0, largest * 3.0):
        w, up = _least_distance_in(signed / scale, Z, y)
        yield w, up
        if up <= ZERO * largest or (w is not None and theory.gamma_low(w, Z, y) >= up * (1.0 - CLOSED)):
            return


def _least_distance_in(signed: np.ndarray, Z: Matrix, y: np.ndarray) -> Candidate:
    """Weights and an upper bound from the rows y x, in some unit."""
    E = np.vstack([signed.T, np.ones(len(y))])
    f = np.append(np.zeros(Z.shape[1]), 1.0)
    try:
        lam, _ = optimize.nnls(E, f)
    except RuntimeError:  # too many steps
        return None, math.inf
    residual = E @ lam - f
    if not lam.any():
        return None, math.inf
    up = theory.gamma_up_from_weights(lam, Z, y)
    return (-residual[:-1] / residual[-1] if residual[-1] < 0.0 else None), up


def _largest_margin(frame: TreatedRows, Z: Matrix, seconds: float) -> Candidate:
    """The maximum margin, as nearly as the time allows."""
    model = _in_time(MaxMargin(fit_intercept=False, max_time=seconds), Z, frame.y)
    lam = np.zeros(len(frame.y))
    lam[model.support_] = np.abs(np.ravel(model.dual_coef_))
    return np.ravel(model.coef_), theory.gamma_up_from_weights(lam, Z, frame.y)


def _in_time(model: MaxMargin, X: Matrix, y: np.ndarray) -> MaxMargin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # out of time: the best so far will do
        model.fit(X, y)
        return model


def _hinge(frame: TreatedRows, Z: Matrix, R: float, found: np.ndarray, options: dict[str, Any]) -> float:
    """What the hinge bound allows the first pass, for the best comparator tried."""
    y = frame.y
    average = AveragedPerceptron(**(options | {"max_iter": 10})).fit(frame.X, y)
    candidates = [found, _weights(average, frame)]
    if R > 0.0 and (frame.is_small() or is_sparse(Z)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # any comparator is valid, also one that is not the best
            try:
                svm = LinearSVC(C=R**-2.0, loss="hinge", fit_intercept=False, max_iter=2000, random_state=0)
                candidates.append(svm.fit(Z, y).coef_[0])
            except (ValueError, OverflowError):  # 1/R² is no float that it takes
                pass
    bounds = [float(len(y))]  # u = 0: the first mistakes are no more than the rows
    for w in candidates:
        with np.errstate(all="ignore"):  # a comparator that is no number has an infinite bound
            m, length = y * np.asarray(Z @ w).ravel(), float(np.linalg.norm(w))
            u = best_scale(m, R * length) * w
        bounds.append(above.hinge_bound(u, Z, y, R, frame.off(), tight=True))
    return min(bounds)


def by_kernel(X: Matrix, y: np.ndarray, seconds: float, seed: int | None) -> Treatment:
    """Degree 2 through the kernel, where the features are too many to write down."""
    how, kernel = "KernelPerceptron(kernel=Polynomial(degree=2))", Polynomial(degree=2)
    both = np.array([np.flatnonzero(y < 0)[0], np.flatnonzero(y > 0)[0]])
    KernelPerceptron(kernel=kernel, max_iter=1).fit(X[both], y[both])  # compiled before the time is taken
    model = KernelPerceptron(
        kernel=kernel, max_iter=EPOCHS, random_state=seed, callback=_time_limit(seconds)
    ).fit(X, y)
    low, up = model.margin_bounds_
    clean = model.stop_reason_ == "clean pass"
    low = float(low) if clean and low is not None else 0.0
    if clean:
        widest = _in_time(MaxMargin(fit_intercept=False, kernel=kernel, max_time=seconds), X, y)
        low, up = max(low, float(widest.margin_bounds_[0])), min(up, float(widest.margin_bounds_[1]))
    return Treatment(
        "degree 2",
        how,
        float(model.radius_) * (1.0 + 2.0 * (X.shape[1] + 64) * rational.UNIT),
        min(low, float(up)),
        float(up),
        None,
        int(model.history_[0]["mistakes"]),
        int(model.n_updates_),
        clean,
    )


# ------------------------------------------------------------------------------- the other norms


def _l1_margin(frame: TreatedRows, seconds: float, seed: int | None) -> tuple[float, float]:
    """A bracket around the best margin of weights with absolute sum 1."""
    Z, y = frame.rows(), frame.y
    if frame.is_small() or (is_sparse(Z) and Z.nnz <= SMALL):
        low, up = _l1_by_programming(Z, y, seconds / 2.0)
        if low > 0.0:
            return low, up
        seconds /= 2.0
    X_inf = above.largest(Z)
    low, up, guess, end = 0.0, X_inf, X_inf / 4.0, time.monotonic() + seconds
    for _ in range(20):  # halve the guess until it stands
        left = max(end - time.monotonic(), 0.01)
        if not 0.0 < guess / X_inf / X_inf < math.inf:  # no float is such a rate
            break
        model = BalancedWinnow(
            eta=guess / X_inf / X_inf,
            max_iter=EPOCHS,
            random_state=seed,
            callback=_time_limit(left),
            **frame.options(),
        ).fit(frame.X, y)
        got_low, got_up = model.margin_bounds_
        low, up = max(low, got_low or 0.0), min(up, float(got_up))
        if model.stop_reason_ == "clean pass" or time.monotonic() > end:
            break
        guess /= 2.0
    return low, up


def _l1_by_programming(Z: Matrix, y: np.ndarray, seconds: float) -> tuple[float, float]:
    n, d = Z.shape
    S = sparse.csr_array(sparse.diags_array(y.astype(float)) @ sparse.csr_array(Z))
    # unknowns: u = p - q with p, q ≥ 0 that sum to 1, and the margin
    A: Any = sparse.hstack([-S, S, sparse.csr_array(np.ones((n, 1)))], format="csr")
    sums: Any = sparse.csr_array(np.append(np.ones(2 * d), 0.0)[None, :])
    cost = np.append(np.zeros(2 * d), -1.0)
    limits: Any = [(0.0, None)] * (2 * d) + [(None, None)]
    limit: Any = {"time_limit": max(seconds, 0.1)}
    found = optimize.linprog(cost, A, np.zeros(n), sums, [1.0], limits, options=limit)
    if found.x is None:
        return 0.0, math.inf
    u = found.x[:d] - found.x[d : 2 * d]
    lam = np.maximum(0.0, -np.asarray(found.ineqlin.marginals))
    low, up = above.l1_margin(u, lam, Z, y)
    return max(0.0, low), up


def learners(frame: TreatedRows, base: Treatment, seconds: float, seed: int | None) -> list[MeasuredLearner]:
    """Perceptron and balanced Winnow on the same rows."""
    low, up = _l1_margin(frame, seconds / 2.0, seed)
    if low <= 0.0:
        return []
    Z = frame.rows()
    X_inf, n = above.largest(Z), Z.shape[1]
    eta = low / X_inf / X_inf
    if not 0.0 < eta < math.inf:  # no float is such a rate
        return []
    model = BalancedWinnow(
        eta=eta,
        max_iter=EPOCHS,
        random_state=seed,
        callback=_time_limit(seconds / 2.0),
        **frame.options(),
    ).fit(frame.X, frame.y)
    winnow = MeasuredLearner(
        "balanced Winnow",
        "L∞ / L1",
        X_inf,
        low,
        up,
        min(theory.balanced_winnow(X_inf, up, n), rational.LARGEST) * (1.0 - SLACK) if up < math.inf else 0.0,
        theory.balanced_winnow(X_inf, low, n),
        int(model.n_updates_),
        model.stop_reason_ == "clean pass",
    )
    perceptron = MeasuredLearner(
        *("perceptron", "L2 / L2", base.R, base.gamma_low, base.gamma_up),
        *(base.ratio_low, base.ratio_up, base.updates, base.clean),
    )
    return [perceptron, winnow]


def features(X: Matrix, y: np.ndarray, base: Measured) -> list[Feature]:
    """Where the length of the rows comes from, and where the margin does; [] where rounding could be seen."""
    rows, _ = scaled(X)  # shares do not depend on the unit
    with np.errstate(all="ignore"):
        squares = np.asarray((rows.multiply(rows) if is_sparse(rows) else rows * rows).sum(axis=0)).ravel()
        w = np.ldexp(base.w, -exponent(base.w))
        parts = w[:-1] * np.asarray(X.T @ y).ravel()
        sizes = np.abs(w[:-1]) * np.asarray(sizes_of(X).T @ np.abs(y)).ravel()
        total, margin = float(squares.sum()), float(parts.sum() + w[-1] * y.sum())
        lost = 4.0 * sum(X.shape) * rational.UNIT * float(sizes.sum() + abs(w[-1]) * len(y))
        longest = np.argsort(-squares, kind="stable")[:3]
        shares = parts[longest] / margin
    seen = 1e-6 * margin
    if not (total > 0.0 and lost <= seen < math.inf and np.all(np.isfinite(shares))):
        return []
    return [Feature(int(j), float(squares[j] / total), float(v)) for j, v in zip(longest, shares)]


def warm_up(storage: Matrix) -> None:
    """Compile the learners before any time is taken, for sparse rows too: buckets are sparse."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, -1])
    for rows in (X, sparse.csr_array(X)):
        for options in ({}, {"row_norm": "l2"}, {"fit_intercept": False}):
            Perceptron(max_iter=1, **options).fit(rows, y)
    rows = sparse.csr_array(X) if is_sparse(storage) else X
    for model in (MaxMargin(), BalancedWinnow(max_iter=1)):
        model.fit(rows, y)
