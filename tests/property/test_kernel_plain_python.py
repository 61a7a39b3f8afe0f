"""NUMBA_DISABLE_JIT=1 makes the same updates in kernel learners as compiled code, and the same scores."""

from __future__ import annotations

import numpy as np
from comparing import answers

SCRIPT = """
import json
import sys

import numpy as np
import scipy.sparse as sp

import perceptrons as pc
from perceptrons import kernels, rules


@rules.rule
def mine(m, q, state):
    return (0.75, 0.5) if m <= 0.25 else (1.0, 0.0)


rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
two = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=30) > 0, 1, -1)
three = rng.integers(3, size=30)
KP, KC, BK = pc.KernelPerceptron, pc.KernelClassifier, pc.BudgetKernelPerceptron
LEARNERS = {
    "perceptron": (KP(), X, two),
    "perceptron, float32": (KP(device="cpu"), X.astype(np.float32), two),
    "averaged": (KP(readout="average", normalized_votes=True, kernel=kernels.Gaussian(0.5)), X, two),
    "voted": (KP(readout="vote", fit_intercept=True), X, three),
    "prototypes": (KP(scheme="proportional"), X, three),
    "one against the rest": (KP(multiclass="ovr", readout="vote"), X, three),
    "PA-I": (KC(rule=rules.PA1(C=0.25), kernel=kernels.Gaussian(0.5)), X, two),
    "ROMMA": (KC(rule=rules.ROMMA(), kernel=kernels.Gaussian(0.5), readout="average"), X, two),
    "own rule": (KC(rule=mine, readout="average"), X, two),
    "random budget": (BK(budget=5), X, two),
    "forgetron": (BK(budget=5, policy="forgetron", kernel=kernels.Gaussian(0.5)), X, three),
    "projectron": (BK(budget=5, policy="projectron", eta=0.5, kernel=kernels.Gaussian(0.5)), X, two),
}
answers = {}
for name, (model, A, y) in LEARNERS.items():
    for storage in (np.asarray, sp.csr_array):
        model.set_params(log_updates=True, max_iter=3, random_state=1, block_size=7).fit(storage(A), y)
        answers[f"{name}, {storage.__name__}"] = {
            "updates": model.update_log_["row"].tolist(),
            "errors": model.n_errors_,
            "support": model.support_.tolist(),
            "scores": np.asarray(model.decision_function(A), dtype=float).tolist(),
        }
    one = type(model)(**{**model.get_params(), "log_updates": False})
    one.partial_fit(A[:1], y[:1], classes=np.unique(y))
    for x, label in zip(A[1:15], y[1:15]):
        one.learn_one(x, label)
    answers[f"{name}, row by row"] = {
        "updates": one.n_updates_,
        "errors": one.n_errors_,
        "support": one.support_.tolist(),
        "scores": np.asarray(one.decision_function(A), dtype=float).tolist(),
    }
json.dump({"compiled": "numba" in sys.modules, "answers": answers}, sys.stdout)
"""


def test_plain_python_makes_the_same_updates_and_the_same_scores():
    compiled, plain = (answers(SCRIPT, NUMBA_DISABLE_JIT=value) for value in "01")
    assert compiled["compiled"]
    assert not plain["compiled"]
    assert compiled["answers"].keys() == plain["answers"].keys()
    for name, expected in compiled["answers"].items():
        found = plain["answers"][name]
        for what in ("updates", "errors", "support"):
            assert found[what] == expected[what], (name, what)
        scores = np.array(expected["scores"])
        tol = (1e-5 if "float32" in name else 1e-11) * (1.0 + np.abs(scores).max())
        assert np.abs(np.array(found["scores"]) - scores).max() <= tol, name
