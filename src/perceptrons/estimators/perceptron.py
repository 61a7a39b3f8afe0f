"""The perceptron: plain, averaged, voted, and with a margin."""

from __future__ import annotations

from ..core.perceptron import (
    AveragedPerceptronSpec,
    MarginPerceptronSpec,
    PerceptronSpec,
    VotedPerceptronSpec,
)
from .shell import Shell, estimator


@estimator
class Perceptron(PerceptronSpec, Shell):
    r"""Rosenblatt's perceptron, online and batch.

    On a mistake, :math:`y\langle w, x\rangle \le 0`, update :math:`w \leftarrow w + \eta y x` [1]_.

    If :math:`\|x\| \le R` and some unit :math:`u` has :math:`y\langle u, x\rangle \ge \gamma > 0` for every
    row, it makes at most :math:`(R/\gamma)^2` updates, in any order and however often the rows are repeated:
    Novikoff's mistake bound [2]_. ``fit`` then reaches a clean pass after at most
    :math:`\lfloor (R/\gamma)^2 \rfloor + 1` epochs. From :math:`w = 0` a constant rate :math:`\eta` only
    scales :math:`w`, and on any data :math:`\gamma^* \le \|w\|/\sum\tau`, the upper end of
    ``margin_bounds_``.

    Several classes: one prototype each. On a mistake the prototype of the true class gains :math:`x`, and
    rivals that score at least as much lose it: the best one, or several in parts, see ``scheme``. There are
    at most :math:`2R^2/\delta^2` mistakes if some prototypes of joint length 1 score every row by
    :math:`\delta` higher for its own class than for any other [3]_.

    References
    ----------
    .. [1] F. Rosenblatt, The perceptron, Psychological Review 65, 1958.
    .. [2] A. Novikoff, On convergence proofs for perceptrons, 1962.
    .. [3] K. Crammer, Y. Singer, Ultraconservative online algorithms, JMLR 3, 2003.

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> clf = Perceptron(shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
    >>> clf.n_mistakes_, clf.coef_, clf.intercept_
    (1, array([[1., 1.]]), array([1.]))
    >>> clf.stop_reason_
    'clean pass'
    """


@estimator
class AveragedPerceptron(AveragedPerceptronSpec, Shell):
    r"""Perceptron that predicts with the average of its weights.

    :math:`\bar w = \frac1t\sum_{s \le t} w_s`, the mean of the weights after each of the t examples seen. It
    is kept up to date at the cost of one more update of the same size.

    The updates, and so the bounds on them, are those of :class:`Perceptron`. The average has no bound of
    its own; in practice its errors are close to those of the vote [1]_, and a prediction takes one product.

    Parameters
    ----------
    normalized_votes : bool, default=False
        Average :math:`w/\|w\|` instead of :math:`w`.

    References
    ----------
    .. [1] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine
       Learning 37, 1999.

    Examples
    --------
    After the two rows :math:`w` was (1, 0) and (1, -1):

    >>> from perceptrons import AveragedPerceptron
    >>> clf = AveragedPerceptron(shuffle=False, fit_intercept=False, max_iter=1)
    >>> clf.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0]).coef_
    array([[ 1. , -0.5]])
    """


@estimator
class VotedPerceptron(VotedPerceptronSpec, Shell):
    r"""Perceptron whose weight vectors vote, each with the number of examples that it survived.

    :math:`\mathrm{score}(x) = \sum_j c_j \operatorname{sign}\langle w_j, x\rangle`, where :math:`c_j` counts
    the examples after which :math:`w_j` was current. Several classes: each vector votes for its argmax.

    One epoch over i.i.d. rows, ``include_initial=True``: the probability of an error on a fresh row is at
    most :math:`2\,E[M]/(m+1)`, where :math:`M` counts the mistakes on :math:`m+1` rows [1]_.

    The updates are kept in a log; memory grows with them, up to ``max_log``.

    Parameters
    ----------
    include_initial : bool, default=False
        Give the initial vector one more vote; the theorem needs it.

    References
    ----------
    .. [1] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine
       Learning 37, 1999.

    Examples
    --------
    (1, 0) and (1, -1) have one vote each; they agree on the first row only.

    >>> from perceptrons import VotedPerceptron
    >>> clf = VotedPerceptron(shuffle=False, fit_intercept=False, max_iter=1)
    >>> clf.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0]).decision_function([[1.0, 0.0], [1.0, 2.0]])
    array([2., 0.])
    """


@estimator
class MarginPerceptron(MarginPerceptronSpec, Shell):
    r"""Perceptron that also updates on rows inside a band around its hyperplane.

    Update :math:`w \leftarrow w + y x` when :math:`y\langle w, x\rangle/\|w\| < (1-\varepsilon)\gamma`.

    If some unit :math:`u` has margin :math:`\gamma`, at most
    :math:`2R^2/(\varepsilon\gamma)^2 - 2/\varepsilon` updates follow the first one, and after a clean pass
    every row has geometric margin at least :math:`(1-\varepsilon)\gamma` [1]_ [2]_. More updates prove that
    there is no such :math:`u`: ``stop_reason_`` is then ``"bound exceeded"``.

    With ``gamma="auto"`` a guess starts at the perceptron's upper bound :math:`\|w\|/k` and is halved, and
    the run restarted, each time it is refuted: on separable data the result has margin at least
    :math:`(1-\varepsilon)\gamma^*/2`. ``gamma_`` is the guess that was not refuted. In ``partial_fit`` and
    ``learn_one`` the guess begins as the length of the first row and, once it is refuted, is halved before
    the next row; w is kept, and no theorem covers such a run.

    Parameters
    ----------
    gamma : float or "auto", default="auto"
        :math:`\gamma`, in the units of the data.
    eps : float, default=0.5
        :math:`\varepsilon` in (0, 1): the part of the margin that is given up.

    Attributes
    ----------
    gamma_ : float
        The :math:`\gamma` in use: the parameter, or the last guess.
    n_margin_mistakes_ : int
        Updates on rows that were predicted rightly, but inside the band.

    References
    ----------
    .. [1] M.-F. Balcan, A. Blum, On a theory of learning with similarity functions, ICML 2006.
    .. [2] W. Krauth, M. Mezard, Learning algorithms with optimal stability, J. Phys. A 20, 1987.

    Examples
    --------
    >>> from perceptrons import MarginPerceptron, datasets
    >>> toy = datasets.four_points()
    >>> clf = MarginPerceptron(gamma=63 / 64, shuffle=False, fit_intercept=False).fit(toy.X, toy.y)
    >>> clf.coef_, clf.n_mistakes_, clf.n_margin_mistakes_, clf.stop_reason_
    (array([[3., 0.]]), 2, 1, 'clean pass')
    """
