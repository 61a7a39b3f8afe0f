"""Errors of learners that predict each row before they learn it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats, Label


class ErrorCurve(NamedTuple):
    """Errors of one learner after some numbers of rows."""

    examples: np.ndarray  #: rows that were predicted so far
    errors: np.ndarray  #: how many of them wrongly
    seconds: np.ndarray | None = None  #: time that predicting and learning them took

    @property
    def rate(self) -> Floats:
        """Share of errors so far."""
        return np.asarray(self.errors / self.examples)


class ProgressiveErrorDisplay:
    """The share of errors so far, of several learners, against examples or seconds.

    Each row is predicted before it is learned, so no rows are held out.

    Parameters
    ----------
    curves : dict of str to (examples, errors) or (examples, errors, seconds)
        Three arrays of one length for each learner: rows so far, errors so far, and seconds so far.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of Line2D
        The curves, in the order of the learners.
    legend_ : Legend or None
        The names of the learners.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons.plots import ProgressiveErrorDisplay
    >>> display = ProgressiveErrorDisplay(curves={"a": ([1, 10], [1, 3]), "b": ([1, 10], [0, 2])})
    >>> display.plot().title
    'Each row predicted before it is learned: fewest errors by b, 20 % of 10'
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 4.8)

    def __init__(self, *, curves: Mapping[str, Any]) -> None:
        self.curves: dict[str, ErrorCurve] = {}
        for name, curve in curves.items():
            examples, errors, *rest = curve
            seconds = np.asarray(rest[0], dtype=float) if rest and rest[0] is not None else None
            found = ErrorCurve(np.asarray(examples), np.asarray(errors), seconds)
            shapes = {a.shape for a in found if a is not None}
            if (
                len(shapes) != 1
                or found.examples.ndim != 1
                or not found.examples.size
                or found.examples.min() < 1
            ):
                raise ValueError(
                    f"The curve of {name!r} must have arrays of one length, from one example on."
                )
            self.curves[str(name)] = found
        if not self.curves:
            raise ValueError("curves must have one learner at least.")

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        last = {name: float(curve.rate[-1]) for name, curve in self.curves.items()}
        best = min(last, key=last.__getitem__)
        n = int(self.curves[best].examples[-1])
        said = f"{100.0 * last[best]:.3g} % of {n:,}"
        if len(last) == 1:
            return f"Each row predicted before it is learned: {said} wrong"
        return f"Each row predicted before it is learned: fewest errors by {best}, {said}"

    def plot(self, ax: Axes | None = None, *, against: str = "examples", legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        against : {"examples", "seconds"}, default="examples"
            What the horizontal axis counts.
        legend : bool, default=True
            Whether the learners are named.

        Returns
        -------
        self : ProgressiveErrorDisplay
        """
        if against not in ("examples", "seconds"):
            raise ValueError(f"against must be 'examples' or 'seconds'; got against={against!r}.")
        if against == "seconds" and any(curve.seconds is None for curve in self.curves.values()):
            raise ValueError("Seconds were not measured for all learners; draw against='examples'.")
        ax = drawing.axes(ax, "ProgressiveErrorDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_: list[Any] = []
        for i, (name, curve) in enumerate(self.curves.items()):
            self.lines_ += ax.plot(
                getattr(curve, against),
                100.0 * curve.rate,
                color=drawing.cycled(drawing.CURVE_COLOURS, i),
                linestyle=drawing.cycled(drawing.CURVE_STYLES, i),
                linewidth=1.8,
                label=name,
            )
        ax.set_xscale("log")
        rates = np.concatenate([curve.rate[curve.examples >= 10] for curve in self.curves.values()])
        ax.set_ylim(0.0, max(1.0, min(100.0, 110.0 * float(rates.max(initial=0.0)))) if rates.size else 100.0)
        ax.grid(alpha=0.3)
        what = "rows so far" if against == "examples" else "seconds so far"
        drawing.label_axes(ax, what, "errors so far, in percent")
        drawing.set_title(ax, self.title)
        self.legend_ = drawing.add_legend(ax, self.lines_) if legend and len(self.lines_) > 1 else None
        return self

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        classes: npt.ArrayLike | None = None,
        points: int = 60,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Let fresh copies of some learners learn the rows once, in the order given.

        Learners of this package count each row before they learn it, whatever the batches. Another learner
        predicts a batch before it learns it; the first batches are of one row.

        Parameters
        ----------
        estimators : dict of str to estimator, or list of estimators
            With ``partial_fit``. Those of a list are named by their classes.
        X : array, sparse matrix or list of texts
            Rows.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like, default=None
            All labels; None: those of y.
        points : int, default=60
            How many points a curve has, about.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : ProgressiveErrorDisplay
        """
        from sklearn.base import clone

        drawing.needs_matplotlib("ProgressiveErrorDisplay")
        if points < 2:
            raise ValueError(f"points must be at least 2; got {points}.")
        labels = np.asarray(y)
        known = np.unique(labels) if classes is None else np.asarray(classes)
        ends = np.unique(np.geomspace(1, max(2, len(labels)), points).astype(int)).clip(max=len(labels))
        curves = {}
        for name, estimator in drawing.named(estimators).items():
            if not hasattr(estimator, "partial_fit"):
                raise ValueError(f"{name} has no partial_fit, so it cannot learn row by row.")
            clone(estimator).partial_fit(
                X[:2], labels[:2], classes=known
            )  # compiled code is loaded before time counts
            curves[name] = _learned(clone(estimator), X, labels, known, np.unique(ends))
        return cls(curves=curves).plot(ax, **kwargs)

    @classmethod
    def from_reports(cls, reports: Mapping[str, Any], *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """The errors of learners on streams.

        Parameters
        ----------
        reports : dict of str to FitReport
            What :func:`perceptrons.io.fit_stream` returned, by the names of the learners.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : ProgressiveErrorDisplay
        """
        drawing.needs_matplotlib("ProgressiveErrorDisplay")
        curves = {}
        for name, report in reports.items():
            records = [record for record in report.curve if record.get("validated")]
            if not records:
                raise ValueError(
                    f"The report of {name} has no curve: no row was predicted before it was learned."
                )
            curves[name] = tuple([record[field] for record in records] for field in ("validated", "errors"))
        return cls(curves=curves).plot(ax, **kwargs)


def _learned(model: Any, X: Any, y: np.ndarray, classes: np.ndarray, ends: np.ndarray) -> ErrorCurve:
    """The errors and the time after each of some numbers of rows."""
    errors, seconds = [], []
    wrong, begin, started = 0, 0, time.perf_counter()
    for end in ends.tolist():
        rows, labels = X[begin:end], y[begin:end]
        if not hasattr(model, "progressive_rows_"):
            wrong += _wrong(model, rows, labels, classes[0])
        model.partial_fit(rows, labels, classes=classes)
        errors.append(int(getattr(model, "progressive_errors_", wrong)))
        seconds.append(time.perf_counter() - started)
        begin = end
    return ErrorCurve(ends, np.array(errors), np.array(seconds))


def _wrong(model: Any, rows: Any, labels: np.ndarray, first: Label) -> int:
    """Rows of a batch that are predicted wrongly; a learner that is not fitted yet says the first label."""
    from sklearn.exceptions import NotFittedError

    try:
        predicted = model.predict(rows)
    except NotFittedError:
        predicted = np.full(len(labels), first)
    return int(np.count_nonzero(np.asarray(predicted) != labels))
