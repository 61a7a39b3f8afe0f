"""Checks of parameters: an error names the parameter, the rule, the value and the way out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..engine.draws import RandomSource

if TYPE_CHECKING:
    from .learner import Learner

T = TypeVar("T")


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
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    choice = " or None" if none else ""
    raise ValueError(f"{name} must be an integer of at least {least}{choice}; got {name}={value!r}.")


def one_of(name: str, value: T, choices: Collection[object]) -> T:
    """value, if it is one of the choices."""
    if any(_same(value, choice) for choice in choices):
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be one of {listed}; got {name}={value!r}.")


def _same(value: object, choice: object) -> bool:
    """Whether they are the same string, number or None; numpy's strings and numbers count as Python's."""
    if isinstance(choice, str):
        return isinstance(value, str) and value == choice
    if isinstance(choice, Real):
        return isinstance(value, Real) and not isinstance(value, bool) and value == choice
    return value is choice


def flag(name: str, value: object) -> bool:
    """value, if it is a truth value."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name} must be True or False; got {name}={value!r}.")


def generator(random_state: Any) -> RandomSource:
    """A source with ``permutation`` and ``random``: a numpy generator, or the user's object."""
    if random_state is None or (isinstance(random_state, Integral) and int(random_state) >= 0):
        return np.random.default_rng(None if random_state is None else int(random_state))
    if random_state is np.random:
        return np.random.mtrand._rand
    if callable(getattr(random_state, "random", None)):
        return cast(RandomSource, random_state)
    raise ValueError(
        "random_state must be an integer of at least 0, a numpy generator or None; "
        f"got random_state={random_state!r}."
    )


def numbers(name: str, value: npt.ArrayLike) -> np.ndarray:
    """value as an array of finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from error
    wrong = array[~np.isfinite(array)]
    if len(wrong):
        raise ValueError(f"{name} must hold finite numbers; got {wrong[0]:g}.")
    return array


def class_weight(value: object) -> None:
    """Refuse what is not None, "balanced", "running" or a dict from labels to weights."""
    if value is None or _same(value, "balanced") or _same(value, "running"):
        return
    if not isinstance(value, Mapping):
        raise ValueError(
            f"class_weight must be None, 'balanced', 'running' or a dict; got class_weight={value!r}."
        )
    for label, weight in value.items():
        if not isinstance(weight, Real) or not 0.0 <= float(weight) < np.inf:
            raise ValueError(
                "class_weight must hold finite numbers of at least 0; "
                f"got class_weight[{label!r}]={weight!r}."
            )


def n_jobs(value: object) -> None:
    """Refuse what is not None or an integer other than 0."""
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0; got n_jobs={value!r}.")


def verbose(value: Any) -> None:
    """Refuse what is not a truth value or an integer of at least 0."""
    if not isinstance(value, (Integral, np.bool_)) or value < 0:
        raise ValueError(f"verbose must be an integer of at least 0; got verbose={value!r}.")


def run_parameters(model: Learner) -> None:
    """Check the parameters that all online learners have: epochs, stopping, log, callback."""
    whole("max_iter", model.max_iter, none=True)
    for name in ("shuffle", "warm_start", "early_stopping", "log_updates"):
        flag(name, getattr(model, name))
    positive("validation_fraction", model.validation_fraction, below=1.0)
    whole("n_iter_no_change", model.n_iter_no_change)
    if model.tol is not None:
        positive("tol", model.tol, zero=True)
        if not model._counts_loss:
            raise ValueError(
                f"tol is for learners that count a hinge loss; {type(model).__name__} counts none: got "
                f"tol={model.tol!r}. Leave tol=None, or use early_stopping=True."
            )
    whole("max_log", model.max_log, least=0)
    class_weight(getattr(model, "class_weight", None))
    n_jobs(model.n_jobs)
    verbose(model.verbose)
    generator(model.random_state)
    if model.callback is not None and not callable(model.callback):
        raise ValueError(f"callback must be a function or None; got callback={model.callback!r}.")
