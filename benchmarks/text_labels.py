"""Several labels a text: Reuters-90 beside a support vector machine per label, and memory with many labels.

    .venv/bin/python benchmarks/text_labels.py
    .venv/bin/python benchmarks/text_labels.py --data-limit 500 --labels 500 --texts 2000

Reuters-21578, ModApte split, the topics that both parts have: micro and macro F1 on the test stories, and
seconds from texts to a model and from texts to labels. Ours is ``TextClassifier()``, with some seeds of its
shuffling, and also on single words, and without idf. Each is measured in both modes: every label learns every
text, as with up to 256 labels; or the true labels and the five highest wrong ones learn it, as with more,
which is forced here. Beside it tf-idf of the same n-grams (``TfidfVectorizer``, sublinear) with a
``LinearSVC`` per label (``OneVsRestClassifier``). A threshold other than 0 is not chosen for any.

Then generated texts with many labels, in batches of 10,000 by ``partial_fit``, in a process of its own: the
peak of its memory, what the weights take for each pair of a column and a label, and precision on further
texts. A text has one to three labels, some words of each, and others by Zipf's law.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from data import required
from report import Report, options, parsed, progress

from perceptrons import TextClassifier, datasets
from perceptrons.engine.spaces import labels as space
from perceptrons.text import f1_scores, precision_at_k, recall_at_k

SEEDS = (0, 1, 2)
BATCH, WORDS, COMMON, TESTED = 10_000, 12, 30, 2000


class Stories(NamedTuple):
    texts: list[str]
    topics: list[list[str]]


def reuters(limit: int | None = None) -> tuple[Stories, Stories] | None:
    """The training and the test stories with the topics that both have; None without the data."""
    if datasets.find("reuters21578") is None:
        return None
    found = datasets.load_reuters()
    names = np.asarray(found.target_names)
    both = np.asarray(found.y).any(axis=0) & np.asarray(found.y_test).any(axis=0)

    def some(texts: Any, y: np.ndarray) -> Stories:
        kept = np.flatnonzero((np.asarray(y)[:, both] != 0).any(axis=1))[:limit]
        topics = [names[both][np.flatnonzero(np.asarray(y)[i, both])].tolist() for i in kept]
        return Stories([texts[i] for i in kept], topics)

    return some(found.X, found.y), some(found.X_test, found.y_test)


#: Parameters of ours, by what they are called in the table.
OURS: dict[str, dict[str, Any]] = {
    "TextClassifier()": {},
    "single words": {"ngram_range": (1, 1)},
    "without idf": {"idf": False},
    "single words without idf": {"ngram_range": (1, 1), "idf": False},
}


def ours(**made: Any) -> Callable[[Stories], Any]:
    return lambda train: TextClassifier(**made).fit(train.texts, train.topics)


@contextmanager
def most_in_lines(n: int) -> Iterator[None]:
    """With more than n labels seen, a text changes its own labels and the five highest others."""
    before, space.MOST_IN_LINES = space.MOST_IN_LINES, n
    try:
        yield
    finally:
        space.MOST_IN_LINES = before


class VectorMachines:
    """tf-idf, and a LinearSVC per label."""

    def __init__(self, train: Stories, ngrams: tuple[int, int]):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.preprocessing import MultiLabelBinarizer
        from sklearn.svm import LinearSVC

        self.rows = TfidfVectorizer(ngram_range=ngrams, sublinear_tf=True)
        self.labels = MultiLabelBinarizer()
        X, Y = self.rows.fit_transform(train.texts), self.labels.fit_transform(train.topics)
        self.model = OneVsRestClassifier(LinearSVC(random_state=0)).fit(X, Y)

    def predict(self, texts: list[str]) -> Any:
        return self.labels.inverse_transform(self.model.predict(self.rows.transform(texts)))


def measured(name: str, learn: Callable[[Stories], Any], train: Stories, test: Stories) -> list[float]:
    progress(name)
    start = time.perf_counter()
    model = learn(train)
    middle = time.perf_counter()
    predicted = model.predict(test.texts)
    end = time.perf_counter()
    return [*f1_scores(test.topics, predicted), middle - start, end - middle]


def of_reuters(report: Report, train: Stories, test: Stories) -> None:
    """The table of Reuters-90."""
    rows = []
    for learned, most in (("all labels", space.MOST_IN_LINES), ("its own and five others", 0)):
        with most_in_lines(most):
            learn_warm(train)
            for name, made in OURS.items():
                runs = np.array([measured(name, ours(random_state=s, **made), train, test) for s in SEEDS])
                mean, spread, best = runs.mean(axis=0), runs.std(axis=0), runs.min(axis=0)
                scores = [f"{mean[j]:.3f} ± {spread[j]:.3f}" for j in (0, 1)]
                rows.append([name, learned, *scores, *(f"{best[j]:.2f}" for j in (2, 3))])
    for name, ngrams in (("tf-idf + LinearSVC, 1-2-grams", (1, 2)), ("the same on single words", (1, 1))):
        one = measured(name, lambda train, n=ngrams: VectorMachines(train, n), train, test)
        rows.append(
            [name, "all labels", *(f"{one[j]:.3f}" for j in (0, 1)), *(f"{one[j]:.2f}" for j in (2, 3))]
        )
    head = ("", "a text changes", "micro F1", "macro F1", "s to learn", "s to predict")
    report.table("Reuters-90; ours: mean ± sd of some seeds, and the shortest times", head, rows)


def learn_warm(train: Stories) -> None:
    """Load or compile the loops, which is not timed."""
    TextClassifier().fit(train.texts[:50], train.topics[:50]).predict(train.texts[:5])


# ---------------------------------------------------------------------------------------------- many labels


def generated(n: int, n_labels: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Texts with labels that are about as frequent as words are."""
    rng = np.random.default_rng(seed)
    label = np.minimum(rng.zipf(1.3, (n, 3)) - 1, n_labels - 1)
    label = np.where(rng.random((n, 3)) < 0.5, rng.integers(n_labels, size=(n, 3)), label)
    counts = rng.integers(1, 4, n)
    own = rng.integers(8, size=(n, 3, WORDS // 3))
    common = rng.zipf(1.2, (n, COMMON)) % 100_000
    texts, topics = [], []
    for i in range(n):
        chosen = label[i, : counts[i]]
        words = [f"t{a}x{b}" for t, a in enumerate(chosen.tolist()) for b in own[i, t].tolist()]
        texts.append(" ".join([*words, *(f"w{a}" for a in common[i].tolist())]))
        topics.append([f"label {a}" for a in set(chosen.tolist())])
    return texts, topics


def many_labels(n_texts: int, n_labels: int) -> dict[str, Any]:
    """Learn generated texts; what it took."""
    import resource

    model = TextClassifier()
    seconds = 0.0
    for seed in range(max(1, n_texts // BATCH)):
        texts, topics = generated(min(BATCH, n_texts), n_labels, seed + 1)
        start = time.perf_counter()
        model.partial_fit(texts, topics)
        seconds += time.perf_counter() - start
    texts, topics = generated(TESTED, n_labels, 0)
    ranked, kept = model.predict(texts, k=5), model.label_storage_
    return {
        "labels": len(model.classes_),
        "seconds": seconds,
        "columns": kept.columns,
        "pairs": kept.pairs,
        "bytes": kept.bytes,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "precision at 1": precision_at_k(topics, ranked, 1),
        "recall at 5": recall_at_k(topics, ranked, 5),
    }


def of_many(report: Report, n_texts: int, n_labels: int) -> None:
    """The figures of a run in a process of its own."""
    progress(f"{n_labels:,} labels")
    code = f"import json, text_labels as t; print(json.dumps(t.many_labels({n_texts}, {n_labels})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE)
    found = json.loads(done.stdout.splitlines()[-1])
    pairs = found["pairs"]
    rows = [
        ["labels seen", f"{found['labels']:,}"],
        ["texts learned", f"{n_texts:,}, {1e6 * found['seconds'] / n_texts:.0f} us each"],
        ["columns in use", f"{found['columns']:,}"],
        ["pairs of column and label", f"{pairs:,}, {found['bytes'] / pairs:.1f} bytes each"],
        ["peak memory of the process", f"{found['peak'] / 2**20:,.0f} MB"],
        ["precision of the best label", f"{found['precision at 1']:.3f}"],
        ["recall of the five best", f"{found['recall at 5']:.3f}"],
    ]
    report.table("Generated texts with many labels", ("", ""), rows)


def measure(report: Report, limit: int | None = None, n_texts: int = 100_000, n_labels: int = 10_000) -> None:
    """Both tables."""
    of_reuters(report, *required(reuters(limit), "Reuters-21578"))
    of_many(report, n_texts, n_labels)


HERE = __file__.rsplit("/", 1)[0] or "."


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many stories of each part")
    parser.add_argument("--texts", metavar="N", type=int, default=100_000, help="generated (%(default)s)")
    parser.add_argument("--labels", metavar="N", type=int, default=10_000, help="of them (%(default)s)")
    chose = parsed(parser, argv)
    report = Report("text_labels", chose.out)
    report.setting("Reuters-21578, ModApte, and generated texts")
    measure(report, chose.data_limit, chose.texts, chose.labels)
    report.keep()


if __name__ == "__main__":
    main()
