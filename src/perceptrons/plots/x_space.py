"""x-space: rows, the regions of the classes, the hyperplane and its slab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from . import _drawing as drawing
from ._plane import Box, box_around, half_planes_in, line_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Bools, Floats, Label

_MOST_FEATURES = 10_000
_PIECE = 1 << 23  # numbers in rows of the grid that are scored at once
_SIDES_AT_MOST = 6.0  # a rectangle whose sides differ more is not drawn with equal units on both axes


class HalfspaceDisplay:
    r"""Rows of two features, and how a classifier divides the plane.

    It is made by :meth:`from_estimator`. The regions of the classes are drawn by scikit-learn's
    ``DecisionBoundaryDisplay``. Where two classes have linear weights, the hyperplane
    :math:`\langle w, x\rangle + b = 0` and the slab :math:`|\langle w, x\rangle + b| \le s` are drawn from w
    and b, exactly.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (g, g)
        The grid, as of :func:`numpy.meshgrid`.
    response : ndarray of shape (g, g) or (g, g, n_classes)
        Scores on the grid. Two classes: positive means the second of them.
    X : ndarray of shape (n, 2)
        The two features of each row.
    y : ndarray of shape (n,)
        Labels.
    classes : ndarray
        The labels that there are, in increasing order.
    weights : (float, float, float) or None, default=None
        The weights w and b in the plane, of a linear classifier of two classes.
    slab : float or None, default=None
        The score s at the border of the slab.
    support_vectors : ndarray of shape (n_support, 2) or None, default=None
        Rows that w is made of.
    wrong : ndarray of bool, shape (n,), or None, default=None
        Rows that the classifier predicts wrongly.
    feature_names : (str, str), default=("$x_1$", "$x_2$")
        What the axes say.
    title : str, default=""
        What the picture shows, in a sentence.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    boundaries_ : list of DecisionBoundaryDisplay
        One for the region of each class.
    rows_ : list of PathCollection
        The rows, class by class.
    hyperplane_ : Line2D, QuadContourSet, or None
        The points with score 0; a list with one set per class where there are several.
    slab_ : list of artists
        The borders of the slab, and what is between them.
    support_ : PathCollection or None
        Rings around the support vectors.
    wrong_ : PathCollection or None
        Crosses on rows that are predicted wrongly.
    legend_ : Legend or None
        What the markers and lines mean.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import MaxMargin, datasets
    >>> from perceptrons.plots import HalfspaceDisplay
    >>> X, y, *_ = datasets.three_points()
    >>> display = HalfspaceDisplay.from_estimator(MaxMargin().fit(X, y), X, y)
    >>> display.title
    'MaxMargin: a slab of width 2.12, held by 3 support vectors'
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 6.0)

    def __init__(
        self,
        *,
        xx0: Floats,
        xx1: Floats,
        response: Floats,
        X: Floats,
        y: np.ndarray,
        classes: np.ndarray,
        weights: tuple[float, float, float] | None = None,
        slab: float | None = None,
        support_vectors: Floats | None = None,
        wrong: Bools | None = None,
        feature_names: Sequence[str] = ("$x_1$", "$x_2$"),
        title: str = "",
    ) -> None:
        self.xx0, self.xx1, self.response = xx0, xx1, response
        self.X, self.y, self.classes = X, y, classes
        self.weights, self.slab = weights, slab
        self.support_vectors, self.wrong = support_vectors, wrong
        self.feature_names, self.title = tuple(feature_names), title

    @property
    def box(self) -> Box:
        """The part of the plane that is shown."""
        return Box(*(float(end) for xx in (self.xx0, self.xx1) for end in (xx.min(), xx.max())))

    def leads(self) -> list[Floats]:
        """For each class its score on the grid less the largest score of the others."""
        if self.response.ndim == 2:
            return [-self.response, self.response]
        return [
            self.response[:, :, r] - np.delete(self.response, r, axis=2).max(axis=2)
            for r in range(self.response.shape[2])
        ]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        aspect: Literal["equal", "auto"] | None = None,
        legend: bool = True,
        region_alpha: float = 0.25,
        row_size: float = 36.0,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        aspect : {"equal", "auto"} or None, default=None
            Whether both axes have the same unit, so that right angles look right. None: yes, unless one side
            of the picture would be more than six times the other.
        legend : bool, default=True
            Whether markers and lines are named.
        region_alpha : float, default=0.25
            How strong the colours of the regions are.
        row_size : float, default=36
            Size of the markers.

        Returns
        -------
        self : HalfspaceDisplay
        """
        ax = drawing.axes(ax, "HalfspaceDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_regions(ax, region_alpha)
        self._draw_hyperplane(ax)
        self._draw_rows(ax, row_size)
        box = self.box
        ax.set_xlim(box.x_low, box.x_high)
        ax.set_ylim(box.y_low, box.y_high)
        sides = sorted((box.x_high - box.x_low, box.y_high - box.y_low))
        ax.set_aspect(aspect or ("equal" if sides[1] <= _SIDES_AT_MOST * sides[0] else "auto"))
        drawing.label_axes(ax, *self.feature_names)
        drawing.set_title(ax, self.title)
        self.legend_ = drawing.add_legend(ax, self._named()) if legend else None
        return self

    def _draw_regions(self, ax: Any, alpha: float) -> None:
        from sklearn.inspection import DecisionBoundaryDisplay

        self.boundaries_ = []
        for r, lead in enumerate(self.leads()):
            if not np.any(lead > 0.0):
                continue
            region = DecisionBoundaryDisplay(xx0=self.xx0, xx1=self.xx1, n_classes=2, response=lead)
            region.plot(
                ax=ax,
                levels=[0.0, np.inf],
                colors=[drawing.cycled(drawing.CLASS_COLOURS, r)],
                alpha=alpha,
                zorder=0,
                xlabel=ax.get_xlabel(),
                ylabel=ax.get_ylabel(),
            )
            self.boundaries_.append(region)

    def _draw_hyperplane(self, ax: Any) -> None:
        self.hyperplane_: Any = None
        self.slab_: list[Any] = []
        solid = {"colors": drawing.BLACK, "linewidths": 1.8, "zorder": 3}
        dashed = {"colors": drawing.BLACK, "linewidths": 1.2, "linestyles": "--", "zorder": 3}
        if self.weights is not None:
            self._draw_straight(ax)
        elif self.response.ndim == 2:
            s, grid = self.response, (self.xx0, self.xx1, self.response)
            if s.min() < 0.0 < s.max():
                self.hyperplane_ = ax.contour(*grid, levels=[0.0], **solid)
            if self.slab is not None and s.min() < self.slab and s.max() > -self.slab:
                between = {"colors": [drawing.GREY], "alpha": 0.25, "zorder": 1}
                self.slab_.append(ax.contourf(*grid, levels=[-self.slab, self.slab], **between))
                self.slab_.append(ax.contour(*grid, levels=[-self.slab, self.slab], **dashed))
        else:
            leads = [lead for lead in self.leads() if lead.min() < 0.0 < lead.max()]
            self.hyperplane_ = [ax.contour(self.xx0, self.xx1, lead, levels=[0.0], **solid) for lead in leads]
            if self.slab is not None:
                self.slab_ = [
                    ax.contour(self.xx0, self.xx1, lead, levels=[self.slab], **dashed)
                    for lead in leads
                    if lead.max() > self.slab
                ]

    def _draw_straight(self, ax: Any) -> None:
        """The lines ⟨w, x⟩ + b = 0, -s and s."""
        assert self.weights is not None
        w, b = np.array(self.weights[:2]), self.weights[2]
        ends = line_in(w, -b, self.box)
        if ends is not None:
            (self.hyperplane_,) = ax.plot(*ends.T, color=drawing.BLACK, linewidth=1.8, zorder=3)
        if self.slab is None:
            return
        inside = half_planes_in([w, -w], [-self.slab - b, b - self.slab], self.box)
        if len(inside) > 2:
            self.slab_ += ax.fill(*inside.T, facecolor=drawing.GREY, alpha=0.25, linewidth=0, zorder=1)
        for level in (-self.slab, self.slab):
            ends = line_in(w, level - b, self.box)
            if ends is not None:
                self.slab_ += ax.plot(*ends.T, color=drawing.BLACK, linewidth=1.2, linestyle="--", zorder=3)

    def _draw_rows(self, ax: Any, size: float) -> None:
        self.rows_ = []
        for r, label in enumerate(self.classes):
            own = self.X[self.y == label]
            self.rows_.append(
                ax.scatter(
                    own[:, 0],
                    own[:, 1],
                    s=size,
                    marker=drawing.cycled(drawing.CLASS_MARKERS, r),
                    color=drawing.cycled(drawing.CLASS_COLOURS, r),
                    edgecolors=drawing.BLACK,
                    linewidths=0.6,
                    zorder=4,
                    label=f"class {_shown(label, self.classes)}",
                )
            )
        self.support_ = self.wrong_ = None
        if self.support_vectors is not None and len(self.support_vectors):
            self.support_ = ax.scatter(
                *self.support_vectors.T,
                s=4.0 * size,
                facecolors="none",
                edgecolors=drawing.BLACK,
                linewidths=1.2,
                zorder=5,
                label="support vector",
            )
        if self.wrong is not None and self.wrong.any():
            self.wrong_ = ax.scatter(
                *self.X[self.wrong].T,
                s=1.6 * size,
                marker="x",
                color=drawing.BLACK,
                linewidths=1.4,
                zorder=6,
                label="on the wrong side",
            )

    def _named(self) -> list[Any]:
        from matplotlib.lines import Line2D

        found: list[Any] = [*self.rows_]
        if self.hyperplane_ is not None:
            straight = self.weights is not None
            name = "hyperplane" if straight else "decision boundary"
            found.append(Line2D([], [], color=drawing.BLACK, linewidth=1.8, label=name))
        if self.slab_:
            name = f"score ±{drawing.number(self.slab or 0.0)} (slab)"
            found.append(Line2D([], [], color=drawing.BLACK, linewidth=1.2, linestyle="--", label=name))
        return [*found, *(one for one in (self.support_, self.wrong_) if one is not None)]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: npt.ArrayLike,
        *,
        features: tuple[int, int] | None = None,
        fill: npt.ArrayLike | None = None,
        slab: float | str | None = "auto",
        grid_resolution: int = 200,
        share: float = 0.1,
        feature_names: Sequence[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        r"""Compute regions, hyperplane and slab of a fitted classifier, and draw them with the rows.

        Parameters
        ----------
        estimator : fitted classifier
            Linear or by a kernel, of two classes or several; also of scikit-learn, or a pipeline.
        X : array-like, sparse matrix or data frame of shape (n, d)
            Rows.
        y : array-like of shape (n,)
            Their labels.
        features : (int, int), default=None
            The two columns that are shown; None: the only two.
        fill : float or array-like of shape (d,), default=None
            Values of the other columns in the plane that is shown; None: their means in X.
        slab : float, "auto" or None, default="auto"
            The score at the border of the slab, by its absolute value; None: no slab is drawn. ``"auto"``: 1
            for a maximum margin; otherwise, where all rows are on the right side, the score of the row that
            is nearest to the hyperplane (linear weights on two features).
        grid_resolution : int, default=200
            Points of the grid on each axis.
        share : float, default=0.1
            How far the picture goes beyond the rows, as a share of their range.
        feature_names : sequence of str, default=None
            Names of the d columns; None: those of the data frame, or x1, x2 and so on.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : HalfspaceDisplay
        """
        drawing.needs_matplotlib("HalfspaceDisplay")
        classes = np.asarray(getattr(estimator, "classes_", ()))
        if len(classes) < 2:
            raise ValueError(
                f"estimator must be a classifier that was fitted on two classes or more; got {estimator!r}."
            )
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution must be at least 2; got {grid_resolution}.")
        shape: Sequence[int] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] > _MOST_FEATURES:
            raise ValueError(f"X has {shape[1]:,} features; a grid can have {_MOST_FEATURES:,} at most.")
        rows, labels = _dense(X), np.asarray(y)
        if len(rows) != len(labels) or not len(rows):
            raise ValueError(
                f"X must have a row for each label, and at least one; got {len(rows)} and {len(labels)}."
            )
        i, j = chosen = _two_features(features, rows.shape[1])
        others = _filled(fill, rows)
        box = box_around(rows[:, chosen], share)
        xx0, xx1 = np.meshgrid(
            np.linspace(box.x_low, box.x_high, grid_resolution),
            np.linspace(box.y_low, box.y_high, grid_resolution),
        )
        response = _on_grid(estimator, X, others, chosen, xx0, xx1)
        weights = _weights(estimator, chosen, others, (xx0, xx1), response)
        wrong = np.asarray(estimator.predict(X)) != labels
        level = _slab(slab, estimator, rows, weights, wrong)
        names = list(feature_names if feature_names is not None else getattr(X, "columns", ()))
        names = [str(name) for name in names] or [f"$x_{{{k + 1}}}$" for k in range(rows.shape[1])]
        support = _support(estimator, chosen)
        facts = _Facts(type(estimator).__name__, rows.shape, weights, level, wrong, support)
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=response.reshape(*xx0.shape, *response.shape[1:]),
            X=rows[:, chosen],
            y=labels,
            classes=classes,
            weights=weights,
            slab=level,
            support_vectors=support,
            wrong=wrong,
            feature_names=(names[i], names[j]),
            title=_message(estimator, facts),
        )
        return display.plot(ax, **kwargs)


class _Facts(NamedTuple):
    """What a title is made of."""

    name: str
    shape: tuple[int, int]
    weights: tuple[float, float, float] | None
    slab: float | None
    wrong: Bools
    support: Floats | None


def _message(estimator: Any, facts: _Facts) -> str:
    n, d = facts.shape
    wide = getattr(estimator, "slab_width_", None)
    n_wrong = int(np.count_nonzero(facts.wrong))
    if isinstance(wide, float) and np.isfinite(wide) and wide > 0.0:
        held = "" if facts.support is None else drawing.counted(len(facts.support), "support vector")
        text = f"{facts.name}: a slab of width {drawing.number(wide)}" + (f", held by {held}" if held else "")
        if n_wrong:
            text += f"; {drawing.counted(n_wrong, 'row')} on the wrong side"
    elif n_wrong:
        text = f"{facts.name}: {n_wrong:,} of {drawing.counted(n, 'row')} on the wrong side"
    elif facts.weights is not None and facts.slab is not None and d == 2:
        away = facts.slab / float(np.hypot(*facts.weights[:2]))
        text = f"{facts.name}: all {drawing.counted(n, 'row')} on the right side"
        text += f", the nearest {drawing.number(away)} away"
    else:
        text = f"{facts.name}: all {drawing.counted(n, 'row')} on the right side"
    return text if d == 2 else f"{text}. The other {drawing.counted(d - 2, 'feature')}: fixed"


def _shown(label: Label, classes: np.ndarray) -> str:
    """A label; −1 and +1 with their signs."""
    if classes.dtype.kind in "iuf" and classes.tolist() == [-1, 1]:
        return "+1" if label > 0 else "−1"
    return str(label)


def _dense(X: Any) -> Floats:
    if is_sparse(X):
        X = X.toarray()
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {rows.ndim} dimension(s).")
    return rows


def _like(X: Any, rows: Floats) -> Any:
    """Rows as an array, or with the column names of X."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") and hasattr(X, "iloc") else rows


def _two_features(features: tuple[int, int] | None, d: int) -> list[int]:
    if features is None:
        if d != 2:
            raise ValueError(f"X has {d} features; say which two to show by features=(i, j).")
        return [0, 1]
    chosen = list(features)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(0 <= k < d for k in chosen):
        raise ValueError(f"features must be two different columns from 0 to {d - 1}; got {features!r}.")
    return chosen


def _filled(fill: npt.ArrayLike | None, rows: Floats) -> Floats:
    if fill is None:
        return np.asarray(rows.mean(axis=0))
    values = np.asarray(fill, dtype=float)
    if values.ndim and values.shape != (rows.shape[1],):
        raise ValueError(
            f"fill must be a number or one for each of {rows.shape[1]} columns; got {values.size}."
        )
    return np.array(np.broadcast_to(values, rows.shape[1]))


def _on_grid(estimator: Any, X: Any, others: Floats, chosen: list[int], xx0: Floats, xx1: Floats) -> Floats:
    """Scores at the points of a grid, some thousand points at a time."""
    points = np.column_stack([xx0.ravel(), xx1.ravel()])
    found = []
    for part in np.array_split(points, 1 + points.shape[0] * len(others) // _PIECE):
        rows = np.tile(others, (len(part), 1))
        rows[:, chosen] = part
        found.append(_scores(estimator, _like(X, rows), np.asarray(estimator.classes_)))
    return np.concatenate(found)


def _scores(estimator: Any, rows: Any, classes: np.ndarray) -> Floats:
    """One score per row, or one per row and class; without scores 1 and -1, or 1 and 0, by the prediction."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(rows), dtype=float)
    predicted = np.asarray(estimator.predict(rows))
    if len(classes) == 2:
        return np.where(predicted == classes[1], 1.0, -1.0)
    return np.asarray(predicted[:, None] == classes, dtype=float)


def _weights(
    estimator: Any, chosen: list[int], others: Floats, grid: tuple[Floats, Floats], response: Floats
) -> tuple[float, float, float] | None:
    """w and b in the plane; None where the prediction is not the sign of ⟨w, x⟩ + b, as that of a vote."""
    coef = getattr(estimator, "coef_", None)
    if coef is None or np.shape(coef) != (1, len(others)) or response.ndim != 1:
        return None
    w, b = np.asarray(coef, dtype=float)[0], float(np.ravel(estimator.intercept_)[0])
    rest = b + float(np.delete(w, chosen) @ np.delete(others, chosen))
    found = float(w[chosen[0]]), float(w[chosen[1]]), rest
    if not found[0] and not found[1]:
        return None
    parts = [found[0] * grid[0].ravel(), found[1] * grid[1].ravel()]
    linear = parts[0] + parts[1] + rest
    clear = np.abs(linear) > 1e-6 * (np.abs(parts[0]) + np.abs(parts[1]) + abs(rest))
    return found if np.array_equal(np.sign(linear[clear]), np.sign(response[clear])) else None


def _slab(
    slab: float | str | None,
    estimator: Any,
    rows: Floats,
    weights: tuple[float, float, float] | None,
    wrong: Bools,
) -> float | None:
    if slab is None:
        return None
    if not isinstance(slab, str):
        if not slab > 0.0:
            raise ValueError(f"slab must be a positive score, 'auto' or None; got {slab!r}.")
        return float(slab)
    if slab != "auto":
        raise ValueError(f"slab must be a positive score, 'auto' or None; got {slab!r}.")
    if hasattr(estimator, "slab_width_"):
        return 1.0
    if rows.shape[1] != 2 or weights is None or wrong.any():
        return None
    nearest = float(np.abs(rows @ weights[:2] + weights[2]).min())
    return nearest if nearest > 0.0 else None


def _support(estimator: Any, chosen: list[int]) -> Floats | None:
    found = getattr(estimator, "support_vectors_", None)
    if found is None:
        return None
    return _dense(found)[:, chosen]
