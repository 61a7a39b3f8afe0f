"""Files with several labels a text, from training to evaluation."""

from __future__ import annotations

import json
import random

import pytest

from perceptrons import load
from perceptrons.cli import main
from perceptrons.text import f1_scores, precision_at_k, recall_at_k
from perceptrons.text.label_scores import LabelCounts

pytestmark = pytest.mark.uncompiled


def lines(n, seed):
    """Texts whose words begin with the name of a label."""
    rng = random.Random(seed)
    for _ in range(n):
        own = rng.sample("abcd", rng.choice([1, 1, 2, 3]))
        words = [f"{c}{rng.randrange(6)}" for c in own for _ in range(4)]
        yield " ".join([*(f"__label__{c}" for c in own), *rng.sample(words, len(words))]), own


@pytest.fixture
def files(tmp_path):
    for name, n in (("train", 60), ("test", 20)):
        text = "\n".join(line for line, _ in lines(n, n)) + "\nno label here\n"
        (tmp_path / f"{name}.txt").write_text(text)
    return tmp_path


def run(capsys, *args):
    code = main([str(arg) for arg in args])
    return code, capsys.readouterr()


def test_train_predict_evaluate(files, capsys):
    model = files / "labels.model"
    code, said = run(capsys, "train", files / "train.txt", "--text", "--model", model, "--holdout", "0.1")
    assert code == 0 and "4 classes" in said.out and "micro" in said.out
    assert sorted(load(model).classes_) == list("abcd")
    code, said = run(capsys, "evaluate", model, files / "test.txt", "--json")
    found = json.loads(said.out)
    true = [own for _, own in lines(20, 20)]
    texts = [line for line, _ in lines(20, 20)]
    texts = [" ".join(word for word in line.split() if not word.startswith("__")) for line in texts]
    ranked, predicted = load(model).predict(texts, k=3), load(model).predict(texts)
    assert (found["rows"], found["micro_f1"]) == (20, f1_scores(true, predicted).micro)
    assert found["macro_f1"] == f1_scores(true, predicted).macro > 0.5
    assert found["precision_at"]["3"] == precision_at_k(true, ranked, 3)
    assert found["recall_at"]["1"] == recall_at_k(true, ranked, 1)
    assert found["accuracy"] == load(model).score(texts, true)
    code, said = run(capsys, "evaluate", model, files / "test.txt")
    assert code == 0 and "3 best: precision" in said.out and "macro" in said.out


def test_every_line_is_predicted(files, capsys):
    model = files / "labels.model"
    run(capsys, "train", files / "train.txt", "--text", "--model", model, "--passes", "1")
    code, said = run(capsys, "predict", model, files / "test.txt", "--k", "2", "--json")
    found = json.loads(said.out)
    assert found["rows"] == 21 and all(len(one["labels"]) == 2 for one in found["predictions"])
    code, said = run(capsys, "predict", model, files / "test.txt", "--threshold", "1e9")
    assert code == 0 and said.out == "\n" * 21


@pytest.mark.parametrize(
    "args, words",
    [
        (["train", "train.txt", "--model", "x.model"], "give --text"),
        (["train", "train.txt", "--text", "--model", "x.model", "--workers", "2"], "several labels"),
        (["train", "train.txt", "--text", "--model", "x.model", "--labels", "number"], "labels"),
        (["evaluate", "labels.model", "train.txt", "--worst", "3"], "one label a row"),
    ],
)
def test_refused(files, capsys, monkeypatch, args, words):
    monkeypatch.chdir(files)
    run(capsys, "train", "train.txt", "--text", "--model", "labels.model", "--passes", "1")
    code, said = run(capsys, *args)
    assert code in (1, 2) and words in said.err


def test_one_label_a_line_makes_a_model_of_one_label(tmp_path, capsys):
    path = tmp_path / "one.ft"
    path.write_text("".join(f"__label__{c} {c}1 {c}2 w\n" for c in "abab"))
    code, _ = run(capsys, "train", path, "--text", "--model", tmp_path / "one.model")
    assert code == 0
    code, said = run(capsys, "predict", tmp_path / "one.model", path)
    assert said.out == "a\nb\na\nb\n"


def test_scores_of_lists():
    y, predicted = [["a"], ["a", "b"], [], "c"], [["a", "b"], {"b"}, ["b"], ("c",)]
    found = LabelCounts()
    found.add(y, predicted)
    assert (found.n_rows, found.right) == (4, 1)
    assert found.f1().micro == 2 * 3 / (4 + 5)
    assert found.f1().macro == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert f1_scores([[]], [[]]) == (0.0, 0.0)
    ranked = [["a", "b"], ["b", "c"], ["b", "a"], ["c", "a"]]
    assert precision_at_k(y, ranked, 1) == 1.0 and recall_at_k(y, ranked, 1) == 3 / 4
    assert precision_at_k(y, ranked, 2) == 3 / 6
    with pytest.raises(ValueError, match="k must be"):
        recall_at_k(y, ranked, 0)
