"""A pass over rows: the only place where a learner passes rows to its space.

Epochs of ``fit``, ``partial_fit``, ``learn_one`` and streams all call :func:`one_pass`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from ..engine import chunks, intake
from ..engine.predictions import Predictions
from ..engine.spaces import Counts
from ..rows import Csr, Dense
from . import calibrating, changing, class_weights, starting
from .undoing import whole_call

if TYPE_CHECKING:
    from .._types import AnyMatrix, UpdateColumns
    from ..engine.spaces import Frame, KernelRows
    from .learner import Learner


class CheckedRows(NamedTuple):
    """Rows that have passed every check."""

    X: AnyMatrix  #: dense array, CSR, or a collection that a kernel has prepared
    rows: Dense | Csr | KernelRows  #: the engine's record of X
    codes: (
        np.ndarray
    )  #: class codes, int64; an indicator matrix, or lists, where rows may have several labels
    weights: np.ndarray  #: row weights, or empty
    exact: bool = True  #: X holds the numbers that the caller gave, not rounded ones
    frame: Frame | None = None  #: of the space; None where the space exists already
    changed: Sequence[str] = ()  #: parameters of steps that have changed since the model began
    #: labels of the rows with a positive weight, where classes are weighted by counts so far
    counted: np.ndarray | None = None
    targets: np.ndarray | None = None  #: the codes as the loops take them; None: not computed yet


class BatchPiece(NamedTuple):
    """Rows of a batch that are learned before the next class is added."""

    rows: slice
    number: int  #: of the call, among those in ``history_``


#: appends the updates of each learner to the log
Write: TypeAlias = "Callable[[Sequence[UpdateColumns]], None]"


def prepare(model: Learner, batch: CheckedRows) -> None:
    """Update the attributes that depend on the rows, before ``partial_fit`` or ``learn_one`` learns them."""
    check_width(model, batch)
    model.__dict__.pop("_mixing", None)  # what follows is no pass over a shard
    if changing.changed(model):
        changing.renew_steps(model, batch.changed)
    starting.forget_bounds(model)
    calibrating.forget_curves(model)
    if not batch.exact:
        model._space.forget_start()  # bounds do not hold for rows that were rounded
    model._longest = longest(model, batch)
    model._plain = model._plain and not model._changed and is_plain(model, batch)


def check_width(model: Learner, batch: CheckedRows) -> None:
    """Refuse rows of another width than the weights: the loops do not check it."""
    if isinstance(batch.rows, (Dense, Csr)) and batch.X.shape[1] != model._space.n_features:
        raise ValueError(f"X has {batch.X.shape[1]} features; the model has {model._space.n_features}.")


def longest(model: Learner, batch: CheckedRows) -> float:
    """Length of the longest row so far, those of the batch with a positive weight included."""
    if model._space.of_texts:
        return model._longest  # of rows that change from visit to visit: noted when they are made
    sq = batch.rows.sq if not len(batch.weights) else batch.rows.sq[batch.weights > 0]
    largest = float(sq.max()) if len(sq) else 0.0
    return max(model._longest, float(np.sqrt(largest)))


def is_plain(model: Learner, batch: CheckedRows) -> bool:
    """Whether rows have weight 0 or 1, and are the same at every visit: the theorems assume it."""
    whole = not len(batch.weights) or bool(np.isin(batch.weights, (0.0, 1.0)).all())
    return whole and not class_weights.runs_counts(model) and not model._space.of_texts


def one_pass(
    model: Learner,
    batch: CheckedRows,
    order: np.ndarray,
    number: int,
    recorded: Predictions | None = None,
    run: Callable[..., None] | None = None,
) -> Counts:
    """Learn the rows in ``order``; returns the counts of this pass.

    Updates are logged as those of pass ``number``. Updates made before an error (of a rule, of numbers, of a
    kernel function, an interruption) are logged as well, and the error is raised again.

    ``run(batch, order, write, recorded)`` makes the pass where it is not :func:`run_in_parts`.
    """
    before = model._space.counts()

    def write(logs: Sequence[UpdateColumns]) -> None:
        for journal, log in zip(model._journals, logs, strict=False):
            journal.extend(number, log, batch.X)

    try:
        if run is None:
            run_in_parts(model, batch, order, write, recorded)
        else:
            run(batch, order, write, recorded)
    except BaseException as error:
        if hasattr(error, "log"):
            write(error.log)
            model._draw_step()
        raise
    model._draw_step()
    return model._space.counts().since(before)


def run_in_parts(
    model: Learner,
    batch: CheckedRows,
    order: np.ndarray,
    write: Write,
    recorded: Predictions | None,
    before_part: Callable[[], None] | None = None,
) -> None:
    """Learn the rows in parts, so that a signal is noticed between two of them.

    ``before_part`` is called before each part, and may raise.
    """
    space = model._space
    targets = space.targets(batch.codes) if batch.targets is None else batch.targets

    def note(squared_length: float) -> None:
        model._longest = max(model._longest, float(np.sqrt(squared_length)))

    start, parts = 0, chunks.cut(space, batch.rows, order)
    for part in parts:
        if before_part is not None:
            before_part()
        of_part = recorded
        if recorded is not None and len(parts) > 1:
            of_part = recorded.part(np.arange(start, start + len(part)))
        start += len(part)
        try:
            if not space.of_texts:
                write(space.run(batch.rows, targets, batch.weights, part, model._keeps_journal(), of_part))
            else:
                rows = cast("Csr", batch.rows)
                write(space.run_texts(rows, targets, batch.weights, part, of_part, note))
        finally:
            if of_part is not None and of_part is not recorded:
                of_part.hand_in()


def learn_in_order(
    model: Learner,
    batch: CheckedRows,
    recorded: Predictions | None,
    note: Callable[[Counts], None],
    call: whole_call | None = None,
    piece: BatchPiece | None = None,
) -> None:
    """The pass of a call that learns rows in the order given.

    ``note`` is called with the counts when the pass ends, also by an error; a second time if an interruption
    comes after that. ``call`` restores the model after an interruption. ``piece`` has the rows of the batch
    to learn; None: all. The batch stays open until its last piece.
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
        one_pass(model, batch, order, number, recorded, model._run_pass)
    except BaseException:
        more = False
        raise
    finally:
        finish()
        if not more:
            model._space.close()
