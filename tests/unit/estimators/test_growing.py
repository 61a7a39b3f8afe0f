"""Classes that appear on the way, against a blackboard that keeps every weight vector it ever had."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from zoo import ONLINE, make

from perceptrons import OnlineClassifier, PassiveAggressive, Perceptron, VotedPerceptron, rules
from perceptrons.engine.journal import Journal

RNG = np.random.default_rng(3)
X = RNG.integers(-8, 9, (14, 3)) / 4.0
ORDERS = ["abcd", "dcba", "bdac", "cadb"]


def stream(order: str, seed: int = 0) -> np.ndarray:
    """Labels in which the classes of ``order`` appear one after the other, and come back later."""
    first = [0, 3, 6, 9]
    rng = np.random.default_rng(seed)
    labels = [order[0]] * len(X)
    for i in range(len(X)):
        known = sum(f <= i for f in first)
        labels[i] = order[first.index(i)] if i in first else order[rng.integers(known)]
    return np.array(labels)


class Blackboard:
    """One w for one class or two, W = (-f w, f w) and 0 from three on; all vectors are kept."""

    def __init__(self, tau, factor: float):
        self.tau = tau  # tau(m, q)
        self.factor = factor
        self.order: list[str] = []  # classes as they appeared
        self.W: dict[str, np.ndarray] = {}  # in the scale of three classes
        self.past: list[dict[str, np.ndarray]] = []

    def meet(self, label: str, d: int) -> None:
        if label in self.W:
            return
        self.order.append(label)
        for W in (self.W, *self.past):
            W[label] = -W[self.order[0]] if len(self.order) == 2 else np.zeros(d)

    def learn(self, x: np.ndarray, label: str) -> None:
        self.meet(label, len(x))
        q, f = x @ x, self.factor
        if len(self.order) <= 2:
            other = next((c for c in self.order if c != label), None)
            m = (self.W[label] @ x) / f
            tau = f * self.tau(m, q)
        else:
            rivals = sorted(c for c in self.W if c != label)
            other = max(rivals, key=lambda c: self.W[c] @ x)
            tau = self.tau((self.W[label] - self.W[other]) @ x, 2 * q)
        self.W[label] = self.W[label] + tau * x
        if other is not None:
            self.W[other] = self.W[other] - tau * x
        self.past.append(dict(self.W))

    def table(self, W: dict[str, np.ndarray]) -> np.ndarray:
        """As coef_ is: one row for one or two classes."""
        names = sorted(W)
        if len(names) <= 2:
            return W[names[-1]][None, :] / self.factor
        return np.stack([W[c] for c in names])

    def average(self) -> np.ndarray:
        return np.mean([self.table(W) for W in self.past], axis=0)

    def unit_average(self) -> np.ndarray:
        tables = [self.table(W) for W in self.past]
        return np.mean([t / (np.sqrt(np.sum(t * t)) or 1.0) for t in tables], axis=0)

    def votes(self, rows: np.ndarray) -> np.ndarray:
        scores = [rows @ self.table(W).T for W in self.past]
        if scores[0].shape[1] == 1:
            return np.sum([np.where(s[:, 0] > 0, 1.0, -1.0) for s in scores], axis=0)
        K = scores[0].shape[1]
        return np.sum([np.eye(K)[np.argmax(s, axis=1)] for s in scores], axis=0)


def perceptron(m: float, q: float) -> float:
    return 1.0 if m <= 0 else 0.0


def passive_aggressive(m: float, q: float) -> float:
    return max(0.0, 1.0 - m) / q if 1.0 - m > 1e-12 and q > 0 else 0.0


LEARNERS = {
    "Perceptron": (perceptron, 1.0, {}),
    "PassiveAggressive": (passive_aggressive, 0.5, {"variant": "hard"}),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cut", [None, 1, 4, 14])
@pytest.mark.parametrize(
    "readout", ["last", "average", "vote", pytest.param("unit average", marks=pytest.mark.exhaustive)]
)
def test_one_to_four_classes(name, order, cut, readout):
    """Row by row or in pieces, in any order of the labels: after every piece, all is as on the blackboard."""
    tau, factor, params = LEARNERS[name]
    unit = readout == "unit average"
    model = make(name, fit_intercept=False, readout=readout.split()[-1], normalized_votes=unit, **params)
    board = Blackboard(tau, factor)
    labels = stream(order)
    for start in range(0, len(X), cut or 1):
        piece = slice(start, start + (cut or 1))
        if cut is None:
            model.learn_one(X[start], labels[start])
        else:
            model.partial_fit(X[piece], labels[piece])
        for x, label in zip(X[piece], labels[piece]):
            board.learn(x, label)
        np.testing.assert_array_equal(model.classes_, sorted(board.W))
        if readout == "last":
            np.testing.assert_allclose(model.coef_, board.table(board.W), atol=1e-12)
        elif readout == "vote":
            np.testing.assert_array_equal(model.decision_function(X), board.votes(X))
        else:
            expected = board.unit_average() if unit else board.average()
            np.testing.assert_allclose(model.coef_, expected, atol=1e-12)
    if readout != "vote":
        scores = X @ model.coef_.T
        np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(scores, axis=1)])


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("new", ["a", "c", "e"])  # below, between and above the classes known
def test_predictions_stay_until_the_new_class_is_learned(name, new):
    rows = (X > 0).astype(float)
    labels = np.where(rows[:, 0] + rows[:, 1] > 0, "d", "b")
    rows[:, 2] = 1.0 - rows[:, 0] * rows[:, 1]
    model = make(name).partial_fit(rows, labels).partial_fit(rows, labels)
    scores = model.decision_function(rows)
    sure = np.abs(scores) > 1e-12  # a tie may go to the new class, if that is the lowest
    before, counts = model.predict(rows)[sure], (model.n_mistakes_, model.n_updates_, model.n_errors_)
    model.partial_fit(rows[:1], [new], sample_weight=[0.0])  # takes it up, and no more
    assert model.classes_.tolist() == sorted(["b", "d", new])
    assert model.coef_.shape[0] == 3
    if name not in ("Winnow", "Elimination"):  # a disjunction has no negation: they start again
        np.testing.assert_array_equal(model.predict(rows)[sure], before)
    joint = hasattr(model, "multiclass") and model.multiclass == "joint"
    if joint:
        assert (model.n_mistakes_, model.n_updates_, model.n_errors_) == counts
    model.partial_fit(np.tile(rows[:1], (9, 1)), [new] * 9)
    assert new in model.classes_
    if name not in ("Winnow", "Elimination", "BalancedWinnow", "VotedPerceptron"):
        assert model.predict(rows[:1]) == [new]


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("code", [0, 1, 2])
def test_one_against_the_rest(readout, code):
    """(-w, w) and a new learner, whose w was 0 on all that came before."""
    names = ["abc", "bac", "bca"][code]  # first, second and third to appear
    labels = np.array([*(names[0] + names[1]) * 3, *names[2] * 4, *names])[: len(X)]
    rows = X[: len(labels)]
    model = Perceptron(shuffle=False, fit_intercept=False, readout=readout, multiclass="ovr")
    model.partial_fit(rows[:6], labels[:6])
    for x, label in zip(rows[6:], labels[6:]):
        model.learn_one(x, label)
    # by hand: w and -w over the first six rows, then three learners of their own
    big, small = max(names[:2]), min(names[:2])
    past: list[dict[str, np.ndarray]] = []
    now = {c: np.zeros(3) for c in names}
    for x, label in zip(rows[:6], labels[:6]):
        s = 1.0 if label == big else -1.0
        if s * (now[big] @ x) <= 0:
            now[big] = now[big] + s * x
            now[small] = -now[big]
        past.append(dict(now))
    for x, label in zip(rows[6:], labels[6:]):
        for c in names:
            s = 1.0 if label == c else -1.0
            if s * (now[c] @ x) <= 0:
                now[c] = now[c] + s * x
        past.append(dict(now))
    order = sorted(names)
    if readout == "last":
        np.testing.assert_array_equal(model.coef_, [now[c] for c in order])
    elif readout == "average":
        means = [np.mean([p[c] for p in past], axis=0) for c in order]
        np.testing.assert_allclose(model.coef_, means, atol=1e-12)
    else:
        votes = [np.sum([np.where(rows @ p[c] > 0, 1, -1) for p in past], axis=0) for c in order]
        # the mirrored learner votes by its own sign: a tie is -1 for it too
        np.testing.assert_array_equal(model.decision_function(rows), np.transpose(votes))
    assert model.classes_.tolist() == order


# ------------------------------------------------------------------------------------------ one class


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("label", [0, 1, "x", True])
def test_one_class_is_trained_as_positive(name, label):
    rows = np.eye(3)
    model = make(name).partial_fit(rows, [label] * 3)
    model.learn_one(rows[0], label)
    assert model.classes_.tolist() == [label]
    assert model.predict(rows).tolist() == [label] * 3
    assert model.predict_one(rows[0]) == label
    assert model.decision_function(rows).shape == (3,)
    assert model.coef_.shape == (1, 3)
    if name in ("Perceptron", "MIRA", "PassiveAggressive"):
        assert (model.decision_function(rows) > 0).all()


@pytest.mark.parametrize("labels", [(1, 2), (2, 1)])
def test_the_larger_label_becomes_positive(labels):
    first, second = labels
    model = Perceptron(fit_intercept=False)
    model.learn_one(np.array([1.0, 0.0]), first)
    np.testing.assert_array_equal(model.coef_, [[1.0, 0.0]])  # while alone, +1
    model.learn_one(np.array([0.0, 1.0]), second)
    np.testing.assert_array_equal(model.coef_, [[1.0, -1.0]] if first == 2 else [[-1.0, 1.0]])
    assert model.predict(np.eye(2)).tolist() == [first, second]


def test_given_classes_count_from_the_start():
    model = Perceptron(shuffle=False).partial_fit(X[:2], ["b", "b"], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_.shape == (3, 3)
    later = Perceptron(shuffle=False).partial_fit(X[:2], ["b", "b"])
    later.partial_fit(X[2:4], ["b", "b"], classes=["a", "b", "c"])  # may also be told later
    assert later.classes_.tolist() == ["a", "b", "c"]
    assert later.coef_.shape == (3, 3)


def test_the_tie_rule_by_prediction_needs_the_classes_first():
    for model in (Perceptron(mistake="prediction"), VotedPerceptron(mistake="prediction")):
        with pytest.raises(ValueError, match="classes= in the first call of partial_fit"):
            model.partial_fit(X[:2], [0, 1])
        with pytest.raises(ValueError, match="classes="):
            model.learn_one(X[0], 0)
        model.partial_fit(X[:2], [0, 1], classes=[0, 1]).learn_one(X[0], 1)


def test_labels_of_another_type_are_refused_and_wider_words_are_not():
    model = PassiveAggressive().partial_fit(X[:2], ["a", "b"])
    model.learn_one(X[0], "a much longer label")
    assert model.classes_.tolist() == ["a", "a much longer label", "b"]
    numbers = PassiveAggressive().partial_fit(X[:2], [1, 2]).partial_fit(X[:2], [2.0, 3.0])
    assert numbers.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("readout", ["vote", "random"])
@pytest.mark.parametrize("rule", [rules.Perceptron(), rules.ROMMA()], ids=["columns alone", "all weights"])
def test_a_logged_model_is_put_back_when_a_new_class_is_interrupted(readout, rule, monkeypatch):
    model = OnlineClassifier(rule=rule, readout=readout, random_state=0)
    for label in range(4):
        model.partial_fit(sp.csr_array(np.eye(4, 60, k=label)), [label] * 4)
    before = copy.deepcopy(model)

    def interrupted(self, *args):
        raise KeyboardInterrupt

    for label in (2, 7):  # known, and new
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "extend", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.partial_fit(sp.csr_array(np.eye(4, 60, k=9)), [label] * 4)
        np.testing.assert_array_equal(model.coef_, before.coef_)
        np.testing.assert_array_equal(model.classes_, before.classes_)
        assert model.n_updates_ == before.n_updates_ and len(model.update_log_) == len(before.update_log_)
    for one in (model, before):
        one.partial_fit(sp.csr_array(np.eye(4, 60, k=9)), [7] * 4)
    np.testing.assert_array_equal(model.coef_, before.coef_)
