r"""Kernel values once more, written from their formulas: what a checker of kernel models computes with.

A kernel is described by a dict, such as ``{"kind": "Polynomial", "degree": 2, "coef0": 1.0, "gamma":
1.0}``; composed ones hold the descriptions of their parts. Values come in floating point, and exactly,
as fractions, where the formula is rational.
"""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

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


def checked(kernel: Any) -> dict[str, Any]:
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


def values(kernel: dict[str, Any], A: Any, B: Any, numbers: Any = None, function: Any = None) -> np.ndarray:
    """k(a, b) for all pairs.

    ``numbers``: the places of the objects B among the training objects, for a precomputed kernel;
    ``function``: the user's own, for a ``Pairwise`` one.

    >>> A = np.array([[1.0, 2.0]])
    >>> values({"kind": "Polynomial", "degree": 2, "coef0": 1.0, "gamma": 1.0}, A, A)
    array([[36.]])
    >>> values({"kind": "Spectrum", "p": 2, "mode": "set"}, ["banana"], ["bandana"])
    array([[3.]])
    """
    kind = kernel["kind"]
    if kind in ("Sum", "Product"):
        parts = [values(part, A, B, numbers, function) for part in kernel["terms"]]
        return np.asarray(sum(parts) if kind == "Sum" else math.prod(parts))
    if kind == "Scaled":
        return kernel["factor"] * values(kernel["kernel"], A, B, numbers, function)
    if kind == "Normalized":
        K = values(kernel["kernel"], A, B, numbers, function)
        left = diagonal(kernel["kernel"], A, function)
        right = left[numbers] if numbers is not None else diagonal(kernel["kernel"], B, function)
        scale = np.sqrt(np.outer(left, right))
        return np.divide(K, scale, out=np.zeros_like(K), where=scale > 0.0)
    if kind == "Pairwise":
        return np.array([[float(_function(function)(a, b)) for b in B] for a in A]).reshape(len(A), len(B))
    if kind == "Spectrum":
        words, others = _words(kernel, A), _words(kernel, B)
        table = [[float(_common(a, b)) for b in others] for a in words]
        return np.array(table).reshape(len(words), len(others))
    if kind == "Precomputed":
        return np.asarray(dense(A)[:, numbers], dtype=float)
    if kind == "AllSubsets":
        left, right = dense(A), dense(B)
        return np.array([np.prod(1.0 + a * right, axis=1) for a in left]).reshape(len(left), len(right))
    G = dense(A @ B.T)
    if kind == "Linear":
        return G
    if kind == "Polynomial":
        return np.asarray((kernel["coef0"] + kernel["gamma"] * G) ** kernel["degree"])
    apart = squares(A)[:, None] + squares(B)[None, :] - 2.0 * G
    return np.exp(-kernel["gamma"] * np.maximum(apart, 0.0))


def diagonal(kernel: dict[str, Any], A: Any, function: Any = None) -> np.ndarray:
    """k(a, a).

    >>> diagonal({"kind": "AllSubsets"}, np.array([[1.0, 2.0]]))
    array([10.])
    """
    kind = kernel["kind"]
    if kind in ("Sum", "Product"):
        parts = [diagonal(part, A, function) for part in kernel["terms"]]
        return np.asarray(sum(parts) if kind == "Sum" else math.prod(parts))
    if kind == "Scaled":
        return kernel["factor"] * diagonal(kernel["kernel"], A, function)
    if kind == "Normalized":
        return (diagonal(kernel["kernel"], A, function) > 0.0).astype(float)
    if kind == "Pairwise":
        return np.array([float(_function(function)(a, a)) for a in A])
    if kind == "Spectrum":
        return np.array([float(_common(a, a)) for a in _words(kernel, A)])
    if kind == "Precomputed":
        return np.diagonal(dense(A)).astype(float)
    if kind == "AllSubsets":
        return np.prod(1.0 + dense(A) ** 2, axis=1)
    if kind == "Linear":
        return squares(A)
    if kind == "Polynomial":
        return np.asarray((kernel["coef0"] + kernel["gamma"] * squares(A)) ** kernel["degree"])
    return np.ones(A.shape[0])


def exact_value(kernel: dict[str, Any]) -> Callable[[Any, Any], Fraction] | None:
    """k(a, b) of two rows as a fraction, or None where it is none: an exponential, a root, a function.

    Rows are dicts of fractions by index; strings are strings.

    >>> k = exact_value({"kind": "Polynomial", "degree": 2, "coef0": 0.5, "gamma": 1.0})
    >>> k({0: Fraction(1)}, {0: Fraction(1, 3), 1: Fraction(1)})
    Fraction(25, 36)
    """
    kind = kernel["kind"]
    if kind == "Linear":
        return exact_dot
    if kind == "Polynomial":
        c, g, d = Fraction(kernel["coef0"]), Fraction(kernel["gamma"]), kernel["degree"]
        return lambda a, b: (c + g * exact_dot(a, b)) ** d
    if kind == "AllSubsets":
        return lambda a, b: math.prod((1 + v * b[j] for j, v in a.items() if j in b), start=Fraction(1))
    if kind == "Spectrum":
        return lambda a, b: Fraction(_common(*_words(kernel, [a, b])))
    if kind in ("Sum", "Product"):
        parts = [exact_value(part) for part in kernel["terms"]]
        if any(part is None for part in parts):
            return None
        join: Any = sum if kind == "Sum" else math.prod
        return lambda a, b: join(part(a, b) for part in parts if part is not None)
    if kind == "Scaled":
        inner, factor = exact_value(kernel["kernel"]), Fraction(kernel["factor"])
        return None if inner is None else lambda a, b: factor * inner(a, b)
    return None


def exact_dot(a: dict[int, Fraction], b: dict[int, Fraction]) -> Fraction:
    """The inner product of two rows of fractions."""
    if len(b) < len(a):
        a, b = b, a
    return sum((v * b[j] for j, v in a.items() if j in b), start=Fraction(0))


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix, in words that leave its type alone."""
    return bool(sparse.issparse(X))


def squares(X: Any) -> np.ndarray:
    """Squared lengths of the rows."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()
    X = np.asarray(X, dtype=float)
    return np.einsum("ij,ij->i", X, X)


def _function(function: Any) -> Any:
    if function is None:
        raise NeedsKernelError("The kernel is a function of two objects: give it by kernel=.")
    return function


def _words(kernel: dict[str, Any], strings: Any) -> list[Any]:
    p, out = kernel["p"], []
    for s in strings:
        counts = Counter(s[i : i + p] for i in range(len(s) - p + 1))
        out.append((kernel["mode"], counts))
    return out


def _common(a: Any, b: Any) -> int:
    (mode, left), (_, right) = a, b
    both = left.keys() & right.keys()
    if mode == "set":
        return len(both)
    return sum(min(left[u], right[u]) if mode == "min" else left[u] * right[u] for u in both)
