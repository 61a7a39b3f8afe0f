"""Exact blocks on a device: rows, kernel values and coefficients are tensors that stay there.

The pass is that of :class:`perceptrons.engine.blocks.Blocks`; blocks are resolved by
:mod:`perceptrons.engine.device.resolve`. For each block the device sends to the host which rows joined the
support set, and the scalars of the learners: one transfer of a few kilobytes. Needs numpy and torch only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..._sparse import is_sparse
from ...kernels.prepared import Parts, Rows
from ...rules import LOSS_TOL, LOSS_TOL_32, RuleError
from ..blocks import Blocks, Piece, Support, span
from ..loops import scalars
from . import resolve as device
from . import rules as device_rules

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._types import AnyMatrix, Index, Record, Tensor, UpdateColumns
    from ...kernels import Kernel
    from ...rules import UserRule

TWIN = "torch-cpu"  #: torch on the host: for tests of what a GPU does
LARGEST_BLOCK = 4096  #: larger than on the host: a launch costs as much as a small block
LARGEST_JOINT_BLOCK = 512  #: whose scores of all classes stay close to the processor
SHEET = 8192


def choose(asked: str, kernel: Kernel, rows: Rows | Parts, rule: Record | UserRule, top_rival: bool) -> str:
    """The device that a learner runs on; "cuda" raises where "auto" would choose the CPU."""
    if asked == "auto" and not _has_driver():
        return "cpu"
    trouble = _trouble(kernel, rows, rule, top_rival)
    if trouble is None:
        return "cuda"
    if asked == "cuda":
        raise trouble
    return "cpu"


def _has_driver() -> bool:
    """Whether there is a driver of a GPU: without one torch need not even be imported."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


def _trouble(
    kernel: Kernel, rows: Rows | Parts, rule: Record | UserRule, top_rival: bool
) -> Exception | None:
    try:
        import torch
    except ImportError:
        return ImportError("device='cuda' needs torch: pip install 'perceptrons[gpu]'")
    if not torch.cuda.is_available():
        return ValueError("device='cuda': torch finds no CUDA device here; use device='cpu'.")
    if not kernel.by_inner_products:
        return ValueError(f"{kernel} has no form for a device; use device='cpu'.")
    if _any_sparse(rows):
        return ValueError("A device takes dense rows of numbers; use device='cpu' for sparse ones.")
    if not top_rival:
        return ValueError("On a device the best rival alone pays: use scheme='top', or device='cpu'.")
    try:
        device_rules.for_torch(rule)
    except RuleError as error:
        return error
    return None


def _any_sparse(rows: Rows | Parts) -> bool:
    if isinstance(rows, Parts):
        return any(_any_sparse(part) for part in rows.parts)
    return is_sparse(rows.X)


class AnyTeam(Protocol):
    """Learners that share a support set, as :class:`DeviceBlocks` takes them."""

    rule: Record | UserRule
    track: str  #: what is kept for the readout
    prediction: bool
    joint: bool
    tol: float
    limit: float

    def arrays(self) -> tuple[np.ndarray, np.ndarray | None]:
        """v and A: (learners, places), or (places, classes) of prototypes."""

    def states(self) -> np.ndarray:
        """(learners, SIZE): their scalars."""

    def labels(self, y: np.ndarray) -> np.ndarray:
        """Class codes for prototypes, +-1 as (learners, rows) for the others."""

    def receive(
        self, v: np.ndarray, A: np.ndarray | None, states: np.ndarray, newcomers: np.ndarray, smallest: float
    ) -> None:
        """What a pass has made of the learners; ``newcomers`` are rows that joined the support set."""

    def trouble(self, r: int, ending: int, i: int, m: float, q: float, weight: float) -> Exception:
        """The error that ended a pass of learner r at row i."""


class Team:
    """Learners that share a support set, as arrays, without a space around them.

    ``labels`` are taken as they are: +-1 as (learners, rows), or class codes of a joint learner.
    """

    def __init__(
        self,
        rule: Record | UserRule,
        n_learners: int,
        dtype: npt.DTypeLike,
        track: str = "last",
        n_classes: int = 0,
    ):
        """``n_classes`` of one joint learner; or ``n_learners`` binary ones."""
        self.rule, self.track, self.prediction = rule, track, False
        self.joint = n_classes > 0
        self.tol = LOSS_TOL_32 if np.dtype(dtype) == np.float32 else LOSS_TOL
        self.limit = scalars.NORM_LIMIT[np.dtype(dtype)]
        self.v: np.ndarray = np.zeros((0, n_classes) if self.joint else (n_learners, 0), dtype)
        self.A: np.ndarray | None = None if track == "last" else np.zeros(self.v.shape)
        self.scalars = np.stack([scalars.fresh() for _ in range(1 if self.joint else n_learners)])
        self.support = np.empty(0, np.int64)
        self.smallest = np.inf

    def arrays(self) -> tuple[np.ndarray, np.ndarray | None]:
        return self.v, self.A

    def states(self) -> np.ndarray:
        return self.scalars

    def labels(self, y: np.ndarray) -> np.ndarray:
        return y

    def receive(
        self, v: np.ndarray, A: np.ndarray | None, states: np.ndarray, newcomers: np.ndarray, smallest: float
    ) -> None:
        self.v, self.A, self.scalars = v, A, states
        self.support = np.concatenate([self.support, newcomers])
        self.smallest = min(self.smallest, smallest)

    def trouble(self, r: int, ending: int, i: int, m: float, q: float, weight: float) -> Exception:
        return ArithmeticError(f"learner {r} ended with {ending} at row {i}: m={m:g}, q={q:g}.")


def moved(collection: Rows | Parts, where: str) -> Rows | Parts:
    """A prepared collection of dense rows as tensors on a device."""
    import torch

    if isinstance(collection, Parts):
        return Parts([moved(part, where) for part in collection.parts])
    X = collection.X
    if is_sparse(X):
        raise TypeError("A device takes dense rows of numbers; use device='cpu' for sparse ones.")
    if isinstance(X, np.ndarray) and not X.flags.writeable:
        X = X.copy()  # torch warns of arrays that must not be written
    return Rows(torch.as_tensor(X).to(_name(where)))


def matrix_there(
    kernel: Kernel, rows: Rows | Parts, where: str
) -> Callable[[Rows | Parts, object], np.ndarray]:
    """A function like ``kernel.matrix`` that computes values with ``rows`` on a device."""
    there = moved(rows, where)

    def matrix(part: Rows | Parts, _: object) -> np.ndarray:
        values: np.ndarray = kernel.matrix(moved(part, where), there).cpu().numpy()
        return values

    return matrix


def _name(where: str) -> str:
    return "cpu" if where == TWIN else where


def _indexer(torch: Any, at: Any) -> Callable[[np.ndarray], Index]:
    """A function that makes an index into tensors of row numbers."""

    def index(ids: np.ndarray) -> Index:
        rows = span(ids)
        return rows if isinstance(rows, slice) else torch.as_tensor(np.array(rows)).to(at)

    return index


class DeviceBlocks(Blocks):
    """Passes over one collection on a device."""

    sheet = SHEET

    def __init__(
        self,
        kernel: Kernel,
        rows: Rows | Parts,
        sq: np.ndarray,
        constant: float,
        support: Support,
        block_size: int | str,
        limit: float,
        team: AnyTeam,
        where: str,
        numbers: np.ndarray | None = None,
    ):
        import torch

        self.torch: Any = torch
        self.at = torch.device(_name(where))
        v, A = team.arrays()
        there = Support(None if support.rows is None else moved(support.rows, where), support.numbers)
        rows = moved(rows, where)
        index = _indexer(torch, self.at)
        super().__init__(kernel, rows, constant, there, block_size, limit, v.dtype.itemsize, numbers, index)
        self.team = team
        self.axis = 0 if team.joint else 1  #: of the places in v
        self.v, self.A = self._sent(v), None if A is None else self._sent(A)
        self.sq = self._sent(np.asarray(sq, np.float64))
        self.newcomers: list[np.ndarray] = []
        self.ahead: Piece | None = None  #: the next block, where the device is already at it
        self.inbox: Tensor = None
        self.given: np.ndarray | None = None

    def _sent(self, a: np.ndarray) -> Tensor:
        return self.torch.as_tensor(np.array(a)).to(self.at)

    # ------------------------------------------------------------ a pass and its ends

    def begin_pass(self, y: np.ndarray, c: np.ndarray) -> None:
        if self.given is not y:  # the labels of the next epoch are there already
            labels = self.team.labels(y)
            self.y = self._sent(labels if self.team.joint else labels.astype(self._host_dtype()))
            self.given = y
        self.c = self._sent(c) if len(c) else None
        self.ahead = None
        self.scalars = self.team.states().copy()
        self.there = self._sent(self.scalars)
        smallest = np.full(len(self.scalars), np.inf)
        self.smallest = self._sent(smallest)

    def _host_dtype(self) -> type[np.float32 | np.float64]:
        return np.float32 if self.itemsize == 4 else np.float64

    def end_pass(self) -> None:
        n = len(self.support)
        v = self.v.narrow(self.axis, 0, n).cpu().numpy()
        A = None if self.A is None else self.A.narrow(self.axis, 0, n).cpu().numpy()
        newcomers = np.concatenate([np.empty(0, np.int64), *self.newcomers])
        self.newcomers = []
        self.team.receive(v, A, self.scalars, newcomers, float(self.smallest.min()))

    def size(self, start: int = 0) -> int:
        if self.block_size != "auto":
            return min(int(self.block_size), device.MAX_ROWS)
        return LARGEST_JOINT_BLOCK if self.team.joint else LARGEST_BLOCK

    # ------------------------------------------------------------ what the pass calls

    def coefficients(self) -> Tensor:
        v = self.v.narrow(self.axis, 0, len(self.support))
        return v if self.team.joint else v.T

    def make_room(self, n: int) -> None:
        if n > self.v.shape[self.axis]:
            self.v = self._stretched(self.v, 2 * n)
            self.A = None if self.A is None else self._stretched(self.A, 2 * n)

    def _stretched(self, old: Tensor, room: int) -> Tensor:
        shape = list(old.shape)
        shape[self.axis] = room
        new = old.new_zeros(shape)
        new.narrow(self.axis, 0, old.shape[self.axis]).copy_(old)
        return new

    def piece(self, ids: np.ndarray) -> Piece:
        ahead, self.ahead = self.ahead, None
        return super().piece(ids) if ahead is None else ahead

    def _look_ahead(self) -> None:
        """Let the device work on the next block while the host reads the results of this one."""
        if len(self.to_come):
            self.ahead = super().piece(self.to_come[: self.size()])
            self.panel.fill(self.ahead, len(self.support))

    def resolve(
        self, F: AnyMatrix, piece: Piece, position: np.ndarray, keep_log: bool
    ) -> tuple[Sequence[UpdateColumns], Exception | None]:
        ids, at = piece.ids, piece.at
        team = self.team
        log = self._new_log(len(ids)) if keep_log else None
        step = device.resolve_joint if team.joint else device.resolve
        scores = (F if team.joint else F.T).contiguous()
        ending = step(
            team.rule,
            scores,
            piece.G,
            self.y[at] if team.joint else self.y[:, at].contiguous(),
            self.sq[at],
            None if self.c is None else self.c[at],
            self._sent(position),
            self.v,
            self.A,
            team.track,
            self.there,
            log,
            team.prediction,
            team.tol,
            team.limit,
            self.smallest,
        )
        endings = self._received(ending, max(len(self.support), int(position.max()) + 1))
        found = [] if log is None else _entries(log)
        bad = np.flatnonzero(endings[:, 0] != scalars.DONE)
        return found, None if not len(bad) else self._error(int(bad[0]), endings, scores, ids)

    def _received(self, ending: Tensor, stop: int) -> np.ndarray:
        """Copy what the host needs, in one transfer; return how the learners ended."""
        first = len(self.support)
        fresh = [a.narrow(self.axis, first, stop - first) for a in (self.v, self.A) if a is not None]
        used = sum((a != 0).any(1 - self.axis).double() for a in fresh)
        flat = self._brought(self.torch.cat([self.there.flatten(), ending.double().flatten(), used]))
        self.scalars[:] = flat[: self.scalars.size].reshape(self.scalars.shape)
        flat = flat[self.scalars.size :]
        self._used: np.ndarray = flat[ending.numel() :] != 0.0
        return np.asarray(flat[: ending.numel()].reshape(ending.shape).astype(np.int64))

    def _brought(self, flat: Tensor) -> np.ndarray:
        """A vector copied to the host, with the next block already under way on the device."""
        if self.at.type != "cuda":
            self._look_ahead()
            return np.asarray(flat.numpy())
        if self.inbox is None or len(self.inbox) < len(flat):
            self.inbox = self.torch.empty(2 * len(flat), dtype=flat.dtype, pin_memory=True)
        self.inbox[: len(flat)].copy_(flat, non_blocking=True)
        arrived = self.torch.cuda.Event()
        arrived.record()
        self._look_ahead()
        arrived.synchronize()
        return np.asarray(self.inbox[: len(flat)].numpy().copy())

    def _new_log(self, n: int) -> device.DeviceLog:
        torch, K = self.torch, len(self.scalars)
        whole = {"dtype": torch.int64, "device": self.at}
        real = {"dtype": torch.float64, "device": self.at}
        columns = (self.v.shape[1],) if self.team.joint else ()
        return device.DeviceLog(
            torch.zeros((K, n), **whole),
            torch.zeros((K, n), **whole),
            torch.zeros((K, n), **real),
            torch.zeros((K, n, *columns), **real),
            torch.zeros(K, **whole),
        )

    def _error(self, r: int, endings: np.ndarray, scores: Tensor, ids: np.ndarray) -> Exception:
        """What ended the block: the first learner that did not come to its end."""
        ending, at = int(endings[r, 0]), int(endings[r, 1])
        i, team = int(ids[at]), self.team
        scale = float(self.scalars[r, scalars.SCALE])
        q = float(self.sq[i])
        if team.joint:
            s = scale * scores[at].double().cpu().numpy()
            label = int(self.y[i])
            m, q = float(s[label] - np.delete(s, label).max()), 2.0 * q
        else:
            m = float(self.y[r, i]) * scale * float(scores[r, at])
        weight = 1.0 if self.c is None else float(self.c[i])
        return team.trouble(r, ending, i, m, q, weight)

    def used(self, first: int, stop: int) -> np.ndarray:
        return self._used

    def compact(self, first: int, kept: np.ndarray, stop: int) -> None:
        places = self._sent(first + kept)
        for a in (self.v, self.A):
            if a is not None:
                moved_here = a.index_select(self.axis, places)
                a.narrow(self.axis, first, stop - first).zero_()
                a.narrow(self.axis, first, len(kept)).copy_(moved_here)

    def append(self, ids: np.ndarray) -> None:
        self.newcomers.append(ids)
        super().append(ids)

    def states(self) -> list[tuple[np.ndarray, float]]:
        return [(s, self.team.tol) for s in self.scalars]

    def restate(self) -> None:
        self.there = self._sent(self.scalars)


def _entries(log: device.DeviceLog) -> list[FetchedLog]:
    """A log on the host, one per learner."""
    counts = log.count.cpu().numpy()
    row, example, keep, alpha = (a.cpu().numpy() for a in log[:4])
    alpha = alpha if alpha.ndim == 3 else alpha[:, :, None]
    return [FetchedLog(row[r, :n], example[r, :n], keep[r, :n], alpha[r, :n]) for r, n in enumerate(counts)]


class FetchedLog(NamedTuple):
    """The updates of one learner in one block."""

    row: np.ndarray
    example: np.ndarray
    keep: np.ndarray
    alpha: np.ndarray
