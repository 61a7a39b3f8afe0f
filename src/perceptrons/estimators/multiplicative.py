r"""Learners that multiply instead of adding: Winnow, balanced Winnow, and their relatives.

Dense rows and few relevant inputs: Winnow. Sparse rows and a dense target: the perceptron.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._sparse import is_sparse
from ..engine import spaces
from ..engine.loops import multiplicative
from . import checks
from .checks import estimator
from .one_row import Streaming


def check_range(name: str, X: Any, *, binary: bool) -> None:
    """Refuse inputs outside {0, 1} or [0, 1], naming the first."""
    values = X.data if is_sparse(X) else X
    wrong = (values != 0.0) & (values != 1.0) if binary else ~((values >= 0.0) & (values <= 1.0))
    if not wrong.any():
        return
    found = values[wrong]
    if not np.isfinite(found).all():
        raise ValueError(f"Input X contains {'NaN' if np.isnan(found).any() else 'infinity'}.")
    bad = found[0] if found.min() >= 0.0 else found.min()
    negative = "Negative values in data: " if bad < 0.0 else ""  # scikit-learn's words
    kind = "0 or 1" if binary else "between 0 and 1"
    way = "KBinsDiscretizer or Binarizer" if binary else "MinMaxScaler(clip=True)"
    raise ValueError(f"{negative}{name} needs inputs that are {kind}; got {bad:g}. Put a {way} before it.")


def linked(model: Any, name: str) -> np.ndarray:
    """The sums from which the weights are made, one row a learner."""
    learners = model._fitted(name).learners
    sums = np.stack([learner.parameters() for learner in learners])
    return sums if model.fit_intercept else np.ascontiguousarray(sums[:, :-1])


@estimator
class Thresholded(Streaming):
    """Learners of disjunctions: no intercept, a tie is positive, one learner per class beyond two."""

    _counts_loss = False

    fit_intercept: ClassVar[bool] = False  # type: ignore[misc]  # a threshold takes its place
    intercept_scaling: ClassVar[float] = 1.0  # type: ignore[misc]
    row_norm: ClassVar[None] = None  # type: ignore[misc]  # inputs are 0 to 1 as they are

    def _threshold(self) -> Any:
        return self._space.offset()

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"bias": 1.0, "free": True}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"threshold": learner.threshold()}

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        raise ValueError(f"{type(self).__name__} starts from all weights equal; drop coef_init.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # on data that are no disjunction, as in scikit-learn's checks
        return tags


@estimator
class Winnow(Thresholded):
    r"""Winnow: learns a disjunction among many irrelevant inputs.

    :math:`w = (1, …, 1)`; positive iff :math:`\langle w, x\rangle \ge \theta`. On a false negative
    :math:`w_i \leftarrow w_i\,\alpha^{x_i}`; on a false positive :math:`w_i \leftarrow w_i\,\alpha^{-x_i}`
    (Winnow2), or :math:`w_i \leftarrow 0` where :math:`x_i > 0` (Winnow1).

    If the target is an OR of r of the n inputs, :math:`\alpha = 2,\ \theta = n`: at most
    :math:`1 + 2r\lceil\log_2 n\rceil` mistakes (Winnow1), :math:`1 + 3r\lceil\log_2 n\rceil` (Winnow2):
    irrelevant inputs cost their logarithm only [1]_. One wrong label can cost Winnow1 a relevant input
    for good; use Winnow2 whenever labels may be wrong.

    Parameters
    ----------
    kind : {1, 2}, default=2
        What a false positive does: Winnow1 or Winnow2.
    alpha : float, default=2.0
        :math:`\alpha > 1`.
    threshold : float or None, default=None
        :math:`\theta \ge 1`; None: the number of inputs.

    Attributes
    ----------
    n_promotions_ : int
        Updates on positive rows.
    n_demotions_ : int
        Updates on negative rows.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`-\theta`.
    margin_bounds_ : None
        No margin is stated.

    References
    ----------
    .. [1] N. Littlestone, Learning quickly when irrelevant attributes abound, Machine Learning 2, 1988.

    Examples
    --------
    The target is input 0. The first row is a false negative (2 < 4): inputs 0 and 1 are doubled.

    >>> from perceptrons import Winnow
    >>> clf = Winnow(shuffle=False).fit([[1, 1, 0, 0], [0, 1, 1, 0]], [1, 0])
    >>> clf.coef_, clf.intercept_, clf.n_mistakes_
    (array([[2., 2., 1., 1.]]), array([-4.]), 1)
    """

    kind: int = 2
    alpha: float = 2.0
    threshold: float | None = None

    _of_state = ("kind", "threshold")

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("kind", self.kind, (1, 2))
        if checks.positive("alpha", self.alpha) <= 1.0:
            raise ValueError(f"alpha must be greater than 1; got alpha={self.alpha!r}.")
        if self.threshold is not None and checks.positive("threshold", self.threshold) < 1.0:
            raise ValueError(f"threshold must be at least 1; got threshold={self.threshold!r}.")

    def _check_values(self, X: Any) -> None:
        check_range(f"Winnow(kind={self.kind})", X, binary=self.kind == 1)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        theta = float(n_features if self.threshold is None else self.threshold)
        link = multiplicative.Winnow(float(self.alpha), theta, self.kind == 1)
        return spaces.Multiplicative(link, frame, n_features, follow=self.threshold is None)

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        promotions = int(learner.promotions())
        return super()._learner_fields(r, learner) | {"promotions": promotions}

    def _promotions(self) -> int:
        return int(sum(learner.promotions() for learner in self._fitted("n_promotions_").learners))

    @property
    def n_promotions_(self) -> int:
        """Updates on positive rows."""
        return self._promotions()

    @property
    def n_demotions_(self) -> int:
        """Updates on negative rows."""
        return self.n_updates_ - self._promotions()


@estimator
class Elimination(Thresholded):
    r"""Learns a disjunction by striking out refuted literals.

    Positive iff a standing literal is true. A false positive strikes out every literal true in it. A false
    negative changes nothing, and proves that no disjunction of these literals fits.

    If the target is an OR of r literals: at most :math:`n - r` mistakes (monotone), :math:`n + 1 - r`
    (with negations); both are attained.

    Parameters
    ----------
    literals : {"monotone", "all"}, default="monotone"
        The inputs, or the inputs and their negations.

    Attributes
    ----------
    literals_ : ndarray of bool, (1 or n_classes, n) or (1 or n_classes, 2n)
        Which literals stand: the inputs, then their negations.
    inconsistent_ : bool
        A false negative was met.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        1 where an input stands, less 1 where its negation does.
    intercept_ : ndarray of shape (1 or n_classes,)
        What makes the score of a row without a true literal negative.
    margin_bounds_ : None
        No margin is stated.

    Examples
    --------
    >>> from perceptrons import Elimination
    >>> clf = Elimination(shuffle=False).fit([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [1, 0, 0])
    >>> clf.literals_, clf.n_mistakes_
    (array([[ True, False, False]]), 2)
    """

    literals: str = "monotone"

    _of_state = ("literals",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("literals", self.literals, ("monotone", "all"))

    def _check_values(self, X: Any) -> None:
        check_range("Elimination", X, binary=True)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        return spaces.Elimination(frame, n_features, self.literals == "all")

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return super()._learner_fields(r, learner) | {"literals": int(self.literals_[r].sum())}

    @property
    def literals_(self) -> np.ndarray:
        """Which literals stand."""
        learners = self._fitted("literals_").learners
        d = self._space.n_features
        alive = np.stack([learner.alive[:d] > 0 for learner in learners])
        if not learners[0].with_negations:
            return alive
        return np.hstack([alive, np.stack([learner.negated[:d] > 0 for learner in learners])])

    @property
    def inconsistent_(self) -> bool:
        """Whether some positive row was refuted by all standing literals."""
        return self._fitted("inconsistent_").counts().refused > 0


@estimator
class BalancedWinnow(Streaming):
    r"""Balanced Winnow (EG±): Winnow for general linear thresholds.

    Each input is there twice, as :math:`x_i` and :math:`-x_i`, with positive weights. With
    :math:`z = \eta\sum y x` over the mistakes so far,
    :math:`w_i = \sinh z_i/\sum_j\cosh z_j`; on a mistake :math:`z \leftarrow z + \eta y x`.

    If :math:`\|u\|_1 = 1,\ y\langle u, x\rangle \ge \gamma,\ \|x\|_\infty \le X` and
    :math:`\eta = \gamma/X^2`: at most :math:`2X^2\ln(2n)/\gamma^2` mistakes; for any
    :math:`\eta < 2\gamma/X^2`, :math:`\ln(2n)/(\eta\gamma - \eta^2X^2/2)` [1]_. The dimension n enters by its
    logarithm.

    Parameters
    ----------
    eta : float, default=0.1
        :math:`\eta`; there is no value that is safe for all data.

    Attributes
    ----------
    z_ : ndarray of shape (1 or n_classes, n_features), one column more with an intercept
        :math:`z`.
    margin_bounds_ : (float or None, float)
        Around the best margin :math:`\min y\langle u, x\rangle` of any u with :math:`\|u\|_1 = 1`.

    References
    ----------
    .. [1] J. Kivinen, M. Warmuth, Exponentiated gradient versus gradient descent, Information and
       Computation 132, 1997.

    Examples
    --------
    The halfspace :math:`3x_5 + 5x_8 - 2x_{11} \ge 5` among n = 1000 inputs, 0 or 1. The left side is 5 or
    more, or 3 or less; with the threshold at 4, :math:`\|u\|_1 = 3 + 5 + 2 + 4 = 14` and the margin is 1.
    The 997 inputs that do not matter enter the bound by their logarithm only.

    >>> import numpy as np
    >>> from perceptrons import BalancedWinnow, theory
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(4000, 1000)).astype(float)
    >>> y = 3 * X[:, 5] + 5 * X[:, 8] - 2 * X[:, 11] >= 5
    >>> gamma = 1 / 14
    >>> bound = theory.balanced_winnow(1.0, gamma, 1001)
    >>> clf = BalancedWinnow(eta=gamma, max_iter=None, shuffle=False).fit(X, y)
    >>> clf.stop_reason_, clf.n_mistakes_ <= bound, sorted(np.argsort(-abs(clf.coef_[0]))[:3].tolist())
    ('clean pass', True, [5, 8, 11])
    """

    eta: float = 0.1
    mistake: str = "margin"

    _counts_loss = False

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("eta", self.eta)
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        link = multiplicative.Balanced(float(self.eta))
        return spaces.Multiplicative(link, frame, n_features, self.mistake == "prediction")

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        raise ValueError("BalancedWinnow starts from z = 0; drop coef_init and intercept_init.")

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"order": 1.0}

    @property
    def z_(self) -> np.ndarray:
        """eta times the sum of the mistaken rows; with an intercept its constant coordinate comes last."""
        return linked(self, "z_")


@estimator
class PNormPerceptron(Streaming):
    r"""The p-norm perceptron: between the perceptron (p = 2) and Winnow (large p).

    On a mistake :math:`\theta \leftarrow \theta + y x`; predict with
    :math:`w_i = \operatorname{sign}(\theta_i)|\theta_i|^{p-1}/\|\theta\|_p^{p-2}`.

    With :math:`1/p + 1/q = 1`, :math:`y\langle u, x\rangle \ge \gamma` and :math:`\|x\|_p \le X_p`: at most
    :math:`(p-1)X_p^2\|u\|_q^2/\gamma^2` mistakes, as published [1]_. :math:`p = 2\ln n` has Winnow's order.

    Parameters
    ----------
    p : float, default=2.0
        :math:`p \ge 2`.

    Attributes
    ----------
    theta_ : ndarray of shape (1 or n_classes, n_features), one column more with an intercept
        :math:`\theta`.
    margin_bounds_ : (float or None, float)
        Around the best margin of any u with :math:`\|u\|_q = 1`.

    References
    ----------
    .. [1] A. Grove, N. Littlestone, D. Schuurmans, General convergence results for linear discriminant
       updates, Machine Learning 43, 2001.

    Examples
    --------
    >>> from perceptrons import PNormPerceptron
    >>> clf = PNormPerceptron(p=4, shuffle=False, fit_intercept=False).fit([[2.0, 0], [0, 1.0]], [1, 0])
    >>> clf.theta_
    array([[ 2., -1.]])
    """

    p: float = 2.0
    mistake: str = "margin"

    _of_state = ("p",)
    _counts_loss = False

    def _check_params(self) -> None:
        super()._check_params()
        if checks.positive("p", self.p) < 2.0:
            raise ValueError(f"p must be at least 2; got p={self.p!r}.")
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        link = multiplicative.PNorm(float(self.p))
        return spaces.Multiplicative(link, frame, n_features, self.mistake == "prediction")

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        raise ValueError("PNormPerceptron starts from theta = 0; drop coef_init and intercept_init.")

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        p = float(self._learned_with("p"))
        return super()._record_fields(evidence) | {"order": p / (p - 1.0)}

    @property
    def theta_(self) -> np.ndarray:
        """The sum of the mistaken rows; with an intercept its constant coordinate comes last."""
        return linked(self, "theta_")
