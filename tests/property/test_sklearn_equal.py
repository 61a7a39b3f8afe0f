"""Equal to scikit-learn where both do the same thing: the perceptron to the bit, PA-I and PA-II to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property.learners import close
from sklearn import linear_model

from perceptrons import PassiveAggressive, Perceptron

seeds = st.integers(0, 2**32 - 1)
EPOCHS = pytest.mark.parametrize("epochs", [1, 3, 7])

# renamed in scikit-learn 1.8 and to be removed in 1.10; its successor is SGDClassifier with another loss
deprecated = pytest.mark.filterwarnings("ignore:.*PassiveAggressiveClassifier is deprecated:FutureWarning")
# tol=None runs all epochs, which is the point, and says so if they were too few to converge
unconverged = pytest.mark.filterwarnings("ignore:Maximum number of iteration reached")


def noisy(seed, n_rows=60, n_features=7):
    """Real numbers with all their bits, and labels that nearly follow a halfspace."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * 10.0 ** rng.uniform(-2, 2)
    y = np.where(X @ rng.normal(size=n_features) + 0.3 * rng.normal(size=n_rows) > 0.0, 1, -1)
    y[:2] = 1, -1
    return X, y


@unconverged
@EPOCHS
@pytest.mark.parametrize("fit_intercept", [False, True])
@given(seeds)
def test_the_perceptron_is_equal_to_the_bit(epochs, fit_intercept, seed):
    X, y = noisy(seed)
    theirs = linear_model.Perceptron(
        fit_intercept=fit_intercept, shuffle=False, tol=None, max_iter=epochs
    ).fit(X, y)
    by_order = Perceptron(fit_intercept=fit_intercept).fit(X, y, order=[range(len(y))] * epochs)
    by_epochs = Perceptron(fit_intercept=fit_intercept, shuffle=False, max_iter=epochs).fit(X, y)
    for ours in (by_order, by_epochs):
        assert np.array_equal(ours.coef_, theirs.coef_)
        assert np.array_equal(ours.intercept_, theirs.intercept_)
        assert np.array_equal(ours.predict(X), theirs.predict(X))


@deprecated
@unconverged
@EPOCHS
@pytest.mark.parametrize(("variant", "loss"), [("I", "hinge"), ("II", "squared_hinge")])
@given(seeds, st.sampled_from([0.01, 0.25, 1.0, 10.0]))
def test_passive_aggressive_is_equal_without_an_intercept(epochs, variant, loss, seed, C):
    X, y = noisy(seed)
    theirs = linear_model.PassiveAggressiveClassifier(
        C=C, loss=loss, fit_intercept=False, shuffle=False, tol=None, max_iter=epochs
    ).fit(X, y)
    ours = PassiveAggressive(C=C, variant=variant, fit_intercept=False)
    ours.fit(X, y, order=[range(len(y))] * epochs)
    assert close(ours.coef_, theirs.coef_, 1e-12)


@deprecated
@unconverged
def test_with_an_intercept_they_differ():
    """We count B^2 in the length of a row, as the theorems do; scikit-learn leaves it out."""
    X, y = noisy(0)
    theirs = linear_model.PassiveAggressiveClassifier(shuffle=False, tol=None, max_iter=1).fit(X, y)
    ours = PassiveAggressive().fit(X, y, order=[range(len(y))])
    assert not close(ours.coef_, theirs.coef_, 1e-6)
