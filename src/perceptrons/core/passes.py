"""A pass over rows: the only place where an estimator gives its space rows to learn.

Epochs of ``fit``, ``partial_fit``, ``learn_one`` and streams all come by :func:`one_pass`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine import chunks, intake
from ..engine.predictions import Predictions
from ..engine.spaces import Counts
from . import class_weights
from .undoing import whole_call


class CheckedRows(NamedTuple):
    """Rows that have passed every check."""

    X: Any  #: dense array or CSR
    rows: Any  #: the engine's record of X
    codes: np.ndarray  #: class codes, int64
    weights: np.ndarray  #: row weights, or empty
    exact: bool = True  #: X holds the very numbers that were given
    frame: Any = None  #: of the model that the rows begin
    changed: Any = ()  #: parameters of steps that have changed since the model began
    counted: Any = None  #: labels of the rows that count, where classes are weighted by counts so far
    targets: Any = None  #: the codes as the loops take them, where they are known already


class Piece(NamedTuple):
    """Rows of a batch that are learned before another class is taken up."""

    rows: slice
    number: int  #: of the call, among those in ``history_``


#: takes the updates of each learner to the log
Write = Callable[[list[Any]], None]


def one_pass(
    model: Any,
    batch: CheckedRows,
    order: np.ndarray,
    number: int,
    heard: Predictions | None = None,
    run: Callable[..., None] | None = None,
) -> Counts:
    """Learn the rows in ``order``; what was counted meanwhile.

    Updates are logged as those of pass ``number``. Those made before an error of the pass (of a rule, of
    numbers, of a kernel function, an interruption) are logged as well, and the error goes on.

    ``run(batch, order, write, heard)`` makes the pass where it is not :func:`run_in_parts`.
    """
    before = model._space.counts()

    def write(logs: list[Any]) -> None:
        for journal, log in zip(model._journals, logs, strict=False):
            journal.extend(number, log, batch.X)

    try:
        if run is None:
            run_in_parts(model, batch, order, write, heard)
        else:
            run(batch, order, write, heard)
    except BaseException as error:
        if hasattr(error, "log"):
            write(error.log)
            model._draw_step()
        raise
    model._draw_step()
    return model._space.counts().since(before)


def run_in_parts(
    model: Any, batch: CheckedRows, order: np.ndarray, write: Write, heard: Predictions | None
) -> None:
    """Learn the rows in parts, so that a signal is noticed between two of them."""
    space = model._space
    targets = space.targets(batch.codes) if batch.targets is None else batch.targets
    start, parts = 0, chunks.cut(space, batch.rows, order)
    for part in parts:
        told = heard
        if heard is not None and len(parts) > 1:
            told = heard.part(np.arange(start, start + len(part)))
        start += len(part)
        try:
            write(space.run(batch.rows, targets, batch.weights, part, model._keeps_journal(), told))
        finally:
            if told is not None and told is not heard:
                told.hand_in()


def learn_in_order(
    model: Any,
    batch: CheckedRows,
    heard: Predictions | None,
    note: Callable[[Counts], None],
    call: whole_call | None = None,
    piece: Piece | None = None,
) -> None:
    """The pass of a call that learns rows in the order given.

    ``note`` is told what was counted, however the pass ended; twice, where an interruption comes after it.
    ``call`` puts the model back after an interruption. ``piece``: which rows of the batch to learn, where not
    all of them at once; they stay open for the next piece.
    """
    before, n_examples = model._space.counts(), model._examples()
    counted = vars(model).get("_counted")
    n_rows = batch.X.shape[0]
    order, number, more = np.arange(n_rows), len(model.history_), False
    if piece is not None:
        order, number, more = order[piece.rows], piece.number, piece.rows.stop < n_rows
    order = intake.frozen(order)

    def finish() -> None:
        class_weights.count_classes(model, batch, counted, model._examples() - n_examples)
        for journal in model._journals:
            journal.close()
        note(model._space.counts().since(before))

    if call is not None and piece is None:
        call.begin(finish, batch.X)
        if len(chunks.cut(model._space, batch.rows, order)) > 1:
            call.in_parts(batch.X, len(order) - int(np.count_nonzero(batch.weights == 0.0)))
    try:
        one_pass(model, batch, order, number, heard, model._run_pass)
    except BaseException:
        more = False
        raise
    finally:
        finish()
        if not more:
            model._space.close()
