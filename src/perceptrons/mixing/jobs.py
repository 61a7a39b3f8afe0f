"""What all passes over shards of one fit share: small, and the same on every machine."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

from ..core import starting
from .states import State, copied, resume

if TYPE_CHECKING:
    from ..core.learner import Learner
    from ..engine.spaces import Frame, Space


class Job(NamedTuple):
    """A fit by parameter mixing, but for its rows and its state."""

    learner: Learner  #: its parameters, labels and width; no weights
    frame: Frame  #: how rows are understood
    n_features: int
    n_shards: int
    seed: int  #: of all orders of rows
    mixing: str = (
        "uniform"  #: weights of the shards: "uniform", or in proportion to their updates, "mistakes"
    )
    keeps_steps: bool = False  #: the sum of the steps on each row is reported

    def fresh_space(self) -> Space:
        """A space that has learned nothing."""
        return self.learner._new_space(self.frame, self.n_features, len(self.learner.classes_))

    def model(self, state: State) -> Learner:
        """A learner that goes on from a copy of the state."""
        space = self.fresh_space()
        resume(space, copied(state))
        return self.model_in(space)

    def model_in(self, space: Space) -> Learner:
        """A learner that goes on in this space."""
        model = copy.copy(self.learner)
        starting.adopt(model, space, [])
        return model
