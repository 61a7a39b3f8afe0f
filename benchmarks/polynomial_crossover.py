"""One perceptron over all weighted monomials and with the polynomial kernel: which way is cheaper?

    .venv/bin/python benchmarks/polynomial_crossover.py                          degrees 2 and 3
    .venv/bin/python benchmarks/polynomial_crossover.py --degree 2 --features 2,50,200 --rows 1000

(1 + <x, z>)^D is the inner product of the vectors of all monomials of degree at most D, C(d + D, D) of
them, each with the root of its multinomial coefficient. So the linear perceptron on those vectors and the
kernel perceptron on x make the same updates; the script stops if one differs. The labels come from a random
polynomial, one in twenty is wrong. Times are wall times on one thread, the best of several in turns; memory
is the peak of what numpy allocated during the fit, the monomials included.
"""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations_with_replacement, pairwise
from typing import Any, NamedTuple

import numpy as np
from objective import race
from report import Report, numbers, options, parsed, progress, pyplot
from threadpoolctl import threadpool_limits

from perceptrons import KernelPerceptron, Perceptron, kernels

FEATURES = {2: (2, 5, 10, 20, 50, 100, 200), 3: (2, 5, 10, 15, 20, 30, 40)}


def monomials(X: np.ndarray, degree: int) -> np.ndarray:
    """(rows, C(d + degree, degree)): products of ``degree`` coordinates of (1, x), weighted."""
    extended = np.hstack([np.ones((len(X), 1)), X])
    chosen = np.array(list(combinations_with_replacement(range(extended.shape[1]), degree)))
    repeats = np.ones(len(chosen))  # the product of the factorials of the exponents
    run = np.ones(len(chosen))
    for j in range(1, degree):  # indices are sorted: the k-th of a run contributes k
        run = np.where(chosen[:, j] == chosen[:, j - 1], run + 1.0, 1.0)
        repeats *= run
    out = extended[:, chosen[:, 0]]
    for j in range(1, degree):
        out *= extended[:, chosen[:, j]]
    out *= np.sqrt(math.factorial(degree) / repeats)
    return out


def examples(rows: int, d: int, degree: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length about 1, and the signs of a random polynomial, 5 % of them turned round."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) / math.sqrt(d)
    centres = rng.normal(size=(50, d)) / math.sqrt(d)
    score = (1.0 + X @ centres.T) ** degree @ rng.normal(size=50)
    y = np.where(score > np.median(score), 1, -1)
    y[rng.random(rows) < 0.05] *= -1
    return X, y


class Cost(NamedTuple):
    """One width d."""

    d: int
    monomials: int
    updates: int
    support: int
    map: float  #: seconds that the monomials take
    primal: float  #: seconds of the fit, the monomials included
    dual: float
    primal_bytes: int  #: peak of the fit
    dual_bytes: int
    primal_model: int  #: bytes of the model
    dual_model: int

    @property
    def ratio(self) -> float:
        return self.primal / self.dual


def measure(rows: int, d: int, degree: int, epochs: int, rounds: int) -> Cost:
    """Both ways on the same rows; the updates must be the same."""
    X, y = examples(rows, d, degree)
    common: dict[str, Any] = {"shuffle": False, "max_iter": epochs, "fit_intercept": False}
    kernel = kernels.Polynomial(degree=degree)

    def primal(**more: Any) -> Any:
        return Perceptron(**common, **more).fit(monomials(X, degree), y)

    def dual(**more: Any) -> Any:
        return KernelPerceptron(kernel=kernel, device="cpu", **common, **more).fit(X, y)

    by_monomials, by_kernel = primal(log_updates=True), dual(log_updates=True)
    same(by_monomials.update_log_, by_kernel.update_log_, f"degree {degree}, d = {d}")
    contest = {"map": lambda: monomials(X, degree), "primal": primal, "dual": dual}
    best = race(contest, rounds, clock=time.perf_counter)
    return Cost(
        d,
        by_monomials.coef_.size,
        by_kernel.n_updates_,
        by_kernel.n_support_,
        best["map"],
        best["primal"],
        best["dual"],
        peak_bytes(primal),
        peak_bytes(dual),
        by_monomials.coef_.nbytes,
        by_kernel.support_vectors_.nbytes + by_kernel.dual_coef_.nbytes,
    )


def same(a: np.ndarray, b: np.ndarray, where: str) -> None:
    """Stop unless both logs hold the same rows in the same epochs."""
    if len(a) != len(b) or (a["epoch"] != b["epoch"]).any() or (a["row"] != b["row"]).any():
        raise SystemExit(f"{where}: primal and dual made different updates ({len(a)} and {len(b)}).")


def peak_bytes(work: Callable[[], Any]) -> int:
    """The most that numpy held at a time while this ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def crossover(costs: list[Cost], ratio: Callable[[Cost], float]) -> float | None:
    """The width at which a ratio passes 1 for the last time, on a straight line between logarithms."""
    found = None
    for a, b in pairwise(costs):
        low, high = math.log(ratio(a)), math.log(ratio(b))
        if low <= 0.0 < high:
            share = -low / (high - low)
            found = math.exp((1.0 - share) * math.log(a.d) + share * math.log(b.d))
    return found


def verdict(costs: list[Cost], ratio: Callable[[Cost], float], degree: int, what: str) -> str:
    at = crossover(costs, ratio)
    if at is None:
        cheaper = "the kernel is" if ratio(costs[-1]) > 1.0 else "the monomials are"
        return f"{what}: no crossover between these widths; at d = {costs[-1].d} {cheaper} cheaper"
    width = math.comb(round(at) + degree, degree)
    return f"{what}: the kernel is cheaper from d ≈ {at:.0f} on, {width:,} monomials"


def draw(found: dict[int, list[Cost]]) -> Any:
    figure, axes = pyplot().subplots(
        2, len(found), figsize=(4.5 * len(found), 6.5), squeeze=False, layout="constrained", sharex="col"
    )
    for (above, below), (degree, costs) in zip(axes.T, found.items()):
        d = [c.d for c in costs]
        above.loglog(d, [1e3 * c.primal for c in costs], "o-", label="monomials")
        above.loglog(
            d, [1e3 * c.map for c in costs], "o:", color="C0", alpha=0.6, label="… to write them out"
        )
        above.loglog(d, [1e3 * c.dual for c in costs], "s-", color="C1", label="kernel")
        above.set(title=f"degree {degree}", ylabel="fit, ms")
        below.loglog(d, [c.primal_bytes / 1e6 for c in costs], "o-", label="monomials")
        below.loglog(d, [c.dual_bytes / 1e6 for c in costs], "s-", label="kernel")
        below.loglog(
            d, [c.primal_model / 1e6 for c in costs], "o:", color="C0", alpha=0.6, label="monomials, model"
        )
        below.loglog(
            d, [c.dual_model / 1e6 for c in costs], "s:", color="C1", alpha=0.6, label="kernel, model"
        )
        below.set(xlabel="features d", ylabel="memory, MB")
        for panel in (above, below):
            panel.legend(fontsize=8)
            panel.set_xticks(d, [str(x) for x in d])
            panel.minorticks_off()
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__, plots=True)
    parser.add_argument("--degree", metavar="D", type=int, choices=tuple(FEATURES), help="only this one")
    parser.add_argument("--features", metavar="a,b", type=numbers, help="widths d, in rising order")
    parser.add_argument("--rows", metavar="N", type=int, default=2000, help="(%(default)s)")
    parser.add_argument("--epochs", metavar="N", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--rounds", metavar="N", type=int, default=5, help="best of so many (%(default)s)")
    chose = parsed(parser, argv)
    report = Report("polynomial_crossover", chose.out)
    report.setting(
        f"generated: {chose.rows:,} rows, float64",
        method=f"{chose.epochs} epochs, the same order in all; best of {chose.rounds} rounds, one thread",
    )
    found = {}
    for degree in FEATURES if chose.degree is None else [chose.degree]:
        costs = []
        for d in chose.features or FEATURES[degree]:
            progress(f"degree {degree}, d = {d}")
            with threadpool_limits(1):
                costs.append(measure(chose.rows, d, degree, chose.epochs, chose.rounds))
        found[degree] = costs
        report.table(
            f"degree {degree}: the same updates both ways; ms of a whole fit, MB",
            (
                *(
                    "d",
                    "monomials",
                    "updates",
                    "support",
                    "write out",
                    "monomials, ms",
                    "kernel, ms",
                    "ratio",
                ),
                *("monomials, MB", "kernel, MB", "models, MB"),
            ),
            [
                [
                    *(str(c.d), f"{c.monomials:,}", f"{c.updates:,}", f"{c.support:,}", f"{1e3 * c.map:.1f}"),
                    *(f"{1e3 * c.primal:.1f}", f"{1e3 * c.dual:.1f}", f"{c.ratio:.2f}"),
                    *(f"{c.primal_bytes / 1e6:.1f}", f"{c.dual_bytes / 1e6:.1f}"),
                    f"{c.primal_model / 1e6:.3f} : {c.dual_model / 1e6:.3f}",
                ]
                for c in costs
            ],
        )
        report.say(verdict(costs, lambda c: c.ratio, degree, "time"))
        report.say(verdict(costs, lambda c: c.primal_bytes / c.dual_bytes, degree, "memory of the fit"))
        report.say(verdict(costs, lambda c: c.primal_model / c.dual_model, degree, "memory of the model"))
    report.keep(None if chose.no_plot else draw(found))


if __name__ == "__main__":
    main()
