"""Every space keeps the promises of the protocol, and nobody outside asks which one it is."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import perceptrons as pc
from perceptrons.engine import spaces
from perceptrons.engine.spaces.protocol import Space

SRC = Path(pc.__file__).parent
RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, size=(30, 4)).astype(float)
TWO, THREE = (X[:, 0] > 0).astype(int), (X[:, 0] + X[:, 1]).astype(int)
LEARNERS = [
    pc.Perceptron(),
    pc.Perceptron(multiclass="ovr"),
    pc.AROW(),
    pc.Winnow(),
    pc.PNormPerceptron(),
    pc.Elimination(literals="all"),
    pc.KernelPerceptron(),
    pc.KernelPerceptron(multiclass="ovr"),
    pc.BudgetKernelPerceptron(policy="oldest"),
]


def members(protocol: type) -> set[str]:
    named = {name for kind in protocol.__mro__ for name in vars(kind).get("__annotations__", ())}
    return named | {name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")}


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_what_a_space_promises(learner, y):
    model = learner.fit(X, y)
    space, n = model._space, len(model._space.learners)
    assert type(space) in spaces.KINDS
    assert not [name for name in members(Space) if not hasattr(space, name)]
    assert space.n_classes == len(model.classes_)
    assert space.columns == (1 if len(model.classes_) == 2 else len(model.classes_))
    assert sum(one.columns for one in space.learners) == space.columns == len(space.offset())
    assert all(one.learners == [one] for one in space.learners)
    assert len(space.lowest()) == len(space.take_steps()) == n
    bracket = space.bracket()
    assert bracket is None or len(bracket) == n
    rows = model._intake.rows(model._intake.checked(X, reset=False))
    scores = space.scores(rows, "last") - space.offset()
    np.testing.assert_allclose(np.squeeze(scores), model.decision_function(X), rtol=1e-12, atol=1e-12)
    before, copy = space.counts(), space.copy()
    order, weights = np.arange(len(X)), np.empty(0)
    order.flags.writeable = weights.flags.writeable = False  # as learners give them
    logs = copy.run(rows, copy.targets(model._labels.codes(y)), weights, order, True)
    assert isinstance(logs, list) and len(logs) == n
    assert sum(len(log.row) for log in logs) == copy.counts().since(before).updates
    assert space.counts() == before  # the copy has its own arrays


def probes(path: Path) -> list[str]:
    """Questions to a space about its kind: isinstance with a class of spaces, or a search for attributes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
            continue
        asked, given = ast.unparse(node.args[0]), ast.unparse(node.args[1])
        of_space = asked.split(".")[-1].strip("_") in ("space", "core", "inner", "learner", "learners")
        kinds = any(f"spaces.{kind.__name__}" in given for kind in (*spaces.KINDS, spaces.SingleSpace))
        probe = {
            "isinstance": kinds,
            "hasattr": of_space or "learners" in given,
            "getattr": of_space or "learners" in given,
        }
        if probe.get(node.func.id):
            found.append(ast.unparse(node))
    return found


#: they check what a file says before anybody trusts it
GUARDS = {("models", "checks.py"), ("models", "wholes.py")}


@pytest.mark.parametrize("room", ["estimators", "text", "models", "io", "cli"])
def test_nobody_outside_asks_which_space_it_is(room):
    paths = [path for path in sorted((SRC / room).glob("*.py")) if (room, path.name) not in GUARDS]
    assert not {path.name: found for path in paths if (found := probes(path))}
