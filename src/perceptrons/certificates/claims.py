r"""Every line that a certificate can print: a bound, the symbols that enter it, and where they come from.

A claim is evaluated for a comparator :math:`u = c\,v`, v being one of the vectors of the evidence, and
gives two sides: what the run measured, and what the theorem allows. The checker evaluates it again from
rows, labels and weights and compares; counts of the run are taken as reported.
Several learners side by side (one against the rest) have one pair of sides each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..theory import bounds
from . import bracket_ends, measured, symbols
from .facts import SLACK, Claim, SymbolsOf


def basis(name: str) -> str:
    """Where a claim's proof is.

    >>> basis("novikoff")
    'proved here'
    >>> basis("squared")
    'as published: Freund and Schapire, Machine Learning 37(3), 1999'
    """
    claim = CLAIMS.get(name)
    paper = bounds.AS_PUBLISHED.get(claim.published or name if claim else name)
    return "proved here" if paper is None else f"as published: {paper}"


#: Bounds for a multiple of a vector that is chosen freely.
SCALED = (
    *("hinge_tight", "hinge_tight on the mistakes", "multiclass_hinge_tight", "pa1", "pa2", "pa_unit"),
    *("balanced_winnow_total_distance", "second_order", "arow", "forgetron"),
)
#: Bounds for a vector that separates; its length does not matter.
SEPARATED = (
    *("novikoff", "passes", "variable_rate", "harmonic_sum", "margin_perceptron", "mira", "mira_left"),
    *("mira_geometric", "mira_margin", "pa_separable", "romma", "romma_aggressive", "romma_margin"),
    *("romma_aggressive_errors", "alma", "alma_margin", "multiclass", "multiclass_mira", "multiclass_pa"),
    *("crammer_singer", "risk_descent_steps", "single_point_steps", "balanced_winnow", "pnorm"),
    *("ipm", "ipm_total", "multiclass_ipm", "multiclass_ipm_total"),
)
#: Bounds on passes over shards that are mixed; all others are about one run from row to row.
MIXED = ("ipm", "ipm_total", "multiclass_ipm", "multiclass_ipm_total")


#: Counts of which there is at most one per example.
OF_EXAMPLES = ("updates", "mistakes", "errors", "promotions", "demotions")


def most(name: str, measured: float | None, examples: int | None, n_parts: int) -> float | None:
    """What the measured side of a claim is at most in any case; None: not known.

    An error rate still to come is at most 1. A learner errs at most once per example; ``examples`` are those
    of all ``n_parts`` learners.

    >>> most("compression", None, 8, 1), most("novikoff", 2, 8, 1), most("norm", 2, 8, 1)
    (1.0, 8.0, None)
    """
    if measured is None:
        return 1.0
    if not CLAIMS[name].counts or examples is None:
        return None
    return examples / n_parts


def needs(name: str) -> str:
    """The comparator of a claim: "none", "margin" (a vector that separates) or "scale" (a multiple of one).

    >>> needs("squares"), needs("novikoff"), needs("pa1")
    ('none', 'margin', 'scale')
    """
    return "scale" if name in SCALED else "margin" if name in SEPARATED else "none"


def holds(found: float | None, sense: str, allowed: float) -> bool:
    """Whether a line is true, rounding allowed for. A bound on future errors is not a statement on the run.

    >>> holds(4, "<=", 4.0), holds(5, "<=", 4.0), holds(5, ">=", 4.0), holds(None, "<=", 0.1)
    (True, False, True, True)
    """
    if found is None:
        return True
    if not (math.isfinite(found) and math.isfinite(allowed)):
        return False
    slack = SLACK * max(abs(found), abs(allowed))
    if sense == "<=":
        return found <= allowed + slack
    if sense == ">=":
        return found >= allowed - slack
    if sense == ">":
        return found > allowed
    return abs(found - allowed) <= slack + 1e-12


def _counted(
    what: str, statement: str, entering: SymbolsOf, allowed: Callable[..., float], sense: str = "<="
) -> Claim:
    """A bound on something that the run has counted."""
    return Claim(statement, measured.count(what), entering, allowed, sense, counts=what in OF_EXAMPLES)


CLAIMS: dict[str, Claim] = {
    "norm": Claim(
        "‖w‖² ≤ Q, the squared lengths of the updates",
        measured.norm2,
        symbols.norm_bound,
        lambda Q, factor: factor * Q,
    ),
    "squares": _counted(
        "sum_sq_norms",
        "Q ≤ k R²",
        lambda f, part, v, c: {"k": f.part(part)["updates"], "R": symbols.R(f)},
        lambda k, R: k * R * R,
    ),
    "novikoff": _counted("updates", "updates ≤ R²/γ²", symbols.separable, bounds.novikoff),
    "hinge_tight": _counted(
        "updates", "updates ≤ ((a + √(a² + 4H))/2)², a = R‖u‖", symbols.hinge, bounds.hinge_tight
    ),
    "hinge_tight on the mistakes": _counted(
        "updates",
        "updates ≤ ((a + √(a² + 4H))/2)², H over the updates",
        symbols.hinge_logged,
        bounds.hinge_tight,
    ),
    "passes": Claim("epochs ≤ ⌊R²/γ²⌋ + 1", measured.epochs, symbols.separable, bounds.passes),
    "compression": Claim(
        "error on fresh rows ≤ (ln C(m,s) + ln(m/δ))/(m − s), with probability 1 − δ",
        measured.nothing,
        symbols.compression,
        bounds.compression,
        published="compression",
    ),
    "online_to_batch": Claim(
        "mean error of the first pass's hypotheses ≤ M/m + √(2 ln(1/δ)/m), with probability 1 − δ",
        measured.nothing,
        symbols.first_pass,
        bounds.online_to_batch,
    ),
    "variable_rate": Claim("(Ση)²/Ση² ≤ R²/γ²", measured.rate_left, symbols.separable, bounds.variable_rate),
    "harmonic_sum": Claim(
        "1 + 1/2 + … + 1/k ≤ m (π/√6) R/γ", measured.harmonic, symbols.rate, bounds.harmonic_sum
    ),
    "margin_perceptron": Claim(
        "updates after the first ≤ 2R²/(ε²γ²) − 2/ε",
        measured.count("updates", 1),
        symbols.band,
        bounds.margin_perceptron,
        counts=True,
    ),
    "margin_perceptron_margin": Claim(
        "margin reached ≥ (1 − ε)γ",
        measured.margin,
        lambda f, part, v, c: {"gamma": f.run["gamma"], "eps": f.parameters["eps"]},
        bounds.margin_perceptron_margin,
        ">=",
    ),
    "refuted": Claim(
        "updates after the first > 2R²/(ε²γ²) − 2/ε: no separator of margin γ",
        measured.count("updates", 1),
        symbols.aimed,
        bounds.margin_perceptron,
        ">",
    ),
    "mira": _counted("updates", "updates ≤ R²/((1 − p)²γ²)", symbols.with_p(symbols.separable), bounds.mira),
    "mira_left": Claim(
        "errors + (1 − p)²(updates − errors) ≤ R²/γ²",
        measured.mira_left,
        symbols.separable,
        bounds.novikoff,
        counts=True,
    ),
    "mira_geometric": _counted(
        "updates", "updates ≤ R²/(γ − 2p)²", symbols.with_p(symbols.separable), bounds.mira_geometric
    ),
    "mira_margin": Claim(
        "margin reached ≥ pγ/2",
        measured.margin,
        lambda f, part, v, c: {"gamma": symbols.margin_of(f, part, v), "p": f.parameters["p"]},
        bounds.mira_margin,
        ">=",
    ),
    "pa1": _counted("errors", "errors ≤ max(R², 1/C)(‖u‖² + 2C Σℓ*)", symbols.pa1, bounds.pa1),
    "pa2": _counted("squared_loss", "Σℓ² ≤ (R² + 1/(2C))(‖u‖² + 2C Σℓ*²)", symbols.pa2, bounds.pa2),
    "pa_separable": _counted("squared_loss", "Σℓ² ≤ R²‖u‖²", symbols.unit_margin, bounds.pa_separable),
    "pa_unit": _counted("squared_loss", "Σℓ² ≤ (‖u‖ + 2√Σℓ*²)²", symbols.pa_unit, bounds.pa_unit),
    "last step": Claim(
        "the last update met its constraint, up to",
        measured.last_step,
        lambda f, part, v, c: {"scale": max(1.0, float(np.abs(f.evidence.scores["w"]).max()))},
        lambda scale: 1e-6 * scale,
    ),
    "romma": _counted("updates", "updates ≤ R²/γ²", symbols.in_pairs, bounds.romma),
    "romma_aggressive": _counted(
        "updates", "updates ≤ R²/(δγ)²", symbols.romma_delta, bounds.romma_aggressive
    ),
    "romma_aggressive_errors": _counted(
        "errors", "errors ≤ R²/γ²", symbols.in_pairs, bounds.romma_aggressive_errors
    ),
    "romma_length": Claim(
        "‖w‖² ≥ updates · δ²/R²",
        measured.norm2,
        symbols.romma_length,
        lambda k, R, delta: k * bounds.romma_growth(R, delta),
        ">=",
    ),
    "romma_margin": Claim(
        "margin reached ≥ (1 − δ)γ",
        measured.margin,
        lambda f, part, v, c: {"gamma": symbols.margin_of(f, part, v), "delta": f.parameters["delta"]},
        bounds.romma_margin,
        ">=",
    ),
    "alma": _counted("updates", "updates ≤ (2/γ²)(2/α − 1)² + 8/α − 4", symbols.alma, bounds.alma),
    "alma_margin": Claim(
        "normalised margin reached ≥ (1 − α)γ",
        measured.normalised_margin,
        symbols.alma,
        bounds.alma_margin,
        ">=",
    ),
    "multiclass": _counted("updates", "updates ≤ 2R²/δ²", symbols.separable_pairs, bounds.multiclass),
    "multiclass_hinge_tight": _counted(
        "updates",
        "updates ≤ ((a + √(a² + 4H))/2)², a = √2 R‖u‖",
        symbols.hinge,
        bounds.multiclass_hinge_tight,
    ),
    "multiclass_mira": _counted(
        "updates", "updates ≤ 2R²‖u‖²/(1 − p)²", symbols.with_p(symbols.unit_margin), bounds.multiclass_mira
    ),
    "multiclass_pa": _counted("squared_loss", "Σℓ² ≤ 2R²‖u‖²", symbols.unit_margin, bounds.multiclass_pa),
    "ipm": Claim(
        "Σμk ≤ R²/γ², the updates of the shards by their weights",
        measured.weighted_updates,
        symbols.separable,
        bounds.ipm,
        counts=True,
    ),
    "ipm_total": _counted(
        "updates", "updates ≤ S R²/γ², S shards of equal weights", symbols.sharded, bounds.ipm_total
    ),
    "multiclass_ipm": Claim(
        "Σμk ≤ 2R²/δ², the updates of the shards by their weights",
        measured.weighted_updates,
        symbols.separable_pairs,
        bounds.multiclass,
        counts=True,
    ),
    "multiclass_ipm_total": _counted(
        "updates",
        "updates ≤ 2S R²/δ², S shards of equal weights",
        symbols.sharded_pairs,
        lambda R, delta, S: S * bounds.multiclass(R, delta),
    ),
    "crammer_singer": Claim(
        "Στ ≤ (‖W₀‖ − ⟨u, W₀⟩)/δ, τ what the true class gains",
        measured.gained,
        symbols.from_start,
        bounds.crammer_singer,
    ),
    "norm_minimised": Claim(
        "‖W‖ ≤ ‖W₀‖, the length at the start",
        measured.length,
        lambda f, part, v, c: {"W0_norm": f.evidence.norm("start", part)},
        lambda W0_norm: W0_norm,
    ),
    "risk": _counted("risk", "the risk at the end is", symbols.risk_at, lambda risk: risk, "=="),
    "on the boundary": _counted(
        "on_boundary",
        "rows on the boundary at the end",
        lambda f, part, v, c: {"rows": bracket_ends.on_boundary(f.evidence, "w", part)},
        lambda rows: rows,
        "==",
    ),
    "risk_descent_steps": _counted(
        "updates", "Σ|V| ≤ mR²/γ² + ‖w₀‖/(εγ)", symbols.risk_batch, bounds.risk_descent_steps
    ),
    "single_point_steps": _counted(
        "updates", "steps ≤ R²/γ² + ‖w₀‖/(εγ)", symbols.risk_single, bounds.single_point_steps
    ),
    "elimination": _counted(
        "updates",
        "updates ≤ n − r (all literals: n + 1 − r), r literals stand",
        symbols.elimination,
        bounds.elimination,
    ),
    "winnow1_demotions": _counted(
        "demotions", "demotions ≤ n/θ + (α − 1)p", symbols.demotions, bounds.winnow1_demotions
    ),
    "winnow2_demotions": _counted(
        "demotions", "demotions ≤ (n/θ)α/(α − 1) + αp", symbols.demotions, bounds.winnow2_demotions
    ),
    "winnow_promotions": _counted(
        "promotions",
        "promotions ≤ r⌈log θ⌉: an OR of fewer than r inputs is refuted",
        symbols.promotions,
        bounds.winnow_promotions,
    ),
    "balanced_winnow": _counted(
        "updates", "mistakes ≤ ln(2n)/(ηγ − η²X²/2)", symbols.l1, bounds.balanced_winnow
    ),
    "balanced_winnow_total_distance": _counted(
        "updates",
        "mistakes ≤ (ln(2n) + ηTD)/(ηγ − η²X²/2)",
        symbols.l1_any,
        bounds.balanced_winnow_total_distance,
    ),
    "pnorm": _counted("updates", "mistakes ≤ (p − 1)X²‖u‖²/γ²", symbols.pnorm, bounds.pnorm),
    "second_order": _counted(
        "updates",
        "mistakes ≤ (TD + √((a + u'Su) ln det(I + S/a)))/γ",
        symbols.second_order,
        bounds.second_order,
    ),
    "arow": _counted(
        "errors", "errors ≤ √(r‖u‖² + u'Xu) √(ln det(I + X/r) + |U|) + H − |U|", symbols.arow, bounds.arow
    ),
    "self test": _counted(
        "self_test",
        "the last update met its confidence, up to",
        lambda f, part, v, c: {},
        lambda: 1e-6,
    ),
    "forgetron": _counted("mistakes", "mistakes ≤ 2‖u‖² + 4H", symbols.forgetron, bounds.forgetron),
    "budget": _counted(
        "support",
        "support rows ≤ budget",
        lambda f, part, v, c: {"budget": f.parameters["budget"]},
        lambda budget: budget,
    ),
    "forgetting": _counted(
        "forgetting_cost",
        "cost of forgetting ≤ (15/32) mistakes",
        symbols.reported("mistakes"),
        lambda mistakes: 15.0 / 32.0 * mistakes,
    ),
    "support": _counted(
        "support",
        "support rows ≤ rows",
        lambda f, part, v, c: {"m": f.evidence.n_rows},
        lambda m: m,
    ),
    "smallest eigenvalue": Claim(
        "λ_min of the kernel matrix of the first rows ≥ −10⁻¹⁰ max(1, λ_max) √n",
        measured.smallest_eigenvalue,
        symbols.eigenvalue_slack,
        lambda largest, n: -1e-10 * max(1.0, largest) * math.sqrt(n),
        ">=",
    ),
}
