"""No false bracket and no false verdict on ill-conditioned data, against exact margins in fractions.

The same cases without end: ``python -m fuzz.brackets`` in tests/.
"""

from __future__ import annotations

import itertools
import math

import exact
import numpy as np
import pytest
from exhaustive import draws_many
from fuzz.brackets import best_hard, in_floats, one_case
from ill_conditioned import GENERATORS, draw
from uncompiled import uncompiled

from perceptrons import (
    MIRA,
    ROMMA,
    AveragedPerceptron,
    PassiveAggressive,
    Perceptron,
    certify,
    separability,
    theory,
)

CASES = {
    "learner": 300,
    "separability": 300,
    "MaxMargin": 300,
    "minimum_error_halfspace": 300,
    "MaxMargin, kernel": 200,
    "errors_and_hinge": 80,
    "advise": 8,
}
#: learners of the test of a free offset
FAR = (Perceptron, MIRA, ROMMA, AveragedPerceptron, PassiveAggressive)


@pytest.mark.draws
@pytest.mark.parametrize("subject", CASES)
def test_statements_are_true(subject):
    """The loops that round outwards are compiled; those of learners only choose the w."""
    wrong = []
    for k in range(CASES[subject] if draws_many() else CASES[subject] // 3):
        with uncompiled(subject == "learner", but="margins"):
            outcome = one_case(2026, k, (subject,), np.ones(1))
        if "math range error" in str(outcome):  # exp raises in Python where machine code has infinity
            outcome = one_case(2026, k, (subject,), np.ones(1))
        wrong += [str(outcome)] if outcome.wrong else []
    assert not wrong, "\n".join(wrong[:3])


@pytest.mark.draws
@pytest.mark.parametrize("subject", ["separability", "MaxMargin", "MaxMargin, kernel"])
def test_ordinary_data_are_decided(subject):
    """A verdict that always says "undecided" would be true and empty."""
    said = []
    for k in itertools.count():
        outcome = one_case(7, k, (subject,), np.ones(1))
        if (
            outcome.case.name in ("plain", "grid", "one class", "rank-deficient")
            and "C=1.0" not in outcome.how
        ):
            said.append(outcome.said)
        if len(said) == (60 if draws_many() else 20):
            break
    assert "undecided" not in said and "refused" not in said


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_any_weights_give_true_bounds(name, fit_intercept):
    """gamma_low of any w and gamma_up_from_weights of any weights enclose the best margin."""
    rng = np.random.default_rng(3)
    for _ in range(25):
        case = draw(rng, name)
        X, y = in_floats(case.X).astype(np.float64), case.y
        best = best_hard(case._replace(X=X), fit_intercept)
        if best is None:
            assert theory.gamma_low(np.ones(X.shape[1]), X, y, free_bias=True) == math.inf
            continue
        directions = [rng.normal(size=X.shape[1])]
        if best.separable:
            scale = max(abs(v) for v in best.direction)
            directions.append(np.array([float(v / scale) for v in best.direction]))
        for w in directions:
            low = theory.gamma_low(w, X, y, free_bias=fit_intercept)
            assert best.at_least(low), (str(case), w, low, float(best))
        for lam in (rng.random(len(y)), np.ones(len(y)), 10.0 ** rng.integers(-300, 300, len(y))):
            up = theory.gamma_up_from_weights(lam, X, y, free_bias=fit_intercept)
            assert best.at_most(up), (str(case), lam, up, float(best))


def test_a_free_offset_far_from_the_origin():
    """Clouds at a distance from the origin that is large against their own, at any scale, row by row."""
    rng = np.random.default_rng(5)
    for k in range(120):
        away, scale = 10.0 ** rng.integers(0, 9), 2.0 ** rng.integers(-480, 480)
        X = rng.normal(size=(6, 2)) + away * rng.normal(size=2)
        y = np.where(X @ rng.normal(size=2) > np.median(X @ rng.normal(size=2)), 1, -1)
        y[:2] = 1, -1
        X = (X * scale).astype(np.float32 if k % 4 == 0 and 1e-15 < scale < 1e10 else np.float64)
        B = scale * float(rng.choice([1.0, away]))
        best = exact.best_free_margin(X, y)
        make = FAR[k % len(FAR)]
        with uncompiled(but="margins"):
            model = make(intercept_scaling=B, random_state=0).partial_fit(X[:1], y[:1], classes=[-1, 1])
            for x, label in zip(X, y):
                model.learn_one(x, label)
                low, up = model.free_margin_bounds_
                assert low is None and best.at_most(up), (k, up, float(best))
            low, up = make(intercept_scaling=B, random_state=0).fit(X, y).free_margin_bounds_
        assert best.at_least(low) and best.at_most(up) and up < math.inf, (k, low, up, float(best))


def test_bounds_of_weights_are_tight():
    """Rounded outwards by little: within 1e-9 of the exact formula wherever a float can be."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        case = draw(rng)
        X, y = in_floats(case.X).astype(np.float64), case.y
        rows = exact.signed(exact.rows_of(X), y)
        w, lam = rng.normal(size=X.shape[1]), rng.random(len(y))
        least, norm2 = exact.margin_of(exact.rows_of([w])[0], rows)
        low = theory.gamma_low(w, X, y)
        if abs(low) > 1e-300 and abs(low) < math.inf:
            assert math.isclose(abs(low), exact.root(least * least / norm2), rel_tol=1e-9)
        length2, mass2 = exact.length_of(exact.rows_of([lam])[0], rows)
        up = theory.gamma_up_from_weights(lam, X, y)
        if up > 1e-300:
            assert math.isclose(up, exact.root(length2 / mass2), rel_tol=1e-9)


def test_the_data_of_the_report():
    """Margins of 1e-8, rows of 1e-170, neighbouring floats."""
    X, y = np.array([[-0.99999999], [-1e-8], [1e-8]]), np.array([-1, -1, 1])
    best = exact.best_margin(exact.signed(exact.rows_of(X), y))
    assert best.at_least(1e-8) and best.at_most(1e-8)
    low = theory.gamma_low([1.0], X, y)
    assert low == 1e-8 == theory.gamma_up_from_weights([0, 1, 1], X, y)
    tiny = X * 1e-170
    assert theory.gamma_low([1.0], tiny, y) == tiny[2, 0]
    near = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert theory.gamma_low([1.0], near, [-1, 1], free_bias=True) == 2.0**-53


def test_integers_that_are_floats_are_certified_as_rows():
    """As float64 two rows of 2**60 and 2**60 + 1 are one; as integers they are separable."""
    X, y = np.array([[2**60], [2**60 + 1]]), np.array([0, 1])
    assert separability(X, y).verdict != "not separable"
    even = np.array([[2**60], [2**61]])  # these are floats
    model = Perceptron(max_iter=2, random_state=0).fit(even, y)
    assert certify(model, even, y).verify(even, y, exact=True)
