"""The table of kernels, and what all kernels share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._sparse import is_sparse
from .prepared import Objects, Parts, Rows

if TYPE_CHECKING:
    from .._types import AnyMatrix


# ---------------------------------------------------------------- one row for each


class Declared(NamedTuple):
    """What the rest of the package needs of a kernel."""

    kernel: type[Kernel]  #: its fields are the parameters
    names: tuple[str, ...]  #: that stand for it with its defaults
    #: what :meth:`Kernel.prepare` makes of objects; None: what the kernel inside makes
    collection: type[Rows] | type[Objects] | type[Parts] | None
    on_command_line: bool  #: ``--kernel`` takes it, with parameters


#: Every kernel of the package. Model files, the command line and the names of parameters read it.
TABLE: dict[str, Declared] = {}
K = TypeVar("K", bound="type[Kernel]")


def declare(
    *,
    names: tuple[str, ...],
    collection: type[Rows] | type[Objects] | type[Parts] | None,
    on_command_line: bool,
) -> Callable[[K], K]:
    """Decorator: add a kernel to the table; no fact has a default."""

    def add(kernel: K) -> K:
        TABLE[kernel.__name__] = Declared(kernel, names, collection, on_command_line)
        return kernel

    return add


# ---------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Kernel:
    """What all kernels share.

    What :meth:`prepare` returns is up to the kernel; the other methods take nothing else.
    """

    def prepare(self, objects: Any, like: Any = None) -> Any:
        """Objects in the form that the other methods take; ``like`` is a collection prepared before."""
        if isinstance(objects, Rows):
            return objects
        if is_sparse(objects):
            return Rows(objects.tocsr())
        X = np.asarray(objects)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(f"{type(self).__name__} needs a matrix, one row per object; got {X.ndim} axes.")
        return Rows(X)

    def matrix(self, A: Any, B: Any) -> AnyMatrix:
        """k(a, b) for all pairs of two prepared collections."""
        raise NotImplementedError

    def diagonal(self, A: Any) -> AnyMatrix:
        """k(a, a)."""
        raise NotImplementedError

    def fitted(self, objects: Any) -> Kernel:
        """The kernel with parameters that depend on the data filled in."""
        return self

    @property
    def takes(self) -> str:
        """What the objects are: "numbers", "strings", "table" or "objects"."""
        return "numbers"

    @property
    def by_inner_products(self) -> bool:
        """Whether values are functions of inner products of rows, so that tensors will do."""
        return False

    @property
    def by_pairs(self) -> bool:
        """Whether each value is a call of a Python function."""
        return False

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        """k(a, b) for all pairs; B is A where it is left out."""
        left = self.prepare(A)
        values: np.ndarray = self.matrix(left, left if B is None else self.prepare(B, left))
        return values

    def __add__(self, other: object) -> Kernel:
        from .composed import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        from .composed import Product

        return Product((self, other)) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, factor: object) -> Kernel:
        from .composed import Scaled

        if not isinstance(factor, (int, float, np.number)):
            return NotImplemented
        return Scaled(self, float(factor))


def check_positive(name: str, value: object) -> None:
    """Refuse what is not a positive number."""
    if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number; got {name}={value!r}.")


def check_whole(name: str, value: object) -> None:
    """Refuse what is not an integer of at least 1."""
    if isinstance(value, bool) or not (isinstance(value, (int, np.integer)) and value >= 1):
        raise ValueError(f"{name} must be an integer of at least 1; got {name}={value!r}.")
