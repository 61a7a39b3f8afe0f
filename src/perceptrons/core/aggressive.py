"""Learners that step to a margin: MIRA, passive-aggressive, ROMMA, ALMA."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy.typing as npt

from .. import rules
from ..engine import spaces
from ..engine.loops import multiclass
from . import checks
from .augmented import Augmented
from .first_order import AnyReadout, Jointly
from .parameters import spec
from .passes import CheckedRows

if TYPE_CHECKING:
    from .._types import Record
    from .class_weights import ClassWeight


@spec
class MIRASpec(AnyReadout, Jointly, Augmented):
    """Parameters and plan of :class:`perceptrons.MIRA`."""

    p: float = 0.0
    margin: str = "functional"
    variant: str = "pa"
    solver: str = "top"

    _of_state = ("variant",)

    def _check_params(self) -> None:
        super()._check_params()
        checks.one_of("margin", self.margin, ("functional", "geometric"))
        checks.one_of("variant", self.variant, ("pa", "crammer_singer"))
        checks.one_of("solver", self.solver, ("top", "exact"))
        checks.positive("p", self.p, below=1.0 if self.margin == "functional" else inf, zero=True)

    def _rule(self) -> Record:
        if self.variant == "crammer_singer":
            return rules.NormMinimising()
        if self.margin == "geometric":
            return rules.GeometricMIRA(float(self.p))
        return rules.MIRA(float(self.p))

    def _scheme(self) -> multiclass.Scheme:
        if self.variant == "crammer_singer":
            return multiclass.CrammerSinger()
        return multiclass.Exact(inf, 0.0) if self.solver == "exact" else multiclass.Top()

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> spaces.Space:
        if self.variant == "crammer_singer" and several:
            raise ValueError(
                "variant='crammer_singer' learns classes together, and the labels of an indicator matrix are "
                "learned apart: use variant='pa'."
            )
        if self.variant == "crammer_singer" and (n_classes <= 2 or not self._is_joint()):
            raise ValueError(
                "variant='crammer_singer' needs three or more classes and multiclass='joint'; "
                f"got {n_classes} classes and multiclass={self.multiclass!r}."
            )
        return super()._new_space(frame, n_features, n_classes, several)

    def _start(
        self, batch: CheckedRows, coef_init: npt.ArrayLike | None, intercept_init: npt.ArrayLike | None
    ) -> spaces.Space:
        if self.variant == "crammer_singer" and coef_init is None:
            raise ValueError(
                "variant='crammer_singer' never moves from W = 0; give fit a coef_init that is not 0."
            )
        return super()._start(batch, coef_init, intercept_init)

    @property
    def n_stalled_(self) -> int:
        """Rows inside the geometric band whose functional margin was 1 already."""
        return self._fitted("n_stalled_").counts().refused


@spec
class PassiveAggressiveSpec(AnyReadout, Jointly, Augmented):
    """Parameters and plan of :class:`perceptrons.PassiveAggressive`."""

    C: float = 1.0
    variant: str = "I"
    solver: str = "top"
    class_weight: ClassWeight = None

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("C", self.C)
        checks.one_of("variant", self.variant, ("I", "II", "hard"))
        checks.one_of("solver", self.solver, ("top", "exact"))
        if self.variant == "hard" and self.class_weight is not None:
            raise ValueError("variant='hard' has no C for class_weight to multiply; use 'I' or 'II'.")

    def _rule(self) -> Record:
        if self.variant == "hard":
            return rules.PA()
        return rules.PA1(float(self.C)) if self.variant == "I" else rules.PA2(float(self.C))

    def _scheme(self) -> multiclass.Scheme:
        if self.solver == "top":
            return multiclass.Top()
        cap = float(self.C) if self.variant == "I" else inf
        return multiclass.Exact(cap, 0.5 / float(self.C) if self.variant == "II" else 0.0)

    @property
    def squared_loss_(self) -> float:
        """Sum of the squared hinge losses of the examples."""
        return self._fitted("squared_loss_").counts().squared_loss


@spec
class ROMMASpec(AnyReadout, Jointly, Augmented):
    """Parameters and plan of :class:`perceptrons.ROMMA`."""

    aggressive: bool = False
    delta: float = 0.0

    def _check_params(self) -> None:
        super()._check_params()
        checks.flag("aggressive", self.aggressive)
        checks.positive("delta", self.delta, below=1.0, zero=True)

    def _rule(self) -> Record:
        return rules.AggressiveROMMA(float(self.delta)) if self.aggressive else rules.ROMMA()

    @property
    def infeasible_(self) -> bool:
        """Whether there were two rows whose half-spaces do not intersect."""
        return self._fitted("infeasible_").counts().refused > 0


@spec
class ALMASpec(AnyReadout, Augmented):
    """Parameters and plan of :class:`perceptrons.ALMA`."""

    alpha: float = 0.9

    _has_joint: ClassVar[bool] = False
    multiclass: ClassVar[str] = "ovr"

    def _check_params(self) -> None:
        super()._check_params()
        if self.alpha != 1:
            checks.positive("alpha", self.alpha, below=1.0)

    def _rule(self) -> Record:
        return rules.ALMA(float(self.alpha))
