"""Compiled loops as plain Python, in this process.

    from uncompiled import uncompiled

    with uncompiled():
        Perceptron().fit(X, y)  # no loop is compiled, none is loaded

A loop is compiled for every combination of rule, storage, precision, scheme and readout that it meets, some
seconds each. A property that is looked at for all combinations compiles a few of them and runs the others so:

    pytestmark = pytest.mark.uncompiled

    @pytest.mark.parametrize("learner", compiled(LEARNERS, "perceptron", "AROW"), ids=str)  # these two are
    def test_something(learner): ...

A combination that only one test needs is compiled by `make test-exhaustive`; `make test` runs the same test
with plain loops:

    @pytest.mark.compiled_later
    def test_something_else(): ...

That compiled code does what the plain loop does is tested in `property/test_plain_python.py`, and the golden
cases run the compiled loop of every rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any
from unittest import mock

import pytest

from perceptrons.engine import compiler, custom

_Compiled = compiler._Compiled


def compiled(cases: Iterable[Any], *names: str) -> list[Any]:
    """Cases for ``parametrize``: those whose ``str`` is one of the names are marked as compiled."""
    cases = list(cases)
    assert set(names) <= {str(case) for case in cases}
    return [pytest.param(case, marks=pytest.mark.compiled) if str(case) in names else case for case in cases]


@contextlib.contextmanager
def uncompiled(really: bool = True, but: str = "") -> Iterator[None]:
    """Run every loop as plain Python; models that were fitted outside must not be used inside.

    ``really=False`` changes nothing, so that a test can choose by its parameters. Loops of the module ``but``
    of the engine stay compiled.
    """
    if not really:
        yield
        return

    def target(self: Any) -> Any:
        if not but or not self.function.__module__.endswith(f".{but}"):
            return compiler._plain(self.function)
        if self._target is None:
            self._target = compiler._jit(self.function, self.fastmath)
        return self._target

    def call(self: Any, *args: Any) -> Any:
        return target(self)(*args)

    rule = getattr(
        custom._compile, "__wrapped__", custom._compile
    )  # without what it remembers: compiled rules
    with (
        mock.patch.object(_Compiled, "__call__", call),
        mock.patch.object(_Compiled, "target", target),
        mock.patch.object(compiler, "jit_disabled", return_value=True),
        mock.patch.object(custom, "jit_disabled", return_value=True),
        mock.patch.object(custom, "_compile", rule),
    ):
        yield
