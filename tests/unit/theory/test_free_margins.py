"""The margin with a free offset, by runs on augmented rows: cases on paper, and what is not claimed."""

from __future__ import annotations

import math
import pickle

import exact
import numpy as np
import pytest

from perceptrons import (
    AROW,
    MIRA,
    BalancedWinnow,
    KernelPerceptron,
    MaxMargin,
    Perceptron,
    PNormPerceptron,
    RiskDescent,
    datasets,
    load,
    save,
    theory,
)

#: 2 is positive and 1 is not: half the distance is 1/2
X, Y = np.array([[2.0], [1.0]]), np.array([1, 0])
NEAR = 1e-12


def test_the_perceptron_on_paper():
    """(2, 1), then (1, 0), then (0, -1): 1/2 by (1 + 0)/2, and by (0 + 2)/(3 + 1)."""
    clf = Perceptron().partial_fit(X[:1], Y[:1], classes=[0, 1])
    assert clf.free_margin_bounds_ == (None, math.inf)  # one class so far: its margin is infinite
    for i, up in ((1, 0.5), (0, 0.5), (1, 0.5)):
        clf.learn_one(X[i], Y[i])
        low, found = clf.free_margin_bounds_
        assert low is None and up <= found <= up * (1.0 + NEAR)
    assert (clf.coef_.item(), clf.intercept_.item()) == (0.0, -1.0)


def test_the_formula():
    assert theory.gamma_up_free(w_norm=1.0, tau_sum=2.0, delta=0.0, radius=2.0) == 0.5
    assert theory.gamma_up_free(w_norm=0.0, tau_sum=3.0, delta=-1.0, radius=2.0) == 0.5
    assert theory.gamma_up_free(w_norm=1.0, tau_sum=0.0, delta=0.0, radius=2.0) == math.inf
    third = theory.gamma_up_free(w_norm=1.0, tau_sum=3.0, delta=0.0, radius=0.0)
    assert exact.Fraction(third) > exact.Fraction(1, 3)  # rounded up
    with pytest.raises(ValueError, match="radius must be a non-negative number"):
        theory.gamma_up_free(1.0, 1.0, 0.0, -1.0)


def test_both_margins_of_the_clouds():
    """No separator of the augmented rows beats 0.551, and the free margin is 1.100: both are true."""
    rows, y = datasets.clouds_far()[:2]
    clf = MIRA(p=0.9, shuffle=False, max_iter=None).fit(rows, y)
    best = MaxMargin().fit(rows, y).free_margin_bounds_
    assert best.low == pytest.approx(1.10045, abs=1e-5) and best.space == "free offset"
    assert clf.margin_bounds_.up < 0.56 and clf.margin_bounds_.space == "augmented rows"
    low, up = clf.free_margin_bounds_
    assert low <= best.low and best.up <= up < 2.31
    w, delta, mass = clf.coef_[0], clf.intercept_[0], clf._space.state[2]
    c = rows.mean(axis=0)
    moved = theory.gamma_up_free(np.linalg.norm(w - c * delta), mass, delta, theory.radius(rows - c))
    assert best.up <= moved < 1.92
    assert low == pytest.approx(theory.gamma_low(w, rows, np.where(y == clf.classes_[1], 1, -1), delta))


def test_it_is_never_worse_than_by_the_augmented_rows():
    rng = np.random.default_rng(0)
    for B in (0.1, 1.0, 30.0):
        rows = rng.normal(size=(30, 3)) + 2.0
        y = rng.integers(0, 2, 30)
        clf = Perceptron(max_iter=5, random_state=0, intercept_scaling=B).fit(rows, y)
        crude = clf.margin_bounds_.up * math.hypot(1.0, theory.radius(rows) / B)
        assert clf.free_margin_bounds_.up <= crude * (1.0 + 1e-9)


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(fit_intercept=False),
        Perceptron(row_norm="l2"),
        RiskDescent(fit_intercept=False),
        RiskDescent(row_norm="l2"),
        MaxMargin(fit_intercept=False),
        MaxMargin(kernel="polynomial"),
        AROW(),
        BalancedWinnow(),
        PNormPerceptron(),
        KernelPerceptron(kernel="linear", fit_intercept=True),
    ],
    ids=lambda model: str(model).replace("\n", ""),
)
def test_others_claim_nothing(model):
    assert model.fit([[2.0], [-1.0]], Y).free_margin_bounds_ is None


def test_starts_weights_and_classes():
    rows, y = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]]), np.array([0, 0, 1, 1])
    assert Perceptron().fit(rows, y, coef_init=[[1.0, 0.0]]).free_margin_bounds_ is None
    assert Perceptron().fit(rows, y, coef_init=[[0.0, 0.0]]).free_margin_bounds_ is not None
    best = exact.best_free_margin(rows, y)
    weighted = Perceptron(class_weight={0: 3.0, 1: 0.5}).fit(rows, y, sample_weight=[1.0, 0.0, 2.0, 1.5])
    counted = exact.best_free_margin(rows[[0, 2, 3]], y[[0, 2, 3]])  # a weight of 0 takes a row out
    assert counted.at_least(weighted.free_margin_bounds_.low)
    assert counted.at_most(weighted.free_margin_bounds_.up)
    one_sided = Perceptron(shuffle=False).fit(rows, y, order=[[2]])  # its only step is on a row of class 1
    assert best.at_most(one_sided.free_margin_bounds_.up)
    assert one_sided.free_margin_bounds_.up <= theory.radius(rows) * (1.0 + NEAR)
    again = Perceptron(warm_start=True, random_state=0).fit(rows, y)
    assert again.free_margin_bounds_ is not None and again.fit(rows, y).free_margin_bounds_ is None
    later = Perceptron(random_state=0).fit(rows, y).partial_fit(rows + 3.0, y)
    both = exact.best_free_margin(np.vstack([rows, rows + 3.0]), np.tile(y, 2))
    assert later.free_margin_bounds_.low is None and both.at_most(later.free_margin_bounds_.up)


def test_one_against_the_rest():
    rows, y = np.array([[0.0, 4.0], [4.0, 0.0], [0.0, 0.0], [5.0, 1.0]]), np.array([0, 1, 2, 1])
    models = [Perceptron(multiclass="ovr", random_state=0), RiskDescent(), MaxMargin()]
    for model in models:
        for r, (low, up) in enumerate(model.fit(rows, y).free_margin_bounds_):
            best = exact.best_free_margin(rows, np.where(y == r, 1, -1))
            assert best.at_least(low) and best.at_most(up) and up < math.inf
    assert Perceptron().fit(rows, y).free_margin_bounds_ is None  # prototypes: offsets are of all classes


def test_files_and_copies_have_the_same(tmp_path):
    rows, y = datasets.clouds_far()[:2]
    for model in (MIRA(p=0.9, random_state=0).fit(rows, y), RiskDescent(max_steps=20).fit(rows, y)):
        save(model, tmp_path / "model")
        for made in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            assert made.free_margin_bounds_ == model.free_margin_bounds_
            assert made.free_margin_bounds_.space == "free offset"


def test_rows_far_away():
    """Rows at 1e8 with a distance of 1: what the offset cannot tell is added, and little else."""
    rows = np.array([[1e8, 0.0], [1e8, 1.0], [1e8, 2.0], [1e8, 3.0]])
    y = np.array([-1, -1, 1, 1])
    best = exact.best_free_margin(rows, y)
    for model in (Perceptron(random_state=0, max_iter=50), RiskDescent(max_steps=50)):
        low, up = model.fit(rows, y).free_margin_bounds_
        assert float(best) == 0.5 and best.at_least(low) and best.at_most(up)
    moved = Perceptron(shuffle=False, max_iter=None).fit(rows - rows[1], y).free_margin_bounds_
    assert best.at_least(moved.low) and best.at_most(moved.up) and moved.up < 2.0
