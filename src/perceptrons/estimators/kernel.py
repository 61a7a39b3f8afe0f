r"""Kernel learners: w is a combination of examples, and only k(x, z) is computed."""

from __future__ import annotations

from ..core.kernel import KernelClassifierSpec, KernelPerceptronSpec
from .shell import Shell, estimator


@estimator
class KernelClassifier(KernelClassifierSpec, Shell):
    r"""Any rule with any kernel, in exact blocks.

    :math:`w = \sum_i a_i\varphi(x_i)` is a combination of examples in the space of the kernel, so
    :math:`\langle w, \varphi(x)\rangle = \sum_i a_i k(x_i, x)`, and the rule gets
    :math:`m = y\langle w, \varphi(x)\rangle` and :math:`q = k(x, x)`, as in :class:`OnlineClassifier`.
    Every bound of the rule holds with :math:`R^2 = \max k(x, x)`.

    Rows are learned in blocks: one matrix product gives the scores of a block by the support rows, which
    are then corrected for each update within the block. The updates are those of one row at a time, whatever
    the size of the blocks.

    Parameters
    ----------
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.Perceptron()``. Names, such as ``"pa1"``, are those of ``rules.NAMES``.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman, L. Rozonoer, Theoretical foundations of the potential function method,
       Automation and Remote Control 25, 1964.
    .. [2] Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine
       Learning 37(3), 1999.

    Examples
    --------
    >>> from perceptrons import KernelClassifier, kernels, rules
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelClassifier(rule=rules.PA1(C=1.0), kernel=kernels.Polynomial(degree=2), shuffle=False)
    >>> clf.fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """


@estimator
class KernelPerceptron(KernelPerceptronSpec, Shell):
    r"""The perceptron in the space of a kernel.

    On a mistake, :math:`y\sum_i a_i k(x_i, x) \le 0`, the example gains :math:`y` in its own coefficient. If
    some unit :math:`u` of that space has :math:`y\langle u, \varphi(x)\rangle \ge \gamma > 0` for every
    example, there are at most :math:`\max k(x, x)/\gamma^2` updates, in any order.

    Parameters
    ----------
    readout : {"last", "average", "vote", "random"}, default="last"
        A vote needs the kernel values of a new object with every support row once; the scores of all weight
        vectors are prefix sums of them.

    Examples
    --------
    >>> from perceptrons import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelPerceptron(kernel="polynomial", max_iter=None, shuffle=False).fit(X, y)
    >>> clf.predict(X), clf.stop_reason_, clf.n_support_
    (array([0, 1, 1, 0]), 'clean pass', 4)

    With a string kernel:

    >>> words = KernelPerceptron(kernel="spectrum", shuffle=False)
    >>> words.fit(["free prize now", "see you soon"], ["spam", "ham"]).predict(["a prize for you"])
    array(['spam'], dtype='<U4')
    """
