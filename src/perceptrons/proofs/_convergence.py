r"""The convergence proof, followed on a run: two numbers that grow against each other, update by update.

An update is :math:`w' = \kappa w + \tau y x`, with :math:`m = y\langle w, x\rangle` and
:math:`q = \|x\|^2`. A comparator u of length 1 with :math:`y\langle u, x\rangle \ge \gamma > 0` on all rows
has, at every update with :math:`\tau > 0` and :math:`\kappa \ge 0`:

* **progress**: :math:`\langle u, w'\rangle \ge \kappa\langle u, w\rangle + \tau\gamma`;
* **move**: :math:`y\langle w', x\rangle = \kappa m + \tau q`, so an update on a row of length 1 moves the
  product by :math:`\tau`;
* **length**, where :math:`m \le 0`: :math:`\|w'\|^2 \le \kappa^2\|w\|^2 + \tau^2q`;
* **margin step** of the margin perceptron, whose updates have :math:`m < \theta\|w\|`:
  :math:`\|w'\| \le \|w\| + \tau\theta + \tau^2q/(2\|w\|)`;
* **margin 1** of MIRA and of the hard passive-aggressive learner: :math:`y\langle w', x\rangle = 1`;
* **distance** of MIRA and the passive-aggressive learners, with :math:`v = u/\gamma` and
  :math:`\ell = 1 - m`: :math:`\|w' - v\|^2 \le \|w - v\|^2 - \tau(2\ell - \tau q)`.

Summed up from w = 0: **sum of progress**, :math:`\langle u, w\rangle \ge \gamma\sum\tau`, and **sum of
lengths**, :math:`\|w\| \le R\sqrt{\sum\tau^2}` where all updates are on mistakes. As
:math:`\langle u, w\rangle \le \|w\|`, a perceptron with a fixed rate makes k updates only if
:math:`k\gamma \le \sqrt k R`.

Weights are floats: w' is not exactly :math:`\kappa w + \tau yx`. Every comparison allows for what the
rounding of the update, of the products and of the lengths can amount to, and for nothing else; so a run
without a fault passes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .. import rules
from .._sparse import as_scipy, is_sparse
from ..theory import _outward as outward
from ..theory import _rational as rational

_E64 = 2.0**-52
MOST_SECONDS = 10.0  #: for the separator with the largest margin; then the best one so far is taken
_MOST_UPDATES = 1_000_000  # beyond, no crossing of the margin perceptron is looked for


class ProofError(AssertionError):
    """A claim of a convergence proof does not hold at a visit: there is a fault in a rule or in a loop."""


@dataclass(frozen=True, eq=False)
class ProofTrace:
    r"""The convergence proof beside a run: entry t is the state before visit t, the last one that of the end.

    ``dot_bound``, ``norm_bound``, ``distance`` and ``crossing`` are None where nothing is claimed: u has no
    positive margin, or the proof of the learner is another one.
    """

    u: np.ndarray  #: the comparator, of length 1, its weight of the constant coordinate last
    gamma: float | None  #: min y<u, x> over the rows, rounded down; None where it is not positive
    radius: float  #: R, the length of the longest row, rounded up
    crossing: int | None  #: the smallest k with kγ > √k R: as many updates are impossible
    dot: np.ndarray  #: <u, w>
    dot_bound: np.ndarray | None  #: γ times the sum of the steps: kγ
    norm: np.ndarray  #: ‖w‖
    norm_bound: np.ndarray | None  #: η√k R; of the margin perceptron, what its steps allow
    distance: np.ndarray | None  #: ‖w - u/γ‖, where it cannot grow
    checked: Mapping[str, int] = field(default_factory=dict)  #: how often each claim was checked

    @property
    def bound(self) -> int | None:
        """The largest number of updates that the proof allows."""
        return None if self.crossing is None else self.crossing - 1


class Path(NamedTuple):
    """A run of one learner whose w is a combination of rows; entries per visit, unless said otherwise."""

    row: np.ndarray
    sign: np.ndarray  #: y = ±1
    margin: np.ndarray
    keep: np.ndarray
    step: np.ndarray
    updated: np.ndarray  #: bool
    w: np.ndarray  #: (visits + 1, n_features + 1)
    loop_norm2: np.ndarray  #: (visits + 1,): ‖w‖² as the rule was given it
    precision: np.dtype  #: of the weights
    rule: Any  #: record of :mod:`perceptrons.rules`; None where w is no combination of rows
    conservative: bool  #: all updates are on mistakes
    weighted: bool  #: rows have weights


class AugmentedRows:
    """Rows (x, B), possibly scaled to length 1, and what is known of them in spite of rounding."""

    def __init__(self, X: Any, sign: np.ndarray, bias: float, unit: bool):
        X = as_scipy(X).tocsr() if is_sparse(X) else np.asarray(X)
        self.X = X.astype(np.float64)
        self.sign, self.bias, self.unit = sign, bias, unit

    def whole(self) -> Any:
        """The rows with their constant coordinate, not scaled."""
        n = self.X.shape[0]
        if is_sparse(self.X):
            import scipy.sparse as sp

            return sp.hstack([self.X, sp.csr_array(np.full((n, 1), self.bias))], format="csr")
        return np.hstack([self.X, np.full((n, 1), self.bias)])

    def vector(self, i: int) -> tuple[np.ndarray, float]:
        """(row i, its length), scaled where rows are."""
        x = self.X[[i]].toarray()[0] if is_sparse(self.X) else self.X[i]
        z = np.append(x, self.bias)
        length = _length(z)
        if self.unit and length > 0.0:
            e = math.frexp(length)[1]
            return np.ldexp(z, -e) / math.ldexp(length, -e), 1.0
        return z, length

    def radius(self, chosen: np.ndarray) -> float:
        """The length of the longest of these rows, rounded up."""
        Z = self.whole()[chosen]
        if self.unit:
            return float(bool(np.any(outward.row_norms(Z) > 0.0)))
        lengths = outward.row_norms(Z)
        if not len(lengths) or not np.any(lengths):
            return 0.0
        longest = Z[[int(np.argmax(lengths))]]
        entries = outward.values(longest).ravel()
        square = outward.exact_norm2(entries) if entries.size <= outward.FEW else None
        if square is not None:
            return rational.root_above(square.numerator, square.denominator)
        return float(np.max(lengths)) * (1.0 + (entries.size + 8) * _E64)

    def margin(self, u: np.ndarray, chosen: np.ndarray) -> float:
        """min y<u, x>/‖u‖ over these rows, rounded down."""
        Z, y = self.whole()[chosen], self.sign[chosen]
        if not self.unit:
            return outward.margin(u, 0.0, Z, y).low
        s = outward.scores(u, 0.0, Z)
        lengths = outward.row_norms(Z)
        room = (Z.shape[1] + 8) * _E64
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            low = y * s.values - s.error
            low = low / (lengths * np.where(low > 0.0, 1.0 + room, 1.0 - room))
        low = np.where(lengths > 0.0, low, 0.0)
        smallest = float(np.min(low))
        smallest *= 1.0 - room if smallest > 0.0 else 1.0 + room
        return outward.times_power(smallest, s.e, False) / max(1.0, outward.norm(u).high)


def comparator(given: Any, n_features: int, bias: float) -> np.ndarray:
    """u of length 1, with a weight of the constant coordinate."""
    try:
        u = np.array(given, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise ValueError(f"u must be an array of numbers or 'max-margin'; got {given!r}.") from error
    if u.size not in (n_features, n_features + 1):
        raise ValueError(
            f"u must have {n_features} entries, or {n_features + 1} with the weight of the constant "
            f"coordinate; got {u.size}."
        )
    u = np.append(u, np.zeros(n_features + 1 - u.size))
    if u[-1] != 0.0 and bias == 0.0:
        raise ValueError(
            f"u has a weight {u[-1]:g} of the constant coordinate, and the learner has no intercept; give "
            f"{n_features} entries."
        )
    if not np.isfinite(u).all() or not u.any():
        raise ValueError("u must have finite entries, and not only zeros.")
    u = np.ldexp(u, -outward.exponent(u))
    return np.asarray(u / np.linalg.norm(u))


def widest(rows: AugmentedRows, chosen: np.ndarray) -> np.ndarray:
    """The w of the maximum margin on the rows as the learner takes them.

    Rows that no hyperplane separates have none; then it is the sum of yx, about which nothing is claimed.
    """
    from sklearn.exceptions import ConvergenceWarning

    from ..core.solved import NotSeparableError
    from ..estimators.maximum_margin import MaxMargin

    y, (Z, _) = rows.sign[chosen], outward.scaled(rows.whole()[chosen])
    if rows.unit:
        lengths = outward.row_norms(Z)
        by = np.where(lengths > 0.0, lengths, 1.0)
        Z = Z.multiply(1.0 / by[:, None]).tocsr() if is_sparse(Z) else Z / by[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # u is what was found; its margin is measured
        try:
            found = MaxMargin(fit_intercept=False, tol=1e-9, max_time=MOST_SECONDS).fit(Z, y)
            w: np.ndarray = found.coef_[0]
        except NotSeparableError:
            w = np.asarray(Z.T @ y).ravel()
    return w if w.any() else np.append(np.ones(1), np.zeros(len(w) - 1))


def _length(v: np.ndarray) -> float:
    """The Euclidean length, whatever the range."""
    e = outward.exponent(v)
    with np.errstate(under="ignore"):
        return math.ldexp(float(np.linalg.norm(np.ldexp(v, -e))), e)


# ---------------------------------------------------------------------------------------- the proof


def followed(path: Path, rows: AugmentedRows, u: np.ndarray, chosen: np.ndarray) -> ProofTrace:
    """The proof beside a run; ProofError where a claim does not hold. ``chosen``: the rows that may occur."""
    radius, gamma = rows.radius(chosen), rows.margin(u, chosen)
    dot, norm = path.w @ u, np.array([_length(w) for w in path.w])
    if not gamma > 0.0:
        return ProofTrace(u, None, radius, None, dot, None, norm, None, None)
    if path.rule is None:  # the proof is about other vectors than w
        return ProofTrace(u, gamma, radius, None, dot, None, norm, None, None)
    return _Follower(path, rows, u, gamma, radius, dot, norm).run()


class _Update(NamedTuple):
    """One update, as the claims need it."""

    t: int
    keep: float
    step: float
    m: float
    before: float  #: ‖w‖
    after: float  #: ‖w'‖
    length: float  #: ‖x‖
    moved: float  #: τ‖x‖
    product: float  #: y<w', x>
    rounding: float  #: at least the distance of w' from κw + τyx
    score_error: float  #: at least the error of m


class _Follower:
    """Checks the claims of a run."""

    def __init__(
        self,
        path: Path,
        rows: AugmentedRows,
        u: np.ndarray,
        gamma: float,
        radius: float,
        dot: np.ndarray,
        norm: np.ndarray,
    ):
        self.path, self.rows, self.u, self.gamma, self.radius = path, rows, u, gamma, radius
        self.dot, self.norm = dot, norm
        self.n = path.w.shape[1] + 8
        info = np.finfo(path.precision)
        self.eps = float(info.eps)
        self.least = self.n * float(info.smallest_subnormal) * 1e4  # what underflow may lose
        self.checked: dict[str, int] = {}
        inverse = 1.0 / gamma
        steps_back = isinstance(path.rule, (rules.MIRA, rules.PA, rules.PA1, rules.PA2))
        self.goal = u * inverse if steps_back and math.isfinite(inverse) else None

    def run(self) -> ProofTrace:
        for t in np.flatnonzero(self.path.updated).tolist():
            update = self._update(t)
            if update.step > 0.0 and update.keep >= 0.0:
                for name, left, right, room in self._claims(update):
                    self._check(name, left, right, room, t)
        distance = None
        if self.goal is not None:
            distance = np.array([_length(w - self.goal) for w in self.path.w])
        sums = _Sums(self)
        return ProofTrace(
            u=self.u,
            gamma=self.gamma,
            radius=self.radius,
            crossing=self._crossing(),
            dot=self.dot,
            dot_bound=sums.dot_bound,
            norm=self.norm,
            norm_bound=sums.norm_bound,
            distance=distance,
            checked=self.checked,
        )

    def _check(self, name: str, left: float, right: float, room: float, t: int) -> None:
        """left >= right - room, or ProofError."""
        if not left >= right - 1.1 * room:
            rule = type(self.path.rule).__name__
            raise ProofError(
                f"{name} is violated at visit {t} (row {self.path.row[t]}) by {rule}: {left!r} is less than "
                f"{right!r}, and rounding can explain no more than {1.1 * room:.3g}."
            )
        self.checked[name] = self.checked.get(name, 0) + 1

    def _update(self, t: int) -> _Update:
        path = self.path
        z, length = self.rows.vector(int(path.row[t]))
        keep, step = float(path.keep[t]), float(path.step[t])
        before, after, moved = float(self.norm[t]), float(self.norm[t + 1]), step * length
        least = self.least
        return _Update(
            t=t,
            keep=keep,
            step=step,
            m=float(path.margin[t]),
            before=before,
            after=after,
            length=length,
            moved=moved,
            product=float(path.sign[path.row[t]] * (path.w[t + 1] @ z)),
            rounding=self.eps * (4.0 * (abs(keep) * before + after) + 8.0 * abs(moved)) + least,
            score_error=self.n * self.eps * before * length + least * length,
        )

    def _claims(self, a: _Update) -> Iterator[tuple[str, float, float, float]]:
        """(name, left, right, room) of every inequality left >= right that an update has to satisfy."""
        dots = self.n * _E64 * (a.keep * a.before + a.after + a.moved) + self.least
        grown = float(self.dot[a.t + 1]) - a.keep * float(self.dot[a.t])
        yield "progress", grown, a.step * self.gamma, a.rounding + dots
        target = a.keep * a.m + a.moved * a.length
        room = (a.rounding + dots) * a.length + a.keep * a.score_error
        room += self.n * self.eps * abs(a.moved) * a.length
        yield "move", -abs(a.product - target), 0.0, room
        if a.m <= 0.0:
            yield self._shorter(a)
        rule = self.path.rule
        if isinstance(rule, rules.Margin) and a.before > 0.0:
            yield self._margin_step(a, (1.0 - rule.eps) * rule.gamma)
        if isinstance(rule, (rules.MIRA, rules.PA, rules.GeometricMIRA)):
            yield "margin 1", -abs(a.product - 1.0), 0.0, room + 8.0 * self.eps
        if self.goal is not None:
            yield self._closer(a, self.goal)

    def _shorter(self, a: _Update) -> tuple[str, float, float, float]:
        e = _exponent(a.before, a.after, a.moved)
        before, after, moved, rounding = (
            math.ldexp(v, -e) for v in (a.keep * a.before, a.after, a.moved, a.rounding)
        )
        wrong = 2.0 * moved * (self.n * self.eps * before + math.ldexp(self.least, -e))
        squares = 4.0 * self.n * _E64 * (before * before + after * after + moved * moved)
        room = wrong + 2.0 * rounding * after + rounding * rounding + squares
        return "length", before * before + moved * moved, after * after, room

    def _margin_step(self, a: _Update, theta: float) -> tuple[str, float, float, float]:
        # m < θ√N, where N is the squared length that the loop keeps
        inside = theta * math.sqrt(max(0.0, float(self.path.loop_norm2[a.t]))) / a.before
        right = a.before + a.step * inside + a.moved * (a.moved / a.before) / 2.0
        room = a.rounding + a.moved * (self.n * self.eps) + 8.0 * self.n * _E64 * (right + a.after)
        return "margin step", right, a.after, room

    def _closer(self, a: _Update, goal: np.ndarray) -> tuple[str, float, float, float]:
        far = _length(goal)
        e = _exponent(a.before, a.after, far)
        w, after = self.path.w[a.t : a.t + 2]
        one, two = (math.ldexp(_length(v - goal), -e) for v in (w, after))
        loss = 1.0 - a.m
        gain = math.ldexp(a.step, -e) * math.ldexp(2.0 * loss - a.moved * a.length, -e)
        size, moved, rounding = (
            math.ldexp(v, -e) for v in (a.before + a.after + 2.0 * far, a.moved, a.rounding)
        )
        room = 4.0 * self.n * _E64 * (size * size + abs(gain) + moved * size)
        room += 2.0 * rounding * size + rounding * rounding + 2.0 * moved * self.n * self.eps * size
        return "distance", one * one - gain, two * two, room

    def _crossing(self) -> int | None:
        rule, gamma, radius = self.path.rule, self.gamma, self.radius
        if self.path.weighted:
            return None
        if isinstance(rule, rules.Perceptron):
            return int(Fraction(radius) ** 2 / Fraction(gamma) ** 2) + 1
        if not isinstance(rule, rules.Margin):
            return None
        theta = (1.0 - rule.eps) * rule.gamma
        bound, k = 0.0, 0
        while theta < gamma and k < _MOST_UPDATES:
            k += 1
            bound = math.hypot(bound + (theta if k > 1 else 0.0), radius) * (1.0 + 4.0 * _E64)
            if k * gamma > bound:
                return k
        return None


def _exponent(*values: float) -> int:
    """e such that all of them are below 2^e."""
    return math.frexp(max(map(abs, values)))[1]


class _Sums:
    """The claims summed up from w = 0."""

    def __init__(self, follower: _Follower):
        self.f, self.path = follower, follower.path
        path = self.path
        self.dot_bound: np.ndarray | None = None
        self.norm_bound: np.ndarray | None = None
        if np.any(path.w[0]) or np.any(path.step < 0.0) or np.any(path.keep < 0.0):
            return
        self.dot_bound = self._progress()
        if isinstance(path.rule, rules.Margin):
            self.norm_bound = self._margin_lengths((1.0 - path.rule.eps) * path.rule.gamma)
        elif path.conservative and np.all(path.keep == 1.0):
            self.norm_bound = self._lengths()

    def _along(self) -> Iterator[tuple[int, _Update | None]]:
        """All visits; with the update where there was one."""
        for t, updated in enumerate(self.path.updated.tolist()):
            yield t, self.f._update(t) if updated else None

    def _progress(self) -> np.ndarray:
        f = self.f
        out, total, room = np.zeros(len(f.dot)), 0.0, 0.0
        for t, a in self._along():
            if a is not None:
                total = a.keep * total + a.step
                room = a.keep * room + a.rounding
                room += f.n * _E64 * (a.keep * a.before + a.after + a.moved) + f.least
                room += 4.0 * _E64 * total * f.gamma
                out[t + 1] = _down(total * f.gamma)
                f._check("sum of progress", float(f.dot[t + 1]), float(out[t + 1]), room, t)
            else:
                out[t + 1] = out[t]
        return out

    def _lengths(self) -> np.ndarray:
        f = self.f
        out, squares, room = np.zeros(len(f.norm)), 0.0, 0.0
        e = _exponent(*(float(s) for s in self.path.step), 0.0)
        for t, a in self._along():
            if a is not None:
                step = math.ldexp(a.step, -e)
                squares += step * step
                out[t + 1] = _up(f.radius * math.ldexp(math.sqrt(squares), e))
                # sqrt((b + room)^2 + c^2 + 2e) <= sqrt(b^2 + c^2) + room + e/max(b + room, c)
                room += 2.0 * a.rounding + 2.0 * f.n * f.eps * (a.before + a.moved) + f.least
                room += 2.0 * _E64 * float(out[t + 1])
                f._check("sum of lengths", float(out[t + 1]), a.after, room + 8.0 * f.n * _E64 * a.after, t)
            else:
                out[t + 1] = out[t]
        return out

    def _margin_lengths(self, theta: float) -> np.ndarray:
        f = self.f
        out, room = np.zeros(len(f.norm)), 0.0
        for t, a in self._along():
            if a is not None:
                band = a.step * theta if a.before > 0.0 else 0.0
                loop = math.sqrt(max(0.0, float(self.path.loop_norm2[t])))
                drift = max(0.0, loop / a.before - 1.0) if a.before > 0.0 else 0.0
                out[t + 1] = _up(math.hypot(float(out[t]) + band, a.step * f.radius))
                room += a.rounding + f.n * f.eps * a.moved + band * drift + 8.0 * _E64 * float(out[t + 1])
                f._check("sum of lengths", float(out[t + 1]), a.after, room + 8.0 * f.n * _E64 * a.after, t)
            else:
                out[t + 1] = out[t]
        return out


def _up(value: float) -> float:
    return math.nextafter(value, math.inf) if value else 0.0


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf) if value else 0.0
