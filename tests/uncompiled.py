"""Compiled loops as plain Python, in this process.

    from uncompiled import uncompiled

    with uncompiled():
        Perceptron().fit(X, y)  # no loop is compiled, none is loaded

A loop is compiled for every combination of rule, storage, precision, scheme and readout that it meets, some
seconds each. A property that is looked at for all combinations compiles a few of them and runs the others so.
That compiled code does what the plain loop does is tested in `property/test_plain_python.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from perceptrons.engine import compiler, custom


def _target(self: Any) -> Any:
    return compiler._plain(self.function)


def _call(self: Any, *args: Any) -> Any:
    return _target(self)(*args)


@contextlib.contextmanager
def uncompiled(really: bool = True) -> Iterator[None]:
    """Run every loop as plain Python; models that were fitted outside must not be used inside.

    ``really=False`` changes nothing, so that a test can choose by its parameters.
    """
    if not really:
        yield
        return
    with (
        mock.patch.object(compiler._Compiled, "__call__", _call),
        mock.patch.object(compiler._Compiled, "target", _target),
        mock.patch.object(compiler, "jit_disabled", return_value=True),
        mock.patch.object(custom, "jit_disabled", return_value=True),
        mock.patch.object(custom, "_compile", custom._compile.__wrapped__),  # it remembers compiled rules
    ):
        yield
