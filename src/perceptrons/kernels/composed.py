"""Kernels made of kernels: sums, products, multiples, and values divided by their lengths."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Kernel, declare
from .prepared import Parts

if TYPE_CHECKING:
    from .._types import AnyMatrix


@dataclass(frozen=True)
class Composed(Kernel):
    """A kernel made of kernels over the same objects."""

    terms: tuple[Kernel, ...]

    @property
    def takes(self) -> str:
        kinds = {term.takes for term in self.terms}
        return kinds.pop() if len(kinds) == 1 else "objects"

    @property
    def by_inner_products(self) -> bool:
        return all(term.by_inner_products for term in self.terms)

    @property
    def by_pairs(self) -> bool:
        return any(term.by_pairs for term in self.terms)

    def prepare(self, objects: Any, like: Parts | None = None) -> Parts:
        if isinstance(objects, Parts):
            return objects
        likes = [None] * len(self.terms) if like is None else like.parts
        return Parts([term.prepare(objects, part) for term, part in zip(self.terms, likes, strict=True)])

    def fitted(self, objects: Any) -> Kernel:
        return replace(self, terms=tuple(term.fitted(objects) for term in self.terms))

    def _values(self, A: Parts, B: Parts) -> list[AnyMatrix]:
        return [k.matrix(a, b) for k, a, b in zip(self.terms, A.parts, B.parts, strict=True)]

    def _diagonals(self, A: Parts) -> list[AnyMatrix]:
        return [k.diagonal(a) for k, a in zip(self.terms, A.parts, strict=True)]


@declare(names=(), collection=Parts, on_command_line=False)
@dataclass(frozen=True)
class Sum(Composed):
    """k1 + k2 + …"""

    def matrix(self, A: Parts, B: Parts) -> AnyMatrix:
        return reduce(operator.iadd, self._values(A, B))

    def diagonal(self, A: Parts) -> AnyMatrix:
        return reduce(operator.add, self._diagonals(A))


@declare(names=(), collection=Parts, on_command_line=False)
@dataclass(frozen=True)
class Product(Composed):
    """k1 k2 …"""

    def matrix(self, A: Parts, B: Parts) -> AnyMatrix:
        return reduce(operator.imul, self._values(A, B))

    def diagonal(self, A: Parts) -> AnyMatrix:
        return reduce(operator.mul, self._diagonals(A))


@dataclass(frozen=True)
class Wrapped(Kernel):
    """A kernel made of one kernel."""

    kernel: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"{type(self).__name__} needs a kernel; got {self.kernel!r}.")

    @property
    def takes(self) -> str:
        return self.kernel.takes

    @property
    def by_inner_products(self) -> bool:
        return self.kernel.by_inner_products

    @property
    def by_pairs(self) -> bool:
        return self.kernel.by_pairs

    def prepare(self, objects: Any, like: Any = None) -> Any:
        return self.kernel.prepare(objects, like)

    def fitted(self, objects: Any) -> Kernel:
        return replace(self, kernel=self.kernel.fitted(objects))


@declare(names=(), collection=None, on_command_line=False)
@dataclass(frozen=True)
class Scaled(Wrapped):
    """c k, for a number c of at least 0."""

    factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.factor < np.inf:
            raise ValueError(f"A kernel can be multiplied by a number of at least 0; got {self.factor!r}.")

    def matrix(self, A: Any, B: Any) -> AnyMatrix:
        return self.factor * self.kernel.matrix(A, B)

    def diagonal(self, A: Any) -> AnyMatrix:
        return self.factor * self.kernel.diagonal(A)


@declare(names=(), collection=None, on_command_line=True)
@dataclass(frozen=True)
class Normalized(Wrapped):
    """k(x, z) / sqrt(k(x, x) k(z, z)); 0 where a self-value is 0."""

    def matrix(self, A: Any, B: Any) -> AnyMatrix:
        values = self.kernel.matrix(A, B)
        values *= self._inverse_roots(A, values)[:, None]
        values *= self._inverse_roots(B, values)[None, :]
        return values

    def diagonal(self, A: Any) -> AnyMatrix:
        return (self.kernel.diagonal(A) > 0.0) * 1.0

    def _inverse_roots(self, A: Any, values: AnyMatrix) -> AnyMatrix:
        q = self.kernel.diagonal(A)
        roots = (q + (q <= 0.0)) ** -0.5 * (q > 0.0)
        return roots.astype(values.dtype) if isinstance(roots, np.ndarray) else roots.to(values.dtype)
