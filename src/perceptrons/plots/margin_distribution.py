"""How the margins of the rows are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .. import theory
from . import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats

_LABELS = {
    "distance": "distance from the decision surface, negative on the wrong side",
    "functional": "functional margin $y(⟨w, x⟩ + b)$",
    "geometric": "geometric margin, in the learner's own space",
    "normalized": "normalised margin, in the learner's own space",
}


class MarginDistributionDisplay:
    r"""The share of rows whose margin is at most so large, of one model or several.

    Rows left of 0 are on the wrong side. A large margin on most rows, with a few errors, can be better than
    a tiny margin on all of them.

    Parameters
    ----------
    margins : dict of str to ndarray
        The margins of the rows, for each model.
    kind : {"distance", "functional", "geometric", "normalized"}, default="distance"
        Which margins these are. Distances are those in the space of the rows, and can be compared; geometric
        margins are divided by the length of w in the learner's own space, with the weight of the constant
        coordinate where there is one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of Line2D
        The curves, in the order of the models.
    zero_ : Line2D
        The line at margin 0.
    legend_ : Legend or None
        The names of the models.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import MaxMargin, Perceptron, datasets
    >>> from perceptrons.plots import MarginDistributionDisplay
    >>> X, y, *_ = datasets.three_points()
    >>> models = [Perceptron(random_state=0).fit(X, y), MaxMargin().fit(X, y)]
    >>> display = MarginDistributionDisplay.from_estimators(models, X, y)
    >>> {name: float(margins.min().round(3)) for name, margins in display.margins.items()}
    {'Perceptron': 0.447, 'MaxMargin': 1.061}
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 4.8)

    def __init__(self, *, margins: Mapping[str, npt.ArrayLike], kind: str = "distance") -> None:
        self.margins: dict[str, Floats] = {name: np.asarray(m, dtype=float) for name, m in margins.items()}
        self.kind = kind
        if not self.margins or any(not m.size or m.ndim != 1 for m in self.margins.values()):
            raise ValueError("margins must have one number per row, for one model at least.")

    @property
    def wrong(self) -> dict[str, float]:
        """The share of rows whose margin is not positive, of each model."""
        return {name: float(np.mean(m <= 0.0)) for name, m in self.margins.items()}

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        said = ", ".join(f"{name} {_percent(share)}" for name, share in self.wrong.items())
        return f"Rows on the wrong side: {said}"

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        legend : bool, default=True
            Whether the models are named.

        Returns
        -------
        self : MarginDistributionDisplay
        """
        ax = drawing.axes(ax, "MarginDistributionDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self.zero_ = ax.axvline(0.0, color=drawing.GREY, linewidth=1.0, zorder=1)
        self.lines_: list[Any] = []
        for i, (name, margins) in enumerate(self.margins.items()):
            finite = np.sort(margins[np.isfinite(margins)])
            share = (np.arange(1, len(finite) + 1) + np.count_nonzero(margins == -np.inf)) / len(margins)
            self.lines_ += ax.step(
                np.concatenate([finite[:1], finite]),
                np.concatenate([[0.0], share]),
                where="post",
                color=drawing.cycled(drawing.CURVE_COLOURS, i),
                linestyle=drawing.cycled(drawing.CURVE_STYLES, i),
                linewidth=1.8,
                label=name,
            )
        ax.set_ylim(0.0, 1.02)
        ax.grid(alpha=0.3)
        drawing.label_axes(ax, _LABELS.get(self.kind, "margin"), "share of rows with at most this margin")
        drawing.set_title(ax, self.title)
        self.legend_ = drawing.add_legend(ax, self.lines_) if legend and len(self.lines_) > 1 else None
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        kind: str = "distance",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The margins of one fitted model.

        Parameters
        ----------
        estimator : fitted classifier
            See :func:`perceptrons.theory.margins`.
        X : rows
        y : labels
        kind : {"distance", "functional", "geometric", "normalized"}, default="distance"
            Which margin.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MarginDistributionDisplay
        """
        return cls.from_estimators([estimator], X, y, kind=kind, ax=ax, **kwargs)

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        kind: str = "distance",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The margins of several fitted models on the same rows.

        Parameters
        ----------
        estimators : dict of str to classifier, or list of classifiers
            Those of a list are named by their classes.
        X : rows
        y : labels
        kind : {"distance", "functional", "geometric", "normalized"}, default="distance"
            Which margin.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : MarginDistributionDisplay
        """
        drawing.needs_matplotlib("MarginDistributionDisplay")
        named = drawing.named(estimators)
        found = {name: _margins(model, X, y, kind) for name, model in named.items()}
        return cls(margins=found, kind=kind).plot(ax, **kwargs)


def _margins(model: Any, X: Any, y: npt.ArrayLike, kind: str) -> Floats:
    if kind != "distance":
        return theory.margins(model, X, y, kind=kind).values
    found = theory.margins(model, X, y).distances
    if found is None:
        raise ValueError(
            f"{type(model).__name__} has a kernel, and no distances in the space of the rows; "
            "give kind='geometric'."
        )
    return found


def _percent(share: float) -> str:
    return "none" if share == 0.0 else f"{100.0 * share:.3g} %"
