r"""Best margins and separability of small data in fractions: nothing is rounded.

It shares no code with the library. The largest margin of a separator through the origin is the distance from
the origin to the convex hull of the signed rows :math:`z_i = y_i x_i`:

.. math::
    \max_{\|u\| = 1}\min_i\langle u, z_i\rangle
    = \min\{\|\sum\lambda_i z_i\|: \lambda \ge 0, \sum\lambda_i = 1\}.

The nearest point is rational, so the square of the margin is too. A distance of 0 means that nothing
separates, and :math:`\lambda` is the proof; otherwise the nearest point itself separates.

Meant for at most a dozen rows of at most a dozen features.

    from exact import augmented, best_margin, signed

    best = best_margin(signed(augmented(X, 1.0), y))
    assert best.at_least(low) and best.at_most(up)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

Row = list[Fraction]
NOUGHT, ONE = Fraction(0), Fraction(1)


class Margin(NamedTuple):
    """The largest margin of any separator: its square, a separator, and weights that prove it the largest."""

    square: Fraction  #: of the margin; 0 where nothing separates
    direction: Row | None  #: <direction, z> > 0 for every row z; None where nothing separates
    weights: Row  #: at least 0, sum 1; their combination of the rows has the length of the margin
    slack: Fraction = NOUGHT  #: the margin may differ from the root of ``square`` by so much

    @property
    def separable(self) -> bool:
        return self.direction is not None

    def at_least(self, low: float | None) -> bool:
        """Whether ``low`` is not above the margin: certain unless ``slack`` leaves a doubt, then True."""
        if low is None or low <= 0.0:
            return True  # a margin is never negative here: 0 where nothing separates
        return (
            low < math.inf and self.separable and below(max(NOUGHT, Fraction(low) - self.slack), self.square)
        )

    def at_most(self, up: float) -> bool:
        """Whether ``up`` is not below the margin."""
        if up == math.inf:
            return True
        return up >= 0.0 and not beyond(Fraction(up) + self.slack, self.square)  # NaN is refused

    def __float__(self) -> float:
        return root(self.square)


def below(value: Fraction, square: Fraction) -> bool:
    """value <= the root of a square, for value >= 0."""
    return value * value <= square


def beyond(value: Fraction, square: Fraction) -> bool:
    """The root of a square is above value >= 0."""
    return value * value < square


def root(square: Fraction) -> float:
    """The root of a fraction as a float, to the last bit or two; any size that a float can have."""
    if square == 0:
        return 0.0
    shift = (square.denominator.bit_length() - square.numerator.bit_length() + 128) // 2
    scaled = square * Fraction(4) ** shift
    return float(Fraction(math.isqrt(int(scaled))) / Fraction(2) ** shift)


# ------------------------------------------------------------------------------------------------- rows


def rows_of(X: Any) -> list[Row]:
    """Rows of an array or a sparse matrix, floats or integers, as the rational numbers they are."""
    if sparse.issparse(X):
        X = X.tocsr()
        found = [[NOUGHT] * X.shape[1] for _ in range(X.shape[0])]
        for i in range(X.shape[0]):
            for k in range(X.indptr[i], X.indptr[i + 1]):
                found[i][X.indices[k]] += Fraction(X.data[k].item())
        return found
    X = np.asarray(X)
    return [[Fraction(v) for v in row] for row in X.tolist()]


def augmented(X: Any, bias: float) -> list[Row]:
    """The rows (x, B); a bias of 0 adds nothing."""
    return [[*row, Fraction(bias)] if bias else row for row in rows_of(X)]


def signed(rows: Sequence[Row], y: Any) -> list[Row]:
    """The rows y x for labels above 0 (+1) and others (-1)."""
    return [row if s > 0 else [-v for v in row] for row, s in zip(rows, np.asarray(y).tolist())]


def free_pairs(X: Any, y: Any) -> list[Row]:
    """(x_i - x_j)/2 for every row i of one class and j of the other: a free offset in rows without one."""
    rows, positive = rows_of(X), [s > 0 for s in np.asarray(y).tolist()]
    plus = [row for row, s in zip(rows, positive) if s]
    minus = [row for row, s in zip(rows, positive) if not s]
    return [[(a - b) / 2 for a, b in zip(p, m)] for p in plus for m in minus]


def difference_rows(rows: Sequence[Row], y: Any, n_classes: int) -> list[Row]:
    """x in the block of its class y minus x in that of r, for every row and every other class r."""
    found = []
    for row, own in zip(rows, np.asarray(y).tolist()):
        for r in range(n_classes):
            if r != own:
                blocks = [[NOUGHT] * len(row) for _ in range(n_classes)]
                blocks[own], blocks[r] = row, [-v for v in row]
                found.append([v for block in blocks for v in block])
    return found


def unit_rows(rows: Sequence[Row], bits: int = 256) -> tuple[list[Row], Fraction]:
    """Rows divided by their lengths, and a bound on the distance of each from the true one; 0 stays 0."""
    found = []
    for row in rows:
        square = sum((v * v for v in row), start=NOUGHT)
        if square == 0:
            found.append(list(row))
            continue
        shift = bits + max(0, (square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 1)
        scaled = square * Fraction(4) ** shift
        length = Fraction(math.isqrt(int(scaled)) or 1) / Fraction(2) ** shift  # relative error 2^-(bits - 2)
        found.append([v / length for v in row])
    return found, Fraction(1, 2 ** (bits - 3))


# --------------------------------------------------------------------------------------- Euclidean margins


def best_margin(rows: Sequence[Row], slack: Fraction = NOUGHT) -> Margin:
    """The largest margin of a separator through the origin of rows z: Wolfe's algorithm in fractions.

    ``slack``: by how much each row may differ from the one that is meant.

    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976.
    """
    scale = math.lcm(*(v.denominator for row in rows for v in row))
    Z = [[int(v * scale) for v in row] for row in rows]
    start = min(range(len(Z)), key=lambda i: inner(Z[i], Z[i]))
    weights = {start: ONE}
    while True:
        x = combined(Z, weights)
        products = [inner(x, z) for z in Z]
        worst = min(range(len(Z)), key=products.__getitem__)
        square = inner(x, x)
        if products[worst] >= square:
            break
        weights[worst] = NOUGHT
        while True:
            wanted = affine_weights(Z, list(weights))
            if all(v > 0 for v in wanted.values()):
                weights = wanted
                break
            step = min(weights[i] / (weights[i] - v) for i, v in wanted.items() if v <= 0)
            moved = {i: (1 - step) * weights[i] + step * wanted[i] for i in weights}
            weights = {i: v for i, v in moved.items() if v > 0}
    listed = [weights.get(i, NOUGHT) for i in range(len(Z))]
    return Margin(square / scale**2, x if square > 0 else None, listed, slack)


def best_free_margin(X: Any, y: Any) -> Margin | None:
    """The largest margin with an offset that has no price; None for one class, where it is infinite."""
    pairs = free_pairs(X, y)
    return best_margin(pairs) if pairs else None


def best_unit_margin(rows: Sequence[Row]) -> Margin:
    """The largest margin of signed rows divided by their lengths, with a slack far below it."""
    bits = 256
    while True:
        found = best_margin(*unit_rows(rows, bits))
        separable = best_margin(rows).separable
        if not separable:
            return Margin(NOUGHT, None, found.weights, found.slack)
        if found.separable and (found.slack * 2**100) ** 2 < found.square:
            return found
        bits *= 2


def inner(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((p * q for p, q in zip(a, b)), start=0)


def combined(Z: Sequence[Sequence[int]], weights: dict[int, Fraction]) -> Row:
    """The sum of weighted rows, through one common denominator."""
    common = math.lcm(*(v.denominator for v in weights.values()))
    whole = {i: int(v * common) for i, v in weights.items()}
    return [Fraction(sum(k * Z[i][j] for i, k in whole.items()), common) for j in range(len(Z[0]))]


def affine_weights(Z: Sequence[Sequence[int]], chosen: list[int]) -> dict[int, Fraction]:
    """Weights of sum 1, of any sign, of the shortest combination of affinely independent rows."""
    gram = [[1 + inner(Z[i], Z[j]) for j in chosen] for i in chosen]  # (1, z) are linearly independent
    u = solved(gram, [1] * len(chosen))
    total = sum(u)
    return {i: Fraction(v) / total for i, v in zip(chosen, u)}


def solved(A: list[list[int]], b: list[int]) -> list[int]:
    """A multiple of the solution of a system in integers: elimination without fractions (Bareiss, 1968)."""
    n = len(A)
    T = [[*row, v] for row, v in zip(A, b)]
    last = 1
    for k in range(n):
        pivot = next(i for i in range(k, n) if T[i][k])
        T[k], T[pivot] = T[pivot], T[k]
        for i in range(n):
            if i != k:
                T[i] = [(T[k][k] * p - T[i][k] * q) // last for p, q in zip(T[i], T[k])]
        last = T[k][k]
    sign = 1 if last > 0 else -1  # every diagonal entry is the determinant by now
    return [sign * row[n] for row in T]


# -------------------------------------------------------------------------------------------- L1 margins


class Game(NamedTuple):
    """The largest L1 margin: the value of a matrix game, with the best answer of both sides."""

    value: Fraction  #: max over ||w||_1 = 1 of min <w, z>, never below 0 since w = 0 counts
    w: Row
    weights: Row  #: of the rows: no coordinate of their combination is above the value


def best_l1_margin(rows: Sequence[Row]) -> Game:
    r"""The largest margin of w with :math:`\|w\|_1 \le 1`: :math:`\min_\lambda\|\sum\lambda_iz_i\|_\infty`.

    The corners of the ball are ±e_j, so it is the matrix game with the columns z_j and -z_j, solved by the
    simplex method with Bland's rule. Its value is not negative: a mixture of e_j and -e_j has value 0.
    """
    Z = [[*row, *(-v for v in row)] for row in rows]
    n, m = len(Z), len(Z[0])
    lift = 1 - min(v for row in Z for v in row)
    # max sum p over p >= 0 with sum_i p_i (z_ij + lift) <= 1 for each j: one line per column of the game
    T = [
        [Z[i][j] + lift for i in range(n)] + [ONE if k == j else NOUGHT for k in range(m)] + [ONE]
        for j in range(m)
    ]
    cost = [-ONE] * n + [NOUGHT] * (m + 1)
    basis = list(range(n, n + m))
    while any(c < 0 for c in cost[:-1]):
        entering = next(k for k, c in enumerate(cost[:-1]) if c < 0)
        bounded = [j for j in range(m) if T[j][entering] > 0]
        leaving = min(bounded, key=lambda j: (T[j][-1] / T[j][entering], basis[j]))
        pivot = T[leaving][entering]
        T[leaving] = [v / pivot for v in T[leaving]]
        for j in range(m):
            if j != leaving and T[j][entering]:
                factor = T[j][entering]
                T[j] = [a - factor * b for a, b in zip(T[j], T[leaving])]
        factor = cost[entering]
        cost = [a - factor * b for a, b in zip(cost, T[leaving])]
        basis[leaving] = entering
    size = cost[-1]
    p = [NOUGHT] * n
    for j, k in enumerate(basis):
        if k < n:
            p[k] = T[j][-1] / size
    q = [c / size for c in cost[n : n + m]]
    d = m // 2
    w = [q[j] - q[d + j] for j in range(d)]
    value = 1 / size - lift
    assert all(v >= 0 for v in (*p, *q)) and sum(p) == sum(q) == 1
    assert min(inner(w, row) for row in rows) >= value  # both sides attain it: nothing else is left
    assert max(abs(sum(a * row[j] for a, row in zip(p, rows))) for j in range(d)) <= value
    return Game(value, w, p)


# ------------------------------------------------------------------------------------------ formulas exactly


def margin_of(w: Sequence[Fraction], rows: Sequence[Row]) -> tuple[Fraction, Fraction]:
    """(the smallest <w, z>, ||w||^2): the margin of w is the first over the root of the second."""
    return min(inner(w, row) for row in rows), inner(w, w)


def length_of(alpha: Sequence[Fraction], rows: Sequence[Row]) -> tuple[Fraction, Fraction]:
    """(||sum alpha z||^2, (sum alpha)^2): their quotient is the square of an upper bound."""
    total = [inner(alpha, [row[j] for row in rows]) for j in range(len(rows[0]))]
    return inner(total, total), sum(alpha, start=NOUGHT) ** 2
