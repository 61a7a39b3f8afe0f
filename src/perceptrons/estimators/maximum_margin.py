"""The maximum margin: the widest slab between two classes, hard or soft."""

from __future__ import annotations

from ..core.maximum_margin import MaxMarginSpec
from .shell import Shell, estimator


@estimator
class MaxMargin(MaxMarginSpec, Shell):
    r"""The maximum-margin classifier: the hard-margin SVM, or a soft-margin one with a finite C.

    Primal: :math:`\min\tfrac12\|w\|^2` subject to :math:`y_i(\langle w, x_i\rangle + b) \ge 1`. A finite C
    adds :math:`C\sum\xi_i` for the rows below margin 1,
    :math:`\xi_i = \max\{0, 1 - y_i(\langle w, x_i\rangle + b)\}`.
    The bias b is free: it is not part of :math:`\|w\|`.

    Dual: :math:`\max\sum\alpha_i - \tfrac12\|\sum\alpha_iy_ix_i\|^2` over :math:`0 \le \alpha_i \le C`, and
    :math:`\sum\alpha_iy_i = 0` with a bias. Then :math:`w = \sum\alpha_iy_ix_i`. Hard margin:
    :math:`\gamma^* = 1/\|w\|`, half the distance between the convex hulls of the classes, and
    :math:`\sum\alpha_i = \|w\|^2`. w is unique; b too, if both classes occur; :math:`\alpha` need not be.

    Bracket: any w and any weights :math:`\lambda \ge 0` of the rows (sum 1; with a bias 1/2 in each
    class) have

    .. math:: \min_iy_i(\langle w, x_i\rangle + b)/\|w\| \;\le\; \gamma^* \;\le\; \|\sum\lambda_iy_ix_i\|,

    with equality at the optimum. The solver stops when the two are within ``tol``. Both ends are rounded
    outwards, so they hold for the rows as float64 has them (integers beyond :math:`2^{53}`: as they are),
    with a kernel for its values as its formula has them, and with a table for the numbers in it. About the
    space of a function of the user's nothing is stated: ``margin_bounds_`` is (None, inf) there, while
    ``margin_`` and ``gap_`` are computed from the values that it returned.

    Several classes: one against the rest.

    Parameters
    ----------
    fit_intercept : bool, default=True
        False: a hyperplane through the origin.
    C : float, default=inf
        Cost of a unit of slack :math:`\xi_i`. ``inf``: the hard margin.
    tol : float, default=1e-6
        Relative gap: :math:`(\gamma_{up} - \gamma_{low})/\gamma_{up}`, or for finite C
        (primal − dual)/primal.
    kernel : kernel of :mod:`perceptrons.kernels`, its name, a function of two objects, or None
        None: linear. A soft margin keeps a factor of the kernel matrix, n times its rank; a hard one the
        values with the rows near the margin. More than 4 GB are refused.
    solver : {"auto", "active", "descent", "piqp"}, default="auto"
        ``"active"``: an active set over few rows, exact; for hard margins. ``"descent"``: coordinate descent
        on the dual with conjugate gradients on its faces; for soft margins, and for hard ones with thousands
        of support rows. ``"piqp"``: the interior-point solver of that name, for small problems.
        ``"auto"`` takes ``"active"`` or ``"descent"``, whichever suits.
    max_time : float or None, default=None
        Seconds after which the best w so far is returned, with its gap. ``"piqp"`` has no
        time limit of its own: it gets as many iterations as fit, by the time that the first one took.
    max_iter : int, default=1000
        Passes over all rows; iterations of ``"piqp"``.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Not with a kernel.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`b`.
    support_ : ndarray of int
        Rows with :math:`\alpha_i > 0` (in any of the problems).
    support_vectors_ : array, CSR matrix or list
        Those rows themselves.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        :math:`\alpha_iy_i`.
    n_support_ : int
        How many they are.
    margin_ : float, or a list per class
        :math:`1/\|w\|`; for the hard margin the smallest distance of a row from the hyperplane.
    slab_width_ : float, or a list per class
        :math:`2/\|w\|`.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, or a list of them
        :math:`\gamma_{low} \le \gamma^* \le \gamma_{up}`, for the hard margin whatever C is. The intercept is
        free: it is no part of :math:`\|w\|`, and the margin is a distance of the rows as given. Online
        learners with an intercept state the margin of rows with a constant coordinate, which is at most this
        one, and enclose this one in their ``free_margin_bounds_``.
    free_margin_bounds_ : :class:`perceptrons.theory.Bracket`, a list of them or None
        The same pair; None for ``fit_intercept=False`` and for a kernel.
    gap_ : float
        The relative gap (the largest of any class).
    n_iter_ : int
        Passes over all rows, the most of any class.
    stop_reason_ : {"gap closed", "max_time", "max_iter", "rounding"}, or a list per class
        ``"rounding"``: float64 does not allow a smaller gap.
    radius_ : float
        Length of the longest row.
    one_class_ : bool
        y holds one class only. With a bias w = 0, b = 1, and the margin is infinite.

    Raises
    ------
    NotSeparableError
        For ``C=inf``, with a proof in whole numbers as its ``certificate``.
    ValueError
        Rows so long or so short that the dual coefficients, about :math:`1/\|x\|^2`, are no floats.
    MemoryError
        Kernel values do not fit.

    Warns
    -----
    ConvergenceWarning
        For ``C=inf``, out of time or passes or at the limits of float64, and neither a separator nor a proof
        was found: the question is undecided. ``margin_`` is then not positive, and ``margin_bounds_`` is what
        is known.

    See Also
    --------
    MarginPerceptron : ``gamma="auto"`` finds an approximate maximum margin online.
    ROMMA : ``aggressive=True`` comes near it, one row at a time.

    References
    ----------
    .. [1] V. Vapnik, The Nature of Statistical Learning Theory, Springer, 1995.
    .. [2] B. Boser, I. Guyon, V. Vapnik, A training algorithm for optimal margin classifiers, COLT 1992.
    .. [3] C. Lawson, R. Hanson, Solving Least Squares Problems, Prentice-Hall, 1974.

    Examples
    --------
    The points (0, 0) and (3, 4) are 5 apart, so the slab is 5 wide.

    >>> from perceptrons import MaxMargin
    >>> clf = MaxMargin().fit([[0, 0], [3, 4]], [-1, 1])
    >>> clf.coef_.round(12), clf.intercept_.round(12), round(clf.margin_, 12)
    (array([[0.24, 0.32]]), array([-1.]), 2.5)
    >>> clf.dual_coef_.round(12), clf.stop_reason_
    (array([[-0.08,  0.08]]), 'gap closed')
    """
