"""scikit-learn's contract for the learners of the core: validation, tags, parameters, callbacks."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core import documenting
from ..core.contract import Contract
from ..core.parameters import spec

T = TypeVar("T", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: T) -> T:
    """Decorator of a public class: its docstring describes the parameters that it inherits, too."""
    made: Any = spec(cls)
    made.__doc__ = documenting.completed(made)
    return made


class ScikitLearn(Contract):
    """scikit-learn's own checks, with its errors and warnings."""

    not_fitted = NotFittedError
    unconverged = ConvergenceWarning

    def rows(self, model: Any, X: Any, *, reset: bool, **how: Any) -> Any:
        return validate_data(model, X, reset=reset, **how)

    def row(self, model: Any, X: Any, **how: Any) -> Any:
        return check_array(X, estimator=model, input_name="X", **how)

    def column(self, y: Any) -> np.ndarray:
        found = column_or_1d(y, warn=True)
        if found.dtype.kind == "f":
            assert_all_finite(found, input_name="y")
        return found

    def check_classes(self, y: np.ndarray) -> None:
        check_classification_targets(y)

    def check_fitted(self, model: Any) -> None:
        check_is_fitted(model)

    def hold_out(self, rows: np.ndarray, part: float, codes: np.ndarray, seed: int) -> tuple[Any, Any]:
        from sklearn.model_selection import train_test_split

        train, held_out = train_test_split(rows, test_size=part, stratify=codes, random_state=seed)
        return train, held_out

    def tags(self, model: Any) -> Any:
        tags = ClassifierMixin.__sklearn_tags__(model)
        for name, value in model._intake.tags().items():
            setattr(tags.input_tags, name, value)
        # a disjunction is all that learners of positive rows know: on other data they score poorly
        tags.classifier_tags.poor_score = tags.input_tags.positive_only
        return tags

    def set_callbacks(self, model: Any, *callbacks: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin  # it loads rich: not before the first is set

        return CallbackSupportMixin.set_callbacks(model, *callbacks)


class Shell(ClassifierMixin, BaseEstimator):
    """What makes a learner of the core an estimator: scikit-learn's classes, and its contract."""

    _contract: ClassVar[Contract] = ScikitLearn()
