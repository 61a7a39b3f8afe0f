"""The benchmark of reading runs; what it measures is nobody's business here."""

from __future__ import annotations

import os
import subprocess
import sys

from places import ROOT

SCRIPT = ROOT / "benchmarks" / "libsvm_reading.py"


def test_a_quick_run(tmp_path):
    others = {name: value for name, value in os.environ.items() if name != "PERCEPTRONS_DATA"}
    command = [sys.executable, str(SCRIPT), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=others)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a9a: not in the folder PERCEPTRONS_DATA names" in done.stdout
    assert (tmp_path / "libsvm_reading.txt").read_text() in done.stdout
