"""Input of a learner: rows of numbers, dicts of named features, objects of a kernel.

An intake is made for a model and stores nothing itself: widths, names and kernels are attributes of the
model, which files store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .. import kernels
from .._sparse import as_scipy, is_sparse
from ..engine import intake, spaces
from ..engine.journal import row_lengths
from . import objects, one_row

if TYPE_CHECKING:
    from .._types import AnyMatrix, Collection
    from .._types import Objects as AnyObjects
    from ..engine.spaces import Frame, Space
    from ..rows import Csr, Dense
    from .classifier import Classifier
    from .kernel_based import KernelBased
    from .learner import Learner
    from .maximum_margin import MaxMarginSpec

FLOATS = [np.float64, np.float32]


def plain_lengths(X: AnyMatrix) -> np.ndarray:
    """Lengths of the rows without a constant coordinate; 0 for a row of zeros."""
    return np.asarray(np.where(row_lengths(X, 1.0) > 1.0, row_lengths(X, 0.0), 0.0))


def in_precision(X: AnyMatrix, space: Space | None) -> AnyMatrix:
    """X in the precision of the weights of the space; as it is where there is no space yet."""
    if space is None or X.dtype == space.frame.dtype:
        return X
    with np.errstate(over="ignore"):  # infinite values are refused later
        return X.astype(space.frame.dtype)


class NumberIntake:
    """Rows of numbers, dense or CSR; a single row may also be a dict of named features."""

    __slots__ = ("model",)

    def __init__(self, model: Classifier):
        self.model = model

    def tags(self) -> dict[str, bool]:
        """scikit-learn's input tags."""
        return {"sparse": True}

    # ------------------------------------------------------------ many rows

    def checked(self, X: AnyObjects, *, reset: bool) -> AnyMatrix:
        """X as a matrix of floats, or as prepared objects; ``reset``: set width and names of the model."""
        if is_sparse(X):
            X = intake.checked_csr(X if self.model._reads_csr_rows else as_scipy(X))
        # finite values are checked by the pass that squares the rows
        return self.model._contract.rows(
            self.model,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=FLOATS,
            order="C",
            ensure_all_finite=False,
        )

    def exact(self, given: AnyObjects, X: AnyMatrix) -> bool:
        """Whether X, made from ``given``, has exactly the same numbers."""
        return intake.held_exactly(given, X.dtype)

    def rows(
        self, X: AnyMatrix, learn: bool = False, frame: Frame | None = None
    ) -> Dense | Csr | spaces.KernelRows:
        """X as the loops read it, in ``frame``; None: in the frame in force."""
        frame = self.model._frame_in_force() if frame is None else frame
        return intake.make_rows(X, frame.bias, frame.unit, learn)

    def lengths(self, X: AnyMatrix) -> np.ndarray:
        """Lengths of the rows without a constant coordinate; 0 for a row of zeros."""
        return plain_lengths(X)

    def check_finite(self, X: AnyMatrix) -> None:
        """Raise an error that names the row, where a value of X is not finite or too large."""
        self.rows(X)

    def check_pieces(self) -> None:
        """Raise where the rows of a fit are needed all at once."""

    # ------------------------------------------------------------ one row

    def form(self, x: Any) -> tuple[int, npt.DTypeLike]:
        """Number of features and precision of a model whose first row is x."""
        width, dtype = one_row.form(x)
        self.model.n_features_in_ = width
        return width, dtype

    def one(self, x: Any) -> tuple[AnyMatrix, list[str]]:
        """x as one row, with a column for each of its names, and the new names."""
        return one_row.row(cast("Learner", self.model), x)

    def known(self, x: Any) -> AnyMatrix:
        """x as one row to be scored: unknown names are left out."""
        if isinstance(x, dict):
            known = one_row.known_names(cast("Learner", self.model))
            x = {name: value for name, value in x.items() if name in known}
        return self.one(x)[0]


class ShareIntake(NumberIntake):
    """Rows of numbers from 0 to 1."""

    __slots__ = ()

    def tags(self) -> dict[str, bool]:
        return {**super().tags(), "positive_only": True}


class ObjectIntake(NumberIntake):
    """Input of a kernel: rows of numbers, strings, columns of a kernel matrix, any objects."""

    __slots__ = ()

    model: KernelBased | MaxMarginSpec

    def tags(self) -> dict[str, bool]:
        return objects.input_tags(self.model.kernel)

    def checked(self, X: AnyObjects, *, reset: bool) -> AnyMatrix:
        """X as a collection that the kernel has prepared, in the precision of the weights."""
        model = self.model
        if reset:
            kernel = kernels.as_kernel(model.kernel)
            X = self._checked(kernel, X, reset=True)
            model.kernel_ = kernel.fitted(X)
            return model.kernel_.prepare(X)
        prepared = model.kernel_.prepare(self._checked(model.kernel_, X, reset=False), model._known)
        return in_precision(prepared, vars(model).get("_space"))

    def _checked(self, kernel: kernels.Kernel, X: AnyObjects, *, reset: bool) -> AnyObjects:
        return objects.checked(self.model, kernel, X, reset=reset, **self._numbers())

    def _numbers(self) -> dict[str, Any]:
        """Options for the check of rows of numbers."""
        return {"accept_sparse": "csr", "dtype": self.model._dtypes(), "order": "C"}

    def exact(self, given: AnyObjects, X: Collection) -> bool:
        return True  # only certify makes statements, and its argument is the objects themselves

    def rows(self, X: Collection, learn: bool = False, frame: Frame | None = None) -> spaces.KernelRows:
        model = self.model
        bias = model._bias() if frame is None else frame.bias
        sq = objects.self_products(model.kernel_, X, bias**2)
        if learn:
            objects.refuse_vanishing(model.kernel_, X, sq)
        model._known = X[np.empty(0, np.int64)]  # an example for preparing later objects; no view of X
        return spaces.KernelRows(X, intake.frozen(sq))

    def lengths(self, X: Collection) -> np.ndarray:
        return np.asarray(np.sqrt(np.maximum(0.0, objects.self_products(self.model.kernel_, X, 0.0))))

    def check_finite(self, X: Collection) -> None:
        """No check: a support row may be the cause as well."""

    def check_pieces(self) -> None:
        kernel = kernels.as_kernel(self.model.kernel)
        if kernel.takes == "table":
            raise ValueError("A precomputed kernel has its columns from one fit: it cannot learn in pieces.")
        if "_space" not in vars(self.model) and kernel.fitted([[0.0], [1.0]]) != kernel:
            raise ValueError(
                f"{kernel} takes its width from all of the data, which pieces do not show: give a number."
            )

    def form(self, x: Any) -> tuple[int, npt.DTypeLike]:
        X = self._alone(x, reset=True)
        self.rows(X)
        return X.shape[1], X.dtype

    def one(self, x: Any) -> tuple[AnyMatrix, list[str]]:
        return self.known(x), []

    def known(self, x: Any) -> AnyMatrix:
        return in_precision(self._alone(x, reset=False), cast("Learner", self.model)._space)

    def _alone(self, x: Any, *, reset: bool) -> AnyMatrix:
        """x as a collection of one object that the kernel has prepared."""
        model = self.model
        kernel = kernels.as_kernel(model.kernel) if reset else model.kernel_
        if kernel.takes not in ("numbers", "table"):
            return self.checked([x], reset=reset)
        if isinstance(x, dict):
            raise TypeError("Kernel learners take rows of numbers, not dicts of named features.")
        row = intake.checked_csr(x) if is_sparse(x) else np.atleast_2d(np.asarray(x))
        if row.ndim != 2 or row.shape[0] != 1:
            raise ValueError(f"x must be one row of numbers; got shape {row.shape}.")
        if reset:
            return self.checked(row, reset=True)
        row = model._contract.row(model, row, **self._numbers())  # names of features are not checked
        if row.shape[1] != model.n_features_in_:
            raise ValueError(
                f"x must have {model.n_features_in_} features, as the model has; got shape {row.shape}."
            )
        return model.kernel_.prepare(row, model._known)


class PointIntake(ObjectIntake):
    """Rows of numbers; with a kernel, the objects that it compares."""

    __slots__ = ()

    model: MaxMarginSpec

    def tags(self) -> dict[str, bool]:
        return {"sparse": True} if self.model.kernel is None else super().tags()

    def checked(self, X: AnyObjects, *, reset: bool) -> AnyMatrix:
        model = self.model
        if (model.kernel if reset else model._kernel_in_force()) is not None:
            return super().checked(X, reset=reset)
        if is_sparse(X):
            X = intake.checked_csr(as_scipy(X))
        elif reset and type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size:
            model.n_features_in_ = X.shape[1]  # no conversion, and no names of features
            if hasattr(model, "feature_names_in_"):
                del model.feature_names_in_
            return np.ascontiguousarray(X)
        numbers = {**self._numbers(), "accept_large_sparse": True, "ensure_all_finite": False}
        with np.errstate(over="ignore", invalid="ignore"):
            return model._contract.rows(model, X, reset=reset, **numbers)

    def check_finite(self, X: AnyMatrix) -> None:
        if self.model._kernel_in_force() is None:
            NumberIntake.rows(self, X)
