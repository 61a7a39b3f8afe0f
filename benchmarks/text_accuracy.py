"""Texts to labels on seven sets: our default beside fastText, a linear SVM, SGD and Vowpal Wabbit.

    .venv/bin/python benchmarks/text_accuracy.py
    .venv/bin/python benchmarks/text_accuracy.py --sets TREC,CR --peers perceptrons,sgd --splits 2
    .venv/bin/python benchmarks/text_accuracy.py --sets IMDB --peers fasttext --splits 3
    .venv/bin/python benchmarks/text_accuracy.py --show          the table of what has been measured

TREC, SST-2, R8 and IMDB have a test part: ten shuffles of the training part. SUBJ, MR and CR have none: ten
random splits, nine parts to learn and one to test. All contestants get the same splits. Accuracy in per cent,
mean and standard deviation; seconds of a fit from texts in memory (fastText: from a file, by its command;
Vowpal Wabbit: from a file, in this process), the best.

No contestant sees test labels. Ours are the defaults. A peer with several settings chooses one for each
split: every setting is fitted on nine tenths of the training texts, and the one with the best accuracy on
the last tenth is chosen, of equals the first in ``PEERS``. Then it is fitted on all training texts and
tested. The texts of a split are in a random order that its number decides, so the tenth is random, and the
same in every run. The seconds are those of the last fit, without the choosing. The column *best on test*
shows the setting with the best mean on the test parts. It is for information only: nobody can choose by
labels that are not known. The settings:

* fastText (Debian's package): words, or words and pairs; its defaults, or ``-lr 0.5 -epoch 25``, as its
  tutorial recommends for small sets; on IMDB pairs, ``-lr 0.5`` and its five epochs. Two threads, and 200,000
  buckets for small sets. Texts are in lower case with spaces around punctuation, as in its own examples.
* tf-idf: ``TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)``, words of two letters as by default, or
  all words and punctuation marks as ours, and ``LinearSVC()``.
* SGD: ``HashingVectorizer(ngram_range=(1, 2), n_features=2**22)`` and ``SGDClassifier()``.
* Vowpal Wabbit: ``--ngram 2 -b 22 --holdout_off``, its own adaptive steps; logistic loss and ten or twenty
  passes, or hinge loss and three; more than two labels by ``--oaa``. On IMDB logistic loss and ten passes.
  Its file has the texts as fastText's, and passes after the first read its cache.

The best contestant is the one with the best mean of its chosen settings. Ours is close to it where it is
behind by at most 0.3 points and one standard error of the difference of the two:

* With a test part: of two learners on the same n test texts, of which d are right with one of them only, the
  standard error is √d/n; the mean of the ten. Ten shuffles of the training part do not make it smaller, since
  the test texts stay the same.
* With random splits: J splits give J differences with standard deviation s. They are not independent, since
  the splits share texts, so s/√J is too small. The corrected standard error is s √(1/J + n_test/n_train),
  here s √(1/10 + 1/9): C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
  52, 2003, pages 239-281.

Results are added to ``text_accuracy.json`` in the folder ``--out``: what is there is not measured again.
For each set it has the accuracy, the seconds and √d/n of every setting, split by split, and under ``chosen``
the setting that each peer has chosen, split by split.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from data import folder
from report import Report, options, parsed, progress

from perceptrons import TextClassifier, datasets

TOKEN = r"(?u)\w+|[^\w\s]"
SPLITS = 10
KEPT = "text_accuracy.json"
CHOSEN = "chosen"  #: in the stored results, beside the runs: peer -> the setting it has chosen for each split


class Split(NamedTuple):
    """Texts to learn, and others to test."""

    texts: list[str]
    labels: np.ndarray
    test_texts: list[str]
    test_labels: np.ndarray


class Answer(NamedTuple):
    labels: np.ndarray
    seconds: float  #: of the fit


# ------------------------------------------------------------------------------------------------ the sets


def _lines(path: Path, encoding: str, separator: str) -> tuple[list[str], np.ndarray]:
    lines = gzip.decompress(path.read_bytes()).decode(encoding).split("\n")
    pairs = [line.split(separator, 1) for line in lines if line.strip()]
    return [text for _, text in pairs], np.asarray([label for label, _ in pairs])


def _sentences(name: str, encoding: str = "latin-1") -> tuple[list[str], np.ndarray]:
    where = folder()
    assert where is not None
    return _lines(where / "sentences" / f"{name}.gz", encoding, " ")


def _r8(part: str) -> tuple[list[str], np.ndarray]:
    where = folder()
    assert where is not None
    return _lines(where / "r8" / f"{part}.txt.gz", "utf-8", "\t")


def _imdb() -> tuple[tuple[list[str], np.ndarray], tuple[list[str], np.ndarray]]:
    imdb = datasets.load_imdb()
    names = np.asarray(imdb.target_names)
    return (imdb.X, names[imdb.y]), (imdb.X_test, names[imdb.y_test])


#: name -> (texts and labels to learn, those to test); None: a part of the first is tested
SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "TREC": lambda: (_sentences("TREC.train.all"), _sentences("TREC.test.all")),
    "SST-2": lambda: (_sentences("stsa.binary.train", "utf-8"), _sentences("stsa.binary.test", "utf-8")),
    "SUBJ": lambda: (_sentences("subj.all"), None),
    "MR": lambda: (_sentences("rt-polarity.all"), None),
    "CR": lambda: (_sentences("custrev.all"), None),
    "R8": lambda: (_r8("train"), _r8("test")),
    "IMDB": _imdb,
}


#: sets whose test texts are the same in every run
TESTED_APART = ("TREC", "SST-2", "R8", "IMDB")


def splits(name: str, limit: int | None = None) -> Iterator[Split]:
    """The splits of a set, the same for all contestants."""
    (texts, labels), test = SETS[name]()
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(texts))[:limit]
        cut = len(order) if test is not None else len(order) - len(order) // 10
        learned, left = order[:cut], order[cut:]
        other = ([texts[i] for i in left], labels[left]) if test is None else test
        yield Split([texts[i] for i in learned], labels[learned], other[0][:limit], other[1][:limit])


# ---------------------------------------------------------------------------------------------- contestants


def ours(split: Split, seed: int) -> Answer:
    start = time.perf_counter()
    model = TextClassifier(random_state=seed, n_jobs=2).fit(split.texts, split.labels)
    seconds = time.perf_counter() - start
    return Answer(model.predict(split.test_texts), seconds)


def tfidf(split: Split, seed: int, **more: Any) -> Answer:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, **more)
    return _timed(make_pipeline(vectorizer, LinearSVC(random_state=seed)), split)


def sgd(split: Split, seed: int) -> Answer:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    vectorizer = HashingVectorizer(ngram_range=(1, 2), n_features=2**22)
    return _timed(make_pipeline(vectorizer, SGDClassifier(random_state=seed)), split)


def _timed(model: Any, split: Split) -> Answer:
    start = time.perf_counter()
    model.fit(split.texts, split.labels)
    seconds = time.perf_counter() - start
    return Answer(model.predict(split.test_texts), seconds)


def fasttext(split: Split, seed: int, ngrams: int, small: bool, *more: str) -> Answer:
    command = [
        "fasttext",
        "supervised",
        "-wordNgrams",
        str(ngrams),
        "-thread",
        "2",
        "-seed",
        str(seed),
        *more,
    ]
    command += ["-verbose", "0", *(["-bucket", "200000"] if small else [])]
    with tempfile.TemporaryDirectory() as place:
        learned, tested, model = (Path(place) / name for name in ("learned", "tested", "model"))
        learned.write_text(
            "".join(
                f"__label__{label} {spaced(text)}\n"
                for text, label in zip(split.texts, split.labels, strict=True)
            )
        )
        tested.write_text("".join(f"{spaced(text)}\n" for text in split.test_texts))
        start = time.perf_counter()
        subprocess.run([*command, "-input", learned, "-output", model], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        done = subprocess.run(
            ["fasttext", "predict", f"{model}.bin", tested], check=True, capture_output=True, text=True
        )
    return Answer(np.asarray([line.removeprefix("__label__") for line in done.stdout.splitlines()]), seconds)


def vowpal_wabbit(split: Split, loss: str, passes: int) -> Answer:
    from vowpalwabbit import Workspace

    names, numbers = np.unique(split.labels, return_inverse=True)
    two = len(names) == 2
    with tempfile.TemporaryDirectory() as place:
        learned = Path(place) / "learned"
        learned.write_text(
            "".join(
                f"{2 * number - 1 if two else number + 1} {_vw_line(text)}\n"
                for text, number in zip(split.texts, numbers.tolist(), strict=True)
            )
        )
        more = "" if two else f"--oaa {len(names)}"
        start = time.perf_counter()
        vw = Workspace(
            f"-d {learned} --cache_file {place}/cache -k --passes {passes} --holdout_off --ngram 2 -b 22 "
            f"--loss_function {loss} --quiet {more}"
        )
        seconds = time.perf_counter() - start
        found = np.asarray([vw.predict(_vw_line(text)) for text in split.test_texts])
        vw.finish()
    return Answer(names[(found > 0).astype(int) if two else found.astype(int) - 1], seconds)


def _vw_line(text: str) -> str:
    """A text in Vowpal Wabbit's format, in which two signs have a meaning of their own."""
    return "| " + spaced(text).replace(":", "COLON").replace("|", "BAR")


def spaced(text: str) -> str:
    """In lower case, spaces around punctuation, on one line."""
    return " ".join(re.findall(TOKEN, text.lower()))


#: contestant -> setting -> function
PEERS: dict[str, dict[str, Callable[..., Answer]]] = {
    "perceptrons": {"default": lambda split, seed, small: ours(split, seed)},
    "tfidf": {
        "words": lambda split, seed, small: tfidf(split, seed),
        "all tokens": lambda split, seed, small: tfidf(split, seed, token_pattern=TOKEN),
    },
    "sgd": {"default": lambda split, seed, small: sgd(split, seed)},
    "fasttext": {
        "1, default": lambda split, seed, small: fasttext(split, seed, 1, small),
        "2, default": lambda split, seed, small: fasttext(split, seed, 2, small),
        "1, 25 epochs": lambda *a: fasttext(a[0], a[1], 1, a[2], "-lr", "0.5", "-epoch", "25"),
        "2, 5 epochs": lambda *a: fasttext(a[0], a[1], 2, a[2], "-lr", "0.5"),
        "2, 25 epochs": lambda *a: fasttext(a[0], a[1], 2, a[2], "-lr", "0.5", "-epoch", "25"),
    },
    "vw": {
        "logistic, 10 passes": lambda split, seed, small: vowpal_wabbit(split, "logistic", 10),
        "logistic, 20 passes": lambda split, seed, small: vowpal_wabbit(split, "logistic", 20),
        "hinge, 3 passes": lambda split, seed, small: vowpal_wabbit(split, "hinge", 3),
    },
}
NAMES = {
    "perceptrons": "perceptrons",
    "tfidf": "tf-idf, LinearSVC",
    "sgd": "hashing, SGD",
    "fasttext": "fastText",
    "vw": "Vowpal Wabbit",
}
#: what is measured of a peer on the largest set, where more takes minutes
ON_OTHERS = {"fasttext": ("1, default", "2, default", "1, 25 epochs", "2, 25 epochs")}
ON_IMDB = {"tfidf": ("all tokens",), "fasttext": ("2, 5 epochs",), "vw": ("logistic, 10 passes",)}


def settings(name: str, peer: str) -> list[str]:
    """What is measured of a contestant on a set."""
    some = (ON_IMDB if name == "IMDB" else ON_OTHERS).get(peer)
    return [setting for setting in PEERS[peer] if some is None or setting in some]


# ------------------------------------------------------------------------------------------------- choosing


def held_out(split: Split) -> Split:
    """Nine tenths of the training texts to learn and the last one to test; they are in a random order."""
    cut = len(split.texts) - max(1, len(split.texts) // 10)
    return Split(split.texts[:cut], split.labels[:cut], split.texts[cut:], split.labels[cut:])


def choice(split: Split, seed: int, small: bool, candidates: dict[str, Callable[..., Answer]]) -> str:
    """The setting with the best accuracy on a tenth of the training texts, of equals the first."""
    within = held_out(split)
    right = {
        setting: int(np.sum(function(within, seed, small).labels == within.test_labels))
        for setting, function in candidates.items()
    }
    return max(right, key=lambda setting: right[setting])


# ------------------------------------------------------------------------------------------------ measuring


class Plan(NamedTuple):
    """What is measured."""

    sets: Sequence[str] = tuple(SETS)
    peers: Sequence[str] = tuple(PEERS)
    splits: int = SPLITS
    limit: int | None = None  #: only so many texts of each part: the figures mean nothing
    seconds: float = float("inf")  #: no run begins after so long


def measure(plan: Plan, kept: Path) -> dict[str, Any]:
    """Add what is missing to the results, and store them after each run."""
    found: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    there = {"fasttext": shutil.which("fasttext"), "vw": find_spec("vowpalwabbit")}
    for missing in [peer for peer in plan.peers if there.get(peer, True) is None]:
        progress(f"{NAMES[missing]} is not installed: NOT RUN")
        plan = plan._replace(peers=[peer for peer in plan.peers if peer != missing])
    if "perceptrons" in plan.peers:
        warm()
    deadline = time.monotonic() + plan.seconds
    for name in plan.sets:
        stored = found.setdefault(name, {})
        wanted = [(peer, setting) for peer in plan.peers for setting in settings(name, peer)]
        runs = {pair: stored.setdefault("/".join(pair), []) for pair in wanted}
        several = [peer for peer in plan.peers if len(settings(name, peer)) > 1]
        choices = {peer: stored.setdefault(CHOSEN, {}).setdefault(peer, []) for peer in several}
        if all(len(one) >= plan.splits for one in (*runs.values(), *choices.values())):
            continue
        for seed, split in enumerate(splits(name, plan.limit)):
            for peer, made in choices.items():
                if len(made) != seed or seed >= plan.splits or time.monotonic() > deadline:
                    continue
                progress(f"{name}, split {seed}: {NAMES[peer]}, choice of a setting")
                candidates = {setting: PEERS[peer][setting] for setting in settings(name, peer)}
                made.append(choice(split, seed, name != "IMDB", candidates))
                kept.write_text(json.dumps(found) + "\n")
            mine: np.ndarray | None = None  # which test texts ours has right
            for (peer, setting), run in runs.items():
                if len(run) != seed or seed >= plan.splits or time.monotonic() > deadline:
                    continue
                progress(f"{name}, split {seed}: {NAMES[peer]}, {setting}")
                answer = PEERS[peer][setting](split, seed, name != "IMDB")
                right = answer.labels == split.test_labels
                if mine is None:
                    own = answer if peer == "perceptrons" else ours(split, seed)
                    mine = own.labels == split.test_labels
                error = float(np.sqrt(np.sum(right != mine))) / len(right)
                run.append(
                    [round(100.0 * right.mean(), 4), round(answer.seconds, 4), round(100.0 * error, 4)]
                )
                kept.write_text(json.dumps(found) + "\n")
    return found


# ------------------------------------------------------------------------------------------------ the table


class Result(NamedTuple):
    """A contestant on a set in the settings it has chosen, split by split."""

    rates: list[float]  #: accuracies; none if nothing was chosen
    seconds: float  #: the least
    errors: list[float]  #: √d/n of each split, beside ours
    setting: str
    best_on_test: str = ""

    @property
    def mean(self) -> float:
        return float(np.mean(self.rates))

    @property
    def sd(self) -> float:
        return float(np.std(self.rates, ddof=1)) if len(self.rates) > 1 else 0.0


def result(runs: dict[str, list[list[float]]], choices: Sequence[str]) -> Result | None:
    """Of the runs of each setting, those of the setting that was chosen for the split."""
    if not any(runs.values()):
        return None
    best_on_test = ""
    if len(runs) == 1:
        ((setting, run),) = runs.items()
        choices = [setting] * len(run)
    else:
        means = {setting: np.mean([rate for rate, _, _ in run]) for setting, run in runs.items() if run}
        best = max(means, key=lambda setting: means[setting])
        best_on_test = f"{best}: {means[best]:.2f}"
    chosen = [
        (setting, runs[setting][split])
        for split, setting in enumerate(choices)
        if split < len(runs.get(setting, ()))
    ]
    if not chosen:
        return Result([], float("nan"), [], "not chosen", best_on_test)
    times = Counter(setting for setting, _ in chosen).most_common()
    told = times[0][0] if len(times) == 1 else "; ".join(f"{setting} ×{n}" for setting, n in times)
    rates, seconds, errors = zip(*(run for _, run in chosen), strict=True)
    return Result(list(rates), min(seconds), list(errors), told, best_on_test)


def resampled_error(differences: Sequence[float], ratio: float) -> float:
    """Standard error of the mean difference over random splits that share texts, by Nadeau and Bengio.

    The ratio is that of test texts to training texts. Of one split nothing is known: NaN.
    """
    if len(differences) < 2:
        return float("nan")
    return float(np.std(differences, ddof=1) * np.sqrt(1.0 / len(differences) + ratio))


def behind(name: str, mine: Result, other: Result) -> tuple[float, float]:
    """By how much ours is behind another, on the splits both have seen, and the standard error."""
    differences = [theirs - own for theirs, own in zip(other.rates, mine.rates, strict=False)]
    error = np.mean(other.errors) if name in TESTED_APART else resampled_error(differences, 1.0 / 9.0)
    return float(np.mean(differences)), float(error)


def verdict(name: str, results: dict[str, Result]) -> str:
    """Ours beside the best of the contestants."""
    if not all(one.rates for one in results.values()):
        return "not chosen"
    mine = results["perceptrons"]
    best = max(results.values(), key=lambda one: one.mean)
    if best.mean <= mine.mean:
        return "first"
    points, error = behind(name, mine, best)
    close = "" if np.isnan(error) else " (close)" if points <= 0.3 + error else " (NOT close)"
    return f"{points:.2f} ± {error:.2f}{close}"


def table(report: Report, found: dict[str, Any]) -> None:
    """Mean and deviation of each contestant in its chosen settings, and whether ours is close to the best."""
    rows = []
    for name in (one for one in SETS if one in found):
        stored = found[name]
        results = {}
        for peer in PEERS:
            runs = {setting: stored.get(f"{peer}/{setting}", []) for setting in settings(name, peer)}
            one = result(runs, stored.get(CHOSEN, {}).get(peer, []))
            if one is not None:
                results[peer] = one
        rows += [_row(name, peer, results) for peer in results]
    head = ("set", "", "accuracy", "±", "runs", "seconds", "setting", "ours: behind the best", "faster")
    report.table("Texts to labels: accuracy in per cent", (*head, "best on test"), rows)


def _row(name: str, peer: str, results: dict[str, Result]) -> list[str]:
    own, mine = results[peer], results.get("perceptrons")
    cells = [name, NAMES[peer]]
    if not own.rates:
        return [*cells, "", "", "0", "", own.setting, "", "", own.best_on_test]
    cells += [f"{own.mean:.2f}", f"{own.sd:.2f}", str(len(own.rates)), f"{own.seconds:.2f}", own.setting]
    cells.append(verdict(name, results) if own is mine else "")
    cells.append(f"{own.seconds / mine.seconds:.1f}x" if mine and own is not mine else "")
    return [*cells, own.best_on_test]


def warm() -> None:
    """Compile, or load, what ours needs."""
    for classes in (2, 3):
        TextClassifier(n_jobs=2).fit(["one two", "three", "four é"] * 2, np.arange(6) % classes).predict(
            ["two"]
        )


def section(report: Report, out: Path, limit: int | None) -> None:
    """The table as a part of another report; with a limit one set, in no time."""
    if folder() is None:
        progress("PERCEPTRONS_DATA names no folder with the sets of sentences: NOT RUN")
        return
    with tempfile.TemporaryDirectory() as place:
        if limit:
            found = measure(Plan(["TREC"], ["perceptrons", "sgd"], 1, limit), Path(place) / KEPT)
        else:
            out.mkdir(parents=True, exist_ok=True)
            found = measure(Plan(), out / KEPT)
    table(report, found)


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS), help="(all)")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS), help="(all)")
    parser.add_argument("--splits", type=int, default=SPLITS, help="(%(default)s)")
    parser.add_argument("--limit", type=int, help="only so many texts of each part: the figures mean nothing")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run after so long")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    chose = parsed(parser, argv)
    if folder() is None:
        raise SystemExit("PERCEPTRONS_DATA names no folder: see perceptrons.datasets.")
    chose.out.mkdir(parents=True, exist_ok=True)
    kept = chose.out / KEPT
    plan = Plan(*(getattr(chose, name) for name in Plan._fields))
    found = json.loads(kept.read_text()) if chose.show else measure(plan, kept)
    report = Report("text_accuracy", chose.out)
    report.setting("TREC, SST-2, SUBJ, MR, CR, R8, IMDB")
    table(report, found)
    report.keep()


if __name__ == "__main__":
    main()
