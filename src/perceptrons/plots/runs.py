"""A run, visit by visit: its mistakes, the two sides of the convergence proof, the bracket of the margin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..theorems import theorem_of
from . import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats, Ints

_MANY_TIMES = 15.0  # a bound that is so much larger than what it bounds is shown on a logarithmic scale
#: Learners whose mistakes the theorem bounds that this proof proves.
_NOVIKOFF = ("Perceptron", "AveragedPerceptron", "VotedPerceptron")
_MANY_EPOCHS = 20  # the ends of more epochs are not marked


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
            yscale = "log" if least > _MANY_TIMES * made else "linear"
        ax.set_yscale(yscale)
        self.epochs_ = _mark_epochs(ax, self.epoch_ends)
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
            name = "Novikoff's theorem" if _learner(trace) in _NOVIKOFF else "the convergence proof"
            bounds = {} if crossing is None else {name: crossing - 1}
        made = cls(
            mistakes=trace.n_mistakes,
            truncated=bool(trace.truncated),
            bounds=bounds,
            epoch_ends=_epoch_ends(trace.epoch),
            name=_learner(trace),
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


class ConvergenceProofDisplay:
    r"""The convergence proof on a run: :math:`k\gamma \le \langle u, w_k\rangle \le \|w_k\| \le \sqrt k R`.

    Each update moves w towards u by γ at least, and makes it longer by little. The straight line passes the
    root at :math:`k = (R/\gamma)^2`: so many updates, and no more, are possible.

    Parameters
    ----------
    k : ndarray of shape (n,)
        How many updates were made.
    dot : ndarray of shape (n,)
        :math:`\langle u, w_k\rangle`, u being of length 1.
    dot_bound : ndarray of shape (n,)
        What it is at least, :math:`k\gamma`.
    norm : ndarray of shape (n,)
        :math:`\|w_k\|`.
    norm_bound : ndarray of shape (n,)
        What it is at most, :math:`\sqrt k R`.
    crossing : int or None, default=None
        The smallest k with :math:`k\gamma > \sqrt k R`.
    truncated : bool, default=False
        Whether the run goes on after these updates.
    name : str, default=""
        The learner.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : dict of str to Line2D
        ``"dot"``, ``"dot_bound"``, ``"norm"``, ``"norm_bound"``.
    crossing_ : Line2D or None
        Where the bounds cross, if that is in the picture.
    legend_ : Legend or None
        Which line is which.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from perceptrons.plots import ConvergenceProofDisplay
    >>> k = np.arange(3)
    >>> display = ConvergenceProofDisplay(
    ...     k=k, dot=[0, 1.2, 2], dot_bound=0.9 * k, norm=[0, 1.5, 2.1], norm_bound=2 * np.sqrt(k), crossing=5
    ... )
    >>> display.plot().title
    'kγ passes √k·R at k = 5: at most 4 updates; 2 were made'
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 4.8)

    def __init__(
        self,
        *,
        k: npt.ArrayLike,
        dot: npt.ArrayLike,
        dot_bound: npt.ArrayLike,
        norm: npt.ArrayLike,
        norm_bound: npt.ArrayLike,
        crossing: int | None = None,
        truncated: bool = False,
        name: str = "",
    ) -> None:
        self.k: Ints = np.asarray(k, dtype=np.int64)
        self.dot, self.dot_bound, self.norm, self.norm_bound = (
            np.asarray(a, dtype=float) for a in (dot, dot_bound, norm, norm_bound)
        )
        self.crossing, self.truncated, self.name = crossing, truncated, name
        sizes = {a.shape for a in (self.k, self.dot, self.dot_bound, self.norm, self.norm_bound)}
        if len(sizes) > 1 or self.k.ndim != 1 or not self.k.size:
            raise ValueError(
                f"All arrays must have one entry per number of updates; their shapes are {sorted(sizes)}."
            )

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        who = f"{self.name}: " if self.name else ""
        made = int(self.k[-1])
        if self.crossing is None:
            return f"{who}⟨u, w⟩ and ‖w‖ stay between their bounds in {drawing.counted(made, 'update')}"
        most = drawing.counted(self.crossing - 1, "update")
        passed = "√k·R" if self._beyond() is not None else "the bound on ‖w‖"
        were = "was" if made == 1 else "were"
        so_far = " so far" if self.truncated else ""
        return (
            f"{who}kγ passes {passed} at k = {self.crossing:,}: at most {most}; {made:,} {were} made{so_far}"
        )

    def _beyond(self) -> tuple[Floats, Floats, Floats] | None:
        """k, kγ and √k·R from the last update to beyond the crossing; None where the bounds are others."""
        made = int(self.k[-1])
        if self.crossing is None or made < 1:
            return None
        slope, root = self.dot_bound[-1] / made, self.norm_bound[-1] / math.sqrt(made)
        plain = np.allclose(self.dot_bound, slope * self.k) and np.allclose(
            self.norm_bound, root * np.sqrt(self.k)
        )
        if not plain or abs((root / slope) ** 2 - self.crossing) > 1.0 + 1e-9 * self.crossing:
            return None
        k = np.geomspace(made, max(1.2 * self.crossing, made + 1.0), 200)
        return k, slope * k, root * np.sqrt(k)

    def plot(self, ax: Axes | None = None, *, scale: str | None = None, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        scale : {"linear", "log"} or None, default=None
            Of both axes; on logarithmic ones the bounds are straight lines. None: logarithmic where the
            crossing is more than 15 times as far as the run.
        legend : bool, default=True
            Whether the lines are named.

        Returns
        -------
        self : ConvergenceProofDisplay
        """
        ax = drawing.axes(ax, "ConvergenceProofDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        beyond = self._beyond()
        if scale is None:
            far = beyond is not None and self.crossing is not None
            scale = (
                "log" if far and (self.crossing or 0) > _MANY_TIMES * max(1, int(self.k[-1])) else "linear"
            )
        ax.set_xscale(scale)
        ax.set_yscale(scale)
        from_k = 1 if scale == "log" and len(self.k) > 1 else 0
        k = self.k[from_k:]
        bound = "bound on $\\|w_k\\|$" if beyond is None else "$\\sqrt{k}\\,R$"
        styles: dict[str, tuple[Floats, str, Any, float, str]] = {
            "norm_bound": (self.norm_bound, drawing.VERMILION, "--", 1.4, bound),
            "norm": (self.norm, drawing.VERMILION, "-", 2.0, "$\\|w_k\\|$"),
            "dot": (self.dot, drawing.BLUE, "-", 2.0, "$\\langle u, w_k\\rangle$"),
            "dot_bound": (self.dot_bound, drawing.BLUE, ":", 1.8, "$k\\gamma$"),
        }
        self.lines_ = {}
        for i, (field, (values, colour, style, width, label)) in enumerate(styles.items()):
            marks: dict[str, Any] = {}
            if style == "-":  # they tell the two curves apart in grey
                marks = {"marker": "os"[i % 2], "markersize": 4, "markevery": max(1, len(k) // 12)}
            (self.lines_[field],) = ax.plot(
                k, values[from_k:], color=colour, linestyle=style, linewidth=width, label=label, **marks
            )
        self.crossing_ = None
        if beyond is not None:
            further, line, root = beyond
            ax.plot(further, line, color=drawing.BLUE, linestyle=":", linewidth=1.8)
            ax.plot(further, root, color=drawing.VERMILION, linestyle="--", linewidth=1.4)
            at = (root[-1] / math.sqrt(further[-1]) / (line[-1] / further[-1])) ** 2  # (R/γ)²
            (self.crossing_,) = ax.plot(
                [at],
                [line[-1] / further[-1] * at],
                marker="X",
                markersize=10,
                linestyle="none",
                color=drawing.BLACK,
                label="$k = (R/\\gamma)^2$",
                zorder=5,
            )
            ax.axvline(self.k[-1], color=drawing.GREY, linewidth=0.8)
            ax.annotate(
                f"{'so far' if self.truncated else 'the run ends'}: k = {self.k[-1]:,}",
                (self.k[-1], 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(4, -4),
                textcoords="offset points",
                va="top",
                fontsize="small",
                color="#404040",
            )
        if scale == "linear":
            drawing.count_whole(ax.xaxis)
        ax.grid(alpha=0.3)
        drawing.label_axes(ax, "number of updates $k$", "length")
        drawing.set_title(ax, self.title)
        handles = [*self.lines_.values(), *([self.crossing_] if self.crossing_ is not None else [])]
        self.legend_ = drawing.add_legend(ax, handles, columns=5) if legend else None
        return self

    @classmethod
    def from_trace(cls, trace: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """The proof that a trace has followed.

        Parameters
        ----------
        trace : Trace
            As :func:`perceptrons.trace` returns it with a comparator, such as ``u="max-margin"``.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : ConvergenceProofDisplay
        """
        drawing.needs_matplotlib("ConvergenceProofDisplay")
        proof = trace.proof
        if proof is None:
            raise ValueError("The trace has no comparator; give trace(…, u='max-margin').")
        if proof.gamma is None:
            raise ValueError(
                "u has no positive margin on these rows, so the convergence proof claims nothing."
            )
        if proof.dot_bound is None or proof.norm_bound is None:
            raise ValueError(
                f"The convergence proof of {_learner(trace) or 'this learner'} is about other vectors."
            )
        k = np.concatenate([[0], np.asarray(trace.n_updates, dtype=np.int64)])
        last = np.concatenate([[True], np.diff(k) > 0])  # the entries after an update, and the first
        made = cls(
            k=k[last],
            dot=np.asarray(proof.dot)[last],
            dot_bound=np.asarray(proof.dot_bound)[last],
            norm=np.asarray(proof.norm)[last],
            norm_bound=np.asarray(proof.norm_bound)[last],
            crossing=proof.crossing,
            truncated=bool(trace.truncated),
            name=_learner(trace),
        )
        return made.plot(ax, **kwargs)


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
        self.epochs_ = _mark_epochs(ax, self.epoch_ends)
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
            raise ValueError(f"{_learner(trace) or 'This learner'} proves nothing about the best margin.")
        if any(np.ndim(a) != 1 for a in ends):
            raise ValueError("Learners of one class against the rest have a bracket each; give two classes.")
        made = cls(
            low=trace.gamma_low,
            up=trace.gamma_up,
            epoch_ends=_epoch_ends(trace.epoch),
            name=_learner(trace),
            space=trace.space or "",
        )
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


def _learner(trace: Any) -> str:
    """The class of a traced learner."""
    return str(getattr(trace, "learner", "") or "").partition("(")[0]


def _epoch_ends(epoch: npt.ArrayLike) -> list[int]:
    """The numbers of visits after which an epoch is over, the last one left out."""
    return (np.flatnonzero(np.diff(np.asarray(epoch))) + 1).tolist()


def _mark_epochs(ax: Any, ends: list[int]) -> Any:
    """Thin lines at the ends of epochs; None where there are none, or too many."""
    if not 0 < len(ends) <= _MANY_EPOCHS:
        return None
    return ax.vlines(
        ends,
        0.0,
        1.0,
        transform=ax.get_xaxis_transform(),
        color=drawing.GREY,
        linewidth=0.8,
        linestyle=(0, (2, 2)),
        label="end of an epoch",
        zorder=1,
    )
