"""What a solver returns; model files hold it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

#: (gamma_low, gamma_up) around the largest hard margin
Ends: TypeAlias = tuple[float, float]


class Answer(NamedTuple):
    """What a solver found; w is the sum of alpha_i y_i x_i."""

    alpha: np.ndarray  #: one per row, at least 0
    b: float  #: in the coordinates of the points
    bracket: Ends
    gap: float  #: relative
    n_iter: int
    reason: str
