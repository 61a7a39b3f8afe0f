"""The base class of online learners: fit, partial_fit, learn_one, and what subclasses may override.

A subclass defines the rule and the space. How rows are learned is in functions of other modules: ``fitting``
and ``epochs`` for ``fit``, ``segments`` for ``partial_fit``, ``one_row`` for single rows, ``passes`` for the
pass that all of them make, ``starting`` for the first state of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from ..engine import spaces
from ..engine.journal import Journal
from ..engine.predictions import Predictions
from . import (
    calibrating,
    changing,
    checks,
    epochs,
    fitting,
    one_row,
    passes,
    progressive,
    segments,
    starting,
    stopping,
)
from .callbacks import Watch
from .labels import LabelBook
from .parameters import spec
from .passes import CheckedRows, Write
from .readouts import Readout
from .run_attributes import RunAttributes
from .run_records import Mixing, online_fields
from .threads import n_threads
from .writing import disable_fast_path

if TYPE_CHECKING:
    from .._types import AnyMatrix, Label, MatrixLike, Objects
    from ..engine.draws import RandomSource
    from ..engine.spaces import Counts, LinearSpace, SingleSpace, Space
    from .class_weights import Counted
    from .writing import Access, FastPath


@spec
class Learner(RunAttributes):
    r"""Base class of the online learners.

    Parameters
    ----------
    max_iter : int or None, default=20
        Largest number of epochs; None: until a pass without update.
    shuffle : bool, default=True
        A fresh permutation before every epoch.
    random_state : int, numpy generator or None, default=None
        Draws the permutations, and all other random numbers.
    class_weight : dict, "balanced", "running" or None, default=None
        Multiplies the weights of the rows. ``"balanced"``: :math:`n/(k\,n_c)` for the :math:`n_c` rows of a
        class among the n rows of a fit with k classes; ``partial_fit`` and ``learn_one``, which do not see
        all rows, refuse it. ``"running"``: the same by the counts up to and including the row, so that any
        cut into batches makes the same model. Rows of weight 0 are not counted; the counts add up from epoch
        to epoch and from call to call, and are stored with the model.
    mistake : {"margin", "prediction"}, default="margin"
        What a mistake is when the score is 0: always one (``margin``), or only if the prediction, which
        is the smaller label, is wrong.
    warm_start : bool, default=False
        ``fit`` starts from the present weights.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows and stop after ``n_iter_no_change`` epochs without a
        better score on them. The epoch with the best score is kept, with its counts, log and bracket; see
        ``best_iter_``. ``partial_fit`` and ``learn_one`` refuse it.
    validation_fraction : float, default=0.1
        Of the rows, for ``early_stopping``.
    n_iter_no_change : int, default=5
        Epochs without improvement that ``early_stopping`` and ``tol`` wait for.
    tol : float or None, default=None
        Stop, too, after ``n_iter_no_change`` epochs in a row whose mean loss is not below the least so far
        by ``tol`` or more. The loss of a row is :math:`\max(0, 1 - m)^2`, before the row is learned. None:
        the loss stops nothing. For learners that count this loss, so not for the multiplicative ones.
    log_updates : bool, default=False
        Keep ``update_log_``.
    max_log : int, default=10_000_000
        Refuse a log longer than this.
    callback : callable or None, default=None
        Called as ``callback(estimator)`` after each epoch; a true result stops. scikit-learn's own callbacks,
        such as its ``ProgressBar``, are set by :meth:`set_callbacks`.
    n_jobs : int or None, default=None
        Threads for one-vs-rest.
    verbose : int, default=0
        1: progress on standard error.

    Attributes
    ----------
    n_iter_ : int
        Epochs that were run; 1 after ``partial_fit``.
    n_mistakes_ : int
        Rows on the wrong side of the hyperplane or on it; one-vs-rest: the sum, as of the other counts.
    n_updates_ : int
        Updates.
    n_errors_ : int
        Wrong predictions of w as it was before each row was learned.
    progressive_errors_ : int
        Wrong predictions of the readout in force, each made before its row was learned. Counted are the rows
        of ``partial_fit``, and of ``learn_one`` where that costs nothing (the last w of one learner) or
        :meth:`set_progressive` sets it. The first row of a label that was not declared is an error. Not
        for vote and random, nor on a GPU; ``fit`` counts nothing.
    progressive_rows_ : int
        The rows that ``progressive_errors_`` counts.
    history_ : list of dict
        Examples, mistakes, updates and errors of each epoch, up to the one that is kept.
    best_iter_ : int
        With ``early_stopping``: the epoch that is kept, counted from 1; ``n_iter_`` counts all that were run.
        With ``order=`` the last one is kept.
    validation_scores_ : list of float
        With ``early_stopping``: the score of each epoch on the rows held out.
    stop_reason_ : str
        ``"clean pass"``, ``"max_iter"``, ``"no improvement"``, ``"callback"``, ``"end of order"``,
        ``"failed"`` …
    intercept_scaling_ : float
        The :math:`B` that was learned with; 0 without an intercept.
    radius_ : float
        Length of the longest row.
    margin_bounds_ : :class:`perceptrons.theory.Bracket`, or a list of them
        :math:`\gamma_{low} = \min y\langle w,x\rangle/\|w\|` and :math:`\gamma_{up} = \|w\|/\sum\tau`, each
        rounded to the side on which it is true: no separator has a margin beyond :math:`\gamma_{up}`. A pair
        per class for one-vs-rest. :math:`\gamma_{low}` is :math:`-\infty` where w does not separate the rows,
        None where they were not read again. With an intercept this is the margin of the augmented rows
        :math:`(x, B)`, in which the weight of :math:`B` is part of :math:`\|w\|`; ``margin_bounds_.space``
        says so. The distance of the rows as given from a hyperplane anywhere is another margin, at least as
        large: :class:`perceptrons.MaxMargin` finds it, ``free_margin_bounds_`` encloses it. Rows far from the
        origin may have 0.55 as their best margin in one sense and 1.10 in the other.
    free_margin_bounds_ : :class:`perceptrons.theory.Bracket`, a list of them or None
        The same for the margin with a free offset: :math:`\min y(\langle w,x\rangle + b)/\|w\|` and
        :math:`(\|w\| + R_0|\Delta|)/(\sum\tau + |\Delta|)`, where :math:`w` and :math:`R_0` are without
        the constant coordinate and :math:`\Delta = \sum\tau y`. For linear learners that go from w = 0 by
        steps :math:`\tau \ge 0`, with an intercept, without ``row_norm``, on two classes or one against
        the rest; None for others. :math:`\gamma_{up}` is :math:`\infty` until both classes are known to
        have rows. :func:`perceptrons.theory.gamma_up_free` can move the rows as well, and give less.
    sum_sq_norms_ : float
        Squared lengths of the rows that were updated on, summed over the updates; 0 for learners whose
        updates do not add rows to w: multiplicative and second-order ones.
    update_log_ : structured array
        Epoch, row and step of every update, with ``log_updates=True``.
    """

    max_iter: int | None = 20
    shuffle: bool = True
    random_state: int | RandomSource | None = None
    warm_start: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    tol: float | None = None
    callback: Callable[[Any], object] | None = None
    n_jobs: int | None = None
    verbose: int = 0

    if TYPE_CHECKING:  # a parameter of some classes and a constant of others; attributes that learning sets

        @property
        def multiclass(self) -> str: ...

        _names: dict[str, int] = field(init=False)  #: columns of named features
        _counted: Counted = field(init=False)
        _counting: dict[str, bool] = field(init=False)  #: calls that count progressive errors
        _fast_path: FastPath = field(init=False)
        _writer: Access = field(init=False)
        _plain: bool = field(init=False)  #: rows of weight 0 or 1, each once an epoch, as the theorems assume
        _changed: tuple[str, ...] = field(init=False)  #: parameters that have changed since the start
        _mixing: Mixing = field(init=False)  #: where passes over several shards were mixed, and none since
        history_: list[dict[str, Any]] = field(init=False)
        n_iter_: int = field(init=False)
        stop_reason_: str = field(init=False)
        best_iter_: int = field(init=False)
        validation_scores_: list[float] = field(init=False)

    #: the classes may have prototypes that are learned together
    _has_joint: ClassVar[bool] = False
    _reads_csr_rows: ClassVar[bool] = True
    #: the loops can record the scores that ``decision_function`` has, before each row is learned
    _records_scores: ClassVar[bool] = True
    #: the loops sum the hinge losses of the rows
    _counts_loss: ClassVar[bool] = True
    #: parameters of the state, beside those of frames and readouts
    _of_state: ClassVar[tuple[str, ...]] = ()

    def _check_params(self) -> None:
        super()._check_params()
        checks.run_parameters(self)
        calibrating.check_run(self)

    # ------------------------------------------------------------ frames and spaces

    def _kept_frame(self) -> spaces.Frame | None:
        return self._space.frame if "_space" in vars(self) else None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "_fast_path" in self.__dict__ and name in self.__dataclass_fields__:
            disable_fast_path(self)  # it uses the parameters that it was made with

    @property
    def _labels(self) -> LabelBook:
        """The labels of the model, and their codes."""
        return LabelBook(self)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> SingleSpace:
        """A fresh space for two classes."""
        raise NotImplementedError

    def _joint_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> spaces.Joint:
        """A fresh joint space, where the class has one."""
        raise NotImplementedError

    def _space_kinds(self) -> tuple[type, ...]:
        """The classes of the spaces of two classes, or of the joint one."""
        raise NotImplementedError

    def _is_joint(self) -> bool:
        return self._has_joint

    def _prototypes(self) -> bool:
        """Whether the classes of the model were learned together."""
        return bool(self._space.joint)

    def _facts(self) -> rules.Facts:
        """The row of the rule table for this learner."""
        found = rules.facts_of(self)
        assert found is not None
        return found

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> Space:
        """A fresh space; ``several``: a row may have several of the classes, or none."""
        if several:
            learners = [self._binary_space(frame, n_features) for _ in range(n_classes)]
            return spaces.PerLabel(learners, self._n_threads())
        if n_classes <= 2:
            return self._binary_space(frame, n_features)
        if self._is_joint():
            return self._joint_space(frame, n_features, n_classes)
        learners = [self._binary_space(frame, n_features) for _ in range(n_classes)]
        return spaces.OneVsRest(learners, self._n_threads())

    def _n_threads(self) -> int:
        return n_threads(self.n_jobs)

    # ------------------------------------------------------------ the readout, and the record of a run

    @property
    def _readout(self) -> str:
        """Which weights predict: "last", "average", "vote" or "random"."""
        return "last"

    @property
    def _reading(self) -> Readout:
        """The readout in force."""
        return Readout(self, self._readout)

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        weights = self._record_weights(evidence)
        return super()._record_fields(evidence) | online_fields(self, evidence) | weights

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        """The last w and, as evidence, its average where it is kept."""
        space = cast("LinearSpace", self._space)
        weights = {"last": np.asarray(space.weights("last"), float)}
        if evidence and self._keeps_average():
            weights["average"] = np.asarray(space.weights("average"), float)
        return {"weights": weights}

    def _keeps_average(self) -> bool:
        """Whether the space has the average of w; the readout may be another one."""
        return False

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        """Further fields of the record of learner r, a space of the kind of :meth:`_space_kinds`."""
        return {}

    # ------------------------------------------------------------ the log of updates, scores, predictions

    def _keeps_journal(self) -> bool:
        return self.log_updates or self._reading.logged

    def _new_journals(self, space: Space) -> list[Journal]:
        """Empty logs, where updates are kept."""
        if not self._keeps_journal():
            return []
        return [self._journal(learner.columns, self.max_log) for learner in space.learners]

    def _examples(self, r: int = 0) -> int:
        """Examples seen by one learner."""
        return self._space.learners[r].counts().examples

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        return self._reading.weights(columns)

    def _scores(self, X: AnyMatrix) -> np.ndarray:
        changing.check_readout(self)
        return super()._scores(X)

    def _linear_scores(self, X: AnyMatrix) -> np.ndarray:
        return self._reading.votes(X) if self._readout == "vote" else super()._linear_scores(X)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        binary = scores.ndim == 1 and len(self.classes_) == 2
        if (binary or self._several) and self._space.ties:
            return (scores >= 0.0).astype(np.int64)
        return super()._decide(scores)

    @property
    def _several(self) -> bool:
        return "_space" in vars(self) and self._space.several

    # ------------------------------------------------------------ row weights

    def _weighted(self) -> bool:
        return self._facts().step.weighted

    # ------------------------------------------------------------ fit

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        order: Sequence[npt.ArrayLike] | None = None,
    ) -> Self:
        """Learn in epochs over the rows, until a clean pass or ``max_iter``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or of shape (n_samples, n_labels)
            Labels of any sortable type. Or an indicator matrix of 0 and 1, dense or sparse, of two columns
            or more: a row may have several labels, or none. Each label is then learned by a learner of its
            own against the rest, whatever ``multiclass`` says. A label that every row has, or none, is
            learned like the others.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 0 has no effect.
        coef_init, intercept_init : array-like, optional
            Weights to start from instead of 0.
        order : sequence of sequences of int, optional
            The rows to visit, one sequence per epoch; overrides ``shuffle`` and ``max_iter``.

        Returns
        -------
        self
        """
        fitting.fit(self, X, y, sample_weight, (coef_init, intercept_init), order)
        return self

    def _max_epochs(self, orders: list[np.ndarray] | None) -> int | None:
        """How many epochs there can be; None: any number."""
        return self.max_iter if orders is None else len(orders)

    def _start(
        self, batch: CheckedRows, coef_init: npt.ArrayLike | None, intercept_init: npt.ArrayLike | None
    ) -> Space:
        """A fresh space with the initial weights."""
        assert batch.frame is not None
        several = batch.codes.ndim == 2
        space = self._new_space(batch.frame, batch.X.shape[1], len(self.classes_), several)
        if coef_init is not None or intercept_init is not None:
            self._start_at(space, batch.X.shape[1], coef_init, intercept_init)
        return space

    def _start_at(
        self,
        space: Space,
        d: int,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
    ) -> None:
        """Set the initial weights of a fresh space, which adds rows."""
        cast("spaces.Additive | spaces.OneVsRest", space).start_at(
            starting.initial_weights(self, space, d, coef_init, intercept_init)
        )

    def _checked_order(
        self, order: Sequence[npt.ArrayLike] | None, batch: CheckedRows
    ) -> list[np.ndarray] | None:
        return epochs.checked_orders(order, batch.X.shape[0])

    def _run_epochs(self, batch: CheckedRows, orders: list[np.ndarray] | None, watch: Watch) -> None:
        epochs.run(self, batch, orders, watch)

    def _why_stop(self, batch: CheckedRows, record: dict[str, Any], clean: bool, stalled: bool) -> str | None:
        """A reason to stop after an epoch, or None."""
        return stopping.reason(self, batch, clean, stalled)

    def _record(self, counts: Counts) -> dict[str, Any]:
        """The record of an epoch in ``history_``."""
        return {
            "examples": counts.examples,
            "mistakes": counts.mistakes,
            "updates": counts.updates,
            "errors": counts.errors,
        }

    def _draw_step(self) -> None:
        """Choose the w that predicts, where one is drawn at random."""
        if self._readout == "random":
            self.random_step_ = self._reading.draw()

    # ------------------------------------------------------------ partial_fit

    def partial_fit(
        self,
        X: Objects,
        y: npt.ArrayLike,
        classes: Sequence[Label] | np.ndarray | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn one pass over the rows in the order given.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or of shape (n_samples, n_labels)
            Labels, or an indicator matrix as in :meth:`fit`.
        classes : array-like, optional
            All labels that will ever occur. Without it each class is added at its first row, however the
            rows are cut into batches; with it one pass is that of ``fit``, which has all labels. An indicator
            matrix has its labels, the numbers of its columns, in any case.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        segments.partial_fit(self, X, y, classes, sample_weight)
        return self

    def _run_pass(
        self, batch: CheckedRows, order: np.ndarray, write: Write, recorded: Predictions | None = None
    ) -> None:
        """Learn the rows of ``partial_fit`` or ``learn_one``; ``write`` gets the log of their updates."""
        passes.run_in_parts(self, batch, order, write, recorded)

    def _prepare_pass(self, batch: CheckedRows) -> None:
        """Update the attributes that depend on the rows, before the rows are learned."""
        passes.prepare(self, batch)

    # ------------------------------------------------------------ one row

    def learn_one(self, x: Any, y: Label) -> None:
        """Learn one row.

        Parameters
        ----------
        x : array of shape (n_features,) or dict
            A dict maps feature names to values; new names become new features. Kernel learners take the
            objects of their kernel.
        y : label
            A new label becomes a new class. Of several labels: a row of the indicator matrix.
        """
        fast = self.__dict__.get("_fast_path")
        if fast is not None and type(x) is fast.form and fast.learn(x, y):
            return
        # no fast path, a new name or label, or the fast path failed: this call learns the row or raises
        one_row.learn(self, x, y)

    def score_one(self, x: Any) -> float | list[float]:
        """Score of one row: a float, or a list of one per class for more than two classes."""
        fast = self.__dict__.get("_fast_path")
        if fast is not None and type(x) is fast.form and fast.serves:
            score: float | list[float] | None = fast.score(x)
            if score is not None:
                return score
        return one_row.score(self, x)

    def predict_one(self, x: Any) -> Label:
        """Label of one row as a type of Python: an int, a str, …; of several labels, a list of 0 and 1."""
        fast = self.__dict__.get("_fast_path")
        if fast is not None and type(x) is fast.form and fast.serves:
            found = fast.predict(x)
            if found is not None:
                return found[0]
        score = np.asarray([self.score_one(x)])
        code = self._decide(score)[0]
        return code.tolist() if self._several else one_row.python_label(self.classes_[code])

    def _score_row(self, row: AnyMatrix) -> float | np.ndarray:
        """The score of one row, or the scores of its classes."""
        score: float | np.ndarray = self._scores(row)[0]
        return score

    def _enable_fast_path(self, x: Any) -> None:
        """Prepare the fast path for further rows of the type of x."""
        one_row.enable_fast_path_for(self, x)

    def _fast_path_serves(self) -> bool:
        """Whether the fast path, which reads the weights of the loops, can score by the readout in force."""
        return True

    def _steady(self) -> bool:
        """Whether every row is learned by the same rule, with weight 1, and no score of it is kept."""
        return getattr(self, "class_weight", None) is None and not calibrating.on_first_visits(self)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of scikit-learn that are called for the fit and each epoch; without any: none.

        Parameters
        ----------
        *callbacks : instances that follow :class:`sklearn.callback.FitCallback`

        Returns
        -------
        self
        """
        self._contract.set_callbacks(self, *callbacks)
        return self

    def set_progressive(
        self,
        *,
        partial_fit: bool | None = None,
        learn_one: bool | None = None,
        first_visits: bool | None = None,
    ) -> Self:
        """Set which calls count progressive errors: a setting of this object, neither stored nor cloned.

        Parameters
        ----------
        partial_fit : bool, optional
            True at first. The last w of one learner costs nothing to count; an average costs one more product
            per row.
        learn_one : bool, optional
            False at first: then rows learned one at a time are counted only where that costs nothing, which
            is for the last w of one learner, not for an average nor for one learner per class.
        first_visits : bool, optional
            True at first: rows of both calls are new to the model, and probabilities are fitted to their
            scores. Set False for further passes over the same rows.

        Returns
        -------
        self
        """
        progressive.choose(self, partial_fit=partial_fit, learn_one=learn_one, first_visits=first_visits)
        return self

    def _progressive_silence(self) -> str | None:
        """Why progressive errors are not reported; None where they are."""
        return progressive.silence(self)
