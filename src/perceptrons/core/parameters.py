"""Parameters as annotated attributes of a class."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def spec(cls: T) -> T:
    """Decorator: the annotated class attributes are the constructor's parameters.

    scikit-learn requires an ``__init__`` that lists every parameter and does nothing but store it. That is a
    dataclass. The signature begins with the parameters of the class itself.
    """
    made: Any = dataclass(repr=False, eq=False, kw_only=True)(cls)
    made.__init__.__signature__ = own_first(made)
    return cast(T, made)


def names_of(cls: type) -> list[str]:
    """The names of the parameters, in alphabetical order."""
    return sorted(one.name for one in fields(cls))


def in_order(cls: type) -> dict[str, None]:
    """Names of parameters: of the class itself, then of the classes above it."""
    return dict.fromkeys(name for one in cls.__mro__ for name in vars(one).get("__annotations__", ()))


def own_first(cls: Any) -> inspect.Signature:
    """The signature of ``__init__``: parameters of the class itself, then those of the classes above it."""
    signature = inspect.signature(cls.__init__)
    left = dict(signature.parameters)
    return signature.replace(parameters=[left[name] for name in ("self", *in_order(cls)) if name in left])
