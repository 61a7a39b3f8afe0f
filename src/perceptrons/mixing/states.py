"""The state of a learner between two rounds: plain arrays, which no pass writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ..engine.cache_lines import aligned_copy
from ..engine.spaces import LearnerState, OneVsRest

if TYPE_CHECKING:
    from ..engine.spaces import Space

#: one for each learner of a space: a single one, or one per class against the rest. Where texts are counted,
#: the first has the counts, "df", among its arrays.
State: TypeAlias = tuple[LearnerState, ...]


def state_of(space: Space) -> State:
    """The state of a space, not copied."""
    first, *others = (learner.learned() for learner in space.learners)
    if space.df is not None:
        first = first._replace(arrays=first.arrays | {"df": space.df})
    return first, *others


def resume(space: Space, state: State) -> None:
    """Let a fresh space go on from a state; further learning writes to its arrays."""
    for learner, own in zip(space.learners, state, strict=True):
        if isinstance(space, OneVsRest):  # a text counts once for all learners
            arrays = {name: a for name, a in own.arrays.items() if name != "df"}
            learner.resume(own._replace(arrays=arrays))
        else:
            learner.resume(own)
    if isinstance(space, OneVsRest) and space.df is not None:
        space.df = state[0].arrays["df"]


def copied(state: State) -> State:
    """The same state in arrays of its own."""
    return tuple(
        LearnerState({name: aligned_copy(a) for name, a in own.arrays.items()}, own.scalars.copy())
        for own in state
    )
