"""How long fresh processes take: the command line and the first fit, beside what they are made of.

    python benchmarks/startup.py

``perceptrons train`` on 200 rows is compared with a process that runs one cached numba function; the import
of an estimator and its first fit with ``import sklearn.linear_model``.

Caches are warm, the processes run in turn, and the best of several runs of each counts. Bytecode is kept, as
pip keeps that of an installed package.
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

FIT = """
from perceptrons import Perceptron

Perceptron().fit([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]], [1, 1, 0, 0])
"""


def seconds(command: list[str], folder: str) -> float:
    """Wall time of a process; bytecode is in the folder."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment)
    return time.perf_counter() - start


def commands(folder: str) -> dict[str, list[str]]:
    """The processes, by name; what they read is written into the folder."""
    function, fit, rows = (Path(folder, name) for name in ("total.py", "fit.py", "rows.svm"))
    function.write_text(FUNCTION)
    fit.write_text(FIT)
    rows.write_text("".join(f"{i % 2} 1:{i % 7} 2:{3 * i % 5}\n" for i in range(200)))
    train = ["-m", "perceptrons", "train", str(rows), "--model", str(Path(folder, "rows.model")), "--quiet"]
    arguments = {
        "one cached numba function": [str(function)],
        "perceptrons train, 200 rows": train,
        "import sklearn.linear_model": ["-c", "import sklearn.linear_model"],
        "import Perceptron and fit": [str(fit)],
    }
    return {name: [sys.executable, *rest] for name, rest in arguments.items()}


def main() -> None:
    """Print all times and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        every = commands(folder)
        for command in every.values():
            seconds(command, folder)  # fills the caches
        times = [[seconds(command, folder) for command in every.values()] for _ in range(RUNS)]
    best = dict(zip(every, map(min, zip(*times, strict=True)), strict=True))
    for name, time_taken in best.items():
        print(f"{time_taken:5.2f} s  {name}")
    function, train, sklearn, fit = best.values()
    print(f"train / one function {train / function:.2f}")
    print(f"first fit / sklearn.linear_model {fit / sklearn:.2f}")


if __name__ == "__main__":
    main()
