"""AROW, full covariance: prediction errors among the updates against the spread of all updates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import begin, dyadic, orders, samples, separable
from theorems.play import hinge, margins, worst_rows

from perceptrons import AROW, theory

CAUTION = pytest.mark.parametrize("r", [0.1, 1.0, 10.0])


def errors_within_bound(model, X, y, rows, u, r):
    """rows: the updates, one a visit. Every error is an update, since its loss is 1 or more."""
    assert model.n_updates_ == len(rows)
    uXu, logdet = theory.second_order_terms(X[rows], u, r)
    H = float(hinge(u, X[rows], y[rows]).sum())
    right = model.n_updates_ - model.n_errors_
    bound = theory.arow(r, np.linalg.norm(u), uXu, logdet, right, H)
    assert model.n_errors_ <= bound * (1.0 + 1e-9) + 1e-9


def comparators(draw, n, w):
    yield np.array(draw.draw(st.lists(dyadic(), min_size=n, max_size=n), label="u"))
    for c in (0.0, 0.3, 1.0, 3.0):
        yield c * w


@CAUTION
@given(st.one_of(samples(), separable()), st.data())
def test_random_sequences(r, sample, draw):
    X, y = sample[:2]
    order = draw.draw(orders(len(y), max_epochs=5), label="order")
    model = AROW(r=r, covariance="full", fit_intercept=False, log_updates=True).fit(X, y, order=order)
    for u in comparators(draw, X.shape[1], model.coef_[0]):
        errors_within_bound(model, X, y, model.update_log_["row"], u, r)


@CAUTION
@given(st.one_of(samples(), separable()), st.data())
def test_worst_sequences(r, sample, draw):
    X, y = sample[:2]
    model = begin(AROW(r=r, covariance="full", fit_intercept=False), X)
    rows = list(worst_rows(model, X, y, threshold=1.0 - 1e-9, limit=40))
    for u in comparators(draw, X.shape[1], model.coef_[0]):
        errors_within_bound(model, X, y, rows, u, r)


@CAUTION
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@given(samples())
def test_a_step_goes_towards_the_margin_and_sigma_only_shrinks(covariance, r, sample):
    """With v = x'Sigma x: the loss is multiplied by r/(v + r); Sigma stays positive and never grows."""
    X, y, order = sample
    n = X.shape[1]
    model = begin(AROW(r=r, covariance=covariance, fit_intercept=False), X)
    sigma = full(model.covariance_[0], n)
    for i in order[0]:
        loss = 1.0 - margins(model, X[[i]], y[[i]])[0]
        model.learn_one(X[i], y[i])
        old, sigma = sigma, full(model.covariance_[0], n)
        assert np.linalg.eigvalsh(old - sigma).min() >= -1e-9
        assert np.linalg.eigvalsh(sigma).min() > 0.0
        if loss > 1e-9:
            v = X[i] @ old @ X[i]
            assert np.isclose(1.0 - margins(model, X[[i]], y[[i]])[0], loss * r / (v + r))


def full(sigma, n):
    """Sigma over the features, as a matrix."""
    return sigma[:n, :n] if sigma.ndim == 2 else np.diag(sigma[:n])
