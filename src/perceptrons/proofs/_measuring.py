"""What a treatment of the rows does to R and γ, and to a perceptron: the measurements behind `advise`."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, sparse
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from .. import theory
from ..engine.intake import is_sparse
from ..estimators.kernel import KernelPerceptron
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import BalancedWinnow
from ..estimators.perceptron import AveragedPerceptron, Perceptron
from ..kernels import Polynomial
from ._comparators import best_scale

EPOCHS = 1000  # of a perceptron; on small data this, and not the clock, is the limit
SMALL = 400_000  # entries of a matrix that exact solvers still take in a moment
QUADRATIC = 2000  # products of features, of a map of degree 2
KERNEL_ROWS = 4000
BINS = 5
ZERO = 1e-12  # of the radius: an upper bound on the margin as small as this is rounding, and means none
CLOSED = 1e-6  # a bracket as narrow as this needs no second try
LEAST_EPOCHS = 5  # before a clock stops a run


# --------------------------------------------------------------------------------------- records


class Treatment(NamedTuple):
    """What one treatment of the rows does; a line of the table."""

    name: str
    how: str  #: how to apply it
    R: float  #: longest row, with its constant coordinate
    gamma_low: float  #: a separator with this margin was found; not positive: none was
    gamma_up: float  #: no separator has a larger margin
    hinge: float | None  #: where none was found: what the hinge bound allows the first pass
    first_pass: int  #: mistakes of a perceptron in its first pass
    updates: int  #: updates of a perceptron until a clean pass, or until it was stopped
    clean: bool  #: whether there was a clean pass

    @property
    def ratio_up(self) -> float:
        """The bound that is proved: R²/γ² for the separator that was found; ``inf``: none was."""
        return theory.novikoff(self.R, self.gamma_low) if self.gamma_low > 0.0 else math.inf

    @property
    def ratio_low(self) -> float:
        """No separator proves less than this: R²/γ² for the upper end of the bracket."""
        return theory.novikoff(self.R, self.gamma_up) if self.gamma_up < math.inf else 0.0

    @property
    def separable(self) -> bool:
        """Whether a separator was found."""
        return self.gamma_low > 0.0

    @property
    def refuted(self) -> bool:
        """Whether it is proved, up to rounding, that there is no separator."""
        return not self.separable and self.gamma_up <= ZERO * self.R


class Learner(NamedTuple):
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


class Frame(NamedTuple):
    """Rows as a learner sees them: with a constant coordinate, perhaps divided by their length."""

    X: Any
    y: np.ndarray  #: -1 and +1
    bias: float = 1.0
    unit: bool = False
    shift: Any = 0.0  #: X is (given rows - shift) * scale
    scale: Any = 1.0  #: None: no such map

    def from_given(self, v: np.ndarray) -> np.ndarray:
        """The weights here that cut the rows as (w, b) cuts those given; v is (w, b)."""
        w = v[:-1] / self.scale
        b = v[-1] + float(np.sum(v[:-1] * self.shift))
        return np.append(w, b / self.bias) if self.bias else w

    def to_given(self, w: np.ndarray) -> np.ndarray:
        """The other way."""
        v = (w[:-1] if self.bias else w) * self.scale
        b = w[-1] * self.bias if self.bias else 0.0
        return np.append(v, b - float(np.sum(v * self.shift)))

    def lengths(self) -> np.ndarray:
        X = self.X
        squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        return np.sqrt(np.asarray(squares, dtype=float).ravel() + self.bias**2)

    def radius(self) -> float:
        longest = float(self.lengths().max())
        return 1.0 if self.unit and longest > 0.0 else longest

    def rows(self) -> Any:
        """The rows themselves, the constant coordinate last."""
        n = self.X.shape[0]
        if is_sparse(self.X):
            Z: Any = self.X
            if self.bias:
                Z = sparse.hstack([Z, sparse.csr_array(np.full((n, 1), self.bias))], format="csr")
        else:
            Z = np.hstack([self.X, np.full((n, 1), self.bias)]) if self.bias else self.X
        if self.unit:
            lengths = self.lengths()
            scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
            Z = sparse.csr_array(sparse.diags_array(scale) @ Z) if is_sparse(Z) else scale[:, None] * Z
        return Z

    def is_small(self) -> bool:
        return self.X.shape[0] * (self.X.shape[1] + 1) <= SMALL

    def options(self) -> dict[str, Any]:
        return {
            "fit_intercept": self.bias > 0.0,
            "intercept_scaling": self.bias or 1.0,
            "row_norm": "l2" if self.unit else None,
        }


class Measured(NamedTuple):
    """A treatment, its frame, and the best weights that were found, the constant coordinate last."""

    treatment: Treatment
    frame: Frame
    w: np.ndarray
    options: dict[str, Any]


def _stopwatch(seconds: float) -> Any:
    end = time.monotonic() + seconds
    return lambda model: time.monotonic() > end and model.n_iter_ >= LEAST_EPOCHS


def _weights(model: Any, frame: Frame) -> np.ndarray:
    w = np.ravel(model.coef_)
    return np.append(w, model.intercept_[0] / frame.bias) if frame.bias else w


def measure(name: str, how: str, frame: Frame, seconds: float, seed: Any) -> Measured:
    start = time.monotonic()
    y, Z = frame.y, frame.rows()
    options = frame.options() | {"random_state": seed, "max_iter": EPOCHS}
    model = Perceptron(**options, callback=_stopwatch(seconds / 2.0)).fit(frame.X, y)
    clean = model.stop_reason_ == "clean pass"
    w, up = _weights(model, frame), float(model.margin_bounds_[1])
    low = theory.gamma_low(w, Z, y)
    for better, bound in _better(frame, Z, clean, start + seconds):
        up = min(up, bound)
        if better is not None and theory.gamma_low(better, Z, y) > low:
            w, low = better, theory.gamma_low(better, Z, y)
    first_pass = int(model.history_[0]["mistakes"])
    treatment = Treatment(
        name, how, frame.radius(), min(low, up), up, None, first_pass, int(model.n_updates_), clean
    )
    return Measured(treatment, frame, w, options)


def share_separators(measured: list[Measured]) -> list[Measured]:
    """A plane found for one treatment cuts the rows of another in the same way: it may do better there."""
    planes = [m.frame.to_given(m.w) for m in measured if m.treatment.separable and m.frame.scale is not None]
    out = []
    for m in measured:
        if m.frame.scale is not None:
            Z = m.frame.rows()
            for plane in planes:
                w = m.frame.from_given(plane)
                low = theory.gamma_low(w, Z, m.frame.y)
                if low > m.treatment.gamma_low:
                    low = min(low, m.treatment.gamma_up)
                    m = m._replace(w=w, treatment=m.treatment._replace(gamma_low=low))
        if not m.treatment.separable:
            hinge = _hinge(m.frame, m.frame.rows(), m.treatment.R, m.w, m.options)
            m = m._replace(treatment=m.treatment._replace(hinge=hinge))
        out.append(m)
    return out


def _better(frame: Frame, Z: Any, clean: bool, end: float) -> Iterator[tuple[Any, float]]:
    """Pairs (weights, upper bound on the margin), whatever finds them."""
    if frame.is_small():
        yield from _least_distance(Z, frame.y)
    elif clean:  # a separable sample of some size
        yield _largest_margin(frame, Z, max(end - time.monotonic(), 0.05))


def _least_distance(Z: Any, y: np.ndarray) -> Iterator[tuple[Any, float]]:
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


def _least_distance_in(signed: np.ndarray, Z: Any, y: np.ndarray) -> tuple[Any, float]:
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


def _largest_margin(frame: Frame, Z: Any, seconds: float) -> tuple[Any, float]:
    """The maximum margin, as nearly as the time allows."""
    model = _in_time(MaxMargin(fit_intercept=False, max_time=seconds), Z, frame.y)
    lam = np.zeros(len(frame.y))
    lam[model.support_] = np.abs(np.ravel(model.dual_coef_))
    return np.ravel(model.coef_), theory.gamma_up_from_weights(lam, Z, frame.y)


def _in_time(model: Any, X: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # out of time: the best so far will do
        return model.fit(X, y)


def _hinge(frame: Frame, Z: Any, R: float, found: np.ndarray, options: Any) -> float:
    """What the hinge bound allows the first pass, for the best comparator tried."""
    y = frame.y
    average = AveragedPerceptron(**(options | {"max_iter": 10})).fit(frame.X, y)
    candidates = [found, _weights(average, frame)]
    if R > 0.0 and (frame.is_small() or is_sparse(Z)):
        svm = LinearSVC(C=1.0 / R**2, loss="hinge", fit_intercept=False, max_iter=2000, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # any comparator is valid, also one that is not the best
            candidates.append(svm.fit(Z, y).coef_[0])
    bounds = [2.0 * len(y)]  # u = 0
    for w in candidates:
        m, length = y * np.asarray(Z @ w).ravel(), float(np.linalg.norm(w))
        c = best_scale(m, R * length)
        bounds.append(theory.hinge_tight(R, c * length, float(np.maximum(0.0, 1.0 - c * m).sum())))
    return min(bounds)


def by_kernel(X: Any, y: np.ndarray, seconds: float, seed: Any) -> Treatment:
    """Degree 2 through the kernel, where the features are too many to write down."""
    how, kernel = "KernelPerceptron(kernel=Polynomial(degree=2))", Polynomial(degree=2)
    both = np.array([np.flatnonzero(y < 0)[0], np.flatnonzero(y > 0)[0]])
    KernelPerceptron(kernel=kernel, max_iter=1).fit(X[both], y[both])  # compiled before the clock runs
    model = KernelPerceptron(
        kernel=kernel, max_iter=EPOCHS, random_state=seed, callback=_stopwatch(seconds)
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
        float(model.radius_),
        min(low, float(up)),
        float(up),
        None,
        int(model.history_[0]["mistakes"]),
        int(model.n_updates_),
        clean,
    )


def quadratic(X: np.ndarray) -> np.ndarray:
    """The features of (1 + <x, z>)², without the constant 1."""
    i, j = np.triu_indices(X.shape[1])
    return np.hstack([math.sqrt(2.0) * X, X[:, i] * X[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))])


# ------------------------------------------------------------------------------------ treatments


def treatments(X: Any, y: np.ndarray, notes: list[str]) -> Iterator[tuple[str, str, Frame]]:
    """All that does not depend on the first measurement."""
    dense = not is_sparse(X)
    yield "no intercept", "fit_intercept=False", Frame(X, y, bias=0.0)
    if dense:
        mean, middle = X.mean(axis=0), (X[y > 0].mean(axis=0) + X[y < 0].mean(axis=0)) / 2.0
        yield "centred at the mean", "StandardScaler(with_std=False)", Frame(X - mean, y, shift=mean)
        yield (
            "centred between the classes",
            "X - (mean of + and mean of -)/2",
            Frame(X - middle, y, shift=middle),
        )
    else:
        notes.append("Centring was left out: it would make the sparse rows dense.")
    scaler = StandardScaler(with_mean=False)
    scaled = scaler.fit_transform(X)
    scale = 1.0 / scaler.scale_
    yield "unit variance", "StandardScaler(with_mean=False)", Frame(scaled, y, scale=scale)
    if dense:
        both = Frame(scaled - mean * scale, y, shift=mean, scale=scale)
        yield "centred, unit variance", "StandardScaler()", both
    yield "L2 rows", 'row_norm="l2"', Frame(X, y, unit=True)
    if not dense:
        notes.append("Bucketing was left out: on sparse rows most values of a feature are 0.")
        return
    many = np.array([len(np.unique(column)) > BINS for column in X.T])
    if not many.any():
        notes.append(f"Bucketing was left out: no feature has more than {BINS} values.")
        return
    buckets = _buckets(X, many)
    yield f"{BINS} buckets a feature", f"KBinsDiscretizer({BINS})", Frame(buckets, y, scale=None)


def _buckets(X: np.ndarray, many: np.ndarray) -> Any:
    """Quantiles as 0/1 features; a feature with few values has a bucket for each."""
    binned = KBinsDiscretizer(BINS, encode="onehot", quantile_method="averaged_inverted_cdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantiles that coincide make fewer bins
        parts = [binned.fit_transform(X[:, many])]
    if not many.all():
        parts.append(OneHotEncoder().fit_transform(X[:, ~many]))
    return sparse.csr_array(sparse.hstack(parts))


def scalings(base: Measured, X: Any, y: np.ndarray) -> Iterator[tuple[str, str, Frame]]:
    """Other constant coordinates: R, and sqrt(R|b|) for the plane that was found."""
    R = float(Frame(X, y, bias=0.0).radius())
    length = float(np.linalg.norm(base.w[:-1]))
    offset = abs(float(base.w[-1])) / length if length > 0.0 else 0.0
    tried = [1.0]
    for name, B in (("√(R|b|)", math.sqrt(R * offset)), ("R", R)):
        if B > 0.0 and all(abs(B - other) > 0.05 * other for other in tried):
            tried.append(B)
            yield f"B = {name}", f"intercept_scaling={B:.4g}", Frame(X, y, bias=B)


# ------------------------------------------------------------------------------- the other norms


def _l1_margin(frame: Frame, seconds: float, seed: Any) -> tuple[float, float]:
    """A bracket around the best margin of weights with absolute sum 1."""
    Z, y = frame.rows(), frame.y
    if frame.is_small() or (is_sparse(Z) and Z.nnz <= SMALL):
        low, up = _l1_by_programming(Z, y, seconds / 2.0)
        if low > 0.0:
            return low, up
        seconds /= 2.0
    X_inf = float(np.abs(Z.data if is_sparse(Z) else Z).max())
    low, up, guess, end = 0.0, X_inf, X_inf / 4.0, time.monotonic() + seconds
    for _ in range(20):  # halve the guess until it stands
        left = max(end - time.monotonic(), 0.01)
        model = BalancedWinnow(
            eta=guess / X_inf**2,
            max_iter=EPOCHS,
            random_state=seed,
            callback=_stopwatch(left),
            **frame.options(),
        ).fit(frame.X, y)
        got_low, got_up = model.margin_bounds_
        low, up = max(low, got_low or 0.0), min(up, float(got_up))
        if model.stop_reason_ == "clean pass" or time.monotonic() > end:
            break
        guess /= 2.0
    return low, up


def _l1_by_programming(Z: Any, y: np.ndarray, seconds: float) -> tuple[float, float]:
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
    total = float(np.abs(u).sum())
    low = float(np.min(S @ u)) / total if total > 0.0 else 0.0
    lam = np.maximum(0.0, -np.asarray(found.ineqlin.marginals))
    mass = float(lam.sum())
    up = float(np.abs(S.T @ (lam / mass)).max()) if mass > 0.0 else math.inf
    return min(low, up), up


def learners(frame: Frame, base: Treatment, seconds: float, seed: Any) -> list[Learner]:
    """Perceptron and balanced Winnow on the same rows."""
    low, up = _l1_margin(frame, seconds / 2.0, seed)
    if low <= 0.0:
        return []
    Z = frame.rows()
    X_inf, n = float(np.abs(Z.data if is_sparse(Z) else Z).max()), Z.shape[1]
    model = BalancedWinnow(
        eta=low / X_inf**2,
        max_iter=EPOCHS,
        random_state=seed,
        callback=_stopwatch(seconds / 2.0),
        **frame.options(),
    ).fit(frame.X, frame.y)
    winnow = Learner(
        "balanced Winnow",
        "L∞ / L1",
        X_inf,
        low,
        up,
        theory.balanced_winnow(X_inf, up, n),
        theory.balanced_winnow(X_inf, low, n),
        int(model.n_updates_),
        model.stop_reason_ == "clean pass",
    )
    perceptron = Learner(
        *("perceptron", "L2 / L2", base.R, base.gamma_low, base.gamma_up),
        *(base.ratio_low, base.ratio_up, base.updates, base.clean),
    )
    return [perceptron, winnow]


def features(X: Any, y: np.ndarray, base: Measured) -> list[Feature]:
    """Where the length of the rows comes from, and where the margin does."""
    squares = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=0)).ravel()
    given = base.w[:-1] * np.asarray(X.T @ y).ravel()
    total, margin = float(squares.sum()), float(given.sum() + base.w[-1] * y.sum())
    if total <= 0.0 or margin <= 0.0:
        return []
    longest = np.argsort(-squares, kind="stable")[:3]
    return [Feature(int(j), float(squares[j] / total), float(given[j] / margin)) for j in longest]


def warm_up(storage: Any) -> None:
    """Have the learners compiled before the clock runs, for sparse rows too: buckets are sparse."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, -1])
    for rows in (X, sparse.csr_array(X)):
        for options in ({}, {"row_norm": "l2"}, {"fit_intercept": False}):
            Perceptron(max_iter=1, **options).fit(rows, y)
    rows = sparse.csr_array(X) if is_sparse(storage) else X
    for model in (MaxMargin(), BalancedWinnow(max_iter=1)):
        model.fit(rows, y)
