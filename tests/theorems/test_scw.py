"""SCW has no mistake bound; after an update it must meet the conditions it was derived from."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, samples, separable
from theorems.play import worst_rows

from perceptrons import SCW

confidences = st.sampled_from([0.6, 0.9, 0.99])
prices = st.sampled_from([0.05, 1.0, 100.0])


def steps(variant, eta, C, X, y, rows):
    """(row, alpha, m before, v before, m after, v after) of every update, full covariance."""
    model = begin(SCW(variant=variant, eta=eta, C=C, covariance="full", fit_intercept=False), X)
    for i in rows(model):
        w, sigma = model.coef_[0].copy(), covariance(model, X)
        updates = model.n_updates_
        model.learn_one(X[i], y[i])
        if model.n_updates_ > updates:
            x, direction = X[i], sigma @ X[i]
            alpha = (model.coef_[0] - w) @ direction * y[i] / (direction @ direction)
            new = covariance(model, X)
            yield i, alpha, y[i] * (w @ x), x @ sigma @ x, y[i] * (model.coef_[0] @ x), x @ new @ x


def covariance(model, X):
    n = X.shape[1]
    return model.covariance_[0][:n, :n].copy()


def given_order(order):
    return lambda model: [i for epoch in order for i in epoch]


@pytest.mark.parametrize("variant", ["I", "II"])
@given(samples(), confidences, prices)
def test_conditions_of_an_update(variant, sample, eta, C):
    X, y, order = sample
    phi = NormalDist().inv_cdf(eta)
    for _, alpha, m, v, m_new, v_new in steps(variant, eta, C, X, y, given_order(order)):
        size = 1e-6 * (1.0 + abs(m) + abs(m_new) + alpha * v)
        assert phi * np.sqrt(v) > m - size  # it was not yet right with confidence eta
        assert alpha >= 0.0
        assert 0.0 < v_new <= v * (1.0 + 1e-9)  # surer than before
        lacking = phi * np.sqrt(v_new) - m_new
        if variant == "II":
            assert abs(lacking - alpha / (2.0 * C)) <= size
        elif alpha < C * (1.0 - 1e-9):
            assert abs(lacking) <= size  # now exactly so
        else:
            assert alpha <= C * (1.0 + 1e-6)
            assert lacking >= -size


@given(separable(), confidences)
def test_hardly_softened_it_ends_in_a_confident_separation(data, eta):
    """With a large C every update reaches its goal; a clean pass means that all rows have it."""
    X, y, _, _ = data
    phi = NormalDist().inv_cdf(eta)
    model = SCW(eta=eta, C=1e6, covariance="full", fit_intercept=False, max_iter=30, random_state=0).fit(X, y)
    if model.stop_reason_ == "clean pass":
        sigma = covariance(model, X)
        spread = np.sqrt(np.einsum("ij,jk,ik->i", X, sigma, X))
        assert np.all(y * (X @ model.coef_[0]) >= phi * spread - 1e-6)


@given(samples(), confidences)
def test_the_adversary_serves_rows_that_are_not_sure_enough(sample, eta):
    X, y, _ = sample
    phi = NormalDist().inv_cdf(eta)
    model = begin(SCW(eta=eta, covariance="full", fit_intercept=False), X)

    def surplus(X, y):
        spread = np.sqrt(np.einsum("ij,jk,ik->i", X, covariance(model, X), X))
        return y * (X @ model.coef_[0]) - phi * spread

    for t, _ in enumerate(worst_rows(model, X, y, threshold=-1e-9, score=surplus, limit=30), 1):
        assert model.n_updates_ == t
        assert np.linalg.eigvalsh(covariance(model, X)).min() > 0.0
