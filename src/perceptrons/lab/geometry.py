"""The geometry of the rows of a scene: the maximum margin, and what a page draws of a kernel."""

from __future__ import annotations

import base64
import warnings
from typing import Any

import numpy as np

from .. import kernels
from ..core.solved import NotSeparableError
from ..estimators.maximum_margin import MaxMargin
from ..proofs._convergence import AugmentedRows

MOST_SECONDS = 1.0
#: Numbers of all grids of a run together, at most.
MOST_VALUES = 600_000
MOST_COLUMNS, LEAST_COLUMNS = 64, 12


def augmented(X: np.ndarray, bias: float, unit: bool) -> np.ndarray:
    """(n, 3): the rows as a learner takes them, with their constant coordinate, perhaps of length 1."""
    Z = np.hstack([X, np.full((len(X), 1), bias)])
    if not unit or not len(Z):
        return Z
    largest = np.abs(Z).max(axis=1, keepdims=True)
    Z = Z / np.where(largest > 0.0, largest, 1.0)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(lengths > 0.0, lengths, 1.0)


def best(X: np.ndarray, y: np.ndarray, bias: float, unit: bool) -> dict[str, Any] | None:
    """The separator of the largest margin on rows of two classes, as a learner takes them.

    None where there is none, or where none was found in a second.
    """
    labels = np.unique(y)
    if len(labels) != 2:
        return None
    rows = AugmentedRows(X, np.where(y == labels[1], 1.0, -1.0), bias, unit)
    Z = augmented(X, bias, unit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was found is measured
        try:
            found = MaxMargin(fit_intercept=False, tol=1e-9, max_time=MOST_SECONDS).fit(Z, y)
        except (NotSeparableError, ValueError, ArithmeticError):
            return None
    w = found.coef_[0]
    length = float(np.linalg.norm(w))
    gamma = rows.margin(w, np.arange(len(X))) if 0.0 < length < np.inf else 0.0
    if not gamma > 0.0:
        return None
    return {
        "w": (w / length).tolist(),
        "gamma": gamma,
        "support": found.support_.tolist(),
        "separable": True,
    }


def kernel_grid(
    kernel: Any, X: np.ndarray, constant: float, box: list[float], columns: int
) -> dict[str, Any]:
    """Kernel values between the points of a grid and the rows, as a page draws regions from them.

    ``constant`` is added to each: the square of the constant coordinate.
    """
    across, up = np.linspace(box[0], box[1], columns), np.linspace(box[2], box[3], columns)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    values = kernels.as_kernel(kernel)(points, X) + constant
    with np.errstate(over="ignore"):
        packed = np.asarray(values, "<f4").tobytes()
    return {
        "name": type(kernel).__name__,
        "columns": columns,
        "rows": columns,
        "box": box,
        "values": base64.b64encode(packed).decode("ascii"),
    }


def grid_columns(n_rows: int) -> int:
    """Columns of a grid, for ``n_rows`` rows of all grids of a run together."""
    return max(LEAST_COLUMNS, min(MOST_COLUMNS, int(np.sqrt(MOST_VALUES / max(1, n_rows)))))


def box_around(X: np.ndarray) -> list[float]:
    """A rectangle around the rows, with some room: x0, x1, y0, y1."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.25 * np.where(high > low, high - low, max(1.0, float(np.abs(X).max())))
    low, high = low - room, high + room
    return [float(low[0]), float(high[0]), float(low[1]), float(high[1])]
