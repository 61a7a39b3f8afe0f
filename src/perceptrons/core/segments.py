"""The body of ``partial_fit``: checks, and one pass in the order given, in which classes may appear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..engine import intake
from ..engine.predictions import Predictions
from ..engine.spaces import Counts
from . import calibrating, changing, class_weights, progressive, starting
from .calibrating import Recording
from .fit_rows import still_valid
from .intakes import in_precision
from .label_lists import LabelLists
from .labels import checked_labels, checked_targets, given_classes
from .passes import BatchPiece, CheckedRows, learn_in_order
from .undoing import whole_call
from .writing import one_writer, unchanged_on_error

if TYPE_CHECKING:
    from .._types import Label, Objects
    from .learner import Learner


def partial_fit(
    model: Learner,
    X: Objects,
    y: npt.ArrayLike,
    classes: Sequence[Label] | np.ndarray | None,
    sample_weight: npt.ArrayLike | None,
) -> None:
    """Learn one pass over the rows in the order given."""
    model._intake.check_pieces()
    with one_writer(model), whole_call(model) as call:
        fresh = "_space" not in vars(model)
        with unchanged_on_error(model):
            model._check_params()
            class_weights.check_pieces(model)
            steps = changing.changed_steps(model)
            given = X
            X = in_precision(model._intake.checked(X, reset=fresh), vars(model).get("_space"))
            model._check_values(X)
            exact = model._intake.exact(given, X)
            given, y = y, checked_targets(model, y, X.shape[0], goes_on=not fresh)
            rows = model._intake.rows(X, learn=True)
            weights = class_weights.row_weights(model, sample_weight, y)
            classes = given_classes(y, classes)
            if fresh:
                starting.begin(model, X.shape[1], X.dtype, classes, several=y.ndim == 2)
            elif classes is not None and model._several and model._takes_lists:
                declared = np.unique(checked_labels(model, classes, len(classes)))
                model._labels.codes(LabelLists(declared, np.empty((0, 0), np.int32)), grow=True)
            elif classes is not None and y.ndim == 1:
                model._labels.codes(checked_labels(model, classes, len(classes)), grow=True)
            still_valid(model, CheckedRows(X, rows, y, weights), given, sample_weight, classes)
            segments = model._labels.segments(y)  # the last step that can fail
        batch = CheckedRows(X, rows, intake.EMPTY, weights, exact, changed=steps)
        learn_segments(model, batch, y, segments, call, fresh)


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
        since = progressive.known_since(model, known, codes, fresh and i == 0)
        counted = progressive.predictions(model, since, len(labels))
        recording = calibrating.recording(model, len(labels), counted, since)
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
            counted: Predictions | None = counted,
            recording: Recording | None = recording,
            codes: np.ndarray = codes,
            weights: np.ndarray = weights,
            i: int = i,
        ) -> None:
            done[i] = model._record(counts) | progressive.counted(counted, codes)
            if recording is not None:
                recording.note(codes, weights)
            progressive.set_since(model, before, done.values())
            model.history_[number:] = [added([*done.values()])]
            model.n_iter_ = 1
            model.stop_reason_ = "partial_fit"

        piece = BatchPiece(rows, number) if len(segments) > 1 else None
        recorded = counted if recording is None else recording.predictions
        learn_in_order(model, batch, recorded, note, call, piece)


def added(records: list[dict[str, int]]) -> dict[str, int]:
    """The sum of several records; it has the counts that all of them have."""
    names = [name for name in records[0] if all(name in record for record in records)]
    return {name: sum(record[name] for record in records) for name in names}
