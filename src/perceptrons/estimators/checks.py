"""Checks of parameters: an error names the parameter, the rule, the value and the way out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np

T = TypeVar("T", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: T) -> T:
    """Decorator: the annotated class attributes are the constructor's parameters.

    scikit-learn wants an ``__init__`` that lists every parameter and does nothing but store it. That is a
    dataclass.
    """
    return dataclass(repr=False, eq=False, kw_only=True)(cls)


def positive(name: str, value: Any, *, below: float = np.inf, zero: bool = False) -> float:
    """value, if it is a real number in (0, below) (or [0, below) with ``zero``)."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and (value > 0 or (zero and value == 0)) and value < below:
        return float(value)
    kind = "a non-negative number" if zero else "a positive number"
    limit = "" if below == np.inf else f" below {below:g}"
    raise ValueError(f"{name} must be {kind}{limit}; got {name}={value!r}.")


def whole(name: str, value: Any, *, least: int = 1, none: bool = False) -> Any:
    """value, if it is an integer of at least ``least`` (or None where that is allowed)."""
    if none and value is None:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= least:
        return int(value)
    choice = " or None" if none else ""
    raise ValueError(f"{name} must be an integer of at least {least}{choice}; got {name}={value!r}.")


def one_of(name: str, value: Any, choices: Collection[Any]) -> Any:
    """value, if it is one of the choices."""
    if any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be one of {listed}; got {name}={value!r}.")


def flag(name: str, value: Any) -> bool:
    """value, if it is a truth value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name} must be True or False; got {name}={value!r}.")


def generator(random_state: Any) -> Any:
    """A source with ``permutation`` and ``random``: a numpy generator, or what the user gave."""
    if random_state is None or isinstance(random_state, Integral):
        return np.random.default_rng(None if random_state is None else int(random_state))
    if random_state is np.random:
        return np.random.mtrand._rand
    if callable(getattr(random_state, "random", None)):
        return random_state
    raise ValueError(f"random_state must be an integer, a numpy generator or None; got {random_state!r}.")
