"""w in the span of the examples: coefficients over a support set.

The coefficients are the weights of an ordinary additive space (one w, one per class, or prototypes) whose
features are the support rows. It learns the rows in exact blocks (:mod:`perceptrons.engine.blocks`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np

from ...rows import Block
from ...rules import RuleError
from ..blocks import Blocks, Piece, Support, shaped
from ..earlier_scores import EarlierScores
from ..intake import EMPTY, frozen
from .base import Bracket, Counts, Frame, Kept, NumericalError, SingleSpace, logged
from .together import positives

if TYPE_CHECKING:
    from ..._types import AnyMatrix, Collection, Floats, UpdateColumns
    from ...kernels import Kernel
    from ...kernels.prepared import Parts, Rows
    from ..device.blocks import DeviceBlocks
    from ..loops.linear import Log
    from ..predictions import Predictions
    from ..renumbering import SlottedRows
    from .additive import Additive, Joint, Linear
    from .rest import OneVsRest

_SCORE_BYTES = 1 << 26  # kernel values held at a time while predicting


class KernelRows(NamedTuple):
    """Objects as their kernel takes them."""

    collection: Collection  #: what :meth:`perceptrons.kernels.Kernel.prepare` has made
    sq: np.ndarray  #: k(x, x), the constant included


class Dual:
    """A space over the support set, and the kernel values that go with it.

    ``inner`` is a :class:`Linear`, :class:`Joint` or :class:`OneVsRest` space; all its columns share the
    support set and the kernel values. :class:`~perceptrons.engine.spaces.protocol.Space` says what the
    methods promise.
    """

    length: Kept = None
    df, of_texts = None, False  # a kernel takes the objects as they are

    def __init__(
        self,
        inner: Linear | Joint | OneVsRest,
        kernel: Kernel,
        frame: Frame,
        n_features: int,
        block_size: int | str = "auto",
        cache_mb: float = 1000.0,
        device: str = "cpu",
    ):
        self.inner = inner
        self.kernel = kernel
        self.frame = frame
        self.n_features = n_features
        self.block_size = block_size
        self.cache_mb = cache_mb
        self.device = device
        self.support = Support()
        self.n_offered = 0  #: rows of earlier collections
        self.smallest_margin = np.inf  #: smallest |margin| that a device has decided on
        self._open: tuple[KernelRows, HostBlocks | DeviceBlocks] | None = None

    # ------------------------------------------------------------ what estimators read

    @property
    def n_classes(self) -> int:
        return self.inner.n_classes

    def count_texts(self) -> None:
        raise TypeError("A kernel learner counts no texts.")

    made_ahead = False

    def run_texts(self, *given: Any) -> NoReturn:
        raise TypeError("A kernel learner counts no texts.")

    @property
    def constant(self) -> float:
        return self.frame.bias**2

    @property
    def columns(self) -> int:
        return self.inner.columns

    @property
    def learners(self) -> list[SingleSpace]:
        return self.inner.learners

    @property
    def additive(self) -> list[Additive]:
        """The learners, whose type is known here."""
        return cast("list[Additive]", self.inner.learners)

    @property
    def joint(self) -> bool:
        return self.inner.joint

    @property
    def several(self) -> bool:
        return self.inner.several

    @property
    def ties(self) -> bool:
        return self.inner.ties

    @property
    def from_zero(self) -> bool:
        return self.inner.from_zero

    def offset(self) -> np.ndarray:
        return self.inner.offset()

    def counts(self) -> Counts:
        return self.inner.counts()

    def sum_sq_norms(self) -> float:
        return self.inner.sum_sq_norms()

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return self.inner.row_cost(entries)

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return self.inner.targets(codes)

    def reset_lowest(self) -> None:
        self.inner.reset_lowest()

    def lowest(self) -> list[float]:
        return self.inner.lowest()

    def longest(self) -> float:
        return self.inner.longest()

    def forget_longest(self) -> None:
        self.inner.forget_longest()

    def forget_start(self) -> None:
        self.inner.forget_start()

    def keep_steps(self, n_rows: int) -> None:
        """The coefficients are the steps."""

    def take_steps(self) -> list[np.ndarray | None]:
        return [None for _ in self.learners]

    def bracket(self) -> list[Bracket]:
        """Nothing is known: kernel values are rounded, and :func:`perceptrons.certify` bounds by how much."""
        return [(None, np.inf) for _ in self.learners]

    def bounds(self, rows: KernelRows, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket]:
        return self.bracket()

    def renew(self, fresh: SingleSpace) -> None:
        self.inner.renew(fresh)

    # ------------------------------------------------------------ features and classes that appear

    def grow(self, n_features: int) -> None:
        self.n_features = max(n_features, self.n_features)

    def shrink(self, n_features: int) -> None:
        self.n_features = n_features

    def negate(self) -> None:
        self.inner.negate()

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        self.inner.add_class(code, fresh)
        if self.joint:
            cast("Joint", self.inner).settle()  # the blocks read the columns themselves

    def spread(self, code: int, fresh: Callable[[], SingleSpace], n_threads: int) -> Dual:
        self.inner = self.inner.spread(code, fresh, n_threads)
        return self

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> Dual:
        self.inner = inner = cast("Linear", self.inner).spread_jointly(code, prototypes, factor)
        inner.settle()
        return self

    def fast_path_after(self, form: type) -> int | None:
        return None

    # ------------------------------------------------------------ copies

    def moves_columns_alone(self) -> bool:
        return False  # a row that is learned may join the support set

    def copy(self) -> Dual:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.inner, made.support = self.inner.copy(), copy.copy(self.support)
        return made

    def copy_for_class(self, logged: bool) -> Dual:
        made = self.copy()
        made._open = None  # the blocks of open rows belong to this one
        return made

    def make_writable(self) -> None:
        self.inner.make_writable()

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        kept = self.copy()
        return lambda: vars(self).update(vars(kept))

    def stored(self) -> dict[str, Any]:
        offered = 0 if self._open is None else len(self._open[0].sq)
        return vars(self) | {"_open": None, "n_offered": self.n_offered + offered}

    # ------------------------------------------------------------ learning

    def open(self, rows: KernelRows, again: bool, tell: Callable[[float], None] | None = None) -> None:
        self.close()
        limit = self.cache_mb * 1e6 if again else 0.0
        numbers = self.n_offered + np.arange(len(rows.sq))
        blocks = self._blocks(rows, limit, numbers)
        blocks.tell = tell
        self._open = rows, blocks

    def _blocks(self, rows: KernelRows, limit: float, numbers: np.ndarray) -> HostBlocks | DeviceBlocks:
        if self.device == "cpu":
            return HostBlocks(self, rows, limit, numbers)
        from ..device.blocks import DeviceBlocks

        return DeviceBlocks(
            self.kernel,
            cast("Rows | Parts", rows.collection),  # a device takes no others
            rows.sq,
            self.constant,
            self.support,
            self.block_size,
            limit,
            DualTeam(self, rows.collection),
            self.device,
            numbers,
        )

    def takes_packed_rows(self) -> bool:
        return False

    def renumber(self, slotted: SlottedRows) -> None:
        """There are no columns."""

    def close(self) -> None:
        if self._open is not None:
            self.n_offered += len(self._open[0].sq)
            self._open = None

    def run(
        self,
        rows: KernelRows,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None = None,
    ) -> list[UpdateColumns]:
        if self._open is None or self._open[0] is not rows:
            self.open(rows, again=False)
        assert self._open is not None
        blocks = self._open[1]
        blocks.begin_pass(y, c)
        n_columns = [learner.columns for learner in self.learners]
        earlier = None
        if predictions is not None:
            earlier = EarlierScores(len(order), self.columns, self.learners[0].track_name, predictions.unit)
            predictions.reported = blocks.record_scores(earlier)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the loops find what is not finite
                logs = blocks.run(order, n_columns, keep_log)
        finally:
            blocks.end_pass()
            if predictions is not None and earlier is not None:
                predictions.take_scores(earlier.scores, self.columns > 1)
        return list(logs)

    # ------------------------------------------------------------ scores

    def coefficients(self, readout: str) -> np.ndarray:
        """(support rows, columns): w, or its average, as a combination of the support rows."""
        n = len(self.support)
        if readout == "average" and len(self.learners) > 1:
            return np.stack([learner.average()[:n] for learner in self.additive], axis=1)
        w = self.inner.weights(readout)[:, :n]
        return np.ascontiguousarray(w.T)

    def scores(self, rows: Any, readout: str) -> np.ndarray:
        return self.expand(getattr(rows, "collection", rows), self.coefficients(readout))

    def expand(self, collection: Collection, coefficients: np.ndarray) -> np.ndarray:
        """(rows, columns): sum of a_i k(x_i, x), with coefficients of (support rows, columns)."""
        out = np.zeros((len(collection), coefficients.shape[1]))
        mask = np.asarray(coefficients.any(axis=1))
        for part, values in self.values(collection, mask):
            out[part] = values @ coefficients[mask].astype(values.dtype, copy=False)
        return out

    def values(self, collection: Collection, mask: np.ndarray) -> Iterator[tuple[slice, AnyMatrix]]:
        """Kernel values with the support rows under ``mask``, some rows at a time: (slice, matrix)."""
        if not mask.any():
            return
        rows = self.support.rows if mask.all() else self.support.rows[np.flatnonzero(mask)]
        step = max(1, _SCORE_BYTES // (8 * len(rows)))
        matrix: Callable[[Any, Any], AnyMatrix] = self.kernel.matrix
        if self.device != "cpu":
            from ..device.blocks import matrix_there

            matrix = matrix_there(self.kernel, rows, self.device)
        for start in range(0, len(collection), step):
            part = slice(start, start + step)
            some = collection[part]
            values = shaped(self.kernel, matrix(some, rows), len(some), len(rows))
            values += self.constant
            yield part, values


def shown(rows: Any, places: np.ndarray) -> Any:
    """Some of the rows of a prepared collection, as the user gave them."""
    while hasattr(rows, "parts"):
        rows = rows.parts[0]
    return [rows.items[i] for i in places] if hasattr(rows, "items") else rows.X[places]


class DualTeam:
    """The learners of a dual space as a device takes them: stacked, and written back after a pass."""

    def __init__(self, dual: Dual, collection: Collection):
        self.dual = dual
        self.collection = collection
        self.joint = dual.joint
        first = dual.additive[0]
        self.rule, self.track, self.prediction = first.rule, first.track_name, first.prediction
        self.tol, self.limit = first.frame.tol, first._limit()

    def learners(self) -> list[Additive]:
        return self.dual.additive

    def arrays(self) -> tuple[np.ndarray, np.ndarray | None]:
        """v and A: (learners, places), or (places, classes) of prototypes."""
        n = len(self.dual.support)
        v = [learner.v[:n] for learner in self.learners()]
        A = [learner.A[:n] for learner in self.learners() if learner.A is not None]
        if self.joint:
            return v[0], A[0] if A else None
        return np.stack(v), np.stack(A) if A else None

    def states(self) -> np.ndarray:
        return np.stack([learner.state for learner in self.learners()])

    def labels(self, y: np.ndarray) -> np.ndarray:
        """Class codes for prototypes, +-1 as (learners, rows) for the others."""
        if self.joint:
            return y
        if y.ndim == 1 and len(self.dual.learners) == 1:
            return y[None, :]
        every = [positives(y, r) for r in range(self.dual.n_classes)]
        return np.where(np.stack(every), 1.0, -1.0)

    def receive(
        self, v: np.ndarray, A: np.ndarray | None, states: np.ndarray, newcomers: np.ndarray, smallest: float
    ) -> None:
        """What a pass has made of the learners; ``newcomers`` are rows that joined the support set."""
        dual = self.dual
        start = dual.n_offered
        dual.support.append(self.collection[newcomers], start + newcomers)
        dual.smallest_margin = min(dual.smallest_margin, smallest)
        n = len(dual.support)
        dual.inner.grow(n)
        for r, learner in enumerate(self.learners()):
            learner.state[:] = states[r]
            learner.v[:n] = v if self.joint else v[r]
            if A is not None and learner.A is not None:
                learner.A[:n] = A if self.joint else A[r]

    def trouble(self, r: int, ending: int, i: int, m: float, q: float, weight: float) -> Exception:
        """The error that ended a pass of learner r at row i."""
        learner = self.learners()[r]
        return learner._trouble(ending, self.rule, i, m, q, weight)


class HostBlocks(Blocks):
    """Blocks resolved by the compiled loops."""

    def __init__(self, dual: Dual, rows: KernelRows, limit: float, numbers: np.ndarray):
        super().__init__(
            dual.kernel,
            rows.collection,
            dual.constant,
            dual.support,
            dual.block_size,
            limit,
            dual.frame.dtype.itemsize,
            numbers,
        )
        self.inner = dual.inner
        self.learners = dual.additive
        self.dtype = dual.frame.dtype
        self.sq = rows.sq
        self.earlier: EarlierScores | None = None

    def begin_pass(self, y: np.ndarray, c: np.ndarray) -> None:
        self.y, self.c = y, c

    def record_scores(self, earlier: EarlierScores) -> bool:
        self.earlier = earlier
        return True

    def end_pass(self) -> None:
        self.earlier = None

    def _sums(self, piece: Piece) -> np.ndarray:
        """(rows, columns): what the stored sums of an average add to the scores of a block."""
        n = len(self.support)
        kept = [learner.A for learner in self.learners if learner.A is not None]
        if not kept or n == 0:
            return np.zeros(1)
        A = kept[0][:n] if self.inner.joint else np.stack([a[:n] for a in kept], axis=1)
        return np.asarray(self.panel.product(piece, A) + self.constant * A.sum(0), np.float64)

    def coefficients(self) -> np.ndarray:
        n = len(self.support)
        if self.inner.joint:
            return self.learners[0].v[:n]
        return np.stack([learner.v[:n] for learner in self.learners], axis=1)

    def make_room(self, n: int) -> None:
        self.inner.grow(n)

    def resolve(
        self, F: AnyMatrix, piece: Piece, position: np.ndarray, keep_log: bool
    ) -> tuple[Sequence[UpdateColumns], Exception | None]:
        ids = piece.ids
        inner = self.inner
        before: tuple[np.ndarray, np.ndarray] | None = None
        if self.earlier is not None:
            start = np.array(F, np.float64)  # the loop changes its own
            before = start, np.broadcast_to(self._sums(piece), start.shape)
            states = [learner.state.copy() for learner in inner.learners]
        G = frozen(piece.G, self.dtype)
        F = np.ascontiguousarray(F if inner.joint else F.T, self.dtype)
        places, sq = frozen(position, np.int64).view(np.uint64), frozen(self.sq[ids])
        blocks = [Block(f, G, places, sq, 0.0, False) for f in ([F] if inner.joint else F)]
        weights = EMPTY if not len(self.c) else frozen(self.c[ids])
        order = frozen(np.arange(len(ids)))
        rows: Any = blocks if len(inner.learners) > 1 else blocks[0]
        for learner in inner.learners:
            learner.row_numbers = ids
        error: Exception | None = None
        logs: Sequence[UpdateColumns]
        try:
            logs = inner.run(rows, frozen(self.y[ids]), weights, order, keep_log or before is not None)
        except (RuleError, NumericalError) as trouble:
            logs, error = trouble.log, trouble
        for learner in inner.learners:
            learner.row_numbers = None
        if self.earlier is not None and before is not None:
            pairs = [(old, learner.state) for old, learner in zip(states, inner.learners, strict=True)]
            active = weights != 0.0 if len(weights) else np.ones(len(ids), bool)
            self.earlier.add(before[0], before[1], G, active, pairs, logs)
        if not keep_log:
            logs = [logged(cast("Log", log), 0) for log in logs]
        return logs, error

    def states(self) -> list[tuple[np.ndarray, float]]:
        return [(learner.state, learner.frame.tol) for learner in self.learners]

    def _arrays(self) -> list[np.ndarray]:
        found = [a for learner in self.learners for a in (learner.v, learner.A)]
        return [a for a in found if a is not None]

    def used(self, first: int, stop: int) -> np.ndarray:
        used = np.zeros(stop - first, bool)
        for a in self._arrays():
            part = a[first:stop] != 0.0
            used |= part if part.ndim == 1 else part.any(axis=1)
        return used

    def compact(self, first: int, kept: np.ndarray, stop: int) -> None:
        for a in self._arrays():
            a[first : first + len(kept)] = a[first + kept]
            a[first + len(kept) : stop] = 0.0
