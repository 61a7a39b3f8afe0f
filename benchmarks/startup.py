"""How long ``perceptrons train`` takes on 200 rows, beside a process that runs one cached numba function.

    python benchmarks/startup.py

Both are fresh processes with a warm cache, run in turn; the best of several runs of each counts. Bytecode is
kept, as pip keeps that of an installed package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 9
FUNCTION = """
import numba
import numpy as np


@numba.njit(cache=True)
def total(x):
    s = 0.0
    for value in x:
        s += value
    return s


total(np.ones(3))
"""


def seconds(command: list[str], folder: str) -> float:
    """Wall time of a process; bytecode is in the folder."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment)
    return time.perf_counter() - start


def main() -> None:
    """Print both times and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        script, rows, model = (Path(folder, name) for name in ("total.py", "rows.svm", "rows.model"))
        script.write_text(FUNCTION)
        rows.write_text("".join(f"{i % 2} 1:{i % 7} 2:{3 * i % 5}\n" for i in range(200)))
        function = [sys.executable, str(script)]
        train = [sys.executable, "-m", "perceptrons", "train", str(rows), "--model", str(model), "--quiet"]
        seconds(function, folder), seconds(train, folder)  # they fill the caches
        times = [(seconds(function, folder), seconds(train, folder)) for _ in range(RUNS)]
    numba, ours = (min(column) for column in zip(*times, strict=True))
    ratio = ours / numba
    print(f"one cached numba function {numba:.2f} s, train on 200 rows {ours:.2f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
