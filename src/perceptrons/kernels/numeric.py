"""Kernels of rows of numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._sparse import is_sparse
from .base import Kernel, check_positive, check_whole, declare
from .prepared import Rows, inner

if TYPE_CHECKING:
    from .._types import AnyMatrix

    Squares: TypeAlias = Callable[[], AnyMatrix]

_TILE = 1 << 18  # entries that stay in the processor's cache while they are worked on


@dataclass(frozen=True)
class InnerProduct(Kernel):
    """Kernels that are functions of <x, z>, ||x||^2 and ||z||^2: one matrix product, then entry by entry."""

    def from_inner(self, G: AnyMatrix, left: Squares | None, right: Squares | None) -> AnyMatrix:
        """Turn inner products G into kernel values, in place; left() and right() are squared lengths."""
        raise NotImplementedError

    @property
    def by_inner_products(self) -> bool:
        return True

    def matrix(self, A: Rows, B: Rows) -> AnyMatrix:
        _same_width(A, B)
        G = inner(A.X, B.X)
        if not isinstance(G, np.ndarray):
            return self.from_inner(G, A.squares, B.squares)
        step = max(1, _TILE // max(1, G.shape[1]))
        for start in range(0, len(G), step):
            part = slice(start, start + step)
            self.from_inner(G[part], functools.partial(_some, A, part), B.squares)
        return G

    def diagonal(self, A: Rows) -> AnyMatrix:
        q = A.squares()
        # the pair (a, a) as a column of inner products with right-hand squares added by left() alone
        return self._from_squares(q.astype(np.float64) if isinstance(q, np.ndarray) else q.double())

    def _from_squares(self, q: AnyMatrix) -> AnyMatrix:
        return self.from_inner(q[:, None] * 1.0, None, None)[:, 0]


@declare(names=("linear",), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Linear(InnerProduct):
    """k(x, z) = <x, z>."""

    def from_inner(self, G: AnyMatrix, left: Squares | None, right: Squares | None) -> AnyMatrix:
        return G


@declare(names=("polynomial", "poly"), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Polynomial(InnerProduct):
    r""":math:`k(x, z) = (\mathrm{coef0} + \gamma\langle x, z\rangle)^{\mathrm{degree}}`."""

    degree: int = 2
    coef0: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_whole("degree", self.degree)
        if not isinstance(self.coef0, Real) or not 0.0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0 must be a number of at least 0; got coef0={self.coef0!r}.")
        check_positive("gamma", self.gamma)

    def from_inner(self, G: AnyMatrix, left: Squares | None, right: Squares | None) -> AnyMatrix:
        if self.gamma != 1.0:
            G *= self.gamma
        if self.coef0 != 0.0:
            G += self.coef0
        return _raise_to(G, int(self.degree))


def _raise_to(G: AnyMatrix, degree: int) -> AnyMatrix:
    """G ** degree in place, by squaring."""
    if degree == 1:
        return G
    once = G * 1.0 if degree % 2 else None
    G *= G
    _raise_to(G, degree // 2)
    if once is not None:
        G *= once
    return G


@declare(names=("all_subsets",), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class AllSubsets(Kernel):
    r""":math:`k(x, z) = \prod_i(1 + x_iz_i)`: one feature for each product over a set of inputs."""

    def matrix(self, A: Rows, B: Rows) -> np.ndarray:
        _same_width(A, B)
        if is_sparse(A.X) or is_sparse(B.X):
            return self._by_entries(A.X, B.X)
        left, right = A.X, np.ascontiguousarray(B.X.T)
        out = np.ones((len(A), len(B)), np.result_type(left, right))
        step = max(1, _TILE // max(1, len(B)))
        for start in range(0, len(A), step):
            part = left[start : start + step]
            for j in np.flatnonzero(part.any(axis=0)):
                out[start : start + step] *= 1.0 + part[:, j, None] * right[j]
        return out

    def _by_entries(self, A: AnyMatrix, B: AnyMatrix) -> np.ndarray:
        """Input by input: only pairs of rows that both have it."""
        import scipy.sparse as sp

        left, right = sp.csc_array(A), sp.csc_array(B)
        out = np.ones((A.shape[0], B.shape[0]), np.result_type(A.dtype, B.dtype))
        for j in range(left.shape[1]):
            a = slice(left.indptr[j], left.indptr[j + 1])
            b = slice(right.indptr[j], right.indptr[j + 1])
            if a.start < a.stop and b.start < b.stop:
                pairs = np.ix_(left.indices[a], right.indices[b])
                out[pairs] *= 1.0 + left.data[a][:, None] * right.data[b]
        return out

    def diagonal(self, A: Rows) -> np.ndarray:
        if is_sparse(A.X):
            logs = A.X.copy()
            logs.data = np.log1p(logs.data.astype(np.float64) ** 2)
            totals: np.ndarray = np.exp(np.asarray(logs.sum(axis=1)).ravel())
            return totals
        products: np.ndarray = np.prod(1.0 + A.X.astype(np.float64) ** 2, axis=1)
        return products


@declare(names=("gaussian", "rbf"), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Gaussian(InnerProduct):
    r""":math:`k(x, z) = \exp(-\gamma\|x - z\|^2)`; ``gamma="scale"``: 1/(number of features × variance)."""

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, str) and self.gamma == "scale"):
            check_positive("gamma", self.gamma)

    def fitted(self, objects: Any) -> Kernel:
        if self.gamma != "scale":
            return self
        X = objects.X if isinstance(objects, Rows) else objects
        if not is_sparse(X):
            X = np.asarray(X, float)
        n = max(1, X.shape[0] * X.shape[1])
        variance = X.multiply(X).sum() / n - (X.sum() / n) ** 2 if is_sparse(X) else X.var()
        return replace(self, gamma=1.0 / (X.shape[1] * float(variance)) if variance > 0.0 else 1.0)

    def from_inner(self, G: AnyMatrix, left: Squares | None, right: Squares | None) -> AnyMatrix:
        if isinstance(self.gamma, str):
            raise ValueError(
                "Gaussian(gamma='scale') takes its width from data: call fitted(X) first, or give a number."
            )
        assert left is not None and right is not None
        G *= -2.0
        G += left()[:, None]
        G += right()[None, :]
        G *= G > 0.0  # rounding can leave a squared distance below 0
        G *= -self.gamma
        return np.exp(G, out=G) if isinstance(G, np.ndarray) else G.exp_()

    def _from_squares(self, q: AnyMatrix) -> AnyMatrix:
        return q * 0.0 + 1.0


def _same_width(A: Rows, B: Rows) -> None:
    if A.X.shape[1] != B.X.shape[1]:
        raise ValueError(f"Rows of {A.X.shape[1]} and of {B.X.shape[1]} features have no inner product.")


def _some(A: Rows, part: slice) -> AnyMatrix:
    """Squared lengths of some rows."""
    return A.squares()[part]
