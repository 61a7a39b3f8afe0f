"""One sentence for each visit, with its numbers, in words that a screen reader can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import rules
from ..proofs.tracing import Trace
from .plain_words import number


def sentences(trace: Trace, model: Any, classes: Sequence[str]) -> list[str]:
    """A sentence for each visit of a trace; ``classes`` are the names of its classes."""
    facts = rules.facts_of(model)
    family = "" if facts is None else facts.family
    several = len(trace.classes) > 2
    say = _of_several if several else _of_two
    return [say(trace, t, family, classes) for t in range(len(trace))]


def _of_two(trace: Trace, t: int, family: str, classes: Sequence[str]) -> str:
    sign = 1 if trace.label[t] == trace.classes[1] else -1
    threshold = 0.0 if trace.threshold is None else float(trace.threshold[t])
    score, what = float(trace.score[t]), "w·x" if trace.dual is None else "⟨w, φ(x)⟩"
    if threshold:
        what = f"{what} − {number(threshold)}"
    begin = f"row {trace.row[t]}, y = {'+1' if sign > 0 else '−1'}, {what} = {number(score)}"
    kind = str(trace.kind[t])
    if kind == "none":
        return f"{begin}: {'right' if trace.margin[t] > 0.0 else 'no mistake'}, w stays."
    keep, step = float(trace.keep[t]), float(trace.step[t])
    return f"{begin}: {_why(trace, t)}, {_update(trace, family, keep, step, sign)}."


def _why(trace: Trace, t: int) -> str:
    return "mistake" if trace.kind[t] == "mistake" else "right, but too close"


def _update(trace: Trace, family: str, keep: float, step: float, sign: int) -> str:
    if family == "multiplicative":
        return "the weights of its inputs change by factors"
    x = "x" if trace.dual is None else "φ(x)"
    if family in ("second order", "confidence"):
        x = "Σx"
    if trace.unit and trace.dual is None:
        x = f"{x}/‖x‖"
    if keep == 1.0 and step == 0.0:
        return "and w stays: the step does not exist"
    kept = "w" if keep == 1.0 else f"{number(keep)} w" if keep else ""
    added = x if abs(step) == 1.0 else f"{number(abs(step))} {x}"
    minus = (step < 0.0) != (sign < 0)
    if not kept:
        return f"w ← {'−' * minus}{added}"
    return f"w ← {kept} {'−' if minus else '+'} {added}"


def _of_several(trace: Trace, t: int, family: str, classes: Sequence[str]) -> str:
    own = int(np.flatnonzero(trace.classes == trace.label[t])[0])
    found = np.ravel(trace.score[t]).tolist()
    scores = ", ".join(f"{name} {number(score)}" for name, score in zip(classes, found, strict=True))
    begin = f"row {trace.row[t]}, class {classes[own]}, scores: {scores}"
    if trace.kind[t] == "none":
        return f"{begin}: right, all weights stay."
    states = trace.w if trace.w is not None else trace.dual
    assert states is not None
    moved = np.any(states[t] != states[t + 1], axis=-1)
    names = [name for name, there in zip(classes, moved.tolist(), strict=True) if there]
    if not names:
        return f"{begin}: {_why(trace, t)}, but the weights stay."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{begin}: {_why(trace, t)}, the weights of {listed} change."
