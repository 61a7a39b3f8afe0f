"""A converged run is the work of the rows it updated on; few such rows mean a small risk."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from strategies import separable
from theorems.play import rows_of

from perceptrons import Perceptron, theory


@given(separable())
def test_the_rows_that_were_updated_on_are_enough(data):
    X, y, _, gamma = data
    assume(theory.passes(theory.radius(X), gamma) <= 20_000)
    model = Perceptron(shuffle=False, fit_intercept=False, max_iter=None, log_updates=True).fit(X, y)
    kept = np.unique(rows_of(model))
    assume(len(set(y[kept])) == 2)  # else there is nothing to fit
    again = Perceptron(shuffle=False, fit_intercept=False, max_iter=None, log_updates=True).fit(
        X[kept], y[kept]
    )
    assert np.array_equal(again.coef_, model.coef_)  # to the bit
    assert np.array_equal(kept[rows_of(again)], rows_of(model))


def test_the_bound_fails_no_more_often_than_it_says():
    """Risk of the converged run against the bound, at delta = 1/2: it may fail every other time."""
    rng = np.random.default_rng(0)
    u, m, n_runs, failures = np.array([3.0, -4.0, 0.0]) / 5.0, 100, 200, 0

    def draw(n):
        X = rng.normal(size=(3 * n, 3))
        X = X[np.abs(X @ u) > 0.1][:n]
        return X, np.where(X @ u > 0.0, 1, -1)

    X_fresh, y_fresh = draw(2000)
    for _ in range(n_runs):
        X, y = draw(m)
        model = Perceptron(shuffle=False, fit_intercept=False, max_iter=None, log_updates=True).fit(X, y)
        assert model.stop_reason_ == "clean pass"
        bound = theory.compression(m, len(np.unique(rows_of(model))), delta=0.5)
        failures += 1.0 - model.score(X_fresh, y_fresh) > bound
    assert failures <= 0.5 * n_runs
