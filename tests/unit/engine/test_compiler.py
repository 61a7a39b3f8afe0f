"""Compilation: nothing heavy before its first use, and the same weights without a compiler."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from places import TESTS
from processes import python

from perceptrons import BudgetKernelPerceptron, MarginPerceptron, OnlineClassifier, Perceptron, rules
from perceptrons.engine import compiler
from perceptrons.engine.loops import budget, linear, multiclass


def test_importing_is_quick():
    """Neither numba nor rich nor scikit-learn's callbacks before they are needed."""
    python(
        "import sys, perceptrons, perceptrons.rules\n"
        "heavy = [m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
        "perceptrons.Perceptron(), perceptrons.AROW(), perceptrons.Winnow()\n"
        "heavy = [m for m in ('numba', 'rich', 'sklearn.callback') if m in sys.modules]\n"
        "assert not heavy, heavy\n"
    )


BEGIN = """
import numpy as np
import scipy.sparse as sp
import zoo
from zoo import X, make, y, y3
rng = np.random.default_rng(0)
out = {}
"""
FAMILY = """
SPARSE = ("Perceptron", "AveragedPerceptron", "AROW", "Winnow", "BalancedWinnow")
for name in zoo.NAMES:
    for labels in (y, y3):
        for kind in (np.asarray, sp.csr_array) if name in SPARSE else (np.asarray,):
            rows = kind(X if name in ("Winnow", "Elimination") else X + rng.integers(-2, 3, X.shape) / 4)
            model = make(name, **({} if name == "RiskDescent" else {"max_iter": 2})).fit(rows, labels)
            out[f"{name} {len(out)}"] = np.hstack([model.coef_, model.intercept_[:, None]])
for params in ({"readout": "average"}, {"readout": "vote"}, {"scheme": "uniform"}):
    model = make("Perceptron", **params)
    for x, label in zip(X, y3):
        model.learn_one(x, label)
    out[f"one by one {params}"] = model.decision_function(X)
for params in ({"solver": "exact"}, {"solver": "exact", "variant": "II"}):
    out[f"exact {params}"] = make("PassiveAggressive", **params).fit(X, y3).coef_
model = make("MIRA", variant="crammer_singer").fit(X, y3, coef_init=np.arange(15.0).reshape(3, 5))
out["crammer_singer"] = model.coef_
"""


ONE = """
for kind in (np.asarray, sp.csr_array):
    for labels in (y, y3):
        out[f"{len(out)}"] = make("Perceptron", max_iter=2).fit(kind(X), labels).coef_
"""


@pytest.mark.parametrize(
    "made", [ONE, pytest.param(FAMILY, marks=pytest.mark.exhaustive)], ids=["one", "all"]
)
def test_without_a_compiler_the_weights_are_the_same(made, tmp_path):
    """NUMBA_DISABLE_JIT=1 runs the same source as plain Python: weights to 1e-12."""
    path = tmp_path / "plain.npz"
    tests = str(TESTS)
    made = BEGIN + made
    code = made + f"np.savez({str(path)!r}, **out)\nimport sys\nassert 'numba' not in sys.modules\n"
    python(code, NUMBA_DISABLE_JIT="1", PYTHONPATH=tests)
    compiled: dict = {}
    exec(made, compiled)
    with np.load(path) as plain:
        assert set(plain) == set(compiled["out"])
        for name in plain:
            np.testing.assert_allclose(
                plain[name], compiled["out"][name], rtol=1e-12, atol=1e-12, err_msg=name
            )


X = np.array([[1.0, 2.0], [-1.0, 1.0], [2.0, -1.0], [-2.0, -2.0]])


@pytest.mark.parametrize(
    ("loop", "y"), [(linear.run, [1, 0, 1, 0]), (multiclass.run, [0, 1, 2, 1])], ids=["two", "several"]
)
def test_a_loop_is_compiled_once(loop, y):
    """Whether predictions are recorded, and whether a rule holds whole numbers, is no matter of types."""
    OnlineClassifier(rule=rules.Perceptron(2.0)).fit(X, y)  # records nothing
    known = set(loop.target().signatures)
    OnlineClassifier(rule=rules.Perceptron(2)).partial_fit(X, y, classes=np.unique(y))  # records predictions
    assert set(loop.target().signatures) == known


def test_the_first_guess_of_gamma_runs_the_loop_of_the_perceptron():
    Perceptron().fit(X, [1, 0, 1, 0])
    MarginPerceptron(gamma=0.5).fit(X, [1, 0, 1, 0])
    known = set(linear.run.target().signatures)
    MarginPerceptron(gamma="auto").fit(X, [1, 0, 1, 0])
    assert set(linear.run.target().signatures) == known


def test_a_loop_is_not_compiled_again_for_a_model_that_was_stored():
    model = BudgetKernelPerceptron(budget=2, policy="random", random_state=0).fit(X, [1, 0, 1, 0])
    known = set(budget.run.target().signatures)
    pickle.loads(pickle.dumps(model)).partial_fit(X, [0, 1, 0, 1])
    assert set(budget.run.target().signatures) == known


@pytest.mark.parametrize("for_good", [False, True])
def test_what_was_loaded_is_searched_for_garbage_unless_it_stays(for_good, monkeypatch):
    """The objects are set aside while no collection can begin."""
    frozen = []
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(compiler, "_loaded_for_good", False)
    monkeypatch.setattr(compiler.gc, "freeze", lambda: frozen.append(gc.isenabled()))
    if for_good:
        compiler.load_for_good()
    loop = compiler.compiled(lambda x: x + 1)
    assert [loop(1), loop(2)] == [2, 3]
    assert frozen == [False] * for_good
