r"""The kernel perceptron on a support set of bounded size."""

from __future__ import annotations

from ..core.budget import BudgetKernelPerceptronSpec
from .shell import Shell, estimator


@estimator
class BudgetKernelPerceptron(BudgetKernelPerceptronSpec, Shell):
    r"""Kernel perceptron with a bounded number of support examples.

    A mistake adds its example to the support list with coefficient :math:`y`. When the list is full, the
    policy chooses the entries to remove:

    ``"random"``
        one entry, drawn uniformly [1]_;
    ``"oldest"``
        the first one;
    ``"forgetron"``
        the first one, after all coefficients were multiplied by the largest factor up to 1 that keeps the
        damage of removals within 15/32 of the mistakes. If :math:`k(x, x) \le 1`, the budget B is at least
        83 and :math:`\|u\| \le \frac14\sqrt{(B+1)/\ln(B+1)}`, it makes at most
        :math:`2\|u\|^2 + 4\sum\max(0, 1 - y\langle u, \varphi(x)\rangle)` mistakes [2]_;
    ``"projectron"``
        nothing: a mistake whose example is within ``eta`` of the span of the list is projected onto it, so
        that the list stops growing by itself. With ``eta`` towards 0 it makes the perceptron's updates [3]_.

    An example that occurs again is a new entry. More than two classes: one list per class against the rest.
    The last w predicts; there is no other readout.

    Parameters
    ----------
    budget : int or None, default=100
        Longest support list. None, no limit, is for the projectron; with a limit it projects every mistake
        once its list is full.
    policy : {"random", "oldest", "forgetron", "projectron"}, default="random"
        What becomes of a full list, see above.
    eta : float, default=0.1
        Largest distance from the span of the list at which the projectron projects.

    Attributes
    ----------
    support_ : ndarray of int
        The rows in the list, oldest first, with their numbers in the pass that added them; of all classes.

    References
    ----------
    .. [1] G. Cavallanti, N. Cesa-Bianchi, C. Gentile, Tracking the best hyperplane with a simple budget
       perceptron, Machine Learning 69, 2007.
    .. [2] O. Dekel, S. Shalev-Shwartz, Y. Singer, The forgetron: a kernel-based perceptron on a budget, SIAM
       Journal on Computing 37(5), 2008.
    .. [3] F. Orabona, J. Keshet, B. Caputo, Bounded kernel-based online learning, JMLR 10, 2009.

    Examples
    --------
    >>> from perceptrons import BudgetKernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = BudgetKernelPerceptron(budget=4, policy="oldest", shuffle=False).fit(X, y)
    >>> clf.n_support_, clf.dual_coef_
    (4, array([[-1., -1.,  1.,  1.]]))
    """
