"""Sizes of model files: the default model of IMDB's reviews, and its small copies.

    .venv/bin/python benchmarks/text_sizes.py
    .venv/bin/python benchmarks/text_sizes.py --data-limit 2000

``shrink`` keeps the weights that matter most, in a byte each. For each size: the bytes of the file, the
weights that are left, the accuracy on the test reviews, the share of them with the label of the whole model,
the expected calibration error of probabilities in points, and how much longer or shorter than those of the
whole model the rows are (mean and standard deviation of the quotient of lengths: an idf that is not kept is
estimated). Then the time to shrink, and to predict.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from data import required
from report import Report, options, parsed, progress

from perceptrons import TextClassifier, load, save, shrink

SIZES = (2.0, 1.0, 0.5, 0.25, 0.1, 0.05)


def measure(report: Report, train: Any, test: Any, **made: Any) -> None:
    """The table of sizes; ``train`` and ``test`` have ``texts`` and ``labels``."""
    texts, labels = test.texts, np.asarray(test.labels)
    progress("shrink: the whole model")
    whole = TextClassifier(**{"random_state": 0, "probability": True} | made).fit(train.texts, train.labels)
    expected, lengths = whole.predict(texts), row_lengths(whole, texts[:: max(1, len(texts) // 300)])
    rows = [line("whole model", file_size(whole), np.count_nonzero(whole.coef_), expected, labels, expected)]
    rows[0] += [f"{calibration_error(whole, texts, labels):.2f}", "", "", ""]
    for size in SIZES:
        start = time.perf_counter()
        small = shrink(whole, size_mb=size)
        spent = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder:
            save(small, Path(folder) / "small.model")
            small = load(Path(folder) / "small.model")
        start = time.perf_counter()
        found = small.predict(texts)
        told = [f"{spent:.2f}", f"{time.perf_counter() - start:.2f}"]
        ratio = row_lengths(small, texts[:: max(1, len(texts) // 300)]) / lengths
        cells = line(f"{size:g} MB", file_size(small), small.n_weights_, found, labels, expected)
        cells.append(f"{calibration_error(small, texts, labels):.2f}")
        rows.append([*cells, f"{ratio.mean():.3f} ± {ratio.std():.3f}", *told])
    head = ("", "bytes", "weights", "accuracy", "lost", "same label", "calibration", "length")
    head = (*head, "s to shrink", "s to predict")
    report.table("Small copies of the default model of IMDB's reviews", head, rows)


def line(name: str, size: int, n: int, found: Any, labels: Any, expected: Any) -> list[str]:
    accuracy, before = (100.0 * np.mean(one == labels) for one in (found, expected))
    same = f"{100.0 * np.mean(found == expected):.2f} %"
    return [name, f"{size:,}", f"{n:,}", f"{accuracy:.2f} %", f"{before - accuracy:+.2f}", same]


def row_lengths(model: Any, texts: list[str]) -> np.ndarray:
    """Lengths of the rows before they are scaled, up to a factor, by the share of the intercept."""
    return np.asarray([1.0 / max(abs(model.explain(text).intercept), 1e-300) for text in texts])


def calibration_error(model: Any, texts: list[str], labels: np.ndarray) -> float:
    """Points between the probability of the likelier label and how often it is right, by tenths."""
    shares = model.predict_proba(texts)
    most, right = shares.max(axis=1), model.classes_[shares.argmax(axis=1)] == labels
    tenth = np.minimum((10.0 * most).astype(int), 9)
    gaps = [abs(np.sum(right[tenth == k]) - np.sum(most[tenth == k])) for k in range(10)]
    return 100.0 * float(np.sum(gaps)) / len(texts)


def file_size(model: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "a.model")
        return (Path(folder) / "a.model").stat().st_size


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many reviews of each part")
    chose = parsed(parser, argv)
    from text import reviews

    train, test = required(reviews(chose.data_limit), "IMDB")
    report = Report("text_sizes", chose.out)
    report.setting(f"IMDB: {len(train.texts):,} training and {len(test.texts):,} test reviews")
    measure(report, train, test)
    report.keep()


if __name__ == "__main__":
    main()
