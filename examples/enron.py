"""Spam in the order in which it came: Enron-Spam, 33,715 mails of six people, one after the other.

    python examples/enron.py
    python examples/enron.py --plot enron.png

The online protocol: a mail comes, the learner says ham or spam, is told, and may learn. Nothing is held out,
nothing is seen twice, and every wrong answer counts. One mailbox follows the other, so five times the reader
changes, and with the reader what is ham: the error of the last 1,000 mails shows who gets over it.

The features are the same for all: words hashed to 262,144 columns with the value 1 + ln(count), a constant
beside them, rows of length 1; 0 and 1 for both Winnows. A hash learns nothing from the data, so it may be
used on a stream. Parameters are the library's, and scikit-learn's, own defaults; γ = 0.01 for the margin
perceptron, which has none for a stream. Nothing was tried out on these mails.

* From the perceptron to PA-II they are TextClassifiers: each mail goes in as it is, predict_one, learn_one.
* The others of the family take the rows in pieces of 100 by partial_fit, which makes the same updates as one
  by one, and counts the wrong answers on the way.
* scikit-learn's take them one by one by partial_fit. Its Perceptron is told its mistakes alone: other mails
  leave it as it is. SGDClassifier's average is left out unless asked for, for it takes a minute or two.
* LinearSVC cannot learn online. It is fitted anew to all mails so far every 1,000 mails, and says ham before.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _shared import BITS, finish, missing, options
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from perceptrons import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    BalancedWinnow,
    TextClassifier,
    TextHasher,
    Winnow,
    datasets,
    rules,
)

NAME, TITLE = "enron_spam", "Enron-Spam"
PIECE = 100
REFIT = 1_000
MARKS = (1_000, 2_000, 5_000, 10_000, 20_000)

Answers = Callable[["Mail"], np.ndarray]
"""From the stream to the mistakes in each piece of it."""


class Mail(NamedTuple):
    """The stream, in three forms."""

    texts: list[str]
    rows: Any  #: words and a constant, length 1
    words: Any  #: 1 for every word that is there
    y: np.ndarray
    mailboxes: np.ndarray


class Curve(NamedTuple):
    """How one learner fared."""

    name: str
    wrong: np.ndarray  #: mistakes in each piece of the stream
    n_mails: int
    seconds: float

    def mistakes(self, seen: int) -> int:
        """Among the first mails."""
        return int(self.wrong[: -(-seen // PIECE)].sum())

    def recent(self, seen: int) -> float:
        """Error on the last ten pieces, 1,000 mails or, at the end of the stream, a few less; in per cent."""
        stop = -(-seen // PIECE)
        start = max(0, stop - 10)
        return 100.0 * float(self.wrong[start:stop].sum()) / (min(stop * PIECE, self.n_mails) - start * PIECE)

    @property
    def error(self) -> float:
        """Over the whole stream, in per cent."""
        return 100.0 * float(self.wrong.sum()) / self.n_mails


def load(limit: int | None = None) -> Mail:
    mails = datasets.load_enron()
    texts, y = mails.X[:limit], mails.y[:limit]
    X = TextHasher(bits=BITS, values="sublinear", norm=None).transform(texts)
    X.sort_indices()
    words = X.copy()
    words.data[:] = 1.0
    rows = normalize(sparse.hstack([X, np.ones((len(y), 1))], format="csr"))
    return Mail(texts, rows, words, y, mails.mailboxes[:limit])


# --------------------------------------------------------------------------------------- contestants


def in_pieces(wrong: np.ndarray) -> np.ndarray:
    """Mistakes per piece, from one answer per mail."""
    return np.add.reduceat(wrong.astype(np.int64), np.arange(0, len(wrong), PIECE))


def by_text(rule: Any, readout: str) -> Answers:
    """Raw text, one mail at a time."""

    def run(mail: Mail) -> np.ndarray:
        words = {"tokens": "words", "ngram_range": (1, 1), "values": "sublinear", "idf": False}
        model = TextClassifier(**words, rule=rule, readout=readout, bits=BITS, precision="float64")
        # both labels are known from the start; a row of weight 0 is not learned
        model.partial_fit(mail.texts[:1], [0], classes=[0, 1], sample_weight=[0.0])
        wrong = np.zeros(len(mail.y), bool)
        for i, (text, label) in enumerate(zip(mail.texts, mail.y.tolist())):
            wrong[i] = model.predict_one(text) != label
            model.learn_one(text, label)
        return in_pieces(wrong)

    return run


def by_pieces(model: Any, words: bool = False) -> Answers:
    """The same updates as one by one; the learner counts its wrong answers itself."""

    def run(mail: Mail) -> np.ndarray:
        X = mail.words if words else mail.rows
        for start in range(0, len(mail.y), PIECE):
            stop = start + PIECE
            model.partial_fit(X[start:stop], mail.y[start:stop], classes=[0, 1])
        return np.array([record["errors"] for record in model.history_])

    return run


def by_row(model: Any, only_mistakes: bool = False) -> Answers:
    """One row at a time, for scikit-learn's; the answer is read off the weights, as predict would."""

    def run(mail: Mail) -> np.ndarray:
        X, wrong = mail.rows, np.zeros(len(mail.y), bool)
        wrong[0] = mail.y[0] == 1  # it says ham before it has learned anything
        model.partial_fit(X[:1], mail.y[:1], classes=[0, 1])
        for i in range(1, len(mail.y)):
            span = slice(X.indptr[i], X.indptr[i + 1])
            score = model.coef_[0, X.indices[span]] @ X.data[span]
            wrong[i] = (score > 0.0) != mail.y[i]
            if wrong[i] or score == 0.0 or not only_mistakes:
                model.partial_fit(X[i : i + 1], mail.y[i : i + 1])
        return in_pieces(wrong)

    return run


def anew(model: Any) -> Answers:
    """Fitted again to all mails so far, every so often."""

    def run(mail: Mail) -> np.ndarray:
        wrong = mail.y != 0
        for start in range(REFIT, len(mail.y), REFIT):
            stop = start + REFIT
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # what it answers is what counts here
                model.fit(mail.rows[:start], mail.y[:start])
            wrong[start:stop] = model.predict(mail.rows[start:stop]) != mail.y[start:stop]
        return in_pieces(wrong)

    return run


PLAIN = {"fit_intercept": False}
"""The constant is in the rows."""


def contestants(sgd_average: bool = False) -> dict[str, Answers]:
    """By name; a name that the other examples have is the same learner here."""
    found = {
        "Perceptron": by_text(rules.Perceptron(), "last"),
        "AveragedPerceptron": by_text(rules.Perceptron(), "average"),
        "MarginPerceptron, average": by_text(rules.Margin(0.01, 0.5), "average"),
        "MIRA, average": by_text(rules.MIRA(0.0), "average"),
        "PA-I": by_text(rules.PA1(1.0), "last"),
        "PA-I, average": by_text(rules.PA1(1.0), "average"),
        "PA-II, average": by_text(rules.PA2(1.0), "average"),
        "ROMMA": by_pieces(ROMMA(**PLAIN)),
        "ROMMA, aggressive": by_pieces(ROMMA(aggressive=True, **PLAIN)),
        "ALMA": by_pieces(ALMA(**PLAIN)),
        "AROW": by_pieces(AROW(**PLAIN)),
        "SCW": by_pieces(SCW(**PLAIN)),
        "Winnow, 0/1": by_pieces(Winnow(), words=True),
        "BalancedWinnow, 0/1": by_pieces(BalancedWinnow(), words=True),
        "scikit-learn Perceptron": by_row(SklearnPerceptron(**PLAIN), only_mistakes=True),
        "scikit-learn SGDClassifier": by_row(SGDClassifier(**PLAIN)),
        "scikit-learn SGDClassifier, average": by_row(SGDClassifier(average=True, **PLAIN)),
        "scikit-learn LinearSVC": anew(LinearSVC(**PLAIN)),
    }
    if not sgd_average:
        del found["scikit-learn SGDClassifier, average"]
    return found


def curves(mail: Mail, sgd_average: bool = False) -> Iterator[Curve]:
    for name, run in contestants(sgd_average).items():
        started = time.perf_counter()
        wrong = run(mail)
        yield Curve(name, wrong, len(mail.y), time.perf_counter() - started)


# ----------------------------------------------------------------------------------------- printing


def marks(n_mails: int) -> list[int]:
    return [mark for mark in MARKS if mark < n_mails] + [n_mails]


def head(n_mails: int) -> str:
    """Two lines above those of the learners."""
    seen = marks(n_mails)
    first = f"{'mails seen':36} " + " ".join(f"{mark:>13,}" for mark in seen)
    return f"{first}\n{'mistakes, and % of the last 1,000':36} {'':{14 * len(seen)}} in all, %  seconds"


def line(curve: Curve) -> str:
    """Mistakes up to each mark, and the error on the 1,000 mails before it."""
    cells = " ".join(f"{curve.mistakes(mark):>7,} {curve.recent(mark):5.1f}" for mark in marks(curve.n_mails))
    return f"{curve.name:36} {cells} {curve.error:10.2f} {curve.seconds:8.1f}"


def draw(kept: list[Curve], mail: Mail) -> Any:
    """Mistakes against mails, as a figure of matplotlib; a grey line where the mailbox changes."""
    figure, axes = _pyplot().subplots(figsize=(10, 6), layout="constrained")
    colours = _pyplot().get_cmap("tab20").colors
    ranked = sorted(kept, key=lambda curve: -curve.error)
    for curve, colour in zip(ranked, colours):
        seen = np.minimum(PIECE * np.arange(1, len(curve.wrong) + 1), curve.n_mails)
        style = "--" if curve.name.startswith("scikit-learn") else "-"
        axes.plot(seen, np.cumsum(curve.wrong), style, color=colour, label=curve.name, linewidth=1.3)
    for change in np.flatnonzero(np.diff(mail.mailboxes)) + 1:
        axes.axvline(change, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlabel="mails seen (grey: the next mailbox)", ylabel="mistakes", title="Enron-Spam, online")
    # the worst few would press all others to the ground
    axes.set_ylim(0, 1.2 * float(np.quantile([curve.wrong.sum() for curve in kept], 0.9)) + 1.0)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _pyplot() -> Any:
    """matplotlib, drawing into files."""
    try:
        import matplotlib
    except ImportError as error:
        raise SystemExit("--plot needs matplotlib: pip install matplotlib.") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def main(argv: list[str] | None = None) -> int:
    parser = options(__doc__, seeds=None)
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the curves (PNG, SVG, PDF)")
    parser.add_argument("--sgd-average", action="store_true", help="also SGDClassifier(average=True)")
    chose = parser.parse_args(argv)
    if missing(NAME, TITLE):
        return 0
    if chose.plot is not None:
        _pyplot()  # if it is missing, it is missed now
    started = time.perf_counter()
    mail = load(chose.data_limit)
    again = float(np.mean(mail.y[1:] != mail.y[:-1]))
    print(
        f"Enron-Spam: {len(mail.y):,} mails in their order, {100 * mail.y.mean():.1f} % spam. "
        f"Who says what the last one was errs on {100 * again:.1f} %.\n"
    )
    print(head(len(mail.y)))
    kept = []
    for curve in curves(mail, chose.sgd_average):
        print(line(curve), flush=True)
        kept.append(curve)
    if chose.plot is not None:
        draw(kept, mail).savefig(chose.plot, dpi=110)
        print(f"\nkept: {chose.plot}")
    return finish(started)


if __name__ == "__main__":
    sys.exit(main())
