r"""MIRA, passive-aggressive, ROMMA and ALMA: sections 8, 9 and 14 of the specification.

These learners also update on right predictions with too small a margin. U counts updates, E prediction
errors; :math:`\ell = \max(0, 1 - y\langle w, x\rangle)` is the learner's loss before the update,
:math:`\ell^*` that of the comparator u.
"""

import math

from .. import _arguments as arg
from .perceptron import novikoff


def mira(R: float, gamma: float, p: float = 0.0) -> float:
    r"""Updates of MIRA on separable data: :math:`U \le R^2/((1 - p)^2\gamma^2)`.

    Updates where :math:`y\langle w, x\rangle \le p`, :math:`0 \le p < 1`. Assumes a unit u with
    :math:`y\langle u, x\rangle \ge \gamma` and :math:`\|x\| \le R`. More precisely
    :func:`mira_left` is at most ``novikoff(R, gamma)``.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> mira(R=1, gamma=0.5, p=0.5)
    16.0
    """
    p = arg.from_zero_below_one("p", p)
    return novikoff(arg.nonnegative("R", R) / (1.0 - p), gamma)


def mira_left(n_errors: int, n_updates: int, p: float = 0.0) -> float:
    r"""What :math:`R^2/\gamma^2` bounds in a run of MIRA: :math:`E + (1 - p)^2(U - E)`.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> mira_left(n_errors=2, n_updates=6, p=0.5)
    3.0
    """
    n_updates = arg.whole("n_updates", n_updates)
    n_errors = arg.whole("n_errors", n_errors, 0, n_updates)
    p = arg.from_zero_below_one("p", p)
    return n_errors + arg.square(1.0 - p) * (n_updates - n_errors)


def mira_margin(gamma: float, p: float = 0.0) -> float:
    r"""The geometric margin that a clean pass of MIRA exceeds.

    :math:`p\gamma/2` (since :math:`\|w\| \le 2/\gamma`).

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> mira_margin(gamma=0.5, p=0.5)
    0.125
    """
    return arg.from_zero_below_one("p", p) * arg.margin("gamma", gamma) / 2.0


def mira_geometric(R: float, gamma: float, p: float) -> float:
    r"""Updates of MIRA with the geometric test :math:`y\langle w, x\rangle \le p\|w\|`.

    :math:`U \le R^2/(\gamma - 2p)^2`. Assumes what :func:`mira` assumes and :math:`p < \gamma/2`, p
    in the units of the data; for larger p no bound is claimed (``inf``). A clean pass has geometric
    margin above p.

    K. Crammer and Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3,
    2003.

    >>> mira_geometric(R=1, gamma=0.5, p=0.125)
    16.0
    """
    gamma, p = arg.margin("gamma", gamma), arg.nonnegative("p", p)
    return novikoff(R, max(0.0, gamma - 2.0 * p))


def pa_separable(R: float, u_norm: float) -> float:
    r"""Squared losses of PA on separable data.

    :math:`\sum\ell^2 \le R^2\|u\|^2`, so E is bounded by it too. Assumes
    :math:`y\langle u, x\rangle \ge 1` on every example, and :math:`\|x\| \le R`.

    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, Online passive-aggressive
    algorithms, JMLR 7, 2006.

    >>> pa_separable(R=1, u_norm=2)
    4.0
    """
    return arg.square(arg.nonnegative("R", R) * arg.nonnegative("u_norm", u_norm))


def pa_unit(u_norm: float, squared_loss: float) -> float:
    r"""Squared losses of PA on any data of length 1.

    :math:`\sum\ell^2 \le (\|u\| + 2\sqrt{\sum\ell^{*2}})^2`. For every u; :math:`\|x\| = 1` on
    every example; ``squared_loss`` is :math:`\sum\ell^{*2}` over the sequence.

    Constants as published in K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer,
    Online passive-aggressive algorithms, JMLR 7, 2006.

    >>> pa_unit(u_norm=1, squared_loss=4)
    25.0
    """
    u_norm = arg.nonnegative("u_norm", u_norm)
    squared_loss = arg.nonnegative("squared_loss", squared_loss)
    return arg.square(u_norm + 2.0 * math.sqrt(squared_loss))


def pa1(R: float, u_norm: float, C: float, loss: float) -> float:
    r"""Prediction errors of PA-I on any data.

    :math:`E \le \max(R^2, 1/C)\,(\|u\|^2 + 2C\sum\ell^*)`. For every u; ``loss`` is
    :math:`\sum\ell^*` over the sequence, :math:`\|x\| \le R`.

    Constants as published in K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer,
    Online passive-aggressive algorithms, JMLR 7, 2006.

    >>> pa1(R=1, u_norm=2, C=0.5, loss=3)
    14.0
    """
    R = arg.nonnegative("R", R)
    u_norm = arg.nonnegative("u_norm", u_norm)
    loss = arg.nonnegative("loss", loss)
    C = arg.positive("C", C, infinite=True)
    return max(R * R, 1.0 / C) * (u_norm * u_norm + (2.0 * C * loss if loss else 0.0))


def pa2(R: float, u_norm: float, C: float, squared_loss: float) -> float:
    r"""Squared losses of PA-II on any data.

    :math:`\sum\ell^2 \le (R^2 + 1/(2C))\,(\|u\|^2 + 2C\sum\ell^{*2})`. For every u;
    ``squared_loss`` is :math:`\sum\ell^{*2}` over the sequence, :math:`\|x\| \le R`.

    Constants as published in K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer,
    Online passive-aggressive algorithms, JMLR 7, 2006.

    >>> pa2(R=1, u_norm=2, C=0.5, squared_loss=3)
    14.0
    """
    R, u_norm = arg.nonnegative("R", R), arg.nonnegative("u_norm", u_norm)
    C = arg.positive("C", C, infinite=True)
    squared_loss = arg.nonnegative("squared_loss", squared_loss)
    return (R * R + 0.5 / C) * (u_norm * u_norm + (2.0 * C * squared_loss if squared_loss else 0.0))


def romma(R: float, gamma: float) -> float:
    r"""Updates of ROMMA on separable data: :math:`R^2/\gamma^2`.

    Assumes a unit u with :math:`y\langle u, x\rangle \ge \gamma` and :math:`\|x\| \le R`: every
    update raises :math:`\|w\|^2` by :func:`romma_growth`, and :math:`\|w\|` never exceeds
    :math:`1/\gamma`.

    Y. Li and P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.

    >>> romma(R=1, gamma=0.5)
    4.0
    """
    return novikoff(R, gamma)


def romma_aggressive(R: float, gamma: float, delta: float) -> float:
    r"""Updates of aggressive ROMMA on separable data.

    :math:`R^2/(\delta\gamma)^2`; δ = 0 has no bound (``inf``). Updates where
    :math:`y\langle w, x\rangle < 1 - \delta`; the rest as in :func:`romma`, which is δ = 1.

    Y. Li and P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.

    >>> romma_aggressive(R=1, gamma=0.5, delta=0.5)
    16.0
    """
    return novikoff(R, arg.margin("gamma", gamma) * _delta(delta))


def romma_aggressive_errors(R: float, gamma: float) -> float:
    r"""Prediction errors of aggressive ROMMA on separable data.

    :math:`E \le R^2/\gamma^2`, for every δ, 0 included. Assumptions of :func:`romma`.

    The statement is as published in Y. Li and P. Long, The relaxed online maximum margin algorithm,
    Machine Learning 46, 2002.

    >>> romma_aggressive_errors(R=1, gamma=0.5)
    4.0
    """
    return novikoff(R, gamma)


def romma_growth(R: float, delta: float = 1.0) -> float:
    r"""What an update of ROMMA adds to :math:`\|w\|^2` at least.

    :math:`\delta^2/R^2`; plain ROMMA is δ = 1.

    Y. Li and P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.

    >>> romma_growth(R=2)
    0.25
    """
    return arg.square(_delta(delta) / arg.positive("R", R))


def romma_margin(gamma: float, delta: float) -> float:
    r"""The geometric margin that a clean pass of aggressive ROMMA guarantees.

    :math:`(1 - \delta)\gamma`. Here γ may be the largest margin of any separator; it is no parameter
    of the learner.

    Y. Li and P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.

    >>> romma_margin(gamma=0.5, delta=0.25)
    0.375
    """
    return (1.0 - _delta(delta)) * arg.margin("gamma", gamma)


def alma(gamma: float, alpha: float) -> float:
    r"""Updates of ALMA₂ on separable data: :math:`(2/\gamma^2)(2/\alpha - 1)^2 + 8/\alpha - 4`.

    Assumes a unit u with *normalised* margin :math:`y\langle u, x\rangle/\|x\| \ge \gamma`,
    :math:`0 < \alpha \le 1`, and the constants :math:`B = \sqrt8/\alpha`, :math:`C = \sqrt2`.

    Constants as published in C. Gentile, A new approximate maximal margin classification algorithm,
    JMLR 2, 2001.

    >>> alma(gamma=0.5, alpha=1), alma(gamma=0.5, alpha=0.5)
    (12.0, 84.0)
    """
    gamma, alpha = arg.margin("gamma", gamma), _alpha(alpha)
    return 2.0 * arg.square(arg.over(2.0 / alpha - 1.0, gamma)) + 8.0 / alpha - 4.0


def alma_margin(gamma: float, alpha: float) -> float:
    r"""The normalised margin that a clean pass of ALMA₂ guarantees: :math:`(1 - \alpha)\gamma`.

    Constants as published in C. Gentile, A new approximate maximal margin classification algorithm,
    JMLR 2, 2001.

    >>> alma_margin(gamma=0.5, alpha=0.25)
    0.375
    """
    return (1.0 - _alpha(alpha)) * arg.margin("gamma", gamma)


def _delta(delta: float) -> float:
    return arg.between("delta", delta, 0.0, 1.0, "a number from 0 to 1")


def _alpha(alpha: float) -> float:
    return arg.between("alpha", alpha, 0, 1, "a number above 0 and at most 1", without_low=True)
