"""What every learner with a kernel does to the objects it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .. import kernels
from ..engine import intake


def checked(model: Any, kernel: kernels.Kernel, X: Any, *, reset: bool, **numbers: Any) -> Any:
    """X, if the kernel takes it; ``numbers`` says how scikit-learn is to check rows of numbers."""
    if kernel.takes in ("numbers", "table"):
        if intake.is_sparse(X):
            X = intake.checked_csr(X)
        with np.errstate(over="ignore", invalid="ignore"):  # an infinity is found with the others
            return validate_data(model, X, reset=reset, **numbers)
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a collection of objects; got {type(X).__name__}.")
    if intake.is_sparse(X):
        raise TypeError(f"{kernel} takes objects: give rows as a list or a dense array, not as {X.format}.")
    if len(X) == 0:
        raise ValueError(f"Found no objects; {type(model).__name__} needs at least one.")
    return X


def self_products(kernel: kernels.Kernel, X: Any, constant: float = 0.0) -> np.ndarray:
    """k(x, x) + constant of every object; raises ValueError that names the row."""
    with np.errstate(over="ignore", invalid="ignore"):
        sq = np.asarray(kernel.diagonal(X), np.float64) + constant
    if sq.shape != (len(X),):
        raise ValueError(f"{kernel} must return one value k(x, x) per object; it returned shape {sq.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(sq) & (sq >= 0.0)))
    if len(wrong):
        value = sq[wrong[0]]
        why = "No kernel has that: see kernels.check_psd." if -np.inf < value < 0.0 else "Scale the data."
        raise ValueError(f"k(x, x) of row {wrong[0]} is {value:g}, not a finite number of at least 0. {why}")
    return sq


def tagged(tags: Any, kernel: Any) -> Any:
    """scikit-learn's tags, with what the kernel takes; a wrong kernel is told by ``fit``."""
    try:
        takes = kernels.as_kernel(kernel).takes
    except ValueError:
        return tags
    tags.input_tags.pairwise = takes == "table"
    tags.input_tags.sparse = takes == "numbers"
    tags.input_tags.string = takes == "strings"
    return tags
