r"""Every update rule: a record of hyperparameters and a scalar function that reads like its formula.

A *first-order* rule looks at one row through three numbers and answers two,

.. math:: (\kappa, \tau) = \mathrm{rule}(m, q, \mathrm{state}), \qquad w \leftarrow \kappa w + \tau y x,

where :math:`m = y\langle w, x\rangle` is the signed margin and :math:`q = \|x\|^2` (or :math:`k(x, x)`
with a kernel, :math:`2\|x\|^2` for a pair of classes). That is all it may see, so the same record serves
the linear, the multiclass and the kernel engine. A *second-order* rule sees :math:`v = x^\top\Sigma x`
instead of :math:`q` and answers :math:`(\alpha, \beta)`:
:math:`w \leftarrow w + \alpha y \Sigma x,\ \Sigma \leftarrow \Sigma - \beta \Sigma x x^\top \Sigma`.

The functions are plain Python: call them, plot them, test them. The engine compiles the same source.

>>> state = State(N=0.0, k=0, t=1, c=1.0, tol=LOSS_TOL)
>>> pa1(PA1(C=1.0), m=0.5, q=2.0, state=state)
(1.0, 0.25)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

LOSS_TOL = 1e-12  #: a loss up to here is zero (float64); without it PA would step for ever on rounding
LOSS_TOL_32 = 1e-6  #: the same for float32 weights

NO_STEP = (1.0, 0.0)  #: keep w as it is
REFUSED = (0.0, 0.0)  #: the test asks for an update that does not exist; counted, and w is kept


class State(NamedTuple):
    """What a rule may know besides the row: the learner's scalars."""

    N: float  #: squared length of w
    k: int  #: updates made so far
    t: int  #: examples seen so far, this one included
    c: float  #: weight of this row (1 unless the user gave weights)
    tol: float  #: losses up to here count as zero


# ---------------------------------------------------------------- first order: (keep, tau)


class Perceptron(NamedTuple):
    """Rosenblatt's rule, rate eta [Rosenblatt 1958, Novikoff 1962]."""

    eta: float = 1.0


def perceptron(rule, m, q, state):
    if m > 0.0:  # a mistake is y<w,x> <= 0
        return NO_STEP
    return 1.0, rule.eta * state.c  # w <- w + eta y x


class RateByUpdates(NamedTuple):
    """Perceptron whose k-th update has step 1/k."""


def rate_by_updates(rule, m, q, state):
    if m > 0.0:
        return NO_STEP
    return 1.0, state.c / (state.k + 1)  # tau = 1 / number of this update


class RateByExamples(NamedTuple):
    """Perceptron whose step at example t is 1/t."""


def rate_by_examples(rule, m, q, state):
    if m > 0.0:
        return NO_STEP
    return 1.0, state.c / state.t  # tau = 1 / number of this example


class Margin(NamedTuple):
    """Margin perceptron: also update inside a band [Krauth, Mezard 1987; Balcan, Blum 2006]."""

    gamma: float = 1.0
    eps: float = 0.5


def margin(rule, m, q, state):
    theta = (1.0 - rule.eps) * rule.gamma
    if state.N > 0.0 and m / sqrt(state.N) >= theta:  # geometric margin of at least theta
        return NO_STEP
    return 1.0, state.c


class MIRA(NamedTuple):
    """p-aggressive MIRA, functional margin [Crammer, Singer 2003]."""

    p: float = 0.0


def mira(rule, m, q, state):
    if m > rule.p or q == 0.0:
        return NO_STEP
    return 1.0, (1.0 - m) / q  # the shortest step to margin 1


class GeometricMIRA(NamedTuple):
    """MIRA with the test on the geometric margin, y<w,x> <= p ||w||."""

    p: float = 0.0


def geometric_mira(rule, m, q, state):
    if m > rule.p * sqrt(state.N) or q == 0.0:
        return NO_STEP
    if 1.0 - m <= state.tol:  # nothing to gain, or a step backwards: stalled
        return REFUSED
    return 1.0, (1.0 - m) / q


class PA(NamedTuple):
    """Passive-aggressive, hard [Crammer et al. 2006]."""


def pa(rule, m, q, state):
    loss = 1.0 - m  # l = max{0, 1 - y<w,x>}
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, loss / q  # tau = l / ||x||^2


class PA1(NamedTuple):
    """Passive-aggressive I: the step is capped at C [Crammer et al. 2006]."""

    C: float = 1.0


def pa1(rule, m, q, state):
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, min(rule.C * state.c, loss / q)  # tau = min{C, l / ||x||^2}


class PA2(NamedTuple):
    """Passive-aggressive II: the step is damped by 1/(2C) [Crammer et al. 2006]."""

    C: float = 1.0


def pa2(rule, m, q, state):
    loss = 1.0 - m
    if loss <= state.tol or q == 0.0:
        return NO_STEP
    return 1.0, loss / (q + 0.5 / (rule.C * state.c))  # tau = l / (||x||^2 + 1/(2C))


class ROMMA(NamedTuple):
    """Relaxed online maximum margin, on mistakes [Li, Long 2002]."""


def romma(rule, m, q, state):
    if m > 0.0 or q == 0.0:
        return NO_STEP
    return relax(m, q, state.N, state.tol)


class AggressiveROMMA(NamedTuple):
    """ROMMA that updates whenever y<w,x> < 1 - delta [Li, Long 2002]."""

    delta: float = 0.0


def aggressive_romma(rule, m, q, state):
    if 1.0 - rule.delta - m <= state.tol or q == 0.0:
        return NO_STEP
    return relax(m, q, state.N, state.tol)


def relax(m, q, N, tol):
    """The shortest w' with y<w',x> >= 1 and <w',w> >= ||w||^2, as (keep, tau)."""
    if N == 0.0 or m >= q * N:  # the new constraint implies the old one
        return 0.0, 1.0 / q
    gap = q * N - m * m  # ||x||^2 ||w||^2 - <w,x>^2
    if gap <= tol * q * N:  # x is parallel to -w: the half-spaces do not meet
        return REFUSED
    return (q * N - m) / gap, N * (1.0 - m) / gap


class ALMA(NamedTuple):
    """Approximate large margin, p = 2, on rows scaled to length 1 [Gentile 2001]."""

    alpha: float = 0.5


def alma(rule, m, q, state):
    if q == 0.0:
        return NO_STEP
    root_k = sqrt(state.k + 1.0)
    m_unit = m / sqrt(q)  # y<w,x>/||x||
    if m_unit > (1.0 - rule.alpha) * (sqrt(8.0) / rule.alpha) / root_k:
        return NO_STEP
    tau = sqrt(2.0) / root_k
    length = sqrt(max(0.0, state.N + 2.0 * tau * m_unit + tau * tau))  # ||w + tau y x/||x|| ||
    shrink = 1.0 / max(1.0, length)  # back into the unit ball
    return shrink, shrink * tau / sqrt(q)


class NormMinimising(NamedTuple):
    """The test of the norm-minimising multiclass MIRA: some rival scores strictly more."""


def norm_minimising(rule, m, q, state):
    if m >= 0.0 or q == 0.0:
        return NO_STEP
    return 1.0, 1.0


# ---------------------------------------------------------------- second order: (alpha, beta)


class SecondOrder(NamedTuple):
    """Second-order perceptron; Sigma = A^{-1} starts at I/a [Cesa-Bianchi, Conconi, Gentile 2005]."""


def second_order(rule, m, v, state):
    if m > 0.0:
        return 0.0, 0.0
    beta = 1.0 / (1.0 + v)  # (A + xx')^{-1} by rank one
    return beta * (1.0 - m), beta


class AROW(NamedTuple):
    """Adaptive regularisation of weights [Crammer, Kulesza, Dredze 2009]."""

    r: float = 1.0


def arow(rule, m, v, state):
    if 1.0 - m <= state.tol:
        return 0.0, 0.0
    beta = 1.0 / (v + rule.r)
    return beta * (1.0 - m), beta


class SCW1(NamedTuple):
    """Soft confidence-weighted I; phi is the normal quantile of eta [Wang, Zhao, Hoi 2012]."""

    phi: float
    C: float = 1.0


def scw1(rule, m, v, state):
    phi = rule.phi
    if phi * sqrt(v) - m <= state.tol:
        return 0.0, 0.0
    psi = 1.0 + phi * phi / 2.0
    zeta = 1.0 + phi * phi
    if v == 0.0:
        return 0.0, 0.0
    root = sqrt(m * m * phi**4 / 4.0 + v * phi * phi * zeta)
    alpha = min(rule.C, max(0.0, (-m * psi + root) / (v * zeta)))
    return alpha, confidence_gain(alpha, v, phi)


class SCW2(NamedTuple):
    """Soft confidence-weighted II [Wang, Zhao, Hoi 2012]."""

    phi: float
    C: float = 1.0


def scw2(rule, m, v, state):
    phi = rule.phi
    if phi * sqrt(v) - m <= state.tol:
        return 0.0, 0.0
    n = v + 0.5 / rule.C
    root = phi * sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi))
    alpha = max(0.0, (-(2.0 * m * n + phi * phi * m * v) + root) / (2.0 * (n * n + n * v * phi**2)))
    return alpha, confidence_gain(alpha, v, phi)


def confidence_gain(alpha, v, phi):
    """beta of SCW: how much Sigma shrinks along Sigma x."""
    if alpha == 0.0:
        return 0.0
    root_u = 0.5 * (-alpha * v * phi + sqrt((alpha * v * phi) ** 2 + 4.0 * v))
    return alpha * phi / (root_u + v * alpha * phi)


FIRST_ORDER: dict[type, Callable[..., tuple[float, float]]] = {
    Perceptron: perceptron,
    RateByUpdates: rate_by_updates,
    RateByExamples: rate_by_examples,
    Margin: margin,
    MIRA: mira,
    GeometricMIRA: geometric_mira,
    PA: pa,
    PA1: pa1,
    PA2: pa2,
    ROMMA: romma,
    AggressiveROMMA: aggressive_romma,
    ALMA: alma,
    NormMinimising: norm_minimising,
}
SECOND_ORDER: dict[type, Callable[..., tuple[float, float]]] = {
    SecondOrder: second_order,
    AROW: arow,
    SCW1: scw1,
    SCW2: scw2,
}
HELPERS = (relax, confidence_gain)  #: functions that rules call

#: Rules that never shrink w: an update changes the columns of its row alone.
KEEPING = (
    Perceptron,
    RateByUpdates,
    RateByExamples,
    Margin,
    MIRA,
    GeometricMIRA,
    PA,
    PA1,
    PA2,
    NormMinimising,
)

#: Rules whose formula says what a row's weight does; all others take weights 0 and 1 only.
WEIGHTED = (Perceptron, RateByUpdates, RateByExamples, Margin, PA1, PA2)

#: Names that a learner's ``rule`` takes in place of a record: those of the command line's ``--rule``. The
#: parameters are the defaults of the estimators.
NAMES: dict[str, Any] = {
    "perceptron": Perceptron(),
    "margin": Margin(),
    "mira": MIRA(),
    "pa": PA(),
    "pa1": PA1(),
    "pa2": PA2(),
    "romma": ROMMA(),
    "aggressive-romma": AggressiveROMMA(),
    "alma": ALMA(alpha=0.9),
    "arow": AROW(),
    "scw": SCW1(NormalDist().inv_cdf(0.9)),
}


def named(rule: Any) -> Any:
    """The record that a name stands for; anything else as it is.

    >>> named("pa1")
    PA1(C=1.0)
    """
    if not isinstance(rule, str):
        return rule
    record = NAMES.get(rule.lower().replace("_", "-"))
    if record is None:
        raise RuleError(
            f"rule must be a record of perceptrons.rules or one of {', '.join(NAMES)}; got rule={rule!r}."
        )
    return record


# ---------------------------------------------------------------- the user's own


class RuleError(ValueError):
    """A rule did not compile, raised, or answered something that is not a finite pair."""

    log: Any = ()  #: the updates of the pass that ended here


class UserRule:
    """A first-order rule written by the user; made by :func:`rule`."""

    def __init__(self, function: Callable[..., tuple[float, float]], weighted: bool = False):
        self.function = function
        self.weighted = weighted
        self.__doc__ = function.__doc__
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "rule")
        self.__module__ = function.__module__

    def __call__(self, m: float, q: float, state: State) -> tuple[float, float]:
        return self.function(m, q, state)

    def __repr__(self) -> str:
        return f"<rule {self.__name__!r}>"

    def __reduce__(self) -> Any:
        found = inspect.getmodule(self.function)
        if getattr(found, self.__name__, None) is self:  # a module-level @rule pickles by its name
            return self.__qualname__
        return UserRule, (self.function, self.weighted)

    def __deepcopy__(self, memo: Any) -> UserRule:
        return self  # immutable, like a function


def rule(function: Any = None, *, weighted: bool = False) -> Any:
    """Make a learner's rule of a plain function ``(m, q, state) -> (keep, tau)``.

    The function is compiled on first use; numba's subset of Python applies. ``state`` is a
    :class:`State`. Answer ``rules.NO_STEP`` to leave w alone.

    Parameters
    ----------
    function : callable
        The rule.
    weighted : bool, default=False
        Whether the function uses ``state.c``, the row's weight. If not, rows may only have weights 0 and 1.

    Examples
    --------
    >>> from perceptrons import OnlineClassifier, rules
    >>> @rules.rule
    ... def half(m, q, state):
    ...     return (1.0, 0.5) if m <= 0 else (1.0, 0.0)
    >>> half(-1.0, 2.0, None)
    (1.0, 0.5)
    >>> clf = OnlineClassifier(rule=half, shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
    >>> clf.coef_
    array([[0.5, 0.5]])
    """
    if function is None:
        return functools.partial(rule, weighted=weighted)
    if not callable(function):
        raise TypeError(f"rule must be a function (m, q, state) -> (keep, tau); got {function!r}.")
    return UserRule(function, weighted)


def ask(rule: Any, m: float, q: float, state: State) -> tuple[float, float]:
    """What a rule record or a user's rule answers, in plain Python."""
    if isinstance(rule, UserRule):
        return rule(m, q, state)
    table = FIRST_ORDER if type(rule) in FIRST_ORDER else SECOND_ORDER
    return table[type(rule)](rule, m, q, state)
