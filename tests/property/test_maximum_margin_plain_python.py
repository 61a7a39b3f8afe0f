"""NUMBA_DISABLE_JIT=1 finds the same maximum margins as compiled code."""

from __future__ import annotations

import numpy as np
from comparing import answers

SCRIPT = """
import json
import sys

import numpy as np
import scipy.sparse as sp

from perceptrons import MaxMargin
from perceptrons.core.maximum_margin import NotSeparableError

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = np.where(X @ [1.0, 2.0, -1.0] > 0.3, 1, -1)
apart = X + 0.2 * np.outer(y, [1.0, 2.0, -1.0])
upright = np.column_stack([apart, np.ones(40)])
noisy = np.where(rng.random(40) < 0.2, -y, y)
FITS = {
    "hard, active": (MaxMargin(solver="active"), apart, y),
    "hard, descent": (MaxMargin(solver="descent"), apart, y),
    "hard, through the origin": (MaxMargin(fit_intercept=False), upright, y),
    "hard, kernel": (MaxMargin(kernel="gaussian"), X, noisy),
    "hard, nothing separates": (MaxMargin(), X, noisy),
    "soft": (MaxMargin(C=1.0), X, noisy),
    "soft, kernel": (MaxMargin(C=1.0, kernel="polynomial"), X, noisy),
    "three classes": (MaxMargin(C=1.0), X, rng.integers(3, size=40)),
}
answers = {}
for name, (model, A, labels) in FITS.items():
    for storage in (np.asarray, sp.csr_array):
        try:
            model.fit(storage(A), labels)
            answer = {"gap": model.gap_, "scores": model.decision_function(A).tolist()}
        except NotSeparableError as error:
            answer = {"gap": 0.0, "scores": error.certificate.weights.tolist()}
        answers[f"{name}, {storage.__name__}"] = answer
json.dump({"compiled": "numba" in sys.modules, "answers": answers}, sys.stdout)
"""


def test_plain_python_finds_the_same_margins():
    compiled, plain = (answers(SCRIPT, NUMBA_DISABLE_JIT=value) for value in "01")
    assert compiled["compiled"] and not plain["compiled"]
    assert compiled["answers"].keys() == plain["answers"].keys()
    for name, expected in compiled["answers"].items():
        found = plain["answers"][name]
        assert max(found["gap"], expected["gap"]) <= 1e-6, name
        assert np.allclose(found["scores"], expected["scores"], rtol=0.0, atol=1e-2), name
