"""What a perceptron epoch waits for: memory asked for ahead, columns renumbered, both, neither.

    .venv/bin/python benchmarks/memory.py                          some minutes
    .venv/bin/python benchmarks/memory.py --quick                  does it run?
    .venv/bin/python benchmarks/memory.py --rounds 100 --only 22   on a busy machine; 2^22 columns alone

Each way runs in a process of its own, since asking for memory is part of the machine code; the processes take
turns, and the best time of each is kept. An epoch is one of a run that has made ``--epochs`` epochs before.
What renumbering takes before the first epoch is stated beside it, in epochs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import data
import numpy as np
import scipy.sparse as sp
from report import Report, numbers, options, parsed, progress

WAYS = {
    "neither": (False, False),
    "ahead": (True, False),
    "renumbered": (False, True),
    "both": (True, True),
}
DENSE = 0  # stands for the dense rows among the numbers of bits


def rows_of(bits: int, quick: bool) -> tuple[Any, Any]:
    """Rows and labels, some of which are wrong."""
    if bits != DENSE:
        return data.text_like(300 if quick else 60_000, 1 << bits, per_row=120)
    rng = np.random.default_rng(0)
    X = (rng.random((300 if quick else 30_000, 784)) * (rng.random(784) < 0.3)).astype(np.float32)
    y = np.where(X @ rng.normal(size=784) > 0.0, 1, -1) * np.where(rng.random(len(X)) < 0.05, -1, 1)
    return sp.csr_array(X), y


def kept(bits: int, quick: bool, folder: str) -> str:
    """The rows in a file, since making them takes longer than learning them."""
    X, y = rows_of(bits, quick)
    file = os.path.join(folder, f"{bits}.npz")
    np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    return file


def read(bits: int, file: str) -> tuple[Any, Any]:
    with np.load(file) as z:
        X = sp.csr_array((z["data"], z["indices"], z["indptr"]), shape=z["shape"])
        return (X.toarray() if bits == DENSE else X), z["y"]


def epoch(bits: int, shuffled: bool, file: str, renumbered: bool, epochs: int) -> Callable[[], list[float]]:
    """A function that returns [ns a number of an epoch, ns a number of the renumbering, share of updates]."""
    from perceptrons import rules
    from perceptrons.engine import intake, renumbering, spaces

    X, y = read(bits, file)
    size = X.size if bits == DENSE else X.nnz
    n, d = X.shape
    rows, targets = intake.make_rows(X, 1.0, False), intake.frozen(y.astype(float))
    rng = np.random.default_rng(1)
    order = intake.frozen(rng.permutation(n) if shuffled else np.arange(n))
    space = spaces.Linear(rules.Perceptron(1.0), spaces.Frame(dtype=np.dtype(np.float32)), d)

    def run() -> None:
        space.run(rows, targets, intake.EMPTY, order, False)

    for _ in range(epochs):
        run()
    v, state = space.v.copy(), space.state.copy()

    def timed() -> list[float]:
        space.v[:], space.state[:] = v, state
        start = time.perf_counter()
        if renumbered and bits != DENSE:
            space.renumber(renumbering.by_first_appearance(rows, d))
        middle = time.perf_counter()
        before = space.counts().updates
        run()
        end = time.perf_counter()
        share = (space.counts().updates - before) / n
        space.close()
        return [1e9 * (end - middle) / size, 1e9 * (middle - start) / size, share]

    return timed


def serve(way: str, epochs: int) -> None:
    """Answer requests for times, one a line, in a process of its own."""
    ahead, renumbered = WAYS[way]
    if not ahead:
        from perceptrons.engine import prefetch

        prefetch.known = lambda: False  # type: ignore[assignment]  # no instruction in what is compiled here
    cases: dict[str, Callable[[], list[float]]] = {}
    for line in sys.stdin:
        if line not in cases:
            bits, shuffled, file = json.loads(line)
            cases = {line: epoch(bits, shuffled, file, renumbered, epochs)}  # one at a time in memory
        print(json.dumps(cases[line]()), flush=True)


def contest(chosen: list[int], rounds: int, epochs: int, quick: bool) -> dict[Any, list[float]]:
    """(bits, shuffled, way) -> the best times."""
    best: dict[Any, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        for way, (ahead, _) in WAYS.items():
            cache = os.path.join(folder, "ahead" if ahead else "not")
            command = [sys.executable, __file__, "--serve", way, "--epochs", str(epochs)]
            servers[way] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PERCEPTRONS_CACHE": cache},
                text=True,
            )
        for bits in chosen:
            file = kept(bits, quick, folder)
            for shuffled in (False, True):
                progress(f"{shown(bits)}, {'shuffled' if shuffled else 'in order'}")
                for _ in range(rounds):
                    for way, server in servers.items():
                        assert server.stdin is not None and server.stdout is not None
                        print(json.dumps([bits, shuffled, file]), file=server.stdin, flush=True)
                        found = json.loads(server.stdout.readline())
                        before = best.get((bits, shuffled, way), found)
                        best[bits, shuffled, way] = [min(pair) for pair in zip(before, found)]
        for server in servers.values():
            assert server.stdin is not None
            server.stdin.close()
            server.wait()
    return best


def shown(bits: int) -> str:
    return "784 dense" if bits == DENSE else f"2^{bits}"


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--only", metavar="18,22", type=numbers, default=[16, 18, 20, 22, DENSE])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--epochs", type=int, default=5, help="before the epoch that is timed")
    parser.add_argument("--quick", action="store_true", help="a smoke run on small data")
    parser.add_argument("--serve", choices=WAYS, help="used by the script itself")
    options_ = parsed(parser, argv)
    if options_.serve:
        serve(options_.serve, options_.epochs)
        return
    rounds = 1 if options_.quick else options_.rounds
    best = contest(options_.only, rounds, options_.epochs, options_.quick)
    report = Report("memory", options_.out)
    report.setting("60,000 rows of about 100 words by Zipf's law, float32; 30,000 dense rows")
    table = []
    for bits in options_.only:
        for shuffled in (False, True):
            times = {way: best[bits, shuffled, way] for way in WAYS}
            numbering = times["both"][1] / times["both"][0]
            table.append(
                [
                    f"{shown(bits)}, {'shuffled' if shuffled else 'in order'}",
                    *(f"{found[0]:.2f}" for found in times.values()),
                    f"{numbering:.1f}" if bits != DENSE else "",
                    f"{times['both'][2]:.1%}",
                ]
            )
    head = ["columns, order", *WAYS, "renumbering, epochs", "rows that update"]
    report.table(f"ns a number of an epoch, best of {rounds} rounds", head, table)
    report.keep()


if __name__ == "__main__":
    main()
