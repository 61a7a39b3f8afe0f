"""``perceptrons predict``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from . import printing
from .errors import Failure, Misuse
from .options import Reading
from .stored import open_data, open_model

if TYPE_CHECKING:
    from .._types import Label
    from ..core.classifier import Classifier
    from ..io.stream import Stream

    #: The labels of a batch, and the numbers of each row that are wanted, by name: scores, probabilities.
    Predicted: TypeAlias = tuple[list[Label], dict[str, list[list[float]]]]


def predict(
    path: str,
    data: list[str],
    reading: Reading,
    output: str | None,
    scores: bool,
    probabilities: bool,
    unlabelled: bool,
    as_json: bool,
    k: int | None = None,
    threshold: float | None = None,
) -> int:
    """One label per line, batch by batch: memory does not grow with the rows."""
    if reading.missing == "skip":
        raise Misuse("predict gives every row a label: --missing takes refuse, zero or mean here; got skip.")
    from ..core import plan

    opened = open_model(path)
    best = {name: value for name, value in (("k", k), ("threshold", threshold)) if value is not None}
    if best and not plan.takes_lists(opened.model):
        raise Misuse("--k and --threshold are for models of texts.")
    if probabilities and not hasattr(opened.model, "predict_proba"):
        raise Failure(f"{path} holds a model without probabilities: train it with --probability.")
    if opened.layout.get("missing") == "skip":
        opened.layout["missing"] = "refuse"
    with open_data(opened, data, reading, unlabelled, True) as stream, _writing(output) as out:
        predictions = _predictions(opened.model, stream, scores, probabilities, best)
        if as_json:
            _write_json(out, path, predictions)
        else:
            for labels, values in predictions:
                out.writelines(_lines(labels, values))
    return 0


def _predictions(
    model: Classifier, stream: Stream, scores: bool, probabilities: bool, best: dict[str, Any]
) -> Iterator[Predicted]:
    """``best``: the options k and threshold of a model of texts."""
    for batch in stream:
        values = {}
        if scores:
            found = model.decision_function(batch.X)
            values["scores"] = found.reshape(len(found), -1).tolist()
        if probabilities:
            values["probabilities"] = model.predict_proba(batch.X).tolist()
        labels = model.predict(batch.X, **best)
        yield labels if isinstance(labels, list) else labels.tolist(), values


def _lines(labels: list[Label], values: dict[str, list[list[float]]]) -> Iterator[str]:
    """Labels, and after tabs their scores, one for two classes, else one per class; then probabilities."""
    for i, one in enumerate(labels):
        more = "".join(f"\t{value:.6g}" for found in values.values() for value in found[i])
        shown = " ".join(map(printing.label, one)) if isinstance(one, list) else printing.label(one)
        yield f"{shown}{more}\n"


def _write_json(out: TextIO, path: str, predictions: Iterator[Predicted]) -> None:
    """One document, written as it is made."""
    out.write(f'{{"model": {json.dumps(path)}, "predictions": [')
    n = 0
    for labels, values in predictions:
        for i, one in enumerate(labels):
            several = isinstance(one, list)
            shown = list(map(printing.plain, one)) if several else printing.plain(one)
            found = {
                "labels" if several else "label": shown,
                **{name: numbers[i] for name, numbers in values.items()},
            }
            out.write((",\n" if n else "\n") + json.dumps(found, ensure_ascii=False))
            n += 1
    out.write(f'\n], "rows": {n}}}\n')


@contextlib.contextmanager
def _writing(output: str | None) -> Iterator[TextIO]:
    if output is None or output == "-":
        yield sys.stdout
        return
    with printing.whole_file(output) as file:
        yield file
