r"""What can be computed from rows, labels and weights alone: every claim is computed from it.

A :class:`RowSpace` says how a learner reads rows: with a constant coordinate, scaled to length 1, or by a
kernel. A :class:`Vector` is its w, or one per class, given by its entries or as a combination of rows.
:class:`Evidence` has the margins of vectors on a sample, each product being computed once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._sparse import is_sparse
from .._types import Matrix, Objects, PairFunction
from ..theory import _outward as outward
from ..theory import gram, gram_error
from ..theory._given import numbers
from ..theory._outward import float64_rounds
from ..theory.gram_error import EPS, TINY
from . import bracket_ends, digests
from .exact_evidence import ExactEvidence

#: The arguments of :func:`gram.values`.
Pairs: TypeAlias = tuple[
    gram.Description, Objects, Objects, np.ndarray, PairFunction | None, np.ndarray | None, np.ndarray | None
]

#: Lengths are rounded up by at least this much.
OUTWARD = 1e-12
FAR = 300  # rows beyond 2**300, or all below 2**-300, are scaled by a power of two
BLOCK = 2**24  # kernel values that are held at a time
NOTICED = 1e-9  # rounding of this size, relative to the terms, is noticed in the length of a combination
EXACT_SUPPORT = 1_000  # so many rows are combined in fractions, where floats leave the length open


@dataclass(frozen=True)
class RowSpace:
    """How a learner reads rows.

    ``free`` goes with a constant coordinate of 1, ``unit`` and other norms with rows of numbers.
    """

    name: str = "augmented"  #: "augmented", "input" or "kernel"
    bias: float = 0.0  #: the constant coordinate; its square is added to a kernel
    unit: bool = False  #: rows are divided by their length
    kernel: gram.Description | None = None  #: a description, see :mod:`perceptrons.theory.gram`
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
    """Rows and labels as a learner reads them, and vectors whose margins on them are computed.

    ``problem`` is "binary", "joint" (prototypes; a margin is the lead over the best rival) or
    "one-vs-rest", which has one part per class. The rows are read once for their digest and their lengths
    and once for the scores of all vectors together; rows that prove an upper end are read once more.

    Integers that float64 rounds are kept in ``given``. What is proved is true of them: the bounds on rounding
    have room for one rounding of each entry, and kernel values are then computed in fractions.
    """

    def __init__(
        self,
        X: Objects,
        codes: np.ndarray,
        problem: str,
        n_classes: int,
        space: RowSpace,
        vectors: Mapping[str, Vector],
        function: PairFunction | None = None,
    ):
        self.numeric = space.kernel is None or gram.takes(space.kernel) != "objects"
        X = numbers(X) if self.numeric else list(X)
        #: the rows, where they are integers that float64 rounds; None otherwise
        self.given: Matrix | None = X if self.numeric and float64_rounds(X) else None
        self.X: Objects = _matrix(X) if self.numeric else X
        self.codes = np.asarray(codes)
        self.problem = problem
        self.n_classes = n_classes
        self.space = space
        self.vectors = dict(vectors)
        self.function = gram.pair_function(function)
        self.memo: dict[Hashable, Any] = {}  # what has been computed

    # ------------------------------------------------------------ rows

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1]) if hasattr(self.X, "shape") else 0

    def digest(self) -> str:
        """SHA-256 of the rows. Their lengths are computed in the same pass, block by block."""
        if self.given is not None:
            return digests.rows_digest(self.given)
        squares, others = np.empty(self.n_rows), np.empty(self.n_rows)

        def visit(start: int, block: Matrix) -> None:
            part = slice(start, start + block.shape[0])
            squares[part] = gram.squares(block)
            if self.space.order != 2.0:
                others[part] = self._in_dual_norm(block)

        found = digests.rows_digest(self.X, visit if self.numeric else None)
        if self.numeric:
            self.__dict__["squares"] = squares
            if self.space.order != 2.0:
                self.__dict__["dual_norms"] = others
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
    def shift(self) -> int:
        """Rows of numbers are divided by 2**shift before they are multiplied; 0 unless they are extreme."""
        if self.space.kernel is not None:
            return 0
        assert self.squares is not None
        R2 = float(np.max(self.squares, initial=0.0))
        if 2.0 ** (-2 * FAR) <= R2 <= 2.0 ** (2 * FAR):
            return 0
        values = self.X.data if is_sparse(self.X) else self.X
        largest = max(float(np.max(np.abs(values), initial=0.0)), self.space.bias)
        return math.frexp(largest)[1] if largest > 0.0 and abs(math.frexp(largest)[1]) > FAR else 0

    @cached_property
    def scaled_rows(self) -> Matrix:
        """The rows divided by 2**shift."""
        X: Matrix = self.X
        if not self.shift:
            return X
        if not is_sparse(X):
            return np.asarray(np.ldexp(X, -self.shift))
        scaled = X.copy()
        scaled.data = np.ldexp(scaled.data, -self.shift)
        return scaled

    @property
    def scaled_bias(self) -> float:
        """The constant coordinate in the units of ``scaled_rows``; 1 where no length has it."""
        return math.ldexp(self.space.bias, -self.shift)

    @cached_property
    def scaled_lengths(self) -> np.ndarray:
        """Euclidean lengths in the units of ``scaled_rows``, with the constant coordinate."""
        if self.space.kernel is not None:
            return np.asarray(np.sqrt(np.maximum(self.q, 0.0)))
        assert self.squares is not None
        bias = 0.0 if self.space.free else self.scaled_bias
        if not self.shift and not self._has_vanishing_squares():
            return np.sqrt(self.squares + bias**2)
        sizes = outward.sizes(self.scaled_rows)
        most = np.where((found := _largest(sizes)) > 0.0, found, 1.0)
        return np.asarray(np.hypot(most * np.sqrt(gram.squares(_divided(sizes, most))), bias))

    def _has_vanishing_squares(self) -> bool:
        """Whether some row other than 0 is so short that its square has lost digits."""
        assert self.squares is not None
        short = np.flatnonzero(self.squares < TINY)
        if is_sparse(self.X):
            return bool(np.any(self.X.indptr[short] < self.X.indptr[short + 1]))
        return bool(np.any(self.X[short] != 0.0))

    @property
    def n_terms(self) -> int:
        """The terms of an inner product at most."""
        if is_sparse(self.X):
            return int(np.max(np.diff(self.X.indptr), initial=0)) + 1
        return self.n_features + 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths of the rows as the learner reads them."""
        if self.space.order != 2.0:
            return self._dual_lengths()
        if self.space.unit:
            return (self.scaled_lengths > 0.0).astype(float)
        return np.asarray(np.ldexp(self.scaled_lengths, self.shift))

    @cached_property
    def dual_norms(self) -> np.ndarray:
        """The norms of the rows that are dual to the one of the separators, before rows are scaled."""
        return self._in_dual_norm(self.X)

    def _in_dual_norm(self, rows: Matrix) -> np.ndarray:
        size = outward.sizes(rows)
        lengths = np.maximum(_largest(size), self.space.bias)
        if self.space.order != 1.0:  # scaled, so that no power vanishes
            p = self.space.order / (self.space.order - 1.0)
            most = np.where(lengths > 0.0, lengths, 1.0)
            size = _divided(size, most)
            if is_sparse(size):
                size.data = size.data**p
            else:
                size = size**p
            sums = np.asarray(size.sum(axis=1), dtype=float).ravel()
            lengths = lengths * (sums + (self.space.bias / most) ** p) ** (1.0 / p)
        return np.asarray(lengths)

    def _dual_lengths(self) -> np.ndarray:
        """The same of the rows as the learner reads them."""
        lengths = self.dual_norms
        if not self.space.unit:
            return lengths
        own = np.ldexp(self.scaled_lengths, self.shift)
        return np.asarray(lengths / np.where(own > 0.0, own, 1.0))

    @property
    def stretch(self) -> float:
        """By how much computed lengths may fall short, relatively."""
        return max(OUTWARD, (self.n_terms + 16) * EPS)

    @cached_property
    def radius(self) -> float:
        """R, rounded up."""
        R = float(np.max(self.lengths, initial=0.0))
        if self.space.kernel is not None:
            known = self.__dict__.get("squares")
            own = gram_error.diagonal(self.space.kernel, self.X, self.function, known)
            above = float(np.max(own.value + own.error + self._constant, initial=0.0))
            R = math.sqrt(above) if 0.0 <= above < math.inf else R
            if self.given is not None and self.exact.possible:
                return self.exact.radius()
        if (self.space.unit and self.space.order == 2.0) or R == 0.0:  # 1 and 0 are not rounded
            return R
        return math.nextafter(R * (1.0 + self.stretch), math.inf)

    def binary_inputs(self) -> bool:
        """Whether all entries are 0 or 1."""
        if "binary inputs" not in self.memo:
            values = self.X.data if is_sparse(self.X) else self.X
            self.memo["binary inputs"] = bool(np.all((values == 0.0) | (values == 1.0)))
        return bool(self.memo["binary inputs"])

    # ------------------------------------------------------------ scores

    @cached_property
    def scaled_scores(self) -> dict[str, tuple[np.ndarray, int, np.ndarray]]:
        """Of every vector (rows, columns), a power of two by which to multiply them, and errors of a kernel.

        One product serves all vectors. Their entries, too, are scaled by a power of two.
        """
        out: dict[str, tuple[np.ndarray, int, np.ndarray]] = {}
        primal = {name: v.weights for name, v in self.vectors.items() if v.weights is not None}
        if primal:
            powers = {name: bracket_ends.exponent(w) for name, w in primal.items()}
            W = np.vstack([np.ldexp(w, -powers[name]) for name, w in primal.items()])
            S = np.asarray(self.scaled_rows @ np.ascontiguousarray(W[:, :-1].T), dtype=float)
            S = S + self.scaled_bias * W[:, -1]
            if self.space.unit:
                lengths = self.scaled_lengths
                S = np.asarray(S / np.where(lengths > 0.0, lengths, 1.0)[:, None])
            at = 0
            for name, w in primal.items():
                power = powers[name] + (0 if self.space.unit else self.shift)
                out[name] = S[:, at : at + len(w)], power, np.zeros(0)
                at += len(w)
        dual = {name: v for name, v in self.vectors.items() if v.weights is None}
        if dual and self.space.kernel is not None:
            out |= self._dual_scores(dual)
        return out

    def _dual_scores(self, dual: dict[str, Vector]) -> dict[str, tuple[np.ndarray, int, np.ndarray]]:
        rows = np.unique(np.concatenate([np.asarray(v.rows) for v in dual.values()]))
        scores = {name: np.empty((self.n_rows, v.n_columns)) for name, v in dual.items()}
        errors = {name: np.empty((self.n_rows, v.n_columns)) for name, v in dual.items()}
        step = max(1, BLOCK // max(1, len(rows)))
        for start in range(0, self.n_rows, step):
            block = None if step >= self.n_rows else np.arange(start, min(start + step, self.n_rows))
            part = slice(start, start + step)
            K = self.bounded_kernel(block, rows)
            for name, v in dual.items():
                assert v.coefficients is not None
                at = np.searchsorted(rows, np.asarray(v.rows))
                a, size = v.coefficients.T, np.abs(v.coefficients.T)
                found, error = K.value[:, at], K.error[:, at]
                scores[name][part] = found @ a
                terms = (len(at) + 4) * EPS * (np.abs(found) @ size)
                errors[name][part] = (error @ size) * (1.0 + (len(at) + 4) * EPS) + 2.0 * terms + TINY
                if v.offset is not None:
                    scores[name][part] += v.offset
                    errors[name][part] += EPS * (np.abs(scores[name][part]) + np.abs(v.offset))
        return {name: (scores[name], 0, errors[name]) for name in dual}

    @cached_property
    def scores(self) -> dict[str, np.ndarray]:
        """(rows, columns) of every vector that is given for scoring."""
        return {name: np.ldexp(S, power) for name, (S, power, _) in self.scaled_scores.items()}

    def add(self, name: str, vector: Vector) -> None:
        """One more vector whose margins are computed."""
        self.vectors[name] = vector
        for cached in ("scaled_scores", "scores"):
            self.__dict__.pop(cached, None)

    def take_scores(self, scores: np.ndarray, sums: np.ndarray) -> None:
        """Scores of w on rows of entries from 0 to 1, and the sums of the rows, from one pass elsewhere.

        The sums tell whether all entries are 0 or 1: then they are the squared lengths.
        """
        w = self.vectors["w"].weights
        assert w is not None
        power = bracket_ends.exponent(w) + self.shift
        self.__dict__["scaled_scores"] = {"w": (np.ldexp(scores, -power), power, np.zeros(0))}
        same = np.abs(self.q - sums) <= 1e-9 * np.maximum(1.0, sums)
        self.memo["binary inputs"] = bool(np.all(same))

    def _taken(self, rows: np.ndarray) -> Objects:
        return self.X[rows] if hasattr(self.X, "shape") else [self.X[i] for i in rows]

    def _pairs(self, left: np.ndarray | None, right: np.ndarray) -> Pairs:
        """The arguments of :func:`gram.values` for values between rows; ``left`` None: all rows."""
        assert self.space.kernel is not None
        A = self.X if left is None else self._taken(left)
        known = self.__dict__.get("squares")
        known = known if known is None or left is None else known[left]
        return self.space.kernel, A, self._taken(right), right, self.function, left, known

    def bounded_kernel(self, left: np.ndarray | None, right: np.ndarray) -> gram_error.Values:
        """Kernel values between rows, with their errors; ``left`` None: all rows."""
        K = gram_error.values(*self._pairs(left, right))
        value = K.value + self._constant
        if self.given is not None:  # of rows that are rounded little is known
            return gram_error.Values(value, np.full(value.shape, math.inf))
        return gram_error.Values(value, K.error + 2.0 * EPS * np.abs(value))

    def kernel_values(self, left: np.ndarray | None, right: np.ndarray) -> np.ndarray:
        """Kernel values between rows; ``left`` None: all of them."""
        return np.asarray(gram.values(*self._pairs(left, right)) + self._constant)

    def squared_norms(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of combinations of rows and bounds on their errors, one number a column."""
        if ("squared norms", name) not in self.memo:
            v = self.vectors[name]
            assert v.rows is not None and v.coefficients is not None
            self.memo["squared norms", name] = bracket_ends.kernel_squares(self, v.rows, v.coefficients)
        found: tuple[np.ndarray, np.ndarray] = self.memo["squared norms", name]
        return found

    def _kernel_norm(self, name: str, part: int) -> float:
        """The length of a combination of rows; in fractions where rounding is a noticeable part of it."""
        squares, errors = self.squared_norms(name)
        column = slice(None) if self.problem == "joint" else slice(part, part + 1)
        square, error = float(squares[column].sum()), float(errors[column].sum())
        v = self.vectors[name]
        assert v.rows is not None and v.coefficients is not None
        size = float(np.abs(v.coefficients).sum()) * self.radius
        apart = math.sqrt(max(0.0, square + error)) - math.sqrt(max(0.0, square - error))
        if apart <= NOTICED * size or not self.exact.possible or not len(v.rows):
            return math.sqrt(max(0.0, square))
        if len(v.rows) > EXACT_SUPPORT:
            raise ValueError(
                f"The length of {name} in the space of the kernel is lost in rounding: the {len(v.rows)} "
                "support rows are too large for this kernel. Scale the rows."
            )
        low, high = self.exact.norm2(name, part)
        return math.sqrt(max(0.0, float((low + high) / 2)))

    def norm(self, name: str, part: int = 0) -> float:
        """Length of a vector, in the norm of the space; of all prototypes together."""
        if self.space.order != 2.0:
            w = self.vectors[name].weights
            assert w is not None
            power = bracket_ends.exponent(w[part])
            sizes = np.abs(np.ldexp(w[part], -power))
            return math.ldexp(float(np.sum(sizes**self.space.order) ** (1.0 / self.space.order)), power)
        if (w := self.vectors[name].weights) is not None:
            w = w[:, :-1] if self.space.free else w
            w = w if self.problem == "joint" else w[part]
            power = bracket_ends.exponent(w)
            return math.ldexp(float(np.linalg.norm(np.ldexp(w, -power))), power)
        if ("norm", name, part) not in self.memo:
            self.memo["norm", name, part] = self._kernel_norm(name, part)
        return float(self.memo["norm", name, part])

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
        return self.leads(self.scores[name], part)

    def leads(self, S: np.ndarray, part: int) -> np.ndarray:
        """What scores give as margins."""
        if self.problem != "joint":
            return np.asarray(self.signs(part) * S[:, part])
        every = np.arange(self.n_rows)
        rivals = S.copy()
        rivals[every, self.codes] = -math.inf
        return np.asarray(S[every, self.codes] - rivals.max(axis=1))

    @cached_property
    def exact(self) -> ExactEvidence:
        """The same sample in fractions."""
        return ExactEvidence(self)

    def low(self, name: str, part: int = 0) -> float:
        """The geometric margin of a vector on the sample, rounded down; -inf where it does not separate."""
        if ("low", name, part) not in self.memo:
            self.memo["low", name, part] = bracket_ends.low(self, name, part)
        return float(self.memo["low", name, part])

    def normalised_low(self, name: str, part: int = 0) -> float:
        """The smallest y<w, x>/(||w|| ||x||), rounded down; a zero row counts as 0."""
        norm = self.norm(name, part)
        if not norm > 0.0:
            return -math.inf
        lengths = np.where(self.lengths > 0.0, self.lengths, math.inf)
        worst = float(np.min(self.margins(name, part) / lengths)) / norm
        return worst - (OUTWARD + 2.0 * (self.n_terms + 8) * EPS)


def _largest(sizes: Matrix) -> np.ndarray:
    """The largest entry of each row of entries of at least 0."""
    found: Any = sizes.max(axis=1) if sizes.shape[1] else np.zeros(sizes.shape[0])
    return np.asarray(found.toarray() if is_sparse(found) else found, dtype=float).ravel()


def _divided(sizes: Matrix, by: np.ndarray) -> Matrix:
    """Each row divided by a number above 0, which may be so small that 1 over it is infinite."""
    if not is_sparse(sizes):
        return np.asarray(sizes / by[:, None])
    out = sizes.copy()
    out.data = out.data / np.repeat(by, np.diff(out.indptr))
    return out


def _matrix(X: Matrix) -> Matrix:
    if is_sparse(X):
        return X if X.dtype == np.float64 else X.astype(np.float64)
    return np.asarray(X, dtype=np.float64)
