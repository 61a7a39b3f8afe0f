"""What kernel learners take, whatever the space: rows of numbers, strings, matrices, any objects."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._sparse import is_sparse
from ..engine import intake, spaces
from . import changing, checks, class_weights, objects, progressive
from .augmented import InterceptScaling
from .classifier import FLOATS
from .learner import Learner
from .one_row import learn_batch_of_one, python_scores
from .parameters import spec
from .passes import CheckedRows
from .writing import one_writer, unchanged_on_error


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

    def _check_params(self) -> None:
        super()._check_params()
        kernels.as_kernel(self.kernel)
        if self.block_size != "auto":
            checks.whole("block_size", self.block_size)

    # ------------------------------------------------------------ intake

    def _validated_X(self, X: Any, *, reset: bool) -> Any:
        """X as a collection that the kernel has prepared."""
        if reset:
            kernel = kernels.as_kernel(self.kernel)
            X = self._checked_objects(kernel, X, reset=True)
            self.kernel_ = kernel.fitted(X)
            return self.kernel_.prepare(X)
        return self.kernel_.prepare(self._checked_objects(self.kernel_, X, reset=False), self._known)

    def _checked_objects(self, kernel: kernels.Kernel, X: Any, *, reset: bool) -> Any:
        return objects.checked(self, kernel, X, reset=reset, **self._numbers())

    def _numbers(self) -> dict[str, Any]:
        """How scikit-learn is to check rows of numbers."""
        return {"accept_sparse": "csr", "dtype": self._dtypes(), "order": "C"}

    def _dtypes(self) -> Any:
        """The precisions that rows of numbers may have."""
        return FLOATS

    def _held_exactly(self, given: Any, X: Any) -> bool:
        return True  # nothing is claimed without certify, which is given the objects themselves

    def _rows(self, X: Any, learn: bool = False, frame: spaces.Frame | None = None) -> spaces.KernelRows:
        bias = self._bias() if frame is None else frame.bias
        sq = objects.self_products(self.kernel_, X, bias**2)
        if learn:
            objects.refuse_vanishing(self.kernel_, X, sq)
        self._known = X[np.empty(0, np.int64)]  # what later objects are prepared like; no view of X
        return spaces.KernelRows(X, intake.frozen(sq))

    def _lengths(self, X: Any) -> np.ndarray:
        return np.sqrt(np.maximum(0.0, objects.self_products(self.kernel_, X, 0.0)))

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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn one pass over the objects in the order given.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or a collection of objects
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All labels that will ever occur. Without it each class is taken up at its first row.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_stream()
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_stream(self) -> None:
        """Refuse kernels that need all objects at once."""
        kernel = kernels.as_kernel(self.kernel)
        if kernel.takes == "table":
            raise ValueError("A precomputed kernel has its columns from one fit: it cannot learn in pieces.")
        if "_space" not in vars(self) and kernel.fitted([[0.0], [1.0]]) != kernel:
            raise ValueError(
                f"{kernel} takes its width from all of the data, which pieces do not show: give a number."
            )

    # ------------------------------------------------------------ one object

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one object: a row of numbers, a string, or whatever the kernel takes."""
        self._check_stream()
        if np.ndim(y) != 0:
            raise ValueError(f"y must be one label; got {y!r}.")
        with one_writer(self):
            if "_space" in vars(self):
                self._space.make_writable()
            with unchanged_on_error(self):
                fresh = "_space" not in vars(self)
                if fresh or changing.changed(self):
                    self._check_params()
                class_weights.check_pieces(self)
                steps = changing.changed_steps(self)
                X = self._in_precision(self._alone(x, reset=fresh), vars(self).get("_space"))
                rows = self._rows(X)
                label = np.asarray([y])
                weights = class_weights.row_weights(self, None, label)
                if fresh:
                    self._begin(X.shape[1], X.dtype, None)
                known = self.classes_
                codes = self._labels.codes(label, grow=True)
            since = progressive.known_since(self, known, codes, fresh)
            heard = progressive.single(self, since)
            counted = class_weights.to_count(self, label, weights)
            batch = CheckedRows(X, rows, codes, weights, changed=steps, counted=counted)
            learn_batch_of_one(self, batch, since, heard)

    def score_one(self, x: Any) -> Any:
        """Score of one object: a float, or a list of one per class for more than two classes."""
        if "_space" not in vars(self):
            raise self._contract.not_fitted(f"This {type(self).__name__} has learned nothing yet.")
        X = self._in_precision(self._alone(x, reset=False), self._space)
        return python_scores(self._finite_scores(X)[0])

    def _alone(self, x: Any, *, reset: bool) -> Any:
        """x as a collection of one that the kernel has prepared."""
        kernel = kernels.as_kernel(self.kernel) if reset else self.kernel_
        if kernel.takes not in ("numbers", "table"):
            return self._validated_X([x], reset=reset)
        if isinstance(x, dict):
            raise TypeError("Kernel learners take rows of numbers, not dicts of named features.")
        row = intake.checked_csr(x) if is_sparse(x) else np.atleast_2d(np.asarray(x))
        if row.ndim != 2 or row.shape[0] != 1:
            raise ValueError(f"x must be one row of numbers; got shape {row.shape}.")
        if reset:
            return self._validated_X(row, reset=True)
        row = self._contract.row(self, row, **self._numbers())  # it needs no names
        if row.shape[1] != self.n_features_in_:
            raise ValueError(
                f"x must have {self.n_features_in_} features, as the model has; got shape {row.shape}."
            )
        return self.kernel_.prepare(row, self._known)

    # ------------------------------------------------------------ scores

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each object: positive means the larger label; one column per class for more than two.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), or a collection of objects

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        self._contract.check_fitted(self)
        return self._finite_scores(self._in_precision(self._validated_X(X, reset=False), self._space))

    def _finite_scores(self, X: Any) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X)
        if not np.isfinite(scores).all():
            raise spaces.NumericalError("A score is not finite: the values are too large. Scale the data.")
        return scores

    # ------------------------------------------------------------ what a linear learner has, and this one not

    @property
    def coef_(self) -> np.ndarray:
        """Not there: the weights of a kernel learner are ``dual_coef_`` over ``support_vectors_``."""
        raise AttributeError(f"{type(self).__name__} has no coef_; see dual_coef_ and support_vectors_.")

    @property
    def intercept_(self) -> np.ndarray:
        """Not there: a constant is part of the kernel."""
        raise AttributeError(f"{type(self).__name__} has no intercept_; it is part of the kernel.")

    def _input_tags(self) -> dict[str, bool]:
        return objects.input_tags(self.kernel)
