"""Methods that an object has for some values of its parameters only."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class offered_if:
    """Decorator: the method is there where ``silence(model)`` is None; else that is why it is not.

    ``hasattr`` is then False, as scikit-learn expects of ``predict_proba``.
    """

    def __init__(self, silence: Callable[[Any], str | None]):
        self.silence = silence
        self.method: Callable[..., Any]

    def __call__(self, method: Callable[..., Any]) -> Any:
        made = offered_if(self.silence)
        made.method = method
        made.__doc__ = method.__doc__
        return made

    def __set_name__(self, owner: type, name: str) -> None:
        self.__name__ = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self.method  # of the class: with its signature and docstring
        why = self.silence(model)
        if why is not None:
            raise AttributeError(f"This {type(model).__name__} has no {self.__name__}: {why}.")
        return MethodType(self.method, model)
