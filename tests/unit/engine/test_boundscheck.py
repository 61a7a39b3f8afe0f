"""Bounds checks are on where a suite asks for them, whatever is in the cache of compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import boundscheck
import pytest


def caught(cache: Path, **env: str) -> set[bool]:
    path = os.pathsep.join([str(boundscheck.SOURCES), str(boundscheck.TESTS)])
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", "import boundscheck; print(*set(boundscheck.caught().values()))"],
        env={**clean, "PYTHONPATH": path, "PERCEPTRONS_CACHE": str(cache), **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return {word == "True" for word in done.stdout.split()}


def test_planted_faults_are_caught_with_a_cold_and_a_warm_cache(tmp_path):
    """Code compiled without checks must not be used for a run with them, nor the reverse."""
    unchecked = caught(tmp_path)
    assert unchecked == {False}
    assert caught(tmp_path, NUMBA_BOUNDSCHECK="1") == {True}  # warm with unchecked code
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert caught(tmp_path, NUMBA_BOUNDSCHECK="1") == {True}  # warm with checked code
    assert caught(tmp_path) == {False}
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}


def test_code_runs_with_checks_proved():
    code = "import numba, sys; print(numba.config.BOUNDSCHECK, sys.argv[1])"
    assert boundscheck.run_code(code, "word").stdout == "1 word\n"
    with pytest.raises(AssertionError, match="exit status 3"):
        boundscheck.run_code("raise SystemExit(3)")


def test_a_suite_runs_with_checks_proved(tmp_path):
    suite = tmp_path / "test_planted.py"
    suite.write_text(
        "import boundscheck, numpy as np\n"
        "def test_good(): boundscheck.prove()\n"
        "def test_bad(): boundscheck.read_past_the_end(np.zeros(3))\n"
    )
    boundscheck.run_tests(str(suite), "-k", "good")
    with pytest.raises(AssertionError, match="index is out of bounds"):
        boundscheck.run_tests(str(suite))


def test_without_checks_the_proof_fails():
    """The proof is worth something only if it can fail."""
    with pytest.raises(AssertionError, match="Bounds checks are off"):
        boundscheck.prove()
