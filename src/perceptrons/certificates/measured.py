"""The measured sides: what the run counted, or what its w reaches on the rows.

Every function takes the facts, the number of the learner, the name of the comparator and its multiple.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import digamma, zeta

from ..theory import bounds
from .facts import SLACK, ClaimFacts

GRAM_ROWS = 100  # rows whose kernel matrix is tried for a negative eigenvalue


def count(name: str, less: int = 0) -> Callable[[ClaimFacts, int, str, float], float]:
    return lambda f, part, vector, c: f.counted(part, name) - less


def weighted_updates(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    """The updates of the shards in each round, by the weights of the shards, summed.

    Equal weights 1/S; otherwise in proportion to the updates: then sum k^2 / sum k of each round.
    """
    rounds = [learners[part] for learners in f.run["shards"]["updates"]]
    if f.run["shards"]["mixing"] == "uniform":
        return float(sum(map(sum, rounds)) / f.parameters["n_shards"])
    return math.fsum(sum(k * k for k in own) / sum(own) for own in rounds if any(own))


def nothing(f: ClaimFacts, part: int, vector: str, c: float) -> None:
    return None


def epochs(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    if f.run["epochs"] is None:
        raise ValueError("the run does not tell its epochs")
    return float(f.run["epochs"])


def norm2(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return f.evidence.norm("w", part) ** 2


def length(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return f.evidence.norm("w", part)


def gained(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    """The steps of the true classes, summed over the log."""
    assert f.updates is not None
    own = f.updates.of(part)
    true = f.evidence.codes[own.row]
    return math.fsum(own.alpha[np.arange(len(true)), true])


def margin(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return f.evidence.low("w", part)


def normalised_margin(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return f.evidence.normalised_low("w", part)


def mira_left(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    counts = f.part(part)
    errors = min(counts["errors"], counts["updates"])
    return bounds.mira_left(errors, counts["updates"], f.parameters["p"])


def rate_left(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    k = f.part(part)["updates"]
    if f.parameters["learning_rate"] == "updates":  # steps of 1, 1/2, ..., 1/k: the sums have a closed form
        return harmonic_number(k) ** 2 / (math.pi**2 / 6.0 - float(zeta(2.0, k + 1.0))) if k else 0.0
    assert f.updates is not None
    steps = np.abs(f.updates.of(part).alpha).max(axis=1)
    return bounds.variable_rate_left(steps.tolist())


def harmonic(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return harmonic_number(f.part(part)["updates"])


def harmonic_number(k: int) -> float:
    """1 + 1/2 + ... + 1/k, in the same time for every k.

    >>> round(harmonic_number(4), 12), round(harmonic_number(10**12), 6)
    (2.083333333333, 28.208237)
    """
    return float(digamma(k + 1.0) + np.euler_gamma)


def smallest_eigenvalue(f: ClaimFacts, part: int, vector: str, c: float) -> float:
    return float(gram_eigenvalues(f)[0])


def last_step(f: ClaimFacts, part: int, vector: str, c: float) -> float:
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
        return float(abs(1.0 - m - step / (2.0 * f.parameters["C"])))
    return abs(1.0 - m)


def gram_eigenvalues(f: ClaimFacts) -> np.ndarray:
    """Of the kernel matrix of the first rows, the smallest first."""
    memo = f.evidence.memo
    if "eigenvalues" not in memo:
        rows = np.arange(min(GRAM_ROWS, f.evidence.n_rows))
        K = f.evidence.kernel_values(rows, rows)
        memo["eigenvalues"] = np.linalg.eigvalsh((K + K.T) / 2.0)
    return np.asarray(memo["eigenvalues"])
