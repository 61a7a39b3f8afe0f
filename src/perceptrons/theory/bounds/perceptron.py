r"""The perceptron and its step sizes: sections 1 to 5 of the specification.

Throughout, the run starts from :math:`w_0 = 0` unless the name says otherwise, the examples come in
any order, for any length of time, and a mistake is :math:`y\langle w, x\rangle \le 0`.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from .. import _arguments as arg
from .._rational import above

HARMONIC = math.pi / math.sqrt(6.0)  # sqrt(1 + 1/4 + 1/9 + ...)


def novikoff(R: float, gamma: float) -> float:
    r"""Mistakes of the perceptron on separable data: :math:`M \le R^2/\gamma^2`.

    Assumes a unit :math:`u` with :math:`y\langle u, x\rangle \ge \gamma` and :math:`\|x\| \le R`
    for every example. With rows scaled to length 1: ``novikoff(1, gamma)`` for the margin of the
    scaled rows. In a kernel's space: :math:`R^2 = \max k(x, x)`.

    A. Novikoff, On convergence proofs for perceptrons, 1962.

    >>> novikoff(R=1, gamma=0.5)
    4.0
    """
    R, gamma = arg.nonnegative("R", R), arg.margin("gamma", gamma)
    return above((Fraction(R) / Fraction(gamma)) ** 2) if gamma else math.inf


def novikoff_from(R: float, gamma: float, w0_norm: float, eta: float = 1.0) -> float:
    r"""Mistakes of the perceptron from another start.

    :math:`M \le R^2/\gamma^2 + 2\|w_0\|/(\eta\gamma)`. Assumes what :func:`novikoff` assumes, a
    start :math:`w_0` and a constant rate :math:`\eta`. From :math:`w_0 = 0` the rate does not
    matter.

    A. Novikoff, On convergence proofs for perceptrons, 1962.

    >>> novikoff_from(R=1, gamma=0.5, w0_norm=3, eta=2)
    10.0
    """
    w0_norm, eta = arg.nonnegative("w0_norm", w0_norm), arg.positive("eta", eta)
    gamma = arg.margin("gamma", gamma)
    return novikoff(R, gamma) + arg.over(2.0 * w0_norm / eta, gamma)


def passes(R: float, gamma: float) -> int | float:
    r"""Passes over a separable sample until a clean one, itself included.

    :math:`\lfloor R^2/\gamma^2\rfloor + 1`. Assumes what :func:`novikoff` assumes: each pass before
    the clean one has at least one update.

    A. Novikoff, On convergence proofs for perceptrons, 1962.

    >>> passes(R=1, gamma=0.5)
    5
    """
    return arg.floor(novikoff(R, gamma)) + 1


def forced_mistakes(gamma: float) -> int | float:
    r"""Mistakes that an adversary forces on *every* deterministic learner.

    :math:`\lfloor 1/\gamma^2\rfloor`. With :math:`n = \lfloor 1/\gamma^2\rfloor` the rows are
    :math:`e_1, \dots, e_n`, each labelled against the prediction: :math:`u = n^{-1/2}\sum y_i e_i`
    is unit and has margin at least :math:`\gamma`, and R = 1. So :func:`novikoff` cannot be
    improved. :math:`0 < \gamma \le 1`.

    A. Novikoff, On convergence proofs for perceptrons, 1962 (the bound it meets).

    >>> forced_mistakes(gamma=0.4)
    6
    """
    gamma = arg.between("gamma", gamma, 0.0, 1.0, "a number above 0 and at most 1")
    return arg.floor(arg.square(arg.over(1.0, gamma)))


# Data that need not be separable: the bound pays for what the comparator misses.


def hinge(R: float, u_norm: float, H: float) -> float:
    r"""Mistakes of the perceptron on any data: :math:`M \le R^2\|u\|^2 + 2H`.

    For every vector :math:`u`, with :math:`H = \sum \max(0, 1 - y\langle u, x\rangle)` over the
    mistakes (over the whole sequence it is valid too, and larger).

    C. Gentile and M. Warmuth, Linear hinge loss and average margin, NIPS 1998; M. Mohri and A.
    Rostamizadeh, Perceptron mistake bounds, arXiv:1305.0208.

    >>> hinge(R=1, u_norm=2, H=3)
    10.0
    """
    R = arg.nonnegative("R", R)
    u_norm = arg.nonnegative("u_norm", u_norm)
    H = arg.nonnegative("H", H)
    return above((Fraction(R) * Fraction(u_norm)) ** 2 + 2 * Fraction(H))


def hinge_tight(R: float, u_norm: float, H: float) -> float:
    r"""The sharp form of :func:`hinge`.

    :math:`M \le \big((a + \sqrt{a^2 + 4H})/2\big)^2`, :math:`a = R\|u\|`. The largest M with
    :math:`M - H \le a\sqrt M`; never above :func:`hinge`. H as there.

    S. Shalev-Shwartz and Y. Singer, A new perspective on an old perceptron algorithm, COLT 2005.

    >>> hinge_tight(R=1, u_norm=3, H=4)
    16.0
    """
    R = arg.nonnegative("R", R)
    u_norm = arg.nonnegative("u_norm", u_norm)
    H = arg.nonnegative("H", H)
    a = R * u_norm
    found = arg.square((a + math.hypot(a, 2.0 * math.sqrt(H))) / 2.0)
    square, missed = (Fraction(R) * Fraction(u_norm)) ** 2, Fraction(H)
    while math.isfinite(found) and not _holds(Fraction(found), square, missed):
        found = max(math.nextafter(found, math.inf), found * (1.0 + 2.0**-52))
    return found


def _holds(M: Fraction, square: Fraction, H: Fraction) -> bool:
    """Whether no number above M is at most H plus a times its root; ``square`` is the square of a."""
    return max(H, square) <= M and square * M <= (M - H) ** 2


def total_distance(R: float, gamma: float, TD: float) -> float:
    r"""Mistakes of the perceptron on any data: :math:`M \le R^2/\gamma^2 + 2\,TD/\gamma`.

    For every unit :math:`u` and every :math:`\gamma > 0`, with
    :math:`TD = \sum\max(0, \gamma - y\langle u, x\rangle)` over the mistakes: how far examples lie
    on the wrong side of their margin. This is :func:`hinge` for the comparator :math:`u/\gamma`.

    C. Gentile and M. Warmuth, Linear hinge loss and average margin, NIPS 1998.

    >>> total_distance(R=1, gamma=0.5, TD=1)
    8.0
    """
    gamma, TD = arg.margin("gamma", gamma), arg.nonnegative("TD", TD)
    return novikoff(R, gamma) + arg.over(2.0 * TD, gamma)


def total_distance_tight(R: float, gamma: float, TD: float) -> float:
    r"""The sharp form of :func:`total_distance`.

    :math:`M \le \big((R + \sqrt{R^2 + 4\gamma\,TD})/(2\gamma)\big)^2`. The largest M with
    :math:`\gamma M - TD \le R\sqrt M`. TD as there.

    S. Shalev-Shwartz and Y. Singer, A new perspective on an old perceptron algorithm, COLT 2005.

    >>> total_distance_tight(R=3, gamma=1, TD=4)
    16.0
    """
    R, gamma, TD = arg.nonnegative("R", R), arg.margin("gamma", gamma), arg.nonnegative("TD", TD)
    return arg.square(arg.over(R + math.hypot(R, 2.0 * math.sqrt(gamma * TD)), 2.0 * gamma))


def squared(R: float, gamma: float, D: float) -> float:
    r"""Mistakes of the perceptron on any data: :math:`M \le ((R + D)/\gamma)^2`.

    For every unit :math:`u` and every :math:`\gamma > 0`, with
    :math:`D^2 = \sum\max(0, \gamma - y\langle u, x\rangle)^2` over the mistakes.

    Constants as published in Y. Freund and R. Schapire, Large margin classification using the
    perceptron algorithm, Machine Learning 37(3), 1999.

    >>> squared(R=1, gamma=0.5, D=2)
    36.0
    """
    R, gamma, D = arg.nonnegative("R", R), arg.margin("gamma", gamma), arg.nonnegative("D", D)
    return arg.square(arg.over(R + D, gamma))


# Descent on the perceptron risk, and steps that vary.


def risk_descent_steps(m: int, R: float, gamma: float, w0_norm: float, step: float = 1.0) -> float:
    r"""Steps of full-batch risk descent until no row is misclassified.

    :math:`m R^2/\gamma^2 + \|w_0\|/(\epsilon\gamma)`. It bounds :math:`\sum |V|`, the misclassified
    rows summed over the steps, so the number of steps too, for every step size :math:`\epsilon` >
    0. Assumes m separable rows (as in :func:`novikoff`) and a start with
    :math:`\langle u, w_0\rangle \ge 0`, which :math:`w_0 = y_0 x_0` has.

    The argument of A. Novikoff, On convergence proofs for perceptrons, 1962, with :math:`|V|` rows a step.

    >>> risk_descent_steps(m=3, R=1, gamma=0.5, w0_norm=1, step=2)
    13.0
    """
    m = arg.whole("m", m)
    w0_norm = arg.nonnegative("w0_norm", w0_norm)
    step = arg.positive("step", step)
    gamma = arg.margin("gamma", gamma)
    return (m * novikoff(R, gamma) if m else 0.0) + arg.over(w0_norm / step, gamma)


def single_point_steps(R: float, gamma: float, w0_norm: float, step: float = 1.0) -> float:
    r"""Steps of one-row-at-a-time risk descent.

    :math:`R^2/\gamma^2 + \|w_0\|/(\epsilon\gamma)`, any rule of picking. Assumes separable rows (as
    in :func:`novikoff`) and :math:`\langle u, w_0\rangle \ge 0`. For the start
    :math:`w_0 = y_0 x_0` with step 1 the start is itself a perceptron update, so steps + 1 ≤
    ``novikoff(R, gamma)``.

    The argument of A. Novikoff, On convergence proofs for perceptrons, 1962.

    >>> single_point_steps(R=1, gamma=0.5, w0_norm=1, step=2)
    5.0
    """
    return risk_descent_steps(1, R, gamma, w0_norm, step)


def variable_rate(R: float, gamma: float) -> float:
    r"""What steps of any sizes must respect.

    :math:`(\sum\eta_j)^2/\sum\eta_j^2 \le R^2/\gamma^2`; the right side. Assumes what
    :func:`novikoff` assumes; :math:`\eta_j > 0` is the step of update j. The left side is
    :func:`variable_rate_left`. A schedule for which it grows without end must stop making mistakes.

    A. Novikoff, On convergence proofs for perceptrons, 1962 (the same proof with steps).

    >>> variable_rate(R=1, gamma=0.5), variable_rate_left([1, 1, 1])
    (4.0, 3.0)
    """
    return novikoff(R, gamma)


def variable_rate_left(etas: Iterable[float]) -> float:
    r"""The left side of :func:`variable_rate`.

    :math:`(\sum\eta_j)^2/\sum\eta_j^2`, equal steps giving their number.

    >>> variable_rate_left([1, 0.5])
    1.8
    """
    steps = [arg.positive("etas", eta) for eta in etas]
    if not steps:
        return 0.0
    return arg.square(math.fsum(steps)) / math.fsum(eta * eta for eta in steps)


def harmonic_sum(R: float, gamma: float, m: int = 1) -> float:
    r"""Rates 1/k: the k updates obey :math:`1 + 1/2 + \dots + 1/k \le m\,(\pi/\sqrt6)\,R/\gamma`.

    m = 1 for steps 1/(number of the update). For steps 1/(number of the example) in repeated passes
    over m rows, give m; in one endless stream those steps have no such bound. Assumes what
    :func:`novikoff` assumes. The left side is :func:`harmonic_left`.

    A. Novikoff, On convergence proofs for perceptrons, 1962 (the same proof with steps).

    >>> round(harmonic_sum(R=2, gamma=1), 4)
    2.5651
    """
    m, R, gamma = arg.whole("m", m, 1), arg.nonnegative("R", R), arg.margin("gamma", gamma)
    return m * HARMONIC * arg.over(R, gamma)


def harmonic_left(k: int) -> float:
    r"""The left side of :func:`harmonic_sum`: :math:`H_k = 1 + 1/2 + \dots + 1/k`, 0 for no update.

    >>> harmonic_left(2)
    1.5
    """
    return math.fsum(1.0 / j for j in range(1, arg.whole("k", k) + 1))


def harmonic_updates(R: float, gamma: float, m: int = 1) -> float:
    r"""Updates with rates 1/k.

    :math:`k \le \exp(1.2826\,m R/\gamma)`, from :func:`harmonic_sum` and :math:`\ln k \le H_k`.
    Finite, but exponential where the constant rate has :math:`R^2/\gamma^2`. m and the assumptions
    as there.

    A. Novikoff, On convergence proofs for perceptrons, 1962 (the same proof with steps).

    >>> round(harmonic_updates(R=1, gamma=1), 3)
    3.606
    """
    try:
        return math.exp(harmonic_sum(R, gamma, m))
    except OverflowError:
        return math.inf


# The margin perceptron.


def margin_perceptron(R: float, gamma: float, eps: float = 0.5) -> float:
    r"""Updates of the margin perceptron after its first.

    :math:`2R^2/(\epsilon^2\gamma^2) - 2/\epsilon`. Assumes a unit :math:`u` with
    :math:`y\langle u, x\rangle \ge \gamma`, and updates where
    :math:`y\langle w, x\rangle/\|w\| < (1 - \epsilon)\gamma`, :math:`0 < \epsilon < 1`. The start
    :math:`w = y_0 x_0` is not counted: R = 1, ε = ½ gives :math:`8/\gamma^2 - 4`. More updates
    prove that no separator has margin γ. Many classes: give :math:`\sqrt2 R`.

    M.-F. Balcan and A. Blum, ICML 2006; P. Tsampouka and J. Shawe-Taylor, ECML 2005.

    >>> margin_perceptron(R=1, gamma=0.5, eps=0.5)
    28.0
    """
    R, gamma = arg.nonnegative("R", R), arg.margin("gamma", gamma)
    eps = arg.inside("eps", eps)
    return 2.0 * arg.square(arg.over(R / eps, gamma)) - 2.0 / eps


def margin_perceptron_margin(gamma: float, eps: float = 0.5) -> float:
    r"""The geometric margin a clean pass of the margin perceptron guarantees.

    :math:`(1 - \epsilon)\gamma`.

    W. Krauth and M. Mézard, J. Phys. A 20, 1987; P. Tsampouka and J. Shawe-Taylor, ECML 2005.

    >>> margin_perceptron_margin(gamma=0.5, eps=0.25)
    0.375
    """
    eps = arg.inside("eps", eps)
    return (1.0 - eps) * arg.margin("gamma", gamma)
