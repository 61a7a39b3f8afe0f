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
    while len(parts) > 1:
        n = len(parts) // 2 * 2
        joined = [join(a, b) for a, b in zip(parts[:n:2], parts[1:n:2], strict=True)]
        parts = [*joined, *parts[n:]]
    return parts[0]


def scaled(change: Delta, old: np.ndarray, mu: float) -> ShardSum:
    """The term of one shard: mu times its new values. ``old`` is flat."""
    mask = changed(change, old) if change.where is None else None
    return ShardSum(change.where, mu * change.values.astype(np.float64), mask, mu)


def changed(change: Delta, old: np.ndarray) -> np.ndarray:
    """Which of all numbers have changed."""
    if change.where is None:
        kind = f"i{old.dtype.itemsize}"
        return np.asarray(change.values.view(kind) != old.view(kind))
    return _marked(change.where, len(old))


def joined(a: ShardSum, b: ShardSum, old: np.ndarray) -> ShardSum:
    """The sum of two sums over the same array, whose old numbers are ``old``, flat."""
    factors: Factors = (a.factors, b.factors) if a.factors or b.factors else 0.0
    if a.where is not None and b.where is not None and 2 * (len(a.where) + len(b.where)) <= len(old):
        where = np.union1d(a.where, b.where)
        values = _at(a, where, old) + _at(b, where, old)
        return ShardSum(where, values, None, factors)
    values = _everywhere(a, old) + _everywhere(b, old)
    return ShardSum(None, values, _mask(a, len(old)) | _mask(b, len(old)), factors)


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


def _mask(part: ShardSum, size: int) -> np.ndarray:
    if part.changed is not None:
        return part.changed
    return _marked(part.where, size)


def _marked(where: np.ndarray | None, size: int) -> np.ndarray:
    mask = np.zeros(size, bool)
    mask[where] = True
    return mask


def filled(factors: Factors, old: np.ndarray) -> np.ndarray:
    """What the shards of a part add where none of them has changed anything."""
    if isinstance(factors, tuple):
        return filled(factors[0], old) + filled(factors[1], old)
    if factors == 0.0:
        return np.zeros(len(old))
    return factors * old.astype(np.float64)


def places(part: ShardSum) -> np.ndarray:
    """Places of the numbers that some shard has changed."""
    if part.changed is not None:
        return np.flatnonzero(part.changed)
    assert part.where is not None
    return part.where


def of_places(part: ShardSum) -> np.ndarray:
    """The values at :func:`places`."""
    return part.values[part.changed] if part.where is None else part.values


def put(part: ShardSum, old: np.ndarray) -> np.ndarray:
    """The old numbers, flat, with the sums at the places that some shard has changed, in their precision."""
    if part.changed is not None:
        return np.where(part.changed, part.values, old).astype(old.dtype)
    new = old.copy()
    new[part.where] = part.values
    return new
