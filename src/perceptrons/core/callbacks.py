"""scikit-learn's own callbacks (ProgressBar, ScoringMonitor, …) on a fit and its epochs."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

from .writing import at_rest


class Watch:
    """A fit as scikit-learn's callbacks see it: one task, with one subtask per epoch."""

    def __init__(self, model: Any, X: Any, y: Any, sample_weight: Any):
        self._context: Any = None
        self._epoch: Any = None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._end = {"estimator": model, "reconstruction_attributes": lambda: self._state(model)}
        self._data = {"X": X, "y": y, "metadata": metadata}

    @staticmethod
    def _state(model: Any) -> dict[str, Any]:
        """All that a copy of the model needs to predict as the model does now, whatever comes later."""
        learned = {k: v for k, v in vars(model).items() if k in ("_space", "_journals", "history_")}
        return copy.deepcopy(learned)

    def around(self, run: Callable[[], None], max_epochs: int | None) -> None:
        """Call ``run``, a fit, within the callbacks' own set-up and clean-up."""
        callback = sys.modules.get("sklearn.callback")
        start = getattr(getattr(callback, "CallbackSupportMixin", None), "_init_callback_context", None)
        model = self._end["estimator"]
        told = getattr(model, "_skl_callbacks", None) or hasattr(model, "_parent_callback_ctx")
        if callback is None or start is None or not told:  # nobody has set one
            run()
            return

        def managed(model: Any) -> None:
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
        """Whether a callback wants to stop."""
        return self._context is not None and self._epoch.call_on_fit_task_end(**self._end, **self._data)
