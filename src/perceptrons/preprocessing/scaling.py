"""Centre and unit variance, from rows that come in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sparse import is_sparse
from .._types import Matrix, MatrixLike, SparseMatrix

if TYPE_CHECKING:
    from sklearn.utils import Tags

ULPS = 16  #: a column whose deviation is within so many roundings of its mean is constant


class Moments(NamedTuple):
    """How many rows there were, their mean, and the sum of squared deviations from it."""

    n: int
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, X: Matrix) -> Moments:
        """Of one batch, in two passes: a column of large numbers close together keeps its digits."""
        n = X.shape[0]
        mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
        if is_sparse(X):
            return cls._of_sparse(X, mean)
        rest = (X - mean).sum(axis=0) / n  # what rounding has left in the mean
        mean += rest
        return cls(n, mean, np.square(X - mean).sum(axis=0))

    @classmethod
    def _of_sparse(cls, X: SparseMatrix, mean: np.ndarray) -> Moments:
        """The same from the stored entries; the others are zeros, whose deviation is the mean."""
        if not X.has_canonical_format:  # an entry in two parts would count as two
            X = X.copy()
            X.sum_duplicates()
        n, columns, width = X.shape[0], X.indices, X.shape[1]
        zeros = n - np.bincount(columns, minlength=width)
        rest = np.bincount(columns, X.data - mean[columns], width) - zeros * mean
        mean = mean + rest / n
        squares = np.bincount(columns, np.square(X.data - mean[columns]), width) + zeros * np.square(mean)
        return cls(n, mean, squares)

    def merged(self, other: Moments) -> Moments:
        r"""Of both together (Chan, Golub and LeVeque, 1983).

        With :math:`\delta = \mu_2 - \mu_1`: :math:`\mu = \mu_1 + \delta n_2/n` and
        :math:`S = S_1 + S_2 + \delta^2 n_1 n_2/n`. Nothing is subtracted, so nothing cancels.
        """
        n = self.n + other.n
        delta = other.mean - self.mean
        share = other.n / n
        squares = self.squares + other.squares + np.square(delta) * (self.n * share)
        return Moments(n, self.mean + delta * share, squares)

    def deviation(self) -> np.ndarray:
        """The standard deviation (of the population: divided by n); 1 where the column is constant."""
        sd = np.sqrt(self.squares / self.n)
        constant = sd <= ULPS * np.finfo(np.float64).eps * np.abs(self.mean)
        return np.where(constant, 1.0, sd)


class StreamingScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Move the rows to the origin and scale the columns, learning from batches or from all rows at once.

    :math:`x_j \leftarrow (x_j - c_j)/s_j`, where c is the mean of the rows, or the midpoint of the classes'
    means, and :math:`s_j` the standard deviation (of the population; 1 for a constant column).
    ``partial_fit`` in any pieces gives what ``fit`` gives, up to rounding, and needs memory for the columns
    only.

    Centring usually helps: it shrinks R, and the offset of the plane, which costs margin in augmented space.
    It need not: with 95 rows near (1, 0) and 5 near (-1, 0) the mean is close to the many, and the plane
    moves away from the origin. The midpoint of the class means stays between them. Print :math:`R^2/\gamma^2`
    before and after.

    Parameters
    ----------
    center : {"mean", "midpoint"} or None, default="mean"
        What becomes the origin. The midpoint needs labels in ``fit``; with more than two classes it is the
        mean of the class means. None: the rows stay where they are.
    scale : bool, default=True
        Whether to divide by the standard deviation.
    densify : bool, default=False
        Centring a sparse matrix fills it, so it is refused, unless this is True: then the result is dense.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,) or None
        What is subtracted.
    scale_ : ndarray of shape (n_features,) or None
        What is divided by.
    mean_, var_ : ndarray of shape (n_features,)
        Mean and variance of all rows.
    class_means_ : dict
        The mean of each class, with ``center="midpoint"``.
    n_samples_seen_ : int
        The number of rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] T. Chan, G. Golub and R. LeVeque, Algorithms for computing the sample variance, The American
       Statistician 37, 1983.

    Examples
    --------
    >>> scaler = StreamingScaler().partial_fit([[1.0, 5.0], [3.0, 5.0]]).partial_fit([[5.0, 5.0]])
    >>> scaler.mean_, scaler.n_samples_seen_
    (array([3., 5.]), 3)
    >>> scaler.transform([[3.0, 7.0]])
    array([[0., 2.]])
    >>> StreamingScaler(center="midpoint", scale=False).fit(
    ...     [[0.0], [0.0], [0.0], [4.0]], [0, 0, 0, 1]
    ... ).center_
    array([2.])
    """

    moments_: Moments
    by_class_: dict[Any, Moments]
    class_means_: dict[Any, np.ndarray]

    def __init__(self, *, center: str | None = "mean", scale: bool = True, densify: bool = False):
        self.center = center
        self.scale = scale
        self.densify = densify

    def fit(self, X: MatrixLike, y: npt.ArrayLike | None = None) -> StreamingScaler:
        """Learn from these rows alone."""
        self._forget()
        self.partial_fit(X, y)
        if self.center == "midpoint" and len(self.class_means_) < 2:
            only = next(iter(self.class_means_))
            raise ValueError(f'center="midpoint" needs two classes; got one class: {only!r}.')
        return self

    def partial_fit(self, X: MatrixLike, y: npt.ArrayLike | None = None) -> StreamingScaler:
        """Learn from these rows, too."""
        if self.center not in (None, "mean", "midpoint"):
            raise ValueError(f"center must be one of 'mean', 'midpoint', None; got center={self.center!r}.")
        first = not hasattr(self, "moments_")
        if self.center == "midpoint":
            if y is None:
                raise ValueError('center="midpoint" requires y to be passed, but the target y is None.')
            rows, labels = self._rows(X, y, reset=first)
            self.by_class_ = {} if first else self.by_class_
            for label in np.unique(labels).tolist():
                self._add_to_class(label, rows[np.flatnonzero(labels == label)])
            self.class_means_ = {label: moments.mean for label, moments in self.by_class_.items()}
        else:
            rows = self._rows(X, reset=first)
        batch = Moments.of(rows)
        self.moments_ = batch if first else self.moments_.merged(batch)
        self._set_attributes()
        return self

    def transform(self, X: MatrixLike) -> Matrix:
        """The rows moved and scaled; float32 stays float32."""
        check_is_fitted(self, "moments_")
        rows: Matrix = self._rows(X, reset=False)
        if is_sparse(rows):
            if self.center_ is None:
                by = None if self.scale_ is None else sp.diags_array(1.0 / self.scale_)
                return rows if by is None else (rows @ by).astype(rows.dtype)
            rows = rows.toarray()
        moved = rows if self.center_ is None else rows - self.center_
        scaled = moved if self.scale_ is None else moved / self.scale_
        return scaled.astype(rows.dtype, copy=moved is rows)

    def _add_to_class(self, label: Any, X: Matrix) -> None:
        batch = Moments.of(X)
        known = self.by_class_.get(label)
        self.by_class_[label] = batch if known is None else known.merged(batch)

    def _set_attributes(self) -> None:
        self.n_samples_seen_ = self.moments_.n
        self.mean_, self.var_ = self.moments_.mean, self.moments_.squares / self.moments_.n
        self.scale_ = self.moments_.deviation() if self.scale else None
        self.center_ = None if self.center is None else self.mean_
        if self.center == "midpoint":
            self.center_ = np.mean(list(self.class_means_.values()), axis=0)

    def _forget(self) -> None:
        for name in ("moments_", "by_class_", "class_means_"):
            self.__dict__.pop(name, None)

    def _rows(self, X: MatrixLike, *y: npt.ArrayLike, reset: bool) -> Any:
        """X, or the pair X and y, checked; a sparse X that centring would fill is refused without densify."""
        if is_sparse(X) and self.center is not None and not self.densify:
            raise ValueError(
                "Centring would fill a sparse matrix: pass center=None, or densify=True for a dense result."
            )
        return validate_data(self, X, *y, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.center is None or self.densify
        tags.target_tags.required = self.center == "midpoint"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
