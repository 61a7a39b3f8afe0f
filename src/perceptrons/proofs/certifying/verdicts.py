"""The bracket around the best margin, and the verdict with its proof."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...certificates import bracket_ends
from ...certificates.bracket_ends import RowWeights
from ...certificates.certificate import Bracket, Verdict
from ...certificates.parts import BY_ROWS, NOTHING
from ...theory import _rational
from .row_weights import offered

if TYPE_CHECKING:
    from .case import Case

EXACT_PAIRS = 100_000  # so many products of rows are computed in fractions for a proof that nothing separates
VANISHING = 1e-9  # an upper end of this part of R may be 0


def brackets(case: Case) -> tuple[Bracket, ...]:
    """One per learner."""
    return tuple(_bracket(case, r) for r in range(case.n_parts))


def _bracket(case: Case, r: int) -> Bracket:
    lows = {name: case.evidence.low(name, r) for name in case.candidates}
    vector = max(lows, key=lambda name: lows[name])
    low = lows[vector]
    found = best_weights(case, r)
    up = math.inf if found is None else found[1]
    known = (low, vector if low > -math.inf else None)
    if found is None or not math.isfinite(up):
        return Bracket(*known, math.inf, NOTHING, rivals=() if case.problem == "joint" else None)
    weights = found[0]
    rivals = None if weights.rivals is None else tuple(weights.rivals.tolist())
    return Bracket(*known, up, BY_ROWS, tuple(weights.rows.tolist()), tuple(weights.alpha.tolist()), rivals)


def best_weights(case: Case, r: int) -> tuple[RowWeights, float] | None:
    """The weights on rows that prove the smallest upper end."""
    found = [(weights, bracket_ends.up(case.evidence, weights, r)) for weights in offered(case, r)]
    return min(found, key=lambda pair: pair[1], default=None)


def verdict(case: Case) -> Verdict:
    """No stronger than what an independent check confirms."""
    for name in case.candidates:
        if all(case.evidence.low(name, r) > -math.inf for r in range(case.n_parts)):
            return Verdict("separable", vector=name)
    if case.problem == "binary" and case.evidence.exact.possible:
        for rows, weights in _proofs(case):
            if case.evidence.exact.vanishes(rows, weights):
                return Verdict("not separable", rows=tuple(rows), weights=tuple(weights))
    return Verdict("undecided")


def _proofs(case: Case) -> list[tuple[list[int], list[int]]]:
    """Whole-number weights on rows that may sum to 0."""
    e = case.evidence
    found: list[tuple[list[int], list[int]]] = []
    if case.space.bias == 0.0:
        found += [([i], [1]) for i in np.flatnonzero(e.scaled_lengths == 0.0).tolist()[:10]]
    for weights in offered(case, 0):
        few = len(weights.rows) * (e.n_rows if case.kernel is not None else 1) <= EXACT_PAIRS
        if few and bracket_ends.up(e, weights, 0) <= VANISHING * e.radius:
            found.append((weights.rows.tolist(), _whole(case, weights)))
    if case.searches:
        proof = case.proof()
        if proof is not None and proof.verdict == "not separable" and proof.numerators is not None:
            found.append(([int(i) for i in proof.support], [int(n) for n in proof.numerators]))
    return found


def _whole(case: Case, weights: RowWeights) -> list[int]:
    """The weights as whole numbers; both classes with the same sum where the offset is free."""
    k = [int(w) for w in _rational.whole(weights.alpha)[0].tolist()]
    if not case.space.free:
        return k
    signs = case.signs(0)[weights.rows].tolist()
    sides = {s: sum(w for w, t in zip(k, signs) if t == s) for s in (1.0, -1.0)}
    return [w * sides[-s] for w, s in zip(k, signs)] if min(sides.values()) > 0 else k
