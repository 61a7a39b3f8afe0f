r"""Elimination, Winnow, balanced Winnow and the p-norm perceptron: section 6 of the specification.

n inputs, of which r are relevant; p promotions and q demotions, M = p + q; :math:`\theta` the
threshold, :math:`\alpha` the factor of a promotion. Balanced Winnow and the p-norm perceptron
measure the examples in another norm than the target, so their R and γ carry the norm in their
names.
"""

import math
import sys

from .. import _arguments as arg


def elimination(n: int, r: int, literals: str = "monotone") -> int:
    r"""Mistakes of elimination on a noise-free OR of r literals: n − r, or n + 1 − r.

    ``literals="monotone"``: the n inputs, each false positive removes one or more of the n − r
    others. ``literals="all"``: the inputs and their negations; the first false positive removes
    exactly n of 2n. Both are attained.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> elimination(n=10, r=3), elimination(n=10, r=3, literals="all")
    (7, 8)
    """
    n = arg.whole("n", n, 1)
    r = arg.whole("r", r, 0, n)
    if literals not in ("monotone", "all"):
        raise ValueError(f"literals must be 'monotone' or 'all'; got literals={literals!r}.")
    return n - r + (literals == "all")


def winnow_promotions(r: int, theta: float, alpha: float = 2.0) -> int:
    r"""Promotions of Winnow1 and Winnow2 on a noise-free OR of r inputs.

    :math:`p \le r\lceil\log_\alpha\theta\rceil`. A promotion multiplies some relevant weight by α,
    only while it is below θ, and no demotion touches it. So more promotions prove that the target
    is not a noise-free OR of r inputs. :math:`\theta \ge 1`, :math:`\alpha > 1`.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> winnow_promotions(r=3, theta=1000)
    30
    """
    r = arg.whole("r", r)
    return r * arg.log_ceiling(_threshold(theta), _factor(alpha))


def winnow1_demotions(n: int, theta: float, p: int, alpha: float = 2.0) -> float:
    r"""Demotions of Winnow1 after p promotions, on any 0/1 data, noise and all.

    :math:`q \le n/\theta + (\alpha - 1)p`. The weights start at sum n; a promotion adds less than
    :math:`(\alpha - 1)\theta`, a demotion takes θ or more. A run that breaks it has a bug.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> winnow1_demotions(n=20, theta=20, p=4)
    5.0
    """
    n, p = arg.whole("n", n, 1), arg.whole("p", p)
    return n / _threshold(theta) + (_factor(alpha) - 1.0) * p


def winnow2_demotions(n: int, theta: float, p: int, alpha: float = 2.0) -> float:
    r"""Demotions of Winnow2 after p promotions, on any 0/1 data, noise and all.

    :math:`q \le (n/\theta)\,\alpha/(\alpha - 1) + \alpha p`. As :func:`winnow1_demotions`, but a
    demotion takes only :math:`(1 - 1/\alpha)\theta` or more.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> winnow2_demotions(n=20, theta=20, p=4)
    10.0
    """
    n, p, alpha = arg.whole("n", n, 1), arg.whole("p", p), _factor(alpha)
    return n / _threshold(theta) * alpha / (alpha - 1.0) + alpha * p


def winnow1(n: int, r: int, alpha: float = 2.0) -> float:
    r"""Mistakes of Winnow1 with θ = n on an OR of r of n inputs.

    :math:`M \le 1 + \alpha r\lceil\log_\alpha n\rceil`. For α = 2:
    :math:`1 + 2r\lceil\log_2 n\rceil`. Assumes labels without noise and 0/1 inputs; it is
    :func:`winnow_promotions` and :func:`winnow1_demotions` together.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> winnow1(n=1000, r=3)
    61.0
    """
    n, alpha = arg.whole("n", n, 1), _factor(alpha)
    return 1.0 + alpha * winnow_promotions(arg.whole("r", r, 0, n), n, alpha)


def winnow1_general(n: int, r: int, alpha: float, theta: float) -> float:
    r"""Mistakes of Winnow1 on an OR of r of n inputs.

    :math:`M \le \alpha r(\log_\alpha\theta + 1) + n/\theta`. Any factor :math:`\alpha > 1` and
    threshold :math:`\theta \ge 1/\alpha`; labels without noise, 0/1 inputs.

    Constants as published in N. Littlestone, Learning quickly when irrelevant attributes abound,
    Machine Learning 2, 1988.

    >>> winnow1_general(n=16, r=1, alpha=2, theta=8)
    10.0
    """
    n, alpha = arg.whole("n", n, 1), _factor(alpha)
    r, theta = arg.whole("r", r, 0, n), arg.positive("theta", theta)
    if theta * alpha < 1.0 - arg.SLACK:
        raise ValueError(f"theta must be at least 1/alpha={1.0 / alpha:.6g}; got theta={theta!r}.")
    return alpha * r * (_log(theta, alpha) + 1.0) + n / theta


def winnow2(n: int, r: int) -> float:
    r"""Mistakes of Winnow2 with α = 2, θ = n on an OR of r of n inputs.

    :math:`M \le 1 + 3r\lceil\log_2 n\rceil`. Assumes labels without noise and 0/1 inputs; it is
    :func:`winnow_promotions` and :func:`winnow2_demotions` together, the latter strictly, since no
    weight ever reaches 0.

    N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    >>> winnow2(n=1000, r=3)
    91.0
    """
    n = arg.whole("n", n, 1)
    return 1.0 + 3.0 * winnow_promotions(arg.whole("r", r, 0, n), n, 2.0)


def winnow2_general(n: int, theta: float, delta: float, mu_sum: float) -> float:
    r"""Mistakes of Winnow2 on a linear threshold.

    :math:`(8/\delta^2)(n/\theta) + (5/\delta + 14\ln\theta/\delta^2)\sum\mu_i`. Assumes weights
    :math:`\mu \ge 0` with :math:`\sum\mu_i x_i \ge 1` on the positives and :math:`\le 1 - \delta`
    on the negatives, :math:`0 < \delta \le 1`, inputs in [0, 1], :math:`\theta \ge 1` and the
    factor :math:`\alpha = 1 + \delta/2`. An OR of r inputs: δ = 1, Σμ = r; k of r: δ = 1/k, Σμ =
    r/k.

    Constants as published in N. Littlestone, Learning quickly when irrelevant attributes abound,
    Machine Learning 2, 1988.

    >>> winnow2_general(n=6, theta=1, delta=1, mu_sum=2)
    58.0
    """
    n, theta, mu_sum = arg.whole("n", n, 1), _threshold(theta), arg.nonnegative("mu_sum", mu_sum)
    delta = arg.between("delta", delta, 0.0, 1.0, "a number above 0 and at most 1")
    if delta == 0.0:
        return math.inf
    return 8.0 / delta**2 * n / theta + (5.0 / delta + 14.0 / delta**2 * math.log(theta)) * mu_sum


def balanced_winnow(X_inf: float, gamma: float, n: int, eta: float | None = None, u_1: float = 1.0) -> float:
    r"""Mistakes of balanced Winnow.

    :math:`M \le \ln(2n)/(\eta\gamma - \eta^2 X^2/2)`, best :math:`2X^2\ln(2n)/\gamma^2`. Assumes a
    u with :math:`\|u\|_1 = 1`, :math:`y\langle u, x\rangle \ge \gamma`, and
    :math:`\|x\|_\infty \le X` over n inputs (a constant one counts). ``eta=None`` stands for the
    best rate :math:`\eta = \gamma/X^2`; a rate of :math:`2\gamma/X^2` or more has no bound
    (``inf``). For another :math:`\|u\|_1` give ``u_1``: γ is divided by it, and the best bound
    reads :math:`2(\|u\|_1 X/\gamma)^2\ln(2n)`.

    N. Littlestone, Machine Learning 2, 1988; J. Kivinen and M. Warmuth, Inf. Comput. 132, 1997; A.
    Grove, N. Littlestone and D. Schuurmans, Machine Learning 43, 2001.

    >>> round(balanced_winnow(X_inf=1, gamma=0.5, n=4), 3)  # 8 ln 8
    16.636
    >>> round(balanced_winnow(X_inf=1, gamma=0.5, n=4, eta=0.25), 3)
    22.181
    """
    gamma = arg.margin("gamma", gamma) / arg.positive("u_1", u_1)
    X_inf, n = arg.nonnegative("X_inf", X_inf), arg.whole("n", n, 1)
    if eta is None:
        return 2.0 * arg.square(arg.over(X_inf, gamma)) * math.log(2.0 * n) * (1.0 + 2.0**-49)  # rounded up
    return balanced_winnow_total_distance(X_inf, gamma, n, eta, 0.0)


def balanced_winnow_total_distance(X_inf: float, gamma: float, n: int, eta: float, TD: float) -> float:
    r"""Mistakes of balanced Winnow on any data.

    :math:`M \le (\ln(2n) + \eta\,TD)/(\eta\gamma - \eta^2X^2/2)`. For every u with
    :math:`\|u\|_1 = 1` and every γ, with :math:`TD = \sum\max(0, \gamma - y\langle u, x\rangle)`
    over the mistakes. ``inf`` unless :math:`\eta < 2\gamma/X^2`.

    J. Kivinen and M. Warmuth, Exponentiated gradient versus gradient descent, Inf. Comput. 132,
    1997.

    >>> round(balanced_winnow_total_distance(X_inf=1, gamma=0.5, n=4, eta=0.5, TD=2), 3)
    24.636
    """
    X_inf = arg.nonnegative("X_inf", X_inf)
    gamma = arg.margin("gamma", gamma)
    n = arg.whole("n", n, 1)
    eta, TD = arg.positive("eta", eta), arg.nonnegative("TD", TD)
    gain = eta * (gamma - eta * X_inf * X_inf / 2.0)
    return (math.log(2.0 * n) + eta * TD) / gain if gain > 0.0 else math.inf


def pnorm(p: float, X_p: float, u_q: float, gamma: float) -> float:
    r"""Mistakes of the p-norm perceptron.

    :math:`M \le (p - 1)\,X_p^2\|u\|_q^2/\gamma^2`, :math:`1/p + 1/q = 1`. Assumes :math:`p \ge 2`,
    :math:`\|x\|_p \le X_p` and :math:`y\langle u, x\rangle \ge \gamma`. p = 2 is the perceptron;
    :math:`p = 2\ln n` has the order of Winnow.

    Constants as published in A. Grove, N. Littlestone and D. Schuurmans, General convergence
    results for linear discriminant updates, Machine Learning 43, 2001.

    >>> pnorm(p=3, X_p=1, u_q=1, gamma=0.5)
    8.0
    """
    p = arg.between("p", p, 2.0, math.inf, "a number of at least 2")
    X_p, u_q = arg.nonnegative("X_p", X_p), arg.nonnegative("u_q", u_q)
    if math.isinf(p):
        return math.inf
    return (p - 1.0) * arg.square(arg.over(X_p * u_q, arg.margin("gamma", gamma)))


def _threshold(theta: float) -> float:
    return arg.between("theta", theta, 1.0, sys.float_info.max, "a number of at least 1")


def _factor(alpha: float) -> float:
    top = sys.float_info.max
    return arg.between("alpha", alpha, 1.0, top, "a number above 1", without_low=True)


def _log(a: float, base: float) -> float:
    return math.log2(a) if base == 2.0 else math.log(a) / math.log(base)
