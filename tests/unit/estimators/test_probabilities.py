"""probability=True: what the probabilities are fitted to, in every way of learning."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from uncompiled import compiled

import perceptrons as pc
from perceptrons.core import curves, held_out_rows
from perceptrons.core.first_visits import FirstVisits
from perceptrons.engine import spaces
from perceptrons.io import fit_stream, open_stream

pytestmark = pytest.mark.uncompiled

TWO = make_classification(60, 6, random_state=1)
THREE = make_classification(60, 6, n_classes=3, n_informative=5, n_redundant=0, random_state=1)
MODELS = {
    "last": pc.Perceptron(),
    "average": pc.AveragedPerceptron(),
    "initial": pc.PassiveAggressive(readout="average", include_initial=True),
    "ovr": pc.Perceptron(multiclass="ovr", readout="average"),
    "unit": pc.Perceptron(multiclass="ovr", normalized_votes=True),
    "unit average": pc.Perceptron(readout="average", normalized_votes=True),
    "exact": pc.MIRA(solver="exact"),
    "romma": pc.ROMMA(),
    "arow": pc.AROW(),
    "p-norm": pc.PNormPerceptron(),
    "balanced": pc.BalancedWinnow(),
    "margin": pc.MarginPerceptron(),
    "weighted": pc.Perceptron(class_weight="running"),
}


def made(name, **params):
    return clone(MODELS[name]).set_params(**({"probability": True, "random_state": 0} | params))


def seeded(model, **params):
    """The same draws in every run, and enough rows held out."""
    settings = {"random_state": 0, "validation_fraction": 0.4, **params}
    return clone(model).set_params(**{k: v for k, v in settings.items() if k in model.get_params()})


def same(one, other):
    a, b = one._calibration, other._calibration
    assert isinstance(a, FirstVisits) and (a.n, a.level, a.readout) == (b.n, b.level, b.readout)
    for name in ("number", "scores", "outcomes", "weights"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


# ---------------------------------------------------------------- where it is


def test_it_is_there_with_probability_true_only():
    X, y = TWO
    model = pc.Perceptron().fit(X, y)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match=r"Perceptron has no predict_proba: it needs probability=True\."):
        model.predict_proba(X)
    assert "Probability of each class" in pc.Perceptron.predict_proba.__doc__
    model.probability = True
    with pytest.raises(ValueError, match="no row was learned with probability=True"):
        model.predict_proba(X)


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", ["last", "arow"])
def test_weights_and_predictions_stay_as_they_are(name, data):
    X, y = data
    one, other = made(name).fit(X, y), made(name, probability=False).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    P = one.predict_proba(X)
    assert P.shape == (60, len(one.classes_)) and (P > 0.0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(one.predict_log_proba(X), np.log(P))
    if len(one.classes_) == 2:
        order = np.argsort(one.decision_function(X))
        assert (np.diff(P[order, 1]) >= 0.0).all()


# ---------------------------------------------------------------- first visits


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", compiled(MODELS, "last", "arow"))
def test_scores_before_rows_are_learned_in_every_cut(name, data):
    X, y = data
    labels = np.unique(y)
    whole = made(name).partial_fit(X, y, classes=labels)
    pieces = made(name)
    for part in np.array_split(np.arange(60), 7):
        pieces.partial_fit(X[part], y[part], classes=labels)
    same(pieces, whole)
    single, scores = made(name).partial_fit(X[:1], y[:1], classes=labels), []
    for x, label in zip(X[1:], y[1:], strict=True):
        scores.append(np.atleast_1d(single.score_one(x)))
        single.learn_one(x, label)
    same(single, whole)
    np.testing.assert_allclose(whole._calibration.scores[1:], scores, rtol=1e-9, atol=1e-12)
    if name != "margin":  # its fit takes the margin from all rows
        fit = made(name).fit(X, y, order=[np.arange(60)])
        same(fit, whole)
        np.testing.assert_array_equal(fit.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("name", ["last", "ovr", "arow"])
def test_classes_that_appear_on_the_way(name):
    X, y = THREE
    y = np.array(["c", "b", "d"])[y]
    y[40:] = np.where(y[40:] == "b", "a", y[40:])
    single = made(name)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
        n = len(single.classes_)
        np.testing.assert_allclose(single.predict_proba(X[:2]).sum(axis=1), 1.0)
        assert single.predict_proba(X[:2]).shape == (2, n)
    whole = made(name).partial_fit(X, y)
    same(single, whole)
    outcomes = np.asarray(y)[:, None] == single.classes_
    np.testing.assert_array_equal(single._calibration.outcomes, outcomes)


def test_only_one_class():
    X, _ = TWO
    model = made("last")
    model.learn_one(X[0], "spam")
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))
    model.learn_one(X[1], "ham")
    np.testing.assert_array_equal(model._calibration.outcomes[:, 0], [True, False])
    model = made("last")
    model.learn_one(X[0], "ham")
    model.learn_one(X[1], "spam")
    np.testing.assert_array_equal(model._calibration.outcomes[:, 0], [False, True])


def test_further_epochs_and_visits_do_not_count():
    X, y = TWO
    once = made("arow", max_iter=1).fit(X, y)
    same(made("arow", max_iter=5).fit(X, y), once)
    order = [[3, 4, 3, 5], [4, 6], [3]]
    found = made("arow").fit(X, y, order=order)
    replay = made("arow").partial_fit(X[[3, 4, 3]], y[[3, 4, 3]], classes=[0, 1])
    expected = [replay._calibration.scores[0], replay._calibration.scores[1]]
    expected.append(replay.decision_function(X[5:6]))
    replay.partial_fit(X[[5, 4]], y[[5, 4]])
    expected.append(replay.decision_function(X[6:7]))
    np.testing.assert_allclose(found._calibration.scores, expected, atol=1e-12)
    np.testing.assert_array_equal(found._calibration.outcomes[:, 0], y[[3, 4, 5, 6]] == 1)


def test_a_warm_start_records_nothing_and_partial_fit_goes_on():
    X, y = TWO
    model = made("last", warm_start=True, max_iter=2).fit(X[:30], y[:30])
    kept = model._calibration
    assert model.fit(X[:30], y[:30])._calibration is kept
    assert model.partial_fit(X[30:], y[30:])._calibration.n == 60
    assert model.set_params(warm_start=False).fit(X[:30], y[:30])._calibration.n == 30


def test_rows_of_weight_zero_are_no_visits_and_other_weights_count():
    X, y = TWO
    w = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    found = made("last", max_iter=2).fit(X, y, sample_weight=w)._calibration
    assert found.n == np.count_nonzero(w) and set(found.weights) == {1.0, 2.0}
    pieces = made("last").partial_fit(X, y, sample_weight=w)
    assert pieces._calibration.n == found.n
    for i in np.flatnonzero(w == 0.0)[:3]:
        pieces.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[0.0])
    assert pieces._calibration.n == found.n


def test_early_stopping_records_the_rows_that_are_learned():
    X, y = TWO
    model = made("last", early_stopping=True, max_iter=3).fit(X, y)
    assert model._calibration.n == 54 and model.predict_proba(X).shape == (60, 2)


def test_passes_over_a_stream():
    data = "".join(f"{1 if i % 3 else -1} 1:{i % 7} 2:{i % 5}\n" for i in range(50)).encode()
    one, three = made("last"), made("last")
    fit_stream(one, open_stream(data, n_features=2), passes=1)
    fit_stream(three, open_stream(data, n_features=2, batch_bytes=100), passes=3)
    same(three, one)
    assert fit_stream(three, open_stream(data, n_features=2)).rows == 50
    assert three._calibration.n == 100
    three.set_progressive(first_visits=False)
    three.partial_fit(np.ones((1, 2)), [1])
    assert three._calibration.n == 100


@pytest.mark.parametrize("at", [20, 70])
def test_a_stream_that_is_resumed(at, tmp_path):
    data = "".join(f"{1 if i % 3 else -1} 1:{i % 7} 2:{i % 5}\n" for i in range(50)).encode()
    whole, resumed = made("last"), made("last")

    def stream():
        return open_stream(data, n_features=2, batch_bytes=60)

    fit_stream(whole, stream(), passes=2)
    report = fit_stream(resumed, stream(), passes=2, callback=lambda model, report: report.rows >= at)
    pc.save(resumed, tmp_path / "a.model")
    resumed = pc.load(tmp_path / "a.model")
    fit_stream(resumed, stream(), passes=2, resume=report)
    same(resumed, whole)
    assert whole._calibration.n == 50


def test_rows_before_an_error_are_recorded_and_an_interruption_undoes_the_call(monkeypatch):
    X, y = TWO
    model = made("last").partial_fit(X[:20], y[:20])
    kept = model._calibration
    far = X[20:].copy()
    far[7] = 1e200
    far[8] = -1e200 * np.sign(model.coef_[0]) * (2 * y[28] - 1)
    with pytest.raises(ValueError, match=r"score|overflow|step"):
        model.partial_fit(far, y[20:])
    assert model._calibration.n == model._space.counts().examples < 60
    model = made("last").partial_fit(X[:20], y[:20])
    kept = model._calibration

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(spaces.Linear, "run", interrupted)
    for call in (lambda: model.partial_fit(X, y), lambda: model.learn_one(X[0], y[0])):
        with pytest.raises(KeyboardInterrupt):
            call()
        assert model._calibration is kept


def test_the_readout_that_was_recorded_predicts():
    X, y = TWO
    model = made("ovr").fit(X, y)
    model.readout = "last"
    with pytest.raises(
        ValueError, match="fitted to scores of readout 'average', and the model now predicts by"
    ):
        model.predict_proba(X)
    model.partial_fit(X, y)  # a sample of the new readout
    assert model._calibration.n == 60 and model.predict_proba(X).shape == (60, 2)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (pc.Perceptron(readout="vote"), "readout='vote'"),
        (pc.Perceptron(readout="random"), "readout='random'"),
        (
            pc.Perceptron(normalized_votes=True),
            "normalized_votes=True with classes that are learned together",
        ),
        (pc.SecondOrderPerceptron(calibration_rows="first visits"), "SecondOrderPerceptron, whose learning"),
    ],
)
def test_scores_that_are_not_known_in_time_are_refused(model, words):
    model = clone(model).set_params(probability=True)
    with pytest.raises(ValueError, match=words):
        model.fit(*TWO)
    P = model.set_params(calibration_rows="held out").fit(*TWO).predict_proba(TWO[0])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


# ---------------------------------------------------------------- rows that are not learned


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
def test_held_out_rows(data):
    X, y = data
    model = made("last", calibration_rows="held out", validation_fraction=0.25, shuffle=False).fit(X, y)
    seed = int(np.random.default_rng(0).random() * 2**31)
    learned, scored = held_out_rows.split(y, 0.25, seed)
    learned.sort()
    other = made("last", probability=False, shuffle=False).fit(X[learned], y[learned])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    scores = other.decision_function(X[scored]).reshape(len(scored), -1)
    columns = np.ones(1) if len(other.classes_) == 2 else other.classes_
    expected = curves.fitted("sigmoid", scores, y[scored][:, None] == columns, np.ones(len(scored)))
    np.testing.assert_allclose(model._calibration.curves.a, expected.a)
    np.testing.assert_allclose(model._calibration.curves.b, expected.b)
    with pytest.raises(ValueError, match=r"none to spare\. Call fit, or set calibration_rows='first visits'"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="order may visit any of them"):
        model.fit(X, y, order=[[0, 1, 2]])
    assert model.set_params(calibration_rows="first visits").partial_fit(X, y)._calibration.n == 60


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "model",
    [
        pc.KernelPerceptron(),
        pc.KernelClassifier(readout="average", multiclass="ovr"),
        pc.BudgetKernelPerceptron(),
        pc.RiskDescent(max_steps=30),
        pc.MaxMargin(C=1.0),
        pc.MaxMargin(C=1.0, kernel="gaussian"),
        pc.VotedPerceptron(),
    ],
    ids=str,
)
def test_learners_that_record_no_scores(model, method):
    X, y = THREE
    without = clone(model).fit(X, y)
    model = seeded(model, probability=True, calibration=method).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.mean(P.argmax(axis=1) == y) > 0.5
    if isinstance(model, (pc.RiskDescent, pc.MaxMargin)):  # all rows are learned
        np.testing.assert_array_equal(without.decision_function(X), model.decision_function(X))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="none to spare"):
            model.partial_fit(X, y)


def test_too_few_rows():
    X, y = np.eye(3), [0, 1, 1]
    for model in (pc.KernelPerceptron(), pc.MaxMargin(), pc.RiskDescent()):
        with pytest.raises(ValueError, match=r"class has one row only|two rows of each class"):
            model.set_params(probability=True).fit(X, y)
    one = pc.MaxMargin(probability=True).fit(X, ["a", "a", "a"])
    np.testing.assert_array_equal(one.predict_proba(X), np.ones((3, 1)))


# ---------------------------------------------------------------- files, copies, other estimators


@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"calibration": "isotonic"},
        {"calibration_rows": "held out"},
        {"calibration_rows": "held out", "calibration": "isotonic"},
    ],
    ids=str,
)
def test_files_and_copies(tmp_path, params, data):
    X, y = data
    model = made("arow", **params).fit(X, y)
    expected = model.predict_proba(X)
    pc.save(model, tmp_path / "a.model")
    for twin in (pc.load(tmp_path / "a.model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(X), expected)
        if not params:
            same(twin.partial_fit(X, y), copy.deepcopy(model).partial_fit(X, y))
            np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("model", [pc.MaxMargin(C=1.0), pc.RiskDescent(max_steps=20), pc.KernelPerceptron()])
def test_files_of_other_learners(tmp_path, model):
    X, y = THREE
    model = clone(model).set_params(probability=True).fit(X, y)
    pc.save(model, tmp_path / "a.model")
    np.testing.assert_array_equal(pc.load(tmp_path / "a.model").predict_proba(X), model.predict_proba(X))


def test_a_file_without_probabilities_is_what_it_was(tmp_path):
    X, y = TWO
    pc.save(made("last", probability=False).fit(X, y), tmp_path / "a.model")
    raw = (tmp_path / "a.model").read_bytes()
    assert b"probability" not in raw and b"calibration" not in raw


FORGED = {
    "n": (lambda s: s._replace(n=1), "out of range"),
    "level": (lambda s: s._replace(level=64), "level"),
    "number": (lambda s: s._replace(number=s.number[::-1].copy()), "ascend"),
    "scores": (lambda s: s._replace(scores=s.scores + np.inf), "finite"),
    "columns": (lambda s: s._replace(scores=np.hstack([s.scores, s.scores])), "shape"),
    "outcomes": (lambda s: s._replace(outcomes=s.outcomes[1:]), "shape"),
    "weights": (lambda s: s._replace(weights=-s.weights), "positive"),
    "readout": (lambda s: s._replace(readout=1), "readout"),
    "kind": (lambda s: "sample", "no sample"),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_samples_are_refused(tmp_path, what):
    forge, words = FORGED[what]
    model = made("last").fit(*TWO)
    model._calibration = forge(model._calibration)
    pc.save(model, tmp_path / "a.model")
    with pytest.raises(ValueError, match=words):
        pc.load(tmp_path / "a.model")


@pytest.mark.parametrize("method", curves.METHODS)
def test_forged_curves_are_refused(tmp_path, method):
    model = made("last", calibration_rows="held out", calibration=method).fit(*TWO)
    kept = model._calibration
    for name in kept.curves._fields:
        found = kept.curves._replace(**{name: getattr(kept.curves, name) - 5000})
        model._calibration = kept._replace(curves=found)
        if name in ("b", "c", "low", "high"):
            model._calibration = kept._replace(curves=kept.curves._replace(**{name: np.full(1, np.nan)}))
        elif name == "x":
            model._calibration = kept._replace(curves=kept.curves._replace(x=kept.curves.x[::-1].copy()))
        pc.save(model, tmp_path / "a.model")
        with pytest.raises(ValueError, match=r"range|falls|finite|no scores|fit their classes|ascend|shares"):
            pc.load(tmp_path / "a.model")


def test_scikit_learn_calibrates_ours():
    X, y = THREE
    for model in (pc.AROW(random_state=0), pc.AROW(random_state=0, probability=True)):
        found = CalibratedClassifierCV(model, cv=3).fit(X, y)
        assert found.predict_proba(X).shape == (60, 3)


def test_mixing_refuses_probabilities():
    mixed = pc.ParameterMixing(pc.Perceptron(probability=True), n_shards=2, backend="serial")
    with pytest.raises(ValueError, match="probability=True"):
        mixed.fit(*TWO)


@pytest.mark.parametrize("params", [{"idf": False}, {"idf": True}, {"idf": True, "rule": "arow"}], ids=str)
def test_texts(params):
    texts = ["buy cheap pills", "lunch at noon", "cheap watches, buy", "notes of the meeting"] * 5
    labels = ["spam", "ham"] * 10
    params = {"probability": True, "bits": 8, "random_state": 0, **params}
    whole = pc.TextClassifier(**params).partial_fit(texts, labels)
    same(pc.TextClassifier(**params).fit(texts, labels, order=[np.arange(20), np.arange(20)]), whole)
    single = pc.TextClassifier(**params)
    for text, label in zip(texts, labels, strict=True):
        single.learn_one(text, label)
    same(single, whole)
    fit = pc.TextClassifier(**params).fit(texts, labels)
    assert fit._calibration.n == 20
    spam = fit.predict_proba(["cheap pills", "meeting at noon"])[:, 1]
    assert spam[0] > 0.5 > spam[1]


def test_probabilities_of_new_rows_are_shares():
    rng = np.random.default_rng(0)
    u = rng.normal(size=5)

    def drawn(n):
        X = rng.normal(size=(n, 5))
        return X, rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * X @ u))

    X, y = drawn(3000)
    X_new, y_new = drawn(3000)
    P = pc.AROW(probability=True, max_iter=1, shuffle=False).fit(X, y).predict_proba(X_new)[:, 1]
    bins = np.minimum((10 * P).astype(int), 9)
    error = sum(abs(np.sum(P[bins == b]) - np.sum(y_new[bins == b])) for b in range(10)) / 3000
    assert error < 0.04


# ---------------------------------------------------------------- several labels a row


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("name", ["last", "average", "arow"])
def test_several_labels_are_no_alternatives(name, n_labels):
    X, y = THREE
    Y = np.stack([y == 0, y != 1, X[:, 0] > 0.0], axis=1).astype(int)[:, -n_labels:]
    whole, single, scores = made(name).partial_fit(X, Y), made(name).partial_fit(X[:1], Y[:1]), []
    for x, labels in zip(X[1:], Y[1:], strict=True):
        scores.append(np.atleast_1d(single.score_one(x)))
        single.learn_one(x, labels)
    same(single, whole)
    np.testing.assert_allclose(whole._calibration.scores[1:], scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(whole._calibration.outcomes, Y != 0)
    P = whole.predict_proba(X)
    assert P.shape == Y.shape and ((P > 0.0) & (P < 1.0)).all()
    kept = whole._calibration
    last = curves.fitted("sigmoid", kept.scores[:, -1:], kept.outcomes[:, -1:], kept.counting_weights())
    alone = np.exp(curves.log_shares(last.log_odds(whole.decision_function(X)[:, -1:])))
    np.testing.assert_allclose(P[:, -1:], alone)


@pytest.mark.parametrize(
    "model", [pc.Perceptron(calibration_rows="held out"), pc.MaxMargin(C=1.0), pc.RiskDescent()]
)
def test_several_labels_held_out(model):
    X, y = THREE
    Y = np.stack([y == 0, y != 1], axis=1).astype(int)
    P = seeded(model, probability=True).fit(X, Y).predict_proba(X)
    assert P.shape == Y.shape and np.mean((P > 0.5) == Y) > 0.6
