"""A run as a script that prints the same numbers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .. import kernels
from .learned_rows import LearnedRows
from .playing import Played
from .scenes import Scene


def script(played: Played, rows: LearnedRows, scene: Scene) -> str:
    """Python that repeats the run and prints its counts, its last w and its brackets."""
    lines = ["import perceptrons as pc", ""]
    if scene.noise:
        lines.append(f"# {round(scene.noise * len(scene.X))} of the labels were turned")
    if scene.center:
        share = "" if scene.center == 1.0 else f"{scene.center:g} times "
        lines.append(f"# {share}the mean of the rows was subtracted")
    lines += [f"X = {_rows(rows.X)}", f"y = {rows.y.tolist()}"]
    arguments = "X, y"
    if played.order is not None:
        lines += [
            "# rows were changed on the way: X has all of them, and each epoch visits those of its time",
            f"order = {_orders(played.order)}",
        ]
        arguments += ", order=order"
    lines += [
        f"model = {_learner(played.model)}",
        f'run = pc.trace(model, {arguments}, gamma_low="visits", max_steps={played.max_steps})',
        'print("visits", len(run), run.stop_reason)',
        'print("mistakes", run.n_mistakes[-1])',
        'print("updates", run.n_updates[-1])',
        f'print("w", run.{"w" if played.trace.dual is None else "dual"}[-1].tolist())',
    ]
    if played.trace.gamma_up is not None:
        lines.append('print("bracket", run.gamma_low[-1].tolist(), run.gamma_up[-1].tolist())')
    if played.trace.gamma_up_free is not None:
        lines.append('print("free_bracket", run.gamma_low_free[-1].tolist(), run.gamma_up_free[-1].tolist())')
    return "\n".join(lines) + "\n"


def _learner(model: Any) -> str:
    """The constructor, with the parameters that are not the defaults."""
    signature = inspect.signature(type(model)).parameters
    given = {name: getattr(model, name) for name in signature}
    changed = [
        f"{name}={_value(value)}"
        for name, value in given.items()
        if not _same(value, signature[name].default)
    ]
    return f"pc.{type(model).__name__}({', '.join(changed)})"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _value(value: Any) -> str:
    return f"pc.kernels.{value!r}" if isinstance(value, kernels.Kernel) else repr(value)


def _rows(X: np.ndarray) -> str:
    rows = [f"[{a!r}, {b!r}]" for a, b in X.tolist()]
    return "[" + ", ".join(rows) + "]" if len(rows) <= 4 else "[\n    " + ",\n    ".join(rows) + ",\n]"


def _orders(order: list[np.ndarray]) -> str:
    return "[\n    " + ",\n    ".join(str(epoch.tolist()) for epoch in order) + ",\n]"
