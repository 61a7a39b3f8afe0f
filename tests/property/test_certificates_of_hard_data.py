"""Certificates of ill-conditioned data: no false end, no false verdict, none that its own check refuses."""

from __future__ import annotations

import math

import exact
import numpy as np
import pytest
from ill_conditioned import draw
from scipy import sparse

import perceptrons as pc
from perceptrons.engine.spaces import NumericalError

CASES = 150
LEARNERS = {
    "Perceptron": lambda **p: pc.Perceptron(log_updates=True, **p),
    "KernelPerceptron": lambda **p: pc.KernelPerceptron(kernel="linear", **p),
    "PassiveAggressive": lambda **p: pc.PassiveAggressive(variant="hard", log_updates=True, **p),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_brackets_and_verdicts_against_fractions(name):
    rng = np.random.default_rng(0)
    decided = 0
    for _ in range(CASES):
        case = draw(rng)
        X, y = case.X.astype(np.float64), np.asarray(case.y)
        bias, passes = bool(rng.integers(2)), int(rng.integers(1, 30))
        values = X.data if sparse.issparse(X) else X
        if len(set(y.tolist())) != 2 or np.any((values != 0.0) & (np.abs(values) < 1e-150)):
            continue  # learners refuse rows whose squares vanish
        try:
            model = LEARNERS[name](fit_intercept=bias, max_iter=passes, random_state=0).fit(X, y)
        except (ValueError, NumericalError):
            continue  # out of the range of floats
        certificate = pc.certify(model, X, y)
        for way in (False, True):
            found = certificate.verify(X, y, exact=way)
            # rounding may keep a run from what a theorem assumes: then the line says so, and fails
            assert found or (not certificate.holds and found.failed.startswith("bound ")), found
        rows = X.toarray() if sparse.issparse(X) else X
        rows = exact.augmented(rows, 1.0) if bias else exact.rows_of(rows)
        best = exact.best_margin(exact.signed(rows, y))
        bracket, verdict = certificate.brackets[0], certificate.verdict.verdict
        assert bracket.low == -math.inf or best.at_least(bracket.low), case
        assert best.at_most(bracket.up), case
        assert verdict == "undecided" or (verdict == "separable") == best.separable, case
        decided += verdict != "undecided"
    assert decided > CASES // 10
