"""When the epochs of a fit no longer help, and which of them is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .undoing import twin_of_journal

if TYPE_CHECKING:
    from .learner import Learner
    from .passes import CheckedRows


class Judge:
    """Follows a fit from epoch to epoch: the score on rows held out, and the mean loss.

    With ``early_stopping`` the state of the epoch with the best score is kept, the first of equals: weights,
    counts, log, and the data of the bracket. It is copied when the score improves, and at no other time.

    With ``tol`` the fit stops when the mean loss of an epoch has not fallen by more than ``tol`` below the
    least so far, ``n_iter_no_change`` epochs in a row. The loss is the squared hinge loss
    :math:`\\max(0, 1 - m)^2` that a learner counts, of each row before it was learned.
    """

    def __init__(self, model: Learner, keeps: bool):
        self.model = model
        self.keeps = keeps
        self.scores: list[float] = []
        self.best = -np.inf
        self.best_iter = 0
        self.without_better_score = 0
        self.least_loss = np.inf
        self.without_less_loss = 0
        self._kept: dict[str, Any] | None = None

    def score(self, score: float) -> None:
        """The score on the rows held out, after an epoch."""
        self.scores.append(score)
        self.without_better_score += 1
        if score > self.best:
            self.best, self.best_iter, self.without_better_score = score, len(self.scores), 0
            if self.keeps:
                self._kept = self._state()

    def loss(self, loss: float) -> None:
        """The mean loss of an epoch."""
        assert self.model.tol is not None
        less = loss <= self.least_loss - self.model.tol
        self.without_less_loss = 0 if less else self.without_less_loss + 1
        self.least_loss = min(self.least_loss, loss)

    def stalled(self) -> bool:
        """Whether ``n_iter_no_change`` epochs have passed without improvement."""
        return max(self.without_better_score, self.without_less_loss) >= self.model.n_iter_no_change

    def _state(self) -> dict[str, Any]:
        model = self.model
        state = {name: vars(model)[name] for name in ("random_step_", "_counted") if name in vars(model)}
        journals = [twin_of_journal(journal) for journal in model._journals]
        return state | {"_space": model._space.copy(), "_journals": journals}

    def finish(self) -> None:
        """Go back to the epoch with the best score."""
        model = self.model
        if not self.scores:
            return
        model.validation_scores_ = self.scores
        model.best_iter_ = self.best_iter if self.keeps else len(self.scores)
        if self._kept is not None and model.best_iter_ < len(self.scores):
            vars(model).update(self._kept)
            del model.history_[model.best_iter_ :]
        self._kept = None


def reason(model: Learner, batch: CheckedRows, clean: bool, stalled: bool) -> str | None:
    """A reason to stop after an epoch, or None."""
    if clean:
        return "clean pass"
    if stalled:
        return "no improvement"
    if model.max_iter is None and not model.fit_intercept:
        counts = batch.weights > 0.0 if len(batch.weights) else True
        zero = np.flatnonzero((batch.rows.sq == 0.0) & counts)
        if len(zero) and _zero_row_is_a_mistake(model):
            return f"not separable: row {zero[0]} is the zero vector"
    return None


def _zero_row_is_a_mistake(model: Learner) -> bool:
    return model._facts().step.zero_row and getattr(model, "mistake", "margin") == "margin"
