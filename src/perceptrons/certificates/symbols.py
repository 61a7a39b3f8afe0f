r"""The symbols that enter a bound, computed from rows, labels and a comparator :math:`u = c\,v`.

Every function takes the facts, the number of the learner, the name of v and c, and gives the arguments of a
function of :mod:`perceptrons.theory.bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .._types import Json
from ..theory import _arguments as arg
from ..theory import bounds
from .facts import ClaimFacts, SymbolsOf
from .measured import gram_eigenvalues
from .row_spread import spread_terms


def R(f: ClaimFacts) -> float:
    return f.evidence.radius


def pair_R(f: ClaimFacts) -> float:
    """The length of a difference of two classes' features, or of a row."""
    return R(f) * (math.sqrt(2.0) * (1.0 + 1e-15) if f.joint else 1.0)


def margin_of(f: ClaimFacts, part: int, v: str) -> float:
    return max(0.0, f.evidence.low(v, part))


def separable(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": R(f), "gamma": margin_of(f, part, v)}


def separable_pairs(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": R(f), "delta": margin_of(f, part, v)}


def sharded(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {**separable(f, part, v, c), "S": equal_shards(f)}


def sharded_pairs(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {**separable_pairs(f, part, v, c), "S": equal_shards(f)}


def equal_shards(f: ClaimFacts) -> int:
    """The number of shards, which have equal weights."""
    if f.run["shards"]["mixing"] != "uniform":
        raise ValueError("the shards have weights by their updates")
    return int(f.parameters["n_shards"])


def in_pairs(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": pair_R(f), "gamma": margin_of(f, part, v)}


def missed(f: ClaimFacts, part: int, v: str, c: float) -> np.ndarray:
    return np.maximum(0.0, 1.0 - c * f.evidence.margins(v, part))


def _sum(values: np.ndarray) -> float:
    """Without rounding; a list is summed faster than an array."""
    return math.fsum(values.tolist())


def _summed(f: ClaimFacts, part: int, values: np.ndarray) -> float:
    """Over the updates where they are known, otherwise over all visits."""
    if f.updates is not None:
        return _sum(values[f.updates.of(part).row])
    return float(f.run["visits"] * _sum(values))


def hinge(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    H = f.run["visits"] * _sum(missed(f, part, v, c))
    return {"R": R(f), "u_norm": c * f.evidence.norm(v, part), "H": H}


def hinge_logged(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    H = _summed(f, part, missed(f, part, v, c))
    return {"R": R(f), "u_norm": c * f.evidence.norm(v, part), "H": H}


def pa1(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    found = hinge(f, part, v, c)
    return {"R": found["R"], "u_norm": found["u_norm"], "C": f.parameters["C"], "loss": found["H"]}


def squared_missed(f: ClaimFacts, part: int, v: str, c: float) -> float:
    return float(f.run["visits"] * _sum(missed(f, part, v, c) ** 2))


def pa2(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    u_norm, C = c * f.evidence.norm(v, part), f.parameters["C"]
    return {"R": R(f), "u_norm": u_norm, "C": C, "squared_loss": squared_missed(f, part, v, c)}


def pa_unit(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"u_norm": c * f.evidence.norm(v, part), "squared_loss": squared_missed(f, part, v, c)}


def unit_margin(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": R(f), "u_norm": arg.over(1.0, margin_of(f, part, v))}


def with_p(symbols: SymbolsOf) -> SymbolsOf:
    return lambda f, part, v, c: {**symbols(f, part, v, c), "p": f.parameters["p"]}


def rate(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    by_updates = f.parameters["learning_rate"] == "updates"
    return {**separable(f, part, v, c), "m": 1 if by_updates else f.evidence.n_rows}


def band(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    """A band of width theta is (1 - eps) gamma for some eps, if v has a wider margin."""
    gamma = margin_of(f, part, v)
    theta = (1.0 - f.parameters["eps"]) * f.run["gamma"]
    return {"R": pair_R(f), "gamma": gamma, "eps": min(1.0 - theta / gamma, 1.0 - 1e-15)}


def aimed(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"R": pair_R(f), "gamma": f.run["gamma"], "eps": f.parameters["eps"]}


def norm_bound(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    eta = f.parameters.get("learning_rate", 1.0)
    factor = (2.0 if f.joint else 1.0) * (eta if isinstance(eta, (int, float)) else 1.0) ** 2
    return {"Q": f.counted(part, "sum_sq_norms"), "factor": factor}


def alma(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    gamma = max(0.0, f.evidence.normalised_low(v, part))
    return {"gamma": min(1.0, gamma), "alpha": f.parameters["alpha"]}


def romma_delta(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {**in_pairs(f, part, v, c), "delta": f.parameters["delta"]}


def romma_length(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    delta = f.parameters["delta"] if f.parameters["aggressive"] else 1.0
    return {"k": f.part(part)["updates"], "R": pair_R(f), "delta": delta}


def risk_batch(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"m": f.evidence.n_rows, **risk_single(f, part, v, c)}


def risk_single(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    first = float(f.evidence.lengths[0]) * (1.0 + 1e-12)
    return {**separable(f, part, v, c), "w0_norm": first, "step": f.parameters["step"]}


def elimination(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, Json]:
    n = f.evidence.n_features
    return {"n": n, "r": min(n, f.part(part)["literals"]), "literals": f.parameters["literals"]}


def demotions(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    if not f.evidence.binary_inputs():
        raise ValueError("the theorem is about inputs that are 0 or 1")
    return {
        "n": f.evidence.n_features,
        "theta": f.run["threshold"],
        "p": f.part(part)["promotions"],
        "alpha": f.parameters["alpha"],
    }


def promotions(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    theta, alpha = f.run["threshold"], f.parameters["alpha"]
    each = bounds.winnow_promotions(1, theta, alpha)
    p = f.part(part)["promotions"]
    if p > 0 and not each > 0.0:
        raise ValueError("an input is promoted no more often than never: no OR of any length stands")
    return {"r": math.ceil(p / each) if each else 0, "theta": theta, "alpha": alpha}


def l1(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"X_inf": R(f), "gamma": margin_of(f, part, v), "n": inputs(f), "eta": f.parameters["eta"]}


def l1_any(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    """c is the margin γ of the bound."""
    m = f.evidence.margins(v, part) / f.evidence.norm(v, part)
    TD = f.run["visits"] * _sum(np.maximum(0.0, c - m))
    return {"X_inf": R(f), "gamma": c, "n": inputs(f), "eta": f.parameters["eta"], "TD": TD}


def inputs(f: ClaimFacts) -> int:
    return f.evidence.n_features + (f.evidence.space.bias != 0.0)


def pnorm(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    return {"p": f.parameters["p"], "X_p": R(f), "u_q": 1.0, "gamma": margin_of(f, part, v)}


def second_order(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    """u is unit; c is the margin γ of the bound."""
    a, norm = f.parameters["a"], f.evidence.norm(v, part)
    uSu, logdet = spread_terms(f, part, v, a)
    m = f.evidence.margins(v, part) / norm
    TD = _summed(f, part, np.maximum(0.0, c - m))
    return {"a": a, "gamma": c, "uSu": uSu / norm**2, "logdet": logdet, "TD": TD}


def arow(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    r, norm, counts = f.parameters["r"], f.evidence.norm(v, part), f.part(part)
    uXu, logdet = spread_terms(f, part, v, r)
    H = _summed(f, part, missed(f, part, v, c))
    right = counts["updates"] - min(counts["errors"], counts["updates"])
    return {
        "r": r,
        "u_norm": c * norm,
        "uXu": c * c * uXu,
        "logdet": logdet,
        "n_aggressive": right,
        "H": H,
    }


def forgetron(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    found = hinge(f, part, v, c)
    return {"u_norm": found["u_norm"], "H": found["H"], "budget": f.parameters["budget"]}


def from_start(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    """u is unit; W_0 is where the run began."""
    u, W0 = f.evidence.vectors[v].weights, f.evidence.vectors["start"].weights
    assert u is not None and W0 is not None
    along = math.fsum((u * W0).ravel()) / f.evidence.norm(v, part)
    return {"W0_norm": f.evidence.norm("start", part), "u_dot_W0": along, "delta": margin_of(f, part, v)}


def compression(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    s = f.part(part)["updates"]
    if f.updates is not None:
        s = len(np.unique(f.updates.of(part).row))
    elif f.evidence.vectors["w"].rows is not None:
        s = len(f.evidence.vectors["w"].rows)
    return {"m": f.evidence.n_rows, "s": min(s, f.evidence.n_rows), "delta": f.run["delta"]}


def first_pass(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    examples, _, _, errors = f.run["history"][0]
    if not 0 < examples <= f.evidence.n_rows:
        raise ValueError(f"a first pass over {f.evidence.n_rows} rows cannot meet {examples} examples")
    return {"M": errors, "m": examples, "delta": f.run["delta"]}


def eigenvalue_slack(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    found = gram_eigenvalues(f)
    return {"largest": float(found[-1]), "n": len(found)}


def risk_at(f: ClaimFacts, part: int, v: str, c: float) -> dict[str, float]:
    goal = 0.0 if f.parameters["loss"] == "perceptron" else 1.0
    return {"risk": math.fsum(np.maximum(0.0, goal - f.evidence.margins("w", part)))}


def reported(name: str) -> Callable[[ClaimFacts, int, str, float], dict[str, float]]:
    return lambda f, part, v, c: {name: f.part(part)[name]}
