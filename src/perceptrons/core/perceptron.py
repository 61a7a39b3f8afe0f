"""The perceptron: plain, averaged, voted, and with a margin."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from ..engine import intake, spaces
from ..engine.loops import multiclass
from . import checks, starting
from .augmented import Augmented
from .callbacks import Watch
from .first_order import AnyReadout, FirstOrder, Jointly
from .parameters import spec
from .passes import CheckedRows, Write

if TYPE_CHECKING:
    from .._types import Label, MatrixLike, Record
    from ..engine.predictions import Predictions
    from .class_weights import ClassWeight


@spec
class PerceptronFamily(FirstOrder, Jointly):
    r"""Perceptron with any readout.

    Parameters
    ----------
    learning_rate : float, "updates" or "examples", default=1.0
        :math:`\eta`; or 1/k at the k-th update, or 1/t at the t-th example of all epochs. Those two converge
        on separable data, too, but the bounds are exponential: :math:`e^{1.29 R/\gamma}` updates with 1/k,
        :math:`e^{1.29 m R/\gamma}` epochs over m rows with 1/t, which has no bound in a stream. 200 separable
        rows may see no clean pass in thousands of epochs with 1/t: ``max_iter=None`` warns then.
    scheme : {"top", "uniform", "proportional"}, default="top"
        Which rivals lose :math:`x`: the best one, all alike, or in proportion to their excess.
    """

    learning_rate: float | str = 1.0
    mistake: str = "margin"
    scheme: str = "top"
    class_weight: ClassWeight = None

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.learning_rate, str):
            checks.positive("learning_rate", self.learning_rate)
        else:
            checks.one_of("learning_rate", self.learning_rate, (1.0, "updates", "examples"))
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))
        checks.one_of("scheme", self.scheme, tuple(SCHEMES))

    def _rule(self) -> Record:
        if self.learning_rate == "updates":
            return rules.RateByUpdates()
        if self.learning_rate == "examples":
            return rules.RateByExamples()
        return rules.Perceptron(float(self.learning_rate))

    def _scheme(self) -> multiclass.Scheme:
        return SCHEMES[self.scheme]()


_TRIED = 256  # least number of rows that are learned on a copy first


def _most_updates(space: spaces.Space) -> int:
    """The updates of the learner with the most."""
    return max(learner.counts().updates for learner in space.learners)


SCHEMES: dict[str, type[multiclass.Top | multiclass.Uniform | multiclass.Proportional]] = {
    "top": multiclass.Top,
    "uniform": multiclass.Uniform,
    "proportional": multiclass.Proportional,
}


@spec
class PerceptronSpec(PerceptronFamily, AnyReadout, Augmented):
    """Parameters and plan of :class:`perceptrons.Perceptron`."""


@spec
class AveragedPerceptronSpec(PerceptronFamily, Augmented):
    """Parameters and plan of :class:`perceptrons.AveragedPerceptron`."""

    readout: ClassVar[str] = "average"


@spec
class VotedPerceptronSpec(PerceptronFamily, Augmented):
    """Parameters and plan of :class:`perceptrons.VotedPerceptron`."""

    readout: ClassVar[str] = "vote"
    calibration_rows: str = "held out"

    _records_scores = False


@spec
class MarginPerceptronSpec(AnyReadout, Jointly, Augmented):
    """Parameters and plan of :class:`perceptrons.MarginPerceptron`."""

    gamma: float | str = "auto"
    eps: float = 0.5
    class_weight: ClassWeight = None

    _HALVINGS: ClassVar[int] = 60

    def _check_params(self) -> None:
        super()._check_params()
        if self.gamma != "auto":
            checks.positive("gamma", self.gamma)
        checks.positive("eps", self.eps, below=1.0)

    def _rule(self) -> Record:
        guess = vars(self).get("gamma_", 1.0) if self.gamma == "auto" else self.gamma
        return rules.Margin(float(guess), float(self.eps))

    def _start(
        self, batch: CheckedRows, coef_init: npt.ArrayLike | None, intercept_init: npt.ArrayLike | None
    ) -> spaces.Space:
        if self.gamma == "auto":
            if coef_init is not None or intercept_init is not None:
                raise ValueError(
                    "gamma='auto' starts again from w = 0 whenever a guess is refuted; drop coef_init and "
                    "intercept_init, or give gamma as a number."
                )
            self.gamma_ = self._first_guess(batch)
        else:
            self.gamma_ = float(self.gamma)
        return super()._start(batch, coef_init, intercept_init)

    def _max_epochs(self, orders: list[np.ndarray] | None) -> int | None:
        return None if self.gamma == "auto" else super()._max_epochs(orders)

    def _run_epochs(self, batch: CheckedRows, orders: list[np.ndarray] | None, watch: Watch) -> None:
        if self.gamma != "auto":
            self.gamma_ = float(self.gamma)
        super()._run_epochs(batch, orders, watch)
        for _ in range(self._HALVINGS):
            if self.gamma != "auto" or self.stop_reason_ != "bound exceeded":
                return
            self.gamma_ /= 2.0
            space = super()._start(batch, None, None)
            starting.adopt(self, space, self._new_journals(space))
            super()._run_epochs(batch, orders, watch)

    def _first_guess(self, batch: CheckedRows) -> float:
        """An upper bound on the margin, from one pass of the perceptron."""
        n_classes = len(self.classes_)
        assert batch.frame is not None
        probe = PerceptronSpec(multiclass=self.multiclass)._new_space(
            batch.frame, batch.X.shape[1], n_classes, batch.codes.ndim == 2
        )
        order = intake.frozen(np.arange(batch.X.shape[0]))
        probe.run(batch.rows, probe.targets(batch.codes), batch.weights, order, False)
        guesses = [cast("spaces.Additive", learner).guess() for learner in probe.learners]
        return max((guess for guess in guesses if 0.0 < guess < inf), default=1.0)

    def _bound(self) -> float:
        """Updates that a separator of margin gamma_ allows, the first one included."""
        pair = 2.0 if len(self.classes_) > 2 and self._prototypes() else 1.0
        ratio = self.radius_ / self.gamma_
        return 2.0 * pair * ratio * ratio / self.eps**2 - 2.0 / self.eps + 1.0

    def _refuted(self) -> bool:
        """Whether there were more updates than a separator of margin gamma_ allows."""
        return _most_updates(self._space) > self._bound()

    def _why_stop(self, batch: CheckedRows, record: dict[str, Any], clean: bool, stalled: bool) -> str | None:
        one_rule = self._space.from_zero and not self._changed
        if not clean and not len(batch.weights) and one_rule and self._refuted():
            return "bound exceeded"
        return super()._why_stop(batch, record, clean, stalled)

    # ------------------------------------------------------------ rows in pieces

    def _prepare_pass(self, batch: CheckedRows) -> None:
        longest = self._longest
        super()._prepare_pass(batch)
        if self.gamma != "auto":
            self.gamma_ = float(self.gamma)
        else:
            self._longest = longest  # _run_pass updates it row by row

    def _run_pass(
        self, batch: CheckedRows, order: np.ndarray, write: Write, recorded: Predictions | None = None
    ) -> None:
        """One pass; with ``gamma="auto"`` the guess is checked before each row, as for single rows.

        It begins as the length of the first row that is not 0. Before each further row it is halved if there
        were more updates than it allows. Rows between two changes of the guess are learned together.
        """
        if self.gamma != "auto":
            super()._run_pass(batch, order, write, recorded)
            return
        there = order if not len(batch.weights) else order[batch.weights[order] > 0.0]
        if len(there) > 1:
            self._space = self._space.copy()  # an interruption between two runs leaves the model as it was
        at = 0
        while at < len(there):
            self._update_guess(float(batch.rows.sq[there[at]]))
            n = self._run_some(batch, intake.frozen(there[at:]), write, recorded, int(order[0]))
            self._longest = max(self._longest, float(np.sqrt(batch.rows.sq[there[at : at + n]].max())))
            at += n

    def _run_some(
        self, batch: CheckedRows, order: np.ndarray, write: Write, recorded: Predictions | None, first: int
    ) -> int:
        """Learn rows until the guess is refuted; returns their number. The pass began with row ``first``.

        A row makes at most one update, so the first few rows cannot exceed the bound. More rows are learned
        on a copy of the space, which replaces the space if its updates are within the bound.
        """
        bound = self._bound() if self.gamma_ < inf else 0.0
        safe = int(min(len(order), max(0.0, bound - _most_updates(self._space)) + 1.0))
        targets, keep_log = self._space.targets(batch.codes), self._keeps_journal()
        size = min(len(order), max(4 * safe, _TRIED))
        while size > safe and self.gamma_ < inf:
            tried = self._space.copy()
            with suppress(spaces.NumericalError):  # the run on the space itself raises it again
                part = None if recorded is None else recorded.part(order[:size] - first)
                log = tried.run(batch.rows, targets, batch.weights, order[:size], keep_log, part)
                if _most_updates(tried) <= bound:
                    if part is not None:
                        part.hand_in()
                    self._space = tried
                    write(log)
                    return size
            size //= 4
        part = None if recorded is None else recorded.part(order[:safe] - first)
        try:
            write(self._space.run(batch.rows, targets, batch.weights, order[:safe], keep_log, part))
        finally:
            if part is not None:
                part.hand_in()
        return safe

    def _update_guess(self, q: float) -> None:
        """Update the guess before a row of squared length q is learned."""
        self._longest = max(self._longest, float(np.sqrt(q)))
        if vars(self).get("gamma_", inf) == inf:  # all rows so far were 0: no guess yet
            self.gamma_ = inf if q == 0.0 else 1.0 if self._unit_rows() else float(np.sqrt(q))
        elif self._refuted():
            self.gamma_ /= 2.0
            self._changed = tuple(dict.fromkeys((*self._changed, "gamma")))  # the theorems assume one gamma
            self._plain = False
        for learner in self._space.learners:
            cast("spaces.Additive", learner).rule = self._rule()

    def _steady(self) -> bool:
        return super()._steady() and self.gamma != "auto"

    def _distances(self, scores: np.ndarray) -> np.ndarray:
        """Distance of each row from the boundary of its predicted class."""
        lengths = np.sqrt(np.sum(np.square(self._weights(), dtype=np.float64), axis=1))
        if scores.ndim == 1:
            distances, length = np.abs(scores), lengths[0]
        elif self._prototypes():
            top = np.partition(scores, -2, axis=1)
            distances, length = top[:, -1] - top[:, -2], np.sqrt(np.sum(np.square(lengths)))
        else:
            winners = np.argmax(scores, axis=1)
            distances, length = scores[np.arange(len(scores)), winners], lengths[winners]
        found: np.ndarray = distances / np.where(length > 0.0, length, 1.0)
        return found

    @property
    def n_margin_mistakes_(self) -> int:
        """Updates on rows with a right prediction, but inside the band."""
        return self.n_updates_ - self.n_mistakes_

    def predict(self, X: MatrixLike, abstain: Label | None = None) -> np.ndarray:
        """Label of each row, or ``abstain`` for rows inside the band.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        abstain : label, optional
            The result for a row whose distance from the hyperplane is below (1 - eps) gamma. Several
            classes: the lead over the second class, or, one against the rest, the distance of the best class.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        labels: np.ndarray = self.classes_[self._decide(scores)]
        if abstain is None:
            return labels
        if self.readout == "vote":
            raise ValueError(
                "abstain needs a distance, and readout='vote' counts votes; use another readout."
            )
        inside = self._distances(scores) < (1.0 - self.eps) * self.gamma_
        if np.asarray(abstain).dtype.kind != labels.dtype.kind:
            labels = labels.astype(object)
        elif labels.dtype.kind in "US":
            labels = labels.astype(np.result_type(labels, np.asarray(abstain)))
        labels[inside] = abstain
        return labels
