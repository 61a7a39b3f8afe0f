"""Parameters set after learning has begun: honoured, served by what was kept, or refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import perceptrons as pc
from perceptrons import rules
from perceptrons.io import Batch, fit_stream
from perceptrons.theorems import allowance

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 3))
y = (X @ [1.0, -0.5, 0.2] + 0.3 * rng.normal(size=40) > 0).astype(int)
y3 = np.digitize(X[:, 0], [-0.5, 0.5])

#: a model, the change, and whether the change is one of steps
STEPS = [
    (pc.Perceptron(), {"learning_rate": 0.25}),
    (pc.Perceptron(), {"learning_rate": "updates"}),
    (pc.Perceptron(), {"class_weight": {0: 3.0}}),
    (pc.MarginPerceptron(gamma=0.5), {"gamma": 0.01}),
    (pc.PassiveAggressive(), {"C": 1e-3}),
    (pc.PassiveAggressive(), {"variant": "II"}),
    (pc.ALMA(), {"alpha": 0.5}),
    (pc.AROW(), {"r": 50.0}),
    (pc.SCW(), {"C": 1e-3}),
    (pc.BalancedWinnow(), {"eta": 0.5}),
    (pc.OnlineClassifier(rule=rules.PA1(1.0)), {"rule": rules.PA1(1e-3)}),
    (pc.KernelClassifier(rule=rules.PA1(1.0), fit_intercept=False), {"rule": rules.PA1(1e-3)}),
]
STATE = [
    (pc.Perceptron(), {"fit_intercept": False}),
    (pc.Perceptron(), {"intercept_scaling": 2.0}),
    (pc.Perceptron(), {"row_norm": "l2"}),
    (pc.Perceptron(), {"readout": "average"}),
    (pc.Perceptron(), {"readout": "vote"}),
    (pc.Perceptron(), {"log_updates": True}),
    (pc.Perceptron(readout="average"), {"normalized_votes": True}),
    (pc.AROW(), {"covariance": "full"}),
    (pc.SecondOrderPerceptron(), {"a": 2.0}),
    (pc.PNormPerceptron(), {"p": 3.0}),
    (pc.KernelPerceptron(), {"kernel": "linear"}),
    (pc.KernelPerceptron(), {"fit_intercept": True}),
    (pc.BudgetKernelPerceptron(kernel="linear"), {"budget": 7}),
]


def weights(model):
    return model.dual_coef_ if hasattr(model, "dual_coef_") else model.coef_


def told(case):
    model, change = case
    return f"{type(model).__name__}-{next(iter(change.items()))}"


def by_attribute(model, change):
    for name, value in change.items():
        setattr(model, name, value)


def by_set_params(model, change):
    model.set_params(**change)


def learn_rows(model):
    for x, label in zip(X, y):
        model.learn_one(x, label)


WAYS = {
    "partial_fit": lambda model: model.partial_fit(X, y),
    "learn_one": learn_rows,
    "fit": lambda model: model.set_params(warm_start=True, shuffle=False, max_iter=1).fit(X, y),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", STEPS, ids=told)
def test_steps_go_by_the_new_value_from_the_next_row_on(case, way):
    model, change = case
    change_by = by_attribute if way == "learn_one" else by_set_params
    kept = copy.deepcopy(model)
    WAYS["partial_fit"](kept)
    changed = copy.deepcopy(kept)
    change_by(changed, change)
    WAYS[way](kept)
    WAYS[way](changed)
    assert not np.array_equal(weights(kept), weights(changed))
    assert changed._changed == tuple(change) or way == "fit"


def test_a_changed_step_is_the_one_that_the_rule_makes():
    model = pc.PassiveAggressive(C=1.0, fit_intercept=False)
    model.learn_one(np.array([1.0, 0.0]), 1)
    model.learn_one(np.array([0.0, 1.0]), 0)  # opens the fast way of single rows
    model.C = 0.25
    model.learn_one(np.array([0.0, 1.0]), 1)
    np.testing.assert_allclose(model.coef_, [[1.0, -0.75]])


def test_a_changed_run_claims_no_theorem_and_says_why():
    model = pc.PassiveAggressive(C=1.0).partial_fit(X, y)
    names = {bound.name for bound in pc.certify(model, X, y).bounds}
    assert "pa1" in names
    model.set_params(C=0.5).partial_fit(X, y)
    certificate = pc.certify(model, X, y)
    assert not certificate.bounds
    assert any(note.startswith("C changed after learning had begun") for note in certificate.notes)
    assert np.isfinite(model.margin_bounds_[1])  # true whatever the steps were
    assert certificate.verify(X, y)
    model.set_params(warm_start=False).fit(X, y)
    assert pc.certify(model, X, y).bounds  # all of it by one C


def test_a_value_that_no_row_was_learned_by_is_not_in_a_certificate():
    model = pc.PassiveAggressive(C=1.0).partial_fit(X, y)
    before = pc.certify(model, X, y)
    model.C = 7.0
    after = pc.certify(model, X, y)
    assert after.model["parameters"]["C"] == 1.0
    assert after.bounds == before.bounds


def test_a_stream_reports_a_bound_for_one_rule_only():
    batches = [Batch(X, y, None, 0)]
    model = pc.Perceptron(fit_intercept=False)
    assert fit_stream(model, batches).bound is not None
    assert fit_stream(model.set_params(learning_rate=0.5), batches).bound is None
    other = pc.Perceptron(learning_rate="updates", fit_intercept=False).partial_fit(X, y)
    before = allowance(other)
    other.learning_rate = 1.0  # by which no row was learned
    assert allowance(other) == before


def test_balanced_winnow_keeps_no_bracket_over_a_change_of_its_rate():
    model = pc.BalancedWinnow(eta=0.1).partial_fit(X, y)
    assert np.isfinite(model.margin_bounds_[1])
    assert model.set_params(eta=1.0).partial_fit(X, y).margin_bounds_ == (None, np.inf)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", STATE, ids=told)
def test_the_state_is_not_changed(case, way):
    model, change = case
    name = next(iter(change))
    model = copy.deepcopy(model)
    WAYS["partial_fit"](model)
    if way == "learn_one":
        model.learn_one(X[0], y[0])
    before = weights(model).copy()
    (by_attribute if way == "learn_one" else by_set_params)(model, change)
    if (way, name) == ("fit", "log_updates"):  # a log of the new updates
        assert len(WAYS[way](model).update_log_) <= model.n_updates_
        return
    with pytest.raises(ValueError, match=f"{name}.*(was begun with|not kept)"):
        WAYS[way](model)
    model.set_params(**{name: case[0].get_params()[name]})
    np.testing.assert_array_equal(weights(model), before)
    WAYS[way](model)


@pytest.mark.parametrize("change", [{"row_norm": "l2"}, {"fit_intercept": False}, {"intercept_scaling": 9.0}])
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
def test_predicting_reads_rows_as_they_were_learned(change, labels):
    for model in (pc.Perceptron(random_state=0), pc.RiskDescent(max_steps=5)):
        model.fit(X, labels)
        before = model.decision_function(X), model.coef_, model.intercept_
        model.set_params(**change)
        for one, other in zip((model.decision_function(X), model.coef_, model.intercept_), before):
            np.testing.assert_array_equal(one, other)
        if hasattr(model, "score_one"):
            np.testing.assert_allclose(model.score_one(X[0]), before[0][0])
            assert pc.certify(model, X, labels).verify(X, labels)


def test_a_readout_that_was_not_kept_does_not_predict():
    model = pc.Perceptron().fit(X, y)
    model.readout = "average"
    for ask in (lambda: model.predict(X), lambda: model.score_one(X[0]), lambda: model.coef_):
        with pytest.raises(ValueError, match="readout cannot change"):
            ask()


def test_readouts_that_the_state_serves():
    model = pc.Perceptron(readout="average", shuffle=False).partial_fit(X, y)
    model.readout = "last"
    last = pc.Perceptron(shuffle=False).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, last.coef_)
    model.partial_fit(X, y)
    model.readout = "average"  # which went on being kept
    wanted = pc.Perceptron(readout="average").partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, wanted.coef_)
    voted = pc.Perceptron(log_updates=True).partial_fit(X, y)
    voted.readout = "vote"
    wanted = pc.VotedPerceptron().partial_fit(X, y)
    np.testing.assert_array_equal(voted.decision_function(X), wanted.decision_function(X))


def test_a_choice_that_has_not_come_up_yet_may_change():
    model = pc.Perceptron().partial_fit(X, y)
    model.set_params(multiclass="ovr").partial_fit(X, y3)
    assert len(model.margin_bounds_) == 3
    with pytest.raises(ValueError, match="multiclass cannot change"):
        model.set_params(multiclass="joint").partial_fit(X, y3)
    alone = pc.Perceptron(fit_intercept=False).partial_fit(X, y)
    alone.set_params(intercept_scaling=3.0).partial_fit(X, y)  # there is no intercept to scale


def test_dicts_changed_in_place_are_seen():
    weight = {0: 1.0, 1: 1.0}
    model = pc.Perceptron(class_weight=weight).partial_fit(X, y)
    weight[0] = 5.0
    model.partial_fit(X, y)
    assert model._changed == ("class_weight",)


def test_bad_values_are_refused_and_nothing_changes():
    model = pc.PassiveAggressive().partial_fit(X, y)
    model.learn_one(X[0], y[0])
    before = model.coef_
    model.C = -1.0
    for way in WAYS.values():
        with pytest.raises(ValueError, match="C must be a positive number"):
            way(model)
    np.testing.assert_array_equal(model.coef_, before)


def test_texts_are_hashed_as_they_were():
    texts, labels = ["one two", "three four", "two three"], [0, 1, 0]
    model = pc.TextClassifier(bits=8).partial_fit(texts, labels)
    model.analyzer = "char"
    calls = (
        lambda: model.predict(texts),
        lambda: model.score_one(texts[0]),
        lambda: model.learn_one(texts[0], 0),
        lambda: model.partial_fit(texts, labels),
        lambda: model.explain(texts[0]),
    )
    for call in calls:
        with pytest.raises(ValueError, match="analyzer cannot change"):
            call()
    wanted = pc.TextClassifier(bits=8, analyzer="char", random_state=0).fit(texts, labels)
    model.set_params(random_state=0).fit(texts, labels)
    np.testing.assert_array_equal(model.decision_function(texts), wanted.decision_function(texts))


def test_a_change_survives_a_file(tmp_path):
    model = pc.PassiveAggressive(C=1.0).partial_fit(X, y)
    model.C = 0.5  # and no row learned by it yet
    pc.save(model, tmp_path / "a")
    again = pc.load(tmp_path / "a").partial_fit(X, y)
    assert again._changed == ("C",)
    pc.save(again, tmp_path / "b")
    assert not pc.certify(pc.load(tmp_path / "b"), X, y).bounds
    model.row_norm = "l2"
    pc.save(model, tmp_path / "c")
    with pytest.raises(ValueError, match="row_norm cannot change"):
        pc.load(tmp_path / "c").partial_fit(X, y)


def test_the_maximum_margin_is_read_as_it_was_fitted(tmp_path):
    X, y = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, -1.0], [3.0, 0.5]]), [0, 0, 1, 1]
    model = pc.MaxMargin(kernel=pc.kernels.Gaussian(1.0)).fit(X, y)
    scores, margin = model.decision_function(X), model.margin_
    model.set_params(kernel=None, C=1.0, fit_intercept=False)
    pc.save(model, tmp_path / "changed.model")
    for one in (model, pc.load(tmp_path / "changed.model")):
        np.testing.assert_array_equal(one.decision_function(X), scores)
        assert one.margin_ == margin
    assert pc.certify(model, X, y).verify(X, y).ok
    assert "kernel_" not in vars(model.fit(X, y))
    assert pc.certify(model.set_params(fit_intercept=True), X, y).verify(X, y).ok


def test_a_descent_is_certified_by_the_loss_that_it_went_by():
    model = pc.RiskDescent(loss="perceptron", max_steps=5).fit(X, y)
    model.set_params(loss="hinge", fit_intercept=False)
    assert pc.certify(model, X, y).verify(X, y).ok
