"""How the public classes are made: a spec, two classes with behaviour, and a shell."""

from __future__ import annotations

import inspect

import pytest

import perceptrons
from perceptrons.core.classifier import Classifier
from perceptrons.core.learner import Learner
from perceptrons.estimators.shell import Shell
from perceptrons.models import registry

PUBLIC = [
    found
    for found in (getattr(perceptrons, name) for name in perceptrons.__all__)
    if inspect.isclass(found) and issubclass(found, Classifier)
]
BEHAVIOUR = (Classifier, Learner)
#: public methods that a class between a spec and these two has all the same
THIN = {
    "KernelBased.fit",  # without coef_init: a kernel learner has no coefficients to start from
    "Explains.explain",  # of texts, by a model that learns and by one that was shrunk, which are no learners
    "Explains.strongest",
}


def ours(cls):
    return [one for one in cls.__mro__ if one.__module__.startswith("perceptrons.")]


def methods(cls):
    """Public methods that a class defines itself; properties are attributes."""
    return {name for name, value in vars(cls).items() if inspect.isfunction(value) and name[0] != "_"}


@pytest.mark.parametrize("cls", PUBLIC, ids=lambda cls: cls.__name__)
def test_two_classes_with_behaviour(cls):
    """Beside its own spec, a public class inherits methods from these two, parameters from all others."""
    own, spec, *above = ours(cls)
    assert own is cls and spec.__name__ == f"{cls.__name__}Spec" and Shell in above
    assert not methods(own), "a public class is spec, shell and docstring"
    others = {f"{one.__name__}.{name}" for one in above if one not in BEHAVIOUR for name in methods(one)}
    assert others <= THIN
    refused = isinstance(getattr(cls, "partial_fit", None), property)  # it raises, and says why
    assert Learner in above or not hasattr(cls, "partial_fit") or refused


def test_every_public_learner_can_be_made_without_scikit_learn():
    assert set(registry.SPECS) == {cls.__name__ for cls in PUBLIC}
    for cls in PUBLIC:
        bare = registry.learner(cls.__name__)
        assert bare.__name__ == cls.__name__ and ours(bare)[1] is ours(cls)[1]
        assert not any(one.__module__.startswith("sklearn") for one in bare.__mro__)
        assert registry.parameters(bare) == registry.parameters(cls) == cls._get_param_names()
