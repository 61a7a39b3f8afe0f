"""Weights of pixels, as images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Floats

_GAP = 0.12  # between two images, as a share of their height


class WeightsImageDisplay:
    """The weights of a linear model on pixels, one image for each of its weight vectors.

    Positive weights are light and yellow, negative ones dark and blue, on the same scale in all images: the
    signs can be told in grey, too.

    Parameters
    ----------
    images : ndarray of shape (k, height, width)
        The weights.
    labels : sequence of str
        What stands above each image.
    title : str, default=""
        What the picture shows, in a sentence.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    images_ : list of AxesImage
        The images.
    texts_ : list of Text
        The labels above them.
    colorbar_ : Colorbar or None
        Which colour is which weight.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import WeightsImageDisplay
    >>> bright_left, bright_right = [1, 0, 1, 0], [0, 1, 0, 1]
    >>> clf = Perceptron(random_state=0).fit([bright_left, bright_right], ["left", "right"])
    >>> display = WeightsImageDisplay.from_estimator(clf)
    >>> display.images[0]
    array([[-1.,  1.], [-1.,  1.]])
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, images: npt.ArrayLike, labels: Sequence[str], title: str = "") -> None:
        self.images: Floats = np.asarray(images, dtype=float)
        self.labels, self.title = [str(label) for label in labels], title
        if self.images.ndim != 3 or not self.images.size or len(self.images) != len(self.labels):
            raise ValueError(
                f"images must be of shape (k, height, width), with k labels; got {self.images.shape} and "
                f"{drawing.counted(len(self.labels), 'label')}."
            )

    @property
    def limit(self) -> float:
        """The largest weight, by its absolute value: the colours go from minus this to this."""
        return float(np.abs(self.images).max()) or 1.0

    @property
    def columns(self) -> int:
        """How many images are side by side."""
        k = len(self.images)
        return k if k <= 3 else math.ceil(k / 2) if k <= 10 else math.ceil(math.sqrt(k))

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height in inches that suit the images."""
        rows = math.ceil(len(self.images) / self.columns)
        _, height, width = self.images.shape
        each = 1.6 if len(self.images) > 1 else 3.6
        return each * self.columns + 1.6, each * height / width * 1.2 * rows + 1.0

    def plot(self, ax: Axes | None = None, *, cmap: str = "cividis", colorbar: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        cmap : str, default="cividis"
            A colour map. ``"PuOr"`` has white for 0 and two colours, which look alike in grey.
        colorbar : bool, default=True
            Whether a bar says which colour is which weight.

        Returns
        -------
        self : WeightsImageDisplay
        """
        ax = drawing.axes(ax, "WeightsImageDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self.images_, self.texts_ = [], []
        _, height, width = self.images.shape
        head = (2.0 if len(self.images) > 1 else 1.0) * _GAP * height
        rows = math.ceil(len(self.images) / self.columns)
        for i, (image, label) in enumerate(zip(self.images, self.labels, strict=True)):
            row, column = divmod(i, self.columns)
            left, top = column * width * (1.0 + _GAP), row * (height + head)
            self.images_.append(
                ax.imshow(
                    image,
                    cmap=cmap,
                    vmin=-self.limit,
                    vmax=self.limit,
                    extent=(left, left + width, top + height, top),
                    interpolation="nearest",
                )
            )
            edge = {"fill": False, "edgecolor": drawing.GREY, "linewidth": 0.6}
            ax.add_patch(_rectangle((left, top), width, height, **edge))
            middle, above = left + width / 2.0, top - 0.25 * head
            self.texts_.append(ax.text(middle, above, label, ha="center", va="bottom", fontsize="small"))
        ax.set_xlim(-0.02 * width, self.columns * width * (1.0 + _GAP) - _GAP * width + 0.02 * width)
        ax.set_ylim(rows * (height + head) - 0.8 * head, -head)
        ax.set_aspect("equal")
        ax.set_axis_off()
        drawing.set_title(ax, self.title)
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(
                self.images_[0], ax=ax, shrink=0.8, label="weight of the pixel"
            )
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        shape: tuple[int, int] | None = None,
        labels: Sequence[str] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The images of ``coef_``.

        Parameters
        ----------
        estimator : fitted linear classifier
            With ``coef_``: one row for two classes, one per class for several.
        shape : (int, int), default=None
            Height and width; None: a square.
        labels : sequence of str, default=None
            What stands above each image; None: the labels of the classes.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : WeightsImageDisplay
        """
        drawing.needs_matplotlib("WeightsImageDisplay")
        coef = getattr(estimator, "coef_", None)
        if coef is None:
            raise ValueError(f"estimator must be a fitted linear classifier, with coef_; got {estimator!r}.")
        weights = np.atleast_2d(np.asarray(coef, dtype=float))
        d = weights.shape[1]
        if shape is None:
            side = math.isqrt(d)
            if side * side != d:
                raise ValueError(f"{d} weights make no square; give shape=(height, width).")
            shape = side, side
        if len(shape) != 2 or shape[0] * shape[1] != d:
            raise ValueError(f"shape must have {d} pixels; got shape={shape!r}.")
        classes = [str(label) for label in getattr(estimator, "classes_", range(len(weights)))]
        pair = len(weights) == 1 and len(classes) == 2
        if labels is None:
            labels = [f"{classes[1]} against {classes[0]}"] if pair else classes
        name = type(estimator).__name__
        title = (
            f"{name}: positive pixels speak for {classes[1]}, negative ones for {classes[0]}"
            if pair
            else f"{name}: which pixels speak for each class, and which against it"
        )
        return cls(images=weights.reshape(-1, *shape), labels=labels, title=title).plot(ax, **kwargs)


def _rectangle(corner: tuple[float, float], width: float, height: float, **kwargs: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **kwargs)
