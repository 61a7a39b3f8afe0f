"""What more workers gain: the cost of a round, measured here, and carried to many workers by simulation.

    python benchmarks/scaling.py --out docs/measured         all of it: about ten minutes on two cores
    python benchmarks/scaling.py --quick                     does it run at all? (the numbers mean nothing)
    python benchmarks/scaling.py --only rounds,simulation    some of it: cost, dask, large, rounds, …

The time of a round is the best of several, from one call of the callback to the next. Dask and threads make
rounds in turns; scheduler, client and both workers share the two cores. Accuracy against rounds is simulated
exactly: the result does not depend on where the shards are learned. The simulation of a cluster assumes what
its constants say. Other ways to use shards are in ``benchmarks/mixing.py``.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from data import newsgroups, text_like
from report import Report, options, parsed, progress

from perceptrons import AveragedPerceptron, ParameterMixing, Perceptron

PARTS = ("cost", "dask", "large", "rounds", "simulation")
SHARDS = (1, 4, 16, 64, 256)


# ---------------------------------------------------------------------------------------- the cost of a round


class Costs(NamedTuple):
    """Constants of the model of a round; the defaults were measured by this script on two cores."""

    entry: float = 1.6e-9  #: seconds a pass takes for a non-zero
    column: float = 9.7e-9  #: seconds that a shard adds to the mixing, for a column
    task: float = 1.1e-3  #: seconds of the scheduler and a worker for a task
    round: float = 0.017  #: seconds of a round of empty shards
    byte: float = 3.0e-9  #: seconds to send a byte of the state to another worker and to the client


def seconds_per_round(model: Any, *rows: Any, repeats: int = 2) -> float:
    """The quickest round but the first, which reads and compiles."""
    best = np.inf
    for _ in range(repeats):
        ends: list[float] = []
        model.set_params(callback=lambda fit, ends=ends: ends.append(time.perf_counter())).fit(*rows)
        best = min(best, *np.diff(ends))
    return float(best)


def rounds_in_turns(models: list[Any], *rows: Any) -> list[list[float]]:
    """Seconds of the rounds of each model but the first; a round of one, then a round of the next."""
    turns = [threading.Semaphore(0) for _ in models]
    took: list[list[float]] = [[] for _ in models]
    errors: list[BaseException] = []

    def pass_on(k: int) -> None:
        turns[(k + 1) % len(models)].release()

    def run(k: int) -> None:
        begun = 0.0

        def wait() -> None:
            nonlocal begun
            turns[k].acquire()
            begun = time.perf_counter()

        def end(_: Any) -> None:
            took[k].append(time.perf_counter() - begun)
            pass_on(k)
            wait()

        try:
            wait()
            models[k].set_params(callback=end).fit(*rows)
        except BaseException as error:
            errors.append(error)
        finally:
            pass_on(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(models))]
    for thread in threads:
        thread.start()
    turns[0].release()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [own[1:] for own in took]


def mixing(n_rounds: int, n_shards: int, backend: Any = "serial", class_: Any = AveragedPerceptron) -> Any:
    learner = class_(max_iter=n_rounds, random_state=0)
    return ParameterMixing(learner, n_shards=n_shards, backend=backend)


def cost(report: Report, quick: bool) -> Costs:
    """Passes in one process, and what each further shard adds to a round: copies, differences, a sum."""
    n_rows, widths, shards = (
        (400, (500, 1000), (1, 4)) if quick else (20_000, (1 << 16, 1 << 18), (1, 16, 64))
    )
    lines, entry, column = [], [], []
    for width in widths:
        X, y = text_like(n_rows, width, 75)
        took = {n: seconds_per_round(mixing(6, n), X, y) for n in shards}
        entry.append(took[shards[0]] / X.nnz)
        column += [(took[n] - took[1]) / ((n - 1) * width) for n in shards[1:]]
        lines += [[f"{width:,}", f"{n}", f"{X.nnz:,}", f"{1e3 * took[n]:.1f}"] for n in shards]
    found = Costs(entry=float(np.median(entry)), column=max(float(np.median(column)), 1e-11))
    report.table("A round in one process", ["columns", "shards", "non-zeros", "ms"], lines)
    report.say(
        f"medians: {1e9 * found.entry:.2f} ns a non-zero; {1e9 * found.column:.1f} ns a column for each "
        "further shard"
    )
    return found


# ----------------------------------------------------------------------------------------------- Dask


@contextlib.contextmanager
def two_workers() -> Iterator[Any]:
    """Two processes of one thread each, on the loopback interface."""
    from distributed import Client, LocalCluster

    local = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50, "memory_limit": 0}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **local) as one,
        Client(one) as client,
    ):
        yield client


def dask(report: Report, costs: Costs, quick: bool) -> Costs:
    """What tasks, rounds and bytes of the state cost."""
    with two_workers() as client:
        return _overheads(report, client, costs, quick)


def _overheads(report: Report, client: Any, costs: Costs, quick: bool) -> Costs:
    rng = np.random.default_rng(0)
    shards, widths = ((2, 4), (10, 1000)) if quick else ((2, 16, 64), (1 << 10, 1 << 20))
    lines, took = [], {}
    for n, width in [(n, widths[0]) for n in shards] + [(2, widths[1])]:
        X = sp.random_array((4 * n, width), density=5.0 / width, format="csr", rng=rng)
        X, y = sp.vstack([X[i // 2 : i // 2 + 1] for i in range(8 * n)], format="csr"), np.arange(8 * n) % 2
        took[n, width] = seconds_per_round(mixing(8, n, client), X, y)  # each row has both labels
        lines.append([f"{n}", f"{width:,}", f"{1e3 * took[n, width]:.0f}"])
    report.table("A round of almost empty shards on two workers", ["shards", "columns", "ms"], lines)
    low, high = shards[0], shards[-1]
    task = (took[high, widths[0]] - took[low, widths[0]]) / (2 * (high - low))
    fixed = max(took[low, widths[0]] - 2 * low * task, 1e-3)
    sent = 16.0 * (widths[1] - widths[0])  # w and its average, in float64
    byte = max((took[2, widths[1]] - took[2, widths[0]]) / sent, 1e-11)
    report.say(
        f"fitted: {1e3 * task:.2f} ms a task, {1e3 * fixed:.0f} ms a round, {1e9 * byte:.1f} ns a byte of "
        "the state"
    )
    return costs._replace(task=max(task, 1e-5), round=fixed, byte=byte)


def large(report: Report, quick: bool) -> None:
    """Large shards on two workers beside two threads; as many rows as take some time on this machine."""
    lines = []
    with two_workers() as client, tempfile.TemporaryDirectory() as folder:
        for classes, width, seconds in ((80, 15_000, 1.25), (240, 5_000, 2.5)):  # as many weights
            rows = 2_000 if quick else _rows_for(seconds, classes, width, folder)
            lines.append(_beside_threads(client, rows, classes, width, folder, quick))
    report.table(
        "Two large shards, rows of 60 entries, 1,200,000 weights: seconds a round, the best and the median",
        [
            "classes",
            "rows",
            *("threads", "median", "Dask", "median"),
            "Dask over threads",
            "median",
            "goal +15 %",
        ],
        lines,
    )


def _rows_for(seconds: float, classes: int, width: int, folder: str) -> int:
    """How many rows two threads learn in so many seconds."""
    some = 200_000
    (took,) = rounds_in_turns([mixing(6, 2, "threads", Perceptron)], *_stored(some, classes, width, folder))
    return int(round(some * seconds / min(took), -5))


def _stored(rows: int, classes: int, width: int, folder: str) -> tuple[str, str]:
    """Files of random rows with 60 entries each."""
    progress(f"large: {rows:,} rows of {classes} classes")
    rng, per_row = np.random.default_rng(0), 60
    step = width // per_row  # an entry in each part of the columns
    columns = rng.integers(0, step, (rows, per_row), np.int32)
    columns += step * np.arange(per_row, dtype=np.int32)
    starts = np.arange(0, columns.size + 1, per_row)
    X = sp.csr_array((rng.random(columns.size, np.float32), columns.ravel(), starts), shape=(rows, width))
    files = str(Path(folder) / "X.npz"), str(Path(folder) / "y.npy")
    sp.save_npz(files[0], X, compressed=False)
    np.save(files[1], rng.integers(0, classes, rows))
    return files


def _beside_threads(client: Any, rows: int, classes: int, width: int, folder: str, quick: bool) -> list[str]:
    files = _stored(rows, classes, width, folder)
    models = [mixing(3 if quick else 16, 2, backend, Perceptron) for backend in ("threads", client)]
    threads, on_dask = rounds_in_turns(models, *files)
    best, median = (take(on_dask) / take(threads) - 1.0 for take in (min, np.median))
    seconds = [f"{took:.2f}" for own in (threads, on_dask) for took in (min(own), np.median(own))]
    verdict = "no goal" if quick else "met" if best <= 0.15 else "MISSED"
    return [str(classes), f"{rows:,}", *seconds, f"{100 * best:+.0f} %", f"{100 * median:+.0f} %", verdict]


# ----------------------------------------------------------------------------------------- rounds to converge


def halves(X: Any, y: Any, shuffle: bool = True) -> tuple[Any, Any, Any, Any]:
    """Rows to learn, and every fifth to test; shuffled, so that shards are alike."""
    if shuffle:
        order = np.random.default_rng(0).permutation(X.shape[0])
        X, y = X[order], y[order]
    test = np.arange(X.shape[0]) % 5 == 4
    return X[~test], y[~test], X[test], y[test]


def accuracies(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> list[float]:
    """Percent right on the rows held out, after each round."""
    found: list[float] = []
    model.set_params(callback=lambda fit: found.append(100.0 * float(np.mean(fit.predict(X_test) == y_test))))
    model.fit(X, y)
    return found


def needed(target: float, n_shards: int, most: int, parts: Any) -> int | None:
    """Rounds until so many percent are right; None: more than ``most``."""
    X, y, X_test, y_test = parts
    model = mixing(most, n_shards, "threads")
    reached = lambda fit: 100.0 * float(np.mean(fit.predict(X_test) == y_test)) >= target  # noqa: E731
    model.set_params(callback=reached).fit(X, y)
    return int(model.n_iter_) if model.stop_reason_ == "callback" else None


def rounds(report: Report, quick: bool) -> None:
    """Accuracy after each round, for more and more shards of the same rows."""
    n_rounds, shards = (2, (1, 4)) if quick else (5, SHARDS)
    sets = {"text-like, 32,000 rows": halves(*(text_like(500, 500) if quick else text_like(40_000, 50_000)))}
    real = None if quick else newsgroups()
    if real is not None:
        sets["20 newsgroups"] = halves(*real)
        sets["20 newsgroups, sorted by class"] = halves(*real, shuffle=False)
    for name, parts in sets.items():
        lines = []
        for n in shards if name.startswith("text") else shards[:3]:  # many classes take long to mix
            progress(f"rounds: {name}, {n} shards")
            found = accuracies(mixing(n_rounds, n, "threads"), *parts)
            found += [found[-1]] * (n_rounds - len(found))
            shown = sorted({0, 1, 2, 4, n_rounds - 1} & set(range(n_rounds)))
            lines.append([f"{n:,}", *(f"{found[r]:.2f}" for r in shown)])
        head = ["shards", *(f"round {r + 1}" for r in shown)]
        report.table(f"Averaged perceptron on {name}: percent right", head, lines)
        if "sorted" in name:
            continue
        target = accuracies(mixing(1, 1), *parts)[0]
        several = (4, 16) if quick or not name.startswith("text") else (4, 16, 64)
        found_rounds = {n: needed(target, n, 4 if quick else 60, parts) for n in several}
        told = ", ".join(f"{n} shards {r or 'more than 60'}" for n, r in found_rounds.items())
        report.say(f"rounds to the {target:.2f} percent of one pass without shards: {told}")


# ------------------------------------------------------------------------------------------------- simulation


class Network(NamedTuple):
    """Assumptions about machines that are not here."""

    bandwidth: float = 1.25e9  #: bytes a second between two machines: 10 Gbit/s
    latency: float = 5.0e-4  #: seconds
    spread: float = 0.1  #: standard deviation of the logarithm of a worker's speed


def simulated_round(
    n_workers: int, entries: float, width: int, costs: Costs, net: Network, rng: Any
) -> float:
    """Seconds of a round with one shard a worker: state out, passes, sums in a tree, state to the client."""
    state = 16.0 * width  # bytes of w and its average in float64
    hop = state / net.bandwidth + net.latency
    has = hop * np.ceil(np.log2(np.arange(n_workers) + 1.0))  # one has it; those who have it pass it on
    begun = has + costs.task * np.arange(n_workers)  # the scheduler starts one task after the other
    passes = entries / n_workers * costs.entry * np.exp(net.spread * rng.standard_normal(n_workers))
    ends = list(begun + passes)
    while len(ends) > 1:
        pairs = [max(a, b) + hop + width * costs.column + costs.task for a, b in zip(ends[::2], ends[1::2])]
        ends = pairs + ends[len(ends) // 2 * 2 :]
    return float(ends[0] + state * costs.byte + costs.round)


def simulation(report: Report, costs: Costs, quick: bool) -> None:
    """Rounds of large data on many workers."""
    net, rng, per_row = Network(), np.random.default_rng(0), 100
    report.say()
    report.say(f"constants  {costs}")
    report.say(f"assumed    {net}, {per_row} non-zeros a row, 12 bytes each in memory, one shard a worker")
    for width in (1 << 18, 1 << 22):
        lines = []
        for n_rows in (1e9, 1e10, 1e11, 1e12):
            alone = n_rows * per_row * costs.entry
            for n in (10, 100, 1000):
                several = [
                    simulated_round(n, n_rows * per_row, width, costs, net, rng)
                    for _ in range(2 if quick else 20)
                ]
                took, memory = float(np.median(several)), n_rows * per_row * 12.0 / n
                lines.append(
                    [
                        f"{n_rows:.0e}",
                        f"{n:,}",
                        _time(took),
                        f"{alone / took:,.1f}",
                        f"{100.0 * alone / took / n:.0f} %",
                        f"{memory / 1e9:,.0f}",
                    ]
                )
        head = ["rows", "workers", "a round", "times one core", "efficiency", "GB a worker"]
        report.table(f"Simulated: {width:,} columns", head, lines)
        smallest = _least_rows(width, costs, net, per_row)
        report.say("half of the time is work from " + ", ".join(smallest))


def _least_rows(width: int, costs: Costs, net: Network, per_row: int) -> list[str]:
    """How many rows a worker needs so that its pass takes half of the round."""
    found = []
    for n in (10, 100, 1000):
        rest = simulated_round(n, 0.0, width, costs, net, np.random.default_rng(0))
        found.append(f"{rest / costs.entry / per_row:,.0f} rows a worker for {n:,} workers")
    return found


def _time(seconds: float) -> str:
    for unit, name in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.2f} s"


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run on small data")
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    chose = parsed(parser, argv)
    only = chose.only.split(",")
    report, costs = Report("scaling", chose.out), Costs()
    report.setting("rows that are generated; 20 newsgroups where it is there")
    if chose.quick:
        report.say("a quick run: the numbers below mean nothing")
    if "cost" in only:
        found = cost(report, chose.quick)
        costs = costs._replace(entry=found.entry, column=found.column)
    if "dask" in only:
        costs = dask(report, costs, chose.quick)
    if "large" in only:
        large(report, chose.quick)
    if "rounds" in only:
        rounds(report, chose.quick)
    if "simulation" in only:
        simulation(report, costs, chose.quick)
    report.keep()


if __name__ == "__main__":
    main()
