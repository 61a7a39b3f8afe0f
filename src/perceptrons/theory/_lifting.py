r"""Whole numbers n >= 0 with :math:`\sum n_i m_i = 0` for given integer columns, near given floats.

The columns are those that a float solver gave weight to. Elimination modulo a prime p picks columns and
rows that form an invertible A; the other columns keep their float weights, which are rational, and the
weights of the first solve :math:`A x = b`. Dixon's lifting finds x modulo :math:`p, p^2, p^3, \dots`, two
products of a matrix with a vector per digit, and Euclid's algorithm reads the fractions off as soon as
they are short enough. All products are of floats that hold integers below :math:`2^{53}`: exact.

J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40, 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg import blas

from . import _rational as rational

SURE = 64  # bits by which a fraction has to be shorter than chance makes it


class OutOfTime(Exception):
    """The time given is over."""


def null_weights(M: np.ndarray, near: np.ndarray, late: Callable[[], bool]) -> list[int] | None:
    """Integers n >= 0, not all 0, with M n = 0, in proportions close to ``near``; None if none are found.

    M has integer entries (int64, or Python's own). Raises OutOfTime when ``late`` says so.

    >>> null_weights(np.array([[1, -2, 0], [-1, 1, 3]]), np.array([0.5, 0.3, 0.1]), lambda: False)
    [6, 3, 1]
    """
    rows, columns = M.shape
    order = np.argsort(-near, kind="stable")  # large weights are solved for, small ones kept
    for p in primes(max(rows, columns)):
        at_rows, at = independent(modulo(M, p)[:, order], p, late)
        solved, kept = order[at], np.setdiff1d(order, order[at])
        if kept.size == 0:
            return None  # no combination of these columns is 0
        fixed = np.ones(1, dtype=np.int64) if kept.size == 1 else rational.whole(near[kept])[0]
        b = -product(M[np.ix_(at_rows, kept)], fixed)
        if solved.size == 0:
            x: list[int] = []
            scale = 1
        else:
            A = M[np.ix_(at_rows, solved)]
            inverse = inverted(modulo(A, p), p, late)
            if inverse is None:
                continue
            x, scale = lifted(A, inverse, b, p, late)
        n = np.empty(columns, dtype=object)
        n[solved] = x
        n[kept] = [int(v) * scale for v in fixed.tolist()]
        if any(v < 0 for v in n):
            return None
        if any(product(M, n)):
            return None  # a row outside A disagrees
        common = math.gcd(*n)
        return [int(v) // common for v in n]
    return None


def product(M: np.ndarray, n: np.ndarray) -> np.ndarray:
    """M n in whole numbers of any length."""
    return np.asarray(M.astype(object) @ n.astype(object))


def primes(size: int) -> list[int]:
    """Some primes whose residues can be multiplied and added ``size`` times below 2^53."""
    top = math.isqrt(2**53 // max(size, 2)) - 1
    top = min(top, 2**21 - 1)
    found: list[int] = []
    k = top | 1
    while len(found) < 4:
        k -= 2
        if all(k % q for q in range(3, math.isqrt(k) + 1, 2)):
            found.append(k)
    return found


def modulo(M: np.ndarray, p: int) -> np.ndarray:
    """Residues from 0 to p - 1, as floats in Fortran's order."""
    return np.asfortranarray((M % p).astype(np.float64))


def reduced(a: np.ndarray, p: int) -> np.ndarray:
    """a modulo p for whole floats below 2^53."""
    r: np.ndarray = a - p * np.floor(a / p)
    r[r < 0] += p
    r[r >= p] -= p
    return r


def independent(M: np.ndarray, p: int, late: Callable[[], bool]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of an invertible square modulo p, as large as can be, first columns first."""
    rows, columns = M.shape
    free = np.ones(rows, dtype=bool)
    at_rows: list[int] = []
    at_columns: list[int] = []
    lazy = max(1, 2**53 // (p * p) - 2)  # updates before everything has to be reduced
    for j in range(columns):
        column = reduced(M[:, j], p)
        candidates = np.flatnonzero((column != 0.0) & free)
        if candidates.size == 0:
            continue
        i = int(candidates[0])
        inverse = pow(int(column[i]), -1, p)
        line = reduced(M[i], p)
        factors = np.where(free, reduced(column * inverse, p), 0.0)
        factors[i] = 0.0
        M = blas.dger(-1.0, factors, line, a=M, overwrite_a=1)
        free[i] = False
        at_rows.append(i)
        at_columns.append(j)
        if len(at_rows) % lazy == 0:
            M = np.asfortranarray(reduced(M, p))
        if j % 64 == 0 and late():
            raise OutOfTime
    return np.array(at_rows, dtype=np.intp), np.array(at_columns, dtype=np.intp)


def inverted(A: np.ndarray, p: int, late: Callable[[], bool]) -> np.ndarray | None:
    """The inverse modulo p by Gauss and Jordan; None if there is none."""
    size = len(A)
    T = np.asfortranarray(np.hstack([A, np.eye(size)]))
    lazy = max(1, 2**53 // (p * p) - 2)
    free = np.ones(size, dtype=bool)
    pivots: list[int] = []
    for j in range(size):
        column = reduced(T[:, j], p)
        candidates = np.flatnonzero((column != 0.0) & free)
        if candidates.size == 0:
            return None
        i = int(candidates[0])
        line = reduced(reduced(T[i], p) * pow(int(column[i]), -1, p), p)
        column[i] = 0.0
        T = blas.dger(-1.0, column, line, a=T, overwrite_a=1)
        T[i] = line
        free[i] = False
        pivots.append(i)
        if len(pivots) % lazy == 0:
            T = np.asfortranarray(reduced(T, p))
        if j % 64 == 0 and late():
            raise OutOfTime
    return np.ascontiguousarray(reduced(T[pivots, size:], p))


def lifted(
    A: np.ndarray, inverse: np.ndarray, b: np.ndarray, p: int, late: Callable[[], bool]
) -> tuple[list[int], int]:
    """The solution of A x = b as integers over one denominator."""
    size = len(A)
    bits = rational.longest(A)
    limb = 52 - p.bit_length() - size.bit_length()
    parts = limbs(A, limb, bits)
    short = bits + p.bit_length() + size.bit_length() + 1 <= rational.SHORT
    r = b
    short = short and rational.longest(r) <= rational.SHORT - 1
    r = r.astype(np.int64) if short else r.astype(object)
    whole = np.int64 if short else object
    digits: list[np.ndarray] = []
    attempt = 8
    while True:
        residue = (r % p).astype(np.float64)
        digit = reduced(inverse @ residue, p)
        step = np.zeros(size, dtype=whole)
        for k, part in enumerate(parts):
            piece = (part @ digit).astype(np.int64).astype(whole)
            step = step + (piece << (k * limb))
        r = (r - step) // p
        digits.append(digit.astype(np.int64))
        if len(digits) % 16 == 0 and late():
            raise OutOfTime
        if len(digits) >= attempt:
            found = fractions(digits, p)
            if found is not None:
                return found
            attempt = len(digits) + len(digits) // 2
            if late():
                raise OutOfTime


def limbs(A: np.ndarray, limb: int, bits: int) -> list[np.ndarray]:
    """A as a sum of float matrices times powers of 2^limb."""
    size, sign = np.abs(A), np.where(A < 0, -1, 1)
    mask = (1 << limb) - 1
    found = []
    for k in range(max(1, -(-bits // limb))):
        found.append(np.ascontiguousarray((((size >> (k * limb)) & mask) * sign).astype(np.float64)))
    return found


def fractions(digits: list[np.ndarray], p: int) -> tuple[list[int], int] | None:
    """Integers and one denominator with these digits modulo a power of p, if they are short."""
    x, modulus = joined(digits, p)
    half = modulus.bit_length() // 2
    scale = 1
    found: list[int] = []
    for residue in x:
        n = residue * scale % modulus
        n = n - modulus if 2 * n > modulus else n
        if n.bit_length() + scale.bit_length() + SURE > modulus.bit_length():
            pair = fraction(n % modulus, modulus, half)
            if pair is None or pair[0].bit_length() + pair[1].bit_length() + SURE > modulus.bit_length():
                return None
            n, more = pair
            scale *= more
            found = [v * more for v in found]
        found.append(n)
    return found, scale


def fraction(residue: int, modulus: int, half: int) -> tuple[int, int] | None:
    """n/d with n = d residue modulo the modulus, both of about ``half`` its bits: Euclid's algorithm."""
    bound = 1 << half
    r0, r1, t0, t1 = modulus, residue, 0, 1
    while r1 >= bound:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        t0, t1 = t1, t0 - q * t1
    if t1 == 0:
        return None
    n, d = (r1, t1) if t1 > 0 else (-r1, -t1)
    common = math.gcd(n, d)
    return n // common, d // common


def joined(digits: list[np.ndarray], p: int) -> tuple[list[int], int]:
    """Numbers from their digits, least first, and the power of p that they are taken modulo."""
    parts: list[np.ndarray] = [digit.astype(object) for digit in digits]
    base, modulus = p, p ** len(digits)
    while len(parts) > 1:
        odd = [parts.pop()] if len(parts) % 2 else []
        parts = [low + high * base for low, high in zip(parts[::2], parts[1::2])] + odd
        base *= base
    return parts[0].tolist(), modulus
