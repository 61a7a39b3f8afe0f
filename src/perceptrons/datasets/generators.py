r"""Generated data with a stated property: each set comes with its number and a witness that proves it.

A witness is checked by one product, whoever made the data: a vector ``u`` with its offset ``b`` for a
margin or a hinge loss, weights on the rows for "not separable". Labels are −1 and +1; the same
``random_state`` gives the same rows.

===================  ===============================================================================
generator            promise
===================  ===============================================================================
`separable`          a plane with at least the given margin
`k_of_r`             at least k of r relevant inputs; the others do not matter
`xor`                no plane separates it
`shrinking_margin`   the margin in augmented space as the plane moves away from the origin
`decision_list`      a best margin that is exponentially small in the number of inputs
`noisy`              the total hinge loss of a given comparator
===================  ===============================================================================
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import theory
from .._types import Matrix, SparseMatrix
from . import toy

__all__ = ["Generated", "decision_list", "k_of_r", "noisy", "separable", "shrinking_margin", "xor"]

EPS = float(np.finfo(float).eps)


class Generated(NamedTuple):
    """Rows, labels, and what is promised about them; unpacks as ``X, y, *_ = separable(…)``."""

    X: Matrix  #: one row per example, dense or CSR
    y: np.ndarray  #: labels -1 and +1
    description: str  #: the promise, in a sentence
    value: float  #: the promised number
    u: np.ndarray | None  #: the witness: weights
    b: float  #: the witness: offset
    facts: dict[str, Any]  #: further numbers that go with it, by name

    def __repr__(self) -> str:
        return f"<Generated {self.X.shape[0]} x {self.X.shape[1]}: {self.description}>"


# --------------------------------------------------------------------------------------- a margin


def separable(
    n: int,
    d: int,
    margin: float,
    offset: float = 0.0,
    radius: float = 1.0,
    density: float | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Generated:
    r"""Rows that a hidden plane separates with a margin that truly holds.

    A unit vector u and the offset b have :math:`y(\langle u, x\rangle + b) \ge \gamma` on every row; the
    nearest row of each class is at γ itself, up to a part in :math:`10^8`. The best margin of the rows is
    at least this.

    Parameters
    ----------
    n, d : int
        Rows and features; at least 2 rows, so that both labels occur.
    margin : float
        γ; smaller than ``radius``.
    offset : float, default=0.0
        b: the plane is :math:`|b|` away from the origin.
    radius : float, default=1.0
        Dense rows are within ``radius`` of the point −b·u of the plane. Sparse ones may lie farther out.
    density : float, optional
        A share of the features: CSR rows with this share of non-zeros, at least one each.
    random_state : int, numpy Generator or None, default=0

    Returns
    -------
    Generated
        ``value`` is γ, the witness (u, b); ``facts["R"]`` the largest :math:`\|x\|`.

    Examples
    --------
    >>> data = separable(n=50, d=3, margin=0.25, offset=2.0)
    >>> float((data.y * (data.X @ data.u + data.b)).min().round(6)), float((data.u @ data.u).round(9))
    (0.25, 1.0)
    >>> separable(n=50, d=1000, margin=0.25, density=0.01).X.nnz
    500
    """
    n, d = _whole("n", n, 2), _whole("d", d, 1)
    margin, radius = _positive("margin", margin), _positive("radius", radius)
    if margin >= radius:
        raise ValueError(f"margin must be smaller than radius={radius:g}; got margin={margin!r}.")
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.resize([1, -1], n))
    # a little more than the margin, so that rounding cannot take it away
    least = margin * (1.0 + 1e-9) + 64.0 * EPS * d * (radius + abs(offset))
    depth = least + (1.0 - rng.random(n)) * max(radius / 2.0 - least, 0.0)
    for label in (1, -1):
        depth[np.flatnonzero(y == label)[0]] = least
    along = y * depth - offset  # <u, x>
    X: Matrix
    if density is None:
        u = _direction(rng, d)
        aside = rng.normal(size=(n, d))
        aside -= np.outer(aside @ u, u)
        lengths = np.linalg.norm(aside, axis=1)
        room = np.sqrt(np.maximum(radius**2 - depth**2, 0.0)) * rng.random(n) ** (1.0 / max(d - 1, 1))
        aside *= np.where(lengths > 0.0, room / np.where(lengths > 0.0, lengths, 1.0), 0.0)[:, None]
        if d == 1:
            aside[:] = 0.0
        X = aside + np.outer(along, u)
        X += np.outer(along - X @ u, u)  # what rounding left
    else:
        u = rng.choice([1.0, -1.0], d) / math.sqrt(d)
        X = _sparse_rows(rng, n, d, _share("density", density), u, along, radius)
    gamma = float(np.min(y * (X @ u + offset)))
    if gamma < margin:
        raise ArithmeticError(f"margin={margin:g} is lost in rounding at offset={offset:g}; ask for more.")
    where = f"offset {offset:g}" if offset else "through the origin"
    return Generated(
        X,
        y,
        f"A plane {where} separates the rows with margin {margin:g}.",
        margin,
        u,
        float(offset),
        {"R": theory.radius(X), "gamma": gamma},
    )


def _direction(rng: np.random.Generator, d: int) -> np.ndarray:
    u = rng.normal(size=d)
    return u / np.linalg.norm(u)


def _sparse_rows(
    rng: np.random.Generator, n: int, d: int, density: float, u: np.ndarray, along: np.ndarray, radius: float
) -> SparseMatrix:
    """Rows with given <u, x>, made by moving noise on few columns along u."""
    k = max(1, round(density * d))
    columns = np.array([np.sort(rng.choice(d, k, replace=False)) for _ in range(n)])
    values = rng.normal(scale=radius / (2.0 * math.sqrt(k)), size=(n, k))
    on = u[columns]
    for _ in range(3):  # again for what rounding left
        missing = along - np.sum(values * on, axis=1)
        values += (missing / np.sum(on * on, axis=1))[:, None] * on
    return sparse.csr_array((values.ravel(), columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d))


def shrinking_margin(offset: float, gamma: float = 1.0, n: int = 8, bias: float = 1.0) -> Generated:
    r"""Rows whose margin never changes, while the margin in augmented space shrinks with the offset.

    The rows :math:`(s, o + \gamma)` are positive, :math:`(s, o - \gamma)` negative, for s from −1 to 1. With
    a free offset the margin is γ wherever o is. With the constant coordinate B it is exactly

    .. math:: \gamma_{aug} = \gamma / \sqrt{1 + o^2/B^2},

    and :math:`R_{aug}^2 = 1 + (|o| + \gamma)^2 + B^2` grows, so that the perceptron's bound
    :math:`R_{aug}^2/\gamma_{aug}^2` grows like :math:`o^4`. That is why data far from the origin converge
    slowly.

    Parameters
    ----------
    offset : float
        o: how far the plane is from the origin.
    gamma : float, default=1.0
        γ; at most 2B, so that the formula is exact.
    n : int, default=8
        Rows; an even number of at least 4.
    bias : float, default=1.0
        B, the constant coordinate that a learner adds (``intercept_scaling``).

    Returns
    -------
    Generated
        ``value`` is :math:`\gamma_{aug}`; the witness (u, b) has margin γ; ``facts``: ``gamma``,
        ``gamma_aug``, ``R``, ``R_aug``, ``bound`` and ``u_aug``, the unit vector of margin
        :math:`\gamma_{aug}` in augmented space, the constant coordinate last.

    Examples
    --------
    >>> for offset in (0, 3, 30):
    ...     data = shrinking_margin(offset)
    ...     print(offset, round(data.value, 3), round(data.facts["bound"]))
    0 1.0 3
    3 0.316 180
    30 0.033 867663
    """
    n, gamma, bias = _whole("n", n, 4), _positive("gamma", gamma), _positive("bias", bias)
    o = float(offset)
    if n % 2:
        raise ValueError(f"n must be even, as many rows on either side; got n={n}.")
    if gamma > 2.0 * bias:
        raise ValueError(f"gamma must be at most 2*bias={2.0 * bias:g}; got gamma={gamma!r}.")
    side = np.repeat(np.linspace(-1.0, 1.0, n // 2), 2)
    y = np.resize([1, -1], n)
    X = np.column_stack([side, o + gamma * y])
    gamma_aug = gamma / math.hypot(1.0, o / bias)
    R, R_aug = theory.radius(X), math.hypot(theory.radius(X), bias)
    u_aug = np.array([0.0, bias, -o]) / math.hypot(bias, o)
    return Generated(
        X,
        y,
        f"Margin {gamma:g}, and {gamma_aug:.4g} in augmented space: the plane is {abs(o):g} away.",
        gamma_aug,
        np.array([0.0, 1.0]),
        -o,
        {
            "gamma": gamma,
            "gamma_aug": gamma_aug,
            "R": R,
            "R_aug": R_aug,
            "bound": theory.novikoff(R_aug, gamma_aug),
            "u_aug": u_aug,
        },
    )


# ----------------------------------------------------------------------------------- 0/1 inputs


def k_of_r(
    n_rows: int,
    n_inputs: int,
    r: int,
    k: int = 1,
    density: float = 0.5,
    random_state: int | np.random.Generator | None = 0,
) -> Generated:
    r"""0/1 rows, positive where at least k of r relevant inputs are 1; the other inputs do not matter.

    k = 1 is a disjunction, k = r a conjunction. With weight 1 on the relevant inputs and offset
    :math:`\tfrac12 - k` every row has functional margin at least ½, so :math:`\gamma = 1/(2\sqrt r)`. In
    Winnow's terms :math:`\mu_i = 1/k` on the relevant inputs has :math:`\sum\mu_i x_i \ge 1` on positives
    and :math:`\le 1 - \delta` on negatives, with :math:`\delta = 1/k`, :math:`\sum\mu_i = r/k`. None of these
    numbers contains ``n_inputs``; the length of the rows does.

    Parameters
    ----------
    n_rows, n_inputs, r, k : int
        At least 2 rows; :math:`1 \le k \le r \le` ``n_inputs``.
    density : float, default=0.5
        How many of the irrelevant inputs are 1.
    random_state : int, numpy Generator or None, default=0

    Returns
    -------
    Generated
        ``value`` is :math:`1/(2\sqrt r)`, the margin of the witness (u, b), u of length 1; ``facts``:
        ``relevant`` (the inputs that matter), ``r``, ``k``, ``delta``, ``mu_sum``, ``gamma_l1`` (the margin
        for weights, with that of a constant input 1, that sum to 1).

    Examples
    --------
    >>> data = k_of_r(n_rows=40, n_inputs=100, r=4, k=2)
    >>> relevant = data.X[:, data.facts["relevant"]]
    >>> bool(((relevant.sum(axis=1) >= 2) == (data.y > 0)).all()), data.value
    (True, 0.25)
    """
    n_rows, n_inputs = _whole("n_rows", n_rows, 2), _whole("n_inputs", n_inputs, 1)
    r = _whole("r", r, 1, n_inputs)
    k = _whole("k", k, 1, r)
    density = _share("density", density, zero=True)
    rng = np.random.default_rng(random_state)
    relevant = np.sort(rng.choice(n_inputs, r, replace=False))
    y = rng.permutation(np.resize([1, -1], n_rows))
    X = (rng.random((n_rows, n_inputs)) < density).astype(float)
    for i, label in enumerate(y):
        true = rng.integers(k, r + 1) if label > 0 else rng.integers(0, k)
        X[i, relevant] = 0.0
        X[i, rng.choice(relevant, true, replace=False)] = 1.0
    u = np.zeros(n_inputs)
    u[relevant] = 1.0 / math.sqrt(r)
    return Generated(
        X,
        y,
        f"At least {k} of {r} relevant inputs among {n_inputs}.",
        0.5 / math.sqrt(r),
        u,
        (0.5 - k) / math.sqrt(r),
        {
            "relevant": relevant,
            "r": r,
            "k": k,
            "delta": 1.0 / k,
            "mu_sum": r / k,
            "gamma_l1": 0.5 / (r + k - 0.5),
        },
    )


def decision_list(n: int, intercept: bool = True, all_rows: bool = False) -> Generated:
    r"""An alternating decision list over n inputs: the best margin is exponentially small in n.

    *If* :math:`x_1` *then* + *else if* :math:`x_2` *then* − *else if* :math:`x_3` *then* + … *else* the
    sign that comes next. It is a halfspace, but each weight has to beat all later ones of the other sign.
    The hard rows are one per rule: the input that fires it, and every later input of the opposite sign.
    On them :math:`y\langle w, x\rangle \ge 1` needs

    .. math:: |w_i| \ge 1 + \sum_{j > i,\ \text{opposite}} |w_j|,

    from the last rule upwards. Equality throughout gives whole numbers, the smallest possible in every
    place, so the best margin is :math:`\gamma^* = 1/\|w\|` exactly. Without the intercept they are Fibonacci
    numbers, :math:`\gamma^* = 1/\sqrt{F_{n+1}F_{n+2} - 1}`.

    Parameters
    ----------
    n : int
        Inputs, 1 to 60.
    intercept : bool, default=True
        The last *else* is there: a row of zeros, for learners with a constant coordinate 1, which is the
        last of the weights (it counts in γ). False: no such row, and a plane through the origin.
    all_rows : bool, default=False
        All :math:`2^n` rows (n up to 16) instead of the n or n + 1 hard ones; γ* is the same.

    Returns
    -------
    Generated
        ``value`` is γ*, of all planes through the origin (of augmented space, with ``intercept``); the
        witness (u, b) of length 1 attains it; ``facts``: ``weights``, the whole numbers, that of the
        constant last, ``R`` and ``bound``, :math:`R^2/\gamma^2`.

    Examples
    --------
    >>> data = decision_list(5, intercept=False)
    >>> data.facts["weights"], data.y
    ([8, -5, 3, -2, 1], array([ 1, -1,  1, -1,  1]))
    >>> data.X[0], round(1 / data.value**2)  # 64 + 25 + 9 + 4 + 1
    (array([1., 1., 0., 1., 0.]), 103)
    >>> round(decision_list(20, intercept=False).facts["bound"])
    2132510655
    """
    n = _whole("n", n, 1, 16 if all_rows else 60)
    length = n + bool(intercept)
    signs = [1 if i % 2 == 0 else -1 for i in range(length)]
    weights = [0] * length
    for i in reversed(range(length)):
        against = sum(abs(weights[j]) for j in range(i + 1, length) if signs[j] != signs[i])
        # the constant is on in every row: where it agrees, it helps
        helped = abs(weights[-1]) if intercept and i < n and signs[-1] == signs[i] else 0
        weights[i] = signs[i] * (1 + against - helped)
    if all_rows:
        X = ((np.arange(2**n)[:, None] >> np.arange(n)[::-1]) & 1).astype(float)
        X = X if intercept else X[1:]
    else:
        X = np.array(
            [[float(j == i or (j > i and signs[j] != signs[i])) for j in range(n)] for i in range(n)]
        )
        X = np.vstack([X, np.zeros((1, n))]) if intercept else X
    fires = np.where(X.any(axis=1), X.argmax(axis=1), n)
    y = np.where(fires % 2 == 0, 1, -1)
    norm = math.sqrt(sum(w * w for w in weights))
    unit = np.array([w / norm for w in weights])
    R = math.hypot(theory.radius(X), 1.0 if intercept else 0.0)
    return Generated(
        X,
        y,
        f"An alternating decision list over {n} inputs: its best margin is {1.0 / norm:.4g}.",
        1.0 / norm,
        unit[:n],
        float(unit[n]) if intercept else 0.0,
        {"weights": weights, "R": R, "bound": theory.novikoff(R, 1.0 / norm)},
    )


# -------------------------------------------------------------------------------- not separable


def xor(n: int = 4, spread: float = 0.5, random_state: int | np.random.Generator | None = 0) -> Generated:
    r"""Exclusive or of two signs, n rows: +1 when they differ. No plane separates them.

    The first four rows are the corners (±1, ±1) themselves. Weight ¼ on each of them gives
    :math:`\sum\lambda_i y_i(x_i, 1) = 0`, which proves it (Gordan). The further rows lie around the corners
    in turn. The product of the features separates: :math:`-y\,x_1x_2 \ge (1 - \text{spread})^2`.

    Parameters
    ----------
    n : int, default=4
        Rows; at least 4.
    spread : float, default=0.5
        From 0 to 1, 1 excluded: how far the further rows may be from their corner, per feature.
    random_state : int, numpy Generator or None, default=0

    Returns
    -------
    Generated
        ``value`` is 0, the best margin; ``facts``: ``weights``, one per row, the proof; ``product_margin``.

    Examples
    --------
    >>> data = xor(6)
    >>> data.y, data.facts["weights"]
    (array([-1,  1,  1, -1, -1,  1]), array([0.25, 0.25, 0.25, 0.25, 0.  , 0.  ]))
    """
    n = _whole("n", n, 4)
    if not 0.0 <= spread < 1.0:
        raise ValueError(f"spread must be a number from 0 to 1, 1 excluded; got spread={spread!r}.")
    corners = toy.xor()
    rng = np.random.default_rng(random_state)
    turn = np.resize(np.arange(4), n)
    noise = rng.uniform(-spread, spread, size=(n, 2))
    noise[:4] = 0.0
    weights = np.zeros(n)
    weights[:4] = 0.25
    return Generated(
        corners.X[turn] + noise,
        corners.y[turn],
        "Exclusive or of two signs: no plane separates it.",
        0.0,
        None,
        0.0,
        {"weights": weights, "product_margin": (1.0 - spread) ** 2},
    )


def noisy(
    n: int,
    d: int,
    hinge: float,
    n_noisy: int | None = None,
    margin: float = 0.25,
    random_state: int | np.random.Generator | None = 0,
) -> Generated:
    r"""Rows with a stated total hinge loss for a stated comparator.

    u has length :math:`1/\gamma` and :math:`y\langle u, x\rangle \ge 1` on all rows but the noisy ones, on
    which it misses parts that add up to the given :math:`H = \sum\max(0, 1 - y\langle u, x\rangle)`, up
    to ``facts["tolerance"]``. A row that misses more than 1 has the wrong label. All rows have length 1 at
    most, unless a loss is so large that its row must be longer. So the first pass of the perceptron makes
    at most :math:`R^2/\gamma^2 + 2H` mistakes.

    Parameters
    ----------
    n, d : int
        Rows and features, at least 2 features.
    hinge : float
        H ≥ 0.
    n_noisy : int, optional
        How many rows share H, in random parts; default: H/2 rounded up, so that they miss 2 on average.
    margin : float, default=0.25
        γ, below 1: the margin of u/‖u‖ on the other rows.
    random_state : int, numpy Generator or None, default=0

    Returns
    -------
    Generated
        ``value`` is H; the witness u, with b = 0; ``facts``: ``noisy`` (the rows), ``wrong`` (those with the
        wrong label), ``tolerance``, ``R``, ``bound`` (of that pass).

    Examples
    --------
    >>> data = noisy(n=200, d=5, hinge=30.0)
    >>> losses = np.maximum(0, 1 - data.y * (data.X @ data.u))
    >>> float(losses.sum().round(9)), int((losses > 0).sum()), round(data.facts["bound"], 9)
    (30.0, 15, 76.0)
    """
    n, d, margin = _whole("n", n, 2), _whole("d", d, 2), _positive("margin", margin)
    hinge = float(hinge)
    if not 0.0 <= hinge < math.inf:
        raise ValueError(f"hinge must be a number of at least 0; got hinge={hinge!r}.")
    if margin >= 1.0:
        raise ValueError(f"margin must be below 1, the length of the rows; got margin={margin!r}.")
    default = min(n, math.ceil(hinge / 2.0))
    count = _whole("n_noisy", default if n_noisy is None else n_noisy, 0 if hinge == 0.0 else 1, n)
    rng = np.random.default_rng(random_state)
    direction = _direction(rng, d)
    u = direction / margin
    y = rng.permutation(np.resize([1, -1], n))
    losses = np.zeros(n)
    chosen = np.sort(rng.choice(n, count, replace=False))
    if hinge > 0.0:
        parts = rng.uniform(0.5, 1.5, count)
        losses[chosen] = hinge * parts / parts.sum()
    # how far to the right side, in units of the margin; a clean row a little beyond 1
    depth = 1.0 + 1e-9 + rng.random(n) * (1.0 / margin - 1.0) / 2.0
    depth[chosen] = 1.0 - losses[chosen]
    aside = rng.normal(size=(n, d))
    aside -= np.outer(aside @ direction, direction)
    aside *= (np.sqrt(np.maximum(0.0, 1.0 - (depth * margin) ** 2)) / np.linalg.norm(aside, axis=1))[:, None]
    X = aside + np.outer(y * depth * margin, direction)
    X += np.outer(y * depth * margin - X @ direction, direction)  # what rounding left
    R = theory.radius(X)
    missed = np.maximum(0.0, 1.0 - y * (X @ u))
    tolerance = 1e-9 * max(1.0, hinge)
    if abs(math.fsum(missed) - hinge) > tolerance:
        raise ArithmeticError(f"hinge={hinge:g} is lost in rounding at margin={margin:g}; ask for more.")
    return Generated(
        X,
        y,
        f"{count} noisy rows: a comparator of length {1.0 / margin:g} has total hinge loss {hinge:g}.",
        hinge,
        u,
        0.0,
        {
            "noisy": chosen,
            "wrong": np.flatnonzero(losses > 1.0),
            "tolerance": tolerance,
            "R": R,
            "bound": theory.hinge(max(R, 1.0), 1.0 / margin, hinge),
        },
    )


# ------------------------------------------------------------------------------------- arguments


def _whole(name: str, value: object, low: int, high: int | None = None) -> int:
    rule = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be {rule}; got {name}={value!r}.")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {rule}; got {name}={value!r}.")
    return int(value)


def _positive(name: str, value: float) -> float:
    if not 0.0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a positive number; got {name}={value!r}.")
    return float(value)


def _share(name: str, value: float, zero: bool = False) -> float:
    if not (0.0 < value <= 1.0 or (zero and value == 0.0)):
        rule = "a number from 0 to 1" if zero else "a number above 0 and at most 1"
        raise ValueError(f"{name} must be {rule}; got {name}={value!r}.")
    return float(value)
