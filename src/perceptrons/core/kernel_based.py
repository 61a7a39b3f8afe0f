"""Input of kernel learners: rows of numbers, strings, kernel matrices, any objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..theory.brackets import margin_space
from . import checks
from .augmented import InterceptScaling
from .intakes import FLOATS, ObjectIntake
from .learner import Learner
from .parameters import spec

if TYPE_CHECKING:
    from .._types import AnyMatrix, Collection, PairFunction
    from .._types import Objects as AnyObjects


@spec
class KernelBased(Learner, InterceptScaling):
    r"""A learner that compares objects by a kernel.

    Parameters
    ----------
    kernel : kernel of :mod:`perceptrons.kernels`, its name, or a function of two objects
        Default: ``"polynomial"``, :math:`(1 + \langle x, z\rangle)^2`. ``"precomputed"``: X is the matrix of
        kernel values with the training objects.
    fit_intercept : bool, default=False
        True adds :math:`B^2` to the kernel. Most kernels contain a constant already.
    intercept_scaling : float, default=1.0
        :math:`B`.
    block_size : int or "auto", default="auto"
        Rows in a block; ``"auto"``: up to 1024, as memory allows.

    Attributes
    ----------
    support_ : ndarray of int
        The rows that w is made of.
    support_vectors_ : array, CSR matrix or list
        Those rows themselves.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Their coefficients, with signs.
    n_support_ : int
        How many they are.
    radius_ : float
        :math:`\sqrt{\max k(x, x)}`.
    margin_bounds_ : (None, inf)
        Kernel values are rounded, and nothing is stated here; :func:`perceptrons.certify` bounds that
        rounding. A pair per class for one-vs-rest.
    """

    _LACKS: ClassVar[tuple[str, ...]] = ("coef_", "intercept_")

    fit_intercept: bool = False
    kernel: str | kernels.Kernel | PairFunction = "polynomial"
    block_size: int | str = "auto"

    _of_state = ("kernel", "device", "precision")

    row_norm: ClassVar[None] = None  # a kernel is normalised by kernels.Normalized
    calibration_rows: ClassVar[str] = "held out"
    _records_scores = False

    if TYPE_CHECKING:  # set by fit
        kernel_: kernels.Kernel = field(init=False)
        _known: Collection = field(init=False)  #: an empty collection that was prepared by the kernel

    def _check_params(self) -> None:
        super()._check_params()
        kernels.as_kernel(self.kernel)
        if self.block_size != "auto":
            checks.whole("block_size", self.block_size)

    @property
    def _intake(self) -> ObjectIntake:
        return ObjectIntake(self)

    def _dtypes(self) -> npt.DTypeLike | list[type]:
        """The precisions that rows of numbers may have."""
        return FLOATS

    # ------------------------------------------------------------ learning

    def fit(  # type: ignore[override]  # a kernel learner has no coef_init
        self,
        X: AnyObjects,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        order: Sequence[npt.ArrayLike] | None = None,
    ) -> Self:
        """Learn in epochs over the objects, until a clean pass or ``max_iter``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or a collection of objects
            Rows of numbers, strings for :class:`perceptrons.kernels.Spectrum`, whatever a function of two
            objects takes, or the square matrix of a precomputed kernel.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        order : sequence of sequences of int, optional
            The rows to visit, one sequence per epoch; overrides ``shuffle`` and ``max_iter``.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight, order=order)

    def _score_row(self, row: AnyMatrix) -> float | np.ndarray:
        score: float | np.ndarray = self._scores(row)[0]
        return score

    def _margin_space(self) -> str:
        return margin_space(self._space.frame.bias, kernel=True, joint=self._space.joint)

    # ------------------------------------------------------------ attributes of linear learners only

    @property
    def coef_(self) -> np.ndarray:
        """Not there: the weights of a kernel learner are ``dual_coef_`` over ``support_vectors_``."""
        raise AttributeError(f"{type(self).__name__} has no coef_; see dual_coef_ and support_vectors_.")

    @property
    def intercept_(self) -> np.ndarray:
        """Not there: a constant is part of the kernel."""
        raise AttributeError(f"{type(self).__name__} has no intercept_; it is part of the kernel.")
