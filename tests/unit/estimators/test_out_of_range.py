"""Rows at the ends of the range: a number, or one line that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons import BalancedWinnow, MaxMargin
from perceptrons.proofs import advise, certify


def test_multipliers_that_overflow_when_they_are_scaled_to_margin_one():
    X = np.array(
        [
            [-7853159694311351.0, -9237245085265320.0],
            [7.698800602296743e-151, 7.852553489313276e-151],
            [1.5243284370592767, -0.861295783846417],
            [-5.9933595953905735e149, -1.0781105326932559e150],
            [4.3310731840143866e-17, -5.795416650830946e-18],
            [9.440789928088876e-151, -5.200713431790649e-151],
        ]
    )
    with pytest.raises(ValueError, match=r"overflows on these rows.*Scale the data"):
        MaxMargin(fit_intercept=False, C=np.inf, solver="descent").fit(X, [-1, 1, 1, -1, 1, 1])


def test_scales_of_columns_that_underflow():
    X = 5e-324 * np.array([[-2.0, -2, 3], [3, -1, -2], [-1, -2, 4], [-2, -2, -1]])
    assert "separable" in str(advise(X, [-1, 1, -1, 1]))  # without a warning


def test_balanced_winnow_follows_weights_that_fall_as_steeply_as_they_rose():
    X, y = np.full((2, 1), 4310691500380983734), [-1, 1]
    model = BalancedWinnow(intercept_scaling=0.5, max_iter=1).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.decision_function(X)).all()
    certify(model, X, y).verify(X, y).or_raise()
    rows = np.array([[1.0, -2.0, 3.0], [2.0, 1.0, -1.0], [-1.0, 0.5, 2.0], [0.3, -4.0, 1.0]])
    for scale in (1e10, 1e100):
        model = BalancedWinnow(shuffle=False, max_iter=5).fit(scale * rows, [0, 1, 0, 1])
        one_by_one = BalancedWinnow()
        for _ in range(5):
            for x, label in zip(scale * rows, [0, 1, 0, 1], strict=True):
                one_by_one.learn_one(x, label)
        np.testing.assert_array_equal(model.coef_, one_by_one.coef_)
