"""One sentence for each visit, with its numbers, in words that a screen reader can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import rules
from ..proofs.tracing import Trace
from . import geometry
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
    if trace.kind[t] == "none":
        return f"{begin}: {'right' if trace.margin[t] > 0.0 else 'no mistake'}, w stays."
    update = (
        _of_coefficients(trace, t, sign) if trace.dual is not None else _of_weights(trace, t, sign, family)
    )
    return f"{begin}: {_why(trace, t)}, {update}."


def _why(trace: Trace, t: int) -> str:
    return "mistake" if trace.kind[t] == "mistake" else "right, but too close"


def _of_weights(trace: Trace, t: int, sign: int, family: str) -> str:
    """The update as a formula where it is one of w and x, else the weights that it leaves."""
    assert trace.w is not None
    before, after = trace.w[t : t + 2]
    keep, step = float(trace.keep[t]), float(trace.step[t])
    if np.array_equal(before, after):
        return "but w stays"
    if family in ("second order", "confidence"):
        return _formula("Σx", keep, step, sign)
    row = geometry.augmented(trace.X[[trace.row[t]]], trace.bias, trace.unit)[0]
    size = np.abs(keep * before) + np.abs(step * row)
    if family == "first order" and np.all(np.abs(keep * before + step * sign * row - after) <= 1e-9 * size):
        return _formula("x/‖x‖" if trace.unit else "x", keep, step, sign)
    shown = after if trace.bias else after[:-1]
    return f"w ← ({', '.join(map(number, shown.tolist()))})"


def _of_coefficients(trace: Trace, t: int, sign: int) -> str:
    """The update of a kernel learner; of one with a list of rows, what becomes of the list."""
    assert trace.dual is not None
    before, after = trace.dual[t : t + 2]
    keep, step, row = float(trace.keep[t]), float(trace.step[t]), int(trace.row[t])
    if np.array_equal(before, after):
        return "but w stays"
    meant = keep * before
    meant[row] += step * sign
    other = np.flatnonzero(np.abs(meant - after) > 1e-9 * (np.abs(meant) + np.abs(after)))
    if row in other:  # the list takes its projection
        return "w ← w " + ("+" if sign > 0 else "−") + " the part of φ(x) that the rows of the list make up"
    formula = _formula("φ(x)", keep, step, sign)
    if not len(other):
        return formula
    gone = [int(i) for i in other if after[i] == 0.0]
    left = f", and {_listed('row', gone)} left the list" if gone else ""
    return formula + left + (", and other coefficients change" if len(gone) < len(other) else "")


def _listed(what: str, numbers: list[int]) -> str:
    shown = [str(i) for i in numbers]
    if len(shown) == 1:
        return f"{what} {shown[0]} has"
    return f"{what}s {', '.join(shown[:-1])} and {shown[-1]} have"


def _formula(x: str, keep: float, step: float, sign: int) -> str:
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
