"""What the examples on real data share: the learners, the features of texts, the protocol, the table.

Every learner gets the same rows, and as many epochs as every other; scikit-learn's LinearSVC runs to its own
end. One that has a parameter tries three values of it, ours as scikit-learn's: it learns four fifths of the
training rows, is asked about the last fifth, and what was best there is learned from all of them. Test rows
choose nothing. Where runs differ by the order of the rows, or by the split, they are repeated, and the table
has mean ± deviation.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from perceptrons import (
    ALMA,
    AROW,
    MIRA,
    ROMMA,
    SCW,
    AveragedPerceptron,
    BalancedWinnow,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    TextHasher,
    VotedPerceptron,
    Winnow,
    datasets,
)

EPOCHS = 10
BITS = 18
"""Of the hash: 262,144 columns."""


# ----------------------------------------------------------------------------------------- learners


class Learner(NamedTuple):
    """A contestant: what it is called, what makes a fresh one, what its parameter may be."""

    name: str
    make: Callable[..., Any]  #: of random_state, max_iter and, where it has one, the parameter
    parameter: str = ""
    values: tuple[float, ...] = ()  #: the default first
    zero_one: bool = False  #: learns from rows of 0 and 1
    online: bool = True  #: takes max_iter as the others do, and its result depends on the order of the rows

    def fresh(self, seed: int, value: float | None = None) -> Any:
        settings: dict[str, Any] = {"max_iter": EPOCHS} if self.online else {}
        if self.parameter:
            settings[self.parameter] = self.values[0] if value is None else value
        return self.make(random_state=seed, **settings)


def averaged(kind: Any, **settings: Any) -> Callable[..., Any]:
    return lambda **more: kind(readout="average", **settings, **more)


def sgd(**settings: Any) -> Callable[..., Any]:
    return lambda **more: SGDClassifier(tol=None, **settings, **more)


VOTED = Learner("VotedPerceptron", VotedPerceptron)
"""A prediction asks every vector that there ever was: for the smaller sets."""

FAMILY = [
    Learner("Perceptron", Perceptron),
    Learner("AveragedPerceptron", AveragedPerceptron),
    Learner("MarginPerceptron, average", averaged(MarginPerceptron), "gamma", (0.01, 0.001, 0.1)),
    Learner("MIRA, average", averaged(MIRA)),
    Learner("PA-I, average", averaged(PassiveAggressive), "C", (1.0, 0.1, 0.01)),
    Learner("PA-II, average", averaged(PassiveAggressive, variant="II"), "C", (1.0, 0.1, 0.01)),
    Learner("ROMMA", ROMMA),
    Learner("ROMMA, aggressive", lambda **more: ROMMA(aggressive=True, **more)),
    Learner("ALMA", ALMA, "alpha", (0.9, 0.5, 0.7)),
    Learner("AROW", AROW, "r", (1.0, 0.1, 10.0)),
    Learner("SCW", SCW, "C", (1.0, 0.1, 0.01)),
    Learner("Winnow, 0/1", Winnow, "alpha", (2.0, 1.5, 1.1), zero_one=True),
    Learner("BalancedWinnow, 0/1", BalancedWinnow, "eta", (0.1, 0.01, 1.0), zero_one=True),
]

PEERS = [
    Learner("scikit-learn Perceptron", lambda **more: SklearnPerceptron(tol=None, **more)),
    Learner("scikit-learn SGDClassifier", sgd(), "alpha", (1e-4, 1e-5, 1e-3)),
    Learner("scikit-learn SGDClassifier, average", sgd(average=True), "alpha", (1e-4, 1e-5, 1e-3)),
    Learner("scikit-learn LinearSVC", LinearSVC, "C", (1.0, 0.1, 10.0), online=False),
]


def learners(voted: bool = False) -> list[Learner]:
    """The family in the order of the table, then scikit-learn's."""
    return [*FAMILY[:2], *([VOTED] if voted else []), *FAMILY[2:], *PEERS]


# -------------------------------------------------------------------------------------------- rows


class Task(NamedTuple):
    """Rows to learn and rows to be asked about."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def text_task(texts: Sequence[str], y: np.ndarray, test_texts: Sequence[str], y_test: np.ndarray) -> Task:
    """Words hashed and weighed by tf-idf, rows of length 1; how rare a word is, the training texts say."""
    hasher = TextHasher(bits=BITS, norm=None)
    X, X_test = hasher.transform(texts), hasher.transform(test_texts)
    for rows in (X, X_test):
        rows.sort_indices()  # once for all, or every learner does it for itself
    weigh = TfidfTransformer(sublinear_tf=True).fit(X)
    return Task(weigh.transform(X), y, weigh.transform(X_test), y_test)


def zero_one(task: Task) -> Task:
    """Whether a feature is there at all."""
    return task._replace(X=_present(task.X), X_test=_present(task.X_test))


def _present(X: Any) -> Any:
    if not sparse.issparse(X):
        return (X > 0.0).astype(X.dtype)
    X = X.copy()
    X.data[:] = 1.0
    return X


def held_out(task: Task) -> Task:
    """The training rows alone, a fifth of them in the place of the test rows."""
    X, X_test, y, y_test = train_test_split(task.X, task.y, test_size=0.2, random_state=0)
    return Task(X, y, X_test, y_test)


def some(rows: Sequence[Any], y: np.ndarray, limit: int | None) -> tuple[Sequence[Any], np.ndarray]:
    """So many rows, drawn at random; None: all of them."""
    if limit is None or limit >= len(y):
        return rows, y
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:limit])
    return [rows[i] for i in chosen], y[chosen]


# ---------------------------------------------------------------------------------------- protocol


Measure = Callable[[Callable[[], Any], Task], np.ndarray]
"""What is found out about fresh learners on a task; the first number is to be small."""


class Result(NamedTuple):
    """What one contestant achieved."""

    learner: Learner
    chosen: list[float]  #: the parameter, run by run
    scores: np.ndarray  #: a row per run
    seconds: float  #: of a run: learning and answering

    def cell(self, column: int = 0) -> str:
        """Mean ± deviation over the runs, or the one number there is."""
        scores = self.scores[:, column]
        mean = f"{scores.mean():.2f}"
        return mean if len(scores) == 1 or scores.std() < 1e-3 else f"{mean} ± {scores.std(ddof=1):.2f}"

    def setting(self) -> str:
        """The parameter chosen; where the splits differ in it, all that were."""
        values = " or ".join(f"{value:g}" for value in sorted(set(self.chosen)))
        return f"{self.learner.parameter}={values}" if self.chosen else ""


def test_error(fresh: Callable[[], Any], task: Task) -> np.ndarray:
    """Per cent of the test rows."""
    model = fresh().fit(task.X, task.y)
    return np.array([100.0 * np.mean(model.predict(task.X_test) != task.y_test)])


def compare(
    tasks: Sequence[Task], contestants: Sequence[Learner], measure: Measure = test_error
) -> Iterator[Result]:
    """Run every contestant once on every task, with the number of the task for its seed.

    One task may come several times over: then the runs differ in their seeds alone, the parameter is chosen
    once, and who does not depend on the order of the rows runs once.
    """
    distinct = {id(task): task for task in tasks}
    twins = {key: zero_one(task) for key, task in distinct.items()}
    for learner in contestants:
        given = twins if learner.zero_one else distinct
        chosen = {key: best_value(learner, task, measure) for key, task in given.items()}
        runs = list(enumerate(tasks if learner.online else distinct.values()))
        started = time.perf_counter()
        scores = [measured(learner, seed, chosen[id(task)], given[id(task)], measure) for seed, task in runs]
        seconds = (time.perf_counter() - started) / len(runs)
        values = [value for value in chosen.values() if value is not None]
        yield Result(learner, values, np.array(scores), seconds)


def best_value(learner: Learner, task: Task, measure: Measure) -> float | None:
    """The value of its parameter that does best on held-out training rows; the first of equals."""
    if not learner.values:
        return None
    inner = held_out(task)
    found = [measured(learner, 0, value, inner, measure)[0] for value in learner.values]
    return learner.values[int(np.argmin(found))]


def measured(learner: Learner, seed: int, value: float | None, task: Task, measure: Measure) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC's; its error is what counts here
        return measure(lambda: learner.fresh(seed, value), task)


# ----------------------------------------------------------------------------------------- printing


def options(doc: str | None, seeds: int | None = 3) -> argparse.ArgumentParser:
    """What the scripts take."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument(
        "--data-limit", metavar="N", type=_positive, help="only so many rows, for a quick look"
    )
    if seeds is not None:
        parser.add_argument("--seeds", metavar="N", type=_positive, default=seeds, help="runs (%(default)s)")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more; got {value}.")
    return value


def missing(name: str, title: str) -> bool:
    """Whether a data set is not on this machine; if so, the way to get it has been printed."""
    if datasets.find(name) is not None:
        return False
    print(
        f"{title} is not on this machine. Fetch it with:\n"
        "    pip install 'perceptrons[data]'\n"
        f"    python -c 'from perceptrons import datasets; datasets.fetch(\"{name}\")'\n"
        f"or name a folder that has it in PERCEPTRONS_DATA."
    )
    return True


def print_results(results: Iterator[Result], heads: Sequence[str] = ("test error, %",)) -> list[Result]:
    """One line per contestant, as soon as it is known."""
    print(f"{'':36} " + " ".join(f"{head:>15}" for head in heads) + f" {'seconds':>8}  parameter")
    kept = []
    for result in results:
        cells = " ".join(f"{result.cell(j):>15}" for j in range(len(heads)))
        line = f"{result.learner.name:36} {cells} {result.seconds:8.2f}  {result.setting()}"
        print(line.rstrip(), flush=True)
        kept.append(result)
    return kept


def run(script: Any, argv: list[str] | None = None) -> int:
    """A script with one split, or one per run: its tasks, its measure and its headline make the table."""
    contestants = learners(script.VOTED)
    parser = options(script.__doc__, script.SEEDS)
    parser.add_argument(
        "--learner", metavar="NAME", action="append", help="only this one; may be given several times"
    )
    chose = parser.parse_args(argv)
    if chose.learner is not None:
        if unknown := sorted(set(chose.learner) - {one.name for one in contestants}):
            parser.error(f"--learner takes names of the table; got {unknown[0]!r}.")
        contestants = [one for one in contestants if one.name in chose.learner]
    if missing(script.NAME, script.TITLE):
        return 0
    started = time.perf_counter()
    tasks = script.load(chose.seeds, chose.data_limit)
    print(f"{script.headline(tasks[0])}; {chose.seeds} runs\n")
    print_results(compare(tasks, contestants, script.measure), script.HEADS)
    return finish(started)


def finish(started: float) -> int:
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit("This file is shared by the examples beside it; run one of those.")
