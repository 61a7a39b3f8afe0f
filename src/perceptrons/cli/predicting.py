"""``perceptrons predict`` and ``perceptrons evaluate``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from . import printing
from .errors import Failure, Misuse
from .options import Reading
from .scores import Confusion
from .stored import open_data, open_model


def predict(
    path: str,
    data: list[str],
    reading: Reading,
    output: str | None,
    scores: bool,
    unlabelled: bool,
    as_json: bool,
) -> int:
    """A label a line, batch by batch: memory does not grow with the rows."""
    if reading.missing == "skip":
        raise Misuse("predict answers every row: --missing takes refuse, zero or mean here; got skip.")
    opened = open_model(path)
    if opened.layout.get("missing") == "skip":
        opened.layout["missing"] = "refuse"
    with open_data(opened, data, reading, unlabelled, True) as stream, _writing(output) as out:
        answers = _answers(opened.model, stream, scores)
        if as_json:
            _write_json(out, path, answers)
        else:
            for labels, values in answers:
                out.writelines(_lines(labels, values))
    return 0


def _answers(model: Any, stream: Any, scores: bool) -> Iterator[tuple[list[Any], list[list[float]] | None]]:
    for batch in stream:
        values = None
        if scores:
            found = model.decision_function(batch.X)
            values = found.reshape(len(found), -1).tolist()
        yield model.predict(batch.X).tolist(), values


def _lines(labels: list[Any], values: list[list[float]] | None) -> Iterator[str]:
    """The label, and behind tabs its scores: one for two classes, else one per class."""
    for i, one in enumerate(labels):
        more = "" if values is None else "".join(f"\t{value:.6g}" for value in values[i])
        yield f"{printing.label(one)}{more}\n"


def _write_json(out: TextIO, path: str, answers: Iterator[Any]) -> None:
    """One document, written as it is made."""
    out.write(f'{{"model": {json.dumps(path)}, "predictions": [')
    n = 0
    for labels, values in answers:
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
    """Predictions against labels."""
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
