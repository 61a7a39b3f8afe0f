"""Names to numbers: 0/1 columns, or levels where the names have an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

from .._types import Matrix, SparseMatrix

if TYPE_CHECKING:
    from sklearn.utils import Tags

EDUCATION = (
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
)
"""The names of the Adult census, from the lowest level, 1, to the highest, 16."""


class CategoricalToBinary(TransformerMixin, BaseEstimator):
    """Turn each categorical column into 0/1 columns, as few as keep all information.

    The values seen in training are sorted, missing ones (None, NaN) last as a value of their own. Three or
    more values: one column each. Exactly two: one column, 1 for the larger value; a second would be 1 minus
    the first, and make rows longer for nothing. Exactly one: no column.

    Parameters
    ----------
    unknown : {"zeros", "error"}, default="zeros"
        How to treat a value that is not in the training rows: all its columns are 0, or ValueError.
    sparse_output : bool, default=True
        Return CSR, or a dense array (which ``set_output(transform="pandas")`` needs).
    dtype : dtype, default=numpy.float64
        Of the result.

    Attributes
    ----------
    categories_ : list of ndarray
        The sorted values of each column.
    encoder_ : sklearn.preprocessing.OneHotEncoder
        The encoder that is used; it has a column for every value.
    kept_ : ndarray of bool
        Which of its columns are kept.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> rows = [["US", "Male"], ["Mexico", "Female"], ["India", "Male"], ["US", "Female"]]
    >>> binary = CategoricalToBinary(sparse_output=False).fit(rows)
    >>> binary.get_feature_names_out(["country", "sex"]).tolist()
    ['country_India', 'country_Mexico', 'country_US', 'sex_Male']
    >>> binary.transform([["Mexico", "Male"], ["Canada", "Male"]])
    array([[0., 1., 0., 1.],
           [0., 0., 0., 1.]])
    """

    def __init__(
        self, *, unknown: str = "zeros", sparse_output: bool = True, dtype: npt.DTypeLike = np.float64
    ):
        self.unknown = unknown
        self.sparse_output = sparse_output
        self.dtype = dtype

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> CategoricalToBinary:
        """Learn the values of each column."""
        how = {"zeros": "ignore", "error": "error"}
        if self.unknown not in how:
            raise ValueError(f"unknown must be one of 'zeros', 'error'; got unknown={self.unknown!r}.")
        # its drop="if_binary" keeps a column for a single value, and warns of every unknown one
        self.encoder_ = OneHotEncoder(handle_unknown=how[self.unknown], dtype=self.dtype).fit(X)
        self.categories_ = self.encoder_.categories_
        kept = [_kept(len(values)) for values in self.categories_]
        self.kept_ = np.concatenate(kept) if kept else np.zeros(0, dtype=bool)
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        return self

    def transform(self, X: npt.ArrayLike) -> Matrix:
        """The 0/1 columns."""
        check_is_fitted(self)
        made: SparseMatrix = self.encoder_.transform(X)[:, np.flatnonzero(self.kept_)]
        return made if self.sparse_output else made.toarray()

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> np.ndarray:
        """Column and value, joined by an underscore."""
        check_is_fitted(self)
        names: np.ndarray = self.encoder_.get_feature_names_out(input_features)[self.kept_]
        return names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _kept(n_values: int) -> np.ndarray:
    """Which of the columns of n values are needed."""
    kept = np.ones(n_values, dtype=bool)
    if n_values <= 2:
        kept[0] = False
    return kept


class OrderedLevels(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Names that have an order to the numbers 1, 2, 3, ...

    One column instead of one per name: a linear rule then says "the more, the more likely". A name that is
    not in the order is an error, for a number in its place would be a guess. So is None; NaN among numbers
    stays NaN.

    Parameters
    ----------
    levels : "education", sequence or "auto", default="auto"
        The names from the lowest, level 1, to the highest, the same for every column; ``"education"`` are the
        16 of the Adult census. ``"auto"``: the sorted values of each column in training.

    Attributes
    ----------
    levels_ : list of ndarray
        The order of each column.
    encoder_ : sklearn.preprocessing.OrdinalEncoder
        The encoder that is used; it counts from 0.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> OrderedLevels(levels="education").fit_transform([["Preschool"], ["HS-grad"], ["Doctorate"]]).ravel()
    array([ 1.,  9., 16.])
    >>> OrderedLevels(levels=["low", "high"]).fit_transform([["high"], ["middle"]])
    Traceback (most recent call last):
        ...
    ValueError: Found unknown categories ['middle'] in column 0 during fit. The levels are 'low' (1) to
    'high' (2); give levels=[...] that name all.
    """

    def __init__(self, *, levels: str | Sequence[Any] = "auto"):
        self.levels = levels

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None = None) -> OrderedLevels:
        """Learn the order, or check that X keeps to the one that is given."""
        order = self._order()
        encoder = OrdinalEncoder()
        if order is not None:
            encoder.set_params(categories=[order] * _n_columns(X))
        try:
            self.encoder_ = encoder.fit(X)
        except ValueError as error:
            raise _with_levels(error, order) from error
        self.levels_ = self.encoder_.categories_
        for column, levels in enumerate(self.levels_):
            if any(level is None for level in levels):  # sorted last, it would be the highest
                raise ValueError(
                    f"Column {column} of X has missing values (None), which have no level: fill them in."
                )
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        return self

    def transform(self, X: npt.ArrayLike) -> np.ndarray:
        """The level of every name, from 1."""
        check_is_fitted(self)
        try:
            levels: np.ndarray = self.encoder_.transform(X) + 1.0
            return levels
        except ValueError as error:
            raise _with_levels(error, self._order()) from error

    def _order(self) -> np.ndarray | None:
        """The order that is given; None when it is to be learned."""
        if isinstance(self.levels, str):
            if self.levels == "auto":
                return None
            if self.levels == "education":
                return np.array(EDUCATION, dtype=object)
            raise ValueError(f"levels must be 'education', 'auto' or a sequence; got levels={self.levels!r}.")
        order = np.empty(len(self.levels), dtype=object)
        order[:] = list(self.levels)
        if not len(order) or len(set(order)) < len(order):
            raise ValueError(f"levels must name each level once; got levels={self.levels!r}.")
        return order

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _n_columns(X: npt.ArrayLike) -> int:
    shape: tuple[int, ...] = np.shape(X) if not hasattr(X, "shape") else X.shape
    return int(shape[1]) if len(shape) > 1 else 1


def _with_levels(error: ValueError, order: np.ndarray | None) -> ValueError:
    """scikit-learn's error, and what the levels are when it is about an unknown one."""
    if "unknown categories" not in str(error) or order is None:
        return error
    return ValueError(
        f"{error}. The levels are {order[0]!r} (1) to {order[-1]!r} ({len(order)}); "
        "give levels=[...] that name all."
    )
