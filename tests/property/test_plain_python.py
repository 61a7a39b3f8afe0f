"""NUMBA_DISABLE_JIT=1 makes the same updates as compiled code, and the same weights to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from comparing import answers

SCRIPT = """
import json
import sys

import numpy as np
import scipy.sparse as sp

import perceptrons as pc
from perceptrons import rules


@rules.rule
def mine(m, q, state):
    return (1.0, 0.5 / (state.k + 1)) if m <= 0.0 else (1.0, 0.0)


rng = np.random.default_rng(0)
X = rng.integers(-256, 257, size=(40, 6)) / 64
X[rng.random(X.shape) < 0.4] = 0.0
two = np.where(X @ rng.normal(size=6) + rng.normal(size=40) > 0, 1, -1)
three = rng.integers(3, size=40)
bits = (X > 0).astype(float)
LEARNERS = {
    "perceptron": (pc.Perceptron(), X, two),
    "perceptron, float32": (pc.Perceptron(), X.astype(np.float32), two),
    "averaged": (pc.AveragedPerceptron(normalized_votes=True), X, two),
    "voted": (pc.VotedPerceptron(row_norm="l2"), X, two),
    "margin": (pc.MarginPerceptron(gamma=0.5), X, two),
    "PA-I": (pc.PassiveAggressive(C=0.25), X, two),
    "ROMMA": (pc.ROMMA(readout="average"), X, two),
    "ALMA": (pc.ALMA(alpha=0.5), X, two),
    "own rule": (pc.OnlineClassifier(rule=mine), X, two),
    "Winnow2": (pc.Winnow(), bits, two),
    "elimination": (pc.Elimination(literals="all"), bits, two),
    "balanced Winnow": (pc.BalancedWinnow(eta=0.25), X, two),
    "p-norm": (pc.PNormPerceptron(p=3.0), X, two),
    "AROW": (pc.AROW(), X, two),
    "SCW, full": (pc.SCW(covariance="full"), X, two),
    "prototypes": (pc.Perceptron(scheme="proportional"), X, three),
    "prototypes, PA exact": (pc.PassiveAggressive(solver="exact"), X, three),
    "one against the rest": (pc.Perceptron(multiclass="ovr"), X, three),
}
#: Rows are read by the same code for every rule: one rule of each loop, and one that rescales w.
SPARSE = ["perceptron", "averaged", "PA-I", "ROMMA", "Winnow2", "elimination", "AROW", "prototypes"]
answers = {}
for name, (model, A, y) in LEARNERS.items():
    for storage in (np.asarray, sp.csr_array) if name in SPARSE else (np.asarray,):
        model.set_params(log_updates=True, max_iter=4, random_state=1).fit(storage(A), y)
        answers[f"{name}, {storage.__name__}"] = {
            "updates": model.update_log_["row"].tolist(),
            "errors": model.n_errors_,
            "scores": np.asarray(model.decision_function(A), dtype=float).tolist(),
        }
    one = type(model)(**{**model.get_params(), "log_updates": False})
    one.partial_fit(A[:1], y[:1], classes=np.unique(y))
    for x, label in zip(A[1:], y[1:]):
        one.learn_one(x, label)
    answers[f"{name}, row by row"] = {
        "updates": one.n_updates_,
        "errors": one.n_errors_,
        "scores": np.asarray(one.decision_function(A), dtype=float).tolist(),
    }
json.dump({"compiled": "numba" in sys.modules, "answers": answers}, sys.stdout)
"""


@pytest.fixture(scope="module")
def both() -> tuple[dict, dict]:
    compiled, plain = (answers(SCRIPT, NUMBA_DISABLE_JIT=value) for value in "01")
    assert compiled["compiled"]
    assert not plain["compiled"]
    return compiled["answers"], plain["answers"]


def test_plain_python_makes_the_same_updates(both):
    compiled, plain = both
    assert compiled.keys() == plain.keys()
    for name, expected in compiled.items():
        assert plain[name]["updates"] == expected["updates"], name
        assert plain[name]["errors"] == expected["errors"], name


def test_plain_python_makes_the_same_weights(both):
    for name, expected in both[0].items():
        scores = np.array(expected["scores"])
        tol = (1e-5 if "float32" in name else 1e-12) * (1.0 + np.abs(scores).max())
        assert np.abs(np.array(both[1][name]["scores"]) - scores).max() <= tol, name
