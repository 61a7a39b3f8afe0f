"""The default learner of texts on IMDB: a file to a model, predictions, the command line; beside two peers.

    .venv/bin/python benchmarks/text_speed.py
    .venv/bin/python benchmarks/text_speed.py --rounds 20 --no-peers

Seconds of wall time, the best of several rounds in turns; the peers, which take half a minute, run
``--peer-rounds`` times. From the training file on disk to a model: ours reads ``label<TAB>text`` and makes
three passes (``fit_stream``), fastText makes five epochs (``-wordNgrams 2 -lr 0.5``, two threads) over a file
of its own format, in lower case with spaces around punctuation, and tf-idf with a linear SVM reads the file
into a list first. Predictions: the texts of the test part, as a list of strings, to labels.

The command line is timed as it is installed, with the bytecode of its modules on disk: the first run, which
is not timed, may write it, whatever ``PYTHONDONTWRITEBYTECODE`` says. Without bytecode every run compiles
our modules anew, which takes 0.2 to 0.3 s.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from data import required
from objective import race
from report import Report, options, parsed, progress
from text_accuracy import TOKEN, spaced

from perceptrons import TextClassifier
from perceptrons.io import fit_stream, open_stream

PASSES = 3
CLOCK = time.perf_counter


def files(folder: Path, texts: list[str], labels: list[str]) -> tuple[Path, Path]:
    """The texts in a random order: tab-separated, and in fastText's format."""
    order = np.random.default_rng(0).permutation(len(texts))
    plain, theirs = folder / "imdb.tsv", folder / "imdb.fasttext"
    plain.write_text("".join(f"{labels[i]}\t{' '.join(texts[i].split())}\n" for i in order), "utf-8")
    theirs.write_text("".join(f"__label__{labels[i]} {spaced(texts[i])}\n" for i in order), "utf-8")
    return plain, theirs


def ours(path: Path) -> TextClassifier:
    model = TextClassifier()
    fit_stream(model, open_stream(path, "tsv", text_column=1), passes=PASSES)
    return model


def command_line(path: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "perceptrons", "train", str(path), "--text", "--quiet"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([*command, "--model", str(folder / "imdb.model")], check=True, env=env)


def fasttext(path: Path, folder: Path) -> None:
    given = ["-input", str(path), "-output", str(folder / "theirs"), "-verbose", "0"]
    settings = ["-wordNgrams", "2", "-lr", "0.5", "-thread", "2"]
    subprocess.run(["fasttext", "supervised", *given, *settings], check=True, capture_output=True)


def tfidf(path: Path) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    labels, texts = zip(*(line.split("\t", 1) for line in path.read_text("utf-8").split("\n")[:-1]))
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=TOKEN)
    return make_pipeline(vectorizer, LinearSVC()).fit(texts, labels)


def measure(report: Report, train: Any, test: Any, rounds: int, peer_rounds: int) -> None:
    """``train`` and ``test`` have ``texts`` and ``labels``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, theirs = files(folder, train.texts, train.labels)
        best = race({"fit_stream": lambda: ours(plain)}, rounds, clock=CLOCK)
        best |= race({"perceptrons train": lambda: command_line(plain, folder)}, min(rounds, 5), clock=CLOCK)
        peers: dict[str, Callable[[], Any]] = {"tf-idf, LinearSVC": lambda: tfidf(plain)}
        if shutil.which("fasttext") is not None:
            peers["fastText"] = lambda: fasttext(theirs, folder)
        if peer_rounds:
            progress(" and ".join(peers))
            best |= race(peers, peer_rounds, warm_up=False, clock=CLOCK)
        size = plain.stat().st_size
        rows = [
            [peer, f"{took:.2f}", f"{size / took / 1e6:.1f}", f"{took / best['fit_stream']:.1f}"]
            for peer, took in best.items()
        ]
        title = f"IMDB, file ({size / 1e6:.1f} MB) to the default model, {PASSES} passes"
        report.table(title, ("", "seconds", "MB/s", "ours is faster by"), rows)
        _predictions(report, ours(plain), test, rounds)


def _predictions(report: Report, model: TextClassifier, test: Any, rounds: int) -> None:
    size = sum(len(text.encode()) for text in test.texts)
    works = {f"{n} thread{'s' * (n > 1)}": _predicting(model, test.texts, n) for n in (1, 2)}
    best = race(works, rounds, clock=CLOCK)
    right = float(np.mean(model.predict(test.texts) == np.asarray(test.labels)))
    report.table(
        f"IMDB, {size / 1e6:.1f} MB of test reviews to labels, {100.0 * right:.2f} % of them right",
        ("", "seconds", "MB/s"),
        [[name, f"{took:.3f}", f"{size / took / 1e6:.0f}"] for name, took in best.items()],
    )


def _predicting(model: TextClassifier, texts: list[str], n: int) -> Callable[[], Any]:
    return lambda: model.set_params(n_jobs=n).predict(texts)


def main(argv: list[str] | None = None) -> None:
    from text import reviews

    parser = options(__doc__)
    parser.add_argument("--rounds", metavar="N", type=int, default=7, help="timed rounds (%(default)s)")
    parser.add_argument("--peer-rounds", metavar="N", type=int, default=1, help="of the peers (%(default)s)")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many reviews of each part")
    chose = parsed(parser, argv)
    train, test = required(reviews(chose.data_limit), "IMDB")
    report = Report("text_speed", chose.out)
    report.setting(f"IMDB: {len(train.texts):,} training and {len(test.texts):,} test reviews")
    report.say(f"load       {os.getloadavg()[0]:.1f}")
    measure(report, train, test, chose.rounds, 0 if chose.no_peers else chose.peer_rounds)
    report.keep()


if __name__ == "__main__":
    main()
