"""The command line: every command in the process itself, and the pipes in processes of their own."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from typing import get_type_hints

import numpy as np
import pytest
from processes import forked

from perceptrons import AROW, KernelClassifier, Perceptron, TextClassifier, kernels, rules
from perceptrons.cli import main, rows
from perceptrons.cli.learners import RULES, _fitting, kernel_of, learner, value_of
from perceptrons.cli.options import Learning
from perceptrons.cli.printing import plain
from perceptrons.cli.scores import Confusion
from perceptrons.io import read_libsvm
from perceptrons.models import Checkpoint, load, save

PROGRAM = [sys.executable, "-m", "perceptrons"]
SPAM = ["cheap", "pills", "buy", "now", "win", "prize"]
HAM = ["lunch", "at", "noon", "notes", "of", "the", "meeting"]


def mails(n, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        spam = rng.random() < 0.5
        words = rng.choice(SPAM if spam else HAM, 5)
        words[0] = rng.choice(SPAM + HAM)
        lines.append(f"{'spam' if spam else 'ham'}\t{' '.join(words)}\n")
    return "".join(lines)


def numbers(n, seed=0, classes=(-1, 1)):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        x = rng.integers(0, 2, 6)
        label = classes[int(x[0] + x[1]) % len(classes)]
        lines.append(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) + "\n")
    return "".join(lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail.tsv").write_text(mails(200))
    (tmp_path / "bits.svm").write_text(numbers(200))
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs a command; answers (exit code, standard output, standard error)."""

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def piped(*words, given):
    code = "import sys; from perceptrons.cli import main; sys.exit(main(sys.argv[1:]))"
    return forked(code, *words, given=given.encode())


TEXT = ("--text", "--bits", "10")


# ------------------------------------------------------------------------------------------- start


def test_help_imports_nothing_heavy():
    code = """
import sys
from perceptrons.cli import main
assert main(["--help"]) == 0 and main(["train", "--help"]) == 0
heavy = {"numpy", "scipy", "sklearn", "numba", "rich", "safetensors", "pygments"} & sys.modules.keys()
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout and "--checkpoint" in done.stdout


def test_without_arguments_and_version(run):
    code, out, _ = run()
    assert code == 0 and "Usage: perceptrons" in out
    from perceptrons import __version__

    assert run("--version")[:2] == (0, f"perceptrons {__version__}\n")


def test_completion(monkeypatch):
    environment = {
        **os.environ,
        "_PERCEPTRONS_COMPLETE": "complete_bash",
        "COMP_WORDS": "perceptrons train --rule ag",
    }
    environment["COMP_CWORD"] = "3"
    done = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, timeout=60)
    assert "aggressive-romma" in done.stdout


# ------------------------------------------------------------------------------------------- train


@pytest.mark.compiled_later
def test_texts_to_a_model(folder, run):
    code, out, err = run(
        "train", "mail.tsv", *TEXT, "--rule", "mira", "--p", 0.1, "-m", "mail.model", "--passes", 2
    )
    assert (code, err) == (0, "") and "TextClassifier, MIRA(p=0.1), 2 classes" in out
    model = load("mail.model")
    expected = TextClassifier(rule=rules.MIRA(p=0.1), bits=10, random_state=0)
    labels, texts = zip(*(line.split("\t") for line in mails(200).splitlines()))
    for _ in range(2):
        expected.partial_fit(texts, labels)
    assert np.array_equal(model.coef_, expected.coef_) and model.n_mistakes_ == expected.n_mistakes_


def test_json_is_one_document(folder, run):
    code, out, err = run("train", "bits.svm", "-m", "m", "--json", "--holdout", "0.25")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["estimator"] == "Perceptron" and found["classes"] == [-1, 1]
    assert found["report"]["rows"] == 150 and found["holdout"]["rows"] == 50
    assert found["report"]["mistakes"] == load("m").n_mistakes_ and found["resumed_at"] == 0
    assert run("train", "bits.svm", "-m", "m", "--quiet") == (0, "", "")


def test_the_holdout_is_every_tenth_row(folder, run):
    X, y = read_libsvm("bits.svm")
    run("train", "bits.svm", "-m", "m", "--holdout", "0.1", "--batch-bytes", 100)
    kept = np.arange(len(y)) % 10 != 9
    expected = Perceptron().partial_fit(X[kept], y[kept])
    assert np.array_equal(load("m").coef_, expected.coef_)
    _, out, _ = run("train", "bits.svm", "-m", "m", "--holdout", "0.1", "--json", "--batch-bytes", 100)
    right = int((expected.predict(X[~kept]) == y[~kept]).sum())
    assert json.loads(out)["holdout"]["accuracy"] == right / (~kept).sum()


def test_shuffling_is_seeded_and_learns_the_same_rows(folder, run):
    models = []
    for seed in (1, 1, 2):
        run("train", "bits.svm", "-m", "m", "--shuffle", "--seed", seed, "--batch-bytes", 400)
        models.append(load("m"))
    first, again, other = models
    assert np.array_equal(first.coef_, again.coef_) and not np.array_equal(first.coef_, other.coef_)
    examples = [sum(record["examples"] for record in model.history_) for model in models]
    assert examples == [200, 200, 200]


SMALL = {
    "margin": ["--gamma", "0.1", "--eps", "0.4"],
    "pa1": ["--C", "0.5"],
    "pa2": ["--C", "0.5"],
    "aggressive-romma": ["--delta", "0.1"],
    "alma": ["--alpha", "0.8"],
    "balanced-winnow": ["--eta", "0.2"],
    "p-norm": ["--p", "4"],
    "arow": ["--r", "2", "--param", "covariance=full"],
    "scw": ["--C", "0.5", "--variant", "II", "--eta", "0.8"],
    "kernel-perceptron": ["--kernel", "Polynomial(degree=3)"],
    "budget": ["--param", "budget=20", "--kernel", "linear"],
    "risk-descent": ["--param", "max_steps=20"],
    "max-margin": ["--C", "1"],
}


@pytest.mark.uncompiled
@pytest.mark.parametrize("rule", [r for r in RULES if r != "elimination"])
def test_every_rule(folder, run, rule):
    code, out, err = run("train", "bits.svm", "-m", "m", "--rule", rule, *SMALL.get(rule, []), "--json")
    assert code == 0, err
    assert json.loads(out)["estimator"] == RULES[rule].class_name == type(load("m")).__name__
    assert run("evaluate", "m", "bits.svm")[0] == 0


@pytest.mark.compiled_later
def test_texts_take_rules_with_a_confidence_per_column(folder, run):
    assert run("train", "mail.tsv", "-m", "m", "--text", "--rule", "arow", "--r", "2", "--bits", "12")[0] == 0
    model = load("m")
    assert model.rule == rules.AROW(r=2.0) and model.readout == "last"


def test_names_of_rules_are_the_same_in_python():
    of_texts = [name for name in RULES if name in _fitting("--text")]
    assert list(rules.NAMES) == [name for name in RULES if name in of_texts]
    for name in of_texts:
        more = {"gamma": 1.0} if name == "margin" else {}  # the command line asks for it
        assert learner(Learning(rule=name, text=True, **more), 0, None).rule == rules.named(name)


@pytest.mark.compiled_later
def test_parameters_reach_the_learner(folder, run):
    run("train", "bits.svm", "-m", "m", "--rule", "arow", "--r", "2", "--param", "covariance=full")
    X, y = read_libsvm("bits.svm")
    assert np.array_equal(load("m").coef_, AROW(r=2.0, covariance="full").partial_fit(X, y).coef_)
    run("train", "bits.svm", "-m", "m", "--rule", "pa1", "--C", "0.1", "--kernel", "Gaussian(gamma=0.5)")
    model = load("m")
    assert type(model) is KernelClassifier and model.rule == rules.PA1(C=0.1)
    assert model.kernel == kernels.Gaussian(gamma=0.5)
    run(
        "train",
        "mail.tsv",
        "-m",
        "m",
        *TEXT,
        "--rule",
        "aggressive-romma",
        "--delta",
        0.1,
        "--readout",
        "last",
    )
    assert load("m").rule == rules.AggressiveROMMA(delta=0.1) and load("m").readout == "last"
    run("train", "mail.tsv", "-m", "m", *TEXT, "--ngrams", "1-2", "--analyzer", "char", "--values", "binary")
    model = load("m")
    assert (model.ngram_range, model.analyzer, model.values, model.bits) == ((1, 2), "char", "binary", 10)


def test_kernels_and_values_as_text():
    both = kernel_of("Normalized(Polynomial(degree=2)) + 2.0 * Linear()")
    assert both == kernels.Normalized(kernels.Polynomial(degree=2)) + 2.0 * kernels.Linear()
    assert [value_of(text) for text in ("3", "1e-3", "None", "false", "word")] == [
        3,
        0.001,
        None,
        False,
        "word",
    ]


# ------------------------------------------------------------------------- what is given wrongly: 2


@pytest.mark.parametrize(
    "words, said",
    [
        (["train", "bits.svm"], "Missing option '--model'"),
        (["train", "bits.svm", "-m", "m", "--rule", "pp"], "--rule must be one of perceptron, margin"),
        (
            ["train", "bits.svm", "-m", "m", "--p", "0.1"],
            "Perceptron has no parameter 'p'; it has calibration, calibration_rows, class_weight",
        ),
        (["train", "bits.svm", "-m", "m", "--rule", "pa1", "--C", "-1"], "C must be a positive number"),
        (["train", "bits.svm", "-m", "m", "--param", "C"], "--param takes name=value"),
        (["train", "bits.svm", "-m", "m", "--param", "shuffle=true"], "--param shuffle has no meaning here"),
        (["train", "bits.svm", "-m", "m", "--param", "max_iter=3"], "see --passes"),
        (["train", "bits.svm", "-m", "m", "--param", "class_weight=balanced"], "give class_weight=running"),
        (["train", "bits.svm", "-m", "m", "--passes", "0"], "--passes"),
        (["train", "bits.svm", "-m", "m", "--holdout", "2"], "--holdout must be between 0 and 1"),
        (["train", "bits.svm", "-m", "m", "--kernel", "__import__('os')"], "--kernel takes a kernel such as"),
        (["train", "bits.svm", "-m", "m", "--ngrams", "1-2"], "--ngrams is for texts"),
        (["train", "bits.svm", "-m", "no/m"], "there is no folder"),
        (["train", "bits.svm", "-m", "bits.svm"], "is one of the data files"),
        (["train", "bits.svm", "-m", "m", "--checkpoint", "m"], "the same file"),
        (
            ["train", "bits.svm", "-m", "m", "--checkpoint", "c", "--checkpoint-every", "1.5rows"],
            "takes seconds",
        ),
        (["train", "bits.svm", "-m", "m", "--rule", "max-margin", "--checkpoint", "c"], "drop --checkpoint"),
        (
            ["train", "mail.tsv", "-m", "m", "--text", "--rule", "winnow"],
            "--text takes the rules perceptron, margin",
        ),
        (
            ["train", "mail.tsv", "-m", "m", "--text", "--rule", "arow", "--param", "covariance=full"],
            "drop covariance=full",
        ),
        (["train", "mail.tsv", "-m", "m", "--text", "--rule", "margin"], "needs --gamma"),
        (
            ["train", "mail.tsv", "-m", "m", "--text", "--rule", "mira", "--param", "solver=exact"],
            "drop solver",
        ),
        (["train", "mail.tsv", "-m", "m", "--text", "--ngrams", "a"], "--ngrams takes a range"),
        (["fetch", "nothing"], "There is no data set 'nothing'; there are 20newsgroups"),
        (["learn"], "No such command 'learn'"),
    ],
)
def test_misuse_is_one_line_and_code_2(folder, run, words, said):
    code, out, err = run(*words)
    assert code == 2 and out == "" and err.count("\n") == 1
    assert said in err and "--help'" in err and err.startswith("perceptrons")
    assert not (folder / "m").exists()


# ------------------------------------------------------------------------------ what goes wrong: 1


def test_errors_are_one_line_with_the_way_out(folder, run):
    (folder / "bad.svm").write_text("1 1:1\n-1 0:1\n")
    code, out, err = run("train", "bad.svm", "-m", "m")
    assert code == 1 and out == "" and err.count("\n") == 1 and "Traceback" not in err
    assert err.startswith("perceptrons train: bad.svm, line 2, column 4: expected an index of at least 1")
    assert "--zero-based" in err and "zero_based" not in err
    code, _, err = run("train", "bad.svm", "-m", "m", "--debug")
    assert code == 1 and "Traceback" in err
    code, _, err = run("train", "none.svm", "-m", "m")
    assert (code, err) == (1, "perceptrons train: none.svm: No such file or directory.\n")
    code, _, err = run("predict", "bits.svm", "bits.svm")
    assert code == 1 and "is no model file" in err
    run("train", "bits.svm", "-m", "fine", "-q")
    assert run("predict", "fine", "bad.svm", "-o", "out")[0] == 1
    assert sorted(os.listdir()) == ["bad.svm", "bits.svm", "fine", "mail.tsv"]  # no half of a file
    (folder / "empty.svm").write_text("")
    code, _, err = run("train", "empty.svm", "-m", "m")
    assert code == 1 and "holds no rows" in err
    assert not (folder / "m").exists()


def test_bad_lines_can_be_skipped(folder, run):
    (folder / "bad.svm").write_text("1 1:1\n-1 2;1\n-1 2:1\n")
    code, out, _ = run("train", "bad.svm", "-m", "m", "--on-bad-line", "skip")
    assert code == 0 and "skipped     1 bad line; bad.svm, line 2" in out
    words = ["bad.svm", "-m", "m", "--on-bad-line", "skip", "--passes", 3, "--holdout", "0.5", "--json"]
    assert json.loads(run("train", *words)[1])["skipped"] == 1


def test_a_full_disk_is_said_in_one_line(folder, run):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    run("train", "bits.svm", "-m", "m")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, "predict", "m", "bits.svm"], stdout=full, stderr=subprocess.PIPE, timeout=300
        )
    assert done.returncode == 1 and b"No space left on device" in done.stderr
    assert done.stderr.count(b"\n") == 1


# --------------------------------------------------------------------------------- predict, evaluate


def test_predictions(folder, run):
    run("train", "mail.tsv", *TEXT, "-m", "m")
    model = load("m")
    texts = [line.split("\t")[1] for line in mails(200).splitlines()]
    expected = model.predict(texts)
    code, out, _ = run("predict", "m", "mail.tsv")
    assert code == 0 and out.split() == expected.tolist()
    (folder / "plain.txt").write_text("".join(f"{text}\n" for text in texts))
    assert run("predict", "m", "plain.txt", "--unlabelled")[1] == out
    code, scored, _ = run("predict", "m", "mail.tsv", "--scores", "-o", "out.tsv")
    assert scored == ""
    labels, values = zip(*(line.split("\t") for line in (folder / "out.tsv").read_text().splitlines()))
    assert list(labels) == expected.tolist()
    assert np.allclose([float(value) for value in values], model.decision_function(texts), rtol=1e-5)
    found = json.loads(run("predict", "m", "mail.tsv", "--json", "--scores")[1])
    assert found["rows"] == 200 and [one["label"] for one in found["predictions"]] == expected.tolist()
    assert len(found["predictions"][0]["scores"]) == 1


@pytest.mark.compiled_later
def test_evaluation(folder, run):
    (folder / "three.svm").write_text(numbers(150, classes=(1, 2, 3)))
    run("train", "three.svm", "-m", "m", "--readout", "average")
    X, y = read_libsvm("three.svm")
    predicted = load("m").predict(X)
    found = json.loads(run("evaluate", "m", "three.svm", "--json")[1])
    assert found["accuracy"] == (predicted == y).mean() and found["labels"] == [1, 2, 3]
    expected = [[int(((y == a) & (predicted == b)).sum()) for b in (1, 2, 3)] for a in (1, 2, 3)]
    assert found["confusion"] == expected
    one = found["classes"][0]
    assert one["recall"] == expected[0][0] / sum(expected[0])
    assert one["precision"] == expected[0][0] / sum(row[0] for row in expected)
    code, out, _ = run("evaluate", "m", "three.svm")
    assert code == 0 and "true \\ predicted" in out and f"{100 * found['accuracy']:.2f} %" in out


def test_a_class_that_the_model_does_not_know():
    found = Confusion(np.array(["a", "b"]))
    found.add(np.array(["a", "b", "c"]), np.array(["a", "a", "b"]))
    assert found.labels == ["a", "b", "c"] and found.right == 1 and found.n_rows == 3
    assert found.of_classes()[2] == {"label": "c", "rows": 1, "precision": None, "recall": 0.0, "f1": 0.0}
    assert "c" in str(found)


def test_tables_are_read_as_in_training(folder, run):
    """A column that holds a number later on is still one of words, and the seed of the hash is kept."""
    table = "".join(f"{'xy'[i % 2]},{'ab'[i % 2]},{i % 3}\n" for i in range(60))
    (folder / "train.csv").write_text("colour,word,size\n" + table)
    run(
        "train",
        "train.csv",
        "-m",
        "m",
        "--label-column",
        "colour",
        "--bits",
        8,
        "--hash-seed",
        3,
        "--passes",
        3,
    )
    assert load("m").n_features_in_ == 256
    (folder / "test.csv").write_text("colour,word,size\nx,7,1\ny,b,2\nx,a,0\n")
    code, out, err = run("predict", "m", "test.csv")
    assert code == 0, err
    assert out.split()[1:] == ["y", "x"]
    (folder / "bare.csv").write_text("word,size\nb,2\na,0\n")
    assert run("predict", "m", "bare.csv", "--unlabelled")[1].split() == ["y", "x"]
    found = json.loads(run("info", "m", "--json")[1])["layout"]
    assert found["categorical"] == ["word"] and found["header"] is True and found["hash_seed"] == 3


def customers(n, holes=(), seed=0):
    """A table that starts with a number of the customer; some ages are missing."""
    rng = np.random.default_rng(seed)
    lines = ["customer_id,age,income,churn\n"]
    for i in range(n):
        age, income = rng.normal(), rng.normal()
        shown = "" if i in holes else f"{age:.3f}"
        lines.append(f"{1000 + i},{shown},{income:.3f},{'yes' if age + income > 0 else 'no'}\n")
    return "".join(lines)


def test_which_column_is_the_label(folder, run):
    (folder / "c.csv").write_text(customers(1500))
    code, out, err = run("train", "c.csv", "-m", "m")
    assert (code, out) == (1, "") and not (folder / "m").exists()
    assert (
        "--label-column must say which is the label; the columns are customer_id, age, income, churn" in err
    )
    code, out, err = run("train", "c.csv", "-m", "m", "--label-column", "churn", "--columns", "age,income")
    assert code == 0 and "label       'churn'" in out and "2 classes" in out
    assert load("m").n_features_in_ == 2
    assert json.loads(run("info", "m", "--json")[1])["layout"]["columns"] == ["age", "income"]
    (folder / "d.csv").write_text(customers(30).replace("churn", "Class"))
    assert "label       'Class'" in run("train", "d.csv", "-m", "m")[1]
    assert json.loads(run("train", "d.csv", "-m", "m", "--json")[1])["label_column"] == "Class"


def test_too_many_classes(folder, run):
    (folder / "c.csv").write_text(customers(1500))
    words = ["train", "c.csv", "-m", "m", "--label-column", "customer_id"]
    code, out, err = run(*words)
    assert (code, out) == (1, "") and not (folder / "m").exists()
    assert "more than 1,000 different labels. Is --label-column right? It is 'customer_id'." in err
    (folder / "c.csv").write_text(customers(40))
    for rule in ("perceptron", "max-margin"):
        code, _, err = run(*words, "--rule", rule)
        assert code == 1 and "40 different labels in 40 rows." in err and "--max-classes N" in err
    assert run(*words, "--max-classes", 39)[0] == 1
    assert run(*words, "--max-classes", 40)[0] == 0 and len(load("m").classes_) == 40


def test_columns_are_found_by_name_and_labels_may_be_missing(folder, run):
    (folder / "c.csv").write_text(customers(200))
    run("train", "c.csv", "-m", "m", "--label-column", "churn", "--columns", "age,income")
    expected = run("predict", "m", "c.csv")[1]
    rows = [line.split(",") for line in customers(200).splitlines()]
    (folder / "other.csv").write_text("".join(f"{income},{age}\n" for _, age, income, _ in rows))
    assert run("predict", "m", "other.csv") == (0, expected, "")  # no --unlabelled, another order
    (folder / "empty.csv").write_text(
        "".join(",".join([*row[:3], "" if i else "churn"]) + "\n" for i, row in enumerate(rows))
    )
    assert run("predict", "m", "empty.csv") == (0, expected, "")
    (folder / "less.csv").write_text("age\n1\n")
    assert "no column 'income'; it has age" in run("predict", "m", "less.csv")[2]
    (folder / "a.jsonl").write_text(
        "".join(json.dumps({"label": i % 2, "a": i % 2}) + "\n" for i in range(30))
    )
    run("train", "a.jsonl", "-m", "m", "--bits", 6)
    (folder / "b.jsonl").write_text('{"a": 1}\n{"a": 0}\n')
    assert run("predict", "m", "b.jsonl")[:2] == (0, "1\n0\n")


def test_a_model_of_an_older_version_has_its_label_in_the_first_column(folder, run):
    (folder / "c.csv").write_text("colour,size\n" + "x,1\ny,-1\n" * 20)
    model = Perceptron().partial_fit([[1.0], [-1.0]], ["x", "y"])
    with Checkpoint("m") as file:
        file.save(model, {"layout": {"format": "csv", "categorical": [], "header": True}, "holdout": None})
    assert json.loads(run("evaluate", "m", "c.csv", "--json")[1])["accuracy"] == 1.0


def test_evaluate_names_another_delimiter(folder, run):
    for header in ("", "y,a\n"):
        (folder / "c.csv").write_text(header + "1,2\n0,-1\n" * 10)
        (folder / "d.csv").write_text((header + "1,2\n0,-1\n" * 10).replace(",", ";"))
        assert run("train", "c.csv", "-m", "m")[0] == 0
        code, _, err = run("evaluate", "m", "d.csv")
        assert code == 1 and "give --delimiter ';'." in err
        assert run("evaluate", "m", "d.csv", "--delimiter", ";")[1] == run("evaluate", "m", "c.csv")[1]


def test_missing_numbers_are_replaced_as_in_training(folder, run):
    holes = set(range(3, 200, 5))
    (folder / "c.csv").write_text(customers(200, holes))
    words = ["train", "c.csv", "-m", "m", "--label-column", "churn", "--columns", "age,income"]
    code, _, err = run(*words)
    assert code == 1 and "--missing … says what becomes of missing numbers: zero, mean or skip" in err
    assert "categorical" not in err
    X, y, ages = [], [], []
    for line in customers(200, holes).splitlines()[1:]:
        _, age, income, label = line.split(",")
        X.append([float(age) if age else float(np.mean(ages)) if ages else 0.0, float(income)])
        y.append(label)
        ages += [float(age)] if age else []
    expected = Perceptron().partial_fit(X, y).partial_fit(X, y)
    models = []
    for size in (100, 1000, 1 << 20):
        code, out, _ = run(*words, "--missing", "mean", "--passes", 2, "--batch-bytes", size)
        assert code == 0 and "40 numbers in each pass, replaced by the mean of the rows before" in out
        models.append(load("m").coef_)
    assert np.array_equal(models[0], models[1]) and np.array_equal(models[0], models[2])
    assert np.allclose(models[0], expected.coef_, rtol=1e-9)
    layout = json.loads(run("info", "m", "--json")[1])["layout"]
    assert layout["means"][0] == pytest.approx(np.mean(ages))
    new = [[layout["means"][0], 1.0], [2.0, layout["means"][1]]]
    (folder / "new.csv").write_text("age,income\n,1.0\n2.0,NA\n")
    assert run("predict", "m", "new.csv")[1].split() == load("m").predict(new).tolist()
    code, out, _ = run("certify", "m", "c.csv")  # of the rows that were learned, running means and all
    assert code == 0 and "VIOLATED" not in out
    assert run("predict", "m", "new.csv", "--missing", "skip")[0] == 2
    code, out, _ = run(*words, "--missing", "skip")
    assert code == 0 and "40 rows left out for missing numbers" in out
    assert "found nothing. --missing" in run("predict", "m", "new.csv")[2]
    assert "holds no means" in run("predict", "m", "new.csv", "--missing", "mean")[2]
    assert run("predict", "m", "new.csv", "--missing", "zero")[0] == 0


def test_a_run_that_is_taken_up_again_has_the_same_means(folder, run, monkeypatch):
    (folder / "c.csv").write_text(customers(300, set(range(2, 300, 3))))
    words = [
        "train",
        "c.csv",
        "--label-column",
        "churn",
        "--missing",
        "mean",
        "--passes",
        2,
        "--batch-bytes",
        500,
    ]
    run(*words, "-m", "whole")

    class Cut(Exception):
        pass

    save, n = Checkpoint.save, [0]

    def cut(self, model, position):
        save(self, model, position)
        n[0] += 1
        if n[0] == 19:
            raise Cut

    monkeypatch.setattr(Checkpoint, "save", cut)
    more = ["-m", "m", "--checkpoint", "c", "--checkpoint-every", "1rows"]
    assert run(*words, *more)[0] == 1 and (folder / "c").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    code, out, err = run(*words, *more)
    assert code == 0 and "resumed" in out, err
    assert np.array_equal(load("m").coef_, load("whole").coef_)
    layouts = [json.loads(run("info", name, "--json")[1])["layout"] for name in ("m", "whole")]
    assert layouts[0] == layouts[1] and layouts[0]["means"][1] != 0.0


def test_hints_speak_of_options(folder, run):
    (folder / "c.csv").write_text("y,a\n1,2\n0,word\n1,3\n0,4\n")
    (folder / "bytes.tsv").write_bytes(b"spam\tb\xff\nham\tx\n")
    for words, said in (
        (["c.csv"], "--categorical …"),
        (["c.csv", "--categorical", "a", "--weight-column", "w"], "no column 'w'"),
        (["c.csv", "--kernel", "gaussian"], "--kernel 'Gaussian(gamma=0.1)'"),
        (["bytes.tsv", *TEXT], "--encoding-errors replace"),
        (["mail.tsv", *TEXT, "--rule", "arow", "--readout", "vote"], "--readout last"),
        (["mail.tsv", *TEXT, "--limits", "line_bytes=5"], "--limits line_bytes=…"),
    ):
        code, _, err = run("train", *words, "-m", "m")
        assert code and said in err and "=[" not in err and "='" not in err.replace("(gamma='scale')", ""), (
            err
        )


def test_the_kernels_of_the_help_learn_a_stream(folder, run):
    examples = re.findall(
        r"'([^']+)'", get_type_hints(Learning, include_extras=True)["kernel"].__metadata__[0].help
    )
    assert "Gaussian(gamma=0.1)" in examples
    for text in examples:
        assert run("train", "bits.svm", "-m", "m", "--kernel", text)[0] == 0


def test_jsonl_and_vw(folder, run):
    lines = [json.dumps({"label": "ab"[i % 2], "text": ["yes", "no"][i % 2]}) for i in range(20)]
    (folder / "a.jsonl").write_text("\n".join(lines))
    assert run("train", "a.jsonl", *TEXT, "-m", "m")[0] == 0
    assert json.loads(run("evaluate", "m", "a.jsonl", "--json")[1])["accuracy"] == 1
    (folder / "a.vw").write_text(
        "".join(f"{1 if i % 2 else -1} |w {'yes' if i % 2 else 'no'}\n" for i in range(20))
    )
    assert run("train", "a.vw", "-m", "m", "--bits", 6)[0] == 0
    assert json.loads(run("evaluate", "m", "a.vw", "--json")[1])["accuracy"] == 1


def test_models_that_the_library_saved(folder, run):
    X, y = read_libsvm("bits.svm")
    save(Perceptron(random_state=0).fit(X, y), "m")
    found = json.loads(run("evaluate", "m", "bits.svm", "--json")[1])
    assert found["accuracy"] == load("m").score(X, y)
    save(Perceptron(), "n")
    code, _, err = run("predict", "n", "bits.svm")
    assert code == 1 and "has learned nothing yet" in err


# ------------------------------------------------------------------------------------ certify, info


def test_certificates(folder, run):
    (folder / "easy.svm").write_text("1 1:1\n-1 2:1\n1 1:2 2:1\n-1 1:1 2:3\n" * 5)
    run("train", "easy.svm", "-m", "m", "--passes", 10)
    code, out, _ = run("certify", "m", "easy.svm", "--exact")
    assert (
        code == 0
        and "verdict       separable" in out
        and "claims hold, checked from the rows in fractions" in out
    )
    code, out, _ = run("certify", "m", "easy.svm", "--json", "-o", "c.json")
    found = json.loads(out)
    assert code == 0 and found["verification"]["holds"]
    from perceptrons.theory import Certificate

    stored = Certificate.from_json((folder / "c.json").read_text())
    assert bool(stored.verify(*read_libsvm("easy.svm"))) and found["certificate"]["sha256"] == stored.sha256
    assert run("certify", "m", "easy.svm", "--html")[1].startswith("<table>")
    run("train", "mail.tsv", *TEXT, "-m", "t", "--no-idf", "--holdout", "0.5")
    code, out, err = run("certify", "t", "mail.tsv")
    assert code == 0 and "data          100 rows" in out, err


def test_a_claim_that_fails_is_code_1(folder, run):
    """The rows are not those of the run: it made more visits than they allow."""
    (folder / "easy.svm").write_text("1 1:1\n-1 2:1\n")
    run("train", "bits.svm", "-m", "m", "--param", "fit_intercept=false")
    code, out, _ = run("certify", "m", "easy.svm", "--features", "6")
    assert code == 1 and "FAILED: counts" in out
    assert "X is not what it was fitted on: hinge_tight, 125 against 2.0000" in out
    code, out, _ = run("certify", "m", "easy.svm", "--json")
    assert code == 1 and json.loads(out)["verification"]["failed"] == "counts"


@pytest.mark.compiled_later
def test_info(folder, run):
    run("train", "bits.svm", "-m", "m", "--rule", "pa1", "--C", "0.5")
    code, out, _ = run("info", "m")
    assert code == 0 and "estimator   PassiveAggressive" in out and "C=0.5" in out and "2: -1, 1" in out
    assert "Novikoff" not in out
    assert "The bound of PA says nothing about 200 examples, as no margin is above 0." in out
    assert "(augmented rows)\nmargin      the best is at most" in out and "(free offset)\nbound" in out
    found = json.loads(run("info", "m", "--json")[1])
    assert found["bound"]["mistakes"] >= 200
    model = load("m")
    assert found["margin_bounds"] == list(model.margin_bounds_) and found["margin_space"] == "augmented rows"
    assert found["free_margin_bounds"] == list(model.free_margin_bounds_)
    assert found["bound"]["space"] == "augmented rows"
    assert found["mistakes"] == model.n_mistakes_ and found["examples"] == 200 and len(found["sha256"]) == 64
    assert found["bytes"] == os.path.getsize("m") and found["format"] == 2
    run("train", "bits.svm", "-m", "m", "--readout", "average")
    model = load("m")
    assert model.progressive_errors_ != model.n_errors_
    told = run("info", "m")[1]
    assert f"{model.n_errors_} errors of the last w" in told
    assert f"errors      {model.progressive_errors_} of 200 rows" in told


def test_info_of_a_model_whose_rule_only_its_maker_has(folder, run):
    @rules.rule
    def mine(m, q, state):
        return (1.0, 1.0) if m <= 0.0 else (1.0, 0.0)

    from perceptrons import OnlineClassifier

    save(OnlineClassifier(rule=mine).partial_fit([[1.0], [-1.0]], [1, 0]), "m")
    code, out, _ = run("info", "m")
    assert code == 0 and "OnlineClassifier" in out and "incomplete" in out


# ------------------------------------------------------------------------------------- fetch, demo


def test_fetch_lists_and_finds(folder, run, monkeypatch):
    (folder / "adult").mkdir()
    for name in ("adult.data", "adult.test"):
        (folder / "adult" / name).write_text("x")
    monkeypatch.setenv("PERCEPTRONS_DATA", str(folder))
    code, out, _ = run("fetch", "adult")
    assert code == 0 and out.split() == [
        str(folder / "adult" / name) for name in ("adult.data", "adult.test")
    ]
    found = json.loads(run("fetch", "--list", "--json", "--to", "elsewhere")[1])["data_sets"]
    assert {one["name"]: one["here"] for one in found}["adult"] is True
    assert "* adult" in run("fetch", "--list", "--to", "elsewhere")[1]


@pytest.mark.compiled_later
def test_demo_is_the_demo(run, monkeypatch):
    from perceptrons import demo

    monkeypatch.setattr(demo, "tasks", lambda: iter(list(demo.toys())[:1]))
    found = json.loads(run("demo", "--json")[1])
    assert found["groups"][0]["learners"][0]["rule"] == "Perceptron"
    monkeypatch.setattr(demo, "main", lambda: print("the table"))
    assert run("demo") == (0, "the table\n", "")


# -------------------------------------------------------------------------------------------- pipes


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_pipeline(folder):
    (folder / "mail.tsv.gz").write_bytes(gzip.compress(mails(200).encode()))
    program = " ".join(PROGRAM)
    script = f"""set -e -o pipefail
gzip -dc mail.tsv.gz | {program} train - --text --bits 10 -m piped.model -q
{program} train mail.tsv.gz --text --passes 1 --bits 10 -m filed.model -q
cut -f 2 mail.tsv | {program} predict piped.model - --unlabelled | sort | uniq -c
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == "" and "ham" in done.stdout
    assert np.array_equal(load("piped.model").coef_, load("filed.model").coef_)


def test_texts_are_learned_as_a_text_classifier_does_by_default(folder, run):
    """Three passes over a file, one over a pipe, and the summary says so."""
    _, out, _ = run("train", "mail.tsv", "--text", "--bits", 10, "-m", "t")
    assert "TextClassifier, AROW(r=0.1)" in out and "600 in 3 passes" in out
    model, expected = load("t"), TextClassifier(bits=10, random_state=0)
    texts, labels = zip(*(line.split("\t")[::-1] for line in mails(200).splitlines()))
    for _ in range(3):
        expected.partial_fit(texts, labels)
    assert np.array_equal(model.coef_, expected.coef_)
    assert np.array_equal(model.document_counts_, expected.document_counts_)
    done = piped("train", "-", "--text", "--bits", "10", "-m", "p", given=mails(200))
    assert done.returncode == 0 and "200 in 1 pass;" in done.stdout
    _, out, _ = run("train", "mail.tsv", "--text", "--bits", 10, "--passes", 1, "-m", "one")
    assert "200 in 1 pass;" in out and np.array_equal(load("p").coef_, load("one").coef_)
    more = ("--tokens", "words", "--ngrams", "1", "--values", "count", "--no-idf", "--r", 2)
    assert run("train", "mail.tsv", "--text", *more, "-m", "w")[0] == 0
    old = load("w")
    assert (old.tokens, old.ngram_range, old.values, old.idf) == ("words", (1, 1), "count", False)
    assert old.rule == rules.AROW(r=2.0)
    for wrong in (("--tokens", "some"), ("--C", 1)):
        assert run("train", "mail.tsv", "--text", *wrong, "-m", "w")[0] == 2
    assert "--idf is for texts" in run("train", "mail.tsv", "--idf", "-m", "w")[2]


def test_a_pipe_can_be_read_once(folder):
    done = piped("train", "-", "-m", "m", "--passes", "2", given=numbers(20))
    assert done.returncode == 2 and "a pipe can be read once: save it to a file" in done.stderr
    done = piped("train", "-", "-m", "m", given=numbers(20))
    assert done.returncode == 2 and "give --features N" in done.stderr
    done = piped("train", "-", "-m", "m", "--features", "6", "-q", given=numbers(20))
    assert done.returncode == 0, done.stderr


def test_nobody_reads_any_more(folder):
    run_ = main(["train", "mail.tsv", *TEXT, "-m", "m", "-q"])
    assert run_ == 0
    (folder / "long.tsv").write_text(mails(20) * 2000)
    with subprocess.Popen(
        [*PROGRAM, "predict", "m", "long.tsv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=300) == 141 and process.stderr.read() == b""


# -------------------------------------------------------------------------------------------- parts


def test_progress(capsys, monkeypatch):
    from perceptrons.cli import progress
    from perceptrons.io import FitReport

    report = FitReport(rows=1000, validated=1000, errors=10, mistakes=12, bound=100.2)
    lines, clock = progress.Lines(), progress.Stopwatch()
    lines.show(report, clock)
    assert capsys.readouterr().err == ""
    clock.start -= 11.0
    lines.show(report, clock)
    assert (
        "1,000 rows, " in (said := capsys.readouterr().err) and "12 mistakes, at least 100 allowed\n" in said
    )
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    from perceptrons.io import open_stream

    stream = open_stream(b"1 1:1\n" * 9, "libsvm")
    with progress.watcher(stream, 2, quiet=False) as bar:
        bar.show(report, clock)
        assert "pass 1 of 2: 1,000 rows" in bar.bar.tasks[0].description
        assert bar.bar.tasks[0].total == 2 * stream.bytes_total
    assert type(progress.watcher(stream, 1, quiet=True)) is progress.Silent


def test_plain_values():
    assert plain({"a": np.float64(2.0), "b": [np.inf, np.int64(3)], "c": "x"}) == {
        "a": 2,
        "b": [None, 3],
        "c": "x",
    }
    assert rows.column("3") == 3 and rows.column("name") == "name" and rows.column("none") is None


def test_elimination_takes_binary_rows(folder, run):
    (folder / "or.svm").write_text("1 1:1 2:1\n0 2:1\n1 1:1\n0 3:1\n")
    assert run("train", "or.svm", "-m", "m", "--rule", "elimination", "--passes", 2)[0] == 0


def test_limits_can_be_set(folder, run):
    (folder / "long.svm").write_bytes(b"1 1:1\n-1 1:-1 " + b" " * 5000 + b"\n")
    code, _, err = run("train", "long.svm", "-m", "m", "--limits", "line_bytes=1000")
    assert code != 0 and "expected a line of at most 1,000 bytes" in err
    assert "--limits line_bytes=… sets the limit" in err
    assert run("train", "long.svm", "-m", "m", "--limits", "line_bytes=10000,ratio=5")[0] == 0
    for wrong in ("lines=5", "line_bytes=many", "line_bytes"):
        code, _, err = run("train", "long.svm", "-m", "m", "--limits", wrong)
        assert code != 0 and "--limits" in err and "Traceback" not in err
    code, _, err = run("train", "long.svm", "-m", "m", "--limits", "features=99999999999")
    assert code != 0 and "must be an integer from 1 to 2147483647" in err and "Traceback" not in err
