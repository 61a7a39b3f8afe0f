"""``perceptrons evaluate``: probabilities beside what came true, and the rows that are most wrong."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from perceptrons import io, load
from perceptrons.cli import main
from perceptrons.cli.reliability import BINS, DEFINITION, Reliability
from perceptrons.cli.worst import Worst, beginning, margins, printable
from perceptrons.io.records import Batch, Texts

pytestmark = pytest.mark.uncompiled


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def write_mails(path, n=80, seed=0):
    rng = np.random.default_rng(seed)
    words = {"ham": ["noon", "lunch", "notes"], "spam": ["pills", "cheap", "prize"]}
    lines = []
    for i in range(n):
        label = ("ham", "spam")[int(rng.random() < 0.4)]
        drawn = rng.choice(words["spam" if (label == "spam") != (i % 9 == 0) else "ham"], 3)
        lines.append(f"{label}\t{' '.join(drawn)}\n")
    path.write_text("".join(lines))
    return [line.rstrip().split("\t") for line in lines]


def test_probabilities_from_training_to_evaluation(run, tmp_path):
    rows = write_mails(tmp_path / "a.tsv")
    assert run("train", "a.tsv", "--text", "--bits", 8, "-m", "m", "--probability", "--passes", 2)[0] == 0
    model = load("m")
    assert model.probability and model._calibration.n == len(rows)  # the second pass adds nothing
    texts, labels = [text for _, text in rows], np.array([label for label, _ in rows])
    P = model.predict_proba(texts)
    found = json.loads(run("predict", "m", "a.tsv", "--probabilities", "--scores", "--json")[1])
    assert [one["probabilities"] for one in found["predictions"]] == P.tolist()
    line = run("predict", "m", "a.tsv", "--probabilities")[1].splitlines()[0].split("\t")
    assert line[0] == model.predict(texts[:1])[0] and np.allclose(
        P[0], [float(x) for x in line[1:]], rtol=1e-5
    )

    found = json.loads(run("evaluate", "m", "a.tsv", "--json", "--worst", 3)[1])
    expected = Reliability()
    expected.add(P, (labels == "spam").astype(int))
    assert found["calibration"]["error"] == pytest.approx(expected.error)
    assert sum(one["rows"] for one in found["calibration"]["bins"]) == len(rows)
    true = P[np.arange(len(rows)), (labels == "spam").astype(int)]
    wrong = np.flatnonzero(model.predict(texts) != labels)
    order = wrong[np.argsort(true[wrong], kind="stable")][:3]
    listed = found["worst"]["rows"]
    assert [one["row"] for one in listed] == (order + 1).tolist()
    assert [one["beginning"] for one in listed] == [texts[i] for i in order]
    assert np.allclose([one["probability"] for one in listed], true[order])

    code, out, _ = run("evaluate", "m", "a.tsv", "--worst", 3)
    assert code == 0 and DEFINITION in out
    assert f"expected calibration error {100 * expected.error:.2f} points" in out
    assert f"{order[0] + 1}\t{labels[order[0]]}\t" in out and texts[order[0]] in out


@pytest.mark.parametrize(
    ("name", "begin", "write", "options"),
    [
        ("b.txt", "\n", "\n\nno label here\n__label__{} {}\n", ["--format", "fasttext"]),
        ("b.tsv", "\n", "{}\t{}\n\n", []),
        (
            "b.csv",
            "label,text\n",
            '{},"{}"\n',
            ["--format", "csv", "--header", "--text-column", "text", "--label-column", "label"],
        ),
    ],
)
def test_the_worst_texts_are_found_by_the_lines_of_their_files(run, tmp_path, name, begin, write, options):
    rows = write_mails(tmp_path / "a.tsv")
    run("train", "a.tsv", "--text", "-m", "m")
    content = begin + "".join(write.format(*row) for row in rows)
    lines = content.split("\n")
    for path in (tmp_path / name, tmp_path / f"other_{name}"):
        path.write_text(content)
    told = run("evaluate", "m", name, "--worst", 4, *options, "--json")
    listed = json.loads(told[1])["worst"]["rows"]
    assert len(listed) == 4
    for one in listed:
        line = lines[one["line"] - 1]
        assert one["beginning"] in line and one["label"] in line and one["file"] == name
    out = run("evaluate", "m", name, "--worst", 4, *options)[1]
    assert "most wrong: line of the file, label" in out and f"\n{listed[0]['line']}\t" in out
    out = run("evaluate", "m", name, f"other_{name}", "--worst", 40, *options)[1]
    assert "most wrong: file and line, label" in out and f"\nother_{name}:{listed[0]['line']}\t" in out


def test_lines_without_a_label_are_left_out_of_all_but_predictions(run, tmp_path):
    """As docs/fasttext.md says; a line of labels alone is a text without words."""
    lines = ["__label__a x y", "__label__b z w", "__label__a", "__label__b z z"]
    (tmp_path / "clean.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "mixed.txt").write_text("\n".join([*lines[:2], "none at all", "", *lines[2:], "x w"]) + "\n")
    for name in ("clean", "mixed"):
        assert run("train", f"{name}.txt", "--text", "-m", name)[0] == 0
    first, second = load("clean"), load("mixed")
    assert second.n_texts_ == 3 * len(lines)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.document_counts_, second.document_counts_)
    assert json.loads(run("evaluate", "mixed", "mixed.txt", "--json")[1])["rows"] == len(lines)
    predicted = run("predict", "mixed", "mixed.txt")[1].split()
    assert predicted == second.predict(["x y", "z w", "none at all", "", "z z", "x w"]).tolist()


def test_small_batches_know_their_lines(tmp_path):
    content = "".join(f"\n__label__a x\n__label__b line {i} é\xff\nnothing\n" for i in range(40))
    expected = [line for i in range(40) for line in (4 * i + 2, 4 * i + 3)]
    for size in (16, 100, 1 << 20):
        for more in ({}, {"encoding_errors": "replace"}):
            stream = io.open_stream(
                content.encode("latin-1" if more else "utf-8"), "fasttext", batch_bytes=size, **more
            )
            found = [batch.line(i) for batch in stream for i in range(batch.n_rows)]
            assert found == expected
    stream = io.open_stream(b'{"label": 1, "text": "a b"}\n' * 3, "jsonl", text_column="text")
    assert [batch.line(i) for batch in stream for i in range(batch.n_rows)] == [None] * 3


def test_a_model_without_probabilities(run, tmp_path):
    (tmp_path / "b.svm").write_text("".join(f"{i % 3} 1:{i % 5} {2 + i % 3}:1\n" for i in range(30)))
    (tmp_path / "c.svm").write_text("0 1:2 4:1\n7 1:1 2:1\n1 2:1\n")
    run("train", "b.svm", "-m", "m")
    code, out, _ = run("evaluate", "m", "b.svm")
    assert code == 0 and "calibration" not in out and "most wrong" not in out
    code, _, err = run("predict", "m", "b.svm", "--probabilities")
    assert code == 1 and "without probabilities: train it with --probability" in err
    found = json.loads(run("evaluate", "m", "c.svm", "--json", "--worst", 5)[1])["worst"]
    scores = load("m").decision_function(io.read_libsvm("c.svm", n_features=4)[0])
    assert found["unknown_labels"] == 1
    assert [one["row"] for one in found["rows"]] == [1, 3]
    assert found["rows"][0]["margin"] == pytest.approx(scores[0, 0] - max(scores[0, 1:]))
    assert found["rows"][0]["beginning"] == "0:2 3:1"
    assert "1 row with labels that the model does not have" in run("evaluate", "m", "c.svm", "--worst", 5)[1]


@pytest.mark.parametrize("options", [["--kernel", "Gaussian(gamma=0.1)"], ["--rule", "second-order"]])
def test_learners_that_hold_rows_out_are_refused_on_a_stream(run, tmp_path, options):
    (tmp_path / "b.svm").write_text("1 1:1\n-1 2:1\n")
    code, _, err = run("train", "b.svm", "-m", "m", "--probability", *options)
    assert code == 2 and "has other scores then: take a linear rule" in err


# ---------------------------------------------------------------- parts


def test_the_error_is_the_mean_of_the_bins():
    P = np.array([[0.72, 0.28], [0.74, 0.26], [0.0, 1.0], [0.5, 0.5]])
    found = Reliability()
    for i in range(4):
        found.add(P[i : i + 1], np.array([0, 1, 1, -1])[i : i + 1])
    assert found.error == pytest.approx((abs(0.72 + 0.74 - 1) + 0 + 0.5) / 4)
    bins = found.as_dict()["bins"]
    assert [one["rows"] for one in bins] == [1, 2, 1] and [one["from"] for one in bins] == [0.5, 0.7, 0.95]
    assert bins[1] == pytest.approx({"from": 0.7, "to": 0.75, "rows": 2, "probability": 0.73, "right": 0.5})
    assert BINS == 20 and Reliability().error == 0.0


def test_the_worst_rows_of_a_stream_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    n, classes = 300, np.array(["a", "b", "c"])
    codes, predicted = rng.integers(-1, 3, n), rng.integers(0, 3, n)
    values = rng.integers(0, 20, n) / 20.0  # many are equal: the earlier row comes first
    texts = Texts.of([f"text {i}" for i in range(n)])
    wrong = np.flatnonzero((codes >= 0) & (codes != predicted))
    order = wrong[np.argsort(values[wrong], kind="stable")][:25]
    for cut in (1, 7, 300):
        found = Worst(25, classes, True)
        for begin in range(0, n, cut):
            part = slice(begin, begin + cut)
            y = np.where(codes[part] < 0, "?", classes[codes[part]])
            found.add(Batch(texts.some(part), y, None, begin), codes[part], predicted[part], values[part])
        assert [one.row for one in found.rows] == (order + 1).tolist()
        assert [one.beginning for one in found.rows] == [f"text {i}" for i in order]
        assert found.unknown == np.count_nonzero(codes < 0)


def test_margins_of_labels():
    np.testing.assert_array_equal(margins(np.array([2.0, -1.0]), np.array([1, 0])), [2.0, 1.0])
    np.testing.assert_array_equal(margins(np.array([2.0]), np.array([0])), [-2.0])
    scores = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 1.0]])
    np.testing.assert_array_equal(margins(scores, np.array([2, 0])), [-1.0, 4.0])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", r"a\tb\nc"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("é ☂", "é ☂"),
    ],
)
def test_nothing_controls_the_terminal(text, shown):
    assert printable(text) == shown
    assert beginning(Texts.of([text]), 0) == shown


def test_long_and_broken_texts():
    assert len(printable("x" * 1000)) == 72 and printable("\x00" * 70).endswith("…")
    assert beginning(Texts.of([b"\xff\xfe abc"]), 0) == "�� abc"
    assert re.fullmatch(r"(0\.5 ?)+…?", beginning(np.full((1, 500), 0.5), 0))
