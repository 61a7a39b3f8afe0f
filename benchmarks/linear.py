"""The linear family against its peers and against the memory system: ratios, all measured in one run.

    make bench                                       all of it, the peers installed first
    .venv/bin/python benchmarks/linear.py --only a,f  some of it
    .venv/bin/python benchmarks/linear.py --quick     does it run at all? (the numbers mean nothing)

``PERCEPTRONS_DATA`` names the folder with the real sets; a contest whose set is not there is not run, and
says so. How times become ratios is written in ``objective.py``.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

import data
import numba
import numpy as np
from objective import QUICK, Cost, Effort, Line, console, machine, markdown, race, show, slopes
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier

from perceptrons import AROW, AveragedPerceptron, PassiveAggressive, Perceptron
from perceptrons.engine import compiler, packing, renumbering
from perceptrons.engine.look_ahead import ahead, request_early
from perceptrons.rows import gather_dot

NO_DATA = "not in the folder PERCEPTRONS_DATA names"

# --------------------------------------------------------------------- (a), (b), (d): sparse rows, d = 50,000


def sparse_rows(effort: Effort) -> Any:
    return data.text_like(400, 5_000) if effort.quick else data.text_like(60_000, 50_000, per_row=61)


def perceptron_csr(effort: Effort) -> Iterator[Line]:
    """(a) an epoch on sparse rows, and (b) the whole fit; in order, and shuffled, which is the default."""
    X, y = sparse_rows(effort)
    indices, indptr = X.indices.view(np.uint32), X.indptr.astype(np.uint64)
    updates = rows_with_updates(X, y, effort)
    signs = np.where(y == np.unique(y)[1], 1, -1).astype(X.dtype)

    def bound(loop: Any) -> Callable[[int], None]:
        def epochs(n: int) -> None:
            w = np.zeros(X.shape[1], X.dtype)
            for _ in range(n):
                loop(X.data, indices, indptr, signs, w)

        return epochs

    def told(n: int) -> None:
        w = np.zeros(X.shape[1], X.dtype)
        for e in range(n):
            bound_told(X.data, indices, indptr, updates[e], w)

    costs = slopes(
        {
            "ours": lambda n: Perceptron(shuffle=False, max_iter=n).fit(X, y),
            "peer": lambda n: SklearnPerceptron(shuffle=False, tol=None, max_iter=n).fit(X, y),
            "ours, shuffled": lambda n: Perceptron(max_iter=n, random_state=0).fit(X, y),
            "peer, shuffled": lambda n: SklearnPerceptron(tol=None, max_iter=n, random_state=0).fit(X, y),
            "plain": bound(bound_plain),
            "four": bound(bound_four),
            "told": told,
            "fixed": bound(bound_fixed()),
        },
        effort,
        effort.rounds,
    )
    ours, peer = costs["ours"], costs["peer"]
    least = min(costs["plain"], costs["four"])
    each = 1e9 / X.nnz
    work = f"Perceptron, one epoch; {rows_of(X)}"
    yield Line(
        "a",
        work,
        "a loop that gathers every row and scatters those that are wrong (the faster of two)",
        least.epoch / ours.epoch,
        0.93,
        detail=f"{ours.epoch * each:.2f} against {least.epoch * each:.2f} ns per non-zero;"
        f" {updates[effort.few :].mean():.1%} of the rows are updates; a loop that is told in advance which:"
        f" {costs['told'].epoch * each:.2f}; one with our sums, and memory asked for ahead:"
        f" {costs['fixed'].epoch * each:.2f}",
    )
    for order, goal in (("", 1.4), (", shuffled", 2.0)):
        ours, peer = costs[f"ours{order}"], costs[f"peer{order}"]
        yield Line(
            "a",
            f"{work}{order}",
            "scikit-learn Perceptron",
            peer.epoch / ours.epoch,
            goal if not order else 2.5,
            detail=f"{ours.epoch * each:.2f} against {peer.epoch * each:.2f} ns per non-zero;"
            f" {set_ups(ours, peer)}",
        )
        yield Line(
            "b",
            f"Perceptron, whole fit of {effort.few} epochs, validation included{order}",
            "scikit-learn Perceptron.fit",
            peer.few / ours.few,
            goal,
            detail=f"{ms(ours.few)} against {ms(peer.few)}",
        )


def averaged_csr(effort: Effort) -> Iterator[Line]:
    """(d) an epoch that keeps the average."""
    X, y = sparse_rows(effort)
    like_us = {
        "loss": "perceptron",
        "penalty": None,
        "learning_rate": "constant",
        "eta0": 1.0,
        "shuffle": False,
        "tol": None,
    }
    costs = slopes(
        {
            "ours": lambda n: AveragedPerceptron(shuffle=False, max_iter=n).fit(X, y),
            "peer": lambda n: SGDClassifier(average=True, max_iter=n, **like_us).fit(X, y),
        },
        effort,
        effort.rounds,
    )
    yield epoch_line(
        "d",
        f"AveragedPerceptron, one epoch; {rows_of(X)}",
        "scikit-learn SGDClassifier(average=True)",
        costs["ours"],
        costs["peer"],
        3.0,
    )


@numba.njit(fastmath={"reassoc", "contract"})
def bound_plain(values, indices, indptr, y, w):
    """The perceptron and nothing else; the order of the sums is left to the compiler."""
    for i in range(indptr.size - 1):
        s = values.dtype.type(0)
        for p in range(indptr[i], indptr[i + 1]):
            s += values[p] * w[indices[p]]
        if y[i] * s <= 0:
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p]] += y[i] * values[p]


@numba.njit(fastmath={"contract"})
def bound_four(values, indices, indptr, y, w):
    """The same, in four partial sums that do not wait for each other.

    Without ``reassoc``: with it LLVM makes vector gathers of the sums, which many processors are slow at.
    """
    zero = values.dtype.type(0)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for i in range(indptr.size - 1):
        p, stop = indptr[i], indptr[i + 1]
        s0 = s1 = s2 = s3 = zero
        while p + four <= stop:
            s0 += values[p] * w[indices[p]]
            s1 += values[p + one] * w[indices[p + one]]
            s2 += values[p + two] * w[indices[p + two]]
            s3 += values[p + three] * w[indices[p + three]]
            p += four
        while p < stop:
            s0 += values[p] * w[indices[p]]
            p += one
        if y[i] * ((s0 + s1) + (s2 + s3)) <= 0:
            for p in range(indptr[i], stop):
                w[indices[p]] += y[i] * values[p]


def bound_fixed() -> Any:
    """The same with the sums of the library, whose order is fixed, and with the next rows asked for."""
    compiler._register_with_numba()
    line = np.uint64(16)  # numbers of a cache line

    @numba.njit(**{**compiler.OPTIONS, "fastmath": {"contract"}})
    def loop(values, indices, indptr, y, w):
        for i in range(indptr.size - 1):
            if i + ahead() + 1 < indptr.size:
                p = indptr[i + ahead()]
                while p < indptr[i + ahead() + 1]:
                    request_early(values, p)
                    request_early(indices, p)
                    p += line
            if y[i] * gather_dot(values, indices, indptr[i], indptr[i + 1], w) <= 0:
                for p in range(indptr[i], indptr[i + 1]):
                    w[indices[p]] += y[i] * values[p]

    return loop


@numba.njit(fastmath={"reassoc", "contract"})
def bound_told(values, indices, indptr, updates, w):
    """No learner: it is told which rows to change w by, so it never waits for a score."""
    total = 0.0
    for i in range(indptr.size - 1):
        s = values.dtype.type(0)
        for p in range(indptr[i], indptr[i + 1]):
            s += values[p] * w[indices[p]]
        total += s
        if updates[i]:
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p]] -= values[p]
    return total


def rows_with_updates(X: Any, y: Any, effort: Effort) -> Any:
    """(epochs, rows): which rows the perceptron updates on."""
    log = Perceptron(shuffle=False, max_iter=effort.many, log_updates=True).fit(X, y).update_log_
    found = np.zeros((effort.many, X.shape[0]), bool)
    found[log["epoch"], log["row"]] = True
    return found


# -------------------------------------------------------------------------- (h): rows wider than the caches


def wide_rows(effort: Effort) -> Iterator[Line]:
    """(h) shuffled epochs on rows of 2^18 and 2^22 columns.

    Both fits of a slope are long enough for a copy with renumbered columns, so that it is in their set-up.
    """
    each: dict[int, float] = {}
    if not effort.quick:
        few = max(effort.few, renumbering.LEAST_EPOCHS, packing.LEAST_EPOCHS)
        effort = effort._replace(few=few)
    for bits in (10, 12) if effort.quick else (18, 22):
        X, y = data.text_like(400 if effort.quick else 60_000, 1 << bits, per_row=120)
        costs = slopes(
            {
                "ours": lambda n, X=X, y=y: Perceptron(max_iter=n, random_state=0).fit(X, y),
                "peer": lambda n, X=X, y=y: SklearnPerceptron(tol=None, max_iter=n, random_state=0).fit(X, y),
            },
            effort,
            effort.slow_rounds,
        )
        ours, peer = costs["ours"], costs["peer"]
        each[bits] = 1e9 * ours.epoch / X.nnz
        yield Line(
            "h",
            f"Perceptron, one epoch, shuffled; CSR {X.dtype}, {X.shape[0]:,} x 2^{bits},"
            f" {X.nnz / X.shape[0]:.0f} non-zeros a row",
            "scikit-learn Perceptron",
            peer.epoch / ours.epoch,
            2.5,
            detail=f"{each[bits]:.2f} against {1e9 * peer.epoch / X.nnz:.2f} ns per non-zero;"
            f" {set_ups(ours, peer)}",
        )
    few, many = each
    yield Line(
        "h",
        f"the same: a non-zero of 2^{many} columns",
        f"a non-zero of 2^{few} columns",
        each[many] / each[few],
        1.5,
        at_least=False,
    )


# ------------------------------------------------------------------------------------- (c): dense rows, MNIST


def perceptron_dense(effort: Effort) -> Iterator[Line]:
    """(c) an epoch on dense rows."""
    loaded = data.mnist_even_odd(rows=500 if effort.quick else None)
    work = "Perceptron, one epoch; MNIST, even or odd"
    if loaded is None:
        yield Line("c", work, "a stream of the same bytes, scikit-learn", detail=f"MNIST is {NO_DATA}")
        return
    X, y = loaded
    work = f"Perceptron, one epoch; MNIST, even or odd, {X.shape[0]:,} x {X.shape[1]} {X.dtype}"
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0).astype(X.dtype)

    def bare(n: int) -> None:
        w = np.zeros(X.shape[1], X.dtype)
        for _ in range(n):
            bound_dense(X, signs, w)

    asking = bound_dense_ahead()

    def ahead_of_rows(n: int) -> None:
        w = np.zeros(X.shape[1], X.dtype)
        for _ in range(n):
            asking(X, signs, w)

    costs = slopes(
        {
            "ours": lambda n: Perceptron(shuffle=False, max_iter=n).fit(X, y),
            "peer": lambda n: SklearnPerceptron(shuffle=False, tol=None, max_iter=n).fit(X, y),
            "stream": lambda n: [stream(X.ravel()) for _ in range(n)][:0],
            "bare": bare,
            "ahead": ahead_of_rows,
        },
        effort,
        effort.rounds,
    )
    ours, peer, bound, *loops = (costs[name] for name in ("ours", "peer", "stream", "bare", "ahead"))
    least = min(loops)
    gb = X.nbytes / 1e9
    yield Line(
        "c",
        work,
        "a stream of the same bytes",
        bound.epoch / ours.epoch,
        0.9,
        detail=f"{gb / ours.epoch:.1f} against {gb / bound.epoch:.1f} GB/s;"
        f" {rows_with_updates(X, y, effort)[effort.few :].mean():.1%} of the rows are updates",
    )
    yield Line(
        "c",
        work,
        "a loop that multiplies every row and adds those that are wrong (the faster of two)",
        least.epoch / ours.epoch,
        0.93,
        detail=f"{ms(ours.epoch)} against {ms(least.epoch)} an epoch; with memory asked for ahead and"
        f" without: {ms(loops[1].epoch)}, {ms(loops[0].epoch)}; the faster one has"
        f" {bound.epoch / least.epoch:.2f} of the stream's speed, and is {peer.epoch / least.epoch:.2f} times"
        " as fast as scikit-learn",
    )
    yield epoch_line("c", work, "scikit-learn Perceptron", ours, peer, 7.0)


@numba.njit(fastmath={"reassoc", "contract"})
def bound_dense(X, y, w):
    """The perceptron and nothing else, without intercept."""
    for i in range(X.shape[0]):
        s = X.dtype.type(0)
        for j in range(X.shape[1]):
            s += X[i, j] * w[j]
        if y[i] * s <= 0:
            for j in range(X.shape[1]):
                w[j] += y[i] * X[i, j]


def bound_dense_ahead() -> Any:
    """The same with every line of a later row asked for."""
    compiler._register_with_numba()
    rows_ahead, line = 3, 16  # numbers of a cache line

    @numba.njit(**compiler.OPTIONS)
    def loop(X, y, w):
        for i in range(X.shape[0]):
            later = X[min(i + rows_ahead, X.shape[0] - 1)]
            for j in range(0, X.shape[1], line):
                request_early(later, j)
            s = X.dtype.type(0)
            for j in range(X.shape[1]):
                s += X[i, j] * w[j]
            if y[i] * s <= 0:
                for j in range(X.shape[1]):
                    w[j] += y[i] * X[i, j]

    return loop


@numba.njit(fastmath={"reassoc", "contract"})
def stream(values):
    """The sum of all values: nothing but reading them."""
    total = values.dtype.type(0)
    for j in range(values.size):
        total += values[j]
    return total


# ------------------------------------------------------------------------------------------- (e): 105 classes


def many_classes(effort: Effort) -> Iterator[Line]:
    """(e) prototypes learned together against one learner per class."""
    loaded = data.sector(rows=600 if effort.quick else None)
    work = "AveragedPerceptron, joint"
    if loaded is None:
        yield Line("e", work, "scikit-learn Perceptron, one-vs-all", detail=f"sector.scale is {NO_DATA}")
        return
    X, y, X_test, y_test = loaded
    epochs = effort.few
    fitted: dict[str, Any] = {}

    def fit(name: str, model: Any) -> None:
        fitted[name] = model.fit(X, y)

    best = race(
        {
            "ours": lambda: fit("ours", AveragedPerceptron(max_iter=epochs, random_state=0)),
            "peer": lambda: fit("peer", SklearnPerceptron(max_iter=epochs, tol=None, random_state=0)),
        },
        effort.slow_rounds,
    )
    ours, peer = (fitted[name].score(X_test, y_test) for name in ("ours", "peer"))
    work = f"AveragedPerceptron, joint, whole fit of {epochs} epochs; sector, {len(np.unique(y))} classes"
    against = "scikit-learn Perceptron, one-vs-all"
    times = f"{ms(best['ours'])} against {ms(best['peer'])}"
    yield Line("e", work, against, best["peer"] / best["ours"], 3.5, detail=times)
    yield Line(
        "e",
        "the same: accuracy on its test rows",
        against,
        100 * (ours - peer),
        0.0,
        unit="points",
        detail=f"{ours:.2%} against {peer:.2%} of {len(y_test):,}",
    )


# ------------------------------------------------------------------------------------- (f): one row at a time


def one_row(effort: Effort) -> Iterator[Line]:
    """(f) ``learn_one`` and ``predict_one`` on 50 numbers: an array; a dict of names, as River takes it."""
    calls = 2_000 if effort.quick else 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 50))
    y = np.where(X @ rng.normal(size=50) + 3.0 * rng.normal(size=1_000) > 0.0, 1, -1).tolist()
    ten = rng.integers(0, 10, len(X)).tolist()
    rows = [np.ascontiguousarray(x) for x in X]
    named = [{f"x{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    signs = [label > 0 for label in y]

    def stream_into(make: Callable[[], Any], xs: list[Any], ys: list[Any], times: int) -> Callable[[], None]:
        def run() -> None:
            learn = make().learn_one
            for _ in range(times // len(xs)):
                for x, label in zip(xs, ys):
                    learn(x, label)

        return run

    def ask(make: Callable[[], Any], xs: list[Any], ys: list[Any], times: int) -> Callable[[], None]:
        model = make()
        for x, label in zip(xs, ys):
            model.learn_one(x, label)

        def run() -> None:
            predict = model.predict_one
            for _ in range(times // len(xs)):
                for x in xs:
                    predict(x)

        return run

    theirs, missing = river_models()
    few = max(calls // 20, 1_000)
    peers = {
        f"{name} {verb}": way(make, named, signs, few)
        for name, make in theirs.items()
        for verb, way in (("learn_one", stream_into), ("predict_one", ask))
    }
    beside = {key: 1e6 * t / few for key, t in race(peers, effort.slow_rounds).items()}
    array, dicts = "an array of 50", "a dict of 50 names"
    contest = [
        (Perceptron, "learn_one", array, y, "Perceptron", 1.0),
        (PassiveAggressive, "learn_one", array, y, "PAClassifier", 1.0),
        (Perceptron, "learn_one", dicts, y, "Perceptron", 5.0),
        (Perceptron, "predict_one", dicts, y, "Perceptron", 3.0),
        (PassiveAggressive, "learn_one", dicts, y, "PAClassifier", 5.0),
        (PassiveAggressive, "predict_one", dicts, y, "PAClassifier", 3.0),
        (AROW, "learn_one", array, y, None, 3.0),
        (Perceptron, "learn_one", f"10 classes, {array}", ten, None, 3.0),
    ]
    works = {
        f"{make.__name__} {verb} {form}": (stream_into if verb == "learn_one" else ask)(
            make, named if form == dicts else rows, labels, calls
        )
        for make, verb, form, labels, _, _ in contest
    }
    best = {key: 1e6 * t / calls for key, t in race(works, effort.rounds).items()}
    for make, verb, form, _, peer, goal in contest:
        micro = best[f"{make.__name__} {verb} {form}"]
        against, detail = "no peer" if peer is None else f"River {peer}", missing if peer else ""
        if f"{peer} {verb}" in beside:
            theirs_micro = beside[f"{peer} {verb}"]
            against = f"River {peer}, the row as a dict: {theirs_micro:.1f} µs"
            detail = f"River takes {theirs_micro / micro:.1f} times as long"
        yield Line("f", f"{make.__name__}.{verb}, {form}", against, micro, goal, "µs", False, detail)


def river_models() -> tuple[dict[str, Callable[[], Any]], str]:
    """River's learners, or why there are none."""
    try:
        from river import linear_model
    except ImportError as error:
        return {}, f"not installed ({error})"
    return {"Perceptron": linear_model.Perceptron, "PAClassifier": linear_model.PAClassifier}, ""


# --------------------------------------------------------------------------------------- (g): a fresh process

FIRST_FIT = """
import numpy as np
from perceptrons import Perceptron
X = np.random.default_rng(0).normal(size=(100, 20))
Perceptron().fit(X, X[:, 0] > 0)
"""
IMPORT_PEER = "import sklearn.linear_model"


def fresh_process(effort: Effort) -> Iterator[Line]:
    """(g) from the shell's prompt to a fitted model."""

    def process(code: str, cache: str) -> None:
        subprocess.run(
            [sys.executable, "-c", code], check=True, env={**os.environ, "PERCEPTRONS_CACHE": cache}
        )

    def cold() -> None:
        with tempfile.TemporaryDirectory() as empty:
            process(FIRST_FIT, empty)

    with tempfile.TemporaryDirectory() as cache:
        process(FIRST_FIT, cache)  # fills the cache
        warm_contest = {
            "warm": lambda: process(FIRST_FIT, cache),
            "bare": lambda: process("", cache),
            "peer": lambda: process(IMPORT_PEER, cache),
        }
        best = race(warm_contest, effort.slow_rounds, not effort.quick, time.perf_counter)
    best |= race({"cold": cold}, 1 if effort.quick else 3, False, time.perf_counter)
    bare = f"a bare python: {ms(best['bare'])}"
    for state in ("warm", "cold"):
        yield Line(
            "g",
            f"import and first fit in a fresh process, cache {state}",
            "import sklearn.linear_model",
            best[state] / best["peer"],
            1.15 if state == "warm" else None,
            at_least=False,
            detail=f"{ms(best[state])} against {ms(best['peer'])}; {bare}",
        )


# ------------------------------------------------------------------------------------------------- the report


def rows_of(X: Any) -> str:
    return f"CSR {X.dtype}, {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} non-zeros a row"


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def set_ups(ours: Cost, peer: Cost) -> str:
    return f"set-up of fit {ms(ours.setup)} against {ms(peer.setup)}"


def epoch_line(key: str, work: str, against: str, ours: Cost, peer: Cost, goal: float) -> Line:
    detail = f"{ms(ours.epoch)} against {ms(peer.epoch)} an epoch; {set_ups(ours, peer)}"
    return Line(key, work, against, peer.epoch / ours.epoch, goal, detail=detail)


CONTESTS: dict[str, Callable[[Effort], Iterator[Line]]] = {
    "a": perceptron_csr,  # and b
    "c": perceptron_dense,
    "d": averaged_csr,
    "e": many_classes,
    "f": one_row,
    "g": fresh_process,
    "h": wide_rows,
}


def chosen(only: str | None) -> list[str]:
    """The contests to run, from what ``--only`` says."""
    if only is None:
        return list(CONTESTS)
    letters = ["a" if letter == "b" else letter for letter in only.replace(" ", "").split(",") if letter]
    unknown = [letter for letter in letters if letter not in CONTESTS]
    if unknown or not letters:
        raise SystemExit(f"--only takes letters from a to h, with commas between them; got {only!r}.")
    return sorted(set(letters))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="a,b", help="run these lines only")
    parser.add_argument(
        "--rounds", type=int, help="timed rounds of each contest, instead of 25, or 5 of slow work"
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run on small data")
    parser.add_argument("--json", metavar="FILE", help="write the lines to this file, too")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown, too")
    options = parser.parse_args(argv)
    letters = chosen(options.only)
    effort = QUICK if options.quick else Effort()
    if options.rounds is not None:
        effort = effort._replace(rounds=options.rounds, slow_rounds=options.rounds)
    out = console()
    setting = machine()
    for name, value in setting.items():
        out.print(f"{name:10} {value}")
    out.print(
        f"{'data':10} text-like rows, generated; real sets: {data.folder() or 'none (set PERCEPTRONS_DATA)'}"
    )
    out.print(
        f"{'method':10} best of {effort.rounds} interleaved rounds ({effort.slow_rounds} for slow work), "
        f"warm-up untimed, CPU time (g: wall time); "
        f"an epoch is (t({effort.many}) - t({effort.few}))/{effort.many - effort.few}"
    )
    if effort.quick:
        out.print("quick      a smoke run: the numbers below mean nothing")
    lines: list[Line] = []
    with suppress(KeyboardInterrupt), out.status("measuring") as status:
        for letter in letters:
            status.update(f"measuring ({letter}) {CONTESTS[letter].__doc__}")
            try:
                lines.extend(CONTESTS[letter](effort))
            except Exception as error:  # the other contests still count
                lines.append(Line(letter, CONTESTS[letter].__doc__ or "", "", detail=f"FAILED: {error!r}"))
    if effort.quick:
        lines = [line._replace(goal=None) for line in lines]
    show(lines, out)
    if options.markdown:
        print(markdown(lines))
    if options.json:
        report = {**setting, "effort": effort._asdict(), "lines": [line.record() for line in lines]}
        Path(options.json).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    if any(line.detail.startswith("FAILED") for line in lines):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
