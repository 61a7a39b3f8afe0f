r"""First-order learners: a rule, a readout, and one w (or one per class)."""

from __future__ import annotations

from ..core.first_order import OnlineClassifierSpec
from .shell import Shell, estimator


@estimator
class OnlineClassifier(OnlineClassifierSpec, Shell):
    r"""Any first-order rule, any readout: the perceptrons, MIRA, PA, ROMMA and ALMA are special cases.

    For each row :math:`x` with label :math:`y` the rule gets :math:`m = y\langle w, x\rangle` and
    :math:`q = \|x\|^2` and returns :math:`(\kappa, \tau)`; then
    :math:`w \leftarrow \kappa w + \tau y x`. With more than two classes
    :math:`m = s_y - \max_{r \ne y} s_r`, :math:`q = 2\|x\|^2`, and the prototypes of the true class and of
    its best rival move by :math:`\pm\tau x`.

    The intercept is the weight of a constant coordinate :math:`B`, so :math:`q` contains :math:`B^2`; every
    theorem about hyperplanes through the origin holds for the augmented rows.

    Parameters
    ----------
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.Perceptron()``. Names, such as ``"pa1"``, are those of ``rules.NAMES``.

    Examples
    --------
    >>> from perceptrons import OnlineClassifier, rules
    >>> clf = OnlineClassifier(rule=rules.PA1(C=0.5), shuffle=False, fit_intercept=False)
    >>> clf.fit([[1.0, 0.0], [0.0, 2.0]], [1, 0]).coef_
    array([[ 1.  , -0.5]])
    """
