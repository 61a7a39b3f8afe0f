"""Checks that scikit-learn makes for its estimators, and their replacements where it is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse

if TYPE_CHECKING:
    from .._types import AnyMatrix, MatrixLike
    from .classifier import Classifier


class NotFitted(ValueError, AttributeError):
    """The model has learned nothing yet."""


class Unconverged(UserWarning):
    """A run has ended without convergence, or may never end."""


class Contract:
    """Checks of rows and labels, and classes of errors and warnings.

    Every learner has a contract. This class needs no scikit-learn: the command line, which reads the rows
    itself, uses it. ``estimators.shell.ScikitLearn`` calls the checks of scikit-learn.
    """

    not_fitted: type[Exception] = NotFitted
    unconverged: type[Warning] = Unconverged

    def rows(self, model: Classifier, X: MatrixLike, *, reset: bool, **how: Any) -> AnyMatrix:
        """X as a matrix of floats. ``reset``: set the width of the model; else X must have that width.

        ``how`` has options of :func:`sklearn.utils.check_array`; here ``dtype`` and ``ensure_all_finite``.
        """
        found = self.row(model, X, **how)
        if reset:
            model.n_features_in_ = found.shape[1]
        elif found.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {found.shape[1]} features, but {type(model).__name__} is expecting "
                f"{model.n_features_in_} features as input."
            )
        return found

    def row(self, model: Classifier, X: MatrixLike, **how: Any) -> AnyMatrix:
        """X as a matrix of floats of any width."""
        found: AnyMatrix = X if is_sparse(X) else np.asarray(X)
        if found.ndim != 2 or not found.shape[0] or not found.shape[1]:
            raise ValueError(f"X must be a matrix with at least one row and column; got shape {found.shape}.")
        dtypes = how.get("dtype", np.float64)
        dtypes = [np.dtype(dtype) for dtype in (dtypes if isinstance(dtypes, list) else [dtypes])]
        if found.dtype not in dtypes:
            found = found.astype(dtypes[0])
        if not is_sparse(found):
            found = np.ascontiguousarray(found)
        values = found.data if is_sparse(found) else found
        if how.get("ensure_all_finite", True) and not np.isfinite(values).all():
            raise ValueError("Input X contains NaN or infinity.")
        return found

    def column(self, y: npt.ArrayLike) -> np.ndarray:
        """Labels as an array of one dimension."""
        found = np.asarray(y)
        if found.ndim != 1:
            raise ValueError(f"y must hold one label per row; got shape {found.shape}.")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError("Input y contains NaN or infinity.")
        return found

    def check_classes(self, y: np.ndarray) -> None:
        """Refuse numbers that are no labels of classes."""
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            found = y[y != np.floor(y)][0]
            raise ValueError(
                f"y holds numbers with fractions, such as {found:g}, which are no labels of classes: "
                "make them words or whole numbers."
            )

    def check_fitted(self, model: Classifier) -> None:
        """Raise where the model has learned nothing."""
        if not model.__sklearn_is_fitted__():
            raise self.not_fitted(f"This {type(model).__name__} has learned nothing yet.")

    def tags(self, model: Classifier) -> Any:
        """scikit-learn's tags."""
        raise AttributeError(f"This {type(model).__name__} is no estimator of scikit-learn's.")

    def set_callbacks(self, model: Classifier, *callbacks: Any) -> Any:
        """Set scikit-learn's callbacks."""
        raise AttributeError(f"This {type(model).__name__} is no estimator of scikit-learn's.")
