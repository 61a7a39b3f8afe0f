r"""Kernel values in floating point, each with a bound on its rounding error.

The formulas are those of :mod:`perceptrons.theory.gram`. A product of n terms is wrong by at most
:math:`(n + 2)\,2^{-52}\|a\|\|b\|`; exp and pow are taken to be within sixteen units of the last place.
A kernel that is a function of the user's has an infinite bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._types import Objects, PairFunction
from . import gram
from .gram import Description

EPS = float(np.finfo(float).eps)  # twice the error of one operation
TINY = 2.0**-1000  # more than underflow can lose in a product


class Values(NamedTuple):
    """|true value - value| <= error, entry by entry."""

    value: np.ndarray
    error: np.ndarray


def values(
    kernel: Description,
    A: Objects,
    B: Objects,
    numbers: np.ndarray | None = None,
    function: PairFunction | None = None,
    places: np.ndarray | None = None,
    squares: npt.ArrayLike | None = None,
) -> Values:
    """k(a, b) for all pairs; the arguments are those of :func:`gram.values`.

    >>> K = values({"kind": "Linear"}, np.array([[0.1, 0.2]]), np.array([[0.3, 0.4]]))
    >>> bool(0.0 < K.error[0, 0] < 1e-15)
    True
    """
    with np.errstate(all="ignore"):  # what is not a number fails every comparison
        found = _Table(A, B, numbers, function, places, squares).of(kernel)
    error = np.asarray(found.error, dtype=float)
    return Values(found.value, np.where(np.isfinite(error) & np.isfinite(found.value), error, math.inf))


def diagonal(
    kernel: Description,
    A: Objects,
    function: PairFunction | None = None,
    squares: npt.ArrayLike | None = None,
) -> Values:
    """k(a, a) of all objects.

    >>> diagonal({"kind": "Gaussian", "gamma": 1.0}, np.array([[0.1, 0.2]]))
    Values(value=array([1.]), error=array([0.]))
    """
    with np.errstate(all="ignore"):
        return _Diagonal(A, function, None, squares).of(kernel)


class _PairErrors:
    """Values of a kernel on pairs of objects; where the pairs come from is left to the subclasses."""

    def of(self, kernel: Description) -> Values:
        kind = kernel["kind"]
        if kind in ("Sum", "Product"):
            parts = [self.of(part) for part in kernel["terms"]]
            found = parts[0]
            for other in parts[1:]:
                found = (_sum if kind == "Sum" else _product)(found, other)
            return found
        if kind == "Scaled":
            inner, factor = self.of(kernel["kernel"]), kernel["factor"]
            value = factor * inner.value
            return Values(value, factor * inner.error * (1.0 + EPS) + EPS * np.abs(value) + TINY)
        if kind == "Normalized":
            return self.normalized(kernel["kernel"])
        if kind in ("Pairwise", "Spectrum", "Precomputed", "AllSubsets"):
            return self.other(kernel)
        P = self.products()
        if kind == "Linear":
            return P
        if kind == "Polynomial":
            return _power(P, kernel["coef0"], kernel["gamma"], kernel["degree"])
        return self.gaussian(P, kernel["gamma"])

    def products(self) -> Values:
        raise NotImplementedError

    def gaussian(self, P: Values, gamma: float) -> Values:
        raise NotImplementedError

    def other(self, kernel: Description) -> Values:
        raise NotImplementedError

    def normalized(self, inner: Description) -> Values:
        raise NotImplementedError


class _Table(_PairErrors):
    """All pairs of two collections."""

    def __init__(
        self,
        A: Objects,
        B: Objects,
        numbers: np.ndarray | None,
        function: PairFunction | None,
        places: np.ndarray | None,
        squares: npt.ArrayLike | None,
    ):
        self.A, self.B, self.numbers, self.function, self.places = A, B, numbers, function, places
        self.known = squares
        self._products: Values | None = None
        self._squares: tuple[np.ndarray, np.ndarray] | None = None

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        if self._squares is None:
            left = gram.squares(self.A) if self.known is None else np.asarray(self.known)
            self._squares = left, gram.squares(self.B)
        return self._squares

    def products(self) -> Values:
        if self._products is None:
            left, right = self.squares()
            n = self.A.shape[1]
            vanished = math.sqrt(n) * 2.0**-500  # lengths whose squares underflow
            size = np.outer(*(np.sqrt(q) * (1.0 + (n + 4) * EPS) + vanished for q in (left, right)))
            value = gram.dense(self.A @ self.B.T)
            self._products = Values(value, (n + 4) * (EPS * size + TINY))
        return self._products

    def gaussian(self, P: Values, gamma: float) -> Values:
        left, right = self.squares()
        n = self.A.shape[1]
        apart = np.maximum(left[:, None] + right[None, :] - 2.0 * P.value, 0.0)
        size = left[:, None] + right[None, :]
        off = (2 * n + 16) * EPS * size + 2.0 * P.error
        value = np.exp(-gamma * apart)
        error = value * (np.expm1(gamma * off * 1.01) + (16.0 + 4.0 * gamma * apart) * EPS) + TINY
        return Values(value, np.where(error <= 1.0, error, 1.0))  # both values are from 0 to 1

    def other(self, kernel: Description) -> Values:
        value = np.asarray(
            gram.values(kernel, self.A, self.B, self.numbers, self.function, self.places, self.known)
        )
        if kernel["kind"] == "Pairwise":
            return Values(value, np.full(value.shape, math.inf))
        if kernel["kind"] == "AllSubsets":
            A, B = np.abs(gram.dense(self.A)), np.abs(gram.dense(self.B))
            size = np.array([np.prod(1.0 + a * B, axis=1) for a in A]).reshape(value.shape)
            return Values(value, (4 * A.shape[1] + 4) * EPS * size + TINY)
        exact = kernel["kind"] == "Precomputed"
        return Values(value, np.zeros(value.shape) if exact else EPS * value)

    def normalized(self, inner: Description) -> Values:
        K = self.of(inner)
        left = _Diagonal(self.A, self.function, self.places, self.known).of(inner)
        right = _Diagonal(self.B, self.function, self.numbers, None).of(inner)
        value = np.asarray(
            gram.values(
                {"kind": "Normalized", "kernel": inner},
                *(self.A, self.B, self.numbers, self.function, self.places, self.known),
            )
        )
        lower = np.sqrt(np.outer(np.maximum(left.value - left.error, 0.0), right.value - right.error))
        upper = np.sqrt(np.outer(left.value + left.error, right.value + right.error))
        spread = (upper - lower) / lower + 8.0 * EPS
        error = K.error / lower + np.abs(value) * spread * (1.0 + spread) + TINY
        nought = [(d.value == 0.0) & (d.error == 0.0) for d in (left, right)]  # then the value is 0, too
        return Values(value, np.where(nought[0][:, None] | nought[1][None, :], 0.0, error))


class _Diagonal(_PairErrors):
    """k(a, a)."""

    def __init__(
        self,
        A: Objects,
        function: PairFunction | None,
        places: np.ndarray | None,
        squares: npt.ArrayLike | None,
    ):
        self.A, self.function, self.places, self.known = A, function, places, squares

    def products(self) -> Values:
        own = gram.squares(self.A) if self.known is None else np.asarray(self.known)
        return Values(own, (self.A.shape[1] + 4) * (EPS * own + TINY))

    def gaussian(self, P: Values, gamma: float) -> Values:
        return Values(np.ones_like(P.value), np.zeros_like(P.value))

    def other(self, kernel: Description) -> Values:
        value = gram.diagonal(kernel, self.A, self.function, self.places, self.known)
        if kernel["kind"] == "Pairwise":
            return Values(value, np.full(value.shape, math.inf))
        if kernel["kind"] == "AllSubsets":
            return Values(value, (4 * self.A.shape[1] + 4) * EPS * value + TINY)
        return Values(value, np.zeros(value.shape) if kernel["kind"] == "Precomputed" else EPS * value)

    def normalized(self, inner: Description) -> Values:
        own = self.of(inner)
        one = (own.value > 0.0).astype(float)
        return Values(one, np.where(own.value > own.error, 0.0, np.where(own.error == 0.0, 0.0, math.inf)))


def _sum(a: Values, b: Values) -> Values:
    value = a.value + b.value
    return Values(value, (a.error + b.error) * (1.0 + EPS) + EPS * np.abs(value))


def _product(a: Values, b: Values) -> Values:
    value = a.value * b.value
    error = np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error
    return Values(value, error * (1.0 + 4.0 * EPS) + EPS * np.abs(value) + TINY)


def _power(P: Values, coef0: float, gamma: float, degree: int) -> Values:
    base = coef0 + gamma * P.value
    off = gamma * P.error * (1.0 + EPS) + 2.0 * EPS * (coef0 + gamma * np.abs(P.value)) + TINY
    value = base**degree
    most = (np.abs(base) + off) ** (degree - 1)
    return Values(value, (degree * most * off + 16.0 * EPS * np.abs(value)) * (1.0 + 64.0 * EPS) + TINY)
