"""Rows in pieces: the same in any cut, or refused."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from comparing import same_weights
from sklearn.base import clone
from sklearn.utils import compute_class_weight
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons import rules
from perceptrons.core import class_weights, progressive
from perceptrons.io import Batch, fit_stream

rng = np.random.default_rng(11)
X = rng.normal(size=(90, 4))
y = (X @ [1.0, 1.0, -1.0, 0.0] > 1.2).astype(int)
y3 = np.digitize(X[:, 0], [-1.0, 0.4])
CUTS = [[90], [30, 60], [1] * 90, [7] * 12 + [6]]


def cut(model, labels, sizes, rows=X):
    """Learn in batches; all classes are declared."""
    at = 0
    for n in sizes:
        model.partial_fit(rows[at : at + n], labels[at : at + n], classes=np.unique(labels))
        at += n
    return model


def one_by_one(model, labels):
    cut(model, labels, [1])
    for x, label in zip(X[1:], labels[1:]):
        model.learn_one(x, label)
    return model


def streamed(model, labels):
    batches = [Batch(X[a : a + 20], labels[a : a + 20], None, a) for a in range(0, 90, 20)]
    fit_stream(model, batches, classes=np.unique(labels))
    return model


# ---------------------------------------------------------------- class weights


@pytest.mark.parametrize("model", [pc.Perceptron(), pc.KernelPerceptron(), pc.TextClassifier()])
def test_balanced_needs_all_rows(model):
    model.set_params(class_weight="balanced")
    rows = ["a b", "b c"] if isinstance(model, pc.TextClassifier) else X[:2]
    calls = [
        lambda: model.partial_fit(rows, [0, 1]),
        lambda: model.learn_one(rows[0], 0),
        lambda: fit_stream(model, [Batch(rows, np.array([0, 1]), None, 0)]),
    ]
    for call in calls:
        with pytest.raises(
            ValueError, match=r"class_weight='balanced' counts all rows.*pass a dict.*'running'"
        ):
            call()
    assert "classes_" not in vars(model)


def test_running_weights_by_hand():
    nothing = class_weights.NOTHING
    labels = np.array(["a", "a", "b", "a", "c", "c"])
    # n/(k n_c): 1/(1*1), 2/(1*2), 3/(2*1), 4/(2*3), 5/(3*1), 6/(3*2)
    wanted = [1.0, 1.0, 1.5, 4 / 6, 5 / 3, 1.0]
    np.testing.assert_allclose(class_weights.running(nothing, labels), wanted)
    for at in range(7):
        later = class_weights.running(nothing.plus(labels[:at]), labels[at:])
        np.testing.assert_array_equal(later, class_weights.running(nothing, labels)[at:])
    last = compute_class_weight("balanced", classes=np.array(["a", "b", "c"]), y=labels)[2]
    assert class_weights.running(nothing, labels)[-1] == last


@pytest.mark.parametrize(
    "labels", [y, y3, np.array(["no", "perhaps", "yes"])[y3]], ids=["two", "three", "words"]
)
def test_running_weights_are_the_same_in_any_cut(labels):
    def fresh():
        return pc.PassiveAggressive(C=0.3, class_weight="running")

    models = [cut(fresh(), labels, sizes) for sizes in CUTS]
    same_weights(*models, one_by_one(fresh(), labels), streamed(fresh(), labels))
    np.testing.assert_array_equal(models[0]._counted.rows, np.unique(labels, return_counts=True)[1])
    weights = class_weights.running(class_weights.NOTHING, labels)
    by_hand = pc.PassiveAggressive(C=0.3).fit(X, labels, sample_weight=weights, order=[range(90)])
    np.testing.assert_allclose(models[0].coef_, by_hand.coef_)
    in_a_fit = fresh().set_params(shuffle=False, max_iter=1).fit(X, labels)
    np.testing.assert_allclose(models[0].coef_, in_a_fit.coef_)
    twice = fresh().set_params(shuffle=False, max_iter=2).fit(X, labels)
    np.testing.assert_allclose(cut(models[0], labels, [90]).coef_, twice.coef_)


def test_running_counts_are_stored_and_rows_of_weight_0_are_not_counted(tmp_path):
    half = cut(pc.Perceptron(class_weight="running"), y3, [50])
    pc.save(half, tmp_path / "half")
    again = pc.load(tmp_path / "half")
    for model in (half, again):
        model.partial_fit(X[50:], y3[50:])
    same_weights(half, again)
    doubled = np.repeat(X, 2, axis=0), np.repeat(y3, 2)
    absent = np.tile([1.0, 0.0], 90)
    some = pc.Perceptron(class_weight="running")
    some.partial_fit(*doubled, classes=np.unique(y3), sample_weight=absent)
    same_weights(some, half)


def test_running_weights_are_refused_where_weights_mean_nothing():
    with pytest.raises(ValueError, match="no theory of row weights"):
        pc.OnlineClassifier(rule=rules.MIRA(), class_weight="running").partial_fit(X, y)
    with pytest.raises(ValueError, match="visits a row twice"):
        pc.Perceptron(class_weight="running").fit(X, y, order=[[0, 0, *range(90)]])
    certificate = pc.certify(pc.Perceptron(class_weight="running").partial_fit(X, y), X, y)
    assert not certificate.bounds


def test_a_pass_that_fails_counts_the_rows_it_learned():
    model = pc.Perceptron(class_weight="running").partial_fit(X[:10], y[:10])
    rows, labels = X[:50] * 1e-3, y[:50].copy()
    rows[40] = 1e153  # whose square is beyond what weights may have
    with_it = pc.Perceptron(class_weight="running").partial_fit(X[:10], y[:10])
    labels[40] = 1 - with_it.partial_fit(rows[:40], labels[:40]).predict(rows[[40]])[0]
    with pytest.raises(ValueError, match="row 40"):
        model.partial_fit(rows, labels)
    assert model._counted.rows.sum() == 50


# ---------------------------------------------------------------- early stopping


@pytest.mark.parametrize("name", ["Perceptron", "AROW", "Winnow", "KernelPerceptron"])
def test_early_stopping_needs_a_fit(name):
    model = getattr(pc, name)(early_stopping=True)
    rows = (X > 0).astype(float)
    calls = [
        lambda: model.partial_fit(rows, y),
        lambda: model.learn_one(rows[0], y[0]),
        lambda: fit_stream(model, [Batch(rows, y, None, 0)]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="early_stopping=True holds out rows of a fit"):
            call()
    model.fit(rows, y)
    with pytest.raises(ValueError, match="early_stopping"):
        model.partial_fit(rows, y)
    model.early_stopping = False
    model.partial_fit(rows, y)


# ---------------------------------------------------------------- the guess of a margin


@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
@pytest.mark.parametrize("params", [{}, {"multiclass": "ovr"}, {"row_norm": "l2", "log_updates": True}])
def test_a_guessed_margin_is_the_same_in_any_cut(labels, params):
    def fresh():
        return pc.MarginPerceptron(fit_intercept=False, **params)

    rows = np.concatenate([np.zeros((1, 4)), X])  # a row that says nothing of the margin
    given = np.concatenate([labels[:1], labels])
    models = [cut(fresh(), given, sizes, rows) for sizes in ([91], [13] * 7, [1] * 91, [1, 90])]
    same_weights(*models)
    assert len({model.gamma_ for model in models}) == 1
    assert models[0].gamma_ < np.linalg.norm(X[0]) or "row_norm" in params
    if params.get("log_updates"):
        logs = [model.update_log_["step"] for model in models]
        np.testing.assert_array_equal(logs[0], logs[1])
    certificate = pc.certify(models[0], rows, given)
    assert not certificate.bounds
    assert any(note.startswith("gamma changed") for note in certificate.notes)


def test_a_guessed_margin_learns_as_well_as_the_perceptron():
    many = rng.normal(size=(4000, 10))
    labels = (many[:, :5].sum(axis=1) > 0).astype(int)
    margin = pc.MarginPerceptron().partial_fit(many, labels)
    plain = pc.Perceptron().partial_fit(many, labels)
    assert margin.n_errors_ <= 2 * plain.n_errors_


# ------------------------------------------------------------ classes that nobody declared

#: every family, with each way of treating several classes
GROWING = [
    pc.Perceptron(),
    pc.Perceptron(multiclass="ovr", readout="average"),
    pc.Perceptron(class_weight="running", log_updates=True),
    pc.Perceptron(class_weight="running", multiclass="ovr"),
    pc.AveragedPerceptron(),
    pc.VotedPerceptron(),
    pc.PassiveAggressive(),
    pc.ROMMA(),
    pc.MarginPerceptron(),
    pc.MarginPerceptron(multiclass="ovr"),
    pc.BalancedWinnow(),
    pc.SecondOrderPerceptron(),
    pc.AROW(),
    pc.KernelPerceptron(readout="average"),
    pc.KernelPerceptron(multiclass="ovr", log_updates=True),
    pc.BudgetKernelPerceptron(budget=9, policy="oldest"),
]


def told(model):
    """All that a run says of itself, but for the numbers of rows within their calls."""
    found = [model.decision_function(X), model.n_mistakes_, model.n_updates_, model.n_errors_, model.radius_]
    found.append(getattr(model, "gamma_", 0.0))
    if progressive.silence(model) is None:
        found += [model.progressive_rows_, model.progressive_errors_]
    return found


@pytest.mark.parametrize("model", GROWING, ids=str)
def test_classes_that_appear_in_any_cut(model):
    """Three classes and more, none declared: rows one by one, or in any batches, make the same model."""
    labels = rng_labels()
    single = clone(model).set_progressive(learn_one=True)
    with uncompiled():
        for x, label in zip(X, labels):
            single.learn_one(x, label)
        for sizes in CUTS:
            parts, at = clone(model), 0
            for n in sizes:
                parts.partial_fit(X[at : at + n], labels[at : at + n])
                at += n
            for one, other in zip(told(parts), told(single), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
            assert len(parts.history_) == len(sizes)
            if parts._space.joint:  # else one learner becomes two, with all its counts
                assert sum(record["updates"] for record in parts.history_) == parts.n_updates_
            if isinstance(model, pc.KernelPerceptron):
                assert parts.support_.tolist() == single.support_.tolist()
            if model.log_updates and sizes == [90]:
                rows = parts.update_log_
                rows = rows[0]["row"] if isinstance(rows, list) else rows["row"]
                assert rows.max() > 45 and (parts.update_log_[0]["epoch"] == 0).all()


def rng_labels():
    """Five classes that appear one after the other, the largest first.

    A class alone is trained as +1, so that n_errors_ takes a score of 0 for an error of it; it is one if the
    class turns out to be the larger of two.
    """
    drawn = np.random.default_rng(5).integers(0, 5, 90)
    return np.array([4 - min((i + 11) // 12, int(k)) for i, k in enumerate(drawn)])


@pytest.mark.parametrize("model", [pc.Perceptron(), pc.VotedPerceptron(), pc.KernelPerceptron()], ids=str)
def test_a_batch_that_brings_classes_happens_whole_or_not_at_all(model, monkeypatch):
    """An interruption after some of its classes were taken up puts the model back."""
    labels = rng_labels()
    first, rest = slice(0, 20), slice(20, 90)
    with uncompiled():
        model = clone(model).partial_fit(X[first], labels[first])
        before, history = told(model), copy.deepcopy(model.history_)
        add_class, calls = type(model._space).add_class, itertools.count()

        def interrupted(*args):
            if next(calls) == 1:
                raise KeyboardInterrupt
            return add_class(*args)

        monkeypatch.setattr(type(model._space), "add_class", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[rest], labels[rest])
        monkeypatch.undo()
        assert model.classes_.tolist() == sorted(set(labels[first].tolist())) and model.history_ == history
        for one, other in zip(told(model), before, strict=True):
            np.testing.assert_array_equal(one, other)
        whole = clone(model).partial_fit(X[first], labels[first])
        model.partial_fit(X[rest], labels[rest])
        whole.partial_fit(X[rest], labels[rest])
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
