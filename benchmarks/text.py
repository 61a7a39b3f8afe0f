"""Raw text: a file to a model, one text at a time; beside scikit-learn, Vowpal Wabbit and River.

    .venv/bin/python benchmarks/text.py
    .venv/bin/python benchmarks/text.py --data-limit 2000 --rounds 1
    .venv/bin/python benchmarks/text.py --choose        how the parameter of AROW was chosen

One pass over IMDB's 25,000 training reviews, from a file on disk to a model, wall time, best of several
rounds in turns; the first round is not timed. Ours reads ``label<TAB>text`` (``io.open_stream``,
``fit_stream``, ``TextClassifier``: words, 2^22 columns), once with the averaged perceptron on counts, and
once with AROW on 0/1 values (r = 1 of 0.1, 1 and 10: the best on the last fifth of the training file after
learning the rest; ``--choose`` prints it). scikit-learn reads the same file into a list, then
``HashingVectorizer`` and ``Perceptron`` (one epoch). Vowpal Wabbit reads a file of its own format with the
words cut and in lower case already, by its own parser and thread (hinge loss, 2^22 weights, one pass). The
accuracies are those on the 25,000 test reviews.

One text of 75 words at a time: ``learn_one(text, label)`` beside River's (bag of words and perceptron) and
Vowpal Wabbit's ``learn`` of a line of text; microseconds of one call, the best of several rounds in turns.

The default learner on some texts in one call of ``fit``, in pieces by ``partial_fit``, and one by one by
``learn_one``: whether scores and counts are the same to the last bit, with one label a text and with several.

``benchmarks/text_speed.py`` has the default learner on IMDB: file to model, predictions and command line;
``benchmarks/text_accuracy.py`` its accuracy on seven sets, beside others. Both run alone, too.

``benchmarks/text_sizes.py`` has the sizes of model files, and what small copies lose;
``benchmarks/text_calibration.py`` how far probabilities can be believed;
``benchmarks/text_labels.py`` texts with several labels, where Reuters-21578 is there.

Then what ``benchmarks/libsvm_reading.py`` measures: libsvm files to CSR beside ``load_svmlight_file``, and
the memory of streams of 10^5 to 10^7 rows.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import libsvm_reading
import numpy as np
import text_accuracy
import text_calibration
import text_labels
import text_sizes
import text_speed
from data import required
from objective import race
from report import Report, options, parsed, progress

from perceptrons import TextClassifier, datasets, rules
from perceptrons.io import fit_stream, open_stream


class Reviews(NamedTuple):
    texts: list[str]
    labels: list[str]  #: "for" or "against"


WORD = re.compile(r"\w\w+")
BITS = 22
POSITIVE = "for"
#: Words are counted, and a perceptron learns them: what the peers do in one pass.
WORDS = {"rule": "perceptron", "tokens": "words", "ngram_range": (1, 1), "values": "count", "idf": False}


# ------------------------------------------------------------------------------------------- the contestants


def ours(path: Path, **made: Any) -> tuple[Any, Callable[[list[str]], Any]]:
    model = TextClassifier(**{**WORDS, **made}, bits=BITS)
    fit_stream(model, open_stream(path, "tsv", text_column=1))
    return model, model.predict


def scikit_learn(path: Path) -> tuple[Any, Callable[[list[str]], Any]]:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import Perceptron

    labels, texts = zip(*(line.split("\t", 1) for line in path.read_text("utf-8").split("\n")[:-1]))
    vectorizer = HashingVectorizer(n_features=2**BITS)
    model = Perceptron(max_iter=1, tol=None, shuffle=False).fit(vectorizer.transform(texts), labels)
    return model, lambda unseen: model.predict(vectorizer.transform(unseen))


def vowpal_wabbit(path: Path) -> tuple[Any, Callable[[list[str]], Any]]:
    from vowpalwabbit import Workspace

    vw = Workspace(f"-d {path} -b {BITS} --loss_function hinge --quiet")

    def predict(unseen: list[str]) -> Any:
        return np.where([vw.predict(f"| {cut(text)}") > 0 for text in unseen], POSITIVE, "against")

    return vw, predict


def cut(text: str) -> str:
    """The words of a text, as Vowpal Wabbit wants them."""
    return " ".join(WORD.findall(text.lower()))


# ----------------------------------------------------------------------------------------- a file to a model


def write_files(folder: Path, train: Any) -> tuple[Path, Path]:
    """The training reviews in a random order, as tab-separated lines and in Vowpal Wabbit's format."""
    order = np.random.default_rng(0).permutation(len(train.texts))
    plain, vw = folder / "imdb.tsv", folder / "imdb.vw"
    with plain.open("w", encoding="utf-8", newline="") as a, vw.open("w", encoding="utf-8", newline="") as b:
        for i in order:
            text = " ".join(train.texts[i].split())
            a.write(f"{train.labels[i]}\t{text}\n")
            b.write(f"{1 if train.labels[i] == POSITIVE else -1} | {cut(text)}\n")
    return plain, vw


def whole_files(report: Report, folder: Path, train: Any, test: Any, rounds: int) -> None:
    plain, vw = write_files(folder, train)
    works: dict[str, Callable[[], Any]] = {
        "perceptrons": lambda: ours(plain),
        "perceptrons, AROW": lambda: ours(plain, rule=rules.AROW(r=1.0), readout="last", values="binary"),
        "scikit-learn": lambda: scikit_learn(plain),
    }
    if installed("vowpalwabbit"):
        works["Vowpal Wabbit"] = lambda: vowpal_wabbit(vw)
    accuracy = {}
    for name, work in works.items():
        progress(name)
        _, predict = work()
        accuracy[name] = float(np.mean(predict(test.texts) == np.asarray(test.labels)))
    best = race(works, rounds, clock=time.perf_counter)
    size = plain.stat().st_size
    report.table(
        f"IMDB, one pass from the file ({size / 1e6:.1f} MB) to a model",
        ("", "seconds", "MB/s", "ours is faster by", "test accuracy"),
        [
            [
                name,
                f"{best[name]:.3f}",
                f"{size / best[name] / 1e6:.0f}",
                f"{best[name] / best['perceptrons']:.1f}",
                f"{accuracy[name]:.4f}",
            ]
            for name in works
        ],
    )


def choose(report: Report, folder: Path, train: Any) -> None:
    """AROW's r by the last fifth of the training file, which the others are learned without."""
    lines = write_files(folder, train)[0].read_text("utf-8").split("\n")[:-1]
    labels, texts = (np.asarray(part, object) for part in zip(*(line.split("\t", 1) for line in lines)))
    cut = len(texts) - len(texts) // 5
    rows = []
    for r in (0.1, 1.0, 10.0):
        made = {**WORDS, "rule": rules.AROW(r=r), "values": "binary"}
        model = TextClassifier(**made, bits=BITS, readout="last")
        model.partial_fit(texts[:cut], labels[:cut].astype(str))
        rows.append([f"r = {r:g}", f"{model.score(texts[cut:], labels[cut:].astype(str)):.4f}"])
    report.table("AROW on the last fifth of the training reviews", ("", "accuracy"), rows)


# -------------------------------------------------------------------------------------------- the same bits


def same_bits(report: Report, train: Any, n: int = 400) -> None:
    """The default learner on texts at once, in pieces and one by one: whether all make the same numbers."""
    order = np.random.default_rng(0).permutation(len(train.texts))[:n]
    reviews = [train.texts[i] for i in order], [train.labels[i] for i in order]
    sets: dict[str, tuple[list[str], list[Any]]] = {"IMDB, one label": reviews}
    stories = text_labels.reuters(n)
    if stories is not None:
        sets["Reuters-90, several labels"] = (stories[0].texts, stories[0].topics)
    rows = []
    for name, (texts, labels) in sets.items():
        progress(f"the same bits: {name}")
        at_once = TextClassifier().fit(texts, labels, order=[np.arange(len(texts))])
        in_pieces, one_by_one = TextClassifier(), TextClassifier()
        for a in range(0, len(texts), 77):
            in_pieces.partial_fit(texts[a : a + 77], labels[a : a + 77])
        for text, label in zip(texts, labels, strict=True):
            one_by_one.learn_one(text, label)
        for how, model in (("in pieces of 77", in_pieces), ("one by one", one_by_one)):
            same = all(
                np.array_equal(a, b)
                for a, b in (
                    (at_once.classes_, model.classes_),
                    (at_once.decision_function(texts), model.decision_function(texts)),
                    (at_once.document_counts_, model.document_counts_),
                )
            )
            rows.append([name, f"{len(texts):,}", how, "the same bits" if same else "DIFFERENT"])
    report.table("Texts learned in one call of fit, and otherwise", ("", "texts", "learned", ""), rows)


# ---------------------------------------------------------------------------------------- one text at a time


def one_text(report: Report, train: Any, rounds: int) -> None:
    text = next(" ".join(cut(t).split()[:75]) for t in train.texts if len(cut(t).split()) >= 75)
    calls = 2000
    models = {"perceptrons": TextClassifier(**WORDS, bits=BITS), "perceptrons, default": TextClassifier()}

    def learner(model: TextClassifier) -> Callable[[], None]:
        for label in ("pos", "neg"):
            model.learn_one(text, label)

        def learn() -> None:
            for k in range(calls):
                model.learn_one(text, "pos" if k & 1 else "neg")

        return learn

    works: dict[str, Callable[[], Any]] = {name: learner(model) for name, model in models.items()}
    if installed("river"):
        works["River"] = river_learner(text, calls)
    if installed("vowpalwabbit"):
        works["Vowpal Wabbit"] = vw_learner(text, calls)
    best = race(works, rounds, clock=time.perf_counter)
    report.table(
        f"learn_one of a text of 75 words, {len(text)} characters, alternating labels",
        ("", "µs a call", "ours is faster by"),
        [
            [name, f"{1e6 * best[name] / calls:.2f}", f"{best[name] / best['perceptrons']:.1f}"]
            for name in works
        ],
    )


def river_learner(text: str, calls: int) -> Callable[[], None]:
    from river import feature_extraction, linear_model

    model = feature_extraction.BagOfWords(lowercase=True) | linear_model.Perceptron()

    def learn() -> None:
        for k in range(calls):
            model.learn_one(text, bool(k & 1))

    return learn


def vw_learner(text: str, calls: int) -> Callable[[], None]:
    from vowpalwabbit import Workspace

    vw = Workspace(f"-b {BITS} --loss_function hinge --quiet")
    lines = [f"{label} | {text}" for label in (-1, 1)]

    def learn() -> None:
        for k in range(calls):
            vw.learn(lines[k & 1])

    return learn


def installed(name: str) -> bool:
    from importlib.util import find_spec

    if find_spec(name) is None:
        progress(f"{name} is not installed: NOT RUN (make bench installs it)")
        return False
    return True


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rounds", metavar="N", type=int, default=7, help="timed rounds (%(default)s)")
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many reviews of each part")
    parser.add_argument("--choose", action="store_true", help="only choose the parameter of AROW")
    parser.add_argument("--no-libsvm", action="store_true", help="leave libsvm files and memory out")
    chose = parsed(parser, argv)
    train, test = required(reviews(chose.data_limit), "IMDB")
    report = Report("text", chose.out)
    report.setting(f"IMDB: {len(train.texts):,} training and {len(test.texts):,} test reviews")
    with tempfile.TemporaryDirectory() as folder:
        if chose.choose:
            choose(report, Path(folder), train)
            return
        whole_files(report, Path(folder), train, test, chose.rounds)
    text_speed.measure(report, train, test, chose.rounds, 0 if chose.data_limit else 1)
    one_text(report, train, chose.rounds)
    same_bits(report, train)
    text_accuracy.section(report, chose.out, chose.data_limit)
    text_sizes.measure(report, train, test)
    sets = text_calibration.all_sets(chose.data_limit, (train, test))
    text_calibration.measure(report, sets, min(5, chose.rounds))
    if datasets.find("reuters21578") is not None:
        small = {"limit": chose.data_limit, "n_texts": 2000, "n_labels": 500}
        text_labels.measure(report, **(small if chose.data_limit else {}))
    if not chose.no_libsvm:
        libsvm_reading.measure(report, quick=bool(chose.data_limit))
    report.keep()


def reviews(limit: int | None) -> tuple[Reviews, Reviews] | None:
    """IMDB's two parts; of each the first and the last reviews where there is a limit: both classes."""
    if datasets.find("imdb") is None:
        return None
    imdb = datasets.load_imdb()
    parts = []
    for texts, y in ((imdb.X, imdb.y), (imdb.X_test, imdb.y_test)):
        half = len(texts) // 2 if limit is None else limit // 2
        keep = [*range(half), *range(len(texts) - half, len(texts))]
        parts.append(Reviews([texts[i] for i in keep], [imdb.target_names[y[i]] for i in keep]))
    return parts[0], parts[1]


if __name__ == "__main__":
    main()
