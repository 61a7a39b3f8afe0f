"""The best comparator's bound holds for every pass of a perceptron, whatever the data and their scale."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons import Perceptron, theory
from perceptrons.proofs import best_comparator


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_a_pass_in_any_order_makes_no_more_mistakes(scale, noise):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 3)) * scale
        y = np.where(X @ [1.0, -1.0, 0.5] + scale * noise * rng.normal(size=80) > 0, 1, -1)
        for fit_intercept in (False, True):
            best = best_comparator(X, y, fit_intercept=fit_intercept)
            for order in (np.arange(80), rng.permutation(80), np.argsort(y)):
                model = Perceptron(max_iter=1, shuffle=False, fit_intercept=fit_intercept)
                assert model.fit(X[order], y[order]).n_mistakes_ <= best.bound <= best.objective
            Z = np.column_stack([X, np.ones(80)]) if fit_intercept else X
            for _ in range(5):  # no vector goes below the lower end
                u = best.u * rng.normal(1.0, 0.3) + rng.normal(size=len(best.u)) * np.linalg.norm(best.u)
                H = theory.risk(u, Z, y, loss="hinge")
                assert best.low <= theory.hinge(best.radius, float(np.linalg.norm(u)), H) * (1 + 1e-12)
