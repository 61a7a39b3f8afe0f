"""The two sides of the convergence proof on a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing
from ._visits import MANY_TIMES, learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats, Ints


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
            scale = "log" if far and (self.crossing or 0) > MANY_TIMES * max(1, int(self.k[-1])) else "linear"
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
                f"The convergence proof of {learner(trace) or 'this learner'} is about other vectors."
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
            name=learner(trace),
        )
        return made.plot(ax, **kwargs)
