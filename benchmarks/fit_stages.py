"""Where the time of one ``fit`` goes, stage by stage.

    .venv/bin/python benchmarks/fit_stages.py                   60,000 x 50,000 sparse rows, 5 epochs
    .venv/bin/python benchmarks/fit_stages.py --bits 22 --epochs 20 --shuffle
    .venv/bin/python benchmarks/fit_stages.py --quick           does it run?

Stages are functions of the library, timed where they are called; some are within others. Each has the best of
several fits, so that the stages need not add up to the best total.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import data
from report import Report, options, parsed

from perceptrons import Perceptron
from perceptrons.core import epochs, fit_rows, fitting
from perceptrons.engine import intake, margins, renumbering

#: where a function is called, its name, and what it does
STAGES: list[tuple[Any, str, str]] = [
    (fitting, "rows_of_fit", "all checks"),
    (intake, "survey_indices", "  indices in range and ascending"),
    (intake, "make_rows", "  squared lengths, finite values"),
    (fit_rows, "coded", "  labels to codes"),
    (renumbering, "slotted", "renumbering"),
    (epochs, "one_pass", "epochs"),
    (epochs, "state_bounds", "the bracket"),
    (margins, "lower_end", "  lower end"),
    (margins, "upper_end", "  upper end"),
]


def timed(function: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

    return call


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--bits", type=int, help="2^BITS columns and 120 words a row")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="a smoke run on small data")
    chose = parsed(parser, argv)
    n = 400 if chose.quick else 60_000
    d, words = (50_000, 61) if chose.bits is None else (1 << chose.bits, 120)
    X, y = data.text_like(n, d, per_row=words)
    spent: dict[str, float] = {}
    for module, name, stage in STAGES:
        setattr(module, name, timed(getattr(module, name), stage, spent))
    best: dict[str, float] = {}
    for number in range(2 if chose.quick else chose.fits + 1):
        spent.clear()
        start = time.perf_counter()
        Perceptron(max_iter=chose.epochs, shuffle=chose.shuffle, random_state=0).fit(X, y)
        spent["fit"] = time.perf_counter() - start
        if number:  # the first compiles
            best = {stage: min(seconds, best.get(stage, seconds)) for stage, seconds in spent.items()}
    report = Report("fit_stages", chose.out)
    report.setting(f"{n:,} x {d:,}, {X.nnz / n:.0f} non-zeros a row, float32; {chose.epochs} epochs")
    stages = ["fit", *(stage for _, _, stage in STAGES)]
    spent_in = [[stage, f"{1e3 * best[stage]:.2f}" if stage in best else "not done"] for stage in stages]
    report.table("best ms of each stage", ["stage", "ms"], spent_in)
    report.keep()


if __name__ == "__main__":
    main()
