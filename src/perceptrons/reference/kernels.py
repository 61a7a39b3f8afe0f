r"""Kernels, each with its formula, and the feature maps behind three of them.

A kernel is a function of two objects, :math:`k(x, z) = \langle\phi(x), \phi(z)\rangle`; those with
parameters are made by a function of these. `gram` makes a matrix of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations, combinations_with_replacement
from math import exp, factorial, prod, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .record import Array, dot

Kernel: TypeAlias = Callable[[Any, Any], float]


def gram(kernel: Kernel, A: Sequence[Any], B: Sequence[Any] | None = None) -> Array:
    """The values k(a, b), one row for each a of A, one column for each b of B (of A by default)."""
    B = A if B is None else B
    return np.array([[kernel(a, b) for b in B] for a in A], dtype=np.float64).reshape(len(A), len(B))


def vector(x: ArrayLike) -> Array:
    """An example as a vector of float64."""
    return np.asarray(x, dtype=np.float64)


# ----------------------------------------------------------------------------------------- numbers


def linear_kernel(x: ArrayLike, z: ArrayLike) -> float:
    r""":math:`k(x, z) = x \cdot z`."""
    return dot(vector(x), vector(z))


def polynomial_kernel(degree: int = 2, coef0: float = 1.0, gamma: float = 1.0) -> Kernel:
    r""":math:`k(x, z) = (c + g\,x\cdot z)^d`, with c = `coef0` and g = `gamma`.

    >>> polynomial_kernel(degree=2)([1, 2], [3, 4])
    144.0
    """
    return lambda x, z: (coef0 + gamma * linear_kernel(x, z)) ** degree


def all_subsets_kernel(x: ArrayLike, z: ArrayLike) -> float:
    r""":math:`k(x, z) = \prod_i (1 + x_i z_i)`."""
    return float(np.prod(1.0 + vector(x) * vector(z)))


def gaussian_kernel(gamma: float) -> Kernel:
    r""":math:`k(x, z) = \exp(-\gamma\,\|x - z\|^2)`."""

    def k(x: ArrayLike, z: ArrayLike) -> float:
        difference = vector(x) - vector(z)
        return exp(-gamma * dot(difference, difference))

    return k


# ----------------------------------------------------------------------------------------- strings


def substring_counts(s: str | bytes, p: int) -> Counter[str | bytes]:
    """How often each string of length p occurs in s; occurrences may overlap.

    >>> substring_counts("banana", 3)
    Counter({'ana': 2, 'ban': 1, 'nan': 1})
    """
    return Counter(s[i : i + p] for i in range(len(s) - p + 1))


def spectrum_kernel(p: int, mode: str = "multiset") -> Kernel:
    r"""Substrings u of length p that two strings have in common [1]_.

    With :math:`n_u` the number of occurrences of u:

    ==========  ============================================
    "multiset"  :math:`\sum_u n_u(s)\,n_u(t)`
    "set"       the number of different u that are in both
    "min"       :math:`\sum_u \min(n_u(s), n_u(t))`
    ==========  ============================================

    References
    ----------
    .. [1] C. Leslie, E. Eskin, W. Noble, The spectrum kernel, Pacific Symposium on Biocomputing, 2002.
    """
    pay: dict[str, Callable[[int, int], int]] = {
        "multiset": lambda n, m: n * m,
        "set": lambda n, m: 1,
        "min": lambda n, m: min(n, m),
    }
    worth = pay[mode]

    def k(s: str | bytes, t: str | bytes) -> float:
        n, m = substring_counts(s, p), substring_counts(t, p)
        return float(sum(worth(n[u], m[u]) for u in n.keys() & m.keys()))

    return k


# ------------------------------------------------------------------------------------- composition


def constant_kernel(value: float) -> Kernel:
    r""":math:`k(x, z) = \mathrm{value} \ge 0`; a constant coordinate B adds :math:`B^2` to a kernel."""
    return lambda x, z: value


def scaled_kernel(factor: float, kernel: Kernel) -> Kernel:
    r""":math:`c\,k(x, z)` with :math:`c \ge 0`."""
    return lambda x, z: factor * kernel(x, z)


def sum_kernel(*kernels: Kernel) -> Kernel:
    r""":math:`k_1(x, z) + k_2(x, z) + \dots`"""
    return lambda x, z: sum(k(x, z) for k in kernels)


def product_kernel(*kernels: Kernel) -> Kernel:
    r""":math:`k_1(x, z)\,k_2(x, z) \cdots`"""
    return lambda x, z: prod(k(x, z) for k in kernels)


def normalized_kernel(kernel: Kernel) -> Kernel:
    r""":math:`k(x, z)/\sqrt{k(x, x)\,k(z, z)}`, and 0 where a self-value is 0."""

    def k(x: Any, z: Any) -> float:
        q = kernel(x, x) * kernel(z, z)
        return kernel(x, z) / sqrt(q) if q > 0.0 else 0.0

    return k


# ------------------------------------------------------------------------------------ feature maps


def monomials(x: ArrayLike, degree: int = 2, coef0: float = 1.0, gamma: float = 1.0) -> Array:
    r"""The features of the polynomial kernel, so that :math:`\phi(x)\cdot\phi(z) = (c + g\,x\cdot z)^d`.

    They are the monomials of degree d in :math:`x' = (\sqrt c, \sqrt g\,x)`, each times the root of
    the number of ways to write it as a product of d factors in order.

    >>> monomials([2], degree=2)  # 1, sqrt(2) x, x^2
    array([1.        , 2.82842712, 4.        ])
    """
    x = np.concatenate([[sqrt(coef0)], sqrt(gamma) * vector(x)])
    choices = combinations_with_replacement(range(len(x)), degree)
    return np.array([sqrt(orderings(chosen)) * prod(x[i] for i in chosen) for chosen in choices])


def orderings(chosen: Sequence[int]) -> int:
    """The number of different orders of some things, not all of them different."""
    return factorial(len(chosen)) // prod(factorial(n) for n in Counter(chosen).values())


def subset_products(x: ArrayLike) -> Array:
    r"""The features of the all-subsets kernel: :math:`\prod_{i \in A} x_i` for every set A of inputs.

    >>> subset_products([2, 3])
    array([1., 2., 3., 6.])
    """
    x = vector(x)
    subsets = chain.from_iterable(combinations(x, size) for size in range(len(x) + 1))
    return np.array([prod(chosen, start=1.0) for chosen in subsets])


# ------------------------------------------------------------------------------- positive or not?


class PsdVerdict(NamedTuple):
    r"""What a sample says about a kernel.

    Attributes
    ----------
    psd : bool
        False refutes it; True proves nothing.
    min_eigenvalue : float
        The smallest eigenvalue of the symmetric part of G.
    combination : ndarray
        Its unit eigenvector c, :math:`c^\top G c = \lambda_{\min}`: if that is negative, no feature
        map can have :math:`\|\sum_i c_i\phi(x_i)\|^2 = c^\top G c`.
    """

    psd: bool
    min_eigenvalue: float
    combination: Array


def is_psd(G: ArrayLike) -> PsdVerdict:
    r"""Can G be the matrix of a kernel on m examples?

    No if :math:`\max|G - G^\top| > 10^{-10}\max|G|`, or if
    :math:`\lambda_{\min} < -10^{-10}\max(1, \lambda_{\max})\sqrt m`.

    >>> is_psd([[1, 2], [2, 1]])[:2]
    (False, -1.0)
    """
    G = np.asarray(G, dtype=np.float64)
    values, vectors = np.linalg.eigh((G + G.T) / 2.0)
    symmetric = np.abs(G - G.T).max() <= 1e-10 * np.abs(G).max()
    positive = values[0] >= -1e-10 * max(1.0, values[-1]) * sqrt(len(G))
    return PsdVerdict(bool(symmetric and positive), float(values[0]), vectors[:, 0])
