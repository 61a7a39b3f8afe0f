"""What a learner takes: rows of numbers, dicts of named features, objects of a kernel.

An intake is made for a model and keeps nothing itself: widths, names and kernels are attributes of the model,
which files store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from .._sparse import is_sparse
from ..engine import intake, spaces
from ..engine.journal import row_lengths
from . import objects, one_row

if TYPE_CHECKING:
    from ..engine.spaces import Frame

FLOATS = [np.float64, np.float32]


def plain_lengths(X: Any) -> np.ndarray:
    """Lengths of the rows without a constant coordinate; 0 for a row of zeros."""
    return np.asarray(np.where(row_lengths(X, 1.0) > 1.0, row_lengths(X, 0.0), 0.0))


def in_precision(X: Any, space: Any) -> Any:
    """X in the precision of the weights that are there already."""
    if space is None or X.dtype == space.frame.dtype:
        return X
    with np.errstate(over="ignore"):  # an infinity is found with the others
        return X.astype(space.frame.dtype)


class Numbers:
    """Rows of numbers, dense or CSR; a single row may also be a dict of named features."""

    __slots__ = ("model",)

    def __init__(self, model: Any):
        self.model = model

    def tags(self) -> dict[str, bool]:
        """What X may be, in scikit-learn's words."""
        return {"sparse": True}

    # ------------------------------------------------------------ many rows

    def checked(self, X: Any, *, reset: bool) -> Any:
        """X as a matrix of floats, or what stands for it; ``reset``: the model takes its width and names."""
        if is_sparse(X):
            X = intake.checked_csr(X)
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

    def exact(self, given: Any, X: Any) -> bool:
        """Whether X, made from what was given, holds the very same numbers."""
        return intake.held_exactly(given, X.dtype)

    def rows(self, X: Any, learn: bool = False, frame: Frame | None = None) -> Any:
        """X as the loops read it: in the frame in force, or in another one."""
        frame = self.model._frame_in_force() if frame is None else frame
        return intake.make_rows(X, frame.bias, frame.unit, learn)

    def lengths(self, X: Any) -> np.ndarray:
        """Lengths of the rows without a constant coordinate; 0 for a row of zeros."""
        return plain_lengths(X)

    def check_finite(self, X: Any) -> None:
        """Raise, naming the row, where a value of X is why a score is not finite."""
        self.rows(X)

    def check_pieces(self) -> None:
        """Refuse what needs all rows at once."""

    # ------------------------------------------------------------ one row

    def form(self, x: Any) -> tuple[int, Any]:
        """Features and precision of a model whose first row is x."""
        width, dtype = one_row.form(x)
        self.model.n_features_in_ = width
        return width, dtype

    def one(self, x: Any) -> tuple[Any, list[str]]:
        """x as one row, wide enough for all its names, and those of them that are new."""
        return one_row.row(self.model, x)

    def known(self, x: Any) -> Any:
        """x as one row to be scored: names without a weight are left out."""
        if isinstance(x, dict):
            known = one_row.known_names(self.model)
            x = {name: value for name, value in x.items() if name in known}
        return self.one(x)[0]


class Shares(Numbers):
    """Rows of numbers from 0 to 1."""

    __slots__ = ()

    def tags(self) -> dict[str, bool]:
        return {**super().tags(), "positive_only": True}


class Objects(Numbers):
    """What a kernel compares: rows of numbers, strings, columns of a kernel matrix, any objects."""

    __slots__ = ()

    def tags(self) -> dict[str, bool]:
        return objects.input_tags(self.model.kernel)

    def checked(self, X: Any, *, reset: bool) -> Any:
        """X as a collection that the kernel has prepared, in the precision of the weights that are there."""
        model = self.model
        if reset:
            kernel = kernels.as_kernel(model.kernel)
            X = self._checked(kernel, X, reset=True)
            model.kernel_ = kernel.fitted(X)
            return model.kernel_.prepare(X)
        prepared = model.kernel_.prepare(self._checked(model.kernel_, X, reset=False), model._known)
        return in_precision(prepared, vars(model).get("_space"))

    def _checked(self, kernel: kernels.Kernel, X: Any, *, reset: bool) -> Any:
        return objects.checked(self.model, kernel, X, reset=reset, **self._numbers())

    def _numbers(self) -> dict[str, Any]:
        """How rows of numbers are to be checked."""
        return {"accept_sparse": "csr", "dtype": self.model._dtypes(), "order": "C"}

    def exact(self, given: Any, X: Any) -> bool:
        return True  # nothing is claimed without certify, which is given the objects themselves

    def rows(self, X: Any, learn: bool = False, frame: Frame | None = None) -> spaces.KernelRows:
        model = self.model
        bias = model._bias() if frame is None else frame.bias
        sq = objects.self_products(model.kernel_, X, bias**2)
        if learn:
            objects.refuse_vanishing(model.kernel_, X, sq)
        model._known = X[np.empty(0, np.int64)]  # what later objects are prepared like; no view of X
        return spaces.KernelRows(X, intake.frozen(sq))

    def lengths(self, X: Any) -> np.ndarray:
        return np.sqrt(np.maximum(0.0, objects.self_products(self.model.kernel_, X, 0.0)))

    def check_finite(self, X: Any) -> None:
        """Values of X are not told from those of the support rows."""

    def check_pieces(self) -> None:
        kernel = kernels.as_kernel(self.model.kernel)
        if kernel.takes == "table":
            raise ValueError("A precomputed kernel has its columns from one fit: it cannot learn in pieces.")
        if "_space" not in vars(self.model) and kernel.fitted([[0.0], [1.0]]) != kernel:
            raise ValueError(
                f"{kernel} takes its width from all of the data, which pieces do not show: give a number."
            )

    def form(self, x: Any) -> tuple[int, Any]:
        X = self._alone(x, reset=True)
        self.rows(X)
        return X.shape[1], X.dtype

    def one(self, x: Any) -> tuple[Any, list[str]]:
        return self.known(x), []

    def known(self, x: Any) -> Any:
        return in_precision(self._alone(x, reset=False), self.model._space)

    def _alone(self, x: Any, *, reset: bool) -> Any:
        """x as a collection of one that the kernel has prepared."""
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
        row = model._contract.row(model, row, **self._numbers())  # it needs no names
        if row.shape[1] != model.n_features_in_:
            raise ValueError(
                f"x must have {model.n_features_in_} features, as the model has; got shape {row.shape}."
            )
        return model.kernel_.prepare(row, model._known)
