"""Which constant coordinate B is best, and how far ``intercept_scaling="auto"`` is from it.

    .venv/bin/python benchmarks/intercept.py --out docs/measured
    .venv/bin/python benchmarks/intercept.py --only sector,a9a --seeds 3 --learners "last;averaged"

Each column is a B as a multiple of the median length of the training rows; "auto" is 0.3 of it, and "B = 1"
the default. A figure is the mean accuracy in percent over the seeds; a seed draws the rows to learn, the
order of the epochs and, where a set has no test file, the third of its rows that is tested on, the same for
every B. "short" is how far auto is below the best column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import data
import numpy as np
from report import Report, options, parsed, progress

from perceptrons import AveragedPerceptron, PassiveAggressive, Perceptron
from perceptrons.core.classifier import AUTO_SCALING

TESTED = 10_000  # rows of a test file
FACTORS = (0.03, 0.1, AUTO_SCALING, 1.0, 3.0)
#: sets of LIBSVM's page, and their test files
NAMES = {
    "reuters_money-fx.trn": "reuters_money-fx.tst",
    "a9a": "a9a.t",
    "w8a": "w8a.t",
    "ijcnn1": "ijcnn1.t",
    "letter.scale": "letter.scale.t",
    "splice": "splice.t",
    "mushrooms": None,
    "phishing": None,
}
LEARNERS = {
    "last": lambda **p: Perceptron(**p),
    "averaged": lambda **p: AveragedPerceptron(**p),
    "PA-I, averaged": lambda **p: PassiveAggressive(readout="average", **p),
}


def sets(only: list[str]) -> Iterator[tuple[str, Any]]:
    """(name, rows and labels, and those of a test set where there is one); None for a set not here."""
    for name in only or ["sector", *NAMES, "mnist", "sms"]:
        if name == "sector":
            yield name, data.sector()
        elif name == "mnist":
            yield name, data.mnist(None, TESTED)
        elif name == "sms":
            yield name, _texts(data.sms_spam())
        else:
            yield name, _files(name)


def _files(name: str) -> Any:
    found, tested = data.libsvm(name), NAMES[name]
    if found is None or tested is None:
        return found
    test = data.libsvm(tested, TESTED)
    if test is None:
        return None
    width = max(found[0].shape[1], test[0].shape[1])
    for X in (found[0], test[0]):
        X.resize(X.shape[0], width)
    return *found, *test


def _texts(loaded: Any) -> Any:
    """tf-idf rows of length 1."""
    if loaded is None:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().fit_transform(loaded[0]), np.asarray(loaded[1])


def parts(found: Any, seed: int, rows: int) -> Any:
    """Rows and labels to learn, rows and labels to test."""
    X, y = found[:2]
    order = np.random.default_rng(seed).permutation(len(y))
    if len(found) == 4:
        return X[order[:rows]], y[order[:rows]], *found[2:]
    order = order[:rows]
    train, test = order[len(order) // 3 :], order[: len(order) // 3]
    return X[train], y[train], X[test], y[test]


def accuracies(make: Any, found: Any, args: Any) -> dict[str, float]:
    """Mean accuracy by column."""
    table: dict[str, list[float]] = {}
    for seed in range(args.seeds):
        X, y, X_test, y_test = parts(found, seed, args.rows)
        common = {"max_iter": args.epochs, "random_state": seed}
        auto = make(intercept_scaling="auto", **common).fit(X, y)
        median = auto.intercept_scaling_ / AUTO_SCALING
        for factor in FACTORS:
            model = auto
            if factor != AUTO_SCALING:
                model = make(intercept_scaling=factor * median, **common).fit(X, y)
            table.setdefault(f"{factor:g}", []).append(model.score(X_test, y_test))
        table.setdefault("B = 1", []).append(make(**common).fit(X, y).score(X_test, y_test))
    return {name: 100.0 * float(np.mean(column)) for name, column in table.items()} | {"median": median}


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--only", help="names of sets, with commas")
    parser.add_argument("--learners", default=";".join(LEARNERS), help="with semicolons (%(default)s)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=6500, help="learned of each set")
    args = parsed(parser, argv)
    report = Report("intercept", args.out)
    report.setting(f"up to {args.rows} rows of each set", seeds=str(args.seeds), epochs=str(args.epochs))
    rows: list[list[str]] = []
    worst: dict[str, float] = {}
    for name, found in sets(args.only.split(",") if args.only else []):
        if found is None:
            progress(f"{name} is not here")
            continue
        for learner in args.learners.split(";"):
            make = LEARNERS[learner]
            progress(f"{name}, {learner}")
            table = accuracies(make, found, args)
            median = table.pop("median")
            short = max(table.values()) - table[f"{AUTO_SCALING:g}"]
            worst[learner] = max(worst.get(learner, 0.0), short)
            figures = [f"{value:.2f}" for value in table.values()]
            rows.append([name, learner, f"{median:.3g}", *figures, f"{short:.2f}"])
    columns = ["auto" if factor == AUTO_SCALING else f"{factor:g}" for factor in FACTORS]
    report.table(
        "Accuracy in percent by B, as a multiple of the median length",
        ["", "learner", "median", *columns, "B = 1", "short"],
        rows,
    )
    report.say()
    for learner, short in worst.items():
        report.say(f"{learner}: auto is at most {short:.2f} points below the best column.")
    report.keep()


if __name__ == "__main__":
    main()
