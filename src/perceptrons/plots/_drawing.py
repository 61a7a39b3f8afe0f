"""What the displays share: axes, colours that the colour-blind can tell apart, titles and legends."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colours.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK, GREY = "#56B4E9", "#D55E00", "#F0E442", "#000000", "#808080"

#: Of classes, in the order of their labels: the first is light and the second dark, also in grey.
CLASS_COLOURS = (ORANGE, BLUE, GREEN, PINK, SKY, VERMILION, YELLOW, GREY)
#: One more than colours, so that 72 classes differ.
CLASS_MARKERS = ("s", "o", "^", "D", "v", "P", "X", "*", "p")
CLASS_HATCHES = ("//", "", "..", "\\\\", "xx", "++", "oo", "--")
#: Of curves, in the order in which they are given.
CURVE_COLOURS = (BLUE, VERMILION, GREEN, PINK, BLACK, ORANGE, SKY, GREY)
CURVE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 2)))

_LETTERS_PER_INCH = 14.0  # of a title, about


def cycled(choices: Sequence[Any], i: int) -> Any:
    """The i-th of the choices, which begin again after the last."""
    return choices[i % len(choices)]


def needs_matplotlib(what: str) -> None:
    """Raise an ImportError that says how to install matplotlib, where it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install 'perceptrons[plot]'.") from error


def axes(ax: Axes | None, what: str, size: tuple[float, float] = (6.4, 4.8), **kwargs: Any) -> Any:
    """The axes given, or those of a new figure."""
    needs_matplotlib(what)
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained", subplot_kw=kwargs)
    return made


def set_title(ax: Any, text: str) -> None:
    """A title that is cut into lines, of about one length, that are no wider than the axes."""
    text = text.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")  # no line ends there
    widest = max(24, int(ax.get_position(original=True).width * ax.figure.get_figwidth() * _LETTERS_PER_INCH))
    lines = textwrap.wrap(text, widest)
    for width in range(len(text) // max(1, len(lines)), widest):
        shorter = textwrap.wrap(text, max(1, width))
        if len(shorter) == len(lines):
            lines = shorter
            break
    ax.set_title("\n".join(lines), fontsize="medium")


def label_axes(ax: Any, x: str, y: str) -> None:
    """Name the axes that have no name yet."""
    if not ax.get_xlabel():
        ax.set_xlabel(x)
    if not ax.get_ylabel():
        ax.set_ylabel(y)


def count_whole(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def add_legend(ax: Any, handles: Sequence[Any], columns: int = 3) -> Any:
    """A legend below the axes where the figure makes room for it, or else inside, where it hides least."""
    if not handles:
        return None
    if ax.figure.get_layout_engine() is None:
        return ax.legend(handles=handles, fontsize="small")
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0.0, -0.5, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        ncols=min(columns, len(handles)),
        fontsize="small",
        frameon=False,
    )


def number(value: float) -> str:
    """A number in a title: three digits, or whole.

    >>> number(0.12345), number(1234.0), number(float("inf"))
    ('0.123', '1,234', '∞')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "undefined" if value != value else "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def named(estimators: Any) -> dict[str, Any]:
    """Estimators by name: as given, or by their classes, with numbers where a class occurs twice."""
    if isinstance(estimators, Mapping):
        return {str(name): one for name, one in estimators.items()}
    given = list(estimators)
    classes = [type(one).__name__ for one in given]
    return {
        name if classes.count(name) == 1 else f"{name} {classes[: i + 1].count(name)}": one
        for i, (name, one) in enumerate(zip(classes, given, strict=True))
    }
