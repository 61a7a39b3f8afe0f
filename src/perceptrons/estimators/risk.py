r"""Gradient descent on the perceptron risk and on the hinge risk."""

from __future__ import annotations

from ..core.risk import RiskDescentSpec
from .shell import Shell, estimator


@estimator
class RiskDescent(RiskDescentSpec, Shell):
    r"""Gradient descent on the perceptron risk, or on the hinge risk; also stochastic gradient descent.

    :math:`R(w) = \sum_{i \in V}(c - y_i\langle w, x_i\rangle)` over
    :math:`V = \{i : y_i\langle w, x_i\rangle < c\}`, with :math:`c = 0` (perceptron) or :math:`c = 1`
    (hinge); :func:`perceptrons.theory.risk` and ``theory.risk_gradient`` have both as functions of w.
    A step is :math:`w \leftarrow w + \varepsilon\sum y_i x_i`: over all of V, which is gradient descent; over
    the members of V in a group of rows (``batch_size``), or over one member (``batch_size=1`` or ``pick``),
    which is stochastic gradient descent. One row at a time on the perceptron risk with
    :math:`\varepsilon = 1` is the perceptron, but for rows with :math:`\langle w, x\rangle = 0`, which are
    not in V. On the hinge risk it is not: that also steps on rows with :math:`0 < y\langle w, x\rangle < 1`.

    Start: :math:`w_0 = y_0x_0`, because :math:`R(0) = 0`, or ``coef_init`` and ``intercept_init`` of ``fit``.
    The steps depend on :math:`w_0/\varepsilon` alone. A small :math:`\varepsilon` is slow because the start
    counts for more; a large one makes the steps those of a start at 0, which are not slower.

    Perceptron risk, separable with margin :math:`\gamma`, m rows, any :math:`\varepsilon > 0`: full batch,
    :math:`\sum|V| \le mR^2/\gamma^2 + \|w_0\|/(\varepsilon\gamma)`; one row at a time, at most
    :math:`R^2/\gamma^2 + \|w_0\|/(\varepsilon\gamma)` steps, whichever row is picked. With line search the
    risk falls at every step. These bounds hold for the default start; for another start none is claimed. A
    risk of 0 is not yet a separation: see ``on_boundary_``. Where nothing separates the rows, a descent on
    the perceptron risk may end at w = 0, with all rows on the boundary.

    Several classes: one descent per class against the rest.

    Parameters
    ----------
    loss : {"perceptron", "hinge"}, default="perceptron"
        :math:`c = 0` or :math:`c = 1`.
    batch_size : int or None, default=None
        None: all rows. An integer: rows in visiting order in groups of this size; 1: stochastic gradient
        descent.
    pick : {None, "first", "worst", "random"}, default=None
        One row of V per step: the first, the one with the smallest margin, or one at random. Not together
        with ``batch_size``.
    step : float or "line-search", default=1.0
        :math:`\varepsilon`; line search is for full batches.
    max_steps : int, default=1000
        Largest number of steps.
    shuffle : bool, default=False
        Visit groups of rows in a fresh order in each pass.
    random_state : int, numpy generator or None, default=None
        Draws the orders, and the rows of ``pick="random"``.
    keep_path : bool, default=False
        Keep w before the first step and after each, as ``path_``.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    risk_curve_ : list of float, or a list per class
        The risk before each step, and at the end.
    steps_ : list of ndarray, or a list per class
        The rows of each step.
    path_ : ndarray of shape (steps + 1, n_features + 1), or a list per class
        With ``keep_path=True``: w before the first step and after each. The last column is the weight of the
        constant coordinate.
    n_iter_ : int
        Steps made (the most of any class); 0 where no row is in V at the start.
    n_updates_ : int
        Rows added, over all steps.
    on_boundary_ : int
        Rows with :math:`\langle w, x\rangle = 0` at the end.
    stop_reason_ : {"no row in V", "w = 0", "stalled", "max_steps"}, or a list per class
        Why the descent ended. ``"w = 0"``: no row is in V, because w is 0; nothing is separated.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, or a list of them
        :math:`\gamma_{low} \le \gamma^* \le \gamma_{up}`; :math:`-\infty` below where w does not separate the
        rows, :math:`\infty` above where the start was given and is not 0. With an intercept :math:`\gamma^*`
        is the best margin of the augmented rows :math:`(x, B)`, in which the weight of :math:`B` is part of
        :math:`\|w\|`.
    free_margin_bounds_ : :class:`perceptrons.theory.Bracket`, a list of them or None
        The same for the distance of the rows as given from a hyperplane anywhere, the margin that
        :class:`MaxMargin` finds; None without an intercept, with ``row_norm`` or from such a start.
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

    From a start of one's own, with the path of w (the last column is the weight of the intercept):

    >>> clf = RiskDescent(fit_intercept=False, keep_path=True).fit(toy.X, toy.y, coef_init=[0, 1])
    >>> clf.path_, clf.n_iter_
    (array([[0., 1., 0.],
           [1., 0., 0.]]), 1)
    """
