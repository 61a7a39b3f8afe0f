r"""A sample in fractions, so that nothing is rounded; roots of sums are never taken.

Every float is a fraction. With linear rows, and with kernels that are rational, all values are exact; values
with exponentials, roots or powers lie between two fractions (:mod:`perceptrons.theory.enclosed`), and a
claim is checked at the end that is worse for it.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from . import gram
from .enclosed import Range, dot, enclosed, point, power_norm, rational
from .evidence import Evidence, Vector

NOUGHT = Fraction(0)


class Exact:
    """What :class:`Evidence` has in floats, between fractions."""

    def __init__(self, evidence: Evidence):
        self.e = evidence
        space = evidence.space
        self.bias2 = NOUGHT if space.free else Fraction(space.bias) ** 2
        self.by_number = space.kernel is not None and gram.takes(space.kernel) == "table"
        table = evidence.X if self.by_number else None
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
        X = self.e.X
        if not hasattr(X, "shape"):
            return X[i]
        if gram.is_sparse(X):
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
        sizes = [float(v) for v in self.row(i).values()] + [self.e.space.bias]
        if order == 1.0:
            return point(max(abs(Fraction(v)) for v in sizes) ** 2)
        low, high = power_norm(sizes, order / (order - 1.0))
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
        if self.e.space.kernel is not None:
            return self._total((a * b, self.inner(i, j)) for i, a in pairs for j, b in pairs)
        total: dict[int, Fraction] = {}
        mass = NOUGHT
        for i, a in pairs:
            mass += a
            for j, v in self.row(i).items():
                total[j] = total.get(j, NOUGHT) + a * v
        return point(sum((t * t for t in total.values()), start=NOUGHT) + mass**2 * self.bias2)

    # ------------------------------------------------------------ claims

    def separates(self, name: str, part: int) -> int | None:
        """The first row that is not proved to be on its side, or None."""
        return next((i for i in range(self.e.n_rows) if self.margin(name, i, part).low <= 0), None)

    def low_holds(self, name: str, part: int, low: float) -> bool:
        """Whether every row has a geometric margin of ``low`` or more."""
        norm2, square = self.norm2(name, part), Fraction(low) ** 2
        for i in range(self.e.n_rows):
            m, divisor = self.margin(name, i, part).low, self.divisor(i)
            if low >= 0 and (m < 0 or m * m < square * norm2.high * divisor.high):
                return False
            if low < 0 and m < 0 and m * m > square * norm2.low * divisor.low:
                return False
        return True

    def radius_holds(self, R: float) -> bool:
        """Whether no row is longer than R."""
        if self.e.space.unit and self.e.space.order == 2.0:
            return R >= 1.0 or not np.any(self.e.lengths)
        square = Fraction(R) ** 2
        return all(self.length2(i).high <= square * self.divisor(i).low for i in range(self.e.n_rows))

    def upper_holds(self, name: str, part: int, up: float) -> bool:
        """Whether the combination of rows is no longer than ``up`` times its weight."""
        v = self.e.vectors[name]
        assert v.rows is not None and v.coefficients is not None
        if self.e.problem != "joint":
            weights = [abs(Fraction(a)) for a in v.coefficients[part].tolist()]
            return self.residual2(v.rows.tolist(), weights, part, balanced=True).high <= Fraction(up) ** 2
        a = v.coefficients.copy()  # what the true class gains is what its rivals lose, to the last bit
        true, every = self.e.codes[v.rows], np.arange(len(v.rows))
        a[true, every] = 0.0
        lost = [[-Fraction(x) for x in column] for column in a.T.tolist()]
        mass = sum((sum(column, start=NOUGHT) for column in lost), start=NOUGHT)
        total = point(NOUGHT)
        for r in range(self.e.n_classes):
            pairs = []
            for j, i in enumerate(v.rows.tolist()):
                share = sum(lost[j], start=NOUGHT) if true[j] == r else -lost[j][r]
                pairs.append((i, share))
            total = total.plus(self.combined2(pairs))
        return total.high <= (Fraction(up) * mass) ** 2

    def residual2(
        self, rows: list[int], weights: list[Fraction], part: int = 0, balanced: bool = False
    ) -> Range:
        """||sum of lambda_i y_i x_i||^2 for weights scaled to sum 1; rows that are not scaled.

        Where the constant is no part of any length, both classes need half of the weight: ``balanced`` scales
        each of them to it, otherwise what is missing counts as the constant coordinate.
        """
        positive = 1 if self.e.problem == "binary" else part
        signs = [1 if self.e.codes[i] == positive else -1 for i in rows]
        total = sum(weights, start=NOUGHT)
        share = {1: total, -1: total}
        if self.e.space.free and balanced:
            for sign in share:
                share[sign] = 2 * sum((w for w, s in zip(weights, signs) if s == sign), start=NOUGHT)
        pairs = [(i, s * w / share[s]) for i, w, s in zip(rows, weights, signs) if w]
        rest = sum((a for _, a in pairs), start=NOUGHT) if self.e.space.free else NOUGHT
        return self.combined2(pairs).plus(point(rest**2))
