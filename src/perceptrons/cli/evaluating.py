"""``perceptrons evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from . import printing
from .errors import Failure, Misuse
from .options import Reading
from .reliability import Reliability
from .scores import Confusion
from .several import LabelReport
from .stored import open_data, open_model
from .worst import Worst, margins

if TYPE_CHECKING:
    from ..core.classifier import Classifier
    from ..io.records import Batch
    from ..text.learner import TextClassifierSpec


def evaluate(path: str, data: list[str], reading: Reading, worst: int | None, as_json: bool) -> int:
    """Compare predictions with labels."""
    opened = open_model(path)
    found = Evaluation(opened.model, worst)
    with open_data(opened, data, reading) as stream:
        for batch in stream:
            if batch.y is None:
                raise Failure("The data have no labels; give --label-column.")
            found.add(batch)
    if not found.confusion.n_rows:
        raise Failure("The data hold no rows.")
    if as_json:
        printing.document({"model": path, **found.as_dict()})
    else:
        print("\n\n".join(map(str, found.parts.values())))
    return 0


class Evaluation:
    """What is counted on labelled rows: confusions, reliability of probabilities, the worst rows."""

    def __init__(self, model: Classifier, n_worst: int | None):
        from ..core.plan import has_several_labels

        self.model = model
        several = has_several_labels(model)
        self.confusion = LabelReport() if several else Confusion(model.classes_)
        probable = hasattr(model, "predict_proba")
        self.reliability = Reliability() if probable else None
        if n_worst is not None and several:
            raise Misuse("--worst is for models of one label a row.")
        self.worst = None if n_worst is None else Worst(n_worst, model.classes_, probable)

    @property
    def parts(self) -> dict[str, Confusion | LabelReport | Reliability | Worst]:
        """What is reported, by name."""
        found = {"": self.confusion, "calibration": self.reliability, "worst": self.worst}
        return {name: part for name, part in found.items() if part is not None}

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        assert batch.y is not None
        if isinstance(self.confusion, LabelReport):
            self.confusion.add(cast("TextClassifierSpec", self.model), batch.X, batch.y)
            return
        if batch.y.dtype == object and any(isinstance(one, tuple) for one in batch.y):
            raise Failure("The data have several labels a row, and the model has one.")
        predicted = self.model.predict(batch.X)
        self.confusion.add(batch.y, predicted)
        if self.reliability is None and self.worst is None:
            return
        codes = _codes(self.model.classes_, batch.y)
        if self.reliability is not None:
            values = self.model.predict_proba(batch.X)
            self.reliability.add(values, codes)
            values = values[np.arange(len(codes)), codes]
        else:
            values = margins(self.model.decision_function(batch.X), codes)
        if self.worst is not None:
            self.worst.add(batch, codes, np.searchsorted(self.model.classes_, predicted), values)

    def as_dict(self) -> dict[str, object]:
        """Everything, as JSON has it."""
        parts = self.parts
        found = parts.pop("").as_dict()
        return found | {name: part.as_dict() for name, part in parts.items()}


def _codes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The position of each label among the classes; -1 where it is not there."""
    if (classes.dtype.kind in "biuf") != (y.dtype.kind in "biuf"):
        return np.full(len(y), -1)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[codes] == y, codes, -1)
