"""What every classifier of the package shares: intake of rows and labels, scores, predictions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import rules
from .._sparse import as_scipy, columns_in_use, narrowed
from ..engine import intake, spaces
from ..engine.journal import row_lengths
from ..theory import debugging
from ..theory.run_record import RunRecord
from . import calibrating, checks
from .contract import Contract
from .intakes import NumberIntake
from .offering import offered_if
from .parameters import spec
from .run_records import common_fields

if TYPE_CHECKING:
    from .._types import AnyMatrix, Index, Objects

#: ``intercept_scaling="auto"`` as a part of the median length of the rows
AUTO_SCALING = 0.3


def auto_scaling(lengths: np.ndarray) -> float:
    """B of ``intercept_scaling="auto"`` for rows of these lengths."""
    lengths = lengths[(lengths > 0.0) & (lengths < np.inf)]
    B = AUTO_SCALING * float(np.median(lengths)) if len(lengths) else 1.0
    return min(max(B, 1e-100), 1e100)


@spec
class Classifier:
    r"""A classifier by the sign of <w, x>, or the largest of several, on augmented rows.

    Parameters
    ----------
    probability : bool, default=False
        Offer ``predict_proba``: a curve, fitted to scores of rows that the model had not learned yet, turns
        scores into probabilities. ``predict`` and ``decision_function`` stay as they are.
    calibration : {"sigmoid", "isotonic"}, default="sigmoid"
        The curve: Platt's sigmoid :math:`1/(1 + e^{-(as + b)})` with :math:`a \ge 0`, or a step-like
        function that never falls, which needs more rows (a thousand or more).

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted; 0 to n_labels - 1 after an indicator matrix.
    n_features_in_ : int
        Width of the rows.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has them.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        The weights that predict.
    intercept_ : ndarray of shape (1 or n_classes,)
        :math:`B` times the weight of the constant coordinate.
    """

    #: kind of the run: "online", "descent" or "margin"
    _run_kind: ClassVar[str] = "online"
    #: whether rows may have several labels, and whether in lists
    _takes_several: ClassVar[bool] = True
    _takes_lists: ClassVar[bool] = False
    #: whether it learns and predicts by the arrays of CSR rows alone, without SciPy's operations
    _reads_csr_rows: ClassVar[bool] = False

    if TYPE_CHECKING:  # parameters of some classes and constants of others; set by a shell or by fit

        @property
        def fit_intercept(self) -> bool: ...

        @property
        def intercept_scaling(self) -> float | str: ...

        @property
        def row_norm(self) -> str | None: ...

        @property
        def calibration_rows(self) -> str: ...

        @property
        def margin_bounds_(self) -> Any: ...

        _contract: ClassVar[Contract]  #: checks of rows and labels: scikit-learn's in an estimator
        classes_: np.ndarray = field(init=False)
        n_features_in_: int = field(init=False)
        _begun: dict[str, Any] = field(init=False)  #: parameters of the state, as they were at its start
        _calibration: calibrating.Calibration = field(init=False)  #: what probabilities are made from

    probability: bool = False
    calibration: str = "sigmoid"

    @property
    def _intake(self) -> NumberIntake:
        """Checks rows and converts them."""
        return NumberIntake(self)

    def _check_params(self) -> None:
        checks.flag("fit_intercept", self.fit_intercept)
        B = 1.0 if self._scales_itself() else checks.positive("intercept_scaling", self.intercept_scaling)
        if self.fit_intercept and not intake.LEAST_SQUARE <= B * B < np.inf:
            raise ValueError(
                "intercept_scaling must be a number whose square neither vanishes nor overflows; got "
                f"intercept_scaling={self.intercept_scaling!r}."
            )
        checks.one_of("row_norm", self.row_norm, (None, "l2"))
        calibrating.check(self)

    def _check_values(self, X: AnyMatrix) -> None:
        """Refuse values the learner is not defined for."""

    def _weights(self, columns: np.ndarray | None = None) -> np.ndarray:
        """(1 or n_classes, n_features + 1): the weights that predict, the bias coordinate last.

        With ``columns``: those of these features only, and the bias coordinate.
        """
        raise NotImplementedError

    @property
    def _several(self) -> bool:
        """Whether a row may have several labels, or none."""
        return False

    @property
    def several_labels(self) -> bool:
        """Whether the rows that were learned may have several labels, or none."""
        return self._several

    def _begin_lists(self, indicator: bool) -> None:
        """A model that takes lists of labels begins with some, or with an ``indicator`` matrix."""

    # ------------------------------------------------------------ how rows are understood

    def _learned_with(self, name: str) -> Any:
        """The value that a parameter had when learning began; later assignments do not count."""
        return vars(self).get("_begun", {}).get(name, getattr(self, name))

    def _scales_itself(self) -> bool:
        """Whether B is taken from the rows of a fit."""
        return isinstance(self.intercept_scaling, str) and self.intercept_scaling == "auto"

    def _frame(self, dtype: npt.DTypeLike, X: AnyMatrix = None, counts: Index = slice(None)) -> spaces.Frame:
        """The frame for the present parameters. ``counts`` picks the rows of X with a positive weight."""
        bias = 0.0
        if self.fit_intercept:
            bias = self._auto_bias(X, counts) if self._scales_itself() else float(self.intercept_scaling)
        return spaces.Frame(bias, self.row_norm == "l2", np.dtype(dtype))

    def _auto_bias(self, X: AnyMatrix, counts: Index) -> float:
        if X is None:
            raise ValueError(
                "intercept_scaling='auto' takes B from the lengths of all rows of a fit, which pieces do not "
                "show: give a number, such as 0.3 times the length of a typical row."
            )
        with np.errstate(all="ignore"):  # what is not finite is refused with the rows
            lengths = self._intake.lengths(X)[counts]
        return auto_scaling(lengths)

    def _kept_frame(self) -> spaces.Frame | None:
        """The frame of the rows that were learned; None before that."""
        return vars(self).get("_framed")

    def _frame_in_force(self) -> spaces.Frame:
        """The frame that was learned in; before learning, the frame that follows from the parameters."""
        kept = self._kept_frame()
        return self._frame(np.float64) if kept is None else kept

    def _bias(self) -> float:
        """B, or 0 where there is no intercept."""
        return self._frame_in_force().bias

    def _unit_rows(self) -> bool:
        """Whether rows are divided by their length."""
        return self._frame_in_force().unit

    # ------------------------------------------------------------ scores and predictions

    def _threshold(self) -> float | np.ndarray:
        """What is subtracted from <w, x>."""
        return 0.0

    def _linear_scores(self, X: AnyMatrix) -> np.ndarray:
        """(n, 1 or n_classes): <w, x> of the augmented, possibly scaled rows."""
        columns = columns_in_use(X)  # few rows need the weights of their own columns only
        w = self._weights(columns)
        if columns is not None:
            X = narrowed(X, columns)
        frame = self._frame_in_force()
        scores = np.asarray(as_scipy(X) @ w[:, :-1].T) + frame.bias * w[:, -1]
        if frame.unit:
            scores = scores / row_lengths(X, frame.bias)[:, None]
        return scores

    def _scores(self, X: AnyMatrix) -> np.ndarray:
        """(n,) for two classes, (n, n_classes) for more."""
        scores = self._linear_scores(X) - self._threshold()
        return scores[:, 0] if scores.shape[1] == 1 and not self._several else scores

    def decision_function(self, X: Objects) -> np.ndarray:
        """Score of each row: positive means the larger label; one column per class for more than two.

        Where rows may have several labels: one column per label, in which positive means that label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        self._contract.check_fitted(self)
        X = self._intake.checked(X, reset=False)
        self._check_values(X)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        if not np.isfinite(scores).all():
            self._intake.check_finite(X)
            raise spaces.NumericalError("A score is not finite: the values are too large. Scale the data.")
        return scores

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Class codes; a tie is the lower one. Of several labels: an indicator matrix, without those at 0."""
        if self._several:
            return (scores > 0.0).astype(np.int64)
        if scores.ndim == 2:
            best: np.ndarray = np.argmax(scores, axis=1)
            return best
        if len(self.classes_) == 1:
            return np.zeros(len(scores), np.int64)
        return (scores > 0.0).astype(np.int64)

    def predict(self, X: Objects) -> np.ndarray:
        """Label of each row; a tie goes to the smaller label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), or of shape (n_samples, n_labels)
            After rows with several labels, an indicator matrix: 1 where the score of the label is positive.
        """
        codes = self._decide(self.decision_function(X))
        labels: np.ndarray = codes if self._several else self.classes_[codes]
        return labels

    @offered_if(calibrating.silence)
    def predict_proba(self, X: Objects) -> np.ndarray:
        r"""Probability of each class, with ``probability=True``.

        Two classes: a curve p(s) of the score s, which never falls. More: a curve for each class against the
        rest, divided by their sum (equal parts if all of them are 0). Rows that may have several labels: the
        curve of each label by itself.

        **What holds.** The curves are fitted to scores of rows that the weights of that moment had not
        learned: to the first visit of each row, before it is learned, or to rows held out; never to the
        scores of a further epoch. Probabilities are above 0 and below 1, and add up to 1. With two classes
        rows are in the order of their scores; beyond the scores that it was fitted to a curve is constant.
        Any cut of the same rows into calls gives the same curves.

        **What does not.** Nothing is promised for rows of another kind than those that were learned, nor for
        few rows: this is an estimate, and ``perceptrons evaluate`` measures its error. First visits belong
        to weights of fewer rows than the final ones: later visits count more, but where further epochs make
        scores much larger (averages of many epochs), probabilities are too sure; then use
        ``calibration_rows="held out"``. The most probable class need not be the one that ``predict`` returns,
        which goes by scores: two classes share at :math:`p = 1/2`, not at score 0.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        found: np.ndarray = np.exp(self.predict_log_proba(X))
        return found

    @offered_if(calibrating.silence)
    def predict_log_proba(self, X: Objects) -> np.ndarray:
        """Logarithms of ``predict_proba``, without rounding in between.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        return calibrating.log_probabilities(self, self.decision_function(X))

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_fast_path", "_writer")}

    def __sklearn_is_fitted__(self) -> bool:
        return len(vars(self).get("classes_", ())) > 0

    def __sklearn_tags__(self) -> Any:
        return self._contract.tags(self)

    # ------------------------------------------------------------ the record of a run

    def run_record(self, *, evidence: bool = True) -> RunRecord:
        """All that is known of the run: what :func:`perceptrons.certify` and ``theory.debug`` read.

        Parameters
        ----------
        evidence : bool, default=True
            False leaves out what only a certificate needs: logs, steps, averages and support rows.

        Returns
        -------
        record : perceptrons.theory.RunRecord
        """
        self._contract.check_fitted(self)
        with np.errstate(all="ignore"):
            fields = self._record_fields(evidence)
        row = rules.row_of(fields.get("rule"), type(self))
        return RunRecord(**fields, invariants=() if row is None else row.theory.invariants)

    def _check_run(self) -> None:
        """Run the checks that ``theory.debug`` switches on; nothing while they are off."""
        if debugging.debug.on:
            debugging.check_run(self.run_record(evidence=False))

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        """The fields of the record of the run, by name."""
        return common_fields(self)

    def _fitted(self, name: str) -> object:
        """The result of learning; AttributeError, about the attribute ``name``, where there is none."""
        raise NotImplementedError

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the readout in force, (1, n_features) or (n_classes, n_features)."""
        self._fitted("coef_")
        return np.ascontiguousarray(self._weights()[:, :-1])

    @property
    def intercept_(self) -> np.ndarray:
        """Intercept of the readout in force, (1,) or (n_classes,)."""
        self._fitted("intercept_")
        return self._bias() * self._weights()[:, -1] - self._threshold()
