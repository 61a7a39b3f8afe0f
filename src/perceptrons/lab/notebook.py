"""``perceptrons.plots.lab``: the lab in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .widget import LabWidget


def lab(
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    learner: Any = "Perceptron",
    second: Any = None,
    *,
    shuffle: bool = False,
    seed: int = 0,
    max_iter: int = 100,
    max_steps: int = 2000,
    height: int = 760,
    theme: str = "auto",
) -> LabWidget:
    """Show the lab in a notebook: a page on which one sees a learner learn, row by row.

    It is the page of ``perceptrons lab``, as a widget of Jupyter, marimo and others that show widgets of
    anywidget. Its runs are made in the kernel of the notebook: ``pip install 'perceptrons[lab]'``.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2), optional
        The points. Without them the page starts with its first toy set.
    y : array-like of shape (n_samples,), optional
        Their labels, of two to six classes.
    learner : str or online learner, default="Perceptron"
        Which learner, by its name, or one with the parameters that it has. Its order, seed and number of
        epochs are those of the arguments below.
    second : str or online learner, optional
        Another one, which is shown beside the first.
    shuffle : bool, default=False
        Whether each epoch has an order of its own.
    seed : int, default=0
        From which random numbers start.
    max_iter : int, default=100
        The most epochs.
    max_steps : int, default=2000
        The most visits of rows.
    height : int, default=760
        Of the widget, in pixels.
    theme : {"auto", "light", "dark"}, default="auto"
        Its colours; "auto" are those of the system.

    Returns
    -------
    perceptrons.lab.widget.LabWidget
        What a notebook shows where it is the last line of a cell.

    Examples
    --------
    >>> from perceptrons import PassiveAggressive, datasets, plots
    >>> X, y, *_ = datasets.clouds_near()
    >>> widget = plots.lab(X, y, "Perceptron", PassiveAggressive(C=0.5))
    >>> widget.scene["second"]["params"]["C"]
    0.5
    """
    try:
        from .widget import LabWidget
    except ImportError as error:
        raise ImportError("plots.lab needs anywidget: pip install 'perceptrons[lab]'") from error
    if theme not in ("auto", "light", "dark"):
        raise ValueError(f"theme must be one of 'auto', 'light', 'dark'; got {theme!r}.")
    scene = None
    if X is not None or learner != "Perceptron" or second is not None:
        scene = {
            **_points(X, y),
            "learner": _choice(learner),
            "second": None if second is None else _choice(second),
            "shuffle": shuffle,
            "seed": seed,
            "max_iter": max_iter,
            "max_steps": max_steps,
        }
    return LabWidget(_checked(scene), height, theme)


def _checked(scene: dict[str, Any] | None) -> dict[str, Any] | None:
    """The scene with all its fields; ValueError says at once what the lab cannot run."""
    from . import catalog
    from .scenes import scene_from

    if scene is None:
        return None
    made = scene_from(scene)
    for choice in (made.learner, made.second):
        if choice is not None:
            catalog.model(choice, made)
    return made.to_dict()


def _points(X: npt.ArrayLike | None, y: npt.ArrayLike | None) -> dict[str, Any]:
    from .catalog import catalog

    if X is None:
        first = catalog()["sets"][0]
        return {name: first[name] for name in ("X", "y", "classes")}
    if y is None:
        raise ValueError("The lab needs a label for each point; got X without y.")
    points, labels = np.asarray(X, np.float64), np.asarray(y)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"The lab draws points of the plane: X must have two columns; got {points.shape}.")
    classes, codes = np.unique(labels, return_inverse=True)
    return {"X": points.tolist(), "y": codes.ravel().tolist(), "classes": [str(name) for name in classes]}


def _choice(learner: Any) -> dict[str, Any]:
    """A learner by its name and all parameters that the lab offers."""
    from . import catalog

    name = learner if isinstance(learner, str) else type(learner).__name__
    if name not in catalog.learners():
        raise ValueError(f"There is no learner {name!r} in the lab; it has {', '.join(catalog.learners())}.")
    params = {one.name: one.default for one in catalog.parameters(name).values()}
    if not isinstance(learner, str):
        params |= {one: _value(getattr(learner, one)) for one in params}
    return {"name": name, "params": params}


def _value(value: Any) -> Any:
    """A parameter as JSON has it."""
    import dataclasses

    from . import catalog

    for name, cls in catalog.kernel_classes().items():
        if isinstance(value, cls):
            fields = [field.name for field in dataclasses.fields(value)]  # type: ignore[arg-type]  # kernels are
            return {"name": name, "params": {field: _value(getattr(value, field)) for field in fields}}
    return value.item() if isinstance(value, np.generic) else value
