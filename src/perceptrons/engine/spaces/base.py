"""What all spaces with one learner share: scalars, counters, growth, errors that name the row."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf, isfinite, prod, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np

from ... import rules
from .. import running_idf
from ..intake import frozen
from ..loops import linear, scalars
from ..loops.linear import Log
from ..margins import STEPS_LIMIT
from ..renumbering import ByColumn, InUse, SlottedWeights, UniformColumns

if TYPE_CHECKING:
    from ..._types import Floats, Record, UpdateColumns
    from ...rows import Csr
    from ..predictions import OneClass, Predictions
    from ..renumbering import SlottedRows
    from .additive import Joint
    from .protocol import Space
    from .rest import OneVsRest

    #: What receives the predictions of a pass
    Receiver: TypeAlias = Predictions | OneClass

#: (gamma_low, gamma_up) around the best margin; None: the rows were not read for the lower end
Bracket: TypeAlias = tuple[float | None, float]
#: A length, and what it was computed for
Kept: TypeAlias = tuple[object, np.ndarray] | None


class Frame(NamedTuple):
    """How rows are understood: the constant coordinate, unit length, precision."""

    bias: float = 1.0
    unit: bool = False
    dtype: np.dtype = np.dtype(np.float64)

    @property
    def tol(self) -> float:
        return rules.LOSS_TOL_32 if self.dtype == np.float32 else rules.LOSS_TOL


class NumericalError(ValueError, ArithmeticError):
    """A score or a weight left the range of floating-point numbers; the model kept its last finite state."""

    log: Sequence[UpdateColumns] = ()  #: the updates of the pass that ended here, of each learner


class Counts(NamedTuple):
    examples: int
    updates: int
    mistakes: int
    errors: int
    refused: int
    squared_loss: float

    def plus(self, other: Counts) -> Counts:
        return Counts._make(a + b for a, b in zip(self, other, strict=True))

    def since(self, before: Counts) -> Counts:
        return Counts._make(a - b for a, b in zip(self, before, strict=True))


def counts_of(state: np.ndarray) -> Counts:
    """The counts among the scalars of a learner, or among the sums of those of several."""
    return Counts(
        int(state[scalars.EXAMPLES]),
        int(state[scalars.UPDATES]),
        int(state[scalars.MISTAKES]),
        int(state[scalars.ERRORS]),
        int(state[scalars.REFUSED]),
        float(state[scalars.LOSS2]),
    )


class LearnerState(NamedTuple):
    """What learning changes in a learner: numbers and arrays, and nothing of how steps are made."""

    arrays: dict[str, np.ndarray]  #: by name, all of one shape: (features + 1,) or (features + 1, classes)
    scalars: np.ndarray


#: attributes of a space that are no part of the model: they belong to a fit under way, or can be found again
TRANSIENT = ("steps", "standing", "length", "packed", "kept", "by_slot")


class SingleSpace:
    """A space that is its own only learner: scalars, counters, growth by doubling, errors that name the row.

    :class:`~perceptrons.engine.spaces.protocol.Space` says what the methods promise.
    """

    frame: Frame
    n_features: int
    n_classes: int
    state: np.ndarray
    columns = 1
    joint = False
    several = False
    device = "cpu"
    track_name = "last"  # which weights the loop keeps beside the last ones
    length: Kept = None
    arrays: tuple[str, ...] = ()  # names of the arrays indexed by feature, the bias coordinate last
    makers: tuple[str, ...] = ()  # names of what a step is made by
    in_slots: SlottedWeights | None = None  # during a fit with renumbered columns
    #: what errors call the rows, where they are pieces of something larger
    row_numbers: np.ndarray | None = None
    steps: np.ndarray | None = None  # during a fit: the sum of the steps on each row, divided by SCALE
    from_zero = True  # whether w started at 0: the upper margin bound needs it
    df = ByColumn["np.ndarray | None"](optional=True)  # of learners of texts, see running_idf

    def __init__(self, frame: Frame, n_features: int):
        self.frame = frame
        self.n_features = n_features
        self.state = scalars.fresh()

    @property
    def learners(self) -> list[SingleSpace]:
        return [self]

    @property
    def ties(self) -> bool:
        return False

    def offset(self) -> np.ndarray:
        return np.zeros(self.columns)

    def open(self, rows: Any, again: bool, tell: Callable[[float], None] | None = None) -> None:
        """Nothing is kept about rows that are read."""

    def close(self) -> None:
        if self.in_slots is not None and self.in_slots.lasts:
            self.in_slots.forget_rows()
        else:
            self.leave_slots()

    @property
    def of_texts(self) -> bool:
        return vars(self).get("df") is not None

    def count_texts(self) -> None:
        self.df = running_idf.fresh_counts(self.n_features)

    # -- columns that are renumbered during a fit

    def takes_packed_rows(self) -> bool:
        """Spaces whose loops are written in the verbs of :mod:`perceptrons.rows` alone override this."""
        return False

    def renumber(self, slotted: SlottedRows) -> None:
        """Spaces whose arrays are all read through :class:`ByColumn` override this."""

    def _use_slots(self, slotted: SlottedRows) -> None:
        if self.moves_columns_alone():
            self.in_slots = SlottedWeights(slotted, self._contents())

    def made(self, name: str) -> np.ndarray:
        """Make the array of this name, which is made when it is first read; KeyError: there is none."""
        raise KeyError(name)

    def _contents(self) -> dict[str, np.ndarray | UniformColumns]:
        """The arrays by column, as they are; those that have not been made by what they would hold."""
        return dict(self._home())

    def _home(self) -> dict[str, np.ndarray]:
        """The arrays by column, as they are."""
        arrays = {name: vars(self).get(name) for name in self._by_column()}
        return {name: a for name, a in arrays.items() if a is not None}

    def bring_home(self, name: str | None = None) -> None:
        """Bring the array of this name by column up to date, or all of them."""
        if self.in_slots is not None:
            home = self._home() if name is None else {name: vars(self)[name]}
            self.in_slots.bring_home(home)

    def leave_slots(self) -> None:
        """Learn by column from here on."""
        self.bring_home()
        vars(self).pop("in_slots", None)

    @contextmanager
    def _in_use(self, rows: Any) -> Iterator[InUse]:
        """The rows and the arrays of a pass over ``rows``."""
        kept = self.in_slots
        if kept is None or kept.slotted.source is not rows:
            self.leave_slots()
            yield InUse(rows, self._home())
            return
        with kept.changing():
            yield InUse(kept.slotted.rows, kept.arrays)

    def run(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Receiver | None = None,
    ) -> list[UpdateColumns]:
        raise NotImplementedError

    #: rows of texts are made ahead, for each part of a pass
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
        return running_idf.run(self, rows, y, c, order, predictions, note)

    def scores(self, rows: Any, readout: str) -> np.ndarray:
        raise NotImplementedError

    def counts(self) -> Counts:
        return counts_of(self.state)

    def sum_sq_norms(self) -> float:
        return float(self.state[scalars.SUM_Q])

    def row_cost(self, entries: float | Floats) -> float | Floats:
        return entries + 16.0

    def fast_path_after(self, form: type) -> int | None:
        return None

    def targets(self, codes: np.ndarray) -> np.ndarray:
        """Labels as the loop takes them."""
        return frozen(2.0 * codes - 1.0)

    def reset_lowest(self) -> None:
        self.state[scalars.LOWEST] = inf

    def lowest(self) -> list[float]:
        return [float(self.state[scalars.LOWEST])]

    def longest(self) -> float:
        return sqrt(self.state[scalars.LONGEST])

    def forget_longest(self) -> None:
        self.state[scalars.LONGEST] = 0.0

    def forget_start(self) -> None:
        self.from_zero = False

    def same_kind(self, fresh: SingleSpace) -> bool:
        """Whether a fresh learner has weights like these."""
        return type(self) is type(fresh)

    def renew(self, fresh: SingleSpace) -> None:
        for maker in self.makers:
            setattr(self, maker, getattr(fresh, maker))

    # -- the bracket around the best margin: spaces that have one override these

    def _steps_shape(self, n_rows: int) -> tuple[int, ...] | None:
        """The shape of the sums of steps; None where no bracket needs them."""
        return None

    def keep_steps(self, n_rows: int, limit: int = STEPS_LIMIT) -> None:
        """Keep the sum of the steps on each row from here on, if they take no more bytes than this."""
        fresh = self.from_zero and not self.state[scalars.UPDATES]  # the steps must be all there are
        if fresh and not self.of_texts and 8 * prod(self._steps_shape(n_rows) or ()) <= limit:
            self.begin_steps(n_rows)

    def begin_steps(self, n_rows: int) -> None:
        """Keep the sum of the steps on each row from here on, whatever came before."""
        shape = self._steps_shape(n_rows)
        self.steps = None if shape is None else np.zeros(shape)

    def steps_or_none(self) -> np.ndarray:
        """What a loop is given: an array without rows where no steps are kept."""
        return np.zeros(self._steps_shape(0) or (0,)) if self.steps is None else self.steps

    def take_steps(self) -> list[np.ndarray | None]:
        """The steps that were kept, up to a common factor, one array per learner; none are kept any more."""
        return [vars(self).pop("steps", None)]

    def bracket(self) -> list[Bracket] | None:
        return None

    def bounds(self, rows: Any, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket] | None:
        return None

    # -- features and classes that appear

    def grow(self, n_features: int) -> None:
        """Make room for more features; their weights start as those of a fresh learner."""
        if n_features <= self.n_features:
            return
        for name in self.arrays:
            old = getattr(self, name)
            if old is not None and old.shape[0] <= n_features:
                room = max(n_features + 1, 2 * old.shape[0])
                setattr(self, name, self._stretched(old, room))
        self.n_features = n_features

    def _stretched(self, old: np.ndarray, room: int) -> np.ndarray:
        new = np.zeros((room, *old.shape[1:]), old.dtype)
        new[: old.shape[0] - 1] = old[:-1]
        new[-1] = old[-1]
        return new

    def shrink(self, n_features: int) -> None:
        self.n_features = n_features  # room for further features is left, with weights of 0

    def negate(self) -> None:
        raise TypeError(f"{type(self).__name__} has no two classes to exchange.")

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        raise TypeError(f"{type(self).__name__} is for two classes.")

    def spread(self, code: int, fresh: Callable[[], SingleSpace], n_threads: int) -> OneVsRest:
        from .rest import OneVsRest  # it is made of spaces like this one

        df = vars(self).pop("df", None)
        learners: list[SingleSpace] = [self._negated(fresh), self]
        learners.insert(code, fresh().after(self))
        made = OneVsRest(learners, n_threads)
        if df is not None:
            made.df = df
        return made

    def _negated(self, fresh: Callable[[], SingleSpace]) -> SingleSpace:
        """A learner of its own for the other of the two classes."""
        made = copy.deepcopy(self)
        made.negate()
        return made

    def after(self, other: SingleSpace) -> Self:
        """This fresh learner, which counts the examples that the other has seen: its w was 0 on them."""
        self.state[scalars.EXAMPLES] = other.state[scalars.EXAMPLES]
        return self

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> Space:
        raise TypeError(f"{type(self).__name__} has no prototypes.")

    # -- copies

    def moves_columns_alone(self) -> bool:
        return False

    def _attributes(self) -> dict[str, Any]:
        """All attributes, the arrays by column up to date; those by slot are of one fit."""
        self.bring_home()
        return {name: value for name, value in vars(self).items() if name != "in_slots"}

    def _shallow_copy(self) -> Self:
        """A space of its own with the very same arrays: enough where they are replaced, not written to."""
        made = object.__new__(type(self))
        vars(made).update(self._attributes())
        return made

    def copy(self) -> Self:
        made = self._shallow_copy()
        for name, value in self._attributes().items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                setattr(made, name, value.copy())
        return made

    def copy_for_class(self, logged: bool) -> Self:
        shared = self.n_classes > 2 and (not logged or self.moves_columns_alone())
        return self._shallow_copy() if shared else self.copy()

    def make_writable(self) -> None:
        own = vars(self).items()  # without bringing arrays by column up to date: most need no copy
        fixed = [name for name, a in own if isinstance(a, np.ndarray) and not a.flags.writeable]
        for name in fixed:
            setattr(self, name, np.array(getattr(self, name)))

    def _by_column(self) -> tuple[str, ...]:
        """Names of the arrays of which a row changes its own columns alone, if it moves those alone."""
        return (*self.arrays, "df")

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        where: slice | np.ndarray = slice(None)
        if columns is not None and self.moves_columns_alone():
            where = np.append(columns, getattr(self, self.arrays[0]).shape[0] - 1)
        saved: list[tuple[np.ndarray, slice | np.ndarray, np.ndarray]] = []
        for name, a in self._attributes().items():
            if name == "state" or (isinstance(a, np.ndarray) and a.flags.writeable):
                part = where if name in self._by_column() else slice(None)
                saved.append((a, part, a[part].copy()))

        def restore() -> None:
            self.leave_slots()
            for a, part, values in saved:
                a[part] = values

        return restore

    def learned(self) -> LearnerState:
        """What learning has made, not copied; a scale other than 1 is an error."""
        if self.state[scalars.SCALE] != 1.0:
            raise ValueError(f"{type(self).__name__} has weights under a common factor.")
        arrays = {name: getattr(self, name) for name in self._by_column()}
        return LearnerState({name: a for name, a in arrays.items() if a is not None}, self.state)

    def resume(self, state: LearnerState) -> None:
        """Go on from this state of a learner of the same kind; further learning writes to its arrays."""
        mine = self.learned().arrays
        if {name: a.shape for name, a in mine.items()} != {n: a.shape for n, a in state.arrays.items()}:
            raise ValueError(f"The state is not of a {type(self).__name__} with {self.n_features} features.")
        for name, a in state.arrays.items():
            setattr(self, name, a)
        self.state = state.scalars

    def _in_order(self) -> dict[str, Any]:
        """All attributes, with one column per class in the order of the codes."""
        return self._attributes()

    def __getstate__(self) -> dict[str, Any]:
        return self._in_order()

    def stored(self) -> dict[str, Any]:
        attributes = {name: value for name, value in self._in_order().items() if name not in TRANSIENT}
        if "row_numbers" in attributes:
            attributes["row_numbers"] = None
        return attributes

    # -- arguments of loops, and the errors that end them

    def _row_buffer(self, limit: float, prediction: bool = False) -> np.ndarray:
        row_buffer = np.zeros(linear.BUFFER_SIZE)
        row_buffer[linear.BUFFER_BIAS] = self.frame.bias
        row_buffer[linear.BUFFER_UNIT] = self.frame.unit
        row_buffer[linear.BUFFER_PREDICTION] = prediction
        row_buffer[linear.BUFFER_TOL] = self.frame.tol
        row_buffer[linear.BUFFER_LIMIT] = limit
        return row_buffer

    def _picked(self, a: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        """A copy of the entries of all features, or of some; that of the constant coordinate last."""
        if columns is None:
            return np.concatenate([a[: self.n_features], a[-1:]])
        some: np.ndarray = a[np.append(columns, a.shape[0] - 1)]
        return some

    def _raise(
        self,
        ending: int,
        rule: Record | rules.UserRule | None,
        log: UpdateColumns,
        i: int,
        m: float,
        q: float,
        c: np.ndarray | tuple[()] = (),
    ) -> NoReturn:
        """Raise what ended a pass at row i; the error has the updates made so far."""
        number = i if self.row_numbers is None else int(self.row_numbers[i])
        error = self._trouble(ending, rule, number, m, q, float(c[i]) if len(c) else 1.0)
        error.log = [log]
        raise error

    def _trouble(
        self, ending: int, rule: Record | rules.UserRule | None, i: int, m: float, q: float, weight: float
    ) -> rules.RuleError | NumericalError:
        if ending == scalars.BAD_SCORE:
            return NumericalError(
                f"row {i}: the score is {m}, not a finite number. The values are too large, or not "
                "finite themselves: scale the data."
            )
        s = self.state
        state = rules.State(
            float(s[scalars.N]),
            int(s[scalars.UPDATES]),
            int(s[scalars.EXAMPLES]) + 1,
            weight,
            self.frame.tol,
        )
        if isinstance(rule, rules.UserRule):
            where = f"rule {rule.__name__!r} at row {i} (m={m:.6g}, q={q:.6g}, {state})"
            try:
                returned = rule(m, q, state)
            except Exception as error:
                trouble = rules.RuleError(f"{where} raised {type(error).__name__}: {error}")
                trouble.__cause__ = error
                return trouble
            try:
                keep, tau = returned
                fine = isfinite(keep) and isfinite(tau)
            except (TypeError, ValueError):
                fine = False
            if not fine:
                return rules.RuleError(f"{where} returned {returned!r}, not a finite (keep, tau).")
        return NumericalError(f"row {i}: the update would overflow the weights. Scale the data.")


def empty_log(length: int, n_classes: int) -> Log:
    return Log(
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length),
        np.empty((length, n_classes)),
    )


def logged(log: Log, n: int) -> Log:
    return Log(*(a[:n] for a in log))
