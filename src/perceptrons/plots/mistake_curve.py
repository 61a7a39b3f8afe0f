"""Mistakes, visit by visit, under the bounds of theorems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..theorems import theorem_of
from . import _drawing as drawing
from ._visits import MANY_TIMES, epoch_ends, learner, mark_epochs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats, Ints

#: Learners whose mistakes the theorem bounds that the convergence proof proves.
_NOVIKOFF = ("Perceptron", "AveragedPerceptron", "VotedPerceptron")


class MistakeCurveDisplay:
    """Mistakes so far, visit by visit, under the bounds of theorems.

    The theorems bound the mistakes of every sequence of rows, and so they hold at each visit.

    Parameters
    ----------
    mistakes : ndarray of shape (T,)
        Mistakes up to each visit and with it.
    bounds : dict of str to float or ndarray of shape (T,), default=None
        What each theorem allows, by its name: in all, or up to each visit. Infinite: it says nothing.
    epoch_ends : sequence of int, default=()
        Visits at which an epoch was over.
    truncated : bool, default=False
        Whether the run goes on after these visits.
    name : str, default=""
        The learner.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    line_ : Line2D
        The mistakes.
    bounds_ : dict of str to Line2D
        The bounds that are finite, by their names.
    epochs_ : LineCollection or None
        The ends of the epochs.
    legend_ : Legend or None
        Which line is which.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons.plots import MistakeCurveDisplay
    >>> display = MistakeCurveDisplay(mistakes=[1, 1, 2, 2], bounds={"Novikoff's theorem": 5.2})
    >>> display.plot().title
    "2 mistakes; at most 5 by Novikoff's theorem"
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 4.8)

    def __init__(
        self,
        *,
        mistakes: npt.ArrayLike,
        bounds: Mapping[str, npt.ArrayLike] | None = None,
        epoch_ends: Sequence[int] = (),
        truncated: bool = False,
        name: str = "",
    ) -> None:
        self.mistakes: Ints = np.asarray(mistakes, dtype=np.int64)
        if self.mistakes.ndim != 1 or not self.mistakes.size:
            raise ValueError("mistakes must have one count per visit, and at least one.")
        self.bounds: dict[str, Floats] = {}
        for key, value in (bounds or {}).items():
            bound = np.asarray(value, dtype=float)
            if bound.ndim and bound.shape != self.mistakes.shape:
                raise ValueError(
                    f"The bound {key!r} must be a number, or one per visit; its shape is {bound.shape}."
                )
            self.bounds[key] = np.array(np.broadcast_to(bound, self.mistakes.shape))
        self.epoch_ends, self.name = [int(end) for end in epoch_ends], name
        self.truncated = truncated

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        who = f"{self.name}: " if self.name else ""
        text = who + drawing.counted(int(self.mistakes[-1]), "mistake")
        if self.truncated:
            text += " so far"
        last = {name: float(bound[-1]) for name, bound in self.bounds.items() if math.isfinite(bound[-1])}
        if not last:
            return f"{text} in {drawing.counted(len(self.mistakes), 'visit')}"
        best = min(last, key=last.__getitem__)
        return f"{text}; at most {math.floor(last[best]):,} by {best}"

    def plot(self, ax: Axes | None = None, *, yscale: str | None = None, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        yscale : {"linear", "log"} or None, default=None
            None: logarithmic where the smallest bound is more than 15 times the mistakes.
        legend : bool, default=True
            Whether the lines are named.

        Returns
        -------
        self : MistakeCurveDisplay
        """
        ax = drawing.axes(ax, "MistakeCurveDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        visits = np.arange(len(self.mistakes) + 1)
        made = max(1, int(self.mistakes[-1]))
        finite = {name: bound for name, bound in self.bounds.items() if np.isfinite(bound).any()}
        if yscale is None:
            least = min((float(bound[np.isfinite(bound)].max()) for bound in finite.values()), default=0.0)
            yscale = "log" if least > MANY_TIMES * made else "linear"
        ax.set_yscale(yscale)
        self.epochs_ = mark_epochs(ax, self.epoch_ends)
        counts = np.concatenate([[0], self.mistakes])
        self.line_: Any
        (self.line_,) = ax.step(
            visits, counts, where="post", color=drawing.BLUE, linewidth=2.0, label="mistakes", zorder=3
        )
        self.bounds_ = {}
        for i, (name, bound) in enumerate(finite.items()):
            shown = np.where(np.isfinite(bound), bound, np.nan)
            (self.bounds_[name],) = ax.plot(
                visits[1:] if len(set(bound.tolist())) > 1 else visits[[0, -1]],
                shown if len(set(bound.tolist())) > 1 else shown[[0, -1]],
                color=drawing.cycled(drawing.CURVE_COLOURS, i + 1),
                linestyle=drawing.cycled(drawing.CURVE_STYLES, i + 1),
                linewidth=1.6,
                label=f"allowed by {name}",
                zorder=2,
            )
        ax.set_xlim(0, len(self.mistakes))
        drawing.count_whole(ax.xaxis)
        if yscale == "linear":
            ax.set_ylim(bottom=0.0)
            drawing.count_whole(ax.yaxis)
        ax.grid(alpha=0.3)
        drawing.label_axes(ax, "visits of rows", "mistakes so far")
        drawing.set_title(ax, self.title)
        handles = [self.line_, *self.bounds_.values()]
        handles += [self.epochs_] if self.epochs_ is not None else []
        self.legend_ = drawing.add_legend(ax, handles) if legend else None
        return self

    @classmethod
    def from_trace(
        cls,
        trace: Any,
        *,
        bounds: Mapping[str, npt.ArrayLike] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The mistakes of a traced run.

        Parameters
        ----------
        trace : Trace
            As :func:`perceptrons.trace` returns it.
        bounds : dict of str to float or array, default=None
            Bounds by their names; None: what the convergence proof of the trace allows, if it has one.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MistakeCurveDisplay
        """
        drawing.needs_matplotlib("MistakeCurveDisplay")
        if bounds is None:
            crossing = None if trace.proof is None else trace.proof.crossing
            name = "Novikoff's theorem" if learner(trace) in _NOVIKOFF else "the convergence proof"
            bounds = {} if crossing is None else {name: crossing - 1}
        made = cls(
            mistakes=trace.n_mistakes,
            truncated=bool(trace.truncated),
            bounds=bounds,
            epoch_ends=epoch_ends(trace.epoch),
            name=learner(trace),
        )
        return made.plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        order: Sequence[npt.ArrayLike] | None = None,
        u: npt.ArrayLike | str | None = "auto",
        max_steps: int = 10_000,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Run a fresh copy of a learner, row by row, under what the theorem of its rule allows.

        Parameters
        ----------
        estimator : online learner
            Fitted or not; it is not changed.
        X : array-like or CSR matrix
            Rows.
        y : array-like
            Their labels.
        order : sequence of sequences of int, default=None
            The rows to visit, one sequence per epoch, as in ``fit``.
        u : array-like, "max-margin", "auto" or None, default="auto"
            The separator whose margin the theorem is about. ``"auto"``: that of the maximum margin, for
            linear learners of two classes. None, and for others: the w that the learner itself ends with.
        max_steps : int, default=10000
            How many visits are shown at most.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MistakeCurveDisplay
        """
        from ..proofs.tracing import trace

        drawing.needs_matplotlib("MistakeCurveDisplay")
        if isinstance(u, str) and u == "auto":
            linear = not hasattr(estimator, "kernel") and len(np.unique(np.asarray(y))) == 2
            u = "max-margin" if linear else None
        found = trace(estimator, X, y, order=order, u=u, max_steps=max_steps)
        return cls.from_trace(found, bounds=_theorem_bound(estimator, found), ax=ax, **kwargs)

    @classmethod
    def from_run(
        cls,
        run: Any,
        *,
        u: Any = None,
        gamma: float | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The mistakes in the online protocol, under bounds that grow with the rows.

        Parameters
        ----------
        run : OnlineRun
            As :func:`perceptrons.proofs.run_online` returns it.
        u : array or dict of weights, default=None
            A comparator, for the bounds with the hinge loss; None: the best multiple of the learner's last
            weights.
        gamma : float, default=None
            A margin that some unit vector has on every row, for Novikoff's bound.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MistakeCurveDisplay
        """
        drawing.needs_matplotlib("MistakeCurveDisplay")
        curves = run.bounds(u=u, gamma=gamma)
        names = {
            "novikoff": "Novikoff's theorem",
            "hinge_tight": "the bound with the hinge loss",
            "total_distance": "the bound with the total distance",
        }
        found = {
            name: getattr(curves, field)
            for field, name in names.items()
            if getattr(curves, field) is not None
        }
        made = cls(mistakes=curves.mistakes, bounds=found, name=type(run.learner).__name__)
        return made.plot(ax, **kwargs)


def _theorem_bound(estimator: Any, trace: Any) -> dict[str, float]:
    """What the theorem of a learner's rule allows, by the largest margin that some w is known to have."""
    known = [] if trace.proof is None or trace.proof.gamma is None else [float(trace.proof.gamma)]
    if trace.gamma_low is not None and np.ndim(trace.gamma_low) == 1:
        known += [float(low) for low in np.asarray(trace.gamma_low) if math.isfinite(low)]
    gamma = max(known, default=0.0)
    found = theorem_of(estimator, several=len(trace.classes) > 2) if gamma > 0.0 else None
    if found is None:
        return {}
    theorem, record = found
    try:
        allowed = theorem.allowed(float(trace.radius), gamma, record)
    except (ValueError, ArithmeticError):  # a parameter outside the theorem's conditions
        return {}
    name = theorem.in_words
    return {name[0].lower() + name[1:] if name.startswith("The ") else name: allowed}
