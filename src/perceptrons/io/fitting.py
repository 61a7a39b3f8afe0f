"""fit_stream: predict, then learn, batch after batch; mistakes and bound so far."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._types import JsonObject
from .records import Batch

if TYPE_CHECKING:
    from .stream import Stream

_CURVE = 1024  # records kept; beyond it every second one is dropped, and only every second one added


@dataclasses.dataclass
class FitReport:
    r"""Counts of a learner on a stream, in the online protocol: each row is predicted before it is learned.

    For a learner from :math:`w = 0` no separator of the rows so far has a margin beyond ``margin_up``, so
    the theorem on the learner's rule allows at least ``bound`` mistakes so far: :math:`(R/\gamma_{up})^2` for
    the perceptron, twice that for prototypes of several classes. None for rules without such a theorem, and
    where rows had weights.
    """

    rows: int = 0  #: rows learned, over all passes
    passes: int = 0  #: passes that are finished
    row: int = 0  #: rows of the present pass
    batches: int = 0
    validated: int = 0  #: rows that were predicted before they were learned
    errors: int = 0  #: wrong predictions among them, by the readout in force before the row was learned
    mistakes: int | None = None  #: rows on the wrong side or on the hyperplane, where the learner counts them
    skipped: int = 0  #: bad lines that the stream has skipped
    radius: float | None = None  #: length of the longest row
    margin_up: float | None = None  #: no separator has a larger margin
    bound: float | None = None  #: mistakes that the theorem allows at least, by ``margin_up``
    theorem: str | None = None  #: which theorem that is
    stop_reason: str = "not started"
    curve: list[dict[str, int | None]] = dataclasses.field(
        default_factory=list
    )  #: the counts after some batches
    stride: int = 1  #: batches from one record of the curve to the next
    silence: str | None = None  #: why errors are not reported, where the learner cannot count them

    @property
    def error_rate(self) -> float:
        """Share of wrong predictions."""
        return self.errors / self.validated if self.validated else math.nan

    def to_dict(self) -> JsonObject:
        """For JSON; ``FitReport(**d)`` makes the report again."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        errors = f"{self.errors:,} errors ({self.error_rate:.4f})"
        text = f"{self.rows:,} rows, {errors if self.silence is None else self.silence}"
        if self.mistakes is not None:
            text += f", {self.mistakes:,} mistakes"
        if self.bound is not None:
            from ..theory.triviality import SAYS_NOTHING, says_nothing

            known = f"allows at least {math.floor(self.bound):,}"
            text += f", {self.theorem} {SAYS_NOTHING if says_nothing(self.bound, self.rows) else known}"
        return text + (f", {self.skipped:,} lines skipped" if self.skipped else "")

    def _note(self) -> None:
        if self.batches % self.stride == 0:
            names = ("rows", "validated", "errors", "mistakes")
            self.curve.append({name: getattr(self, name) for name in names})
        if len(self.curve) > _CURVE:
            self.curve = self.curve[1::2]
            self.stride *= 2


def fit_stream(
    estimator: Any,
    stream: Stream | Iterable[Batch],
    *,
    passes: int = 1,
    classes: npt.ArrayLike | None = None,
    validate: bool = True,
    callback: Callable[[Any, FitReport], object] | None = None,
    checkpoint: Callable[[Any, FitReport], object] | None = None,
    resume: FitReport | None = None,
    verbose: int = 0,
) -> FitReport:
    """Train a learner with ``partial_fit`` on a stream, and count how well it predicts before it learns.

    A learner of this library counts, row by row, what its readout predicts before it learns the row, in any
    cut into batches; a label that has not occurred and is not among ``classes`` cannot be predicted, so that
    its first row is an error. The readouts vote and random are not counted, and the report says so. Other
    learners predict each batch before they learn it; their first batch is not counted.

    Parameters
    ----------
    estimator : learner with ``partial_fit``
        It continues from its present state.
    stream : Stream, or any iterable of Batch
        What the estimator's ``prepare_batch`` does is done by the thread that reads ahead, and, if its
        ``prepares_in_any_order`` is true, by the caller's while it would wait. For several passes
        these rows are kept, where they take no more than its ``cache_mb``, and the source is read once. A
        libsvm stream without ``n_features`` is read once more, at first, for its largest index.
    passes : int, default=1
    classes : array-like, optional
        All labels that will occur, for learners whose ``partial_fit`` needs them.
    validate : bool, default=True
        Whether rows are predicted before they are learned. For an average that is one more product per row.
    callback : callable, optional
        Called as ``callback(estimator, report)`` after each batch; if it returns true, learning stops.
    checkpoint : callable, optional
        Called likewise, before the callback, whenever the model and the report belong together.
    resume : FitReport, optional
        The report of an interrupted run: its counts continue, and the rows it has learned are skipped.
    verbose : int, default=0
        1: a line on standard error whenever the number of rows has doubled.

    Returns
    -------
    FitReport

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> from perceptrons.io import open_stream, fit_stream
    >>> report = fit_stream(Perceptron(), open_stream(b"1 1:1\\n-1 2:1\\n1 1:2 2:1\\n"))
    >>> report.rows, report.mistakes
    (3, 2)
    """
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(f"{type(estimator).__name__} has no partial_fit; it cannot learn from a stream.")
    if passes < 1:
        raise ValueError(f"passes must be at least 1; got passes={passes}.")
    if passes > 1 and not getattr(stream, "again", True):
        raise ValueError(f"The stream can be read once only; got passes={passes}. Save it to a file first.")
    settle_width(stream, estimator)
    report = resume if resume is not None else FitReport()
    learner = _ProgressiveLearner(estimator, report, classes, validate)
    progress = _Progress(verbose)
    if report.row and hasattr(stream, "skip"):
        stream.skip(report.row)
    prepared = _prepared(stream, estimator, passes - report.passes)
    with prepared, _counting(estimator, validate), _visiting(estimator) as visiting:
        while report.passes < passes:
            visiting(report.passes == 0)
            for batch in stream:
                learner.learn(batch)
                report.skipped = getattr(stream, "skipped", 0)
                report.stop_reason = "running"
                if checkpoint is not None:
                    checkpoint(estimator, report)
                progress.report(report)
                if callback is not None and callback(estimator, report):
                    report.stop_reason = "callback"
                    return report
            report.passes += 1
            report.row = 0
    if report.rows == 0:
        raise ValueError("The stream holds no rows: there is nothing to learn from.")
    report.skipped = getattr(stream, "skipped", 0)
    report.stop_reason = "end of stream"
    return report


@contextlib.contextmanager
def _prepared(stream: Any, estimator: Any, passes: int) -> Iterator[None]:
    """Let the thread that reads ahead prepare the rows for this estimator, where both can do that.

    Where batches may be prepared in any order, the thread that learns prepares some of them itself. For
    several passes the rows are kept, within the memory that the estimator may use for them.
    """
    if not (hasattr(estimator, "prepare_batch") and hasattr(stream, "prepare")):
        yield
        return
    before, stream.prepare = stream.prepare, estimator.prepare_batch
    shares = hasattr(stream, "prepares_in_any_order") and getattr(estimator, "prepares_in_any_order", False)
    if shares:
        stream.prepares_in_any_order = True
    keeps = passes > 1 and hasattr(stream, "keep_prepared")
    if keeps:
        room = getattr(estimator, "cache_mb", 0.0)
        stream.keep_prepared(math.inf if room is None else room * 2**20)
    try:
        yield
    finally:
        stream.prepare = before
        if shares:
            stream.prepares_in_any_order = False
        if keeps:
            stream.keep_prepared(0)


@contextlib.contextmanager
def _counting(estimator: Any, validate: bool) -> Iterator[None]:
    """Without ``validate``: switch off the counting of an estimator that counts itself."""
    if validate or not hasattr(estimator, "set_progressive"):
        yield
        return
    before = vars(estimator).get("_counting", {}).get("partial_fit", True)
    estimator.set_progressive(partial_fit=False)
    try:
        yield
    finally:
        estimator.set_progressive(partial_fit=before)


@contextlib.contextmanager
def _visiting(estimator: Any) -> Iterator[Callable[[bool], None]]:
    """Yields a function to call before each pass: whether its rows are new to the estimator."""
    if not (hasattr(estimator, "set_progressive") and getattr(estimator, "probability", False)):
        yield lambda new: None
        return
    before = vars(estimator).get("_counting", {}).get("first_visits", True)
    try:
        yield lambda new: estimator.set_progressive(first_visits=before and new)
    finally:
        estimator.set_progressive(first_visits=before)


def settle_width(stream: Any, estimator: Any) -> None:
    """All batches have the columns of the model; a new one gets those of the data, which are measured."""
    if getattr(stream, "format", None) == "libsvm" and stream.n_features is None:
        known = getattr(estimator, "n_features_in_", None)
        if known is not None:
            stream.n_features = int(known)
        else:
            stream.measure()


class _ProgressiveLearner:
    """Predict, learn, count."""

    def __init__(self, estimator: Any, report: FitReport, classes: npt.ArrayLike | None, validate: bool):
        self.estimator, self.report = estimator, report
        self.classes, self.validate = classes, validate
        self._counts_itself = hasattr(type(estimator), "progressive_errors_")
        self._earlier_passes = self._passes_before()

    def _passes_before(self) -> int:
        """Passes of earlier streams: the numbers in ``history_`` continue from them."""
        history = getattr(self.estimator, "history_", None)
        last = history[-1].get("pass", 0) if history else 0
        return max(0, last - self.report.passes - (self.report.row > 0))

    def learn(self, batch: Batch) -> None:
        if batch.y is None:
            raise ValueError("The stream has no labels: give label_column, or labelled rows.")
        guess = self._guess(batch) if self.validate and not self._counts_itself else None
        mistakes = self._mistakes()
        more: dict[str, Any] = {} if batch.weights is None else {"sample_weight": batch.weights}
        if self.classes is not None:
            more["classes"] = self.classes
        self.estimator.partial_fit(batch.X, batch.y, **more)
        self._count(batch, guess, mistakes)

    def _guess(self, batch: Batch) -> np.ndarray | None:
        """What the learner predicts before it learns; None before its first batch."""
        if not hasattr(self.estimator, "classes_"):
            return None
        return np.asarray(self.estimator.predict(batch.X))

    def _mistakes(self) -> int:
        return int(getattr(self.estimator, "n_mistakes_", 0)) if hasattr(self.estimator, "classes_") else 0

    def _count(self, batch: Batch, guess: np.ndarray | None, before: int) -> None:
        report, n = self.report, batch.n_rows
        report.rows += n
        report.row = batch.first_row + n
        report.batches += 1
        if hasattr(self.estimator, "n_mistakes_"):
            report.mistakes = (report.mistakes or 0) + self._mistakes() - before
        if guess is not None:
            report.validated += n
            report.errors += int(np.count_nonzero(guess != batch.y))
        elif self._counts_itself:
            record = self.estimator.history_[-1]
            record["pass"] = self._earlier_passes + report.passes + 1
            report.validated += record.get("progressive_rows", 0)
            report.errors += record.get("progressive_errors", 0)
            report.silence = self.estimator._progressive_silence()
        self._bracket()
        report._note()

    def _bracket(self) -> None:
        from ..theorems import allowance

        bounds = getattr(self.estimator, "margin_bounds_", None)
        self.report.radius = getattr(self.estimator, "radius_", None)
        self.report.margin_up = None
        if isinstance(bounds, tuple) and len(bounds) == 2 and isinstance(bounds[1], float):
            self.report.margin_up = bounds[1] if math.isfinite(bounds[1]) else None
        found = allowance(self.estimator)
        self.report.bound = None if found is None else found.mistakes
        self.report.theorem = None if found is None else found.theorem


class _Progress:
    """A line on standard error whenever the rows have doubled."""

    def __init__(self, verbose: int):
        self.next = 1 if verbose else math.inf

    def report(self, report: FitReport) -> None:
        if report.rows >= self.next:
            sys.stderr.write(f"{report}\n")
            self.next = 2 * report.rows
