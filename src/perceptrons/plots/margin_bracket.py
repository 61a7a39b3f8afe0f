"""The bracket around the best margin, visit by visit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing
from ._visits import epoch_ends, learner, mark_epochs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats


class MarginBracketDisplay:
    r"""The bracket :math:`\gamma_{low} \le \gamma^* \le \gamma_{up}` around the best margin, visit by visit.

    Any w has a margin that the best one reaches as well, and any sum of steps proves a margin that no
    separator exceeds. So the largest lower end and the smallest upper end so far hold, too.

    Parameters
    ----------
    low : ndarray of shape (T,) or None
        Lower ends; not finite where there is none.
    up : ndarray of shape (T,) or None
        Upper ends; not finite where there is none.
    epoch_ends : sequence of int, default=()
        Visits at which an epoch was over.
    name : str, default=""
        The learner.
    space : str, default=""
        Where lengths are measured, such as "augmented rows".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : dict of str to Line2D
        ``"low"`` and ``"up"``, the best ends so far, where there are any.
    fill_ : PolyCollection or None
        What is between them.
    epochs_ : LineCollection or None
        The ends of the epochs.
    legend_ : Legend or None
        Which line is which.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from perceptrons.plots import MarginBracketDisplay
    >>> display = MarginBracketDisplay(low=[-np.inf, 0.2, 0.1], up=[1.0, 0.7, 0.6])
    >>> display.best_low, display.best_up
    (array([nan, 0.2, 0.2]), array([1. , 0.7, 0.6]))
    >>> display.plot().title
    'After 3 visits the best margin is between 0.2 and 0.6'
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 4.8)

    def __init__(
        self,
        *,
        low: npt.ArrayLike | None,
        up: npt.ArrayLike | None,
        epoch_ends: Sequence[int] = (),
        name: str = "",
        space: str = "",
    ) -> None:
        if low is None and up is None:
            raise ValueError("A bracket needs a lower or an upper end.")
        given = [np.asarray(a, dtype=float) for a in (low, up) if a is not None]
        if any(a.ndim != 1 or a.shape != given[0].shape or not a.size for a in given):
            raise ValueError(
                f"low and up must have one number per visit; their shapes are {[a.shape for a in given]}."
            )
        size = given[0].shape
        self.low: Floats = np.full(size, np.nan) if low is None else np.asarray(low, dtype=float)
        self.up: Floats = np.full(size, np.nan) if up is None else np.asarray(up, dtype=float)
        self.epoch_ends, self.name, self.space = [int(end) for end in epoch_ends], name, space

    @property
    def best_low(self) -> Floats:
        """The largest lower end so far, NaN before the first."""
        return np.fmax.accumulate(np.where(np.isfinite(self.low), self.low, np.nan))

    @property
    def best_up(self) -> Floats:
        """The smallest upper end so far, NaN before the first."""
        return np.fmin.accumulate(np.where(np.isfinite(self.up), self.up, np.nan))

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        who = f"{self.name}: after" if self.name else "After"
        low, up = float(self.best_low[-1]), float(self.best_up[-1])
        ends = [drawing.number(end) for end in (low, up)]
        text = f"{who} {drawing.counted(len(self.low), 'visit')} the best margin is "
        if math.isfinite(low) and low > 0.0:
            text += f"between {ends[0]} and {ends[1]}" if math.isfinite(up) else f"at least {ends[0]}"
        else:
            text += f"at most {ends[1]}" if math.isfinite(up) else "not known"
        return f"{text} ({self.space})" if self.space else text

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        legend : bool, default=True
            Whether the lines are named.

        Returns
        -------
        self : MarginBracketDisplay
        """
        ax = drawing.axes(ax, "MarginBracketDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        visits = np.arange(1, len(self.low) + 1)
        self.epochs_ = mark_epochs(ax, self.epoch_ends)
        self.lines_, self.fill_ = {}, None
        best = {"up": self.best_up, "low": np.where(self.best_low > 0.0, self.best_low, np.nan)}
        looks = {"up": (drawing.VERMILION, "--", "no separator beats this: $\\gamma_{up}$")}
        looks["low"] = (drawing.BLUE, "-", "some w reaches this: $\\gamma_{low}$")
        for field, values in best.items():
            if np.isfinite(values).any():
                colour, style, label = looks[field]
                (self.lines_[field],) = ax.step(
                    visits, values, where="post", color=colour, linestyle=style, linewidth=2.0, label=label
                )
        both = np.isfinite(best["low"]) & np.isfinite(best["up"])
        if both.any():
            self.fill_ = ax.fill_between(
                visits,
                best["low"],
                best["up"],
                where=both,
                step="post",
                color=drawing.GREY,
                alpha=0.2,
                linewidth=0,
            )
        ax.set_xlim(1, max(2, len(self.low)))
        tops = [float(np.nanmax(values)) for values in best.values() if np.isfinite(values).any()]
        last = [float(values[-1]) for values in best.values() if np.isfinite(values[-1])]
        if tops and last:
            ax.set_ylim(0.0, 1.05 * min(max(tops), 4.0 * max(last)))
        ax.grid(alpha=0.3)
        drawing.label_axes(ax, "visits of rows", "margin")
        drawing.set_title(ax, self.title)
        handles = [*self.lines_.values(), *([self.epochs_] if self.epochs_ is not None else [])]
        self.legend_ = drawing.add_legend(ax, handles) if legend else None
        return self

    @classmethod
    def from_trace(cls, trace: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """The bracket of a traced run.

        Parameters
        ----------
        trace : Trace
            As :func:`perceptrons.trace` returns it; with ``gamma_low="visits"`` the lower end is computed at
            every visit.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MarginBracketDisplay
        """
        drawing.needs_matplotlib("MarginBracketDisplay")
        ends = [a for a in (trace.gamma_low, trace.gamma_up) if a is not None]
        if not ends or not any(np.isfinite(a).any() for a in ends):
            raise ValueError(f"{learner(trace) or 'This learner'} proves nothing about the best margin.")
        if any(np.ndim(a) != 1 for a in ends):
            raise ValueError("Learners of one class against the rest have a bracket each; give two classes.")
        made = cls(
            low=trace.gamma_low,
            up=trace.gamma_up,
            epoch_ends=epoch_ends(trace.epoch),
            name=learner(trace),
            space=trace.space or "",
        )
        return made.plot(ax, **kwargs)
