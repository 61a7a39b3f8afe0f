"""A short run of every fuzz target of the readers; ``make fuzz`` runs all targets for longer."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from places import TESTS
from processes import path_for_tests

from perceptrons.engine.cache import cache_folder

READERS = ["libsvm", "vw", "csv", "tsv", "jsonl", "parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_some_cases_of_a_target(name, tmp_path):
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    env = {**os.environ, "PYTHONPATH": path_for_tests()}
    if (compiled := cache_folder()) is not None:  # loops with bounds checks have a folder of their own there
        env["PERCEPTRONS_FUZZ_CACHE"] = str(compiled.parent)
    command = [sys.executable, "-m", f"fuzz.read_{name}", "--cases", "400", "--seed", "5"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.startswith(f"{name}: 400 cases, 0 crashes, 0 hangs, peak +")


def test_a_crash_a_hang_and_a_wrong_answer_are_found(tmp_path):
    """The harness itself, on cases that raise, die, stand still and take memory."""
    package = tmp_path / "fuzz"
    package.mkdir()
    for file in ("__init__.py", "_harness.py"):
        (package / file).write_text((TESTS / "fuzz" / file).read_text())
    harness = package / "_harness.py"
    harness.write_text(harness.read_text().replace("_HANG = 60.0", "_HANG = 3.0"))
    (package / "target.py").write_text(
        "import os, sys, time\n"
        "from . import _harness\n"
        "def case(rng):\n"
        "    n = int(rng.getrandbits(32))\n"
        "    kind = KINDS.get(n)\n"
        "    if kind == 'raise': raise RuntimeError('raw')\n"
        "    if kind == 'die': os.abort()\n"
        "    if kind == 'hang': time.sleep(60)\n"
        "    if kind == 'memory': bytearray(200 << 20)\n"
        "import random\n"
        "def first(i): return random.Random(i).getrandbits(32)\n"
        "KINDS = {first(3): 'raise', first(5): 'die', first(7): 'hang', first(8): 'memory'}\n"
        "def main(argv): return _harness.main('target', argv, most_mb=100)\n"
        "if __name__ == '__main__': sys.exit(main(sys.argv[1:]))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "fuzz.target", "--cases", "10"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("target: ") and ", 2 crashes, 1 hangs, peak +20" in lines[0]
    assert {line.split("--first ")[1] for line in lines if "--first" in line} == {
        "3 --cases 1",
        "5 --cases 1",
        "7 --cases 1",
    }
    assert lines[-1] == "  the peak may grow by 100 MB"
