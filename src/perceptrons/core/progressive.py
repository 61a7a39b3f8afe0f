"""Progressive errors: what the readout in force would have said of each row before it was learned.

``n_errors_`` counts those of the last w, which theorems are about; here the average predicts where it is the
readout, and one learner per class predicts by the largest score. A label that has neither occurred nor been
declared by ``classes`` cannot be predicted: its first row is an error, and so is the first row of all.
``fit`` counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.loops import linear
from ..engine.predictions import Predictions


def silence(model: Any) -> str | None:
    """Why progressive errors are not reported; None where they are."""
    if model._reading.logged:
        return f"progressive errors are not counted for readout={model._readout!r}"
    if "_space" in vars(model) and model._space.device != "cpu":
        return "progressive errors are not counted on a GPU"
    return None


def by_last_errors(model: Any) -> bool:
    """Whether the space's own count of errors is that of the readout."""
    return model._readout == "last" and len(model._space.learners) == 1


def counts_single(model: Any) -> bool:
    """Whether rows that are learned one at a time are counted."""
    if silence(model) is not None:
        return False
    asked = vars(model).get("_counting", {}).get("learn_one")
    return by_last_errors(model) if asked is None else bool(asked)


def known_since(model: Any, known: np.ndarray, codes: np.ndarray, fresh: bool) -> np.ndarray:
    """From which row of a pass on each class is predicted, where those in ``known`` were known before it.

    ``fresh``: the model has learned nothing yet, and so it predicts nothing.
    """
    since = np.full(len(model.classes_), int(fresh), np.int64)
    if len(known) == len(since):
        return since
    new = ~np.isin(model.classes_, known)
    if len(since) == 1:
        since[0] = 1  # its codes are those of +1
        return since
    found, first = np.unique(codes, return_index=True)
    since[found[new[found]]] = first[new[found]] + 1
    return since


def predictions(model: Any, since: np.ndarray, n_rows: int) -> Predictions | None:
    """What a pass of ``partial_fit`` is to fill; None where nothing is counted."""
    asked = vars(model).get("_counting", {}).get("partial_fit", True)
    if not asked or silence(model) is not None:
        return None
    return Predictions(n_rows, since, model._reading.unit_last)


def counted(heard: Predictions | None, codes: np.ndarray) -> dict[str, int]:
    """The counts of a pass, as its record shows them; nothing where they are not reported."""
    if heard is None:
        return {}
    rows, errors = heard.counts(codes)
    return {"progressive_rows": rows, "progressive_errors": errors} if heard.reported else {}


def set_since(model: Any, before: np.ndarray, records: Iterable[dict[str, int]]) -> None:
    """Set rows and errors to those before some passes plus those of the passes, called once or twice."""
    names = ("progressive_rows", "progressive_errors")
    passes = [[record.get(name, 0) for name in names] for record in records]
    model._progressive = before + np.sum(passes, axis=0, dtype=np.float64)  # another array: it can be undone


def now(model: Any) -> np.ndarray:
    """Rows and errors so far; a model of an older file has none."""
    return model.__dict__.setdefault("_progressive", np.zeros(2))


def add(model: Any, rows: int, errors: int) -> None:
    more = np.asarray([rows, errors], np.float64)
    model._progressive = now(model) + more  # another array, so that it can be undone


def single(model: Any, since: np.ndarray) -> Predictions | None:
    """What a pass over a single row is to fill, where its own count of errors does not tell."""
    if not counts_single(model) or by_last_errors(model):
        return None
    return Predictions(1, since, model._reading.unit_last)


def tally_single(
    model: Any, heard: Predictions | None, codes: np.ndarray, since: np.ndarray, new: Any
) -> None:
    """Add a single row; ``new`` are the counts that came with it."""
    if heard is not None:
        set_since(model, now(model), [counted(heard, codes)])
    elif counts_single(model) and new.examples:
        wrong = new.errors if len(since) > 1 else 0  # the only class that is known is predicted
        add(model, 1, 1 if since.any() else wrong)


def count_on(model: Any, row_buffer: np.ndarray) -> None:
    """Have the fast path for single rows count in its row buffer."""
    if not counts_single(model):
        return
    if len(model.classes_) == 1:
        row_buffer[linear.BUFFER_COUNT] = linear.ALWAYS_RIGHT
    else:
        row_buffer[linear.BUFFER_COUNT] = linear.BY_LAST if by_last_errors(model) else linear.BY_READOUT
    tally = row_buffer[linear.BUFFER_TALLY :]
    tally[:] = now(model)
    model._progressive = tally
