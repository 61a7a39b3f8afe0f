"""Brackets around the best margin as attributes: the pairs that a run keeps, with their space."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ..theory.brackets import Bracket

if TYPE_CHECKING:
    from ..engine.spaces import Bracket as Pair


@overload
def in_space(pairs: None, space: str) -> None: ...


@overload
def in_space(pairs: list[Pair], space: str) -> list[Bracket]: ...


@overload
def in_space(pairs: Pair | list[Pair] | None, space: str) -> Bracket | list[Bracket] | None: ...


def in_space(pairs: Pair | list[Pair] | None, space: str) -> Bracket | list[Bracket] | None:
    """The pair, or each of several, as brackets of this space; None where nothing is claimed."""
    if pairs is None:
        return None
    if isinstance(pairs, list):
        return [Bracket(low, up, space) for low, up in pairs]
    low, up = pairs
    return Bracket(low, up, space)
