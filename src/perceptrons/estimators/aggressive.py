"""Learners that step to a margin: MIRA, passive-aggressive, ROMMA, ALMA."""

from __future__ import annotations

from ..core.aggressive import ALMASpec, MIRASpec, PassiveAggressiveSpec, ROMMASpec
from .shell import Shell, estimator


@estimator
class MIRA(MIRASpec, Shell):
    r"""Margin-infused relaxed algorithm: the shortest step to functional margin 1.

    When :math:`y\langle w, x\rangle \le p`, update
    :math:`w \leftarrow w + \frac{1 - y\langle w,x\rangle}{\|x\|^2}\,y x`. ``p=0`` updates on mistakes only;
    larger p, p-aggressive MIRA or AMIRA, aims at a larger margin.

    If some u has :math:`y\langle u, x\rangle \ge 1` for every row, so that :math:`\gamma = 1/\|u\|` is a
    margin of the data, there are at most :math:`R^2/((1-p)\gamma)^2` updates, and after a clean pass the
    geometric margin exceeds :math:`p\gamma/2` [1]_.

    ``margin="geometric"`` tests :math:`y\langle w,x\rangle \le p\|w\|` instead, p in the units of the data.
    For :math:`p < \gamma/2` there are at most :math:`R^2/(\gamma - 2p)^2` updates, and the margin exceeds p.
    Rows that fail this test although their functional margin is 1 already are counted in ``n_stalled_``.

    Parameters
    ----------
    p : float, default=0.0
        In [0, 1) for the functional test, at least 0 for the geometric one.
    margin : {"functional", "geometric"}, default="functional"
        What p is compared with: :math:`y\langle w, x\rangle`, or that divided by :math:`\|w\|`.
    variant : {"pa", "crammer_singer"}, default="pa"
        ``"crammer_singer"`` is the norm-minimising form for three or more classes; it needs ``coef_init``,
        because from W = 0 it never moves.
    solver : {"top", "exact"}, default="top"
        Several classes: meet the constraint of the best rival, or those of all rivals at once.

    Attributes
    ----------
    n_stalled_ : int
        Rows inside the geometric band whose functional margin was 1 already.

    References
    ----------
    .. [1] K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3, 2003.

    Examples
    --------
    >>> from perceptrons import MIRA
    >>> clf = MIRA(shuffle=False, fit_intercept=False).fit([[2.0, 0.0], [0.0, 4.0]], [1, 0])
    >>> clf.coef_
    array([[ 0.5 , -0.25]])
    """


@estimator
class PassiveAggressive(PassiveAggressiveSpec, Shell):
    r"""Passive-aggressive learning: as MIRA, on every row with a hinge loss.

    With :math:`\ell = \max\{0, 1 - y\langle w, x\rangle\} > 0` update :math:`w \leftarrow w + \tau y x`,

    .. math::
        \tau = \min\{C, \ell/\|x\|^2\}\ \text{(I)}, \qquad
        \tau = \ell/(\|x\|^2 + \tfrac{1}{2C})\ \text{(II)}, \qquad
        \tau = \ell/\|x\|^2\ \text{(hard)}.

    With E prediction errors and any u with hinge losses :math:`\ell^*`, as published [1]_:
    I: :math:`E \le \max(R^2, 1/C)(\|u\|^2 + 2C\sum\ell^*)`;
    II: :math:`\sum\ell^2 \le (R^2 + \frac{1}{2C})(\|u\|^2 + 2C\sum\ell^{*2})`; hard, separable:
    :math:`\sum\ell^2 \le R^2\|u\|^2`. There is no step size to tune: the loss of the row sets it.

    Unlike scikit-learn's classifier of this name, the intercept's :math:`B^2` is part of :math:`\|x\|^2`.

    Parameters
    ----------
    C : float, default=1.0
        Largest step (I), or inverse damping (II); unused by ``"hard"``. Row weights multiply it.
    variant : {"I", "II", "hard"}, default="I"
        Which of the three steps.
    solver : {"top", "exact"}, default="top"
        Several classes: meet the constraint of the best rival, or those of all rivals at once.

    Attributes
    ----------
    squared_loss_ : float
        :math:`\sum\ell^2` over the examples seen, the left side of the bounds.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, Online passive-aggressive
       algorithms, JMLR 7, 2006.

    Examples
    --------
    The second row would need a step of 1/2 and gets C:

    >>> from perceptrons import PassiveAggressive
    >>> clf = PassiveAggressive(C=0.25, shuffle=False, fit_intercept=False, max_iter=1)
    >>> clf.fit([[2.0, 0.0], [1.0, 1.0]], [1, 1 - 1]).coef_
    array([[ 0.25, -0.25]])
    """


@estimator
class ROMMA(ROMMASpec, Shell):
    r"""Relaxed online maximum margin.

    On an update w becomes the shortest vector with :math:`y\langle w', x\rangle \ge 1` and
    :math:`\langle w', w\rangle \ge \|w\|^2`: :math:`w' = c\,w + d\,x` with
    :math:`c = \frac{qN - y s}{qN - s^2},\ d = \frac{N(y - s)}{qN - s^2}`, where
    :math:`s = \langle w, x\rangle,\ q = \|x\|^2,\ N = \|w\|^2`. Plain: on mistakes. Aggressive: whenever
    :math:`y s < 1 - \delta`.

    If the data have margin :math:`\gamma`: at most :math:`R^2/\gamma^2` updates (plain) or
    :math:`R^2/(\delta\gamma)^2` (aggressive); :math:`1/\|w\|` never falls below the best margin
    :math:`\gamma^*`; a clean pass of the aggressive form has geometric margin at least
    :math:`(1-\delta)\gamma^*` [1]_; :math:`\gamma` need not be known.

    Parameters
    ----------
    aggressive : bool, default=False
        Update on rows of too small a margin, too.
    delta : float, default=0.0
        :math:`\delta` in [0, 1): the part of the best margin that the aggressive form gives up. With 0 the
        updates are not bounded.

    Attributes
    ----------
    infeasible_ : bool
        A row was met that no w can put at margin 1 together with the rows before it: the data are not
        separable.

    References
    ----------
    .. [1] Y. Li, P. Long, The relaxed online maximum margin algorithm, Machine Learning 46, 2002.

    Examples
    --------
    >>> from perceptrons import ROMMA, datasets
    >>> toy = datasets.four_points()
    >>> clf = ROMMA(shuffle=False, fit_intercept=False).fit(toy.X, toy.y)
    >>> clf.coef_.round(12), clf.n_updates_
    (array([[1., 0.]]), 2)
    """


@estimator
class ALMA(ALMASpec, Shell):
    r"""Approximate large margin algorithm, p = 2.

    With :math:`\hat x = x/\|x\|` and k - 1 updates so far, when
    :math:`y\langle w, \hat x\rangle \le (1-\alpha)\frac{\sqrt 8}{\alpha\sqrt k}`: step
    :math:`w' = w + \sqrt{2/k}\,y\hat x`, then scale it into the unit ball, :math:`w = w'/\max\{1, \|w'\|\}`.

    If the rows, scaled to length 1, have margin :math:`\gamma`: at most
    :math:`\frac{2}{\gamma^2}(\frac{2}{\alpha}-1)^2 + \frac{8}{\alpha} - 4` updates, and after a clean pass
    that margin is at least :math:`(1-\alpha)\gamma`, as published [1]_.

    Several classes: one against the rest.

    Parameters
    ----------
    alpha : float, default=0.9
        :math:`\alpha` in (0, 1]: the part of the margin that is given up.

    References
    ----------
    .. [1] C. Gentile, A new approximate maximal margin classification algorithm, JMLR 2, 2001.

    Examples
    --------
    >>> from perceptrons import ALMA
    >>> clf = ALMA(alpha=1.0, shuffle=False, fit_intercept=False).fit([[3.0, 4.0], [-3.0, 4.0]], [1, 0])
    >>> clf.n_updates_, clf.coef_.round(3)
    (2, array([[1., 0.]]))
    """
