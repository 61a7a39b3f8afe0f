"""A user's own rule, compiled to one address that every loop can call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from ..rules import FIRST_ORDER, RuleError, State, UserRule
from .compiler import by_record, decide, jit_disabled, load_numba

if TYPE_CHECKING:
    from .._types import Record


class Custom(NamedTuple):
    """A rule known only by its address, so that the loops need not be compiled for each."""

    call: Callable[..., tuple[float, float]]  #: numba's C callback, or a Python function


@by_record(decide)(Custom)
def _call(rule: Custom, m: float, q: float, state: State) -> tuple[float, float]:
    return rule.call(m, q, state.N, state.k, state.t, state.c, state.tol)


def engine_rule(rule: Record | UserRule) -> Record:
    """The record that loops take: a rule of ours, its fields as floats, or a user's, compiled."""
    if isinstance(rule, UserRule):
        return _compile(rule)
    if type(rule) in FIRST_ORDER:
        kind: Any = type(rule)
        record: Record = kind(*(float(x) if isinstance(x, int) else x for x in rule))
        return record
    raise RuleError(
        f"rule must be a record of perceptrons.rules or a function under @rules.rule; got {rule!r}."
    )


@functools.lru_cache(maxsize=128)
def _compile(rule: UserRule) -> Custom:
    if jit_disabled():

        def plain(m: float, q: float, N: float, k: int, t: int, c: float, tol: float) -> tuple[float, float]:
            try:
                keep, tau = rule.function(m, q, State(N, k, t, c, tol))
                return float(keep), float(tau)
            except Exception:
                return nan, nan

        return Custom(plain)
    numba = load_numba()
    inner = _jitted(rule)

    def guarded(m: float, q: float, N: float, k: int, t: int, c: float, tol: float) -> tuple[float, float]:
        try:
            keep, tau = inner(m, q, State(N, k, t, c, tol))
            return float(keep), float(tau)
        except Exception:  # a NaN that the function returned is distinguished later, by a call in Python
            return nan, nan

    signature = "UniTuple(float64, 2)(float64, float64, float64, int64, int64, float64, float64)"
    try:
        return Custom(numba.cfunc(signature)(guarded))
    except Exception as error:
        raise _uncompiled(rule, error) from error


def _jitted(rule: UserRule) -> Any:
    numba = load_numba()
    function = getattr(rule.function, "py_func", rule.function)  # it may be compiled already
    try:
        return numba.njit(function)
    except Exception as error:
        raise _uncompiled(rule, error) from error


def _uncompiled(rule: UserRule, error: Exception) -> RuleError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    general = ("Failed in", "During:", "File ", "non-precise", "No implementation", "Internal error")
    reason = next((line for line in lines if not line.startswith(general)), lines[0] if lines else "")
    return RuleError(
        f"rule {rule.__name__!r} does not compile: {reason.rstrip('.')}. It must take (m, q, state), return "
        "(keep, tau) and stay within numba's subset of Python."
    )
