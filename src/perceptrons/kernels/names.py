"""Kernels by name: those of the package, and those that a user registers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, cast

from . import composed, numeric  # noqa: F401  # they fill the table
from .base import TABLE, Kernel
from .general import Pairwise

#: The kernels that a parameter ``kernel`` takes by name.
NAMES: dict[str, Callable[[], Kernel]] = {name: row.kernel for row in TABLE.values() for name in row.names}
_OURS = frozenset(NAMES)


def register(name: str, kernel: Callable[[Any, Any], float] | type[Kernel]) -> None:
    """Give a kernel of one's own a name that learners and the command line take: ``kernel="laplace"``.

    A module that does this is read by ``perceptrons train --plugin MODULE``. A model that was fitted with the
    kernel is loaded where it is registered again; elsewhere, if it is a function, by
    ``load(path, objects={"kernel": ...})``.

    Parameters
    ----------
    name : str
        A word of lower-case letters, digits and underscores. Names of the package cannot be taken; a name of
        one's own can be given again.
    kernel : callable, or subclass of Kernel
        A function of two objects that returns a number; or a frozen dataclass under :class:`Kernel` whose
        fields, all with defaults, are numbers or words. A class is also known by its own name, with
        parameters: ``--kernel "Laplace(gamma=0.5)"``.

    Examples
    --------
    >>> from perceptrons import KernelPerceptron, kernels
    >>> def shared(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> kernels.register("shared_letters", shared)
    >>> KernelPerceptron(kernel="shared_letters").fit(["abc", "xyz"], [0, 1]).predict(["zzy"])
    array([1])
    >>> del kernels.NAMES["shared_letters"]  # takes the name back
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"name must be lower-case letters, digits and underscores; got name={name!r}.")
    if name in _OURS:
        raise ValueError(f"name must not be one of the package; got name={name!r}.")
    if not isinstance(kernel, type):
        if not callable(kernel):
            raise TypeError(f"kernel must be a function of two objects or a class; got kernel={kernel!r}.")
        NAMES[name] = functools.partial(Pairwise, kernel)
        return
    if not issubclass(kernel, Kernel) or not is_dataclass(kernel) or kernel.__name__ in TABLE:
        raise TypeError(
            "a class of kernels must be a dataclass under kernels.Kernel with a name of its own; "
            f"got {kernel!r}."
        )
    kernel()  # its fields need defaults
    NAMES[name] = kernel


def registered() -> dict[str, Any]:
    """The kernels that were registered: functions and classes by their own names."""
    found = [getattr(made, "args", (made,))[0] for name, made in NAMES.items() if name not in _OURS]
    return {kernel.__name__: kernel for kernel in found}


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from a record, a name or a function of two objects."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    if callable(kernel) and not isinstance(kernel, type):
        return Pairwise(kernel)
    names = ", ".join(repr(name) for name in NAMES)
    raise ValueError(f"kernel must be a kernel, a function of two objects or one of {names}; got {kernel!r}.")


def of_own_class(kernel: Kernel) -> bool:
    """Whether the kernel, or a kernel that it is composed of, is of a class from outside the package."""
    row = TABLE.get(type(kernel).__name__)
    if row is None or row.kernel is not type(kernel):
        return True
    parts = [*getattr(kernel, "terms", ()), getattr(kernel, "kernel", None)]
    return any(of_own_class(part) for part in parts if part is not None)


def function_of(kernel: Kernel | None) -> Callable[[Any, Any], float] | None:
    """What ``Certificate.verify`` needs of a kernel, since a certificate cannot hold it; None if nothing.

    The function of two objects that the kernel calls, wherever it is within it; or the whole kernel, where
    it or a part of it is of a class from outside the package.
    """
    if kernel is not None and of_own_class(kernel):
        return cast("Callable[[Any, Any], float]", kernel)
    while kernel is not None:
        if isinstance(kernel, Pairwise):
            return kernel.function
        inner = [*getattr(kernel, "terms", ()), getattr(kernel, "kernel", None)]
        kernel = next((k for k in inner if k is not None), None)
    return None
