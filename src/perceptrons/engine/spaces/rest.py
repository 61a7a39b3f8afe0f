"""One against the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from ...rules import RuleError
from .. import running_idf, text_slots
from ..intake import frozen
from ..loops import scalars
from ..margins import STEPS_LIMIT, FirstLook
from ..renumbering import SlottedWeights, by_first_appearance
from . import together
from .base import TRANSIENT, Bracket, Counts, Frame, Kept, NumericalError, SingleSpace, counts_of
from .confident import Confident
from .together import Ended, Together

if TYPE_CHECKING:
    from ..._types import Floats, UpdateColumns
    from ...rows import Csr, Dense
    from ..predictions import Predictions
    from ..renumbering import SlottedRows
    from .additive import Additive, Joint, Linear
    from .protocol import LinearSpace
    from .together import Blocks

T = TypeVar("T")


class BySlot(NamedTuple):
    """Learners of texts with a few columns: those of the rows at hand, by slot."""

    slotted: SlottedRows
    space: OneVsRest  #: learners with the arrays of ``weights``, and the scalars of those by column
    weights: list[SlottedWeights]

    def of(self, learners: Sequence[SingleSpace]) -> bool:
        """Whether these learners still have their arrays by slot."""
        pairs = zip(learners, self.weights, strict=False)
        return len(learners) == len(self.weights) and all(one.in_slots is own for one, own in pairs)


def examples_of(learners: Sequence[SingleSpace]) -> list[float]:
    """How many examples each of these learners has seen."""
    return [float(learner.state[scalars.EXAMPLES]) for learner in learners]


class OneVsRest:
    """One binary learner per class, all fed the same rows in the same order.

    :class:`~perceptrons.engine.spaces.protocol.Space` says what the methods promise.
    """

    joint = False
    several = False
    ties = False  # the largest score wins
    device = "cpu"
    length: Kept = None
    by_slot: BySlot | None = None  # during a fit or a batch of texts with renumbered columns
    kept: Blocks | None = None  # during a fit of several epochs: arrays of passes made together
    df: np.ndarray | None = None  # of learners of texts, see running_idf: a text counts once for all learners

    def __init__(self, learners: Sequence[SingleSpace], n_threads: int = 1):
        self.learners = list(learners)
        self.n_threads = n_threads

    @property
    def n_classes(self) -> int:
        return len(self.learners)

    @property
    def columns(self) -> int:
        return len(self.learners)

    @property
    def from_zero(self) -> bool:
        return all(learner.from_zero for learner in self.learners)

    @property
    def n_features(self) -> int:
        return self.learners[0].n_features

    @property
    def frame(self) -> Frame:
        return self.learners[0].frame

    def counts(self) -> Counts:
        return counts_of(np.add.reduce([learner.state for learner in self.learners]))

    def sum_sq_norms(self) -> float:
        return float(sum(learner.sum_sq_norms() for learner in self.learners))

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return self.n_classes * self.learners[0].row_cost(entries)

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return frozen(codes, np.int64)

    def open(self, rows: Any, again: bool, tell: Callable[[float], None] | None = None) -> None:
        self.kept = {} if again else None
        for learner in self.learners:
            learner.open(rows, again, tell)

    def close(self) -> None:
        vars(self).pop("kept", None)
        vars(self).pop("by_slot", None)
        for learner in self.learners:
            learner.close()

    @property
    def of_texts(self) -> bool:
        return self.df is not None

    def count_texts(self) -> None:
        self.df = running_idf.fresh_counts(self.n_features)

    def takes_packed_rows(self) -> bool:
        return False

    def renumber(self, slotted: SlottedRows) -> None:
        rows = slotted.source
        if rows is not None and together.pays(self.learners, rows, len(rows.sq), self.kept):
            return  # weights lie side by side then
        for learner in self.learners:
            learner.renumber(slotted)

    def _map(self, function: Callable[[int, SingleSpace], T]) -> list[T]:
        if self.n_threads == 1:
            return [function(r, learner) for r, learner in enumerate(self.learners)]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(function, range(self.n_classes), self.learners))

    def _every(self, function: Callable[[int], T], blocks: Sequence[Sequence[SingleSpace]]) -> list[T]:
        """Call the function for each block of learners; Ctrl-C takes effect after the last call."""
        if self.n_threads > 1 and len(blocks) > 1:
            with ThreadPoolExecutor(self.n_threads) as pool:
                return list(pool.map(function, range(len(blocks))))
        before = [examples_of(block) for block in blocks]
        results: dict[int, T] = {}
        interruption: BaseException | None = None
        while True:
            try:
                for b, block in enumerate(blocks):
                    if interruption is None or examples_of(block) == before[b]:
                        results[b] = function(b)
                break
            except (KeyboardInterrupt, SystemExit) as error:
                if interruption is not None:
                    raise
                interruption = error
        if interruption is not None:
            raise interruption
        return [results[b] for b in range(len(blocks))]

    @staticmethod
    def _against_rest(y: np.ndarray, r: int) -> np.ndarray:
        return frozen(np.where(together.positives(y, r), 1.0, -1.0))

    def run(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None = None,
    ) -> list[UpdateColumns]:
        """One pass; ``rows`` may be a list, with the rows of each learner."""
        if together.pays(self.learners, rows, len(order), self.kept):
            found = self._run_together(rows, y, c, order, keep_log, predictions)
        else:
            if self.kept is not None:
                self.kept.clear()
            found = self._run_apart(rows, y, c, order, keep_log, predictions)
        logs = [log for ended in found for log in ended.logs]
        for ended in found:
            if ended.error is not None:
                ended.error.log = logs
                raise ended.error
        return logs

    made_ahead = True

    def run_texts(
        self,
        rows: Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        predictions: Predictions | None,
        note: Callable[[float], None],
    ) -> list[UpdateColumns]:
        kept = self._by_slot(rows)
        if kept is None:
            return running_idf.run(self, rows, y, c, order, predictions, note)
        with ExitStack() as stack:
            for weights in kept.weights:
                stack.enter_context(weights.changing())
            names = cast("Csr", kept.slotted.rows).indices
            return running_idf.run(self, rows, y, c, order, predictions, note, kept.space, names)

    def _by_slot(self, rows: Csr) -> BySlot | None:
        """The learners by slot, where that pays: they have the columns of these rows alone."""
        kept, first = self.by_slot, self.learners[0]
        if kept is not None and kept.slotted.source is rows and kept.of(self.learners):
            return kept
        self.by_slot = None
        if not isinstance(first, Confident) or first.full:
            return None
        fresh = any("sigma" not in vars(learner) for learner in self.learners)
        if not text_slots.pays(rows, self.n_features, fresh):
            return None
        slotted = by_first_appearance(rows, self.n_features)
        learners = cast("list[Confident]", self.learners)
        for learner in learners:
            learner.leave_slots()
            learner.in_slots = SlottedWeights(slotted, learner._contents(), lasts=True)
        space = type(self)([learner.by_slot() for learner in learners], self.n_threads)
        space.kept = None if self.kept is None else {}
        weights = [cast(SlottedWeights, learner.in_slots) for learner in learners]
        for own, by_slot in zip(weights, space.learners, strict=True):
            own.used_by = by_slot
        self.by_slot = BySlot(slotted, space, weights)
        return self.by_slot

    def _run_apart(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None,
    ) -> list[Ended]:
        """A pass over the rows for each learner."""

        def one(r: int) -> Ended:
            try:
                own = rows[r] if isinstance(rows, list) else rows
                recorded = None if predictions is None else predictions.of_class(r)
                learner, targets = self.learners[r], self._against_rest(y, r)
                return Ended(learner.run(own, targets, c, order, keep_log, recorded))
            except (RuleError, NumericalError) as error:  # the others go on, in whatever order they run
                return Ended(error.log, error)

        return self._every(one, [[learner] for learner in self.learners])

    def _run_together(
        self,
        rows: Dense | Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None,
    ) -> list[Ended]:
        """A pass over the rows for each block of learners."""
        kept: Blocks = {} if self.kept is None else self.kept
        cuts = together.blocks(self.n_classes, self.n_threads, together.entries_of(rows, len(order)))
        blocks = [Together(self.learners[cut], cut.start, kept) for cut in cuts]

        def some(b: int) -> list[Ended]:
            return blocks[b].run(rows, y, c, order, keep_log, predictions)

        try:
            found = self._every(some, [block.learners for block in blocks])
        finally:
            if self.kept is None:
                for learner in self.learners:
                    learner.leave_slots()
        return [own for of_block in found for own in of_block]

    def longest(self) -> float:
        return max(learner.longest() for learner in self.learners)

    def forget_longest(self) -> None:
        for learner in self.learners:
            learner.forget_longest()

    def forget_start(self) -> None:
        for learner in self.learners:
            learner.forget_start()

    def reset_lowest(self) -> None:
        for learner in self.learners:
            learner.reset_lowest()

    def lowest(self) -> list[float]:
        return [lowest for learner in self.learners for lowest in learner.lowest()]

    def keep_steps(self, n_rows: int, limit: int = STEPS_LIMIT) -> None:
        for learner in self.learners if not self.of_texts else ():
            learner.keep_steps(n_rows, limit // self.n_classes)

    def take_steps(self) -> list[np.ndarray | None]:
        return [steps for learner in self.learners for steps in learner.take_steps()]

    def bracket(self) -> list[Bracket] | None:
        if self.of_texts:  # rows that change from visit to visit have no margin
            return None
        return self._joined([learner.bracket() for learner in self.learners])

    def bounds(self, rows: Any, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket] | None:
        if self.of_texts:
            return None
        known = None if clean else self._first_looks(rows, y, c)

        def of_learner(r: int, learner: SingleSpace) -> list[Bracket] | None:
            given = rows, self._against_rest(y, r), c, clean
            if known is None:
                return learner.bounds(*given)
            return cast("Linear", learner).bounds(*given, known[r])

        return self._joined(self._map(of_learner))

    def _first_looks(self, rows: Any, y: np.ndarray, c: np.ndarray) -> list[FirstLook | None] | None:
        """What each learner sees of the rows at a first look, where they look together."""
        if not together.pays_to_look(self.learners, rows):
            return None
        cuts = together.blocks(self.n_classes)

        def of_block(cut: slice) -> list[FirstLook | None]:
            return together.first_looks(self.learners[cut], cut.start, rows, y, c)

        if self.n_threads == 1 or len(cuts) == 1:
            found = [of_block(cut) for cut in cuts]
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                found = list(pool.map(of_block, cuts))
        return [own for of_cut in found for own in of_cut]

    @staticmethod
    def _joined(found: list[list[Bracket] | None]) -> list[Bracket] | None:
        """The brackets of all learners; None where they claim nothing."""
        pairs = [pair for pairs in found for pair in pairs or ()]
        return pairs or None

    def renew(self, fresh: SingleSpace) -> None:
        for learner in self.learners:
            learner.renew(fresh)

    def offset(self) -> np.ndarray:
        return np.concatenate([learner.offset() for learner in self.learners])

    def scores(self, rows: Any, readout: str) -> np.ndarray:
        return np.concatenate([learner.scores(rows, readout) for learner in self.learners], axis=1)

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        linear = cast("list[LinearSpace]", self.learners)
        return np.concatenate([learner.weights(readout, columns) for learner in linear])

    def grow(self, n_features: int) -> None:
        for learner in self.learners:
            learner.grow(n_features)

    def shrink(self, n_features: int) -> None:
        for learner in self.learners:
            learner.shrink(n_features)

    def start_at(self, w: np.ndarray) -> None:
        """Begin from w, (n_classes, n_features + 1), instead of 0."""
        for learner, row in zip(cast("list[Additive]", self.learners), w, strict=True):
            learner.start_at(row[None, :])

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        self.learners.insert(code, fresh().after(self.learners[0]))

    def negate(self) -> None:
        raise TypeError("Three classes or more cannot be exchanged.")

    def spread(self, code: int, fresh: Callable[[], SingleSpace], n_threads: int) -> NoReturn:
        raise TypeError("There are three classes or more already: use add_class.")

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> NoReturn:
        raise TypeError("There are three classes or more already: use add_class.")

    def fast_path_after(self, form: type) -> int | None:
        return None

    # -- copies

    def moves_columns_alone(self) -> bool:
        return all(learner.moves_columns_alone() for learner in self.learners)

    def _shallow_copy(self) -> OneVsRest:
        """A space of its own with the very same arrays: enough where they are replaced, not written to."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.learners = list(self.learners)
        vars(made).pop("kept", None)
        vars(made).pop("by_slot", None)
        return made

    def copy(self) -> OneVsRest:
        made = self._shallow_copy()
        made.learners = [learner.copy() for learner in self.learners]
        if self.df is not None:
            made.df = self.df.copy()
        return made

    def copy_for_class(self, logged: bool) -> OneVsRest:
        shared = self.n_classes > 2 and (not logged or self.moves_columns_alone())
        return self._shallow_copy() if shared else self.copy()

    def make_writable(self) -> None:
        for learner in self.learners:
            learner.make_writable()
        if self.df is not None and not self.df.flags.writeable:
            self.df = self.df.copy()

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        restorers = [learner.restorer(columns) for learner in self.learners]
        df, where = self.df, slice(None) if columns is None else np.append(columns, -1)
        counts = None if df is None else df[where].copy()

        def restore() -> None:
            for one in restorers:
                one()
            if df is not None:
                df[where] = counts

        return restore

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("kept", "by_slot")}

    def stored(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in TRANSIENT}


class PerLabel(OneVsRest):
    """One binary learner per label: a row may have several labels, or none.

    The codes of the rows are an indicator matrix, (rows, labels): 1 where the row has the label.
    """

    several = True

    @property
    def ties(self) -> bool:  # type: ignore[override]  # a constant elsewhere; here the learners'
        """Whether a label is predicted where its score is 0."""
        return self.learners[0].ties

    def targets(self, codes: np.ndarray) -> np.ndarray:
        return frozen(codes, np.uint8)
