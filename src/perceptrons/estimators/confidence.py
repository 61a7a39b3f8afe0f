r"""Second-order learners: w with a covariance that knows which directions have been seen often."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from .. import rules
from ..engine import spaces
from . import checks
from .checks import estimator
from .one_row import Streaming


@estimator
class SecondOrder(Streaming):
    r"""Learners with a covariance; several classes: one against the rest.

    Attributes
    ----------
    covariance_ : ndarray
        :math:`\Sigma`, or its diagonal, of each learner; the constant coordinate last, where there is one.
    margin_bounds_ : None
        No margin is stated.
    """

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        raise ValueError(f"{type(self).__name__} starts from w = 0; drop coef_init and intercept_init.")

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"rule": learner.rule, "covariance": learner.trimmed_sigma()}

    @property
    def covariance_(self) -> np.ndarray:
        """Sigma (or its diagonal) of each learner; the constant coordinate last, where there is one."""
        learners = self._fitted("covariance_").learners
        return np.stack([learner.trimmed_sigma() for learner in learners])


@estimator
class SecondOrderPerceptron(SecondOrder):
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

    a: float = 1.0

    _of_state = ("a",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("a", self.a)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        return spaces.Confident(rules.SecondOrder(), frame, n_features, full=True, start=1.0 / float(self.a))

    def _linear_scores(self, X: Any) -> np.ndarray:
        # v'(A + xx')^{-1} x = <w, x> / (1 + x' A^{-1} x)
        learners = self._space.learners
        rows = self._rows(X)
        variances = np.stack([learner.variances(rows, X.shape[0]) for learner in learners], axis=1)
        return super()._linear_scores(X) / (1.0 + variances)


@estimator
class AROW(SecondOrder):
    r"""Adaptive regularisation of weights.

    With :math:`m = y\langle w, x\rangle < 1`, :math:`v = x^\top\Sigma x`, :math:`\beta = 1/(v + r)`:
    :math:`w \leftarrow w + \beta(1 - m)\,y\,\Sigma x` and
    :math:`\Sigma \leftarrow \Sigma - \beta\,\Sigma x x^\top\Sigma`.

    With :math:`\mathcal M` the updates that are errors, :math:`\mathcal U` the others,
    :math:`X = \sum xx^\top` over both and any u, as published [1]_:
    :math:`|\mathcal M| \le \sqrt{r\|u\|^2 + u^\top X u}\,\sqrt{\ln\det(I + X/r) + |\mathcal U|} +
    \sum\max(0, 1 - y\langle u,x\rangle) - |\mathcal U|`. Robust against wrong labels: one row moves
    w only so far.

    Parameters
    ----------
    r : float, default=1.0
        :math:`r > 0`; larger is more cautious.
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

    r: float = 1.0
    covariance: str = "diagonal"

    _of_state = ("covariance",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("r", self.r)
        checks.one_of("covariance", self.covariance, ("diagonal", "full"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        return spaces.Confident(rules.AROW(float(self.r)), frame, n_features, full=self.covariance == "full")


@estimator
class SCW(SecondOrder):
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

    eta: float = 0.9
    C: float = 1.0
    variant: str = "I"
    covariance: str = "diagonal"

    _of_state = ("covariance",)

    def _check_params(self) -> None:
        super()._check_params()
        if checks.positive("eta", self.eta, below=1.0) <= 0.5:
            raise ValueError(f"eta must lie between 1/2 and 1; got eta={self.eta!r}.")
        checks.positive("C", self.C)
        checks.one_of("variant", self.variant, ("I", "II"))
        checks.one_of("covariance", self.covariance, ("diagonal", "full"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        phi = NormalDist().inv_cdf(float(self.eta))
        kind = rules.SCW1 if self.variant == "I" else rules.SCW2
        rule = kind(phi, float(self.C))
        return spaces.Confident(rule, frame, n_features, full=self.covariance == "full")
