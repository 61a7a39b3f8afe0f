"""Tests of other packages, read from the installed package, with our classes in the place of theirs."""

from __future__ import annotations

import importlib.util
import inspect
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any
from unittest import mock

import pytest

Test = Callable[..., Any]


def load(name: str, package: Any, ours: Mapping[str, Any]) -> types.ModuleType:
    """The test module ``name``, executed anew while ``package`` holds our classes instead of its own.

    What the module imports from the package, and what it looks up there later, are ours.
    """
    found = importlib.util.find_spec(name)
    assert found is not None and found.origin is not None
    spec = importlib.util.spec_from_file_location(f"{name}_with_our_classes", found.origin)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.multiple(package, **ours):
        spec.loader.exec_module(module)
    short = package.__name__.rpartition(".")[2]
    if vars(module).get(short) is package:
        setattr(module, short, types.SimpleNamespace(**(vars(package) | dict(ours))))
    return module


def tests_of(
    module: types.ModuleType, without: Collection[str], about: Callable[[Any], bool]
) -> dict[str, Test]:
    """The tests of a module by name, but for some, and with those parameters only that ``about`` accepts."""
    tests = {
        name.removeprefix("test_"): function
        for name, function in vars(module).items()
        if name.startswith("test_") and inspect.isfunction(function)
    }
    without = {name.removeprefix("test_") for name in without}
    strange = without - tests.keys()
    assert not strange, f"the package has no such tests: {sorted(strange)}"
    return {
        name: test for name, test in tests.items() if name not in without and _keep_parameters(test, about)
    }


def _keep_parameters(test: Test, about: Callable[[Any], bool]) -> bool:
    """Drop parameters that are about something else, and marks of the package's own: is any case left?"""
    marks = []
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "parametrize":
            names, values, *rest = mark.args
            values = [value for value in values if about(value)]
            if not values:
                return False
            mark = pytest.mark.parametrize(names, values, *rest, **mark.kwargs).mark
        elif mark.name != "filterwarnings":
            continue
        marks.append(mark)
    test.__dict__["pytestmark"] = marks
    return True
