"""A bias as the weight of a constant coordinate."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sparse import is_sparse
from .._types import Matrix, MatrixLike

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Augmenter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Add a constant coordinate: x becomes (x, B).

    A plane through the origin of the larger space is any plane of the smaller one. If a unit w with offset b
    separates with margin γ, then

    .. math::

        \gamma/\sqrt{1 + b^2/B^2} \;\le\; \gamma_{aug} \;\le\; \gamma, \qquad R_{aug} = \sqrt{R^2 + B^2}:

    the margin shrinks as the plane moves away from the origin, which is why rows far from it are slow to
    learn. A large B keeps the margin and lengthens the rows; :math:`B = \sqrt{R|b|}` (`best_constant`) makes
    :math:`R_{aug}^2/\gamma_{aug}^2 \le (R + |b|)^2/\gamma^2`.

    The learners of this package add the coordinate themselves (``fit_intercept=True,
    intercept_scaling=B``); this class is for others, and for steps in between.

    Parameters
    ----------
    B : float, default=1.0
        The constant; not 0.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> Augmenter(B=2.0).fit_transform([[0.5, 3.0], [1.0, 0.0]])
    array([[0.5, 3. , 2. ],
           [1. , 0. , 2. ]])
    """

    def __init__(self, *, B: float = 1.0):
        self.B = B

    def fit(self, X: MatrixLike, y: npt.ArrayLike | None = None) -> Augmenter:
        """Check B and X; nothing is learned from the values."""
        if not isinstance(self.B, Real) or not math.isfinite(self.B) or self.B == 0:
            raise ValueError(f"B must be a finite number other than 0; got B={self.B!r}.")
        self._rows(X, reset=True)
        return self

    def transform(self, X: MatrixLike) -> Matrix:
        """The rows with the constant as the last column; CSR stays CSR."""
        check_is_fitted(self, "n_features_in_")
        rows = self._rows(X, reset=False)
        if not is_sparse(rows):
            return np.column_stack([rows, np.full(len(rows), self.B, dtype=rows.dtype)])
        constant = sp.csr_array(np.full((rows.shape[0], 1), self.B, dtype=rows.dtype))
        return sp.hstack([rows, constant], format="csr")

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> np.ndarray:
        """The names of the input, and "constant"."""
        return np.append(super().get_feature_names_out(input_features), "constant").astype(object)

    def _rows(self, X: MatrixLike, *, reset: bool) -> Matrix:
        rows: Matrix = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset
        )
        return rows

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def best_constant(R: float, b: float) -> float:
    r"""The constant coordinate with the smallest bound: :math:`B = \sqrt{R|b|}`.

    For rows of length at most R that a unit w with offset b separates, :math:`(R^2 + B^2)(1 + b^2/B^2)` is
    smallest there, and equals :math:`(R + |b|)^2`. A plane through the origin (b = 0) needs no constant: 0.

    >>> best_constant(R=4, b=-1)
    2.0
    """
    if not (math.isfinite(R) and R > 0):
        raise ValueError(f"R must be a positive number; got R={R!r}.")
    if not math.isfinite(b):
        raise ValueError(f"b must be a finite number; got b={b!r}.")
    return math.sqrt(R * abs(b))
