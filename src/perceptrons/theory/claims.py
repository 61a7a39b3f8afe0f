r"""Every line that a certificate can print: a bound, the symbols that enter it, and where they come from.

A claim is evaluated for a comparator :math:`u = c\,v`, v being one of the vectors of the evidence, and
gives two sides: what the run measured, and what the theorem allows. The checker evaluates it again from
rows, labels and weights and compares; what only the run can know (its counts) is taken as reported.
Several learners side by side (one against the rest) have one pair of sides each.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from . import _arguments as arg
from . import bounds, gram
from .evidence import Evidence

#: Sums of rounded numbers may exceed what they are compared with by this part of it.
SLACK = 1e-9
GRAM_ROWS = 100  # rows whose kernel matrix is tried for a negative eigenvalue
SPREAD_LIMIT = 2000  # the spread of the rows is taken when rows or features are at most this many


class Updates(NamedTuple):
    """The log of a run: w <- keep w + alpha x, in order."""

    part: np.ndarray  #: which learner of one-vs-rest; 0 otherwise
    epoch: np.ndarray
    row: np.ndarray
    keep: np.ndarray
    alpha: np.ndarray  #: (updates, 1 or n_classes)

    def of(self, part: int) -> "Updates":
        mine = self.part == part
        return Updates(*(a[mine] for a in self))

    def coefficients(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        """(rows, coefficients): the w that the updates leave, as a combination of distinct rows."""
        own = self.of(part)
        later = np.ones(len(own.keep))
        if len(later):
            later[:-1] = np.cumprod(own.keep[:0:-1])[::-1]
        rows, where = np.unique(own.row, return_inverse=True)
        a = np.zeros((own.alpha.shape[1], len(rows)))
        for r in range(own.alpha.shape[1]):
            np.add.at(a[r], where, own.alpha[:, r] * later)
        return rows, a


class Facts(NamedTuple):
    """What claims are evaluated on."""

    evidence: Evidence
    run: Mapping[str, Any]  #: counts and other reports of the run
    parameters: Mapping[str, Any]  #: of the learner
    updates: Updates | None = None

    def part(self, r: int) -> Mapping[str, Any]:
        """The counts of one learner."""
        return self.run["parts"][r]

    @property
    def joint(self) -> bool:
        return self.evidence.problem == "joint"


class Comparator(NamedTuple):
    """u = c v, one c for each learner."""

    vector: str
    scales: tuple[float, ...]


class Sides(NamedTuple):
    """One inequality: the measured side, the symbols of the other, and the other."""

    measured: float | None
    symbols: dict[str, float]
    allowed: float


class Claim(NamedTuple):
    """How a line is computed."""

    statement: str
    measured: Callable[[Facts, int, str, float], float | None]
    symbols: Callable[[Facts, int, str, float], dict[str, float]]
    allowed: Callable[..., float]
    sense: str = "<="
    published: str = ""  #: the name under which the paper is found

    def sides(self, facts: Facts, part: int, vector: str, c: float) -> Sides:
        symbols = self.symbols(facts, part, vector, c)
        return Sides(self.measured(facts, part, vector, c), symbols, float(self.allowed(**symbols)))


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


def holds(measured: float | None, sense: str, allowed: float) -> bool:
    """Whether a line is true, rounding allowed for. A bound on future errors is not a statement on the run.

    >>> holds(4, "<=", 4.0), holds(5, "<=", 4.0), holds(5, ">=", 4.0), holds(None, "<=", 0.1)
    (True, False, True, True)
    """
    if measured is None:
        return True
    slack = SLACK * max(abs(measured), abs(allowed) if math.isfinite(allowed) else 0.0)
    if sense == "<=":
        return measured <= allowed + slack
    if sense == ">=":
        return measured >= allowed - slack
    if sense == ">":
        return measured > allowed
    return abs(measured - allowed) <= slack + 1e-12


# --------------------------------------------------------------------------------------- measured sides


def _count(name: str, less: int = 0) -> Callable[[Facts, int, str, float], float]:
    return lambda f, part, vector, c: f.part(part)[name] - less


def _nothing(f: Facts, part: int, vector: str, c: float) -> None:
    return None


def _epochs(f: Facts, part: int, vector: str, c: float) -> float:
    return float(f.run["epochs"])


def _norm2(f: Facts, part: int, vector: str, c: float) -> float:
    return f.evidence.norm("w", part) ** 2


def _margin(f: Facts, part: int, vector: str, c: float) -> float:
    return f.evidence.low("w", part)


def _normalised_margin(f: Facts, part: int, vector: str, c: float) -> float:
    return f.evidence.normalised_low("w", part)


def _mira_left(f: Facts, part: int, vector: str, c: float) -> float:
    counts = f.part(part)
    errors = min(counts["errors"], counts["updates"])
    return bounds.mira_left(errors, counts["updates"], f.parameters["p"])


def _rate_left(f: Facts, part: int, vector: str, c: float) -> float:
    k = f.part(part)["updates"]
    if f.parameters["learning_rate"] == "updates":
        return bounds.variable_rate_left(1.0 / np.arange(1, k + 1)) if k else 0.0
    assert f.updates is not None
    steps = np.abs(f.updates.of(part).alpha).max(axis=1)
    return bounds.variable_rate_left(steps.tolist())


def _harmonic(f: Facts, part: int, vector: str, c: float) -> float:
    return float(np.sum(1.0 / np.arange(1, f.part(part)["updates"] + 1)))


def _smallest_eigenvalue(f: Facts, part: int, vector: str, c: float) -> float:
    return float(_gram_eigenvalues(f)[0])


def _last_step(f: Facts, part: int, vector: str, c: float) -> float:
    """What the last update leaves of the conditions it was made for."""
    assert f.updates is not None
    own = f.updates.of(part)
    i, alpha = int(own.row[-1]), own.alpha[-1]
    scores = f.evidence.scores["w"][i]
    if f.joint:
        moved = np.flatnonzero(alpha < 0.0)
        m = float(scores[f.evidence.codes[i]] - scores[moved].max())
    else:
        m = float(f.evidence.signs(part)[i] * scores[part])
    step = float(np.abs(alpha).max())
    if f.parameters.get("variant") == "I" and step >= f.parameters["C"] * (1.0 - SLACK):
        return max(0.0, m - 1.0)
    if f.parameters.get("variant") == "II":
        return abs(1.0 - m - step / (2.0 * f.parameters["C"]))
    return abs(1.0 - m)


# -------------------------------------------------------------------------------------------- symbols


def _R(f: Facts) -> float:
    return f.evidence.radius


def _pair_R(f: Facts) -> float:
    """The length of a difference of two classes' features, or of a row."""
    return _R(f) * (math.sqrt(2.0) * (1.0 + 1e-15) if f.joint else 1.0)


def _gamma(f: Facts, part: int, v: str) -> float:
    return max(0.0, f.evidence.low(v, part))


def _separable(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": _R(f), "gamma": _gamma(f, part, v)}


def _separable_pairs(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": _R(f), "delta": _gamma(f, part, v)}


def _in_pairs(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": _pair_R(f), "gamma": _gamma(f, part, v)}


def _missed(f: Facts, part: int, v: str, c: float) -> np.ndarray:
    return np.maximum(0.0, 1.0 - c * f.evidence.margins(v, part))


def _hinge(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    H = f.run["visits"] * math.fsum(_missed(f, part, v, c))
    return {"R": _R(f), "u_norm": c * f.evidence.norm(v, part), "H": H}


def _hinge_logged(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    assert f.updates is not None
    H = math.fsum(_missed(f, part, v, c)[f.updates.of(part).row])
    return {"R": _R(f), "u_norm": c * f.evidence.norm(v, part), "H": H}


def _pa1(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    found = _hinge(f, part, v, c)
    return {"R": found["R"], "u_norm": found["u_norm"], "C": f.parameters["C"], "loss": found["H"]}


def _squared_missed(f: Facts, part: int, v: str, c: float) -> float:
    return f.run["visits"] * math.fsum(_missed(f, part, v, c) ** 2)


def _pa2(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    u_norm, C = c * f.evidence.norm(v, part), f.parameters["C"]
    return {"R": _R(f), "u_norm": u_norm, "C": C, "squared_loss": _squared_missed(f, part, v, c)}


def _pa_unit(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"u_norm": c * f.evidence.norm(v, part), "squared_loss": _squared_missed(f, part, v, c)}


def _unit_margin(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": _R(f), "u_norm": arg.over(1.0, _gamma(f, part, v))}


def _with_p(symbols: Any) -> Any:
    return lambda f, part, v, c: {**symbols(f, part, v, c), "p": f.parameters["p"]}


def _rate(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    by_updates = f.parameters["learning_rate"] == "updates"
    return {**_separable(f, part, v, c), "m": 1 if by_updates else f.evidence.n_rows}


def _band(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    """A band of width theta is (1 - eps) gamma for some eps, if v has a wider margin."""
    gamma = _gamma(f, part, v)
    theta = (1.0 - f.parameters["eps"]) * f.run["gamma"]
    return {"R": _pair_R(f), "gamma": gamma, "eps": min(1.0 - theta / gamma, 1.0 - 1e-15)}


def _aimed(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": _pair_R(f), "gamma": f.run["gamma"], "eps": f.parameters["eps"]}


def _norm_bound(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    eta = f.parameters.get("learning_rate", 1.0)
    factor = (2.0 if f.joint else 1.0) * (eta if isinstance(eta, (int, float)) else 1.0) ** 2
    return {"Q": f.part(part)["sum_sq_norms"], "factor": factor}


def _alma(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    gamma = max(0.0, f.evidence.normalised_low(v, part))
    return {"gamma": min(1.0, gamma), "alpha": f.parameters["alpha"]}


def _romma_delta(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {**_in_pairs(f, part, v, c), "delta": f.parameters["delta"]}


def _romma_length(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    delta = f.parameters["delta"] if f.parameters["aggressive"] else 1.0
    return {"k": f.part(part)["updates"], "R": _pair_R(f), "delta": delta}


def _risk_batch(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"m": f.evidence.n_rows, **_risk_single(f, part, v, c)}


def _risk_single(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    first = float(f.evidence.lengths[0]) * (1.0 + 1e-12)
    return {**_separable(f, part, v, c), "w0_norm": first, "step": f.parameters["step"]}


def _elimination(f: Facts, part: int, v: str, c: float) -> dict[str, Any]:
    n = f.evidence.n_features
    return {"n": n, "r": min(n, f.part(part)["literals"]), "literals": f.parameters["literals"]}


def _demotions(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    if not f.evidence.binary_inputs():
        raise ValueError("the theorem is about inputs that are 0 or 1")
    return {
        "n": f.evidence.n_features,
        "theta": f.run["threshold"],
        "p": f.part(part)["promotions"],
        "alpha": f.parameters["alpha"],
    }


def _promotions(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    theta, alpha = f.run["threshold"], f.parameters["alpha"]
    each = bounds.winnow_promotions(1, theta, alpha)
    p = f.part(part)["promotions"]
    return {"r": math.ceil(p / each) if each else 0, "theta": theta, "alpha": alpha}


def _l1(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"X_inf": _R(f), "gamma": _gamma(f, part, v), "n": _inputs(f), "eta": f.parameters["eta"]}


def _l1_any(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    """c is the margin that is asked for."""
    m = f.evidence.margins(v, part) / f.evidence.norm(v, part)
    TD = f.run["visits"] * math.fsum(np.maximum(0.0, c - m))
    return {"X_inf": _R(f), "gamma": c, "n": _inputs(f), "eta": f.parameters["eta"], "TD": TD}


def _inputs(f: Facts) -> int:
    return f.evidence.n_features + (f.evidence.space.bias != 0.0)


def _pnorm(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"p": f.parameters["p"], "X_p": _R(f), "u_q": 1.0, "gamma": _gamma(f, part, v)}


def _spread_rows(f: Facts, part: int) -> tuple[Any, float]:
    """The rows whose spread enters a second-order bound, and how often each counts."""
    e = f.evidence
    rows, times = e.X, float(f.run["visits"] or 1)
    if f.updates is not None:
        rows, times = e.X[f.updates.of(part).row], 1.0
    constant = np.full((rows.shape[0], 1), e.space.bias)
    if gram.is_sparse(rows):
        rows = sparse.hstack([rows, sparse.csr_array(constant)]).tocsr()
    else:
        rows = np.hstack([rows, constant])
    if e.space.unit:
        norms = np.sqrt(gram.squares(rows))
        rows = sparse.diags_array(1.0 / np.where(norms > 0.0, norms, 1.0)) @ rows
    return rows, times


def spread_is_small(f: Facts) -> bool:
    """Whether the spread of the rows can be had in reasonable time."""
    e = f.evidence
    rows = len(f.updates.row) if f.updates is not None else e.n_rows
    return min(rows, e.n_features + 1) <= SPREAD_LIMIT


def _terms(f: Facts, part: int, v: str, a: float) -> tuple[float, float]:
    key = ("spread", v, part, a)
    if key not in f.evidence.memo:
        rows, times = _spread_rows(f, part)
        weights = f.evidence.vectors[v].weights
        assert weights is not None
        uSu, logdet = bounds.second_order_terms(rows, weights[part], a / times)
        f.evidence.memo[key] = uSu * times, logdet
    return f.evidence.memo[key]


def _second_order(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    """u is unit; c is the margin that is asked for."""
    a, norm = f.parameters["a"], f.evidence.norm(v, part)
    uSu, logdet = _terms(f, part, v, a)
    m = f.evidence.margins(v, part) / norm
    missed = np.maximum(0.0, c - m)
    TD = math.fsum(missed[f.updates.of(part).row]) if f.updates else f.run["visits"] * math.fsum(missed)
    return {"a": a, "gamma": c, "uSu": uSu / norm**2, "logdet": logdet, "TD": TD}


def _arow(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    r, norm, counts = f.parameters["r"], f.evidence.norm(v, part), f.part(part)
    uXu, logdet = _terms(f, part, v, r)
    missed = _missed(f, part, v, c)
    H = math.fsum(missed[f.updates.of(part).row]) if f.updates else f.run["visits"] * math.fsum(missed)
    right = counts["updates"] - min(counts["errors"], counts["updates"])
    return {
        "r": r,
        "u_norm": c * norm,
        "uXu": c * c * uXu,
        "logdet": logdet,
        "n_aggressive": right,
        "H": H,
    }


def _forgetron(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    found = _hinge(f, part, v, c)
    return {"u_norm": found["u_norm"], "H": found["H"], "budget": f.parameters["budget"]}


def _compression(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    s = f.part(part)["updates"]
    if f.updates is not None:
        s = len(np.unique(f.updates.of(part).row))
    elif f.evidence.vectors["w"].rows is not None:
        s = len(f.evidence.vectors["w"].rows)
    return {"m": f.evidence.n_rows, "s": min(s, f.evidence.n_rows), "delta": f.run["delta"]}


def _first_pass(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    return {"M": f.run["first_errors"], "m": f.run["first_examples"], "delta": f.run["delta"]}


def _gram_eigenvalues(f: Facts) -> np.ndarray:
    rows = np.arange(min(GRAM_ROWS, f.evidence.n_rows))
    K = f.evidence._kernel(rows, rows)
    return np.linalg.eigvalsh((K + K.T) / 2.0)


def _eigenvalue_slack(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    found = _gram_eigenvalues(f)
    return {"largest": float(found[-1]), "n": len(found)}


def _risk_at(f: Facts, part: int, v: str, c: float) -> dict[str, float]:
    goal = 0.0 if f.parameters["loss"] == "perceptron" else 1.0
    return {"risk": math.fsum(np.maximum(0.0, goal - f.evidence.margins("w", part)))}


def _own(name: str) -> Callable[[Facts, int, str, float], dict[str, float]]:
    return lambda f, part, v, c: {name: f.part(part)[name]}


CLAIMS: dict[str, Claim] = {
    "norm": Claim(
        "‖w‖² ≤ Q, the squared lengths of the updates", _norm2, _norm_bound, lambda Q, factor: factor * Q
    ),
    "squares": Claim(
        "Q ≤ k R²",
        _count("sum_sq_norms"),
        lambda f, part, v, c: {"k": f.part(part)["updates"], "R": _R(f)},
        lambda k, R: k * R * R,
    ),
    "novikoff": Claim("updates ≤ R²/γ²", _count("updates"), _separable, bounds.novikoff),
    "hinge_tight": Claim(
        "updates ≤ ((a + √(a² + 4H))/2)², a = R‖u‖", _count("updates"), _hinge, bounds.hinge_tight
    ),
    "hinge_tight on the mistakes": Claim(
        "updates ≤ ((a + √(a² + 4H))/2)², H over the updates",
        _count("updates"),
        _hinge_logged,
        bounds.hinge_tight,
    ),
    "passes": Claim("epochs ≤ ⌊R²/γ²⌋ + 1", _epochs, _separable, bounds.passes),
    "compression": Claim(
        "error on fresh rows ≤ (ln C(m,s) + ln(m/δ))/(m − s), with probability 1 − δ",
        _nothing,
        _compression,
        bounds.compression,
        published="compression",
    ),
    "online_to_batch": Claim(
        "mean error of the first pass's hypotheses ≤ M/m + √(2 ln(1/δ)/m), with probability 1 − δ",
        _nothing,
        _first_pass,
        bounds.online_to_batch,
    ),
    "variable_rate": Claim("(Ση)²/Ση² ≤ R²/γ²", _rate_left, _separable, bounds.variable_rate),
    "harmonic_sum": Claim("1 + 1/2 + … + 1/k ≤ m (π/√6) R/γ", _harmonic, _rate, bounds.harmonic_sum),
    "margin_perceptron": Claim(
        "updates after the first ≤ 2R²/(ε²γ²) − 2/ε", _count("updates", 1), _band, bounds.margin_perceptron
    ),
    "margin_perceptron_margin": Claim(
        "margin reached ≥ (1 − ε)γ",
        _margin,
        lambda f, part, v, c: {"gamma": f.run["gamma"], "eps": f.parameters["eps"]},
        bounds.margin_perceptron_margin,
        ">=",
    ),
    "refuted": Claim(
        "updates after the first > 2R²/(ε²γ²) − 2/ε: no separator of margin γ",
        _count("updates", 1),
        _aimed,
        bounds.margin_perceptron,
        ">",
    ),
    "mira": Claim("updates ≤ R²/((1 − p)²γ²)", _count("updates"), _with_p(_separable), bounds.mira),
    "mira_left": Claim(
        "errors + (1 − p)²(updates − errors) ≤ R²/γ²", _mira_left, _separable, bounds.novikoff
    ),
    "mira_geometric": Claim(
        "updates ≤ R²/(γ − 2p)²", _count("updates"), _with_p(_separable), bounds.mira_geometric
    ),
    "mira_margin": Claim(
        "margin reached ≥ pγ/2",
        _margin,
        lambda f, part, v, c: {"gamma": _gamma(f, part, v), "p": f.parameters["p"]},
        bounds.mira_margin,
        ">=",
    ),
    "pa1": Claim("errors ≤ max(R², 1/C)(‖u‖² + 2C Σℓ*)", _count("errors"), _pa1, bounds.pa1),
    "pa2": Claim("Σℓ² ≤ (R² + 1/(2C))(‖u‖² + 2C Σℓ*²)", _count("squared_loss"), _pa2, bounds.pa2),
    "pa_separable": Claim("Σℓ² ≤ R²‖u‖²", _count("squared_loss"), _unit_margin, bounds.pa_separable),
    "pa_unit": Claim("Σℓ² ≤ (‖u‖ + 2√Σℓ*²)²", _count("squared_loss"), _pa_unit, bounds.pa_unit),
    "last step": Claim(
        "the last update met its constraint, up to",
        _last_step,
        lambda f, part, v, c: {"scale": max(1.0, float(np.abs(f.evidence.scores["w"]).max()))},
        lambda scale: 1e-6 * scale,
    ),
    "romma": Claim("updates ≤ R²/γ²", _count("updates"), _in_pairs, bounds.romma),
    "romma_aggressive": Claim("updates ≤ R²/(δγ)²", _count("updates"), _romma_delta, bounds.romma_aggressive),
    "romma_aggressive_errors": Claim(
        "errors ≤ R²/γ²", _count("errors"), _in_pairs, bounds.romma_aggressive_errors
    ),
    "romma_length": Claim(
        "‖w‖² ≥ updates · δ²/R²",
        _norm2,
        _romma_length,
        lambda k, R, delta: k * bounds.romma_growth(R, delta),
        ">=",
    ),
    "romma_margin": Claim(
        "margin reached ≥ (1 − δ)γ",
        _margin,
        lambda f, part, v, c: {"gamma": _gamma(f, part, v), "delta": f.parameters["delta"]},
        bounds.romma_margin,
        ">=",
    ),
    "alma": Claim("updates ≤ (2/γ²)(2/α − 1)² + 8/α − 4", _count("updates"), _alma, bounds.alma),
    "alma_margin": Claim(
        "normalised margin reached ≥ (1 − α)γ", _normalised_margin, _alma, bounds.alma_margin, ">="
    ),
    "multiclass": Claim("updates ≤ 2R²/δ²", _count("updates"), _separable_pairs, bounds.multiclass),
    "multiclass_hinge_tight": Claim(
        "updates ≤ ((a + √(a² + 4H))/2)², a = √2 R‖u‖",
        _count("updates"),
        _hinge,
        bounds.multiclass_hinge_tight,
    ),
    "multiclass_mira": Claim(
        "updates ≤ 2R²‖u‖²/(1 − p)²", _count("updates"), _with_p(_unit_margin), bounds.multiclass_mira
    ),
    "multiclass_pa": Claim("Σℓ² ≤ 2R²‖u‖²", _count("squared_loss"), _unit_margin, bounds.multiclass_pa),
    "risk": Claim("the risk at the end is", _count("risk"), _risk_at, lambda risk: risk, "=="),
    "on the boundary": Claim(
        "rows on the boundary at the end",
        _count("on_boundary"),
        lambda f, part, v, c: {"rows": int(np.sum(f.evidence.margins("w", part) == 0.0))},
        lambda rows: rows,
        "==",
    ),
    "risk_descent_steps": Claim(
        "Σ|V| ≤ mR²/γ² + ‖w₀‖/(εγ)", _count("updates"), _risk_batch, bounds.risk_descent_steps
    ),
    "single_point_steps": Claim(
        "steps ≤ R²/γ² + ‖w₀‖/(εγ)", _count("updates"), _risk_single, bounds.single_point_steps
    ),
    "elimination": Claim(
        "updates ≤ n − r (all literals: n + 1 − r), r literals stand",
        _count("updates"),
        _elimination,
        bounds.elimination,
    ),
    "winnow1_demotions": Claim(
        "demotions ≤ n/θ + (α − 1)p", _count("demotions"), _demotions, bounds.winnow1_demotions
    ),
    "winnow2_demotions": Claim(
        "demotions ≤ (n/θ)α/(α − 1) + αp", _count("demotions"), _demotions, bounds.winnow2_demotions
    ),
    "winnow_promotions": Claim(
        "promotions ≤ r⌈log θ⌉: an OR of fewer than r inputs is refuted",
        _count("promotions"),
        _promotions,
        bounds.winnow_promotions,
    ),
    "balanced_winnow": Claim(
        "mistakes ≤ ln(2n)/(ηγ − η²X²/2)", _count("updates"), _l1, bounds.balanced_winnow
    ),
    "balanced_winnow_total_distance": Claim(
        "mistakes ≤ (ln(2n) + ηTD)/(ηγ − η²X²/2)",
        _count("updates"),
        _l1_any,
        bounds.balanced_winnow_total_distance,
    ),
    "pnorm": Claim("mistakes ≤ (p − 1)X²‖u‖²/γ²", _count("updates"), _pnorm, bounds.pnorm),
    "second_order": Claim(
        "mistakes ≤ (TD + √((a + u'Su) ln det(I + S/a)))/γ",
        _count("updates"),
        _second_order,
        bounds.second_order,
    ),
    "arow": Claim(
        "errors ≤ √(r‖u‖² + u'Xu) √(ln det(I + X/r) + |U|) + H − |U|", _count("errors"), _arow, bounds.arow
    ),
    "self test": Claim(
        "the last update met its confidence, up to",
        _count("self_test"),
        lambda f, part, v, c: {},
        lambda: 1e-6,
    ),
    "forgetron": Claim("mistakes ≤ 2‖u‖² + 4H", _count("mistakes"), _forgetron, bounds.forgetron),
    "budget": Claim(
        "support rows ≤ budget",
        _count("support"),
        lambda f, part, v, c: {"budget": f.parameters["budget"]},
        lambda budget: budget,
    ),
    "forgetting": Claim(
        "cost of forgetting ≤ (15/32) mistakes",
        _count("forgetting_cost"),
        _own("mistakes"),
        lambda mistakes: 15.0 / 32.0 * mistakes,
    ),
    "support": Claim(
        "support rows ≤ rows",
        _count("support"),
        lambda f, part, v, c: {"m": f.evidence.n_rows},
        lambda m: m,
    ),
    "smallest eigenvalue": Claim(
        "λ_min of the kernel matrix of the first rows ≥ −10⁻¹⁰ max(1, λ_max) √n",
        _smallest_eigenvalue,
        _eigenvalue_slack,
        lambda largest, n: -1e-10 * max(1.0, largest) * math.sqrt(n),
        ">=",
    ),
}
