"""A bracket is a pair that knows in which space its margin is measured."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from perceptrons import (
    MIRA,
    BalancedWinnow,
    KernelPerceptron,
    MaxMargin,
    Perceptron,
    PNormPerceptron,
    RiskDescent,
    datasets,
    theory,
)

TOY = datasets.four_points()
X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0], [-2.0, 0.0]])
Y = np.array([1, 1, 0, 0])


def test_it_is_the_pair_of_its_ends():
    bracket = theory.Bracket(0.25, 0.5, "augmented rows")
    low, up = bracket
    assert (low, up) == bracket == (0.25, 0.5) and len(bracket) == 2
    assert (bracket.low, bracket.up, bracket.space) == (0.25, 0.5, "augmented rows")
    assert hash(bracket) == hash((0.25, 0.5)) and json.dumps(bracket) == "[0.25, 0.5]"
    assert repr(bracket) == "Bracket(low=0.25, up=0.5, space='augmented rows')"
    assert repr(eval(repr(bracket), {"Bracket": theory.Bracket})) == repr(bracket)


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda bracket: pickle.loads(pickle.dumps(bracket)),
        lambda bracket: bracket._replace(low=0.25),
    ],
)
def test_copies_keep_the_space(copied):
    bracket = theory.Bracket(0.25, 0.5, "free offset")
    made = copied(bracket)
    assert made == bracket and made.space == "free offset" and type(made) is theory.Bracket


def test_it_does_not_change():
    bracket = theory.Bracket(None, np.inf, "kernel")
    for name in ("low", "up", "space"):
        with pytest.raises(AttributeError):
            setattr(bracket, name, 1.0)


@pytest.mark.parametrize(
    ("model", "space"),
    [
        (Perceptron(), "augmented rows"),
        (Perceptron(fit_intercept=False), "given rows"),
        (Perceptron(row_norm="l2"), "unit rows"),
        (MIRA(p=0.9), "augmented rows"),
        (BalancedWinnow(), "augmented rows, L1"),
        (PNormPerceptron(p=3, fit_intercept=False), "given rows, L1.5"),
        (PNormPerceptron(p=2), "augmented rows"),
        (RiskDescent(), "augmented rows"),
        (RiskDescent(row_norm="l2"), "unit rows"),
        (MaxMargin(), "free offset"),
        (MaxMargin(fit_intercept=False), "given rows"),
        (MaxMargin(kernel="polynomial"), "kernel, free offset"),
        (KernelPerceptron(), "kernel"),
        (KernelPerceptron(fit_intercept=True), "kernel, augmented"),
    ],
    ids=lambda value: str(value).replace("\n", ""),
)
def test_every_learner_names_its_space(model, space):
    bracket = model.fit(X, Y).margin_bounds_
    assert type(bracket) is theory.Bracket and bracket.space == space
    model.set_params(fit_intercept=not model.fit_intercept)
    assert model.margin_bounds_.space == space  # of the run, whatever is assigned later


def test_several_classes():
    y = np.array([0, 1, 2, 2])
    joint = Perceptron().fit(X, y).margin_bounds_
    assert joint.space == "augmented rows, joint"
    for model in (Perceptron(multiclass="ovr"), RiskDescent(max_steps=3)):
        brackets = model.fit(X, y).margin_bounds_
        assert [bracket.space for bracket in brackets] == ["augmented rows"] * 3


def test_a_stored_model_keeps_pairs_only(tmp_path):
    """The space follows from the frame of the run, so no file has it."""
    model = Perceptron(shuffle=False).fit(TOY.X, TOY.y)
    assert type(vars(model)["_bounds"]) is tuple
    again = pickle.loads(pickle.dumps(model))
    assert again.margin_bounds_ == model.margin_bounds_
    assert again.margin_bounds_.space == "augmented rows"


@pytest.mark.parametrize(("separable", "epochs"), [(True, None), (False, 6), (False, 4000)])
def test_the_upper_end_of_single_precision(separable, epochs):
    # from below it is bounded by the steps on the rows in exact sums; from above by what rounding may add
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(400, 5)).astype(np.float32)
    y = np.where(rows @ np.ones(5) > 0.0, 1, -1)
    rows += (0.3 * y[:, None]).astype(np.float32)
    if not separable:
        y = np.where(rng.random(400) < 0.2, -y, y)
    model = Perceptron(max_iter=epochs, log_updates=True, random_state=0).fit(rows, y)
    steps = np.bincount(model.update_log_["row"], np.abs(model.update_log_["step"]), 400)
    z = np.append(steps * y @ rows.astype(np.float64), steps @ y)
    exact = np.linalg.norm(z) / steps.sum()
    low, up = model.margin_bounds_
    assert (low > 0.0) == separable
    assert exact <= up <= exact * (1.0 + (1e-6 if separable or epochs > 6 else 2.0**-4))
