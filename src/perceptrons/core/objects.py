"""Checks of the objects that a learner with a kernel takes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import kernels
from .._sparse import as_scipy, is_sparse
from ..engine import intake
from ..kernels.names import of_own_class
from ..theory import gram

if TYPE_CHECKING:
    from .._types import JsonObject, Objects, PairFunction
    from .classifier import Classifier


def checked(model: Classifier, kernel: kernels.Kernel, X: Objects, *, reset: bool, **numbers: Any) -> Objects:
    """X, if the kernel takes it; ``numbers`` has options for the check of rows of numbers."""
    if kernel.takes in ("numbers", "table"):
        if is_sparse(X):
            X = intake.checked_csr(as_scipy(X))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values are refused later
            return model._contract.rows(model, X, reset=reset, **numbers)
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a collection of objects; got {type(X).__name__}.")
    if is_sparse(X):
        raise TypeError(f"{kernel} takes objects: give rows as a list or a dense array, not as {X.format}.")
    if len(X) == 0:
        raise ValueError(f"Found no objects; {type(model).__name__} needs at least one.")
    return X


def self_products(kernel: kernels.Kernel, X: Objects, constant: float = 0.0) -> np.ndarray:
    """k(x, x) + constant of every object; a ValueError names the row without a valid value."""
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


def describe(kernel: kernels.Kernel) -> JsonObject:
    """A kernel in the form that certificates have; one of a class of the user's is a function of pairs."""
    if of_own_class(kernel):
        return gram.checked({"kind": "Pairwise"})
    out: JsonObject = {"kind": type(kernel).__name__}
    for field in dataclasses.fields(kernel):
        value = getattr(kernel, field.name)
        if field.name == "terms":
            out["terms"] = [describe(part) for part in value]
        elif field.name == "kernel":
            out["kernel"] = describe(value)
        elif field.name != "function":
            out[field.name] = value.item() if isinstance(value, np.generic) else value
    return gram.checked(out)


def described(kernel: kernels.Kernel) -> JsonObject | None:
    """:func:`describe`, or None for functions and classes of the user's own."""
    try:
        found = describe(kernel)
    except (TypeError, ValueError):
        return None
    return None if gram.by_pairs(found) else found


def refuse_vanishing(kernel: kernels.Kernel, X: Objects, squares: np.ndarray) -> None:
    """Refuse an object whose k(x, x) is positive by its formula and 0 in floats."""
    small = np.flatnonzero(squares < intake.LEAST_SQUARE)
    plain = described(kernel) if len(small) else None
    if plain is None:
        return
    from ..theory.enclosed import enclosed  # rare, and slow to import
    from ..theory.kernel_bracket import as_fractions

    rows = raw(X)
    rows = rows.cpu().numpy() if hasattr(rows, "cpu") else rows
    k = enclosed(plain, rows)
    if k is None:
        return
    for i in small.tolist():
        row = i if gram.takes(plain) == "table" else as_fractions(rows, i)
        if k(row, row).high > 0:
            raise ValueError(
                f"k(x, x) of row {i} is too small: it underflows ({squares[i]:.3g}). Scale the data."
            )


def raw(X: Objects) -> Objects:
    """The objects as they were given, from a collection that a kernel prepared."""
    if hasattr(X, "parts"):
        return raw(X.parts[0])
    return X.items if hasattr(X, "items") else X.X


def input_tags(kernel: str | kernels.Kernel | PairFunction | None) -> dict[str, bool]:
    """scikit-learn's input tags for this kernel; ``fit`` raises the error where there is no such kernel."""
    try:
        takes = kernels.as_kernel(kernel).takes
    except ValueError:
        return {"sparse": True}
    return {"pairwise": takes == "table", "sparse": takes == "numbers", "string": takes == "strings"}
