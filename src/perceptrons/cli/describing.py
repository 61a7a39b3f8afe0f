"""``perceptrons info``: what is in a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import printing

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..models.registry import Model


def info(path: str, as_json: bool) -> int:
    """The file's own description, and the counts of the model."""
    found = facts(path)
    if as_json:
        printing.document(found)
    else:
        print(printing.facts(_lines(found)))
    return 0


def facts(path: str) -> JsonObject:
    """All that is known of the file; without the counts where the model needs a function of its author's."""
    from ..models import ModelError, container, describe, registry
    from ..models.saving import read

    described = describe(path)
    contents = container.read(path)
    found: JsonObject = {
        "file": path,
        "bytes": os.path.getsize(path),
        "format": described["format"],
        "library": described["library"],
        "sha256": container.digest(contents.text, str(described["format"]), contents.arrays),
        "arrays": described["n_arrays"],
        "estimator": described["estimator"],
        "parameters": described["parameters"],
    }
    try:
        stored = read(path, classes=registry.learner)
    except ModelError as error:
        return {**found, "incomplete": str(error)}
    note = stored.position if isinstance(stored.position, dict) else {}
    found["checkpoint"] = "report" in note or "mixing" in note
    for name in ("layout", "holdout", "options"):
        if note.get(name) is not None:
            found[name] = note[name]
    return {**found, **_learned(stored.model)}


def _learned(model: Model) -> JsonObject:
    """Classes, counts and bracket of a fitted model."""
    from ..theorems import allowance

    if not hasattr(model, "classes_"):
        return {"fitted": False}
    names = {
        "classes": "classes_",
        "features": "n_features_in_",
        "weights": "n_weights_",
        "mistakes": "n_mistakes_",
        "updates": "n_updates_",
        "errors": "n_errors_",
        "progressive_errors": "progressive_errors_",
        "progressive_rows": "progressive_rows_",
        "radius": "radius_",
        "margin_bounds": "margin_bounds_",
        "free_margin_bounds": "free_margin_bounds_",
    }
    found: JsonObject = {"fitted": True}
    for name, attribute in names.items():
        value = getattr(model, attribute, None)
        if value is not None:
            found[name] = value
    bounds = found.get("margin_bounds")
    if bounds:
        found["margin_space"] = (bounds[0] if isinstance(bounds, list) else bounds).space
    bound = allowance(model)
    if bound is not None:
        found["bound"] = bound._asdict()
    history = getattr(model, "history_", None)
    if history:
        found["examples"] = sum(record.get("examples", 0) for record in history)
    return found


def _lines(found: JsonObject) -> list[tuple[str, str]]:
    lines = [
        ("file", f"{found['file']}, {printing.size(found['bytes'])}, {found['arrays']} arrays"),
        ("format", f"version {found['format']}, written by perceptrons {found['library']}"),
        ("sha256", found["sha256"]),
        ("estimator", found["estimator"]),
    ]
    own = {
        name: value for name, value in (found["parameters"] or {}).items() if not _usual(found, name, value)
    }
    if own:
        lines.append(("parameters", ", ".join(f"{name}={value}" for name, value in own.items())))
    if "incomplete" in found:
        return [*lines, ("incomplete", found["incomplete"])]
    if found["checkpoint"]:
        lines.append(("checkpoint", "of a run that is not done; its command, run again, goes on"))
    if not found["fitted"]:
        return [*lines, ("state", "has learned nothing yet")]
    return lines + _counts(found)


def _usual(found: JsonObject, name: str, value: str) -> bool:
    """Whether a parameter has its default."""
    from ..models import ModelError, registry

    try:
        return repr(getattr(registry.learner(found["estimator"])(), name)) == value
    except (AttributeError, ModelError):
        return False


def _counts(found: JsonObject) -> list[tuple[str, str]]:
    labels = [printing.label(one) for one in found["classes"]]
    shown = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    lines = [("classes", f"{len(labels)}: {shown}"), ("features", f"{found.get('features', 0):,}")]
    counts = [(name, found[name]) for name in ("examples", "mistakes", "updates", "errors") if name in found]
    listed = ", ".join(f"{value:,} {name}" for name, value in counts)
    if listed:
        lines.append(("counts", f"{listed} of the last w" if "errors" in found else listed))
    if "weights" in found:
        lines.append(("weights", f"{found['weights']:,}, of 8 bits"))
    rows = found.get("progressive_rows")
    if rows and "progressive_errors" in found:
        wrong = found["progressive_errors"]
        share = f"{wrong:,} of {rows:,} rows ({100.0 * wrong / rows:.2f} %)"
        lines.append(("errors", f"{share}, each predicted before it was learned"))
    for name in ("margin_bounds", "free_margin_bounds"):
        bracket = found.get(name)
        if isinstance(bracket, tuple):  # a list has one for each class
            low, up = bracket
            told = printing.between(low, up, getattr(bracket, "space", ""))
            lines.extend([("margin", told)] if told else [])
    if "bound" in found:
        lines.append(("bound", printing.allowed(**found["bound"], examples=found.get("examples"))))
    layout = found.get("layout")
    if layout:
        lines.append(("rows", ", ".join(f"{name}={value}" for name, value in layout.items())))
    if found.get("holdout"):
        lines.append(("held out", f"{found['holdout']} of the rows were kept for testing"))
    return lines
