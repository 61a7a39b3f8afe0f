"""What pictures of runs share: the learner, the ends of epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _drawing as drawing

MANY_TIMES = 15.0  #: a bound that is so much larger than what it bounds is shown on a logarithmic scale
_MANY_EPOCHS = 20  # the ends of more epochs are not marked


def learner(trace: Any) -> str:
    """The class of a traced learner."""
    return str(getattr(trace, "learner", "") or "").partition("(")[0]


def epoch_ends(epoch: npt.ArrayLike) -> list[int]:
    """The numbers of visits after which an epoch is over, the last one left out."""
    return (np.flatnonzero(np.diff(np.asarray(epoch))) + 1).tolist()


def mark_epochs(ax: Any, ends: list[int]) -> Any:
    """Thin lines at the ends of epochs; None where there are none, or too many."""
    if not 0 < len(ends) <= _MANY_EPOCHS:
        return None
    return ax.vlines(
        ends,
        0.0,
        1.0,
        transform=ax.get_xaxis_transform(),
        color=drawing.GREY,
        linewidth=0.8,
        linestyle=(0, (2, 2)),
        label="end of an epoch",
        zorder=1,
    )
