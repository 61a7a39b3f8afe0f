"""Indicator matrices: every label is learned as by a binary learner of its own, to the bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from uncompiled import compiled

import perceptrons as pc
from perceptrons import kernels, load, rules, save
from perceptrons.engine import intake, spaces
from perceptrons.engine.spaces import together

pytestmark = pytest.mark.uncompiled
RNG = np.random.default_rng(16)
N, D, K = 60, 7, 4
X = np.where(RNG.random((N, D)) < 0.7, RNG.normal(size=(N, D)).round(2), 0.0)
Y = (X[:, :K] + 0.4 * RNG.normal(size=(N, K)) > 0.3).astype(int)
ORDER = [RNG.permutation(N) for _ in range(3)]
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0], N)

ONLINE = [
    pc.Perceptron(),  # joint for several classes: here it is one against the rest all the same
    pc.AveragedPerceptron(),
    pc.MarginPerceptron(gamma=0.1),
    pc.PassiveAggressive(variant="II"),
    pc.ROMMA(),
    pc.OnlineClassifier(rule=rules.PA1(), readout="vote"),
    pc.BalancedWinnow(),
    pc.AROW(),
    pc.AROW(covariance="full"),
]
KERNEL = [pc.KernelPerceptron(kernel=kernels.Polynomial(degree=2)), pc.MaxMargin(kernel="gaussian", C=1.0)]
WHOLE = [pc.RiskDescent(max_steps=50), pc.MaxMargin(C=1.0)]


def shown(model):
    return type(model).__name__


def fitted(model, y, **how):
    model = clone(model)
    if hasattr(model, "partial_fit"):
        return model.fit(X, y, order=ORDER, **how)
    return model.fit(X, y)


def numbers(model, r):
    """What was learned of label r: weights, or coefficients by row."""
    if not hasattr(model, "support_") or getattr(model, "kernel", None) is None:
        return model.coef_[r], model.intercept_[r]
    by_row = np.zeros(N)
    by_row[model.support_] = model.dual_coef_[r]
    return (by_row,)


@pytest.mark.parametrize("model", ONLINE + KERNEL + WHOLE, ids=shown)
def test_every_label_is_learned_as_by_a_binary_learner(model):
    whole = fitted(model, Y)
    assert whole.classes_.tolist() == list(range(K))
    scores = whole.decision_function(X)
    assert scores.shape == (N, K)
    for r in range(K):
        alone = fitted(model, Y[:, r])
        np.testing.assert_array_equal(whole.predict(X)[:, r], alone.predict(X))
        np.testing.assert_allclose(scores[:, r], alone.decision_function(X), rtol=1e-9, atol=1e-12)
        for mine, other in zip(numbers(whole, r), numbers(alone, 0), strict=True):
            assert mine.tobytes() == other.tobytes()
    assert whole.score(X, Y) == accuracy_score(Y, whole.predict(X)) == (whole.predict(X) == Y).all(1).mean()
    assert whole.score(X, Y) > 0.0


@pytest.mark.parametrize("rule", compiled([rules.PA1(), rules.AROW(0.5)], str(rules.AROW(0.5))))
def test_read_together_the_numbers_are_the_same(monkeypatch, rule):
    frame = spaces.Frame()
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)

    def learner():
        if isinstance(rule, rules.AROW):
            return spaces.Confident(rule, frame, D, False)
        return spaces.Linear(rule, frame, D, "last")

    found = []
    for least in (0, np.inf):
        monkeypatch.setattr(together, "LEAST_PRODUCTS", least)
        monkeypatch.setattr(together, "LEAST_ENTRIES", 0.0)
        space = spaces.PerLabel([learner() for _ in range(11)])
        many = np.hstack([Y, 1 - Y, Y[:, :3] * Y[:, 1:]]).astype(np.uint8)
        assert together.pays(space.learners, rows, N, None) == (least == 0)
        logs = [space.run(rows, space.targets(many), intake.EMPTY, o.astype(np.int64), True) for o in ORDER]
        found.append(
            (space.weights("last").tobytes(), [log.alpha.tobytes() for part in logs for log in part])
        )
    assert found[0] == found[1]


FORMS = [list, np.array, sp.csr_array, sp.csc_matrix, lambda y: y.astype(bool), lambda y: y.astype(float)]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_indicator_matrix(form):
    y = form(Y.tolist()) if form is list else form(Y)
    model = fitted(pc.Perceptron(), y)
    np.testing.assert_array_equal(model.coef_, fitted(pc.Perceptron(), Y).coef_)
    assert model.predict(X).dtype == np.int64 and set(np.unique(model.predict(X))) <= {0, 1}


@pytest.mark.parametrize("model", [pc.Perceptron(), pc.AROW()], ids=shown)
def test_at_once_in_pieces_and_one_by_one(model):
    order = np.arange(N)
    whole = clone(model).fit(X, Y, order=[order, order])
    pieces, single = clone(model), clone(model)
    for _ in range(2):
        for a, b in ((0, 7), (7, 8), (8, N)):
            pieces.partial_fit(X[a:b], Y[a:b], classes=np.arange(K))
        for x, y in zip(X, Y, strict=True):
            single.learn_one(x, y)
    for r in range(K):
        for mine, *others in zip(numbers(whole, r), numbers(pieces, r), numbers(single, r), strict=True):
            assert [one.tobytes() for one in others] == [mine.tobytes()] * 2
    assert single.predict_one(X[0]) == whole.predict(X[:1])[0].tolist()
    assert single.score_one(X[0]) == pytest.approx(whole.decision_function(X[:1])[0].tolist())


def test_weights_of_rows():
    whole = fitted(pc.PassiveAggressive(), Y, sample_weight=WEIGHTS)
    for r in range(K):
        alone = fitted(pc.PassiveAggressive(), Y[:, r], sample_weight=WEIGHTS)
        assert whole.coef_[r].tobytes() == alone.coef_[0].tobytes()
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        fitted(pc.PassiveAggressive(), Y, sample_weight=np.zeros(N))


def test_a_label_of_no_row_and_one_of_all_rows():
    y = np.column_stack([np.zeros(N), Y[:, 0], np.ones(N)])
    for model in (pc.Perceptron(), pc.AROW(), pc.MaxMargin(C=1.0), pc.RiskDescent(max_steps=50)):
        found = fitted(model, y)
        assert (found.predict(X)[:, 0] == 0).all() and (found.predict(X)[:, 2] == 1).all()
        bounds = found.free_margin_bounds_
        assert bounds is None or bounds[0].up == bounds[2].up == np.inf  # a plane far away separates
    hard = fitted(pc.MaxMargin(), y[:, [0, 2]])
    assert hard.margin_ == [np.inf, np.inf] and hard.intercept_.tolist() == [-1.0, 1.0]
    nothing = fitted(pc.Perceptron(), np.zeros((N, 2)))  # a row without a label is a negative of all
    assert not nothing.predict(X).any()


def test_two_labels_are_no_two_classes(tmp_path):
    y = Y[:, :2]
    model = fitted(pc.Perceptron(log_updates=True), y)
    assert model.coef_.shape == (2, D) and model.decision_function(X).shape == (N, 2)
    assert len(model.margin_bounds_) == 2
    for r in range(2):
        alone = fitted(pc.Perceptron(), y[:, r])
        assert tuple(model.margin_bounds_[r]) == tuple(alone.margin_bounds_)


@pytest.mark.parametrize("model", [pc.Perceptron(), pc.AROW(), *KERNEL[:1], *WHOLE], ids=shown)
def test_stored_copied_and_continued(tmp_path, model):
    model = fitted(model, Y[:, :2])
    save(model, tmp_path / "model")
    for twin in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        if hasattr(model, "partial_fit"):
            again = pickle.loads(pickle.dumps(model)).partial_fit(X, Y[:, :2])
            twin.partial_fit(X, Y[:, :2])
            np.testing.assert_array_equal(twin.decision_function(X), again.decision_function(X))


def test_early_stopping_and_warm_starts():
    model = pc.Perceptron(early_stopping=True, random_state=0, max_iter=5).fit(X, Y)
    assert len(model.validation_scores_) == model.n_iter_ and max(model.validation_scores_) <= 1.0
    warm = pc.Perceptron(warm_start=True, shuffle=False, max_iter=1)
    twice = warm.fit(X, Y).fit(X, Y).coef_
    order = [np.arange(N)] * 2
    np.testing.assert_array_equal(twice, pc.Perceptron().fit(X, Y, order=order).coef_)


REFUSED = [
    (lambda: pc.Perceptron(class_weight="balanced").fit(X, Y), "use sample_weight"),
    (lambda: pc.BudgetKernelPerceptron().fit(X, Y), "one label a row"),
    (lambda: pc.MIRA(variant="crammer_singer").fit(X, Y, coef_init=np.ones((K, D))), "learned apart"),
    (lambda: pc.ParameterMixing(pc.Perceptron(), backend="serial").fit(X, Y), "one label a row"),
    (lambda: pc.certify(fitted(pc.Perceptron(), Y), X, Y), "one label a row"),
    (lambda: pc.theory.margins(fitted(pc.Perceptron(), Y), X, Y), "one label a row"),
    (lambda: fitted(pc.Perceptron(), Y).partial_fit(X, Y[:, :2]), "with 4 columns; got 2"),
    (lambda: fitted(pc.Perceptron(), Y).partial_fit(X, Y[:, 0]), "with 4 columns"),
    (lambda: fitted(pc.Perceptron(), Y).learn_one(X[0], 1), "a row of an indicator matrix"),
    (lambda: fitted(pc.Perceptron(), Y[:, 0]).partial_fit(X, Y), "has learned one label a row"),
    (lambda: pc.Perceptron().partial_fit(X, Y, classes=[1, 2, 3, 4]), "0 to 3; got"),
    (lambda: pc.Perceptron().fit(X, Y[:-1]), "X has 60 rows, y has 59"),
    (lambda: pc.Perceptron().fit(X, 3 * Y), "1d array|one label per row"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_progressive_errors_are_not_counted():
    model = pc.Perceptron().partial_fit(X, Y)
    with pytest.raises(AttributeError, match="several labels"):
        model.progressive_errors_  # noqa: B018
    assert model.history_[0]["examples"] == N * K


def test_a_fit_begins_anew_with_either_form():
    model = fitted(pc.Perceptron(), Y)
    model.fit(X, Y[:, 0])
    assert model.predict(X).ndim == 1
    model.fit(X, Y)
    assert model.predict(X).shape == (N, K)
