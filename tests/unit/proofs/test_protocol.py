"""The online protocol on learners of every make, its counts, and its curves of bounds."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from scipy import sparse
from sklearn.linear_model import Perceptron as ScikitPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import perceptrons as pc
from perceptrons import datasets, theory
from perceptrons.proofs import force_mistakes, run_online

FOUR = datasets.four_points()


class Blackboard:
    """A plain learner: the perceptron."""

    def __init__(self, d):
        self.w = np.zeros(d)

    def predict(self, x):
        return 1 if self.w @ x > 0 else -1

    def learn(self, x, y):
        if y * (self.w @ x) <= 0:
            self.w = self.w + y * x


def as_functions(d):
    plain = Blackboard(d)
    return plain.predict, plain.learn


# --------------------------------------------------------------------------------------- who plays


MAKERS = {
    "object": Blackboard,
    "functions": as_functions,
    "ours": lambda d: pc.Perceptron(fit_intercept=False),
}
WAYS = [(make, how) for make in MAKERS for how in ("record", "arrays", "lists", "pairs", "generator")]


@pytest.mark.parametrize(("make", "how"), [*WAYS, ("ours", "sparse")])
def test_the_same_run_whoever_plays_and_however_rows_are_served(make, how):
    X, y = FOUR.X, FOUR.y
    learner = MAKERS[make](2)
    sequence = {
        "record": FOUR,
        "arrays": (X, y),
        "lists": (X.tolist(), y.tolist()),
        "pairs": list(zip(X, y)),
        "generator": zip(X, y),
        "sparse": (sparse.csr_array(X), y),
    }[how]
    run = run_online(learner, sequence, classes=[-1, 1] if how == "generator" else None)
    assert run.predictions.tolist() == [-1, 1, -1, 1]
    assert run.mistakes.tolist() == [0, 3]
    assert run.curve.tolist() == [1, 1, 1, 2]
    assert (run.n_examples, run.n_mistakes, run.n_silent) == (4, 2, 0)
    assert run.learner is learner


#: these predict with other weights than they count with
READ_OUT = ("AveragedPerceptron", "VotedPerceptron")


@pytest.mark.uncompiled
@pytest.mark.parametrize("name", [name for name in zoo.ONLINE if name not in READ_OUT])
def test_mistakes_are_the_learners_own_counts(name):
    model = getattr(pc, name)()
    run = run_online(model, (np.tile(zoo.X, (3, 1)), np.tile(zoo.y, 3)))
    assert run.n_mistakes == model.n_errors_
    assert len(run.counted) == model.n_mistakes_
    assert set(run.mistakes) <= set(run.counted)


def test_an_average_is_judged_by_what_it_predicts():
    X, y = np.tile(FOUR.X, (5, 1)), np.tile(FOUR.y, 5)
    run = run_online(pc.AveragedPerceptron(), (X, y))
    again = pc.AveragedPerceptron()
    again.partial_fit(X[:1], y[:1], classes=[-1, 1], sample_weight=[0.0])
    wrong = []
    for i, (x, label) in enumerate(zip(X, y)):
        if again.predict_one(x) != label:
            wrong.append(i)
        again.learn_one(x, label)
    assert run.mistakes.tolist() == wrong


def test_scikit_learn_is_silent_at_first():
    toy = datasets.clouds_near()
    model = SGDClassifier(loss="perceptron", eta0=1.0, learning_rate="constant", random_state=0)
    run = run_online(model, toy)
    assert run.n_silent == 1 and run.predictions[0] == -1  # the smaller label
    assert run.counted is None
    alone = SGDClassifier(loss="perceptron", eta0=1.0, learning_rate="constant", random_state=0)
    for x, label in zip(toy.X, toy.y):
        alone.partial_fit([x], [label], classes=np.unique(toy.y))
    np.testing.assert_array_equal(model.coef_, alone.coef_)  # it was taught every row, once, in order
    with pytest.raises(ValueError, match="SGDClassifier has to know its classes"):
        run_online(SGDClassifier(), zip(toy.X, toy.y))


@pytest.mark.parametrize("X", [FOUR.X, sparse.csr_array(FOUR.X)], ids=["dense", "sparse"])
def test_a_mistake_curve_of_scikit_learn_with_its_bounds(X):
    """Its perceptron is ours, so the theorems hold for it: the silent round counts as the answer -1."""
    model = ScikitPerceptron(fit_intercept=False, shuffle=False)
    run = run_online(model, (X, FOUR.y))
    ours = run_online(pc.Perceptron(fit_intercept=False), FOUR)
    assert np.array_equal(run.predictions, ours.predictions) and np.array_equal(run.curve, ours.curve)
    curves = run.bounds(u=[1.0, 0.0], gamma=1.0)
    for name in ("novikoff", "hinge", "hinge_tight", "total_distance"):
        assert np.all(curves.mistakes <= getattr(curves, name)), name
    own = run.bounds()  # the best multiple of its own weights
    assert np.all(own.mistakes <= own.hinge_tight) and own.u is not None
    assert "novikoff" in run.table(gamma=1.0)


def test_a_learner_that_is_no_halfspace_plays_too():
    run = run_online(BernoulliNB(), (zoo.X, zoo.y))
    assert run.n_examples == 8 and run.n_silent == 1
    n, sequence, _ = force_mistakes(BernoulliNB(), 0.5)
    assert run_online(BernoulliNB(), sequence).n_mistakes == n == 4


def test_river_hears_false_and_true():
    linear_model = pytest.importorskip("river.linear_model", exc_type=ImportError)
    run = run_online(linear_model.PAClassifier(), datasets.clouds_near())
    assert set(run.predictions) <= {-1, 1}
    assert run.n_mistakes < 10
    n, (_, y), _ = force_mistakes(linear_model.PAClassifier(), 0.5)
    assert run_online(linear_model.PAClassifier(), (np.eye(4), y)).n_mistakes == n == 4


class RiverBase:
    """What a class of River's looks like from outside: it says where it comes from."""

    __module__ = "river.base"


class Derived(RiverBase):
    """A perceptron on dicts with labels False and True, as somebody builds it on River's classes."""

    def __init__(self):
        self.w = {}

    def predict_one(self, x):
        return sum(self.w.get(name, 0.0) * v for name, v in x.items()) > 0

    def learn_one(self, x, y):
        assert isinstance(x, dict) and isinstance(y, bool)
        sign = 1 if y else -1
        if sign * sum(self.w.get(name, 0.0) * v for name, v in x.items()) <= 0:
            for name, v in x.items():
                self.w[name] = self.w.get(name, 0.0) + sign * v


class OnDicts:
    """Such an object without any tie to River: it gets rows and labels as they are."""

    def __init__(self):
        self.inner = Derived()

    def predict_one(self, x):
        return 1 if self.inner.predict_one(x) else -1

    def learn_one(self, x, y):
        self.inner.learn_one(x, y == 1)


@pytest.mark.parametrize("X", [FOUR.X, sparse.csr_array(FOUR.X)], ids=["dense", "sparse"])
def test_what_is_derived_from_river_is_served_as_river(X):
    model = Derived()
    run = run_online(model, (X, FOUR.y))
    assert run.predictions.tolist() == [-1, 1, -1, 1] and run.curve.tolist() == [1, 1, 1, 2]
    assert model.w == {0: 2.0, 1: 1.0}
    curves = run.bounds(u=[1.0, 0.0])
    np.testing.assert_allclose(curves.novikoff, 5.0)
    n, sequence, _ = force_mistakes(Derived(), 0.25)
    assert n == 16 == run_online(Derived(), sequence).n_mistakes


def test_an_object_like_those_of_river_takes_dicts_where_dicts_are_served():
    rows = [({"a": x[0], "b": x[1]}, int(label)) for x, label in zip(FOUR.X, FOUR.y)]
    run = run_online(OnDicts(), rows)
    assert run.predictions.tolist() == [-1, 1, -1, 1] and run.curve.tolist() == [1, 1, 1, 2]
    np.testing.assert_allclose(run.bounds(u={"a": 1.0}).novikoff, 5.0)


def test_rows_with_names():
    rows = [({"spam": 1.0}, "no"), ({"ham": 2.0}, "yes"), ({"spam": 1.0, "ham": 1.0}, "yes")]
    run = run_online(pc.Perceptron(fit_intercept=False), rows)
    assert run.labels.tolist() == ["no", "yes", "yes"]
    assert run.predictions[0] == "no"
    curves = run.bounds(u={"ham": 1.0, "spam": -1.0})
    assert curves.radius.tolist() == [1.0, 2.0, 2.0]
    assert curves.novikoff[1] == pytest.approx(8.0)  # margins 1 and 2 of a u of length √2: R²·2/1
    assert curves.novikoff[2] == np.inf  # the last row is on its plane


def test_several_classes():
    toy = datasets.three_classes()
    run = run_online(pc.Perceptron(), toy)
    assert run.n_mistakes == run.learner.n_errors_
    with pytest.raises(ValueError, match="two classes; the run has 3"):
        run.bounds(gamma=1.0)


def test_what_cannot_play():
    with pytest.raises(TypeError, match=r"predict_one and learn_one.*got int"):
        run_online(3, FOUR)
    with pytest.raises(TypeError, match=r"\(X, y\) or an iterable of pairs.*got int"):
        run_online(pc.Perceptron(), 3)
    with pytest.raises(ValueError, match="a label per row"):
        run_online(pc.Perceptron(), (FOUR.X, FOUR.y[:2]))


# ------------------------------------------------------------------------------------------ curves


def test_curves_by_hand():
    run = run_online(pc.Perceptron(fit_intercept=False), FOUR)
    curves = run.bounds(u=[2.0, 1.0], gamma=0.4)
    np.testing.assert_allclose(curves.radius, np.sqrt(5))
    np.testing.assert_allclose(curves.novikoff, 5 / 0.16)
    np.testing.assert_allclose(curves.hinge, 25.0)  # every margin is 1 or more: nothing is missed
    np.testing.assert_allclose(curves.hinge_tight, 25.0)
    np.testing.assert_allclose(curves.total_distance, 5 / 0.16)
    assert curves.mistakes.tolist() == [1, 1, 1, 2]
    own = run.bounds(u=[1.0, 0.0])  # margins 1, 2, 1, 1
    np.testing.assert_allclose(own.novikoff, 5.0)
    short = run.bounds(u=[0.5, 0.0])  # misses ½ on rows 0 and 3, the mistakes
    np.testing.assert_allclose(short.hinge, 5 / 4 + 2 * np.array([0.5, 0.5, 0.5, 1.0]))


@pytest.mark.parametrize("bias", [None, 2.0])
@pytest.mark.parametrize("row_norm", [None, "l2"])
def test_no_curve_is_crossed(bias, row_norm):
    toy = datasets.overlapping_clouds()
    options = {"fit_intercept": False} if bias is None else {"intercept_scaling": bias}
    run = run_online(pc.Perceptron(row_norm=row_norm, **options), toy)
    curves = run.bounds()
    assert len(curves.u) == (2 if bias is None else 3)
    assert curves.radius[-1] == pytest.approx(run.learner.radius_)
    for name in ("novikoff", "hinge", "hinge_tight"):
        assert np.all(curves.mistakes <= getattr(curves, name) + 1e-9), name


def test_rows_of_a_kernel_are_as_long_as_the_kernel_says():
    toy = datasets.rings()
    run = run_online(pc.KernelPerceptron(kernel=pc.kernels.Polynomial(degree=2)), toy)
    curves = run.bounds(gamma=0.1)
    assert curves.radius[-1] == pytest.approx(1 + (toy.X**2).sum(axis=1).max())
    assert np.all(curves.mistakes <= curves.novikoff)
    with pytest.raises(ValueError, match=r"u must live in the kernel's space.*give gamma="):
        run.bounds(u=[1.0, 1.0])


def test_what_has_no_weights_needs_a_comparator():
    run = run_online(as_functions(2), FOUR)
    with pytest.raises(ValueError, match="give u=, a vector of weights, or gamma="):
        run.bounds()
    with pytest.raises(ValueError, match="u must have 2 weights, one per feature; got 3"):
        run.bounds(u=[1, 2, 3])
    assert run.bounds(gamma=1.0).novikoff[-1] == pytest.approx(5.0)


def test_it_prints():
    run = run_online(pc.Perceptron(fit_intercept=False), datasets.clouds_near())
    assert repr(run) == "<OnlineRun: Perceptron, 1 mistake on 40 examples>"
    lines = str(run).splitlines()
    assert lines[1].split() == ["examples", "mistakes"]
    assert [line.split()[0] for line in lines[2:]] == ["1", "2", "5", "10", "20", "40"]


def test_an_empty_run():
    run = run_online(pc.Perceptron(), [], classes=[-1, 1])
    assert run.n_examples == 0 and len(run.curve) == 0
    assert "0 mistakes on 0 examples" in str(run)


# --------------------------------------------------------------------------------------- adversary


def test_labels_of_ones_own():
    n, (X, y), u = force_mistakes(pc.Perceptron(fit_intercept=False), 0.5, classes=["ham", "spam"])
    assert n == 4 and set(y) <= {"ham", "spam"}
    assert np.all(np.where(y == "spam", 1, -1) * (X @ u) == 0.5)


def test_a_margin_out_of_reach():
    with pytest.raises(ValueError, match=r"gamma must be at least 0\.01"):
        force_mistakes(pc.Perceptron(), 0.001)
    with pytest.raises(ValueError, match="gamma"):
        force_mistakes(pc.Perceptron(), 2.0)
    with pytest.raises(ValueError, match="a pair of labels"):
        force_mistakes(pc.Perceptron(), 0.5, classes=[1, 2, 3])
    assert theory.forced_mistakes(0.1) == force_mistakes(Blackboard(100), 0.1).n == 100
