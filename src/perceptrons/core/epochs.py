"""The epochs of a fit: which rows each visits, when they end, and the bracket around the best margin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import draws, intake, margins, renumbering
from . import calibrating, checks, class_weights, held_out_rows, label_lists, passes, starting
from .callbacks import Watch
from .passes import CheckedRows, one_pass
from .progress import Progress
from .run_attributes import one_or_all
from .stopping import Judge
from .writing import at_rest

if TYPE_CHECKING:
    from ..engine.draws import RandomSource
    from ..engine.spaces import Counts
    from .learner import Learner


def run(model: Learner, batch: CheckedRows, orders: list[np.ndarray] | None, watch: Watch) -> None:
    """Learn in epochs until a reason to stop; then compute the bracket around the best margin."""
    rng = checks.generator(model.random_state)
    train, held_out = hold_out(model, batch, rng, orders)
    space = model._space
    batch = batch._replace(targets=space.targets(batch.codes))
    epochs = iter(orders) if orders is not None else visits(model, batch, rng, train)
    total = len(orders) if orders is not None else model.max_iter
    judge, clean = Judge(model, keeps=orders is None), False
    visited = calibrating.Visited(model, batch, orders is not None)
    passes.check_width(model, batch)
    watched = model.callback is not None or watch.watched or not draws.trusted(rng)  # user code is called
    model._longest = passes.longest(model, batch)
    plain = passes.is_plain(model, batch) and visits_once(orders)
    model._plain = model._plain and not model._changed and plain
    model.stop_reason_ = "max_iter" if orders is None else "end of order"
    starting.forget_bounds(model)
    space.keep_steps(batch.X.shape[0])
    try:
        with Progress(type(model).__name__, total, model.verbose) as progress:
            space.open(batch.rows, total is None or total > 1, progress.within)
            if watched:
                intake.check_again(batch.X, batch.rows)
            # rows of texts are made for each part, or renumbered by the space; single rows have no use for it
            if not space.of_texts and "_run_visits" not in vars(model):
                n_classes = space.learners[0].columns
                shuffled = space.takes_packed_rows() and orders is None and model.shuffle
                slotted = renumbering.slotted(batch.rows, space.n_features, n_classes, total, shuffled)
                if slotted is not None:
                    space.renumber(slotted)
            for visit in epochs:
                if watched:
                    with at_rest(model):
                        watch.epoch_begins()
                    intake.check_again(batch.X, batch.rows)
                space.reset_lowest()
                weighted = class_weights.of_epoch(model, batch, visit)
                run_visits = vars(model).get("_run_visits")  # set by visiting.fit
                recorded = visited.begin(visit)
                try:
                    counts = one_pass(model, weighted, visit, model.n_iter_, recorded, run_visits)
                finally:
                    visited.end(weighted, visit)
                model.n_iter_ += 1
                record = model._record(counts)
                clean = record["updates"] == 0
                if held_out is not None and model.early_stopping:
                    record["validation_score"] = held_out_score(model, batch, held_out)
                    judge.score(record["validation_score"])
                if model.tol is not None:
                    record["loss"] = mean_loss(counts)
                    judge.loss(record["loss"])
                model.history_.append(record)
                model._check_run()
                progress.epoch(model.n_iter_, record)
                reason = model._why_stop(batch, record, clean, judge.stalled())
                with at_rest(model):
                    stop = watch.epoch_ends()
                    if model.callback is not None and model.callback(model):
                        stop = True
                if orders is None and (reason is not None or stop):
                    model.stop_reason_ = reason or "callback"
                    break
        judge.finish()
        space = model._space
        if held_out is not None and calibrating.on_held_out_rows(model):
            calibrating.fit_held_out(model, batch, held_out)
    except BaseException:
        model.stop_reason_ = "failed"
        space.take_steps()
        raise
    finally:
        model._space.close()
        for journal in model._journals:
            journal.close()
    if clean and orders is not None and total:
        model.stop_reason_ = "clean pass"
    if watched:
        intake.check_again(batch.X, batch.rows)
    read_all = clean and train is None and orders is None and not watched
    state_bounds(model, batch, read_all)


def state_bounds(model: Learner, batch: CheckedRows, read_all: bool) -> None:
    """Set the bracket around the best margin. ``read_all``: the last epoch read all rows, without update."""
    space = model._space
    assert batch.targets is not None
    bounds = space.bounds(batch.rows, batch.targets, batch.weights, read_all)
    if not batch.exact:  # rows were rounded, by at most eps/2 of their length
        bounds = margins.widened(bounds, 8.0 * margins.U * model.radius_)
    model._bounds = one_or_all(bounds)
    model._steps = space.take_steps()
    if model._bounds is not None:
        model._check_run()  # some checks need the margin of the last w


def visits(
    model: Learner, batch: CheckedRows, rng: RandomSource, train: np.ndarray | None
) -> Iterator[np.ndarray]:
    """The rows in the order of each epoch."""
    rows = np.arange(batch.X.shape[0]) if train is None else np.sort(train)
    in_order = intake.frozen(rows, np.int64)
    epochs = itertools.count() if model.max_iter is None else range(model.max_iter)
    own = rng is not model.random_state and rng is not np.random.mtrand._rand
    for _ in epochs:
        yield intake.frozen(draws.permutation(rng, rows, own), np.int64) if model.shuffle else in_order


def checked_orders(order: Any, n: int) -> list[np.ndarray] | None:
    """``order``, a sequence of row numbers below n for each epoch, as arrays."""
    if order is None:
        return None
    if not np.iterable(order) or isinstance(order, str):
        raise ValueError(f"order must hold one sequence of row numbers per epoch; got {order!r}.")
    checked: list[np.ndarray] = []
    for epoch in order:
        try:
            rows = np.asarray(epoch)
        except ValueError:  # ragged
            rows = np.asarray("ragged")
        if rows.size == 0 and rows.ndim == 1:
            rows = rows.astype(np.int64)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError(
                f"order must hold one sequence of row numbers per epoch; epoch {len(checked)} is {epoch!r}."
            )
        wrong = rows[(rows < 0) | (rows >= n)]
        if len(wrong):
            raise ValueError(
                f"order must hold row numbers from 0 to {n - 1}; epoch {len(checked)} has {wrong[0]}."
            )
        checked.append(intake.frozen(rows.astype(np.int64)))  # a copy, which the caller cannot change
    return checked


def visits_once(orders: list[np.ndarray] | None) -> bool:
    """Whether no epoch has a row twice."""
    return all(len(np.unique(visit)) == len(visit) for visit in orders or [])


def hold_out(
    model: Learner, batch: CheckedRows, rng: RandomSource, orders: list[np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """(rows to learn, rows to score), or (None, None) where all are learned."""
    what, part = "early_stopping", model.validation_fraction
    if calibrating.on_held_out_rows(model):
        calibrating.check_order(orders)
        if not model.early_stopping:  # few rows: one of each class
            n_strata = len(np.unique(batch.codes)) if batch.codes.ndim == 1 else 1
            what, part = "probability=True", max(part, n_strata / len(batch.codes))
    elif not model.early_stopping:
        return None, None
    seed = int(draws.uniform(rng) * 2**31)
    try:
        several = batch.codes.ndim == 2  # rows of several labels are drawn alike
        strata = np.zeros(len(batch.codes), np.int64) if several else batch.codes
        return held_out_rows.split(strata, part, seed)
    except ValueError as error:
        raise ValueError(
            f"{what} cannot hold out validation_fraction={model.validation_fraction!r} of "
            f"{len(batch.codes)} rows: {error}"
        ) from error


def held_out_score(model: Learner, batch: CheckedRows, held_out: np.ndarray) -> float:
    """Share of right predictions among the rows held out; of several labels, all must be right."""
    if not draws.trusted(checks.generator(model.random_state)):
        intake.check_again(batch.X)
    guess = model._decide(model._scores(batch.X[held_out]))
    codes = batch.codes[held_out]
    if model._takes_lists and codes.ndim == 2:
        codes = label_lists.matrix(codes, len(model.classes_))
    right = guess == codes
    return float(np.mean(right if right.ndim == 1 else right.all(axis=1)))


def mean_loss(counts: Counts) -> float:
    """Mean squared hinge loss of the rows of an epoch, each before it was learned."""
    return float(counts.squared_loss / max(1, counts.examples))
