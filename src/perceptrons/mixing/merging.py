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
\sum_s(\Lambda_{sj} - \Lambda_{0j})`, unchanged where nothing was gained. The product of the Gaussians with
their common prior divided out adds up the steps that several shards make alike: it diverges.

**Texts.** Where texts are counted (:mod:`perceptrons.engine.running_idf`) every shard adds its own counts:
:math:`\mathrm{df} \leftarrow \mathrm{df}_0 + \sum_s(\mathrm{df}_s - \mathrm{df}_0)`, and n alike. The numbers
are whole, so the sum is exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, fsum, inf, isfinite, log2, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..engine.loops import scalars
from ..engine.loops.linear import EPS, FLOOR
from ..engine.margins import SUBNORMAL, U
from ..engine.running_idf import MOST_TEXTS
from ..engine.spaces import LearnerState
from . import loops, sums
from .shard_arrays import MixedRows
from .sums import ShardSum, tree

if TYPE_CHECKING:
    from .jobs import Job
    from .shard_arrays import ShardArrays
    from .shard_epoch import Delta, Outcome, Report
    from .states import State

#: Sums over some of the shards: for each learner, by name
Part: TypeAlias = tuple[dict[str, ShardSum], ...]
#: maps a function over arguments, as ``map`` does
Each: TypeAlias = "Callable[[Callable[[Any], None], Sequence[Any]], Iterable[None]]"
BLOCK = 1 << 16  #: numbers that are mixed at a time, and whose squares are summed
PARTS = 16  #: about so many parts of a learner are mixed in threads
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


def mixed(
    job: Job, state: State, outcomes: Sequence[Outcome], each: Each = map, room: ShardArrays | None = None
) -> Round:
    """The state after a round, from the outcomes of all shards in their order.

    Numbers are mixed by blocks, so that what is in between stays in the cache; ``each`` maps a function over
    some blocks at a time, in threads for example. ``room`` has the numbers of all shards, where they were
    kept there: it has the mixed ones afterwards.
    """
    reports = tuple(outcome.report for outcome in outcomes)
    mu = shares(job, state, reports)
    if len(outcomes) == 1:
        return Round(alone(state, outcomes[0]), reports, mu)
    new = np.empty_like if room is None else room.lender.empty_like
    learners = [
        _Learner(
            own, [one.deltas[r] for one in outcomes], [report.scalars[r] for report in reports], mu[r], new
        )
        for r, own in enumerate(state)
    ]
    if room is not None:
        for one, rows in zip(learners, room.rows, strict=True):
            one.mix_rows(rows)
    parts = [(one, part) for one in learners for part in one.parts()]
    for _ in each(lambda part: part[0].mix(part[1]), parts):
        pass  # errors are raised here
    found = tuple(one.state() for one in learners)
    if room is not None:
        room.hold(found)
    return Round(found, reports, mu)


class _Learner:
    """One learner of a round in this process: the same functions as on a cluster, block by block."""

    def __init__(
        self,
        own: LearnerState,
        deltas: list[dict[str, Delta]],
        after: list[np.ndarray],
        mu: np.ndarray,
        new: Callable[[np.ndarray], np.ndarray],
    ):
        """``new``: an array like another one, for the mixed numbers."""
        self.own, self.deltas, self.after, self.mu = own, deltas, after, mu
        self.size = own.arrays["v"].size
        self.counted = _counted(own.scalars, after)
        self.arrays = {name: new(a) for name, a in own.arrays.items()}
        self.rows: MixedRows | None = None
        self.squares: np.ndarray | None = None  # the sums of the squares of all blocks, where they are known

    def parts(self) -> list[range]:
        """The numbers of all blocks, some at a time."""
        n = _n_blocks(self.size)
        some = max(1, n // PARTS)
        return [range(first, min(first + some, n)) for first in range(0, n, some)]

    def mix_rows(self, rows: dict[str, np.ndarray]) -> None:
        """From here on mix by compiled loops: these are the numbers of all shards."""
        passed = np.array([own[scalars.SCALE_SUM] for own in self.after])
        whole = float(self.counted[scalars.SCALE_SUM])
        self.rows = MixedRows(self.own, rows, self.mu, passed, whole, self.arrays)
        self.squares = np.empty(_n_blocks(self.size))

    def mix(self, blocks: Iterable[int]) -> None:
        """Mix the numbers of these blocks."""
        for b in blocks:
            start, stop = b * BLOCK, min((b + 1) * BLOCK, self.size)
            if self.rows is not None and self.squares is not None:
                self.squares[b] = self.rows.mix(start, stop)
            else:
                self._mix_changes(slice(start, stop))

    def _mix_changes(self, block: slice) -> None:
        own = LearnerState(
            {name: a.reshape(-1)[block] for name, a in self.own.arrays.items()}, self.own.scalars
        )
        deltas = [{name: _cut(change, block) for name, change in one.items()} for one in self.deltas]
        new = own.arrays
        if any(change.where is None or len(change.where) for one in deltas for change in one.values()):
            terms = [
                _terms(own, one, after, float(mu))
                for one, after, mu in zip(deltas, self.after, self.mu, strict=True)
            ]
            new = _arrays(own, tree(terms, lambda a, b: _joined(own, a, b)), self.counted)
        for name, a in new.items():
            self.arrays[name].reshape(-1)[block] = a

    def state(self) -> LearnerState:
        return _state(self.own, self.arrays, self.counted, self.after, self.mu, self.squares)


def _cut(change: Delta, block: slice) -> Delta:
    if change.where is None:
        return change._replace(values=change.values[block])
    ends = np.array((block.start, block.stop), change.where.dtype)  # of another type, all places were copied
    first, end = np.searchsorted(change.where, ends)
    return change._replace(where=change.where[first:end] - block.start, values=change.values[first:end])


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
    learners = zip(state, outcome.deltas, outcome.report.scalars, mu, strict=True)
    return tuple(_terms(flat(own), deltas, after, float(share)) for own, deltas, after, share in learners)


def join(state: State, a: Part, b: Part) -> Part:
    """The sums over the shards of both parts."""
    return tuple(_joined(flat(own), one, two) for own, one, two in zip(state, a, b, strict=True))


def settled(state: State, whole: Part, reports: Sequence[Report], mu: np.ndarray) -> State:
    """The state after a round, by the sums over all shards."""
    found = []
    for r, (own, part) in enumerate(zip(state, whole, strict=True)):
        after = [report.scalars[r] for report in reports]
        counted = _counted(own.scalars, after)
        new = _arrays(flat(own), part, counted)
        arrays = {name: a.reshape(own.arrays[name].shape) for name, a in new.items()}
        found.append(_state(own, arrays, counted, after, mu[r]))
    return tuple(found)


def flat(own: LearnerState) -> LearnerState:
    return own._replace(arrays={name: a.reshape(-1) for name, a in own.arrays.items()})


def _terms(own: LearnerState, deltas: dict[str, Delta], after: np.ndarray, mu: float) -> dict[str, ShardSum]:
    """The terms of one shard for one learner, whose arrays are flat."""
    counts = {"df": _counts(deltas["df"], own.arrays["df"])} if "df" in deltas else {}
    return counts | _terms_of_weights(own, deltas, after, mu)


def _counts(change: Delta, old: np.ndarray) -> ShardSum:
    """The texts that one shard has counted."""
    if sums.few(len(old), change):
        assert change.where is not None
        more = np.subtract(change.values, old[change.where], dtype=np.float64)
        return ShardSum(change.where, more, None, 0.0)
    new = sums.everywhere(change, old)
    return ShardSum(None, np.subtract(new, old, dtype=np.float64), sums.differ(new, old), 0.0)


def _terms_of_weights(
    own: LearnerState, deltas: dict[str, Delta], after: np.ndarray, mu: float
) -> dict[str, ShardSum]:
    if "sigma" in deltas:
        return _gains(own, deltas)
    found = {"v": sums.scaled(deltas["v"], own.arrays["v"], mu)}
    if "A" in deltas:
        where, mask, (v, old_v), (A, old_A) = _either(own, deltas, "v", "A")
        moved = np.subtract(v, old_v, dtype=np.float64)
        found["A"] = ShardSum(where, after[scalars.SCALE_SUM] * moved + (A - old_A), mask, 0.0)
    return found


def _gains(own: LearnerState, deltas: dict[str, Delta]) -> dict[str, ShardSum]:
    where, mask, (w, _), (sigma, old) = _either(own, deltas, "v", "sigma")
    gain = _precision(sigma) - _precision(old)
    return {"gain": ShardSum(where, gain, mask, 0.0), "gain w": ShardSum(where, gain * w, mask, 0.0)}


def _precision(sigma: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / np.maximum(sigma, np.finfo(np.float64).tiny))


def _either(
    own: LearnerState, deltas: dict[str, Delta], *names: str
) -> tuple[np.ndarray | None, np.ndarray | None, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Where one of two arrays has changed, as a sum has it, and the new and old numbers of each there."""
    (a, old_a), (b, old_b) = ((deltas[name], own.arrays[name]) for name in names)
    if not sums.few(len(old_a), a, b):
        new_a, new_b = sums.everywhere(a, old_a), sums.everywhere(b, old_b)
        return None, sums.differ(new_a, old_a) | sums.differ(new_b, old_b), (new_a, old_a), (new_b, old_b)
    assert a.where is not None and b.where is not None
    where = np.union1d(a.where, b.where)
    new_a, new_b = old_a[where], old_b[where]
    new_a[np.searchsorted(where, a.where)] = a.values
    new_b[np.searchsorted(where, b.where)] = b.values
    return where, None, (new_a, old_a[where]), (new_b, old_b[where])


def _joined(own: LearnerState, a: dict[str, ShardSum], b: dict[str, ShardSum]) -> dict[str, ShardSum]:
    return {name: sums.joined(a[name], b[name], own.arrays["df" if name == "df" else "v"]) for name in a}


# ---------------------------------------------------------------- the new state


def _arrays(own: LearnerState, part: dict[str, ShardSum], counted: np.ndarray) -> dict[str, np.ndarray]:
    """The new arrays of a learner, flat, by the sums over all shards."""
    arrays = _weights(own, part, counted)
    if "df" in part:
        arrays["df"] = _all_counts(part["df"], own.arrays["df"])
    return arrays


def _all_counts(total: ShardSum, df: np.ndarray) -> np.ndarray:
    new = sums.picked(total, df) + total.values
    if new.max(initial=0.0) > MOST_TEXTS:
        raise OverflowError(f"A model counts at most {MOST_TEXTS} texts.")
    return sums.put(total, new, df)


def _weights(own: LearnerState, part: dict[str, ShardSum], counted: np.ndarray) -> dict[str, np.ndarray]:
    v = own.arrays["v"]
    if "gain" in part:
        return _by_confidence(own, part)
    arrays = {"v": sums.put(part["v"], part["v"].values, v)}
    if "A" in part:
        total, A = part["A"], own.arrays["A"]
        moved = np.subtract(sums.picked(total, arrays["v"]), sums.picked(total, v), dtype=np.float64)
        added = total.values - counted[scalars.SCALE_SUM] * moved
        arrays["A"] = sums.put(total, sums.picked(total, A) + added, A)
    return arrays


def _by_confidence(own: LearnerState, part: dict[str, ShardSum]) -> dict[str, np.ndarray]:
    whole, v, sigma = part["gain"], own.arrays["v"], own.arrays["sigma"]
    gain, old_v, old = whole.values, sums.picked(whole, v), sums.picked(whole, sigma)
    gained = gain > 0.0
    w = np.where(gained, part["gain w"].values / np.where(gained, gain, 1.0), old_v)
    narrowed = np.where(gained, 1.0 / (_precision(old) + gain), old)
    return {"v": sums.put(whole, w, v), "sigma": sums.put(whole, narrowed, sigma)}


def _state(
    own: LearnerState,
    arrays: dict[str, np.ndarray],
    counted: np.ndarray,
    after: Sequence[np.ndarray],
    mu: np.ndarray,
    squares: Iterable[float] | None = None,
) -> LearnerState:
    """The new state of a learner, whose arrays are these.

    ``squares``: the sum of the squares of each block of weights, where they are known.
    """
    if "sigma" not in arrays:
        norm2 = fsum(_squares(arrays["v"]) if squares is None else squares)
        _bracketed(counted, own.scalars, after, mu, arrays["v"], norm2)
    return LearnerState(arrays, counted)


def _squares(v: np.ndarray) -> Iterator[float]:
    """The sum of the squares of each block of weights."""
    flat, room = v.reshape(-1), np.empty(loops.SPAN)
    for start in range(0, len(flat), BLOCK):
        yield loops.squared_length(flat, room, start, min(start + BLOCK, len(flat)))


def _n_blocks(size: int) -> int:
    return -(-size // BLOCK)


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
    new: np.ndarray,
    before: np.ndarray,
    after: Sequence[np.ndarray],
    mu: np.ndarray,
    v: np.ndarray,
    norm2: float,
) -> None:
    """Set the scalars of the bracket: the length of w, the sum of the steps, the bounds on rounding."""
    new[scalars.N] = norm2
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
