"""Rules that the user writes; public as ``rules.rule``, ``rules.UserRule`` and ``rules.RuleError``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

if TYPE_CHECKING:
    from ._types import UpdateColumns
    from .rules import State

Step: TypeAlias = Callable[..., tuple[float, float]]


class RuleError(ValueError):
    """A rule did not compile, raised, or returned something that is not a finite pair."""

    __module__ = "perceptrons.rules"  # where it is public; pickles and messages name it
    log: Sequence[UpdateColumns] = ()  #: the updates of the pass that ended here


class UserRule:
    """A first-order rule written by the user; made by :func:`rule`."""

    __module__ = "perceptrons.rules"  # where it is public; pickles name it

    def __init__(self, function: Step, weighted: bool = False):
        self.function = function
        self.weighted = weighted
        self.__doc__ = function.__doc__
        name: str = getattr(function, "__name__", "rule")
        self.__name__ = self.__qualname__ = name
        self.__module__ = function.__module__

    def __call__(self, m: float, q: float, state: State) -> tuple[float, float]:
        return self.function(m, q, state)

    def __repr__(self) -> str:
        return f"<rule {self.__name__!r}>"

    def __reduce__(self) -> str | tuple[type[UserRule], tuple[Step, bool]]:
        found = inspect.getmodule(self.function)
        if getattr(found, self.__name__, None) is self:  # a module-level @rule pickles by its name
            return str(self.__qualname__)
        return UserRule, (self.function, self.weighted)

    def __deepcopy__(self, memo: dict[int, object]) -> UserRule:
        return self  # immutable, like a function


@overload
def rule(function: Step, *, weighted: bool = False) -> UserRule: ...


@overload
def rule(function: None = None, *, weighted: bool = False) -> Callable[[Step], UserRule]: ...


def rule(function: Step | None = None, *, weighted: bool = False) -> UserRule | Callable[[Step], UserRule]:
    """Make a learner's rule of a plain function ``(m, q, state) -> (keep, tau)``.

    The function is compiled on first use; numba's subset of Python applies. ``state`` is a
    :class:`~perceptrons.rules.State`. Return ``rules.NO_STEP`` to leave w as it is.

    Parameters
    ----------
    function : callable
        The rule.
    weighted : bool, default=False
        Whether the function uses ``state.c``, the row's weight. If not, rows may only have weights 0 and 1.

    Examples
    --------
    >>> from perceptrons import OnlineClassifier, rules
    >>> @rules.rule
    ... def half(m, q, state):
    ...     return (1.0, 0.5) if m <= 0 else (1.0, 0.0)
    >>> half(-1.0, 2.0, None)
    (1.0, 0.5)
    >>> clf = OnlineClassifier(rule=half, shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
    >>> clf.coef_
    array([[0.5, 0.5]])
    """
    if function is None:
        return functools.partial(rule, weighted=weighted)
    if not callable(function):
        raise TypeError(f"rule must be a function (m, q, state) -> (keep, tau); got {function!r}.")
    return UserRule(function, weighted)
