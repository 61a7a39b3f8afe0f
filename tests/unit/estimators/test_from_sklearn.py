"""Linear classifiers of scikit-learn that become learners of ours: the same weights, scores and labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as lm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import perceptrons as pc
from perceptrons import from_sklearn

RNG = np.random.default_rng(5)
X = RNG.integers(-6, 7, (60, 7)) / 4.0
LABELS = np.array(["ham", "news", "spam"])
Y3 = LABELS[np.argmax(X[:, :3] + 0.25 * RNG.standard_normal((60, 3)), axis=1)]
Y2 = np.where(X[:, 0] + X[:, 1] - 0.3 > 0.1 * RNG.standard_normal(60), "yes", "no")
FRESH = RNG.integers(-6, 7, (200, 7)) / 4.0

PA = getattr(lm, "PassiveAggressiveClassifier", None)  # scikit-learn 1.10 has none
MODELS = {
    "perceptron": lm.Perceptron(random_state=0),
    "hinge": lm.SGDClassifier(random_state=0),
    "averaged": lm.SGDClassifier(loss="log_loss", average=True, random_state=0),
    "pa1": lm.SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=0.5, random_state=0),
    "logistic": lm.LogisticRegression(),
    "no intercept": lm.LogisticRegression(fit_intercept=False),
    "svm": LinearSVC(random_state=0),
    "ridge": lm.RidgeClassifier(),
    "ridge without intercept": lm.RidgeClassifier(fit_intercept=False),
    "discriminant": LinearDiscriminantAnalysis(),
}


def same(ours, theirs, rows, tol=1e-12):
    """Equal labels of the same type on each row, and equal scores but for rounding."""
    found, expected = ours.predict(rows), theirs.predict(rows)
    assert found.dtype == expected.dtype and (found == expected).all()
    scores = theirs.decision_function(rows)
    assert np.abs(ours.decision_function(rows) - scores).max() <= tol * (1.0 + np.abs(scores).max())


@pytest.mark.parametrize("labels", [Y2, Y3], ids=["two classes", "three classes"])
@pytest.mark.parametrize("name", MODELS)
def test_the_same_labels_and_scores(name, labels):
    theirs = MODELS[name].fit(X, labels)
    ours = from_sklearn(theirs)
    assert (ours.coef_ == theirs.coef_).all() and (ours.intercept_ == theirs.intercept_).all()
    assert (ours.classes_ == theirs.classes_).all() and ours.n_features_in_ == 7
    same(ours, theirs, FRESH)
    same(ours, theirs, sp.csr_array(FRESH))
    rows = [ours.predict_one(x) for x in FRESH[:20]]
    assert rows == theirs.predict(FRESH[:20]).tolist()


@pytest.mark.skipif(PA is None, reason="this scikit-learn has no PassiveAggressiveClassifier")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("loss", "variant"), [("hinge", "I"), ("squared_hinge", "II")])
def test_passive_aggressive_keeps_its_rule(loss, variant):
    theirs = PA(C=0.25, loss=loss, random_state=0).fit(X, Y3)
    ours = from_sklearn(theirs)
    assert type(ours) is pc.PassiveAggressive
    assert (ours.C, ours.variant, ours.multiclass) == (0.25, variant, "ovr")
    same(ours, theirs, FRESH)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (lm.Perceptron(eta0=0.5), pc.Perceptron(learning_rate=0.5, multiclass="ovr")),
        (
            lm.SGDClassifier(loss="perceptron", learning_rate="constant", eta0=0.1),
            pc.Perceptron(learning_rate=0.1, multiclass="ovr"),
        ),
        (lm.SGDClassifier(loss="perceptron"), pc.Perceptron(multiclass="ovr")),
        (MODELS["pa1"], pc.PassiveAggressive(C=0.5, multiclass="ovr")),
        (
            lm.SGDClassifier(penalty=None, learning_rate="pa2", eta0=2.0),
            pc.PassiveAggressive(C=2.0, variant="II", multiclass="ovr"),
        ),
        (MODELS["svm"], pc.PassiveAggressive(multiclass="ovr")),
        (LinearSVC(multi_class="crammer_singer", max_iter=10000), pc.PassiveAggressive()),
        (MODELS["logistic"], pc.PassiveAggressive()),
        (MODELS["no intercept"], pc.PassiveAggressive(fit_intercept=False)),
    ],
    ids=repr,
)
def test_the_learner_that_goes_on(model, expected):
    assert repr(from_sklearn(model.fit(X, Y3))) == repr(expected)


def test_ties_go_to_the_same_label():
    """Weights and rows of few bits: products are exact, and many scores are equal or 0."""
    grid = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3)).reshape(3, -1).T
    two = lm.Perceptron(fit_intercept=False).fit(grid, grid[:, 0] > 0)
    assert (two.decision_function(grid) == 0.0).any()
    same(from_sklearn(two), two, grid, tol=0.0)
    three = lm.Perceptron(fit_intercept=False).fit(grid, np.argmax(grid, axis=1))
    scores = np.sort(three.decision_function(grid), axis=1)
    assert (scores[:, -1] == scores[:, -2]).any()
    same(from_sklearn(three), three, grid, tol=0.0)


@pytest.mark.parametrize("labels", [Y2, Y3], ids=["two classes", "three classes"])
def test_single_precision(labels):
    rows = X.astype(np.float32)
    theirs = lm.LogisticRegression().fit(rows, labels)
    assert theirs.coef_.dtype == np.float32
    ours = from_sklearn(theirs)
    assert ours.coef_.dtype == np.float32
    same(ours, theirs, FRESH.astype(np.float32), tol=1e-6)
    same(ours, theirs, FRESH)
    ours.partial_fit(X, labels)
    assert ours.coef_.dtype == np.float32


def test_sparse_weights():
    theirs = lm.SGDClassifier(penalty="l1", alpha=0.01, random_state=0).fit(sp.csr_array(X), Y3)
    same(from_sklearn(theirs.sparsify()), theirs, sp.csr_array(FRESH))
    assert sp.issparse(theirs.coef_)


def test_many_features():
    rows = sp.random_array((40, 5000), density=0.01, rng=np.random.default_rng(1), format="csr")
    theirs = lm.Perceptron().fit(rows, np.arange(40) % 3)
    same(from_sklearn(theirs), theirs, rows)


@pytest.mark.parametrize("labels", [np.array([True, False]), np.array([3, -1]), np.array([2.0, 5.0])])
def test_labels_of_any_type(labels):
    y = labels[(X[:, 0] > 0).astype(int)]
    theirs = lm.Perceptron().fit(X, y)
    ours = from_sklearn(theirs)
    same(ours, theirs, FRESH)
    assert ours.classes_.dtype == theirs.classes_.dtype


def test_labels_that_are_objects():
    theirs = lm.Perceptron().fit(X, Y3.astype(object))
    ours = from_sklearn(theirs)
    same(ours, theirs, FRESH)
    assert ours.partial_fit(X, Y3).classes_.tolist() == LABELS.tolist()


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    names = [f"w{j}" for j in range(7)]
    frame = pd.DataFrame(X, columns=names)
    theirs = lm.LogisticRegression().fit(frame, Y3)
    ours = from_sklearn(theirs)
    assert ours.feature_names_in_.tolist() == names
    same(ours, theirs, pd.DataFrame(FRESH, columns=names))
    row = dict(zip(names, FRESH[0].tolist(), strict=True))
    assert ours.predict_one(row) == theirs.predict(pd.DataFrame(FRESH[:1], columns=names))[0]
    ours.learn_one(row | {"new": 1.0}, "spam")
    assert ours.feature_names_in_.tolist() == [*names, "new"]
    with pytest.raises(ValueError, match="feature names"):
        from_sklearn(theirs).predict(frame[names[::-1]])


def test_several_labels():
    several = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] < 0]).astype(int)
    theirs = lm.RidgeClassifier().fit(X, several)
    ours = from_sklearn(theirs)
    assert ours.several_labels
    assert (ours.predict(FRESH) == theirs.predict(FRESH)).all()
    assert np.abs(ours.decision_function(FRESH) - theirs.decision_function(FRESH)).max() < 1e-12
    ours.partial_fit(X, several)
    assert ours.predict(FRESH).shape == (200, 3)


# ------------------------------------------------------------------------------------ learning goes on


@pytest.mark.parametrize("labels", [Y2, Y3], ids=["two classes", "three classes"])
def test_learning_goes_on_from_these_weights(labels, tmp_path):
    """The same as a fit of one epoch with coef_init, by rows, by batches and from a file."""
    theirs = lm.SGDClassifier(random_state=0).fit(X, labels)
    learner = pc.PassiveAggressive(C=0.1)
    rows, then = FRESH[:40], labels[:40]
    expected = pc.PassiveAggressive(C=0.1, shuffle=False, max_iter=1)
    expected.fit(rows, then, coef_init=theirs.coef_, intercept_init=theirs.intercept_)
    assert expected.n_updates_ > 0

    ours = from_sklearn(theirs, learner).partial_fit(rows, then)
    assert (ours.coef_ == expected.coef_).all() and (ours.intercept_ == expected.intercept_).all()

    one = from_sklearn(theirs, learner)
    for x, y in zip(rows, then, strict=True):
        one.learn_one(x, y)
    assert np.abs(one.coef_ - expected.coef_).max() < 1e-12

    pc.save(from_sklearn(theirs, learner), tmp_path / "m.model")
    loaded = pc.load(tmp_path / "m.model")
    same(loaded, theirs, FRESH)
    loaded.partial_fit(rows, then)
    assert (loaded.coef_ == expected.coef_).all() and (loaded.intercept_ == expected.intercept_).all()


def test_a_warm_fit_goes_on_and_a_plain_one_does_not():
    theirs = lm.LogisticRegression(C=100.0).fit(X, Y3)
    warm = from_sklearn(theirs, pc.Perceptron(warm_start=True, max_iter=1, shuffle=False)).fit(X, Y3)
    plain = from_sklearn(theirs, pc.Perceptron(max_iter=1, shuffle=False)).fit(X, Y3)
    start = {"coef_init": theirs.coef_, "intercept_init": theirs.intercept_}
    assert (warm.coef_ == pc.Perceptron(max_iter=1, shuffle=False).fit(X, Y3, **start).coef_).all()
    assert (plain.coef_ == pc.Perceptron(max_iter=1, shuffle=False).fit(X, Y3).coef_).all()
    assert (warm.coef_ != plain.coef_).any()


def test_a_class_that_is_new():
    ours = from_sklearn(lm.Perceptron().fit(X, Y3))
    ours.partial_fit(FRESH[:3], ["travel"] * 3)
    assert ours.classes_.tolist() == ["ham", "news", "spam", "travel"]


@pytest.mark.parametrize(
    "learner",
    [
        pc.Perceptron(multiclass="joint"),
        pc.MarginPerceptron(gamma=0.1),
        pc.MIRA(p=0.5),
        pc.ROMMA(),
        pc.ALMA(),
        pc.OnlineClassifier(rule=pc.rules.PA1(C=0.1)),
        pc.PassiveAggressive(intercept_scaling=3.0),
    ],
    ids=repr,
)
def test_every_learner_that_adds_rows(learner):
    theirs = lm.LogisticRegression().fit(X, Y3)
    ours = from_sklearn(theirs, learner)
    assert ours is not learner and not hasattr(learner, "classes_")
    assert repr(ours) == repr(learner)
    same(ours, theirs, FRESH)
    same(ours.partial_fit(X, Y3), ours, FRESH)


def test_proofs_of_runs_from_zero_are_not_claimed():
    toy = pc.datasets.four_points()
    theirs = lm.Perceptron(shuffle=False, fit_intercept=False).fit(toy.X, toy.y)
    ours = from_sklearn(theirs)
    assert ours.margin_bounds_.up == np.inf and ours.margin_bounds_.low is None
    ours.partial_fit(toy.X, toy.y)
    assert ours.margin_bounds_.up == np.inf
    assert not pc.certify(ours, toy.X, toy.y).bounds
    assert pc.certify(pc.Perceptron(fit_intercept=False).fit(toy.X, toy.y), toy.X, toy.y).bounds


# ------------------------------------------------------------------------------------ refusals


class Doubled(ClassifierMixin, BaseEstimator):
    """It has the weights of a linear classifier, and predicts by something else."""

    def fit(self, rows, labels):
        self.inner_ = lm.LogisticRegression().fit(rows, labels)
        self.coef_, self.intercept_ = self.inner_.coef_, self.inner_.intercept_
        self.classes_ = self.inner_.classes_
        return self

    def decision_function(self, rows):
        return self.inner_.decision_function(np.asarray(rows) ** 2)

    def predict(self, rows):
        return self.inner_.predict(np.asarray(rows) ** 2)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e8, 1e150])
def test_the_comparison_does_not_depend_on_the_unit_of_the_rows(unit):
    """Weights of rows in other units may be as small as the difference that was allowed."""
    theirs = Doubled().fit(X, Y2)
    for model in (theirs, theirs.inner_):
        model.coef_, model.intercept_ = model.coef_ / unit, model.intercept_ / unit
    with pytest.raises(ValueError, match="does not predict by coef_ and intercept_ alone"):
        from_sklearn(theirs)
    plain = lm.Perceptron().fit(X, Y2)
    plain.coef_, plain.intercept_ = plain.coef_ / unit, plain.intercept_ / unit
    assert np.array_equal(from_sklearn(plain).predict(X), plain.predict(X))


def test_models_that_are_not_linear_are_refused():
    for model, error, sentence in (
        (lm.Perceptron(), NotFittedError, "not fitted: it has no weights yet"),
        (lm.Perceptron, TypeError, "a fitted classifier; got the class Perceptron"),
        ("a string", TypeError, "a fitted classifier of scikit-learn; got str"),
        (pc.Perceptron().fit(X, Y2), TypeError, "a learner of perceptrons already"),
        (lm.Ridge().fit(X, X[:, 0]), TypeError, "not a linear classifier with weights: it has no classes_"),
        (GaussianNB().fit(X, Y2), TypeError, "it has no coef_"),
        (DecisionTreeClassifier().fit(X, Y2), TypeError, "it has no coef_"),
        (SVC().fit(X, Y2), TypeError, "it has no coef_"),
        (SVC(kernel="linear").fit(X, Y3), ValueError, "does not predict by coef_ and intercept_ alone"),
        (Doubled().fit(X, Y2), ValueError, "does not predict by coef_ and intercept_ alone"),
        (
            make_pipeline(StandardScaler(), lm.Perceptron()).fit(X, Y2),
            TypeError,
            "give its last step, from_sklearn(pipeline[-1]), and transform rows",
        ),
        (
            GridSearchCV(lm.Perceptron(), {"eta0": [1.0]}).fit(X, Y2),
            TypeError,
            "give its best_estimator_",
        ),
        (OneVsRestClassifier(lm.Perceptron()).fit(X, Y3), TypeError, "give one of its estimators_"),
    ):
        with pytest.raises(error) as caught:
            from_sklearn(model)
        assert sentence in str(caught.value), str(caught.value)


def test_weights_that_fit_no_classes_are_refused():
    theirs = lm.Perceptron().fit(X, Y3)
    theirs.classes_ = np.array(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"4 classes, coef_ of shape \(3, 7\)"):
        from_sklearn(theirs)
    theirs = lm.Perceptron().fit(X, Y3)
    theirs.coef_[1, 2] = np.nan
    with pytest.raises(ValueError, match="coef_init must hold finite numbers; got nan"):
        from_sklearn(theirs)


@pytest.mark.parametrize(
    ("learner", "error", "sentence"),
    [
        (pc.AROW(), TypeError, "AROW cannot begin with given weights"),
        (pc.Winnow(), TypeError, "Winnow cannot begin with given weights"),
        (pc.RiskDescent(), TypeError, "RiskDescent cannot begin with given weights"),
        (pc.MaxMargin(), TypeError, "MaxMargin cannot begin with given weights"),
        (pc.KernelPerceptron(), TypeError, "KernelPerceptron cannot begin with given weights"),
        (pc.TextClassifier(), TypeError, "TextClassifier cannot begin with given weights"),
        (lm.Perceptron(), TypeError, "Perceptron cannot begin with given weights"),
        (pc.Perceptron, TypeError, "got the class Perceptron"),
        (pc.AveragedPerceptron(), ValueError, "predict by all w since the start"),
        (pc.VotedPerceptron(), ValueError, "predict by all w since the start"),
        (pc.Perceptron(readout="average"), ValueError, "predict by all w since the start"),
        (pc.Perceptron(normalized_votes=True), ValueError, "normalized_votes=False"),
        (pc.Perceptron(row_norm="l2"), ValueError, "use row_norm=None"),
        (pc.Perceptron(fit_intercept=False), ValueError, "the learner has fit_intercept=False"),
        (pc.Perceptron(intercept_scaling="auto"), ValueError, "takes B from the lengths of all rows"),
        (pc.MarginPerceptron(), ValueError, "gamma='auto' starts again from w = 0"),
        (pc.PassiveAggressive(C=-1.0), ValueError, "C must be"),
    ],
    ids=repr,
)
def test_learners_that_cannot_go_on_are_refused(learner, error, sentence):
    with pytest.raises(error) as caught:
        from_sklearn(lm.LogisticRegression().fit(X, Y3), learner)
    assert sentence in str(caught.value), str(caught.value)
