r"""Second-order learners: w with a covariance, small in directions that occurred in many rows."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .. import rules
from ..engine import spaces
from . import checks
from .augmented import Augmented
from .learner import Learner
from .parameters import spec

if TYPE_CHECKING:
    from .._types import AnyMatrix
    from ..engine.spaces import Space
    from ..rows import Csr, Dense


@spec
class SecondOrderLearner(Learner, Augmented):
    r"""Learners with a covariance; several classes: one against the rest.

    Attributes
    ----------
    covariance_ : ndarray
        :math:`\Sigma`, or its diagonal, of each learner; the constant coordinate last, where there is one.
    margin_bounds_ : None
        No margin is stated.
    """

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Confident,)

    def _start_at(
        self,
        space: Space,
        d: int,
        coef_init: npt.ArrayLike | None,
        intercept_init: npt.ArrayLike | None,
    ) -> None:
        raise ValueError(f"{type(self).__name__} starts from w = 0; drop coef_init and intercept_init.")

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return {"rule": learner.rule, "covariance": learner.trimmed_sigma()}

    @property
    def covariance_(self) -> np.ndarray:
        """Sigma (or its diagonal) of each learner; the constant coordinate last, where there is one."""
        learners = cast("list[spaces.Confident]", self._fitted("covariance_").learners)
        return np.stack([learner.trimmed_sigma() for learner in learners])


@spec
class SecondOrderPerceptronSpec(SecondOrderLearner):
    """Parameters and plan of :class:`perceptrons.SecondOrderPerceptron`."""

    a: float = 1.0
    calibration_rows: str = "held out"

    _of_state = ("a",)
    _records_scores = False  # a row is learned by <w, x>, and predicted by a multiple of it

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("a", self.a)

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Confident:
        return spaces.Confident(rules.SecondOrder(), frame, n_features, full=True, start=1.0 / float(self.a))

    def _linear_scores(self, X: AnyMatrix) -> np.ndarray:
        # v'(A + xx')^{-1} x = <w, x> / (1 + x' A^{-1} x)
        learners = cast("list[spaces.Confident]", self._space.learners)
        rows = cast("Dense | Csr", self._intake.rows(X))
        variances = np.stack([learner.variances(rows, X.shape[0]) for learner in learners], axis=1)
        return super()._linear_scores(X) / (1.0 + variances)


@spec
class AROWSpec(SecondOrderLearner):
    """Parameters and plan of :class:`perceptrons.AROW`."""

    r: float = 1.0
    covariance: str = "diagonal"

    _of_state = ("covariance",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("r", self.r)
        checks.one_of("covariance", self.covariance, ("diagonal", "full"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Confident:
        return spaces.Confident(rules.AROW(float(self.r)), frame, n_features, full=self.covariance == "full")


@spec
class SCWSpec(SecondOrderLearner):
    """Parameters and plan of :class:`perceptrons.SCW`."""

    eta: float = 0.9
    C: float = 1.0
    variant: str = "I"
    covariance: str = "diagonal"

    _of_state = ("covariance",)

    def _check_params(self) -> None:
        super()._check_params()
        if checks.positive("eta", self.eta, below=1.0) <= 0.5:
            raise ValueError(f"eta must lie between 1/2 and 1; got eta={self.eta!r}.")
        checks.positive("C", self.C)
        checks.one_of("variant", self.variant, ("I", "II"))
        checks.one_of("covariance", self.covariance, ("diagonal", "full"))

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.Confident:
        phi = NormalDist().inv_cdf(float(self.eta))
        kind = rules.SCW1 if self.variant == "I" else rules.SCW2
        rule = kind(phi, float(self.C))
        return spaces.Confident(rule, frame, n_features, full=self.covariance == "full")
