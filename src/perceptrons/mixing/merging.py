r"""The state after a round: what the passes over the shards have made of the common state, mixed.

**Weights.** :math:`w \leftarrow \sum_s\mu_s w_s` in float64, for every number that some shard has changed;
the others stay as they are. :math:`\mu_s = 1/S`, or in proportion to the updates of shard s, for each learner
of one-vs-rest by its own updates.

**Bracket.** Let :math:`w^* = \sum_i\alpha_i y_i x_i` be the exact sum of the steps so far, and :math:`d_s`
that of the steps of shard s in this round. The mixed state stands for
:math:`\alpha \leftarrow \alpha + \sum_s\mu_s\,\delta\alpha_s`, which is at least 0 whatever the
:math:`\mu_s \ge 0` are, with :math:`\sum\alpha` as the new sum of the steps. It proves
:math:`\gamma^* \le \|w^* + \sum_s\mu_s d_s\|/\sum\alpha`. With :math:`w_s = w^* + d_s + e_s`,
:math:`\|e_s\| \le E_s` and weights whose sum misses 1 by :math:`\varepsilon`, the mixed numbers differ from
that vector by at most :math:`\sum_s\mu_s E_s + |\varepsilon|(\|w\| + 2E)` and their own rounding: a product,
a sum for each level of the tree, and the precision of w.

**Averages.** The sum of w over the examples is kept as ``SCALE_SUM * v + A``. Every example of every shard
adds its own w, so the sums add up, and so do the numbers of examples.

**Confidence.** With :math:`\Lambda = 1/\Sigma` (diagonal), :math:`\Lambda \leftarrow \Lambda_0 +
\sum_s(\Lambda_s - \Lambda_0)` and :math:`w_j \leftarrow \sum_s(\Lambda_{sj} - \Lambda_{0j})w_{sj} /
\sum_s(\Lambda_{sj} - \Lambda_{0j})`, unchanged where nothing was gained. The product of the Gaussians, which
weighs by :math:`\Lambda_s`, would count what the shards have in common once for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, fsum, inf, isfinite, log2, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..engine.loops import scalars
from ..engine.loops.linear import EPS, FLOOR
from ..engine.margins import SUBNORMAL, U, sum_of_squares
from ..engine.spaces import LearnerState
from . import sums
from .sums import ShardSum, tree

if TYPE_CHECKING:
    from .jobs import Job
    from .shard_epoch import Delta, Outcome, Report
    from .states import State

#: Sums over some of the shards: for each learner, by name
Part: TypeAlias = tuple[dict[str, ShardSum], ...]
#: scalars that count: every shard adds what it has counted
_COUNTED = (
    scalars.SCALE_SUM,
    scalars.EXAMPLES,
    scalars.UPDATES,
    scalars.MISTAKES,
    scalars.ERRORS,
    scalars.REFUSED,
    scalars.LOSS2,
    scalars.SUM_Q,
)


class Round(NamedTuple):
    """The result of a round."""

    state: State
    reports: tuple[Report, ...]  #: in the order of the shards
    mu: np.ndarray  #: (learners, shards)


def mixed(job: Job, state: State, outcomes: Sequence[Outcome]) -> Round:
    """The state after a round, from the outcomes of all shards in their order."""
    reports = tuple(outcome.report for outcome in outcomes)
    mu = shares(job, state, reports)
    if len(outcomes) == 1:
        return Round(alone(state, outcomes[0]), reports, mu)
    parts = [weighted(state, outcome, own) for outcome, own in zip(outcomes, mu.T, strict=True)]
    return Round(settled(state, tree(parts, lambda a, b: join(state, a, b)), reports, mu), reports, mu)


def updates(state: State, report: Report) -> np.ndarray:
    """Updates of each learner in a pass."""
    pairs = zip(report.scalars, state, strict=True)
    return np.array([after[scalars.UPDATES] - own.scalars[scalars.UPDATES] for after, own in pairs])


def shares(job: Job, state: State, reports: Sequence[Report]) -> np.ndarray:
    """(learners, shards): the weights of the shards, which add up to 1 for each learner."""
    k = np.stack([updates(state, report) for report in reports], axis=1)
    if job.mixing == "mistakes":
        total = k.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, k / np.maximum(total, 1.0), 1.0 / len(reports))
    return equal_shares(len(state), len(reports))


def equal_shares(n_learners: int, n_shards: int) -> np.ndarray:
    """(learners, shards): the same weight for every shard."""
    return np.full((n_learners, n_shards), 1.0 / n_shards)


def alone(state: State, outcome: Outcome) -> State:
    """The state after the pass over the only shard: nothing is mixed."""
    return tuple(
        LearnerState({name: _after(change, own.arrays[name]) for name, change in deltas.items()}, after)
        for own, deltas, after in zip(state, outcome.deltas, outcome.report.scalars, strict=True)
    )


def _after(change: Delta, old: np.ndarray) -> np.ndarray:
    if change.where is None:
        return change.values.reshape(old.shape)
    new = old.copy()
    new.reshape(-1)[change.where] = change.values
    return new


# ---------------------------------------------------------------- sums over shards


def weighted(state: State, outcome: Outcome, mu: np.ndarray) -> Part:
    """The terms of one shard; ``mu`` has its weight for each learner."""
    return tuple(
        _gains(own, deltas) if "sigma" in own.arrays else _terms(own, deltas, after, float(share))
        for own, deltas, after, share in zip(state, outcome.deltas, outcome.report.scalars, mu, strict=True)
    )


def join(state: State, a: Part, b: Part) -> Part:
    """The sums over the shards of both parts."""
    return tuple(
        {name: sums.joined(one[name], two[name], own.arrays["v"].reshape(-1)) for name in one}
        for own, one, two in zip(state, a, b, strict=True)
    )


def _terms(own: LearnerState, deltas: dict[str, Delta], after: np.ndarray, mu: float) -> dict[str, ShardSum]:
    v = own.arrays["v"].reshape(-1)
    found = {"v": sums.scaled(deltas["v"], v, mu)}
    if "A" in deltas:
        A, where = own.arrays["A"].reshape(-1), _either(deltas["v"], deltas["A"], v, own.arrays["A"])
        moved = _new(deltas["v"], v, where).astype(np.float64) - v[where]
        values = after[scalars.SCALE_SUM] * moved + (_new(deltas["A"], A, where) - A[where])
        found["A"] = ShardSum(where, values, None, 0.0)
    return found


def _gains(own: LearnerState, deltas: dict[str, Delta]) -> dict[str, ShardSum]:
    v, sigma = own.arrays["v"], own.arrays["sigma"]
    where = _either(deltas["v"], deltas["sigma"], v, sigma)
    gain = _precision(_new(deltas["sigma"], sigma, where)) - _precision(sigma[where])
    return {
        "gain": ShardSum(where, gain, None, 0.0),
        "gain w": ShardSum(where, gain * _new(deltas["v"], v, where), None, 0.0),
    }


def _precision(sigma: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / np.maximum(sigma, np.finfo(np.float64).tiny))


def _either(a: Delta, b: Delta, old_a: np.ndarray, old_b: np.ndarray) -> np.ndarray:
    """Places of the numbers that have changed in one of two arrays."""
    if a.where is not None and b.where is not None and 8 * (len(a.where) + len(b.where)) < old_a.size:
        return np.union1d(a.where, b.where)
    masks = sums.changed(a, old_a.reshape(-1)) | sums.changed(b, old_b.reshape(-1))
    return np.flatnonzero(masks)


def _new(change: Delta, old: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The new values at these places, among which are all that have changed."""
    if change.where is None:
        return change.values[where]
    values = old[where]
    values[np.searchsorted(where, change.where)] = change.values
    return values


# ---------------------------------------------------------------- the new state


def settled(state: State, whole: Part, reports: Sequence[Report], mu: np.ndarray) -> State:
    """The state after a round, by the sums over all shards."""
    found = []
    for r, (own, part) in enumerate(zip(state, whole, strict=True)):
        after = [report.scalars[r] for report in reports]
        if "gain" in part:
            found.append(LearnerState(_by_confidence(own, part), _counted(own.scalars, after)))
        else:
            found.append(_by_weights(own, part, after, mu[r]))
    return tuple(found)


def _by_confidence(own: LearnerState, part: dict[str, ShardSum]) -> dict[str, np.ndarray]:
    v, sigma = own.arrays["v"].copy(), own.arrays["sigma"].copy()
    where, gain = sums.places(part["gain"]), sums.of_places(part["gain"])
    gained = gain > 0.0
    where, gain = where[gained], gain[gained]
    v[where] = sums.of_places(part["gain w"])[gained] / gain
    sigma[where] = 1.0 / (_precision(sigma[where]) + gain)
    return {"v": v, "sigma": sigma}


def _by_weights(
    own: LearnerState, part: dict[str, ShardSum], after: Sequence[np.ndarray], mu: np.ndarray
) -> LearnerState:
    old = own.arrays["v"]
    arrays = {"v": sums.put(part["v"], old.reshape(-1)).reshape(old.shape)}
    numbers = _counted(own.scalars, after)
    _bracketed(numbers, own.scalars, after, mu, arrays["v"])
    if "A" in part:
        A = own.arrays["A"].copy()
        where = sums.places(part["A"])
        moved = arrays["v"].reshape(-1)[where].astype(np.float64) - old.reshape(-1)[where]
        A.reshape(-1)[where] += sums.of_places(part["A"]) - numbers[scalars.SCALE_SUM] * moved
        arrays["A"] = A
    return LearnerState(arrays, numbers)


def _counted(before: np.ndarray, after: Sequence[np.ndarray]) -> np.ndarray:
    """The scalars of all shards together, but for those of the bracket."""
    new = before.copy()
    for name in _COUNTED:
        new[name] = _total(float(before[name]), [float(own[name]) for own in after])
    new[scalars.LOWEST] = min(own[scalars.LOWEST] for own in after)
    new[scalars.LONGEST] = max(own[scalars.LONGEST] for own in after)
    return new


def _total(before: float, after: Sequence[float]) -> float:
    """What all shards have counted: each began with what was counted before. Sums may leave the floats."""
    if not all(map(isfinite, (before, *after))):
        return inf
    try:
        return fsum([before, *(own - before for own in after)])
    except OverflowError:
        return inf


def _bracketed(
    new: np.ndarray, before: np.ndarray, after: Sequence[np.ndarray], mu: np.ndarray, v: np.ndarray
) -> None:
    """Set the scalars of the bracket: the length of w, the sum of the steps, the bounds on rounding."""
    new[scalars.N] = sum_of_squares(v.reshape(-1))
    new[scalars.NORM_ERROR] = EPS * (v.size + 8.0) * new[scalars.N]
    new[scalars.DRIFT] = 0.0
    new[scalars.TAU] = _mean_of_steps(before[scalars.TAU], [own[scalars.TAU] for own in after], mu)
    used = [(float(share), own) for share, own in zip(mu, after, strict=True) if share > 0.0]
    reach = fsum(share * _length(own) for share, own in used)
    error = fsum(share * float(own[scalars.ERROR]) for share, own in used)
    missing = abs(fsum([*mu, -1.0])) * (_length(before) + 2.0 * before[scalars.ERROR])
    info, levels = np.finfo(v.dtype), ceil(log2(len(after)))
    rounding = (2.0 * U * (levels + 2.0) + (info.eps if v.dtype != np.float64 else 0.0)) * reach
    underflow = (info.eps * info.tiny + SUBNORMAL * len(after)) * v.size
    new[scalars.ERROR] = (error + missing + rounding + underflow) * (1.0 + 64.0 * U)


def _length(state: np.ndarray) -> float:
    """At least ||w||."""
    return sqrt(state[scalars.N] + state[scalars.NORM_ERROR] + FLOOR) * (1.0 + 8.0 * U)


def _mean_of_steps(before: float, after: Sequence[float], mu: np.ndarray) -> float:
    """tau_0 + sum of mu_s (tau_s - tau_0), rounded once: rounding is counted by updates, not by shards."""
    if not all(map(isfinite, (before, *after))):
        return nan  # a step was negative
    start = Fraction(before)
    gained = (Fraction(float(m)) * (Fraction(tau) - start) for m, tau in zip(mu, after, strict=True))
    return float(sum(gained, start))
