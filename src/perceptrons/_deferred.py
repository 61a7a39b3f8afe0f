"""Modules of others that are imported when one of their attributes is read, not before."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: ``sklearn.utils.fixes`` imports both for functions that no learner of ours calls: half of the time of
#: ``import sklearn.base``
FOR_FUNCTIONS_ALONE = ("scipy.stats", "pandas")


class _Deferred(ModuleType):
    """Stands for a module until one of its attributes is read."""

    def __getattr__(self, name: str) -> Any:
        _withdraw(self)
        return getattr(importlib.import_module(self.__name__), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """An import of a submodule sets it as an attribute here."""
        _withdraw(self)
        setattr(importlib.import_module(self.__name__), name, value)


def _withdraw(module: _Deferred) -> None:
    """Leave the module's name to the module itself."""
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


@contextlib.contextmanager
def deferred(*names: str) -> Iterator[None]:
    """In this block ``import name`` binds a stand-in, which imports the module when an attribute is read.

    After the block the names in ``sys.modules`` are free again: an ``import`` there is an ordinary one.
    Modules that are imported already, or whose package is not installed, are left alone.
    """
    made = []
    try:
        for name in names:
            if name not in sys.modules and find_spec(name.partition(".")[0]) is not None:
                made.append(sys.modules.setdefault(name, _Deferred(name)))
        yield
    finally:
        for module in made:
            if isinstance(module, _Deferred):
                _withdraw(module)
