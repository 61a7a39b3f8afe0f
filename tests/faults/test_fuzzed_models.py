"""Forged model files, loaded and used under bounds checks: a bounded share of ``tests/fuzz/models.py``."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from places import TESTS
from processes import path_for_tests

FUZZER = TESTS / "fuzz" / "models.py"


def fuzzed(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(FUZZER), *options], capture_output=True, text=True, check=False, timeout=1500
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="NOT RUN: limits of memory and time are those of POSIX")
def test_forged_files_are_refused_or_harmless_under_bounds_checks():
    done = fuzzed("--cases", "8", "--seconds", "900", "--samples-only", "--seed", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().split("\n")[-1]
    assert last.startswith("models: ")
    assert ", 0 crashes, 0 hangs, 0 out of bounds, 0 out of memory, " in last


PLANTED = """
import sys

import numpy as np
from fuzz import models
from perceptrons.models import checks, load, wholes


class Given:
    case, cases, seed, samples_only, until = None, 1, 0, True, 0


checks.CHECKS.clear()
wholes.model = lambda x: x
worker = models.Worker(Given)
forged = worker.bases.get("format2/perceptron").copy()
space = next(node for node in forged.nodes if node.get("of") == "space.Linear")
weights = forged.nodes[space["v"]["v"][0]]["v"]
forged.arrays[weights] = forged.arrays[weights][:2]
with open(sys.argv[1], "wb") as file:
    file.write(forged.sealed())
model = load(sys.argv[1])
model._changed = ()  # what the reader would have completed
worker.attempt("partial_fit", lambda: model.partial_fit(np.eye(4), [0, 1, 0, 1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="NOT RUN: limits of memory and time are those of POSIX")
def test_the_fuzzer_sees_a_loop_that_leaves_its_array(tmp_path):
    """Without the checks of the reader weights that are too few lead out of bounds."""
    done = subprocess.run(
        [sys.executable, "-c", PLANTED, str(tmp_path / "forged.model")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": path_for_tests()},
    )
    assert done.stdout.startswith("out of bounds\tpartial_fit"), done.stdout + done.stderr
