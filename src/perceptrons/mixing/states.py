"""The state of a learner between two rounds: plain arrays, which no pass writes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ..engine.spaces import LearnerState

if TYPE_CHECKING:
    from ..engine.spaces import Space

#: one for each learner of a space: a single one, or one per class against the rest
State: TypeAlias = tuple[LearnerState, ...]


def state_of(space: Space) -> State:
    """The state of a space, not copied."""
    return tuple(learner.learned() for learner in space.learners)


def copied(state: State) -> State:
    """The same state in arrays of its own."""
    return tuple(
        LearnerState({name: a.copy() for name, a in own.arrays.items()}, own.scalars.copy()) for own in state
    )
