"""The pass of ``partial_fit``: rows in the order given, in which classes may appear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.predictions import Predictions
from ..engine.spaces import Counts
from . import class_weights, progressive
from .passes import BatchPiece, CheckedRows, learn_in_order
from .undoing import whole_call

if TYPE_CHECKING:
    from .learner import Learner


def learn_segments(
    model: Learner, batch: CheckedRows, y: np.ndarray, segments: list[slice], call: whole_call, fresh: bool
) -> None:
    """Learn the rows of a batch; before each segment its new classes are added to the model.

    One record of all segments is appended to ``history_``. ``fresh``: the model has learned nothing yet.
    """
    number, before = len(model.history_), progressive.now(model)
    done: dict[int, dict[str, int]] = {}  # by segment: after an interruption the last one is noted twice
    if len(segments) > 1:
        call.in_pieces(batch.X)
    for i, rows in enumerate(segments):
        known, labels = model.classes_, y[rows]
        codes = model._labels.codes(labels, grow=True)
        recorded = progressive.predictions(
            model, progressive.known_since(model, known, codes, fresh and i == 0), len(labels)
        )
        weights = batch.weights[rows] if len(batch.weights) else batch.weights
        every = codes
        if len(segments) > 1:
            every = np.zeros(len(y), np.int64)
            every[rows] = codes
        batch = batch._replace(codes=every, counted=class_weights.to_count(model, labels, weights))
        if i == 0:
            model._prepare_pass(batch)

        def note(
            counts: Counts,
            recorded: Predictions | None = recorded,
            codes: np.ndarray = codes,
            i: int = i,
        ) -> None:
            done[i] = model._record(counts) | progressive.counted(recorded, codes)
            progressive.set_since(model, before, done.values())
            model.history_[number:] = [added([*done.values()])]
            model.n_iter_ = 1
            model.stop_reason_ = "partial_fit"

        piece = BatchPiece(rows, number) if len(segments) > 1 else None
        learn_in_order(model, batch, recorded, note, call, piece)


def added(records: list[dict[str, int]]) -> dict[str, int]:
    """The sum of several records; it has the counts that all of them have."""
    names = [name for name in records[0] if all(name in record for record in records)]
    return {name: sum(record[name] for record in records) for name in names}
