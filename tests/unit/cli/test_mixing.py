"""``perceptrons train --workers`` and ``--cluster``: models that are stored and used as any other."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from perceptrons import ParameterMixing, Perceptron, TextClassifier
from perceptrons.cli import main
from perceptrons.io import read_libsvm
from perceptrons.mixing import fitting
from perceptrons.models import load


def numbers(n, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        x = rng.integers(0, 3, 6)
        label = int(x[0] + 2 * x[1] > 2) if classes == 2 else int(x[:3].argmax())
        lines.append(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) + "\n")
    return "".join(lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for s in range(3):
        (tmp_path / f"{s}.svm").write_text(numbers(60, seed=s))
    (tmp_path / "all.svm").write_text(numbers(200))
    rng = np.random.default_rng(0)
    words = [["cheap", "pills", "now"], ["lunch", "notes", "noon"]]
    texts = [(label, " ".join(rng.choice(words[label], 4))) for label in rng.integers(0, 2, 80)]
    (tmp_path / "mail.tsv").write_text("".join(f"{'hs'[label]}\t{text}\n" for label, text in texts))
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs a command; answers (exit code, standard output, standard error)."""

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


FILES = ("0.svm", "1.svm", "2.svm")


def test_files_are_shards(folder, run):
    code, out, _ = run("train", *FILES, "-m", "m", "--workers", 2, "--shards", 3, "--passes", 5, "--shuffle")
    assert code == 0
    assert "3 on 2 threads, mixed with equal weights" in out and "180 in " in out
    assert "by the weights of their shards; the theorem on mixing allows at least" in out
    parts = [read_libsvm(name, n_features=6) for name in FILES]
    X = np.vstack([X.toarray() for X, _ in parts])
    y = np.concatenate([y for _, y in parts]).astype(int)
    expected = ParameterMixing(Perceptron(max_iter=5, random_state=0), n_shards=3).fit(X, y)
    model = load("m")
    assert type(model) is Perceptron and np.array_equal(model.coef_, expected.coef_)
    assert model.history_ == expected.history_ and np.array_equal(model.classes_, [0, 1])


def test_one_file_is_cut_and_the_number_of_threads_changes_nothing(folder, run):
    for n in (1, 3):
        options = ("--workers", n, "--shards", 4, "--passes", 3, "--mixing", "mistakes", "--json")
        code, out, err = run("train", "all.svm", "-m", f"m{n}", *options, "-q")
        assert (code, out, err) == (0, "", "")
    with open("m1", "rb") as one, open("m3", "rb") as three:
        assert one.read() == three.read()
    code, out, _ = run("train", "all.svm", "-m", "m", *options)
    found = json.loads(out)
    assert (found["shards"], found["rounds"], found["rows"], found["mixing"]) == (4, 3, 200, "mistakes")
    assert found["bound"]["weighted_updates"] <= found["bound"]["allowed"]
    assert len(found["history"]) == 3 and found["resumed_at"] == 0


def test_the_model_predicts_certifies_and_is_described(folder, run):
    assert run("train", "all.svm", "-m", "m", "--workers", 2, "--passes", 200, "-q")[0] == 0
    code, out, _ = run("evaluate", "m", "all.svm")
    assert code == 0 and "200 rows" in out
    code, out, _ = run("predict", "m", "all.svm")
    assert code == 0 and len(out.splitlines()) == 200
    code, out, _ = run("certify", "m", "all.svm")
    assert code == 0 and "Σμk ≤ R²/γ²" in out
    assert run("info", "m")[0] == 0


def test_texts_and_other_learners(folder, run):
    code, out, _ = run("train", "mail.tsv", "--text", "--bits", 10, "-m", "m", "--workers", 2, "--passes", 2)
    assert code == 0 and "TextClassifier" in out
    model = load("m")
    assert type(model) is TextClassifier and model.predict(["cheap pills"])[0] == "h"
    code, out, _ = run("train", "all.svm", "--rule", "arow", "-m", "m", "--workers", 2)
    assert code == 0 and "no theorem on mixing covers this run of AROW" in out


def test_a_checkpoint_resumes(folder, run, monkeypatch):
    options = ("--workers", 2, "--passes", 4, "--checkpoint", "run.ckpt")
    assert run("train", "all.svm", "-m", "whole", *options[:-2], "-q")[0] == 0
    plain = fitting.Fit.keep

    def cut(self, found):
        if self.learner.n_iter_ == 2:
            raise RuntimeError("cut")
        return plain(self, found)

    monkeypatch.setattr(fitting.Fit, "keep", cut)
    assert run("train", "all.svm", "-m", "m", *options, "-q") == (1, "", "perceptrons train: cut.\n")
    monkeypatch.setattr(fitting.Fit, "keep", plain)
    code, _, err = run("predict", "run.ckpt", "all.svm")
    assert code == 1 and "run.ckpt is the checkpoint of a run that is not done" in err
    code, _, err = run("train", "all.svm", "-m", "m", *options, "--shards", 3)
    assert code == 1 and "with n_shards=2; this one has n_shards=3" in err
    code, out, _ = run("train", "all.svm", "-m", "m", *options)
    assert code == 0 and "resumed     after 2 rounds" in out and not (folder / "run.ckpt").exists()
    with open("m", "rb") as one, open("whole", "rb") as other:
        assert one.read() == other.read()


@pytest.mark.parametrize(
    "options, code, message",
    [
        (["--workers", 2, "--cluster", "tcp://127.0.0.1:1"], 2, "--workers and --cluster do not go together"),
        (["--shards", 2], 2, "--shards is for --workers or --cluster"),
        (["--mixing", "uniform"], 2, "--mixing is for --workers or --cluster"),
        (["--workers", 2, "--holdout", "0.1"], 2, "--holdout counts the rows of one stream"),
        (["--workers", 2, "--rule", "romma"], 2, "ROMMA cannot be mixed: it scales w"),
        (["--workers", 2, "--readout", "vote"], 2, "it needs every weight vector of one run"),
        (["--workers", 2, "--max-classes", 1], 1, "The data have more than 1 different labels"),
        (["--workers", 2, "--missing", "mean"], 1, "missing is for columns of csv, tsv and parquet"),
    ],
)
def test_what_is_refused(folder, run, options, code, message):
    found, out, err = run("train", "all.svm", "-m", "m", *options)
    assert (found, out) == (code, "") and message in err
    assert not (folder / "m").exists()


def test_a_pipe_and_a_bad_line(folder, run):
    code, _, err = run("train", "-", "-m", "m", "--workers", 2)
    assert code == 2 and "a pipe can be read once" in err
    (folder / "bad.svm").write_text(numbers(50) + "1 x:1\n" + numbers(50))
    code, _, err = run("train", "bad.svm", "-m", "m", "--workers", 2)
    assert code == 1 and "bad.svm, line 51, column 3: expected index:value" in err


def test_without_distributed(folder, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run("train", "all.svm", "-m", "m", "--cluster", "tcp://127.0.0.1:8786")
    assert code == 1 and "--cluster needs extra packages: pip install 'perceptrons[dask]'" in err
