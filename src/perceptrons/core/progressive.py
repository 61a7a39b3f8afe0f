"""Progressive errors: wrong predictions of the readout in force, each made before its row was learned.

``n_errors_`` counts the errors of the last w, which theorems are about. Here the average predicts where it
is the readout, and with one learner per class the largest score decides. A label that has neither occurred
nor been declared by ``classes`` cannot be predicted: its first row is an error, and so is the first row of
all. ``fit`` counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.loops import linear
from ..engine.predictions import Predictions
from . import checks
from .writing import one_writer

if TYPE_CHECKING:
    from ..engine.spaces import Counts
    from .learner import Learner


def silence(model: Learner) -> str | None:
    """Why progressive errors are not reported; None where they are."""
    if model._reading.logged:
        return f"progressive errors are not counted for readout={model._readout!r}"
    if model._several:
        return "progressive errors are not counted for rows of several labels"
    if "_space" in vars(model) and model._space.device != "cpu":
        return "progressive errors are not counted on a GPU"
    return None


def choose(model: Learner, **calls: bool | None) -> None:
    """Set which of ``partial_fit`` and ``learn_one`` count, and whether their rows are new ones.

    None leaves a setting as it is.
    """
    for name, value in calls.items():
        if value is not None:
            checks.flag(name, value)
    with one_writer(model):  # it disables the fast path for single rows, which is then made again
        before = dict(vars(model).get("_counting", {}))
        model._counting = before | {name: value for name, value in calls.items() if value is not None}


def by_last_errors(model: Learner) -> bool:
    """Whether the space's own count of errors is that of the readout."""
    return model._readout == "last" and len(model._space.learners) == 1


def counts_single(model: Learner) -> bool:
    """Whether rows that are learned one at a time are counted."""
    if silence(model) is not None:
        return False
    chosen = vars(model).get("_counting", {}).get("learn_one")
    return by_last_errors(model) if chosen is None else bool(chosen)


def known_since(model: Learner, known: np.ndarray, codes: np.ndarray, fresh: bool) -> np.ndarray:
    """The row of a pass from which on each class is predicted; classes in ``known`` were known before it.

    ``fresh``: the model has learned nothing yet, and so it predicts nothing.
    """
    since = np.full(len(model.classes_), int(fresh), np.int64)
    if len(known) == len(since) or model._several:
        return since
    new = ~np.isin(model.classes_, known)
    if len(since) == 1:
        since[0] = 1  # its codes are those of +1
        return since
    found, first = np.unique(codes, return_index=True)
    since[found[new[found]]] = first[new[found]] + 1
    return since


def predictions(model: Learner, since: np.ndarray, n_rows: int) -> Predictions | None:
    """Where a pass of ``partial_fit`` records its predictions; None where nothing is counted."""
    chosen = vars(model).get("_counting", {}).get("partial_fit", True)
    if not chosen or silence(model) is not None:
        return None
    return Predictions(n_rows, since, model._reading.unit_last)


def counted(recorded: Predictions | None, codes: np.ndarray) -> dict[str, int]:
    """The counts of a pass as entries of its record; empty where they are not reported."""
    if recorded is None:
        return {}
    rows, errors = recorded.counts(codes)
    return {"progressive_rows": rows, "progressive_errors": errors} if recorded.reported else {}


def set_since(model: Learner, before: np.ndarray, records: Iterable[dict[str, int]]) -> None:
    """Set rows and errors to ``before`` plus the counts in ``records``; a second call changes nothing."""
    names = ("progressive_rows", "progressive_errors")
    passes = [[record.get(name, 0) for name in names] for record in records]
    model._progressive = before + np.sum(passes, axis=0, dtype=np.float64)  # another array: it can be undone


def now(model: Learner) -> np.ndarray:
    """Rows and errors so far; a model of an older file has none."""
    found: np.ndarray = model.__dict__.setdefault("_progressive", np.zeros(2))
    return found


def add(model: Learner, rows: int, errors: int) -> None:
    more = np.asarray([rows, errors], np.float64)
    model._progressive = now(model) + more  # another array, so that it can be undone


def single(model: Learner, since: np.ndarray) -> Predictions | None:
    """Where a pass over a single row records its prediction; None where ``n_errors_`` has the same count."""
    if not counts_single(model) or by_last_errors(model):
        return None
    return Predictions(1, since, model._reading.unit_last)


def tally_single(
    model: Learner, recorded: Predictions | None, codes: np.ndarray, since: np.ndarray, new: Counts
) -> None:
    """Add a single row; ``new`` are the counts of its pass."""
    if recorded is not None:
        set_since(model, now(model), [counted(recorded, codes)])
    elif counts_single(model) and new.examples:
        wrong = new.errors if len(since) > 1 else 0  # the only class that is known is predicted
        add(model, 1, 1 if since.any() else wrong)


def count_on(model: Learner, row_buffer: np.ndarray) -> None:
    """Let the fast path for single rows count in its row buffer."""
    if not counts_single(model):
        return
    if len(model.classes_) == 1:
        row_buffer[linear.BUFFER_COUNT] = linear.ALWAYS_RIGHT
    else:
        row_buffer[linear.BUFFER_COUNT] = linear.BY_LAST if by_last_errors(model) else linear.BY_READOUT
    tally = row_buffer[linear.BUFFER_TALLY :]
    tally[:] = now(model)
    model._progressive = tally
