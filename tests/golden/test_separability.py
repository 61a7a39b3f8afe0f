"""`separability` on the golden hard-margin cases: the verdict of the file, and a certificate that holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden.cases import close, load
from scipy import sparse

from perceptrons import separability

CASES = load("hard_margin")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdict(case, kind):
    X, expected = kind(case.X), case.expected
    proof = separability(X, case.y, fit_intercept=case.params["bias"])
    assert proof.exact and proof.check(X, case.y) is None and proof.check(X, case.y, exact=True) is None
    assert proof.verdict == ("separable" if expected["separable"] else "not separable")
    assert proof.one_class == expected.get("one_class", False)
    if proof.verdict == "not separable":
        assert proof.residual <= expected["certificate_residual_at_most"]
        assert np.isclose(proof.weights.sum(), 1.0) and proof.bracket == (0.0, 0.0)
    elif proof.one_class:
        assert proof.margin == math.inf
    else:
        low, up = proof.bracket
        assert low <= expected["margin"] * (1.0 + 1e-6) and expected["margin"] <= up * (1.0 + 1e-6)


def test_the_certificates_with_one_answer():
    for name in ("two_points_no_bias_infeasible", "duplicate_opposite"):
        case = next(case for case in CASES if case.name == name)
        proof = separability(case.X, case.y, fit_intercept=case.params["bias"])
        assert close(proof.weights, case.expected["example_lambda"])
