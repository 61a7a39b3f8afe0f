"""What every learner with a kernel does to the objects it is given."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .. import kernels
from .._sparse import is_sparse
from ..engine import intake
from ..theory import gram


def checked(model: Any, kernel: kernels.Kernel, X: Any, *, reset: bool, **numbers: Any) -> Any:
    """X, if the kernel takes it; ``numbers`` says how scikit-learn is to check rows of numbers."""
    if kernel.takes in ("numbers", "table"):
        if is_sparse(X):
            X = intake.checked_csr(X)
        with np.errstate(over="ignore", invalid="ignore"):  # an infinity is found with the others
            return model._contract.rows(model, X, reset=reset, **numbers)
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise TypeError(f"X must be a collection of objects; got {type(X).__name__}.")
    if is_sparse(X):
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


def describe(kernel: Any) -> dict[str, Any]:
    """A kernel as the checker knows it."""
    out: dict[str, Any] = {"kind": type(kernel).__name__}
    for field in dataclasses.fields(kernel):
        value = getattr(kernel, field.name)
        if field.name == "terms":
            out["terms"] = [describe(part) for part in value]
        elif field.name == "kernel":
            out["kernel"] = describe(value)
        elif field.name != "function":
            out[field.name] = value.item() if isinstance(value, np.generic) else value
    return gram.checked(out)


def described(kernel: Any) -> dict[str, Any] | None:
    """:func:`describe`, or None for functions and classes of the user's own."""
    try:
        found = describe(kernel)
    except (TypeError, ValueError):
        return None
    return None if gram.by_pairs(found) else found


def refuse_vanishing(kernel: kernels.Kernel, X: Any, squares: np.ndarray) -> None:
    """Refuse an object whose k(x, x) is above 0 by its formula and vanishes in floats."""
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


def raw(X: Any) -> Any:
    """The objects as they were given, from a collection that a kernel prepared."""
    if hasattr(X, "parts"):
        return raw(X.parts[0])
    return X.items if hasattr(X, "items") else X.X


def input_tags(kernel: Any) -> dict[str, bool]:
    """What the kernel takes, in scikit-learn's words; a wrong kernel is told by ``fit``."""
    try:
        takes = kernels.as_kernel(kernel).takes
    except ValueError:
        return {"sparse": True}
    return {"pairwise": takes == "table", "sparse": takes == "numbers", "string": takes == "strings"}
