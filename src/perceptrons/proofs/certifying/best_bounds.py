"""The bounds of a certificate: for each line of the table the comparator with the smallest bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

from ... import rules
from ...certificates import claims
from ...certificates.certificate import Bound
from ...certificates.claims import CLAIMS
from .lines import KERNEL, SCALED_BY_MARGIN, Line, bounds_the_run, lines

if TYPE_CHECKING:
    from .case import Case


#: How the note about a line begins that does not hold for a run.
UNMET = "Left out, because floats have kept the run from it, or X is not what it was fitted on:"


def bounds(case: Case) -> Iterator[Bound]:
    """Every line that applies; the notes say which do not."""
    refusal = _refusal(case)
    if refusal:
        case.notes.append(refusal)
        return
    assert case.row is not None  # refused above
    named = lines(case.row, case.problem == "joint", case.record.mixed is not None)
    of_case = [*named, *(KERNEL if case.kernel is not None else [])]
    claimed = lacking = False
    for line in of_case:
        bound = _stated(case, line) if line.when(case) else None
        if bound is not None:
            claimed = claimed or bounds_the_run(line)
            if bound.holds:
                yield bound
            else:
                case.notes.append(f"{UNMET} {_unmet(bound)}.")
        elif line.needs == "margin" and line.when(case):
            lacking = True
    if lacking:
        case.notes.append(
            "Bounds that need a separator are left out: no vector here has the margin they ask for."
        )
    if not any(map(bounds_the_run, of_case)):
        case.notes.append(f"No bound on this run is claimed: the theory gives none for {case.title}.")
    elif not claimed and not lacking:
        case.notes.append(f"No bound on this run is claimed: {case.title} has one under conditions not met.")


def _unmet(bound: Bound) -> str:
    """A line that does not hold, with both sides."""
    pairs = ((m, a) for m, a in zip(bound.measured, bound.allowed) if not claims.holds(m, bound.sense, a))
    found, allowed = next(pairs)
    return f"{bound.name}, {found!r} against {allowed!r}"


def _refusal(case: Case) -> str:
    """Why no bound at all is claimed."""
    if case.rounded:
        return (
            "X has integers that float64 rounds, and the run met the rounded rows: no bound is claimed. "
            "Radius, brackets and verdict are about the integers."
        )
    if not case.from_zero and case.rule is not rules.NormMinimising:
        return "The run did not start from w = 0: no bound on it is claimed."
    if case.record.changed:
        names = ", ".join(case.record.changed)
        return f"{names} changed after learning had begun: no bound on the run is claimed."
    if not case.record.plain or case.parameter("class_weight") is not None:
        return "Rows had weights, or came in an order of their own: no bound is claimed."
    return "" if case.rule is not None else "No bound is claimed: the theory has none for this rule."


def _stated(case: Case, line: Line) -> Bound | None:
    """The line, or None where its numbers leave the range of floats."""
    try:
        return _bound(case, line)
    except (ValueError, ArithmeticError):
        return None


def _bound(case: Case, line: Line) -> Bound | None:
    if line.needs == "none":
        found = _evaluated(case, line.name, None, (1.0,) * case.n_parts)
        return found if _finite(found) else None
    best: Bound | None = None
    for name in case.candidates:
        scales = tuple(_scale(case, line, name, r) for r in range(case.n_parts))
        known = tuple(c for c in scales if c is not None)
        if len(known) < len(scales):
            continue
        found = _evaluated(case, line.name, name, known)
        if _finite(found) and (best is None or sum(found.allowed) < sum(best.allowed)):
            best = found
    return best


def _finite(bound: Bound) -> bool:
    """Whether all numbers of a line are finite, as a certificate needs them."""
    values = [*bound.allowed, *(m for m in bound.measured if m is not None)]
    values += [v for symbols in bound.symbols for v in symbols.values() if isinstance(v, float)]
    return all(map(math.isfinite, values))


def _scale(case: Case, line: Line, name: str, r: int) -> float | None:
    """The multiple of a vector with the smallest bound, or None where it has no finite one."""
    if not case.evidence.norm(name, r) > 0.0:
        return None
    if line.needs == "margin":
        return 1.0 if _positive(case, line, name, r) else None
    claim = CLAIMS["hinge_tight" if line.name.endswith("on the mistakes") else line.name]
    m = case.evidence.margins(name, r)
    reach, lowest = float(np.max(np.abs(m), initial=0.0)), float(np.min(m))
    if reach == 0.0:
        return None
    norm = case.evidence.norm(name, r)
    by_margin = line.name in SCALED_BY_MARGIN
    unit = reach / norm if by_margin else 1.0 / reach

    def at(log_c: float) -> float:
        allowed = claim.sides(case.facts, r, name, unit * math.exp(log_c)).allowed
        return allowed if math.isfinite(allowed) else 1e300

    tries = [float(minimize_scalar(at, bounds=(-12.0, 12.0), method="bounded").x)]
    if lowest > 0.0:  # what just separates: nothing is missed
        tries.append(math.log((lowest / norm if by_margin else 1.0 / lowest) / unit))
    best = min(tries, key=at)
    return unit * math.exp(best) if at(best) < 1e300 else None


def _positive(case: Case, line: Line, name: str, r: int) -> bool:
    needed = 0.0
    if line.name == "margin_perceptron":
        needed = (1.0 - case.parameters["eps"]) * case.run["gamma"]
    return case.evidence.low(name, r) > needed


def _evaluated(case: Case, name: str, vector: str | None, scales: tuple[float, ...]) -> Bound:
    claim = CLAIMS[name]
    sides = [claim.sides(case.facts, r, vector or "w", scales[r]) for r in range(case.n_parts)]
    return Bound(
        name=name,
        sense=claim.sense,
        measured=tuple(s.measured for s in sides),
        allowed=tuple(s.allowed for s in sides),
        symbols=tuple(s.symbols for s in sides),
        vector=vector,
        scales=tuple(float(c) for c in scales),
        basis=claims.basis(name),
        holds=all(claims.holds(s.measured, claim.sense, s.allowed) for s in sides),
    )
