r"""Learners with multiplicative updates: Winnow, balanced Winnow, and their relatives.

Dense rows and few relevant inputs: Winnow. Sparse rows and a dense target: the perceptron.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from ..engine import spaces
from ..engine.loops import multiplicative
from . import checks
from .augmented import Augmented, CalibrationRows
from .intakes import ShareIntake
from .learner import Learner
from .parameters import spec

if TYPE_CHECKING:
    from .._types import AnyMatrix
    from ..engine.spaces import Space


def check_range(name: str, X: AnyMatrix, *, binary: bool) -> None:
    """Refuse inputs outside {0, 1} or [0, 1], naming the first."""
    values = X.data if is_sparse(X) else X
    wrong = (values != 0.0) & (values != 1.0) if binary else ~((values >= 0.0) & (values <= 1.0))
    if not wrong.any():
        return
    found = values[wrong]
    if not np.isfinite(found).all():
        raise ValueError(f"Input X contains {'NaN' if np.isnan(found).any() else 'infinity'}.")
    bad = found[0] if found.min() >= 0.0 else found.min()
    negative = "Negative values in data: " if bad < 0.0 else ""  # as scikit-learn says it
    kind = "0 or 1" if binary else "between 0 and 1"
    way = "KBinsDiscretizer or Binarizer" if binary else "MinMaxScaler(clip=True)"
    raise ValueError(f"{negative}{name} needs inputs that are {kind}; got {bad:g}. Put a {way} before it.")


def linked(model: Learner, name: str) -> np.ndarray:
    """The sums from which the weights are computed, one row per learner."""
    learners = cast("list[spaces.Multiplicative]", model._fitted(name).learners)
    sums = np.stack([learner.parameters() for learner in learners])
    return sums if model.fit_intercept else np.ascontiguousarray(sums[:, :-1])


@spec
class DisjunctionLearner(Learner, CalibrationRows):
    """Learners of disjunctions: no intercept, a tie is positive, one learner per class beyond two."""

    _counts_loss = False

    fit_intercept: ClassVar[bool] = False  # a threshold takes its place
    intercept_scaling: ClassVar[float] = 1.0
    row_norm: ClassVar[None] = None  # inputs are 0 to 1 as they are

    def _threshold(self) -> np.ndarray:
        return self._space.offset()

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"bias": 1.0, "free": True}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"threshold": learner.threshold()}

    def _start_at(
        self,
        space: Space,
        d: int,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
    ) -> None:
        raise ValueError(f"{type(self).__name__} starts from all weights equal; drop coef_init.")

    @property
    def _intake(self) -> ShareIntake:
        return ShareIntake(self)


@spec
class WinnowSpec(DisjunctionLearner):
    """Parameters and plan of :class:`perceptrons.Winnow`."""

    kind: int = 2
    alpha: float = 2.0
    threshold: float | None = None

    _of_state = ("kind", "threshold")

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("kind", self.kind, (1, 2))
        if checks.positive("alpha", self.alpha) <= 1.0:
            raise ValueError(f"alpha must be greater than 1; got alpha={self.alpha!r}.")
        if self.threshold is not None and checks.positive("threshold", self.threshold) < 1.0:
            raise ValueError(f"threshold must be at least 1; got threshold={self.threshold!r}.")

    def _check_values(self, X: AnyMatrix) -> None:
        check_range(f"Winnow(kind={self.kind})", X, binary=self.kind == 1)

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Multiplicative,)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Multiplicative:
        theta = float(n_features if self.threshold is None else self.threshold)
        link = multiplicative.Winnow(float(self.alpha), theta, self.kind == 1)
        return spaces.Multiplicative(link, frame, n_features, follow=self.threshold is None)

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        promotions = int(learner.promotions())
        return super()._learner_fields(r, learner) | {"promotions": promotions}

    def _promotions(self) -> int:
        learners = cast("list[spaces.Multiplicative]", self._fitted("n_promotions_").learners)
        return int(sum(learner.promotions() for learner in learners))

    @property
    def n_promotions_(self) -> int:
        """Updates on positive rows."""
        return self._promotions()

    @property
    def n_demotions_(self) -> int:
        """Updates on negative rows."""
        return self.n_updates_ - self._promotions()


@spec
class EliminationSpec(DisjunctionLearner):
    """Parameters and plan of :class:`perceptrons.Elimination`."""

    literals: str = "monotone"

    _of_state = ("literals",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("literals", self.literals, ("monotone", "all"))

    def _check_values(self, X: AnyMatrix) -> None:
        check_range("Elimination", X, binary=True)

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Elimination,)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Elimination:
        return spaces.Elimination(frame, n_features, self.literals == "all")

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return super()._learner_fields(r, learner) | {"literals": int(self.literals_[r].sum())}

    @property
    def literals_(self) -> np.ndarray:
        """Which literals have not been struck out."""
        learners = cast("list[spaces.Elimination]", self._fitted("literals_").learners)
        d = self._space.n_features
        alive = np.stack([learner.alive[:d] > 0 for learner in learners])
        if not learners[0].with_negations:
            return alive
        return np.hstack([alive, np.stack([learner.negated[:d] > 0 for learner in learners])])

    @property
    def inconsistent_(self) -> bool:
        """Whether a positive row was met in which no remaining literal is true."""
        return self._fitted("inconsistent_").counts().refused > 0


@spec
class BalancedWinnowSpec(Learner, Augmented):
    """Parameters and plan of :class:`perceptrons.BalancedWinnow`."""

    eta: float = 0.1
    mistake: str = "margin"

    _counts_loss = False

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("eta", self.eta)
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Multiplicative,)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Multiplicative:
        link = multiplicative.Balanced(float(self.eta))
        return spaces.Multiplicative(link, frame, n_features, self.mistake == "prediction")

    def _start_at(
        self,
        space: Space,
        d: int,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
    ) -> None:
        raise ValueError("BalancedWinnow starts from z = 0; drop coef_init and intercept_init.")

    def _margin_order(self) -> float:
        return 1.0

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"order": self._margin_order()}

    @property
    def z_(self) -> np.ndarray:
        """eta times the sum of the mistaken rows; with an intercept its constant coordinate comes last."""
        return linked(self, "z_")


@spec
class PNormPerceptronSpec(Learner, Augmented):
    """Parameters and plan of :class:`perceptrons.PNormPerceptron`."""

    p: float = 2.0
    mistake: str = "margin"

    _of_state = ("p",)
    _counts_loss = False

    def _check_params(self) -> None:
        super()._check_params()
        if checks.positive("p", self.p) < 2.0:
            raise ValueError(f"p must be at least 2; got p={self.p!r}.")
        checks.one_of("mistake", self.mistake, ("margin", "prediction"))

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Multiplicative,)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Multiplicative:
        link = multiplicative.PNorm(float(self.p))
        return spaces.Multiplicative(link, frame, n_features, self.mistake == "prediction")

    def _start_at(
        self,
        space: Space,
        d: int,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
    ) -> None:
        raise ValueError("PNormPerceptron starts from theta = 0; drop coef_init and intercept_init.")

    def _margin_order(self) -> float:
        p = float(self._learned_with("p"))
        return p / (p - 1.0)

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        return super()._record_fields(evidence) | {"order": self._margin_order()}

    @property
    def theta_(self) -> np.ndarray:
        """The sum of the mistaken rows; with an intercept its constant coordinate comes last."""
        return linked(self, "theta_")
