"""``perceptrons shrink``: a model of texts in a small file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import printing
from .errors import Misuse
from .stored import open_model

if TYPE_CHECKING:
    from .._types import JsonObject


def shrink(path: str, output: str, size_mb: float, keep_names: bool, as_json: bool, quiet: bool) -> int:
    """Read a model, store a small copy of it, and say what is left."""
    from ..models.checkpoint import Checkpoint
    from ..models.shrinking import shrunk

    if os.path.realpath(output) == os.path.realpath(path):
        raise Misuse(f"--output {output} is the model itself, which learns on; name another file.")
    opened = open_model(path)
    if not hasattr(opened.model, "explain"):
        raise Misuse(f"{path} holds a {type(opened.model).__name__}; shrink takes a TextClassifier.")
    note: JsonObject = {"layout": opened.layout, "holdout": opened.holdout}
    try:
        small = shrunk(opened.model, size_mb, keep_names, note)
    except (TypeError, ValueError) as error:
        raise Misuse(str(error)) from error
    with Checkpoint(output) as file:
        file.save(small, note)
    if not quiet:
        found = _facts(path, output, small)
        if as_json:
            printing.document(found)
        else:
            print(printing.facts(_lines(found)))
    return 0


def _facts(path: str, output: str, small: Any) -> JsonObject:
    return {
        "model": output,
        "estimator": type(small).__name__,
        "classes": small.classes_,
        "bytes": os.path.getsize(output),
        "bytes_before": os.path.getsize(path),
        "weights": small.n_weights_,
        "by": small.kept_by_,
    }


def _lines(found: JsonObject) -> list[tuple[str, str]]:
    kind = f"{found['estimator']}, {printing.counted(len(found['classes']), 'class')}"
    sizes = f"{printing.size(found['bytes'])}; before: {printing.size(found['bytes_before'])}"
    how = (
        "the largest by weight times frequency"
        if found["by"] != "weight"
        else "the largest; how often a word occurs is not known without idf"
    )
    return [
        ("model", f"{found['model']}: {kind}, {sizes}"),
        ("weights", f"{found['weights']:,}, {how}; 8 bits each"),
        ("use", "predict, evaluate and plot --kind explanation; it learns nothing more"),
    ]
