"""w-space: every row is a half-space, and a w that is right on all rows is in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing
from ._half_spaces import HalfSpaces, half_spaces, in_plane
from ._plane import Box, box_around, half_planes_in, line_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats, Ints

_FEW_LINES = 14  # so many half-spaces are all drawn with an arrow; of more, only those that bound the cone


class WeightSpaceDisplay:
    r"""The half-spaces :math:`\{w : y\langle w, x\rangle \ge c\}` of the rows, and what they have in common.

    A row is a line in the plane of w, with an arrow to the side where w is right on the row. The w that are
    right on all rows form a cone (c = 0), or a region with corners (c = 1, the constraints of the maximum
    margin). A learner's path through this plane ends in the cone if it learns all rows.

    Parameters
    ----------
    normals : ndarray of shape (m, 2)
        The products y x of the rows.
    offsets : ndarray of shape (m,)
        The c of each row; in a slice, less what the fixed coordinate adds.
    margin : float, default=0.0
        The margin that is asked of each row.
    closed : bool, default=False
        Whether a w on the border of a half-space is right on the row.
    signs : ndarray of shape (m,) or None, default=None
        The y of each row, −1 or +1: lines of the two classes are drawn differently.
    path : ndarray of shape (p, 2) or None, default=None
        The w, from first to last.
    n_updates : int or None, default=None
        How often w has changed; None: as often as it is seen to change.
    optimum : ndarray of shape (2,) or None, default=None
        The w of the maximum margin.
    box : (float, float, float, float) or None, default=None
        The smallest and the largest coordinate on each axis; None: around 0, the path and the optimum.
    empty : bool or None, default=None
        Whether no w is in all half-spaces; None: as it looks in the picture.
    names : (str, str), default=("$w_1$", "$w_2$")
        What the axes say.
    where : str, default=""
        Which slice of a larger space this is.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of Line2D or None
        The border of each half-space; None where it is not in the picture.
    arrows_ : Quiver or None
        Arrows into half-spaces.
    cone_ : Polygon or None
        The w in all half-spaces.
    path_ : Line2D or None
        The path of w.
    optimum_ : Line2D or None
        The marker of the optimum.
    texts_ : list of Text
        Names of the first and the last w.
    legend_ : Legend or None
        What the lines mean.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import datasets
    >>> from perceptrons.plots import WeightSpaceDisplay
    >>> X, y, *_ = datasets.four_points()
    >>> path = [[0, 0], [1, 2], [2, 1]]  # of the perceptron
    >>> display = WeightSpaceDisplay.from_data(X, y, path=path)
    >>> display.facets, display.title
    (array([0, 3]), '2 updates take w into the cone where all 4 rows are right')
    >>> plt.close(display.figure_)
    """

    figure_size = (6.4, 6.4)

    def __init__(
        self,
        *,
        normals: npt.ArrayLike,
        offsets: npt.ArrayLike,
        margin: float = 0.0,
        closed: bool = False,
        signs: npt.ArrayLike | None = None,
        path: npt.ArrayLike | None = None,
        n_updates: int | None = None,
        optimum: npt.ArrayLike | None = None,
        box: Sequence[float] | None = None,
        empty: bool | None = None,
        names: Sequence[str] = ("$w_1$", "$w_2$"),
        where: str = "",
    ) -> None:
        self.normals: Floats = np.asarray(normals, dtype=float)
        self.offsets: Floats = np.asarray(offsets, dtype=float)
        if (
            self.normals.ndim != 2
            or self.normals.shape[1] != 2
            or self.offsets.shape != self.normals.shape[:1]
        ):
            shapes = f"{self.normals.shape} and {self.offsets.shape}"
            raise ValueError(f"normals must be of shape (m, 2), with m offsets; got {shapes}.")
        self.signs = None if signs is None else np.asarray(signs, dtype=float)
        self.path = None if path is None else np.asarray(path, dtype=float).reshape(-1, 2)
        self.n_updates = n_updates
        self.optimum = None if optimum is None else np.asarray(optimum, dtype=float).reshape(2)
        self.box = self._around() if box is None else Box(*map(float, box))
        self.margin, self.closed, self.empty = float(margin), closed, empty
        self.names, self.where = tuple(names), where

    def _around(self) -> Box:
        points = [np.zeros((1, 2))]
        if self.path is not None:
            points.append(self.path)
        if self.optimum is not None:
            points.append(self.optimum * np.array([[1.0], [1.5 if self.offsets.any() else 1.0]]))
        found = np.concatenate(points)
        if not found.any():
            return Box(-1.0, 1.0, -1.0, 1.0)
        return box_around(found, 0.25, square=True)

    @property
    def cone(self) -> Floats:
        """The corners of the part of the cone that is in the picture; none where the cone has no inside."""
        corners = half_planes_in(self.normals, self.offsets, self.box)
        x, y = corners.T
        area = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
        return corners if area > 1e-12 * self.box.size**2 else corners[:0]

    @property
    def facets(self) -> Ints:
        """The rows whose lines bound the cone in the picture."""
        corners = self.cone
        if not len(corners):
            return np.empty(0, dtype=np.int64)
        lengths = np.linalg.norm(self.normals, axis=1)
        off = np.abs(self.normals @ corners.T - self.offsets[:, None])
        on = off <= 1e-9 * self.box.size * np.maximum(lengths, 1e-300)[:, None]
        along = (self.normals[:, ::-1] * [-1.0, 1.0]) @ corners.T  # corners that coincide make no side
        side = np.where(on, along, -np.inf).max(axis=1) - np.where(on, along, np.inf).min(axis=1)
        return np.flatnonzero((side > 1e-6 * self.box.size * lengths) & (lengths > 0.0))

    @property
    def moves(self) -> Floats | None:
        """The path without the places where w stays."""
        if self.path is None or not len(self.path):
            return None
        moved = np.any(np.diff(self.path, axis=0) != 0.0, axis=1)
        return np.asarray(self.path[np.concatenate([[True], moved])])

    def _n_updates(self, moves: Floats) -> int:
        return len(moves) - 1 if self.n_updates is None else self.n_updates

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        m = len(self.normals)
        rows, moves = drawing.counted(m, "row"), self.moves
        place = f" ({self.where})" if self.where else ""
        margin = self.margin
        if self.empty or not len(self.cone):
            asked = f"has the margin {drawing.number(margin)}" if margin and not self.empty else "is right"
            return f"No w{'' if self.empty else ' in this picture'} {asked} on all {rows}{place}"
        if moves is None:
            if margin:
                return f"The w with a margin of at least {drawing.number(margin)} on all {rows}{place}"
            return f"{rows}, as many half-spaces: a w in the cone is right on all of them{place}"
        over = self.normals @ moves[-1] - self.offsets
        wrong = int(np.count_nonzero(over < 0.0 if self.closed else over <= 0.0))
        made = self._n_updates(moves)
        k = drawing.counted(made, "update")
        if wrong:
            short = "region: {} short of the margin" if margin else "cone: {} not right"
            after = f"After {k}, w" if made else "This w"
            return f"{after} is outside the {short.format(f'{wrong:,} of {rows}')}{place}"
        there = f"region where all {rows} have the margin" if margin else f"cone where all {rows} are right"
        if not made:
            return f"A w in the {there}{place}"
        return f"{k} {'takes' if made == 1 else 'take'} w into the {there}{place}"

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        legend : bool, default=True
            Whether lines and markers are named.

        Returns
        -------
        self : WeightSpaceDisplay
        """
        ax = drawing.axes(ax, "WeightSpaceDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_half_spaces(ax)
        self._draw_points(ax)
        ax.set_xlim(self.box.x_low, self.box.x_high)
        ax.set_ylim(self.box.y_low, self.box.y_high)
        ax.set_aspect("equal")
        drawing.label_axes(ax, *self.names)
        drawing.set_title(ax, self.title)
        self.legend_ = drawing.add_legend(ax, self._named()) if legend else None
        return self

    def _draw_half_spaces(self, ax: Any) -> None:
        corners, facets = self.cone, set(self.facets.tolist())
        self.cone_ = None
        if len(corners):
            (self.cone_,) = ax.fill(
                *corners.T,
                facecolor=drawing.GREEN,
                edgecolor=drawing.GREEN,
                alpha=0.25,
                hatch="..",
                linewidth=0.0,
                zorder=1,
                label="the margin on all rows" if self.margin else "right on all rows",
            )
        self.lines_: list[Any] = []
        feet, heads = [], []
        few = len(self.normals) <= _FEW_LINES
        for i, (a, c) in enumerate(zip(self.normals, self.offsets, strict=True)):
            ends = line_in(a, float(c), self.box)
            if ends is None:
                self.lines_.append(None)
                continue
            positive = self.signs is None or self.signs[i] > 0.0
            bounding = i in facets
            (line,) = ax.plot(
                *ends.T,
                color=drawing.CLASS_COLOURS[int(positive)],
                linestyle="-" if positive else "--",
                linewidth=2.0 if bounding else 0.8 if len(corners) or not few else 1.4,
                alpha=1.0 if bounding or few else 0.5,
                zorder=2,
            )
            self.lines_.append(line)
            if few or bounding:
                feet.append(ends[0] + 0.93 * (ends[1] - ends[0]))
                heads.append(0.05 * self.box.size * a / np.linalg.norm(a))
        self.arrows_ = None
        if feet:
            style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.005, "color": "#404040"}
            self.arrows_ = ax.quiver(*np.transpose(feet), *np.transpose(heads), zorder=3, **style)

    def _draw_points(self, ax: Any) -> None:
        self.path_ = self.optimum_ = None
        self.texts_: list[Any] = []
        ax.plot([0.0], [0.0], marker="+", color=drawing.BLACK, markersize=9, zorder=4)
        if self.optimum is not None:
            (self.optimum_,) = ax.plot(
                *self.optimum[:, None],
                marker="*",
                markersize=14,
                color=drawing.YELLOW,
                markeredgecolor=drawing.BLACK,
                linestyle="none",
                zorder=6,
                label="maximum margin",
            )
        moves = self.moves
        if moves is None:
            return
        (self.path_,) = ax.plot(
            *moves.T,
            color=drawing.BLACK,
            linewidth=1.2 if len(moves) <= 40 else 0.7,
            marker="o",
            markersize=4 if len(moves) <= 40 else 2,
            zorder=5,
            label="path of w",
        )
        for k, name in {0: 0, len(moves) - 1: self._n_updates(moves)}.items():
            self.texts_.append(
                ax.annotate(
                    f"$w_{{{name}}}$",
                    moves[k],
                    xytext=(6, 6),
                    textcoords="offset points",
                    bbox={
                        "boxstyle": "round,pad=0.1",
                        "facecolor": "white",
                        "edgecolor": "none",
                        "alpha": 0.7,
                    },
                    zorder=7,
                )
            )

    def _named(self) -> list[Any]:
        from matplotlib.lines import Line2D

        found: list[Any] = []
        for positive, name in ((True, "+1"), (False, "−1")):
            if self.signs is not None and np.any((self.signs > 0.0) == positive):
                look: dict[str, Any] = {"linestyle": "-" if positive else "--"}
                colour = drawing.CLASS_COLOURS[int(positive)]
                found.append(Line2D([], [], color=colour, label=f"row of class {name}", **look))
        if self.signs is None:
            found.append(Line2D([], [], color=drawing.CLASS_COLOURS[1], label="row"))
        return [*found, *(one for one in (self.cone_, self.path_, self.optimum_) if one is not None)]

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: npt.ArrayLike,
        *,
        fit_intercept: bool = False,
        margin: float | None = None,
        path: npt.ArrayLike | None = None,
        third: float | None = None,
        optimum: bool = True,
        box: Sequence[float] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The half-spaces of labelled rows.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows: d = 2, or 1 with an intercept; or else d = 3, or 2 with an intercept, and a slice is shown.
        y : array-like of shape (m,)
            Labels of two classes.
        fit_intercept : bool, default=False
            Whether the last coordinate of w is the intercept b.
        margin : float or None, default=None
            The margin c that is asked of each row; None: 0.
        path : array-like of shape (p, d) or (p, d + 1), default=None
            w, from first to last; a further column is the intercept.
        third : float, default=None
            The third coordinate of w in a slice; None: that of the last w of the path, or of the optimum.
        optimum : bool, default=True
            Whether the w of the maximum margin is shown, where there is one. In a cone it is scaled to the
            length of the last w.
        box : (float, float, float, float) or None, default=None
            The smallest and the largest coordinate on each axis; None: around what there is to see.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : WeightSpaceDisplay
        """
        drawing.needs_matplotlib("WeightSpaceDisplay")
        found = half_spaces(X, y, fit_intercept=fit_intercept, margin=margin)
        return cls._of(found, margin, path, third, optimum, box, ax, kwargs)

    @classmethod
    def from_trace(
        cls,
        trace: Any,
        *,
        margin: float | None = None,
        third: float | None = None,
        optimum: bool = True,
        box: Sequence[float] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The path of w in a traced run, between the half-spaces of its rows.

        Parameters
        ----------
        trace : Trace
            A run of a linear learner of two classes, as :func:`perceptrons.trace` returns it.
        margin : float or None, default=None
            The margin c that is asked of each row; None: 0.
        third : float, default=None
            The third coordinate of w in a slice; None: that of the last w.
        optimum : bool, default=True
            Whether the w of the maximum margin is shown, where there is one.
        box : (float, float, float, float) or None, default=None
            The smallest and the largest coordinate on each axis; None: around what there is to see.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : WeightSpaceDisplay
        """
        drawing.needs_matplotlib("WeightSpaceDisplay")
        if trace.w is None or np.ndim(trace.w) != 2:
            raise ValueError("A path in w-space needs one w: two classes, and no kernel.")
        w = np.array(trace.w, dtype=float)
        w[:, -1] *= trace.bias  # the intercept
        with_b = bool(trace.bias)
        found = half_spaces(trace.X, trace.y, fit_intercept=with_b, margin=margin, unit=bool(trace.unit))
        optimum = optimum and not (with_b and trace.unit)
        if trace.threshold is not None:
            found = found.moved(float(trace.threshold[-1]))
        path = w if with_b else w[:, :-1]
        return cls._of(found, margin, path, third, optimum, box, ax, kwargs)

    @classmethod
    def _of(
        cls,
        found: HalfSpaces,
        margin: float | None,
        path: npt.ArrayLike | None,
        third: float | None,
        optimum: bool,
        box: Sequence[float] | None,
        ax: Axes | None,
        kwargs: dict[str, Any],
    ) -> Self:
        common = None if found.threshold else found.common()
        plane = in_plane(found, path, common.optimum if common is not None and optimum else None, third)
        display = cls(
            normals=plane.normals,
            offsets=plane.offsets,
            margin=margin or 0.0,
            closed=bool(margin or found.threshold),
            signs=found.signs,
            path=plane.path,
            n_updates=None if path is None else _n_changes(np.asarray(path, dtype=float)),
            optimum=plane.optimum,
            box=box,
            empty=None if common is None else common.empty,
            names=plane.names,
            where=plane.where,
        )
        return display.plot(ax, **kwargs)


def _n_changes(path: Floats) -> int:
    """How often w changes, also in a coordinate that is not shown."""
    return int(np.count_nonzero(np.any(np.diff(path, axis=0) != 0.0, axis=1)))
