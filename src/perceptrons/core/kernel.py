r"""Kernel learners: w is a combination of examples, and only k(x, z) is computed."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..engine import spaces
from ..engine.journal import KernelJournal
from ..engine.loops.multiclass import Top
from . import checks
from .first_order import AnyReadout, AnyRule, FirstOrder, Jointly
from .intakes import FLOATS
from .kernel_based import KernelBased
from .parameters import spec
from .perceptron import PerceptronFamily
from .readouts import KernelReadout
from .run_records import known_rows

if TYPE_CHECKING:
    from .._types import Collection
    from ..engine.spaces import Joint, Linear, OneVsRest
    from ..kernels.prepared import Parts, Rows


@spec
class KernelLearner(KernelBased, FirstOrder, Jointly):
    r"""Base class of the kernel learners with a rule.

    Parameters
    ----------
    cache_mb : float, default=1000
        Kernel values with support rows that are kept from one epoch to the next, in megabytes.
    device : {"auto", "cpu", "cuda"}, default="auto"
        ``"cuda"`` needs torch and works in float32 unless ``precision`` is given. ``"auto"`` takes the
        GPU for float32 rows, if there is one and kernel and rule run there.
    precision : {None, "float32", "float64"}, default=None
        None: that of the rows. On a GPU float64 makes the same updates as the CPU; float32 may differ where a
        margin is smaller than its rounding, see ``smallest_margin_``.
    multiclass : {"joint", "ovr"}, default="joint"
        More than two classes: prototypes learned together, or one learner per class against the rest. These
        share the kernel values.

    Attributes
    ----------
    smallest_margin_ : float
        The smallest :math:`|m|` that float32 arithmetic on a device has decided on; inf elsewhere.
    """

    cache_mb: float = 1000.0
    device: str = "auto"
    precision: str | None = None

    _journal = KernelJournal

    if TYPE_CHECKING:  # set by fit
        _space: spaces.Dual = field(init=False)

    def _check_params(self) -> None:
        super()._check_params()
        checks.positive("cache_mb", self.cache_mb, zero=True)
        checks.one_of("device", self.device, ("auto", "cpu", "cuda"))
        checks.one_of("precision", self.precision, (None, "float32", "float64"))

    def _dtypes(self) -> npt.DTypeLike | list[type]:
        if self.precision is not None:
            return np.dtype(self.precision)
        return np.dtype(np.float32) if self.device == "cuda" else FLOATS

    # ------------------------------------------------------------ spaces

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> spaces.Dual:
        made = super()._new_space(frame._replace(bias=0.0), 0, n_classes, several)
        inner = cast("Linear | Joint | OneVsRest", made)
        return spaces.Dual(
            inner, self.kernel_, frame, n_features, self.block_size, float(self.cache_mb), self._where(frame)
        )

    def _where(self, frame: spaces.Frame) -> str:
        """The device that a fresh learner runs on."""
        if self.device == "cpu" or (self.device == "auto" and frame.dtype != np.float32):
            return "cpu"
        from ..engine.device import blocks as on_device

        known = cast("Rows | Parts", self._known)
        top_rival = not self._is_joint() or isinstance(self._scheme(), Top)
        return on_device.choose(self.device, self.kernel_, known, self._rule(), top_rival)

    # ------------------------------------------------------------ scores

    @property
    def _reading(self) -> KernelReadout:
        return KernelReadout(self, self._readout, self.normalized_votes, self.include_initial)

    def _linear_scores(self, X: Collection) -> np.ndarray:
        reading = self._reading
        return reading.votes(X) if reading.kind == "vote" else self._space.expand(X, reading.coefficients())

    # ------------------------------------------------------------ the record of a run

    def _record_weights(self, evidence: bool) -> dict[str, Any]:
        space = self._space
        weights = {"last": space.coefficients("last").T}
        if evidence and self._keeps_average():
            weights["average"] = space.coefficients("average").T
        known = known_rows(self) if evidence else None
        return {"weights": weights, "support": np.asarray(space.support.numbers), "known_rows": known}

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        return super()._learner_fields(r, learner) | {"support": self.n_support_}

    # ------------------------------------------------------------ computed from the space

    def _supporting(self, name: str) -> np.ndarray:
        """Positions of the support rows that the readout uses."""
        self._fitted(name)
        if self._readout == "vote":
            used = [journal.position for journal in self._journals]
            return np.unique(np.concatenate(used))
        return np.flatnonzero(self._reading.coefficients().any(axis=1))

    @property
    def support_(self) -> np.ndarray:
        """Rows that w is made of: their numbers in ``fit``, or counted over all calls of ``partial_fit``."""
        places = self._supporting("support_")
        return np.asarray(self._space.support.numbers[places])

    @property
    def n_support_(self) -> int:
        """How many rows w is made of."""
        return len(self._supporting("n_support_"))

    @property
    def support_vectors_(self) -> Any:
        """The rows that w is made of; other objects as a list."""
        places = self._supporting("support_vectors_")
        rows = self._space.support.rows
        if rows is None:
            return np.empty((0, getattr(self, "n_features_in_", 0)))
        return spaces.shown(rows, places)

    @property
    def dual_coef_(self) -> np.ndarray:
        """(1 or n_classes, n_support): coefficients with their signs; of the last w where weights vote."""
        places = self._supporting("dual_coef_")
        a = self._space.coefficients("last") if self._readout == "vote" else self._reading.coefficients()
        return np.ascontiguousarray(a[places].T)

    @property
    def smallest_margin_(self) -> float:
        """The smallest absolute margin that float32 arithmetic on a device has decided on; inf elsewhere."""
        self._fitted("smallest_margin_")
        return float(self._space.smallest_margin)


@spec
class KernelClassifierSpec(KernelLearner, AnyRule):
    """Parameters and plan of :class:`perceptrons.KernelClassifier`."""


@spec
class KernelPerceptronSpec(KernelLearner, PerceptronFamily, AnyReadout):
    """Parameters and plan of :class:`perceptrons.KernelPerceptron`."""
