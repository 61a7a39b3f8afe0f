"""MNIST on one GPU: the six rows of the published table, in file order, with every second accounted for.

Needs numpy, torch with CUDA, and the MNIST files; nothing else of the package's dependencies, so that it runs
on a bare GPU machine from a checkout:

    PYTHONPATH=src python benchmarks/mnist_gpu.py --data FOLDER_WITH_MNIST_GZ

Ten one-vs-rest learners with (1 + <x, z>)^4 on 60,000 rows, float32, TF32 off. Data are on the device and all
kernels are compiled before the clock starts; test errors after each epoch are inside the time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from perceptrons import rules
from perceptrons.engine.blocks import Support
from perceptrons.engine.device.blocks import DeviceBlocks, Team, moved
from perceptrons.engine.loops import scalars
from perceptrons.kernels import Polynomial
from perceptrons.kernels.prepared import Rows

EPOCHS = 4
KEEP = 40e9  # bytes of kernel values kept from one epoch to the next

#: what the CPU makes of the same rows in file order: mistakes in epoch 1, support rows after epoch 4
CPU_PERCEPTRON = (7732, 8075)


class Row(NamedTuple):
    """A row of the table."""

    name: str
    rule: Any
    divisor: float
    readout: str
    published: tuple[float, ...]


TABLE = [
    Row("Perceptron", rules.Perceptron(), 255.0, "last", (2.98, 2.32, 1.94, 1.88)),
    Row("averaged", rules.Perceptron(), 255.0, "average", (2.16, 1.85, 1.73, 1.69)),
    Row("ROMMA", rules.ROMMA(), 1100.0, "last", (2.48, 1.96, 1.79, 1.77)),
    Row("aggressive ROMMA", rules.AggressiveROMMA(0.0), 1100.0, "last", (2.14, 1.82, 1.71, 1.67)),
    Row("MIRA", rules.MIRA(0.0), 255.0, "last", (2.56, 2.03, 1.74, 1.70)),
    Row("AMIRA(0.1)", rules.MIRA(0.1), 255.0, "last", (2.20, 1.78, 1.67, 1.64)),
]


def read_idx(path: Path) -> np.ndarray:
    """A file of the MNIST format."""
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, ">i4", raw[3], 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


class Data(NamedTuple):
    """MNIST on the device."""

    X: Rows
    y: np.ndarray  #: +-1, (classes, rows)
    X_test: Rows
    y_test: Any

    @classmethod
    def read(cls, folder: Path, n: int, where: str) -> Data:
        X, X_test = (read_idx(folder / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
        y, y_test = (read_idx(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k"))
        X, y = X[:n].reshape(-1, 784).astype(np.float32) / np.float32(255), y[:n]
        X_test = X_test.reshape(-1, 784).astype(np.float32) / np.float32(255)
        signs = np.where(y == np.arange(10)[:, None], 1.0, -1.0)
        labels = torch.as_tensor(y_test.astype(np.int64)).to(where)
        return cls(Rows(X), signs, moved(Rows(X_test), where), labels)


class Outcome(NamedTuple):
    """What a run has shown."""

    seconds: float
    errors: dict[str, list[float]]  #: readout -> test error in % after each epoch
    mistakes: list[int]  #: per epoch
    n_support: int
    smallest: float


class Runner:
    """Runs of ten learners on one set of rows."""

    def __init__(self, data: Data, where: str, block_size: int, dtype: Any):
        self.data, self.where, self.block_size, self.dtype = data, where, block_size, dtype
        X = data.X.X.astype(dtype)
        self.rows = moved(Rows(X), where)
        self.sq = np.einsum("ij,ij->i", X.astype(np.float64), X.astype(np.float64))
        self.test = Rows(data.X_test.X.to(self.rows.X.dtype))
        self.signs = data.y

    def run(self, rule: Any, divisor: float, track: str, epochs: int = EPOCHS, seed: Any = None) -> Outcome:
        """File order, or a fresh permutation of the rows in every epoch."""
        rng = np.random.default_rng(seed)
        kernel = Polynomial(degree=4, gamma=(255.0 / divisor) ** 2)
        q = (1.0 + kernel.gamma * self.sq) ** 4
        team = Team(rule, 10, self.dtype, track)
        order = np.arange(len(self.sq))
        errors: dict[str, list[Any]] = {"last": [], "average": []}
        counts = [0]
        torch.cuda.synchronize()
        start = time.perf_counter()
        blocks = DeviceBlocks(kernel, self.rows, q, 0.0, Support(), self.block_size, KEEP, team, self.where)
        for _ in range(epochs):
            blocks.begin_pass(self.signs, np.empty(0))
            blocks.run(order if seed is None else rng.permutation(order), [1] * 10, keep_log=False)
            blocks.end_pass()
            counts.append(int(team.scalars[:, scalars.MISTAKES].sum()))
            for readout, found in self.wrong(kernel, blocks, team, track).items():
                errors[readout].append(found)
        errors = {readout: [100.0 * float(e) for e in found] for readout, found in errors.items()}
        seconds = time.perf_counter() - start
        return Outcome(seconds, errors, np.diff(counts).tolist(), len(blocks.support), team.smallest)

    def wrong(self, kernel: Any, blocks: DeviceBlocks, team: Team, track: str) -> dict[str, Any]:
        """Share of the test rows that each readout gets wrong, still on the device."""
        values = kernel.matrix(self.test, blocks.support.rows)
        scale = blocks.there[:, scalars.SCALE]
        found = {"last": values @ blocks.coefficients() * scale.to(values.dtype)}
        if track == "average":
            n = len(blocks.support)
            a = blocks.there[:, scalars.SCALE_SUM, None] * blocks.v[:, :n].double() + blocks.A[:, :n]
            found["average"] = values @ (a / blocks.there[:, scalars.EXAMPLES, None]).to(values.dtype).T
        return {k: (s.argmax(1) != self.data.y_test).double().mean() for k, s in found.items()}


def measured_peak() -> float:
    """Float32 operations per second of a large matrix product on this device."""
    A = torch.randn(8192, 8192, device="cuda")
    B = torch.randn(8192, 8192, device="cuda")
    best = np.inf
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        A @ B
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return 2 * 8192**3 / best


def accounted(run: Any) -> dict[str, tuple[float, int]]:
    """Milliseconds and launches on the device, by what they are for."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run()
        torch.cuda.synchronize()
    kinds: dict[str, tuple[float, int]] = {}
    for event in profiler.key_averages():
        name = event.key.lower()
        kind = "other"
        if any(word in name for word in ("gemm", "cutlass", "sgemm", "gemv", "splitk", "cublas")):
            kind = "matrix products"
        elif "rows_kernel" in name:
            kind = "resolve"
        elif "memcpy" in name or "memset" in name:
            kind = "transfers"
        elif "elementwise" in name or "reduce" in name or "index" in name or "copy" in name:
            kind = "entry by entry"
        time_ms, n = kinds.get(kind, (0.0, 0))
        kinds[kind] = (time_ms + event.self_device_time_total / 1e3, n + event.count)
    return kinds


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the four MNIST files")
    parser.add_argument("--block", type=int, nargs="*", default=[4096], help="block sizes")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=60_000, help="training rows")
    parser.add_argument("--shuffles", type=int, default=0, help="also the mean over so many shuffled runs")
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    options = parser.parse_args(argv)
    torch.backends.cuda.matmul.allow_tf32 = False
    where = "cuda"
    name = torch.cuda.get_device_name()
    print(f"{name}, torch {torch.__version__}, numpy {np.__version__}; MNIST, {options.rows:,} rows, float32")
    data = Data.read(options.data, options.rows, where)
    saved: dict[str, Any] = {"device": name, "torch": torch.__version__}
    for block in options.block:
        runner = Runner(data, where, block, np.float32)
        for row in TABLE:
            runner.run(row.rule, row.divisor, _track(row), epochs=1)  # compiles
        print(f"\nblocks of {block}")
        saved[str(block)] = report(runner, options.repeats)
    saved["float64"] = in_float64(Runner(data, where, runner.block_size, np.float64))
    if options.shuffles:
        saved["shuffled"] = shuffled(runner, options.shuffles)
    if options.save:
        options.save.write_text(json.dumps(saved, indent=1) + "\n")


def report(runner: Runner, repeats: int) -> dict[str, Any]:
    """Run everything and print it."""
    plain = [runner.run(rules.Perceptron(), 255.0, "last") for _ in range(repeats)]
    seconds = min(outcome.seconds for outcome in plain)
    one = plain[0]
    print(f"perceptron row, {EPOCHS} epochs with test errors: {seconds:.4f} s (best of {repeats})")
    verdict = f"the CPU has {CPU_PERCEPTRON}"
    if (one.mistakes[0], one.n_support) == CPU_PERCEPTRON:
        verdict = "as on the CPU"
    print(f"  mistakes per epoch {one.mistakes}, support {one.n_support}: {verdict}")
    print(f"  smallest |margin| {one.smallest:.3g}")
    totals = []
    for _ in range(repeats):
        start = time.perf_counter()
        outcomes = {}
        for row in TABLE[1:]:  # the averaged run gives the first row as well
            outcomes[row.name] = runner.run(row.rule, row.divisor, _track(row))
        totals.append(time.perf_counter() - start)
    outcomes["Perceptron"] = outcomes["averaged"]
    print(f"six rows, {len(TABLE) - 1} runs: {min(totals):.3f} s (best of {repeats})")
    for row in TABLE:
        o = outcomes[row.name]
        errors = " ".join(f"{e:5.2f}" for e in o.errors[row.readout])
        print(f"  {row.name:17s} {errors}   mistakes {o.mistakes}  support {o.n_support}  {o.seconds:.3f} s")
    work = accounting(runner, one)
    return {
        "perceptron_seconds": seconds,
        "table_seconds": min(totals),
        "rows": {row.name: outcomes[row.name].errors[row.readout] for row in TABLE},
        "mistakes": {row.name: outcomes[row.name].mistakes for row in TABLE},
        "support": {row.name: outcomes[row.name].n_support for row in TABLE},
        "accounting": work,
    }


def in_float64(runner: Runner) -> dict[str, Any]:
    """The mistakes that float64 makes: those of the CPU, row for row."""
    print("\nin float64, with compiling")
    found: dict[str, Any] = {}
    for row in TABLE[1:]:
        o = runner.run(row.rule, row.divisor, _track(row))
        print(f"  {row.name:17s} mistakes {o.mistakes}  support {o.n_support}  {o.seconds:.3f} s")
        found[row.name] = {"mistakes": o.mistakes, "support": o.n_support}
    return found


def shuffled(runner: Runner, n: int) -> dict[str, Any]:
    """The table over shuffled runs, each epoch with a permutation of its own, beside the published one."""
    found: dict[str, list[list[float]]] = {row.name: [] for row in TABLE}
    start = time.perf_counter()
    for seed in range(n):
        for row in TABLE[1:]:
            outcome = runner.run(row.rule, row.divisor, _track(row), seed=seed)
            found[row.name].append(outcome.errors[row.readout])
            if row.name == "averaged":
                found["Perceptron"].append(outcome.errors["last"])
    print(
        f"\nmean (sd) of {n} shuffled runs, and mean - published; {time.perf_counter() - start:.1f} s in all"
    )
    for row in TABLE:
        errors = np.array(found[row.name])
        mean, sd = errors.mean(axis=0), errors.std(axis=0, ddof=1)
        cells = "  ".join(f"{m:.2f} ({s:.2f}) {m - p:+.2f}" for m, s, p in zip(mean, sd, row.published))
        worst = np.abs(mean - row.published).max()
        print(f"  {row.name:17s} {cells}   {'within' if worst <= 0.25 else 'BEYOND'} 0.25")
    return found


def _track(row: Row) -> str:
    return "average" if row.readout == "average" else "last"


def accounting(runner: Runner, outcome: Outcome) -> dict[str, Any]:
    """Where the time of the perceptron row goes, and the least it could take."""
    n, S, d = len(runner.sq), outcome.n_support, runner.rows.X.shape[1]
    peak = measured_peak()
    within = n * runner.block_size  # kept from the first epoch on
    flops = 2.0 * d * (n * S + within + EPOCHS * len(runner.test) * S)
    kinds = accounted(lambda: runner.run(rules.Perceptron(), 255.0, "last"))
    busy = sum(ms for ms, _ in kinds.values())
    floor = flops / peak
    print(f"  {flops / 1e12:.2f} TFLOP of kernel values at {peak / 1e12:.1f} TFLOP/s: floor {floor:.4f} s")
    for kind, (ms, launches) in sorted(kinds.items(), key=lambda item: -item[1][0]):
        print(f"  {kind:16s} {ms:8.2f} ms  {100 * ms / busy:5.1f} %  {launches:6d} launches")
    print(f"  {'all':16s} {busy:8.2f} ms         {sum(k for _, k in kinds.values()):6d} launches")
    return {"flops": flops, "peak": peak, "kinds": kinds}


if __name__ == "__main__":
    main()
