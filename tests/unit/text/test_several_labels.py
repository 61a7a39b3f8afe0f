"""Texts with several labels: the loops against a reference in plain Python, and every way to learn them."""

from __future__ import annotations

import pickle
from math import sqrt

import numpy as np
import pytest
from sklearn.base import clone

from perceptrons import TextClassifier, load, rules, save
from perceptrons.core import label_lists
from perceptrons.engine import intake
from perceptrons.engine.loops import labels as loop
from perceptrons.engine.spaces import labels as space_module
from perceptrons.models import ModelError

pytestmark = pytest.mark.uncompiled  # but one case, which goes through all loops
RNG = np.random.default_rng(7)
WORDS = [f"w{j}" for j in range(40)]
NAMES = [f"topic {c}" for c in "fabdcelkjihg"]


def generated(n, rng=RNG):
    """Texts whose words hint at their labels."""
    texts, y = [], []
    for _ in range(n):
        own = rng.choice(len(NAMES), rng.integers(0, 4), replace=False)
        words = [WORDS[(3 * t + rng.integers(4)) % 40] for t in own for _ in range(3)]
        texts.append(" ".join([*words, *rng.choice(WORDS, 4)]))
        y.append([NAMES[t] for t in own])
    return texts, y


TEXTS, Y = generated(60)
MODEL = TextClassifier(bits=10, precision="float64", idf=False, random_state=0)


class Reference:
    """What the docstring of TextClassifier says, by dictionaries."""

    def __init__(self, r, most, bias):
        self.r, self.most, self.bias = r, most, bias
        self.numbers, self.w, self.sigma, self.shared = {}, {}, {}, None

    def scores(self, x, sq):
        f, found = 1.0 / sqrt(sq), {}
        for label in self.numbers:
            w, s = self.w[label], 0.0
            for j, value in x:
                s += value * w.get(j, 0.0)
            found[label] = f * (s + self.bias * w.get(-1, 0.0))
        return found

    def variance(self, sigma, x, f, touched):
        known = fresh = 0.0
        for j, value in x:
            if j in touched and self.shared is None:
                known += value * value * sigma.get(j, 1.0)
            elif self.shared is None:
                fresh += value * value
            else:
                known += value * value * sigma.get(j, 1.0)
        return f * f * (known + fresh + self.bias * self.bias * sigma.get(-1, 1.0))

    def learn(self, x, sq, labels):
        for label in sorted(labels):
            self.numbers.setdefault(label, len(self.numbers))
            self.w.setdefault(label, {})
            self.sigma.setdefault(label, {})
        if self.shared is None and len(self.numbers) > self.most:
            columns = {j for sigma in self.sigma.values() for j in sigma}
            self.shared = {j: min(s.get(j, 1.0) for s in self.sigma.values()) for j in columns}
        f, s = 1.0 / sqrt(sq), self.scores(x, sq)
        touched = {j for sigma in self.sigma.values() for j in sigma}
        if self.shared is None:
            for label in self.numbers:
                y = 1.0 if label in labels else -1.0
                self.step(label, y, s[label], self.sigma[label], x, f, touched, shrink=True)
            return
        wrong = [label for label in self.numbers if label not in labels and s[label] > -1.0]
        wrong = sorted(wrong, key=lambda label: (-s[label], self.numbers[label]))
        steps = [(label, 1.0) for label in sorted(labels, key=self.numbers.get)]
        steps += [(label, -1.0) for label in wrong[: loop.RIVALS]]
        betas = [
            self.step(label, y, s[label], self.shared, x, f, touched, shrink=False) for label, y in steps
        ]
        if any(betas):
            self.lose(self.shared, max(betas), x, f)

    def step(self, label, y, s, sigma, x, f, touched, shrink):
        v, m = self.variance(sigma, x, f, touched), y * s
        if 1.0 - m <= rules.LOSS_TOL:
            return 0.0
        beta = 1.0 / (v + self.r)
        d, w = beta * (1.0 - m) * y * f, self.w[label]
        for j, value in [*x, (-1, self.bias)]:
            w[j] = w.get(j, 0.0) + d * (sigma.get(j, 1.0) * value)
        if shrink:
            self.lose(sigma, beta, x, f)
        return beta

    def lose(self, sigma, beta, x, f):
        for j, value in [*x, (-1, self.bias)]:
            step = sigma.get(j, 1.0) * value
            sigma[j] = sigma.get(j, 1.0) - beta * (f * f) * (step * step)


def visited(model, texts):
    rows = intake.make_rows(model.hash(texts), 1.0, True)
    for i in range(len(texts)):
        part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        yield list(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)), float(rows.sq[i])


@pytest.mark.parametrize("most", [256, 3], ids=["lines", "lines, then lists"])
def test_the_loops_compute_what_the_docstring_says(monkeypatch, most):
    monkeypatch.setattr(space_module, "MOST_IN_LINES", most)
    model, order = clone(MODEL), np.random.default_rng(0).permutation(60)
    reference, rows = Reference(0.1, most, 1.0), list(visited(model, TEXTS))
    for _ in range(2):
        for i in order:
            reference.learn(*rows[i], Y[i])
    model.fit(TEXTS, Y, order=[order, order])
    assert model._space.in_lists == (most == 3)
    expected = [reference.scores(*row) for row in rows]
    np.testing.assert_array_equal(
        model.decision_function(TEXTS), [[s[label] for label in model.classes_.tolist()] for s in expected]
    )
    assert model.classes_.tolist() == sorted(NAMES)
    assert model.score(TEXTS, Y) >= 0.7


@pytest.mark.parametrize(
    "most, idf",
    [(256, False), (256, True), (3, False), pytest.param(3, True, marks=pytest.mark.compiled)],
    ids=["lines", "lines idf", "lists", "lists idf"],
)
def test_at_once_in_pieces_one_by_one_and_from_a_file(monkeypatch, tmp_path, most, idf):
    monkeypatch.setattr(space_module, "MOST_IN_LINES", most)
    monkeypatch.setattr(space_module, "FIRST_SLOTS", 2)
    monkeypatch.setattr(space_module, "FIRST_POOL", 2)
    model = clone(MODEL).set_params(precision="float32", idf=idf)
    order = np.arange(60)
    whole = clone(model).fit(TEXTS, Y, order=[order, order])
    pieces, single, stored = clone(model), clone(model), clone(model)
    for epoch in range(2):
        for a, b in ((0, 1), (1, 2), (2, 33), (33, 60)):
            pieces.partial_fit(TEXTS[a:b], [set(y) for y in Y[a:b]])
            stored.partial_fit(TEXTS[a:b], Y[a:b])
            save(stored, tmp_path / "model")
            stored = load(tmp_path / "model") if epoch else pickle.loads(pickle.dumps(stored))
        for text, y in zip(TEXTS, Y, strict=True):
            single.learn_one(text, y[0] if len(y) == 1 else tuple(y)) if y else single.learn_one(text, [])
    expected = whole.decision_function(TEXTS)
    for other in (pieces, single, stored):
        np.testing.assert_array_equal(other.decision_function(TEXTS), expected)
        assert other.classes_.tolist() == whole.classes_.tolist()
        assert other.n_updates_ == whole.n_updates_ and other.n_mistakes_ == whole.n_mistakes_
    assert single.predict_one(TEXTS[0]) == whole.predict(TEXTS[:1])[0]


def test_the_storage_that_is_stated(monkeypatch):
    model = clone(MODEL).fit(TEXTS, Y)
    kept, used = model.label_storage_, len(np.unique(model.hash(TEXTS).indices))
    assert (kept.columns, kept.pairs, kept.in_lists) == (used, (used + 1) * 12, False)
    monkeypatch.setattr(space_module, "MOST_IN_LINES", 3)
    model = clone(MODEL).fit(TEXTS, Y)
    kept = model.label_storage_
    assert kept.in_lists and 0 < kept.pairs < (used + 1) * 12 and kept.bytes > 16 * kept.pairs
    with pytest.raises(AttributeError, match="several labels only"):
        clone(MODEL).fit(TEXTS[:2], ["a", "b"]).label_storage_  # noqa: B018


def test_a_label_scores_minus_one_until_a_text_has_it():
    model = clone(MODEL).partial_fit(TEXTS[:20], Y[:20], classes=[*NAMES, "never"])
    column = model.classes_.tolist().index("never")
    assert (model.decision_function(TEXTS)[:, column] == -1.0).all()
    assert not any("never" in one for one in model.predict(TEXTS))
    weights = np.ones(20)
    weights[5] = 0.0
    skipped = clone(MODEL).partial_fit(TEXTS[:20], [*Y[:5], ["rare"], *Y[6:20]], sample_weight=weights)
    assert (skipped.decision_function(TEXTS)[:, skipped.classes_.tolist().index("rare")] == -1.0).all()


def test_indicator_matrices_and_lists_are_learned_alike():
    names = sorted(NAMES)
    matrix = np.array([[name in y for name in names] for y in Y]).astype(int)
    order = [np.arange(60)] * 2
    model = clone(MODEL).fit(TEXTS, matrix, order=order)
    lists = clone(MODEL).fit(TEXTS, Y, order=order)
    np.testing.assert_array_equal(model.decision_function(TEXTS), lists.decision_function(TEXTS))
    assert model.classes_.tolist() == list(range(12))
    assert model.predict(TEXTS).shape == (60, 12) and model.score(TEXTS, matrix) == lists.score(TEXTS, Y)
    assert model.predict(TEXTS[:2], k=1) == [
        [names.index(one) for one in best] for best in lists.predict(TEXTS[:2], k=1)
    ]


def test_the_best_labels_and_those_above_a_threshold():
    model = clone(MODEL).fit(TEXTS, Y)
    scores = model.decision_function(TEXTS)
    labels = model.classes_
    for found, row in zip(model.predict(TEXTS, k=2), scores, strict=True):
        assert found == labels[np.argsort(-row, kind="stable")[:2]].tolist()
    for found, row in zip(model.predict(TEXTS, threshold=-0.5), scores, strict=True):
        assert sorted(found) == labels[row > -0.5].tolist()
    for found, row in zip(model.predict(TEXTS, k=1, threshold=0.2), scores, strict=True):
        assert found == ([labels[row.argmax()]] if row.max() > 0.2 else [])
    one = TextClassifier(bits=10, random_state=0).fit(TEXTS[:20], ["a", "b"] * 10)
    assert one.predict(TEXTS[:3], k=1) == [[label] for label in one.predict(TEXTS[:3])]
    assert one.predict(TEXTS[:3], k=2, threshold=1e9) == [[], [], []]
    with pytest.raises(ValueError, match="k must be"):
        one.predict(TEXTS, k=0)


def test_early_stopping_counts_texts_whose_labels_are_all_right():
    model = clone(MODEL).set_params(early_stopping=True, max_iter=4).fit(TEXTS, Y)
    assert 0.0 <= max(model.validation_scores_) <= 1.0 and len(model.validation_scores_) == model.n_iter_


@pytest.mark.parametrize("nth", [1, 2, 3, 5, 8, 13, 21])
def test_an_interruption_takes_effect_when_the_batch_is_learned(monkeypatch, nth):
    """It comes while an array is made longer, the nth time: no array may be left too short."""
    for name, value in (("MOST_IN_LINES", 3), ("FIRST_SLOTS", 2), ("FIRST_LABELS", 1), ("FIRST_POOL", 2)):
        monkeypatch.setattr(space_module, name, value)
    expected = clone(MODEL).partial_fit(TEXTS, Y).decision_function(TEXTS)
    real, calls = space_module.stretched, []

    def interrupted(*args, **how):
        calls.append(args)
        if len(calls) == nth:
            raise KeyboardInterrupt
        return real(*args, **how)

    model = clone(MODEL)
    monkeypatch.setattr(space_module, "stretched", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(TEXTS, Y)
    np.testing.assert_array_equal(model.decision_function(TEXTS), expected)
    assert len(calls) > nth and model.history_[-1]["examples"] == 60


def test_an_error_leaves_the_model_as_it_was():
    model = clone(MODEL).set_params(row_norm=None).partial_fit(TEXTS[:10], Y[:10])
    before = model.decision_function(TEXTS)
    with pytest.raises(ValueError, match="labels of one type"):
        model.partial_fit(TEXTS[:2], [["x"], [3]])
    np.testing.assert_array_equal(model.decision_function(TEXTS), before)


REFUSED = [
    (lambda: clone(MODEL).set_params(rule="perceptron").fit(TEXTS, Y), "confidence per column"),
    (lambda: clone(MODEL).set_params(log_updates=True).fit(TEXTS, Y), "not logged"),
    (
        lambda: clone(MODEL).set_params(probability=True).fit(TEXTS, Y),
        "set calibration_rows=.held out. for probabilities",
    ),
    (lambda: clone(MODEL).set_params(class_weight="running").fit(TEXTS, Y), "class_weight"),
    (lambda: clone(MODEL).fit(TEXTS, Y[:-1]), "X has 60 rows, y has labels for 59"),
    (lambda: clone(MODEL).fit(TEXTS, [[] for _ in TEXTS]), "No row has a label"),
    (lambda: clone(MODEL).fit(TEXTS[:2], ["a", "b"]).partial_fit(TEXTS, Y), "has learned one label a row"),
    (lambda: clone(MODEL).fit(TEXTS[:2], ["a", "b"]).learn_one(TEXTS[0], ["a"]), "one label a row"),
    (lambda: clone(MODEL).fit(TEXTS, [[None], *Y[1:]]), "every row needs a label"),
    (lambda: clone(MODEL).fit(TEXTS, Y).run_record(), "several labels"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_forged_tables_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(space_module, "MOST_IN_LINES", 3)
    model = clone(MODEL).fit(TEXTS, Y)
    space = model._space
    kept = space.kept()

    def forged(**changes):
        state = {**space.stored(), **{f"kept_{name}": value for name, value in changes.items()}}
        monkeypatch.setattr(type(space), "stored", lambda self: state)
        save(model, tmp_path / "forged")
        with pytest.raises(ModelError):
            load(tmp_path / "forged")

    save(model, tmp_path / "forged")
    np.testing.assert_array_equal(
        load(tmp_path / "forged").decision_function(TEXTS), model.decision_function(TEXTS)
    )
    forged(columns=kept.columns[::-1].copy())
    forged(columns=kept.columns + np.uint32(1 << 20))
    forged(label=np.where(kept.label == 2, 900, kept.label).astype(np.int32))
    forged(label=-kept.label)
    forged(length=kept.length + np.int32(1))
    forged(weight=kept.weight * np.nan)
    forged(S=kept.S[1:].copy())
    forged(S=kept.S[:, None].copy())


def test_the_form_of_lists():
    assert label_lists.is_listed([["a"], "b"]) and label_lists.is_listed((set(), "b"))
    assert not label_lists.is_listed(["a", "b"]) and not label_lists.is_listed(np.zeros((2, 2)))
    found = label_lists.gathered(np.array(["a", "b", "c"]), np.array([2, 0, 2, 1]), np.array([3, 0, 1]))
    assert found.codes.tolist() == [[0, 2], [-1, -1], [1, -1]]
    assert label_lists.matrix(found.codes, 3).tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_probabilities_of_labels_from_texts_held_out(tmp_path):
    model = clone(MODEL).set_params(probability=True, idf=True)
    with pytest.raises(ValueError, match="set calibration_rows='held out' for probabilities"):
        model.fit(TEXTS, Y)
    model.set_params(calibration_rows="held out", validation_fraction=0.4).fit(TEXTS, Y)
    P = model.predict_proba(TEXTS)
    assert P.shape == (len(TEXTS), len(model.classes_)) and ((P > 0.0) & (P < 1.0)).all()
    own = np.array([[name in labels for name in model.classes_] for labels in Y])
    assert P[own].mean() > 1.5 * P[~own].mean()
    for r in range(len(model.classes_)):  # each label by itself, in the order of its scores
        assert (np.diff(P[np.argsort(model.decision_function(TEXTS)[:, r]), r]) >= 0.0).all()
    save(model, tmp_path / "a.model")
    np.testing.assert_array_equal(load(tmp_path / "a.model").predict_proba(TEXTS), P)
    with pytest.raises(ValueError, match="none to spare"):
        model.partial_fit(TEXTS, Y)
