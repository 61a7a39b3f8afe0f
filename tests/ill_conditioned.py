"""Small data near the limits of floating point, for tests against tests/exact.py.

case = draw(rng, "neighbouring floats")
case.X, case.y  # an array or a CSR matrix, labels -1 and +1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Case(NamedTuple):
    """Rows and labels -1, +1."""

    name: str
    X: Any
    y: np.ndarray

    def __str__(self) -> str:
        """Python that makes the data again, to the last bit."""
        kind, X = ("sparse.csr_array", self.X.toarray()) if sparse.issparse(self.X) else ("np.array", self.X)
        return f"{self.name}: {kind}(np.array({X.tolist()!r}, np.{X.dtype})), {self.y.tolist()!r}"


def labels(rng: np.random.Generator, n: int) -> np.ndarray:
    y = rng.choice([-1, 1], n)
    if n > 1:
        y[:2] = -1, 1
    return y


def shape(rng: np.random.Generator, most: int = 7) -> tuple[int, int]:
    return int(rng.integers(2, most + 1)), int(rng.integers(1, 4))


def by_a_plane(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Labels by a random plane, or by a coin."""
    if rng.random() < 0.3:
        return labels(rng, len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.abs(X).max() or 1.0
        s = (X / largest) @ rng.normal(size=X.shape[1]) + rng.choice([0.0, rng.normal()])
    return np.where(s > 0.0, 1, -1)


# ---------------------------------------------------------------------------------------------- generators


def plain(rng):
    X = rng.normal(size=shape(rng))
    return X, by_a_plane(rng, X)


def grid(rng):
    X = rng.integers(-2, 3, shape(rng)).astype(float)
    return X, by_a_plane(rng, X)


def near_separable(rng):
    """Rows on both sides of a plane, the nearest at a distance of 1e-4 to 1e-16 of their size."""
    n, d = shape(rng)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(n, d))
    X -= np.outer(X @ u, u)
    y = labels(rng, n)
    gap = 10.0 ** rng.uniform(-16, -4, n)
    gap[rng.random(n) < 0.3] = 1.0
    X += (y * gap)[:, None] * u
    if rng.random() < 0.3:
        X += rng.normal(size=d) * 10.0 ** rng.integers(0, 4)
    return X, y


def on_a_line(rng):
    """One or two features, tiny beside large: the steps of a learner are rounded away."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 3))
    y = labels(rng, n)
    X = y[:, None] * 10.0 ** rng.uniform(-12, 0, (n, d))
    return np.where(rng.random(X.shape) < 0.2, 1.0 - 1e-8, X), y


def neighbours(rng):
    """Rows that differ in the last place."""
    n, d = shape(rng, 6)
    centre = rng.choice([1.0, 0.1, 3.0, -7.3], d) * 10.0 ** rng.integers(-3, 4)
    X, y = np.empty((n, d)), labels(rng, n)
    for i in range(n):
        x = centre.copy()
        for _ in range(rng.integers(0, 3)):
            x = np.nextafter(
                x, np.where(rng.random(d) < 0.5, np.inf, -np.inf) if rng.random() < 0.3 else y[i] * np.inf
            )
        X[i] = x
    return X, y


def twins(rng):
    X, y = plain(rng)
    i, j = rng.integers(0, len(X), 2)
    X[i], y[i] = X[j], -y[j]
    if rng.random() < 0.5:
        X[i] = np.nextafter(X[i], 9.0)
    return X, y


def scaled(rng):
    """All rows by one factor up to 1e150 either way."""
    X, y = (plain, grid, near_separable)[rng.integers(3)](rng)
    return X * 10.0 ** rng.choice([-170, -150, -100, -30, 30, 90, 100, 150]), y


def far_scaled(rng):
    X, y = plain(rng)
    return X * 10.0 ** rng.choice([-300, -200, 200, 300, 307]), y


def denormal(rng):
    X = rng.integers(-4, 5, shape(rng)) * 5e-324 * 2.0 ** rng.integers(0, 40)
    return X, by_a_plane(rng, X)


def mixed_in_a_row(rng):
    n, d = shape(rng, 5)
    wide = rng.choice([8, 20, 150])
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-wide, wide + 1, (n, d))
    return X, by_a_plane(rng, X) if rng.random() < 0.5 else labels(rng, n)


def mixed_columns(rng):
    n, d = shape(rng, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.choice([-150, -100, -16, -8, 0, 8, 16, 100, 150], d)
    return X, by_a_plane(rng, X / np.abs(X).max(axis=0))


def mixed_rows(rng):
    n, d = shape(rng, 6)
    X = rng.normal(size=(n, d))
    y = by_a_plane(rng, X)
    return X * 10.0 ** rng.choice([-150, -16, -8, 0, 8, 16, 150], (n, 1)), y


def rank_deficient(rng):
    n, d = shape(rng)
    X = rng.normal(size=(n, d))
    X = np.hstack([X, X @ rng.integers(-2, 3, (d, 1))])[:, : max(2, d)]
    X[rng.random(n) < 0.3] = X[0] * rng.choice([1.0, 2.0, -1.0])
    return X, by_a_plane(rng, X)


def one_row(rng):
    return rng.normal(size=(1, rng.integers(1, 4))) * 10.0 ** rng.integers(-9, 10), rng.choice([-1, 1], 1)


def one_class(rng):
    X = rng.normal(size=shape(rng)) + rng.choice([0.0, 3.0])
    return X, np.full(len(X), rng.choice([-1, 1]))


def long_integers(rng):
    """int64 beyond 2^53, where neighbours are one float."""
    n, d = shape(rng, 6)
    y = labels(rng, n)
    base = rng.integers(2**53, 2**62, d)
    X = (
        base + y[:, None] * rng.integers(0, 3, (n, d))
        if rng.random() < 0.7
        else rng.integers(-(2**60), 2**60, (n, d))
    )
    return X.astype(np.int64), y


def single(rng):
    X, y = (plain, grid, near_separable, neighbours, on_a_line)[rng.integers(5)](rng)
    return X.astype(np.float32), y


GENERATORS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "plain": plain,
    "grid": grid,
    "near-separable": near_separable,
    "tiny beside large": on_a_line,
    "neighbouring floats": neighbours,
    "twins": twins,
    "scaled": scaled,
    "far scaled": far_scaled,
    "denormal": denormal,
    "mixed in a row": mixed_in_a_row,
    "mixed columns": mixed_columns,
    "mixed rows": mixed_rows,
    "rank-deficient": rank_deficient,
    "one row": one_row,
    "one class": one_class,
    "long integers": long_integers,
    "float32": single,
}


def draw(rng: np.random.Generator, name: str | None = None) -> Case:
    """Data of one generator, dense or CSR."""
    if name is None:
        name = list(GENERATORS)[rng.integers(len(GENERATORS))]
    X, y = GENERATORS[name](rng)
    if rng.random() < 0.25:
        X = np.where(rng.random(X.shape) < 0.2, X.dtype.type(0), X)
        return Case(name, sparse.csr_array(X), y)
    return Case(name, np.ascontiguousarray(X), y)
