"""A fit that is watched visit by visit: one row at a time, in the order of ``fit`` and to its bits.

The loops keep their scalars from call to call, so that a pass cut into single rows makes the numbers of the
whole pass. Sums that a loop makes within a call are added up here, in the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from ..engine import chunks, intake, margins, spaces
from ..engine.blocks import Support
from ..engine.loops import budget, scalars
from ..rows import Csr, Dense
from . import margin_brackets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._types import Collection, Objects, UpdateColumns
    from ..engine.predictions import Predictions
    from ..engine.spaces import Bracket, Frame, KernelRows, LinearSpace, SingleSpace, Space
    from ..theory.brackets import Bracket as MarginBracket
    from .learner import Learner
    from .passes import CheckedRows, Write
    from .readouts import KernelReadout


class Visit(NamedTuple):
    """One row that was learned. Arrays have an entry per learner: one, or one per class for one-vs-rest."""

    epoch: int
    row: int
    code: int  #: the class of the row
    score: np.ndarray  #: (1 or n_classes,): what is compared with 0, before the row was learned
    margin: np.ndarray  #: as the loop has computed it
    mistakes: np.ndarray
    updates: np.ndarray
    keep: np.ndarray  #: w <- keep w + step y x
    step: np.ndarray
    ends: bool  #: it is the last row of its epoch


class Observer(Protocol):
    """What is told of a fit."""

    def starts(self, model: Learner, batch: CheckedRows) -> None:
        """w is that of the start. A learner that starts again forgets all earlier visits."""

    def visited(self, model: Learner, batch: CheckedRows, visit: Visit) -> None:
        """A row was learned."""


def fit(
    model: Learner,
    X: Objects,
    y: npt.ArrayLike,
    order: Sequence[npt.ArrayLike] | None,
    observer: Observer,
) -> None:
    """``model.fit(X, y, order=order)``, in which the observer sees every visit of a row.

    What the observer raises ends the fit, as an error of a callback does.
    """
    if getattr(model, "idf", False):
        raise ValueError(
            "A trace shows updates on rows that stay the same, and with idf=True the row of a text changes "
            "from visit to visit: set idf=False."
        )

    def run(batch: CheckedRows, order: np.ndarray, write: Write, recorded: Predictions | None) -> None:
        if model._several:
            raise ValueError(
                "Visits are shown for one label a row: fit the columns of an indicator matrix one by one."
            )
        if model.n_iter_ == 0:
            observer.starts(model, batch)
        one_by_one(model, batch, order, write, observer)

    vars(model)["_run_visits"] = run
    try:
        model.fit(X, y, order=order)
    finally:
        vars(model).pop("_run_visits", None)


def one_by_one(
    model: Learner, batch: CheckedRows, order: np.ndarray, write: Write, observer: Observer
) -> None:
    """Learn the rows of a pass one at a time."""
    last = len(order) - 1
    if len(batch.weights):  # rows of weight 0 are not visited
        there = np.flatnonzero(batch.weights[order] > 0.0)
        last = int(there[-1]) if len(there) else -1
    places = itertools.count()

    def tell(visit: Visit | None) -> None:
        at = next(places)
        if visit is not None:
            observer.visited(model, batch, visit._replace(ends=at == last))

    space = model._space
    assert batch.targets is not None
    if isinstance(space, spaces.Dual) and space.device == "cpu":
        with _blocks_by_row(model, batch, space, tell):
            rows = cast("KernelRows", batch.rows)
            write(space.run(rows, batch.targets, batch.weights, order, True))
        return
    with _same_draws(space, batch, order):
        for part in chunks.cut(space, batch.rows, order):
            with sums_of_a_call(space.learners) as add_up:
                for row in part.tolist():
                    score = _scores(space, batch, row) if _scored_apart(space) else None
                    call = (
                        batch.rows,
                        batch.targets,
                        batch.weights,
                        intake.frozen(np.array([row]), np.int64),
                    )
                    visit, logs = _visit(model, space, batch, row, call, score, add_up)
                    write(logs)
                    tell(visit)


@contextmanager
def _blocks_by_row(
    model: Learner, batch: CheckedRows, space: spaces.Dual, tell: Callable[[Visit | None], None]
) -> Iterator[None]:
    """Call the loop row by row within the blocks of a kernel learner: their products are those of ``fit``."""
    inner = space.inner
    whole = inner.run

    def run(
        rows: Any, y: np.ndarray, c: np.ndarray, order: np.ndarray, keep_log: bool, predictions: Any = None
    ) -> list[UpdateColumns]:
        ids = inner.learners[0].row_numbers
        assert ids is not None
        one = rows[0] if isinstance(rows, list) else rows
        places, n = one.position.astype(np.int64), len(space.support)
        numbers = np.zeros(max(n, int(places.max(initial=-1)) + 1), np.int64)
        numbers[:n] = space.support.numbers
        numbers[places] = ids  # rows of the block have places already
        parts: list[list[UpdateColumns]] = [[] for _ in inner.learners]
        support, space.support = space.support, Support(None, numbers)
        vars(inner)["run"] = whole
        try:
            with sums_of_a_call(inner.learners) as add_up:
                for j in order.tolist():
                    state = inner.learners[0].state
                    score = (
                        np.float64(state[scalars.SCALE]) * one.F[j].astype(np.float64)
                        if inner.joint
                        else None
                    )
                    call = (rows, y, c, intake.frozen(np.array([j]), np.int64))
                    visit, logs = _visit(model, inner, batch, int(ids[j]), call, score, add_up)
                    for part, log in zip(parts, logs, strict=True):
                        part.append(log)
                    tell(visit)
        finally:
            space.support = support
            vars(inner)["run"] = run
        return [type(part[0])(*map(np.concatenate, zip(*part, strict=True))) for part in parts]

    vars(inner)["run"] = run
    try:
        yield
    finally:
        vars(inner).pop("run", None)


@contextmanager
def _same_draws(space: Space, batch: CheckedRows, order: np.ndarray) -> Iterator[None]:
    """Give budget learners that share a generator the numbers that each of them draws in a whole pass."""
    learners = [learner for learner in space.learners if isinstance(learner, spaces.Budget)]
    if len(learners) < 2:
        yield
        return
    assert batch.targets is not None
    twin = space.copy()
    drawn: list[list[np.ndarray]] = [[] for _ in learners]

    def drawing(learner: spaces.Budget, kept: list[np.ndarray]) -> Callable[[], None]:
        draw = learner._draw

        def note() -> None:
            draw()
            kept.append(learner._uniforms)

        return note

    def replaying(learner: spaces.Budget, kept: list[np.ndarray]) -> Callable[[], None]:
        def replay() -> None:
            learner._uniforms = kept.pop(0)
            learner._tally[budget.DRAWN] = 0

        return replay

    for learner, kept in zip(cast("list[spaces.Budget]", twin.learners), drawn, strict=True):
        vars(learner)["_draw"] = drawing(learner, kept)
    twin.run(batch.rows, batch.targets, batch.weights, order, False)
    for learner, kept in zip(learners, drawn, strict=True):
        vars(learner)["_draw"] = replaying(learner, kept)
    try:
        yield
    finally:
        for learner in learners:
            vars(learner).pop("_draw", None)


@contextmanager
def sums_of_a_call(learners: Sequence[SingleSpace]) -> Iterator[Callable[[], np.ndarray]]:
    """Add up what the loops sum within a call, over several calls of one row each.

    Yields a function to call after each row; it returns the margins that the loops have met, and infinity
    where a loop does not keep them.
    """
    kept = [scalars.LOSS2, scalars.SUM_Q]
    states = [learner.state for learner in learners]
    before = [state[kept] for state in states]
    totals, lowest = [np.zeros(len(kept)) for _ in states], [state[scalars.LOWEST] for state in states]

    def clear() -> None:
        for state in states:
            state[kept] = 0.0
            state[scalars.LOWEST] = np.inf

    def add_up() -> np.ndarray:
        found = np.array([state[scalars.LOWEST] for state in states])
        for r, state in enumerate(states):
            totals[r] += state[kept]
            lowest[r] = min(lowest[r], found[r])
        clear()
        return found

    clear()
    try:
        yield add_up
    finally:
        add_up()
        for r, state in enumerate(states):
            state[kept] = before[r] + totals[r]
            state[scalars.LOWEST] = lowest[r]


def _visit(
    model: Learner,
    space: Space,
    batch: CheckedRows,
    i: int,
    call: tuple[Any, np.ndarray, np.ndarray, np.ndarray],
    score: np.ndarray | None,
    add_up: Callable[[], np.ndarray],
) -> tuple[Visit | None, list[UpdateColumns]]:
    """Learn row i by ``space.run(*call, ...)``; the visit, None where its weight is 0, and the logs.

    ``score``: the scores of the row, where they do not follow from the margins that the loops keep.
    """
    learners = space.learners
    before = [learner.counts() for learner in learners]
    logs = space.run(*call, True)
    margin = add_up()
    counts = [learner.counts().since(earlier) for learner, earlier in zip(learners, before, strict=True)]
    if not counts[0].examples:
        return None, logs
    code = int(batch.codes[i])
    signs = _signs(len(learners), code)
    if score is None:
        score = signs * margin
    elif not space.joint:
        margin = signs * score
    keep, step = np.ones(len(learners)), np.zeros(len(learners))
    for r, log in enumerate(logs):
        if len(log.row):
            keep[r] = log.keep[0]
            step[r] = log.alpha[0, code] if space.joint else signs[r] * log.alpha[0, 0]
    visit = Visit(
        epoch=model.n_iter_,
        row=i,
        code=code,
        score=score,
        margin=margin,
        mistakes=np.array([c.mistakes for c in counts]),
        updates=np.array([c.updates for c in counts]),
        keep=keep,
        step=step,
        ends=False,
    )
    return visit, logs


def _signs(n_learners: int, code: int) -> np.ndarray:
    """y = +1 or -1 for each learner."""
    if n_learners == 1:
        return np.array([2.0 * code - 1.0])
    return np.where(np.arange(n_learners) == code, 1.0, -1.0)


def _scored_apart(space: Space) -> bool:
    """Whether the scores do not follow from the margins that the loops keep."""
    return space.joint or any(isinstance(learner, spaces.Elimination) for learner in space.learners)


def _scores(space: Space, batch: CheckedRows, i: int) -> np.ndarray:
    """(columns,): the scores of row i."""
    found: np.ndarray = space.scores(_one_row(batch.rows, i), "last")[0] - space.offset()
    return found


def _one_row(rows: Dense | Csr | KernelRows, i: int) -> Dense | Csr | Collection:
    if isinstance(rows, Dense):
        return rows._replace(X=rows.X[i : i + 1], sq=rows.sq[i : i + 1])
    if isinstance(rows, Csr):
        part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        indptr = intake.frozen(np.array([0, part.stop - part.start]), np.uint64)
        data, indices, sq = rows.data[part], rows.indices[part], rows.sq[i : i + 1]
        return rows._replace(data=data, indices=indices, indptr=indptr, sq=sq)
    return rows.collection[i : i + 1]


# ------------------------------------------------------------------------------- the state after a visit


def frame(model: Learner) -> Frame:
    """The constant coordinate, the scaling of rows and the precision that are in force."""
    return model._frame_in_force()


def vectors(model: Learner) -> int:
    """Weight vectors that a visit leaves: one for each learner, and as many averages where they are read."""
    return model._space.columns * (2 if model._readout == "average" else 1)


def weights(model: Learner) -> np.ndarray:
    """(1 or n_classes, n_features + 1): the last w, the weight of the constant coordinate last."""
    return np.array(cast("LinearSpace", model._space).weights("last"), np.float64)


def coefficients(model: Learner, n_rows: int) -> np.ndarray:
    """(1 or n_classes, n_rows): the last w of a kernel learner as a combination of all rows of the fit."""
    space = model._space
    out = np.zeros((space.columns, n_rows))
    if isinstance(space, spaces.Dual):
        out[:, space.support.numbers] = space.coefficients("last").T
        return out
    for r, learner in enumerate(cast("list[spaces.Budget]", space.learners)):
        np.add.at(out[r], learner.ids, learner.coefficients)  # a row may have been added twice
    return out


def average(model: Learner, n_rows: int) -> np.ndarray | None:
    """The average that predicts, as :func:`weights` or :func:`coefficients`; None for other readouts."""
    if model._readout != "average":
        return None
    if not isinstance(model._space, spaces.Dual):
        return np.array(model._weights(), np.float64)
    out = np.zeros((model._space.columns, n_rows))
    out[:, model._space.support.numbers] = cast("KernelReadout", model._reading).coefficients().T
    return out


def squared_norms(model: Learner, w: np.ndarray | None) -> np.ndarray:
    """(learners,): the squared length of w; of a kernel learner, as it keeps it itself."""
    learners = model._space.learners
    if w is None:
        return np.array([_kept_norm(learner) for learner in learners])
    with np.errstate(under="ignore"):
        squares: np.ndarray = np.sum(np.square(w).reshape(len(learners), -1), axis=1)
    return squares


def _kept_norm(learner: SingleSpace) -> float:
    return learner.norm() ** 2 if isinstance(learner, spaces.Budget) else float(learner.state[scalars.N])


def step_sums(model: Learner) -> np.ndarray | None:
    """(learners,): the sum of the steps, shrunk with w; None where w is no sum of steps times rows."""
    learners = model._space.learners
    if not all(isinstance(learner, spaces.Additive) for learner in learners):
        return None
    return np.array([learner.state[scalars.TAU] for learner in learners])


def loop_norms(model: Learner) -> np.ndarray:
    """(learners,): the squared length of w as the rules are given it."""
    return np.array([learner.state[scalars.N] for learner in model._space.learners])


def thresholds(model: Learner) -> np.ndarray:
    """(1 or n_classes,): what <w, x> is compared with."""
    return np.asarray(model._space.offset(), np.float64)


def brackets(model: Learner, batch: CheckedRows, read: bool) -> list[Bracket] | None:
    """The bracket of each learner; ``read``: all rows are read for the lower end."""
    space = model._space
    if not read:
        found = space.bracket()
    else:
        assert batch.targets is not None
        found = space.bounds(batch.rows, batch.targets, batch.weights, False)
    return found if batch.exact else margins.widened(found, 8.0 * margins.U * model.radius_)


def free_brackets(model: Learner, pairs: list[Bracket] | None) -> list[MarginBracket] | None:
    """The brackets with a free offset that follow from these; None where nothing is claimed.

    That there are rows of both classes must follow from the steps so far: at a visit nothing else is known.
    """
    return None if pairs is None else margin_brackets.free_of_run(model._space, pairs, model.radius_, False)
