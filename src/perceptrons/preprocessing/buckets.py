"""Numbers to intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._types import Floats

if TYPE_CHECKING:
    from sklearn.utils import Tags

PRESETS: dict[str, tuple[list[float], list[str]]] = {
    "age": ([25, 45, 65], ["Young", "Middle-aged", "Senior", "Old"]),
    "hours": ([25, 40, 60], ["Part-time", "Full-time", "Over-time", "Too-much"]),
}
"""Edges and labels by name."""


class Bucketizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Put every number into an interval.

    With edges :math:`e_1 < \dots < e_q` the buckets are
    :math:`(-\infty, e_1], (e_1, e_2], \dots, (e_q, \infty)`: the number of a bucket is how many edges lie
    strictly below the value, and an edge belongs to the lower bucket. A missing value (NaN or None) has a
    bucket of its own, after the last.

    A linear rule can then give each interval a weight of its own, which a number itself does not allow:
    income rises with age, and falls again.

    Parameters
    ----------
    edges : ascending sequence of numbers, default=None
        The edges, the same for every column.
    preset : {"age", "hours"}, default=None
        Edges and labels by name, instead of ``edges``. Age: 25, 45, 65 (Young, Middle-aged, Senior, Old);
        hours a week: 25, 40, 60 (Part-time, Full-time, Over-time, Too-much).
    labels : sequence of str, default=None
        One name per bucket, one more than edges. None: the preset's, or the intervals written out.
    missing_label : str, default="missing"
        Name of the bucket of missing values.
    encode : {"label", "ordinal"}, default="label"
        Return names, as an array of objects that `CategoricalToBinary` takes, or numbers 0, 1, ..., q and q +
        1 for missing.

    Attributes
    ----------
    edges_ : ndarray of shape (q,)
        The edges.
    labels_ : list of str
        The names of the q + 1 buckets.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> Bucketizer(preset="hours").fit_transform([[20], [40], [41], [None]]).ravel().tolist()
    ['Part-time', 'Full-time', 'Over-time', 'missing']
    >>> Bucketizer(edges=[0, 1.5]).fit_transform([[0.0], [1.0], [2.0]]).ravel().tolist()
    ['(-inf, 0]', '(0, 1.5]', '(1.5, inf)']
    >>> Bucketizer(edges=[0, 1.5], encode="ordinal").fit_transform([[0.0], [1.0], [2.0]]).ravel()
    array([0, 1, 2])
    """

    def __init__(
        self,
        *,
        edges: Sequence[float] | None = None,
        preset: str | None = None,
        labels: Sequence[str] | None = None,
        missing_label: str = "missing",
        encode: str = "label",
    ):
        self.edges = edges
        self.preset = preset
        self.labels = labels
        self.missing_label = missing_label
        self.encode = encode

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> Bucketizer:
        """Check the parameters and X; nothing is learned from the values."""
        if self.encode not in ("label", "ordinal"):
            raise ValueError(f"encode must be one of 'label', 'ordinal'; got encode={self.encode!r}.")
        self._numbers(X, reset=True)
        self.edges_, self.labels_ = self._resolved()
        return self

    def transform(self, X: npt.ArrayLike) -> np.ndarray:
        """The bucket of every value, by name or by number."""
        check_is_fitted(self)
        rows = self._numbers(X, reset=False)
        codes: np.ndarray = np.searchsorted(
            self.edges_, rows, side="left"
        )  # how many edges are strictly below
        codes[np.isnan(rows)] = len(self.edges_) + 1
        if self.encode == "ordinal":
            return codes
        names: np.ndarray = np.array([*self.labels_, str(self.missing_label)], dtype=object)[codes]
        return names

    def _numbers(self, X: npt.ArrayLike, *, reset: bool) -> Floats:
        # None among the numbers becomes NaN here: scikit-learn's own message is about float() instead
        rows: Floats = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        return rows

    def _resolved(self) -> tuple[np.ndarray, list[str]]:
        """The edges and the labels, from the parameters."""
        if (self.edges is None) == (self.preset is None):
            raise ValueError(
                f"Bucketizer needs either edges or a preset, one of {', '.join(map(repr, PRESETS))}; "
                f"got edges={self.edges!r}, preset={self.preset!r}."
            )
        labels: Sequence[str] | None
        if self.preset is not None:
            if self.preset not in PRESETS:
                known = ", ".join(map(repr, PRESETS))
                raise ValueError(f"preset must be one of {known}; got preset={self.preset!r}.")
            given, labels = PRESETS[self.preset]
        else:
            given, labels = self.edges, None  # type: ignore[assignment]  # one of the two is there
        edges = np.asarray(given, dtype=np.float64)
        if edges.ndim != 1 or not len(edges) or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            raise ValueError(f"edges must be finite numbers in ascending order; got edges={self.edges!r}.")
        labels = labels if self.labels is None else self.labels
        names = _intervals(edges) if labels is None else [str(label) for label in labels]
        if len(names) != len(edges) + 1:
            raise ValueError(
                f"labels must name {len(edges) + 1} buckets, one more than there are edges; got {len(names)}."
            )
        return edges, names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _intervals(edges: np.ndarray) -> list[str]:
    """(-inf, 0], (0, 1], (1, inf): the names of buckets without labels."""
    ends = ["-inf", *(f"{edge:g}" for edge in edges), "inf"]
    return [f"({low}, {high}" + (")" if high == "inf" else "]") for low, high in pairwise(ends)]
