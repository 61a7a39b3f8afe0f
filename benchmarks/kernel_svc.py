"""Kernel perceptrons on MNIST against scikit-learn's SVC with the same kernel, and the law of their cost.

    .venv/bin/python benchmarks/kernel_svc.py                  all of it (SVC alone takes minutes)
    .venv/bin/python benchmarks/kernel_svc.py --only law       what an epoch costs as rows and support grow
    .venv/bin/python benchmarks/kernel_svc.py --only svc       the contest

The kernel is (1 + <x, z>)^4 on pixels / 255. Everything is wall time: matrix products may use all cores,
SVC uses one; CPU seconds are stated beside it. SVC is fitted once, ours is the best of several rounds after
a warm-up.

An epoch over n rows of d features with S support rows computes n S kernel values of 2 d operations each,
and for each block of b rows those among themselves: time ≈ c · n · S · d. From the second epoch on, only
support rows that came in since the row's last visit cost a product, as far as the cache holds the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import data
import numpy as np
from objective import Line, race
from report import Report, numbers, options, parsed, progress, pyplot
from sklearn.svm import SVC

from perceptrons import KernelPerceptron, kernels

SIZES = (10_000, 20_000, 30_000, 40_000, 50_000, 60_000)
PIECE = 1_000  # rows at a time, for the cost against the support


def perceptron(readout: str = "last", max_iter: int = 1, **others: Any) -> KernelPerceptron:
    return KernelPerceptron(
        kernel=kernels.Polynomial(degree=4),
        multiclass="ovr",
        readout=readout,
        max_iter=max_iter,
        shuffle=False,
        device="cpu",
        **others,
    )


# --------------------------------------------------------------------------------------------- against SVC


class Timed(NamedTuple):
    """What one call took."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu)


def contest(digits: Any, rounds: int, report: Report) -> None:
    """Fit times, and the errors of all."""
    X, y, X_test, y_test = digits
    ours = {
        "KernelPerceptron, last, 1 epoch": perceptron("last"),
        "KernelPerceptron, average, 1 epoch": perceptron("average"),
        "KernelPerceptron, average, 4 epochs": perceptron("average", 4, cache_mb=4000.0),
    }
    for model in ours.values():
        model.fit(X[:300], y[:300])
    best = dict.fromkeys(ours, Timed(np.inf, np.inf))
    for number in range(rounds):
        for name, model in ours.items():
            progress(f"round {number + 1} of {rounds}: {name}")
            best[name] = min(best[name], timed(lambda model=model: model.fit(X, y)))
    theirs = "scikit-learn SVC"
    svc = SVC(kernel="poly", degree=4, gamma=1.0, coef0=1.0, cache_size=1000)
    progress(f"{theirs}: one fit")
    times = {**best, theirs: timed(lambda: svc.fit(X, y))}
    rows, errors, lines = [], {}, []
    for name, model in {**ours, theirs: svc}.items():
        predicting = timed(
            lambda name=name, model=model: errors.update({name: model.predict(X_test) != y_test})
        )
        support = int(np.sum(model.n_support_))
        t = times[name]
        cells = (f"{t.wall:.2f}", f"{t.cpu:.2f}", f"{100 * errors[name].mean():.2f}", f"{support:,}")
        rows.append([name, *cells, f"{predicting.wall:.2f}"])
        if name != theirs:
            goal = 30.0 if "1 epoch" in name and len(X) == 60_000 else None
            lines.append(Line("svc", name, theirs, times[theirs].wall / t.wall, goal))
    report.table(
        f"fit of {len(X):,} images, test error on {len(X_test):,}; ours: best of {rounds}, SVC: one fit",
        ("", "fit, s", "CPU, s", "error, %", "support", "predict, s"),
        rows,
    )
    report.table(
        f"the same as ratios: {theirs}'s time / ours",
        ("", "measured", "goal", ""),
        [[line.work, line.shown, line.shown_goal, line.verdict] for line in lines],
    )


# --------------------------------------------------------------------------------------------- the cost law


def operations(sizes: list[int], supports: list[float], d: int) -> np.ndarray:
    """Floating-point operations of the kernel values of blocks, with the support set and among themselves."""
    n, s = np.asarray(sizes, float), np.asarray(supports, float)
    return 2.0 * d * n * (s + n)


def peak(d: int) -> float:
    """GFLOP/s of a plain float32 matrix product of the size that a block has."""
    rng = np.random.default_rng(0)
    A, B = (rng.random((1024, d), dtype=np.float32) for _ in range(2))
    best = race({"gemm": lambda: A @ B.T}, 5, clock=time.perf_counter)["gemm"]
    return 2e-9 * d * 1024**2 / best


def by_pieces(X: Any, y: Any, piece: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One pass in pieces: rows, support before, seconds of each."""
    model = perceptron()
    classes = np.unique(y)
    model.partial_fit(X[:1], y[:1], classes=classes)  # compiled
    model = perceptron()
    sizes, supports, spent = [], [], []
    for start in range(0, len(X), piece):
        part = slice(start, start + piece)
        supports.append(model.n_support_ if start else 0)
        spent.append(timed(lambda part=part: model.partial_fit(X[part], y[part], classes=classes)).wall)
        sizes.append(len(X[part]))
    return np.array(sizes), np.array(supports), np.array(spent)


def law(digits: Any, sizes: list[int], piece: int, rounds: int, report: Report) -> tuple[Any, ...]:
    """Seconds against rows, against support, and over epochs; returns what the plot shows."""
    X, y = digits[:2]
    d = X.shape[1]
    sizes = [n for n in sizes if n <= len(X)] or [len(X)]
    perceptron().fit(X[:300], y[:300])
    top = peak(d)
    progress("one pass in pieces")
    passes = [by_pieces(X, y, piece) for _ in range(rounds)]
    rows, support = passes[0][:2]
    spent = np.min([each[2] for each in passes], axis=0)
    work = operations(rows, support, d)
    slope, fixed = np.polyfit(support, spent, 1) if len(support) > 1 else (0.0, spent[0])

    lines, whole = [], []
    for n in sizes:
        progress(f"one epoch of {n:,} rows")
        model = perceptron()
        best = race(
            {"fit": lambda n=n, model=model: model.fit(X[:n], y[:n])}, rounds, False, time.perf_counter
        )
        seconds, s = best["fit"], model.n_support_
        whole.append((n, s, seconds))
        # the mean support over the pass, as the pieces saw it
        flops = work[: -(-n // piece)].sum()
        c = 1e12 * seconds / (n * s * d)
        cells = (
            f"{s:,}",
            f"{model.n_mistakes_:,}",
            f"{seconds:.2f}",
            f"{c:.1f}",
            f"{1e-9 * flops / seconds:.0f}",
        )
        lines.append([f"{n:,}", *cells])
    report.table(
        f"one epoch, file order; c = seconds / (n S d); a float32 matrix product alone: {top:.0f} GFLOP/s",
        ("rows n", "support S", "mistakes", "seconds", "c, ps", "GFLOP/s"),
        lines,
    )
    growth = np.polyfit(*np.log(np.array(whole)[:, [0, 2]].T), 1)[0] if len(whole) > 1 else np.nan
    support_growth = np.polyfit(*np.log(np.array(whole)[:, :2].T), 1)[0] if len(whole) > 1 else np.nan
    report.say(f"seconds grow as n^{growth:.2f}, support as n^{support_growth:.2f}")

    pick = np.unique(np.linspace(0, len(rows) - 1, 10).astype(int))
    report.table(
        f"pieces of {piece:,} rows in that epoch",
        ("support before", "ms", "GFLOP/s"),
        [[f"{support[i]:,}", f"{1e3 * spent[i]:.1f}", f"{1e-9 * work[i] / spent[i]:.0f}"] for i in pick],
    )
    report.say(
        f"ms ≈ {1e3 * fixed:.1f} + {1e6 * slope:.2f} · S/1000: c = {1e12 * slope / (piece * d):.1f} ps "
        f"per row, support row and feature, {2e-9 * piece * d / slope if slope > 0 else np.nan:.0f} GFLOP/s"
    )
    epochs = by_epochs(X, y)
    report.table(
        f"four epochs of {len(X):,} rows, seconds of each",
        ("cache", *(f"epoch {e}" for e in range(1, 5))),
        [[name, *(f"{t:.2f}" for t in ts), *[""] * (4 - len(ts))] for name, ts in epochs.items()],
    )
    return np.array(whole), support, spent, (slope, fixed), piece, d


def by_epochs(X: Any, y: Any) -> dict[str, list[float]]:
    """Seconds of each of four epochs, without and with a cache for kernel values."""
    found = {}
    for megabytes in (0.0, 1000.0, 4000.0):
        progress(f"four epochs with a cache of {megabytes:,.0f} MB")
        ticks = [time.perf_counter()]
        perceptron(
            max_iter=4, cache_mb=megabytes, callback=lambda _, ticks=ticks: ticks.append(time.perf_counter())
        ).fit(X, y)
        found[f"{megabytes:,.0f} MB"] = np.diff(ticks).tolist()
    return found


def draw(whole: np.ndarray, support: Any, spent: Any, line: Any, piece: int, d: int) -> Any:
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
    from matplotlib.ticker import LogLocator

    n, s, seconds = whole.T
    left.loglog(n, seconds, "o-", label="seconds")
    c = np.mean(seconds / (n * s * d))
    left.loglog(n, c * n * s * d, "k:", label=f"{1e12 * c:.1f} ps · n · S · d")
    left.set(xlabel="rows n", ylabel="seconds of one epoch", title="one epoch")
    twin = left.twinx()
    twin.loglog(n, s, "s--", color="C1", label="support rows S")
    twin.set_ylabel("support rows S", color="C1")
    twin.grid(False)
    for panel in (left, twin):
        panel.set_xticks(n, [f"{m / 1000:g}k" for m in n])
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
    left.legend(loc="upper left")
    right.plot(support, 1e3 * spent, ".", label=f"pieces of {piece:,} rows")
    right.plot(support, 1e3 * (line[1] + line[0] * support), "k:", label="straight line")
    right.set(xlabel="support rows S", ylabel="milliseconds", title="the cost of rows as the support grows")
    right.legend()
    return figure


# ---------------------------------------------------------------------------------------------------- main


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__, plots=True)
    parser.add_argument("--only", choices=("svc", "law"), help="one half")
    parser.add_argument("--rounds", metavar="N", type=int, default=3, help="best of so many (%(default)s)")
    parser.add_argument(
        "--sizes", metavar="a,b", type=numbers, default=list(SIZES), help="rows (10000 to 60000)"
    )
    parser.add_argument("--piece", metavar="N", type=int, default=PIECE, help="rows of a piece (%(default)s)")
    parser.add_argument("--data-limit", metavar="N", type=int, help="only so many images of each file")
    chose = parsed(parser, argv)
    digits = data.required(data.mnist(chose.data_limit, chose.data_limit), "MNIST")
    report = Report("kernel_svc" if chose.only is None else f"kernel_svc_{chose.only}", chose.out)
    report.setting("MNIST, float32 pixels / 255, file order; (1 + <x, z>)^4; ten one-vs-rest perceptrons")
    figure = None
    if chose.only != "svc":
        found = law(digits, chose.sizes, chose.piece, chose.rounds, report)
        figure = None if chose.no_plot else draw(*found)
    if chose.only != "law":
        contest(digits, chose.rounds, report)
    report.keep(figure)


if __name__ == "__main__":
    main()
