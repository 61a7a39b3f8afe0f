"""Adult, from the raw census files to a test error: what each step does to R, to γ and to the error.

    python examples/adult.py

The steps add up, from the top to the bottom of the first table. Read its columns as follows.

* columns: how many numbers a row has; R: the longest row, the constant coordinate included.
* γ_up: no plane has a larger margin. Nobody can separate these people, so there is no γ to report from below,
  and γ_up falls on with every epoch: it is compared after the same number of them. Rates that fall weigh the
  same mistakes otherwise.
* mistakes: of the perceptron in its first pass, in the order of the file until it is shuffled.
* hinge bound: what the theorem allows it there, ((a + √(a² + 4H))/2)² with a = R‖u‖, for the best multiple u
  of the averaged vector; H sums max(0, 1 - y⟨u, x⟩) over the pass. It holds on any data, with a constant
  rate; a dash: it allows a mistake on every row, or is not claimed.
* test error of the last vector, and of the average of all; shuffled: over five shuffles, mean ± deviation.

Buckets take out the numbers in the thousands, and with them nearly all of R; the names bring most of the
accuracy; centring shrinks R and the bound. Unit variance is no gain here: a column that is 1 for one row in
ten thousand becomes a hundred times as long, R grows twentyfold, and the bound is lost. Rows of length 1
bring both back. The last vector of a run swings by several per cent; its average does not.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from perceptrons import AROW, MIRA, AveragedPerceptron, PassiveAggressive, Perceptron, datasets, theory
from perceptrons.datasets.public import ADULT_COLUMNS
from perceptrons.preprocessing import (
    Augmenter,
    Bucketizer,
    CategoricalToBinary,
    Normalizer,
    OrderedLevels,
    StreamingScaler,
)

EPOCHS = 10
SEEDS = range(5)
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
NAMES = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]


class Rows(NamedTuple):
    """Training and test rows after some steps, labels -1 and +1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


# ------------------------------------------------------------------------------------------- steps


def columns(*names: str) -> list[int]:
    return [ADULT_COLUMNS.index(name) for name in names]


def binary_buckets(preset: str) -> Any:
    return make_pipeline(Bucketizer(preset=preset), CategoricalToBinary())


def numbers_alone() -> Any:
    return make_column_transformer(("passthrough", columns(*NUMBERS)), sparse_threshold=0.0)


def buckets(*more: Any) -> Any:
    """Numbers in buckets, education as a level; without fnlwgt, which is about the sample, not the person."""
    money = make_pipeline(Bucketizer(edges=[0, 5000], labels=["none", "some", "much"]), CategoricalToBinary())
    return make_column_transformer(
        (binary_buckets("age"), columns("age")),
        (binary_buckets("hours"), columns("hours-per-week")),
        (money, columns("capital-gain", "capital-loss")),
        (OrderedLevels(levels="education"), columns("education")),
        *more,
        sparse_threshold=0.0,
    )


def binary() -> Any:
    """The names, too: one 0/1 column for each value."""
    return buckets((CategoricalToBinary(), columns(*NAMES)))


def scaled(**how: Any) -> Any:
    return make_pipeline(binary(), StreamingScaler(**how))


SHUFFLED = {"shuffle": True}
STEPS: dict[str, tuple[Any, dict[str, Any]]] = {
    "six numbers as they are": (numbers_alone(), {}),
    "+ buckets, education a level": (buckets(), {}),
    "+ names to 0/1 columns": (binary(), {}),
    "+ centre": (scaled(scale=False), {}),
    "+ unit variance": (scaled(), {}),
    "+ shuffle every epoch": (scaled(), SHUFFLED),
    "  or between the classes": (scaled(center="midpoint"), SHUFFLED),
    "  or rate 1/updates": (scaled(), {**SHUFFLED, "learning_rate": "updates"}),
    "+ rows of length 1": (scaled(), {**SHUFFLED, "row_norm": "l2"}),
}


def prepared(steps: Any, adult: datasets.Public) -> Rows:
    """Learned on the training rows, applied to both."""
    y, y_test = 2 * adult.y - 1, 2 * adult.y_test - 1
    X = steps.fit(adult.X, y).transform(adult.X)
    return Rows(X.astype(np.float64), y, steps.transform(adult.X_test).astype(np.float64), y_test)


# ---------------------------------------------------------------------------------------- measures


def error(model: Any, rows: Rows) -> float:
    return 100.0 * float(np.mean(model.predict(rows.X_test) != rows.y_test))


def errors(make: Any, rows: Rows, seeds: range) -> str:
    """Test error in per cent: mean ± deviation over the seeds, or the one number there is."""
    found = [error(make(seed).fit(rows.X, rows.y), rows) for seed in seeds]
    return f"{np.mean(found):5.2f} ± {np.std(found):4.2f}" if len(found) > 1 else f"{found[0]:5.2f}       "


def hinge_bound(mean: Any, rows: Rows) -> float:
    """The smallest bound on the mistakes of one pass over the multiples of a model's vector."""
    X = Augmenter().fit_transform(rows.X)
    if mean.row_norm == "l2":
        X = Normalizer().fit_transform(X)
    u = np.append(mean.coef_[0], mean.intercept_)
    margins, length = rows.y * (X @ u), float(np.linalg.norm(u))
    best = float(len(rows.y))
    for c in np.geomspace(0.001, 100.0, 60) / np.median(np.abs(margins)):
        H = float(np.maximum(0.0, 1.0 - c * margins).sum())
        best = min(best, theory.hinge_tight(mean.radius_, c * length, H))
    return best


def step_line(name: str, rows: Rows, settings: dict[str, Any]) -> str:
    """One step: what it does to the rows, to the first pass, and to the error."""
    settings = {"shuffle": False, "max_iter": EPOCHS, "random_state": 0, **settings}
    averaged = {key: value for key, value in settings.items() if key != "learning_rate"}
    first = Perceptron(**{**settings, "max_iter": 1}).fit(rows.X, rows.y)
    last = Perceptron(**settings).fit(rows.X, rows.y)
    bound = hinge_bound(AveragedPerceptron(**averaged).fit(rows.X, rows.y), rows)
    says = "learning_rate" not in settings and bound < len(rows.y)
    seeds = SEEDS if settings["shuffle"] else range(1)
    plain = errors(lambda seed: Perceptron(**{**settings, "random_state": seed}), rows, seeds)
    mean = errors(lambda seed: AveragedPerceptron(**{**averaged, "random_state": seed}), rows, seeds)
    return (
        f"{name:29} {rows.X.shape[1]:7} {last.radius_:11.4g} {last.margin_bounds_[1]:9.2g} "
        f"{first.n_mistakes_:8,} {f'{bound:,.0f}' if says else '-':>11}   {plain}  {mean}"
    )


FAMILY = {
    "perceptrons Perceptron": lambda seed: Perceptron(max_iter=EPOCHS, random_state=seed),
    "perceptrons AveragedPerceptron": lambda seed: AveragedPerceptron(max_iter=EPOCHS, random_state=seed),
    "perceptrons MIRA, average": lambda seed: MIRA(readout="average", max_iter=EPOCHS, random_state=seed),
    "perceptrons PA-I C=0.01, average": lambda seed: PassiveAggressive(
        C=0.01, readout="average", max_iter=EPOCHS, random_state=seed
    ),
    "perceptrons AROW r=10": lambda seed: AROW(r=10.0, max_iter=EPOCHS, random_state=seed),
    "scikit-learn Perceptron": lambda seed: SklearnPerceptron(max_iter=EPOCHS, tol=None, random_state=seed),
    "scikit-learn SGDClassifier": lambda seed: SGDClassifier(max_iter=EPOCHS, tol=None, random_state=seed),
    "scikit-learn SGDClassifier, average": lambda seed: SGDClassifier(
        max_iter=EPOCHS, tol=None, average=True, random_state=seed
    ),
    "scikit-learn LinearSVC": lambda seed: LinearSVC(random_state=seed),
}
"""Everybody with the same features and the same number of epochs; LinearSVC runs to its own end."""


def main() -> int:
    if datasets.find("adult") is None:
        print(
            "Adult is not on this machine. Fetch it with:\n"
            "    pip install 'perceptrons[data]'\n"
            "    python -c 'from perceptrons import datasets; datasets.fetch(\"adult\")'\n"
            "or name a folder that has adult/adult.data and adult/adult.test in PERCEPTRONS_DATA."
        )
        return 0
    started = time.perf_counter()
    adult = datasets.load_adult()
    print(
        f"Adult: {len(adult.y):,} training and {len(adult.y_test):,} test rows; {EPOCHS} epochs. "
        f"Who says no to all errs on {100 * adult.y_test.mean():.2f} %.\n"
    )
    print(f"{'':29} {'':7} {'':11} {'':9} {'first pass':>20}   {'test error, %':>13}")
    print(
        f"{'step':29} {'columns':>7} {'R':>11} {'γ_up':>9} {'mistakes':>8} {'hinge bound':>11}   "
        f"{'last':12}  {'average':12}"
    )
    for name, (steps, settings) in STEPS.items():
        rows = prepared(steps, adult)
        print(step_line(name, rows, settings), flush=True)

    print(f"\n{'on the rows of unit variance':37} test error, %, over {len(SEEDS)} shuffles")
    rows = prepared(STEPS["+ unit variance"][0], adult)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC's; its error is what counts here
        for name, make in FAMILY.items():
            print(f"{name:37} {errors(make, rows, SEEDS)}", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
