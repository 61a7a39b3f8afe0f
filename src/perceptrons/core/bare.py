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


@functools.cache
def bare(cls: Any) -> Any:
    """The learner of a spec, under the name of the estimator that has the same spec."""
    name = cls.__name__.removesuffix("Spec")
    made = type(name, (cls, Bare), {"__module__": __name__, "__doc__": cls.__doc__})
    return spec(made)
