"""The golden hard margins: w, b, margin, support, proofs of infeasibility, through every solver."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from golden.cases import close, load

from perceptrons import MaxMargin, theory
from perceptrons.core.maximum_margin import NotSeparableError

CASES = load("hard_margin")
KEYS = {
    "separable", "w", "b", "margin", "slab_width", "support", "bracket_for_given",
    "certificate_residual_at_most", "example_lambda", "one_class",
}  # fmt: skip
TOLERANCE = 1e-6  # that of the file

needs_piqp = pytest.mark.skipif(find_spec("piqp") is None, reason="piqp is not installed")
SOLVERS = ["auto", "active", "descent", pytest.param("piqp", marks=needs_piqp)]


def test_every_expectation_is_known():
    for case in CASES:
        assert case.expected.keys() <= KEYS and case.params.keys() == {"bias"}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_hard_margin(case, solver, make):
    X, y, free, expected = make(case.X), case.y, case.params["bias"], case.expected
    model = MaxMargin(fit_intercept=free, solver=solver)
    if not expected["separable"]:
        with pytest.raises(NotSeparableError) as caught:
            model.fit(X, y)
        proof = caught.value.certificate
        assert proof.verdict == "not separable" and proof.check(X, y) is None
        total = (proof.weights * y) @ case.X
        ours = np.hypot(np.linalg.norm(total), proof.weights @ y if free else 0.0)
        assert ours <= expected["certificate_residual_at_most"] and np.all(proof.weights >= 0.0)
        theirs = np.array(expected["example_lambda"])  # not unique: its residual alone is checked
        assert np.linalg.norm((theirs * y) @ case.X) <= 1e-8
        return
    model.fit(X, y)
    assert model.one_class_ is expected.get("one_class", False)
    if model.one_class_:
        assert model.margin_ == np.inf and not model.coef_.any() and model.intercept_ == 1.0
        return
    w, b = np.array(expected["w"]), expected["b"]
    assert close(model.coef_[0], w, TOLERANCE) and close(model.intercept_[0], b, TOLERANCE)
    assert close(model.margin_, expected["margin"], TOLERANCE)
    assert close(model.slab_width_, expected["slab_width"], TOLERANCE)
    assert model.stop_reason_ == "gap closed" and model.gap_ <= 1e-6

    alpha = model.dual_coef_[0] * y[model.support_]  # not unique: what it has to satisfy is checked
    assert np.all(alpha > 0.0)
    assert close(model.dual_coef_[0] @ case.X[model.support_], w, TOLERANCE)
    assert close(alpha.sum(), w @ w, TOLERANCE)
    if free:
        assert abs(model.dual_coef_.sum()) <= 1e-9 * alpha.sum()
    on_the_margin = np.flatnonzero(np.abs(y * (case.X @ w + b) - 1.0) <= TOLERANCE)
    assert set(model.support_) <= set(on_the_margin) and set(expected["support"]) <= set(on_the_margin)

    low, up = model.margin_bounds_
    assert low <= expected["margin"] * (1.0 + TOLERANCE) and expected["margin"] <= up * (1.0 + TOLERANCE)
    given = expected["bracket_for_given"]
    assert theory.gamma_low(given["w"], X, y, free_bias=free) <= up * (1.0 + TOLERANCE)
    assert theory.gamma_up_from_weights(given["lambda"], X, y, free_bias=free) >= low * (1.0 - TOLERANCE)
