"""What the examples on real data count and choose, on rows one can check by hand; and the page they fill."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from places import ROOT
from sklearn.linear_model import Perceptron as SklearnPerceptron

from perceptrons import Perceptron, datasets, rules

SHARED = ("_shared", "adult", "data", "enron", "imdb", "newsgroups", "objective", "report", "reuters", "sms")


@pytest.fixture
def module(monkeypatch):
    """Imports a script of examples/ or benchmarks/, for one test."""
    for name in (*SHARED, "tasks"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.syspath_prepend(ROOT / "examples")
    yield importlib.import_module
    for name in (*SHARED, "tasks"):
        sys.modules.pop(name, None)


# ------------------------------------------------------------------------------------ shared protocol


@pytest.fixture
def task(module):
    shared = module("_shared")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return shared.Task(X[:40], np.where(X[:40, 0] > 0, 1, -1), X[40:], np.where(X[40:, 0] > 0, 1, -1))


def test_the_test_rows_choose_nothing(module, task):
    shared = module("_shared")
    for learner in shared.learners():
        if learner.values and not learner.zero_one:
            blind = task._replace(X_test=None, y_test=None)
            value = shared.best_value(learner, blind, shared.test_error)
            assert value == shared.best_value(learner, task, shared.test_error) and value in learner.values


def test_a_learner_that_is_in_no_table(module, capsys):
    with pytest.raises(SystemExit):
        module("_shared").run(module("sms"), ["--learner", "Pegasus"])
    assert "--learner takes names of the table; got 'Pegasus'." in capsys.readouterr().err


def test_one_split_many_shuffles(module, task):
    shared = module("_shared")
    asked = []

    class Counting:
        def __init__(self, random_state, size=None, max_iter=None):
            self.seed, self.size = random_state, size

        def fit(self, X, y):
            asked.append((self.seed, self.size, len(y)))
            return self

        def predict(self, X):
            return np.full(len(X), 1 if self.size == 2.0 else 0)  # 0 is never right

    chooses = shared.Learner("a", Counting, "size", (1.0, 2.0))
    steady = shared.Learner("b", Counting, online=False)
    first, second = shared.compare([task] * 3, [chooses, steady])
    choosing, runs = asked[:2], asked[2:5]
    assert [(size, rows) for _, size, rows in choosing] == [(1.0, 32), (2.0, 32)]  # four fifths of 40
    assert runs == [(0, 2.0, 40), (1, 2.0, 40), (2, 2.0, 40)]
    assert first.setting() == "size=2" and first.scores.shape == (3, 1)
    assert asked[5:] == [(0, None, 40)] and second.cell() == "100.00" and second.setting() == ""


def test_rare_words_are_judged_by_the_training_texts_alone(module):
    shared = module("_shared")
    train, y = ["spam spam ham", "ham eggs", "eggs toast"], np.array([1, 0, 0])
    one = shared.text_task(train, y, ["ham ham"], y[:1])
    two = shared.text_task(train, y, ["spam", "toast", "eggs"], y)
    assert (one.X != two.X).nnz == 0
    assert np.allclose(np.sqrt(one.X.multiply(one.X).sum(axis=1)), 1.0)
    binary = shared.zero_one(one)
    assert set(binary.X.data.tolist()) == {1.0} and binary.X.nnz == one.X.nnz
    assert one.X.data.max() < 1.0  # the task itself is as it was


def test_a_limit_draws_from_all_rows(module):
    shared = module("_shared")
    rows, y = shared.some(list(range(100)), np.arange(100), 10)
    assert len(rows) == 10 and rows == sorted(rows) and rows == y.tolist() and max(rows) > 50
    assert shared.some([1, 2], np.array([0, 1]), None)[0] == [1, 2]


# ------------------------------------------------------------------------------------------- Reuters


def test_break_even_and_f1_by_hand(module):
    reuters = module("reuters")
    truth = np.array([True, True, False, False])
    # the best two scores hold one of the two stories; said of three, two of them rightly
    first = reuters.counts(truth, np.array([True, True, True, False]), np.array([0.9, 0.1, 0.5, -1.0]))
    assert first == (2, 1, 0, 1)
    second = reuters.counts(truth, np.array([False] * 4), np.array([-1.0, -2.0, -3.0, -4.0]))
    assert second == (0, 0, 2, 2)
    missed, micro, macro, micro_even, macro_even = reuters.summary(np.array([first, second]))
    assert micro == pytest.approx(100 * 2 * 2 / (2 * 2 + 1 + 2)) and missed == pytest.approx(100 - micro)
    assert macro == pytest.approx(100 * (0.8 + 0.0) / 2)
    assert micro_even == pytest.approx(75.0) and macro_even == pytest.approx(75.0)


def test_a_topic_that_nobody_has(module):
    reuters = module("reuters")
    nothing = reuters.counts(np.zeros(3, bool), np.zeros(3, bool), np.zeros(3))
    assert reuters.summary(np.array([nothing]))[2] == 100.0


# --------------------------------------------------------------------------------------------- Enron


def test_a_curve_by_hand(module):
    enron = module("enron")
    wrong = np.zeros(1_250, bool)
    wrong[[0, 99, 100, 1_249]] = True
    curve = enron.Curve("x", enron.in_pieces(wrong), 1_250, 0.0)
    assert [curve.mistakes(seen) for seen in (100, 200, 1_000, 1_250)] == [2, 3, 3, 4]
    assert curve.recent(1_000) == pytest.approx(0.3)
    assert curve.recent(1_250) == pytest.approx(100 * 1 / 950)  # pieces 4 to 13, the last of them half full
    assert curve.error == pytest.approx(100 * 4 / 1_250)
    assert enron.line(curve).split()[-2] == "0.32"


def mails(enron, monkeypatch, n=230):
    """A stream of mails in which no row is on the border but by chance."""
    rng = np.random.default_rng(1)
    words = np.array([f"word{k}" for k in range(40)])
    y = rng.integers(0, 2, n)
    texts = [" ".join(rng.choice(words[10 * label : 10 * label + 30], 12)) for label in y]
    boxes = np.arange(n) // 100 + 1
    stream = datasets.Mails(texts, y, np.zeros(n, "datetime64[D]"), boxes, ["ham", "spam"], "")
    monkeypatch.setattr(enron.datasets, "load_enron", lambda: stream, raising=False)
    return enron.load()


def test_text_pieces_and_scikit_learn_make_the_same_mistakes(module, monkeypatch):
    enron = module("enron")
    mail = mails(enron, monkeypatch)
    text = enron.by_text(rules.Perceptron(), "last")(mail)
    pieces = enron.by_pieces(Perceptron(fit_intercept=False))(mail)
    told_all = enron.by_row(SklearnPerceptron(fit_intercept=False))(mail)
    told_mistakes = enron.by_row(SklearnPerceptron(fit_intercept=False), only_mistakes=True)(mail)
    assert text.tolist() == pieces.tolist() == told_all.tolist() == told_mistakes.tolist()
    assert len(text) == 3 and text.sum() > 5


def test_who_cannot_learn_online_says_ham_until_it_is_fitted(module, monkeypatch):
    enron = module("enron")
    mail = mails(enron, monkeypatch)
    monkeypatch.setattr(enron, "REFIT", 200)
    seen = []

    class Oracle:
        def fit(self, X, y):
            seen.append(len(y))

        def predict(self, X):
            return mail.y[seen[-1] : seen[-1] + X.shape[0]]

    wrong = enron.anew(Oracle())(mail)
    assert seen == [200] and wrong.tolist() == [int(mail.y[:100].sum()), int(mail.y[100:200].sum()), 0]


# ----------------------------------------------------------------------------------------- the table


def test_the_page_shows_the_table_that_was_measured():
    measured = (ROOT / "docs" / "measured" / "tasks.txt").read_text(encoding="utf-8")
    table = measured.split("\n\n")
    [main] = [part for part in table if part.startswith("errors in per cent")]
    page = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    assert main.partition("\n")[2] in page
    assert "python benchmarks/tasks.py --out docs/measured" in page


@pytest.mark.data
@pytest.mark.slow
def test_the_table_is_printed_and_kept(module, tmp_path, capsys):
    if datasets.find("sms_spam") is None:
        pytest.skip("sms_spam is not in the folder PERCEPTRONS_DATA names")
    options = ["--only", "SMS", "--data-limit", "240", "--seeds", "2", "--no-plot", "--out", str(tmp_path)]
    tasks = module("tasks")
    tasks.main(options)
    kept = (tmp_path / "tasks.txt").read_text(encoding="utf-8")
    assert kept.strip() in capsys.readouterr().out
    for learner in tasks._shared.learners(voted=True):
        assert f"\n{learner.name} " in kept


def test_a_task_nobody_knows_is_refused(module):
    with pytest.raises(SystemExit, match="--only takes some of SMS"):
        module("tasks").main(["--only", "chess", "--no-plot"])
