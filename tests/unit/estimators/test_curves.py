"""Curves from scores to probabilities, and the sample that they are fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from perceptrons.core import curves, first_visits

RNG = np.random.default_rng(0)
S = RNG.normal(size=400)
Y = RNG.random(400) < 1.0 / (1.0 + np.exp(-(3.0 * S - 1.0)))
ONES = np.ones(400)


def fitted(s, y, w=None, method="sigmoid"):
    s, y = np.asarray(s, float), np.asarray(y, bool)
    return curves.fitted(method, s[:, None], y[:, None], np.ones(len(s)) if w is None else w)


def p(found, s):
    """The probability of the second class."""
    return np.exp(curves.log_probabilities(found.log_odds(np.asarray(s, float)[:, None])))[:, 1]


def targets(y):
    n = np.count_nonzero(y)
    return np.where(y, (n + 1) / (n + 2), 1 / (len(y) - n + 2))


def test_the_sigmoid_is_the_least_of_its_loss():
    def loss(x):
        z = x[0] * S + x[1]
        return np.sum(np.logaddexp(0.0, z) - targets(Y) * z)

    a, b = minimize(loss, [0.0, 0.0], tol=1e-12).x
    np.testing.assert_allclose(p(fitted(S, Y), S), 1 / (1 + np.exp(-(a * S + b))), atol=1e-5)
    assert loss([a, b]) < loss([3.0, -1.0])


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-9, 1e9, 1e300])
@pytest.mark.parametrize("method", curves.METHODS)
def test_units_of_scores_do_not_matter(scale, method):
    s = np.round(64.0 * S)  # whole numbers, which tiny units leave exact
    expected = p(fitted(s, Y, method=method), s)
    np.testing.assert_allclose(p(fitted(scale * s, Y, method=method), scale * s), expected, rtol=1e-9)


@pytest.mark.parametrize("method", curves.METHODS)
def test_weights_are_numbers_of_rows(method):
    w = RNG.integers(1, 4, 400).astype(float)
    more = np.repeat(np.arange(400), w.astype(int))
    lots = fitted(S[more], Y[more], method=method)
    for factor in (1e-200, 1.0, 7.0):  # a common factor changes nothing
        found = fitted(S, Y, factor * w, method=method)
        np.testing.assert_allclose(p(found, S), p(lots, S), atol=1e-2)  # the smoothed targets differ


@pytest.mark.parametrize("method", curves.METHODS)
@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e308])
def test_weights_of_any_size(method, size):
    expected = p(fitted(S, Y, method=method), S)
    np.testing.assert_allclose(p(fitted(S, Y, np.full(400, size), method=method), S), expected, rtol=1e-9)
    w = np.where(np.arange(400) < 200, 1e308, 5e-324)  # the others vanish
    half = p(fitted(S[:200], Y[:200], method=method), S)
    np.testing.assert_allclose(p(fitted(S, Y, w, method=method), S), half, rtol=1e-9)
    sample = first_visits.none_yet(1, "last").plus(S[:, None], Y[:, None], np.full(400, size))
    assert (sample.counting_weights() > 0.0).all() and np.isfinite(sample.counting_weights()).all()


@pytest.mark.parametrize("method", curves.METHODS)
def test_separated_scores_leave_room(method):
    y = S > 0.3
    found = fitted(S, y, method=method)
    all_p = p(found, np.array([-1e308, -1e9, *S, 1e9, 1e308]))
    assert np.isfinite(all_p).all() and (np.diff(p(found, np.sort(S))) >= 0.0).all()
    np.testing.assert_array_equal(all_p[[0, 1, -2, -1]], p(found, [S.min(), S.min(), S.max(), S.max()]))
    inside = p(found, S)
    assert ((inside > 0.0) & (inside < 1.0)).all() and np.mean((inside > 0.5) == y) > 0.97


@pytest.mark.parametrize("method", curves.METHODS)
def test_scores_that_say_nothing_give_the_share_of_the_class(method):
    share = np.mean(targets(Y))
    for s in (np.zeros(400), np.full(400, 3.0), np.full(400, -1e300)):
        np.testing.assert_allclose(p(fitted(s, Y, method=method), s), share)
    against = fitted(-S, Y, method=method)  # scores that are wrong: the curve never falls
    np.testing.assert_allclose(p(against, -S)[S.max() != S], share, atol=0.05)


@pytest.mark.parametrize("method", curves.METHODS)
@pytest.mark.parametrize("y", [True, False])
def test_one_outcome_only(method, y):
    found = p(fitted(S, np.full(400, y), method=method), [0.0, 5.0])
    np.testing.assert_allclose(found, 401 / 402 if y else 1 / 402)


def test_isotonic_regression():
    other = IsotonicRegression(out_of_bounds="clip").fit(np.round(S, 1), targets(Y))
    found = fitted(np.round(S, 1), Y, method="isotonic")
    at = np.linspace(-4.0, 4.0, 101)
    np.testing.assert_allclose(p(found, at), other.predict(at), atol=1e-12)


def test_several_classes_are_divided_by_their_sum():
    odds = np.array([[0.0, 0.0, -800.0], [-900.0, -901.0, -900.0], [-np.inf, -np.inf, -np.inf]])
    found = np.exp(curves.log_probabilities(odds))
    half = 1.0 / (2.0 + np.exp(-1.0))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0], [half, np.exp(-1.0) * half, half], [1 / 3] * 3])


def test_a_row_without_a_score_in_a_column_does_not_count_there():
    scores = np.stack([S, S], axis=1)
    scores[100:, 1] = np.nan
    found = curves.fitted("sigmoid", scores, np.stack([Y, Y], axis=1), ONES)
    assert found.a[1] == fitted(S[:100], Y[:100]).a[0] != found.a[0]


# ---------------------------------------------------------------- the sample


def sample_of(n, cut, columns=1):
    found = first_visits.none_yet(columns, "last")
    scores = np.arange(n, dtype=float)[:, None] * np.ones(columns)
    for begin in range(0, n, cut):
        rows = scores[begin : begin + cut]
        found = found.plus(rows, rows > 3, np.ones(len(rows)))
    return found


@pytest.mark.parametrize(("n", "columns"), [(20_000, 1), (40_000, 1), (3000, 600)])
def test_the_sample_is_bounded_and_does_not_depend_on_the_cut(n, columns):
    found = sample_of(n, n, columns)
    room = first_visits.capacity(columns)
    assert found.n == n and room / 3 < len(found.number) <= room
    for cut in (7, 999) if columns == 1 else (999,):
        other = sample_of(n, cut, columns)
        assert other.level == found.level and other.n == n
        for name in ("number", "scores", "outcomes", "weights"):
            np.testing.assert_array_equal(getattr(other, name), getattr(found, name))
    middle = np.mean(found.number) / n  # no part of the stream is left out
    assert abs(middle - 0.5) < 0.03 and abs(np.mean(found.number % 2) - 0.5) < 0.05


def test_later_visits_count_more():
    found = sample_of(4, 4)
    np.testing.assert_array_equal(found.counting_weights(), [1 / 4, 3 / 4, 5 / 4, 7 / 4])
