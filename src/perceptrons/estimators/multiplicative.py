r"""Learners with multiplicative updates: Winnow, balanced Winnow, and their relatives.

Dense rows and few relevant inputs: Winnow. Sparse rows and a dense target: the perceptron.
"""

from __future__ import annotations

from ..core.multiplicative import BalancedWinnowSpec, EliminationSpec, PNormPerceptronSpec, WinnowSpec
from .shell import Shell, estimator


@estimator
class Winnow(WinnowSpec, Shell):
    r"""Winnow: learns a disjunction among many irrelevant inputs.

    :math:`w = (1, …, 1)`; positive iff :math:`\langle w, x\rangle \ge \theta`. On a false negative
    :math:`w_i \leftarrow w_i\,\alpha^{x_i}`; on a false positive :math:`w_i \leftarrow w_i\,\alpha^{-x_i}`
    (Winnow2), or :math:`w_i \leftarrow 0` where :math:`x_i > 0` (Winnow1).

    If the target is an OR of r of the n inputs, the mistake bound for :math:`\alpha = 2,\ \theta = n` is
    :math:`1 + 2r\lceil\log_2 n\rceil` (Winnow1) or :math:`1 + 3r\lceil\log_2 n\rceil` (Winnow2): irrelevant
    inputs enter by their logarithm only [1]_. After one wrong label Winnow1 may have set the weight of a
    relevant input to 0, where it stays; use Winnow2 whenever labels may be wrong.

    Parameters
    ----------
    kind : {1, 2}, default=2
        What a false positive does: Winnow1 or Winnow2.
    alpha : float, default=2.0
        :math:`\alpha > 1`.
    threshold : float or None, default=None
        :math:`\theta \ge 1`; None: the number of inputs.

    Attributes
    ----------
    n_promotions_ : int
        Updates on positive rows.
    n_demotions_ : int
        Updates on negative rows.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`-\theta`.
    margin_bounds_ : None
        No margin is stated.

    References
    ----------
    .. [1] N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    Examples
    --------
    The target is input 0. The first row is a false negative (2 < 4): inputs 0 and 1 are doubled.

    >>> from perceptrons import Winnow
    >>> clf = Winnow(shuffle=False).fit([[1, 1, 0, 0], [0, 1, 1, 0]], [1, 0])
    >>> clf.coef_, clf.intercept_, clf.n_mistakes_
    (array([[2., 2., 1., 1.]]), array([-4.]), 1)
    """


@estimator
class Elimination(EliminationSpec, Shell):
    r"""Learns a disjunction by removing refuted literals.

    Positive iff a literal that remains is true. A false positive removes every literal that is true in it.
    A false negative changes nothing, and proves that no disjunction of these literals fits.

    If the target is an OR of r literals: at most :math:`n - r` mistakes (monotone), :math:`n + 1 - r`
    (with negations); both are attained.

    Parameters
    ----------
    literals : {"monotone", "all"}, default="monotone"
        The inputs, or the inputs and their negations.

    Attributes
    ----------
    literals_ : ndarray of bool, (1 or n_classes, n) or (1 or n_classes, 2n)
        Which literals remain: the inputs, then their negations.
    inconsistent_ : bool
        A false negative was met.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        1 where an input remains, minus 1 where its negation does.
    intercept_ : ndarray of shape (1 or n_classes,)
        What makes the score of a row without a true literal negative.
    margin_bounds_ : None
        No margin is stated.

    Examples
    --------
    >>> from perceptrons import Elimination
    >>> clf = Elimination(shuffle=False).fit([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [1, 0, 0])
    >>> clf.literals_, clf.n_mistakes_
    (array([[ True, False, False]]), 2)
    """


@estimator
class BalancedWinnow(BalancedWinnowSpec, Shell):
    r"""Balanced Winnow (EG±): Winnow for general linear thresholds.

    Each input is there twice, as :math:`x_i` and :math:`-x_i`, with positive weights. With
    :math:`z = \eta\sum y x` over the mistakes so far,
    :math:`w_i = \sinh z_i/\sum_j\cosh z_j`; on a mistake :math:`z \leftarrow z + \eta y x`.

    If :math:`\|u\|_1 = 1,\ y\langle u, x\rangle \ge \gamma,\ \|x\|_\infty \le X` and
    :math:`\eta = \gamma/X^2`: at most :math:`2X^2\ln(2n)/\gamma^2` mistakes; for any
    :math:`\eta < 2\gamma/X^2`, at most :math:`\ln(2n)/(\eta\gamma - \eta^2X^2/2)` [1]_. The dimension n
    enters by its logarithm.

    Parameters
    ----------
    eta : float, default=0.1
        :math:`\eta`; no value has a bound for all data.

    Attributes
    ----------
    z_ : ndarray of shape (1 or n_classes, n_features), one column more with an intercept
        :math:`z`.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, or a list of them
        Around the best margin :math:`\min y\langle u, x\rangle` of any u with :math:`\|u\|_1 = 1`.

    References
    ----------
    .. [1] J. Kivinen, M. Warmuth, Exponentiated gradient versus gradient descent, Information and
       Computation 132, 1997.

    Examples
    --------
    The halfspace :math:`3x_5 + 5x_8 - 2x_{11} \ge 5` among n = 1000 inputs, 0 or 1. The left side is 5 or
    more, or 3 or less; with the threshold at 4, :math:`\|u\|_1 = 3 + 5 + 2 + 4 = 14` and the margin is 1.
    The 997 inputs that do not matter enter the bound by their logarithm only.

    >>> import numpy as np
    >>> from perceptrons import BalancedWinnow, theory
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(4000, 1000)).astype(float)
    >>> y = 3 * X[:, 5] + 5 * X[:, 8] - 2 * X[:, 11] >= 5
    >>> gamma = 1 / 14
    >>> bound = theory.balanced_winnow(1.0, gamma, 1001)
    >>> clf = BalancedWinnow(eta=gamma, max_iter=None, shuffle=False).fit(X, y)
    >>> clf.stop_reason_, clf.n_mistakes_ <= bound, sorted(np.argsort(-abs(clf.coef_[0]))[:3].tolist())
    ('clean pass', True, [5, 8, 11])
    """


@estimator
class PNormPerceptron(PNormPerceptronSpec, Shell):
    r"""The p-norm perceptron: between the perceptron (p = 2) and Winnow (large p).

    On a mistake :math:`\theta \leftarrow \theta + y x`; predict with
    :math:`w_i = \operatorname{sign}(\theta_i)|\theta_i|^{p-1}/\|\theta\|_p^{p-2}`.

    With :math:`1/p + 1/q = 1`, :math:`y\langle u, x\rangle \ge \gamma` and :math:`\|x\|_p \le X_p`: at most
    :math:`(p-1)X_p^2\|u\|_q^2/\gamma^2` mistakes, as published [1]_. :math:`p = 2\ln n` has Winnow's order.

    Parameters
    ----------
    p : float, default=2.0
        :math:`p \ge 2`.

    Attributes
    ----------
    theta_ : ndarray of shape (1 or n_classes, n_features), one column more with an intercept
        :math:`\theta`.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, or a list of them
        Around the best margin of any u with :math:`\|u\|_q = 1`.

    References
    ----------
    .. [1] A. Grove, N. Littlestone, D. Schuurmans, General convergence results for linear discriminant
       updates, Machine Learning 43, 2001.

    Examples
    --------
    >>> from perceptrons import PNormPerceptron
    >>> clf = PNormPerceptron(p=4, shuffle=False, fit_intercept=False).fit([[2.0, 0], [0, 1.0]], [1, 0])
    >>> clf.theta_
    array([[ 2., -1.]])
    """
