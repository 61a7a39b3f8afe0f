r"""First-order learners: a rule, a readout, and one w (or one per class).

Parameters that all of them share are described once, in :class:`OnlineClassifier`.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import rules
from ..engine import multiclass, spaces
from ..engine.custom import engine_rule
from . import changing, checks
from .checks import estimator
from .one_row import Streaming
from .online import Batch

READOUTS = ("last", "average", "vote", "random")


@estimator
class FirstOrder(Streaming):
    """Learners whose w is a combination of rows."""

    readout: str = "last"
    include_initial: bool = False
    normalized_votes: bool = False
    multiclass: str = "joint"

    _has_joint: ClassVar[bool] = True
    _READOUTS: ClassVar[tuple[str, ...]] = READOUTS

    def _rule(self) -> Any:
        """The record of the rule in force."""
        raise NotImplementedError

    def _rule_in_force(self) -> Any:
        """The record that the last rows were learned by, whatever the parameters are now."""
        if "_space" not in vars(self):
            return self._rule()
        return getattr(self._core, "learners", [self._core])[0].rule

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"rule": self._rule_in_force()}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"rule": learner.rule}

    def _keeps_average(self) -> bool:
        learners = getattr(self._core, "learners", [self._core])
        return any(getattr(learner, "A", None) is not None for learner in learners)

    def _scheme(self) -> Any:
        """Which classes move on an update."""
        return multiclass.Top()

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("readout", self.readout, self._READOUTS)
        checks.flag("include_initial", self.include_initial)
        checks.flag("normalized_votes", self.normalized_votes)
        if self._has_joint:
            checks.one_of("multiclass", self.multiclass, ("joint", "ovr"))

    @property
    def _readout(self) -> str:
        return self.readout

    @property
    def _unit_votes(self) -> bool:
        return self.normalized_votes

    def _include_initial(self) -> bool:
        return self.include_initial

    def _lane_serves(self) -> bool:
        kept = getattr(self._space, "track_name", "last")
        return self.readout == kept and not self.normalized_votes and not self.include_initial

    def _is_joint(self) -> bool:
        return self._has_joint and self.multiclass == "joint"

    def _track(self) -> str:
        if self._readout != "average":
            return "last"
        return "unit" if self.normalized_votes else "average"

    def _by_prediction(self) -> bool:
        return getattr(self, "mistake", "margin") == "prediction"

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        return spaces.Linear(self._rule(), frame, n_features, self._track(), self._by_prediction())

    def _joint_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> Any:
        return spaces.Joint(
            self._rule(),
            frame,
            n_features,
            n_classes,
            self._scheme(),
            self._track(),
            self._by_prediction(),
        )

    def _checked_order(self, order: Any, batch: Batch) -> Any:
        orders = super()._checked_order(order, batch)
        if orders is None and self.max_iter is None and isinstance(self._rule(), rules.RateByExamples):
            warnings.warn(
                "max_iter=None goes on until a clean pass, and steps of 1/t shrink so fast that there may be "
                "none in any reasonable time, also on separable rows; give max_iter, or learning_rate=1.0.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return orders

    def _weighted(self) -> bool:
        return isinstance(self._rule(), rules.WEIGHTED)

    def _score_row(self, row: Any) -> np.ndarray:
        # the weights of all features are not needed for one row
        readout = self._readout
        if readout not in ("last", "average") or self.normalized_votes:
            return super()._score_row(row)
        changing.check_readout(self)
        scores = self._space.scores(self._rows(row), readout)[0]
        if readout == "average" and self.include_initial:
            t = max(1, self._examples())
            scores = scores * (t / (t + 1.0))
        return scores[0] if len(scores) == 1 else scores

    def _pair_factor(self) -> float:
        counting = (rules.Perceptron, rules.RateByUpdates, rules.RateByExamples, rules.Margin)
        return 1.0 if isinstance(self._rule(), counting) else 0.5


@estimator
class OnlineClassifier(FirstOrder):
    r"""Any rule, any readout: the learner of which the others are special cases.

    For each row :math:`x` with label :math:`y` the rule sees :math:`m = y\langle w, x\rangle` and
    :math:`q = \|x\|^2` and answers :math:`(\kappa, \tau)`; then
    :math:`w \leftarrow \kappa w + \tau y x`. With more than two classes
    :math:`m = s_y - \max_{r \ne y} s_r`, :math:`q = 2\|x\|^2`, and the prototypes of the true class and of
    its best rival move by :math:`\pm\tau x`.

    The intercept is the weight of a constant coordinate :math:`B`, so :math:`q` contains :math:`B^2`; every
    theorem about hyperplanes through the origin holds for the augmented rows.

    Parameters
    ----------
    rule : record of :mod:`perceptrons.rules`, its name, or a function under :func:`perceptrons.rules.rule`
        Default: ``rules.Perceptron()``. Names, such as ``"pa1"``, are those of ``rules.NAMES``.
    fit_intercept : bool, default=True
    intercept_scaling : float or "auto", default=1.0
        :math:`B`. It counts in the length of a row. ``"auto"``: 0.3 times the median length of the rows of a
        ``fit``, kept as ``intercept_scaling_``. Use it where rows are not much longer than 1, such as tf-idf
        rows of length 1: with :math:`B = 1` half of each step would go to the intercept. ``partial_fit`` and
        ``learn_one`` do not see all rows and take a number.
    row_norm : {None, "l2"}, default=None
        ``"l2"`` divides each row, with its constant coordinate, by its length.
    mistake : {"margin", "prediction"}, default="margin"
        What a mistake is when the score is 0: always one (``margin``), or only if the prediction, which
        is the smaller label, is wrong.
    readout : {"last", "average", "vote", "random"}, default="last"
        Which weights predict: the last, their average over the examples, a vote in which each weight
        vector counts for the examples it survived, or one vector drawn at random (once per fit).
    include_initial : bool, default=False
        Give the initial vector one more vote; the theorems on voting need it.
    normalized_votes : bool, default=False
        Use :math:`w/\|w\|` for each vector in the average, and for ``last`` and ``random``.
    multiclass : {"joint", "ovr"}, default="joint"
        More than two classes: prototypes learned together, or one learner per class against the rest.
    max_iter : int or None, default=20
        Largest number of epochs; None: until a pass without update.
    shuffle : bool, default=True
        A fresh permutation before every epoch.
    random_state : int, numpy generator or None, default=None
    class_weight : dict, "balanced", "running" or None, default=None
        Multiplies the weights of the rows. ``"balanced"``: :math:`n/(k\,n_c)` for the :math:`n_c` rows of a
        class among the n rows of a fit with k classes; ``partial_fit`` and ``learn_one``, which do not see
        all rows, refuse it. ``"running"``: the same by the counts up to and including the row, so that any
        cut into batches makes the same model. Rows of weight 0 are not counted; the counts go on from epoch
        to epoch and from call to call, and are stored with the model.
    warm_start : bool, default=False
        ``fit`` goes on from the weights it finds.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows and stop after ``n_iter_no_change`` epochs without a
        better score on them. The epoch with the best score is kept, with its counts, log and bracket; see
        ``best_iter_``. ``partial_fit`` and ``learn_one`` refuse it.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    tol : float or None, default=None
        Stop, too, after ``n_iter_no_change`` epochs in a row whose mean loss is not below the least so far
        by ``tol`` or more. The loss of a row is :math:`\max(0, 1 - m)^2`, before the row is learned. None:
        the loss stops nothing. For learners that count this loss, so not for the multiplicative ones.
    log_updates : bool, default=False
        Keep ``update_log_``.
    max_log : int, default=10_000_000
        Refuse a log longer than this.
    callback : callable or None, default=None
        Called as ``callback(estimator)`` after each epoch; a true answer stops. scikit-learn's own callbacks,
        such as its ``ProgressBar``, are set by :meth:`set_callbacks`.
    n_jobs : int or None, default=None
        Threads for one-vs-rest.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, n_iter_
        As in scikit-learn.
    n_mistakes_, n_updates_, n_errors_ : int
        Rows on the wrong side or on the hyperplane; updates; wrong predictions of the last w. One-vs-rest:
        the sums.
    progressive_errors_, progressive_rows_ : int
        Wrong predictions of the readout in force, each made before its row was learned, and the rows that are
        counted: those of ``partial_fit``, and of ``learn_one`` where that costs nothing (the last w of one
        learner) or :meth:`set_progressive` asks for it. The first row of a label that was not declared is an
        error. Not for vote and random, nor on a GPU; ``fit`` counts nothing.
    history_ : list of dict
        The same counts per epoch, up to the one that is kept.
    best_iter_ : int
        With ``early_stopping``: the epoch that is kept, counted from 1; ``n_iter_`` counts all that were run,
        and ``validation_scores_`` has their scores. With ``order=`` the last one is kept.
    stop_reason_ : str
        ``"clean pass"``, ``"max_iter"``, ``"no improvement"``, ``"callback"``, ``"end of order"``,
        ``"failed"`` …
    intercept_scaling_ : float
        The :math:`B` that was learned with; 0 without an intercept.
    radius_ : float
        Length of the longest row.
    margin_bounds_ : (float or None, float)
        :math:`\gamma_{low} = \min y\langle w,x\rangle/\|w\|` and :math:`\gamma_{up} = \|w\|/\sum\tau`, each
        rounded to the side on which it is true: no separator has a margin beyond :math:`\gamma_{up}`. A pair
        per class for one-vs-rest. :math:`\gamma_{low}` is :math:`-\infty` where w does not separate the rows,
        None where they were not read again.
    update_log_ : structured array
        Epoch, row and step of every update, with ``log_updates=True``.

    Examples
    --------
    >>> from perceptrons import OnlineClassifier, rules
    >>> clf = OnlineClassifier(rule=rules.PA1(C=0.5), shuffle=False, fit_intercept=False)
    >>> clf.fit([[1.0, 0.0], [0.0, 2.0]], [1, 0]).coef_
    array([[ 1.  , -0.5]])
    """

    rule: Any = None
    mistake: str = "margin"
    class_weight: Any = None

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))
        rule = self._rule()
        self._check_rule(rule)
        for name in getattr(rule, "_fields", ()):
            where = f"rule {type(rule).__name__}.{name}"
            checks.positive(where, getattr(rule, name), zero=name in ("p", "delta"))

    def _check_rule(self, rule: Any) -> None:
        if not isinstance(rule, rules.UserRule) and type(rule) not in rules.FIRST_ORDER:
            own = {rules.AROW: "AROW", rules.SCW1: "SCW", rules.SCW2: "SCW"}.get(type(rule))
            way = "" if own is None else f" Use perceptrons.{own}, or a TextClassifier with this rule."
            raise rules.RuleError(
                "rule must be a first-order record of perceptrons.rules, or a function under "
                f"@rules.rule; got {rule!r}.{way}"
            )
        engine_rule(rule)  # a user's rule that does not compile is refused here, before anything changes

    def _rule(self) -> Any:
        return rules.Perceptron() if self.rule is None else rules.named(self.rule)

    def _weighted(self) -> bool:
        rule = self._rule()
        return rule.weighted if isinstance(rule, rules.UserRule) else super()._weighted()

    def _zero_row_is_a_mistake(self) -> bool:
        return self.mistake == "margin"
