"""Reading libsvm files: against scikit-learn's reader, and the memory of a stream.

    .venv/bin/python benchmarks/libsvm_reading.py           all of it (some minutes: ten million rows)
    .venv/bin/python benchmarks/libsvm_reading.py --quick   does it run at all? (the numbers mean nothing)

``PERCEPTRONS_DATA`` names the folder with a9a and sector; without it only the memory is measured. The files
are decompressed first, so that both readers read plain text. The matrices must be equal to the last bit. For
the memory a process of its own streams rows that another makes on the fly. Its peak is Linux's VmHWM:
``ru_maxrss`` would not do, since a new process inherits it from the one that started it.
"""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import data
import numpy as np
from objective import race
from report import Report, options
from sklearn.datasets import load_svmlight_file

from perceptrons.io import read_libsvm

FILES = {"a9a": ("a9a.gz", gzip.open), "sector": ("sector.scale.bz2", bz2.open)}
ROWS = (10**5, 10**6, 10**7)

# rows of 20 pairs; a thousand different ones, in turn
MAKER = """
import sys
import numpy as np
rng = np.random.default_rng(0)
rows = []
for _ in range(1000):
    pairs = zip(np.sort(rng.choice(100_000, 20, replace=False)) + 1, rng.random(20))
    rows.append(f"{rng.choice([-1, 1])} " + " ".join(f"{j}:{v:.5f}" for j, v in pairs) + "\\n")
text = "".join(rows).encode()
try:
    for _ in range(int(sys.argv[1]) // 1000):
        sys.stdout.buffer.write(text)
except BrokenPipeError:
    pass
"""
READER = """
import sys
import time
from perceptrons import Perceptron
from perceptrons.io import fit_stream, open_stream
start = time.perf_counter()
stream = open_stream("-", "libsvm", n_features=100_000)
if sys.argv[1] == "learn":
    rows = fit_stream(Perceptron(), stream).rows
elif sys.argv[1] == "keep":
    rows = sum(batch.n_rows for batch in list(stream))
else:
    rows = sum(batch.n_rows for batch in stream)
seconds = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(rows, int(status["VmHWM"].split()[0]) / 1024, seconds, stream.bytes_read)
"""


def plain(name: str, folder: Path) -> Path | None:
    """One of the files, decompressed; None if it is not there."""
    where = data.folder()
    stored, opener = FILES[name]
    if where is None or not (where / "libsvm" / stored).exists():
        return None
    target = folder / name
    with opener(where / "libsvm" / stored, "rb") as file:
        target.write_bytes(file.read())
    return target


def assert_equal(path: Path) -> tuple[int, int]:
    """Both readers give the same bits; returns rows and non-zeros."""
    X, y = read_libsvm(path)
    theirs, labels = load_svmlight_file(str(path))
    assert X.shape == theirs.shape
    for ours, other in ((X.data, theirs.data), (y, labels)):
        assert np.array_equal(ours.view(np.int64), other.view(np.int64))
    assert np.array_equal(X.indices, theirs.indices) and np.array_equal(X.indptr, theirs.indptr)
    return X.shape[0], X.nnz


def against_scikit_learn(report: Report, rounds: int) -> None:
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            path = plain(name, Path(folder))
            if path is None:
                report.say(f"{name}: not in the folder PERCEPTRONS_DATA names")
                continue
            rows, nnz = assert_equal(path)
            best = race(
                {
                    "ours": lambda path=path: read_libsvm(path),
                    "peer": lambda path=path: load_svmlight_file(str(path)),
                },
                rounds,
            )
            lines.append(line_of(name, path.stat().st_size / 1e6, rows, nnz, best))
    if lines:
        head = ("file", "MB", "rows", "non-zeros", "ours MB/s", "scikit-learn MB/s", "ratio", "goal", "equal")
        report.table("File -> CSR, plain text, best of the rounds, CPU seconds", head, lines)


def line_of(name: str, size: float, rows: int, nnz: int, best: dict[str, float]) -> tuple[str, ...]:
    ratio = best["peer"] / best["ours"]
    speeds = (f"{size / best['ours']:.0f}", f"{size / best['peer']:.1f}")
    return (name, f"{size:.1f}", f"{rows:,}", f"{nnz:,}", *speeds, f"{ratio:.1f}", "10", "to the last bit")


def streamed(rows: int, work: str) -> tuple[float, float, int]:
    """(peak MiB, seconds, bytes) of a process that streams this many rows from a pipe."""
    maker = subprocess.Popen([sys.executable, "-c", MAKER, str(rows)], stdout=subprocess.PIPE)
    command = [sys.executable, "-c", READER, work]
    done = subprocess.run(command, stdin=maker.stdout, capture_output=True, text=True, check=True)
    maker.wait()
    seen, peak, seconds, n_bytes = done.stdout.split()
    assert int(seen) == rows
    return float(peak), float(seconds), int(n_bytes)


def memory(report: Report, counts: tuple[int, ...]) -> None:
    """Reading and learning should be flat; keeping every batch must not be, or the measure is blind."""
    if not Path("/proc/self/status").exists():
        report.say("Memory: not run; the peak of a process is read from /proc, which Linux has.")
        return
    lines: list[tuple[Any, ...]] = []
    for work, some in (("read", counts), ("learn", counts), ("keep", counts[:2])):
        peaks = []
        for rows in some:
            peak, seconds, n_bytes = streamed(rows, work)
            peaks.append(peak)
            lines.append((work, f"{rows:,}", f"{n_bytes / 1e6:,.0f}", f"{peak:.0f}", f"{seconds:.1f}"))
        lines.append((f"{work}: most / least", "", "", f"{max(peaks) / min(peaks):.2f}", ""))
    head = ("work", "rows", "MB", "peak MiB", "seconds")
    report.table("A stream from a pipe: peak memory of the process, Python and numba included", head, lines)


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, few rows: the numbers mean nothing")
    chose = parser.parse_args(argv)
    report = Report("libsvm_reading", chose.out)
    report.setting("a9a and sector of LIBSVM; generated rows of 20 pairs")
    measure(report, chose.quick)
    report.keep()


def measure(report: Report, quick: bool = False) -> None:
    """All of it."""
    against_scikit_learn(report, 1 if quick else 15)
    memory(report, (1000,) if quick else ROWS)


if __name__ == "__main__":
    main()
