"""Run tests, or a piece of code, with bounds checks in every compiled loop.

    import boundscheck

    def test_forged_files_under_bounds_checks():
        boundscheck.run_tests("tests/faults/test_forged_models.py", "-k", "forged")

    def test_something_else():
        done = boundscheck.run_code("print(1 + 1)")
        assert done.stdout == "2\\n"

Both start a new process, because a loop stays as it was compiled. There an index outside an array raises
``IndexError("index is out of bounds")`` instead of touching memory. Before anything else the process calls
:func:`prove`, which reads out of bounds on purpose in each kind of compiled function and fails unless every
one is caught: a pass without that proof would say nothing.

Limits: numba does not check slices, and a negative index down to -n is legal, as in Python. Code compiled
with checks is kept in the usual cache, in folders of its own, so only the first run compiles.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from perceptrons import rows
from perceptrons.engine.compiler import compiled, helper, seldom

TESTS = Path(__file__).resolve().parent
SOURCES = TESTS.parent / "src"


# ------------------------------------------------------------------------------------------ planted faults
# Each reads one entry past the end of what it is given. prove() gives it a view of a longer array, so that
# the read is harmless where it is not caught.


@helper
def _read_as_helper(x, i):
    return x[i]


@seldom
def _read_as_seldom(x, i):
    return x[i]


@compiled
def read_past_the_end(x):
    return x[x.shape[0]]


@compiled
def write_past_the_end(x):
    x[x.shape[0]] = 1.0
    return x.shape[0]


@compiled
def read_an_unsigned_index(x, i):
    return x[i]


@compiled
def read_in_a_helper(x):
    return _read_as_helper(x, x.shape[0])


@compiled
def read_in_a_seldom_helper(x):
    return _read_as_seldom(x, x.shape[0])


@compiled
def dot_of_a_record(block, w):  # an overload by record type, which calls a sum "as written"
    return rows.dot(block, 0, w)


@compiled
def push_to_a_record(block, w):
    rows.push(block, 0, 1.0, w)
    return 0.0


def _faults():
    """(name, call) of every planted fault."""
    long = np.zeros(8)
    short = long[:3]
    data, indices, indptr = np.ones(1), np.array([5], dtype=np.uint32), np.array([0, 1], dtype=np.uint64)
    sparse = rows.Csr(data, indices, indptr, np.ones(1), 0.0, False)
    dense = rows.Dense(np.ones((1, 5)), np.ones(1), 0.0, False)
    return [
        ("read", lambda: read_past_the_end(short)),
        ("write", lambda: write_past_the_end(short)),
        ("unsigned index", lambda: read_an_unsigned_index(short, np.uint64(4))),
        ("helper", lambda: read_in_a_helper(short)),
        ("seldom helper", lambda: read_in_a_seldom_helper(short)),
        ("dot of a sparse row", lambda: dot_of_a_record(sparse, short)),
        ("dot of a dense row", lambda: dot_of_a_record(dense, short)),
        ("push of a sparse row", lambda: push_to_a_record(sparse, short)),
        ("entry point without type checks", lambda: read_past_the_end.direct(short)(short)),
    ]


def caught() -> dict[str, bool]:
    """Which planted faults raise IndexError in this process."""
    outcome = {}
    for name, call in _faults():
        try:
            call()
        except IndexError:
            outcome[name] = True
        else:
            outcome[name] = False
    return outcome


def prove() -> None:
    """Fail unless bounds checks catch every planted fault in this process."""
    missed = [name for name, found in caught().items() if not found]
    if missed:
        raise AssertionError(f"Bounds checks are off: not caught in {', '.join(missed)}.")


# --------------------------------------------------------------------------------------------- new process


def run_code(code: str, *args: str, timeout: float = 280, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a new process with bounds checks on and proved.

    Raises AssertionError with the output when the exit status is not 0.
    """
    return _run(f"import boundscheck; boundscheck.prove()\n{code}", args, timeout, env)


def run_tests(*args: str, timeout: float = 280, **env: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments in a new process with bounds checks on and proved."""
    code = "import boundscheck, pytest, sys; boundscheck.prove(); sys.exit(pytest.main(sys.argv[1:]))"
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--rootdir", str(TESTS.parent))
    return _run(code, (*options, *args), timeout, env)


def _run(code, args, timeout, env):
    path = os.pathsep.join(filter(None, [str(SOURCES), str(TESTS), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "PYTHONPATH": path, **env, "NUMBA_BOUNDSCHECK": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
