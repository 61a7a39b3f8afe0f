r"""Kernels: inner products of feature maps that are never written out.

A kernel is a small immutable record. It takes a collection of objects once (:meth:`Kernel.prepare`) and then
answers with matrices of values between collections. Kernels compose: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``,
``Normalized(k)``; all of these stay positive semidefinite.

>>> import numpy as np
>>> from perceptrons.kernels import Linear, Normalized, Polynomial, Spectrum
>>> A = np.array([[1.0, 2.0], [0.0, 1.0]])
>>> Polynomial(degree=2)(A)
array([[36.,  9.],
       [ 9.,  4.]])
>>> bool((Polynomial(degree=1)(A) == 1.0 + Linear()(A)).all())
True
>>> Normalized(Spectrum(p=2))(["banana"], ["ban", "nab"]).round(3)
array([[0.707, 0.471]])

Numbers may come as dense arrays or CSR matrices. Kernels that are functions of inner products work on tensors
as well, on whatever device they live.
"""

from __future__ import annotations

import functools
import operator
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from functools import reduce
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._sparse import is_sparse
from .prepared import Objects, Parts, Rows, Strings, Table, inner, widened

_TILE = 1 << 18  # entries that stay in the processor's cache while they are worked on


# ---------------------------------------------------------------- one row for each


class Declared(NamedTuple):
    """What the rest of the package has to know of a kernel."""

    kernel: Any  #: the class; its fields are the parameters
    names: tuple[str, ...]  #: that stand for it with its defaults
    collection: Any  #: what :meth:`Kernel.prepare` makes of objects; None: what the kernel inside makes
    on_command_line: bool  #: ``--kernel`` takes it, with parameters


#: Every kernel of the package. Model files, the command line and the names of parameters read it.
TABLE: dict[str, Declared] = {}
K = TypeVar("K", bound=type)


def declare(*, names: tuple[str, ...], collection: Any, on_command_line: bool) -> Callable[[K], K]:
    """Decorator: add a kernel to the table; no fact has a default."""

    def add(kernel: K) -> K:
        TABLE[kernel.__name__] = Declared(kernel, names, collection, on_command_line)
        return kernel

    return add


# ---------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Kernel:
    """What all kernels share."""

    def prepare(self, objects: Any, like: Any = None) -> Any:
        """Objects in the form the other methods want; ``like`` is a collection prepared before."""
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

    def matrix(self, A: Any, B: Any) -> Any:
        """k(a, b) for all pairs of two prepared collections."""
        raise NotImplementedError

    def diagonal(self, A: Any) -> Any:
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
        return self.matrix(left, left if B is None else self.prepare(B, left))

    def __add__(self, other: Any) -> Kernel:
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        return Product((self, other)) if isinstance(other, Kernel) else self.__rmul__(other)

    def __rmul__(self, factor: Any) -> Kernel:
        if not isinstance(factor, (int, float, np.number)):
            return NotImplemented
        return Scaled(self, float(factor))


@dataclass(frozen=True)
class InnerProduct(Kernel):
    """Kernels that are functions of <x, z>, ||x||^2 and ||z||^2: one matrix product, then entry by entry."""

    def from_inner(self, G: Any, left: Any, right: Any) -> Any:
        """Turn inner products G into kernel values, in place; left() and right() are squared lengths."""
        raise NotImplementedError

    @property
    def by_inner_products(self) -> bool:
        return True

    def matrix(self, A: Any, B: Any) -> Any:
        _same_width(A, B)
        G = inner(A.X, B.X)
        if not isinstance(G, np.ndarray):
            return self.from_inner(G, A.squares, B.squares)
        step = max(1, _TILE // max(1, G.shape[1]))
        for start in range(0, len(G), step):
            part = slice(start, start + step)
            self.from_inner(G[part], lambda part=part: A.squares()[part], B.squares)
        return G

    def diagonal(self, A: Any) -> Any:
        q = A.squares()
        # the pair (a, a) as a column of inner products with right-hand squares added by left() alone
        return self._from_squares(q.astype(np.float64) if isinstance(q, np.ndarray) else q.double())

    def _from_squares(self, q: Any) -> Any:
        return self.from_inner(q[:, None] * 1.0, None, None)[:, 0]


@declare(names=("linear",), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Linear(InnerProduct):
    """k(x, z) = <x, z>."""

    def from_inner(self, G: Any, left: Any, right: Any) -> Any:
        return G


@declare(names=("polynomial", "poly"), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Polynomial(InnerProduct):
    r""":math:`k(x, z) = (\mathrm{coef0} + \gamma\langle x, z\rangle)^{\mathrm{degree}}`."""

    degree: int = 2
    coef0: float = 1.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _whole("degree", self.degree)
        if not isinstance(self.coef0, Real) or not 0.0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0 must be a number of at least 0; got coef0={self.coef0!r}.")
        _positive("gamma", self.gamma)

    def from_inner(self, G: Any, left: Any, right: Any) -> Any:
        if self.gamma != 1.0:
            G *= self.gamma
        if self.coef0 != 0.0:
            G += self.coef0
        return _raise_to(G, int(self.degree))


def _raise_to(G: Any, degree: int) -> Any:
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

    def matrix(self, A: Any, B: Any) -> np.ndarray:
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

    def _by_entries(self, A: Any, B: Any) -> np.ndarray:
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

    def diagonal(self, A: Any) -> np.ndarray:
        if is_sparse(A.X):
            logs = A.X.copy()
            logs.data = np.log1p(logs.data.astype(np.float64) ** 2)
            return np.exp(np.asarray(logs.sum(axis=1)).ravel())
        return np.prod(1.0 + A.X.astype(np.float64) ** 2, axis=1)


@declare(names=("gaussian", "rbf"), collection=Rows, on_command_line=True)
@dataclass(frozen=True)
class Gaussian(InnerProduct):
    r""":math:`k(x, z) = \exp(-\gamma\|x - z\|^2)`; ``gamma="scale"``: 1/(number of features × variance)."""

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, str) and self.gamma == "scale"):
            _positive("gamma", self.gamma)

    def fitted(self, objects: Any) -> Kernel:
        if self.gamma != "scale":
            return self
        X = objects.X if isinstance(objects, Rows) else objects
        if not is_sparse(X):
            X = np.asarray(X, float)
        n = max(1, X.shape[0] * X.shape[1])
        variance = X.multiply(X).sum() / n - (X.sum() / n) ** 2 if is_sparse(X) else X.var()
        return replace(self, gamma=1.0 / (X.shape[1] * float(variance)) if variance > 0.0 else 1.0)

    def from_inner(self, G: Any, left: Any, right: Any) -> Any:
        if isinstance(self.gamma, str):
            raise ValueError(
                "Gaussian(gamma='scale') takes its width from data: call fitted(X) first, or give a number."
            )
        G *= -2.0
        G += left()[:, None]
        G += right()[None, :]
        G *= G > 0.0  # rounding can leave a squared distance below 0
        G *= -self.gamma
        return np.exp(G, out=G) if isinstance(G, np.ndarray) else G.exp_()

    def _from_squares(self, q: Any) -> Any:
        return q * 0.0 + 1.0


@declare(names=("spectrum",), collection=Strings, on_command_line=False)
@dataclass(frozen=True)
class Spectrum(Kernel):
    """A string kernel: the substrings of length p that two strings have in common.

    ``mode="multiset"`` counts pairs of occurrences, ``"set"`` distinct substrings in both, ``"min"`` the
    smaller number of occurrences. Strings shorter than p have none. Objects are ``str`` or ``bytes``.

    Each mode is an inner product of sparse vectors: min(n, m) counts the k with n >= k and m >= k.
    """

    p: int = 3
    mode: str = "multiset"

    def __post_init__(self) -> None:
        _whole("p", self.p)
        if self.mode not in ("multiset", "set", "min"):
            raise ValueError(f"mode must be 'multiset', 'set' or 'min'; got mode={self.mode!r}.")

    @property
    def takes(self) -> str:
        return "strings"

    def prepare(self, objects: Any, like: Any = None) -> Strings:
        if isinstance(objects, Strings):
            return objects
        if isinstance(objects, (str, bytes)):
            raise TypeError("Spectrum needs a collection of strings; got a single one.")
        if hasattr(objects, "columns"):
            raise TypeError("Spectrum needs a collection of strings; got a frame: give one of its columns.")
        import scipy.sparse as sp

        columns: dict[Any, int] = {} if like is None else dict(like.columns)
        indptr, indices, data = [0], [], []
        for number, s in enumerate(objects):
            if not isinstance(s, (str, bytes)):
                raise TypeError(f"Spectrum needs strings; object {number} is of type {type(s).__name__}.")
            for key, count in self._features(s):
                indices.append(columns.setdefault(key, len(columns)))
                data.append(count)
            indptr.append(len(indices))
        counts = np.asarray(data, np.float64), np.asarray(indices, np.int64), np.asarray(indptr, np.int64)
        X = sp.csr_array(counts, shape=(len(indptr) - 1, len(columns)))
        X.sort_indices()
        return Strings(X, columns, list(objects))

    def _features(self, s: str | bytes) -> list[tuple[Any, int]]:
        counts = Counter(s[i : i + self.p] for i in range(len(s) - self.p + 1))
        if self.mode == "multiset":
            return list(counts.items())
        if self.mode == "set":
            return [(u, 1) for u in counts]
        return [((u, k), 1) for u, n in counts.items() for k in range(n)]

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        width = max(A.X.shape[1], B.X.shape[1])  # the columns of the one begin like those of the other
        return inner(widened(A.X, width), widened(B.X, width))

    def diagonal(self, A: Any) -> np.ndarray:
        return A.squares()


@declare(names=("precomputed",), collection=Table, on_command_line=False)
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values given by the user: X[i, j] = k(object i, training object j)."""

    @property
    def takes(self) -> str:
        return "table"

    def prepare(self, objects: Any, like: Any = None) -> Table:
        if isinstance(objects, Table):
            return objects
        X = super().prepare(objects).X
        X = X.toarray() if is_sparse(X) else X
        if like is not None:
            return Table(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel is a square matrix over the training objects; got shape {X.shape}."
            )
        return Table(X, np.arange(len(X)))

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        if B.numbers is None:
            raise ValueError("A precomputed kernel has no values between objects that were not trained on.")
        return A.X[:, B.numbers]

    def diagonal(self, A: Any) -> np.ndarray:
        if A.numbers is None:
            raise ValueError("A precomputed kernel has no k(x, x) of objects that were not trained on.")
        return A.X[np.arange(len(A)), A.numbers].astype(np.float64)


@declare(names=(), collection=Objects, on_command_line=False)
@dataclass(frozen=True)
class Pairwise(Kernel):
    """Any function of two objects; it is called once for each pair."""

    function: Callable[[Any, Any], float]

    @property
    def takes(self) -> str:
        return "objects"

    @property
    def by_pairs(self) -> bool:
        return True

    def prepare(self, objects: Any, like: Any = None) -> Objects:
        if isinstance(objects, Objects):
            return objects
        if is_sparse(objects):
            raise TypeError("A kernel function takes pairs of objects: give rows as a list or a dense array.")
        if hasattr(objects, "iloc"):  # a frame: its rows are the objects, not its columns
            return Objects([objects.iloc[i] for i in range(len(objects))])
        return Objects(objects)

    def matrix(self, A: Any, B: Any) -> np.ndarray:
        values = [[self._value(a, b) for b in B.items] for a in A.items]
        return np.array(values, np.float64).reshape(len(A), len(B))

    def diagonal(self, A: Any) -> np.ndarray:
        return np.array([self._value(a, a) for a in A.items])

    def _value(self, a: Any, b: Any) -> float:
        value = self.function(a, b)
        try:
            return float(value)
        except (TypeError, ValueError):
            name = getattr(self.function, "__name__", "kernel")
            raise TypeError(f"kernel {name!r} must answer a number for two objects; got {value!r}.") from None


# ---------------------------------------------------------------- composition


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

    def prepare(self, objects: Any, like: Any = None) -> Any:
        if isinstance(objects, Parts):
            return objects
        likes = [None] * len(self.terms) if like is None else like.parts
        return Parts([term.prepare(objects, part) for term, part in zip(self.terms, likes, strict=True)])

    def fitted(self, objects: Any) -> Kernel:
        return replace(self, terms=tuple(term.fitted(objects) for term in self.terms))

    def _values(self, A: Any, B: Any) -> list[Any]:
        return [k.matrix(a, b) for k, a, b in zip(self.terms, A.parts, B.parts, strict=True)]

    def _diagonals(self, A: Any) -> list[Any]:
        return [k.diagonal(a) for k, a in zip(self.terms, A.parts, strict=True)]


@declare(names=(), collection=Parts, on_command_line=False)
@dataclass(frozen=True)
class Sum(Composed):
    """k1 + k2 + …"""

    def matrix(self, A: Any, B: Any) -> Any:
        return reduce(operator.iadd, self._values(A, B))

    def diagonal(self, A: Any) -> Any:
        return reduce(operator.add, self._diagonals(A))


@declare(names=(), collection=Parts, on_command_line=False)
@dataclass(frozen=True)
class Product(Composed):
    """k1 k2 …"""

    def matrix(self, A: Any, B: Any) -> Any:
        return reduce(operator.imul, self._values(A, B))

    def diagonal(self, A: Any) -> Any:
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

    def matrix(self, A: Any, B: Any) -> Any:
        return self.factor * self.kernel.matrix(A, B)

    def diagonal(self, A: Any) -> Any:
        return self.factor * self.kernel.diagonal(A)


@declare(names=(), collection=None, on_command_line=True)
@dataclass(frozen=True)
class Normalized(Wrapped):
    """k(x, z) / sqrt(k(x, x) k(z, z)); 0 where a self-value is 0."""

    def matrix(self, A: Any, B: Any) -> Any:
        values = self.kernel.matrix(A, B)
        values *= self._inverse_roots(A, values)[:, None]
        values *= self._inverse_roots(B, values)[None, :]
        return values

    def diagonal(self, A: Any) -> Any:
        return (self.kernel.diagonal(A) > 0.0) * 1.0

    def _inverse_roots(self, A: Any, values: Any) -> Any:
        q = self.kernel.diagonal(A)
        roots = (q + (q <= 0.0)) ** -0.5 * (q > 0.0)
        return roots.astype(values.dtype) if isinstance(roots, np.ndarray) else roots.to(values.dtype)


def _same_width(A: Rows, B: Rows) -> None:
    if A.X.shape[1] != B.X.shape[1]:
        raise ValueError(f"Rows of {A.X.shape[1]} and of {B.X.shape[1]} features have no inner product.")


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number; got {name}={value!r}.")


def _whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not (isinstance(value, (int, np.integer)) and value >= 1):
        raise ValueError(f"{name} must be an integer of at least 1; got {name}={value!r}.")


# ---------------------------------------------------------------- names and checks

#: The kernels that a parameter ``kernel`` takes by name.
NAMES: dict[str, Callable[[], Kernel]] = {name: row.kernel for row in TABLE.values() for name in row.names}
_OURS = frozenset(NAMES)


def register(name: str, kernel: Any) -> None:
    """Give a kernel of one's own a name that learners and the command line take: ``kernel="laplace"``.

    A module that does this is read by ``perceptrons train --plugin MODULE``. A model that was fitted with the
    kernel is loaded where it is registered again; elsewhere, if it is a function, by
    ``load(path, objects={"kernel": ...})``.

    Parameters
    ----------
    name : str
        A word of lower-case letters, digits and underscores. Names of the package cannot be taken; a name of
        one's own can be given again.
    kernel : callable, or subclass of Kernel
        A function of two objects that returns a number; or a frozen dataclass under :class:`Kernel` whose
        fields, all with defaults, are numbers or words. A class is also known by its own name, with
        parameters: ``--kernel "Laplace(gamma=0.5)"``.

    Examples
    --------
    >>> from perceptrons import KernelPerceptron, kernels
    >>> def shared(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> kernels.register("shared_letters", shared)
    >>> KernelPerceptron(kernel="shared_letters").fit(["abc", "xyz"], [0, 1]).predict(["zzy"])
    array([1])
    >>> del kernels.NAMES["shared_letters"]  # takes the name back
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"name must be lower-case letters, digits and underscores; got name={name!r}.")
    if name in _OURS:
        raise ValueError(f"name must not be one of the package; got name={name!r}.")
    if not isinstance(kernel, type):
        if not callable(kernel):
            raise TypeError(f"kernel must be a function of two objects or a class; got kernel={kernel!r}.")
        NAMES[name] = functools.partial(Pairwise, kernel)
        return
    if not issubclass(kernel, Kernel) or not is_dataclass(kernel) or kernel.__name__ in TABLE:
        raise TypeError(
            "a class of kernels must be a dataclass under kernels.Kernel with a name of its own; "
            f"got {kernel!r}."
        )
    kernel()  # its fields need defaults
    NAMES[name] = kernel


def registered() -> dict[str, Any]:
    """The kernels that were registered: functions and classes by their own names."""
    found = [getattr(made, "args", (made,))[0] for name, made in NAMES.items() if name not in _OURS]
    return {kernel.__name__: kernel for kernel in found}


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from a record, a name or a function of two objects."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return Pairwise(kernel)
    names = ", ".join(repr(name) for name in NAMES)
    raise ValueError(f"kernel must be a kernel, a function of two objects or one of {names}; got {kernel!r}.")


def function_of(kernel: Kernel | None) -> Any:
    """The function of two objects that a kernel calls, wherever it is within it; None if it calls none."""
    while kernel is not None:
        if isinstance(kernel, Pairwise):
            return kernel.function
        inner = [*getattr(kernel, "terms", ()), getattr(kernel, "kernel", None)]
        kernel = next((k for k in inner if k is not None), None)
    return None


from .psd import PsdCheck as PsdCheck  # noqa: E402  # it needs the kernels above
from .psd import check_psd as check_psd  # noqa: E402  # so does this
