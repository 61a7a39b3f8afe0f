"""The public names, and that asking for the package alone loads nothing heavy."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import perceptrons

HEAVY = {"numba", "pandas", "rich", "scipy", "sklearn"}


def in_a_fresh_process(code: str) -> str:
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def loaded_by(statement: str) -> set[str]:
    """Which of the heavy packages a statement loads."""
    return HEAVY.intersection(in_a_fresh_process(f"import sys\n{statement}\nprint(*sys.modules)").split())


# ------------------------------------------------------------------------------------ the names


def test_all_is_what_is_exported():
    assert len(perceptrons.__all__) == len(set(perceptrons.__all__))
    assert sorted(perceptrons.__all__) == dir(perceptrons)
    star = in_a_fresh_process("from perceptrons import *\nprint(*(n for n in dir() if n != 'annotations'))")
    private = {
        "__annotations__",
        "__builtins__",
        "__doc__",
        "__loader__",
        "__name__",
        "__package__",
        "__spec__",
    }
    assert set(star.split()) - private == set(perceptrons.__all__)


@pytest.mark.parametrize("name", perceptrons.__all__)
def test_every_name_can_be_had(name):
    thing = getattr(perceptrons, name)
    if inspect.ismodule(thing):
        assert thing.__name__ == f"perceptrons.{name}" and thing is sys.modules[thing.__name__]
    elif name != "__version__":
        assert thing.__module__.startswith("perceptrons.") and thing.__name__ == name
        assert thing is getattr(sys.modules[thing.__module__], name)


@pytest.mark.parametrize("name", perceptrons.__all__)
def test_a_class_is_built_bare_and_documented(name):
    thing = getattr(perceptrons, name)
    assert name == "__version__" or inspect.getdoc(thing)
    if inspect.isfunction(thing):
        described = inspect.getdoc(thing)
        assert all(
            re.search(rf"^{p}\b.* : |^\w+(, \w+)*, {p}\b", described, re.M)
            for p in inspect.signature(thing).parameters
        )
    if not inspect.isclass(thing):
        return
    assert issubclass(thing, BaseEstimator)
    assert thing.__name__ == name
    assert "Examples\n" in inspect.getdoc(thing)
    assert repr(thing()) == f"{name}()"
    wrapped = ["estimator"] if name == "ParameterMixing" else []  # positional, as scikit-learn has it
    parameters = inspect.signature(thing).parameters.values()
    assert [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY] == wrapped


@pytest.mark.parametrize(
    "name", ["datasets", "io", "models", "plots", "preprocessing", "proofs", "text", "theory"]
)
def test_no_module_is_named_like_what_it_has(name):
    """Once it is imported a module would take the place of a function of that name."""
    package = importlib.import_module(f"perceptrons.{name}")
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    shadowed = {public for public in package.__all__ if not inspect.ismodule(getattr(package, public))}
    assert not modules & shadowed


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="'perceptrons' has no attribute 'Perceptorn'"):
        perceptrons.Perceptorn  # noqa: B018


# ----------------------------------------------------------------------------- nothing too early


def test_import_alone_loads_nothing_heavy():
    assert loaded_by("import perceptrons") == set()
    assert loaded_by("import perceptrons; perceptrons.__version__; dir(perceptrons)") == set()


@pytest.mark.parametrize("module", ["rules", "datasets", "reference"])
def test_light_modules_load_nothing_heavy(module):
    assert loaded_by(f"from perceptrons import {module}") == set()


def test_theory_needs_no_engine():
    assert loaded_by("from perceptrons import theory") <= {"scipy"}


def test_the_compiler_is_loaded_by_the_first_fit():
    assert "numba" not in loaded_by("from perceptrons import Perceptron; Perceptron()")
    assert "numba" in loaded_by(
        "from perceptrons import Perceptron; Perceptron().fit([[0.0], [1.0]], [0, 1])"
    )
