"""Lines and half-planes in a rectangle: what of them can be seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._types import Floats


class Box(NamedTuple):
    """A rectangle with sides along the axes."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    @property
    def corners(self) -> Floats:
        """The four corners, counter-clockwise."""
        a, b, c, d = self
        return np.array([[a, c], [b, c], [b, d], [a, d]])

    @property
    def size(self) -> float:
        """Length of the diagonal."""
        return float(np.hypot(self.x_high - self.x_low, self.y_high - self.y_low))


def box_around(points: npt.ArrayLike, share: float, square: bool = False) -> Box:
    """The rectangle around points, larger by a share of its sides on each of them."""
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    widest = float(half.max()) or 1.0
    half = np.full(2, widest) if square else np.where(half > 0.0, half, widest)
    half = half * (1.0 + 2.0 * share)
    return Box(
        float(middle[0] - half[0]),
        float(middle[0] + half[0]),
        float(middle[1] - half[1]),
        float(middle[1] + half[1]),
    )


def line_in(a: npt.ArrayLike, c: float, box: Box) -> Floats | None:
    """The ends of the part of the line ⟨a, p⟩ = c that is in the box; None where it does not meet it.

    >>> line_in([0.0, 2.0], 1.0, Box(-1.0, 1.0, -1.0, 1.0)).tolist()
    [[1.0, 0.5], [-1.0, 0.5]]
    """
    a = np.asarray(a, dtype=float)
    length2 = float(a @ a)
    if not length2 > 0.0:
        return None
    point, along = a * (c / length2), np.array([-a[1], a[0]]) / np.sqrt(length2)
    first, last = -np.inf, np.inf
    for p, d, low, high in zip(point, along, box[0::2], box[1::2]):
        if d == 0.0:
            if not low <= p <= high:
                return None
            continue
        ends = sorted(((low - p) / d, (high - p) / d))
        first, last = max(first, ends[0]), min(last, ends[1])
    if not first < last:
        return None
    return np.stack([point + first * along, point + last * along])


def half_planes_in(A: npt.ArrayLike, c: npt.ArrayLike, box: Box) -> Floats:
    """The corners of {p in the box : ⟨A_i, p⟩ ≥ c_i for all i}, counter-clockwise; none where it is empty.

    >>> half_planes_in([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], Box(-1.0, 1.0, -1.0, 1.0)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    corners = box.corners
    for a, least in zip(np.asarray(A, dtype=float).reshape(-1, 2), np.asarray(c, dtype=float).ravel()):
        if not len(corners):
            break
        corners = _cut(corners, corners @ a - least)
    return corners


def _cut(corners: Floats, above: Floats) -> Floats:
    """The part of a convex polygon where a linear function, given at its corners, is at least 0."""
    kept: list[Floats] = []
    for i in range(len(corners)):
        p, q, s, t = corners[i - 1], corners[i], above[i - 1], above[i]
        if (s < 0.0 < t) or (t < 0.0 < s):
            kept.append(p + (q - p) * (s / (s - t)))
        if t >= 0.0:
            kept.append(q)
    out = np.array(kept).reshape(-1, 2)
    if len(out) > 2:
        first = int(np.lexsort((out[:, 0], out[:, 1]))[0])
        out = np.roll(out, -first, axis=0)
    return out
