r"""Descent on the perceptron risk and on the hinge risk."""

from __future__ import annotations

from ..core.risk import RiskDescentSpec
from .shell import Shell, estimator


@estimator
class RiskDescent(RiskDescentSpec, Shell):
    r"""Gradient descent on the perceptron risk, or on the hinge risk; also stochastic gradient descent.

    :math:`R(w) = \sum_{i \in V}(c - y_i\langle w, x_i\rangle)` over
    :math:`V = \{i : y_i\langle w, x_i\rangle < c\}`, with :math:`c = 0` (perceptron) or :math:`c = 1`
    (hinge). A step is :math:`w \leftarrow w + \varepsilon\sum y_i x_i` over all of V, over the
    members of V in a group of rows, or over one member. Start: :math:`w_0 = y_0x_0`, because
    :math:`R(0) = 0`.

    Perceptron risk, separable with margin :math:`\gamma`, m rows, any :math:`\varepsilon > 0`: full batch,
    :math:`\sum|V| \le mR^2/\gamma^2 + \|w_0\|/(\varepsilon\gamma)`; one row at a time, at most
    :math:`R^2/\gamma^2 + \|w_0\|/(\varepsilon\gamma)` steps, whichever row is picked. With line search the
    risk falls at every step. A risk of 0 is not yet a separation: see ``on_boundary_``.

    Several classes: one descent per class against the rest.

    Parameters
    ----------
    loss : {"perceptron", "hinge"}, default="perceptron"
        :math:`c = 0` or :math:`c = 1`.
    batch_size : int or None, default=None
        None: all rows. An integer: rows in visiting order in groups of this size.
    pick : {None, "first", "worst", "random"}, default=None
        One row of V per step: the first, the one with the smallest margin, or one at random, which is
        stochastic gradient descent. Not together with ``batch_size``.
    step : float or "line-search", default=1.0
        :math:`\varepsilon`; line search is for full batches.
    max_steps : int, default=1000
        Largest number of steps.
    shuffle : bool, default=False
        Visit groups of rows in a fresh order in each pass.
    random_state : int, numpy generator or None, default=None
        Draws the orders, and the rows of ``pick="random"``.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    risk_curve_ : list of float, or a list per class
        The risk before each step, and at the end.
    steps_ : list of ndarray, or a list per class
        The rows of each step.
    n_iter_ : int
        Steps made (the most of any class).
    n_updates_ : int
        Rows added, over all steps.
    on_boundary_ : int
        Rows with :math:`\langle w, x\rangle = 0` at the end.
    stop_reason_ : {"no row in V", "stalled", "max_steps"}
        Why the descent ended.
    margin_bounds_ : (float, float), or a list of pairs
        :math:`\gamma_{low} \le \gamma^* \le \gamma_{up}`;
        :math:`-\infty` below where w does not separate the rows.
    radius_ : float
        Length of the longest row.
    intercept_scaling_ : float
        The :math:`B` of the descent; 0 without an intercept.

    Examples
    --------
    >>> from perceptrons import RiskDescent, datasets
    >>> toy = datasets.four_points()
    >>> clf = RiskDescent(fit_intercept=False).fit(toy.X, toy.y)
    >>> clf.coef_, clf.risk_curve_, clf.stop_reason_
    (array([[2., 1.]]), [1.0, 0.0], 'no row in V')
    """
