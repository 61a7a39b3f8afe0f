"""Numbers drawn from a random state that may be the user's own: loops rely on the range of these numbers."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class RandomSource(Protocol):
    """What is used of a random state. The user may have written it, so that its results have no type."""

    def permutation(self, rows: Any, /) -> Any: ...

    def random(self, *size: Any) -> Any: ...


def trusted(rng: object) -> bool:
    """Whether this is one of numpy's own generators; a class derived from one may do anything."""
    return type(rng) in (np.random.Generator, np.random.RandomState)


def permutation(rng: RandomSource, rows: np.ndarray) -> np.ndarray:
    """The numbers of ``rows``, which ascend, in another order."""
    if trusted(rng):
        return np.asarray(rng.permutation(rows))
    found = np.array(rng.permutation(rows))  # a copy: it cannot be changed later
    if found.shape != rows.shape or found.dtype.kind not in "iu" or not np.array_equal(np.sort(found), rows):
        raise ValueError(
            f"random_state.permutation must return the {len(rows)} numbers that it is given, in another "
            f"order; {type(rng).__name__} returned {_shown(found)}."
        )
    return found


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
