"""``perceptrons predict`` and ``perceptrons evaluate``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO, TypeAlias

from . import printing
from .errors import Failure, Misuse
from .options import Reading
from .scores import Confusion
from .stored import open_data, open_model

if TYPE_CHECKING:
    from .._types import Label
    from ..core.classifier import Classifier
    from ..io.stream import Stream

    #: The labels of a batch, and the scores of each row if they are wanted.
    Predicted: TypeAlias = tuple[list[Label], list[list[float]] | None]


def predict(
    path: str,
    data: list[str],
    reading: Reading,
    output: str | None,
    scores: bool,
    unlabelled: bool,
    as_json: bool,
) -> int:
    """One label per line, batch by batch: memory does not grow with the rows."""
    if reading.missing == "skip":
        raise Misuse("predict gives every row a label: --missing takes refuse, zero or mean here; got skip.")
    opened = open_model(path)
    if opened.layout.get("missing") == "skip":
        opened.layout["missing"] = "refuse"
    with open_data(opened, data, reading, unlabelled, True) as stream, _writing(output) as out:
        predictions = _predictions(opened.model, stream, scores)
        if as_json:
            _write_json(out, path, predictions)
        else:
            for labels, values in predictions:
                out.writelines(_lines(labels, values))
    return 0


def _predictions(model: Classifier, stream: Stream, scores: bool) -> Iterator[Predicted]:
    for batch in stream:
        values = None
        if scores:
            found = model.decision_function(batch.X)
            values = found.reshape(len(found), -1).tolist()
        yield model.predict(batch.X).tolist(), values


def _lines(labels: list[Label], values: list[list[float]] | None) -> Iterator[str]:
    """The label, and after tabs its scores: one for two classes, else one per class."""
    for i, one in enumerate(labels):
        more = "" if values is None else "".join(f"\t{value:.6g}" for value in values[i])
        yield f"{printing.label(one)}{more}\n"


def _write_json(out: TextIO, path: str, predictions: Iterator[Predicted]) -> None:
    """One document, written as it is made."""
    out.write(f'{{"model": {json.dumps(path)}, "predictions": [')
    n = 0
    for labels, values in predictions:
        for i, one in enumerate(map(printing.plain, labels)):
            found = {"label": one} if values is None else {"label": one, "scores": values[i]}
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


def evaluate(path: str, data: list[str], reading: Reading, as_json: bool) -> int:
    """Compare predictions with labels."""
    opened = open_model(path)
    found = Confusion(opened.model.classes_)
    with open_data(opened, data, reading) as stream:
        for batch in stream:
            if batch.y is None:
                raise Failure("The data have no labels; give --label-column.")
            found.add(batch.y, opened.model.predict(batch.X))
    if not found.n_rows:
        raise Failure("The data hold no rows.")
    if as_json:
        printing.document({"model": path, **found.as_dict()})
    else:
        print(found)
    return 0
