"""The bracket around the best margin, and the verdict with its proof."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..theory.certificate import Bracket, Verdict
from ..theory.evidence import EPS, OUTWARD, Vector
from ..theory.exact import Exact

if TYPE_CHECKING:
    from .certifying import Case

EXACT_ROWS = 1_000  # so many rows are looked at without rounding, where rounding leaves a doubt


def brackets(case: Case) -> tuple[Bracket, ...]:
    """One per learner."""
    return tuple(_bracket(case, r) for r in range(case.n_parts))


def _bracket(case: Case, r: int) -> Bracket:
    lows = {name: case.evidence.low(name, r) for name in case.candidates}
    vector = max(lows, key=lambda name: lows[name])
    up, source = _upper(case, r)
    return Bracket(lows[vector], vector, up, source)


def _upper(case: Case, r: int) -> tuple[float, str]:
    e = case.evidence
    combination = e.vectors.get("combination", e.vectors["w"])
    if case.space.order == 2.0 and combination.rows is not None and case.from_zero:
        mass = e.mass(combination, r)
        if mass > 0.0:
            return _short_of(case, r, mass, combination), "combination"
    bounds = getattr(case.model, "margin_bounds_", None)
    pair = bounds[r] if isinstance(bounds, list) else bounds
    if pair is None or not math.isfinite(pair[1]):
        return math.inf, "nothing"
    return float(pair[1]) * (1.0 + 1e-6 if case.single else 1.0 + OUTWARD), "run"


def _short_of(case: Case, r: int, mass: float, combination: Vector) -> float:
    """||w||/sum of weights, rounded up by all that rounding may have changed in w."""
    assert combination.rows is not None
    e = case.evidence
    if case.single or e.vectors["w"].weights is None or not case.learners:
        name = "combination" if "combination" in e.vectors else "w"
        return e.upper(name, r)
    R = float(np.max(e.lengths[combination.rows], initial=0.0))
    steps = max(len(combination.rows), case.run["parts"][r].get("updates", 0))
    return (e.norm("w", r) / mass + 4.0 * (steps + 4) * EPS * R) * (1.0 + OUTWARD)


def verdict(case: Case) -> Verdict:
    """No stronger than what an independent check confirms."""
    for name in case.candidates:
        if all(_separates(case, name, r) for r in range(case.n_parts)):
            return Verdict("separable", vector=name, why=f"{name} separates")
    if case.problem == "binary":
        zero = np.flatnonzero(case.evidence.lengths == 0.0)
        if len(zero) and not case.space.free:
            i = int(zero[0])
            return Verdict("not separable", rows=(i,), weights=(1,), exact=True, why=f"row {i} is zero")
        vanished = _vanished(case)
        if vanished is not None:
            return vanished
        if case.searches:
            found = _searched(case)
            if found is not None:
                return found
    return Verdict("undecided", why="no vector here separates, and nothing here proves that none does")


def _separates(case: Case, name: str, r: int) -> bool:
    e = case.evidence
    if not e.norm(name, r) > 0.0:
        return False
    m, error = e.margins(name, r), e.rounding(name, r)
    if np.any(m + error <= 0.0):
        return False
    doubtful = np.flatnonzero(m <= error)
    if not len(doubtful):
        return True
    exact = Exact(e)
    if not exact.possible or len(doubtful) > EXACT_ROWS:
        return False
    return all(exact.margin(name, i, r).low > 0 for i in doubtful.tolist())


def _vanished(case: Case) -> Verdict | None:
    """A combination of rows that sums to 0, if the run has come back to w = 0."""
    e = case.evidence
    v = e.vectors.get("combination", e.vectors["w"])
    if v.rows is None or case.space.free or not e.mass(v, 0) > 0.0:
        return None
    assert v.coefficients is not None
    if e.norm("w", 0) > 1e-9 * e.mass(v, 0) * e.radius or len(v.rows) > EXACT_ROWS or case.space.unit:
        return None
    exact = Exact(e)
    weights = np.abs(v.coefficients[0])
    rows, weights = v.rows[weights > 0.0], weights[weights > 0.0]
    if not exact.possible:
        return None
    if exact.residual2(rows.tolist(), [Fraction(w) for w in weights.tolist()]).high != 0:
        return None
    return Verdict(
        "not separable",
        rows=tuple(rows.tolist()),
        weights=tuple(weights.tolist()),
        exact=True,
        why="the rows of the updates sum to 0",
    )


def _searched(case: Case) -> Verdict | None:
    """Ask for a proof that nothing separates."""
    proof = case.proof()
    if proof is None or proof.verdict != "not separable":
        return None
    rows = tuple(int(i) for i in proof.support)
    if proof.exact and proof.numerators is not None:
        weights = tuple(f"{n}/{proof.denominator}" for n in proof.numerators)
        return Verdict("not separable", rows=rows, weights=weights, exact=True, why=proof.reason)
    lam = tuple(float(proof.weights[i]) for i in rows)
    residual = float(proof.residual) * max(1.0, case.space.bias)
    return Verdict("not separable", rows=rows, weights=lam, residual=residual, why=proof.reason)
