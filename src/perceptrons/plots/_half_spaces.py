"""Rows as half-spaces of w, and the plane of w-space that a picture shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse

if TYPE_CHECKING:
    from .._types import Floats
    from ..proofs.half_spaces import WeightSpace


class HalfSpaces(NamedTuple):
    """{w : ⟨normals_i, w⟩ ≥ offsets_i} for each row i."""

    normals: Floats  #: y x, with y as a last column where there is an intercept
    offsets: Floats
    signs: Floats
    fit_intercept: bool
    threshold: float = 0.0  #: what ⟨w, x⟩ is compared with

    @property
    def names(self) -> list[str]:
        """One per coordinate of w."""
        d = self.normals.shape[1] - self.fit_intercept
        return [f"$w_{{{j + 1}}}$" for j in range(d)] + ["$b$"] * self.fit_intercept

    def moved(self, threshold: float) -> HalfSpaces:
        """The half-spaces of a learner that compares ⟨w, x⟩ with a threshold, not with 0."""
        return self._replace(offsets=self.offsets + self.signs * threshold, threshold=threshold)

    def common(self) -> WeightSpace:
        """What the half-spaces have in common; its optimum is that of margin 1 where none was asked."""
        from ..proofs.half_spaces import weight_space

        d = self.normals.shape[1] - self.fit_intercept
        rows = self.normals[:, :d] * self.signs[:, None]
        margin = float(self.offsets[0]) or 1.0
        return weight_space(rows, self.signs, fit_intercept=self.fit_intercept, margin=margin)


class Plane(NamedTuple):
    """What is seen of w-space."""

    normals: Floats
    offsets: Floats
    path: Floats | None
    optimum: Floats | None
    names: tuple[str, str]
    where: str


def half_spaces(
    X: Any, y: npt.ArrayLike, *, fit_intercept: bool = False, margin: float | None = None, unit: bool = False
) -> HalfSpaces:
    """The half-spaces of rows with labels of two classes; ``unit``: of rows divided by their length."""
    rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)
    labels = np.asarray(y)
    classes = np.unique(labels)
    if rows.ndim != 2 or len(rows) != len(labels) or not len(rows):
        raise ValueError(f"X must be a matrix with a row for each of {len(labels)} labels, and at least one.")
    if len(classes) > 2:
        raise ValueError(f"A w of its own has a pair of classes; y has {len(classes)}.")
    if margin is not None and not margin > 0.0:
        raise ValueError(f"margin must be positive or None; got {margin!r}.")
    if len(classes) == 2:
        signs = np.where(labels == classes[1], 1.0, -1.0)
    else:
        signs = np.full(len(rows), -1.0 if classes.tolist() == [-1] else 1.0)
    if unit and not fit_intercept:  # an intercept leaves the half-spaces as they are, and no optimum is shown
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0.0, lengths, 1.0)
    if fit_intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    offsets = np.full(len(rows), 0.0 if margin is None else float(margin))
    return HalfSpaces(rows * signs[:, None], offsets, signs, bool(fit_intercept))


def in_plane(
    found: HalfSpaces, path: npt.ArrayLike | None, optimum: Floats | None, third: float | None
) -> Plane:
    """The plane of w itself, or of its first two coordinates where it has three."""
    size = found.normals.shape[1]
    if size not in (2, 3):
        among = ", the intercept among them" if found.fit_intercept else ""
        raise ValueError(f"w has {size} coordinates{among}; two can be shown, or three in a slice.")
    along = None
    if path is not None:
        along = np.asarray(path, dtype=float)
        if along.ndim != 2 or along.shape[1] != size or not len(along):
            raise ValueError(
                f"path must have {size} columns, one per coordinate of w; its shape is {along.shape}."
            )
    if optimum is not None and not found.offsets.any():  # in a cone its direction is what counts
        length = 1.0 if along is None else float(np.linalg.norm(along[-1]))
        if length > 0.0:
            optimum = optimum * (length / float(np.linalg.norm(optimum)))
    if size == 2:
        if third is not None:
            raise ValueError("w has two coordinates; there is no third one to fix.")
        return Plane(found.normals, found.offsets, along, optimum, (found.names[0], found.names[1]), "")
    if third is None:
        third = (
            float(along[-1, 2]) if along is not None else float(optimum[2]) if optimum is not None else 0.0
        )
    normals, offsets = found.normals[:, :2], found.offsets - found.normals[:, 2] * third
    shown = None if optimum is None or not np.isclose(optimum[2], third) else optimum[:2]
    last = "b" if found.fit_intercept else "w3"
    where = f"slice at {last} = {third:.3g}".replace("-", "−")
    path_shown = None if along is None else along[:, :2]
    return Plane(normals, offsets, path_shown, shown, (found.names[0], found.names[1]), where)
