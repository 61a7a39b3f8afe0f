"""Run the scripts of the gallery that need data, and store their figures in docs/img/gallery.

Where the data are missing, ``examples/_stored.py`` shows these figures.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from perceptrons import datasets

ROOT = Path(__file__).parents[1]
#: the scripts, and the data that each of them needs
NEEDS = {"plot_adult": "adult", "plot_last_average_vote": "mnist", "plot_spam_words": "sms_spam"}


def main() -> None:
    matplotlib.use("agg")
    folder = ROOT / "docs" / "img" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(ROOT / "examples"))
    for script, data in NEEDS.items():
        if datasets.find(data) is None:
            sys.exit(f"{data} is not on this machine; datasets.fetch({data!r}) gets it.")
        with plt.rc_context():
            runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
            plt.figure(plt.get_fignums()[0]).savefig(folder / f"{script}.png", dpi=100)
        plt.close("all")


if __name__ == "__main__":
    main()
