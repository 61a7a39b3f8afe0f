r"""Cones of few dimensions and the shortest vector of offset half-spaces, without rounding.

:math:`C = \{w : \langle z_i, w\rangle \ge 0\ \forall i\}` for rows z of integers. The rows are taken one
after the other, and lines and rays that generate the cone so far are kept (the double description method,
T. S. Motzkin, H. Raiffa, G. L. Thompson and R. M. Thrall, 1953). All numbers are Python's integers or
fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

Vector = tuple[int, ...]


@dataclass
class Ray:
    """A ray of the cone so far, and the rows other than 0 with <z, ray> = 0."""

    v: Vector
    tight: set[int]


@dataclass
class Cone:
    """All sums of multiples of ``lines`` and non-negative multiples of ``rays``; no ray can be left out."""

    lines: list[Vector]
    rays: list[Ray]

    @property
    def generators(self) -> list[Vector]:
        """Vectors of which the cone is all non-negative combinations."""
        return [*(w for line in self.lines for w in (line, scaled(line, -1))), *(ray.v for ray in self.rays)]

    def inside(self) -> Vector:
        """A w of the relative interior: no w of the cone has <z, w> > 0 on a row where this one has not."""
        return tuple(map(sum, zip(*(ray.v for ray in self.rays)))) if self.rays else ()


def cone(rows: Sequence[Vector], dimension: int) -> Cone:
    """The cone of rows of integers, for up to three dimensions.

    >>> cone([(1, 0), (1, 1)], 2).generators
    [(1, -1), (0, 1)]
    >>> cone([(1, 0)], 2).generators
    [(0, 1), (0, -1), (1, 0)]
    """
    found = Cone([tuple(int(i == j) for j in range(dimension)) for i in range(dimension)], [])
    done: list[int] = []
    for i, z in enumerate(rows):
        if any(z):  # every w has <0, w> >= 0
            _cut(found, z, i, done, dimension)
            done.append(i)
    return found


def _cut(c: Cone, z: Vector, i: int, done: list[int], dimension: int) -> None:
    """Keep the w of the cone with <z, w> >= 0; z is row i, and ``done`` are the rows before it."""
    pivot = next((line for line in c.lines if dot(z, line)), None)
    if pivot is not None:
        up = pivot if dot(z, pivot) > 0 else scaled(pivot, -1)
        size = dot(z, up)
        c.lines = [primitive(along(size, line, -dot(z, line), up)) for line in c.lines if line is not pivot]
        for ray in c.rays:
            ray.v = primitive(along(size, ray.v, -dot(z, ray.v), up))
            ray.tight.add(i)
        c.rays.append(Ray(up, set(done)))
        return
    values = [dot(z, ray.v) for ray in c.rays]
    kept = [ray for ray, value in zip(c.rays, values) if value >= 0]
    for ray, value in zip(c.rays, values):
        if value == 0:
            ray.tight.add(i)
    if len(kept) < len(c.rays):
        flat = dimension - len(c.lines) < 3  # then all rays, at most two, are neighbours
        above = [(ray, value) for ray, value in zip(c.rays, values) if value > 0]
        below = [(ray, value) for ray, value in zip(c.rays, values) if value < 0]
        for low, m in below:
            for high, p in above:
                common = low.tight & high.tight
                if flat or common:
                    kept.append(Ray(primitive(along(p, low.v, -m, high.v)), common | {i}))
    c.rays = kept


def facets(c: Cone, rows: Sequence[Vector], dimension: int) -> list[int]:
    """Rows whose hyperplane bounds a cone that has inner points; of parallel rows all."""
    found = []
    for i, z in enumerate(rows):
        touching = [*c.lines, *(ray.v for ray in c.rays if dot(z, ray.v) == 0)]
        if any(z) and len(touching) >= dimension - 1 and _rank(touching) == dimension - 1:
            found.append(i)
    return found


def in_order(c: Cone) -> list[Vector]:
    """The generators, in the plane counter-clockwise, in space around the cone where it is pointed."""
    vectors = c.generators
    if not vectors:
        return vectors
    if len(vectors[0]) == 2:
        if len(vectors) == 2:
            (a, b), (p, q) = vectors
            return vectors if a * q - b * p >= 0 else vectors[::-1]
        first = next((ray.v for ray in c.rays), vectors[0])  # of a half-plane the inner one
        start = math.atan2(*_floats(first)[::-1]) - math.pi
        return sorted(vectors, key=lambda v: (math.atan2(*_floats(v)[::-1]) - start) % (2.0 * math.pi))
    if len(vectors[0]) == 3 and not c.lines and len(vectors) > 3:
        units = np.array([_floats(v) for v in vectors])
        axis = units.sum(axis=0)
        _, _, plane = np.linalg.svd(axis[None, :])
        angles = np.arctan2(units @ plane[2], units @ plane[1])
        return [vectors[i] for i in np.argsort(angles)]
    return vectors


def unit(v: Vector) -> np.ndarray:
    """A vector of integers as floats, of length 1."""
    w = np.array(_floats(v))
    return np.asarray(w / np.linalg.norm(w))


def _floats(v: Vector) -> list[float]:
    """A vector of integers divided by a power of 2, the largest of about 1."""
    bits = max(abs(x).bit_length() for x in v)
    return [float(Fraction(x, 1 << bits)) for x in v]


# ---------------------------------------------------------------- the shortest vector


def shortest(
    rows: Sequence[Sequence[Fraction]], signs: Sequence[int], margin: Fraction, free: bool, most: int = 1000
) -> tuple[list[Fraction], list[int]] | None:
    r"""The shortest w with :math:`\langle z_i, w\rangle \ge` ``margin`` for all rows, and its rows.

    Rows are z = yx. With ``free`` the constraint is :math:`\langle z_i, w\rangle + y_ib \ge` ``margin``,
    and b is the last of the numbers. There has to be such a w. None after ``most`` rounds.

    A few rows are solved for; the row that the solution violates most joins them, and those that do not
    matter leave. The length grows with each round, so it ends.
    """
    chosen: list[int] = []
    if free:
        chosen = [signs.index(s) for s in (1, -1)]
    d = len(rows[0])
    w = [Fraction(0)] * (d + free)
    columns = np.array([[_float(x) for x in z] for z in rows])
    for _ in range(most):
        if chosen:
            solved = _solved(rows, signs, margin, free, chosen)
            if solved is None:
                return None
            w, chosen = solved
        worst = _violated(rows, signs, margin, free, w, columns)
        if worst is None:
            return w, sorted(chosen)
        chosen = [*chosen, worst]
    return None


def _violated(
    rows: Sequence[Sequence[Fraction]],
    signs: Sequence[int],
    margin: Fraction,
    free: bool,
    w: Sequence[Fraction],
    columns: np.ndarray,
) -> int | None:
    """A row that w violates, the worst as a rule; None if there is none. ``columns``: the rows as floats."""
    v = np.array([_float(x) for x in w])
    with np.errstate(all="ignore"):
        values = columns @ v[: columns.shape[1]] + (np.array(signs) * v[-1] if free else 0.0)
    if np.isfinite(values).all():  # floats choose the row; whether it is violated is decided exactly
        likely = int(np.argmin(values))
        if _value(rows[likely], signs[likely], w, free) < margin:
            return likely
    lacks = [margin - _value(z, y, w, free) for z, y in zip(rows, signs)]
    worst = max(range(len(rows)), key=lacks.__getitem__)
    return worst if lacks[worst] > 0 else None


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def _value(z: Sequence[Fraction], y: int, w: Sequence[Fraction], free: bool) -> Fraction:
    return sum((a * b for a, b in zip(z, w)), start=y * w[-1] if free else Fraction(0))


def _solved(
    rows: Sequence[Sequence[Fraction]], signs: Sequence[int], margin: Fraction, free: bool, chosen: list[int]
) -> tuple[list[Fraction], list[int]] | None:
    """The shortest vector for a few rows, and those of them with a positive multiplier."""
    d = len(rows[0])
    for part in _subsets(chosen, d + free):
        n = len(part)
        matrix = [
            [*(sum((p * q for p, q in zip(rows[i], rows[j])), start=Fraction(0)) for j in part), margin]
            for i in part
        ]
        if free:
            matrix = [[*line[:-1], Fraction(signs[i]), line[-1]] for line, i in zip(matrix, part)]
            matrix.append([*(Fraction(signs[j]) for j in part), Fraction(0), Fraction(0)])
        x = _solution(matrix)
        if x is None or any(a < 0 for a in x[:n]):
            continue
        w = [sum((a * rows[j][k] for a, j in zip(x, part)), start=Fraction(0)) for k in range(d)]
        w += x[n:]
        if all(_value(rows[i], signs[i], w, free) >= margin for i in chosen):
            return w, [j for a, j in zip(x, part) if a > 0]
    return None


def _subsets(chosen: list[int], most: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, min(most, len(chosen)) + 1):
        yield from combinations(chosen, size)


def _solution(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """x with A x = c for lines (A, c); None where A is singular."""
    n = len(matrix)
    for k in range(n):
        at = next((i for i in range(k, n) if matrix[i][k]), None)
        if at is None:
            return None
        matrix[k], matrix[at] = matrix[at], matrix[k]
        head = matrix[k] = [a / matrix[k][k] for a in matrix[k]]
        for i in range(n):
            if i != k and matrix[i][k]:
                matrix[i] = [a - matrix[i][k] * b for a, b in zip(matrix[i], head)]
    return [line[-1] for line in matrix]


# ---------------------------------------------------------------- vectors of integers


def dot(a: Vector, b: Vector) -> int:
    return sum(p * q for p, q in zip(a, b))


def scaled(a: Vector, c: int) -> Vector:
    return tuple(c * p for p in a)


def along(s: int, a: Vector, t: int, b: Vector) -> Vector:
    """s a + t b."""
    return tuple(s * p + t * q for p, q in zip(a, b))


def primitive(a: Vector) -> Vector:
    """a divided by the greatest common divisor of its entries."""
    g = math.gcd(*a)
    return tuple(p // g for p in a) if g > 1 else a


def _rank(vectors: Sequence[Vector]) -> int:
    rows = [list(map(Fraction, v)) for v in vectors]
    rank = 0
    for k in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows if row[k]), None)
        if pivot is None:
            continue
        rank += 1
        rows = [[a - row[k] / pivot[k] * b for a, b in zip(row, pivot)] for row in rows if row is not pivot]
    return rank
