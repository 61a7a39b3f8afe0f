"""``perceptrons plot``: a picture of every kind, the same bytes every time, and errors in one line."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from perceptrons import (
    KernelPerceptron,
    MaxMargin,
    Perceptron,
    RiskDescent,
    TextClassifier,
    datasets,
    load,
    save,
)
from perceptrons.cli import main

pytestmark = pytest.mark.uncompiled

KINDS = ("halfspace", "weights", "risk", "mistakes", "proof", "bracket", "margins", "errors", "features")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, *_ = datasets.clouds_near(12)
    table(X, y, "rows.csv")
    save(Perceptron(random_state=0).fit(X, y), "m.model")
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs the command; returns (exit code, standard output, standard error)."""

    def run(*words):
        code = main(["plot", *map(str, words)])
        return code, *capsys.readouterr()

    return run


def table(X, y, path):
    lines = ["y," + ",".join(f"x{j}" for j in range(X.shape[1]))]
    lines += [",".join(map(str, [label, *row])) for label, row in zip(y.tolist(), X.tolist(), strict=True)]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, folder, run):
    before, backend = dict(matplotlib.rcParams), matplotlib.get_backend()
    code, out, err = run("m.model", "rows.csv", "--kind", kind, "-o", "a.svg")
    assert (code, err) == (0, "") and out.startswith("a.svg: ") and out.count("\n") == 1
    root = ElementTree.parse("a.svg").getroot()
    assert root.tag.endswith("svg")
    assert plt.get_fignums() == [] and matplotlib.get_backend() == backend
    assert dict(matplotlib.rcParams) == before


def test_the_same_bytes_every_time(folder, run):
    for name in ("a.svg", "b.svg", "a.png", "b.png", "a.pdf", "b.pdf"):
        assert run("m.model", "rows.csv", "-o", name)[0] == 0
    for ending in ("svg", "png", "pdf"):
        one, two = ((folder / f"{name}.{ending}").read_bytes() for name in "ab")
        assert one == two
    assert b"dc:date" not in (folder / "a.svg").read_bytes()
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_model_of_the_command_line_is_run_as_it_was(folder, run):
    X, y, *_ = datasets.clouds_far(12)
    table(X, y, "far.csv")
    assert main(["train", "far.csv", "--model", "far.model", "--passes", "30", "--quiet"]) == 0
    code, out, err = run("far.model", "far.csv", "--kind", "mistakes", "-o", "a.svg")
    made = load("far.model").n_mistakes_
    assert code == 0 and made > 10 and f": {made} mistakes; at most " in out, err


def test_what_it_says(folder, run):
    code, out, _ = run("m.model", "rows.csv", "--kind", "mistakes", "-o", "a.png", "--json")
    found = json.loads(out)
    assert code == 0 and found["file"] == "a.png" and found["kind"] == "mistakes"
    assert found["title"].endswith("by Novikoff's theorem")


def test_two_columns_of_several(folder, run):
    X = np.random.default_rng(0).normal(size=(12, 4)).round(2)
    y = np.where(X[:, 0] > 0.0, 1, -1)
    table(X, y, "wide.csv")
    save(Perceptron(random_state=0).fit(X, y), "wide.model")
    draw = ("wide.model", "wide.csv", "-o", "a.svg")
    code, out, err = run(*draw, "--axes", "3,0")
    assert code == 0 and "The other 2 features: fixed" in out, err
    code, _, err = run(*draw)
    assert code == 2 and "The data have 4 features; say which two to show, as --axes 0,1." in err
    for given, told in [
        ("0,4", "two different columns from 0 to 3"),
        ("1", "--axes takes two numbers, as 0,3"),
    ]:
        code, _, err = run(*draw, "--axes", given)
        assert code == 2 and told in err and err.count("\n") == 1
    code, _, err = run(*draw, "--kind", "weights")
    assert code == 1 and "w has 5 coordinates; two can be shown" in err


def test_images_of_pixels(folder, run):
    X = np.random.default_rng(0).random(size=(12, 6)).round(2)
    y = np.arange(12) % 3
    table(X, y, "six.csv")
    save(Perceptron(random_state=0, max_iter=3).fit(X, y), "six.model")
    draw = ("six.model", "six.csv", "--kind", "images", "-o", "a.png")
    code, _, err = run(*draw, "--shape", "2x3")
    assert code == 0, err
    code, _, err = run(*draw)
    assert code == 2 and "The data have 6 features; give the size of an image, as --shape 2x3." in err
    code, _, err = run(*draw, "--shape", "2")
    assert code == 2 and "--shape takes two numbers, as 28x28" in err
    code, _, err = run("six.model", "six.csv", "--kind", "risk", "-o", "a.png")
    assert code == 1 and "The model has 3 classes; w-space is drawn for two." in err


def test_texts(folder, run):
    mail = ["cheap pills buy now", "lunch at noon", "buy cheap watches", "notes of the meeting at noon"]
    labels = ["spam", "ham", "spam", "ham"]
    with open("mail.tsv", "w") as file:
        file.writelines(f"{label}\t{text}\n" for label, text in zip(labels, mail, strict=True))
    clf = TextClassifier(random_state=0, bits=10, keep_names=True).fit(mail, labels)
    save(clf, "mail.model")
    draw = ("mail.model", "mail.tsv", "-o", "a.svg", "--kind")
    code, out, err = run(*draw, "features")
    assert code == 0 and "What speaks most for ham and for spam" in out, err
    code, out, err = run(*draw, "explanation", "--row", "1")
    assert code == 0 and "Predicted ham" in out, err
    assert run(*draw, "errors")[0] == 0
    code, _, err = run(*draw, "explanation", "--row", "4")
    assert code == 2 and "--row must be below 4" in err
    code, _, err = run(*draw, "halfspace")
    assert code == 1 and "learned from texts; --kind halfspace needs rows of numbers" in err
    save(TextClassifier(random_state=0, bits=10).fit(mail, labels), "mail.model")
    code, _, err = run(*draw, "features")
    assert code == 1 and "train it with --param keep_names=True" in err
    code, _, err = run("m.model", "rows.csv", "-o", "a.svg", "--kind", "explanation")
    assert code == 1 and "trained with --text" in err


@pytest.mark.parametrize(
    ("model", "kind", "code", "told"),
    [
        (MaxMargin(), "weights", 0, ""),
        (MaxMargin(), "proof", 1, "MaxMargin learns from all rows at once; --kind proof is for learners of"),
        (KernelPerceptron(kernel="gaussian", random_state=0), "proof", 1, "it is not linear"),
        (RiskDescent(), "risk", 0, ""),
        (KernelPerceptron(kernel="gaussian", random_state=0), "halfspace", 0, ""),
        (KernelPerceptron(kernel="gaussian", random_state=0), "mistakes", 0, ""),
        (KernelPerceptron(kernel="gaussian", random_state=0), "features", 1, "it is not linear"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else str(value),
)
def test_other_learners(model, kind, code, told, folder, run):
    X, y, *_ = datasets.clouds_near(12)
    save(model.fit(X, y), "other.model")
    found, _, err = run("other.model", "rows.csv", "-o", "a.svg", "--kind", kind)
    assert found == code and told in err and err.count("\n") == (code > 0), err


def test_mistakes_in_the_command(folder, run, monkeypatch):
    code, _, err = run("m.model", "rows.csv", "-o", "a.gif")
    assert code == 2 and "--output must end in .svg, .png, .pdf; got 'a.gif'" in err
    code, _, err = run("m.model", "rows.csv", "-o", "a.svg", "--kind", "pie")
    assert code == 2 and "'pie' is not one of 'halfspace'" in err
    code, _, err = run("m.model", "rows.csv", "-o", "nowhere/a.svg")
    assert code == 1 and "No such file or directory" in err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run("m.model", "rows.csv", "-o", "a.svg")
    assert code == 1 and "plot needs matplotlib: pip install 'perceptrons[plot]'." in err
    assert not (folder / "a.svg").exists()
