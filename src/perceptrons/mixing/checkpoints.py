"""The file of a fit under way: the model after the last complete round, and what the rest depends on.

It is a model file: :func:`perceptrons.load` reads it. A fit that finds one goes on from the round in it, to
the same bits as a fit that was never interrupted; the file of another fit is refused.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core.bare import Bare
from ..core.writing import at_rest
from ..models import registry
from ..models.checkpoint import Checkpoint
from ..models.errors import ModelError
from .states import State, copied, state_of

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..core.learner import Learner
    from .jobs import Job
    from .shards import Shard

#: parameters that the result of the rounds so far does not depend on
_IDLE = ("callback", "max_iter", "n_jobs", "random_state", "verbose")


def digest(job: Job, shard: Shard) -> int:
    """A checksum of the rows of a shard: lengths, labels and weights."""
    batch = shard.load(job)
    found = 0
    for a in (batch.rows.sq, batch.codes, batch.weights):
        found = zlib.crc32(a.tobytes(), found)
    return found


class RoundFile:
    """The checkpoint of a fit; without a path nothing is stored."""

    def __init__(self, path: str | os.PathLike[str] | None, learner: Learner):
        self._file = None if path is None else Checkpoint(path)
        self._facts: JsonObject = {}
        self._stored: Learner | None = None
        if self._file is None:
            return
        try:
            self._file.classes = registry.learner if isinstance(learner, Bare) else registry.estimator
            found = self._file.resume()
            if found is not None:
                self._stored, position = found
                self._facts = self._checked(position)
        except BaseException:
            self._file.close()
            raise

    @property
    def active(self) -> bool:
        """Whether rounds are stored."""
        return self._file is not None

    def _checked(self, position: Any) -> JsonObject:
        assert self._file is not None
        facts = position.get("mixing") if isinstance(position, dict) else None
        if not isinstance(facts, dict) or not isinstance(facts.get("seed"), int):
            raise ModelError(f"{self._file.path} is no checkpoint of ParameterMixing; name another file.")
        return facts

    @property
    def seed(self) -> int | None:
        """The seed of the fit that is stored."""
        return self._facts.get("seed")

    # ---------------------------------------------------------------------------------------------- resuming

    def resume(self, learner: Learner, facts: JsonObject) -> State | None:
        """Take over the stored rounds; returns their state, or None where there is nothing yet.

        ``facts`` describe the fit, and are stored with each round; where they differ the file is refused.
        """
        before, self._facts = self._facts, facts
        stored = self._stored
        if stored is None:
            return None
        self._compare(before, facts, learner, stored)
        for name in ("history_", "n_iter_", "_longest", "_plain", "_mixing", "_steps"):
            if name in vars(stored):
                setattr(learner, name, vars(stored)[name])
        self._stored = None
        return copied(state_of(stored._space))

    def _compare(self, before: JsonObject, facts: JsonObject, learner: Learner, stored: Learner) -> None:
        same_kind = type(stored).__name__ == type(learner).__name__
        names = [name for name in registry.parameters(type(learner)) if name not in _IDLE]
        differs = [n for n in names if same_kind and repr(getattr(stored, n)) != repr(getattr(learner, n))]
        if not same_kind:
            raise self._other(f"with {type(stored).__name__}; this one has {type(learner).__name__}")
        if differs:
            one, other = (f"{differs[0]}={getattr(own, differs[0])!r}" for own in (stored, learner))
            raise self._other(f"with {one}; this one has {other}")
        for name, value in facts.items():
            if before.get(name) != value and name != "rows":
                raise self._other(f"with {name}={before.get(name)!r}; this one has {name}={value!r}")
        if before.get("rows") != facts["rows"] or not np.array_equal(stored.classes_, learner.classes_):
            raise self._other("on other rows")

    def _other(self, what: str) -> ModelError:
        assert self._file is not None
        path = self._file.path
        return ModelError(
            f"{path} belongs to a fit {what}. Fit as before, or give another checkpoint, or remove {path}."
        )

    # ------------------------------------------------------------------------------------------------ storing

    def save(self, learner: Learner) -> None:
        """Store a complete round."""
        if self._file is not None:
            with at_rest(learner):
                self._file.save(learner, {"mixing": self._facts, "rounds": learner.n_iter_})

    def remove(self) -> None:
        """The fit is done: the next one begins anew."""
        if self._file is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._file.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
