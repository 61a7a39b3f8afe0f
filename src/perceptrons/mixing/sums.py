r"""Sums over shards, joined two by two: a tree whose shape depends on the number of shards alone.

The sum of :math:`\mu_s w_s` has a term from every shard, also from those that have not changed a number: then
the term is :math:`\mu_s` times the old value. Only the numbers that some shard has changed are summed. A
shard, or a part of the tree, that lacks one of them gets its terms from the old value, added up in the order
of the tree: so it does not matter which numbers are carried along, and every way of computing the sum makes
the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from .shard_epoch import Delta

T = TypeVar("T")
DENSE = 16  #: where more than one in so many numbers has changed, it is quicker to work with all of them
#: factors of the old value, arranged as the tree is: what each shard that changed nothing adds
Factors: TypeAlias = "float | tuple[Factors, Factors]"


class ShardSum(NamedTuple):
    """A sum over some shards of terms in float64, for the numbers that one of them has changed."""

    where: np.ndarray | None  #: places of these numbers, ascending; None: all numbers are here
    values: np.ndarray
    changed: np.ndarray | None  #: where all numbers are here: which of them some shard has changed
    factors: Factors  #: times the old value: the sum of the others


def tree(parts: Sequence[T], join: Callable[[T, T], T]) -> T:
    """All parts joined: (0, 1), (2, 3), …, then their results; one that is left over moves up.

    >>> tree("abcde", lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    return joined_down_to(1, parts, join)[0]


def joined_down_to(left: int, parts: Sequence[T], join: Callable[[T, T], T]) -> Sequence[T]:
    """The parts of :func:`tree` at the level where 1 or 2 of them are left.

    >>> joined_down_to(2, "abcde", lambda a, b: f"({a}{b})")
    ['((ab)(cd))', 'e']
    """
    while len(parts) > left:
        n = len(parts) // 2 * 2
        joined = [join(a, b) for a, b in zip(parts[:n:2], parts[1:n:2], strict=True)]
        parts = [*joined, *parts[n:]]
    return parts


def few(size: int, *changes: Delta | ShardSum) -> bool:
    """Whether so few of the numbers have changed that their places are worth while."""
    wheres = [change.where for change in changes]
    return all(where is not None for where in wheres) and (
        DENSE * sum(len(where) for where in wheres if where is not None) <= size
    )


def scaled(change: Delta, old: np.ndarray, mu: float) -> ShardSum:
    """The term of one shard: mu times its new values. ``old`` is flat."""
    if few(len(old), change):
        return ShardSum(change.where, np.multiply(change.values, mu, dtype=np.float64), None, mu)
    new = everywhere(change, old)
    return ShardSum(None, np.multiply(new, mu, dtype=np.float64), differ(new, old), mu)


def everywhere(change: Delta, old: np.ndarray) -> np.ndarray:
    """All numbers after a change."""
    if change.where is None:
        return change.values
    new = old.copy()
    new[change.where] = change.values
    return new


def differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which numbers differ, bit by bit."""
    kind = f"i{a.dtype.itemsize}"
    return np.asarray(a.view(kind) != b.view(kind))


def joined(a: ShardSum, b: ShardSum, old: np.ndarray) -> ShardSum:
    """The sum of two sums over the same array, whose old numbers are ``old``, flat."""
    factors: Factors = (a.factors, b.factors) if a.factors or b.factors else 0.0
    if few(len(old), a, b):
        assert a.where is not None and b.where is not None
        where = np.union1d(a.where, b.where)
        return ShardSum(where, _at(a, where, old) + _at(b, where, old), None, factors)
    values = _everywhere(a, old) + _everywhere(b, old)
    return ShardSum(None, values, _changed(a, len(old)) | _changed(b, len(old)), factors)


def _at(part: ShardSum, where: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The values at more places."""
    assert part.where is not None
    values = filled(part.factors, old[where])
    values[np.searchsorted(where, part.where)] = part.values
    return values


def _everywhere(part: ShardSum, old: np.ndarray) -> np.ndarray:
    if part.where is None:
        return part.values
    values = filled(part.factors, old)
    values[part.where] = part.values
    return values


def _changed(part: ShardSum, size: int) -> np.ndarray:
    if part.changed is not None:
        return part.changed
    mask = np.zeros(size, bool)
    mask[part.where] = True
    return mask


def filled(factors: Factors, old: np.ndarray) -> np.ndarray:
    """What the shards of a part add where none of them has changed anything."""
    if isinstance(factors, tuple):
        return filled(factors[0], old) + filled(factors[1], old)
    if factors == 0.0:
        return np.zeros(len(old))
    return np.multiply(old, factors, dtype=np.float64)


def put(part: ShardSum, values: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The old numbers, flat, with new ones where some shard has changed them, in the same precision.

    ``values`` has them in the form of ``part.values``.
    """
    if part.changed is None:
        new = old.copy()
        new[part.where] = values
        return new
    where = np.flatnonzero(part.changed)
    if 2 * len(where) <= len(old):  # by places: to choose number by number takes several times as long
        new = old.copy()
        new[where] = values[where]
        return new
    new, others = values.astype(old.dtype), np.flatnonzero(~part.changed)
    new[others] = old[others]
    return new


def picked(part: ShardSum, a: np.ndarray) -> np.ndarray:
    """The numbers of a flat array that belong to ``part.values``."""
    return a if part.where is None else a[part.where]
