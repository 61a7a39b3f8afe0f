"""What is known of a learner before it has seen a row. The command line reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..engine.loops import multiclass
from ..engine.spaces import Frame
from .first_order import FirstOrder

if TYPE_CHECKING:
    from .. import rules
    from .._types import Record
    from ..engine.spaces import Confident
    from .classifier import Classifier
    from .confidence import SecondOrderLearner


def check_parameters(model: Classifier) -> None:
    """Raise a ValueError that names the first parameter that is wrong."""
    model._check_params()


def check_pieces(model: Classifier) -> None:
    """Raise a ValueError if the learner needs all rows at once, because of a parameter taken from them."""
    model._intake.check_pieces()


def rule(model: FirstOrder | SecondOrderLearner) -> Record | rules.UserRule:
    """The rule that the parameters describe, as other learners take it."""
    if isinstance(model, FirstOrder):
        return model._rule()
    return cast("Confident", model._binary_space(Frame(), 1)).rule


def moves_two_classes(model: FirstOrder | SecondOrderLearner) -> bool:
    """Whether an update moves the true class and its best rival only, as in learners that take a rule."""
    return not isinstance(model, FirstOrder) or isinstance(model._scheme(), multiclass.Top)


def takes_lists(model: Classifier) -> bool:
    """Whether rows may have lists of labels."""
    return model._takes_lists


def has_several_labels(model: Classifier) -> bool:
    """Whether the model has learned rows of several labels."""
    return model._several
