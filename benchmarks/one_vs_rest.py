"""One against the rest: learners that read each row together against a pass over the rows for each of them.

    .venv/bin/python benchmarks/one_vs_rest.py            all of it: some minutes
    .venv/bin/python benchmarks/one_vs_rest.py --quick    does it run at all? (the numbers mean nothing)

Both ways are ours and make the same numbers to the last bit, which is checked. Rows are shuffled, as they are
by default. ``PERCEPTRONS_DATA`` names the folder with the texts. How times become ratios is written in
``objective.py``; a long fit has 7 epochs here and a short one 2: no pass is clean by then.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any

import data
import numpy as np
from objective import QUICK, Effort, Line, console, machine, race, show, slopes

from perceptrons import AROW, AveragedPerceptron, PassiveAggressive, Perceptron
from perceptrons.engine.spaces import together

SETS: dict[str, Callable[[int | None], Any]] = {"R8": data.r8, "20 newsgroups": data.newsgroups}
LEARNERS = (Perceptron, AveragedPerceptron, PassiveAggressive, AROW)
GOAL = 3.0


@contextmanager
def apart() -> Iterator[None]:
    """A pass for each learner, however many rows there are."""
    least, together.LEAST_PRODUCTS = together.LEAST_PRODUCTS, inf
    try:
        yield
    finally:
        together.LEAST_PRODUCTS = least


def learner(kind: Any, epochs: int, n_jobs: int | None = None) -> Any:
    params = {} if kind is AROW else {"multiclass": "ovr"}  # AROW has no other way
    return kind(max_iter=epochs, random_state=0, n_jobs=n_jobs, **params)


def epochs(name: str, X: Any, y: Any, effort: Effort) -> Iterator[Line]:
    """An epoch of each learner, by both ways."""
    for kind in LEARNERS:

        def together_(n: int, kind: Any = kind) -> Any:
            return learner(kind, n).fit(X, y)

        def apart_(n: int, kind: Any = kind) -> Any:
            with apart():
                return learner(kind, n).fit(X, y)

        mine, other = together_(effort.few), apart_(effort.few)
        same = mine.coef_.tobytes() == other.coef_.tobytes() and mine.history_ == other.history_
        costs = slopes({"together": together_, "apart": apart_}, effort, effort.slow_rounds)
        ours, before = costs["together"], costs["apart"]
        yield Line(
            "epoch",
            f"{kind.__name__}, one epoch; {name}, {len(np.unique(y))} classes, {X.shape[0]:,} rows",
            "a pass for each class",
            before.epoch / ours.epoch,
            GOAL,
            detail=f"{1e3 * ours.epoch:.2f} against {1e3 * before.epoch:.2f} ms; "
            f"{'the same bits' if same else 'OTHER BITS'}",
        )


def threads(name: str, X: Any, y: Any, effort: Effort) -> Iterator[Line]:
    """Two threads against one, by the clock on the wall."""
    fits = {n: lambda n=n: learner(Perceptron, effort.many, n).fit(X, y) for n in (1, 2)}
    best = race({str(n): fit for n, fit in fits.items()}, effort.slow_rounds, clock=time.perf_counter)
    yield Line(
        "threads",
        f"Perceptron, fit of {effort.many} epochs, n_jobs=2; {name}",
        "n_jobs=1",
        best["1"] / best["2"],
        detail=f"{1e3 * best['2']:.1f} against {1e3 * best['1']:.1f} ms by the clock on the wall",
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run on few rows")
    options = parser.parse_args(argv)
    effort = QUICK if options.quick else Effort(few=2, many=7)
    out, lines = console(), []
    for name, value in machine().items():
        out.print(f"{name:10} {value}")
    for name, load in SETS.items():
        X, y = data.required(load(300 if options.quick else None), name)
        lines += [*epochs(name, X, y, effort), *threads(name, X, y, effort)]
    show([line._replace(goal=None) for line in lines] if effort.quick else lines, out)


if __name__ == "__main__":
    main()
