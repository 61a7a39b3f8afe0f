"""What the estimators promise beyond the updates: stops, records, weights of rows, readouts, copies."""

from __future__ import annotations

import os
import pickle
import pty
import subprocess
import sys
from math import inf, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from comparing import same_state
from places import TESTS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from uncompiled import compiled, uncompiled
from zoo import NAMES, ONLINE, X, attributes, fitted, make, snapshot, y, y3

from perceptrons import (
    AROW,
    MIRA,
    ROMMA,
    AveragedPerceptron,
    BalancedWinnow,
    MarginPerceptron,
    OnlineClassifier,
    PassiveAggressive,
    Perceptron,
    RiskDescent,
    VotedPerceptron,
    Winnow,
    datasets,
    rules,
)

FIRST_ORDER = [n for n in ONLINE if "readout" in make(n).get_params()]
#: Learners whose loops ``make test`` compiles in tests of all learners: one of each family.
FAMILIES = ("Perceptron", "AROW", "Winnow")
NOISE = np.random.default_rng(0).integers(-4, 5, (60, 3)) / 2.0
COIN = np.random.default_rng(1).integers(0, 2, 60)
PLUS = np.array([[1.0, 0.0], [-1.0, 1.0]])  # two rows one can follow by hand


# ------------------------------------------------------------------------------------------ epochs


def test_history_and_counts():
    model = Perceptron(shuffle=False, fit_intercept=False).fit(
        [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [1, 0, 0]
    )
    # w: (1,0) (1,-1) (-1,-2) | (0,-2) | (1,-2) (-1,-3) | (0,-3) | (1,-3) | a tie is predicted as 0
    assert [(r["examples"], r["mistakes"], r["updates"], r["errors"]) for r in model.history_] == [
        (3, 3, 3, 2),
        (3, 1, 1, 1),
        (3, 2, 2, 1),
        (3, 1, 1, 1),
        (3, 1, 1, 1),
        (3, 0, 0, 0),
    ]
    assert (model.n_iter_, model.stop_reason_) == (6, "clean pass")
    assert (model.n_mistakes_, model.n_updates_, model.n_errors_) == (8, 8, 6)
    assert all(type(n) is int for n in (model.n_mistakes_, model.n_updates_, model.n_errors_))
    assert model.radius_ == sqrt(5.0)


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", compiled(ONLINE, "Perceptron", "AROW", "Winnow"))
def test_records_add_up(name):
    for labels in (y, y3):
        model = make(name, max_iter=3).fit(X, labels)
        assert len(model.history_) == model.n_iter_ <= 3
        for key, total in (
            ("mistakes", model.n_mistakes_),
            ("updates", model.n_updates_),
            ("errors", model.n_errors_),
        ):
            assert sum(record[key] for record in model.history_) == total
        assert model.stop_reason_ in ("clean pass", "max_iter", "bound exceeded")
        assert (model.history_[-1]["updates"] == 0) == (model.stop_reason_ == "clean pass")
        before = len(model.history_)
        model.partial_fit(X, labels)
        assert len(model.history_) == before + 1
        assert (model.n_iter_, model.stop_reason_) == (1, "partial_fit")


def test_one_against_the_rest_counts_the_sum():
    model = make("Perceptron", multiclass="ovr", max_iter=1).fit(X, y3)
    parts = [make("Perceptron", max_iter=1).fit(X, y3 == r) for r in range(3)]
    assert model.n_updates_ == sum(part.n_updates_ for part in parts)
    np.testing.assert_array_equal(model.coef_, np.vstack([part.coef_ for part in parts]))


def test_why_it_stopped():
    assert Perceptron(max_iter=2).fit(NOISE, COIN).stop_reason_ == "max_iter"
    assert Perceptron().fit(NOISE, COIN, order=[[0, 1]]).stop_reason_ == "end of order"
    assert make("Perceptron").fit(PLUS, [1, 0], order=[[0, 1], [0, 1], [0, 1]]).stop_reason_ == "clean pass"
    assert Perceptron(max_iter=None).fit(PLUS, [1, 0]).stop_reason_ == "clean pass"
    assert Perceptron().partial_fit(PLUS, [1, 0]).stop_reason_ == "partial_fit"


def test_steps_of_one_over_examples_may_see_no_clean_pass():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 10))
    labels = (rows @ rng.normal(size=10) > 0.0).astype(int)
    assert Perceptron(max_iter=None, random_state=0).fit(rows, labels).n_iter_ < 100
    slow = Perceptron(learning_rate="examples", max_iter=3000, random_state=0)
    assert slow.fit(rows, labels).stop_reason_ == "max_iter"
    slow.set_params(max_iter=None, callback=lambda model: model.n_iter_ == 3)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=None .* 1/t .*; give max_iter"):
        assert slow.fit(rows, labels).stop_reason_ == "callback"
    slow.fit(rows, labels, order=[range(200)]).partial_fit(rows, labels)  # these end by themselves
    other = OnlineClassifier(rule=rules.RateByExamples(), max_iter=None)
    with pytest.raises(ConvergenceWarning):  # an error, if the user wants that: nothing is left of the fit
        other.fit(rows, labels)
    assert not attributes(other)


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        MarginPerceptron(gamma=0.1),
        BalancedWinnow(),
        OnlineClassifier(),
        Perceptron(row_norm="l2"),
    ],
)
def test_a_zero_row_can_never_be_learned(model):
    rows = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])
    model.set_params(max_iter=None, fit_intercept=False).fit(rows, [1, 0, 0])
    assert model.stop_reason_ == "not separable: row 1 is the zero vector"
    model.fit(rows, [1, 0, 0], **({} if isinstance(model, BalancedWinnow) else {"sample_weight": [1, 0, 1]}))
    if not isinstance(model, BalancedWinnow):
        assert model.stop_reason_ == "clean pass"  # a row without weight does not count
    model.set_params(fit_intercept=True).fit(rows, [1, 0, 0])
    assert model.stop_reason_ == "clean pass"


def test_shuffling_is_seeded():
    a, b = (Perceptron(random_state=3, max_iter=3).fit(NOISE, COIN) for _ in range(2))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    c = Perceptron(random_state=np.random.default_rng(3), max_iter=3).fit(NOISE, COIN)
    np.testing.assert_array_equal(a.coef_, c.coef_)
    others = [Perceptron(random_state=s, max_iter=1).fit(NOISE, COIN).coef_.tolist() for s in range(4)]
    assert any(other != others[0] for other in others)
    Perceptron(random_state=np.random.RandomState(0), max_iter=2).fit(NOISE, COIN)


# ------------------------------------------------------------------------------------------ warm start


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", compiled([n for n in ONLINE if n != "MarginPerceptron"], *FAMILIES))
def test_warm_start_goes_on(name):
    model = make(name, warm_start=True, max_iter=1)
    for _ in range(3):
        model.fit(X, y3)
    once = make(name, max_iter=3).fit(X, y3, order=[range(8)] * 3)
    np.testing.assert_allclose(model.coef_, once.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), once.decision_function(X), rtol=1e-12, atol=1e-12)
    assert len(model.history_) == 1


def test_warm_start_and_the_rest():
    model = make("Perceptron", warm_start=True).fit(X, y)
    assert model.margin_bounds_[1] < inf
    model.fit(X, y)
    assert model.margin_bounds_[1] == inf  # w did not start at 0
    before = snapshot(model)
    with pytest.raises(ValueError, match=r"label the model does not know: .*2"):
        model.fit(X, y3)
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :3], y)
    same_state(before, snapshot(model))
    model.fit(X, y, coef_init=np.arange(5.0))  # a start that is given wins
    cold = make("Perceptron").fit(X, y, coef_init=np.arange(5.0))
    np.testing.assert_array_equal(model.coef_, cold.coef_)
    model.fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float64  # the precision is the model's
    ovr = make("Perceptron", warm_start=True, multiclass="ovr").fit(X, y3).fit(X, y3)
    assert [up for _, up in ovr.margin_bounds_] == [inf] * 3


def test_warm_start_of_the_margin_perceptron_keeps_gamma():
    model = make("MarginPerceptron", warm_start=True).fit(X, y)
    gamma, coef = model.gamma_, model.coef_
    model.fit(X, y)
    assert model.gamma_ == gamma
    np.testing.assert_array_equal(model.coef_, coef)  # it was clean already
    with pytest.raises(ValueError, match="gamma='auto' starts again from w = 0"):
        model.fit(X, y, coef_init=np.ones(5))


# ------------------------------------------------------------------------------------------ early stopping


@pytest.mark.parametrize("readout", ["last", "average", "vote", "random"])
def test_early_stopping(readout):
    model = Perceptron(
        early_stopping=True, n_iter_no_change=3, max_iter=200, random_state=0, readout=readout
    ).fit(NOISE, COIN)
    assert model.stop_reason_ == "no improvement"
    scores = model.validation_scores_
    best = int(np.argmax(scores))
    assert len(scores) == best + 1 + 3
    assert [record["validation_score"] for record in model.history_] == scores[: best + 1]
    assert all(record["examples"] == 54 for record in model.history_)  # a tenth is held out
    assert {round(6 * s, 9) % 1 for s in scores} == {0.0}  # of six rows


def test_early_stopping_is_not_in_the_way_of_a_clean_pass():
    model = make("Perceptron", early_stopping=True, validation_fraction=0.25, random_state=0).fit(X, y)
    assert model.stop_reason_ == "clean pass"


# ------------------------------------------------------------------------------------------ progress


def test_plain_lines_where_there_is_no_terminal(capsys):
    model = make("Perceptron", verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == model.n_iter_
    first = model.history_[0]
    assert lines[0] == (
        f"Perceptron: epoch 1/20  updates {first['updates']}  mistakes {first['mistakes']}  "
        f"errors {first['errors']}"
    )
    make("Perceptron", verbose=1, max_iter=None).fit(X, y)
    assert "epoch 1  updates" in capsys.readouterr().err
    make("Perceptron", verbose=1, early_stopping=True, validation_fraction=0.25).fit(X, y)
    assert "  validation " in capsys.readouterr().err
    make("RiskDescent", verbose=1).fit(X, y)
    assert capsys.readouterr().err.startswith("RiskDescent: ")
    make("Perceptron").fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal():
    code = "from perceptrons import Perceptron; import zoo; Perceptron(verbose=1).fit(zoo.X, zoo.y)"
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "PYTHONPATH": str(TESTS)}
    run = subprocess.Popen([sys.executable, "-W", "error", "-c", code], stderr=slave, env=env)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    assert run.wait() == 0, shown.decode()
    text = shown.decode()
    assert "Perceptron" in text and "━" in text and "/20" in text and "updates 0" in text
    assert "epoch 1/20" not in text


# ------------------------------------------------------------------------------------------ weights of rows

WEIGHTED = ["Perceptron", "AveragedPerceptron", "VotedPerceptron", "MarginPerceptron", "PassiveAggressive"]


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", compiled(ONLINE, *FAMILIES))
def test_a_row_of_weight_zero_is_absent(name):
    weights = np.array([1, 0, 1, 1, 0, 1, 1, 1.0])
    params = {"gamma": 0.5} if name == "MarginPerceptron" else {}
    for labels in (y, y3):
        model = make(name, **params).fit(X, labels, sample_weight=weights)
        without = make(name, **params).fit(X[weights > 0], labels[weights > 0])
        np.testing.assert_array_equal(model.coef_, without.coef_)
        assert model.history_ == without.history_
        assert model.radius_ == without.radius_
        np.testing.assert_equal(model.margin_bounds_, without.margin_bounds_)


def test_weights_by_hand():
    model = make("Perceptron", fit_intercept=False, max_iter=1).fit(PLUS, [1, 0], sample_weight=[3.0, 1.0])
    np.testing.assert_array_equal(model.coef_, [[3.0, 0.0]])
    pa = make("PassiveAggressive", fit_intercept=False, max_iter=1, C=0.25)
    np.testing.assert_array_equal(pa.fit(PLUS, [1, 0], sample_weight=[2.0, 1.0]).coef_, [[0.75, -0.25]])
    scalar = make("Perceptron", fit_intercept=False, max_iter=1).fit(PLUS, [1, 0], sample_weight=2.0)
    np.testing.assert_array_equal(scalar.coef_, [[2.0, 0.0]])


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", compiled(WEIGHTED, "Perceptron"))
def test_class_weights_multiply_row_weights(name):
    rows = np.linspace(0.5, 2.0, 8)
    by_label = {0: 0.5, 1: 2.0, 2: 3.0}
    params = {"gamma": 0.5} if name == "MarginPerceptron" else {}
    expected = make(name, **params).fit(X, y3, sample_weight=rows * np.array([0.5, 2.0, 3.0])[y3])
    model = make(name, class_weight=by_label, **params).fit(X, y3, sample_weight=rows)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    counts = np.bincount(y3)
    balanced = make(name, class_weight="balanced", **params).fit(X, y3)
    expected = make(name, **params).fit(X, y3, sample_weight=(8 / (3 * counts))[y3])
    np.testing.assert_array_equal(balanced.coef_, expected.coef_)
    words = np.array(["x", "y", "z"])
    named = make(name, class_weight={"y": 2.0, "x": 0.5, "z": 3.0}, **params).fit(X, words[y3])
    np.testing.assert_array_equal(named.coef_, make(name, class_weight=by_label, **params).fit(X, y3).coef_)
    partial = make(name, class_weight=by_label, **params).partial_fit(X, y3)
    expected = make(name, **params).partial_fit(X, y3, sample_weight=np.array([0.5, 2.0, 3.0])[y3])
    np.testing.assert_array_equal(partial.coef_, expected.coef_)


def test_a_class_of_weight_zero():
    model = make("Perceptron", class_weight={0: 1.0, 1: 1.0, 2: 0.0}).fit(X, y3)
    assert 2 not in model.predict(X[y3 != 2])
    with pytest.raises(ValueError, match=r"class_weight .*9.* not a label in y"):
        make("Perceptron", class_weight={0: 1.0, 9: 2.0}).fit(X, y3)
    stream = make("Perceptron", class_weight={0: 1.0, 9: 2.0}).partial_fit(X, y3)  # 9 may yet come
    assert stream.classes_.tolist() == [0, 1, 2]


# ------------------------------------------------------------------------------------------ threads, logs


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "Winnow", "BalancedWinnow", "Elimination", "ALMA"])
def test_n_jobs_changes_nothing(name):
    params = {"multiclass": "ovr"} if name == "Perceptron" else {}
    one = make(name, **params).fit(X, y3)
    for n_jobs in (1, 2, -1):
        many = make(name, n_jobs=n_jobs, **params).fit(X, y3)
        np.testing.assert_array_equal(many.coef_, one.coef_)
        np.testing.assert_equal(many.margin_bounds_, one.margin_bounds_)


def test_update_log():
    model = make("PassiveAggressive", fit_intercept=False, variant="hard", log_updates=True, max_iter=2)
    log = model.fit([[2.0, 0.0], [0.0, 4.0], [1.0, 0.0]], [1, 0, 1]).update_log_
    # tau = 1/4, 1/16, 1/2; then row 0 has margin 2, row 1 has 1, row 2 has 1
    assert log.dtype.names == ("epoch", "row", "step")
    assert log.tolist() == [(0, 0, 0.25), (0, 1, 0.0625), (0, 2, 0.5)]
    model.partial_fit([[0.0, -4.0]], [0])
    assert model.update_log_[-1].tolist()[:2] == (2, 0)
    with pytest.raises(AttributeError, match="update_log_ needs log_updates=True"):
        _ = make("Perceptron").fit(X, y).update_log_


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", compiled(FIRST_ORDER, "Perceptron"))
def test_the_log_replays_the_weights(name):
    for labels in (y, y3):
        model = make(name, log_updates=True, max_iter=3).fit(X, labels)
        assert len(model.update_log_) == model.n_updates_
        ovr = "code" in model.update_log_.dtype.names
        assert ovr == (len(np.unique(labels)) > 2 and name == "ALMA")
        plain = make(name, max_iter=3).fit(X, labels)
        np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_a_log_that_grows_too_long_is_refused():
    full = make("VotedPerceptron", max_iter=4).fit(NOISE, COIN)
    per_epoch = [record["updates"] for record in full.history_]
    limit = per_epoch[0] + per_epoch[1] - 1
    model = make("VotedPerceptron", max_iter=4, max_log=limit)
    with pytest.raises(ValueError, match=f"max_log={limit}. Raise max_log, or use readout='average'"):
        model.fit(NOISE, COIN)
    assert model.stop_reason_ == "failed"
    two = make("VotedPerceptron", max_iter=2).fit(NOISE, COIN)  # it stopped there, and the log is whole
    np.testing.assert_array_equal(model.decision_function(NOISE), two.decision_function(NOISE))
    with pytest.raises(ValueError, match="max_log=0"):
        make("Perceptron", log_updates=True, max_log=0).partial_fit(X, y)
    make("VotedPerceptron", max_log=full.n_updates_, max_iter=4).fit(NOISE, COIN)


# ------------------------------------------------------------------------------------------ the bracket


def test_the_bracket_holds_the_best_margin():
    toy = datasets.four_points()
    for model in (
        Perceptron(),
        MIRA(p=0.9),
        PassiveAggressive(variant="hard"),
        ROMMA(aggressive=True, delta=0.1),
    ):
        model.set_params(fit_intercept=False, max_iter=None, random_state=0).fit(toy.X, toy.y)
        low, up = model.margin_bounds_
        assert low == pytest.approx(
            np.min(np.where(toy.y > 0, 1, -1) * (toy.X @ model.coef_[0])) / np.linalg.norm(model.coef_)
        )
        assert 0.0 < low <= 1.0 + 1e-12 <= up + 1e-9  # the best margin of the four points is 1
        assert low <= up


def test_the_bracket_by_hand():
    model = make("Perceptron", fit_intercept=False, max_iter=1).fit([[3.0, 0.0], [0.0, 4.0]], [1, 0])
    low, up = model.margin_bounds_  # w = (3, -4), two steps of 1; both ends are rounded outwards
    assert low == pytest.approx(9.0 / 5.0, rel=1e-12) and low <= 9.0 / 5.0
    assert up == pytest.approx(5.0 / 2.0, rel=1e-12) and up >= 5.0 / 2.0
    model = make("Perceptron", fit_intercept=False, max_iter=1).fit(
        [[3.0, 0.0], [0.0, 4.0]], [1, 0], coef_init=[1.0, 0.0]
    )
    assert model.margin_bounds_[1] == inf
    assert make("Perceptron").fit(X, y, coef_init=np.zeros(5)).margin_bounds_[1] < inf
    model = make("Perceptron", fit_intercept=False).partial_fit([[3.0, 0.0], [0.0, 4.0]], [1, 0])
    low, up = model.margin_bounds_
    assert low is None and up == pytest.approx(5.0 / 2.0, rel=1e-12) and up >= 5.0 / 2.0
    nothing = make("Perceptron", fit_intercept=False).partial_fit(X, y, sample_weight=np.zeros(8))
    assert nothing.margin_bounds_ == (None, inf)


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", compiled(NAMES, *FAMILIES))
def test_brackets_of_every_kind(name):
    binary, three = fitted(name), fitted(name, y3)
    if name in ("SecondOrderPerceptron", "AROW", "SCW", "Winnow", "Elimination"):
        assert binary.margin_bounds_ is None and three.margin_bounds_ is None
        return
    low, up = binary.margin_bounds_
    assert low <= up
    if name in ("ALMA", "BalancedWinnow", "PNormPerceptron", "RiskDescent"):  # one against the rest
        assert len(three.margin_bounds_) == 3
        for low, up in three.margin_bounds_:
            assert low <= up
    else:
        low, up = three.margin_bounds_
        assert low <= up
        ovr = fitted(name, y3, multiclass="ovr").margin_bounds_
        assert len(ovr) == 3


def test_the_bracket_of_balanced_winnow_is_for_the_l1_margin():
    rows = np.array([[1.0, 0.5], [-0.5, -1.0], [1.0, -0.25]])
    model = make("BalancedWinnow", fit_intercept=False, eta=0.5, max_iter=None).fit(rows, [1, 0, 1])
    w = model.coef_[0]
    low, up = model.margin_bounds_
    assert low == pytest.approx(np.min([1, -1, 1] * (rows @ w)) / np.abs(w).sum())
    mistakes = [rows[i] * [1, -1, 1][i] for i in _log_rows(rows, [1, 0, 1])]
    assert up == pytest.approx(np.abs(np.sum(mistakes, axis=0)).max() / len(mistakes))
    assert low <= up


def _log_rows(rows, labels):
    model = make("BalancedWinnow", fit_intercept=False, eta=0.5, max_iter=None, log_updates=True)
    return model.fit(rows, labels).update_log_["row"]


# ------------------------------------------------------------------------------------------ margin perceptron


def test_margin_mistakes_are_counted_apart():
    toy = datasets.four_points()
    model = MarginPerceptron(gamma=63 / 64, shuffle=False, fit_intercept=False).fit(toy.X, toy.y)
    assert (model.n_mistakes_, model.n_margin_mistakes_, model.n_updates_) == (2, 1, 3)
    assert model.gamma_ == 63 / 64


def test_a_margin_that_nobody_has_is_refuted():
    rows, labels = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), [1, 1, 0, 0]
    best = sqrt(0.5)
    model = MarginPerceptron(gamma=1.0, eps=0.1, max_iter=None, fit_intercept=False).fit(rows, labels)
    assert model.stop_reason_ == "bound exceeded"
    assert model.n_updates_ > 2 / (0.1**2) - 2 / 0.1 + 1  # R = gamma = 1
    model = MarginPerceptron(gamma=best, eps=0.1, max_iter=None, fit_intercept=False).fit(rows, labels)
    assert model.stop_reason_ == "clean pass"
    assert model.margin_bounds_[0] >= 0.9 * best - 1e-12
    xor = datasets.xor()
    model = MarginPerceptron(gamma=0.5, max_iter=None).fit(xor.X, xor.y)
    assert model.stop_reason_ == "bound exceeded"


@pytest.mark.compiled_later
@pytest.mark.parametrize("eps", [0.1, 0.5, 0.9])
def test_gamma_auto_reaches_half_of_the_best_margin(eps):
    rows, labels = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), [1, 1, 0, 0]
    model = MarginPerceptron(eps=eps, max_iter=None, fit_intercept=False, random_state=0).fit(rows, labels)
    assert model.stop_reason_ == "clean pass"
    assert model.margin_bounds_[0] >= (1 - eps) * sqrt(0.5) / 2 - 1e-12
    assert model.gamma_ >= sqrt(0.5) / 2 - 1e-12
    three = datasets.three_classes()
    model = MarginPerceptron(eps=eps, max_iter=50, random_state=0).fit(three.X, three.y)
    assert model.stop_reason_ in ("clean pass", "max_iter")


def test_gamma_auto_in_a_stream():
    model = MarginPerceptron(fit_intercept=False)
    model.partial_fit(np.zeros((2, 2)), [0, 1])  # a zero row says nothing about the margin
    model.partial_fit(PLUS, [1, 0])
    assert model.gamma_ == 1.0
    for _ in range(200):
        model.partial_fit(PLUS[[0, 0]], [1, 0])  # a contradiction: no margin stands
    assert model.gamma_ < 0.5


@pytest.mark.parametrize(
    ("labels", "abstain", "kind"),
    [
        ([1, 0], -1, "i"),
        (["yes", "no"], "do not know", "U"),
        (["yes", "no"], None, "U"),
        ([1, 0], "?", "O"),
        ([1, 0], np.nan, "O"),
        ([True, False], -1, "O"),
    ],
)
def test_abstaining(labels, abstain, kind):
    model = MarginPerceptron(gamma=1.0, eps=0.5, shuffle=False, fit_intercept=False).fit(
        [[2.0, 0.0], [-2.0, 0.0]], labels
    )
    answers = model.predict([[0.4, 9.0], [0.6, 0.0], [-0.4, 0.0], [-0.6, 0.0], [0.5, 0.0]], abstain=abstain)
    assert answers.dtype.kind == kind
    yes, no = labels
    np.testing.assert_equal(
        answers.tolist(),
        [yes, yes, no, no, yes] if abstain is None else [abstain, yes, abstain, no, yes],
    )


@pytest.mark.compiled_later
def test_abstaining_with_several_classes():
    toy = datasets.three_classes()
    for multiclass in ("joint", "ovr"):
        model = MarginPerceptron(gamma=0.05, multiclass=multiclass, random_state=0, max_iter=200)
        model.fit(toy.X, toy.y)
        plain, careful = model.predict(toy.X), model.predict(toy.X, abstain=-1)
        spoken = careful != -1
        np.testing.assert_array_equal(careful[spoken], plain[spoken])
        scores, w = model.decision_function(toy.X), np.c_[model.coef_, model.intercept_]
        top = np.sort(scores, axis=1)
        if multiclass == "joint":
            distance = (top[:, -1] - top[:, -2]) / np.linalg.norm(w)
        else:
            distance = top[:, -1] / np.linalg.norm(w, axis=1)[np.argmax(scores, axis=1)]
        np.testing.assert_array_equal(spoken, distance >= 0.5 * 0.05)
        if model.stop_reason_ == "clean pass":
            assert spoken.all()  # every row of the training set is outside the band


@pytest.mark.compiled_later
def test_votes_have_no_distance():
    model = fitted("MarginPerceptron", readout="vote")
    with pytest.raises(ValueError, match=r"abstain needs a distance.*readout='vote'"):
        model.predict(X, abstain=-1)
    for readout in ("average", "random", "last"):
        model = fitted("MarginPerceptron", readout=readout, normalized_votes=True, random_state=0)
        assert set(model.predict(X, abstain=-1)) <= {-1, 0, 1}


# ------------------------------------------------------------------------------------------ readouts


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
def test_voting_by_hand(multiclass, labels):
    """Every vector votes for each example it survived; replayed here with the last vector of every prefix."""
    model = VotedPerceptron(shuffle=False, multiclass=multiclass, max_iter=2).fit(X, labels)
    votes = 0.0
    for n in range(1, 17):
        visits = [i % 8 for i in range(min(n, 8 * model.n_iter_))]
        if n > 8 * model.n_iter_:
            break
        last = make("Perceptron", multiclass=multiclass).fit(X, labels, order=[visits])
        scores = last.decision_function(X)
        if scores.ndim == 1 or multiclass == "ovr":
            votes = votes + np.where(scores > 0, 1.0, -1.0)
        else:
            votes = votes + np.eye(3)[np.argmax(scores, axis=1)]
    np.testing.assert_array_equal(model.decision_function(X), votes)


@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
def test_one_vector_at_random(labels):
    seen = set()
    for seed in range(12):
        model = make("Perceptron", readout="random", random_state=seed, max_iter=2).fit(X, labels)
        step = model.random_step_
        assert 1 <= step <= 8 * model.n_iter_
        seen.add(step)
        visits = [i % 8 for i in range(step)]
        at_step = make("Perceptron").fit(X, labels, order=[visits])
        np.testing.assert_allclose(model.coef_, at_step.coef_)
        np.testing.assert_allclose(model.intercept_, at_step.intercept_)
    assert len(seen) > 3


@pytest.mark.parametrize("readout", ["average", "vote", "random"])
@pytest.mark.parametrize("labels", [y, y3], ids=["binary", "three"])
@pytest.mark.compiled_later
@pytest.mark.parametrize("first", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("second", [np.asarray, sp.csr_array])
def test_readouts_go_on_in_partial_fit(readout, labels, first, second):
    """In two pieces, of whatever storage, as in one."""
    model = make("Perceptron", readout=readout, random_state=0, row_norm="l2")
    model.partial_fit(first(X[:5]), labels[:5], classes=np.unique(labels)).partial_fit(
        second(X[5:]), labels[5:]
    )
    whole = make("Perceptron", readout=readout, random_state=0, row_norm="l2").partial_fit(X, labels)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-12)


def test_readouts_are_current_while_fitting():
    for readout in ("last", "average", "vote", "random"):
        scores = []
        model = make("Perceptron", readout=readout, random_state=0, max_iter=3)
        model.callback = lambda m, scores=scores: scores.append(m.decision_function(X))
        model.fit(X, y3)
        for n, score in enumerate(scores, 1):
            alone = make("Perceptron", readout=readout, random_state=0, max_iter=n).fit(X, y3)
            np.testing.assert_allclose(score, alone.decision_function(X), rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------------------------------ risk descent


def test_risk_descent_tells_its_course():
    toy = datasets.four_points()
    model = RiskDescent(fit_intercept=False).fit(toy.X, toy.y)
    assert model.risk_curve_ == [1.0, 0.0]
    assert [len(rows) for rows in model.steps_] == [1]
    assert (model.n_iter_, model.n_updates_, model.stop_reason_) == (1, 1, "no row in V")
    assert model.on_boundary_ == 0
    low, up = model.margin_bounds_
    assert low <= 1.0 <= up
    assert RiskDescent(max_steps=1, shuffle=True).fit(NOISE, COIN).stop_reason_ == "max_steps"
    three = RiskDescent(max_steps=5).fit(X, y3)
    for value in (
        three.risk_curve_,
        three.steps_,
        three.stop_reason_,
        three.on_boundary_,
        three.margin_bounds_,
    ):
        assert len(value) == 3


@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
def test_line_search_never_raises_the_risk(loss):
    model = RiskDescent(loss=loss, step="line-search", max_steps=50).fit(NOISE, COIN)
    assert (np.diff(model.risk_curve_) < 0).all()
    assert model.stop_reason_ in ("stalled", "max_steps", "no row in V")


@pytest.mark.parametrize("pick", ["first", "worst", "random"])
def test_one_row_a_step(pick):
    model = RiskDescent(pick=pick, random_state=0, max_steps=40).fit(NOISE, COIN)
    assert all(len(rows) == 1 for rows in model.steps_)
    assert model.n_updates_ == model.n_iter_
    groups = RiskDescent(batch_size=7, max_steps=40).fit(NOISE, COIN)
    assert all(len(rows) <= 7 for rows in groups.steps_)


# ------------------------------------------------------------------------------------------ copies


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", compiled(NAMES, "Perceptron", "AROW", "Winnow"))
def test_pickle(name):
    for labels in (y, y3):
        model = make(name, **({"log_updates": True} if name in ONLINE else {})).fit(X, labels)
        again = pickle.loads(pickle.dumps(model))
        same_state(attributes(model), attributes(again))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        if name in ONLINE:
            for m in (model, again):
                m.learn_one(X[0], labels[1])
                m.partial_fit(X[::-1], labels)
                m.learn_one(X[3], labels[3])
            same_state(snapshot(model), snapshot(again))
            once_more = pickle.loads(pickle.dumps(model))  # with an open fast way
            once_more.learn_one(X[1], labels[0])
            model.learn_one(X[1], labels[0])
            np.testing.assert_array_equal(once_more.coef_, model.coef_)
        if name in ("Perceptron", "AveragedPerceptron", "MIRA"):
            named = make(name)
            named.learn_one({"a": 1.0}, "x")
            named = pickle.loads(pickle.dumps(named))
            named.learn_one({"b": 1.0}, "y")
            assert named.coef_.shape == (1, 2)


@pytest.mark.parametrize("name", NAMES)
def test_clone(name):
    model = fitted(name)
    fresh = clone(model)
    assert not attributes(fresh)
    assert fresh.get_params() == model.get_params()
    np.testing.assert_array_equal(fresh.fit(X, y).coef_, model.coef_)


# ------------------------------------------------------------------------------------------ in company


@pytest.mark.parametrize("name", NAMES)
def test_pipeline_and_search(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd"))
    labels = np.where(frame["a"] + 0.3 * frame["b"] > 0, "up", "down")
    scaler = MinMaxScaler(clip=True) if name == "Winnow" else StandardScaler()
    model = make(name)
    if name == "Elimination":
        frame = (frame > 0).astype(float)
        pipe = make_pipeline(model)
    else:
        pipe = make_pipeline(scaler, model)
    step = pipe.steps[-1][0]
    choices = {f"{step}__shuffle": [True, False]}
    model.set_params(random_state=0)
    search = GridSearchCV(pipe, choices, cv=2, error_score="raise").fit(frame, labels)
    alone = clone(pipe).set_params(**search.best_params_).fit(frame, labels)
    np.testing.assert_array_equal(search.predict(frame), alone.predict(frame))
    scores = cross_val_score(clone(alone), frame, labels, cv=2, error_score="raise")
    assert search.best_score_ == scores.mean() == search.cv_results_["mean_test_score"].max()


FLOAT32 = [
    pytest.param(name, marks=[pytest.mark.exhaustive] if name == "ROMMA" else [pytest.mark.compiled_later])
    for name in ONLINE
    if name not in ("Winnow", "BalancedWinnow", "Elimination")
]


@pytest.mark.parametrize("name", FLOAT32)
def test_precision(name):
    """float32 rows give float32 weights; float64 and whole numbers float64."""
    with uncompiled(name not in ("Perceptron", "ROMMA")):  # float32 decides a tie of ROMMA otherwise
        precision_follows_the_rows(name, [np.asarray] if name == "ROMMA" else [np.asarray, sp.csr_array])


def precision_follows_the_rows(name, kinds):
    for kind in kinds:
        for labels in (y, y3):
            model = make(name).fit(kind(X.astype(np.float32)), labels)
            if name != "PNormPerceptron":
                assert model.coef_.dtype == (np.float64 if name == "AveragedPerceptron" else np.float32)
            double = make(name).fit(kind(X), labels)
            assert double.coef_.dtype == np.float64
            if name != "SecondOrderPerceptron":  # which meets a tie, but for rounding
                np.testing.assert_allclose(model.coef_, double.coef_, rtol=1e-3, atol=1e-4)
            model.partial_fit(kind(X), labels)
            assert model.coef_.dtype == (
                np.float64 if name in ("AveragedPerceptron", "PNormPerceptron") else "f4"
            )


def test_special_attributes():
    model = fitted("Winnow")
    assert model.n_promotions_ + model.n_demotions_ == model.n_updates_
    assert fitted("Winnow", y3).intercept_.tolist() == [-5.0] * 3
    assert fitted("MIRA", margin="geometric", p=0.1).n_stalled_ >= 0
    assert fitted("PassiveAggressive").squared_loss_ > 0.0
    assert not fitted("ROMMA").infeasible_
    opposite = ROMMA(fit_intercept=False, max_iter=2).fit([[1.0], [-1.0], [1.0]], [1, 0, 0])
    assert opposite.infeasible_
    assert fitted("AROW", covariance="full").covariance_.shape == (1, 6, 6)
    assert fitted("AROW", y3).covariance_.shape == (3, 6)
    assert fitted("PNormPerceptron", fit_intercept=False).theta_.shape == (1, 5)
    assert fitted("Elimination", literals="all").literals_.shape == (1, 10)
    assert not fitted("Elimination").inconsistent_


@pytest.mark.compiled_later
def test_every_rule_of_ours_under_one_roof():
    """OnlineClassifier with a record is the estimator of that rule."""
    for rule, model in (
        (rules.Perceptron(), Perceptron()),
        (rules.MIRA(0.5), MIRA(p=0.5)),
        (rules.PA2(0.5), PassiveAggressive(C=0.5, variant="II")),
        (rules.ROMMA(), ROMMA()),
        (rules.RateByExamples(), Perceptron(learning_rate="examples")),
    ):
        for labels in (y, y3):
            roof = OnlineClassifier(rule=rule, shuffle=False).fit(X, labels)
            np.testing.assert_array_equal(roof.coef_, model.set_params(shuffle=False).fit(X, labels).coef_)


def test_every_class_can_be_built_bare():
    for name in NAMES:
        assert type(make(name))().get_params()
    assert AROW().r == 1.0 and Winnow().kind == 2 and AveragedPerceptron().readout == "average"
