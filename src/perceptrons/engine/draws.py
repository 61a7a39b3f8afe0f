"""Numbers drawn from a random state that may be the user's own: loops rely on the range of these numbers."""

from __future__ import annotations

import sys
from functools import cache
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .compiler import compiled, jit_disabled

if TYPE_CHECKING:
    from .._types import Ints, Unsigned

#: Fewer rows are shuffled by numpy.
LEAST_ROWS = 1 << 14


class RandomSource(Protocol):
    """What is used of a random state. The user may have written it, so that its results have no type."""

    def permutation(self, rows: Any, /) -> Any: ...

    def random(self, *size: Any) -> Any: ...


def trusted(rng: object) -> bool:
    """Whether this is one of numpy's own generators; a class derived from one may do anything."""
    return type(rng) in (np.random.Generator, np.random.RandomState)


def permutation(rng: RandomSource, rows: np.ndarray, own: bool = False) -> np.ndarray:
    """The numbers of ``rows``, which ascend, in another order.

    ``own``: nobody else draws from ``rng`` meanwhile. The order, and the generator afterwards, are the same
    with and without it.
    """
    if trusted(rng):
        found = _shuffled(rng, rows) if own and len(rows) >= LEAST_ROWS else None
        return np.asarray(rng.permutation(rows)) if found is None else found
    found = np.array(rng.permutation(rows))  # a copy: it cannot be changed later
    if found.shape != rows.shape or found.dtype.kind not in "iu" or not np.array_equal(np.sort(found), rows):
        raise ValueError(
            f"random_state.permutation must return the {len(rows)} numbers that it is given, in another "
            f"order; {type(rng).__name__} returned {_shown(found)}."
        )
    return found


def _shuffled(rng: Any, rows: np.ndarray) -> np.ndarray | None:
    """``rng.permutation(rows)`` by a loop that need not guess which draws are too large; None: not by it."""
    bits: Any = getattr(rng, "bit_generator", None)
    known = type(bits) is np.random.PCG64 and sys.byteorder == "little" and len(rows) < 1 << 31
    return _by_loop(bits, rows) if known and not jit_disabled() and _as_numpy() else None


@cache
def _as_numpy() -> bool:
    """Whether this version of numpy shuffles as :func:`_shuffle` does."""
    theirs, ours, rows = np.random.default_rng(0), np.random.default_rng(0), np.arange(1000)
    found = _by_loop(ours.bit_generator, rows)
    same = found is not None and np.array_equal(theirs.permutation(rows), found)
    return same and theirs.bit_generator.state == ours.bit_generator.state


def _by_loop(bits: Any, rows: np.ndarray) -> np.ndarray | None:
    """The rows shuffled; None, and nothing was drawn, where more draws were needed than were made."""
    n, before = len(rows), bits.state
    words = bits.random_raw(_enough(n) // 2)
    halves = words.view(np.uint32)  # the lower half of a word comes first
    if before["has_uint32"]:
        halves = np.concatenate([np.array([before["uinteger"]], np.uint32), halves])
    found, picked = rows.astype(np.int64), np.empty(n, np.uint32)
    used = int(_shuffle(found, halves, picked)) - before["has_uint32"]
    bits.state = before
    if used < 0:
        return None
    bits.advance((used + 1) // 2)  # forgets a half that is left
    after, last = bits.state, (used - 1) // 2
    after["has_uint32"], after["uinteger"] = used % 2, int(words[last] >> 32) if last >= 0 else 0
    bits.state = after
    return found


def _enough(n: int) -> int:
    """How many draws a shuffle of n numbers needs, but for a chance of 1e-15: an even number.

    i + 1 of 2^b draws are taken for the place i, where 2^b is the next power of 2: 2^b ln 2 draws for all
    places with this b, of which each has a variance of at most 2.
    """
    half = 1 << max(0, (n - 1).bit_length() - 1)
    expected = 2.0 * half * (log(2.0) + log(max(1.0, n / half)))
    return 2 * int(0.5 * expected + 4.0 * sqrt(2.0 * n) + 64.0)


@compiled
def _shuffle(numbers: Ints, draws: Unsigned, picked: Unsigned) -> int:
    """Shuffle as numpy does; return how many draws it took, or -1 where there are too few.

    Places change from the last one on with a place drawn among those up to it: as many bits as the number of
    the place has, drawn again until they are not larger. A draw is written where the next one goes unless it
    counts, so that no branch depends on it.
    """
    k = 0
    i = numbers.shape[0] - 1
    while i >= 1:
        low = 1
        while 2 * low <= i:
            low *= 2
        mask = np.uint32(2 * low - 1)
        while i >= low:
            if k == draws.shape[0]:
                return -1
            j = draws[k] & mask
            picked[i] = j
            i -= np.int64(j) <= i
            k += 1
    for i in range(numbers.shape[0] - 1, 0, -1):
        j = np.int64(picked[i])
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return k


def uniform(rng: RandomSource) -> float:
    """A number in [0, 1)."""
    return float(rng.random() if trusted(rng) else _checked(rng, rng.random(), ()))


def uniforms(rng: RandomSource, n: int) -> np.ndarray:
    """At least one number in [0, 1), and n where one call can draw many."""
    if trusted(rng):
        return np.asarray(rng.random(n))
    if isinstance(rng, (np.random.Generator, np.random.RandomState)):
        return _checked(rng, rng.random(n), (n,))
    return np.array([uniform(rng)])


def _checked(rng: object, drawn: object, shape: tuple[int, ...]) -> np.ndarray:
    try:
        found = np.array(drawn, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != shape or not ((found >= 0.0) & (found < 1.0)).all():
        asked = "one number" if shape == () else f"{shape[0]} numbers"
        raise ValueError(
            f"random_state.random must return {asked} of at least 0 and below 1; "
            f"{type(rng).__name__} returned {drawn!r:.60}."
        )
    return found


def _shown(found: np.ndarray) -> str:
    if found.dtype.kind in "iu" and found.size and found.ndim == 1:
        return f"{len(found)} numbers from {found.min()} to {found.max()}"
    return f"an array of shape {found.shape} and type {found.dtype}"
