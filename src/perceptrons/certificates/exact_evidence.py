r"""A sample in fractions, so that nothing is rounded; roots of sums are never taken.

Every float is a fraction. With linear rows, and with kernels that are rational, all values are exact; values
with exponentials, roots or powers lie between two fractions (:mod:`perceptrons.theory.enclosed`), and a
claim is checked at the end that is worse for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._sparse import is_sparse
from ..theory import _rational, gram
from ..theory.enclosed import Range, dot, enclosed, point, power_norm, rational, root

if TYPE_CHECKING:
    from .bracket_ends import RowWeights
    from .evidence import Evidence, Vector

NOUGHT = Fraction(0)


class ExactEvidence:
    """What :class:`Evidence` has in floats, between fractions."""

    def __init__(self, evidence: Evidence):
        self.e = evidence
        space = evidence.space
        self.bias2 = NOUGHT if space.free else Fraction(space.bias) ** 2
        self.by_number = space.kernel is not None and gram.takes(space.kernel) == "table"
        #: the rows, integers as they are
        self.X: Any = evidence.X if evidence.given is None else evidence.given
        table = self.X if self.by_number else None
        self.k = enclosed({"kind": "Linear"} if space.kernel is None else space.kernel, table)
        #: whether both ends of every value are equal
        self.rational = (space.kernel is None or rational(space.kernel)) and space.order in (1.0, 2.0)
        self._rows: dict[int, Any] = {}

    @property
    def possible(self) -> bool:
        """Whether the values are known by a formula."""
        return self.k is not None

    # ------------------------------------------------------------ rows

    def row(self, i: int) -> Any:
        if self.by_number:
            return i
        if i not in self._rows:
            self._rows[i] = self._read(i)
        return self._rows[i]

    def _read(self, i: int) -> Any:
        X = self.X
        if not hasattr(X, "shape"):
            return X[i]
        if is_sparse(X):
            part = slice(X.indptr[i], X.indptr[i + 1])
            row: dict[int, Fraction] = {}
            for j, v in zip(X.indices[part].tolist(), X.data[part].tolist()):
                row[j] = row.get(j, NOUGHT) + Fraction(v)
            return row
        return {j: Fraction(v) for j, v in enumerate(X[i].tolist()) if v}

    def inner(self, i: int, j: int) -> Range:
        """k(x_i, x_j), the constant included, of rows that are not scaled."""
        assert self.k is not None
        low, high = self.k(self.row(i), self.row(j))
        return Range(low + self.bias2, high + self.bias2)

    def square(self, i: int) -> Range:
        """||x_i||^2 before scaling."""
        return self.inner(i, i)

    def length2(self, i: int) -> Range:
        """The squared length of row i before scaling, in the norm dual to that of the separators."""
        order = self.e.space.order
        if order == 2.0:
            return self.square(i)
        sizes = [*self.row(i).values(), Fraction(self.e.space.bias)]
        if order == 1.0:
            return point(max(map(abs, sizes)) ** 2)
        low, high = power_norm([float(v) for v in sizes], order / (order - 1.0))
        return Range(low * low, high * high)

    def divisor(self, i: int) -> Range:
        """By what squared margins and lengths of row i are divided, if rows are scaled."""
        return self.square(i) if self.e.space.unit else point(Fraction(1))

    # ------------------------------------------------------------ vectors

    def weights(self, v: Vector, r: int) -> dict[int, Fraction]:
        assert v.weights is not None
        return {j: Fraction(w) for j, w in enumerate(v.weights[r].tolist()) if w}

    def score(self, name: str, i: int, r: int) -> Range:
        """<w_r, x_i>, of a row that is not scaled."""
        v = self.e.vectors[name]
        if v.weights is None:
            assert v.rows is not None and v.coefficients is not None
            offset = NOUGHT if v.offset is None else Fraction(float(v.offset[r]))
            pairs = zip(v.rows.tolist(), v.coefficients[r].tolist())
            return self._total((Fraction(a), self.inner(i, j)) for j, a in pairs).plus(point(offset))
        w = self.weights(v, r)
        last = w.pop(v.weights.shape[1] - 1, NOUGHT)
        return point(dot(w, self.row(i)) + last * Fraction(self.e.space.bias))

    def _total(self, pairs: Iterable[tuple[Fraction, Range]]) -> Range:
        low = high = NOUGHT
        for a, value in pairs:
            if self.rational:
                low += a * value.low
            else:
                ends = value.times(a)
                low, high = low + ends.low, high + ends.high
        return point(low) if self.rational else Range(low, high)

    def margin(self, name: str, i: int, part: int) -> Range:
        """y<w, x> of a row that is not scaled, or its lead."""
        code = int(self.e.codes[i])
        if self.e.problem != "joint":
            positive = code == (part if self.e.problem == "one-vs-rest" else 1)
            return self.score(name, i, part).times(Fraction(1 if positive else -1))
        scores = [self.score(name, i, r) for r in range(self.e.n_classes)]
        rivals = [s for r, s in enumerate(scores) if r != code]
        return Range(
            scores[code].low - max(s.high for s in rivals), scores[code].high - max(s.low for s in rivals)
        )

    def norm2(self, name: str, part: int) -> Range:
        """||w||^2 in the norm of the space; of all prototypes together."""
        v, order = self.e.vectors[name], self.e.space.order
        if order != 2.0:
            assert v.weights is not None
            low, high = power_norm(v.weights[part].tolist(), order)
            return Range(low * low, high * high)
        total = point(NOUGHT)
        for r in range(self.e.n_classes) if self.e.problem == "joint" else [part]:
            if v.weights is not None:
                w = self.weights(v, r)
                if self.e.space.free:
                    w.pop(v.weights.shape[1] - 1, None)
                total = total.plus(point(sum((x * x for x in w.values()), start=NOUGHT)))
            else:
                assert v.rows is not None and v.coefficients is not None
                own = [(i, Fraction(a)) for i, a in zip(v.rows.tolist(), v.coefficients[r].tolist()) if a]
                total = total.plus(self.combined2(own))
        return total

    def combined2(self, pairs: list[tuple[int, Fraction]]) -> Range:
        """||sum a_i x_i||^2."""
        if self.by_number:  # a table need not be symmetric
            return self._total((a * b, self.inner(i, j)) for i, a in pairs for j, b in pairs)
        if self.e.space.kernel is not None:
            return self._total(
                (a * b if i == j else 2 * a * b, self.inner(i, j))
                for at, (i, a) in enumerate(pairs)
                for j, b in pairs[: at + 1]
            )
        mass = sum((a for _, a in pairs), start=NOUGHT)
        squares = sum((t * t for t in self._combined(pairs).values()), start=NOUGHT)
        return point(squares + mass**2 * self.bias2)

    # ------------------------------------------------------------ claims

    def separates(self, name: str, part: int) -> int | None:
        """The first row that is not proved to be on its side, or None."""
        return next((i for i in range(self.e.n_rows) if self.margin(name, i, part).low <= 0), None)

    def low(self, name: str, part: int, rows: list[int]) -> float:
        """The least geometric margin of some rows, rounded down; -inf where one is not positive."""
        square = self.norm2(name, part).high
        if square <= 0:
            return -math.inf
        least: Fraction | None = None
        for i in rows:
            m = self.margin(name, i, part).low
            if m <= 0:
                return -math.inf
            found = m * m / self.divisor(i).high
            least = found if least is None else min(least, found)
        return -math.inf if least is None else root_below(least / square)

    def low_holds(self, name: str, part: int, low: float, rows: list[int] | None = None) -> bool:
        """Whether every row, or each of some, has a geometric margin of ``low`` or more, ``low`` >= 0."""
        square = Fraction(low) ** 2 * self.norm2(name, part).high
        for i in range(self.e.n_rows) if rows is None else rows:
            m = self.margin(name, i, part).low
            if not (m > 0 and m * m >= square * self.divisor(i).high):
                return False
        return True

    def radius(self) -> float:
        """The length of the longest row, rounded up, of rows that are not scaled."""
        most = max((self.length2(i).high for i in range(self.e.n_rows)), default=NOUGHT)
        return _rational.root_above(most.numerator, most.denominator)

    def radius_holds(self, R: float, rows: list[int] | None = None) -> bool:
        """Whether no row, or none of some, is longer than R."""
        if self.e.space.unit and self.e.space.order == 2.0:
            return R >= 1.0 or not np.any(self.e.lengths)
        square = Fraction(R) ** 2
        every = range(self.e.n_rows) if rows is None else rows
        return all(self.length2(i).high <= square * self.divisor(i).low for i in every)

    def up(self, weights: RowWeights, part: int) -> float:
        """No separator has a margin above this, by weights on rows; rounded up, inf if they prove nothing."""
        alpha = [Fraction(a) for a in weights.alpha.tolist()]
        rows, codes = weights.rows.tolist(), self.e.codes
        sums: dict[int, dict[int, Fraction]] = {}  # by class, then by row
        if self.e.problem == "joint":
            assert weights.rivals is not None
            for i, rival, a in zip(rows, weights.rivals.tolist(), alpha):
                for r, share in ((int(codes[i]), a), (rival, -a)):
                    own = sums.setdefault(r, {})
                    own[i] = own.get(i, NOUGHT) + share
        else:
            positive = 1 if self.e.problem == "binary" else part
            signs = [1 if codes[i] == positive else -1 for i in rows]
            if self.e.space.free and self.e.space.bias > 0.0:
                sides = {s: sum((a for a, t in zip(alpha, signs) if s == t), start=NOUGHT) for s in (1, -1)}
                if not min(sides.values()) > 0:
                    return math.inf
                alpha = [a / (2 * sides[s]) for a, s in zip(alpha, signs)]
            own = sums.setdefault(0, {})
            for i, s, a in zip(rows, signs, alpha):
                own[i] = own.get(i, NOUGHT) + s * a
        mass = sum((a * self._least_length(i) for i, a in zip(rows, alpha)), start=NOUGHT)
        if not mass > 0:
            return math.inf
        square = sum((self._dual_square(list(own.items())) for own in sums.values()), start=NOUGHT)
        if square < 0:  # no kernel has a negative square
            return math.inf
        ratio = square / mass**2
        return _rational.root_above(ratio.numerator, ratio.denominator)

    def _least_length(self, i: int) -> Fraction:
        """What a weight on row i counts: 1, or the length of a row that is scaled, rounded down."""
        return root(self.square(i).low).low if self.e.space.unit else Fraction(1)

    def _dual_square(self, pairs: list[tuple[int, Fraction]]) -> Fraction:
        """||sum a_i x_i||^2 in the norm dual to that of the separators, rounded up."""
        order = self.e.space.order
        if order == 2.0:
            return self.combined2(pairs).high
        total = [abs(t) for t in self._combined(pairs).values()]
        total.append(abs(sum((a for _, a in pairs), start=NOUGHT)) * Fraction(self.e.space.bias))
        if order == 1.0:
            return max(total) ** 2
        above = [_rational.root_above((t * t).numerator, (t * t).denominator) for t in total]
        return power_norm(above, order / (order - 1.0)).high ** 2

    def _combined(self, pairs: list[tuple[int, Fraction]]) -> dict[int, Fraction]:
        total: dict[int, Fraction] = {}
        for i, a in pairs:
            for j, v in self.row(i).items():
                total[j] = total.get(j, NOUGHT) + a * v
        return total

    def vanishes(self, rows: list[int], weights: list[int]) -> bool:
        """Whether positive weights on rows y(x, constant) sum to exactly 0: then nothing separates.

        In the space of a kernel the sum must have the product 0 with every row, which is what a separator
        in the span of the rows would contradict. Rows that are scaled keep their signs.
        """
        kernel = self.e.space.kernel
        if not self.possible or not (kernel is None or rational(kernel)):
            return False
        signed = [(i, Fraction(w if self.e.codes[i] == 1 else -w)) for i, w in zip(rows, weights)]
        constant = self.e.space.free or self.e.space.bias > 0.0
        if constant and sum((a for _, a in signed), start=NOUGHT) != 0:
            return False
        if kernel is None:
            return not any(self._combined(signed).values())
        for i in range(self.e.n_rows):
            if sum((a * self.inner(i, j).low for j, a in signed), start=NOUGHT) != 0:
                return False
        return True


def root_below(square: Fraction) -> float:
    """The square root of a fraction above 0, rounded down.

    >>> root_below(Fraction(1, 4)), root_below(Fraction(2)) <= math.sqrt(2)
    (0.5, True)
    """
    above = _rational.root_above(square.numerator, square.denominator)
    if math.isinf(above):
        return np.finfo(float).max
    below = above
    while Fraction(below) ** 2 > square:
        below = math.nextafter(below, 0.0)
    return below
