"""The risk over the plane of w, with its creases, and the path of a descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..theory.risks import GOALS
from . import _drawing as drawing
from ._half_spaces import half_spaces, in_plane
from ._plane import Box, box_around, half_planes_in, line_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats

_FEW_CREASES = 20  # the lines of more are thinner


class RiskSurfaceDisplay:
    r"""The risk :math:`R(w) = \sum_i \max(0, c - y_i\langle w, x_i\rangle)` over the plane of w.

    The perceptron risk has c = 0, the hinge risk c = 1. Both are made of flat pieces, which meet in creases,
    the lines :math:`y_i\langle w, x_i\rangle = c`. Where the risk is 0 no step is made any more.

    Parameters
    ----------
    ww0, ww1 : ndarray of shape (g, g)
        The grid, as of :func:`numpy.meshgrid`.
    risk : ndarray of shape (g, g)
        R on the grid.
    normals : ndarray of shape (m, 2)
        The products y x of the rows.
    goals : ndarray of shape (m,)
        The c of each row; in a slice, less what the fixed coordinate adds.
    path : ndarray of shape (p, 2) or None, default=None
        The w, from first to last.
    path_risk : ndarray of shape (p,) or None, default=None
        R along the path.
    loss : {"perceptron", "hinge"}, default="perceptron"
        Which risk it is.
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
    surface_ : QuadContourSet or Poly3DCollection
        The risk.
    creases_ : list of Line2D
        The creases that are in the picture.
    zero_ : Polygon or None
        Where the risk is 0 (contours only).
    path_ : Line2D or None
        The path of w.
    colorbar_ : Colorbar or None
        Which colour is which risk (contours only).
    legend_ : Legend or None
        What the lines mean.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import datasets
    >>> from perceptrons.plots import RiskSurfaceDisplay
    >>> X, y, *_ = datasets.four_points()
    >>> display = RiskSurfaceDisplay.from_data(X, y, path=[[-1, 2], [1, 2], [2, 1]])
    >>> display.path_risk, display.title
    (array([3., 1., 0.]), 'Perceptron risk: 2 steps from R = 3 to 0')
    >>> plt.close(display.figure_)
    """

    figure_size = (6.8, 6.0)

    def __init__(
        self,
        *,
        ww0: Floats,
        ww1: Floats,
        risk: Floats,
        normals: Floats,
        goals: Floats,
        path: Floats | None = None,
        path_risk: Floats | None = None,
        loss: str = "perceptron",
        names: Sequence[str] = ("$w_1$", "$w_2$"),
        where: str = "",
    ) -> None:
        self.ww0, self.ww1, self.risk = ww0, ww1, risk
        self.normals, self.goals = normals, goals
        self.path, self.path_risk = path, path_risk
        self.loss, self.names, self.where = loss, tuple(names), where

    @property
    def box(self) -> Box:
        """The part of the plane that is shown."""
        return Box(*(float(end) for ww in (self.ww0, self.ww1) for end in (ww.min(), ww.max())))

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        name = f"{self.loss.capitalize()} risk"
        place = f" ({self.where})" if self.where else ""
        if self.path is None or self.path_risk is None:
            least = float(self.risk.min())
            flat = "0 in the hatched region" if len(self._flat()) else f"{drawing.number(least)} at least"
            return f"{name}: flat pieces that meet in creases, {flat}{place}"
        if len(self.path) == 1:
            return f"{name}: R = {drawing.number(float(self.path_risk[0]))} at the last w{place}"
        first, last = (drawing.number(float(r)) for r in (self.path_risk[0], self.path_risk[-1]))
        return f"{name}: {drawing.counted(len(self.path) - 1, 'step')} from R = {first} to {last}{place}"

    def _flat(self) -> Floats:
        """The corners of the region without risk."""
        corners = half_planes_in(self.normals, self.goals, self.box)
        x, y = corners.T
        area = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
        return corners if area > 1e-12 * self.box.size**2 else corners[:0]

    def _risk_at(self, w: Floats) -> Floats:
        return risk_at(w, self.normals, self.goals)

    def plot(
        self, ax: Axes | None = None, *, kind: str = "contour", legend: bool = True, colorbar: bool = True
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure. A surface needs axes with ``projection="3d"``.
        kind : {"contour", "surface"}, default="contour"
            Lines of equal risk seen from above, or a surface in space.
        legend : bool, default=True
            Whether the lines are named.
        colorbar : bool, default=True
            Whether a bar says which colour is which risk.

        Returns
        -------
        self : RiskSurfaceDisplay
        """
        if kind not in ("contour", "surface"):
            raise ValueError(f"kind must be 'contour' or 'surface'; got kind={kind!r}.")
        given = {"projection": "3d"} if kind == "surface" else {}
        ax = drawing.axes(ax, "RiskSurfaceDisplay", self.figure_size, **given)
        if (kind == "surface") != hasattr(ax, "plot_surface"):
            raise ValueError("A surface needs axes with projection='3d', and contours need axes without it.")
        self.ax_, self.figure_ = ax, ax.figure
        self.zero_ = self.path_ = None
        self.colorbar_: Any = None
        self.creases_: list[Any] = []
        (self._draw_contours if kind == "contour" else self._draw_surface)(ax, colorbar)
        drawing.label_axes(ax, *self.names)
        drawing.set_title(ax, self.title)
        handles = [*self.creases_[:1], *(one for one in (self.zero_, self.path_) if one is not None)]
        self.legend_ = drawing.add_legend(ax, handles) if legend else None
        return self

    def _draw_contours(self, ax: Any, colorbar: bool) -> None:
        self.surface_ = ax.contourf(self.ww0, self.ww1, self.risk, levels=14, cmap="YlGnBu", zorder=0)
        ax.contour(self.ww0, self.ww1, self.risk, levels=14, colors="white", linewidths=0.6, zorder=1)
        flat = self._flat()
        if len(flat):
            (self.zero_,) = ax.fill(
                *flat.T,
                facecolor="white",
                edgecolor=drawing.GREY,
                hatch="..",
                linewidth=0.5,
                zorder=1,
                label="R = 0",
            )
        few = len(self.normals) <= _FEW_CREASES
        for a, c in zip(self.normals, self.goals, strict=True):
            ends = line_in(a, float(c), self.box)
            if ends is not None:
                style = {"color": drawing.BLACK, "linewidth": 0.8 if few else 0.5, "linestyle": "--"}
                self.creases_ += ax.plot(*ends.T, **style, zorder=2, label="crease")
        if self.path is not None:
            (self.path_,) = ax.plot(*self.path.T, **self._path_style(), zorder=4)
        ax.set_xlim(self.box.x_low, self.box.x_high)
        ax.set_ylim(self.box.y_low, self.box.y_high)
        ax.set_aspect("equal")
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.surface_, ax=ax, shrink=0.85, label="risk $R(w)$")

    def _draw_surface(self, ax: Any, colorbar: bool) -> None:
        ax.computed_zorder = False  # lines on the surface are drawn over it
        self.surface_ = ax.plot_surface(
            self.ww0,
            self.ww1,
            self.risk,
            cmap="YlGnBu",
            rcount=60,
            ccount=60,
            linewidth=0.1,
            edgecolor="white",
            alpha=0.95,
            zorder=0,
        )
        few = len(self.normals) <= _FEW_CREASES
        for a, c in zip(self.normals, self.goals, strict=True):
            ends = line_in(a, float(c), self.box)
            if ends is not None:
                points = ends[0] + np.linspace(0.0, 1.0, 100)[:, None] * (ends[1] - ends[0])
                style = {"color": drawing.BLACK, "linewidth": 0.8 if few else 0.5, "linestyle": "--"}
                self.creases_ += ax.plot(*points.T, self._risk_at(points), **style, zorder=1, label="crease")
        if self.path is not None:
            (self.path_,) = ax.plot(*self.path.T, self._risk_at(self.path), **self._path_style(), zorder=2)
        ax.set_zlabel("risk $R(w)$")
        ax.view_init(elev=32.0, azim=-55.0)

    def _path_style(self) -> dict[str, Any]:
        assert self.path is not None
        few = len(self.path) <= 60
        return {
            "color": drawing.VERMILION,
            "linewidth": 1.6 if few else 0.8,
            "marker": "o",
            "markersize": 4.5 if few else 1.5,
            "markeredgecolor": drawing.BLACK,
            "markeredgewidth": 0.5 if few else 0.0,
            "label": "path of w",
        }

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: npt.ArrayLike,
        *,
        loss: str = "perceptron",
        fit_intercept: bool = False,
        path: npt.ArrayLike | None = None,
        third: float | None = None,
        box: Sequence[float] | None = None,
        grid_resolution: int = 150,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The risk of labelled rows.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows: d = 2, or 1 with an intercept; or else d = 3, or 2 with an intercept, and a slice is shown.
        y : array-like of shape (m,)
            Labels of two classes.
        loss : {"perceptron", "hinge"}, default="perceptron"
            Which risk.
        fit_intercept : bool, default=False
            Whether the last coordinate of w is the intercept b.
        path : array-like of shape (p, d) or (p, d + 1), default=None
            w, from first to last; a further column is the intercept.
        third : float, default=None
            The third coordinate of w in a slice; None: that of the last w of the path, or 0.
        box : (float, float, float, float) or None, default=None
            The smallest and the largest coordinate on each axis; None: around 0 and the path.
        grid_resolution : int, default=150
            Points of the grid on each axis.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : RiskSurfaceDisplay
        """
        drawing.needs_matplotlib("RiskSurfaceDisplay")
        if loss not in GOALS:
            raise ValueError(f"loss must be 'perceptron' or 'hinge'; got loss={loss!r}.")
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution must be at least 2; got {grid_resolution}.")
        found = half_spaces(X, y, fit_intercept=fit_intercept)
        found = found._replace(offsets=np.full(len(found.offsets), GOALS[loss]))
        plane = in_plane(found, path, None, third)
        shown = (
            _around(plane.path, plane.normals, plane.offsets, loss) if box is None else Box(*map(float, box))
        )
        ww0, ww1 = np.meshgrid(
            np.linspace(shown.x_low, shown.x_high, grid_resolution),
            np.linspace(shown.y_low, shown.y_high, grid_resolution),
        )
        grid = np.column_stack([ww0.ravel(), ww1.ravel()])
        along = None if path is None else risk_at(np.asarray(path, dtype=float), found.normals, found.offsets)
        display = cls(
            ww0=ww0,
            ww1=ww1,
            risk=risk_at(grid, plane.normals, plane.offsets).reshape(ww0.shape),
            normals=plane.normals,
            goals=plane.offsets,
            path=plane.path,
            path_risk=along,
            loss=loss,
            names=plane.names,
            where=plane.where,
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: npt.ArrayLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """The risk that a :class:`perceptrons.RiskDescent` has made small, and its path.

        Parameters
        ----------
        estimator : RiskDescent
            Fitted on two classes; with ``keep_path=True`` its path is shown, or else its last w.
        X : array-like of shape (m, d)
            The rows it was fitted on.
        y : array-like of shape (m,)
            Their labels.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`from_data` and :meth:`plot`.

        Returns
        -------
        display : RiskSurfaceDisplay
        """
        drawing.needs_matplotlib("RiskSurfaceDisplay")
        if not hasattr(estimator, "loss") or not hasattr(estimator, "coef_"):
            raise ValueError(f"estimator must be a fitted RiskDescent; got {type(estimator).__name__}.")
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"A w of its own has a pair of classes; the model has {len(estimator.classes_)}."
            )
        with_b = bool(estimator.fit_intercept)
        path = getattr(estimator, "path_", None)
        if path is None:
            last = np.append(estimator.coef_[0], estimator.intercept_)
            path = last[None, : None if with_b else -1]
        else:
            path = np.array(path, dtype=float)
            path[:, -1] *= float(getattr(estimator, "intercept_scaling_", 1.0))
            path = path if with_b else path[:, :-1]
        return cls.from_data(X, y, loss=estimator.loss, fit_intercept=with_b, path=path, ax=ax, **kwargs)


def risk_at(w: Floats, normals: Floats, goals: Floats) -> Floats:
    """R at each of some w."""
    return np.asarray(np.maximum(0.0, goals - w @ normals.T).sum(axis=1))


def _around(path: Floats | None, normals: Floats, goals: Floats, loss: str) -> Box:
    """Around 0 and the path; the hinge risk without one: around 0 and some w with little risk."""
    points = [np.zeros((1, 2))]
    if path is not None:
        points.append(path)
    elif loss == "hinge":
        from scipy.optimize import minimize

        def at(w: np.ndarray) -> float:
            return float(risk_at(w[None, :], normals, goals)[0])

        points.append(1.5 * minimize(at, np.zeros(2), method="Nelder-Mead").x[None, :])
    seen = np.concatenate(points)
    return box_around(seen, 0.25, square=True) if seen.any() else Box(-1.0, 1.0, -1.0, 1.0)
