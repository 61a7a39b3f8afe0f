"""Figures of the gallery that need data: what is shown where the data are not on the machine.

``python tools/gallery_figures.py`` runs these scripts with the data and stores their figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

FOLDER = Path(__file__).parents[1] / "docs" / "img" / "gallery"


def stored(script: str, data: str, title: str) -> None:
    """Show the figure that a script has drawn on a machine with the data, and say so."""
    print(
        f"{title} is not on this machine: this is the stored figure.\n"
        "    pip install 'perceptrons[data]'\n"
        f"    python -c 'from perceptrons import datasets; datasets.fetch(\"{data}\")'"
    )
    picture = plt.imread(FOLDER / f"{script}.png")
    height, width = picture.shape[:2]
    _, ax = plt.subplots(figsize=(width / 100, height / 100), layout="constrained")
    ax.imshow(picture)
    ax.set(xticks=[], yticks=[], xlabel=f"stored figure; {title} is not on this machine", title=title)
    ax.spines[:].set_visible(False)


if __name__ == "__main__":
    sys.exit("This file is shared by the examples beside it; run one of those.")
