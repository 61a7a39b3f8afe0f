r"""What can be computed from rows, labels and weights alone: the ground on which every claim stands.

A learner sees rows through a :class:`Space`: with a constant coordinate, scaled to length 1, or by a
kernel. A :class:`Vector` is its w, or one per class, given by its entries or as a combination of rows.
:class:`Evidence` has the margins of vectors on a sample, each product being computed once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import digests, gram

EPS = float(np.finfo(float).eps)
#: Lengths and margins are rounded by this much to the side on which a claim stays true.
OUTWARD = 1e-12


@dataclass(frozen=True)
class Space:
    """How a learner sees rows."""

    name: str = "augmented"  #: "augmented", "input" or "kernel"
    bias: float = 0.0  #: the constant coordinate; its square is added to a kernel
    unit: bool = False  #: rows are divided by their length
    kernel: Any = None  #: a description, see :mod:`perceptrons.theory.gram`
    free: bool = False  #: the constant coordinate is no part of any length: margins in input space
    order: float = 2.0  #: separators are measured in this norm, rows in its dual


class Vector(NamedTuple):
    """w, or one for each class: a row per class, the constant coordinate last.

    Or, in place of the entries, coefficients of some of the sample's rows.
    """

    weights: np.ndarray | None = None  #: (1 or n_classes, n_features + 1)
    rows: np.ndarray | None = None  #: numbers of rows
    coefficients: np.ndarray | None = None  #: (1 or n_classes, len(rows))
    offset: np.ndarray | None = None  #: added to the scores of such a combination, one number a column

    @property
    def n_columns(self) -> int:
        part = self.coefficients if self.weights is None else self.weights
        assert part is not None
        return int(part.shape[0])


class Evidence:
    """Rows and labels as a learner sees them, and vectors that are judged on them.

    ``problem`` is "binary", "joint" (prototypes, judged by the lead over the best rival) or
    "one-vs-rest", which has one part per class. The rows are read once for their digest and their lengths
    and once for the scores of all vectors together; other norms than the Euclidean need one reading more.
    """

    def __init__(
        self,
        X: Any,
        codes: np.ndarray,
        problem: str,
        n_classes: int,
        space: Space,
        vectors: Mapping[str, Vector],
        function: Any = None,
    ):
        self.numeric = space.kernel is None or gram.takes(space.kernel) != "objects"
        self.X: Any = _matrix(X) if self.numeric else list(X)
        self.codes = np.asarray(codes)
        self.problem = problem
        self.n_classes = n_classes
        self.space = space
        self.vectors = dict(vectors)
        self.function = function
        self.memo: dict[Any, Any] = {}  # what has been computed

    # ------------------------------------------------------------ rows

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1]) if hasattr(self.X, "shape") else 0

    def digest(self) -> str:
        """SHA-256 of the rows. Squared lengths are taken on the way, from each block while it is at hand."""
        squares = np.empty(self.n_rows)

        def visit(start: int, block: Any) -> None:
            squares[start : start + block.shape[0]] = gram.squares(block)

        found = digests.rows_digest(self.X, visit if self.numeric else None)
        if self.numeric:
            self.__dict__["squares"] = squares
        return found

    @cached_property
    def squares(self) -> np.ndarray | None:
        """Squared lengths of the rows as they are given; None of other objects."""
        return gram.squares(self.X) if self.numeric else None

    @cached_property
    def q(self) -> np.ndarray:
        """Squared lengths of the rows before they are scaled, in the space of the learner."""
        if self.space.kernel is None:
            assert self.squares is not None
            own = self.squares
        else:
            own = gram.diagonal(self.space.kernel, self.X, self.function, None, self.__dict__.get("squares"))
        return np.asarray(own + self._constant)

    @property
    def _constant(self) -> float:
        """What the constant coordinate adds to an inner product."""
        return 0.0 if self.space.free else self.space.bias**2

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths of the rows as the learner sees them."""
        if self.space.order != 2.0:
            return self._dual_lengths()
        lengths = np.sqrt(np.maximum(self.q, 0.0))
        return (lengths > 0.0).astype(float) if self.space.unit else lengths

    def _dual_lengths(self) -> np.ndarray:
        """The norm of each row that is dual to the one of the separators."""
        size = abs(self.X)
        if self.space.order == 1.0:
            largest = size.max(axis=1)
            largest = largest.toarray() if gram.is_sparse(largest) else largest
            lengths = np.maximum(np.asarray(largest, dtype=float).ravel(), self.space.bias)
        else:
            p = self.space.order / (self.space.order - 1.0)
            sums = np.asarray((size**p).sum(axis=1), dtype=float).ravel()
            lengths = (sums + self.space.bias**p) ** (1.0 / p)
        return self._scaled(lengths[:, None])[:, 0]

    @cached_property
    def radius(self) -> float:
        """R, rounded up."""
        R = float(np.max(self.lengths, initial=0.0))
        whole = self.space.unit and self.space.order == 2.0  # 1 is not rounded
        return R if whole else R * (1.0 + OUTWARD)

    def binary_inputs(self) -> bool:
        """Whether all entries are 0 or 1."""
        if "binary inputs" not in self.memo:
            values = self.X.data if gram.is_sparse(self.X) else self.X
            self.memo["binary inputs"] = bool(np.all((values == 0.0) | (values == 1.0)))
        return bool(self.memo["binary inputs"])

    # ------------------------------------------------------------ scores

    @cached_property
    def scores(self) -> dict[str, np.ndarray]:
        """(rows, columns) of every vector that is given for scoring, by one product for all of them."""
        out: dict[str, np.ndarray] = {}
        primal = {name: v for name, v in self.vectors.items() if v.weights is not None}
        if primal:
            W = np.vstack([v.weights for v in self.vectors.values() if v.weights is not None])
            S = np.asarray(self.X @ np.ascontiguousarray(W[:, :-1].T), dtype=float)
            S = self._scaled(S + self.space.bias * W[:, -1])
            at = 0
            for name, v in primal.items():
                out[name] = S[:, at : at + v.n_columns]
                at += v.n_columns
        dual = {name: v for name, v in self.vectors.items() if v.weights is None and name != "combination"}
        if dual and self.space.kernel is not None:
            rows = np.unique(np.concatenate([np.asarray(v.rows) for v in dual.values()]))
            K = self._kernel(None, rows)
            for name, v in dual.items():
                assert v.coefficients is not None
                out[name] = K[:, np.searchsorted(rows, np.asarray(v.rows))] @ v.coefficients.T
                if v.offset is not None:
                    out[name] = out[name] + v.offset
        return out

    def _scaled(self, S: np.ndarray) -> np.ndarray:
        if not self.space.unit:
            return S
        lengths = np.sqrt(self.q)
        return np.asarray(S / np.where(lengths > 0.0, lengths, 1.0)[:, None])

    def _taken(self, rows: Any) -> Any:
        return self.X[rows] if hasattr(self.X, "shape") else [self.X[i] for i in rows]

    def _kernel(self, left: Any, right: np.ndarray) -> np.ndarray:
        """Kernel values between rows; ``left`` None: all of them."""
        A = self.X if left is None else self._taken(left)
        known = self.__dict__.get("squares")
        known = known if known is None or left is None else known[left]
        K = gram.values(self.space.kernel, A, self._taken(right), right, self.function, left, known)
        return np.asarray(K + self._constant)

    def squared_norms(self, name: str) -> np.ndarray:
        """Squared length of a vector, one number a column."""
        v = self.vectors[name]
        if v.weights is not None:
            w = v.weights[:, :-1] if self.space.free else v.weights
            return np.sum(np.square(w, dtype=float), axis=1)
        assert v.rows is not None and v.coefficients is not None
        if not len(v.rows):
            return np.zeros(v.n_columns)
        if self.space.kernel is not None:
            a = v.coefficients
            return np.maximum(0.0, np.sum((a @ self._kernel(v.rows, v.rows)) * a, axis=1))
        a = v.coefficients / np.sqrt(self.q[v.rows]) if self.space.unit else v.coefficients
        sums = np.asarray(self._taken(v.rows).T @ a.T, dtype=float)
        return np.sum(sums**2, axis=0) + self._constant * a.sum(axis=1) ** 2

    def norm(self, name: str, part: int = 0) -> float:
        """Length of a vector, in the norm of the space; of all prototypes together."""
        if self.space.order != 2.0:
            w = self.vectors[name].weights
            assert w is not None
            return float(np.sum(np.abs(w[part]) ** self.space.order) ** (1.0 / self.space.order))
        if ("norm", name) not in self.memo:
            self.memo["norm", name] = self.squared_norms(name)
        squares = self.memo["norm", name]
        return math.sqrt(float(squares.sum() if self.problem == "joint" else squares[part]))

    def offsets(self, name: str) -> list[float]:
        """The constant coordinates, where they are no part of any length; nothing otherwise."""
        v = self.vectors[name]
        if not self.space.free:
            return []
        if v.weights is not None:
            return [float(b) for b in v.weights[:, -1]]
        return [] if v.offset is None else [float(b) for b in v.offset]

    # ------------------------------------------------------------ margins

    @property
    def n_parts(self) -> int:
        return self.n_classes if self.problem == "one-vs-rest" else 1

    def signs(self, part: int) -> np.ndarray:
        return np.where(self.codes == (part if self.problem == "one-vs-rest" else 1), 1.0, -1.0)

    def margins(self, name: str, part: int = 0) -> np.ndarray:
        """y<w, x> of each row; for prototypes the lead over the best rival."""
        if ("margins", name, part) not in self.memo:
            self.memo["margins", name, part] = self._margins(name, part)
        return np.asarray(self.memo["margins", name, part])

    def _margins(self, name: str, part: int) -> np.ndarray:
        S = self.scores[name]
        if self.problem != "joint":
            return np.asarray(self.signs(part) * S[:, part])
        every = np.arange(self.n_rows)
        rivals = S.copy()
        rivals[every, self.codes] = -math.inf
        return np.asarray(S[every, self.codes] - rivals.max(axis=1))

    def rounding(self, name: str, part: int = 0) -> np.ndarray:
        """How far rounding may have moved the margin of each row."""
        v = self.vectors[name]
        if v.weights is None:
            assert v.rows is not None and v.coefficients is not None
            size = np.abs(v.coefficients).sum(axis=0) @ np.sqrt(np.maximum(self.q[v.rows], 0.0))
            offset = 0.0 if v.offset is None else float(np.abs(v.offset).max())
            return np.asarray(1e-12 * (size * self.lengths + offset))
        n = self.n_features
        if gram.is_sparse(self.X):
            n = int(np.max(np.diff(self.X.indptr), initial=0))
        twice = 2.0 if self.problem == "joint" else 1.0
        size = self.norm(name, part) * self.lengths
        if self.space.free:
            size = size + self.space.bias * float(np.abs(v.weights[:, -1]).max())
        return np.asarray(twice * (n + 4) * EPS * size)

    def low(self, name: str, part: int = 0) -> float:
        """The geometric margin of a vector on the sample, rounded down; -inf for w = 0."""
        norm = self.norm(name, part)
        if norm == 0.0:
            return -math.inf
        worst = float(np.min(self.margins(name, part) - self.rounding(name, part)))
        return down(worst / norm)

    def normalised_low(self, name: str, part: int = 0) -> float:
        """The smallest y<w, x>/(||w|| ||x||), rounded down; a zero row counts as 0."""
        norm = self.norm(name, part)
        if norm == 0.0:
            return -math.inf
        m = self.margins(name, part) - self.rounding(name, part)
        lengths = np.where(self.lengths > 0.0, self.lengths, math.inf)
        return down(float(np.min(m / lengths)) / norm)

    def upper(self, name: str, part: int = 0) -> float:
        """No separator has a margin above this: from a combination of rows, rounded up.

        ``inf`` where the combination is none of the rows y x, or has no weight.
        """
        v = self.vectors[name]
        mass = self.mass(v, part)
        if not mass > 0.0:
            return math.inf
        assert v.rows is not None
        R = float(np.max(self.lengths[v.rows], initial=0.0))
        norm = self.norm(name, part)
        return (norm / mass + 4.0 * (len(v.rows) + 4) * EPS * R) * (1.0 + OUTWARD)

    def mass(self, v: Vector, part: int = 0) -> float:
        """The sum of the weights, if all of them have the sign of their row; NaN otherwise."""
        assert v.rows is not None and v.coefficients is not None
        a = v.coefficients
        if self.problem != "joint":
            weights = self.signs(part)[v.rows] * a[part]
            if self.space.free and abs(float(a[part].sum())) > 1e-9 * float(np.abs(a[part]).sum()):
                return math.nan  # both classes need half of the weight
            return float(weights.sum()) if np.all(weights >= 0.0) else math.nan
        true = self.codes[v.rows]
        every = np.arange(len(v.rows))
        rivals = -a
        rivals[true, every] = 0.0
        if not np.all(rivals >= 0.0):
            return math.nan
        lost, gained = rivals.sum(axis=0), a[true, every]
        if not np.allclose(lost, gained, rtol=1e-9, atol=1e-12 * float(np.max(lost, initial=1.0))):
            return math.nan
        return float(lost.sum())


def down(value: float) -> float:
    """A little less."""
    return value - OUTWARD * abs(value)


def _matrix(X: Any) -> Any:
    if gram.is_sparse(X):
        if X.format != "csr":
            X = X.tocsr()
        return X if X.dtype == np.float64 else X.astype(np.float64)
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix of one row per example; got {X.ndim} dimension(s).")
    return X
