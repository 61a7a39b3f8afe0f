"""Python code in a new process."""

from __future__ import annotations

import os
import subprocess
import sys


def python(code: str, *, timeout: float = 280, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code with every warning an error; fails, with its output, unless the exit status is 0."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run
