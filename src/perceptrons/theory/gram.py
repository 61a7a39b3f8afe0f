r"""Kernel values once more, written from their formulas: what a checker of kernel models computes with.

A kernel is described by a dict, such as ``{"kind": "Polynomial", "degree": 2, "coef0": 1.0, "gamma":
1.0}``; composed ones hold the descriptions of their parts. Values come in floating point here, and
enclosed between fractions in :mod:`perceptrons.theory.enclosed`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from .._types import Floats, Json, MatrixLike, Objects, PairFunction

Words: TypeAlias = tuple[str, Counter[str]]  # the mode of a spectrum kernel, and the substrings of a string


Description: TypeAlias = dict[str, Any]  # a kernel by its kind and the parameters that the kind has

KINDS = {
    "Linear": (),
    "Polynomial": ("degree", "coef0", "gamma"),
    "Gaussian": ("gamma",),
    "AllSubsets": (),
    "Spectrum": ("p", "mode"),
    "Precomputed": (),
    "Pairwise": (),
    "Sum": ("terms",),
    "Product": ("terms",),
    "Scaled": ("kernel", "factor"),
    "Normalized": ("kernel",),
}


class NeedsKernelError(ValueError):
    """The kernel is a function of the user's, which a description cannot hold."""


def checked(kernel: Json) -> Description:
    """The description, if it is one; ValueError otherwise."""
    if not isinstance(kernel, dict) or kernel.get("kind") not in KINDS:
        raise ValueError(f"kernel must be described by a kind out of {', '.join(KINDS)}; got {kernel!r}.")
    if set(kernel) != {"kind", *KINDS[kernel["kind"]]}:
        raise ValueError(f"a {kernel['kind']} kernel has {KINDS[kernel['kind']]}; got {sorted(kernel)}.")
    for part in kernel.get("terms", []):
        checked(part)
    if "kernel" in kernel:
        checked(kernel["kernel"])
    for name in ("degree", "p"):
        if name in kernel and not (isinstance(kernel[name], int) and 1 <= kernel[name] <= 1000):
            raise ValueError(f"{name} must be an integer of at least 1; got {name}={kernel[name]!r}.")
    for name in ("coef0", "gamma", "factor"):
        if name in kernel and not (isinstance(kernel[name], (int, float)) and kernel[name] >= 0):
            raise ValueError(f"{name} must be a number of at least 0; got {name}={kernel[name]!r}.")
    return kernel


def values(
    kernel: Description,
    A: Objects,
    B: Objects,
    numbers: np.ndarray | None = None,
    function: PairFunction | None = None,
    places: np.ndarray | None = None,
    squares: npt.ArrayLike | None = None,
) -> np.ndarray:
    """k(a, b) for all pairs.

    ``places`` and ``numbers``: where the objects A and B are among the training objects, for a precomputed
    kernel (A: all of them); ``function``: the user's own, for a ``Pairwise`` one; ``squares``: the squared
    lengths of the rows A, where they are known.

    >>> A = np.array([[1.0, 2.0]])
    >>> values({"kind": "Polynomial", "degree": 2, "coef0": 1.0, "gamma": 1.0}, A, A)
    array([[36.]])
    >>> values({"kind": "Spectrum", "p": 2, "mode": "set"}, ["banana"], ["bandana"])
    array([[3.]])
    """
    return np.asarray(_Pairs(A, B, places, numbers, function, squares).values(kernel))


class _Pairs:
    """Two collections of objects; inner products are taken once, however many kernels are composed."""

    def __init__(
        self,
        A: Objects,
        B: Objects,
        places: np.ndarray | None,
        numbers: np.ndarray | None,
        function: PairFunction | None,
        squares: npt.ArrayLike | None,
    ):
        self.A, self.B, self.places, self.numbers, self.function = A, B, places, numbers, function
        self._known = squares

    @cached_property
    def products(self) -> np.ndarray:
        return dense(self.A @ self.B.T)

    @cached_property
    def squares(self) -> np.ndarray:
        return squares(self.A) if self._known is None else np.asarray(self._known)

    def values(self, kernel: Description) -> np.ndarray:
        kind, A, B = kernel["kind"], self.A, self.B
        if kind in ("Sum", "Product"):
            parts = [self.values(part) for part in kernel["terms"]]
            return np.asarray(sum(parts) if kind == "Sum" else math.prod(parts))
        if kind == "Scaled":
            return np.asarray(kernel["factor"] * self.values(kernel["kernel"]))
        if kind == "Normalized":
            return self._normalized(kernel["kernel"])
        if kind == "Pairwise":
            k = _function(self.function)
            return np.array([[float(k(a, b)) for b in B] for a in A]).reshape(len(A), len(B))
        if kind == "Spectrum":
            words, others = _words(kernel, A), _words(kernel, B)
            table = [[float(_common(a, b)) for b in others] for a in words]
            return np.array(table).reshape(len(words), len(others))
        if kind == "Precomputed":
            return np.asarray(dense(A)[:, self.numbers], dtype=float)
        if kind == "AllSubsets":
            left, right = dense(A), dense(B)
            return np.array([np.prod(1.0 + a * right, axis=1) for a in left]).reshape(len(left), len(right))
        if kind == "Linear":
            return self.products
        if kind == "Polynomial":
            return np.asarray((kernel["coef0"] + kernel["gamma"] * self.products) ** kernel["degree"])
        apart = self.squares[:, None] + squares(B)[None, :] - 2.0 * self.products
        return np.asarray(np.exp(-kernel["gamma"] * np.maximum(apart, 0.0)))

    def _normalized(self, inner: Description) -> np.ndarray:
        K = np.asarray(self.values(inner))
        left = diagonal(inner, self.A, self.function, self.places, self._known)
        right = diagonal(inner, self.B, self.function, self.numbers)
        scale = np.sqrt(np.outer(left, right))
        normalized: np.ndarray = np.divide(K, scale, out=np.zeros_like(K), where=scale > 0.0)
        return normalized


def diagonal(
    kernel: Description,
    A: Objects,
    function: PairFunction | None = None,
    places: np.ndarray | None = None,
    known: npt.ArrayLike | None = None,
) -> np.ndarray:
    """k(a, a). ``places``: of the objects among the training objects; ``known``: squared lengths.

    >>> diagonal({"kind": "AllSubsets"}, np.array([[1.0, 2.0]]))
    array([10.])
    """
    kind = kernel["kind"]
    if kind in ("Sum", "Product"):
        parts = [diagonal(part, A, function, places, known) for part in kernel["terms"]]
        return np.asarray(sum(parts) if kind == "Sum" else math.prod(parts))
    if kind == "Scaled":
        return np.asarray(kernel["factor"] * diagonal(kernel["kernel"], A, function, places, known))
    if kind == "Normalized":
        return (diagonal(kernel["kernel"], A, function, places, known) > 0.0).astype(float)
    if kind == "Pairwise":
        return np.array([float(_function(function)(a, a)) for a in A])
    if kind == "Spectrum":
        return np.array([float(_common(a, a)) for a in _words(kernel, A)])
    if kind == "Precomputed":
        every = np.arange(A.shape[0])
        return np.asarray(dense(A)[every, every if places is None else places])
    if kind == "AllSubsets":
        return np.asarray(np.prod(1.0 + dense(A) ** 2, axis=1))
    if kind == "Gaussian":
        return np.ones(A.shape[0])
    own = squares(A) if known is None else np.asarray(known)
    if kind == "Linear":
        return own
    return np.asarray((kernel["coef0"] + kernel["gamma"] * own) ** kernel["degree"])


def takes(kernel: Description) -> str:
    """What objects the kernel compares: "numbers", "objects", or "table" for numbers of rows of one.

    >>> takes({"kind": "Normalized", "kernel": {"kind": "Precomputed"}})
    'table'
    """
    parts = [*kernel.get("terms", ()), *([kernel["kernel"]] if "kernel" in kernel else [])]
    if parts:
        found = {takes(part) for part in parts}
        return "table" if "table" in found else "objects" if "objects" in found else "numbers"
    return {"Spectrum": "objects", "Pairwise": "objects", "Precomputed": "table"}.get(
        kernel["kind"], "numbers"
    )


def by_pairs(kernel: Description) -> bool:
    """Whether some part is a function of the user's."""
    parts = [*kernel.get("terms", ()), *([kernel["kernel"]] if "kernel" in kernel else [])]
    return kernel["kind"] == "Pairwise" or any(by_pairs(part) for part in parts)


def dense(X: Any) -> Floats:
    """An array-like, or a sparse matrix of any format, as an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)


def squares(X: MatrixLike) -> Floats:
    """Squared lengths of the rows."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()
    X = np.asarray(X, dtype=float)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def pair_function(kernel: Any) -> PairFunction | None:
    """A kernel as a function of two objects: a kernel with ``prepare`` and ``matrix``, or such a function."""
    if not (hasattr(kernel, "prepare") and hasattr(kernel, "matrix")):
        return cast("PairFunction | None", kernel)

    def value(a: Any, b: Any) -> float:
        left = kernel.prepare([a])
        return float(kernel.matrix(left, kernel.prepare([b], left))[0, 0])

    return value


def _function(function: PairFunction | None) -> PairFunction:
    if function is None:
        raise NeedsKernelError("The kernel is a function of two objects: give it by kernel=.")
    return function


def _words(kernel: Description, strings: Iterable[str]) -> list[Words]:
    p = kernel["p"]
    out: list[Words] = []
    for s in strings:
        counts = Counter(s[i : i + p] for i in range(len(s) - p + 1))
        out.append((kernel["mode"], counts))
    return out


def _common(a: Words, b: Words) -> int:
    (mode, left), (_, right) = a, b
    both = left.keys() & right.keys()
    if mode == "set":
        return len(both)
    return sum(min(left[u], right[u]) if mode == "min" else left[u] * right[u] for u in both)
