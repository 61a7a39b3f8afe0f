"""The pictures of README and docs, drawn anew: ``python tools/pictures.py``.

Each is the picture of a script of the gallery, which says what is to be seen in it.
"""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
PICTURES = {"plot_convergence": "convergence.png"}


def main() -> None:
    """Run the scripts and keep what they draw."""
    for script, picture in PICTURES.items():
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
        path = ROOT / "docs" / "img" / picture
        plt.savefig(path, dpi=80, metadata={"Software": None})
        plt.close("all")
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
