"""One against the rest: learners that read each row together against a pass over the rows for each of them.

    .venv/bin/python benchmarks/one_vs_rest.py            all of it: some minutes
    .venv/bin/python benchmarks/one_vs_rest.py --quick    does it run at all? (the numbers mean nothing)

All ways are ours and make the same numbers to the last bit, which is checked. Each runs in a process of its
own, since the last one differs by its machine code; they take turns, and the best times are kept:

together   a pass for a block of eight learners
apart      a pass for each learner
before     the same without gathers and without memory asked for ahead: how it was before all three

Rows are shuffled, as they are by default. An epoch is the slope between fits of 2 and of 7 epochs: no pass is
clean by then. ``PERCEPTRONS_DATA`` names the folder with the texts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from math import inf
from typing import Any

import data
import numpy as np
from objective import QUICK, Effort, Line, console, machine, race, seconds, show

from perceptrons import AROW, AveragedPerceptron, PassiveAggressive, Perceptron
from perceptrons.engine import gathers, prefetch
from perceptrons.engine.spaces import together

SETS: dict[str, Callable[[int | None], Any]] = {"R8": data.r8, "20 newsgroups": data.newsgroups}
LEARNERS = {kind.__name__: kind for kind in (Perceptron, AveragedPerceptron, PassiveAggressive, AROW)}
WAYS = ("together", "apart", "before")
GOAL = 3.0
FEW_ROWS = 300
SMALL = 20_000  # rows of which a fit takes so little time that many are needed to see its best


def learner(name: str, epochs: int, n_jobs: int | None = None) -> Any:
    kind = LEARNERS[name]
    params = {} if kind is AROW else {"multiclass": "ovr"}  # AROW has no other way
    return kind(max_iter=epochs, random_state=0, n_jobs=n_jobs, **params)


def serve(way: str, few_rows: bool) -> None:
    """Return [seconds, digest of the weights], for each line that asks for it."""
    if way != "together":
        together.LEAST_PRODUCTS = inf  # type: ignore[assignment]
    if way == "before":
        gathers.has = lambda feature: False
        prefetch.known = lambda: False  # type: ignore[assignment]
    sets: dict[str, Any] = {}
    for line in sys.stdin:
        name, kind, epochs = json.loads(line)
        if name not in sets:
            sets[name] = SETS[name](FEW_ROWS if few_rows else None)
        X, y = sets[name]
        model = learner(kind, epochs)
        taken = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
        print(json.dumps([taken, sha256(model.coef_.tobytes()).hexdigest()]), flush=True)


@contextmanager
def servers(quick: bool) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """A process for each way, with a cache of its own for machine code."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        made = {}
        for way in WAYS:
            env = {**os.environ, "PERCEPTRONS_CACHE": os.path.join(folder, way)}
            command = [sys.executable, __file__, "--serve", way, *(["--quick"] if quick else [])]
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            made[way] = stack.enter_context(subprocess.Popen(command, env=env, text=True, **pipes))
        yield made  # leaving the stack ends them


def answer(server: subprocess.Popen[str], name: str, kind: str, epochs: int) -> tuple[float, str]:
    assert server.stdin is not None and server.stdout is not None
    print(json.dumps([name, kind, epochs]), file=server.stdin, flush=True)
    taken, digest = json.loads(server.stdout.readline())
    return taken, digest


def epochs(name: str, y: Any, ways: dict[str, Any], effort: Effort) -> Iterator[Line]:
    """An epoch of each learner, by all ways."""
    for kind in ("Perceptron", "AROW") if effort.quick else LEARNERS:
        best: dict[tuple[str, int], float] = {}
        digests = set()
        for at in range(1 + (effort.rounds if len(y) < SMALL else effort.slow_rounds)):
            for n in (effort.few, effort.many):
                for way, server in ways.items():
                    taken, digest = answer(server, name, kind, n)
                    digests.add((n, digest))
                    if at > 0:  # the first round compiles
                        best[way, n] = min(taken, best.get((way, n), inf))
        span = effort.many - effort.few
        each = {way: (best[way, effort.many] - best[way, effort.few]) / span for way in ways}
        times = ", ".join(f"{way} {1e3 * cost:.2f}" for way, cost in each.items())
        yield Line(
            "epoch",
            f"{kind}, one epoch; {name}, {len(np.unique(y))} classes, {len(y):,} rows",
            "a pass for each class, as before",
            each["before"] / each["together"],
            GOAL,
            detail=f"{times} ms; {'the same bits' if len(digests) == 2 else 'OTHER BITS'}",
        )


def threads(name: str, X: Any, y: Any, effort: Effort) -> Iterator[Line]:
    """Two threads against one, by the clock on the wall."""
    fits = {n: lambda n=n: learner("Perceptron", effort.many, n).fit(X, y) for n in (1, 2)}
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
    parser.add_argument("--serve", choices=WAYS, help="used by the script itself")
    options = parser.parse_args(argv)
    if options.serve:
        serve(options.serve, options.quick)
        return
    effort = QUICK if options.quick else Effort(few=2, many=7)
    out, lines = console(), []
    for name, value in machine().items():
        out.print(f"{name:10} {value}")
    with servers(options.quick) as ways:
        for name, load in list(SETS.items())[: 1 if options.quick else None]:
            X, y = data.required(load(FEW_ROWS if options.quick else None), name)
            lines += [*epochs(name, y, ways, effort), *threads(name, X, y, effort)]
    show([line._replace(goal=None) for line in lines] if effort.quick else lines, out)


if __name__ == "__main__":
    main()
