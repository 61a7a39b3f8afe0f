r"""First-order learners: a rule, a readout, and one w (or one per class)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from ..engine import spaces
from ..engine.custom import engine_rule
from ..engine.loops import multiclass
from . import changing, checks
from .augmented import Augmented
from .learner import Learner
from .parameters import spec
from .passes import CheckedRows
from .readouts import Readout

if TYPE_CHECKING:
    from .._types import AnyMatrix, Record
    from .class_weights import ClassWeight

READOUTS = ("last", "average", "vote", "random")


@spec
class FirstOrder(Learner):
    r"""Learners whose w is a combination of rows.

    Parameters
    ----------
    include_initial : bool, default=False
        Give the initial vector one more vote; the theorems on voting need it.
    normalized_votes : bool, default=False
        Use :math:`w/\|w\|` for each vector in the average, and for ``last`` and ``random``.
    """

    include_initial: bool = False
    normalized_votes: bool = False

    if TYPE_CHECKING:  # a parameter of some classes and a constant of others

        @property
        def readout(self) -> str: ...

    _has_joint: ClassVar[bool] = True
    _READOUTS: ClassVar[tuple[str, ...]] = READOUTS

    def _rule(self) -> Record | rules.UserRule:
        """The record of the rule in force."""
        raise NotImplementedError

    def _rule_in_force(self) -> Record | rules.UserRule:
        """The record of the rule that the last rows were learned by; parameters set since do not count."""
        if "_space" not in vars(self):
            return self._rule()
        return cast("spaces.Additive", self._space.learners[0]).rule

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"rule": self._rule_in_force()}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"rule": learner.rule}

    def _keeps_average(self) -> bool:
        return any(learner.track_name != "last" for learner in self._space.learners)

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Linear, spaces.Joint)

    def _scheme(self) -> multiclass.Scheme:
        """Which classes move on an update."""
        return multiclass.Top()

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("readout", self.readout, self._READOUTS)
        checks.flag("include_initial", self.include_initial)
        checks.flag("normalized_votes", self.normalized_votes)
        if self._has_joint:
            checks.one_of("multiclass", self.multiclass, ("joint", "ovr"))

    @property
    def _readout(self) -> str:
        return self.readout

    @property
    def _reading(self) -> Readout:
        return Readout(self, self._readout, self.normalized_votes, self.include_initial)

    def _fast_path_serves(self) -> bool:
        kept = self._space.learners[0].track_name
        return self.readout == kept and not self.normalized_votes and not self.include_initial

    def _is_joint(self) -> bool:
        return self._has_joint and self.multiclass == "joint"

    def _track(self) -> str:
        if self._readout != "average":
            return "last"
        return "unit" if self.normalized_votes else "average"

    def _by_prediction(self) -> bool:
        return getattr(self, "mistake", "margin") == "prediction"

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.SingleSpace:
        return spaces.Linear(self._rule(), frame, n_features, self._track(), self._by_prediction())

    def _joint_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> spaces.Joint:
        return spaces.Joint(
            self._rule(),
            frame,
            n_features,
            n_classes,
            self._scheme(),
            self._track(),
            self._by_prediction(),
        )

    def _checked_order(
        self, order: Sequence[npt.ArrayLike] | None, batch: CheckedRows
    ) -> list[np.ndarray] | None:
        orders = super()._checked_order(order, batch)
        if orders is None and self.max_iter is None and isinstance(self._rule(), rules.RateByExamples):
            warnings.warn(
                "max_iter=None goes on until a clean pass, and steps of 1/t shrink so fast that there may be "
                "none in any reasonable time, also on separable rows; give max_iter, or learning_rate=1.0.",
                self._contract.unconverged,
                stacklevel=4,
            )
        return orders

    def _score_row(self, row: AnyMatrix) -> float | np.ndarray:
        # one row needs the weights of its own features only
        readout = self._readout
        if readout not in ("last", "average") or self.normalized_votes:
            return super()._score_row(row)
        changing.check_readout(self)
        scores = self._reading.averaged(self._space.scores(self._intake.rows(row), readout)[0])
        score: float | np.ndarray = scores[0] if len(scores) == 1 else scores
        return score


@spec
class AnyReadout(FirstOrder):
    """Learners whose readout is a parameter.

    Parameters
    ----------
    readout : {"last", "average", "vote", "random"}, default="last"
        Which weights predict: the last, their average over the examples, a vote in which each weight
        vector counts for the examples it survived, or one vector drawn at random (once per fit).
    """

    readout: str = "last"


@spec
class Jointly(Learner):
    """Learners that may learn several classes jointly.

    Parameters
    ----------
    multiclass : {"joint", "ovr"}, default="joint"
        More than two classes: prototypes learned together, or one learner per class against the rest.
    """

    multiclass: str = "joint"


@spec
class AnyRule(AnyReadout, Jointly):
    """Learners whose rule is a parameter."""

    rule: str | Record | rules.UserRule | None = None
    mistake: str = "margin"
    class_weight: ClassWeight = None

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))
        rule = self._rule()
        self._check_rule(rule)
        for name in getattr(rule, "_fields", ()):
            where = f"rule {type(rule).__name__}.{name}"
            checks.positive(where, getattr(rule, name), zero=name in ("p", "delta"))

    def _check_rule(self, rule: Record | rules.UserRule) -> None:
        if not isinstance(rule, rules.UserRule) and type(rule) not in rules.FIRST_ORDER:
            own = rules.facts(rule).learner.class_name if type(rule) in rules.CONFIDENCE else None
            way = "" if own is None else f" Use perceptrons.{own}, or a TextClassifier with this rule."
            raise rules.RuleError(
                "rule must be a first-order record of perceptrons.rules, or a function under "
                f"@rules.rule; got {rule!r}.{way}"
            )
        engine_rule(rule)  # raises for a user's rule that does not compile, before the model changes

    def _rule(self) -> Record | rules.UserRule:
        return rules.Perceptron() if self.rule is None else rules.named(self.rule)


@spec
class OnlineClassifierSpec(AnyRule, Augmented):
    """Parameters and plan of :class:`perceptrons.OnlineClassifier`."""
