"""What kernel learners take, whatever the space: rows of numbers, strings, matrices, any objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import kernels
from . import checks
from .augmented import InterceptScaling
from .intakes import FLOATS, Objects
from .learner import Learner
from .parameters import spec


@spec
class KernelBased(Learner, InterceptScaling):
    r"""A learner that knows its objects by a kernel.

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
    """

    _LACKS: ClassVar[tuple[str, ...]] = ("coef_", "intercept_")

    fit_intercept: bool = False
    kernel: Any = "polynomial"
    block_size: int | str = "auto"

    _of_state = ("kernel", "device", "precision")

    row_norm: ClassVar[None] = None  # a kernel is normalised by kernels.Normalized

    if TYPE_CHECKING:  # what fitting sets
        kernel_: Any = None
        _known: Any = None

    def _check_params(self) -> None:
        super()._check_params()
        kernels.as_kernel(self.kernel)
        if self.block_size != "auto":
            checks.whole("block_size", self.block_size)

    @property
    def _intake(self) -> Objects:
        return Objects(self)

    def _dtypes(self) -> Any:
        """The precisions that rows of numbers may have."""
        return FLOATS

    # ------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None, order: Any = None) -> Any:  # type: ignore[override]
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

    def _score_row(self, row: Any) -> Any:
        return self._scores(row)[0]

    # ------------------------------------------------------------ what a linear learner has, and this one not

    @property
    def coef_(self) -> np.ndarray:
        """Not there: the weights of a kernel learner are ``dual_coef_`` over ``support_vectors_``."""
        raise AttributeError(f"{type(self).__name__} has no coef_; see dual_coef_ and support_vectors_.")

    @property
    def intercept_(self) -> np.ndarray:
        """Not there: a constant is part of the kernel."""
        raise AttributeError(f"{type(self).__name__} has no intercept_; it is part of the kernel.")
