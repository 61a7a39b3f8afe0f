"""scikit-learn's own callbacks (ProgressBar, ScoringMonitor, …) on a fit and its epochs."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .writing import at_rest

if TYPE_CHECKING:
    from .._types import Objects
    from .learner import Learner


class Watch:
    """A fit as scikit-learn's callbacks see it: one task, with one subtask per epoch."""

    def __init__(self, model: Learner, X: Objects, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None):
        self._context: Any = None
        self._epoch: Any = None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._end = {"estimator": model, "reconstruction_attributes": lambda: self._state(model)}
        self._data = {"X": X, "y": y, "metadata": metadata}

    @staticmethod
    def _state(model: Learner) -> dict[str, Any]:
        """A copy of the attributes that predictions are computed from."""
        learned = {k: v for k, v in vars(model).items() if k in ("_space", "_journals", "history_")}
        return copy.deepcopy(learned)

    def around(self, run: Callable[[], None], max_epochs: int | None) -> None:
        """Call ``run``, a fit, between the set-up and the clean-up of the callbacks."""
        callback = sys.modules.get("sklearn.callback")
        start = getattr(getattr(callback, "CallbackSupportMixin", None), "_init_callback_context", None)
        model = self._end["estimator"]
        registered = getattr(model, "_skl_callbacks", None) or hasattr(model, "_parent_callback_ctx")
        if callback is None or start is None or not registered:
            run()
            return

        def managed(model: Learner) -> None:
            self._context = start(model, max_subtasks=max_epochs)
            with at_rest(model):
                self._context.call_on_fit_task_begin(estimator=model, **self._data)
            run()
            with at_rest(model):
                self._context.call_on_fit_task_end(**self._end, **self._data)

        callback.with_callbacks(managed)(model)

    @property
    def watched(self) -> bool:
        """Whether there are callbacks."""
        return self._context is not None

    def epoch_begins(self) -> None:
        if self._context is not None:
            self._epoch = self._context.subcontext(task_name="epoch")
            self._epoch.call_on_fit_task_begin(estimator=self._end["estimator"], **self._data)

    def epoch_ends(self) -> bool:
        """Whether a callback stops the fit."""
        if self._context is None:
            return False
        stop: bool = self._epoch.call_on_fit_task_end(**self._end, **self._data)
        return stop
