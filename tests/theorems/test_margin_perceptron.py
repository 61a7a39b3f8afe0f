"""The margin perceptron: at most 2R^2/(eps gamma)^2 - 2/eps updates after the first, and a margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import begin, best_margin, orders, samples, separable, separable_multiclass
from theorems.play import lead, length, margins, worst_rows

from perceptrons import MarginPerceptron, theory

EPS = pytest.mark.parametrize("eps", [0.25, 0.5, 0.875])


@EPS
@given(separable(), st.data())
def test_random_sequences(eps, data, draw):
    X, y, _, gamma = data
    model = MarginPerceptron(gamma=gamma, eps=eps, fit_intercept=False)
    model.fit(X, y, order=draw.draw(orders(len(y), max_epochs=30)))
    R = theory.radius(X)
    assert model.n_updates_ - 1 <= theory.margin_perceptron(R, gamma, eps)
    if eps == 0.5:
        assert model.n_updates_ <= 8.0 * (R / gamma) ** 2
    if model.stop_reason_ == "clean pass":
        assert_margin(margins(model, X, y) / length(model), gamma, eps)
        assert model.margin_bounds_[0] >= theory.margin_perceptron_margin(gamma, eps) * (1.0 - 1e-9)


def assert_margin(geometric, gamma, eps):
    assert np.min(geometric) >= theory.margin_perceptron_margin(gamma, eps) * (1.0 - 1e-9)


@EPS
@given(separable())
def test_worst_sequences(eps, data):
    X, y, _, gamma = data
    model = begin(MarginPerceptron(gamma=gamma, eps=eps, fit_intercept=False), X)
    theta = (1.0 - eps) * gamma
    # w = 0 fails every row: below any threshold, however small
    bar = lambda: theta * length(model) if model.n_updates_ else np.inf  # noqa: E731
    for _ in worst_rows(model, X, y, threshold=bar, strict=True, limit=300):
        assert model.n_updates_ - 1 <= theory.margin_perceptron(theory.radius(X), gamma, eps)
    if model.n_updates_ < 300:
        assert_margin(margins(model, X, y) / length(model), gamma, eps)


@given(samples(), st.sampled_from([0.5, 2.0]), st.integers(0, 100))
def test_more_updates_refute_the_margin(sample, gamma, seed):
    X, y, _ = sample
    model = MarginPerceptron(gamma=gamma, eps=0.75, fit_intercept=False, max_iter=2000, random_state=seed)
    model.fit(X, y)
    best = best_margin(X, y)
    if model.stop_reason_ == "bound exceeded":
        assert best < gamma
    elif model.stop_reason_ == "clean pass":
        assert best >= 0.25 * gamma * (1.0 - 1e-9)


@EPS
@given(separable(), st.integers(0, 100))
def test_an_unknown_margin_is_found_within_a_factor_of_two(eps, data, seed):
    X, y, _, _ = data
    best = best_margin(X, y)
    assume(theory.margin_perceptron(theory.radius(X), best / 2.0, eps) < 5000)
    model = MarginPerceptron(gamma="auto", eps=eps, fit_intercept=False, max_iter=None, random_state=seed)
    model.fit(X, y)
    assert model.stop_reason_ == "clean pass"
    assert model.margin_bounds_[0] >= (1.0 - eps) * best / 2.0 * (1.0 - 1e-9)


@EPS
@given(separable_multiclass())
def test_many_classes_have_twice_the_squared_radius(eps, data):
    X, y, _, delta = data
    model = MarginPerceptron(gamma=delta, eps=eps, fit_intercept=False, max_iter=50, random_state=0).fit(X, y)
    assert model.n_updates_ - 1 <= theory.margin_perceptron(np.sqrt(2.0) * theory.radius(X), delta, eps)
    assert model.stop_reason_ != "bound exceeded"
    if model.stop_reason_ == "clean pass":
        assert_margin(lead(model.coef_, X, y) / length(model), delta, eps)


@given(separable(), st.integers(0, 100))
def test_mistakes_and_band_updates_are_counted_apart(data, seed):
    X, y, _, gamma = data
    model = MarginPerceptron(gamma=gamma, fit_intercept=False, max_iter=20, random_state=seed).fit(X, y)
    assert model.n_errors_ <= model.n_mistakes_ <= model.n_updates_
    assert model.n_margin_mistakes_ == model.n_updates_ - model.n_mistakes_
    inside = np.abs(margins(model, X, y)) / length(model) < 0.5 * gamma
    assert np.array_equal(model.predict(X, abstain=0) == 0, inside)
