"""How time and memory grow with rows, non-zeros, columns, classes and support vectors.

    python benchmarks/growth.py                              all of it: half an hour, and 1.3 GB on disk
    python benchmarks/growth.py --only rows,columns          some of it
    python benchmarks/growth.py --quick                      does it run at all? (the numbers mean nothing)
    python benchmarks/growth.py --figure docs/img/growth.png --json benchmarks/results/growth.json

Each point is a process of its own: the data are made, the peak of its memory is reset, and the work is done
once untimed on a small part (compilation), then timed, the best of several. Time is CPU time. Memory is the
peak during the work above what the process held before it, so the data themselves are left out. The exponent
b of time = a x^b is that of a straight line through the logarithms, by least squares; beside it stands the
one of the last two points, where what does not grow weighs least.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from objective import console, machine
from rich import box
from rich.table import Table
from sklearn.base import clone

from perceptrons import KernelPerceptron, Perceptron, io, kernels

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
EPOCHS = 5


#: (size, folder, rows) -> (warm-up, work); ``rows`` is the number of rows, or a few in a quick run
Prepare: TypeAlias = Callable[[int, Path, Callable[[int], int]], tuple[Callable[[], Any], Callable[[], Any]]]


class Axis(NamedTuple):
    """What grows, and what is done."""

    name: str
    work: str
    sizes: tuple[int, ...]
    small: tuple[int, ...]  #: of a quick run
    prepare: Prepare


class Point(NamedTuple):
    size: int
    seconds: float
    bytes: int | None  #: None where the system does not tell


# ------------------------------------------------------------------------------------------------ the data


def sparse_rows(n: int, per_row: int, columns: int, classes: int = 2) -> tuple[Any, Any]:
    """CSR float32 rows, an entry in each of ``per_row`` ranges of columns, labelled by a hidden rule."""
    rng = np.random.default_rng(0)
    indices = _indices(rng, n, per_row, columns)
    values = rng.normal(size=indices.size).astype(np.float32)
    X = sp.csr_array((values, indices.ravel(), np.arange(n + 1) * per_row), shape=(n, columns))
    scores = X @ rng.normal(size=(columns, classes)).astype(np.float32)
    y = np.argmax(scores, axis=1)
    wrong = rng.random(n) < 0.05
    y[wrong] = rng.integers(classes, size=int(wrong.sum()))
    return X, y


def _indices(rng: np.random.Generator, n: int, per_row: int, columns: int) -> np.ndarray:
    edges = np.linspace(0, columns, per_row + 1).astype(np.int64)
    return (edges[:-1] + rng.random((n, per_row)) * np.diff(edges)).astype(np.int32)


def write_libsvm(path: Path, n: int, per_row: int = 12, columns: int = 1 << 22) -> None:
    """n rows with entries of 1 in seven digits each; a label is that of the first entry's range, or wrong."""
    rng = np.random.default_rng(0)
    powers = 10 ** np.arange(6, -1, -1)
    with path.open("wb") as file:
        for start in range(0, n, 100_000):
            m = min(100_000, n - start)
            indices = _indices(rng, m, per_row, columns - 1) + 1
            lines = np.full((m, 2 + 10 * per_row), ord(" "), np.uint8)
            label = (indices[:, 0] % 7 < 3) ^ (rng.random(m) < 0.02)
            lines[:, 0] = ord("0") + label
            entries = lines[:, 1:-1].reshape(m, per_row, 10)
            entries[:, :, 1:8] = ord("0") + (indices[:, :, None] // powers) % 10
            entries[:, :, 8:] = np.frombuffer(b":1", np.uint8)
            lines[:, -1] = ord("\n")
            file.write(lines.tobytes())


# ------------------------------------------------------------------------------------------------ the work


def _fit(model: Any, X: Any, y: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    small = min(200, len(y))
    return lambda: clone(model).fit(X[:small], y[:small]), lambda: clone(model).fit(X, y)  # none stays


def _epochs(**params: Any) -> Perceptron:
    return Perceptron(max_iter=EPOCHS, random_state=0, **params)


def _kernel_rows(n: int) -> tuple[Any, Any]:
    """Half of the labels are drawn, so that most rows become support vectors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20)).astype(np.float32)
    return X, np.where(rng.random(n) < 0.5, X[:, 0] > 0, rng.random(n) < 0.5).astype(int)


def _support(n: int, *_: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    model = KernelPerceptron(kernel=kernels.Gaussian(0.05), max_iter=2, random_state=0, device="cpu")
    return _fit(model, *_kernel_rows(n))


def _scoring(n: int, *_: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    X, y = _kernel_rows(n)
    model = KernelPerceptron(kernel=kernels.Gaussian(0.05), max_iter=1, random_state=0, device="cpu").fit(
        X, y
    )
    others = np.random.default_rng(1).normal(size=(1000, 20)).astype(np.float32)
    return lambda: model.decision_function(others[:10]), lambda: model.decision_function(others)


def _file(n: int, folder: Path, _: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    small, large = folder / "small.svm", folder / "large.svm"
    write_libsvm(small, 100)
    write_libsvm(large, n)

    def learn(path: Path) -> None:
        model = Perceptron()
        io.fit_stream(model, io.open_stream(path, n_features=1 << 22, dtype=np.float32), classes=[0, 1])

    return lambda: learn(small), lambda: learn(large)


AXES = (
    Axis(
        "rows",
        f"{EPOCHS} epochs, CSR, 60 non-zeros a row, 2^18 columns",
        (10_000, 20_000, 40_000, 80_000, 160_000),
        (200, 400),
        lambda n, *_: _fit(_epochs(), *sparse_rows(n, 60, 1 << 18)),
    ),
    Axis(
        "non-zeros a row",
        f"{EPOCHS} epochs, CSR, 20,000 rows, 2^18 columns",
        (15, 30, 60, 120, 240, 480),
        (5, 10),
        lambda n, _, rows: _fit(_epochs(), *sparse_rows(rows(20_000), n, 1 << 18)),
    ),
    Axis(
        "columns",
        f"{EPOCHS} epochs, CSR, 20,000 rows, 60 non-zeros a row",
        tuple(1 << b for b in range(12, 25, 2)),
        (256, 512),
        lambda n, _, rows: _fit(_epochs(), *sparse_rows(rows(20_000), 60, n)),
    ),
    Axis(
        "classes, joint",
        f"{EPOCHS} epochs, CSR, 10,000 rows, 60 non-zeros a row, 2^16 columns",
        (3, 6, 12, 24, 48, 96),
        (3, 4),
        lambda n, _, rows: _fit(_epochs(), *sparse_rows(rows(10_000), 60, 1 << 16, n)),
    ),
    Axis(
        "classes, one-vs-rest",
        f"{EPOCHS} epochs, CSR, 10,000 rows, 60 non-zeros a row, 2^16 columns",
        (3, 6, 12, 24, 48),
        (3, 4),
        lambda n, _, rows: _fit(_epochs(multiclass="ovr"), *sparse_rows(rows(10_000), 60, 1 << 16, n)),
    ),
    Axis(
        "rows of a kernel",
        "2 epochs of the kernel perceptron, Gaussian kernel, most rows become support vectors",
        (1_000, 2_000, 4_000, 8_000, 16_000),
        (50, 100),
        _support,
    ),
    Axis(
        "support vectors",
        "1,000 scores of the kernel perceptron; the axis counts the rows it has learned",
        (1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
        (50, 100),
        _scoring,
    ),
    Axis(
        "rows of a file",
        "one pass over a libsvm file, 12 non-zeros a row, 2^22 columns",
        (100_000, 1_000_000, 10_000_000),
        (200, 400),
        _file,
    ),
)


# ------------------------------------------------------------------------------------------------ measuring


def memory(field: str) -> int | None:
    """A field of /proc/self/status in bytes."""
    if not STATUS.exists():
        return None
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[field].split()[0]) << 10


def give_back() -> None:
    """Return freed memory to the system, where the C library can: the work would use it uncounted."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def measured(axis: Axis, size: int, quick: bool) -> Point:
    """One point, in this process."""
    repeats = 1 if quick else 5
    with tempfile.TemporaryDirectory() as folder:
        warm_up, work = axis.prepare(size, Path(folder), lambda rows: min(rows, 200) if quick else rows)
        warm_up()
        give_back()
        before = memory("VmRSS")
        if before is not None:
            CLEAR.write_text("5")  # the peak is counted from here on
        best, spent = math.inf, 0.0
        for _ in range(repeats):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
            spent += best
            if spent > 20.0:
                break
        peak = memory("VmHWM")
    return Point(size, best, None if before is None or peak is None else max(0, peak - before))


def in_a_process(axis: Axis, size: int, quick: bool) -> Point:
    command = [sys.executable, __file__, "--one", axis.name, str(size), *(["--quick"] if quick else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Point(*json.loads(done.stdout))


def exponent(x: list[float], y: list[float]) -> float:
    """b of the straight line log y = log a + b log x."""
    return float(np.polyfit(np.log(x), np.log(np.maximum(y, 1e-9)), 1)[0])


# ------------------------------------------------------------------------------------------------ reporting


def line(axis: Axis, points: list[Point]) -> list[str]:
    sizes = [float(p.size) for p in points]
    times = [p.seconds for p in points]
    peaks = [p.bytes for p in points]
    row = [
        axis.name,
        axis.work,
        f"{points[0].size:,} to {points[-1].size:,}",
        f"{times[0]:.3g} to {times[-1]:.3g} s",
        f"{exponent(sizes, times):.2f} ({exponent(sizes[-2:], times[-2:]):.2f})",
    ]
    if None in peaks:
        return [*row, "", ""]
    held = [max(1.0, b or 0.0) for b in peaks]
    return [
        *row,
        f"{held[0] / 1e6:.3g} to {held[-1] / 1e6:.3g} MB",
        f"{exponent(sizes, held):.2f} ({exponent(sizes[-2:], held[-2:]):.2f})",
    ]


def draw(found: dict[str, list[Point]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    for (name, points), marker in zip(found.items(), "osD^v<>P", strict=False):
        sizes = [p.size for p in points]
        times = [p.seconds for p in points]
        b = exponent([float(x) for x in sizes], times)
        left.loglog(sizes, times, marker=marker, markersize=4, label=f"{name}: exponent {b:.2f}")
        if all(p.bytes is not None for p in points):
            right.loglog(sizes, [max(p.bytes or 0, 1e4) / 1e6 for p in points], marker=marker, markersize=4)
    left.set(xlabel="size", ylabel="CPU seconds", title="Time")
    right.set(xlabel="size", ylabel="MB above the data", title="Memory")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="names of axes, by commas")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=2, metavar=("AXIS", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    axes = {axis.name: axis for axis in AXES}
    if given.one:
        name, size = given.one
        print(json.dumps(measured(axes[name], int(size), given.quick)))
        return
    chosen = [axes[name.strip()] for name in given.only.split(",")] if given.only else list(AXES)
    out = console()
    for word, value in machine().items():
        out.print(f"{word}: {value}")
    if given.quick:
        out.print("a quick run: the numbers below mean nothing")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (
        "what grows",
        "work",
        "from, to",
        "time",
        "exponent (last two)",
        "memory",
        "exponent (last two)",
    ):
        table.add_column(name, overflow="fold")
    found = {}
    for axis in chosen:
        sizes = axis.small if given.quick else axis.sizes
        found[axis.name] = [in_a_process(axis, size, given.quick) for size in sizes]
        table.add_row(*line(axis, found[axis.name]))
        print(axis.name, "measured", file=sys.stderr)
    out.print(table)
    if given.json:
        given.json.write_text(json.dumps({"machine": machine(), "points": found}, indent=1) + "\n")
    if given.figure:
        draw(found, given.figure)


if __name__ == "__main__":
    main()
