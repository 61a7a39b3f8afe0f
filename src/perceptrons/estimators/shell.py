"""scikit-learn's contract for the learners of the core: validation, tags, parameters, callbacks."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core import documenting
from ..core.contract import Contract
from ..core.parameters import spec

if TYPE_CHECKING:
    from .._types import AnyMatrix, MatrixLike
    from ..core.classifier import Classifier

T = TypeVar("T", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(cls: T) -> T:
    """Decorator of a public class: its docstring describes the parameters that it inherits, too."""
    made: Any = spec(cls)
    made.__doc__ = documenting.completed(made)
    return cast(T, made)


class ScikitLearn(Contract):
    """scikit-learn's own checks, with its errors and warnings."""

    not_fitted = NotFittedError
    unconverged = ConvergenceWarning

    def rows(self, model: Classifier, X: MatrixLike, *, reset: bool, **how: Any) -> AnyMatrix:
        return validate_data(model, X, reset=reset, **how)

    def row(self, model: Classifier, X: MatrixLike, **how: Any) -> AnyMatrix:
        return check_array(X, estimator=model, input_name="X", **how)

    def column(self, y: npt.ArrayLike) -> np.ndarray:
        found: np.ndarray = column_or_1d(y, warn=True)
        if found.dtype.kind == "f":
            assert_all_finite(found, input_name="y")
        return found

    def check_classes(self, y: np.ndarray) -> None:
        check_classification_targets(y)

    def check_fitted(self, model: Classifier) -> None:
        check_is_fitted(model)

    def tags(self, model: Classifier) -> Any:
        tags = ClassifierMixin.__sklearn_tags__(model)
        for name, value in model._intake.tags().items():
            setattr(tags.input_tags, name, value)
        # learners of rows from 0 to 1 find disjunctions only: on other data they score poorly
        tags.classifier_tags.poor_score = tags.input_tags.positive_only
        tags.classifier_tags.multi_label = model._takes_several
        return tags

    def set_callbacks(self, model: Classifier, *callbacks: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin  # imported late: it loads rich

        return CallbackSupportMixin.set_callbacks(model, *callbacks)


class Shell(ClassifierMixin, BaseEstimator):
    """Makes an estimator of a learner of the core: scikit-learn's base classes, and its contract."""

    _contract: ClassVar[Contract] = ScikitLearn()
