"""Run every target of this folder, one after the other: ``python -m fuzz --seconds 60``.

Each runs in a process of its own, with bounds checking on; the arguments are passed on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def targets() -> list[str]:
    """Modules of this folder that are targets: all whose name does not begin with an underscore."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def main(argv: list[str]) -> int:
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    failed = [
        name
        for name in targets()
        if subprocess.run([sys.executable, "-m", f"fuzz.{name}", *argv], env=env).returncode != 0
    ]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
