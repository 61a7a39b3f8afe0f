r"""Both ends of the bracket around the best margin, true whatever rounding did to w.

:math:`\gamma^*` is the largest :math:`\min_i y_i\langle u, x_i\rangle` over u of length 1, for the rows as
the learner takes them (augmented, possibly scaled to length 1).

**Lower end.** Any w proves :math:`\gamma^* \ge \min_i (y_i\langle w, x_i\rangle - \rho_i)/\|w\|^+`, where
:math:`\rho_i` bounds the rounding of the product and :math:`^+` rounds up. A sum of n products has
:math:`\rho \le n u \|w\|\|x\|` in whatever order it is made (u is half of ``eps``). Rows whose value may be
the smallest are computed again with twice the digits. The first row that is certainly on the wrong side ends
the search: w does not separate, and the lower end is :math:`-\infty`.

**Upper end.** Any :math:`\alpha \ge 0` proves
:math:`\gamma^* \le \|\sum \alpha_i y_i x_i\|^+/(\sum\alpha_i)^-`.
A run from w = 0 has such numbers, its steps. Where they are kept, one per row, the sum is made from the rows.
Where they are not (streams), w is that sum but for rounding: with :math:`w \leftarrow \kappa w + \tau y x`
computed in floats, and :math:`w = s v` stored as a scale and a vector,

* :math:`v_j + d x_j` rounds the product and the sum: at most :math:`u\tau\|x\|` and :math:`u\|w\|`;
* :math:`s \leftarrow \kappa s` rounds once, and multiplying v out once more: at most :math:`2u\|w\|`;
* :math:`d = \tau y/s`, its conversion to the precision of v, and the factor of a scaled row are numbers: they
  round :math:`\tau`, not the direction of the step, at most :math:`3u\tau\|x\|`.

So the distance E between w and the exact sum obeys
:math:`E \leftarrow \kappa E + u(3\|w\| + 4\tau\|x\|)` + underflow, and
:math:`\gamma^* \le (\|w\| + E)^+/(\sum\tau)^-`. Here :math:`\|w\|` is bounded by
:math:`\kappa\sqrt{N + D} + \tau\|x\|`, where D bounds the error of the norm that the loop keeps.

Everything is scaled by powers of two where it leaves the middle of the range, so neither squares nor sums
overflow or vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, inf, isfinite, ldexp, nextafter, sqrt
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from ..rows import Dense, begin, column, end, factor, look, push, sqnorm, value
from .compiler import compiled, compiled_strictly, helper, strict
from .look_ahead import look_ahead, what_to_ask_for
from .loops import scalars
from .loops.side_by_side import looks

if TYPE_CHECKING:
    from .._types import Bytes, Floats, Ints, Reals
    from ..rows import Csr, Rows
    from .spaces.base import Bracket

U = 2.0**-53  #: a float64 operation rounds by at most this, relative to its result
SUBNORMAL = 2.0**-1074  #: and by at most half of this where the result underflows
#: A first look is good enough when its uncertainty is below this share of what it found.
CLOSE = 1e-8
#: The same for the upper end of a bracket that has no lower one.
CLOSE_ALONE = 2.0**-4
#: Memory that the steps of all learners of a fit may take, in bytes; beyond it the error term serves.
STEPS_LIMIT = 1 << 28
_MIDDLE = (1e-200, 1e200)  # sums of squares outside are computed from scaled vectors
_SUMS = (1e-290, 1e300)  # sums of steps outside have lost digits

# ---------------------------------------------------------------- error-free sums and products


@strict
def two_sum(a: float, b: float) -> tuple[float, float]:
    """(s, e): s = fl(a + b) and s + e = a + b."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@strict
def two_product(a: float, b: float) -> tuple[float, float]:
    """(p, e): p = fl(a b) and p + e = a b, unless e underflows."""
    c = 134217729.0 * a  # 2^27 + 1
    high_a = c - (c - a)
    low_a = a - high_a
    c = 134217729.0 * b
    high_b = c - (c - b)
    low_b = b - high_b
    p = a * b
    return p, ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b


# ---------------------------------------------------------------- lengths


@compiled
def sum_of_squares(v: Reals) -> float:
    total = 0.0
    for j in range(v.shape[0]):
        total += np.float64(v[j]) * np.float64(v[j])
    return total


class FirstLook(NamedTuple):
    """What :func:`first_look` has found for a vector."""

    smallest: float
    lower: np.ndarray


class ScaledVector(NamedTuple):
    """A vector v = w 2^e, where the squares of w neither vanish nor overflow."""

    w: np.ndarray
    e: int
    size: float  #: an upper bound on ||w||

    @property
    def norm(self) -> float:
        """An upper bound on ||v||; infinite where it overflows."""
        return up_by_one(_shifted(self.size, self.e)) if self.size else 0.0


def in_the_middle(v: np.ndarray) -> ScaledVector:
    """v, scaled where its squares need it.

    w is v itself wherever that will do. The relative error of ``size`` is at most ``eps`` times the entries
    of v.
    """
    total = sum_of_squares(v.reshape(-1))
    e = 0
    if not _MIDDLE[0] < total < _MIDDLE[1]:
        largest = float(np.max(np.abs(v), initial=0.0))
        if largest == 0.0:
            return ScaledVector(v, 0, 0.0)
        e = frexp(largest)[1]
        v = np.ldexp(np.ascontiguousarray(v, np.float64), -e)
        total = sum_of_squares(v.reshape(-1))
    return ScaledVector(v, e, sqrt(total) * (1.0 + (v.size + 8) * U))


def norm_up(v: np.ndarray) -> float:
    """An upper bound on the length of any vector; infinite where it overflows."""
    return in_the_middle(v).norm


def p_norm_up(v: np.ndarray, p: float) -> float:
    """An upper bound on the p-norm of any vector; p may be infinite."""
    largest = float(np.max(np.abs(v), initial=0.0))
    if p == inf or not 0.0 < largest < inf:
        return largest
    e = frexp(largest)[1]
    total = float(np.sum(np.abs(np.ldexp(np.asarray(v, np.float64), -e)) ** p))  # entries of at most 1
    slack = (v.size + 32 + 32.0 * p) * U  # powers are good to a few units in the last place
    return up_by_one(_shifted((total * (1.0 + slack) + v.size * SUBNORMAL) ** (1.0 / p) * (1.0 + slack), e))


def _shifted(x: float, e: int) -> float:
    try:
        return ldexp(x, e)
    except OverflowError:
        return inf


def up_by_one(x: float) -> float:
    return nextafter(x, inf)


def down_by_one(x: float) -> float:
    return nextafter(x, -inf)


# ---------------------------------------------------------------- the lower end


@helper
def wide_look(rows: Rows, i: int, w: Reals) -> float:
    """<w, x> with products in float64, whatever the rows are stored in."""
    total = rows.bias * np.float64(w[-1])
    for p in range(begin(rows, i), end(rows, i)):
        total += np.float64(value(rows, i, p)) * np.float64(w[column(rows, p)])
    return factor(rows, i) * total


@helper
def rounding(rows: Rows, i: int, size: float) -> float:
    """At least the rounding error of a product of row i with a vector that is no longer than ``size``."""
    n = float(end(rows, i) - begin(rows, i)) + 1.0
    length = sqrt(sqnorm(rows, i))
    return (2.0 * n + 16.0) * U * size * length + 4.0 * SUBNORMAL * n * (1.0 + length)


@compiled
def first_look(
    rows: Rows, y: np.ndarray, c: Floats, w: Reals, size: float, wide: bool, lower: Floats
) -> float:
    """Fill ``lower`` with lower bounds on y <w, x>; returns the smallest upper bound, or -inf.

    ``size`` is at least ||w||. Minus infinity: some row is certainly not on its side.
    """
    smallest = inf
    for i in range(y.shape[0]):
        lower[i] = inf
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        m = y[i] * (wide_look(rows, i, w) if wide else look(rows, i, w))
        radius = rounding(rows, i, size)
        if not m + radius > 0.0:
            return -inf
        lower[i] = m - radius
        smallest = min(smallest, m + radius)
    return smallest


@compiled
def first_looks(
    rows: Rows,
    marks: Bytes,
    c: Floats,
    V: Reals,
    sizes: Floats,
    least: int,
    dots: Reals,
    raw: Floats,
    lower: Floats,
    smallest: Floats,
) -> bool:
    """:func:`first_look` for the columns of V: each row is read once for all of them.

    ``marks`` has bit r where a row is positive for column r; ``sizes``, ``lower`` and ``smallest`` have an
    entry or a row for each; ``dots`` and ``raw`` are scratch space. False: it has ended before the last row,
    where fewer than ``least`` columns may still separate the rows. What is known then are those that do not.
    """
    n, n_left = raw.shape[0], raw.shape[0]
    for r in range(n):
        smallest[r] = inf
    for i in range(lower.shape[1]):
        for r in range(n):
            lower[r, i] = inf
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        looks(rows, i, V, dots, raw)
        positive = int(marks[i])
        for r in range(n):
            if smallest[r] == -inf:
                continue
            m = raw[r] if positive >> r & 1 else -raw[r]
            radius = rounding(rows, i, sizes[r])
            if not m + radius > 0.0:
                smallest[r] = -inf
                n_left -= 1
                continue
            lower[r, i] = m - radius
            smallest[r] = min(smallest[r], m + radius)
        if n_left < least:
            return False
    return True


@compiled
def first_look_at_pairs(
    rows: Rows, y: np.ndarray, c: Floats, W: Reals, size: float, s: Floats, lower: Floats
) -> float:
    """:func:`first_look` for prototypes: s_y - s_r for the best rival r; ``s`` is scratch space."""
    smallest = inf
    last = W.shape[0] - 1
    for i in range(y.shape[0]):
        lower[i] = inf
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        for r in range(s.shape[0]):
            s[r] = rows.bias * np.float64(W[last, r])
        for p in range(begin(rows, i), end(rows, i)):
            x, j = np.float64(value(rows, i, p)), column(rows, p)
            for r in range(s.shape[0]):
                s[r] += x * np.float64(W[j, r])
        best = -inf
        for r in range(s.shape[0]):
            if r != y[i] and s[r] > best:
                best = s[r]
        m = factor(rows, i) * (s[y[i]] - best)
        radius = 2.0 * rounding(rows, i, size)
        if not m + radius > 0.0:
            return -inf
        lower[i] = m - radius
        smallest = min(smallest, m + radius)
    return smallest


@strict
def add_product(a: float, b: float, high: float, low: float) -> tuple[float, float, float]:
    """high + low + a b as two numbers: the product is exact, and what the sum loses joins the small part."""
    product, error = two_product(a, b)
    high, lost = two_sum(high, product)
    return high, low + (lost + error), abs(product)


@strict
def careful_sum(rows: Rows, i: int, W: Reals, a: int, b: int) -> tuple[float, float]:
    """<w_a - w_b, x> with twice the digits, and a bound on its error; b < 0: <w_a, x>.

    A row is not scaled here: the caller divides by its length. Each product is exact as the sum of two
    numbers, and the small parts are summed apart [Ogita, Rump, Oishi 2005].
    """
    high, low, size = 0.0, 0.0, 0.0
    n = 0.0
    last = W.shape[0] - 1
    for k in range(1 if b < 0 else 2):
        r, sign = (a, 1.0) if k == 0 else (b, -1.0)
        for p in range(begin(rows, i), end(rows, i)):
            x = sign * np.float64(value(rows, i, p))
            high, low, term = add_product(x, np.float64(W[column(rows, p), r]), high, low)
            size += term
            n += 1.0
        high, low, term = add_product(sign * rows.bias, np.float64(W[last, r]), high, low)
        size += term
        n += 1.0
    total = high + low
    small = (2.0 * n + 8.0) * U
    return total, 2.0 * U * abs(total) + small * small * size + 16.0 * SUBNORMAL * n


@strict
def careful_length(rows: Rows, i: int) -> float:
    """||(x, B)|| with a relative error of at most 4 u, where squares neither vanish nor overflow."""
    high, low = two_product(rows.bias, rows.bias)
    for p in range(begin(rows, i), end(rows, i)):
        x = np.float64(value(rows, i, p))
        high, low, _ = add_product(x, x, high, low)
    return sqrt(high + low)


@compiled_strictly
def second_look(rows: Rows, y: np.ndarray, W: Reals, candidates: Ints, joint: bool, lower: Floats) -> None:
    """Replace the lower bounds of some rows by those of :func:`careful_sum`."""
    for a in range(candidates.shape[0]):
        i = candidates[a]
        smallest = inf
        if joint:
            label = int(y[i])
            for r in range(W.shape[1]):
                if r != label:
                    m, radius = careful_sum(rows, i, W, label, r)
                    smallest = min(smallest, m - radius)
        else:
            m, radius = careful_sum(rows, i, W, 0, -1)
            smallest = y[i] * m - radius
        if rows.unit and rows.sq[i] > 0.0:
            smallest /= careful_length(rows, i)
            smallest -= 8.0 * U * abs(smallest)
        lower[i] = smallest


def smallest_product(
    rows: Dense | Csr,
    y: np.ndarray,
    c: np.ndarray,
    w: np.ndarray,
    size: float,
    known: FirstLook | None = None,
) -> float:
    """A lower bound on min y <w, x>, or on the smallest lead over a rival; -inf where it is not positive.

    ``w`` is (features + 1,) or (features + 1, classes), in the middle of the range; ``size`` is at least its
    length. ``known``: the first look, where it was taken before.
    """
    joint = w.ndim == 2
    if known is not None:
        smallest, lower = known
    elif joint:
        lower = np.empty(len(y))
        smallest = first_look_at_pairs(rows, y, c, w, size, np.zeros(w.shape[1]), lower)
    else:
        lower = np.empty(len(y))
        smallest = first_look(rows, y, c, w, size, is_wide(rows, w), lower)
    if smallest == -inf:
        return -inf
    if smallest == inf:  # no row counts
        return inf
    worst = float(lower.min())
    if smallest - worst > CLOSE * abs(smallest):
        candidates = np.flatnonzero(lower <= smallest)
        second_look(rows, y, w if joint else w[:, None], candidates, joint, lower)
        worst = float(lower.min())
    return worst if worst > 0.0 else -inf


def is_wide(rows: Dense | Csr, w: np.ndarray) -> bool:
    """Whether products with w need more digits than :func:`perceptrons.rows.look` has for these rows."""
    return not w.dtype == (rows.X.dtype if isinstance(rows, Dense) else rows.data.dtype) == np.float64


def lower_end(
    rows: Dense | Csr,
    y: np.ndarray,
    c: np.ndarray,
    v: np.ndarray | ScaledVector,
    order: float = 2.0,
    known: FirstLook | None = None,
) -> float:
    """The lower end of the bracket that v proves; -inf where v does not separate the rows.

    ``order``: the norm in which separators have length 1. ``known``: the first look at the rows.
    """
    w, _, size = v if isinstance(v, ScaledVector) else in_the_middle(v)
    if size == 0.0:
        return -inf
    smallest = smallest_product(rows, y, c, w, size, known)
    return ratio_down(smallest, size if order == 2.0 else q_norm_up(w, order))


def q_norm_up(w: np.ndarray, q: float) -> float:
    """An upper bound on the q-norm, 1 <= q < 2, of a vector in the middle of the range."""
    if q == 1.0:
        return float(np.sum(np.abs(w))) * (1.0 + (w.size + 8) * U)
    return p_norm_up(w, q)


def ratio_down(a: float, b: float) -> float:
    """a / b rounded down, for a > 0 or infinite; where it underflows the largest number below, 0."""
    return down_by_one(a / b) if isfinite(a) else a


# ---------------------------------------------------------------- the upper end


@compiled
def add_rows(rows: Rows, places: Ints, a: Floats, z: Floats) -> float:
    """z <- z + a_i x_i; returns the sum of |a_i| ||x_i||, where x_i is not scaled."""
    total = 0.0
    asked = what_to_ask_for(rows, places, 0, False)
    for k in range(places.shape[0]):
        i = places[k]
        if asked.rows:
            look_ahead(rows, places, k, asked.twice)
        push(rows, i, a[k], z)
        total += abs(a[k]) * sqrt(sqnorm(rows, i))
    return total


@compiled_strictly
def add_rows_carefully(rows: Rows, places: Ints, a: Floats, high: Floats, low: Floats) -> None:
    """high + low <- high + low + a_i x_i with twice the digits; a_i is multiplied into x_i as it is."""
    last = high.shape[0] - 1
    for k in range(places.shape[0]):
        i = places[k]
        for p in range(begin(rows, i), end(rows, i)):
            j = column(rows, p)
            high[j], low[j], _ = add_product(a[k], np.float64(value(rows, i, p)), high[j], low[j])
        high[last], low[last], _ = add_product(a[k], rows.bias, high[last], low[last])


def combined(
    rows: Dense | Csr,
    parts: list[tuple[np.ndarray, np.ndarray]],
    width: int,
    measure: Callable[[np.ndarray], float] = norm_up,
) -> tuple[float, float]:
    """(size, E): ``measure`` of Z, each row of which is a sum of a_i x_i given by (places, a), rounded by E.

    ``rows`` are not scaled to length 1 here. First in plain sums; with twice the digits where their rounding
    could be seen.
    """
    n_terms = max((len(places) for places, _ in parts), default=0)
    Z = np.zeros((len(parts), width))
    total = 0.0
    for z, (places, a) in zip(Z, parts):
        total += add_rows(rows, places, a, z)
    underflow = SUBNORMAL * n_terms * Z.size
    error, size = (n_terms + 8) * U * total + underflow, measure(Z)
    if error > CLOSE * size:
        low = np.zeros(width)
        for z, (places, a) in zip(Z, parts):
            z[:] = low[:] = 0.0
            add_rows_carefully(rows, places, a, z, low)
            z += low
        size = measure(Z)
        error = 2.0 * U * norm_up(Z) + 4.0 * ((n_terms + 8) * U) ** 2 * total + 16.0 * underflow
    return size, error * (1.0 + (n_terms + 16) * U)


def upper_end(
    rows: Dense | Csr,
    y: np.ndarray,
    steps: np.ndarray,
    width: int,
    measure: Callable[[np.ndarray], float] = norm_up,
) -> float:
    """The upper end of the bracket that steps on rows prove; inf where they are negative, or all 0.

    ``steps`` has a number for each row, or for each row and rival; y is +-1, or class codes. ``width`` counts
    the coordinates, the constant one included. ``measure`` is an upper bound on a norm that is nowhere larger
    than the Euclidean: the one dual to the norm of the separators.
    """
    if not (steps >= 0.0).all():  # NaN too
        return inf
    where = np.nonzero(steps != 0.0)
    places, alpha = where[0].astype(np.int64), steps[where]
    lengths = np.sqrt(rows.sq[places])
    with np.errstate(over="ignore"):
        sizes = alpha if rows.unit else alpha * lengths
    largest = float(np.max(sizes, initial=0.0))
    if not 0.0 < largest < inf:
        return inf
    alpha = np.ldexp(alpha, -frexp(largest)[1])
    if rows.unit:
        alpha = alpha / np.where(lengths > 0.0, lengths, 1.0)
        mass = float(np.sum(alpha * lengths))
    else:
        mass = float(np.sum(alpha))
    if not 0.0 < mass < inf:
        return inf
    if steps.ndim == 1:
        parts = [(places, alpha * y[places])]
    else:
        parts = []
        for r in range(steps.shape[1]):
            own, other = y[places] == r, where[1] == r
            a = np.concatenate([alpha[own], -alpha[other]])
            parts.append((np.concatenate([places[own], places[other]]), a))
    size, error = combined(rows._replace(unit=False), parts, width, measure)
    share = (len(alpha) + 2 * width + 64) * U
    return ratio_up(size + error, mass * (1.0 - share))


def upper_end_of_run(v: np.ndarray, norm: float, state: np.ndarray) -> float:
    """The upper end that w itself proves, as the sum of its steps but for the error that the run kept.

    ``norm`` is an upper bound on ||v||.
    """
    tau, k = float(state[scalars.TAU]), float(state[scalars.UPDATES])
    share = (4.0 * k + 4.0 * v.size + 64.0) * U + 4.0 * float(np.finfo(v.dtype).eps)
    if not (_SUMS[0] < tau < _SUMS[1] and share < 0.5):
        return inf
    error = float(state[scalars.ERROR]) * (1.0 + (16.0 * k + 64.0) * U)
    return ratio_up(up_by_one(norm * abs(float(state[scalars.SCALE]))) + error, tau * (1.0 - share))


def rows_say_more(rows: Dense | Csr, v: np.ndarray, norm: float, state: np.ndarray, low: float) -> bool:
    """Whether the upper end should be taken from the steps on rows: the error term can be seen in the other.

    So it should where the sum of the steps is near an end of the range, and the other end is infinite.
    In float32 it always can. There the rows are added up only where they have as many entries as w has, or
    nearly: adding up into so many numbers would take longer than learning from so few rows. ``low`` is the
    lower end: where w does not separate the rows, a sixteenth of the upper end is not worth that time.
    """
    summed = _SUMS[0] < float(state[scalars.TAU]) < _SUMS[1]
    seen = CLOSE if low > 0.0 else CLOSE_ALONE
    if summed and float(state[scalars.ERROR]) <= seen * norm * abs(float(state[scalars.SCALE])):
        return False
    entries = rows.X.size if isinstance(rows, Dense) else len(rows.data)
    return bool(v.dtype == np.float64 or v.size <= 4 * entries)


@overload
def widened(bounds: None, radius: float) -> None: ...


@overload
def widened(bounds: Bracket, radius: float) -> Bracket: ...


@overload
def widened(bounds: list[Bracket], radius: float) -> list[Bracket]: ...


def widened(bounds: Bracket | list[Bracket] | None, radius: float) -> Bracket | list[Bracket] | None:
    """A bracket, or a list of them, for rows that may each be off by ``radius``."""
    if bounds is None:
        return None
    if isinstance(bounds, list):
        return [widened(pair, radius) for pair in bounds]
    low, up = bounds
    if low is not None:
        low = down_by_one(low - radius) if low > radius else -inf
    return low, up_by_one(up + radius)


def ratio_up(a: float, b: float) -> float:
    """a / b rounded up, for a >= 0 and b > 0, whose own last digits may be wrong."""
    return up_by_one(a / b * (1.0 + 8.0 * U)) if isfinite(a) else inf
