"""Hypothesis strategies and generators shared by the property and theorem tests.

Every number drawn is a multiple of 1/64 of size at most 4, so sums and products of a few of them
are exact in float64: two implementations that add in another order still have to agree to the bit,
and a tie is a tie. Labels are -1 and +1 (binary) or 0..k-1 (multiclass).

    from strategies import separable

    @given(separable())
    def test_novikoff(data): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

UNIT = 64  # numbers are k/64 ...
LARGEST = 4  # ... with |k/64| <= 4

#: Half as many examples as other tests have: for what is drawn anew for each of many learners, which share
#: all code but the rule, the kernel or the policy.
for_each_learner = settings(max_examples=settings().max_examples // 2)

HONEST = 1.0 - 1e-10  # a margin is reported this much smaller, so that rounding cannot break it


class Sample(NamedTuple):
    """Binary data and, per epoch, the order in which its rows are visited."""

    X: np.ndarray
    y: np.ndarray
    order: list[list[int]]


class Separable(NamedTuple):
    """Binary data with a unit vector u that has y<u, x> >= gamma > 0 on every row."""

    X: np.ndarray
    y: np.ndarray
    u: np.ndarray
    gamma: float


class MulticlassSample(NamedTuple):
    """Labels 0..n_classes-1, each of which occurs, and the order of visiting per epoch."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    order: list[list[int]]


class SeparableMulticlass(NamedTuple):
    """Prototypes U, of Frobenius norm 1: <u_y - u_z, x> >= delta > 0 for every row and z != y."""

    X: np.ndarray
    y: np.ndarray
    U: np.ndarray
    delta: float


class Disjunction(NamedTuple):
    """0/1 rows labelled by an OR of literals, without noise.

    ``literals`` numbers them: i is x_i, n + i its negation; r is how many there are.
    """

    X: np.ndarray
    y: np.ndarray
    literals: tuple[int, ...]

    @property
    def r(self) -> int:
        return len(self.literals)


# ------------------------------------------------------------------------------------- numbers


def dyadic(largest: float = LARGEST) -> st.SearchStrategy[float]:
    """A multiple of 1/64 from -largest to largest."""
    k = int(largest * UNIT)
    return st.integers(-k, k).map(lambda i: i / UNIT)


def dyadic_matrix(n_rows: int, n_features: int, largest: float = LARGEST) -> st.SearchStrategy[np.ndarray]:
    """A float64 matrix of such numbers.

    Simple entries that shrink well, a mostly empty matrix, or plain noise: Hypothesis likes small
    and repeated numbers, on which every learner is done after one update.
    """
    k = int(largest * UNIT)
    shape, numbers = (n_rows, n_features), st.integers(-k, k)
    simple = hnp.arrays(np.int64, shape, elements=numbers, fill=st.nothing())
    sparse = hnp.arrays(np.int64, shape, elements=numbers, fill=st.just(0))
    noise = st.integers(0, 2**32 - 1).map(
        lambda seed: np.random.default_rng(seed).integers(-k, k, shape, endpoint=True)
    )
    return st.one_of(simple, sparse, noise, noise).map(lambda A: A / UNIT)


@st.composite
def orders(draw, n_rows: int, max_epochs: int = 3) -> list[list[int]]:
    """One list of rows per epoch: a permutation, drawn anew for each or the same for all."""
    n_epochs = draw(st.integers(1, max_epochs))
    permutation = st.permutations(range(n_rows))
    if draw(st.booleans()):
        return [list(draw(permutation))] * n_epochs
    return [list(draw(permutation)) for _ in range(n_epochs)]


# -------------------------------------------------------------------------------------- binary


@st.composite
def _rows(draw, n_rows: int, n_features: int) -> np.ndarray:
    """Rows of which some are zero and some repeat others: where implementations differ."""
    X = draw(dyadic_matrix(n_rows, n_features))
    for i in range(n_rows):
        special = draw(st.sampled_from([""] * 9 + ["zero", "copy", "opposite"]))
        if special == "zero":
            X[i] = 0.0
        elif special and i > 0:
            j = draw(st.integers(0, i - 1))
            X[i] = X[j] if special == "copy" else -X[j]
    return X


@st.composite
def _labels(draw, n_rows: int, n_classes: int, all_classes: bool) -> np.ndarray:
    """Labels 0..n_classes-1; with all_classes each occurs at least once."""
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    if all_classes:
        places = draw(st.permutations(range(n_rows)))
        for label, i in enumerate(places[:n_classes]):
            y[i] = label
    return np.array(y, dtype=np.int64)


@st.composite
def samples(
    draw,
    max_rows: int = 10,
    max_features: int = 5,
    max_epochs: int = 3,
    both_labels: bool = True,
) -> Sample:
    """Any binary data: zero rows, duplicates and contradictions included, separable or not."""
    n_rows = draw(st.integers(2 if both_labels else 1, max_rows))
    X = draw(_rows(n_rows, draw(st.integers(1, max_features))))
    y = 2 * draw(_labels(n_rows, 2, both_labels)) - 1
    return Sample(X, y, draw(orders(n_rows, max_epochs)))


@st.composite
def separable(draw, max_rows: int = 12, max_features: int = 6, both_labels: bool = True) -> Separable:
    """Separable data through the origin: a hidden direction labels the rows.

    Rows too near its plane, or of the wrong side where a label is needed, become the direction
    itself. With a constant feature added, (u, 0) has the same margin and R grows to sqrt(R^2 + 1).
    """
    n_rows = draw(st.integers(2 if both_labels else 1, max_rows))
    n_features = draw(st.integers(min(2, max_features), max_features))  # a line is too easy
    direction = hnp.arrays(np.int64, n_features, elements=st.integers(-LARGEST, LARGEST), fill=st.nothing())
    v = draw(direction.filter(np.any)).astype(float)
    X, y = draw(_rows(n_rows, n_features)), 2 * draw(_labels(n_rows, 2, both_labels)) - 1
    most = int(v @ v).bit_length() + 4  # 2**most / 64 <= <v, v> / 2
    least = 2.0 ** draw(st.integers(0, most)) / UNIT
    for i in range(n_rows):
        side = X[i] @ v
        if abs(side) < least:
            X[i] = y[i] * v
        elif side * y[i] < 0:
            X[i] = -X[i]
    u = v / np.linalg.norm(v)
    gamma = float(np.min(y * (X @ v)) / np.linalg.norm(v)) * HONEST
    assert gamma > 0.0 and np.all(y * (X @ u) >= gamma)
    return Separable(X, y, u, gamma)


# ---------------------------------------------------------------------------------- multiclass


@st.composite
def multiclass_samples(
    draw, max_rows: int = 10, max_features: int = 4, max_classes: int = 4, max_epochs: int = 3
) -> MulticlassSample:
    """Any data of three classes or more, zero rows and contradictions included."""
    n_classes = draw(st.integers(3, max_classes))
    n_rows = draw(st.integers(n_classes, max(max_rows, n_classes)))
    X = draw(_rows(n_rows, draw(st.integers(1, max_features))))
    y = draw(_labels(n_rows, n_classes, all_classes=True))
    return MulticlassSample(X, y, n_classes, draw(orders(n_rows, max_epochs)))


@st.composite
def separable_multiclass(
    draw, max_rows: int = 10, max_features: int = 4, max_classes: int = 4, min_classes: int = 3
) -> SeparableMulticlass:
    """Separable data of several classes: hidden prototypes label the rows.

    The prototypes are distinct vectors of signs, so they have one length and each of them, as a
    row, belongs to its own class. A row too near to a boundary becomes the prototype of its label.
    """
    n_classes = draw(st.integers(min_classes, max_classes))
    n_features = draw(st.integers(2, max_features).filter(lambda n: 2**n >= n_classes))
    sign_vectors = st.tuples(*[st.sampled_from([1.0, -1.0])] * n_features)
    V = np.array(draw(st.lists(sign_vectors, min_size=n_classes, max_size=n_classes, unique=True)))
    n_rows = draw(st.integers(n_classes, max(max_rows, n_classes)))
    X, y = draw(_rows(n_rows, n_features)), draw(_labels(n_rows, n_classes, all_classes=True))
    least = 2.0 ** draw(st.integers(0, 7)) / UNIT  # v_y leads by 2 or more
    needed = {int(np.flatnonzero(y == label)[0]) for label in range(n_classes)}
    for i in range(n_rows):
        if i not in needed:
            y[i] = np.argmax(V @ X[i])
        if _lead(V, X[i], y[i]) < least:
            X[i] = V[y[i]]
    norm = np.linalg.norm(V)
    delta = float(min(_lead(V, x, label) for x, label in zip(X, y)) / norm) * HONEST
    U = V / norm
    assert delta > 0.0 and all(_lead(U, x, label) >= delta for x, label in zip(X, y))
    return SeparableMulticlass(X, y, U, delta)


def _lead(V, x, label):
    """How far the class leads its best rival on x."""
    s = V @ x
    return s[label] - np.max(np.delete(s, label))


# -------------------------------------------------------------------------------- disjunctions


@st.composite
def disjunctions(draw, max_rows: int = 12, max_inputs: int = 8, negations: bool = False) -> Disjunction:
    """0/1 rows labelled by an OR of r of the n inputs, or also of negated ones; both labels occur.

    No input occurs together with its negation.
    """
    n = draw(st.integers(1, max_inputs))
    relevant = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    negated = [negations and draw(st.booleans()) for _ in relevant]
    n_rows = draw(st.integers(2, max_rows))
    X = draw(hnp.arrays(np.int64, (n_rows, n), elements=st.integers(0, 1), fill=st.nothing())).astype(float)
    false, true = draw(st.permutations(range(n_rows)))[:2]
    X[false, relevant] = negated  # falsifies every literal
    X[true, relevant[0]] = not negated[0]
    holds = X[:, relevant] != np.array(negated)
    y = np.where(holds.any(axis=1), 1, -1)
    literals = sorted(i + n * neg for i, neg in zip(relevant, negated))
    return Disjunction(X, y, tuple(literals))


# ------------------------------------------------------------------------------------ adversary


def adversarial_stream(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray],
    X: np.ndarray,
    y: np.ndarray,
    threshold: float | Callable[[], float] = 0.0,
    strict: bool = False,
    limit: int = 10_000,
) -> Iterator[int]:
    """Rows chosen to hurt: always the one that will be updated on and is nearest to the threshold.

    ``score(X, y)`` answers the learner's current signed margins, one per row. A row is updated on
    where the margin is at most the threshold (``strict=True``: below it); the threshold may be a
    callable if it moves. Yields a row at a time, on which the learner has to be trained before
    the next is asked for; ends when no row would be updated on, or after ``limit`` rows.

    >>> w = np.zeros(1)
    >>> X, y = np.array([[3.0], [-1.0]]), np.array([1, -1])
    >>> for i in adversarial_stream(lambda X, y: y * (X @ w), X, y):
    ...     w += y[i] * X[i]
    ...     print(i, w)
    0 [3.]
    """
    for _ in range(limit):
        m = np.asarray(score(X, y), dtype=float)
        bar = threshold() if callable(threshold) else threshold
        updating = m < bar if strict else m <= bar
        if not updating.any():
            return
        yield int(np.argmax(np.where(updating, m, -np.inf)))


# ---------------------------------------------------------------------------- a learner at w = 0


def begin(model: Any, X: np.ndarray, classes: Any = (-1, 1)) -> Any:
    """The model with w = 0: it knows the classes and the width, and has seen nothing."""
    return model.partial_fit(X[:1], [classes[0]], classes=list(classes), sample_weight=[0.0])


# ----------------------------------------------------------------------------------- the best margin


def best_margin(X: np.ndarray, y: np.ndarray) -> float:
    """gamma*, the largest geometric margin of any hyperplane through the origin; 0 if there is none.

    The shortest u with y<u, x> >= 1 by Lawson and Hanson's reduction to non-negative least squares.

    >>> X, y = np.array([[3.0, 1.0], [1.0, 3.0], [-2.0, -2.0]]), np.array([1, 1, -1])
    >>> round(best_margin(X, y) ** 2, 9)
    8.0
    """
    Z = y[:, None] * X
    scale = float(np.abs(Z).max(initial=1.0))
    E = np.vstack([Z.T / scale, np.ones(len(Z))])
    f = np.append(np.zeros(X.shape[1]), 1.0)
    weights, _ = optimize.nnls(E, f)
    residual = E @ weights - f
    if np.linalg.norm(residual) < 1e-8:
        return 0.0  # a weighting of the rows y x is 0
    u = -residual[:-1] / residual[-1]
    return scale / float(np.linalg.norm(u))


def best_l1_margin(X: np.ndarray, y: np.ndarray) -> float:
    """The largest margin of any u with ||u||_1 = 1, by linear programming; negative if none separates.

    >>> X, y = np.array([[3.0, 1.0], [-2.0, -2.0]]), np.array([1, -1])
    >>> round(best_l1_margin(X, y), 9)
    2.0
    """
    Z, n = y[:, None] * X, X.shape[1]
    # u = a - b with a, b >= 0 that sum to 1; the margin is the last unknown
    A = np.hstack([-Z, Z, np.ones((len(Z), 1))])
    sums = np.append(np.ones(2 * n), 0.0)[None, :]
    cost, bounds = np.append(np.zeros(2 * n), -1.0), [(0, None)] * (2 * n) + [(None, None)]
    return -float(optimize.linprog(cost, A, np.zeros(len(Z)), sums, [1.0], bounds).fun)


def class_pairs(X: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """The rows (e_y - e_z) x' for every example and every other class z, flat: all of label +1.

    A separator of these through the origin is a set of prototypes.
    """
    unit = np.eye(n_classes)
    pairs = [
        np.outer(unit[label] - unit[z], x).ravel()
        for x, label in zip(X, y)
        for z in range(n_classes)
        if z != label
    ]
    return np.array(pairs)
