"""The body of ``fit``: checks, a fresh state or that of a warm start, epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from . import changing, checks, class_weights, epochs, starting
from .callbacks import Watch
from .fit_rows import rows_of_fit
from .writing import one_writer, unchanged_on_error

if TYPE_CHECKING:
    from .._types import Objects
    from ..engine.spaces import Space
    from .learner import Learner


def fit(
    model: Learner,
    X: Objects,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    initial: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    order: Sequence[npt.ArrayLike] | None,
) -> None:
    """Learn in epochs. ``initial``: coef_init and intercept_init; with either, a warm start is none."""
    begin_anew = not model.warm_start or any(given is not None for given in initial)
    with one_writer(model, anew=begin_anew):
        old: Space | None = None if begin_anew else vars(model).get("_space")
        if old is not None:
            old.make_writable()
        with unchanged_on_error(model):
            batch = rows_of_fit(model, X, y, sample_weight, old)
            orders = model._checked_order(order, batch)
            if class_weights.runs_counts(model) and not epochs.visits_once(orders):
                raise ValueError(
                    "class_weight='running' weighs a row by its place in an epoch; order has an epoch "
                    "that visits a row twice."
                )
            epochs.hold_out(model, batch, checks.generator(0), orders)  # raises where it cannot be done
            space = old if old is not None else model._start(batch, *initial)
            journals = model._new_journals(space)
            if old is not None:
                journals = starting.kept_journals(model, journals)
                space.forget_start()
                changing.renew_steps(model, batch.changed)
            starting.adopt(model, space, journals)
        watch = Watch(model, X, y, sample_weight)
        watch.around(lambda: model._run_epochs(batch, orders, watch), model._max_epochs(orders))
