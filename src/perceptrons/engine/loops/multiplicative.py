r"""The multiplicative space: Winnow, balanced Winnow (EG±), the p-norm perceptron, elimination.

Each learner adds multiples of its mistaken rows to a vector theta and predicts with
:math:`w_i = f(\theta_i)/Z`, where Z is a function of :math:`\sum_i g(\theta_i)`. The link f is what
distinguishes them:

========== ===================================== =====================================
link       f(theta)                              Z
========== ===================================== =====================================
winnow     :math:`\alpha^\theta`                 1
balanced   :math:`\sinh\theta`                   :math:`\sum\cosh\theta_i`
p-norm     :math:`\pm|\theta|^{p-1}`             :math:`\|\theta\|_p^{p-2}`
========== ===================================== =====================================

u = f(theta) is stored beside theta, so that looking at a row costs no power and no exponential.
"""

from __future__ import annotations

from math import cosh, exp, inf, isfinite, sinh, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...rows import begin, column, end, factor, look, sqnorm, value
from ..compiler import by_record, compiled, dispatch, helper
from ..look_ahead import look_ahead, look_ahead_in, what_to_ask_for
from .linear import EPS, write_back, write_counts
from .scalars import (
    BAD_SCORE,
    BAD_STEP,
    DONE,
    ERROR,
    EXAMPLES,
    LOWEST,
    NORM_ERROR,
    REFRESH,
    SCALE,
    SCALE_SUM,
    TAU,
    UPDATES,
    N,
)
from .tracks import record_score

if TYPE_CHECKING:
    from ..._types import Floats, Ints
    from ...rows import Rows
    from .linear import Log
    from .tracks import RecordedScores

#: Scalars that mean something else here: the exponent taken out of balanced Winnow's weights, the sum of
#: g(theta_i), the updates on positive rows, the lengths of the rows updated on.
OFFSET, MASS, PROMOTIONS, LENGTHS = SCALE, N, TAU, NORM_ERROR
#: Weights beyond this stop a run; then the sum of g is finite too.
WEIGHT_LIMIT = 1e150
_ROOM = 300.0  # theta may outgrow the offset by this much before the weights are made anew


class Winnow(NamedTuple):
    """w = alpha^theta, positive iff <w, x> >= threshold; ``eliminate``: a demotion sets w to 0."""

    alpha: float
    threshold: float
    eliminate: bool


class Balanced(NamedTuple):
    """w = sinh(theta) / sum cosh(theta)."""

    eta: float


class PNorm(NamedTuple):
    """w = gradient of half the squared p-norm of theta."""

    p: float


Link: TypeAlias = Winnow | Balanced | PNorm


def weight_of(link: Link, theta: float, offset: float) -> float:
    """f(theta)."""
    return dispatch(weight_of, link)(link, theta, offset)


def mass_of(link: Link, theta: float, offset: float) -> float:
    """g(theta), summed over the features for the normaliser."""
    return dispatch(mass_of, link)(link, theta, offset)


def normaliser(link: Link, mass: float) -> float:
    """Z, from the sum of g."""
    return dispatch(normaliser, link)(link, mass)


def moved(link: Link, theta: float, yx: float) -> float:
    """theta after an update with y x_i."""
    return dispatch(moved, link)(link, theta, yx)


def threshold_of(link: Link) -> float:
    """What <w, x> must reach."""
    return dispatch(threshold_of, link)(link)


def tie_is_positive(link: Link) -> bool:
    return dispatch(tie_is_positive, link)(link)


@by_record(weight_of)(Winnow)
def _winnow_weight(link: Winnow, theta: float, offset: float) -> float:
    return link.alpha**theta


@by_record(mass_of)(Winnow)
def _winnow_mass(link: Winnow, theta: float, offset: float) -> float:
    return 0.0


@by_record(normaliser)(Winnow)
def _winnow_normaliser(link: Winnow, mass: float) -> float:
    return 1.0


@by_record(moved)(Winnow)
def _winnow_moved(link: Winnow, theta: float, yx: float) -> float:
    if link.eliminate and yx < 0.0:
        return -inf
    return theta + yx


@by_record(threshold_of)(Winnow)
def _winnow_threshold(link: Winnow) -> float:
    return link.threshold


@by_record(tie_is_positive)(Winnow)
def _winnow_tie(link: Winnow) -> bool:
    return True


@by_record(weight_of)(Balanced)
def _balanced_weight(link: Balanced, theta: float, offset: float) -> float:
    if offset == 0.0:
        return sinh(theta)
    return 0.5 * (exp(theta - offset) - exp(-theta - offset))


@by_record(mass_of)(Balanced)
def _balanced_mass(link: Balanced, theta: float, offset: float) -> float:
    if offset == 0.0:
        return cosh(theta)
    return 0.5 * (exp(theta - offset) + exp(-theta - offset))


@by_record(normaliser)(Balanced)
def _balanced_normaliser(link: Balanced, mass: float) -> float:
    return mass


@by_record(moved)(Balanced)
def _balanced_moved(link: Balanced, theta: float, yx: float) -> float:
    return theta + link.eta * yx


@by_record(weight_of)(PNorm)
def _pnorm_weight(link: PNorm, theta: float, offset: float) -> float:
    size = abs(theta) ** (link.p - 1.0)
    return size if theta > 0.0 else -size


@by_record(mass_of)(PNorm)
def _pnorm_mass(link: PNorm, theta: float, offset: float) -> float:
    return abs(theta) ** link.p


@by_record(normaliser)(PNorm)
def _pnorm_normaliser(link: PNorm, mass: float) -> float:
    if mass <= 0.0:
        return 1.0
    return mass ** ((link.p - 2.0) / link.p)


@by_record(moved)(PNorm)
def _pnorm_moved(link: PNorm, theta: float, yx: float) -> float:
    return theta + yx


@by_record(threshold_of)(Balanced, PNorm)
def _no_threshold(link: Balanced | PNorm) -> float:
    return 0.0


@by_record(tie_is_positive)(Balanced, PNorm)
def _tie_is_negative(link: Balanced | PNorm) -> bool:
    return False


@helper
def refresh(link: Link, theta: Floats, u: Floats, n_inputs: int, scalars: Floats) -> None:
    """Make u and the mass anew from theta, with an offset that keeps the exponentials in range."""
    largest = 0.0
    for j in range(theta.shape[0]):
        if isfinite(theta[j]):
            largest = max(largest, abs(theta[j]))
    offset = largest if largest > _ROOM else 0.0
    mass = -(theta.shape[0] - n_inputs) * mass_of(link, 0.0, offset)  # coordinates not in use
    for j in range(theta.shape[0]):
        u[j] = weight_of(link, theta[j], offset)
        mass += mass_of(link, theta[j], offset)
    scalars[OFFSET] = offset
    scalars[MASS] = mass


@compiled
def prepare(link: Link, theta: Floats, u: Floats, n_inputs: int, scalars: Floats) -> None:
    """:func:`refresh`, callable from Python."""
    refresh(link, theta, u, n_inputs, scalars)


@helper
def step(link: Link, theta: Floats, u: Floats, j: int, yx: float, scalars: Floats) -> float:
    """Update one feature; return the size of its new theta."""
    offset = scalars[OFFSET]
    scalars[MASS] -= mass_of(link, theta[j], offset)
    theta[j] = moved(link, theta[j], yx)
    u[j] = weight_of(link, theta[j], offset)
    scalars[MASS] += mass_of(link, theta[j], offset)
    return abs(theta[j]) if isfinite(theta[j]) else 0.0


@helper
def worn_out(link: Link, scalars: Floats) -> bool:
    """Whether the offset is too large by now: the weights, summing to 1/2 with a fresh one, vanish."""
    return scalars[OFFSET] > 0.0 and not normaliser(link, scalars[MASS]) >= 0.25


@helper
def stays_finite(link: Link, rows: Rows, i: int, y: float, theta: Floats) -> bool:
    """Whether an update with row i leaves every weight below the limit."""
    for p in range(begin(rows, i), end(rows, i)):
        j = column(rows, p)
        yx = y * factor(rows, i) * value(rows, i, p)
        after = moved(link, theta[j], yx)
        if not abs(weight_of(link, after, abs(after))) <= WEIGHT_LIMIT:
            return False
    return True


@compiled
def run(
    link: Link,
    rows: Rows,
    y: Floats,
    c: Floats,
    order: Ints,
    theta: Floats,
    u: Floats,
    n_inputs: int,
    scalars: Floats,
    log: Log,
    steps: Floats,
    recorded: RecordedScores,
    prediction: bool,
) -> tuple[int, int, int]:
    """One pass over ``order``; ``n_inputs`` counts the coordinates of theta in use, B's included.

    ``steps`` counts the updates on each row, unless it is empty. The scalar ERROR bounds the distance of
    theta from the exact sum of its steps, in units of the step: each is rounded by at most
    u (4 ||x|| + ||theta||), and ||theta|| is at most the sum of the lengths.
    """
    t, k = int(scalars[EXAMPLES]), int(scalars[UPDATES])
    n_mistakes = n_errors = n_logged = 0
    lowest = scalars[LOWEST]
    ending = DONE
    at = 0
    asked = what_to_ask_for(rows, order, 0, True)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            look_ahead_in(y, order, at)
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        s = look(rows, i, u) / normaliser(link, scalars[MASS]) - threshold_of(link)
        if not isfinite(s):
            ending = BAD_SCORE
            break
        record_score(recorded, at, s)
        m = y[i] * s
        positive = s >= 0.0 if tie_is_positive(link) else s > 0.0
        wrong = positive != (y[i] > 0.0)
        mistake = wrong if prediction or tie_is_positive(link) else m <= 0.0
        if mistake:
            if not stays_finite(link, rows, i, y[i], theta):
                ending = BAD_STEP
                break
            d = y[i] * factor(rows, i)
            largest = 0.0
            for p in range(begin(rows, i), end(rows, i)):
                x = value(rows, i, p)
                if x != 0.0:
                    largest = max(largest, step(link, theta, u, column(rows, p), d * x, scalars))
            if rows.bias != 0.0:
                last = theta.shape[0] - 1
                largest = max(largest, step(link, theta, u, last, d * rows.bias, scalars))
            k += 1
            if steps.shape[0] > 0:
                steps[i] += 1.0
            length = sqrt(sqnorm(rows, i))
            scalars[LENGTHS] += length
            scalars[ERROR] += EPS * (4.0 * length + scalars[LENGTHS])
            if y[i] > 0.0:
                scalars[PROMOTIONS] += 1.0
            if k % REFRESH == 0 or largest > scalars[OFFSET] + _ROOM or worn_out(link, scalars):
                refresh(link, theta, u, n_inputs, scalars)
            if log.row.shape[0] > 0:
                log.row[n_logged] = i
                log.example[n_logged] = t + 1
                log.keep[n_logged] = 1.0
                log.alpha[n_logged, 0] = y[i]
                n_logged += 1
        t += 1
        n_errors += wrong
        n_mistakes += mistake
        lowest = min(lowest, m)
    write_back(scalars, scalars[OFFSET], scalars[MASS], scalars[PROMOTIONS], scalars[SCALE_SUM], t, k)
    write_counts(scalars, n_mistakes, n_errors, 0, 0.0, 0.0, lowest)
    return ending, at, n_logged


@compiled
def scores(link: Link, rows: Rows, u: Floats, scalars: Floats, out: Floats) -> None:
    """out[i] = <w, x_i> - threshold."""
    z = normaliser(link, scalars[MASS])
    for i in range(out.shape[0]):
        out[i] = look(rows, i, u) / z - threshold_of(link)


@compiled
def run_elimination(
    rows: Rows,
    y: Floats,
    c: Floats,
    order: Ints,
    alive: Floats,
    negated: Floats,
    spare: Floats,
    scalars: Floats,
    log: Log,
    recorded: RecordedScores,
) -> tuple[int, int, int]:
    """Elimination: alive[j], negated[j] are 1 while x_j and its negation still stand, else 0.

    A row is positive iff a standing literal is true in it; a false positive strikes out all that are.
    """
    t, k = int(scalars[EXAMPLES]), int(scalars[UPDATES])
    n_errors = n_inconsistent = n_logged = 0
    n_negated = 0.0
    for j in range(negated.shape[0]):
        n_negated += negated[j]
    at = 0
    asked = what_to_ask_for(rows, order, 0, True)
    for at in range(order.shape[0]):
        i = order[at]
        if asked.rows:
            look_ahead(rows, order, at, asked.twice)
            look_ahead_in(y, order, at)
        if c.shape[0] > 0 and c[i] == 0.0:
            continue
        s = n_negated + look(rows, i, alive) - look(rows, i, negated)
        record_score(recorded, at, s - 1.0)
        wrong = (s >= 1.0) != (y[i] > 0.0)
        if wrong and y[i] > 0.0:
            n_inconsistent += 1
        elif wrong:
            for j in range(negated.shape[0]):
                spare[j] = negated[j]
                negated[j] = 0.0
            n_negated = 0.0
            for p in range(begin(rows, i), end(rows, i)):
                j = column(rows, p)
                if value(rows, i, p) != 0.0:
                    alive[j] = 0.0
                    negated[j] = spare[j]
                    n_negated += spare[j]
            k += 1
            if log.row.shape[0] > 0:
                log.row[n_logged] = i
                log.example[n_logged] = t + 1
                log.keep[n_logged] = 1.0
                log.alpha[n_logged, 0] = -1.0
                n_logged += 1
        t += 1
        n_errors += wrong
    write_back(scalars, scalars[SCALE], scalars[N], scalars[TAU], scalars[SCALE_SUM], t, k)
    write_counts(scalars, n_errors, n_errors, n_inconsistent, 0.0, 0.0, scalars[LOWEST])
    return DONE, at, n_logged
