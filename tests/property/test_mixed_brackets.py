"""Brackets of mixed models hold on ill-conditioned data, after every round, against margins in fractions."""

from __future__ import annotations

from fractions import Fraction

import exact
import numpy as np
import pytest
from exhaustive import draws_many
from fuzz.brackets import in_floats
from ill_conditioned import draw
from uncompiled import uncompiled

from perceptrons import (
    MIRA,
    AveragedPerceptron,
    MarginPerceptron,
    ParameterMixing,
    PassiveAggressive,
    Perceptron,
)
from perceptrons.engine.loops import scalars

LEARNERS = (Perceptron, AveragedPerceptron, MIRA, PassiveAggressive, MarginPerceptron)


def drawn(rng):
    """A learner with its constant coordinate, rows in any scale, and two to four shards of them."""
    while True:
        case = draw(rng)
        n = case.X.shape[0]
        if n >= 2 and len(set(case.y.tolist())) == 2 and case.X.dtype.kind == "f":
            break
    kind = LEARNERS[rng.integers(len(LEARNERS))]
    largest = float(np.abs(in_floats(case.X)).max()) or 1.0
    params = {"fit_intercept": bool(rng.integers(2)), "random_state": 0, "max_iter": int(rng.integers(1, 6))}
    params["intercept_scaling"] = float(rng.choice([1.0, min(max(largest, 1e-100), 1e100)]))
    if kind is MarginPerceptron:
        params["gamma"] = float(min(max(0.1 * largest, 1e-200), 1e200))
    if kind is Perceptron:
        params["learning_rate"] = float(10.0 ** rng.integers(-3, 4))
    order = rng.permutation(n)
    shards = [part for part in np.array_split(order, rng.integers(2, 5)) if len(part)]
    how = {"mixing": str(rng.choice(["uniform", "mistakes"])), "shards": shards, "backend": "serial"}
    return case, kind(**params), how


@pytest.mark.draws
def test_brackets_enclose_the_best_margin_after_every_round():
    rng = np.random.default_rng(14)
    tight = 0
    for k in range(400 if draws_many() else 120):
        case, learner, how = drawn(rng)
        X, y = in_floats(case.X), case.y
        B = learner.intercept_scaling if learner.fit_intercept else 0.0
        best = exact.best_margin(exact.signed(exact.augmented(X, B), y))
        free = exact.best_free_margin(X, y) if learner.fit_intercept else None

        def check(model, best=best, free=free, told=(k, str(case), learner, how)):
            ((_, up),) = model.estimator_._space.bracket()  # by w itself, and the bound on its rounding
            assert best.at_most(up), (told, up)
            if free is not None and model.free_margin_bounds_ is not None:
                low, up = model.free_margin_bounds_
                assert free.at_least(low) and free.at_most(up), (told, low, up)

        model = ParameterMixing(learner, callback=check, **how)
        with uncompiled(but="margins"):
            try:
                model.fit(case.X, y)
            except ValueError as error:  # values beyond the range
                assert "Scale the data" in str(error) or "too " in str(error), error
                continue
            check(model)
        low, up = model.margin_bounds_
        assert best.at_least(low) and best.at_most(up), (k, str(case), learner, how, low, up)
        tight += up < 1e3 * float(best)
    assert tight > 20  # "inf" is always true, and empty


def test_the_error_of_mixed_weights_is_bounded():
    """w against the exact sum of its steps, which only ERROR vouches for; 1/3 and 1/7 are no floats."""
    rng = np.random.default_rng(3)
    for dtype in (np.float64, np.float32):
        X = rng.normal(size=(63, 4)).astype(dtype)
        y = rng.integers(0, 2, 63)
        for S in (3, 7):
            learner = Perceptron(random_state=0, max_iter=15, fit_intercept=False)
            model = ParameterMixing(learner, n_shards=S, backend="serial").fit(X, y)
            (space,) = model.estimator_._space.learners
            # every update adds y x with the weight 1/S as a float: whole numbers of them
            k = np.round(model.estimator_.run_record().learners[0].steps * S)
            share = Fraction(1.0 / S)
            total = [
                sum(
                    (
                        share * int(n) * int(2 * label - 1) * Fraction(float(x))
                        for n, label, x in zip(k, y, column)
                    ),
                    Fraction(0),
                )
                for column in X.T
            ]
            error = sum((Fraction(float(a)) - b) ** 2 for a, b in zip(space.v[:-1], total, strict=True))
            assert error <= Fraction(float(space.state[scalars.ERROR])) ** 2
            assert abs(Fraction(float(space.state[scalars.TAU])) - share * int(k.sum())) <= Fraction(
                1e-13
            ) * int(k.sum())
