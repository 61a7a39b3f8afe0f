r"""From mistakes to errors on fresh examples: sections 2 and 7 of the specification.

All assume independent examples of one distribution. A value above 1 says nothing.
"""

import math

from .. import _arguments as arg


def random_hypothesis(M: float, m: int) -> float:
    r"""Error of a hypothesis drawn from one pass over m examples: :math:`E[M]/(m + 1)`, exactly.

    M counts the prediction errors of the online run on m + 1 examples; the draw is uniform over the
    m + 1 hypotheses, the initial one included. Put the expectation, or any bound such as
    :func:`novikoff`, for M.

    D. Helmbold and M. Warmuth, On weak learning, J. Comput. Syst. Sci. 50, 1995.

    >>> random_hypothesis(M=5, m=99)
    0.05
    """
    return arg.nonnegative("M", M) / (arg.whole("m", m) + 1)


def voted(M: float, m: int) -> float:
    r"""Error of the vote over one pass of m examples: at most :math:`2E[M]/(m + 1)`.

    M and the m + 1 voters as in :func:`random_hypothesis`: the initial hypothesis votes too. The
    last and the averaged hypothesis have no such bound.

    Constants as published in Y. Freund and R. Schapire, Large margin classification using the
    perceptron algorithm, Machine Learning 37(3), 1999.

    >>> voted(M=5, m=99)
    0.1
    """
    return 2.0 * random_hypothesis(M, m)


def online_to_batch(M: int, m: int, delta: float = 0.05) -> float:
    r"""Mean error of the hypotheses of one pass, with probability 1 − δ.

    Below :math:`M/m + \sqrt{2\ln(1/\delta)/m}`. M is the number of prediction errors on the m
    training examples, learned once each (a second pass is no longer independent); the mean is over the
    hypotheses before each example.

    Constants as published in N. Cesa-Bianchi, A. Conconi and C. Gentile, On the generalization
    ability of on-line learning algorithms, IEEE Trans. Inf. Theory 50(9), 2004.

    >>> round(online_to_batch(M=10, m=200, delta=0.05), 4)  # 0.05 + sqrt(ln(20)/100)
    0.2231
    """
    m = arg.whole("m", m, 1)
    M, delta = arg.whole("M", M, 0, m), arg.inside("delta", delta)
    return M / m + math.sqrt(2.0 * math.log(1.0 / delta) / m)


def pac_sample_size(mistakes: int, eps: float, delta: float = 0.05) -> int:
    r"""Examples after which a learner of few mistakes has a small error, with probability 1 − δ.

    The smallest m with :math:`M/m + \sqrt{2\ln(1/\delta)/m} \le \epsilon`, M being the most prediction errors
    that the learner can make, such as :func:`novikoff`. By :func:`online_to_batch` the mean error of the
    hypotheses of one pass over m independent examples is then at most ε; so that of one drawn from them
    at random, in the mean over the draw. In :math:`\sqrt m` it is a quadratic:
    :math:`\sqrt m = (b + \sqrt{b^2 + 4\epsilon M})/(2\epsilon)`, :math:`b = \sqrt{2\ln(1/\delta)}`.

    Constants as published in N. Cesa-Bianchi, A. Conconi and C. Gentile, On the generalization
    ability of on-line learning algorithms, IEEE Trans. Inf. Theory 50(9), 2004.

    >>> m = pac_sample_size(mistakes=25, eps=0.1)
    >>> m, online_to_batch(25, m) <= 0.1 < online_to_batch(25, m - 1)
    (1039, True)
    """
    M, eps, delta = arg.whole("mistakes", mistakes), arg.inside("eps", eps), arg.inside("delta", delta)
    b = math.sqrt(2.0 * math.log(1.0 / delta))
    root = (b + math.sqrt(b * b + 4.0 * eps * M)) / (2.0 * eps)
    m = max(1, M, math.floor(root * root) - 2)
    while online_to_batch(M, m, delta) > eps:
        m += 1
    return m


def compression(m: int, s: int, delta: float = 0.05) -> float:
    r"""Error of a converged batch run, with probability 1 − δ.

    At most :math:`(\ln\binom ms + \ln(m/\delta))/(m - s)`. Assumes a fixed visiting order and a
    clean pass over m examples; s distinct rows were updated on, and the run on those rows alone
    gives the same weights. s = m leaves nothing to test on (``inf``).

    Constants as published in S. Floyd and M. Warmuth, Sample compression, learnability, and the
    Vapnik-Chervonenkis dimension, Machine Learning 21, 1995.

    >>> round(compression(m=100, s=0, delta=0.05), 4)  # ln(2000)/100
    0.076
    """
    m = arg.whole("m", m, 1)
    s, delta = arg.whole("s", s, 0, m), arg.inside("delta", delta)
    if s == m:
        return math.inf
    choices = math.lgamma(m + 1) - math.lgamma(s + 1) - math.lgamma(m - s + 1)
    return (choices + math.log(m / delta)) / (m - s)


def share_below(m: int, k: int = 0, delta: float = 0.05) -> float:
    r"""Share of a task with a margin below γ, with probability 1 − δ, when k of m fresh examples have one.

    A task is a distribution of (x, y). It has the hard margin γ under (w, b) if
    :math:`y(\langle w, x\rangle + b)/\|w\| \ge \gamma` with probability 1. A sample cannot prove that. But
    let (w, b) and γ be chosen without the m independent examples, of which k have a smaller margin. Then the
    probability of a smaller margin is at most the p with :math:`P(B \le k) = \delta`, where B is binomial, m
    draws of probability p. For k = 0 that is :math:`1 - \delta^{1/m} \le \ln(1/\delta)/m`. With errors in
    place of small margins it bounds the error of (w, b) by k errors on m test examples. k = m says
    nothing: 1.

    C. Clopper and E. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934.

    >>> round(share_below(m=1000), 6), round(share_below(m=1000, k=10), 6)
    (0.002991, 0.016903)
    """
    from scipy.special import betaincinv

    m = arg.whole("m", m, 1)
    k, delta = arg.whole("k", k, 0, m), arg.inside("delta", delta)
    return 1.0 if k == m else float(betaincinv(k + 1, m - k, 1.0 - delta))
