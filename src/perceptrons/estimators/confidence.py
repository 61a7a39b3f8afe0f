r"""Second-order learners: w with a covariance, small in directions that occurred in many rows."""

from __future__ import annotations

from ..core.confidence import AROWSpec, SCWSpec, SecondOrderPerceptronSpec
from .shell import Shell, estimator


@estimator
class SecondOrderPerceptron(SecondOrderPerceptronSpec, Shell):
    r"""Second-order perceptron: the perceptron on rows whitened by its past mistakes.

    :math:`A = aI,\ v = 0`; score :math:`v^\top(A + xx^\top)^{-1}x`. On a mistake :math:`v \leftarrow v + yx`,
    :math:`A \leftarrow A + xx^\top`; :math:`w = A^{-1}v`.

    For any unit u with margin :math:`\gamma`, :math:`S = \sum xx^\top` over the mistakes, eigenvalues
    :math:`\lambda_i`: at most :math:`\frac1\gamma\sqrt{(a + u^\top S u)\sum\ln(1 + \lambda_i/a)}` mistakes,
    as published [1]_. One row costs :math:`O(n^2)`.

    Parameters
    ----------
    a : float, default=1.0
        :math:`a > 0`.

    References
    ----------
    .. [1] N. Cesa-Bianchi, A. Conconi, C. Gentile, A second-order perceptron algorithm, SIAM Journal on
       Computing 34, 2005.

    Examples
    --------
    >>> from perceptrons import SecondOrderPerceptron
    >>> clf = SecondOrderPerceptron(shuffle=False, fit_intercept=False).fit([[1.0, 0], [0, 3.0]], [1, 0])
    >>> clf.coef_
    array([[ 0.5, -0.3]])
    """


@estimator
class AROW(AROWSpec, Shell):
    r"""Adaptive regularisation of weights.

    With :math:`m = y\langle w, x\rangle < 1`, :math:`v = x^\top\Sigma x`, :math:`\beta = 1/(v + r)`:
    :math:`w \leftarrow w + \beta(1 - m)\,y\,\Sigma x` and
    :math:`\Sigma \leftarrow \Sigma - \beta\,\Sigma x x^\top\Sigma`.

    With :math:`\mathcal M` the updates that are errors, :math:`\mathcal U` the others,
    :math:`X = \sum xx^\top` over both and any u, as published [1]_:
    :math:`|\mathcal M| \le \sqrt{r\|u\|^2 + u^\top X u}\,\sqrt{\ln\det(I + X/r) + |\mathcal U|} +
    \sum\max(0, 1 - y\langle u,x\rangle) - |\mathcal U|`. An update need not bring its row to a margin, so
    that wrong labels do less harm than to learners that do.

    Parameters
    ----------
    r : float, default=1.0
        :math:`r > 0`; larger: shorter steps.
    covariance : {"diagonal", "full"}, default="diagonal"
        The diagonal of the update, or all of it at :math:`O(n^2)` a row; the bound is for ``"full"``.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze, Adaptive regularization of weight vectors, NIPS 2009.

    Examples
    --------
    >>> from perceptrons import AROW
    >>> clf = AROW(shuffle=False, fit_intercept=False, max_iter=1).fit([[1.0, 0], [0, 3.0]], [1, 0])
    >>> clf.coef_, clf.covariance_
    (array([[ 0.5, -0.3]]), array([[0.5, 0.1]]))
    """


@estimator
class SCW(SCWSpec, Shell):
    r"""Soft confidence-weighted learning.

    Keep a normal distribution over w and make the smallest change (in relative entropy) after which the row
    is right with probability :math:`\eta`, softened by C. With :math:`\phi = \Phi^{-1}(\eta)`, update when
    :math:`\phi\sqrt v - m > 0`: :math:`w \leftarrow w + \alpha y\Sigma x,\ \Sigma \leftarrow \Sigma -
    \beta\Sigma xx^\top\Sigma`; :math:`\alpha, \beta` in closed form [1]_. No mistake bound is known.

    Parameters
    ----------
    eta : float, default=0.9
        :math:`\eta` in (1/2, 1).
    C : float, default=1.0
        Cap (I) or inverse damping (II) of :math:`\alpha`.
    variant : {"I", "II"}, default="I"
        How :math:`\alpha` is softened: a cap, or a damping.
    covariance : {"diagonal", "full"}, default="diagonal"
        Full: one row costs :math:`O(n^2)`.

    References
    ----------
    .. [1] J. Wang, P. Zhao, S. Hoi, Exact soft confidence-weighted learning, ICML 2012.

    Examples
    --------
    The first row ends with confidence exactly :math:`\eta`: :math:`\phi\sqrt{v} = m`.

    >>> from perceptrons import SCW
    >>> clf = SCW(C=100.0, shuffle=False, fit_intercept=False, max_iter=1)
    >>> clf = clf.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    >>> bool(abs(1.2815515655446004 * clf.covariance_[0, 0] ** 0.5 - clf.coef_[0, 0]) < 1e-12)
    True
    """
