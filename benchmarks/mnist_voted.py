"""Last, average, vote and random against the number of epochs: the figure of Freund and Schapire on MNIST.

    .venv/bin/python benchmarks/mnist_voted.py                                  degrees 1 to 6, 10 epochs
    .venv/bin/python benchmarks/mnist_voted.py --degrees 2,4 --epochs 3         some of it
    .venv/bin/python benchmarks/mnist_voted.py --train-limit 10000 --test-limit 2000

Ten one-vs-rest perceptrons with the kernel (1 + <x, z>)^degree on pixels / 255, one permutation per epoch.
There is one run per degree, which keeps the log of its updates. A weight vector is a prefix of the log, so
the scores of all weight vectors on a test image are prefix sums of its kernel values, and every readout
after any number of examples is a weighted sum of those (or of their signs, for the vote). Each degree is
saved when it is done, and a second call goes on where the first one was cut off. "norm" divides
each vector by its length first; a vote does not change by that. For "random" every test image draws its own
moment, which estimates the expected error of ``readout="random"``.

Degree 1 is learned as the linear perceptron with an intercept, the same learner (but for rounding): no line
separates the digits, so that in the dual ever more images would become support vectors.

Y. Freund, R. Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37,
1999.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import data
import numpy as np
from report import Report, numbers, options, parsed, progress, pyplot

from perceptrons import KernelPerceptron, Perceptron, kernels

CHECKPOINTS = (0.1, 0.2, 0.4, 0.7, 1, 2, 3, 5, 7, 10)  # epochs
READOUTS = ("last", "last norm", "average", "average norm", "vote", "random", "random norm")
TEST_BYTES = 1 << 28  # scores of all weight vectors on a block of test images

# ----------------------------------------------------------------------------------- learning, with the log


class Log:
    """One class: its updates in order, and which weight vector was current when."""

    def __init__(self, rows: np.ndarray, alpha: np.ndarray, example: np.ndarray):
        self.rows = rows  #: of the training set
        self.alpha = alpha  #: y times the step
        self.example = example  #: 1, 2, …: at which example the update was made

    def current(self, t: Any) -> Any:
        """Number of the weight vector that was current after t examples; 0 is the one before all updates."""
        return np.searchsorted(self.example, t, side="right")

    def survived(self, t: int) -> np.ndarray:
        """After how many of the first t examples each weight vector was current."""
        born = np.concatenate([[1], self.example])
        return np.diff(np.minimum(np.concatenate([born, [t + 1]]), t + 1)).astype(np.float64)


def learn(degree: int, X: Any, y: Any, epochs: int, how: dict[str, Any]) -> tuple[list[Log], Any]:
    """The log of each class, and the model."""
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(X)) for _ in range(epochs)]
    common = {"multiclass": "ovr", "log_updates": True}
    if degree == 1:
        model: Any = Perceptron(fit_intercept=True, **common)
    else:
        model = KernelPerceptron(kernel=kernels.Polynomial(degree=degree), **common, **how)
    model.fit(X, y, order=orders)
    visited = np.empty((epochs, len(X)), np.int64)  # at which example of its epoch a row was met
    for when, order in zip(visited, orders):
        when[order] = 1 + np.arange(len(X))
    log = model.update_log_
    logs = []
    for code, label in enumerate(model.classes_):
        mine = log[log["code"] == code]
        example = mine["epoch"] * len(X) + visited[mine["epoch"], mine["row"]]
        logs.append(Log(mine["row"], np.where(y[mine["row"]] == label, 1.0, -1.0) * mine["step"], example))
    return logs, model


# ---------------------------------------------------------------------------- all readouts from prefix sums


def lengths(log: Log, kernel: Any, X: Any) -> np.ndarray:
    """||w|| of the first w, which is 0, and after each update.

    ||w + a x||^2 = ||w||^2 + 2 a <w, x> + a^2 k(x, x).
    """
    n = len(log.rows)
    rows, where = np.unique(log.rows, return_inverse=True)
    scores, own = np.empty(n), np.empty(n)  # <w, x> of an update's row, before the update
    step = max(1, TEST_BYTES // (16 * max(1, n)))
    for start in range(0, n, step):
        stop = min(start + step, n)
        K = kernel(X[log.rows[start:stop]], X[rows])[:, where[:stop]].astype(np.float64)
        own[start:stop] = K[np.arange(stop - start), np.arange(start, stop)]
        earlier = np.tri(stop - start, stop, start - 1, dtype=bool)
        scores[start:stop] = np.where(earlier, K, 0.0) @ log.alpha[:stop]
    squares = np.cumsum(2.0 * log.alpha * scores + log.alpha**2 * own)
    return np.sqrt(np.maximum(np.concatenate([[0.0], squares]), 0.0))


def read_out(logs: list[Log], kernel: Any, X: Any, X_test: Any, times: list[int]) -> dict[str, np.ndarray]:
    """(times, test images, classes): the scores of each readout after so many examples."""
    n, draws = len(X_test), np.random.default_rng(1).random((len(times), len(X_test)))
    moments = 1 + (draws * np.asarray(times)[:, None]).astype(np.int64)  # for "random"
    out = {readout: np.zeros((len(times), n, len(logs)), np.float32) for readout in READOUTS}
    for r, log in enumerate(logs):
        rows, where = np.unique(log.rows, return_inverse=True)
        length = lengths(log, kernel, X)
        inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0.0)
        survived = np.stack([log.survived(t) for t in times], axis=1)
        survived /= np.asarray(times)
        last = log.current(times)
        step = max(1, TEST_BYTES // (32 * (len(log.rows) + 1)))
        for start in range(0, n, step):
            part = slice(start, start + step)
            block = X_test[part]
            scores = np.zeros((len(block), len(log.rows) + 1))
            if len(rows):
                np.cumsum(kernel(block, X[rows])[:, where] * log.alpha, axis=1, out=scores[:, 1:])
            drawn = log.current(moments[:, part])
            alone = np.arange(len(block))
            out["last"][:, part, r] = scores[:, last].T
            out["last norm"][:, part, r] = (scores[:, last] * inverse[last]).T
            out["average"][:, part, r] = (scores @ survived).T
            out["average norm"][:, part, r] = (scores @ (survived * inverse[:, None])).T
            out["random"][:, part, r] = scores[alone, drawn]
            out["random norm"][:, part, r] = scores[alone, drawn] * inverse[drawn]
            out["vote"][:, part, r] = (np.where(scores > 0.0, 1.0, -1.0) @ survived).T
    return out


def curves(logs: list[Log], degree: int, digits: Any, times: list[int]) -> dict[str, list[float]]:
    """Test error in % of each readout after so many examples."""
    X, y, X_test, y_test = digits
    classes = np.unique(y)
    scores = read_out(logs, kernels.Polynomial(degree=degree), X, X_test, times)
    return {
        readout: [round(100.0 * float(np.mean(classes[s.argmax(axis=1)] != y_test)), 4) for s in found]
        for readout, found in scores.items()
    }


# -------------------------------------------------------------------------------------------------- report


def draw(found: dict[int, Any], checkpoints: list[float]) -> Any:
    """One panel per degree."""
    pyplot_ = pyplot()
    columns = min(3, len(found))
    lines = -(-len(found) // columns)
    figure, axes = pyplot_.subplots(
        lines, columns, figsize=(4.2 * columns, 3.5 * lines), squeeze=False, layout="constrained", sharex=True
    )
    colours = {"last": "C0", "average": "C1", "vote": "C2", "random": "C3"}
    for panel in axes.flat[len(found) :]:
        panel.axis("off")
    for panel, (degree, run) in zip(axes.flat, found.items()):
        for readout, errors in run["errors"].items():
            name, _, norm = readout.partition(" ")
            panel.plot(
                checkpoints,
                errors,
                "--" if norm else "-",
                color=colours[name],
                marker=".",
                label=readout,
                lw=1.2,
            )
        panel.set(
            xscale="log", yscale="log", title=f"degree {degree}", xlabel="epochs", ylabel="test error, %"
        )
        ticks = [t for t in (0.1, 0.3, 1, 3, 10) if t <= checkpoints[-1]]
        panel.set_xticks(ticks, [f"{t:g}" for t in ticks])
        low, high = panel.get_ylim()
        levels = [e for e in (1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50) if low <= e <= high]
        panel.set_yticks(levels, [f"{e:g}" for e in levels])
        panel.minorticks_off()
    axes.flat[0].legend(fontsize=8)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__, plots=True)
    parser.add_argument("--degrees", metavar="a,b", type=numbers, default=[1, 2, 3, 4, 5, 6], help="(1 to 6)")
    parser.add_argument("--epochs", metavar="N", type=int, default=10, help="(%(default)s)")
    parser.add_argument("--train-limit", metavar="N", type=int, help="learn only so many images")
    parser.add_argument("--test-limit", metavar="N", type=int, help="test on only so many images")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (%(default)s)")
    parser.add_argument(
        "--cache-mb",
        metavar="MB",
        type=float,
        default=4000.0,
        help="kernel values kept between epochs (%(default)g)",
    )
    chose = parsed(parser, argv)
    digits = data.required(data.mnist(chose.train_limit, chose.test_limit), "MNIST")
    X = digits[0]
    checkpoints = [c for c in CHECKPOINTS if c <= chose.epochs]
    times = [round(c * len(X)) for c in checkpoints]
    report = Report("mnist_voted", chose.out)
    report.setting(f"MNIST, float32 pixels / 255: {len(X):,} images to learn, {len(digits[2]):,} to test")
    setting = {"epochs": checkpoints, "training images": len(X), "test images": len(digits[2])}
    kept = chose.out / "mnist_voted.json"
    found = resumed(kept, setting)
    for degree in chose.degrees:
        if degree not in found:
            how = {"device": chose.device, "cache_mb": chose.cache_mb}
            found[degree] = measured(degree, digits, chose.epochs, times, how)
            chose.out.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps({**setting, "degrees": found}, indent=1) + "\n")
        run = found[degree]
        errors = [run["errors"][readout] for readout in READOUTS]
        lines = [[f"{c:g}", *(f"{e:.2f}" for e in at)] for c, *at in zip(checkpoints, *errors)]
        report.table(
            f"degree {degree}: test error in %; {run['updates']:,} updates on {run['support']:,} images in "
            f"{chose.epochs} epochs",
            ("epochs", *READOUTS),
            lines,
        )
    shown = {degree: found[degree] for degree in chose.degrees}
    report.keep(None if chose.no_plot else draw(shown, checkpoints))


def resumed(kept: Path, setting: dict[str, Any]) -> dict[int, Any]:
    """The degrees that an earlier call with the same setting has measured."""
    if not kept.exists():
        return {}
    earlier = json.loads(kept.read_text())
    degrees = earlier.pop("degrees")
    return {int(degree): run for degree, run in degrees.items()} if earlier == setting else {}


def measured(degree: int, digits: Any, epochs: int, times: list[int], how: dict[str, Any]) -> dict[str, Any]:
    """One run, read out in every way."""
    X, y = digits[:2]
    start = time.perf_counter()
    logs, model = learn(degree, X, y, epochs, how)
    progress(
        f"degree {degree}: {model.n_updates_:,} updates in {time.perf_counter() - start:.1f} s; reading out"
    )
    support = len(np.unique(np.concatenate([log.rows for log in logs])))
    return {
        "updates": model.n_updates_,
        "support": support,
        "errors": curves(logs, degree, digits, times),
    }


if __name__ == "__main__":
    main()
