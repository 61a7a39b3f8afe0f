"""Parameter mixing: two threads over one, and accuracy against rounds beside other ways to use shards.

    .venv/bin/python benchmarks/mixing.py
    .venv/bin/python benchmarks/mixing.py --quick
    .venv/bin/python benchmarks/mixing.py --only speed

**Speed.** Rounds of ``ParameterMixing`` with two shards, in one thread and in two, mixing included: wall
times on text-like CSR rows in float32; all learners take turns. What a fit does once, checks before the first
round and the bracket after the last, is not in it. The goal is 1.8. Beside it the mixing, with whatever a
round does after its last pass.

Two threads need two cores, which a virtual machine does not have at all times (``cores.py``): a round counts
if each thread had a core of its own before it, between the run in one thread and that in two, and after it.
A gain is the median, over the rounds that count, of one thread's time over two threads' time in the same
round; beside it the least time over the least time of these, and the median of all rounds.

Two threads also share memory and its cache, so a bound stands beside the goal: a bare perceptron that reads
the same rows and weights in the same order, with the same requests for memory, adds rows that are wrong, and
counts nothing; "bare" is what it gains by a second thread, without mixing. Where the goal is missed, the
verdict is "memory" if the bare loop misses it as well.

**Accuracy.** IMDB's reviews as rows of 2^18 hashed words (text-like rows where they are not here), on the
test set, after each round:

* serial: a plain fit, one pass per round;
* mixed: ``ParameterMixing`` with 4 and 16 shards;
* one-shot: every shard trained alone for as many passes, the weights averaged once at the end: there is no
  guarantee for it. Both also on uneven shards, which have the classes in very different parts;
* AROW, serial, mixed by what each shard has gained, and by the product of Gaussians with the common prior
  divided out, as if the passes had been steps of Bayes' rule: steps that several shards make alike add up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, TypeVar

import numba
import numpy as np
from cores import SLACK, Cores
from data import text_like
from report import Report, options, parsed, progress

from perceptrons import AROW, AveragedPerceptron, ParameterMixing, Perceptron, TextHasher, datasets
from perceptrons.core.fit_rows import rows_of_fit
from perceptrons.engine import compiler
from perceptrons.engine.cache_lines import zeros_apart
from perceptrons.engine.intake import make_rows
from perceptrons.engine.look_ahead import lines_of, look_ahead, look_ahead_at, what_to_ask_for
from perceptrons.engine.spaces import LearnerState
from perceptrons.mixing import merging, shards
from perceptrons.mixing.backends import Threads
from perceptrons.mixing.fitting import passing
from perceptrons.mixing.jobs import Job
from perceptrons.mixing.shard_epoch import Outcome, shard_epoch
from perceptrons.mixing.states import State, state_of
from perceptrons.mixing.thread_team import ThreadTeam
from perceptrons.rows import gather_dot

GOAL = 1.8
T = TypeVar("T")


# ------------------------------------------------------------------------------------------------- speed


def in_turns(contests: list[Iterator[T]]) -> list[T]:
    """The last of each: they take turns, so that a minute in which others use the machine ruins none."""
    *_, found = zip(*contests, strict=True)
    return list(found)


class Taken:
    """Wall seconds of rounds in one thread and in two, one after the other."""

    def __init__(self) -> None:
        self.round: dict[int, list[float]] = {1: [], 2: []}
        self.mixing: dict[int, list[float]] = {1: [], 2: []}  #: of that, whatever follows the last pass
        self.slowdown: list[float] = []  #: of each round, the largest that :class:`cores.Cores` saw

    def counted(self) -> list[int]:
        """The rounds in which both threads had a core."""
        return [i for i, slowdown in enumerate(self.slowdown) if slowdown <= SLACK]

    def best(self, n_threads: int) -> float:
        return min((self.round[n_threads][i] for i in self.counted()), default=np.nan)

    def gains(self) -> tuple[float, float, float]:
        """How many times as fast two threads are.

        The median of the rounds that count, the best of them over the best, and the median of all rounds.
        """
        ratios = np.divide(self.round[1], self.round[2])
        counted = ratios[self.counted()]
        median = float(np.median(counted)) if len(counted) else np.nan
        return median, self.best(1) / self.best(2), float(np.median(ratios))


def timed_rounds(
    cores: Cores, rounds: int, once: Callable[[int, int], tuple[float, float]]
) -> Iterator[Taken]:
    """After each round what all have taken; ``once(number, n_threads)``: seconds of a round, mixing in it."""
    taken = Taken()
    for number in range(1 + rounds):
        slowdown, seconds = cores.slowdown(), {}
        for n_threads in (1, 2):
            seconds[n_threads] = once(number, n_threads)
            slowdown = max(slowdown, cores.slowdown())
        if number > 0:  # the first one compiles
            for n_threads, (whole, mixing) in seconds.items():
                taken.round[n_threads].append(whole)
                taken.mixing[n_threads].append(mixing)
            taken.slowdown.append(slowdown)
        yield taken


def round_times(learner: Any, X: Any, y: Any, cores: Cores, rounds: int) -> Iterator[Taken]:
    """Rounds of a learner. Every number of threads has states of its own."""
    job, parts, state = prepared(learner, X, y, 2)
    with ExitStack() as opened:
        backends = {n: opened.enter_context(closing(Threads(job, parts, n))) for n in (1, 2)}
        states = dict.fromkeys(backends, state)

        def once(number: int, n_threads: int) -> tuple[float, float]:
            backend = backends[n_threads]
            start = time.perf_counter()
            outcomes = backend.passes(states[n_threads], number)
            middle = time.perf_counter()
            states[n_threads] = backend.mixed(states[n_threads], outcomes).state
            end = time.perf_counter()
            return end - start, end - middle

        yield from timed_rounds(cores, rounds, once)


def bare_loop() -> Any:
    """A perceptron that keeps no book: products of rows and weights, and rows that are added."""
    compiler._register_with_numba()

    @numba.njit(**compiler.OPTIONS)
    def learn(rows, y, order, w):
        asked = what_to_ask_for(rows, order, lines_of(w), True)
        for at in range(order.shape[0]):
            i = order[at]
            if asked.rows:
                look_ahead(rows, order, at, asked.twice)
                if asked.weights > 0:
                    look_ahead_at(w, rows, order, at, asked.weights)
            start, stop = rows.indptr[i], rows.indptr[i + 1]
            if y[i] * gather_dot(rows.data, rows.indices, start, stop, w) <= 0:
                p = start
                while p < stop:
                    w[rows.indices[p]] += y[i] * rows.data[p]
                    p += np.uint64(1)

    return learn


def bare_times(learn: Any, X: Any, y: Any, shuffle: bool, cores: Cores, rounds: int) -> Iterator[Taken]:
    """Rounds of the bare loop. Weights are mixed between two rounds."""
    blocks = shards.blocks(X.shape[0], 2)
    parts = [make_rows(X[rows], 1.0, False) for rows in blocks]
    labels = [np.where(y[rows] == y.max(), 1, -1).astype(X.dtype) for rows in blocks]
    weights = {n: zeros_apart(2, X.shape[1] + 1, X.dtype) for n in (1, 2)}
    with ExitStack() as opened:
        teams = {n: opened.enter_context(ThreadTeam(n)) for n in weights}

        def once(number: int, n_threads: int) -> tuple[float, float]:
            rng, w = np.random.default_rng(number), weights[n_threads]
            orders = [rng.permutation(len(own)) if shuffle else np.arange(len(own)) for own in labels]
            calls = [partial(learn, *given) for given in zip(parts, labels, orders, w, strict=True)]
            start = time.perf_counter()
            teams[n_threads].run(calls)
            end = time.perf_counter()
            w[:] = w.mean(axis=0)
            return end - start, 0.0

        yield from timed_rounds(cores, rounds, once)


def verdict_of(gain: float, bare: float) -> str:
    """Met; missed, with memory as the reason or without; or not to be said, where no round counts."""
    if np.isnan(gain) or np.isnan(bare):
        return "no cores"
    if gain >= GOAL:
        return "met"
    return "memory" if bare < GOAL else "MISSED"


def speed(report: Report, quick: bool, rounds: int) -> None:
    rows, rounds = (2_000, 1) if quick else (600_000, rounds)
    contests, bounds, learn, cores = [], [], bare_loop(), Cores()
    for bits in (12, 13) if quick else (18, 22):
        progress(f"rows of 2^{bits} columns")
        X, y = text_like(rows=rows, features=1 << bits)
        for name, learner in (
            ("Perceptron, shuffled", Perceptron(random_state=0, max_iter=1 + rounds)),
            ("Perceptron, in order", Perceptron(shuffle=False, max_iter=1 + rounds)),
            ("AveragedPerceptron, shuffled", AveragedPerceptron(random_state=0, max_iter=1 + rounds)),
        ):
            contests.append((name, bits, round_times(learner, X, y, cores, rounds)))
            bounds.append(bare_times(learn, X, y, learner.shuffle, cores, rounds))
    progress("rounds")
    found = in_turns([*(contest for _, _, contest in contests), *bounds])
    cores.close()
    lines = []
    for (name, bits, _), ours, bare in zip(
        contests, found[: len(contests)], found[len(contests) :], strict=True
    ):
        (gain, best, of_all), (bare_gain, bare_best, bare_of_all) = ours.gains(), bare.gains()
        lines.append(
            [
                *(name, f"2^{bits}"),
                *(f"{1e3 * ours.best(n):.1f}" for n in (1, 2)),
                *(f"{1e3 * min(ours.mixing[n]):.1f}" for n in (1, 2)),
                *(f"{number:.2f}" for number in (best, bare_best, of_all, bare_of_all, gain, bare_gain)),
                *(str(len(taken.counted())) for taken in (ours, bare)),
                "no goal" if quick else verdict_of(gain, bare_gain),
            ]
        )
    load = " ".join(f"{x:.1f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    title = f"Two threads over one, {rows:,} rows, two shards, {rounds} rounds (load of the machine: {load})"
    times = ["1 thread, ms", "2 threads, ms", "mixing, 1", "2"]
    gains = ["best", "bare", "all rounds", "bare", "gain", "bare", "count", "bare", "1.8"]
    report.table(title, ["learner", "columns", *times, *gains], lines)


# ---------------------------------------------------------------------------------------------- accuracy


def prepared(learner: Any, X: Any, y: Any, S: int) -> tuple[Job, list[Any], State]:
    """A job, its shards and the first state, as ``ParameterMixing.fit`` makes them."""
    batch = rows_of_fit(learner, X, y, None, None)
    space = learner._start(batch, None, None)
    batch = batch._replace(targets=space.targets(batch.codes))
    parts = shards.in_memory(batch, shards.blocks(X.shape[0], S))
    return Job(passing(learner), space.frame, X.shape[1], S, 0), list(parts), state_of(space)


def product_of_gaussians(state: State, outcomes: list[Outcome]) -> State:
    """The posteriors of the shards multiplied, their common prior divided out: the known bad idea.

    What is gained in precision adds up, and so does what is gained in precision times mean.
    """
    (own,) = state
    changes = [one.deltas[0] for one in outcomes]
    v, sigma = own.arrays["v"], own.arrays["sigma"]
    w = [merging._after(change["v"], v) for change in changes]
    precision = [1.0 / merging._after(change["sigma"], sigma) for change in changes]
    prior = 1.0 / sigma
    total = prior + np.sum([p - prior for p in precision], axis=0)
    gained = np.sum([p * x - prior * v for p, x in zip(precision, w, strict=True)], axis=0)
    mean = (prior * v + gained) / total
    numbers = outcomes[0].report.scalars[0]
    return (LearnerState({"v": mean.astype(v.dtype), "sigma": 1.0 / total}, numbers),)


def by_product(learner: Any, X: Any, y: Any, S: int, n_rounds: int) -> Iterator[Any]:
    """The learner after each round of a product of Gaussians."""
    job, parts, state = prepared(learner, X, y, S)
    for number in range(n_rounds):
        state = product_of_gaussians(state, [shard_epoch(job, state, part, number) for part in parts])
        yield job.model(state)


def mixed(learner: Any, X: Any, y: Any, S: int, score: Callable[[Any], float]) -> list[float]:
    found: list[float] = []
    ParameterMixing(learner, n_shards=S, callback=lambda model: found.append(score(model))).fit(X, y)
    return found


def serial(learner: Any, X: Any, y: Any, score: Callable[[Any], float]) -> list[float]:
    found: list[float] = []
    learner.set_params(callback=lambda model: found.append(score(model))).fit(X, y)
    learner.set_params(callback=None)
    return found


def one_shot(make: Callable[[int], Any], X: Any, y: Any, test: Any, S: int, n_rounds: int) -> list[float]:
    """Accuracy of the mean of S models that were trained alone, for each number of passes."""
    blocks = shards.blocks(X.shape[0], S)
    found = []
    for n in range(1, n_rounds + 1):
        models = [make(n).fit(X[rows], y[rows]) for rows in blocks]
        w = np.mean([model.coef_[0] for model in models], axis=0)
        b = np.mean([model.intercept_[0] for model in models])
        classes = models[0].classes_
        found.append(float(np.mean(classes[(test[0] @ w + b > 0).astype(int)] == test[1])))
    return found


def by_label(y: Any) -> Any:
    """An order of the rows whose blocks have the classes in very different parts."""
    codes = np.unique(y, return_inverse=True)[1]
    return np.argsort(codes + np.random.default_rng(1).normal(0.0, 0.8, len(y)), kind="stable")


def data(quick: bool) -> tuple[Any, Any, Any, Any, str]:
    """Rows and labels, for training and for testing, and their name."""
    if not quick and datasets.find("imdb") is not None:
        found, hasher = datasets.load_imdb(), TextHasher(bits=18, values="binary")
        order = np.random.default_rng(0).permutation(len(found.y))  # the file has one class after the other
        X, X_test = hasher.transform(found.X), hasher.transform(found.X_test)
        return X[order], found.y[order], X_test, found.y_test, "IMDB, 2^18 columns"
    X, y = text_like(rows=2_000 if quick else 50_000, features=4_096)
    half = len(y) // 2
    return X[:half], y[:half], X[half:], y[half:], "text-like rows"


def accuracy(report: Report, quick: bool) -> None:
    X, y, X_test, y_test, name = data(quick)
    n_rounds, counts = (2, (2,)) if quick else (5, (4, 16))

    def score(model: Any) -> float:
        return float(model.score(X_test, y_test))

    lines = []
    for title, make in (
        ("Perceptron", lambda n=n_rounds: Perceptron(random_state=0, max_iter=n, row_norm="l2")),
        (
            "AveragedPerceptron",
            lambda n=n_rounds: AveragedPerceptron(random_state=0, max_iter=n, row_norm="l2"),
        ),
        ("AROW(r=0.1)", lambda n=n_rounds: AROW(r=0.1, random_state=0, max_iter=n, row_norm="l2")),
    ):
        progress(title)
        lines.append([f"{title}, serial", "1", *serial(make(), X, y, score)])
        for S in counts:
            lines.append([f"{title}, mixed", str(S), *mixed(make(), X, y, S, score)])
            if title == "Perceptron":
                test, uneven = (X_test, y_test), by_label(y)
                once = one_shot(make, X, y, test, S, n_rounds)
                lines.append([f"{title}, one-shot averaging", str(S), *once])
                found = mixed(make(), X[uneven], y[uneven], S, score)
                lines.append([f"{title}, mixed, uneven shards", str(S), *found])
                once = one_shot(make, X[uneven], y[uneven], test, S, n_rounds)
                lines.append([f"{title}, one-shot, uneven shards", str(S), *once])
            if title.startswith("AROW"):
                found = [score(model) for model in by_product(make(), X, y, S, n_rounds)]
                lines.append([f"{title}, product of Gaussians", str(S), *found])
    report.table(
        f"Accuracy in % on the test rows after each round: {name}, {X.shape[0]:,} training rows",
        ["learner", "shards", *map(str, range(1, n_rounds + 1))],
        [[*line[:2], *(f"{100 * x:.1f}" for x in line[2:])] for line in lines],
    )


def separable(report: Report, quick: bool) -> None:
    """Rows that a plane separates: until no shard updates, and each shard alone until it does not."""
    rng = np.random.default_rng(2)
    n, d = (400, 20) if quick else (20_000, 50)
    X, u = rng.normal(size=(n + n // 20, d)), rng.normal(size=d)
    far = np.sort(np.argsort(np.abs(X @ u))[-n:])  # without those next to the plane
    X, y = X[far], (X[far] @ u > 0).astype(int)
    lines = []
    for S in (2, 4) if quick else (4, 16, 64):
        model = ParameterMixing(Perceptron(random_state=0, max_iter=None), n_shards=S).fit(X, y)
        alone = [
            Perceptron(random_state=0, max_iter=None).fit(X[rows], y[rows])
            for rows in shards.blocks(len(y), S)
        ]
        w, b = (np.mean([getattr(one, name)[0] for one in alone], axis=0) for name in ("coef_", "intercept_"))
        left = [int(np.sum(model.predict(X) != y)), int(np.sum((X @ w + b > 0) != (y > 0)))]
        passes = max(one.n_iter_ for one in alone)
        lines.append([str(S), str(model.n_iter_), str(left[0]), str(passes), str(left[1])])
    report.table(
        f"{n:,} rows that a plane separates: training rows that are predicted wrongly at the end",
        ["shards", "rounds, mixed", "wrong", "passes, one-shot", "wrong"],
        lines,
    )


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: the numbers mean nothing")
    parser.add_argument("--only", choices=("speed", "accuracy"), help="one of the two tables")
    parser.add_argument("--rounds", type=int, default=150, help="of the first table (%(default)s)")
    chose = parsed(parser, argv)
    report = Report("mixing", chose.out)
    report.setting("text-like rows; IMDB", rounds="in turns")
    if chose.only != "accuracy":
        speed(report, chose.quick, chose.rounds)
    if chose.only != "speed":
        accuracy(report, chose.quick)
        separable(report, chose.quick)
    if not chose.quick:
        report.keep()


if __name__ == "__main__":
    main()
