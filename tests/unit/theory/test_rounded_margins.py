"""Both ends of the bracket are true and tight whatever rounding did to the weights."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import exact
import numpy as np
import pytest
import scipy.sparse as sp
from comparing import steps_of

from perceptrons import (
    MIRA,
    ROMMA,
    AveragedPerceptron,
    BalancedWinnow,
    KernelPerceptron,
    OnlineClassifier,
    PassiveAggressive,
    Perceptron,
    RiskDescent,
    load,
    rules,
    save,
)
from perceptrons.engine import intake, margins, spaces

STORAGES = {"dense": lambda X: X, "csr": sp.csr_array}
by_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)


def nearly_separable(gap, n=40, d=3, seed=0):
    """Rows whose distance from a plane is at least ``gap``, and labels."""
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(n, d)), rng.normal(size=d)
    u /= np.linalg.norm(u)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    distance = y * gap * (1.0 + rng.exponential(3.0, n) * (rng.random(n) < 0.7))
    return X + (distance - X @ u)[:, None] * u, y


def root_close(end, numerator2, denominator, share):
    """Whether ``end`` is the root of numerator2 over denominator but for this share of it."""
    square = (Fraction(end) * denominator) ** 2
    return abs(square - numerator2) <= 2 * Fraction(share) * numerator2


# ------------------------------------------------------------------------------------------ in fractions


def test_the_first_example_of_a_false_bracket():
    model = Perceptron(random_state=3).fit([[-0.99999999], [-1e-8], [1e-8]], [0, 0, 1])
    rows = exact.augmented([[-0.99999999], [-1e-8], [1e-8]], 1.0)
    best = exact.best_margin(exact.signed(rows, [-1, -1, 1]))
    low, up = model.margin_bounds_
    assert best.at_least(low) and best.at_most(up)
    assert low == pytest.approx(1e-8, rel=1e-6) == up


@by_storage
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 3e-9])
def test_both_ends_are_close_to_their_exact_values(storage, gap):
    """The exact values of min y<w,x>/||w|| and of ||sum of steps||/sum, for the learner's own w and steps."""
    X, y = nearly_separable(gap)
    rows = exact.signed(exact.rows_of(X), y)
    for learner in (PassiveAggressive(variant="hard"), MIRA(p=0.9), Perceptron(), ROMMA(aggressive=True)):
        model = learner.set_params(fit_intercept=False, max_iter=3, random_state=0).fit(storage(X), y)
        _, up = model.margin_bounds_
        alpha = [Fraction(a) for a in steps_of(model)[0].tolist()]
        total = [sum(a * z[j] for a, z in zip(alpha, rows)) for j in range(X.shape[1])]
        assert root_close(up, sum(t * t for t in total), sum(alpha), 1e-6)
        assert (Fraction(up) * sum(alpha)) ** 2 >= sum(t * t for t in total)
    w = np.linalg.lstsq(X * y[:, None], np.ones(len(y)), rcond=None)[0]
    frozen, signs = intake.make_rows(storage(X), 0.0, False), intake.frozen(y.astype(float))
    low = margins.lower_end(frozen, signs, intake.EMPTY, w)
    smallest = min(sum(Fraction(a) * b for a, b in zip(w.tolist(), z)) for z in rows)
    if smallest <= 0:
        assert low == -inf
    else:
        square = sum(Fraction(a) ** 2 for a in w.tolist())
        assert (Fraction(low) ** 2) * square <= smallest**2
        assert (Fraction(low) * (1 + Fraction(1, 10**6))) ** 2 * square >= smallest**2


@by_storage
def test_sums_of_rows_that_cancel_have_all_their_digits(storage):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    X[30:] = X[:30] * (1.0 + 2.0**-40)
    alpha = rng.random(60)
    alpha[30:] = alpha[:30]
    a = np.where(np.arange(60) < 30, alpha, -alpha)
    rows = intake.make_rows(storage(X), 0.0, False)
    size, error = margins.combined(rows, [(np.arange(60), a)], 5)
    true = [sum(Fraction(c) * Fraction(x) for c, x in zip(a.tolist(), column)) for column in X.T.tolist()]
    length2 = sum(t * t for t in true)
    assert max(0, Fraction(size) - Fraction(error)) ** 2 <= length2 <= (Fraction(size) + Fraction(error)) ** 2
    assert error <= 1e-12 * size
    assert root_close(size, length2, 1, 1e-12)


def test_a_stream_knows_how_far_rounding_took_w():
    X, y = nearly_separable(1e-4, n=200)
    model = OnlineClassifier(rule=rules.PA(), fit_intercept=False, log_updates=True)
    for start in range(0, len(y), 16):
        model.partial_fit(X[start : start + 16], y[start : start + 16])
    low, up = model.margin_bounds_
    journal = model._journals[0]
    support = journal.support[journal.position]
    alpha = [Fraction(a) for a in journal.alpha[:, 0].tolist()]
    total = [sum(a * Fraction(x) for a, x in zip(alpha, column)) for column in support.T.tolist()]
    size, steps = sum(t * t for t in total), sum(map(abs, alpha))
    assert low is None
    assert (Fraction(up) * steps) ** 2 >= size
    assert root_close(up, size, steps, 1e-9)


@pytest.mark.compiled_later
def test_float32_rows_are_read_again_in_float64():
    X, y = nearly_separable(0.1, n=100, d=4)
    X = X.astype(np.float32)
    rows = exact.signed(exact.rows_of(X), y)
    for model in (Perceptron(), ROMMA(), MIRA(p=0.5)):
        model.set_params(fit_intercept=False, max_iter=2000, random_state=1).fit(X, y)
        low, up = model.margin_bounds_
        w = [Fraction(float(v)) for v in model._space.v]
        smallest = min(sum(a * b for a, b in zip(w, z)) for z in rows)
        assert low > 0.0 and Fraction(low) ** 2 * sum(a * a for a in w) <= smallest**2
        alpha = [Fraction(a) for a in steps_of(model)[0].tolist()]
        total = [sum(a * z[j] for a, z in zip(alpha, rows)) for j in range(X.shape[1])]
        assert (Fraction(up) * sum(alpha)) ** 2 >= sum(t * t for t in total)
        assert low <= up


# ------------------------------------------------------------------------------------------ extreme scales


@pytest.mark.parametrize("power", [-480, -300, -100, 100, 300, 480])
@pytest.mark.parametrize(
    "make",
    [Perceptron, MIRA, PassiveAggressive, ROMMA, AveragedPerceptron, RiskDescent],
    ids=lambda c: c.__name__,
)
def test_a_power_of_two_changes_nothing_but_the_scale(make, power):
    X, y = nearly_separable(0.05)
    options = {"fit_intercept": False, "random_state": 0}
    if make is PassiveAggressive:
        options["variant"] = "hard"
    plain, scaled = (make(**options).fit(X * factor, y).margin_bounds_ for factor in (1.0, 2.0**power))
    assert scaled[1] / 2.0**power == pytest.approx(plain[1], rel=1e-9)
    assert scaled[0] / 2.0**power == pytest.approx(plain[0], rel=1e-9) or scaled[0] == plain[0] == -inf


@by_storage
def test_a_row_whose_square_vanishes_is_refused(storage):
    X, y = np.array([[1e-170, 0.0], [0.0, -1e-170]]), [1, 0]
    model = Perceptron(fit_intercept=False)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"Row 0 of X is too small: its squared length underflows"):
            learn(storage(X), y)
    assert Perceptron().fit(storage(X), y).radius_ == 1.0  # the constant coordinate has a length
    assert not Perceptron(fit_intercept=False).fit(storage(np.zeros((2, 2))), y).coef_.any()


def test_a_single_row_whose_square_vanishes_is_refused():
    model = Perceptron(fit_intercept=False)
    model.learn_one(np.array([1.0, 2.0]), 1)
    model.learn_one(np.array([2.0, 1.0]), 0)  # the fast path is open now
    before = model.coef_
    for row in (np.array([1e-170, 0.0]), [1e-170, 0.0]):
        with pytest.raises(ValueError, match="too small"):
            model.learn_one(row, 1)
    assert np.array_equal(model.coef_, before)
    assert model.predict_one(np.array([1e-170, 0.0])) in (0, 1)


@pytest.mark.parametrize("scaling", [1e-170, 1e170])
def test_a_constant_coordinate_whose_square_is_lost_is_refused(scaling):
    with pytest.raises(ValueError, match=r"intercept_scaling must be a number whose square"):
        Perceptron(intercept_scaling=scaling).fit([[1.0], [2.0]], [0, 1])


# ------------------------------------------------------------------------------------------ rounded input


@pytest.mark.parametrize(
    ("given", "held"),
    [
        (np.array([[1, 2**53]]), True),
        (np.array([[1, 2**53 + 1]]), False),
        (np.array([[1, 2**63]], np.uint64), False),
        ([[1, 2**53 + 1]], False),
        ([[1.5, 2]], True),
        (np.array([[True]]), True),
        (np.array([[0.1]], np.longdouble), True),
        (np.array([[np.longdouble(1) / 3]]), False),
        (np.array([[Fraction(1, 3)]], object), False),
        (np.array([[Fraction(1, 4)]], object), True),
        (sp.csr_array([[0, 2**53 + 1]]), False),
        (sp.lil_array([[0, 2**53 + 1]]), False),
        (sp.dok_array([[0, 2**53]]), True),
        (sp.coo_array([[0, 3]]), True),
        ({"a": 2**53 + 1, "b": 0.5}, False),
        ({"a": 3, "b": 0.5}, True),
        (np.array([["1"]], object), False),
    ],
)
def test_whether_numbers_are_held_exactly(given, held):
    assert intake.held_exactly(given, np.dtype(np.float64)) == held


def test_float32_holds_less():
    single = np.dtype(np.float32)
    assert intake.held_exactly(np.array([0.5, 2.0**24]), single)
    assert not intake.held_exactly(np.array([0.1]), single)
    assert not intake.held_exactly(np.array([2**24 + 1]), single)
    assert not intake.held_exactly({"a": 0.1}, single)


def test_columns_of_a_frame_are_looked_at_one_by_one():
    import pandas as pd

    frame = pd.DataFrame({"a": [0.5, 1.5], "b": [1, 2**53 + 1]})
    assert not intake.held_exactly(frame, np.dtype(np.float64))
    assert intake.held_exactly(frame[["a"]], np.dtype(np.float64))


def test_brackets_of_long_integers_hold_for_the_integers():
    X = np.array([[2**60 + 1, 1], [2**60 + 3, 2], [-(2**60) - 1, 5]])
    y = np.array([1, 1, -1])
    best = exact.best_margin(exact.signed(exact.rows_of(X), y))
    low, up = Perceptron(fit_intercept=False, random_state=0).fit(X, y).margin_bounds_
    assert 0.0 < low < up < inf and best.at_least(low) and best.at_most(up)
    assert Perceptron(fit_intercept=False).partial_fit(X, y).margin_bounds_ == (None, inf)
    model = Perceptron(fit_intercept=False)
    model.learn_one({"a": 2**60 + 1}, 1)
    model.learn_one({"a": -3}, 0)
    assert model.margin_bounds_ == (None, inf)  # a row was rounded


# ------------------------------------------------------------------------------------------ what is kept


def test_steps_are_kept_for_every_learner_and_stored(tmp_path):
    X, y = nearly_separable(0.05)
    y3 = np.arange(len(y)) % 3
    binary = Perceptron(random_state=0).fit(X, y)
    joint = MIRA(random_state=0, max_iter=3).fit(X, y3)
    rest = Perceptron(multiclass="ovr", random_state=0, max_iter=3).fit(X, y3)
    assert [a.shape for a in steps_of(binary)] == [(len(y),)]
    assert [a.shape for a in steps_of(joint)] == [(len(y), 3)]
    assert [a.shape for a in steps_of(rest)] == [(len(y),)] * 3
    assert not steps_of(joint)[0][np.arange(len(y)), y3].any()  # no step against the own class
    assert steps_of(binary)[0].sum() == binary.n_updates_
    for model in (binary, joint, rest):
        save(model, tmp_path / "m.model")
        again = load(tmp_path / "m.model")
        assert again.margin_bounds_ == model.margin_bounds_
        for a, b in zip(steps_of(again), steps_of(model), strict=True):
            assert np.array_equal(a, b)
        model.partial_fit(X[:1], model.classes_[:1])
        assert set(steps_of(model)) == {None}


def test_steps_beyond_their_limit_are_not_kept():
    space = spaces.Linear(rules.Perceptron(), spaces.Frame(0.0), 2)
    space.keep_steps(100, limit=799)
    assert space.take_steps() == [None]
    space.keep_steps(100, limit=800)
    assert [a.shape for a in space.take_steps()] == [(100,)]
    assert space.take_steps() == [None]


def test_a_failed_fit_keeps_no_steps():
    model = Perceptron(fit_intercept=False, shuffle=False)
    with pytest.raises(ValueError, match="overflow"):
        model.fit([[1.0], [1e151]], [0, 1])
    assert steps_of(model) == [None] and "steps" not in vars(model._space)
    low, up = model.margin_bounds_
    assert low is None and up >= 1.0


def test_learners_that_claim_nothing():
    X, y = nearly_separable(0.05)
    assert KernelPerceptron(kernel="linear").fit(X, y).margin_bounds_ == (None, inf)
    warm = Perceptron(fit_intercept=False).fit(X, y, coef_init=np.ones(3))
    assert warm.margin_bounds_[1] == inf
    backwards = OnlineClassifier(rule=rules.rule(lambda m, q, state: (1.0, -1.0) if m <= 0.0 else (1.0, 0.0)))
    assert backwards.fit(X, y).margin_bounds_[1] == inf


def test_winnow_in_a_stream_is_as_true_as_in_a_fit():
    X, y = nearly_separable(0.05)
    fitted = BalancedWinnow(eta=0.3, fit_intercept=False, shuffle=False, max_iter=1).fit(X, y)
    stream = BalancedWinnow(eta=0.3, fit_intercept=False).partial_fit(X, y)
    best = exact.best_l1_margin(exact.signed(exact.rows_of(X[:8]), y[:8]))
    assert stream.margin_bounds_[1] == pytest.approx(fitted.margin_bounds_[1], rel=1e-9)
    assert best is not None


@pytest.mark.parametrize("scale", [1e148, 1e149, 1e150, 1e152])
@pytest.mark.parametrize("model", [MIRA(fit_intercept=False), ROMMA(fit_intercept=False)])
def test_steps_near_the_end_of_the_range_still_bound_the_margin(model, scale):
    """Steps of 1e-300: their sum says nothing, the steps on rows do."""
    X = scale * np.array([[3.0, 4.0], [1.0, 0.5], [-2.0, -1.0], [-4.0, 3.0]])
    low, up = model.fit(X, [1, 1, 0, 0]).margin_bounds_
    assert 0.0 < low <= up < 1e3 * scale
