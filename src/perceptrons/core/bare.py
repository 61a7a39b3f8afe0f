"""Learners without scikit-learn, as the command line and the readers of model files make them."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from .contract import Contract
from .parameters import spec


class Bare:
    """Replaces the classes of scikit-learn as a base of a learner."""

    _contract: ClassVar[Contract] = Contract()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> Any:
        """For a process of the same cluster: its class has no name by which it could be imported."""
        return _blank, (type(self).__bases__[0],), self.__getstate__()


@functools.cache
def bare(cls: Any) -> Any:
    """The learner of a spec, under the name of the estimator that has the same spec."""
    name = cls.__name__.removesuffix("Spec")
    made = type(name, (cls, Bare), {"__module__": __name__, "__doc__": cls.__doc__})
    return spec(made)


def _blank(cls: Any) -> Any:
    """A learner of a spec without attributes."""
    made = bare(cls)
    return made.__new__(made)
