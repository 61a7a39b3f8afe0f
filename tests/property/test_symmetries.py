"""What must not matter, or matters in a known way: scales, labels, columns, limits of parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from property.learners import (
    FIRST_ORDER,
    POTENTIAL,
    SECOND_ORDER,
    close,
    frames,
    pick,
    updates,
    weights,
)
from strategies import samples

from perceptrons import MIRA, OnlineClassifier, PassiveAggressive, Perceptron, PNormPerceptron, rules

pytestmark = pytest.mark.uncompiled

powers_of_two = st.integers(-6, 6).map(lambda e: 2.0**e)
any_scale = st.floats(1e-3, 1e3)


def fitted(estimator, X, y, order, **params):
    return estimator(log_updates=True, **params).fit(X, y, order=order)


def same_updates(a, b, order):
    return updates(a, len(order)) == updates(b, len(order))


# ------------------------------------------------------------------------------------- the scale


@given(samples(), powers_of_two)
def test_the_rate_of_the_perceptron_only_scales_w(sample, eta):
    X, y, order = sample
    plain = fitted(Perceptron, X, y, order)
    other = fitted(Perceptron, X, y, order, learning_rate=eta)
    assert same_updates(plain, other, order)
    assert np.array_equal(weights(other), eta * weights(plain))


@given(samples(), any_scale)
def test_any_rate_at_all(sample, eta):
    X, y, order = sample
    [learner] = pick("perceptron")
    run = learner.run(X, y, order, learning_rate=eta)
    assume(not learner._replace(exact=False).hangs_on_rounding(run, X, y, order))
    model = fitted(Perceptron, X, y, order, learning_rate=eta, fit_intercept=False)
    plain = fitted(Perceptron, X, y, order, fit_intercept=False)
    assert same_updates(plain, model, order)
    assert close(weights(model) / eta, weights(plain))


@given(samples(), powers_of_two)
def test_longer_rows_make_the_perceptron_longer(sample, c):
    X, y, order = sample
    plain = fitted(Perceptron, X, y, order, fit_intercept=False)
    other = fitted(Perceptron, c * X, y, order, fit_intercept=False)
    assert same_updates(plain, other, order)
    assert np.array_equal(weights(other), c * weights(plain))


@pytest.mark.parametrize(
    "learner", pick("MIRA", "MIRA, p = 1/2", "PA", "ROMMA", "ROMMA, aggressive"), ids=str
)
@given(samples(), powers_of_two)
def test_longer_rows_make_margin_seekers_shorter(learner, sample, c):
    """w becomes w/c: it has the same margins on the rows cx. Powers of two change no rounding."""
    X, y, order = sample
    plain = fitted(learner.make, X, y, order, fit_intercept=False)
    other = fitted(learner.make, c * X, y, order, fit_intercept=False)
    assert same_updates(plain, other, order)
    assert np.array_equal(weights(other), weights(plain) / c)


# ------------------------------------------------------------------------------------ the labels


@pytest.mark.parametrize(
    "learner",
    [learner for learner in FIRST_ORDER + SECOND_ORDER + POTENTIAL if "prediction" not in learner.name],
    ids=str,
)
@given(samples(), frames())
def test_flipped_labels_negate_w(learner, sample, frame):
    X, y, order = sample
    plain = learner.make(frame, log_updates=True).fit(X, y, order=order)
    other = learner.make(frame, log_updates=True).fit(X, -y, order=order)
    assert same_updates(plain, other, order)
    assert np.array_equal(weights(other), -weights(plain))


@given(samples(), st.sampled_from([("no", "yes"), (7, 11), (False, True)]))
def test_only_the_order_of_the_labels_counts(sample, names):
    X, y, order = sample
    plain = fitted(Perceptron, X, y, order)
    named = fitted(Perceptron, X, np.where(y > 0, names[1], names[0]), order)
    assert np.array_equal(weights(named), weights(plain))
    assert np.array_equal(named.predict(X) == names[1], plain.predict(X) > 0)


# ----------------------------------------------------------------------------------- the columns


@pytest.mark.parametrize(
    "learner",
    pick("perceptron", "PA-I", "ROMMA", "ALMA", "AROW, full", "AROW, diagonal", "p-norm, p = 3"),
    ids=str,
)
@given(samples(), frames(), st.data())
def test_columns_may_be_permuted_and_empty_ones_added(learner, sample, frame, data):
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    n = X.shape[1]
    place = data.draw(st.permutations(range(n + 2)), label="place of each column")
    wide = np.zeros((len(X), n + 2))
    wide[:, place[:n]] = X
    plain = learner.make(frame, log_updates=True).fit(X, y, order=order)
    other = learner.make(frame, log_updates=True).fit(wide, y, order=order)
    assert same_updates(plain, other, order)
    assert close(other.coef_[:, place[:n]], plain.coef_, learner.tol)
    assert close(other.intercept_, plain.intercept_, learner.tol)
    assert not other.coef_[:, place[n:]].any()


@given(samples(), frames(), st.integers(1, 3))
def test_empty_columns_only_dilute_balanced_winnow(sample, frame, extra):
    """They take part in the sum that normalises the weights, which changes no sign."""
    [learner] = pick("balanced Winnow")
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    wide = np.hstack([X, np.zeros((len(X), extra))])
    plain = learner.make(frame, log_updates=True).fit(X, y, order=order)
    other = learner.make(frame, log_updates=True).fit(wide, y, order=order)
    assert same_updates(plain, other, order)
    assert np.abs(other.coef_).sum() <= np.abs(plain.coef_).sum() + 1e-12


# ------------------------------------------------------------------------- limits of parameters


@given(samples())
def test_a_cap_that_is_never_reached_leaves_pa(sample):
    X, y, order = sample
    hard = fitted(PassiveAggressive, X, y, order, variant="hard")
    steps = hard.update_log_["step"]
    capped = fitted(PassiveAggressive, X, y, order, C=1.0 + steps.max(initial=0.0))
    assert same_updates(hard, capped, order)
    assert np.array_equal(weights(capped), weights(hard))


@given(samples(), frames())
def test_hardly_damped_pa_is_pa(sample, frame):
    [learner] = pick("PA")
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order, relative=1e-6))
    nearly = learner.make(frame)
    nearly.set_params(variant="II", C=1e14).fit(X, y, order=order)
    assert close(weights(nearly), run.w, tol=1e-6)


@given(samples(), frames())
def test_mira_just_below_one_is_pa(sample, frame):
    [learner] = pick("PA")
    X, y, order = sample
    run = learner.run(X, y, order, frame)
    assume(not learner.hangs_on_rounding(run, X, y, order))
    mira = MIRA(p=1.0 - 1e-12, log_updates=True, **frame.of_estimator()).fit(X, y, order=order)
    assert updates(mira, len(order)) == run.updates
    assert close(weights(mira), run.w)


@given(samples(), st.booleans())
def test_mira_of_zero_is_mira(sample, geometric):
    X, y, order = sample
    rule = rules.GeometricMIRA(0.0) if geometric else rules.MIRA()
    named = fitted(MIRA, X, y, order, p=0.0, margin="geometric" if geometric else "functional")
    given_rule = fitted(OnlineClassifier, X, y, order, rule=rule)
    plain = fitted(MIRA, X, y, order)
    for other in (given_rule, plain):
        assert same_updates(named, other, order)
        assert np.array_equal(weights(named), weights(other))


@given(samples(), st.sampled_from(["margin", "prediction"]))
def test_the_2_norm_perceptron_is_the_perceptron(sample, mistake):
    X, y, order = sample
    plain = fitted(Perceptron, X, y, order, mistake=mistake)
    other = fitted(PNormPerceptron, X, y, order, p=2.0, mistake=mistake)
    assert same_updates(plain, other, order)
    assert np.array_equal(weights(other), weights(plain))
