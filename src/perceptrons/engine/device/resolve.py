"""The resolve step of kernel learners on torch tensors: one block of rows, exactly as one row at a time.

The host hands over the scores of a block under the current w and the kernel values of the block with
itself. The rows are then shown to the rule in order; a row that updates, w <- keep w + tau y phi(x_i),
corrects the scores of the rows after it by f_l <- keep f_l + tau y k(x_i, x_l). Rows between two updates
have the same w, so all rows are tested at once and the walk jumps from one update to the next.

On a GPU the walk is one Triton kernel, one program per learner, and nothing is sent to the host. Triton
comes with torch; CuPy would be one more large thing to install, bound to one version of CUDA. On the CPU,
and where Triton is missing, the same walk is made with torch operations.

Scores and scalars are in float64 within a block, whatever the type of the tensors. Torch is imported when a
function is called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from ..cache import check_triton_cache
from ..loops.linear import squared_step
from ..loops.scalars import (
    BAD_SCORE,
    BAD_STEP,
    DONE,
    DRIFT,
    ERRORS,
    EXAMPLES,
    LOSS2,
    LOWEST,
    MISTAKES,
    REFUSED,
    SCALE,
    SCALE_HIGH,
    SCALE_LOW,
    SCALE_SUM,
    SUM_Q,
    TAU,
    UPDATES,
    N,
)
from . import kernels as device_kernels
from . import rules as device_rules

if TYPE_CHECKING:
    from ..._types import Record, Tensor
    from ...rules import UserRule

TRACKS = device_kernels.TRACKS
MAX_ROWS = 1 << 14  #: of a block on a GPU: all are held in registers, so a few thousand are best


class DeviceLog(NamedTuple):
    """One entry per update of the block, from entry 0 on."""

    row: Tensor  #: int64 (learners, B): which row of the block
    example: Tensor  #: int64 (learners, B): t of the update
    keep: Tensor  #: float64 (learners, B)
    alpha: Tensor  #: float64 (learners, B): tau y; of a joint learner (1, B, classes): what each class got
    count: Tensor  #: int64 (learners,): entries written


def resolve(
    rule: Record | UserRule,
    F: Tensor,
    G: Tensor,
    y: Tensor,
    q: Tensor,
    c: Tensor | None,
    position: Tensor,
    v: Tensor,
    A: Tensor | None,
    track: str,
    scalars: Tensor,
    log: DeviceLog | None,
    prediction: bool,
    tol: float,
    limit: float,
    smallest: Tensor,
) -> Tensor:
    """One block for K independent binary learners; return how each ended, and at which row.

    Nothing is sent to the host if the tensors are on a GPU. The norm is kept by its recurrence alone; the
    host refreshes it. A learner that ends badly leaves v and the scalars as they were before the bad row.

    Parameters
    ----------
    rule : record or UserRule
        A first-order rule.
    F : tensor (K, B), float32 or float64
        Scores of the rows under v; the true score is SCALE times that. Scratch.
    G : tensor (B, B), like F
        Kernel values of the block with itself.
    y : tensor (K, B), like F
        Labels, +1 or -1.
    q : tensor (B,), float64
        k(x, x).
    c : tensor (B,), float64, or None
        Weights of the rows; a row of weight 0 is passed over.
    position : tensor (B,), int64
        Where in v the coefficient of a row is.
    v : tensor (K, size), like F
        Coefficients; w = SCALE * v. Changed.
    A : tensor (K, size), float64, or None
        What the average needs. Changed.
    track : {"last", "average", "unit"}
        What is kept for the readout, as in :mod:`.linear`.
    scalars : tensor (K, SIZE), float64
        See :mod:`.scalars`. Changed.
    log : DeviceLog or None
        Where updates are written.
    prediction : bool
        Whether a tie that predicts the right label is no mistake.
    tol, limit : float
        Losses up to ``tol`` are zero; a squared norm beyond ``limit`` ends the block.
    smallest : tensor (K,), float64
        The smallest |m| other than 0 of the rows visited so far: a tie at w = 0 is exact. Changed.

    Returns
    -------
    tensor (K, 2), int64
        DONE, BAD_SCORE or BAD_STEP, and the row of the block, on the device of F.
    """
    import torch

    ending = torch.empty((F.shape[0], 2), dtype=torch.int64, device=F.device)
    block = _Block(rule, G, q, c, position, track, prediction, tol, limit)
    if _has_kernels(F):
        _launch_rows(block, F, y, v, A, scalars, log, smallest, ending)
        return ending
    for learner in range(F.shape[0]):
        own = None if A is None else A[learner]
        walk = _RowsWalk(block, scalars[learner], v[learner], own, F[learner], y[learner])
        ending[learner, 0], ending[learner, 1] = walk.run(
            _entries(log, learner), smallest[learner : learner + 1]
        )
    return ending


def resolve_joint(
    rule: Record | UserRule,
    F: Tensor,
    G: Tensor,
    y: Tensor,
    q: Tensor,
    c: Tensor | None,
    position: Tensor,
    v: Tensor,
    A: Tensor | None,
    track: str,
    scalars: Tensor,
    log: DeviceLog | None,
    prediction: bool,
    tol: float,
    limit: float,
    smallest: Tensor,
) -> Tensor:
    """One block for the joint multiclass learner that moves the best rival alone.

    Like :func:`resolve`, but F is (B, K), y (B,) int64 holds classes, v and A are (size, K), contiguous,
    scalars is (1, SIZE), smallest (1,), ``log.alpha`` (1, B, K) and the result (1, 2).
    """
    import torch

    ending = torch.empty((1, 2), dtype=torch.int64, device=F.device)
    block = _Block(rule, G, q, c, position, track, prediction, tol, limit)
    if _has_kernels(F):
        _launch_joint(block, F, y, v, A, scalars, log, smallest, ending)
        return ending
    walk = _JointWalk(block, scalars[0], v, A, F, y)
    ending[0, 0], ending[0, 1] = walk.run(_entries(log, 0), smallest)
    return ending


def _has_kernels(tensor: Tensor) -> bool:
    return bool(tensor.is_cuda) and device_kernels.AVAILABLE


class _Block:
    """What all learners of a block share."""

    def __init__(
        self,
        rule: Record | UserRule,
        G: Tensor,
        q: Tensor,
        c: Tensor | None,
        position: Tensor,
        track: str,
        prediction: bool,
        tol: float,
        limit: float,
    ):
        self.rule, self.G, self.q, self.c, self.position = rule, G, q, c, position
        self.track, self.prediction = TRACKS[track], bool(prediction)
        self.tol, self.limit = float(tol), float(limit)
        self.parameters = device_rules.hyperparameters(rule)


def _entries(log: DeviceLog | None, learner: int) -> DeviceLog | None:
    return log if log is None else DeviceLog(*(field[learner] for field in log))


# ---------------------------------------------------------------- the walk in torch


class _Walk:
    """One learner and its position in a block. Scores are kept for all rows, in units of v."""

    def __init__(self, block: _Block, scalars: Tensor, v: Tensor, A: Tensor | None, F: Tensor):
        import torch

        self.block, self.scalars, self.v = block, scalars, v
        self.A: Tensor = A
        self.f = F.to(torch.float64, copy=True)
        values: list[float] = scalars.tolist()
        self.scale, self.norm2, self.tau_sum, self.scale_sum = (values[j] for j in (SCALE, N, TAU, SCALE_SUM))
        self.before, self.k, self.drift = (values[j] for j in (EXAMPLES, UPDATES, DRIFT))
        self.eps = torch.finfo(v.dtype).eps
        self.functions = device_rules.for_torch(block.rule)
        size = block.q.shape[0]
        self.live = torch.ones(size, dtype=torch.bool, device=F.device) if block.c is None else block.c != 0.0
        self.number = torch.cumsum(self.live, 0).to(torch.float64)  # of a row among those that have a weight
        self.weight = self._scalar(1.0).expand(size) if block.c is None else block.c
        self.seen = torch.zeros_like(self.number)  # the margin that a row had when it was visited
        self.wrong = torch.zeros_like(self.live)
        self.passed = 0.0
        self.refused = 0
        self.sum_q = 0.0
        self.logged = 0

    def _scalar(self, value: float) -> Tensor:
        import torch

        return torch.tensor(value, dtype=torch.float64, device=self.f.device)

    def _call(self, function: Callable[..., Tensor], m: Tensor, q: Tensor, rows: slice) -> Tensor:
        """One of the functions of the rule, for some rows."""
        state = (
            self._scalar(self.norm2),
            self._scalar(self.k),
            self.before + self.number[rows],
            self.weight[rows],
        )
        shared = (self.block.tol, *self.block.parameters)
        return function(m, q, *state, *(self._scalar(value) for value in shared))

    def margins(self, rows: slice) -> tuple[Tensor, Tensor, Tensor]:
        """(m, q, wrong) of some rows under the current w."""
        raise NotImplementedError

    def growth(self, i: int, m: float, tau: float) -> tuple[float, float, bool]:
        """(<w, d>, |d|^2, whether the coefficients can be stored) of the step at row i."""
        raise NotImplementedError

    def push(self, i: int, tau: float) -> Tensor | float:
        """The step at row i, in v, in A and in the scores; return what the log says."""
        raise NotImplementedError

    def run(self, log: DeviceLog | None, smallest: Tensor) -> tuple[int, int]:
        size = self.block.q.shape[0]
        cursor, how, at = 0, DONE, size - 1
        while cursor < size:
            i = self.seek(cursor)
            if i == size:
                break
            how = self.visit(i, log)
            if how != DONE:
                at = i
                break
            cursor = i + 1
        self.write(at if how != DONE else size, smallest)
        if log is not None:
            log.count.fill_(self.logged)
        return how, at

    def seek(self, cursor: int) -> int:
        """Go on to the next row that may step, or whose score is not finite."""
        rows = slice(cursor, None)
        m, q, wrong = self.margins(rows)
        self.seen[rows], self.wrong[rows] = m, wrong
        stop = self._call(self.functions.stops, m, q, rows)
        if self.block.prediction:
            stop = stop & (wrong | (m != 0.0))
        found = (self.live[rows] & (stop | ~m.isfinite())).nonzero()
        i = cursor + int(found[0, 0]) if found.shape[0] > 0 else self.seen.shape[0]
        reached = float(self.number[i]) - 1.0 if found.shape[0] > 0 else float(self.number[-1])
        self.scale_sum += (reached - self.passed) * self.pace()
        self.passed = reached
        return i

    def visit(self, i: int, log: DeviceLog | None) -> int:
        """Call the rule for one row and take its step."""
        rows = slice(i, i + 1)
        m, q, _ = self.margins(rows)
        if not m.isfinite():
            return BAD_SCORE
        pair = self._call(self.functions.decide, m, q, rows)
        m, (keep, tau) = float(m), (float(value) for value in pair)
        if keep == 0.0 and tau == 0.0:
            self.refused += 1
        elif keep != 1.0 or tau != 0.0:
            inner, length2, sound = self.growth(i, m, tau)
            new_norm2 = keep * keep * self.norm2 + 2.0 * keep * inner + length2
            if not (new_norm2 <= self.block.limit and sound):
                return BAD_STEP
            if keep != 1.0:
                terms = keep * keep * self.norm2 + abs(2.0 * keep * inner) + length2
                self.drift = keep * keep * self.drift + self.eps * terms
            self.make_room(keep, tau, new_norm2)
            alpha = self.push(i, tau)
            self.k += 1.0
            self.norm2 = max(0.0, new_norm2)
            self.tau_sum = keep * self.tau_sum + tau if tau >= 0.0 and keep >= 0.0 else nan
            self.sum_q += float(self.block.q[i])
            if log is not None:
                log.row[self.logged], log.keep[self.logged], log.alpha[self.logged] = i, keep, alpha
                log.example[self.logged] = int(self.before + self.number[i])
                self.logged += 1
        self.passed += 1.0
        self.scale_sum += self.pace()
        return DONE

    def pace(self) -> float:
        """Weight of the current w in the running average."""
        if self.block.track != TRACKS["unit"]:
            return self.scale
        return self.scale / sqrt(self.norm2) if self.norm2 > 0.0 else 0.0

    def make_room(self, keep: float, tau: float, new_norm2: float) -> None:
        """w = scale v shrinks by ``keep``, and v is made to hold the step."""
        if keep == 0.0:
            if self.norm2 != 0.0:
                self.multiply(0.0)
            self.scale = 1.0
        self.scale *= keep if keep != 0.0 else 1.0
        if self.scale == 1.0:
            return
        length = abs(self.scale)
        short = sqrt(max(0.0, new_norm2)) <= sqrt(self.block.limit) * length
        if not (SCALE_LOW < length < SCALE_HIGH and short and self.storable(tau / self.scale)):
            self.multiply(self.scale)
            self.scale_sum, self.scale = 0.0, 1.0

    def multiply(self, factor: float) -> None:
        """v is multiplied by a factor; the average keeps what v was worth."""
        if self.block.track != TRACKS["last"]:
            self.A += self.scale_sum * self.v.to(self.A.dtype)
        self.v.copy_(self.v.to(self.f.dtype) * factor)
        self.f *= factor

    def storable(self, d: float) -> bool:
        """Whether the type of v can hold d."""
        return isfinite(d) and bool(self._scalar(d).to(self.v.dtype).isfinite())

    def add(self, entry: Tensor | tuple[Tensor, int], d: float) -> None:
        """v[entry] += d, and what the average makes of it."""
        if self.block.track != TRACKS["last"]:
            self.A[entry] += -self.scale_sum * d
        self.v[entry] = float(self.v[entry]) + d

    def write(self, visited_to: int, smallest: Tensor) -> None:
        """The scalars, and the counts of every row that was visited, with the margin it had then."""
        own = self.scalars
        for j, value in (
            (SCALE, self.scale),
            (N, self.norm2),
            (TAU, self.tau_sum),
            (SCALE_SUM, self.scale_sum),
            (EXAMPLES, self.before + self.passed),
            (UPDATES, self.k),
            (DRIFT, self.drift),
        ):
            own[j] = value
        visited = self.live[:visited_to]
        m, wrong = self.seen[:visited_to][visited], self.wrong[:visited_to][visited]
        own[MISTAKES] += (wrong if self.block.prediction else m <= 0.0).sum()
        own[ERRORS] += wrong.sum()
        own[REFUSED] += self.refused
        own[LOSS2] += (1.0 - m).clamp(min=0.0).square().sum()
        own[SUM_Q] += self.sum_q
        if m.shape[0] > 0:
            own[LOWEST] = min(float(own[LOWEST]), float(m.min()))
            smallest[0] = min([float(smallest[0]), *m[m != 0.0].abs().tolist()])


class _RowsWalk(_Walk):
    """A binary learner."""

    def __init__(self, block: _Block, scalars: Tensor, v: Tensor, A: Tensor | None, F: Tensor, y: Tensor):
        super().__init__(block, scalars, v, A, F)
        self.y = y.to(self.f.dtype)

    def margins(self, rows: slice) -> tuple[Tensor, Tensor, Tensor]:
        s = self.scale * self.f[rows]
        return self.y[rows] * s, self.block.q[rows], (s > 0.0) != (self.y[rows] > 0.0)

    def growth(self, i: int, m: float, tau: float) -> tuple[float, float, bool]:
        return tau * m, squared_step(tau, float(self.block.q[i])), self.storable(tau)

    def push(self, i: int, tau: float) -> Tensor | float:
        sign = float(self.y[i])
        d = tau * sign / self.scale
        self.add(self.block.position[i], d)
        self.f[i + 1 :] += d * self.block.G[i, i + 1 :].to(self.f.dtype)
        return tau * sign


class _JointWalk(_Walk):
    """All classes in one learner."""

    def __init__(self, block: _Block, scalars: Tensor, v: Tensor, A: Tensor | None, F: Tensor, y: Tensor):
        super().__init__(block, scalars, v, A, F)
        self.y = y
        self.rival = -1  #: of the row that steps; its scores may be gone when v is changed

    def scan(self, rows: slice) -> tuple[Tensor, Tensor, Tensor]:
        """The score of a row's own class, of the best other class, and which one that is."""
        import torch

        s, y = self.scale * self.f[rows], self.y[rows]
        best, z = torch.zeros_like(s[:, 0]), torch.full_like(y, -1)
        for r in range(s.shape[1]):
            better = (y != r) & ((z < 0) | (s[:, r] > best))
            best, z = torch.where(better, s[:, r], best), torch.where(better, r, z)
        return s.gather(1, y[:, None])[:, 0], best, z

    def margins(self, rows: slice) -> tuple[Tensor, Tensor, Tensor]:
        mine, best, z = self.scan(rows)
        m = mine - best
        return m, 2.0 * self.block.q[rows], (m < 0.0) | ((m == 0.0) & (z < self.y[rows]))

    def growth(self, i: int, m: float, tau: float) -> tuple[float, float, bool]:
        mine, best, self.rival = (value.item() for value in self.scan(slice(i, i + 1)))
        return tau * mine - tau * best, 2.0 * squared_step(tau, float(self.block.q[i])), True

    def storable(self, d: float) -> bool:
        return True

    def push(self, i: int, tau: float) -> Tensor | float:
        import torch

        y, z = int(self.y[i]), self.rival
        alpha = torch.zeros_like(self.f[0])
        alpha[y], alpha[z] = tau, -tau
        d = tau * (1.0 / self.scale)
        for r, sign in ((y, 1.0), (z, -1.0)):
            self.add((self.block.position[i], r), sign * d)
            self.f[i + 1 :, r] += sign * (d * self.block.G[i, i + 1 :].to(self.f.dtype))
        return alpha


# ---------------------------------------------------------------- the walk in one kernel


@functools.lru_cache(maxsize=256)
def _settings(tol: float, limit: float, eps: float, parameters: tuple[float, ...], device: Any) -> Tensor:
    """The settings of a kernel, on its device; made once, for a copy would wait for the device."""
    import torch

    return torch.tensor([tol, limit, eps, *parameters], dtype=torch.float64, device=device)


def _warps(lanes: int) -> int:
    """The best found on an H200: 1.1 us an update with 1024 rows, 1.9 us with 4096."""
    return 16 if lanes > 2048 else min(8, max(1, lanes // 128))


def _shared_arguments(
    block: _Block, F: Tensor, log: DeviceLog | None, ending: Tensor
) -> tuple[Tensor, Tensor, tuple[Tensor, ...], Tensor, dict[str, Any]]:
    """What both kernels take: weights, log, settings and flags."""
    import torch

    size = block.q.shape[0]
    if size > MAX_ROWS:
        raise ValueError(f"a block on a GPU may have at most {MAX_ROWS} rows; got {size}.")
    weights, order = block.q, block.q
    if block.c is not None:
        weights = block.c.contiguous()
        order = torch.cumsum(weights != 0.0, 0).to(torch.float64)
    entries: tuple[Tensor, ...] = (ending,) * 5 if log is None else tuple(log)
    eps = torch.finfo(F.dtype).eps
    settings = _settings(block.tol, block.limit, eps, block.parameters, F.device)
    check_triton_cache()
    functions = device_rules.for_triton(block.rule)
    lanes = max(16, 1 << (size - 1).bit_length())
    flags = {
        "stops": functions.stops,
        "decide": functions.decide,
        "TRACK": block.track,
        "WEIGHTED": block.c is not None,
        "LOGGED": log is not None,
        "PREDICTION": block.prediction,
        "LANES": lanes,
        "num_warps": _warps(lanes),
        "enable_fp_fusion": False,  # the same roundings as the walk in torch
    }
    return weights, order, entries, settings, flags


def _in_rows(*tensors: Tensor) -> None:
    for tensor in tensors:
        if tensor is not None and tensor.stride(-1) != 1:
            raise ValueError("tensors that are changed must be contiguous along their last dimension.")


def _launch_rows(
    block: _Block,
    F: Tensor,
    y: Tensor,
    v: Tensor,
    A: Tensor | None,
    scalars: Tensor,
    log: DeviceLog | None,
    smallest: Tensor,
    ending: Tensor,
) -> None:
    import torch

    weights, order, entries, settings, flags = _shared_arguments(block, F, log, ending)
    F, G, y = (t if t.stride(-1) == 1 else t.contiguous() for t in (F, block.G, y))
    A = v if A is None else A
    _in_rows(v, A, scalars, smallest, *entries)
    with torch.cuda.device(F.device):
        device_kernels.rows_kernel[(F.shape[0],)](
            F,
            G,
            y,
            block.q.contiguous(),
            weights,
            order,
            block.position.contiguous(),
            v,
            A,
            scalars,
            *entries,
            smallest,
            ending,
            settings,
            F.shape[1],
            v.shape[1],
            F.stride(0),
            G.stride(0),
            y.stride(0),
            v.stride(0),
            A.stride(0),
            scalars.stride(0),
            entries[0].stride(0),
            **flags,
        )


def _launch_joint(
    block: _Block,
    F: Tensor,
    y: Tensor,
    v: Tensor,
    A: Tensor | None,
    scalars: Tensor,
    log: DeviceLog | None,
    smallest: Tensor,
    ending: Tensor,
) -> None:
    import torch

    weights, order, entries, settings, flags = _shared_arguments(block, F, log, ending)
    A = v if A is None else A
    if not (v.is_contiguous() and A.is_contiguous()):
        raise ValueError("v and A of a joint learner must be contiguous.")
    _in_rows(scalars, smallest, *entries)
    G = block.G if block.G.stride(-1) == 1 else block.G.contiguous()
    classes = F.shape[1]
    flags["CLASSES"] = 1 << (classes - 1).bit_length()
    flags["num_warps"] = min(16, max(1, flags["LANES"] // 32))
    with torch.cuda.device(F.device):
        device_kernels.joint_kernel[(1,)](
            F.t().to(torch.float64).contiguous(),
            G,
            y.contiguous(),
            block.q.contiguous(),
            weights,
            order,
            block.position.contiguous(),
            v,
            A,
            scalars,
            *entries,
            smallest,
            ending,
            settings,
            F.shape[0],
            classes,
            v.numel(),
            G.stride(0),
            **flags,
        )
