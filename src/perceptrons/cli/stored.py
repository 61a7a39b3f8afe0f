"""Model files, with the layout of the rows that ``perceptrons train`` stores in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from . import rows
from .errors import Failure, Misuse
from .options import Reading

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..core.classifier import Classifier
    from ..io.stream import Stream


class Opened(NamedTuple):
    """A model, and how the rows it was trained on are read."""

    model: Classifier
    layout: JsonObject
    holdout: str | None


def open_model(path: str, scikit_learn: bool = False) -> Opened:
    """A fitted model from its file: a learner of the core, or an estimator of scikit-learn's kind."""
    from ..models import registry
    from ..models.saving import read

    stored = read(path, classes=registry.estimator if scikit_learn else registry.learner)
    note = stored.position if isinstance(stored.position, dict) else {}
    if "report" in note or "mixing" in note:
        raise Failure(f"{path} is the checkpoint of a run that is not done; run its command again.")
    if not hasattr(stored.model, "classes_"):
        raise Failure(f"{path} holds a model that has learned nothing yet.")
    layout = note.get("layout")
    model = cast("Classifier", stored.model)
    return Opened(model, layout if isinstance(layout, dict) else {}, note.get("holdout"))


def open_data(
    opened: Opened,
    data: list[str],
    reading: Reading,
    unlabelled: bool = False,
    ignore_labels: bool = False,
    learned: bool = False,
) -> Stream:
    """The stream of some data, read as the rows that the model was trained on.

    ``learned``: these are those rows, so a missing number becomes the mean of the rows before it, as it did
    then. In other rows it becomes the mean that is stored with the model.
    """
    kind = getattr(opened.model.classes_, "dtype", None)
    kept = opened.layout
    if kept and "label_column" not in kept:  # a file of an older version: the first column is the default
        kept = {**kept, "label_column": "0"}
    layout = rows.remembered(kept, reading, data, unlabelled)
    if learned:
        layout.pop("means", None)
    elif layout.get("missing") == "mean" and "means" not in layout:
        raise Misuse("The model holds no means: it was trained without --missing mean. See --missing zero.")
    if ignore_labels:
        layout["labels"] = "ignore"
    if "text_column" not in layout and hasattr(opened.model, "ngram_range"):
        layout["text_column"] = "auto"
    if "labels" not in layout and kind is not None:
        layout["labels"] = "text" if kind.kind in "UO" else "auto"
    layout.pop("features", None)
    stream = rows.open_rows(data, layout)
    rows.settle_width(stream, opened.model)
    if stream.format == "libsvm" and reading.features not in (None, opened.model.n_features_in_):
        raise Misuse(f"The model has {opened.model.n_features_in_} columns; drop --features.")
    return stream
